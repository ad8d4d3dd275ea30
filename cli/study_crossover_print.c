#include "cli/study_crossover.h"

static const char *const form_keys[CROSSOVER_FORM_COUNT] = { "pelt", "fromJoints", "seed",
                                                             "atomics" };

/* -- text ---------------------------------------------------------------------------------- */

static void print_time(double seconds)
{
    if (seconds > 0.0) {
        printf(seconds < 0.1 ? "%9.1f" : "%9.0f", seconds * 1e6);
    } else {
        printf("%9s", "-");
    }
}

static void print_ratio(double ratio)
{
    if (ratio > 0.0) {
        printf("%8.2f", ratio);
    } else {
        printf("%8s", "-");
    }
}

static void print_cell(const pelt_crossover_cell *cell)
{
    const pelt_crossover_times *forms = cell->forms;
    printf("%9u%7u", cell->vertices, cell->joints);
    print_time(forms[CROSSOVER_PELT].without);
    print_time(forms[CROSSOVER_PELT].with);
    print_time(forms[CROSSOVER_JOINTS].with);
    print_time(forms[CROSSOVER_SEED].without);
    print_time(forms[CROSSOVER_SEED].with);
    print_time(forms[CROSSOVER_ATOMICS].without);
    print_time(forms[CROSSOVER_ATOMICS].with);
    print_ratio(pelt_crossover_ratio(cell, CROSSOVER_PELT));
    print_ratio(pelt_crossover_ratio(cell, CROSSOVER_SEED));
    printf("%s\n", cell->checked ? "" : "  WRONG");
}

static void print_crossings(const pelt_crossover_map *map)
{
    static const struct {
        pelt_crossover_form form;
        const char *pass;
    } forms[] = { { CROSSOVER_PELT, "pelt's" }, { CROSSOVER_SEED, "the seed's" } };
    for (int f = 0; f < 2; f++) {
        printf("\nWhere boxes from joints win in %s pass:\n", forms[f].pass);
        for (uint32_t j = 0; j < map->joint_count; j++) {
            char text[256];
            pelt_crossover_describe(map, forms[f].form, j, text, sizeof(text));
            if (text[0]) {
                printf("  %4u joint%s  %s\n", map->joints[j], map->joints[j] == 1 ? " " : "s",
                       text);
            }
        }
    }
}

/* At spaces, to lines of so many characters. */
static void print_wrapped(const char *text)
{
    enum { WIDTH = 100 };
    int column = 0;
    while (*text) {
        int length = 0;
        while (text[length] && text[length] != ' ') {
            length++;
        }
        if (column > 0 && column + 1 + length > WIDTH) {
            printf("\n");
            column = 0;
        }
        column += printf("%s%.*s", column > 0 ? " " : "", length, text);
        text += length;
        text += *text == ' ';
    }
    printf("\n");
}

static void print_map(const pelt_report *report, const pelt_crossover_report *crossover)
{
    const char *bold = pelt_report_style(report, PELT_BOLD);
    const char *plain = pelt_report_style(report, PELT_PLAIN);
    const pelt_crossover_map *map = &crossover->map;
    char total[32], words[PELT_CROSSOVER_WORDS];
    pelt_print_safe(stdout, crossover->device);
    printf("%s\nUp to %s %s in meshes of every shape, each its own source; microseconds a "
           "frame\n\n",
           crossover->is_software ? "; a software device" : "",
           pelt_format_count(map->total, total), map->total == 1 ? "vertex" : "vertices");
    printf("%s%9s%7s%27s%18s%18s%16s%s\n", bold, "", "", "---------- pelt's pass",
           "the seed's pass", "2023's pass", "joints/exact", plain);
    printf("%s%9s%7s%9s%9s%9s%9s%9s%9s%9s%8s%8s%s\n", bold, "vertices", "joints", "no box", "exact",
           "joints", "no box", "exact", "no box", "atomics", "pelt", "seed", plain);
    for (uint32_t j = 0; j < map->joint_count; j++) {
        for (uint32_t v = 0; v < map->vertex_count; v++) {
            if (map->cells[j][v].measured) {
                print_cell(&map->cells[j][v]);
            }
        }
    }
    printf("\njoints/exact: time with boxes from joints over that with exact boxes, in the same "
           "pass; in the\nseed's, what boxes from joints cost beside pelt's is added to its time "
           "without. Times within\n2 %%, or within the spread of the rounds, count as equal.\n");
    print_crossings(map);
    printf("\n");
    pelt_crossover_say(map, words);
    print_wrapped(words);
}

static void print_spread(const pelt_spread *spread)
{
    if (spread->count > 0) {
        printf("%8.2f%8.2f%9.4g", spread->median, spread->nineteen, spread->most);
    } else {
        printf("%8s%8s%9s", "-", "-", "-");
    }
}

