/* Poses on the device against those of pelt_pose: rigs of all sizes and shapes, what instances can
 * be told to do, overrides. */
#include "tests/pose_model.h"

enum { INSTANCES_MAX = 64 };

static void random_world(uint64_t *state, double out[12])
{
    pelt_local local = { .scale = { 1.5, 1.5, 1.5 } };
    pose_random_quaternion(state, local.rotation);
    for (int i = 0; i < 3; i++) {
        local.translation[i] = pose_random(state, -20, 20);
    }
    pelt_local_matrix(&local, out);
}

static void random_play(uint64_t *state, const pelt_model *model, pelt_gpu_play *out)
{
    int32_t clip = (int32_t)pose_random(state, -0.5, model->clip_count);
    double duration = clip < 0 ? 1 : model->clips[clip].duration;
    *out = (pelt_gpu_play){ .clip = clip,
                            .loop = pose_random(state, 0, 1) < 0.5,
                            .speed = (float)pose_random(state, -2, 2),
                            .time = pose_random(state, -0.5, 1.5) * duration,
                            .since = pose_random(state, -3, 3) };
}

/* What the CPU plays for the same instance. */
static pelt_play cpu_play(const pelt_gpu_play *play, double now, double weight)
{
    return (pelt_play){ .clip = play->clip,
                        .loop = play->loop,
                        .time = play->time + (now - play->since) * (double)play->speed,
                        .weight = weight };
}

static void sample_cpu(pelt_pose *pose, const pelt_pose_instance *instance, double now)
{
    double weight =
        (double)instance->weight + (double)instance->weight_rate * (now - instance->second.since);
    weight = weight < 0 ? 0 : weight > 1 ? 1 : weight;
    const pelt_play plays[2] = { cpu_play(&instance->play, now, 1 - weight),
                                 cpu_play(&instance->second, now, weight) };
    bool blended = instance->weight != 0 || instance->weight_rate != 0;
    assert_int_equal(pelt_pose_sample(pose, plays, blended ? 2 : 1), PELT_OK);
}

/* An instance's random life. */
typedef struct life {
    pelt_pose_instance instance;
    double world[12];
    pelt_pose_override overrides[POSE_OVERRIDES];
    uint32_t override_count;
} life;

static void random_life(uint64_t *state, const pelt_model *model, uint32_t overrides, life *out)
{
    memset(out, 0, sizeof(*out));
    random_play(state, model, &out->instance.play);
    random_play(state, model, &out->instance.second);
    if (pose_random(state, 0, 1) < 0.6) {
        out->instance.weight = (float)pose_random(state, -0.2, 1.2);
        out->instance.weight_rate = (float)pose_random(state, -0.2, 0.2);
    }
    if (pose_random(state, 0, 1) < 0.7) {
        random_world(state, out->world);
        out->instance.world = out->world;
    }
    for (uint32_t i = 0; i < overrides; i++) {
        pelt_pose_override next = { .node = (uint32_t)pose_random(state, 0, model->node_count),
                                    .kind = (pelt_override_kind)pose_random(state, 0, 4) };
        pelt_local local = { .scale = { 1.1, 0.9, 1 } };
        pose_random_quaternion(state, local.rotation);
        local.translation[i % 3] = 0.5;
        pelt_local_matrix(&local, next.matrix);
        bool taken = false;
        for (uint32_t k = 0; k < out->override_count; k++) {
            taken = taken || out->overrides[k].node == next.node;
        }
        if (!taken) {
            out->overrides[out->override_count++] = next;
        }
    }
}

/* The overrides that a frame without global multiplications knows. */
static uint32_t without_global_multiplies(const life *from, pelt_pose_override *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < from->override_count; i++) {
        if (from->overrides[i].kind != PELT_OVERRIDE_GLOBAL_MULTIPLY) {
            out[count++] = from->overrides[i];
        }
    }
    return count;
}

