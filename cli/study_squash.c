/* pelt study squash: how far each way of turning normals is from the truth. */
#include "cli/study.h"
#include "study/squash.h"

#ifdef PELT_HAVE_VULKAN
#include "render/render.h"
#endif
#include <string.h>

typedef struct squash_options {
    pelt_option_list files, cases;
    uint32_t poses;
    const char *output;
    bool json;
} squash_options;

enum { NAME_WIDTH = 14 }; /* of the tables' first column */

/* Dense enough that more vertices change no printed digit of a mean. */
enum { RINGS = 401, AROUND = 192 };

/* Of the cases that were asked for, in the study's order. */
typedef struct squash_errors {
    uint32_t count;
    uint32_t cases[PELT_SQUASH_CASE_COUNT];
    pelt_squash_error of[PELT_SQUASH_CASE_COUNT][PELT_SQUASH_METHOD_COUNT];
    uint32_t character_count;
    pelt_squash_character characters[PELT_OPTION_LIST_MAX];
} squash_errors;

static void print_heads(const pelt_report *report)
{
    printf("%s%-*s", pelt_report_style(report, PELT_BOLD), NAME_WIDTH, "");
    for (int m = 0; m < PELT_SQUASH_METHOD_COUNT; m++) {
        printf("%16s", pelt_squash_methods[m].name);
    }
    printf("%s\n", pelt_report_style(report, PELT_PLAIN));
}

static void print_errors(const pelt_report *report, const squash_errors *errors)
{
    printf("Degrees between a method's normals and the true ones, over the whole limb: mean / "
           "worst\n\n");
    print_heads(report);
    for (uint32_t c = 0; c < errors->count; c++) {
        printf("%-14s", pelt_squash_cases[errors->cases[c]].name);
        for (int m = 0; m < PELT_SQUASH_METHOD_COUNT; m++) {
            const pelt_squash_error *error = &errors->of[c][m];
            printf("%9.1f /%5.1f", pelt_degrees(error->mean), pelt_degrees(error->worst));
        }
        printf("\n");
    }
}

