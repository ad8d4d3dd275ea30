/* Crowds drawn from palettes: the same pictures as from vertices that the skin pass wrote, whatever
 * the palette holds; one draw call; and the same with and without culling. */
#include "tests/gpu.h"

#include "anim/anim.h"
#include "render/internal.h"
#include "sample/sample.h"

#include <math.h>

enum { WIDTH = 240, HEIGHT = 160, BYTES = 4 * WIDTH * HEIGHT };

/* The built-in character, packed, and a renderer that has it. */
typedef struct troupe {
    pelt_model *model;
    const pelt_primitive *primitive;
    pelt_packed_mesh *packed;
    pelt_pose *pose;
    pelt_skin_pass *pass;
    pelt_renderer *renderer;
    uint32_t mesh, material;
    pelt_buffer streams, crowd_mesh;
    pelt_gpu_mesh gpu_mesh;
} troupe;

static void *make_buffer(size_t size, pelt_buffer *out)
{
    assert_int_equal(pelt_buffer_create(gpu_device(), size, 0, PELT_MEMORY_UPLOAD, out), PELT_OK);
    return out->mapped;
}

static troupe open_troupe(uint32_t vertices)
{
    troupe t = { 0 };
    const pelt_headless *device = gpu_device();
    const pelt_sample_info sample = { .vertices = vertices };
    assert_int_equal(pelt_sample_create(&gpu_host, &sample, &t.model), PELT_OK);
    assert_int_equal(pelt_pose_create(&gpu_host, t.model, &t.pose), PELT_OK);
    t.primitive = &t.model->meshes[t.model->parts[0].mesh].primitives[0];
    const pelt_pack_info pack = { .primitive = t.primitive };
    assert_int_equal(pelt_pack(&gpu_host, &pack, &t.packed), PELT_OK);
    const pelt_skin_pass_info pass = { .vulkan = &device->vulkan };
    assert_int_equal(pelt_skin_pass_create(&gpu_host, &pass, &t.pass), PELT_OK);
    const pelt_renderer_info info = { .width = WIDTH, .height = HEIGHT };
    assert_int_equal(pelt_renderer_create(&gpu_host, gpu_device(), &info, &t.renderer), PELT_OK);
    t.renderer->sky_layers = 2; /* enough for pictures that are only compared */
    assert_int_equal(
        pelt_renderer_add_mesh(t.renderer, t.primitive, t.packed->packed_vertices, &t.mesh),
        PELT_OK);
    assert_int_equal(pelt_renderer_add_material(t.renderer, NULL, -1, &t.material), PELT_OK);
    void *streams = make_buffer(pelt_gpu_mesh_size(t.packed), &t.streams);
    pelt_gpu_mesh_write(t.packed, streams, t.streams.address, &t.gpu_mesh);
    pelt_crowd_mesh_write(&t.gpu_mesh, 0, make_buffer(PELT_CROWD_MESH_SIZE, &t.crowd_mesh));
    return t;
}

static void close_troupe(troupe *t)
{
    pelt_buffer_destroy(gpu_device(), &t->crowd_mesh);
    pelt_buffer_destroy(gpu_device(), &t->streams);
    pelt_renderer_destroy(t->renderer);
    pelt_skin_pass_destroy(t->pass);
    pelt_packed_mesh_destroy(t->packed);
    pelt_pose_destroy(t->pose);
    pelt_model_destroy(t->model);
}

/* Where member i of a square stands and looks. */
static void place(uint32_t i, uint32_t count, double world[12])
{
    uint32_t side = (uint32_t)ceil(sqrt(count)), row = i / side;
    double c = cos(0.7 * i), s = sin(0.7 * i), size = 0.9 + 0.05 * (i % 5);
    const double matrix[12] = { size * c, 0,         size * s, 1.5 * (i % side), 0,         size, 0,
                                0,        -size * s, 0,        size * c,         -1.5 * row };
    memcpy(world, matrix, sizeof(matrix));
}