/* sockets: all nodes are; else only node 0. */
static void check_model(pelt_headless *device, const pelt_model *model, bool sockets,
                        uint32_t count, uint32_t overrides, uint64_t seed)
{
    const uint32_t node_0 = 0;
    const double now = 1.75;
    life *lives = malloc(count * sizeof(*lives));
    pose_scene scene;
    pelt_pose *pose;
    pose_expected expected;
    assert_non_null(lives);
    assert_int_equal(pelt_pose_create(&gpu_host, model, &pose), PELT_OK);
    pose_scene_open(&scene, device, model, sockets ? NULL : &node_0, 1, count);
    pose_expected_open(&expected, model);
    for (uint32_t i = 0; i < count; i++) {
        /* Some have none. */
        random_life(&seed, model, i % 3 == 2 ? 0 : overrides, &lives[i]);
        pose_scene_set(&scene, i, lives[i].instance, lives[i].overrides, lives[i].override_count);
    }
    pose_scene_run(&scene, (pelt_pose_frame){ .now = now });
    for (uint32_t i = 0; i < count; i++) {
        sample_cpu(pose, &lives[i].instance, now);
        pose_expect(pose, lives[i].overrides, lives[i].override_count, &expected);
        pose_check_instance(&scene, i, &expected, lives[i].instance.world);
    }
    pose_scene_run(&scene, (pelt_pose_frame){ .now = now, .no_global_multiplies = true });
    for (uint32_t i = 0; i < count; i++) {
        pelt_pose_override some[POSE_OVERRIDES];
        uint32_t some_count = without_global_multiplies(&lives[i], some);
        sample_cpu(pose, &lives[i].instance, now);
        pose_expect(pose, some, some_count, &expected);
        pose_check_instance(&scene, i, &expected, lives[i].instance.world);
    }
    pose_expected_close(&expected);
    pose_scene_close(&scene);
    pelt_pose_destroy(pose);
    free(lives);
}

/* Around what shares a workgroup, and around what fills one. */
static void poses_rigs_of_any_size(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    const struct {
        uint32_t nodes, joints, instances;
    } cases[] = { { 1, 1, 64 },   { 1, 0, 1 },      { 2, 3, 64 },  { 3, 0, 43 },   { 24, 20, 11 },
                  { 42, 42, 4 },  { 63, 60, 5 },    { 64, 64, 2 }, { 64, 64, 3 },  { 65, 64, 2 },
                  { 127, 90, 2 }, { 128, 0, 2 },    { 129, 9, 2 }, { 256, 80, 2 }, { 257, 300, 1 },
                  { 600, 0, 1 },  { 1300, 1100, 2 } };
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const pose_model_info info = { .seed = i + 1,
                                       .node_count = cases[i].nodes,
                                       .joint_count = cases[i].joints,
                                       .clip_count = 3,
                                       .most_keys = i % 2 ? 5 : 40,
                                       .any_clip_may = i % 4 == 3 };
        pelt_model *model = pose_model(&info);
        check_model(device, model, true, cases[i].instances, 0, i);
        pelt_model_destroy(model);
    }
}

/* Half of the nodes stand still, and what is above all joints and the socket among them has no
 * place in the rig. */
static void folds_what_nothing_moves(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    uint32_t nodes = 0, places = 0;
    for (uint32_t i = 0; i < 12; i++) {
        const pose_model_info info = { .seed = 200 + i,
                                       .node_count = i < 10 ? 5 * i + 3 : 400,
                                       .joint_count = i + 1,
                                       .clip_count = 2,
                                       .most_keys = 4,
                                       .half_still = true };
        pelt_model *model = pose_model(&info);
        pelt_rig *rig;
        assert_int_equal(pelt_rig_create(&gpu_host, &(pelt_rig_info){ .model = model }, &rig),
                         PELT_OK);
        for (uint32_t node = 0; node < model->node_count; node++) {
            bool needed = false;
            for (uint32_t j = 0; j < model->skins[0].joint_count; j++) {
                for (int32_t k = (int32_t)model->skins[0].joints[j]; k >= 0;
                     k = model->nodes[k].parent) {
                    needed = needed || k == (int32_t)node;
                }
            }
            nodes += needed;
            places += rig->places[node] != PELT_RIG_NO_NODE;
            assert_true(needed || rig->places[node] == PELT_RIG_NO_NODE);
        }
        assert_true(rig->node_count <= model->node_count);
        pelt_rig_destroy(rig);
        check_model(device, model, false, 7, 0, i);
        pelt_model_destroy(model);
    }
    assert_true(places < nodes); /* some were folded */
}

static void applies_overrides(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    const uint32_t nodes[] = { 1, 5, 30, 64, 100, 128, 300, 700 };
    for (uint32_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
        const pose_model_info info = { .seed = 100 + i,
                                       .node_count = nodes[i],
                                       .joint_count = nodes[i],
                                       .clip_count = 2,
                                       .most_keys = 4 };
        pelt_model *model = pose_model(&info);
        check_model(device, model, true, 6, 1, i);
        check_model(device, model, true, 6, 4, i);
        check_model(device, model, true, 6, POSE_OVERRIDES, i);
        pelt_model_destroy(model);
    }
}

