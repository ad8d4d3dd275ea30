/* pelt verify's figures: a table for people, JSON for programs. */
#include "cli/verify.h"

#include <string.h>

/* A column of the table: a number with how much of its bound it takes. */
static void print_position(const pelt_worst *worst)
{
    printf("  %9.2e %9.2e %6.0f %%", worst->error, worst->of_box, 100 * worst->of_bound);
}

static void print_angle(const pelt_worst *worst, bool bounded)
{
    if (worst->count == 0) {
        printf("  %8s  %8s", "-", "");
    } else if (bounded) {
        printf("  %7.4f\xc2\xb0  %6.0f %%", pelt_degrees(worst->error), 100 * worst->of_bound);
    } else {
        printf("  %7.4f\xc2\xb0  %8s", pelt_degrees(worst->error), "");
    }
}

static void print_count(uint64_t good, uint64_t all)
{
    char text[48] = "-";
    if (all) {
        (void)snprintf(text, sizeof(text), "%llu/%llu", (unsigned long long)good,
                       (unsigned long long)all);
    }
    printf("  %13s", text);
}

/* broken: the names of what is, each with a blank before it; empty: nothing. */
static void print_verdict(const pelt_report *report, const char *broken)
{
    bool holds = !*broken;
    printf("  %s%s%s%s\n", pelt_report_style(report, holds ? PELT_GREEN : PELT_RED),
           holds ? "ok" : "BROKEN:", broken, pelt_report_style(report, PELT_PLAIN));
}

static void print_path_verdict(const pelt_report *report, const pelt_path_result *r)
{
    char broken[128];
    (void)snprintf(
        broken, sizeof(broken), "%s%s%s%s%s%s%s", r->position.of_bound <= 1.0 ? "" : " position",
        r->normal.of_bound <= 1.0 ? "" : " normal", r->tangent.of_bound <= 1.0 ? "" : " tangent",
        r->boxes_equal == r->boxes ? "" : " exact-boxes",
        r->joint_boxes_hold == r->joint_boxes ? "" : " joint-boxes",
        r->handedness_wrong == 0 ? "" : " handedness", r->not_finite == 0 ? "" : " not-finite");
    print_verdict(report, broken);
}

/* A row of one number and how much of its bound it takes. */
static void print_packing_row(const pelt_report *report, const char *name, const pelt_worst *worst,
                              double error, const char *unit)
{
    if (worst->count == 0) {
        return;
    }
    char text[32];
    (void)snprintf(text, sizeof(text), "%.4f%s", error, unit);
    /* A degree sign is two bytes and one column. */
    int width = 19 + (strstr(unit, "\xc2\xb0") != NULL);
    printf("  %-10s  %*s %6.0f %%%70s", name, width, text, 100 * worst->of_bound, "");
    char broken[32] = "";
    if (!(worst->of_bound <= 1.0)) {
        (void)snprintf(broken, sizeof(broken), " %s", name);
    }
    print_verdict(report, broken);
}

static void print_table(const pelt_report *report, const pelt_verification *v)
{
    printf("\n%s  %-10s  %-28s  %-18s  %-18s  %13s  %13s%s\n", pelt_report_style(report, PELT_BOLD),
           "path", "position", "normal", "tangent", "exact boxes", "joint boxes",
           pelt_report_style(report, PELT_PLAIN));
    printf("  %-10s  %9s %9s %8s  %8s  %8s  %8s  %8s  %13s  %13s\n", "", "units", "of box",
           "of limit", "angle", "of limit", "angle", "of limit", "bit-equal", "hold it");
    for (uint32_t p = 0; p < v->path_count; p++) {
        const pelt_path_result *r = &v->results[p];
        printf("  %-10s", v->paths[p]->path);
        print_position(&r->position);
        print_angle(&r->normal, true);
        print_angle(&r->tangent, true);
        print_count(r->boxes_equal, r->boxes);
        print_count(r->joint_boxes_hold, r->joint_boxes);
        print_path_verdict(report, r);
    }
    if (v->pose.count > 0) {
        printf("  %-10s", "pose");
        print_position(&v->pose);
        printf("%70s", "");
        print_verdict(report, v->pose.of_bound <= 1.0 ? "" : " position");
    }
    printf("  %-10s", "packing");
    print_position(&v->packing.position);
    print_angle(&v->packing.normal, false);
    print_angle(&v->packing.tangent, false);
    printf("  %13s  %13s", "", "");
    print_verdict(report, v->packing.position.of_bound <= 1.0 ? "" : " position");
    print_packing_row(report, "weights", &v->packing.weights, 4096 * v->packing.weights.error,
                      " / 4096");
    print_packing_row(report, "directions", &v->packing.directions,
                      pelt_degrees(v->packing.directions.error), "\xc2\xb0");
}

