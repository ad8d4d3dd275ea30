/* Boxes of crowds without a look at vertices: what is skinned from the palette, in double
 * precision, is in them, whatever the interpolation, and they are no larger than need be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "anim/anim.h"
#include "sample/sample.h"

#include <math.h>
#include <pelt/bake.h>
#include <pelt/skin.h>
#include <stdlib.h>

static const pelt_host host;
static pelt_model *model;
static pelt_packed_mesh *packed; /* as the bake packs it */

static int setup(void **state)
{
    (void)state;
    if (pelt_sample_create(&host, &(pelt_sample_info){ .vertices = 500 }, &model) != PELT_OK) {
        return -1;
    }
    const pelt_pack_info info = { .primitive = &model->meshes[0].primitives[0] };
    return pelt_pack(&host, &info, &packed);
}

static int teardown(void **state)
{
    (void)state;
    pelt_packed_mesh_destroy(packed);
    pelt_model_destroy(model);
    return 0;
}

static uint32_t random_state = 5;

static double uniform(double low, double high)
{
    random_state = random_state * 1664525u + 1013904223u;
    return low + (high - low) * random_state / 4294967296.0;
}

/* The exact box of the vertices at a place, under world. */
static void skin(const pelt_bake *bake, const pelt_bake_place *place,
                 pelt_bake_interpolation interpolation, pelt_bake_skinning skinning,
                 const double *world, double box[6])
{
    const pelt_primitive *primitive = &model->meshes[model->parts[0].mesh].primitives[0];
    double *matrices = calloc(bake->joint_count, 12 * sizeof(double));
    double *rotations = calloc(bake->joint_count, 4 * sizeof(double));
    double *positions = calloc(primitive->vertex_count, 3 * sizeof(double));
    assert_true(matrices && rotations && positions);
    pelt_bake_decode(bake, place, interpolation, matrices);
    pelt_skin_rotations_double(matrices, bake->joint_count, rotations, NULL);
    const pelt_reference_job job = { .primitive = primitive,
                                     .matrices = matrices,
                                     .rotations = skinning == PELT_BAKE_DUAL ? rotations : NULL,
                                     .influences_of = packed,
                                     .positions = positions };
    pelt_skin_reference(&job, 0, primitive->vertex_count, NULL);
    for (int k = 0; k < 3; k++) {
        box[k] = INFINITY;
        box[3 + k] = -INFINITY;
        for (uint32_t v = 0; v < primitive->vertex_count; v++) {
            const double *row = world + 4 * (size_t)k, *p = positions + 3 * (size_t)v;
            double moved = row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3];
            box[k] = fmin(box[k], moved);
            box[3 + k] = fmax(box[3 + k], moved);
        }
    }
    free(positions);
    free(rotations);
    free(matrices);
}

static void check(const pelt_bake *bake, pelt_bake_interpolation interpolation)
{
    static const double upright[12] = { 2, 0, 0, 1, 0, 2, 0, -3, 0, 0, 2, 5 };
    for (int i = 0; i < 60; i++) {
        const pelt_bake_clip *clip = &bake->clips[(uint32_t)i % bake->clip_count];
        double time = i % 4 ? uniform(0, clip->duration) : uniform(0, 9) / clip->rate;
        pelt_bake_place place = pelt_bake_locate(clip, time, true);
        double world[12], exact[6];
        for (int k = 0; k < 12; k++) {
            world[k] = i % 3 == 0 ? upright[k] : uniform(-3, 3) * (k % 4 == 3 ? 50 : 1);
        }
        skin(bake, &place, interpolation, PELT_BAKE_LINEAR, world, exact);
        pelt_box box = pelt_bake_bounds(clip, &place, interpolation, PELT_BAKE_LINEAR, world);
        for (int k = 0; k < 3; k++) {
            assert_true((double)box.min[k] <= exact[k]);
            assert_true((double)box.max[k] >= exact[3 + k]);
        }
        /* Unturned, and at a frame, it is the exact box. */
        if (i % 3 == 0 && (interpolation == PELT_BAKE_NEAREST || place.fraction == 0)) {
            for (int k = 0; k < 3; k++) {
                /* The widening: 2^-19 of magnitudes below 20. */
                assert_true((double)box.min[k] > exact[k] - 1e-4);
                assert_true((double)box.max[k] < exact[3 + k] + 1e-4);
            }
        }
    }
}

