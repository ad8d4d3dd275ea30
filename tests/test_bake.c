/* Baked palettes: frames in time, where they lie, boxes, errors. */
#include "sample/sample.h"
#include "tests/build_model.h"

#include <jansson.h>
#include <pelt/gltf.h>
#include <stdio.h>
#include <sys/stat.h>

static const float triangle[] = { 0, 0, 0, 1, 0, 0, 0, 2, 0 };
static const int32_t no_parent[] = { -1 };

/* The last message. */
static void keep_message(void *user, const pelt_message *message)
{
    (void)snprintf(user, 512, "%s|%s", message->pointer ? message->pointer : "", message->text);
}

/* One node with a triangle: a palette of one matrix. */
static pelt_model *rigid_model(void)
{
    pelt_model *model = build_nodes(NULL, no_parent, 1);
    (void)build_mesh(model, triangle, 3);
    model->nodes[0].mesh = 0;
    return model;
}

static pelt_bake *bake_with(const pelt_host *host, pelt_model *model, pelt_bake_info info)
{
    pelt_bake *bake;
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    info.model = model;
    assert_int_equal(pelt_bake_create(host, &info, &bake), PELT_OK);
    return bake;
}

static void destroy(pelt_bake *bake, pelt_model *model)
{
    pelt_bake_destroy(bake);
    pelt_model_destroy(model);
}

/* The 12 numbers of a matrix as a shader would find them: texels by the arithmetic of the header.
 */
static void fetch(const pelt_bake *bake, uint32_t layer, uint32_t row, uint32_t joint,
                  float matrix[12])
{
    uint32_t t = bake->texels_per_joint;
    for (uint32_t k = 0; k < 3; k++) {
        size_t x = t * (joint % bake->joints_per_layer) + k;
        size_t z = layer + joint / bake->joints_per_layer;
        assert_true(x < bake->width && row < bake->height && z < bake->layer_count);
        memcpy(matrix + 4 * (size_t)k,
               (const float *)bake->texels + 4 * ((z * bake->height + row) * bake->width + x),
               4 * sizeof(float));
    }
}

static void decode(const pelt_bake *bake, uint32_t clip, double time, bool loop,
                   pelt_bake_interpolation interpolation, double *matrices)
{
    pelt_bake_place place = pelt_bake_locate(&bake->clips[clip], time, loop);
    pelt_bake_decode(bake, &place, interpolation, matrices);
}

static json_t *case_s12(pelt_model **model)
{
    char path[512];
    const char *shared = getenv("PELT_SHARED");
    struct stat status;
    shared = shared ? shared : "../shared";
    (void)snprintf(path, sizeof(path), "%s/cases/s12_bake_clip.gltf", shared);
    if (stat(path, &status) != 0) {
        print_message("no %s: skipped\n", path);
        skip();
    }
    assert_int_equal(pelt_gltf_read(NULL, path, model), PELT_OK);
    (void)snprintf(path, sizeof(path), "%s/cases/s12_bake_clip.expected.json", shared);
    json_t *expected = json_load_file(path, 0, NULL);
    assert_non_null(expected);
    return expected;
}

