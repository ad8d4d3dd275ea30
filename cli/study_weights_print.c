#include "cli/study_weights.h"

static double percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0.0;
}

/* Room for what does not happen. */
static void print_percent(double value, int width)
{
    if (value == 0.0) {
        printf("%*s", width, "-");
    } else if (value < 0.1) {
        printf("%*s", width, "<0.1");
    } else {
        printf("%*.1f", width, value);
    }
}

static void print_heads(const pelt_report *report, bool character)
{
    const char *bold = pelt_report_style(report, PELT_BOLD);
    const char *plain = pelt_report_style(report, PELT_PLAIN);
    printf("  %-15s %5s  %-18s%8s%8s  %-18s", "", "", "errors of weights", "sum off", "negat.",
           "leaks, % of those");
    printf("%s\n", character ? "  moved, 1e-6 of size" : "");
    printf("  %s%-15s %5s  %9s%9s%8s%8s%6s%6s%6s", bold, "layout", "bytes", "worst", "mean", "by",
           "%", "1", "2", "3");
    printf("%s%s\n", character ? "      worst      mean" : "", plain);
}

static void print_layout(const pelt_weight_study *study, uint32_t index)
{
    const pelt_weight_layout *layout = &pelt_weight_layouts[index];
    const pelt_weight_result *result = &study->layouts[index];
    const pelt_weight_errors *errors = &result->errors;
    printf("  %-15s %5u  %9.3f%9.3f", layout->name, layout->bytes, errors->worst * 4096.0,
           errors->total / (double)errors->vertices * 4096.0);
    if (errors->sum_error < 0x1p-40) {
        printf("%8s", "-");
    } else {
        printf("%8.3f", errors->sum_error * 4096.0);
    }
    print_percent(percent(errors->negative, errors->vertices), 8);
    for (int i = 0; i < 3; i++) {
        if (errors->counts[i] > 0) {
            print_percent(percent(errors->leaks[i], errors->counts[i]), 6);
        } else {
            printf("%6s", "");
        }
    }
    if (study->poses > 0) {
        double scale = study->size > 0.0 ? 1e6 / study->size : 0.0;
        printf("%11.1f%10.2f", result->move_worst * scale,
               result->move_total / (double)study->moved * scale);
    }
    printf("\n");
}

static void print_study(const pelt_report *report, const pelt_weight_study *study)
{
    char vertices[32], reduced[32];
    pelt_print_safe(stdout, study->name);
    printf(": %s %s", pelt_format_count(study->vertices, vertices),
           study->poses > 0 ? "skinned vertices" : "vertices");
    if (study->poses > 0) {
        printf(", %u joint%s, %u pose%s of %u clip%s; size %.6g", study->joints,
               pelt_plural(study->joints), study->poses, pelt_plural(study->poses), study->clips,
               pelt_plural(study->clips), study->size);
    }
    printf("\n");
    if (study->reduced > 0) {
        printf("  %s have more than four influences; the largest four stay\n",
               pelt_format_count(study->reduced, reduced));
    }
    print_heads(report, study->poses > 0);
    for (uint32_t i = 0; i < PELT_WEIGHT_LAYOUT_COUNT; i++) {
        print_layout(study, i);
    }
    printf("\n");
}

static void print_legend(const pelt_report *report)
{
    const char *bold = pelt_report_style(report, PELT_BOLD);
    const char *plain = pelt_report_style(report, PELT_PLAIN);
    printf(
        "Errors are in 1/4096 of a vertex's whole weight. worst: of any influence; mean: of each\n"
        "vertex's worst; sum off by: the largest distance of a sum from 1; negat.: vertices with "
        "a\nnegative weight; leaks: of the vertices of 1, 2 and 3 influences, those where an "
        "unused\nslot got a weight. moved: against the weights of the file, in double "
        "precision; size: the\ndiagonal of the largest box.\n");
    printf("\n%sLayouts:%s\n", bold, plain);
    for (uint32_t i = 0; i < PELT_WEIGHT_LAYOUT_COUNT; i++) {
        printf("  %-15s %s\n", pelt_weight_layouts[i].name, pelt_weight_layouts[i].summary);
    }
}

void pelt_weight_report_print(const pelt_report *report, const pelt_weight_report *weights)
{
    for (uint32_t i = 0; i < weights->count; i++) {
        print_study(report, &weights->studies[i]);
    }
    print_legend(report);
}

/* -- JSON ---------------------------------------------------------------------------------- */

static void write_counts(pelt_json *json, const char *key, const uint64_t counts[4])
{
    pelt_json_list(json, key);
    for (int i = 0; i < 4; i++) {
        pelt_json_integer(json, NULL, (int64_t)counts[i]);
    }
    pelt_json_close(json);
}

static void write_layout(pelt_json *json, const pelt_weight_study *study, uint32_t index)
{
    const pelt_weight_layout *layout = &pelt_weight_layouts[index];
    const pelt_weight_result *result = &study->layouts[index];
    const pelt_weight_errors *errors = &result->errors;
    enum { DIGITS = 6 };
    pelt_json_object(json, NULL);
    pelt_json_text(json, "name", layout->name);
    pelt_json_integer(json, "bytes", layout->bytes);
    pelt_json_rounded(json, "worst", errors->worst, DIGITS);
    pelt_json_rounded(json, "mean", errors->total / (double)errors->vertices, DIGITS);
    pelt_json_rounded(json, "sumOffBy", errors->sum_error < 0x1p-40 ? 0.0 : errors->sum_error,
                      DIGITS);
    pelt_json_rounded(json, "leastWeight", errors->least, DIGITS);
    pelt_json_integer(json, "negative", (int64_t)errors->negative);
    pelt_json_integer(json, "exact", (int64_t)errors->exact);
    write_counts(json, "leaks", errors->leaks);
    if (study->poses > 0) {
        pelt_json_rounded(json, "movedWorst", result->move_worst, DIGITS);
        pelt_json_rounded(json, "movedMean", result->move_total / (double)study->moved, DIGITS);
    }
    pelt_json_close(json);
}

static void write_study(pelt_json *json, const pelt_weight_study *study)
{
    pelt_json_object(json, NULL);
    pelt_json_text(json, "name", study->name);
    pelt_json_integer(json, "vertices", (int64_t)study->vertices);
    write_counts(json, "verticesByInfluences", study->layouts[0].errors.counts);
    if (study->poses > 0) {
        pelt_json_integer(json, "reduced", (int64_t)study->reduced);
        pelt_json_integer(json, "joints", study->joints);
        pelt_json_integer(json, "clips", study->clips);
        pelt_json_integer(json, "poses", study->poses);
        pelt_json_rounded(json, "size", study->size, 9);
    }
    pelt_json_list(json, "layouts");
    for (uint32_t i = 0; i < PELT_WEIGHT_LAYOUT_COUNT; i++) {
        write_layout(json, study, i);
    }
    pelt_json_close(json);
    pelt_json_close(json);
}

void pelt_weight_report_write(const pelt_report *report, const pelt_weight_report *weights)
{
    pelt_json json;
    pelt_json_begin(&json, stdout);
    pelt_json_text(&json, "study", "weights");
    pelt_json_integer(&json, "seed", weights->seed);
    pelt_json_integer(&json, "posesAClip", weights->poses_a_clip);
    pelt_json_list(&json, "sets");
    for (uint32_t i = 0; i < weights->count; i++) {
        write_study(&json, &weights->studies[i]);
    }
    pelt_json_close(&json);
    pelt_report_warnings(report, &json);
    pelt_json_end(&json);
}
