/* Blending, the hierarchy, skin matrices. */
#include "tests/build_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NEAR 1e-12

static void keep_message(void *user, const pelt_message *message)
{
    (void)snprintf(user, 256, "%s|%s", message->pointer ? message->pointer : "", message->text);
}

static pelt_pose *make_pose(const pelt_host *host, pelt_model *model)
{
    pelt_pose *pose;
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    assert_int_equal(pelt_pose_create(host, model, &pose), PELT_OK);
    return pose;
}

static void check_matrix(const double *matrix, const double *expected)
{
    for (int i = 0; i < 12; i++) {
        assert_near(matrix[i], expected[i], NEAR);
    }
}

/* x (3 0 0), turned by 90 degrees about z, scale (2 1 1); below it a node with a matrix that
 * shears: x' = x + y, moved by (0 1 0). G = T R S M: S M = rows (2 2 0 0) (0 1 0 1) (0 0 1 0); R
 * swaps: (-row1) (row0). */
static void multiplies_through_the_hierarchy(void **state)
{
    (void)state;
    const int32_t parents[] = { 1, -1 };
    pelt_model *model = build_nodes(NULL, parents, 2);
    pelt_node *parent = &model->nodes[1], *child = &model->nodes[0];
    parent->translation[0] = 3;
    parent->rotation[2] = parent->rotation[3] = sqrt(0.5);
    parent->scale[0] = 2;
    child->has_matrix = true;
    const double shear[12] = { 1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0 };
    memcpy(child->matrix, shear, sizeof(shear));
    pelt_pose *pose = make_pose(NULL, model);
    const double g1[] = { 0, -1, 0, 3, 2, 0, 0, 0, 0, 0, 1, 0 };
    const double g0[] = { 0, -1, 0, 2, 2, 2, 0, 0, 0, 0, 1, 0 };
    check_matrix(pose->globals + 12, g1);
    check_matrix(pose->globals, g0);
    pelt_pose_destroy(pose);
    pelt_model_destroy(model);
}

/* Each of 100,000 nodes moves by 1/8 (exact in binary) and turns by one 100,000th of a turn; in
 * the end there has been a whole turn, and the places lie on a circle: the last is
 * sum of (cos k a, sin k a) / 8 = 0 but for rounding, of which 1e5 steps of 1e-16 x 2,000 remain.
 */
static void walks_a_chain_of_100000(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    int32_t *parents = malloc(COUNT * sizeof(*parents));
    assert_non_null(parents);
    for (int32_t i = 0; i < COUNT; i++) {
        parents[i] = i + 1 < COUNT ? i + 1 : -1;
    }
    pelt_model *model = build_nodes(NULL, parents, COUNT);
    double half = acos(-1) / COUNT;
    for (uint32_t i = 0; i < COUNT; i++) {
        model->nodes[i].translation[0] = 0.125;
        model->nodes[i].rotation[2] = sin(half);
        model->nodes[i].rotation[3] = cos(half);
    }
    pelt_pose *pose = make_pose(NULL, model);
    const double *end = pose->globals;
    assert_near(end[0], 1, 1e-9);
    assert_near(end[1], 0, 1e-9);
    assert_near(end[3], 0, 1e-6);
    assert_near(end[7], 0, 1e-6);
    /* Half way, at the far side: the diameter is 0.125 / sin(half). */
    const double *middle = pose->globals + 12 * (size_t)(COUNT / 2);
    double across = hypot(middle[3], middle[7]);
    assert_near(across, 0.125 / sin(half), 1e-6);
    pelt_pose_destroy(pose);
    pelt_model_destroy(model);
    free(parents);
}

/* Node 0 at (1 0 0) turned by 90 degrees about z, node 1 below it at (2 0 0), which puts it at
 * (1 2 0), node 2 below that at (3 0 0). The matrix on node 1: a quarter turn about z, then a step
 * of (0 0 5). */
