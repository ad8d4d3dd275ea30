/* pelt render --path palette: a crowd in one draw call a mesh. */
#include "cli/backend.h"
#include "cli/picture.h"
#include "cli/render.h"

#include <math.h>
#include <pelt/bake.h>

const char *const pelt_render_formats[] = { "rgba32f", "rgba16f", "dualquat", NULL };
const char *const pelt_render_interpolations[] = { "nearest", "lerp", "blend", NULL };

enum { FORMAT_DUALQUAT = 2 };

bool pelt_render_palette_check(pelt_report *report, const pelt_render_options *options)
{
    const char *wrong = NULL;
    bool palette = options->path == PELT_PATH_PALETTE;
    bool dual = options->open.method == PELT_METHOD_DQS;
    if (!palette && (options->format_given || options->interpolation_given || options->fps_given ||
                     options->tint || options->baked)) {
        wrong = "--baked, --format, --interpolation, --fps and --tint need --path palette";
    } else if (options->baked && (options->format_given || options->fps_given)) {
        wrong = "--baked excludes --format and --fps";
    } else if (palette && options->device != PELT_DEVICE_AUTO &&
               options->device != PELT_DEVICE_GPU) {
        wrong = "--path palette skins on the GPU: --device must be gpu";
    } else if (palette && dual && options->format_given && options->format != FORMAT_DUALQUAT) {
        wrong = "--path palette --method dqs needs --format dualquat: rotations would have to be "
                "taken out of matrices for each vertex";
    } else if (palette && dual && options->interpolation_given &&
               options->interpolation == PELT_BAKE_LERP) {
        wrong =
            "--path palette --method dqs needs --interpolation nearest or blend: what is lerped "
            "between two rotations is none";
    } else if (options->format_given && options->format != FORMAT_DUALQUAT &&
               options->interpolation_given && options->interpolation == PELT_BAKE_BLEND) {
        wrong = "--interpolation blend needs --format dualquat";
    } else if (options->fps_given && !(options->fps >= 0.001 && options->fps <= 1000)) {
        wrong = "--fps: must be from 0.001 to 1,000";
    }
    if (wrong) {
        pelt_report_error(report, NULL, "%s", wrong);
    }
    return !wrong;
}

#ifdef PELT_HAVE_VULKAN

enum { BOXES_SHOWN = 3 };

typedef struct rendering {
    const pelt_render_options *options;
    pelt_character *character;
    pelt_play play;
    pelt_crowd *crowd;
    pelt_bake *bake;
    pelt_bake_interpolation interpolation;
    pelt_bake_skinning skinning;
    double bake_time;
    pelt_headless *device;
    char device_name[384];
    pelt_buffer streams, part_meshes, members;
    VkDeviceAddress *parts; /* of each, its record in part_meshes */
    pelt_box *boxes;        /* of each member, that hold it */
    pelt_box *frames;       /* the same without the margins that blends and dual quaternions may be
                             * outside of their frames' boxes by, and seldom are, so that feet stand
                             * on the ground */
    pelt_render_report report;
} rendering;

/* Whether the joints of a palette are those of the model's, one by one. */
static bool same_joints(const pelt_model *model, const pelt_palette *wanted,
                        const pelt_bake_palette *baked)
{
    if (baked->joint_count != wanted->matrix_count) {
        return false;
    }
    for (uint32_t j = 0; wanted->skin >= 0 && j < baked->joint_count; j++) {
        if (baked->nodes[j] != model->skins[wanted->skin].joints[j]) {
            return false;
        }
    }
    return true;
}

