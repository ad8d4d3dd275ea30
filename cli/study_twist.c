/* pelt study twist: what a limb keeps of its volume, by linear blending and by dual quaternions. */
#include "cli/study.h"
#include "study/twist.h"

#ifdef PELT_HAVE_VULKAN
#include "render/render.h"
#endif

typedef struct twist_options {
    const char *output;
    bool json;
} twist_options;

/* Dense enough that more vertices change no printed digit. */
enum { RINGS = 401, AROUND = 96 };

static void print_part(double part)
{
    printf("%9.1f", 100.0 * part);
}

static void print_twists(const pelt_report *report, const pelt_twist_curves *curves)
{
    enum { STEP = 30 / PELT_TWIST_STEP };
    const char *bold = pelt_report_style(report, PELT_BOLD);
    const char *plain = pelt_report_style(report, PELT_PLAIN);
    printf("Parts of what the limb has at rest, %%\n\n%s%-10s%18s%22s%s\n", bold, "twisted",
           "volume", "area in the middle", plain);
    printf("%s%-10s%9s%9s%13s%9s%s\n", bold, "degrees", "lbs", "dqs", "lbs", "dqs", plain);
    for (int i = 0; i < PELT_TWIST_POINTS; i += STEP) {
        const pelt_twist_point *point = &curves->twist[i];
        printf("%-10.0f", point->degrees);
        print_part(point->volume[0]);
        print_part(point->volume[1]);
        printf("    ");
        print_part(point->middle[0]);
        print_part(point->middle[1]);
        printf("\n");
    }
}

static void print_bends(const pelt_report *report, const pelt_twist_curves *curves)
{
    enum { STEP = 15 / PELT_TWIST_STEP };
    const char *bold = pelt_report_style(report, PELT_BOLD);
    const char *plain = pelt_report_style(report, PELT_PLAIN);
    printf("\n%s%-10s%18s%18s%18s%s\n", bold, "bent", "volume", "outside", "swelling", plain);
    printf("%s%-10s%9s%9s%9s%9s%9s%9s%s\n", bold, "degrees", "lbs", "dqs", "lbs", "dqs", "lbs",
           "dqs", plain);
    for (int i = 0; i < PELT_BEND_POINTS; i += STEP) {
        const pelt_twist_point *point = &curves->bend[i];
        printf("%-10.0f", point->degrees);
        print_part(point->volume[0]);
        print_part(point->volume[1]);
        print_part(point->outside[0]);
        print_part(point->outside[1]);
        print_part(point->swelling[0]);
        print_part(point->swelling[1]);
        printf("\n");
    }
    printf(
        "\nvolume: what the surface encloses, twice where it passes through itself; outside: how "
        "far it\nis from the point it bends about, away from both halves; swelling: how far "
        "from the axis of\nthe half that stands still. lbs: linear blend skinning; dqs: dual "
        "quaternions.\n");
}

static void write_points(pelt_json *json, const char *key, const pelt_twist_point *points,
                         int count, bool twist)
{
    enum { DIGITS = 6 };
    pelt_json_list(json, key);
    for (int i = 0; i < count; i++) {
        pelt_json_object(json, NULL);
        pelt_json_number(json, "degrees", points[i].degrees);
        for (uint32_t m = 0; m < PELT_TWIST_METHOD_COUNT; m++) {
            pelt_json_object_line(json, pelt_twist_methods[m].name);
            pelt_json_rounded(json, "volume", points[i].volume[m], DIGITS);
            if (twist) {
                pelt_json_rounded(json, "middle", points[i].middle[m], DIGITS);
            } else {
                pelt_json_rounded(json, "outside", points[i].outside[m], DIGITS);
                pelt_json_rounded(json, "swelling", points[i].swelling[m], DIGITS);
            }
            pelt_json_close(json);
        }
        pelt_json_close(json);
    }
    pelt_json_close(json);
}

static void write_json(const pelt_report *report, const pelt_twist_curves *curves)
{
    pelt_json json;
    pelt_json_begin(&json, stdout);
    pelt_json_text(&json, "study", "twist");
    pelt_json_integer(&json, "vertices", RINGS * AROUND);
    write_points(&json, "twist", curves->twist, PELT_TWIST_POINTS, true);
    write_points(&json, "bend", curves->bend, PELT_BEND_POINTS, false);
    pelt_report_warnings(report, &json);
    pelt_json_end(&json);
}