/* What each kind does, by hand: node 0 at (1 0 0) turned by 90 degrees about z, node 1 below it at
 * (2 0 0), which puts it at (1 2 0). The matrix: a quarter turn about z, then a step of (0 0 5). */
static void means_what_the_header_says_by_each_kind(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    const int32_t parents[] = { -1, 0, 1 };
    pelt_model *model = build_nodes(NULL, parents, 3);
    model->nodes[0].translation[0] = 1;
    model->nodes[0].rotation[2] = model->nodes[0].rotation[3] = sqrt(0.5);
    model->nodes[1].translation[0] = 2;
    model->nodes[2].translation[0] = 3;
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    pelt_pose_override override = { .node = 1, .matrix = { 0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 5 } };
    const double places[4][2][3] = {
        /* Replaced locally: at (1 0 5), its x axis is -x; node 2 three along that. */
        [PELT_OVERRIDE_LOCAL_REPLACE] = { { 1, 0, 5 }, { -2, 0, 5 } },
        [PELT_OVERRIDE_LOCAL_MULTIPLY] = { { 1, 2, 5 }, { -2, 2, 5 } },
        [PELT_OVERRIDE_GLOBAL_REPLACE] = { { 0, 0, 5 }, { 0, 3, 5 } },
        /* (1 2 0) turned about the origin: (-2 1 0); its x axis was y, is -x. */
        [PELT_OVERRIDE_GLOBAL_MULTIPLY] = { { -2, 1, 5 }, { -5, 1, 5 } },
    };
    /* With node 0 and without, which nothing moves. */
    const uint32_t sockets[3] = { 1, 2, 0 };
    for (uint32_t count = 2; count <= 3; count++) {
        pose_scene scene;
        pose_scene_open(&scene, device, model, sockets, count, 4);
        assert_int_equal(scene.rig->node_count, count);
        for (uint32_t kind = 0; kind < 4; kind++) {
            override.kind = (pelt_override_kind)kind;
            const pelt_pose_instance instance = { .play = { .clip = -1 } };
            pose_scene_set(&scene, kind, instance, &override, 1);
        }
        pose_scene_run(&scene, (pelt_pose_frame){ .now = 0 });
        for (uint32_t kind = 0; kind < 4; kind++) {
            for (uint32_t node = 1; node <= 2; node++) {
                const float *socket = pose_scene_socket(&scene, kind, node - 1);
                for (uint32_t c = 0; c < 3; c++) {
                    assert_near((double)socket[4 * c + 3], places[kind][node - 1][c], 4e-6);
                }
            }
        }
        pose_scene_close(&scene);
    }
    pelt_model_destroy(model);
}

/* One node below another 2,000 times, each 1/8 further and a 2,000th of a turn turned: a circle
 * around the far side of which is 0.125 / sin(half a step) away. 2,000 matrices round 4 times each,
 * and what they are off turns the rest of the way. */
static void walks_a_chain_of_2000(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    enum { COUNT = 2000 };
    int32_t parents[COUNT];
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
    /* Else nothing would move, and so nothing be computed. */
    const float time = 0, scale[] = { 1, 1, 1 };
    build_clip(model, COUNT - 1, PELT_SCALE, PELT_LINEAR, 1, 3, &time, scale);
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    const uint32_t sockets[2] = { 0, COUNT / 2 };
    pose_scene scene;
    pose_scene_open(&scene, device, model, sockets, 2, 3);
    assert_int_equal(scene.rig->node_count, COUNT);
    for (uint32_t i = 0; i < 3; i++) {
        pose_scene_set(&scene, i, (pelt_pose_instance){ .play = { .clip = -1 } }, NULL, 0);
    }
    pose_scene_run(&scene, (pelt_pose_frame){ .now = 0 });
    for (uint32_t i = 0; i < 3; i++) {
        const float *end = pose_scene_socket(&scene, i, 0);
        const float *middle = pose_scene_socket(&scene, i, 1);
        double turned = 4 * COUNT * 0x1p-24, across = 0.125 / sin(half);
        assert_near((double)end[0], 1, turned);
        assert_near((double)end[4], 0, turned);
        assert_near((double)end[3], 0, turned * across);
        assert_near((double)end[7], 0, turned * across);
        assert_near(hypot((double)middle[3], (double)middle[7]), across, turned * across);
    }
    pose_scene_close(&scene);
    pelt_model_destroy(model);
}