/* Whether a file was baked from this model, with all joints. */
static pelt_result check_baked(const pelt_report *report, const rendering *r)
{
    const pelt_model *model = r->character->model;
    const char *file = r->options->baked;
    for (uint32_t part = 0; part < model->part_count; part++) {
        const pelt_palette *wanted = &model->palettes[model->parts[part].palette];
        const pelt_bake_palette *palette = pelt_bake_part_palette(r->bake, model, part);
        if (!palette || !same_joints(model, wanted, palette)) {
            return pelt_fail(&report->host, PELT_ERROR_FILE, file, NULL,
                             "lacks the joints of node %u: it was baked from another file, or for "
                             "some skins alone",
                             model->parts[part].node);
        }
    }
    if (r->interpolation == PELT_BAKE_BLEND && r->bake->layout != PELT_BAKE_DUAL_QUATERNION) {
        return pelt_fail(&report->host, PELT_ERROR_FILE, file, NULL,
                         "has matrices, which cannot be blended: bake with --format dualquat");
    }
    if (r->skinning == PELT_BAKE_DUAL && r->bake->layout != PELT_BAKE_DUAL_QUATERNION) {
        return pelt_fail(&report->host, PELT_ERROR_FILE, file, NULL,
                         "has matrices: for --method dqs bake with --format dualquat");
    }
    return PELT_OK;
}

/* A clip of the model's in the bake; -1: it is not there. */
static int32_t find_baked(const pelt_bake *bake, int32_t clip)
{
    for (uint32_t i = 0; i < bake->clip_count; i++) {
        if (bake->clips[i].clip == clip) {
            return (int32_t)i;
        }
    }
    return -1;
}

static pelt_result check_clips(const pelt_report *report, const rendering *r)
{
    for (uint32_t i = 0; i < r->options->count; i++) {
        int32_t clip = r->crowd->members[i].play.clip;
        if (find_baked(r->bake, clip) < 0) {
            return pelt_fail(&report->host, PELT_ERROR_FILE, r->options->baked, NULL,
                             clip < 0 ? "has no static pose" : "has no clip %d", clip);
        }
    }
    return PELT_OK;
}

static pelt_result read_baked(pelt_report *report, rendering *r)
{
    double start = pelt_seconds();
    pelt_result result = pelt_bake_read(&report->host, r->options->baked, &r->bake);
    r->bake_time = pelt_seconds() - start;
    if (result != PELT_OK) {
        return result;
    }
    bool dual = r->bake->layout == PELT_BAKE_DUAL_QUATERNION;
    r->interpolation = dual ? PELT_BAKE_BLEND : PELT_BAKE_LERP;
    if (r->options->interpolation_given) {
        r->interpolation = (pelt_bake_interpolation)r->options->interpolation;
    }
    result = check_baked(report, r);
    return result == PELT_OK ? check_clips(report, r) : result;
}

static pelt_result bake(pelt_report *report, rendering *r)
{
    const pelt_render_options *options = r->options;
    bool blend = options->interpolation_given && options->interpolation == PELT_BAKE_BLEND;
    bool dual = options->format_given ? options->format == FORMAT_DUALQUAT
                                      : blend || r->skinning == PELT_BAKE_DUAL;
    pelt_bake_info info = { .model = r->character->model,
                            .layout = dual ? PELT_BAKE_DUAL_QUATERNION : PELT_BAKE_MATRIX_3X4,
                            .format = !dual && options->format_given
                                          ? (pelt_bake_format)options->format
                                          : PELT_BAKE_RGBA32F,
                            .rate = options->fps };
    if (!options->all_clips) {
        info.clip_count = 1;
        info.clips = &r->play.clip;
    }
    pelt_bake_interpolation natural = dual ? PELT_BAKE_BLEND : PELT_BAKE_LERP;
    r->interpolation =
        options->interpolation_given ? (pelt_bake_interpolation)options->interpolation : natural;
    pelt_report_progress(report, "baking");
    double start = pelt_seconds();
    pelt_result result = pelt_bake_create(&report->host, &info, &r->bake);
    r->bake_time = pelt_seconds() - start;
    return result;
}

/* Makes stretches grow to those of a pose; now: room for as many. */
static pelt_result add_stretches(pelt_pose *pose, const pelt_play *play, double *matrices,
                                 double *rotations, pelt_stretch *now, pelt_stretch *stretches)
{
    const pelt_model *model = pose->model;
    pelt_result result = pelt_pose_evaluate(pose, play, 1);
    if (result == PELT_OK) {
        result = pelt_pose_skin_matrices_double(pose, NULL, matrices);
    }
    for (uint32_t p = 0; result == PELT_OK && p < model->palette_count; p++) {
        size_t at = model->palettes[p].first_matrix;
        uint32_t count = model->palettes[p].matrix_count;
        pelt_skin_rotations_double(matrices + 12 * at, count, rotations + 4 * at, now + at);
        for (size_t j = at; j < at + count; j++) {
            stretches[j] = now[j] > stretches[j] ? now[j] : stretches[j];
        }
    }
    return result;
}