/* Frames, times and rows of the case, then what it says of the end and of between frames. */
static void reproduces_case_s12(void **state)
{
    (void)state;
    pelt_model *model;
    json_t *expected = case_s12(&model),
           *file = json_array_get(json_object_get(expected, "files"), 0);
    json_t *clips = json_object_get(file, "bake"), *clip, *frame;
    size_t c, f;
    pelt_bake *bake = bake_with(NULL, model, (pelt_bake_info){ .rate = 4 });
    assert_int_equal(bake->clip_count, json_array_size(clips));
    assert_int_equal(bake->joint_count, 2);
    json_array_foreach(clips, c, clip)
    {
        const pelt_bake_clip *got = &bake->clips[c];
        json_t *frames = json_object_get(clip, "frames");
        assert_int_equal(got->range_count, 1);
        assert_int_equal(got->frame_count, json_array_size(frames));
        assert_near(got->duration, json_number_value(json_object_get(clip, "duration")), 1e-15);
        json_array_foreach(frames, f, frame)
        {
            json_t *joints = json_object_get(frame, "joint_rows");
            double time = json_number_value(json_object_get(frame, "time")), matrices[24];
            decode(bake, (uint32_t)c, time, false, PELT_BAKE_LERP, matrices);
            for (size_t i = 0; i < 24; i++) {
                float row[12];
                fetch(bake, got->ranges[0].layer, got->ranges[0].first_row + (uint32_t)f,
                      (uint32_t)i / 12, row);
                double right =
                    json_number_value(json_array_get(json_array_get(joints, i / 12), i % 12));
                assert_near((double)row[i % 12], right, 1e-6);
                assert_near(matrices[i], right, 1e-6);
            }
        }
    }
    /* Past the end, and at it, there is the last frame; looped, the first. */
    double end[24], past[24], before[24];
    decode(bake, 0, 1, false, PELT_BAKE_LERP, end);
    decode(bake, 0, 7, false, PELT_BAKE_LERP, past);
    assert_memory_equal(end, past, sizeof(end));
    decode(bake, 0, -3, false, PELT_BAKE_BLEND, before);
    assert_near(before[0], 1, 1e-15);
    decode(bake, 0, 1, true, PELT_BAKE_LERP, past);
    assert_near(past[0], 1, 1e-15);
    /* In the short last interval of the third: 9 x 0.825 / 0.9. */
    decode(bake, 2, 0.825, false, PELT_BAKE_LERP, past);
    assert_near(past[7], 8.25, 1e-6);
    /* Between frames: the vertex (1 0 0) of joint 0. */
    json_t *between = json_object_get(file, "between_frames");
    double time = json_number_value(json_object_get(between, "time"));
    double shrunk = json_number_value(json_object_get(between, "radius_if_matrices_are_lerped"));
    decode(bake, 0, time, false, PELT_BAKE_LERP, past);
    assert_near(hypot(past[0], past[4]), shrunk, 1e-6);
    decode(bake, 0, time, false, PELT_BAKE_BLEND, past);
    assert_near(hypot(past[0], past[4]), 1, 1e-6);
    /* Its reported errors, of the vertex (2 0 0) of joint 1, which moves up by 1 a frame: r (1 -
     * cos(step / 2)); just before the row changes, half a step along an arc and up. */
    double half = acos(-1) / 8, chord = 4 * sin(half / 2);
    const pelt_bake_error *error = &bake->clips[0].error;
    assert_near(error->between[PELT_BAKE_LERP], 2 * (1 - shrunk), 1e-6);
    assert_near(error->between[PELT_BAKE_NEAREST], sqrt(chord * chord + 0.25), 1e-6);
    assert_true(error->at_frames < 1e-6);
    /* Blending two quaternions half a step apart: b = (1 - u) q + u q' turns by twice the angle of
     * (u sin, 1 - u + u cos), and rises by u q'.b / b.b of the whole. At seven places. */
    double worst = 0;
    for (int i = 1; i < 8; i++) {
        double u = i / 8.0, x = 1 - u + u * cos(half), y = u * sin(half);
        double turn = 2 * atan2(y, x) - u * 2 * half;
        double rise = u * (x * cos(half) + y * sin(half)) / (x * x + y * y) - u;
        worst = fmax(worst, hypot(4 * sin(turn / 2), rise));
    }
    assert_near(error->between[PELT_BAKE_BLEND], worst, 1e-6);
    json_decref(expected);
    destroy(bake, model);
}

/* x jumps to 5 at 0.5 s and to 9 at the end, while y rises to 10: three ranges, and nothing ever
 * lies between the values of x. */
static void never_interpolates_across_a_jump(void **state)
{
    (void)state;
    const int32_t parents[] = { 1, -1 };
    const float step_times[] = { 0, 0.5f, 0.75f, 1 }, rise_times[] = { 0, 1 };
    const float steps[] = { 0, 0, 0, 5, 0, 0, 5, 0, 0, 9, 0, 0 }, rise[] = { 0, 0, 0, 0, 10, 0 };
    pelt_model *model = build_nodes(NULL, parents, 2);
    (void)build_mesh(model, triangle, 3);
    model->nodes[0].mesh = 0;
    build_clip(model, 0, PELT_TRANSLATION, PELT_STEP, 4, 3, step_times, steps);
    build_clip(model, 1, PELT_TRANSLATION, PELT_LINEAR, 2, 3, rise_times, rise);
    /* One clip of both. */
    pelt_clip *clip = &model->clips[0];
    const pelt_channel channels[] = { clip->channels[0], { 1, PELT_TRANSLATION, 1 } };
    const pelt_sampler samplers[] = { clip->samplers[0], model->clips[1].samplers[0] };
    clip->channels = build_copy(model, channels, 2, sizeof(*channels));
    clip->samplers = build_copy(model, samplers, 2, sizeof(*samplers));
    clip->channel_count = clip->sampler_count = 2;
    model->clip_count = 1;
    for (int half = 0; half < 2; half++) {
        pelt_bake *bake =
            bake_with(NULL, model, (pelt_bake_info){ .rate = 7, .format = (pelt_bake_format)half });
        const pelt_bake_clip *baked = &bake->clips[0];
        /* 0.5 s at 7 a second: 3.5 frames, so 5 rows; the end is one row. */
        static const uint32_t rows[] = { 5, 5, 1 };
        static const double bounds[] = { 0, 0.5, 1, 1 };
        assert_int_equal(baked->range_count, 3);
        for (uint32_t i = 0; i < 3; i++) {
            assert_int_equal(baked->ranges[i].row_count, rows[i]);
            assert_near(baked->ranges[i].start, bounds[i], 0);
            assert_near(baked->ranges[i].end, bounds[i + 1], 0);
            assert_int_equal(baked->ranges[i].jump, i < 2);
        }
        for (int i = 0; i <= 4000; i++) {
            double t = i / 4000.0, m[12];
            decode(bake, 0, t, false, PELT_BAKE_LERP, m);
            assert_near(m[3], t < 0.5 ? 0 : t < 1 ? 5 : 9, 0);
            assert_near(m[7], 10 * t, half ? 0x1p-8 : 1e-6); /* half of the step from 8 to 16 */
        }
        assert_true(baked->error.between[PELT_BAKE_LERP] <= (half ? 0x1p-8 : 1e-6));
        pelt_bake_destroy(bake);
    }
    pelt_model_destroy(model);
}

