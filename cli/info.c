/* pelt info: what a file holds and what pelt makes of it. */
#include "cli/info.h"
#include "base/box.h"
#include "cli/crowd.h"
#include "cli/options.h"

#include <pelt/gltf.h>
#include <string.h>

/* Totals over the parts of the scene, source meshes counted once. */
typedef struct totals {
    uint64_t vertices, triangles;       /* of all parts */
    uint64_t source_vertices;           /* of the packed meshes */
    uint64_t packed_bytes, float_bytes; /* of those */
    uint32_t influence_max, joint_bytes, morphed_parts;
    bool directions;         /* normals or tangents anywhere */
    pelt_pack_report report; /* the worst of each */
} totals;

static const char *const topology_names[] = { "points",      "lines",     "line loop",
                                              "line strip",  "triangles", "triangle strip",
                                              "triangle fan" };

static float larger(float a, float b)
{
    return a > b ? a : b;
}

/* Bytes of one source mesh as 32-bit floats and 16-bit joints, as a plain engine would hold it. */
static uint64_t float_bytes(const pelt_packed_mesh *mesh)
{
    uint64_t vertex = 12 + 12 + (mesh->tangents ? 16 : 0) + 24 * (uint64_t)mesh->set_count;
    return vertex * mesh->vertex_count;
}

static uint64_t packed_bytes(const pelt_packed_mesh *mesh)
{
    pelt_packed_sizes sizes = pelt_packed_mesh_sizes(mesh);
    return (uint64_t)sizes.vertices + sizes.tangents + sizes.weights + sizes.joints;
}

static totals add_up(const pelt_character *character)
{
    totals sum = { 0 };
    const pelt_model *model = character->model;
    for (uint32_t i = 0; i < model->part_count; i++) {
        const pelt_primitive *primitive = pelt_part_primitive(model, i);
        sum.vertices += primitive->vertex_count;
        sum.triangles += pelt_primitive_triangle_count(primitive);
        sum.morphed_parts += primitive->target_count > 0;
    }
    for (uint32_t i = 0; i < character->mesh_count; i++) {
        const pelt_packed_mesh *mesh = character->meshes[i];
        const pelt_pack_report *report = &mesh->report;
        sum.source_vertices += mesh->vertex_count;
        sum.directions = sum.directions || mesh->has_normals || mesh->tangents;
        sum.packed_bytes += packed_bytes(mesh);
        sum.float_bytes += float_bytes(mesh);
        sum.joint_bytes = mesh->joint_bytes > sum.joint_bytes ? mesh->joint_bytes : sum.joint_bytes;
        sum.report.weight_error = larger(sum.report.weight_error, report->weight_error);
        sum.report.position_error = larger(sum.report.position_error, report->position_error);
        sum.report.normal_error = larger(sum.report.normal_error, report->normal_error);
        sum.report.tangent_error = larger(sum.report.tangent_error, report->tangent_error);
        sum.report.influence_max = report->influence_max > sum.report.influence_max
                                       ? report->influence_max
                                       : sum.report.influence_max;
        sum.report.influences_merged += report->influences_merged;
        sum.report.influences_rounded += report->influences_rounded;
    }
    return sum;
}

static void print_name(const char *name)
{
    if (name && *name) {
        printf(" '");
        pelt_print_safe(stdout, name);
        printf("'");
    }
}

static void heading(const pelt_report *report, const char *text)
{
    printf("\n%s%s%s\n", pelt_report_style(report, PELT_BOLD), text,
           pelt_report_style(report, PELT_PLAIN));
}

