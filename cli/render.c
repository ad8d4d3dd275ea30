/* pelt render: a picture of a crowd. */
#include "cli/render.h"
#include "base/box.h"
#include "cli/backend.h"
#include "cli/picture.h"
#include "cli/render_clusters.h"

#include <pelt/cluster.h>
#include <string.h>

static const char *const paths[] = { "compute", "palette", "mesh", "rays", "auto", NULL };
static const char *const debugs[] = { "none", "meshlets", "lod", "culled", NULL };
static const char *const aovs[] = { "none", "motion", "normal", "position", "instance", NULL };

pelt_result pelt_render_crowd_create(const pelt_render_options *options,
                                     const pelt_character *character, const pelt_play *play,
                                     pelt_crowd **out)
{
    return options->all_clips ? pelt_crowd_create_mixed(character, play, options->count, out)
                              : pelt_crowd_create(character, play, options->count, out);
}

#ifdef PELT_HAVE_VULKAN

enum { BOXES_SHOWN = 3 };

typedef struct rendering {
    const pelt_render_options *options;
    pelt_character *character;
    pelt_play play;
    pelt_crowd *crowd;
    pelt_batch *batch;
    pelt_backend *backend;
    pelt_headless *device;
    pelt_headless *own_device; /* where the backend has none */
    pelt_buffer vertices;      /* likewise */
    char device_name[384];
    VkDeviceAddress *parts, *previous;
    pelt_box *part_boxes, *member_boxes;
    double skin_time; /* the shortest of a few runs */
    bool mesh_path;
    pelt_clustered *clusters; /* its */
    pelt_render_report report;
} rendering;

static pelt_result prepare(pelt_report *report, rendering *r)
{
    const pelt_render_options *options = r->options;
    const pelt_host *host = &report->host;
    pelt_result result = pelt_character_open(host, &options->open, &r->play, &r->character);
    if (result != PELT_OK) {
        return result;
    }
    report->memory_hint = "--count or --size";
    result = pelt_render_crowd_create(options, r->character, &r->play, &r->crowd);
    if (result == PELT_OK) {
        result = pelt_batch_create(r->character, options->count,
                                   options->device == PELT_DEVICE_REFERENCE, &r->batch);
    }
    if (result == PELT_OK) {
        result = pelt_batch_pose(r->batch, r->crowd, 0, options->count);
    }
    if (result == PELT_OK) {
        const pelt_play none = { .clip = -1 };
        pelt_warn_of_stretch(host, r->character->model, r->batch->stretches,
                             options->all_clips ? &none : &r->play);
    }
    size_t parts = (size_t)options->count * r->character->model->part_count;
    r->parts = pelt_allocate(host, parts, sizeof(*r->parts));
    r->previous = pelt_allocate(host, parts, sizeof(*r->previous));
    r->part_boxes = pelt_allocate(host, parts, sizeof(*r->part_boxes));
    r->member_boxes = pelt_allocate(host, options->count, sizeof(*r->member_boxes));
    bool room = r->parts && r->previous && r->part_boxes && r->member_boxes;
    return result == PELT_OK && !room ? PELT_ERROR_MEMORY : result;
}

/* Whether positions of the frame before are asked for. */
static bool has_motion(const pelt_render_options *options)
{
    return options->aov == PELT_AOV_MOTION;
}

/* Drawing needs a Vulkan device, whatever skins. */
static pelt_result open_devices(pelt_report *report, rendering *r)
{
    bool gpu = r->options->device == PELT_DEVICE_AUTO || r->options->device == PELT_DEVICE_GPU;
    pelt_result result =
        pelt_backend_create(report, gpu ? PELT_DEVICE_GPU : (pelt_device)r->options->device,
                            &(pelt_backend_info){ .character = r->character,
                                                  .keep_on_gpu = true,
                                                  .keep_previous = has_motion(r->options) },
                            &r->backend);
    if (result == PELT_OK && gpu) {
        r->device = pelt_backend_vulkan_device(r->backend);
    } else if (result == PELT_OK) {
        result = pelt_open_device(&report->host, &r->own_device);
        r->device = r->own_device;
    }
    if (result == PELT_OK) {
        pelt_describe_device(r->device, r->device_name, sizeof(r->device_name));
    }
    return result;
}