/* Its box in the scene, at a place of its clip. */
static pelt_box placed_box(const pelt_bake_clip *clip, const pelt_bake_place *at,
                           const double world[12])
{
    pelt_box box = PELT_BOX_EMPTY;
    const pelt_box *boxes[] = { &clip->boxes[at->frame], &clip->boxes[at->next_frame] };
    for (int c = 0; c < 16; c++) {
        const pelt_box *from = boxes[c / 8];
        double corner[3];
        for (int k = 0; k < 3; k++) {
            corner[k] = (double)(c >> k & 1 ? from->max[k] : from->min[k]);
        }
        for (int k = 0; k < 3; k++) {
            const double *row = world + 4 * (size_t)k;
            double x = row[0] * corner[0] + row[1] * corner[1] + row[2] * corner[2] + row[3];
            box.min[k] = fminf(box.min[k], (float)x);
            box.max[k] = fmaxf(box.max[k], (float)x);
        }
    }
    return box;
}

/* A crowd, and what it takes to draw it both ways. */
typedef struct crowd {
    uint32_t count;
    const pelt_bake *bake;
    uint32_t palette;
    pelt_bake_interpolation interpolation;
    pelt_bake_skinning skinning;
    double *times; /* in clip i % clip_count */
    pelt_box *boxes;
    pelt_buffer members;
} crowd;

static crowd open_crowd(const troupe *t, const pelt_bake *bake,
                        pelt_bake_interpolation interpolation, uint32_t count, bool at_frames)
{
    crowd c = { .count = count, .bake = bake, .interpolation = interpolation };
    pelt_palette_plan plan;
    assert_int_equal(pelt_renderer_add_palette(t->renderer, bake, 0, &c.palette, &plan), PELT_OK);
    c.times = calloc(count, sizeof(*c.times));
    c.boxes = calloc(count, sizeof(*c.boxes));
    assert_true(c.times && c.boxes);
    char *memory = make_buffer((size_t)count * PELT_CROWD_MEMBER_SIZE, &c.members);
    for (uint32_t i = 0; i < count; i++) {
        const pelt_bake_clip *clip = &bake->clips[i % bake->clip_count];
        double world[12];
        place(i, count, world);
        c.times[i] = at_frames ? 3 * i % (clip->frame_count - 1) / clip->rate
                               : fmod(0.137 * i, clip->duration);
        const uint8_t tint[4] = { 255, (uint8_t)(255 - i % 7 * 20), 255, 255 };
        const pelt_crowd_member member = {
            .play = { .clip = (int32_t)(i % bake->clip_count), .time = c.times[i] },
            .world = world,
            .tint = at_frames ? NULL : tint,
        };
        assert_int_equal(pelt_crowd_member_write(&gpu_host, bake, &plan, &member,
                                                 memory + (size_t)i * PELT_CROWD_MEMBER_SIZE),
                         PELT_OK);
        pelt_bake_place at = pelt_bake_locate(clip, c.times[i], false);
        c.boxes[i] = placed_box(clip, &at, world);
    }
    return c;
}

static void close_crowd(crowd *c)
{
    pelt_buffer_destroy(gpu_device(), &c->members);
    free(c->boxes);
    free(c->times);
}

/* From the palette. */
static pelt_render_report draw_palette(const troupe *t, const crowd *c, const float to_eye[3],
                                       float zoom, bool keep_all, uint8_t *rgba)
{
    const pelt_render_part part = { t->mesh, t->material, t->crowd_mesh.address };
    const pelt_render_crowd drawn = { .palette = c->palette,
                                      .interpolation = c->interpolation,
                                      .skinning = c->skinning,
                                      .members = c->members.address,
                                      .member_count = c->count,
                                      .keep_all = keep_all,
                                      .parts = &part,
                                      .part_count = 1,
                                      .boxes = c->boxes,
                                      .box_count = c->count };
    pelt_render_scene scene = { .crowds = &drawn, .crowd_count = 1, .zoom = zoom };
    memcpy(scene.to_eye, to_eye, sizeof(scene.to_eye));
    pelt_render_report report;
    assert_int_equal(pelt_renderer_draw(t->renderer, &scene, rgba, &report), PELT_OK);
    return report;
}

/* The matrices of a member as floats: those of the clip itself where it is at a frame, else what
 * pelt_bake_decode makes of the texels; in the scene. */