static void overrides_in_four_ways(void **state)
{
    (void)state;
    const int32_t parents[] = { -1, 0, 1 };
    pelt_model *model = build_nodes(NULL, parents, 3);
    model->nodes[0].translation[0] = 1;
    model->nodes[0].rotation[2] = model->nodes[0].rotation[3] = sqrt(0.5);
    model->nodes[1].translation[0] = 2;
    model->nodes[2].translation[0] = 3;
    pelt_pose *pose = make_pose(NULL, model);
    pelt_pose_override override = { .node = 1, .matrix = { 0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 5 } };
    const double places[4][2][3] = {
        [PELT_OVERRIDE_LOCAL_REPLACE] = { { 1, 0, 5 }, { -2, 0, 5 } },
        [PELT_OVERRIDE_LOCAL_MULTIPLY] = { { 1, 2, 5 }, { -2, 2, 5 } },
        [PELT_OVERRIDE_GLOBAL_REPLACE] = { { 0, 0, 5 }, { 0, 3, 5 } },
        /* (1 2 0) turned about the origin: (-2 1 0); its x axis was y, is -x. */
        [PELT_OVERRIDE_GLOBAL_MULTIPLY] = { { -2, 1, 5 }, { -5, 1, 5 } },
    };
    for (int kind = 0; kind < 4; kind++) {
        override.kind = (pelt_override_kind)kind;
        assert_int_equal(pelt_pose_update_overridden(pose, &override, 1), PELT_OK);
        for (int node = 1; node <= 2; node++) {
            for (int c = 0; c < 3; c++) {
                assert_near(pose->globals[12 * node + 4 * c + 3], places[kind][node - 1][c], NEAR);
            }
        }
    }
    /* Two at once, children first; without any all is as before. */
    const pelt_pose_override two[2] = {
        { .node = 2, .kind = PELT_OVERRIDE_GLOBAL_MULTIPLY, .matrix = { [0] = 2, [5] = 2 } },
        { .node = 0,
          .kind = PELT_OVERRIDE_LOCAL_REPLACE,
          .matrix = { 1, 0, 0, 7, 0, 1, 0, 0, 0, 0, 1, 0 } },
    };
    assert_int_equal(pelt_pose_update_overridden(pose, two, 2), PELT_OK);
    assert_near(pose->globals[12 + 3], 9, NEAR);
    assert_near(pose->globals[24 + 3], 24, NEAR);
    assert_int_equal(pelt_pose_update_overridden(pose, NULL, 0), PELT_OK);
    assert_near(pose->globals[24 + 7], 5, NEAR);
    pelt_pose_destroy(pose);
    pelt_model_destroy(model);
}

static void refuses_wrong_overrides(void **state)
{
    (void)state;
    const int32_t parents[] = { -1, 0 };
    char message[256];
    meter m = { .calls_left = 1000 };
    const pelt_host host = { .user = message, .message = keep_message };
    const pelt_host metering = { .user = &m, .allocate = metered };
    pelt_model *model = build_nodes(NULL, parents, 2);
    pelt_pose *pose = make_pose(&host, model);
    const pelt_pose_override wrong[][2] = {
        { { .node = 0 }, { .node = 2 } },
        { { .node = 1 }, { .node = 1 } },
        { { .node = 0 }, { .node = 1, .kind = (pelt_override_kind)4 } },
        { { .node = 0 }, { .node = 1, .matrix = { [11] = NAN } } },
        { { .node = 0 }, { .node = 1, .matrix = { [11] = 2e18 } } },
    };
    const char *const texts[] = { "override 1, of node 2: there is no such node",
                                  "override 1, of node 1: it has another one", "kind is unknown",
                                  "not finite", "not finite" };
    for (int i = 0; i < 5; i++) {
        assert_int_equal(pelt_pose_update_overridden(pose, wrong[i], 2), PELT_ERROR_ARGUMENT);
        assert_non_null(strstr(message, texts[i]));
    }
    /* In range each, but not their product. */
    const pelt_pose_override far[2] = { { .node = 0, .matrix = { [0] = 1e17, [3] = 1 } },
                                        { .node = 1, .matrix = { [3] = 1e17 } } };
    assert_int_equal(pelt_pose_update_overridden(pose, far, 2), PELT_ERROR_RANGE);
    assert_non_null(strstr(message, "/nodes/1"));
    pelt_pose_destroy(pose);
    pose = make_pose(&metering, model);
    m.calls_left = 0;
    assert_int_equal(pelt_pose_update_overridden(pose, far, 1), PELT_ERROR_MEMORY);
    m.calls_left = 1;
    assert_int_equal(pelt_pose_update_overridden(pose, far, 1), PELT_OK);
    pelt_pose_destroy(pose);
    assert_int_equal(m.alive, 0);
    pelt_model_destroy(model);
}