static void print_parts(const pelt_report *report, const pelt_character *character)
{
    enum { SHOWN = 32 };
    const pelt_model *model = character->model;
    if (model->part_count == 0) {
        return;
    }
    heading(report, "Primitives");
    printf("  %5s %5s  %-14s %11s %11s %7s %10s %7s  %s\n", "node", "prim", "topology", "vertices",
           "triangles", "joints", "influences", "targets", "mesh");
    for (uint32_t i = 0; i < model->part_count && i < SHOWN; i++) {
        const pelt_part *part = &model->parts[i];
        const pelt_primitive *primitive = pelt_part_primitive(model, i);
        const pelt_packed_mesh *mesh = character->meshes[character->part_meshes[i]];
        char vertices[32], triangles[32], joints[16], influences[16];
        (void)snprintf(joints, sizeof(joints), part->skinned ? "%u" : "-",
                       model->palettes[part->palette].matrix_count);
        (void)snprintf(influences, sizeof(influences), part->skinned ? "%u" : "-",
                       mesh->report.influence_max);
        printf("  %5u %5u  %-14s %11s %11s %7s %10s %7u ", part->node, part->primitive,
               topology_names[primitive->topology],
               pelt_format_count(primitive->vertex_count, vertices),
               pelt_format_count(pelt_primitive_triangle_count(primitive), triangles), joints,
               influences, primitive->target_count);
        print_name(model->meshes[part->mesh].name);
        printf("\n");
    }
    if (model->part_count > SHOWN) {
        char more[32];
        printf("  and %s more (--json lists all)\n",
               pelt_format_count(model->part_count - SHOWN, more));
    }
}

static void print_clips(const pelt_report *report, const pelt_model *model)
{
    if (model->clip_count == 0) {
        return;
    }
    heading(report, "Clips");
    for (uint32_t i = 0; i < model->clip_count; i++) {
        char channels[32];
        uint32_t count = model->clips[i].channel_count;
        printf("  %3u  %8.3f s  %5s channel%s ", i, model->clips[i].duration,
               pelt_format_count(count, channels), count == 1 ? " " : "s");
        print_name(model->clips[i].name);
        printf("\n");
    }
}

static void print_packing(const pelt_report *report, const totals *sum)
{
    char packed[32], plain[32];
    if (sum->source_vertices == 0) {
        return;
    }
    double vertices = (double)sum->source_vertices;
    heading(report, "Packed");
    printf("  size     %s, %.1f bytes a vertex; as floats %s, %.1f bytes a vertex%s\n",
           pelt_format_bytes(sum->packed_bytes, packed), (double)sum->packed_bytes / vertices,
           pelt_format_bytes(sum->float_bytes, plain), (double)sum->float_bytes / vertices,
           sum->vertices > sum->source_vertices ? "; shared meshes counted once" : "");
    if (sum->report.weight_error > 0.0f) {
        printf("  weights  off by %.2g at most; moves a vertex by up to %.2g units in ordinary "
               "poses\n",
               sum->report.weight_error, sum->report.position_error);
    } else {
        printf("  weights  exact\n");
    }
    if (sum->directions) {
        printf("  normals  and tangents off by %.3f degrees at most\n",
               pelt_degrees(larger(sum->report.normal_error, sum->report.tangent_error)));
    } else {
        printf("  normals  none in the file\n");
    }
    if (sum->report.influences_merged || sum->report.influences_rounded) {
        char merged[32], rounded[32];
        printf("  influences: %s of the same joint added up, %s too small to keep\n",
               pelt_format_count(sum->report.influences_merged, merged),
               pelt_format_count(sum->report.influences_rounded, rounded));
    }
}

static void print_text(const pelt_report *report, const char *file, const pelt_character *character,
                       const totals *sum, const pelt_box *box,
                       const pelt_character_clusters *clusters)
{
    const pelt_model *model = character->model;
    char a[32], b[32], c[32];
    uint64_t joints = 0;
    for (uint32_t i = 0; i < model->skin_count; i++) {
        joints += model->skins[i].joint_count;
    }
    printf("%s", pelt_report_style(report, PELT_BOLD));
    pelt_print_safe(stdout, file);
    printf("%s\n", pelt_report_style(report, PELT_PLAIN));
    if (model->generator) {
        printf("  made by    ");
        pelt_print_safe(stdout, model->generator);
        printf("\n");
    }
    printf("  meshes     %s, %s primitive%s in the scene\n",
           pelt_format_count(model->mesh_count, a), pelt_format_count(model->part_count, b),
           pelt_plural(model->part_count));
    printf("  vertices   %s\n", pelt_format_count(sum->vertices, a));
    printf("  triangles  %s\n", pelt_format_count(sum->triangles, a));
    printf("  joints     %s in %s skin%s, %s node%s\n", pelt_format_count(joints, a),
           pelt_format_count(model->skin_count, b), pelt_plural(model->skin_count),
           pelt_format_count(model->node_count, c), pelt_plural(model->node_count));
    printf("  influences %u a vertex at most\n", sum->report.influence_max);
    printf("  clips      %s\n", pelt_format_count(model->clip_count, a));
    if (!box_is_empty(box)) {
        printf("  box        (%.6g %.6g %.6g) to (%.6g %.6g %.6g), of the static pose (no clip)\n",
               box->min[0], box->min[1], box->min[2], box->max[0], box->max[1], box->max[2]);
    }
    print_parts(report, character);
    print_clips(report, model);
    print_packing(report, sum);
    if (clusters) {
        heading(report, "Clusters");
        pelt_info_print_clusters(character, clusters);
    }
}