static pelt_result check_rays(const pelt_report *report, const rendering *r)
{
    return r->options->path != PELT_PATH_RAYS || r->device->ray_tracing_pipeline
               ? PELT_OK
               : pelt_fail(&report->host, PELT_ERROR_DEVICE, NULL, NULL,
                           "%s lacks ray-tracing pipelines (VK_KHR_ray_tracing_pipeline), which "
                           "--path rays needs",
                           r->device->properties.deviceName);
}

/* Whether mesh shaders draw: --path auto takes them where they are and may. */
static pelt_result choose_path(const pelt_report *report, rendering *r)
{
    bool able = r->device->mesh_shader && r->device->task_shader;
    bool fits = !r->own_device && r->character->method == PELT_METHOD_LBS;
    r->mesh_path =
        r->options->path == PELT_PATH_MESH || (r->options->path == PELT_PATH_AUTO && able && fits);
    return able || !r->mesh_path
               ? check_rays(report, r)
               : pelt_fail(&report->host, PELT_ERROR_DEVICE, NULL, NULL,
                           "%s lacks mesh and task shaders (VK_EXT_mesh_shader), which --path "
                           "mesh needs; --path auto does without",
                           r->device->properties.deviceName);
}

/* Vertices of the CPU's paths as the renderer reads them. */
static void write_vertices(const pelt_animated *animated, pelt_packed_vertex *out)
{
    if (animated->vertices) {
        memcpy(out, animated->vertices, animated->vertex_count * sizeof(*out));
        return;
    }
    for (uint32_t v = 0; v < animated->vertex_count; v++) {
        float normal[3] = { 0, 0, 1 };
        pelt_animated_position(animated, NULL, v, out[v].position);
        if (animated->normals) {
            pelt_animated_normal(animated, NULL, v, normal);
        }
        out[v].normal = pelt_encode_direction(normal, 1.0f);
    }
}

/* Boxes, and where each part's vertices are for the renderer. slot: of two, where the CPU's go. */
static pelt_result collect(rendering *r, size_t slot_number)
{
    const pelt_character *character = r->character;
    uint32_t parts = character->model->part_count;
    size_t each = character->vertex_offsets[parts];
    pelt_result result = PELT_OK;
    size_t slots = has_motion(r->options) ? 2 : 1;
    if (r->own_device && !r->vertices.buffer) {
        result = pelt_buffer_create(r->own_device, each * r->options->count * 16 * slots,
                                    pelt_render_vertex_usage(r->own_device), PELT_MEMORY_UPLOAD,
                                    &r->vertices);
    }
    size_t slot = 0;
    for (uint32_t i = 0; i < r->options->count; i++) {
        r->member_boxes[i] = (pelt_box)PELT_BOX_EMPTY;
        for (uint32_t part = 0; result == PELT_OK && part < parts; part++, slot++) {
            pelt_animated animated;
            result = r->backend->fetch(r->backend, i, part, &animated);
            if (result != PELT_OK) {
                break;
            }
            r->part_boxes[slot] = animated.box;
            box_unite(&r->member_boxes[i], &animated.box);
            if (r->own_device) {
                size_t member = slot_number * r->options->count + i;
                size_t first = member * each + character->vertex_offsets[part];
                r->previous[slot] = r->parts[slot];
                r->parts[slot] = r->vertices.address + first * 16;
                write_vertices(&animated, (pelt_packed_vertex *)r->vertices.mapped + first);
            } else {
                r->parts[slot] = pelt_backend_vulkan_vertices(r->backend, i, part);
                r->previous[slot] =
                    has_motion(r->options) ? pelt_backend_vulkan_previous(r->backend, i, part) : 0;
            }
        }
    }
    return result;
}