static void leaves_what_a_clip_does_not_animate(void **state)
{
    (void)state;
    const int32_t parents[] = { -1 };
    const float times[] = { 0, 2 }, values[] = { 0, 0, 0, 4, 0, 0 };
    pelt_model *model = build_nodes(NULL, parents, 1);
    model->nodes[0].scale[1] = 7;
    build_clip(model, 0, PELT_TRANSLATION, PELT_LINEAR, 2, 3, times, values);
    pelt_pose *pose = make_pose(NULL, model);
    pelt_play play = { .clip = 0, .time = 1.5 };
    assert_int_equal(pelt_pose_evaluate(pose, &play, 1), PELT_OK);
    const double expected[] = { 1, 0, 0, 3, 0, 7, 0, 0, 0, 0, 1, 0 };
    check_matrix(pose->globals, expected);
    /* Looped, a time of 2 is a time of 0; clamped it is the end. */
    play.time = 2;
    assert_int_equal(pelt_pose_evaluate(pose, &play, 1), PELT_OK);
    assert_near(pose->locals[0].translation[0], 4, 0);
    play.loop = true;
    assert_int_equal(pelt_pose_evaluate(pose, &play, 1), PELT_OK);
    assert_near(pose->locals[0].translation[0], 0, 0);
    play.time = -0.5;
    assert_int_equal(pelt_pose_evaluate(pose, &play, 1), PELT_OK);
    assert_near(pose->locals[0].translation[0], 3, 0);
    /* No clip: the static value again. */
    play.clip = -1;
    assert_int_equal(pelt_pose_evaluate(pose, &play, 1), PELT_OK);
    assert_near(pose->locals[0].translation[0], 0, 0);
    pelt_pose_destroy(pose);
    pelt_model_destroy(model);
}

/* Clip 0 moves node 0 by (8 0 0), clip 1 turns it by 90 degrees about z (stored with the other
 * sign). Weights 3 and 1: the place is 3/4 x 8 + 1/4 x static (4 0 0) = 7; the rotation
 * (3/4 x no turn + 1/4 x 90 degrees), made unit. */
static void blends_two_clips(void **state)
{
    (void)state;
    const int32_t parents[] = { -1 };
    const float time[] = { 0 }, place[] = { 8, 0, 0 };
    const float s = (float)sqrt(0.5), rotation[] = { 0, 0, -s, -s };
    pelt_model *model = build_nodes(NULL, parents, 1);
    model->nodes[0].translation[0] = 4;
    build_clip(model, 0, PELT_TRANSLATION, PELT_LINEAR, 1, 3, time, place);
    build_clip(model, 0, PELT_ROTATION, PELT_LINEAR, 1, 4, time, rotation);
    pelt_pose *pose = make_pose(NULL, model);
    pelt_play plays[] = { { .clip = 0, .weight = 3 }, { .clip = 1, .weight = 1 } };
    assert_int_equal(pelt_pose_sample(pose, plays, 2), PELT_OK);
    const pelt_local *local = pose->locals;
    assert_near(local->translation[0], 7, NEAR);
    assert_near(local->scale[0], 1, NEAR);
    double z = 0.25 * sqrt(0.5), w = 0.75 + 0.25 * sqrt(0.5);
    assert_near(local->rotation[2], z / hypot(z, w), NEAR);
    assert_near(local->rotation[3], w / hypot(z, w), NEAR);

    /* A play without weight changes nothing, not even a bit. */
    plays[1].weight = 0;
    assert_int_equal(pelt_pose_sample(pose, plays, 2), PELT_OK);
    assert_true(local->translation[0] == 8 && local->rotation[3] == 1);
    plays[0].weight = 0; /* one play needs no weight */
    assert_int_equal(pelt_pose_sample(pose, plays, 1), PELT_OK);
    assert_true(local->translation[0] == 8);
    pelt_pose_destroy(pose);
    pelt_model_destroy(model);
}