static void hold_what_is_drawn(void **state)
{
    (void)state;
    static const struct {
        pelt_bake_layout layout;
        pelt_bake_interpolation interpolation;
        double rate;
    } kinds[] = {
        { PELT_BAKE_MATRIX_3X4, PELT_BAKE_NEAREST, 12 },
        { PELT_BAKE_MATRIX_3X4, PELT_BAKE_LERP, 5 },
        { PELT_BAKE_DUAL_QUATERNION, PELT_BAKE_LERP, 5 },
        { PELT_BAKE_DUAL_QUATERNION, PELT_BAKE_BLEND, 2 },
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        pelt_bake *bake;
        const pelt_bake_info info = { .model = model,
                                      .layout = kinds[i].layout,
                                      .rate = kinds[i].rate };
        assert_int_equal(pelt_bake_create(&host, &info, &bake), PELT_OK);
        check(bake, kinds[i].interpolation);
        pelt_bake_destroy(bake);
    }
}

/* Every key of every joint turns it about any axis, up to so far, and some joints are scaled. */
static void contort(double most, double scale)
{
    for (uint32_t c = 0; c < model->clip_count; c++) {
        const pelt_clip *clip = &model->clips[c];
        for (uint32_t i = 0; i < clip->channel_count; i++) {
            const pelt_sampler *sampler = &clip->samplers[clip->channels[i].sampler];
            bool turns = clip->channels[i].path == PELT_ROTATION;
            for (uint32_t k = 0; turns && k < sampler->key_count * sampler->width; k += 4) {
                double axis[3], square = 0, angle = uniform(-most, most);
                for (int e = 0; e < 3; e++) {
                    axis[e] = uniform(-1, 1);
                    square += axis[e] * axis[e];
                }
                for (uint32_t e = 0; e < 3; e++) {
                    sampler->values[k + e] = (float)(sin(angle / 2) * axis[e] / sqrt(square));
                }
                sampler->values[k + 3] = (float)cos(angle / 2);
            }
        }
    }
    for (uint32_t j = 1; j < model->skins[0].joint_count; j += 4) {
        for (int k = 0; k < 3; k++) {
            model->nodes[model->skins[0].joints[j]].scale[k] *= scale;
        }
    }
}

/* How far a box is outside of another, on its worst side. */
static double outside(const double inner[6], const pelt_box *outer)
{
    double worst = -INFINITY;
    for (int k = 0; k < 3; k++) {
        worst = fmax(worst, (double)outer->min[k] - inner[k]);
        worst = fmax(worst, inner[3 + k] - (double)outer->max[k]);
    }
    return worst;
}