static void member_matrices(const troupe *t, const crowd *c, uint32_t i, bool from_clip,
                            float *matrices)
{
    const pelt_bake_clip *clip = &c->bake->clips[i % c->bake->clip_count];
    double world[12];
    place(i, c->count, world);
    if (from_clip) {
        const pelt_play play = { .clip = clip->clip, .time = c->times[i] };
        assert_int_equal(pelt_pose_evaluate(t->pose, &play, 1), PELT_OK);
        assert_int_equal(pelt_pose_skin_matrices(t->pose, world, matrices), PELT_OK);
        return;
    }
    double *decoded = calloc(c->bake->joint_count, 12 * sizeof(*decoded));
    assert_non_null(decoded);
    pelt_bake_place at = pelt_bake_locate(clip, c->times[i], false);
    pelt_bake_decode(c->bake, &at, c->interpolation, decoded);
    for (uint32_t j = 0; j < c->bake->joint_count; j++) {
        double matrix[12];
        pelt_matrix_multiply(world, decoded + 12 * (size_t)j, matrix);
        for (int k = 0; k < 12; k++) {
            matrices[12 * (size_t)j + k] = (float)matrix[k];
        }
    }
    free(decoded);
}

/* From vertices that the skin pass wrote. */
static void draw_skinned(const troupe *t, const crowd *c, bool from_clip, const float to_eye[3],
                         uint8_t *rgba)
{
    uint32_t vertex_count = t->packed->vertex_count, joints = t->model->matrix_count;
    bool dual = c->skinning == PELT_BAKE_DUAL;
    size_t palette = (size_t)joints * (dual ? 64 : 48), vertices = (size_t)vertex_count * 16;
    pelt_buffer matrices, animated, table, scratch;
    char *memory = make_buffer(c->count * palette, &matrices);
    make_buffer(c->count * vertices, &animated);
    pelt_gpu_instance *instances = calloc((size_t)c->count + 1, sizeof(*instances));
    pelt_render_draw *draws = calloc((size_t)c->count + 1, sizeof(*draws));
    float *rows = calloc(joints, 12 * sizeof(*rows));
    assert_true(instances && draws && rows);
    for (uint32_t i = 0; i < c->count; i++) {
        VkDeviceAddress positions = animated.address + i * vertices;
        member_matrices(t, c, i, from_clip, rows);
        if (dual) {
            pelt_skin_dual_palette(rows, joints, (void *)(memory + i * palette));
        } else {
            memcpy(memory + i * palette, rows, palette);
        }
        instances[i] = (pelt_gpu_instance){ .matrices = matrices.address + i * palette,
                                            .dual_quaternions = dual,
                                            .positions = positions,
                                            .position_stride = 16,
                                            .normals = positions + 12,
                                            .normal_stride = 16 };
        draws[i] = (pelt_render_draw){
            .mesh = t->mesh, .material = t->material, .vertices = positions, .box = c->boxes[i]
        };
    }
    const pelt_skin_tables_info info = { &t->gpu_mesh, 1, instances, c->count };
    pelt_skin_tables tables;
    VkCommandBuffer commands;
    assert_int_equal(pelt_skin_tables_measure(t->pass, &info, &tables), PELT_OK);
    pelt_skin_tables_write(t->pass, &info, &tables, make_buffer(tables.table_size, &table));
    make_buffer(tables.scratch_size, &scratch);
    assert_int_equal(pelt_commands_begin(gpu_device(), &commands), PELT_OK);
    pelt_cmd_skin(t->pass, commands, &tables, table.address, scratch.address);
    assert_int_equal(pelt_commands_submit(gpu_device(), commands), PELT_OK);
    pelt_render_scene scene = { .draws = draws, .draw_count = c->count };
    memcpy(scene.to_eye, to_eye, sizeof(scene.to_eye));
    assert_int_equal(pelt_renderer_draw(t->renderer, &scene, rgba, NULL), PELT_OK);
    pelt_buffer *all[] = { &matrices, &animated, &table, &scratch };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        pelt_buffer_destroy(gpu_device(), all[i]);
    }
    free(rows);
    free(draws);
    free(instances);
}

static pelt_bake *bake_as(const troupe *t, pelt_bake_layout layout, pelt_bake_format format,
                          uint32_t max_size)
{
    pelt_bake *bake;
    const pelt_bake_info info = {
        .model = t->model, .layout = layout, .format = format, .rate = 24, .max_size = max_size
    };
    assert_int_equal(pelt_bake_create(&gpu_host, &info, &bake), PELT_OK);
    return bake;
}