/* Equal halves of a turn and its opposite (q and a half turn away): the sum keeps the first's side,
 * so it has at least the first's weight and never vanishes. */
static void blends_opposite_rotations(void **state)
{
    (void)state;
    const int32_t parents[] = { -1 };
    const float time[] = { 0 };
    const float rotations[3][4] = { { 0, 0, 0, 1 }, { 0, 0, 1, 0 }, { 0, 0, -1, 0 } };
    pelt_model *model = build_nodes(NULL, parents, 1);
    for (int i = 0; i < 3; i++) {
        build_clip(model, 0, PELT_ROTATION, PELT_STEP, 1, 4, time, rotations[i]);
    }
    pelt_pose *pose = make_pose(NULL, model);
    const pelt_play plays[] = { { .clip = 0, .weight = 1e-3 },
                                { .clip = 1, .weight = 1 },
                                { .clip = 2, .weight = 1 } };
    assert_int_equal(pelt_pose_sample(pose, plays, 3), PELT_OK);
    const double *q = pose->locals[0].rotation;
    assert_near(q[2] * q[2] + q[3] * q[3], 1, NEAR);
    assert_near(q[3], 1, NEAR); /* the two half turns cancel */
    pelt_pose_destroy(pose);
    pelt_model_destroy(model);
}

static void replaces_an_animated_matrix(void **state)
{
    (void)state;
    const int32_t parents[] = { -1, -1 };
    const float time[] = { 0 }, scale[] = { 2, 3, 4 };
    pelt_model *model = build_nodes(NULL, parents, 2);
    for (int i = 0; i < 2; i++) {
        const double matrix[12] = { 5, 0, 0, 6, 0, 5, 0, 7, 0, 0, 5, 8 };
        model->nodes[i].has_matrix = true;
        memcpy(model->nodes[i].matrix, matrix, sizeof(matrix));
        memset(model->nodes[i].rotation, 0, sizeof(model->nodes[i].rotation));
    }
    build_clip(model, 0, PELT_SCALE, PELT_STEP, 1, 3, time, scale);
    pelt_pose *pose = make_pose(NULL, model);
    const pelt_play plays[] = { { .clip = 0, .weight = 1 }, { .clip = -1, .weight = 1 } };
    assert_int_equal(pelt_pose_evaluate(pose, plays, 1), PELT_OK);
    const double animated[] = { 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 4, 0 };
    check_matrix(pose->globals, animated);
    check_matrix(pose->globals + 12, model->nodes[1].matrix);
    /* Blended with the static pose: finite, half way to no scale. */
    assert_int_equal(pelt_pose_evaluate(pose, plays, 2), PELT_OK);
    const double blended[] = { 1.5, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2.5, 0 };
    check_matrix(pose->globals, blended);
    check_matrix(pose->globals + 12, model->nodes[1].matrix);
    pelt_pose_destroy(pose);
    pelt_model_destroy(model);
}