/* Of all frames that may be drawn. */
static pelt_result warn_of_stretch(const pelt_host *host, const rendering *r)
{
    const pelt_model *model = r->character->model;
    size_t count = model->matrix_count;
    pelt_pose *pose = NULL;
    double *matrices = pelt_allocate(host, count, 12 * sizeof(*matrices));
    double *rotations = pelt_allocate(host, count, 4 * sizeof(*rotations));
    pelt_stretch *now = pelt_allocate(host, count, sizeof(*now));
    pelt_stretch *stretches = pelt_allocate(host, count, sizeof(*stretches));
    bool room = matrices && rotations && now && stretches;
    pelt_result result = room ? pelt_pose_create(host, model, &pose) : PELT_ERROR_MEMORY;
    for (uint32_t c = 0; result == PELT_OK && c < r->bake->clip_count; c++) {
        const pelt_bake_clip *clip = &r->bake->clips[c];
        bool drawn = r->options->all_clips || clip->clip == r->play.clip;
        for (uint32_t i = 0; drawn && result == PELT_OK && i < clip->frame_count; i++) {
            const pelt_play play = { .clip = clip->clip,
                                     .time = fmin(i / clip->rate, clip->duration) };
            result = add_stretches(pose, &play, matrices, rotations, now, stretches);
        }
    }
    if (result == PELT_OK) {
        const pelt_play none = { .clip = -1 };
        pelt_warn_of_stretch(host, model, stretches, r->options->all_clips ? &none : &r->play);
    }
    pelt_pose_destroy(pose);
    pelt_release(host, stretches);
    pelt_release(host, now);
    pelt_release(host, rotations);
    pelt_release(host, matrices);
    return result;
}

static pelt_result prepare(pelt_report *report, rendering *r)
{
    const pelt_host *host = &report->host;
    pelt_result result = pelt_character_open(host, &r->options->open, &r->play, &r->character);
    if (result != PELT_OK) {
        return result;
    }
    r->skinning = r->character->method == PELT_METHOD_DQS ? PELT_BAKE_DUAL : PELT_BAKE_LINEAR;
    report->memory_hint = "--count or --size";
    result = pelt_render_crowd_create(r->options, r->character, &r->play, &r->crowd);
    if (result == PELT_OK) {
        result = (r->options->baked ? read_baked : bake)(report, r);
    }
    if (result == PELT_OK && r->skinning == PELT_BAKE_DUAL) {
        result = warn_of_stretch(host, r);
    }
    if (result == PELT_OK) {
        result = pelt_open_device(host, &r->device);
    }
    if (result == PELT_OK) {
        pelt_describe_device(r->device, r->device_name, sizeof(r->device_name));
    }
    r->parts = pelt_allocate(host, r->character->model->part_count, sizeof(*r->parts));
    r->boxes = pelt_allocate(host, r->options->count, sizeof(*r->boxes));
    r->frames = pelt_allocate(host, r->options->count, sizeof(*r->frames));
    bool room = r->parts && r->boxes && r->frames;
    return result == PELT_OK && !room ? PELT_ERROR_MEMORY : result;
}

/* Writes a mesh's streams behind those before. weights: of its morph targets, or NULL. */
static void write_mesh(const rendering *r, uint32_t number, const double *weights, char *bytes,
                       size_t *offset, pelt_gpu_mesh *out)
{
    const pelt_packed_mesh *mesh = r->character->meshes[number];
    VkDeviceAddress address = r->streams.address + *offset;
    pelt_gpu_mesh_write(mesh, bytes + *offset, address, out);
    if (weights) {
        void *vertices = bytes + *offset + (out->vertices - address);
        void *tangents = mesh->tangents ? bytes + *offset + (out->tangents - address) : NULL;
        (void)pelt_pack_morphed(mesh, r->character->primitives[number], weights, vertices,
                                tangents);
    }
    *offset += pelt_gpu_mesh_size(mesh);
}