/* The frame before: every member at a time earlier by motion_dt. Where a clip does not repeat, it
 * rests before its beginning. */
static pelt_result skin_before(const pelt_report *report, rendering *r)
{
    pelt_crowd *crowd = r->crowd;
    double *times = pelt_allocate(&report->host, crowd->count, sizeof(*times));
    if (!times) {
        return PELT_ERROR_MEMORY;
    }
    for (uint32_t i = 0; i < crowd->count; i++) {
        times[i] = crowd->members[i].play.time;
        crowd->members[i].play.time -= r->options->motion_dt;
    }
    pelt_result result = pelt_batch_pose(r->batch, crowd, 0, crowd->count);
    if (result == PELT_OK) {
        result = r->backend->skin(r->backend, r->batch);
    }
    if (result == PELT_OK) {
        result = collect(r, 0);
    }
    for (uint32_t i = 0; i < crowd->count; i++) {
        crowd->members[i].play.time = times[i];
    }
    pelt_release(&report->host, times);
    return result == PELT_OK ? pelt_batch_pose(r->batch, crowd, 0, crowd->count) : result;
}

/* The first run finds caches cold and clocks low: the GPU's pass runs a few times, unless a run
 * begins a frame. */
static pelt_result skin(const pelt_report *report, rendering *r)
{
    bool motion = has_motion(r->options);
    int runs = r->own_device || motion ? 1 : 5;
    pelt_result result = motion ? skin_before(report, r) : PELT_OK;
    r->skin_time = 0.0;
    for (int i = 0; result == PELT_OK && i < runs; i++) {
        result = r->backend->skin(r->backend, r->batch);
        if (i == 0 || r->backend->skin_time < r->skin_time) {
            r->skin_time = r->backend->skin_time;
        }
    }
    if (result == PELT_OK) {
        result = collect(r, motion ? 1 : 0);
    }
    if (r->own_device) {
        r->skin_time = r->backend->skin_time; /* skinned as it was collected */
    }
    return result;
}

/* Mesh shaders' work, where they are wanted. */
static pelt_result make_clusters(pelt_report *report, rendering *r)
{
    const pelt_render_options *options = r->options;
    if (!r->mesh_path) {
        return PELT_OK;
    }
    pelt_report_progress(report, "cutting clusters");
    return pelt_clustered_create(
        &report->host,
        &(pelt_clustered_info){ .character = r->character,
                                .batch = r->batch,
                                .backend = r->backend,
                                .play = r->play,
                                .all_clips = options->all_clips,
                                .lod_count =
                                    options->lod_auto || options->lod ? PELT_LODS_BUILT : 1 },
        &r->clusters);
}

static void print_clusters(const rendering *r)
{
    char drawn[32], all[32], seen[32];
    const pelt_render_report *report = &r->report;
    printf("  clusters %s of %s drawn, of %s instance%s in view",
           pelt_format_count(report->drawn_cluster_count, drawn),
           pelt_format_count(report->cluster_count, all),
           pelt_format_count(report->seen_instance_count, seen),
           pelt_plural(report->seen_instance_count));
    const char *before = "; levels of detail: ";
    for (uint32_t i = 0; i < PELT_LOD_MAX; i++) {
        if (report->lod_counts[i] > 0) {
            printf("%s%s of level %u", before, pelt_format_count(report->lod_counts[i], seen), i);
            before = ", ";
        }
    }
    printf("\n");
}

static void json_clusters(pelt_json *json, const pelt_render_report *report)
{
    pelt_json_object_line(json, "clusters");
    pelt_json_integer(json, "all", (int64_t)report->cluster_count);
    pelt_json_integer(json, "drawn", (int64_t)report->drawn_cluster_count);
    pelt_json_integer(json, "instancesInView", report->seen_instance_count);
    for (uint32_t i = 0; i < PELT_LOD_MAX; i++) {
        const char name[] = { 'l', 'o', 'd', (char)('0' + i), 0 };
        if (report->lod_counts[i] > 0) {
            pelt_json_integer(json, name, report->lod_counts[i]);
        }
    }
    pelt_json_close(json);
}

