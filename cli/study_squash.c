/* pelt study squash: how far each way of turning normals is from the truth. */
#include "cli/study.h"
#include "study/squash.h"

#ifdef PELT_HAVE_VULKAN
#include "render/render.h"
#endif
#include <string.h>

typedef struct squash_options {
    pelt_option_list cases;
    const char *output;
    bool json;
} squash_options;

/* Dense enough that more vertices change no printed digit of a mean. */
enum { RINGS = 401, AROUND = 192 };

/* Of the cases that were asked for, in the study's order. */
typedef struct squash_errors {
    uint32_t count;
    uint32_t cases[PELT_SQUASH_CASE_COUNT];
    pelt_squash_error of[PELT_SQUASH_CASE_COUNT][PELT_SQUASH_METHOD_COUNT];
} squash_errors;

static void print_heads(const pelt_report *report)
{
    printf("%s%-14s", pelt_report_style(report, PELT_BOLD), "");
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

static bool any_flipped(const pelt_squash_error errors[PELT_SQUASH_METHOD_COUNT])
{
    bool any = false;
    for (int m = 0; m < PELT_SQUASH_METHOD_COUNT; m++) {
        any = any || errors[m].flipped > 0.0;
    }
    return any;
}

static void print_flipped(const pelt_report *report, const squash_errors *errors)
{
    printf("\nPart of the surface whose normals point against the triangles' order, %%\n\n");
    print_heads(report);
    for (uint32_t c = 0; c < errors->count; c++) {
        if (!any_flipped(errors->of[c])) {
            continue;
        }
        printf("%-14s", pelt_squash_cases[errors->cases[c]].name);
        for (int m = 0; m < PELT_SQUASH_METHOD_COUNT; m++) {
            printf("%16.1f", 100.0 * errors->of[c][m].flipped);
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
    pelt_result result =
        options->output ? draw(report, options, &errors) : measure(report, &errors, NULL);
    if (result != PELT_OK) {
        return result;
    }
    if (options->json) {
        write_json(report, &errors);
        return PELT_OK;
    }
    print_errors(report, &errors);
    print_flipped(report, &errors);
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
    squash_options options = { 0 };
    const char *operand;
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
        pelt_option_json(&options.json, "print JSON instead of a table"),
        { 0 },
    };
    pelt_parsed parsed =
        pelt_options_parse(report, &pelt_study_squash, table, argc, argv, &operand);
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
    .operand = NULL,
    .summary = "Compare five ways of turning normals on a limb that is bent and squashed",
    .details =
        "\n"
        "Each is compared with the normals of the surface that skinning makes, from the Jacobian\n"
        "of the deformation in double precision. That has a term for the change of the weights,\n"
        "which no method here knows: none is exact where weights change.\n",
    .example = "pelt study squash -o pictures",
    .run = run,
};