/* Turns every joint about its own y axis, too, by up to 115 degrees either way. */
static void twist(pelt_model *model)
{
    for (uint32_t c = 0; c < model->clip_count; c++) {
        const pelt_clip *clip = &model->clips[c];
        for (uint32_t i = 0; i < clip->channel_count; i++) {
            const pelt_sampler *sampler = &clip->samplers[clip->channels[i].sampler];
            bool turns = clip->channels[i].path == PELT_ROTATION;
            for (uint32_t k = 0; turns && k < sampler->key_count; k++) {
                float *q = sampler->values + 4 * (size_t)k;
                float s = sinf(sinf((float)(i + k))), w = sqrtf(1 - s * s);
                const float turned[4] = { w * q[0] - s * q[2], w * q[1] + s * q[3],
                                          w * q[2] + s * q[0], w * q[3] - s * q[1] };
                memcpy(q, turned, sizeof(turned));
            }
        }
    }
}

/* How much two pictures differ: numbers by more than 4 levels, as a part of all. */
static double difference(const uint8_t *a, const uint8_t *b)
{
    size_t apart = 0;
    for (size_t i = 0; i < BYTES; i++) {
        apart += abs(a[i] - b[i]) > 4;
    }
    return (double)apart / BYTES;
}

/* Normals of the skin pass are rounded to ten bits, which changes a shade by a level or two; and
 * positions differ by roundings, which move an edge across a sample here and there. */
static const double same = 0.0005;

static const float from_front[3] = { 0.4f, 0.35f, 1.0f };

static void same_pose_same_picture(void **state)
{
    (void)state;
    static uint8_t palette[BYTES], skinned[BYTES];
    troupe t = open_troupe(1200);
    pelt_bake *bake = bake_as(&t, PELT_BAKE_MATRIX_3X4, PELT_BAKE_RGBA32F, 0);
    crowd c = open_crowd(&t, bake, PELT_BAKE_LERP, 12, true);
    pelt_render_report report = draw_palette(&t, &c, from_front, 0, false, palette);
    assert_int_equal(report.draw_count, 1);
    assert_int_equal(report.seen_count, 12);
    draw_skinned(&t, &c, true, from_front, skinned);
    assert_true(difference(palette, skinned) < same);
    /* Other poses are another picture. */
    crowd other = open_crowd(&t, bake, PELT_BAKE_LERP, 12, false);
    (void)draw_palette(&t, &other, from_front, 0, false, palette);
    assert_true(difference(palette, skinned) > 20 * same);
    close_crowd(&other);
    close_crowd(&c);
    pelt_bake_destroy(bake);
    close_troupe(&t);
}