/* Random turns of up to 180 degrees between joints, and as wide ones from row to row. */
static void hold_what_dual_quaternions_skin(void **state)
{
    static const double identity[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
    static const struct {
        double most, scale, rate;
        pelt_bake_format format;
        pelt_bake_interpolation interpolation;
    } kinds[] = {
        { 0, 1, 30, PELT_BAKE_RGBA32F, PELT_BAKE_BLEND }, /* as it is */
        { 3.14, 1, 2, PELT_BAKE_RGBA32F, PELT_BAKE_BLEND },
        { 3.14, 1, 6, PELT_BAKE_RGBA32F, PELT_BAKE_NEAREST },
        { 0.8, 1, 20, PELT_BAKE_RGBA16F, PELT_BAKE_BLEND },
        { 0.8, 1, 20, PELT_BAKE_RGBA32F, PELT_BAKE_NEAREST },
        { 3.14, 1.3, 3, PELT_BAKE_RGBA32F, PELT_BAKE_BLEND },
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        pelt_bake_interpolation interpolation = kinds[i].interpolation;
        if (kinds[i].most > 0) {
            contort(kinds[i].most, kinds[i].scale);
        }
        pelt_bake *bake;
        const pelt_bake_info info = { .model = model,
                                      .layout = PELT_BAKE_DUAL_QUATERNION,
                                      .format = kinds[i].format,
                                      .rate = kinds[i].rate };
        assert_int_equal(pelt_bake_create(&host, &info, &bake), PELT_OK);
        assert_int_equal(bake->texels_per_joint, kinds[i].scale == 1 ? 2 : 3);
        double farthest[2] = { -INFINITY, -INFINITY }; /* outside of what holds linear blending */
        for (int k = 0; k < 300; k++) {
            uint32_t c = (uint32_t)k % bake->clip_count;
            const pelt_bake_clip *clip = &bake->clips[c];
            double exact[6];
            pelt_bake_place place = pelt_bake_locate(clip, uniform(0, clip->duration), true);
            skin(bake, &place, interpolation, PELT_BAKE_DUAL, identity, exact);
            pelt_box box =
                pelt_bake_bounds(clip, &place, interpolation, PELT_BAKE_LINEAR, identity);
            farthest[c] = fmax(farthest[c], outside(exact, &box));
            box = pelt_bake_bounds(clip, &place, interpolation, PELT_BAKE_DUAL, identity);
            assert_true(outside(exact, &box) <= 0);
        }
        for (uint32_t c = 0; c < bake->clip_count; c++) {
            /* Linear blending's boxes do not hold it; at frames, where they are exact, that shows.
             */
            assert_true(interpolation == PELT_BAKE_BLEND || farthest[c] > 0.03);
            /* The character is 1.4 high. */
            assert_true(kinds[i].most > 0 || bake->clips[c].dual_margin < 0.06);
        }
        pelt_bake_destroy(bake);
    }
    assert_int_equal(teardown(state), 0);
    assert_int_equal(setup(state), 0);
}

/* By hand: frames [0 1]^3 and [2 4] x [0 1]^2. */
static void unite_the_frames_that_matter(void **state)
{
    (void)state;
    pelt_box boxes[] = { { { 0, 0, 0 }, { 1, 1, 1 } }, { { 2, 0, 0 }, { 4, 1, 1 } } };
    const pelt_bake_clip clip = { .boxes = boxes, .blend_margin = 0.5, .dual_margin = 0.25 };
    const double turned[12] = { 0, -2, 0, 10, 1, 0, 0, 20, 0, 0, 1, 0 };
    static const struct {
        double fraction;
        pelt_bake_interpolation interpolation;
        pelt_bake_skinning skinning;
        float min[2], max[2]; /* x and y before turning */
    } wanted[] = {
        { 0, PELT_BAKE_LERP, PELT_BAKE_LINEAR, { 0, 0 }, { 1, 1 } },
        { 0.4, PELT_BAKE_LERP, PELT_BAKE_LINEAR, { 0, 0 }, { 4, 1 } },
        { 1, PELT_BAKE_LERP, PELT_BAKE_LINEAR, { 2, 0 }, { 4, 1 } },
        { 0.4, PELT_BAKE_NEAREST, PELT_BAKE_LINEAR, { 0, 0 }, { 1, 1 } },
        { 0.6, PELT_BAKE_NEAREST, PELT_BAKE_LINEAR, { 2, 0 }, { 4, 1 } },
        { 0.4, PELT_BAKE_BLEND, PELT_BAKE_LINEAR, { -0.5f, -0.5f }, { 4.5f, 1.5f } },
        { 0.6, PELT_BAKE_NEAREST, PELT_BAKE_DUAL, { 1.75f, -0.25f }, { 4.25f, 1.25f } },
        { 0.4, PELT_BAKE_BLEND, PELT_BAKE_DUAL, { -0.75f, -0.75f }, { 4.75f, 1.75f } },
    };
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        const pelt_bake_place place = { .next_frame = 1, .fraction = wanted[i].fraction };
        pelt_box box =
            pelt_bake_bounds(&clip, &place, wanted[i].interpolation, wanted[i].skinning, NULL);
        /* The widening: 2^-19 of magnitudes of up to 5. */
        assert_float_equal(box.min[0], wanted[i].min[0], 1e-5);
        assert_float_equal(box.max[0], wanted[i].max[0], 1e-5);
        assert_true(box.min[0] < wanted[i].min[0] && box.max[0] > wanted[i].max[0]);
        box = pelt_bake_bounds(&clip, &place, wanted[i].interpolation, wanted[i].skinning, turned);
        assert_float_equal(box.min[0], 10 - 2 * wanted[i].max[1], 1e-4);
        assert_float_equal(box.max[0], 10 - 2 * wanted[i].min[1], 1e-4);
        assert_float_equal(box.min[1], 20 + wanted[i].min[0], 1e-4);
        assert_float_equal(box.max[1], 20 + wanted[i].max[0], 1e-4);
    }
    boxes[0] = boxes[1] = (pelt_box)PELT_BOX_EMPTY;
    pelt_box empty = pelt_bake_bounds(&clip, &(pelt_bake_place){ .next_frame = 1 }, PELT_BAKE_BLEND,
                                      PELT_BAKE_LINEAR, turned);
    assert_true(empty.min[0] > empty.max[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hold_what_is_drawn),
        cmocka_unit_test(hold_what_dual_quaternions_skin),
        cmocka_unit_test(unite_the_frames_that_matter),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