/* Where only STEP keys are, one row each; keys that repeat a value, or a rotation with the other
 * sign, are none. */
static void holds_poses_in_one_row(void **state)
{
    (void)state;
    const float times[] = { 0.25f, 0.5f, 1, 2 };
    const float places[] = { 1, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0 };
    const float turns[] = { 0, 0, 0, 1, 0, 0, 0, -1, 0, 0, 0, 1, 0, 0, 0, -1 };
    pelt_model *model = rigid_model();
    build_clip(model, 0, PELT_TRANSLATION, PELT_STEP, 4, 3, times, places);
    build_clip(model, 0, PELT_ROTATION, PELT_STEP, 4, 4, times, turns);
    pelt_bake *bake = bake_with(NULL, model, (pelt_bake_info){ .rate = 10 });
    assert_int_equal(bake->clips[0].range_count, 3);
    assert_int_equal(bake->clips[0].frame_count, 3);
    for (int i = 0; i <= 100; i++) {
        double t = i / 50.0, m[12];
        decode(bake, 0, t, false, PELT_BAKE_BLEND, m);
        assert_near(m[3], t < 1 ? 1 : t < 2 ? 2 : 3, 0);
    }
    assert_int_equal(bake->clips[1].range_count, 1);
    assert_int_equal(bake->clips[1].frame_count, 21); /* no jump: ordinary frames */
    destroy(bake, model);
}

/* A skin of so many joints, whose j-th stands at (j 0 0) and moves to (j 8 0) within 2 s. */
static pelt_model *comb_model(uint32_t joints)
{
    const float times[] = { 0, 2 }, rise[] = { 0, 0, 0, 0, 8, 0 };
    int32_t *parents = malloc((joints + 2) * sizeof(*parents));
    uint32_t *list = malloc(joints * sizeof(*list));
    assert_true(parents && list);
    for (uint32_t i = 0; i < joints + 2; i++) {
        parents[i] = i < joints ? (int32_t)joints : -1;
    }
    pelt_model *model = build_nodes(NULL, parents, joints + 2);
    pelt_primitive *primitive = build_mesh(model, triangle, 3);
    const uint16_t moved_by[12] = { 0, 0, 0, 0, (uint16_t)(joints - 1), 0, 0, 0, 0, 0, 0, 0 };
    const float weights[12] = { 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0 };
    primitive->influence_count = 4;
    primitive->joints = build_copy(model, moved_by, 12, sizeof(*moved_by));
    primitive->weights = build_copy(model, weights, 12, sizeof(*weights));
    float *inverse_bind = pelt_model_allocate(model, joints, 12 * sizeof(float));
    assert_non_null(inverse_bind);
    for (uint32_t j = 0; j < joints; j++) {
        list[j] = j;
        model->nodes[j].translation[0] = j;
        inverse_bind[12 * j] = inverse_bind[12 * j + 5] = inverse_bind[12 * j + 10] = 1;
    }
    model->skin_count = 1;
    model->skins = pelt_model_allocate(model, 1, sizeof(*model->skins));
    assert_non_null(model->skins);
    model->skins[0] = (pelt_skin){ .joint_count = joints, .inverse_bind = inverse_bind };
    model->skins[0].joints = build_copy(model, list, joints, sizeof(*list));
    model->nodes[joints + 1].mesh = model->nodes[joints + 1].skin = 0;
    build_clip(model, joints, PELT_TRANSLATION, PELT_LINEAR, 2, 3, times, rise);
    free(parents);
    free(list);
    return model;
}

/* Joint counts around those at which a row of 1,024 or 4,096 texels is full. */
static void finds_every_joint(void **state)
{
    (void)state;
    static const uint32_t counts[] = { 1, 2, 5, 341, 342, 1365, 1366, 4096 };
    for (size_t n = 0; n < sizeof(counts) / sizeof(*counts); n++) {
        for (int wide = 0; wide < 2; wide++) {
            uint32_t size = wide ? 4096 : 1024, joints = counts[n];
            pelt_model *model = comb_model(joints);
            pelt_bake *bake =
                bake_with(NULL, model, (pelt_bake_info){ .rate = 2, .max_size = size });
            uint32_t layers = (joints + size / 3 - 1) / (size / 3);
            assert_int_equal(bake->layer_count, layers);
            assert_int_equal(bake->width, layers == 1 ? 3 * joints : size / 3 * 3);
            assert_int_equal(bake->height, 5);
            for (uint32_t row = 0; row < 5; row++) {
                for (uint32_t j = 0; j < joints; j++) {
                    float m[12];
                    fetch(bake, 0, row, j, m);
                    const float right[12] = { 1, 0, 0, (float)j, 0, 1, 0, 2.0f * (float)row,
                                              0, 0, 1, 0 };
                    assert_memory_equal(m, right, sizeof(m));
                }
            }
            destroy(bake, model);
        }
    }
}