/* 3,000 children of one node, and every 100th of them with a child of its own. */
static void hands_on_a_root_to_every_tile(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    enum { WIDE = 3000, COUNT = WIDE + WIDE / 100 + 1 };
    int32_t *parents = malloc(COUNT * sizeof(*parents));
    assert_non_null(parents);
    for (int32_t i = 0; i < COUNT; i++) {
        parents[i] = i == 0 ? -1 : i <= WIDE ? 0 : 100 * (i - WIDE);
    }
    pelt_model *model = build_nodes(NULL, parents, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        model->nodes[i].translation[i == 0 ? 2 : 0] = i;
    }
    model->nodes[0].translation[2] = 7;
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    pose_scene scene;
    pose_scene_open(&scene, device, model, NULL, 0, 2);
    assert_true(scene.rig->carry_count <= COUNT / 128);
    for (uint32_t i = 0; i < 2; i++) {
        pose_scene_set(&scene, i, (pelt_pose_instance){ .play = { .clip = -1 } }, NULL, 0);
    }
    pose_scene_run(&scene, (pelt_pose_frame){ .now = 0 });
    for (uint32_t i = 0; i < COUNT; i++) {
        const float *socket = pose_scene_socket(&scene, 1, i);
        double above = parents[i] > 0 ? parents[i] : 0;
        assert_near((double)socket[3], i + above, 0); /* whole numbers */
        assert_near((double)socket[11], 7, 0);
    }
    pose_scene_close(&scene);
    pelt_model_destroy(model);
    free(parents);
}

/* -- clips by hand ------------------------------------------------------------------------- */

/* The x translation of the only node, for clip and time. */
static double play_at(pelt_headless *device, const pelt_model *model, pelt_gpu_play play,
                      double now)
{
    pose_scene scene;
    pose_scene_open(&scene, device, model, NULL, 0, 1);
    pose_scene_set(&scene, 0, (pelt_pose_instance){ .play = play }, NULL, 0);
    pose_scene_run(&scene, (pelt_pose_frame){ .now = now });
    double x = (double)pose_scene_socket(&scene, 0, 0)[3];
    pose_scene_close(&scene);
    return x;
}

static double at_time(pelt_headless *device, const pelt_model *model, int32_t clip, double time)
{
    return play_at(device, model, (pelt_gpu_play){ .clip = clip, .time = time }, 0);
}

