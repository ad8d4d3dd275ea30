/* pelt skin: the character as it stands at one moment, as a static glTF. */
#include "base/box.h"
#include "cli/backend.h"
#include "cli/open.h"

#include <pelt/gltf.h>
#include <string.h>

typedef struct skin_options {
    pelt_open_info open;
    const char *output;
    bool json;
    int device;
} skin_options;

static char *copy_text(pelt_model *model, const char *text)
{
    char *copy = pelt_model_allocate(model, strlen(text) + 1, 1);
    return copy ? memcpy(copy, text, strlen(text) + 1) : NULL;
}

/* An output model with a node and a mesh of one primitive for each part. What does not change is
 * borrowed from the source, which must live longer. */
static pelt_result begin_output(const pelt_host *host, const pelt_model *source, pelt_model **out)
{
    pelt_result result = pelt_model_create(host, out);
    if (result != PELT_OK) {
        return result;
    }
    pelt_model *model = *out;
    uint32_t count = source->part_count;
    model->nodes = pelt_model_allocate(model, count, sizeof(*model->nodes));
    model->meshes = pelt_model_allocate(model, count, sizeof(*model->meshes));
    pelt_primitive *primitives = pelt_model_allocate(model, count, sizeof(*primitives));
    if (!model->nodes || !model->meshes || !primitives) {
        return PELT_ERROR_MEMORY;
    }
    model->node_count = model->mesh_count = count;
    model->material_count = source->material_count;
    model->materials = source->materials;
    model->image_count = source->image_count;
    model->images = source->images;
    for (uint32_t i = 0; i < count; i++) {
        const pelt_part *part = &source->parts[i];
        char extras[64];
        (void)snprintf(extras, sizeof(extras), "{\"sourceNode\": %u, \"sourcePrimitive\": %u}",
                       part->node, part->primitive);
        model->nodes[i] = (pelt_node){ .name = source->nodes[part->node].name,
                                       .parent = -1,
                                       .in_scene = true,
                                       .rotation = { 0, 0, 0, 1 },
                                       .scale = { 1, 1, 1 },
                                       .mesh = (int32_t)i,
                                       .skin = -1,
                                       .extras = copy_text(model, extras) };
        model->meshes[i] = (pelt_mesh){ .name = source->meshes[part->mesh].name,
                                        .primitive_count = 1,
                                        .primitives = &primitives[i] };
        if (!model->nodes[i].extras) {
            return PELT_ERROR_MEMORY;
        }
    }
    return pelt_model_finish(model);
}

/* Fills in one part's primitive. packed: skinned from the character's streams. */
static pelt_result write_part(pelt_model *model, uint32_t part, const pelt_character *character,
                              const pelt_animated *animated, bool packed)
{
    const pelt_primitive *source = pelt_part_primitive(character->model, part);
    const pelt_packed_mesh *mesh = packed ? character->meshes[character->part_meshes[part]] : NULL;
    bool has_normals = packed ? mesh->has_normals : animated->normals != NULL;
    bool has_tangents = packed ? animated->tangents != NULL : animated->tangents_double != NULL;
    size_t count = source->vertex_count;
    pelt_primitive *primitive = &model->meshes[part].primitives[0];
    *primitive = (pelt_primitive){ .topology = source->topology,
                                   .vertex_count = source->vertex_count,
                                   .texcoords = source->texcoords,
                                   .colors = source->colors,
                                   .index_count = source->index_count,
                                   .indices = source->indices,
                                   .material = source->material };
    primitive->positions = pelt_model_allocate(model, count, 3 * sizeof(float));
    primitive->normals = has_normals ? pelt_model_allocate(model, count, 3 * sizeof(float)) : NULL;
    primitive->tangents =
        has_tangents ? pelt_model_allocate(model, count, 4 * sizeof(float)) : NULL;
    if (!primitive->positions || (has_normals && !primitive->normals) ||
        (has_tangents && !primitive->tangents)) {
        return PELT_ERROR_MEMORY;
    }
    for (uint32_t v = 0; v < source->vertex_count; v++) {
        pelt_animated_position(animated, mesh, v, primitive->positions + 3 * (size_t)v);
        if (has_normals) {
            pelt_animated_normal(animated, mesh, v, primitive->normals + 3 * (size_t)v);
        }
        if (has_tangents) {
            pelt_animated_tangent(animated, mesh, v, primitive->tangents + 4 * (size_t)v);
        }
    }
    return PELT_OK;
}