/* Clips of 21, 9, 4 and 21 rows, and layers of 16: the long ones are cut. Everything decodes to the
 * very numbers that it does on one layer, also where there is room for one joint only. */
static void cuts_what_does_not_fit(void **state)
{
    (void)state;
    static const float ends[] = { 2, 0.8f, 0.3f, 2 };
    static const uint32_t rows[] = { 21, 9, 4, 21 };
    const float rise[] = { 0, 0, 0, 0, 8, 1 };
    pelt_model *model = comb_model(5);
    model->clip_count = 0;
    for (int i = 0; i < 4; i++) {
        const float times[] = { 0, ends[i] };
        build_clip(model, 5, PELT_TRANSLATION, PELT_LINEAR, 2, 3, times, rise);
    }
    pelt_bake *whole = bake_with(NULL, model, (pelt_bake_info){ .rate = 10 });
    assert_int_equal(whole->height, 55);
    for (uint32_t size = 4; size <= 20; size++) {
        pelt_bake *bake = bake_with(NULL, model, (pelt_bake_info){ .rate = 10, .max_size = size });
        assert_true(bake->width <= size && bake->height <= size);
        for (uint32_t c = 0; c < 4; c++) {
            const pelt_bake_clip *clip = &bake->clips[c];
            uint32_t pieces = rows[c] <= size ? 1 : (rows[c] - 2) / (size - 1) + 1;
            assert_int_equal(clip->range_count, pieces);
            assert_int_equal(clip->frame_count, rows[c] + pieces - 1);
            for (uint32_t i = 0; i < pieces; i++) {
                const pelt_bake_range *range = &clip->ranges[i];
                assert_near(range->start, i ? clip->ranges[i - 1].end : 0, 0);
                assert_true(range->first_row + range->row_count <= bake->height);
                assert_false(range->jump);
                assert_int_equal(range->layer % ((5 + size / 3 - 1) / (size / 3)), 0);
                assert_int_equal(range->first_frame, i * (size - 1) + i);
                pelt_bake_place place = pelt_bake_locate(clip, range->start + 0.05, false);
                assert_int_equal(place.frame, range->first_frame);
                assert_int_equal(place.next_frame, place.frame + 1);
                assert_int_equal(place.next_row, range->first_row + 1);
            }
            for (int i = 0; i <= 300; i++) {
                double a[60], b[60], t = i * 0.01;
                decode(whole, c, t, i % 2, PELT_BAKE_LERP, a);
                decode(bake, c, t, i % 2, PELT_BAKE_LERP, b);
                for (int k = 0; k < 60; k++) {
                    assert_near(a[k], b[k], 1e-6);
                }
            }
        }
        pelt_bake_destroy(bake);
    }
    /* No two ranges share a row. */
    pelt_bake *bake = bake_with(NULL, model, (pelt_bake_info){ .rate = 10, .max_size = 16 });
    bool *taken = calloc((size_t)bake->layer_count * bake->height, sizeof(*taken));
    assert_non_null(taken);
    for (uint32_t c = 0; c < 4; c++) {
        for (uint32_t i = 0; i < bake->clips[c].range_count; i++) {
            const pelt_bake_range *range = &bake->clips[c].ranges[i];
            for (uint32_t row = 0; row < range->row_count; row++) {
                bool *cell = &taken[range->layer * bake->height + range->first_row + row];
                assert_false(*cell);
                *cell = true;
            }
        }
    }
    /* 16 + 6, 9, 4 and 16 + 6 rows: 57, on four layers of 16, or of 15: 15 + 7, twice, 9 + 4. */
    assert_int_equal(bake->layer_count, 4);
    free(taken);
    pelt_bake_destroy(bake);
    destroy(whole, model);
}

static pelt_model *sample_model(void)
{
    pelt_model *model;
    const pelt_sample_info info = { .vertices = 600 };
    assert_int_equal(pelt_sample_create(NULL, &info, &model), PELT_OK);
    return model;
}

/* Of the whole model, at one time; NULL clip: as baked. */
typedef struct skinned {
    size_t count;
    double *positions;
} skinned;

static skinned skin_with(const pelt_model *model, const double *matrices)
{
    skinned out = { 0 };
    for (uint32_t i = 0; i < model->part_count; i++) {
        const pelt_part *part = &model->parts[i];
        const pelt_primitive *primitive = &model->meshes[part->mesh].primitives[part->primitive];
        pelt_packed_mesh *mesh;
        const pelt_pack_info info = { .primitive = primitive, .rigid = !part->skinned };
        assert_int_equal(pelt_pack(NULL, &info, &mesh), PELT_OK);
        out.positions =
            realloc(out.positions, (out.count + primitive->vertex_count) * 3 * sizeof(double));
        assert_non_null(out.positions);
        const pelt_reference_job job = {
            .primitive = primitive,
            .rigid = !part->skinned,
            .influences_of = mesh,
            .matrices = matrices + 12 * (size_t)model->palettes[part->palette].first_matrix,
            .positions = out.positions + 3 * out.count
        };
        pelt_skin_reference(&job, 0, primitive->vertex_count, NULL);
        out.count += primitive->vertex_count;
        pelt_packed_mesh_destroy(mesh);
    }
    return out;
}