/* Between frames, against what the CPU decodes. */
static void palettes_of_every_kind(void **state)
{
    (void)state;
    static const struct {
        pelt_bake_layout layout;
        pelt_bake_format format;
        pelt_bake_interpolation interpolation;
        pelt_bake_skinning skinning;
        uint32_t max_size;
    } kinds[] = {
        { PELT_BAKE_MATRIX_3X4, PELT_BAKE_RGBA32F, PELT_BAKE_NEAREST, PELT_BAKE_LINEAR, 0 },
        { PELT_BAKE_MATRIX_3X4, PELT_BAKE_RGBA32F, PELT_BAKE_LERP, PELT_BAKE_LINEAR, 32 },
        { PELT_BAKE_MATRIX_3X4, PELT_BAKE_RGBA16F, PELT_BAKE_LERP, PELT_BAKE_LINEAR, 0 },
        { PELT_BAKE_MATRIX_4X4, PELT_BAKE_RGBA32F, PELT_BAKE_LERP, PELT_BAKE_LINEAR, 0 },
        { PELT_BAKE_DUAL_QUATERNION, PELT_BAKE_RGBA32F, PELT_BAKE_NEAREST, PELT_BAKE_LINEAR, 0 },
        { PELT_BAKE_DUAL_QUATERNION, PELT_BAKE_RGBA32F, PELT_BAKE_LERP, PELT_BAKE_LINEAR, 0 },
        { PELT_BAKE_DUAL_QUATERNION, PELT_BAKE_RGBA32F, PELT_BAKE_BLEND, PELT_BAKE_LINEAR, 24 },
        { PELT_BAKE_DUAL_QUATERNION, PELT_BAKE_RGBA32F, PELT_BAKE_NEAREST, PELT_BAKE_DUAL, 24 },
        { PELT_BAKE_DUAL_QUATERNION, PELT_BAKE_RGBA32F, PELT_BAKE_BLEND, PELT_BAKE_DUAL, 0 },
    };
    static uint8_t palette[BYTES], skinned[BYTES];
    troupe t = open_troupe(600);
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        pelt_bake *bake = bake_as(&t, kinds[k].layout, kinds[k].format, kinds[k].max_size);
        assert_true(kinds[k].max_size == 0 || bake->joints_per_layer < bake->joint_count);
        crowd c = open_crowd(&t, bake, kinds[k].interpolation, 6, false);
        c.skinning = kinds[k].skinning;
        for (uint32_t i = 0; i < c.count; i++) {
            /* Tints have no twin in the other picture. */
            const uint32_t white = 0xffffffff;
            memcpy((char *)c.members.mapped + (size_t)i * PELT_CROWD_MEMBER_SIZE + 96, &white, 4);
        }
        (void)draw_palette(&t, &c, from_front, 0, false, palette);
        draw_skinned(&t, &c, false, from_front, skinned);
        assert_true(difference(palette, skinned) < same);
        close_crowd(&c);
        pelt_bake_destroy(bake);
    }
    close_troupe(&t);
}

/* The picture of the skin pass at the clip's own frames, which the other way of skinning has not:
 * its joints twist. */
static void dual_quaternions_draw_what_they_skin(void **state)
{
    (void)state;
    static uint8_t palette[BYTES], skinned[BYTES];
    troupe t = open_troupe(1200);
    twist(t.model);
    pelt_bake *bake = bake_as(&t, PELT_BAKE_DUAL_QUATERNION, PELT_BAKE_RGBA32F, 0);
    crowd c = open_crowd(&t, bake, PELT_BAKE_BLEND, 12, true);
    c.skinning = PELT_BAKE_DUAL;
    pelt_render_report report = draw_palette(&t, &c, from_front, 0, false, palette);
    assert_int_equal(report.draw_count, 1);
    draw_skinned(&t, &c, true, from_front, skinned);
    assert_true(difference(palette, skinned) < same);
    c.skinning = PELT_BAKE_LINEAR;
    (void)draw_palette(&t, &c, from_front, 0, false, palette);
    assert_true(difference(palette, skinned) > 20 * same);
    close_crowd(&c);
    pelt_bake_destroy(bake);
    close_troupe(&t);
}

/* What would be drawn, counted on its way to the driver. */
static PFN_vkCmdDrawIndexedIndirect real_indirect;
static PFN_vkCmdDrawIndexed real_indexed;
static uint32_t indirect_calls, indirect_draws, indexed_calls;

static VKAPI_ATTR void VKAPI_CALL count_indirect(VkCommandBuffer commands, VkBuffer buffer,
                                                 VkDeviceSize offset, uint32_t draw_count,
                                                 uint32_t stride)
{
    indirect_calls++;
    indirect_draws += draw_count;
    real_indirect(commands, buffer, offset, draw_count, stride);
}

static VKAPI_ATTR void VKAPI_CALL count_indexed(VkCommandBuffer commands, uint32_t index_count,
                                                uint32_t instance_count, uint32_t first_index,
                                                int32_t vertex_offset, uint32_t first_instance)
{
    indexed_calls++;
    real_indexed(commands, index_count, instance_count, first_index, vertex_offset, first_instance);
}