static void print_notes(const pelt_verification *v)
{
    printf("\n");
    for (uint32_t p = 0; p < v->path_count; p++) {
        char groups[32], instances[32];
        printf("  %-10s ", v->paths[p]->path);
        pelt_print_safe(stdout, v->paths[p]->device);
        if (v->paths[p]->groups || v->results[p].groups) {
            printf("; %s instance%s, %s chunk%s in one dispatch",
                   pelt_format_count(v->batch_size, instances), pelt_plural(v->batch_size),
                   pelt_format_count(v->results[p].groups, groups),
                   pelt_plural(v->results[p].groups));
        }
        printf("\n");
    }
    if (v->no_gpu[0]) {
        printf("  %-10s not run: ", "gpu");
        pelt_print_safe(stdout, v->no_gpu);
        printf("\n");
    }
    if (v->pose.count > 0) {
        printf(
            "  %-10s skin matrices that the GPU makes from the clips, against the CPU's: how far\n"
            "  %-10s one moves a vertex from where it should be; at most 1e-5 of the\n"
            "  %-10s character's size and the rounding of coordinates\n",
            "pose", "", "");
    }
    printf(
        "  %-10s the packed streams against the file's own numbers, both in double precision\n"
        "  %-10s the largest rounding of any weight; at most 1 / 4096, 33 / 32 of it where\n"
        "  %-10s vertices have more than four\n"
        "  %-10s of normals and tangents as they are stored, before any pose\n\n"
        "Paths are held against the reference fed with the packed streams. 'of limit' is the\n"
        "largest part of what is allowed: 2e-6 of the box and the rounding of its coordinates;\n"
        "0.0971 degrees, what ten bits hold, and rounding; for packing, what its weights can do.\n",
        "packing", "weights", "", "directions");
}

void pelt_verify_print_text(const pelt_report *report, const pelt_verification *v)
{
    const pelt_model *model = v->character->model;
    char instances[32], primitives[32], vertices[32];
    uint64_t each = v->character->vertex_offsets[model->part_count];
    printf("%s", pelt_report_style(report, PELT_BOLD));
    pelt_print_safe(stdout, v->options->open.file);
    printf("%s: %s instance%s of %s primitive%s, %s %s each, ",
           pelt_report_style(report, PELT_PLAIN), pelt_format_count(v->crowd->count, instances),
           pelt_plural(v->crowd->count), pelt_format_count(model->part_count, primitives),
           pelt_plural(model->part_count), pelt_format_count(each, vertices),
           each == 1 ? "vertex" : "vertices");
    if (v->play.clip < 0) {
        printf("the static pose");
    } else {
        pelt_print_clip(model, v->play.clip);
        if (v->crowd->count > 1) {
            printf(" at staggered times");
        } else {
            printf(" at %g s", v->play.time);
        }
    }
    printf("%s\n", v->character->method == PELT_METHOD_DQS ? "; dual quaternions" : "");
    print_table(report, v);
    print_notes(v);
}

static void json_worst(pelt_json *json, const char *key, const pelt_worst *worst, bool is_angle,
                       bool bounded)
{
    if (worst->count == 0) {
        pelt_json_text(json, key, NULL);
        return;
    }
    pelt_json_object_line(json, key);
    pelt_json_rounded(json, is_angle ? "degrees" : "error",
                      is_angle ? pelt_degrees(worst->error) : worst->error, 6);
    if (!is_angle) {
        pelt_json_rounded(json, "ofBox", worst->of_box, 6);
    }
    if (bounded) {
        pelt_json_rounded(json, "ofBound", worst->of_bound, 6);
    }
    pelt_json_integer(json, "compared", (int64_t)worst->count);
    pelt_json_close(json);
}