/* Each mesh once; where it has morph targets, once for each part, by the weights of its node. */
static void write_meshes(const rendering *r, const pelt_pose *pose, char *bytes,
                         pelt_gpu_mesh *meshes)
{
    const pelt_character *character = r->character;
    size_t offset = 0;
    for (uint32_t i = 0; i < character->mesh_count; i++) {
        write_mesh(r, i, NULL, bytes, &offset, &meshes[i]);
    }
    for (uint32_t p = 0; p < character->model->part_count; p++) {
        uint32_t number = character->part_meshes[p];
        const double *weights = pelt_pose_part_morph_weights(pose, &character->model->parts[p]);
        pelt_gpu_mesh mesh = meshes[number];
        if (weights) {
            write_mesh(r, number, weights, bytes, &offset, &mesh);
        }
        const pelt_bake_palette *palette = pelt_bake_part_palette(r->bake, character->model, p);
        size_t at = (size_t)p * PELT_CROWD_MESH_SIZE;
        pelt_crowd_mesh_write(&mesh, palette->first_joint, (char *)r->part_meshes.mapped + at);
        r->parts[p] = r->part_meshes.address + at;
    }
}

static size_t streams_size(const pelt_character *character)
{
    size_t size = 0;
    for (uint32_t i = 0; i < character->mesh_count; i++) {
        size += pelt_gpu_mesh_size(character->meshes[i]);
    }
    for (uint32_t p = 0; p < character->model->part_count; p++) {
        bool morphs = pelt_part_primitive(character->model, p)->target_count > 0;
        size += morphs ? pelt_gpu_mesh_size(character->meshes[character->part_meshes[p]]) : 0;
    }
    return size;
}

/* The streams of all meshes, and a record for each part that says where its joints are. */
static pelt_result upload_meshes(rendering *r)
{
    const pelt_character *character = r->character;
    size_t size = streams_size(character);
    pelt_gpu_mesh *meshes = pelt_allocate(character->host, character->mesh_count, sizeof(*meshes));
    char *bytes = pelt_allocate(character->host, size, 1);
    pelt_pose *pose = NULL;
    pelt_result result = meshes && bytes ? PELT_OK : PELT_ERROR_MEMORY;
    if (result == PELT_OK) {
        result = pelt_pose_create(character->host, character->model, &pose);
    }
    if (result == PELT_OK) {
        result = pelt_buffer_create(r->device, size, 0, PELT_MEMORY_DEVICE, &r->streams);
    }
    if (result == PELT_OK) {
        size_t records = (size_t)character->model->part_count * PELT_CROWD_MESH_SIZE;
        result = pelt_buffer_create(r->device, records, 0, PELT_MEMORY_UPLOAD, &r->part_meshes);
    }
    if (result == PELT_OK) {
        write_meshes(r, pose, bytes, meshes);
        result = pelt_buffer_upload(r->device, &r->streams, 0, bytes, size);
    }
    pelt_pose_destroy(pose);
    pelt_release(character->host, bytes);
    pelt_release(character->host, meshes);
    return result;
}

/* Pale colours around the wheel, neighbours far from each other. */
static void choose_tint(uint32_t i, uint8_t tint[4])
{
    for (int k = 0; k < 3; k++) {
        double wave = cos(6.283185307179586 * (i * 0.6180339887498949 + k / 3.0));
        tint[k] = (uint8_t)lround(190 + 65 * wave);
    }
    tint[3] = 255;
}

static pelt_result write_members(rendering *r)
{
    static const pelt_palette_plan nobody_is_live;
    const pelt_render_options *options = r->options;
    pelt_result result =
        pelt_buffer_create(r->device, (size_t)options->count * PELT_CROWD_MEMBER_SIZE, 0,
                           PELT_MEMORY_UPLOAD, &r->members);
    for (uint32_t i = 0; result == PELT_OK && i < options->count; i++) {
        const pelt_member *member = &r->crowd->members[i];
        const pelt_play *play = &member->play;
        int32_t clip = find_baked(r->bake, play->clip);
        uint8_t tint[4];
        choose_tint(i, tint);
        const pelt_crowd_member written = {
            .play = { .clip = clip, .time = play->time, .loop = play->loop },
            .world = member->world,
            .tint = options->tint ? tint : NULL,
        };
        result =
            pelt_crowd_member_write(r->character->host, r->bake, &nobody_is_live, &written,
                                    (char *)r->members.mapped + (size_t)i * PELT_CROWD_MEMBER_SIZE);
        const pelt_bake_clip *baked = &r->bake->clips[clip];
        pelt_bake_place place = pelt_bake_locate(baked, play->time, play->loop);
        r->boxes[i] = pelt_bake_bounds(baked, &place, r->interpolation, r->skinning, member->world);
        r->frames[i] = pelt_bake_bounds(baked, &place,
                                        r->interpolation == PELT_BAKE_NEAREST ? PELT_BAKE_NEAREST
                                                                              : PELT_BAKE_LERP,
                                        PELT_BAKE_LINEAR, member->world);
    }
    return result;
}