static void five_thousand_in_one_draw_call(void **state)
{
    (void)state;
    static uint8_t rgba[BYTES];
    troupe t = open_troupe(200);
    pelt_bake *bake = bake_as(&t, PELT_BAKE_MATRIX_3X4, PELT_BAKE_RGBA32F, 0);
    crowd c = open_crowd(&t, bake, PELT_BAKE_LERP, 5000, false);
    real_indirect = t.renderer->vk.cmd_draw_indexed_indirect;
    real_indexed = t.renderer->vk.cmd_draw_indexed;
    t.renderer->vk.cmd_draw_indexed_indirect = count_indirect;
    t.renderer->vk.cmd_draw_indexed = count_indexed;
    pelt_render_report report = draw_palette(&t, &c, from_front, 0, false, rgba);
    /* One into the picture, one into each shadow map: the sun's and the sky's. */
    assert_int_equal(indirect_calls, 2 + report.sky_count);
    assert_int_equal(indirect_draws, indirect_calls);
    assert_int_equal(indexed_calls, 0);
    assert_int_equal(report.draw_count, 1);
    assert_int_equal(report.seen_count, 5000);
    assert_int_equal(report.triangle_count,
                     (uint64_t)5000 * pelt_primitive_triangle_count(t.primitive));
    close_crowd(&c);
    pelt_bake_destroy(bake);
    close_troupe(&t);
}

static void culling_changes_no_picture(void **state)
{
    (void)state;
    enum { COUNT = 60, VIEWS = 24 };
    static uint8_t culled[BYTES], whole[BYTES];
    troupe t = open_troupe(200);
    pelt_bake *matrices = bake_as(&t, PELT_BAKE_MATRIX_3X4, PELT_BAKE_RGBA32F, 0);
    pelt_bake *motions = bake_as(&t, PELT_BAKE_DUAL_QUATERNION, PELT_BAKE_RGBA32F, 0);
    twist(t.model);
    pelt_bake *twisted = bake_as(&t, PELT_BAKE_DUAL_QUATERNION, PELT_BAKE_RGBA32F, 0);
    crowd crowds[] = { open_crowd(&t, matrices, PELT_BAKE_LERP, COUNT, false),
                       open_crowd(&t, motions, PELT_BAKE_BLEND, COUNT, false),
                       open_crowd(&t, twisted, PELT_BAKE_BLEND, COUNT, false) };
    crowds[2].skinning = PELT_BAKE_DUAL;
    uint32_t seen = 0;
    for (uint32_t v = 0; v < VIEWS; v++) {
        double angle = 2.39996 * v, height = 0.1 + fmod(0.618 * v, 1.0);
        const float to_eye[3] = { (float)cos(angle), (float)height, (float)sin(angle) };
        float zoom = 1.0f + (float)(v % 5);
        const crowd *c = &crowds[v % 3];
        seen += draw_palette(&t, c, to_eye, zoom, false, culled).seen_count;
        assert_int_equal(draw_palette(&t, c, to_eye, zoom, true, whole).seen_count, COUNT);
        assert_memory_equal(culled, whole, BYTES);
    }
    assert_in_range(seen, COUNT * VIEWS / 10, COUNT * VIEWS * 9 / 10);
    close_crowd(&crowds[2]);
    close_crowd(&crowds[1]);
    close_crowd(&crowds[0]);
    pelt_bake_destroy(twisted);
    pelt_bake_destroy(motions);
    pelt_bake_destroy(matrices);
    close_troupe(&t);
}

/* What a palette of dual quaternions has of matrices, in their place. */
static void turn_into_motions(const troupe *t, const pelt_bake *bake, uint32_t count,
                              pelt_buffer *matrices)
{
    pelt_buffer motions;
    VkCommandBuffer commands;
    make_buffer((size_t)count * 16 * bake->texels_per_joint, &motions);
    assert_int_equal(pelt_commands_begin(gpu_device(), &commands), PELT_OK);
    pelt_cmd_live_motions(t->renderer->crowd_pass, commands, bake, matrices->address, count,
                          motions.address);
    assert_int_equal(pelt_commands_submit(gpu_device(), commands), PELT_OK);
    pelt_buffer_destroy(gpu_device(), matrices);
    *matrices = motions;
}

/* Every other member has a row of its own, with the numbers of the baked one: the very numbers, of
 * matrices. */