/* At random times no vertex is farther from its place than reported; and what is reported does
 * occur: at one of 2,000 times at least 0.9 of it. Boxes hold all. */
static void errors_and_boxes_hold_at_any_time(void **state)
{
    (void)state;
    pelt_model *model = sample_model();
    for (int layout = 0; layout <= PELT_BAKE_DUAL_QUATERNION; layout++) {
        pelt_bake *bake = bake_with(
            NULL, model, (pelt_bake_info){ .rate = 12, .layout = (pelt_bake_layout)layout });
        assert_int_equal(bake->texels_per_joint, layout == 0 ? 3 : layout == 1 ? 4 : 2);
        double *matrices = malloc(12 * sizeof(double) * model->matrix_count);
        double *baked = malloc(12 * sizeof(double) * model->matrix_count);
        pelt_pose *pose;
        assert_true(matrices && baked);
        assert_int_equal(pelt_pose_create(NULL, model, &pose), PELT_OK);
        const pelt_bake_clip *clip = &bake->clips[0];
        double worst[PELT_BAKE_INTERPOLATIONS] = { 0 };
        for (int n = 0; n < 400; n++) {
            double time = clip->duration * fmod(n * 0.6180339887498949, 1);
            const pelt_play play = { .clip = 0, .time = time };
            assert_int_equal(pelt_pose_evaluate(pose, &play, 1), PELT_OK);
            assert_int_equal(pelt_pose_skin_matrices_double(pose, NULL, matrices), PELT_OK);
            skinned right = skin_with(model, matrices);
            pelt_bake_place place = pelt_bake_locate(clip, time, n % 2);
            pelt_box box = clip->boxes[place.frame];
            const pelt_box *next = &clip->boxes[place.next_frame];
            assert_int_equal(place.row, clip->ranges[0].first_row + place.frame);
            for (int k = 0; k < 3; k++) {
                box.min[k] = fminf(box.min[k], next->min[k]);
                box.max[k] = fmaxf(box.max[k], next->max[k]);
            }
            for (int i = 0; i < PELT_BAKE_INTERPOLATIONS; i++) {
                pelt_bake_decode(bake, &place, (pelt_bake_interpolation)i, baked);
                skinned got = skin_with(model, baked);
                /* Rounding of the float path that made the boxes: 12 roundings of 2. */
                double margin = (i == PELT_BAKE_BLEND ? clip->blend_margin : 0) + 3e-6;
                for (size_t v = 0; v < got.count; v++) {
                    double square = 0;
                    for (size_t k = 0; k < 3; k++) {
                        double d = got.positions[3 * v + k] - right.positions[3 * v + k];
                        square += d * d;
                        assert_true(got.positions[3 * v + k] >= (double)box.min[k] - margin);
                        assert_true(got.positions[3 * v + k] <= (double)box.max[k] + margin);
                        assert_true(clip->box.min[k] <= box.min[k]);
                        assert_true(clip->box.max[k] >= box.max[k]);
                    }
                    worst[i] = fmax(worst[i], sqrt(square));
                }
                free(got.positions);
            }
            free(right.positions);
        }
        for (int i = 0; i < PELT_BAKE_INTERPOLATIONS; i++) {
            double reported = clip->error.between[i];
            assert_true(reported > 1e-4);
            assert_true(worst[i] <= reported * (1 + 1.0 / 64) + 1e-7);
            assert_true(worst[i] >= reported * 0.9);
        }
        pelt_pose_destroy(pose);
        free(matrices);
        free(baked);
        pelt_bake_destroy(bake);
    }
    pelt_model_destroy(model);
}

/* Keys at every third of a second, straight between: exact at 3 and 6, ... frames a second, not at
 * 4 and 5. A search that trusted rates to be the better the higher would not find 3. */