static void json_parts(pelt_json *json, const pelt_character *character)
{
    const pelt_model *model = character->model;
    pelt_json_list(json, "primitives");
    for (uint32_t i = 0; i < model->part_count; i++) {
        const pelt_part *part = &model->parts[i];
        const pelt_primitive *primitive = pelt_part_primitive(model, i);
        const pelt_packed_mesh *mesh = character->meshes[character->part_meshes[i]];
        pelt_json_object_line(json, NULL);
        pelt_json_integer(json, "node", part->node);
        pelt_json_integer(json, "mesh", part->mesh);
        pelt_json_integer(json, "primitive", part->primitive);
        pelt_json_text(json, "meshName", model->meshes[part->mesh].name);
        pelt_json_text(json, "topology", topology_names[primitive->topology]);
        pelt_json_integer(json, "vertices", primitive->vertex_count);
        pelt_json_integer(json, "triangles", pelt_primitive_triangle_count(primitive));
        pelt_json_bool(json, "skinned", part->skinned);
        pelt_json_integer(json, "joints",
                          part->skinned ? model->palettes[part->palette].matrix_count : 0);
        pelt_json_integer(json, "influences", part->skinned ? mesh->report.influence_max : 0);
        pelt_json_integer(json, "morphTargets", primitive->target_count);
        pelt_json_bool(json, "normals", primitive->normals != NULL);
        pelt_json_bool(json, "tangents", primitive->tangents != NULL);
        pelt_json_integer(json, "packedBytes", (int64_t)packed_bytes(mesh));
        pelt_json_integer(json, "floatBytes", (int64_t)float_bytes(mesh));
        pelt_json_close(json);
    }
    pelt_json_close(json);
}

static void json_clips(pelt_json *json, const pelt_model *model)
{
    pelt_json_list(json, "clips");
    for (uint32_t i = 0; i < model->clip_count; i++) {
        pelt_json_object_line(json, NULL);
        pelt_json_integer(json, "clip", i);
        pelt_json_text(json, "name", model->clips[i].name);
        pelt_json_number(json, "duration", model->clips[i].duration);
        pelt_json_integer(json, "channels", model->clips[i].channel_count);
        pelt_json_close(json);
    }
    pelt_json_close(json);
}

static void json_packing(pelt_json *json, const totals *sum)
{
    pelt_json_object(json, "packing");
    pelt_json_integer(json, "vertices", (int64_t)sum->source_vertices);
    pelt_json_integer(json, "packedBytes", (int64_t)sum->packed_bytes);
    pelt_json_integer(json, "floatBytes", (int64_t)sum->float_bytes);
    pelt_json_rounded(json, "weightError", sum->report.weight_error, 4);
    pelt_json_rounded(json, "positionError", sum->report.position_error, 4);
    pelt_json_rounded(json, "normalErrorDegrees", pelt_degrees(sum->report.normal_error), 4);
    pelt_json_rounded(json, "tangentErrorDegrees", pelt_degrees(sum->report.tangent_error), 4);
    pelt_json_integer(json, "influencesMerged", sum->report.influences_merged);
    pelt_json_integer(json, "influencesRounded", sum->report.influences_rounded);
    pelt_json_close(json);
}