static void mix(pelt_bake_layout layout, pelt_bake_skinning skinning)
{
    bool dual = layout == PELT_BAKE_DUAL_QUATERNION;
    enum { COUNT = 12, AGENTS = COUNT / 2 };
    static uint8_t baked[BYTES], mixed[BYTES];
    troupe t = open_troupe(600);
    /* Rows wider than the texture: joints go over three layers, or two. */
    pelt_bake *bake = bake_as(&t, layout, PELT_BAKE_RGBA32F, 34);
    crowd c = open_crowd(&t, bake, dual ? PELT_BAKE_BLEND : PELT_BAKE_LERP, COUNT, true);
    c.skinning = skinning;
    (void)draw_palette(&t, &c, from_front, 0, false, baked);
    pelt_palette_plan plan;
    assert_int_equal(pelt_renderer_add_palette(t.renderer, bake, AGENTS, &c.palette, &plan),
                     PELT_OK);
    pelt_buffer matrices;
    size_t size = (size_t)t.model->matrix_count * 48;
    char *memory = make_buffer(AGENTS * size, &matrices);
    for (uint32_t i = 0; i < COUNT; i += 2) {
        const pelt_bake_clip *clip = &bake->clips[i % bake->clip_count];
        const pelt_play play = { .clip = clip->clip, .time = c.times[i] };
        assert_int_equal(pelt_pose_evaluate(t.pose, &play, 1), PELT_OK);
        assert_int_equal(pelt_pose_skin_matrices(t.pose, NULL, (void *)(memory + i / 2 * size)),
                         PELT_OK);
        double world[12];
        place(i, COUNT, world);
        const pelt_crowd_member member = { .world = world, .live = true, .agent = i / 2 };
        assert_int_equal(
            pelt_crowd_member_write(&gpu_host, bake, &plan, &member,
                                    (char *)c.members.mapped + (size_t)i * PELT_CROWD_MEMBER_SIZE),
            PELT_OK);
    }
    if (dual) {
        turn_into_motions(&t, bake, AGENTS * t.model->matrix_count, &matrices);
    }
    VkBufferImageCopy regions[8];
    uint32_t count = 8;
    assert_int_equal(
        pelt_palette_live_copies(&gpu_host, &plan, bake, t.model, 0, AGENTS, 0, regions, &count),
        PELT_OK);
    assert_int_equal(count, dual ? 2 : 3);
    assert_int_equal(
        pelt_renderer_copy_live(t.renderer, c.palette, matrices.buffer, regions, count), PELT_OK);
    pelt_render_report report = draw_palette(&t, &c, from_front, 0, false, mixed);
    assert_int_equal(report.draw_count, 1);
    assert_int_equal(report.seen_count, COUNT);
    if (dual) {
        assert_true(difference(mixed, baked) < same);
    } else {
        assert_memory_equal(mixed, baked, BYTES);
    }
    pelt_buffer_destroy(gpu_device(), &matrices);
    close_crowd(&c);
    pelt_bake_destroy(bake);
    close_troupe(&t);
}

static void live_and_baked_members_mix(void **state)
{
    (void)state;
    mix(PELT_BAKE_MATRIX_3X4, PELT_BAKE_LINEAR);
    mix(PELT_BAKE_DUAL_QUATERNION, PELT_BAKE_DUAL);
}

static void bad_crowds_are_refused(void **state)
{
    (void)state;
    uint8_t *rgba = calloc(BYTES, 1);
    assert_non_null(rgba);
    troupe t = open_troupe(200);
    pelt_bake *bake = bake_as(&t, PELT_BAKE_MATRIX_3X4, PELT_BAKE_RGBA32F, 0);
    crowd c = open_crowd(&t, bake, PELT_BAKE_LERP, 1, false);
    const pelt_render_part good_part = { t.mesh, t.material, t.crowd_mesh.address };
    const pelt_render_part bad_parts[] = { { 9, t.material, t.crowd_mesh.address },
                                           { t.mesh, 9, t.crowd_mesh.address },
                                           { t.mesh, t.material, 0 },
                                           { t.mesh, t.material, t.crowd_mesh.address + 4 } };
    const pelt_render_crowd good = { .palette = c.palette,
                                     .interpolation = PELT_BAKE_LERP,
                                     .members = c.members.address,
                                     .member_count = 1,
                                     .parts = &good_part,
                                     .part_count = 1,
                                     .boxes = c.boxes,
                                     .box_count = 1 };
    for (int i = 0; i < 9; i++) {
        pelt_render_crowd bad = good;
        if (i < 4) {
            bad.parts = &bad_parts[i];
        }
        bad.palette += i == 4;
        bad.member_count -= i == 5;
        bad.members += i == 6;
        bad.interpolation = i == 7 ? PELT_BAKE_BLEND : bad.interpolation;
        bad.skinning = i == 8 ? PELT_BAKE_DUAL : bad.skinning;
        const pelt_render_scene scene = { .crowds = &bad, .crowd_count = 1 };
        assert_int_equal(pelt_renderer_draw(t.renderer, &scene, rgba, NULL), PELT_ERROR_ARGUMENT);
    }
    const pelt_render_scene scene = { .crowds = &good, .crowd_count = 1 };
    assert_int_equal(pelt_renderer_draw(t.renderer, &scene, rgba, NULL), PELT_OK);
    close_crowd(&c);
    pelt_bake_destroy(bake);
    close_troupe(&t);
    free(rgba);
}