static void keeps_to_the_keys(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    const int32_t parents[] = { -1 };
    pelt_model *model = build_nodes(NULL, parents, 1);
    const float times[] = { 1, 2, 4 };
    const float values[] = { 8, 0, 0, 16, 0, 0, -16, 0, 0 };
    /* Leaves 2 at 3 a second, arrives at 5 with -1 a second, 2 s later: half way
     * 0.5 x 2 + 2 x 0.125 x 3 + 0.5 x 5 - 2 x 0.125 x -1 = 4.5. */
    const float spline[] = { 9, 9, 9, 2, 0, 0, 3, 0, 0, -1, 0, 0, 5, 0, 0, 9, 9, 9 };
    build_clip(model, 0, PELT_TRANSLATION, PELT_LINEAR, 3, 3, times, values);
    build_clip(model, 0, PELT_TRANSLATION, PELT_STEP, 3, 3, times, values);
    build_clip(model, 0, PELT_TRANSLATION, PELT_LINEAR, 1, 3, times + 2, values + 3);
    build_clip(model, 0, PELT_TRANSLATION, PELT_STEP, 1, 3, (const float[]){ 0 }, values);
    build_clip(model, 0, PELT_TRANSLATION, PELT_CUBICSPLINE, 2, 3, times + 1, spline);
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    enum { BETWEEN = 3 }; /* rows between keys: devices may divide with an error of 2.5 digits */
    const struct {
        int32_t clip;
        double time, x;
    } rows[] = {
        { 0, 1.25, 10 }, { 0, 3, 0 },   { 4, 3, 4.5 }, { 0, -5, 8 },       { 0, 0, 8 },
        { 0, 1, 8 },     { 0, 2, 16 },  { 0, 4, -16 }, { 0, 99, -16 },     { 1, 0, 8 },
        { 1, 2, 16 },    { 1, 4, -16 }, { 1, 5, -16 }, { 1, 1.999999, 8 }, { 1, 3.9999, 16 },
        { 2, 0, 16 },    { 2, 4, 16 },  { 2, 9, 16 },  { 3, 0, 8 },        { 3, 1, 8 },
        { 4, 0, 2 },     { 4, 2, 2 },   { 4, 4, 5 },   { 4, 5, 5 },        { -1, 3, 0 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_near(at_time(device, model, rows[i].clip, rows[i].time), rows[i].x,
                    i < BETWEEN ? 32 * 0x1p-22 : 0);
    }
    /* Looped: 0.5 + 2 x 3.375 is 3.25 in the second round. */
    const pelt_gpu_play loop = { .clip = 0, .loop = true, .speed = 2, .time = 0.5 };
    assert_near(play_at(device, model, loop, 3.375), -4, 32 * 0x1p-22);
    /* A clip of no length stays at 0. */
    const pelt_gpu_play still = { .clip = 3, .loop = true, .speed = 1 };
    assert_near(play_at(device, model, still, 5), 8, 0);
    pelt_model_destroy(model);
}

/* 32 keys a second for an hour, 0 and 1 in turn. Floats near 3,600 are 1/4,096 s apart, a hundredth
 * of the way to the next key. */
static void stays_precise_in_a_long_clip(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    enum { KEYS = 3600 * 32 + 1 };
    const int32_t parents[] = { -1 };
    pelt_model *model = build_nodes(NULL, parents, 1);
    float *times = malloc(KEYS * sizeof(*times));
    float *values = calloc(KEYS, 3 * sizeof(*values));
    assert_true(times && values);
    for (uint32_t k = 0; k < KEYS; k++) {
        times[k] = (float)k / 32;
        values[3 * (size_t)k] = (float)(k % 2); /* there and back */
    }
    build_clip(model, 0, PELT_TRANSLATION, PELT_LINEAR, KEYS, 3, times, values);
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    uint64_t random = 5;
    for (int i = 0; i < 10; i++) {
        double time = pose_random(&random, 0, 3600);
        double keys = 32 * time, u = fmod(keys, 2);
        double expected = u < 1 ? u : 2 - u;
        assert_near(at_time(device, model, 0, time), expected, 8 * 0x1p-24);
        /* A month later, at 3/4 of the speed, looped: 2^-32 s are 1e-8 of a key. */
        double now = 30 * 86400.0 + pose_random(&random, 0, 1);
        const pelt_gpu_play play = {
            .clip = 0, .loop = true, .speed = 0.75f, .time = time, .since = 12.25
        };
        keys = 32 * fmod(time + (now - 12.25) * 0.75, 3600);
        u = fmod(keys, 2);
        expected = u < 1 ? u : 2 - u;
        assert_near(play_at(device, model, play, now), expected, 16 * 0x1p-24);
    }
    free(times);
    free(values);
    pelt_model_destroy(model);
}

/* Keys of a millisecond in the first tenth of a second, then none for 100 s: no grid fits both. */
static void finds_keys_wherever_they_are(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    enum { KEYS = 102 };
    const int32_t parents[] = { -1 };
    pelt_model *model = build_nodes(NULL, parents, 1);
    float times[KEYS], values[3 * KEYS] = { 0 };
    for (uint32_t k = 0; k < KEYS; k++) {
        times[k] = k + 1 < KEYS ? (float)k / 1024 : 100;
        values[3 * k] = (float)k;
    }
    build_clip(model, 0, PELT_TRANSLATION, PELT_LINEAR, KEYS, 3, times, values);
    build_clip(model, 0, PELT_TRANSLATION, PELT_STEP, KEYS, 3, times, values);
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    for (uint32_t k = 0; k < KEYS; k++) {
        /* At the key; one float before it. */
        assert_near(at_time(device, model, 0, (double)times[k]), k, 0);
        assert_near(at_time(device, model, 1, (double)times[k]), k, 0);
        double before = (double)nextafterf(times[k], 0);
        assert_near(at_time(device, model, 1, before), k > 0 ? k - 1 : 0, 0);
        /* What no float can say. */
        before = (double)times[k] - 0x1p-40;
        assert_near(at_time(device, model, 1, before), k > 0 ? k - 1 : 0, 0);
    }
    pelt_model_destroy(model);
}

/* -- frames -------------------------------------------------------------------------------- */

static bool is_guarded(const float *matrix)
{
    const unsigned char *bytes = (const unsigned char *)matrix;
    for (size_t i = 0; i < 48; i++) {
        if (bytes[i] != POSE_GUARD) {
            return false;
        }
    }
    return true;
}

static void update_every_nth_frame(uint32_t nodes)
{
    pelt_headless *device = gpu_device();
    enum { COUNT = 40, FRAMES = 9, MOST = 60 };
    int32_t parents[MOST];
    for (int32_t i = 0; i < MOST; i++) {
        parents[i] = i - 1;
    }
    pelt_model *model = build_nodes(NULL, parents, nodes);
    const float times[] = { 0, 100 }, values[] = { 0, 0, 0, 100, 0, 0 };
    build_clip(model, 0, PELT_TRANSLATION, PELT_LINEAR, 2, 3, times, values);
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    pose_scene scene;
    pose_scene_open(&scene, device, model, NULL, 0, COUNT);
    pelt_pose_instance instances[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        instances[i] = (pelt_pose_instance){
            .play = { .speed = 1 }, .interval = i % 5, .phase = i / 5, .skip = i == 7
        };
        pose_scene_set(&scene, i, instances[i], NULL, 0);
    }
    double written[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        written[i] = -1;
    }
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        bool all = frame == 6;
        pose_scene_run(&scene, (pelt_pose_frame){ .now = frame, .number = frame, .all = all });
        for (uint32_t i = 0; i < COUNT; i++) {
            uint32_t interval = i % 5 > 0 ? i % 5 : 1;
            bool due = i != 7 && (all || (frame + i / 5) % interval == 0);
            written[i] = due ? frame : written[i];
            for (uint32_t node = 0; node < nodes; node++) {
                const float *socket = pose_scene_socket(&scene, i, node);
                if (written[i] < 0) {
                    assert_true(is_guarded(socket));
                } else {
                    assert_near((double)socket[3], written[i], 1e-5);
                }
            }
        }
    }
    pose_scene_close(&scene);
    pelt_model_destroy(model);
}