static void print_looseness(const pelt_report *report, const pelt_crossover_report *crossover)
{
    const char *bold = pelt_report_style(report, PELT_BOLD);
    const char *plain = pelt_report_style(report, PELT_PLAIN);
    uint64_t flat = 0;
    printf("How much larger boxes from joints are than exact ones\n\n");
    printf("%s  %-16s%37s%25s%17s%s\n", bold, "", "sum of edges", "volume", "around all", plain);
    printf("%s  %-16s%6s%6s%8s%8s%9s%8s%8s%9s%9s%8s%s\n", bold, "", "parts", "poses", "median",
           "95 %", "worst", "median", "95 %", "worst", "edges", "volume", plain);
    for (uint32_t i = 0; i < crossover->count; i++) {
        const pelt_looseness *one = &crossover->looseness[i];
        printf("  ");
        pelt_print_safe(stdout, one->name);
        printf("\n%-18s%6u%6u", "", one->parts, one->poses);
        print_spread(&one->edges);
        print_spread(&one->volumes);
        printf("%9.2f%8.2f\n", one->whole_edges.median, one->whole_volumes.median);
        flat += one->flat;
    }
    printf("\nOf the boxes of each skinned part in each pose; around all: the median of those "
           "around\na character's skinned parts.\n");
    if (flat > 0) {
        printf("%llu exact boxes have no volume.\n", (unsigned long long)flat);
    }
}

void pelt_crossover_report_print(const pelt_report *report, const pelt_crossover_report *crossover)
{
    if (crossover->measured) {
        print_map(report, crossover);
    }
    if (crossover->count > 0) {
        printf("%s", crossover->measured ? "\n" : "");
        print_looseness(report, crossover);
    }
}

/* -- JSON ---------------------------------------------------------------------------------- */

enum { DIGITS = 6 };

static void write_cell(pelt_json *json, const pelt_crossover_cell *cell)
{
    pelt_json_object_line(json, NULL);
    pelt_json_integer(json, "vertices", cell->vertices);
    pelt_json_integer(json, "joints", cell->joints);
    pelt_json_integer(json, "meshes", cell->instances);
    for (int f = 0; f < CROSSOVER_FORM_COUNT; f++) {
        if (cell->forms[f].with > 0.0) {
            pelt_json_object_line(json, form_keys[f]);
            pelt_json_rounded(json, "seconds", cell->forms[f].with, DIGITS);
            pelt_json_rounded(json, "withoutBoxes", cell->forms[f].without, DIGITS);
            pelt_json_rounded(json, "fasterThanJoints",
                              pelt_crossover_ratio(cell, (pelt_crossover_form)f), 4);
            pelt_json_close(json);
        }
    }
    pelt_json_bool(json, "checked", cell->checked);
    pelt_json_close(json);
}

static void write_map(pelt_json *json, const pelt_crossover_report *crossover)
{
    const pelt_crossover_map *map = &crossover->map;
    char words[PELT_CROSSOVER_WORDS];
    pelt_json_text(json, "device", crossover->device);
    pelt_json_bool(json, "software", crossover->is_software);
    pelt_json_integer(json, "rounds", crossover->rounds);
    pelt_json_integer(json, "vertices", (int64_t)map->total);
    pelt_crossover_say(map, words);
    pelt_json_text(json, "says", words);
    pelt_json_list(json, "cells");
    for (uint32_t j = 0; j < map->joint_count; j++) {
        for (uint32_t v = 0; v < map->vertex_count; v++) {
            if (map->cells[j][v].measured) {
                write_cell(json, &map->cells[j][v]);
            }
        }
    }
    pelt_json_close(json);
}

static void write_spread(pelt_json *json, const char *key, const pelt_spread *spread)
{
    pelt_json_object_line(json, key);
    pelt_json_integer(json, "boxes", (int64_t)spread->count);
    if (spread->count > 0) {
        pelt_json_rounded(json, "median", spread->median, DIGITS);
        pelt_json_rounded(json, "nineteenOfTwenty", spread->nineteen, DIGITS);
        pelt_json_rounded(json, "worst", spread->most, DIGITS);
    }
    pelt_json_close(json);
}

static void write_looseness(pelt_json *json, const pelt_looseness *one)
{
    pelt_json_object(json, NULL);
    pelt_json_text(json, "name", one->name);
    pelt_json_integer(json, "parts", one->parts);
    pelt_json_integer(json, "joints", one->joints);
    pelt_json_integer(json, "clips", one->clips);
    pelt_json_integer(json, "poses", one->poses);
    write_spread(json, "edges", &one->edges);
    write_spread(json, "volumes", &one->volumes);
    write_spread(json, "edgesAroundAll", &one->whole_edges);
    write_spread(json, "volumesAroundAll", &one->whole_volumes);
    pelt_json_integer(json, "withoutVolume", (int64_t)one->flat);
    pelt_json_close(json);
}

void pelt_crossover_report_write(const pelt_report *report, const pelt_crossover_report *crossover)
{
    pelt_json json;
    pelt_json_begin(&json, stdout);
    pelt_json_text(&json, "study", "crossover");
    if (crossover->measured) {
        write_map(&json, crossover);
    }
    if (crossover->count > 0) {
        pelt_json_integer(&json, "posesAClip", crossover->poses_a_clip);
        pelt_json_list(&json, "looseness");
        for (uint32_t i = 0; i < crossover->count; i++) {
            write_looseness(&json, &crossover->looseness[i]);
        }
        pelt_json_close(&json);
    }
    pelt_report_warnings(report, &json);
    pelt_json_end(&json);
}