/* What the pack reports say: of all vertices, so without a count. */
static void json_packing(pelt_json *json, const char *key, const char *error_key, double error,
                         const pelt_worst *worst)
{
    if (worst->count == 0) {
        pelt_json_text(json, key, NULL);
        return;
    }
    pelt_json_object_line(json, key);
    pelt_json_rounded(json, error_key, error, 6);
    pelt_json_rounded(json, "ofBound", worst->of_bound, 6);
    pelt_json_close(json);
}

static void json_path(pelt_json *json, const pelt_verification *v, uint32_t p)
{
    const pelt_path_result *r = &v->results[p];
    pelt_json_object(json, NULL);
    pelt_json_text(json, "device", v->paths[p]->path);
    pelt_json_text(json, "deviceName", v->paths[p]->device);
    pelt_json_bool(json, "ok", pelt_path_result_holds(r));
    json_worst(json, "position", &r->position, false, true);
    json_worst(json, "normal", &r->normal, true, true);
    json_worst(json, "tangent", &r->tangent, true, true);
    pelt_json_object_line(json, "boxes");
    pelt_json_integer(json, "compared", (int64_t)r->boxes);
    pelt_json_integer(json, "equal", (int64_t)r->boxes_equal);
    pelt_json_close(json);
    if (r->joint_boxes) {
        pelt_json_object_line(json, "jointBoxes");
        pelt_json_integer(json, "compared", (int64_t)r->joint_boxes);
        pelt_json_integer(json, "hold", (int64_t)r->joint_boxes_hold);
        pelt_json_close(json);
    } else {
        pelt_json_text(json, "jointBoxes", NULL);
    }
    pelt_json_integer(json, "wrongHandedness", (int64_t)r->handedness_wrong);
    pelt_json_integer(json, "notFinite", (int64_t)r->not_finite);
    pelt_json_rounded(json, "skinMilliseconds", 1e3 * r->seconds, 6);
    if (r->groups) {
        pelt_json_integer(json, "groupsInOneDispatch", r->groups);
    }
    pelt_json_close(json);
}

void pelt_verify_print_json(const pelt_report *report, const pelt_verification *v)
{
    const pelt_model *model = v->character->model;
    pelt_json json;
    pelt_json_begin(&json, stdout);
    pelt_json_text(&json, "file", v->options->open.file);
    pelt_json_bool(&json, "ok", v->holds);
    pelt_json_text(&json, "method", pelt_method_name(v->character->method));
    pelt_json_integer(&json, "instances", v->crowd->count);
    pelt_json_integer(&json, "instancesInOneBatch", v->batch_size);
    pelt_json_integer(&json, "primitives", model->part_count);
    pelt_json_integer(&json, "verticesEach",
                      (int64_t)v->character->vertex_offsets[model->part_count]);
    pelt_json_clip(&json, model, v->play.clip);
    pelt_json_number(&json, "time", v->play.time);
    pelt_json_list(&json, "paths");
    for (uint32_t p = 0; p < v->path_count; p++) {
        json_path(&json, v, p);
    }
    pelt_json_close(&json);
    if (v->pose.count > 0) {
        json_worst(&json, "pose", &v->pose, false, true);
    }
    pelt_json_object(&json, "packing");
    pelt_json_bool(&json, "ok", pelt_packing_holds(&v->packing));
    json_worst(&json, "position", &v->packing.position, false, true);
    json_worst(&json, "normal", &v->packing.normal, true, false);
    json_worst(&json, "tangent", &v->packing.tangent, true, false);
    json_packing(&json, "weights", "error", v->packing.weights.error, &v->packing.weights);
    json_packing(&json, "directions", "degrees", pelt_degrees(v->packing.directions.error),
                 &v->packing.directions);
    pelt_json_close(&json);
    if (v->no_gpu[0]) {
        pelt_json_text(&json, "noGpu", v->no_gpu);
    }
    pelt_report_warnings(report, &json);
    pelt_json_end(&json);
}