static void print_drawing(const rendering *r)
{
    char triangles[32], structures[32];
    const pelt_render_report *report = &r->report;
    pelt_format_count(report->triangle_count, triangles);
    const char *plural = pelt_plural(report->triangle_count);
    if (r->options->path == PELT_PATH_RAYS) {
        printf("  build    %9.3f ms  %s acceleration structure%s\n", report->build_time,
               pelt_format_count(report->structure_count, structures),
               pelt_plural(report->structure_count));
        printf("  trace    %9.3f ms  %s triangle%s\n", report->trace_time, triangles, plural);
        return;
    }
    if (r->options->aov == PELT_AOV_NONE) {
        printf("  shadows  %9.3f ms  the sun and %u direction%s of the sky\n", report->shadow_time,
               report->sky_count, pelt_plural(report->sky_count));
    }
    printf("  raster   %9.3f ms  %s triangle%s\n", report->raster_time, triangles, plural);
}

static void print_text(const pelt_report *report, const rendering *r)
{
    const pelt_model *model = r->character->model;
    const pelt_render_options *options = r->options;
    char all[32], groups[32], instances[32];
    uint64_t vertices = (uint64_t)r->character->vertex_offsets[model->part_count] * options->count;
    printf("%s", pelt_report_style(report, PELT_BOLD));
    pelt_print_safe(stdout, options->output);
    printf("%s: %u x %u pixels, %s instance%s, %s %s, ", pelt_report_style(report, PELT_PLAIN),
           options->size[0], options->size[1], pelt_format_count(options->count, instances),
           pelt_plural(options->count), pelt_format_count(vertices, all),
           vertices == 1 ? "vertex" : "vertices");
    if (r->play.clip < 0) {
        printf("the static pose\n");
    } else if (options->all_clips) {
        printf("all clips at staggered times\n");
    } else {
        pelt_print_clip(model, r->play.clip);
        printf(options->count > 1 ? " at staggered times\n" : " at %g s\n", r->play.time);
    }
    printf("  device   ");
    pelt_print_safe(stdout, r->device_name);
    printf("\n  skin     %9.3f ms  ", 1e3 * r->skin_time);
    if (r->backend->groups) {
        printf("one dispatch of %s chunk%s\n", pelt_format_count(r->backend->groups, groups),
               pelt_plural(r->backend->groups));
    } else {
        printf("on the CPU: %s\n", r->backend->path);
    }
    print_drawing(r);
    if (r->clusters) {
        print_clusters(r);
    }
    uint64_t each = r->character->vertex_offsets[model->part_count];
    if (each != r->character->file_vertices) {
        char before[32];
        printf("  normals added: %s vertices split into %s\n",
               pelt_format_count(r->character->file_vertices, before),
               pelt_format_count(each, all));
    }
    for (uint32_t i = 0; i < options->count && i < BOXES_SHOWN; i++) {
        const pelt_box *box = &r->member_boxes[i];
        printf("  box %-4u (%.4f %.4f %.4f) to (%.4f %.4f %.4f)\n", i, box->min[0], box->min[1],
               box->min[2], box->max[0], box->max[1], box->max[2]);
    }
    if (options->count > BOXES_SHOWN) {
        printf("  and %s more (--json lists all)\n",
               pelt_format_count(options->count - BOXES_SHOWN, instances));
    }
}