/* The largest of any clip, under the interpolation. */
static double worst_error(const rendering *r)
{
    double worst = 0;
    for (uint32_t i = 0; i < r->bake->clip_count; i++) {
        worst = fmax(worst, r->bake->clips[i].error.between[r->interpolation]);
    }
    return worst;
}

static const char *format_name(const rendering *r)
{
    return r->bake->layout == PELT_BAKE_DUAL_QUATERNION ? pelt_render_formats[FORMAT_DUALQUAT]
                                                        : pelt_render_formats[r->bake->format];
}

static void print_text(const pelt_report *report, const rendering *r)
{
    const pelt_render_options *options = r->options;
    const pelt_bake *b = r->bake;
    char instances[32], seen[32], bytes[32], triangles[32];
    printf("%s", pelt_report_style(report, PELT_BOLD));
    pelt_print_safe(stdout, options->output);
    printf("%s: %u x %u pixels, %s instance%s, ", pelt_report_style(report, PELT_PLAIN),
           options->size[0], options->size[1], pelt_format_count(options->count, instances),
           pelt_plural(options->count));
    if (options->all_clips) {
        printf("all clips at staggered times\n");
    } else if (r->play.clip < 0) {
        printf("the static pose\n");
    } else {
        pelt_print_clip(r->character->model, r->play.clip);
        printf(options->count > 1 ? " at staggered times\n" : " at %g s\n", r->play.time);
    }
    printf("  device   ");
    pelt_print_safe(stdout, r->device_name);
    printf("\n  palette  %9.3f ms  %s: %u x %u texels, %u layer%s, %s, %s\n", 1e3 * r->bake_time,
           options->baked ? "read" : "baked", b->width, b->height, b->layer_count,
           pelt_plural(b->layer_count), format_name(r), pelt_format_bytes(b->size, bytes));
    printf("                         %s: %svertices off by %.3g at most in any baked clip\n",
           pelt_render_interpolations[r->interpolation],
           r->skinning == PELT_BAKE_DUAL ? "skinned linearly, " : "", worst_error(r));
    printf("  shadows  %9.3f ms  the sun and %u direction%s of the sky\n", r->report.shadow_time,
           r->report.sky_count, pelt_plural(r->report.sky_count));
    printf("  raster   %9.3f ms  %u draw call%s: %s of %s instance%s in view, %s triangle%s\n",
           r->report.raster_time, r->report.draw_count, pelt_plural(r->report.draw_count),
           pelt_format_count(r->report.seen_count, seen), instances, pelt_plural(options->count),
           pelt_format_count(r->report.triangle_count, triangles),
           pelt_plural(r->report.triangle_count));
    for (uint32_t i = 0; i < options->count && i < BOXES_SHOWN; i++) {
        const pelt_box *box = &r->boxes[i];
        printf("  box %-4u (%.4f %.4f %.4f) to (%.4f %.4f %.4f)\n", i, box->min[0], box->min[1],
               box->min[2], box->max[0], box->max[1], box->max[2]);
    }
    if (options->count > BOXES_SHOWN) {
        printf("  and %s more (--json lists all)\n",
               pelt_format_count(options->count - BOXES_SHOWN, instances));
    }
}