/* 64 instances to a workgroup, with all phases in it, or two, of which often none is due. */
static void updates_every_nth_frame(void **state)
{
    (void)state;
    update_every_nth_frame(2);
    update_every_nth_frame(60);
}

/* No clip but 10 for 2 s: 10, half way 15, and 20 from then on. */
static void fades_by_itself(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    const int32_t parents[] = { -1 };
    pelt_model *model = build_nodes(NULL, parents, 1);
    const float times[] = { 0 }, ten[] = { 10, 0, 0 }, twenty[] = { 20, 0, 0 };
    build_clip(model, 0, PELT_TRANSLATION, PELT_LINEAR, 1, 3, times, ten);
    build_clip(model, 0, PELT_TRANSLATION, PELT_LINEAR, 1, 3, times, twenty);
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    pose_scene scene;
    pose_scene_open(&scene, device, model, NULL, 0, 1);
    const pelt_pose_instance instance = { .second = { .clip = 1, .since = 5 },
                                          .weight_rate = 0.5f };
    pose_scene_set(&scene, 0, instance, NULL, 0);
    const double rows[][2] = {
        { 4, 10 }, { 5, 10 }, { 6, 15 }, { 6.5, 17.5 }, { 7, 20 }, { 9, 20 }
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        pose_scene_run(&scene, (pelt_pose_frame){ .now = rows[i][0] });
        assert_near((double)pose_scene_socket(&scene, 0, 0)[3], rows[i][1], 0);
    }
    pose_scene_close(&scene);
    pelt_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poses_rigs_of_any_size),
        cmocka_unit_test(folds_what_nothing_moves),
        cmocka_unit_test(applies_overrides),
        cmocka_unit_test(means_what_the_header_says_by_each_kind),
        cmocka_unit_test(walks_a_chain_of_2000),
        cmocka_unit_test(hands_on_a_root_to_every_tile),
        cmocka_unit_test(keeps_to_the_keys),
        cmocka_unit_test(stays_precise_in_a_long_clip),
        cmocka_unit_test(finds_keys_wherever_they_are),
        cmocka_unit_test(updates_every_nth_frame),
        cmocka_unit_test(fades_by_itself),
    };
    return gpu_result(cmocka_run_group_tests(tests, gpu_setup, pose_teardown));
}