static void samples_morph_weights(void **state)
{
    (void)state;
    const int32_t parents[] = { -1, -1, -1 };
    const float positions[9] = { 0 }, times[] = { 0, 1 }, keys[] = { 0, 1, 1, 0.5f };
    pelt_model *model = build_nodes(NULL, parents, 3);
    pelt_primitive *primitive = build_mesh(model, positions, 3);
    pelt_mesh *mesh = &model->meshes[0];
    const double defaults[] = { 0.25, 0.75 }, own[] = { 0.1, 0.2 };
    primitive->target_count = 2;
    primitive->targets = pelt_model_allocate(model, 2, sizeof(*primitive->targets));
    mesh->weight_count = 2;
    mesh->weights = build_copy(model, defaults, 2, sizeof(double));
    model->nodes[0].mesh = model->nodes[2].mesh = 0;
    model->nodes[2].weight_count = 2;
    model->nodes[2].weights = build_copy(model, own, 2, sizeof(double));
    build_clip(model, 2, PELT_WEIGHTS, PELT_LINEAR, 2, 2, times, keys);
    pelt_pose *pose = make_pose(NULL, model);

    const double *first = pelt_pose_part_morph_weights(pose, &model->parts[0]);
    const double *second = pelt_pose_part_morph_weights(pose, &model->parts[1]);
    assert_true(first[0] == 0.25 && first[1] == 0.75);
    assert_true(second[0] == 0.1 && second[1] == 0.2);
    const pelt_play plays[] = { { .clip = 0, .time = 0.5, .weight = 1 },
                                { .clip = -1, .weight = 3 } };
    assert_int_equal(pelt_pose_sample(pose, plays, 1), PELT_OK);
    assert_near(second[0], 0.5, NEAR);
    assert_near(second[1], 0.75, NEAR);
    assert_true(first[0] == 0.25);
    assert_int_equal(pelt_pose_sample(pose, plays, 2), PELT_OK);
    assert_near(second[0], (0.5 + 3 * 0.1) / 4, NEAR);
    assert_near(second[1], (0.75 + 3 * 0.2) / 4, NEAR);
    assert_near(first[1], 0.75, NEAR);

    primitive->target_count = 0;
    assert_null(pelt_pose_part_morph_weights(pose, &model->parts[0]));
    pelt_pose_destroy(pose);
    pelt_model_destroy(model);
}

/* Joint at (1 2 3), inverse bind moved by (-1 0 0), world twice as large: 2 (x + (1 2 3) - (1 0
 * 0)). The rigid palette is world x global(node); the skinned node's own place does not matter. */
static void makes_skin_matrices(void **state)
{
    (void)state;
    const int32_t parents[] = { -1, -1, -1 };
    const float positions[9] = { 0 };
    const uint32_t joints[] = { 0 };
    const float inverse_bind[] = { 1, 0, 0, -1, 0, 1, 0, 0, 0, 0, 1, 0 };
    pelt_model *model = build_nodes(NULL, parents, 3);
    pelt_primitive one = *build_mesh(model, positions, 3), both[2] = { one, one };
    both[0].influence_count = 4;
    model->meshes[0].primitive_count = 2;
    model->meshes[0].primitives = build_copy(model, both, 2, sizeof(one));
    pelt_skin skin = { .joint_count = 1 };
    skin.joints = build_copy(model, joints, 1, sizeof(*joints));
    skin.inverse_bind = build_copy(model, inverse_bind, 12, sizeof(float));
    model->skin_count = 1;
    model->skins = build_copy(model, &skin, 1, sizeof(skin));
    for (int i = 0; i < 3; i++) {
        model->nodes[0].translation[i] = i + 1;
    }
    model->nodes[1].mesh = model->nodes[2].mesh = 0;
    model->nodes[1].skin = 0;
    model->nodes[1].translation[0] = 1000;
    pelt_pose *pose = make_pose(NULL, model);
    assert_int_equal(model->matrix_count, 3);
    const double world[] = { 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0 };
    double doubles[36];
    float floats[36];
    assert_int_equal(pelt_pose_skin_matrices_double(pose, world, doubles), PELT_OK);
    assert_int_equal(pelt_pose_skin_matrices(pose, world, floats), PELT_OK);
    const double expected[3][12] = { { 2, 0, 0, 0, 0, 2, 0, 4, 0, 0, 2, 6 },
                                     { 2, 0, 0, 2000, 0, 2, 0, 0, 0, 0, 2, 0 },
                                     { 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0 } };
    for (int i = 0; i < 3; i++) {
        check_matrix(doubles + 12 * i, expected[i]);
        for (int k = 0; k < 12; k++) {
            assert_true((double)floats[12 * i + k] == doubles[12 * i + k]);
        }
    }
    assert_int_equal(pelt_pose_skin_matrices_double(pose, NULL, doubles), PELT_OK);
    assert_near(doubles[7], 2, NEAR);
    pelt_pose_destroy(pose);
    pelt_model_destroy(model);
}