static void print_json(const pelt_report *report, const rendering *r)
{
    const pelt_model *model = r->character->model;
    const pelt_render_options *options = r->options;
    pelt_json json;
    pelt_json_begin(&json, stdout);
    pelt_json_text(&json, "file", options->open.file);
    pelt_json_text(&json, "output", options->output);
    pelt_json_integer(&json, "width", options->size[0]);
    pelt_json_integer(&json, "height", options->size[1]);
    bool rays = options->path == PELT_PATH_RAYS;
    pelt_json_text(&json, "path", r->clusters ? "mesh" : rays ? "rays" : "compute");
    pelt_json_text(&json, "method", pelt_method_name(r->character->method));
    pelt_json_text(&json, "device", r->backend->path);
    pelt_json_text(&json, "deviceName", r->backend->device);
    pelt_json_text(&json, "drawnOn", r->device_name);
    pelt_json_clip(&json, model, r->play.clip);
    pelt_json_number(&json, "time", r->play.time);
    pelt_json_bool(&json, "loop", r->play.loop || options->count > 1);
    pelt_json_integer(&json, "instances", options->count);
    pelt_json_integer(&json, "verticesEach",
                      (int64_t)r->character->vertex_offsets[model->part_count]);
    pelt_json_integer(&json, "verticesInFile", (int64_t)r->character->file_vertices);
    pelt_json_integer(&json, "triangles", (int64_t)r->report.triangle_count);
    if (r->clusters) {
        json_clusters(&json, &r->report);
    }
    pelt_json_object_line(&json, "milliseconds");
    pelt_json_rounded(&json, "skin", 1e3 * r->skin_time, 6);
    if (rays) {
        pelt_json_rounded(&json, "build", r->report.build_time, 6);
        pelt_json_rounded(&json, "trace", r->report.trace_time, 6);
    } else {
        pelt_json_rounded(&json, "shadows", r->report.shadow_time, 6);
        pelt_json_rounded(&json, "raster", r->report.raster_time, 6);
    }
    pelt_json_close(&json);
    pelt_json_boxes(&json, "boxes", r->member_boxes, options->count);
    pelt_report_warnings(report, &json);
    pelt_json_end(&json);
}

static void finish(const pelt_host *host, rendering *r)
{
    pelt_clustered_destroy(r->clusters);
    if (r->own_device) {
        pelt_buffer_destroy(r->own_device, &r->vertices);
    }
    pelt_vulkan_close(r->own_device);
    pelt_backend_destroy(r->backend);
    pelt_batch_destroy(r->batch);
    pelt_crowd_destroy(r->crowd);
    pelt_character_destroy(r->character);
    pelt_release(host, r->member_boxes);
    pelt_release(host, r->part_boxes);
    pelt_release(host, r->previous);
    pelt_release(host, r->parts);
}

static pelt_result draw(pelt_report *report, rendering *r)
{
    const pelt_render_options *options = r->options;
    const pelt_picture_clusters clusters = { .parts = pelt_clustered_parts(r->clusters),
                                             .keep_all = options->no_cull,
                                             .lod =
                                                 options->lod_auto ? PELT_LOD_AUTO : options->lod,
                                             .debug = (pelt_render_debug)options->debug };
    return pelt_picture_write(
        &report->host,
        &(pelt_picture_info){ .file = options->open.file,
                              .output = options->output,
                              .width = options->size[0],
                              .height = options->size[1],
                              .boxes = options->boxes,
                              .rays = options->path == PELT_PATH_RAYS,
                              .sky_samples = options->samples,
                              .aov = (pelt_picture_aov)options->aov },
        &(pelt_picture_scene){ .character = r->character,
                               .device = r->device,
                               .count = options->count,
                               .packed_order = options->device != PELT_DEVICE_REFERENCE,
                               .parts = r->parts,
                               .previous = has_motion(options) ? r->previous : NULL,
                               .part_boxes = r->part_boxes,
                               .member_boxes = r->member_boxes,
                               .clusters = r->clusters ? &clusters : NULL,
                               .zoom = (float)options->zoom },
        &r->report);
}