static void finds_the_lowest_rate(void **state)
{
    (void)state;
    const float times[] = { 0, 1 / 3.0f, 2 / 3.0f, 1 };
    const float places[] = { 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0 };
    pelt_model *model = rigid_model();
    build_clip(model, 0, PELT_TRANSLATION, PELT_LINEAR, 4, 3, times, places);
    pelt_bake *bake =
        bake_with(NULL, model, (pelt_bake_info){ .error = 1e-6, .interpolation = PELT_BAKE_LERP });
    assert_near(bake->clips[0].rate, 3, 0);
    assert_int_equal(bake->clips[0].frame_count, 4);
    assert_true(bake->clips[0].error.between[PELT_BAKE_LERP] <= 1e-6);
    pelt_bake_destroy(bake);
    bake = bake_with(NULL, model, (pelt_bake_info){ .rate = 4 });
    /* Over the key at 1/3, between 1/4 and 1/2: 1 against 3/4 + 1/3 (1/2 - 3/4) = 2/3. */
    assert_near(bake->clips[0].error.between[PELT_BAKE_LERP], 1 / 3.0, 1e-6);
    pelt_bake_destroy(bake);
    /* Nearest: 3 units a second, half a frame. 0.1 takes 15 frames a second. */
    bake = bake_with(NULL, model,
                     (pelt_bake_info){ .error = 0.1 + 1e-6, .interpolation = PELT_BAKE_NEAREST });
    assert_near(bake->clips[0].rate, 15, 0);
    pelt_bake_destroy(bake);
    /* No rate up to 20 is good enough. */
    char message[512] = "";
    const pelt_host host = { .user = message, .message = keep_message };
    const pelt_bake_info info = {
        .model = model, .error = 0.01, .interpolation = PELT_BAKE_NEAREST, .max_rate = 20
    };
    assert_int_equal(pelt_bake_create(&host, &info, &bake), PELT_ERROR_RANGE);
    assert_null(bake);
    assert_non_null(strstr(message, "/animations/0|no rate up to 20 frames a second"));
    pelt_model_destroy(model);
}

/* Every lower rate is worse than asked for. */
static void keeps_the_error_asked_for(void **state)
{
    (void)state;
    pelt_model *model = sample_model();
    const int32_t clip = 0;
    for (int i = 0; i < PELT_BAKE_INTERPOLATIONS; i++) {
        double asked = i == PELT_BAKE_NEAREST ? 0.03 : 0.003;
        pelt_bake_info info = { .error = asked, .interpolation = (pelt_bake_interpolation)i };
        info.clips = &clip;
        info.clip_count = 1;
        pelt_bake *bake = bake_with(NULL, model, info);
        double rate = bake->clips[0].rate;
        assert_true(bake->clips[0].error.between[i] <= asked && rate >= 3);
        pelt_bake_destroy(bake);
        info.error = 0;
        for (int lower = 1; lower < rate; lower++) {
            info.rate = lower;
            bake = bake_with(NULL, model, info);
            assert_true(bake->clips[0].error.between[i] > asked);
            pelt_bake_destroy(bake);
        }
    }
    pelt_model_destroy(model);
}

/* Quaternions of neighbouring rows are on one side; a scaled joint takes a third texel; a sheared
 * one is named. */
static void dual_quaternions_keep_scale_and_name_shear(void **state)
{
    (void)state;
    char message[512] = "";
    const pelt_host host = { .user = message, .message = keep_message };
    /* 0, 179, 358, ... degrees about z: half of it is past 180 before the third key. */
    const float times[] = { 0, 1, 2, 3 };
    float turns[16] = { 0 };
    for (int i = 0; i < 4; i++) {
        double half = i * 179 / 2.0 * acos(-1) / 180;
        turns[4 * i + 2] = (float)sin(half);
        turns[4 * i + 3] = (float)cos(half);
    }
    pelt_model *model = rigid_model();
    build_clip(model, 0, PELT_ROTATION, PELT_LINEAR, 4, 4, times, turns);
    pelt_bake_info info = { .layout = PELT_BAKE_DUAL_QUATERNION, .rate = 2 };
    pelt_bake *bake = bake_with(&host, model, info);
    assert_int_equal(bake->texels_per_joint, 2);
    for (uint32_t row = 1; row < 7; row++) {
        const float *a = (const float *)bake->texels + 8 * (size_t)(row - 1), *b = a + 8;
        assert_true(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] > 0.5f);
    }
    /* At 1.5 s, 268.5 degrees: the float quaternions are good to a few 1e-8. */
    double m[12];
    decode(bake, 0, 1.5, false, PELT_BAKE_BLEND, m);
    assert_near(m[0], cos(268.5 * acos(-1) / 180), 1e-6);
    assert_near(m[4], sin(268.5 * acos(-1) / 180), 1e-6);
    assert_string_equal(message, "");
    pelt_bake_destroy(bake);

    /* Twice as long in y, then turned: the texel says (1 2 1), nothing is lost. */
    model->nodes[0].scale[1] = 2;
    bake = bake_with(&host, model, info);
    assert_int_equal(bake->texels_per_joint, 3);
    const float *scale = (const float *)bake->texels + 8;
    assert_near((double)scale[0], 1, 1e-6);
    assert_near((double)scale[1], 2, 1e-6);
    assert_near((double)scale[2], 1, 1e-6);
    assert_true(bake->clips[0].error.at_frames < 1e-5);
    assert_string_equal(message, "");
    pelt_bake_destroy(bake);
    pelt_model_destroy(model);

    /* Under a parent that is twice as long in x, a joint turned by 45 degrees. */
    const int32_t parents[] = { 1, -1 };
    model = build_nodes(NULL, parents, 2);
    (void)build_mesh(model, triangle, 3);
    model->nodes[0].mesh = 0;
    model->nodes[0].name = build_name(model, "elbow");
    model->nodes[1].scale[0] = 2;
    model->nodes[0].rotation[2] = sin(acos(-1) / 8);
    model->nodes[0].rotation[3] = cos(acos(-1) / 8);
    bake = bake_with(&host, model, info);
    assert_non_null(strstr(message, "1 joint is sheared"));
    assert_non_null(strstr(message, "'elbow'"));
    /* R S with S = the root of the turned diag(4 1): 1.5 on the diagonal and -0.5 besides, which is
     * lost. It moves (0 2 0) by 1. */
    assert_near(bake->clips[0].error.at_frames, 1, 1e-6);
    destroy(bake, model);
}