static void print_flipped(const pelt_report *report, const squash_errors *errors)
{
    bool headed = false;
    for (uint32_t c = 0; c < errors->count; c++) {
        const pelt_squash_error *of = errors->of[c];
        bool any = false;
        for (int m = 0; m < PELT_SQUASH_METHOD_COUNT; m++) {
            any = any || of[m].flipped > 0.0;
        }
        if (!any) {
            continue;
        }
        if (!headed) {
            printf(
                "\nPart of the surface whose normals point against the triangles' order, %%\n\n");
            print_heads(report);
            headed = true;
        }
        printf("%-*s", NAME_WIDTH, pelt_squash_cases[errors->cases[c]].name);
        for (int m = 0; m < PELT_SQUASH_METHOD_COUNT; m++) {
            printf("%16.1f", 100.0 * of[m].flipped);
        }
        printf("\n");
    }
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void print_characters(const pelt_report *report, const squash_errors *errors)
{
    printf("\nThe same of characters in poses of their clips: mean / what 99 %% do not exceed\n\n");
    print_heads(report);
    for (uint32_t i = 0; i < errors->character_count; i++) {
        const pelt_squash_character *character = &errors->characters[i];
        const char *name = file_name(character->name);
        if (strlen(name) > NAME_WIDTH) {
            pelt_print_safe(stdout, name);
            printf("\n%-*s", NAME_WIDTH, "");
        } else {
            pelt_print_safe(stdout, name);
            printf("%*s", NAME_WIDTH - (int)strlen(name), "");
        }
        for (int m = 0; m < PELT_SQUASH_METHOD_COUNT; m++) {
            printf("%9.2f /%5.1f", pelt_degrees(character->errors[m].mean),
                   pelt_degrees(character->errors[m].most));
        }
        printf("\n");
    }
}

static void print_legend(const pelt_report *report, const squash_errors *errors)
{
    const char *bold = pelt_report_style(report, PELT_BOLD);
    const char *plain = pelt_report_style(report, PELT_PLAIN);
    printf("\n%sMethods:%s\n", bold, plain);
    for (int m = 0; m < PELT_SQUASH_METHOD_COUNT; m++) {
        printf("  %-15s %s\n", pelt_squash_methods[m].name, pelt_squash_methods[m].summary);
    }
    printf("\n%sCases:%s\n", bold, plain);
    for (uint32_t c = 0; c < errors->count; c++) {
        printf("  %-15s %s\n", pelt_squash_cases[errors->cases[c]].name,
               pelt_squash_cases[errors->cases[c]].summary);
    }
}

static void write_character(pelt_json *json, const pelt_squash_character *character)
{
    pelt_json_object(json, NULL);
    pelt_json_text(json, "name", character->name);
    pelt_json_integer(json, "vertices", (int64_t)character->vertices);
    pelt_json_integer(json, "poses", character->poses);
    pelt_json_list(json, "methods");
    for (int m = 0; m < PELT_SQUASH_METHOD_COUNT; m++) {
        pelt_json_object_line(json, NULL);
        pelt_json_text(json, "name", pelt_squash_methods[m].name);
        pelt_json_rounded(json, "meanDegrees", pelt_degrees(character->errors[m].mean), 6);
        pelt_json_rounded(json, "mostDegrees", pelt_degrees(character->errors[m].most), 6);
        pelt_json_rounded(json, "flipped", character->errors[m].flipped, 6);
        pelt_json_close(json);
    }
    pelt_json_close(json);
    pelt_json_close(json);
}

static void write_json(const pelt_report *report, const squash_errors *errors)
{
    pelt_json json;
    pelt_json_begin(&json, stdout);
    pelt_json_text(&json, "study", "squash");
    pelt_json_integer(&json, "vertices", RINGS * AROUND);
    pelt_json_list(&json, "cases");
    for (uint32_t c = 0; c < errors->count; c++) {
        pelt_json_object(&json, NULL);
        pelt_json_text(&json, "name", pelt_squash_cases[errors->cases[c]].name);
        pelt_json_text(&json, "summary", pelt_squash_cases[errors->cases[c]].summary);
        pelt_json_list(&json, "methods");
        for (int m = 0; m < PELT_SQUASH_METHOD_COUNT; m++) {
            const pelt_squash_error *error = &errors->of[c][m];
            pelt_json_object_line(&json, NULL);
            pelt_json_text(&json, "name", pelt_squash_methods[m].name);
            pelt_json_rounded(&json, "meanDegrees", pelt_degrees(error->mean), 6);
            pelt_json_rounded(&json, "worstDegrees", pelt_degrees(error->worst), 6);
            pelt_json_rounded(&json, "flipped", error->flipped, 6);
            pelt_json_close(&json);
        }
        pelt_json_close(&json);
        pelt_json_close(&json);
    }
    pelt_json_close(&json);
    pelt_json_list(&json, "characters");
    for (uint32_t i = 0; i < errors->character_count; i++) {
        write_character(&json, &errors->characters[i]);
    }
    pelt_json_close(&json);
    pelt_report_warnings(report, &json);
    pelt_json_end(&json);
}

static bool is_asked_for(const squash_options *options, uint32_t which)
{
    bool asked = options->cases.count == 0;
    for (uint32_t i = 0; i < options->cases.count; i++) {
        asked = asked || strcmp(options->cases.items[i], pelt_squash_cases[which].name) == 0;
    }
    return asked;
}

/* All limbs, one after the other; drawn into the sheet, if there is one. */
static pelt_result measure(pelt_report *report, squash_errors *errors, pelt_squash_sheet *sheet)
{
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < errors->count; i++) {
        pelt_squash_limb *limb;
        pelt_report_progress(report, "%s", pelt_squash_cases[errors->cases[i]].name);
        result = pelt_squash_create(&report->host, errors->cases[i], RINGS, AROUND, &limb);
        if (result == PELT_OK) {
            memcpy(errors->of[i], limb->errors, sizeof(errors->of[i]));
            result = sheet ? pelt_squash_sheet_add(sheet, limb) : PELT_OK;
            pelt_squash_destroy(limb);
        }
    }
    pelt_report_progress(report, NULL);
    return result;
}

static pelt_result measure_characters(pelt_report *report, const squash_options *options,
                                      squash_errors *errors)
{
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < options->files.count; i++) {
        const char *path = options->files.items[i];
        report->input = path;
        pelt_report_progress(report, "%u of %u: %s", i + 1, options->files.count, path);
        result = pelt_squash_character_run(&report->host, path, options->poses,
                                           &errors->characters[errors->character_count]);
        errors->character_count += result == PELT_OK;
    }
    report->input = NULL;
    pelt_report_progress(report, NULL);
    return result;
}

#ifdef PELT_HAVE_VULKAN