static pelt_result render(pelt_report *report, const pelt_render_options *options)
{
    rendering r = { .options = options };
    pelt_result result = prepare(report, &r);
    if (result == PELT_OK) {
        result = open_devices(report, &r);
    }
    if (result == PELT_OK) {
        result = choose_path(report, &r);
    }
    if (result == PELT_OK) {
        pelt_report_progress(report, "skinning %u", options->count);
        result = skin(report, &r);
    }
    if (result == PELT_OK) {
        result = make_clusters(report, &r);
    }
    if (result == PELT_OK) {
        pelt_report_progress(report, "drawing");
        result = draw(report, &r);
    }
    pelt_report_progress(report, NULL);
    if (result == PELT_OK) {
        (options->json ? print_json : print_text)(report, &r);
    }
    finish(&report->host, &r);
    return result;
}

#else

pelt_result pelt_render_without_vulkan(pelt_report *report, const pelt_render_options *options)
{
    pelt_play play;
    pelt_character *character;
    pelt_result result = pelt_character_open(&report->host, &options->open, &play, &character);
    pelt_character_destroy(character);
    return result != PELT_OK
               ? result
               : pelt_fail(&report->host, PELT_ERROR_DEVICE, NULL, NULL,
                           "this pelt was built without Vulkan, which draws the picture");
}

static pelt_result render(pelt_report *report, const pelt_render_options *options)
{
    return pelt_render_without_vulkan(report, options);
}

#endif

/* --lod: a number or auto. */
static bool read_lod(pelt_render_options *options)
{
    const char *text = options->lod_text;
    options->lod = 0;
    if (!text || strcmp(text, "0") == 0) {
        return true;
    }
    if (strcmp(text, "auto") == 0) {
        options->lod_auto = true;
        return true;
    }
    options->lod = (uint32_t)(text[0] - '0');
    return text[0] >= '1' && text[0] < '0' + PELT_LOD_MAX && text[1] == 0;
}

static const char *wrong_with_mesh(const pelt_render_options *options)
{
    bool mesh = options->path == PELT_PATH_MESH;
    bool asked = options->no_cull || options->lod_text || options->debug != 0;
    if (!mesh && options->path != PELT_PATH_AUTO && asked) {
        return "--no-cull, --lod and --debug need --path mesh or auto";
    }
    if (mesh && options->device != PELT_DEVICE_AUTO && options->device != PELT_DEVICE_GPU) {
        return "--path mesh skins on the GPU: --device must be gpu";
    }
    if (mesh && options->open.method != PELT_METHOD_LBS) {
        return "--path mesh blends linearly, as bounds of clusters are of that alone: --method dqs "
               "needs --path compute";
    }
    return NULL;
}

static const char *wrong_with_rays(const pelt_render_options *options)
{
    bool rays = options->path == PELT_PATH_RAYS, aov = options->aov != PELT_AOV_NONE;
    const char *extension = strrchr(options->output, '.');
    bool exr = extension && strcmp(extension, ".exr") == 0;
    if (options->samples > 0 && (!rays || aov)) {
        return "--samples needs --path rays, without --aov";
    }
    if (aov && !rays && options->path != PELT_PATH_COMPUTE) {
        return "--aov needs --path compute or rays";
    }
    if (aov != exr) {
        return "--output: must end in .exr with --aov, and only then";
    }
    if (options->boxes && (rays || aov)) {
        return "--boxes excludes --path rays and --aov: boxes are drawn, not hit";
    }
    if (options->motion_dt_given && options->aov != PELT_AOV_MOTION) {
        return "--motion-dt needs --aov motion";
    }
    if (!(options->motion_dt > 0 && options->motion_dt <= 1e6)) {
        return "--motion-dt: must be more than 0, and 1,000,000 at most";
    }
    return NULL;
}

static bool check(pelt_report *report, pelt_render_options *options)
{
    const char *wrong = wrong_with_mesh(options);
    wrong = wrong ? wrong : wrong_with_rays(options);
    if (options->all_clips && (options->open.clip || options->open.fixed_pose)) {
        wrong = "--all-clips excludes --clip and --static";
    } else if (!(options->zoom >= 1 && options->zoom <= 1000)) {
        wrong = "--zoom: must be from 1 to 1,000";
    } else if (!read_lod(options)) {
        wrong = "--lod: must be auto or a level from 0 to 7";
    }
    if (wrong) {
        pelt_report_error(report, NULL, "%s", wrong);
    }
    return !wrong && pelt_render_palette_check(report, options);
}