/* A turn that comes back to where it was is a loop; one that does not is none. */
static void tells_loops(void **state)
{
    (void)state;
    const float times[] = { 0, 1, 2 }, back[] = { 0, 0, 0, 1, 0, 0, 0, 0, 0 };
    const float away[] = { 0, 0, 0, 1, 0, 0, 1, 2, 0 };
    pelt_model *model = rigid_model();
    build_clip(model, 0, PELT_TRANSLATION, PELT_LINEAR, 3, 3, times, back);
    build_clip(model, 0, PELT_TRANSLATION, PELT_LINEAR, 3, 3, times, away);
    pelt_bake *bake = bake_with(NULL, model, (pelt_bake_info){ 0 });
    assert_true(bake->clips[0].loop);
    assert_near(bake->clips[0].seam, 0, 0);
    assert_false(bake->clips[1].loop);
    assert_near(bake->clips[1].seam, sqrt(5), 1e-6);
    assert_near(bake->clips[0].rate, 30, 0);
    assert_int_equal(bake->clips[0].frame_count, 61);
    destroy(bake, model);
}

/* The palettes asked for, in that order, and the clips. */
static void bakes_what_is_asked_for(void **state)
{
    (void)state;
    const int32_t parents[] = { -1, -1, -1 };
    const float times[] = { 0, 1 }, rise[] = { 0, 0, 0, 0, 0, 4 };
    pelt_model *model = build_nodes(NULL, parents, 3);
    (void)build_mesh(model, triangle, 3);
    for (int i = 0; i < 3; i++) {
        model->nodes[i].mesh = 0;
        model->nodes[i].translation[0] = 10.0 * i;
        build_clip(model, (uint32_t)i, PELT_TRANSLATION, PELT_LINEAR, 2, 3, times, rise);
    }
    const uint32_t palettes[] = { 2, 0 };
    const int32_t clips[] = { 2, -1 };
    pelt_bake_info info = { .palettes = palettes, .palette_count = 2, .rate = 1 };
    info.clips = clips;
    info.clip_count = 2;
    pelt_bake *bake = bake_with(NULL, model, info);
    assert_int_equal(bake->joint_count, 2);
    assert_int_equal(bake->palettes[0].node, 2);
    assert_int_equal(bake->palettes[1].first_joint, 1);
    assert_int_equal(bake->clips[0].clip, 2);
    assert_int_equal(bake->clips[1].frame_count, 1);
    double m[24];
    decode(bake, 0, 1, false, PELT_BAKE_NEAREST, m);
    assert_near(m[11], 4, 0);
    assert_near(m[12 + 3], 0, 0);
    decode(bake, 1, 5, true, PELT_BAKE_NEAREST, m);
    assert_near(m[3], 20, 0);
    /* The node between, at 10, is in no box. */
    assert_near((double)bake->clips[1].box.max[0], 21, 0);
    assert_near((double)bake->clips[1].box.min[0], 0, 0);
    destroy(bake, model);
}

static void warns_of_morphs(void **state)
{
    (void)state;
    char message[512] = "";
    const pelt_host host = { .user = message, .message = keep_message };
    const float times[] = { 0, 1 }, weights[] = { 0, 1 }, up[] = { 0, 0, 6, 0, 0, 6, 0, 0, 6 };
    pelt_model *model = rigid_model();
    pelt_primitive *primitive = &model->meshes[0].primitives[0];
    primitive->target_count = 1;
    primitive->targets = pelt_model_allocate(model, 1, sizeof(*primitive->targets));
    assert_non_null(primitive->targets);
    primitive->targets[0].positions = build_copy(model, up, 9, sizeof(*up));
    const double half = 0.5;
    model->meshes[0].weight_count = 1;
    model->meshes[0].weights = build_copy(model, &half, 1, sizeof(half));
    build_clip(model, 0, PELT_WEIGHTS, PELT_LINEAR, 2, 1, times, weights);
    pelt_bake *bake = bake_with(&host, model, (pelt_bake_info){ .rate = 4 });
    assert_non_null(strstr(message, "/animations/0|1 clip animates morph weights"));
    assert_near((double)bake->clips[0].box.max[2], 3, 0); /* half of the target */
    destroy(bake, model);
}