static void print_json(const pelt_report *report, const skin_options *options,
                       const pelt_model *source, const pelt_model *model, const pelt_box *boxes,
                       const pelt_backend *backend, int32_t clip)
{
    pelt_json json;
    pelt_json_begin(&json, stdout);
    pelt_json_text(&json, "file", options->open.file);
    pelt_json_text(&json, "output", options->output);
    pelt_json_text(&json, "method", pelt_method_name((pelt_method)options->open.method));
    pelt_json_text(&json, "device", backend->path);
    pelt_json_text(&json, "deviceName", backend->device);
    pelt_json_clip(&json, source, clip);
    if (clip >= 0) {
        pelt_json_number(&json, "time", options->open.time);
        pelt_json_bool(&json, "loop", options->open.loop);
    }
    pelt_json_list(&json, "primitives");
    for (uint32_t i = 0; i < source->part_count; i++) {
        pelt_json_object_line(&json, NULL);
        pelt_json_integer(&json, "node", source->parts[i].node);
        pelt_json_integer(&json, "primitive", source->parts[i].primitive);
        pelt_json_integer(&json, "vertices", model->meshes[i].primitives[0].vertex_count);
        pelt_json_floats(&json, "min", boxes[i].min, 3);
        pelt_json_floats(&json, "max", boxes[i].max, 3);
        pelt_json_text(&json, "device", backend->path);
        pelt_json_close(&json);
    }
    pelt_json_close(&json);
    pelt_report_warnings(report, &json);
    pelt_json_end(&json);
}

static void print_text(const skin_options *options, const pelt_model *source, const pelt_box *boxes,
                       const pelt_backend *backend, int32_t clip)
{
    uint64_t vertices = 0;
    char parts[32], count[32];
    pelt_box all = PELT_BOX_EMPTY;
    for (uint32_t i = 0; i < source->part_count; i++) {
        vertices += pelt_part_primitive(source, i)->vertex_count;
        box_unite(&all, &boxes[i]);
    }
    pelt_print_safe(stdout, options->output);
    if (clip < 0) {
        printf(": the static pose");
    } else {
        printf(": ");
        pelt_print_clip(source, clip);
        printf(" at %g s", options->open.time);
    }
    printf(", %s primitive%s, %s %s\n", pelt_format_count(source->part_count, parts),
           pelt_plural(source->part_count), pelt_format_count(vertices, count),
           vertices == 1 ? "vertex" : "vertices");
    printf("  device  ");
    pelt_print_safe(stdout, backend->device);
    printf("%s\n", options->open.method == PELT_METHOD_DQS ? "; dual quaternions" : "");
    if (vertices) {
        printf("  box     (%.6g %.6g %.6g) to (%.6g %.6g %.6g)\n", all.min[0], all.min[1],
               all.min[2], all.max[0], all.max[1], all.max[2]);
    }
}

/* Skins one member into the output model. */
static pelt_result skin_parts(const pelt_character *character, pelt_backend *backend,
                              const pelt_batch *batch, pelt_model *model, pelt_box *boxes)
{
    bool packed = strcmp(backend->path, "reference") != 0;
    pelt_result result = backend->skin(backend, batch);
    for (uint32_t i = 0; result == PELT_OK && i < character->model->part_count; i++) {
        pelt_animated animated;
        result = backend->fetch(backend, 0, i, &animated);
        if (result == PELT_OK) {
            boxes[i] = animated.box;
            result = write_part(model, i, character, &animated, packed);
        }
    }
    return result;
}