static int run(pelt_report *report, int argc, char **argv)
{
    pelt_render_options options = { .open = { .first_clip = true, .add_normals = true },
                                    .count = 1,
                                    .size = { 1600, 900 },
                                    .zoom = 1,
                                    .motion_dt = 1.0 / 30 };
    pelt_option output =
        pelt_option_output(&options.output, "OUT.png", "the picture to write; with --aov, OUT.exr");
    output.extension = ".exr";
    const pelt_option table[] = {
        output,
        pelt_option_clip(&options.open.clip,
                         "a clip, by name or number\n(default: the first, if there is one)"),
        pelt_option_static(&options.open.fixed_pose),
        pelt_option_time(&options.open, "when the first instance is (default: 0)"),
        pelt_option_loop(&options.open.loop, "repeat the clip where a single instance would hold\n"
                                             "its ends; crowds always do"),
        pelt_option_count(&options.count, "instances, in a grid (default: 1)"),
        pelt_option_method(&options.open.method),
        { .name = "size",
          .letter = 's',
          .kind = PELT_OPTION_SIZE,
          .value = "WxH",
          .help = "pixels (default: 1600x900)",
          .target = options.size,
          .minimum = 16,
          .maximum = 16384 },
        { .name = "boxes",
          .kind = PELT_OPTION_FLAG,
          .help = "draw the instances' exact boxes",
          .target = &options.boxes },
        { .name = "all-clips",
          .kind = PELT_OPTION_FLAG,
          .help = "instances play the file's clips in turn",
          .target = &options.all_clips },
        { .name = "zoom",
          .kind = PELT_OPTION_NUMBER,
          .value = "Z",
          .help = "show the middle so many times larger (default: 1)",
          .target = &options.zoom },
        { .name = "path",
          .kind = PELT_OPTION_CHOICE,
          .value = "PATH",
          .help = "compute: skin every vertex, then draw each instance;\n"
                  "palette: bake the clips and skin in one draw call for\n"
                  "all instances of a mesh; mesh: mesh shaders skin what\n"
                  "can be seen; rays: skin every vertex, then trace rays;\n"
                  "auto: mesh where the device has them\n"
                  "(default: compute)",
          .target = &options.path,
          .choices = paths },
        { .name = "baked",
          .kind = PELT_OPTION_TEXT,
          .value = "BAKED.ktx2",
          .help = "palette: what pelt bake made of this file, instead of\n"
                  "baking the clips",
          .target = &options.baked },
        { .name = "interpolation",
          .kind = PELT_OPTION_CHOICE,
          .value = "HOW",
          .help = "palette: what is drawn between two frames: the nearest,\n"
                  "lerp (of matrices) or blend (of dual quaternions)\n"
                  "(default: lerp; with dualquat or dqs, blend)",
          .target = &options.interpolation,
          .choices = pelt_render_interpolations,
          .given = &options.interpolation_given },
        { .name = "format",
          .kind = PELT_OPTION_CHOICE,
          .value = "FORMAT",
          .help = "palette: rgba32f, rgba16f or dualquat, as pelt bake has\n"
                  "them (default: rgba32f; with blend or dqs, dualquat)",
          .target = &options.format,
          .choices = pelt_render_formats,
          .given = &options.format_given },
        { .name = "fps",
          .kind = PELT_OPTION_NUMBER,
          .value = "F",
          .help = "palette: frames a second (default: 30)",
          .target = &options.fps,
          .given = &options.fps_given },
        { .name = "tint",
          .kind = PELT_OPTION_FLAG,
          .help = "palette: a colour of its own for each instance",
          .target = &options.tint },
        { .name = "no-cull",
          .kind = PELT_OPTION_FLAG,
          .help = "mesh: also draw clusters that cannot be in view",
          .target = &options.no_cull },
        { .name = "lod",
          .kind = PELT_OPTION_TEXT,
          .value = "N|auto",
          .help = "mesh: a level of detail, or for each instance the\n"
                  "coarsest that is off by no pixel (default: 0, all of it)",
          .target = &options.lod_text },
        { .name = "debug",
          .kind = PELT_OPTION_CHOICE,
          .value = "WHAT",
          .help = "mesh: colours of meshlets, of the lod of instances, or\n"
                  "in red what was culled, seen from above",
          .target = &options.debug,
          .choices = debugs },
        { .name = "samples",
          .kind = PELT_OPTION_COUNT,
          .value = "N",
          .help = "rays: how many go to the sky from each sample of a\n"
                  "pixel, and a quarter as many to the sun\n"
                  "(default: 16, on software drivers 8)",
          .target = &options.samples,
          .minimum = 1,
          .maximum = 4096 },
        { .name = "aov",
          .kind = PELT_OPTION_CHOICE,
          .value = "WHAT",
          .help = "compute, rays: write numbers of what is in the middle\n"
                  "of each pixel as OpenEXR: motion, normal, position or\n"
                  "instance (see below)",
          .target = &options.aov,
          .choices = aovs },
        { .name = "motion-dt",
          .kind = PELT_OPTION_NUMBER,
          .value = "S",
          .help = "aov motion: seconds since the frame before\n"
                  "(default: 1/30)",
          .target = &options.motion_dt,
          .given = &options.motion_dt_given },
        pelt_option_device(&options.device, "what skins: auto, gpu, cpu or reference\n"
                                            "(default: auto, the GPU)"),
        pelt_option_json(&options.json, "print times and boxes as JSON"),
        { 0 },
    };
    pelt_parsed parsed =
        pelt_options_parse(report, &pelt_command_render, table, argc, argv, &options.open.file);
    if (parsed != PELT_PARSED_RUN) {
        return parsed == PELT_PARSED_HELP ? PELT_EXIT_OK : PELT_EXIT_USAGE;
    }
    if (!pelt_open_info_check(report, &options.open) || !check(report, &options)) {
        return PELT_EXIT_USAGE;
    }
    report->json = options.json;
    bool palette = options.path == PELT_PATH_PALETTE;
    return pelt_report_exit(report, (palette ? pelt_render_palette_run : render)(report, &options));
}

