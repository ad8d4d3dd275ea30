/* pelt study squash: how far each way of turning normals is from the truth. */
#include "cli/study.h"
#include "study/squash.h"

#include <string.h>

typedef struct squash_options {
    bool json;
} squash_options;

/* Dense enough that more vertices change no printed digit of a mean. */
enum { RINGS = 401, AROUND = 192 };

typedef struct squash_errors {
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
    printf(
        "Degrees between a method's normals and those of the deformed surface, mean / worst\n\n");
    print_heads(report);
    for (int c = 0; c < PELT_SQUASH_CASE_COUNT; c++) {
        printf("%-14s", pelt_squash_cases[c].name);
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
    for (int c = 0; c < PELT_SQUASH_CASE_COUNT; c++) {
        if (!any_flipped(errors->of[c])) {
            continue;
        }
        printf("%-14s", pelt_squash_cases[c].name);
        for (int m = 0; m < PELT_SQUASH_METHOD_COUNT; m++) {
            printf("%16.1f", 100.0 * errors->of[c][m].flipped);
        }
        printf("\n");
    }
}

static void print_legend(const pelt_report *report)
{
    const char *bold = pelt_report_style(report, PELT_BOLD);
    const char *plain = pelt_report_style(report, PELT_PLAIN);
    printf("\n%sMethods:%s\n", bold, plain);
    for (int m = 0; m < PELT_SQUASH_METHOD_COUNT; m++) {
        printf("  %-15s %s\n", pelt_squash_methods[m].name, pelt_squash_methods[m].summary);
    }
    printf("\n%sCases:%s\n", bold, plain);
    for (int c = 0; c < PELT_SQUASH_CASE_COUNT; c++) {
        printf("  %-15s %s\n", pelt_squash_cases[c].name, pelt_squash_cases[c].summary);
    }
}

static void write_json(const pelt_report *report, const squash_errors *errors)
{
    pelt_json json;
    pelt_json_begin(&json, stdout);
    pelt_json_text(&json, "study", "squash");
    pelt_json_integer(&json, "vertices", RINGS * AROUND);
    pelt_json_list(&json, "cases");
    for (int c = 0; c < PELT_SQUASH_CASE_COUNT; c++) {
        pelt_json_object(&json, NULL);
        pelt_json_text(&json, "name", pelt_squash_cases[c].name);
        pelt_json_text(&json, "summary", pelt_squash_cases[c].summary);
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

static pelt_result squash(pelt_report *report, const squash_options *options)
{
    squash_errors errors;
    for (uint32_t c = 0; c < PELT_SQUASH_CASE_COUNT; c++) {
        pelt_squash_limb *limb;
        pelt_result result = pelt_squash_create(&report->host, c, RINGS, AROUND, &limb);
        if (result != PELT_OK) {
            return result;
        }
        memcpy(errors.of[c], limb->errors, sizeof(errors.of[c]));
        pelt_squash_destroy(limb);
    }
    if (options->json) {
        write_json(report, &errors);
        return PELT_OK;
    }
    print_errors(report, &errors);
    print_flipped(report, &errors);
    print_legend(report);
    return PELT_OK;
}

static int run(pelt_report *report, int argc, char **argv)
{
    squash_options options = { 0 };
    const char *operand;
    const pelt_option table[] = {
        pelt_option_json(&options.json, "print JSON instead of a table"),
        { 0 },
    };
    pelt_parsed parsed =
        pelt_options_parse(report, &pelt_study_squash, table, argc, argv, &operand);
    if (parsed != PELT_PARSED_RUN) {
        return parsed == PELT_PARSED_HELP ? PELT_EXIT_OK : PELT_EXIT_USAGE;
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
    .example = "pelt study squash",
    .run = run,
};