static void json_palette(pelt_json *json, const rendering *r)
{
    const pelt_bake *b = r->bake;
    pelt_json_object_line(json, "palette");
    pelt_json_text(json, "format", format_name(r));
    pelt_json_text(json, "interpolation", pelt_render_interpolations[r->interpolation]);
    pelt_json_number(json, "rate", b->clips[0].rate);
    pelt_json_integer(json, "width", b->width);
    pelt_json_integer(json, "height", b->height);
    pelt_json_integer(json, "layers", b->layer_count);
    pelt_json_integer(json, "bytes", (int64_t)b->size);
    pelt_json_number(json, "error", worst_error(r));
    pelt_json_close(json);
}

static void print_json(const pelt_report *report, const rendering *r)
{
    const pelt_render_options *options = r->options;
    pelt_json json;
    pelt_json_begin(&json, stdout);
    pelt_json_text(&json, "file", options->open.file);
    pelt_json_text(&json, "output", options->output);
    pelt_json_integer(&json, "width", options->size[0]);
    pelt_json_integer(&json, "height", options->size[1]);
    pelt_json_text(&json, "path", "palette");
    pelt_json_text(&json, "method", pelt_method_name(r->character->method));
    pelt_json_text(&json, "baked", options->baked);
    pelt_json_text(&json, "deviceName", r->device_name);
    pelt_json_clip(&json, r->character->model, r->play.clip);
    pelt_json_bool(&json, "allClips", options->all_clips);
    pelt_json_number(&json, "time", r->play.time);
    pelt_json_bool(&json, "loop", r->play.loop || options->count > 1);
    pelt_json_integer(&json, "instances", options->count);
    json_palette(&json, r);
    pelt_json_integer(&json, "drawCalls", r->report.draw_count);
    pelt_json_integer(&json, "inView", r->report.seen_count);
    pelt_json_integer(&json, "triangles", (int64_t)r->report.triangle_count);
    pelt_json_object_line(&json, "milliseconds");
    pelt_json_rounded(&json, options->baked ? "read" : "bake", 1e3 * r->bake_time, 6);
    pelt_json_rounded(&json, "shadows", r->report.shadow_time, 6);
    pelt_json_rounded(&json, "raster", r->report.raster_time, 6);
    pelt_json_close(&json);
    pelt_json_boxes(&json, "boxes", r->boxes, options->count);
    pelt_report_warnings(report, &json);
    pelt_json_end(&json);
}

static pelt_result draw(pelt_report *report, rendering *r)
{
    const pelt_picture_crowd crowd = { .bake = r->bake,
                                       .interpolation = r->interpolation,
                                       .skinning = r->skinning,
                                       .members = r->members.address,
                                       .part_meshes = r->parts,
                                       .frames = r->frames };
    pelt_report_progress(report, "drawing");
    return pelt_picture_write(&report->host,
                              &(pelt_picture_info){ .file = r->options->open.file,
                                                    .output = r->options->output,
                                                    .width = r->options->size[0],
                                                    .height = r->options->size[1],
                                                    .boxes = r->options->boxes },
                              &(pelt_picture_scene){ .character = r->character,
                                                     .device = r->device,
                                                     .count = r->options->count,
                                                     .packed_order = true,
                                                     .member_boxes = r->boxes,
                                                     .crowd = &crowd,
                                                     .zoom = (float)r->options->zoom },
                              &r->report);
}

static void finish(const pelt_host *host, rendering *r)
{
    if (r->device) {
        pelt_buffer_destroy(r->device, &r->members);
        pelt_buffer_destroy(r->device, &r->part_meshes);
        pelt_buffer_destroy(r->device, &r->streams);
    }
    pelt_vulkan_close(r->device);
    pelt_bake_destroy(r->bake);
    pelt_crowd_destroy(r->crowd);
    pelt_character_destroy(r->character);
    pelt_release(host, r->frames);
    pelt_release(host, r->boxes);
    pelt_release(host, r->parts);
}

pelt_result pelt_render_palette_run(pelt_report *report, const pelt_render_options *options)
{
    rendering r = { .options = options };
    pelt_result result = prepare(report, &r);
    if (result == PELT_OK) {
        result = upload_meshes(&r);
    }
    if (result == PELT_OK) {
        result = write_members(&r);
    }
    if (result == PELT_OK) {
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

pelt_result pelt_render_palette_run(pelt_report *report, const pelt_render_options *options)
{
    return pelt_render_without_vulkan(report, options);
}

#endif