const pelt_command pelt_command_render = {
    .name = "render",
    .operand = "FILE",
    .summary = "Draw one instance or a crowd: a picture with sun, sky and shadows",
    .details =
        "\n"
        "Several instances stand in a grid, as far apart as the character is large, each at a\n"
        "time and with a heading of its own, and the clip repeats; a single one stands where the\n"
        "file puts it, and the clip's ends hold. The camera frames their exact boxes. Drawing\n"
        "needs a Vulkan device, a software one is enough. Missing normals are computed.\n"
        "\n"
        "With --path palette, the clips are baked into a texture first, and all instances of a\n"
        "mesh are one draw call: docs/crowds.md. Boxes are then those of the frames around, and\n"
        "morph targets stay as the file has them.\n"
        "\n"
        "With --path mesh, mesh shaders skin the clusters that can be in view: docs/clusters.md.\n"
        "With --path rays, the sun's shadows and the sky's are traced: docs/ray-tracing.md.\n"
        "\n"
        "Channels of --aov, 32 bits each and all 0 where no triangle is: position and normal\n"
        "(smooth) are X Y Z in the scene, A is 1; motion is X Y Z in the scene, so that position\n"
        "minus motion is where it was, and pixels.X to the right and pixels.Y down; instance has\n"
        "the whole numbers hit (1), instance, part and triangle. Points and lines are left out.\n",
    .example = "pelt render fox.glb -o foxes.png --count 200 --boxes",
    .run = run,
};