static void refuses_what_does_not_fit(void **state)
{
    (void)state;
    char message[512] = "";
    const pelt_host host = { .user = message, .message = keep_message };
    const float times[] = { 0, 1 }, far_away[] = { 0, 0, 0, 70000, 0, 0 };
    pelt_model *model = rigid_model();
    build_clip(model, 0, PELT_TRANSLATION, PELT_LINEAR, 2, 3, times, far_away);
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    pelt_bake *bake;
    pelt_bake_info info = { .model = model, .format = PELT_BAKE_RGBA16F };
    assert_int_equal(pelt_bake_create(&host, &info, &bake), PELT_ERROR_RANGE);
    assert_non_null(strstr(message, "/animations/0|"));
    assert_non_null(strstr(message, "65,504"));
    info = (pelt_bake_info){ .model = model, .max_size = 4, .max_layers = 5, .rate = 100 };
    assert_int_equal(pelt_bake_create(&host, &info, &bake), PELT_ERROR_RANGE);
    assert_non_null(strstr(message, "5 layers"));
    /* So long that no count of frames would fit a number. */
    model->clips[0].samplers[0].times[1] = 3e38f;
    model->clips[0].duration = (double)3e38f;
    for (int layout = 0; layout < 3; layout++) {
        info = (pelt_bake_info){ .model = model, .layout = (pelt_bake_layout)layout };
        assert_int_equal(pelt_bake_create(&host, &info, &bake), PELT_ERROR_RANGE);
        info.error = 1;
        assert_int_equal(pelt_bake_create(&host, &info, &bake), PELT_ERROR_RANGE);
    }
    pelt_model_destroy(model);
}

static void refuses_bad_arguments(void **state)
{
    (void)state;
    pelt_model *model = rigid_model(), *empty = build_nodes(NULL, no_parent, 1);
    assert_int_equal(pelt_model_finish(empty), PELT_OK);
    pelt_bake *bake;
    const int32_t no_clip = 0, twice[] = { -1, -1 };
    const uint32_t no_palette = 1, palette_twice[] = { 0, 0 };
    pelt_bake_info info = { .model = model };
    assert_int_equal(pelt_bake_create(NULL, &info, &bake), PELT_ERROR_ARGUMENT); /* unfinished */
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    const pelt_bake_info wrong[] = {
        { 0 },
        { .model = empty },
        { .model = model, .clips = &no_clip, .clip_count = 1 },
        { .model = model, .clips = twice, .clip_count = 2 },
        { .model = model, .palettes = &no_palette, .palette_count = 1 },
        { .model = model, .palettes = palette_twice, .palette_count = 2 },
        { .model = model, .layout = (pelt_bake_layout)3 },
        { .model = model, .format = (pelt_bake_format)2 },
        { .model = model, .interpolation = (pelt_bake_interpolation)3 },
        { .model = model, .rate = -1 },
        { .model = model, .rate = NAN },
        { .model = model, .rate = 1001 },
        { .model = model, .error = -1 },
        { .model = model, .error = NAN },
        { .model = model, .error = 1, .rate = 1 },
        { .model = model, .max_rate = INFINITY, .error = 1 },
        { .model = model, .max_size = 3 },
        { .model = model, .max_size = 65537 },
        { .model = model, .max_layers = 65537 },
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        assert_int_equal(pelt_bake_create(NULL, &wrong[i], &bake), PELT_ERROR_ARGUMENT);
        assert_null(bake);
    }
    pelt_bake_destroy(NULL);
    pelt_model_destroy(model);
    pelt_model_destroy(empty);
}

static void unwinds_when_any_allocation_fails(void **state)
{
    (void)state;
    meter m = { 0 };
    const pelt_host host = { .user = &m, .allocate = metered };
    pelt_model *model = comb_model(3);
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    for (int layout = 0; layout < 3; layout += 2) {
        pelt_bake *bake = NULL;
        long n = 0;
        for (; !bake; n++) {
            const pelt_bake_info info = { .model = model,
                                          .layout = (pelt_bake_layout)layout,
                                          .error = layout ? 0.5 : 0,
                                          .max_size = 16 };
            m.calls_left = n;
            pelt_result result = pelt_bake_create(&host, &info, &bake);
            assert_true(n < 200 && result == (bake ? PELT_OK : PELT_ERROR_MEMORY));
            assert_true(bake || m.alive == 0);
        }
        assert_true(n > 20);
        pelt_bake_destroy(bake);
        assert_int_equal(m.alive, 0);
    }
    pelt_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reproduces_case_s12),
        cmocka_unit_test(never_interpolates_across_a_jump),
        cmocka_unit_test(holds_poses_in_one_row),
        cmocka_unit_test(finds_every_joint),
        cmocka_unit_test(cuts_what_does_not_fit),
        cmocka_unit_test(errors_and_boxes_hold_at_any_time),
        cmocka_unit_test(finds_the_lowest_rate),
        cmocka_unit_test(keeps_the_error_asked_for),
        cmocka_unit_test(dual_quaternions_keep_scale_and_name_shear),
        cmocka_unit_test(tells_loops),
        cmocka_unit_test(bakes_what_is_asked_for),
        cmocka_unit_test(warns_of_morphs),
        cmocka_unit_test(refuses_what_does_not_fit),
        cmocka_unit_test(refuses_bad_arguments),
        cmocka_unit_test(unwinds_when_any_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