#ifdef PELT_HAVE_VULKAN

static pelt_result write_picture(pelt_report *report, const char *folder, pelt_twist_limb *limb,
                                 const pelt_twist_curves *curves)
{
    pelt_canvas canvas;
    char *path = pelt_path_in(report, folder, "twist.png");
    pelt_result result = path ? pelt_twist_draw(limb, curves, &canvas) : PELT_ERROR_MEMORY;
    if (result == PELT_OK) {
        result = pelt_write_png(&report->host, path, canvas.width, canvas.height, canvas.pixels);
        pelt_canvas_destroy(&canvas);
    }
    pelt_release(&report->host, path);
    return result;
}

static pelt_result write_files(pelt_report *report, const char *folder, pelt_twist_limb *limb,
                               const pelt_twist_curves *curves)
{
    pelt_result result = pelt_make_folder(report, folder);
    if (result != PELT_OK) {
        return result;
    }
    char *path = pelt_path_in(report, folder, "twist.svg");
    result = path ? pelt_twist_plot(&report->host, path, curves) : PELT_ERROR_MEMORY;
    pelt_release(&report->host, path);
    if (result == PELT_OK) {
        pelt_report_progress(report, "drawing");
        result = write_picture(report, folder, limb, curves);
        pelt_report_progress(report, NULL);
    }
    return result;
}

#else

static pelt_result write_files(pelt_report *report, const char *folder, pelt_twist_limb *limb,
                               const pelt_twist_curves *curves)
{
    (void)limb;
    (void)curves;
    return pelt_fail(&report->host, PELT_ERROR_UNSUPPORTED, folder, NULL,
                     "this pelt was built without Vulkan, and so without pictures");
}

#endif

static pelt_result study(pelt_report *report, const twist_options *options)
{
    pelt_twist_limb *limb;
    pelt_twist_curves *curves = pelt_allocate(&report->host, 1, sizeof(*curves));
    pelt_result result =
        curves ? pelt_twist_create(&report->host, RINGS, AROUND, &limb) : PELT_ERROR_MEMORY;
    if (result != PELT_OK) {
        pelt_release(&report->host, curves);
        return result;
    }
    pelt_report_progress(report, "twisting");
    pelt_twist_run(limb, curves);
    pelt_report_progress(report, NULL);
    if (options->output) {
        result = write_files(report, options->output, limb, curves);
    }
    if (result == PELT_OK && options->json) {
        write_json(report, curves);
    } else if (result == PELT_OK) {
        print_twists(report, curves);
        print_bends(report, curves);
    }
    pelt_twist_destroy(limb);
    pelt_release(&report->host, curves);
    return result;
}

static int run(pelt_report *report, int argc, char **argv)
{
    twist_options options = { 0 };
    const char *operand;
    const pelt_option table[] = {
        { .name = "output",
          .letter = 'o',
          .kind = PELT_OPTION_TEXT,
          .value = "DIR",
          .help = "draw the limb into DIR/twist.png, curves into DIR/twist.svg",
          .target = &options.output },
        pelt_option_json(&options.json, "print JSON instead of tables"),
        { 0 },
    };
    pelt_parsed parsed = pelt_options_parse(report, &pelt_study_twist, table, argc, argv, &operand);
    if (parsed != PELT_PARSED_RUN) {
        return parsed == PELT_PARSED_HELP ? PELT_EXIT_OK : PELT_EXIT_USAGE;
    }
    if (options.output && !*options.output) {
        pelt_report_error(report, NULL, "--output: must not be empty");
        return PELT_EXIT_USAGE;
    }
    report->json = options.json;
    return pelt_report_exit(report, study(report, &options));
}

const pelt_command pelt_study_twist = {
    .name = "study twist",
    .summary = "Compare linear blending and dual quaternions on a limb that twists and bends",
    .details =
        "\n"
        "Linear blending draws a twisted limb together, like a candy's wrapper: halfway between\n"
        "joints half a turn apart nothing is left of it. Dual quaternions keep it, but swell "
        "where\n"
        "it bends, and beyond half a turn they take the other way round. The study measures "
        "both.\n",
    .example = "pelt study twist -o pictures",
    .run = run,
};