static pelt_result draw(pelt_report *report, const squash_options *options, squash_errors *errors)
{
    pelt_squash_sheet sheet = { 0 };
    char *path = NULL;
    pelt_result result = pelt_make_folder(report, options->output);
    if (result == PELT_OK) {
        path = pelt_path_in(report, options->output, "squash.png");
        result = path ? pelt_squash_sheet_create(&report->host, errors->count, &sheet)
                      : PELT_ERROR_MEMORY;
    }
    if (result == PELT_OK) {
        result = measure(report, errors, &sheet);
    }
    if (result == PELT_OK) {
        result = pelt_write_png(&report->host, path, sheet.canvas.width, sheet.canvas.height,
                                sheet.canvas.pixels);
    }
    pelt_squash_sheet_destroy(&sheet);
    pelt_release(&report->host, path);
    return result;
}

#else

static pelt_result draw(pelt_report *report, const squash_options *options, squash_errors *errors)
{
    (void)errors;
    return pelt_fail(&report->host, PELT_ERROR_UNSUPPORTED, options->output, NULL,
                     "this pelt was built without Vulkan, and so without pictures");
}

#endif

static pelt_result squash(pelt_report *report, const squash_options *options)
{
    squash_errors errors = { 0 };
    for (uint32_t c = 0; c < PELT_SQUASH_CASE_COUNT; c++) {
        if (is_asked_for(options, c)) {
            errors.cases[errors.count++] = c;
        }
    }
    pelt_result result = measure_characters(report, options, &errors);
    if (result == PELT_OK) {
        result = options->output ? draw(report, options, &errors) : measure(report, &errors, NULL);
    }
    if (result != PELT_OK) {
        return result;
    }
    if (options->json) {
        write_json(report, &errors);
        return PELT_OK;
    }
    print_errors(report, &errors);
    print_flipped(report, &errors);
    if (errors.character_count > 0) {
        print_characters(report, &errors);
    }
    print_legend(report, &errors);
    return PELT_OK;
}

static bool check_cases(pelt_report *report, const squash_options *options)
{
    const char *names[PELT_SQUASH_CASE_COUNT + 1] = { 0 };
    for (uint32_t c = 0; c < PELT_SQUASH_CASE_COUNT; c++) {
        names[c] = pelt_squash_cases[c].name;
    }
    for (uint32_t i = 0; i < options->cases.count; i++) {
        const char *word = options->cases.items[i];
        bool known = false;
        for (uint32_t c = 0; c < PELT_SQUASH_CASE_COUNT; c++) {
            known = known || strcmp(names[c], word) == 0;
        }
        if (!known) {
            const char *nearest = pelt_nearest(word, names);
            pelt_report_error(report, NULL, "unknown --case '%s'%s%s%s", word,
                              nearest ? "; did you mean '" : "; see 'pelt study squash'",
                              nearest ? nearest : "", nearest ? "'?" : "");
            return false;
        }
    }
    return true;
}

static int run(pelt_report *report, int argc, char **argv)
{
    squash_options options = { .poses = 16 };
    const pelt_option table[] = {
        { .name = "output",
          .letter = 'o',
          .kind = PELT_OPTION_TEXT,
          .value = "DIR",
          .help = "draw the limbs side by side into DIR/squash.png",
          .target = &options.output },
        { .name = "case",
          .letter = 'c',
          .kind = PELT_OPTION_LIST,
          .value = "NAME",
          .help = "only this case; may be given several times",
          .target = &options.cases },
        { .name = "poses",
          .kind = PELT_OPTION_COUNT,
          .value = "N",
          .help = "of each clip of a FILE, at even times (default: 16)",
          .target = &options.poses,
          .minimum = 1,
          .maximum = 10000 },
        pelt_option_json(&options.json, "print JSON instead of a table"),
        { 0 },
    };
    pelt_parsed parsed =
        pelt_options_parse_files(report, &pelt_study_squash, table, argc, argv, &options.files);
    if (parsed != PELT_PARSED_RUN) {
        return parsed == PELT_PARSED_HELP ? PELT_EXIT_OK : PELT_EXIT_USAGE;
    }
    if (options.output && !*options.output) {
        pelt_report_error(report, NULL, "--output: must not be empty");
        return PELT_EXIT_USAGE;
    }
    if (!check_cases(report, &options)) {
        return PELT_EXIT_USAGE;
    }
    report->json = options.json;
    return pelt_report_exit(report, squash(report, &options));
}

const pelt_command pelt_study_squash = {
    .name = "study squash",
    .operand = "[FILE...]",
    .summary = "Compare five ways of turning normals on a limb that is bent and squashed",
    .details =
        "\n"
        "Each is compared with the normals of the surface that skinning makes, from the Jacobian\n"
        "of the deformation in double precision. That has a term for the change of the weights,\n"
        "which no method here knows: none is exact where weights change. Files are characters,\n"
        "which are compared the same way on their own triangles, in poses of all their clips.\n",
    .example = "pelt study squash fox.glb -o pictures",
    .run = run,
};