static pelt_result skin(pelt_report *report, const skin_options *options)
{
    const pelt_host *host = &report->host;
    pelt_model *model = NULL;
    pelt_character *character = NULL;
    pelt_backend *backend = NULL;
    pelt_batch *batch = NULL;
    pelt_box *boxes = NULL;
    pelt_play play;
    pelt_result result = pelt_character_open(host, &options->open, &play, &character);
    const pelt_model *source = result == PELT_OK ? character->model : NULL;
    if (result == PELT_OK) {
        result = pelt_backend_create(report, options->device,
                                     &(pelt_backend_info){ .character = character }, &backend);
    }
    bool packed = result == PELT_OK && strcmp(backend->path, "reference") != 0;
    if (result == PELT_OK) {
        result = pelt_batch_create(character, 1, !packed, &batch);
    }
    if (result == PELT_OK) {
        result = pelt_batch_pose_one(batch, &play);
    }
    if (result == PELT_OK) {
        pelt_warn_of_stretch(batch->host, batch->character->model, batch->stretches, &play);
    }
    if (result == PELT_OK && packed) {
        pelt_character_release_sources(character);
    }
    if (result == PELT_OK) {
        boxes = pelt_allocate(host, source->part_count, sizeof(*boxes));
        result = boxes ? begin_output(host, source, &model) : PELT_ERROR_MEMORY;
    }
    if (result == PELT_OK) {
        result = skin_parts(character, backend, batch, model, boxes);
    }
    if (result == PELT_OK) {
        result = pelt_gltf_write(host, model, options->output);
    }
    if (result == PELT_OK && options->json) {
        print_json(report, options, source, model, boxes, backend, play.clip);
    } else if (result == PELT_OK) {
        print_text(options, source, boxes, backend, play.clip);
    }
    pelt_model_destroy(model);
    pelt_release(host, boxes);
    pelt_batch_destroy(batch);
    pelt_backend_destroy(backend);
    pelt_character_destroy(character);
    return result;
}

static int run(pelt_report *report, int argc, char **argv)
{
    skin_options options = { 0 };
    const pelt_option table[] = {
        pelt_option_output(&options.output, "OUT.glb", "the file to write"),
        pelt_option_clip(&options.open.clip,
                         "a clip, by name or number (default: the static pose;\n"
                         "render and verify take the first clip)"),
        pelt_option_time(&options.open,
                         "when; before and after the clip its ends hold\n(default: 0)"),
        pelt_option_loop(&options.open.loop, "repeat the clip instead"),
        pelt_option_method(&options.open.method),
        pelt_option_device(&options.device, "auto, gpu, cpu or reference (double precision)\n"
                                            "(default: auto, the GPU if there is one)"),
        pelt_option_json(&options.json, "print the result as JSON"),
        { 0 },
    };
    pelt_parsed parsed =
        pelt_options_parse(report, &pelt_command_skin, table, argc, argv, &options.open.file);
    if (parsed != PELT_PARSED_RUN) {
        return parsed == PELT_PARSED_HELP ? PELT_EXIT_OK : PELT_EXIT_USAGE;
    }
    if (!pelt_open_info_check(report, &options.open)) {
        return PELT_EXIT_USAGE;
    }
    report->json = options.json;
    return pelt_report_exit(report, skin(report, &options));
}

const pelt_command pelt_command_skin = {
    .name = "skin",
    .operand = "FILE",
    .summary = "Write a character as it stands at one moment, as a static .glb",
    .details =
        "\n"
        "Every primitive of every mesh node becomes a node and mesh of its own, in that order, "
        "with\n"
        "positions in scene space in the file's vertex order, exact min and max, normals and\n"
        "tangents where the file has them, and base-colour materials. Each node's extras name the\n"
        "sourceNode and sourcePrimitive it came from.\n",
    .example = "pelt skin fox.glb -o running.glb --clip Run --time 0.4",
    .run = run,
};