/* A host whose allocations fail from some number on. */
typedef struct failing {
    unsigned left, failed;
} failing;

static void *allocate(void *user, void *block, size_t size)
{
    failing *f = user;
    if (size == 0) {
        free(block);
        return NULL;
    }
    if (f->left == 0) {
        f->failed++;
        return NULL;
    }
    f->left--;
    return realloc(block, size);
}

/* One member of a crowd, from nothing to a picture. */
static pelt_result draw_once(const pelt_host *host, const troupe *t, const pelt_bake *bake,
                             const crowd *c)
{
    static uint8_t rgba[16 * 16 * 4];
    const pelt_renderer_info info = { .width = 16, .height = 16 };
    pelt_renderer *renderer = NULL;
    pelt_render_part part = { .packed_mesh = t->crowd_mesh.address };
    pelt_render_crowd drawn = { .interpolation = PELT_BAKE_LERP,
                                .members = c->members.address,
                                .member_count = 1,
                                .parts = &part,
                                .part_count = 1,
                                .boxes = c->boxes,
                                .box_count = 1 };
    const pelt_render_scene scene = { .crowds = &drawn, .crowd_count = 1 };
    pelt_result result = pelt_renderer_create(host, gpu_device(), &info, &renderer);
    if (result == PELT_OK) {
        result = pelt_renderer_add_material(renderer, NULL, -1, &part.material);
    }
    if (result == PELT_OK) {
        result =
            pelt_renderer_add_mesh(renderer, t->primitive, t->packed->packed_vertices, &part.mesh);
    }
    if (result == PELT_OK) {
        result = pelt_renderer_add_palette(renderer, bake, 0, &drawn.palette, NULL);
    }
    if (result == PELT_OK) {
        result = pelt_renderer_draw(renderer, &scene, rgba, NULL);
    }
    pelt_renderer_destroy(renderer);
    return result;
}

static void unwinds_failed_allocations(void **state)
{
    (void)state;
    troupe t = open_troupe(200);
    pelt_bake *bake = bake_as(&t, PELT_BAKE_MATRIX_3X4, PELT_BAKE_RGBA32F, 0);
    crowd c = open_crowd(&t, bake, PELT_BAKE_LERP, 1, false);
    unsigned count = 0;
    for (;; count++) {
        failing f = { .left = count };
        const pelt_host host = { .user = &f, .allocate = allocate };
        pelt_result result = draw_once(&host, &t, bake, &c);
        if (f.failed == 0) {
            assert_int_equal(result, PELT_OK);
            break;
        }
        assert_int_equal(result, PELT_ERROR_MEMORY);
        assert_true(count < 100);
    }
    assert_true(count >= 8); /* renderer, arrays, mesh, pass, clips, picture, crowds at least */
    close_crowd(&c);
    pelt_bake_destroy(bake);
    close_troupe(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_pose_same_picture),
        cmocka_unit_test(palettes_of_every_kind),
        cmocka_unit_test(dual_quaternions_draw_what_they_skin),
        cmocka_unit_test(five_thousand_in_one_draw_call),
        cmocka_unit_test(culling_changes_no_picture),
        cmocka_unit_test(live_and_baked_members_mix),
        cmocka_unit_test(bad_crowds_are_refused),
        cmocka_unit_test(unwinds_failed_allocations),
    };
    return gpu_result(cmocka_run_group_tests(tests, gpu_setup, gpu_teardown));
}