static void print_json(const pelt_report *report, const char *file, const pelt_character *character,
                       const totals *sum, const pelt_box *box,
                       const pelt_character_clusters *clusters)
{
    const pelt_model *model = character->model;
    pelt_json json;
    pelt_json_begin(&json, stdout);
    pelt_json_text(&json, "file", file);
    pelt_json_text(&json, "generator", model->generator);
    pelt_json_integer(&json, "nodes", model->node_count);
    pelt_json_integer(&json, "meshes", model->mesh_count);
    pelt_json_integer(&json, "materials", model->material_count);
    pelt_json_integer(&json, "images", model->image_count);
    pelt_json_integer(&json, "vertices", (int64_t)sum->vertices);
    pelt_json_integer(&json, "triangles", (int64_t)sum->triangles);
    pelt_json_integer(&json, "influences", sum->report.influence_max);
    pelt_json_list(&json, "skins");
    for (uint32_t i = 0; i < model->skin_count; i++) {
        pelt_json_object_line(&json, NULL);
        pelt_json_text(&json, "name", model->skins[i].name);
        pelt_json_integer(&json, "joints", model->skins[i].joint_count);
        pelt_json_close(&json);
    }
    pelt_json_close(&json);
    if (!box_is_empty(box)) {
        pelt_json_object_line(&json, "box");
        pelt_json_text(&json, "pose", "static");
        pelt_json_floats(&json, "min", box->min, 3);
        pelt_json_floats(&json, "max", box->max, 3);
        pelt_json_close(&json);
    } else {
        pelt_json_text(&json, "box", NULL);
    }
    json_parts(&json, character);
    json_clips(&json, model);
    json_packing(&json, sum);
    if (clusters) {
        pelt_info_json_clusters(&json, character, clusters);
    }
    pelt_report_warnings(report, &json);
    pelt_json_end(&json);
}

/* levels: of detail that clusters are made of; 0: no clusters. */
static pelt_result info(pelt_report *report, const char *file, uint32_t levels, bool json)
{
    pelt_model *model;
    pelt_result result = pelt_gltf_read(&report->host, file, &model);
    if (result != PELT_OK) {
        return result;
    }
    pelt_character *character;
    result = pelt_character_create(&report->host, model, &character);
    if (result != PELT_OK) {
        return result;
    }
    pelt_box box = PELT_BOX_EMPTY;
    pelt_character_clusters *clusters = NULL;
    result = pelt_character_box(character, &(pelt_play){ .clip = -1 }, &box);
    if (result == PELT_OK && levels) {
        result = pelt_character_cut(
            character,
            &(pelt_cut_info){ .clip = -1, .all_clips = true, .offset = 0.5, .lod_count = levels },
            &clusters);
    }
    if (result == PELT_OK) {
        totals sum = add_up(character);
        (json ? print_json : print_text)(report, file, character, &sum, &box, clusters);
    }
    pelt_character_clusters_destroy(clusters);
    pelt_character_destroy(character);
    return result;
}

static int run(pelt_report *report, int argc, char **argv)
{
    enum { LEVELS = 6 };
    const char *file;
    bool json = false, clusters = false;
    const pelt_option table[] = {
        { .name = "clusters",
          .kind = PELT_OPTION_FLAG,
          .help = "cut the meshes into clusters at six levels of detail, and tell of them",
          .target = &clusters },
        pelt_option_json(&json, "print it as JSON"),
        { 0 },
    };
    pelt_parsed parsed = pelt_options_parse(report, &pelt_command_info, table, argc, argv, &file);
    if (parsed != PELT_PARSED_RUN) {
        return parsed == PELT_PARSED_HELP ? PELT_EXIT_OK : PELT_EXIT_USAGE;
    }
    report->json = json;
    return pelt_report_exit(report, info(report, file, clusters ? LEVELS : 0, json));
}

const pelt_command pelt_command_info = {
    .name = "info",
    .operand = "FILE",
    .summary = "Tell what a file holds: meshes, joints, clips, sizes, what packing costs",
    .details = "\n"
               "Sizes compare pelt's packed streams with the same vertices as 32-bit floats and\n"
               "16-bit joints. Warnings say what had to be repaired.\n"
               "\n"
               "Errors of levels of detail are the largest at moments spread over all clips, in\n"
               "the file's unit.\n",
    .example = "pelt info fox.glb",
    .run = run,
};