static void refuses_numbers_out_of_range(void **state)
{
    (void)state;
    char text[256] = "";
    const pelt_host host = { .user = text, .message = keep_message };
    const int32_t parents[] = { -1, 0 };
    const float positions[9] = { 0 };
    pelt_model *model = build_nodes(&host, parents, 2);
    build_mesh(model, positions, 3);
    model->nodes[1].mesh = 0;
    pelt_pose *pose = make_pose(&host, model);
    pose->locals[0].scale[0] = 1e10;
    pose->locals[1].scale[0] = 1e10;
    assert_int_equal(pelt_pose_update(pose), PELT_ERROR_RANGE);
    assert_int_equal(strncmp(text, "/nodes/1|", 9), 0);
    pose->locals[1].scale[0] = NAN;
    assert_int_equal(pelt_pose_update(pose), PELT_ERROR_RANGE);
    pose->locals[1].scale[0] = 1;
    assert_int_equal(pelt_pose_update(pose), PELT_OK);
    const double world[] = { 1e10, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
    float matrices[12];
    text[0] = 0;
    assert_int_equal(pelt_pose_skin_matrices(pose, world, matrices), PELT_ERROR_RANGE);
    assert_int_equal(strncmp(text, "/nodes/1|", 9), 0);
    pelt_pose_destroy(pose);
    pelt_model_destroy(model);
}

static void refuses_bad_arguments(void **state)
{
    (void)state;
    const int32_t parents[] = { -1 };
    pelt_model *model = build_nodes(NULL, parents, 1);
    pelt_pose *pose;
    assert_int_equal(pelt_pose_create(NULL, model, &pose), PELT_ERROR_ARGUMENT); /* not finished */
    assert_null(pose);
    pose = make_pose(NULL, model);
    const pelt_play bad[] = { { .clip = 0 },
                              { .clip = -2 },
                              { .clip = -1, .time = NAN },
                              { .clip = -1, .time = INFINITY },
                              { .clip = -1, .weight = -1 },
                              { .clip = -1, .weight = NAN } };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        assert_int_equal(pelt_pose_sample(pose, &bad[i], 1), PELT_ERROR_ARGUMENT);
    }
    const pelt_play none[] = { { .clip = -1 }, { .clip = -1 } };
    assert_int_equal(pelt_pose_sample(pose, none, 2), PELT_ERROR_ARGUMENT);
    const pelt_play huge[] = { { .clip = -1, .weight = 1e308 }, { .clip = -1, .weight = 1e308 } };
    assert_int_equal(pelt_pose_sample(pose, huge, 2), PELT_ERROR_ARGUMENT);
    pelt_pose_destroy(pose);
    pelt_pose_destroy(NULL);
    pelt_model_destroy(model);
}

static void unwinds_when_any_allocation_fails(void **state)
{
    (void)state;
    meter m = { 0 };
    const pelt_host host = { .user = &m, .allocate = metered };
    const int32_t parents[] = { -1, 0 };
    pelt_model *model = build_nodes(NULL, parents, 2);
    pelt_pose *pose = NULL;
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    long n = 0;
    for (; !pose; n++) {
        m.calls_left = n;
        pelt_result result = pelt_pose_create(&host, model, &pose);
        assert_true(n < 100 && result == (pose ? PELT_OK : PELT_ERROR_MEMORY));
        assert_true(pose || m.alive == 0);
    }
    assert_true(n > 2);
    pelt_pose_destroy(pose);
    assert_int_equal(m.alive, 0);
    pelt_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(multiplies_through_the_hierarchy),
        cmocka_unit_test(walks_a_chain_of_100000),
        cmocka_unit_test(overrides_in_four_ways),
        cmocka_unit_test(refuses_wrong_overrides),
        cmocka_unit_test(leaves_what_a_clip_does_not_animate),
        cmocka_unit_test(blends_two_clips),
        cmocka_unit_test(blends_opposite_rotations),
        cmocka_unit_test(replaces_an_animated_matrix),
        cmocka_unit_test(samples_morph_weights),
        cmocka_unit_test(makes_skin_matrices),
        cmocka_unit_test(refuses_numbers_out_of_range),
        cmocka_unit_test(refuses_bad_arguments),
        cmocka_unit_test(unwinds_when_any_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
