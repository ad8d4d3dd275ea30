/* Rays hit the skinned triangles: after builds and refits, however vertices lie, one structure for
 * a part or for several, flat poses too. */
#include "tests/gpu_ray_judge.h"

#include <sample/sample.h>
#include <sys/stat.h>

static ray_tracer tracer;
static pelt_skin_pass *skin_pass;

/* Once for all tests of the program. */
static pelt_headless *open_device(void)
{
    pelt_headless *device = ray_device();
    if (!tracer.device) {
        ray_tracer_open(&tracer, device);
        assert_int_equal(pelt_skin_pass_create(&gpu_host,
                                               &(pelt_skin_pass_info){ .vulkan = &device->vulkan },
                                               &skin_pass),
                         PELT_OK);
    }
    return device;
}

static int teardown(void **state)
{
    ray_tracer_close(&tracer);
    pelt_skin_pass_destroy(skin_pass);
    return gpu_teardown(state);
}

/* Instances of a model: items are the parts of one after another. */
typedef struct character {
    const pelt_model *model;
    pelt_pose *pose;
    double *matrices; /* of each instance */
    uint32_t instance_count;
    uint32_t part_count; /* of triangles */
    uint32_t *parts;     /* which they are */
    ray_stage stage;
} character;

static void character_make(const pelt_model *model, uint32_t instance_count, bool grouped,
                           character *out)
{
    *out = (character){ .model = model, .instance_count = instance_count };
    assert_int_equal(pelt_pose_create(&gpu_host, model, &out->pose), PELT_OK);
    out->matrices = calloc(12 * (size_t)instance_count * model->matrix_count, sizeof(double));
    out->parts = calloc(model->part_count, sizeof(*out->parts));
    ray_mesh *meshes = calloc(model->part_count, sizeof(*meshes));
    assert_true(out->matrices && out->parts && meshes);
    for (uint32_t p = 0; p < model->part_count; p++) {
        const pelt_part *part = &model->parts[p];
        const pelt_primitive *primitive = &model->meshes[part->mesh].primitives[part->primitive];
        if (pelt_primitive_triangle_count(primitive) > 0) {
            out->parts[out->part_count] = p;
            meshes[out->part_count++] = ray_mesh_make(primitive, !part->skinned);
        }
    }
    uint32_t items = instance_count * out->part_count, groups = grouped ? instance_count : items;
    out->stage = (ray_stage){ .meshes = meshes,
                              .mesh_count = out->part_count,
                              .items = calloc(items, sizeof(ray_item)),
                              .item_count = items,
                              .groups = calloc(groups, sizeof(ray_group)),
                              .group_count = groups,
                              .frame.rebuild_interval = UINT32_MAX };
    assert_true(out->stage.items && out->stage.groups && out->part_count > 0);
    for (uint32_t i = 0; i < items; i++) {
        const pelt_part *part = &model->parts[out->parts[i % out->part_count]];
        size_t matrix = model->palettes[part->palette].first_matrix +
                        (size_t)(i / out->part_count) * model->matrix_count;
        out->stage.items[i] = (ray_item){ .drawn = true,
                                          .mesh = i % out->part_count,
                                          .matrices = out->matrices + 12 * matrix };
    }
    for (uint32_t g = 0; g < groups; g++) {
        out->stage.groups[g] = (ray_group){ .first_item = grouped ? g * out->part_count : g,
                                            .item_count = grouped ? out->part_count : 1 };
    }
}

static void character_free(character *self)
{
    ray_stage_close(&self->stage);
    for (uint32_t m = 0; m < self->part_count; m++) {
        ray_mesh_free(&self->stage.meshes[m]);
    }
    free(self->stage.meshes);
    free(self->stage.items);
    free(self->stage.groups);
    free(self->matrices);
    free(self->parts);
    pelt_pose_destroy(self->pose);
}

/* Poses all instances, side by side; each step is far from the one before. */
static void character_pose(character *self, uint32_t step)
{
    const pelt_model *model = self->model;
    for (uint32_t i = 0; i < self->instance_count; i++) {
        double world[12] = { 1, 0, 0, 1.5 * i, 0, 1, 0, 0, 0, 0, 1, 0 };
        double moment = fmod(0.618 * (step + i), 1);
        pelt_play play = { .clip = model->clip_count > 0 ? 0 : -1 };
        play.time = model->clip_count > 0 ? moment * model->clips[0].duration : 0;
        assert_int_equal(pelt_pose_evaluate(self->pose, &play, 1), PELT_OK);
        assert_int_equal(
            pelt_pose_skin_matrices_double(self->pose, world,
                                           self->matrices + 12 * (size_t)i * model->matrix_count),
            PELT_OK);
    }
}

/* All groups did that in the last frame. */
static void assert_actions(const ray_stage *stage, pelt_ray_action action)
{
    for (uint32_t g = 0; g < stage->group_count; g++) {
        assert_int_equal(pelt_ray_scene_action(stage->scene, g), action);
    }
}

/* A frame of one ray, for its refit. */
static void step(character *self, uint32_t number)
{
    const ray_record up = { .origin = { 0, 1e6f, 0 }, .direction = { 0, 1, 0 }, .most = 1 };
    character_pose(self, number);
    ray_stage_set_rays(&self->stage, &up, 1);
    assert_true(ray_stage_run(&self->stage, RAY_PIPELINE)->distance == -1);
}

static void assert_mostly_judged(ray_verdict verdict)
{
    assert_true(verdict.hits > GRID_RAYS / 50);
    assert_true(verdict.misses > 0);
    assert_true(verdict.vague < GRID_RAYS / 10);
}

/* After 0, 1 and 50 refits. */
static void check_refits(pelt_headless *device, const pelt_model *model, const char *name)
{
    character self;
    character_make(model, 1, true, &self);
    ray_stage_open(&self.stage, device, &tracer, skin_pass);
    ray_verdict verdicts[3];
    for (uint32_t refits = 0; refits <= 50; refits++) {
        if (refits > 1 && refits < 50) {
            step(&self, refits);
        } else {
            character_pose(&self, refits);
            verdicts[refits == 50 ? 2 : refits] = ray_stage_judge(&self.stage, NULL);
        }
        assert_actions(&self.stage, refits == 0 ? PELT_RAY_BUILD : PELT_RAY_REFIT);
    }
    uint32_t triangles = 0;
    for (uint32_t m = 0; m < self.part_count; m++) {
        triangles += self.stage.meshes[m].triangle_count;
    }
    (void)printf("%s: %u triangles, %u + %u + %u rays hit, %u were too close to an edge; distances "
                 "within %.1e of the size\n",
                 name, triangles, verdicts[0].hits, verdicts[1].hits, verdicts[2].hits,
                 verdicts[0].vague + verdicts[1].vague + verdicts[2].vague,
                 fmax(verdicts[0].worst, fmax(verdicts[1].worst, verdicts[2].worst)));
    for (uint32_t i = 0; i < 3; i++) {
        assert_mostly_judged(verdicts[i]);
    }
    character_free(&self);
}

static pelt_model *make_fox(uint32_t vertices)
{
    pelt_model *model = NULL;
    assert_int_equal(
        pelt_sample_create(&gpu_host, &(pelt_sample_info){ .vertices = vertices }, &model),
        PELT_OK);
    return model;
}

static void hit_the_sample_after_refits(void **state)
{
    (void)state;
    pelt_headless *device = open_device();
    pelt_model *model = make_fox(6000);
    check_refits(device, model, "sample");
    pelt_model_destroy(model);
}

static void hit_characters_after_refits(void **state)
{
    (void)state;
    pelt_headless *device = open_device();
    const char *const files[] = {
        "babylon/RiggedElf/RiggedElf.gltf",
        "derived/Alpaca.gltf-transform-quantize.glb",
        "derived/CesiumMan.gltfpack-quant.glb",
        "derived/MakeHuman_game_engine_8inf.glb",
        "godot/mannequiny.glb",
    };
    const char *shared = getenv("PELT_SHARED");
    shared = shared ? shared : "../shared";
    struct stat status;
    char path[1024];
    (void)snprintf(path, sizeof(path), "%s/assets/models", shared);
    if (stat(path, &status) != 0) {
        (void)printf("skipped: there is no %s\n", path);
        skip();
    }
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        pelt_model *model = NULL;
        (void)snprintf(path, sizeof(path), "%s/assets/models/%s", shared, files[i]);
        assert_int_equal(pelt_gltf_read(&gpu_host, path, &model), PELT_OK);
        check_refits(device, model, files[i]);
        pelt_model_destroy(model);
    }
}

static void any_stride_will_do(void **state)
{
    (void)state;
    pelt_headless *device = open_device();
    pelt_model *model = make_fox(2000);
    const uint32_t strides[] = { 12, 20 };
    for (uint32_t i = 0; i < 2; i++) {
        character self;
        character_make(model, 2, true, &self);
        self.stage.position_stride = strides[i];
        ray_stage_open(&self.stage, device, &tracer, skin_pass);
        for (uint32_t number = 0; number < 3; number++) {
            character_pose(&self, number);
            assert_mostly_judged(ray_stage_judge(&self.stage, NULL));
        }
        character_free(&self);
    }
    pelt_model_destroy(model);
}

/* Every use, with transforms of their own: moved, turned, stretched, mirrored. */
static void instances_have_transforms_and_uses(void **state)
{
    (void)state;
    pelt_headless *device = open_device();
    pelt_model *model = make_fox(2000);
    const float transforms[4][12] = {
        { 0, 0, 2, -3, 0, 1, 0, 0.5f, -1, 0, 0, 1 },
        { 1, 0, 0, 1, 0, -1, 0, 2, 0, 0, 1, 0 },
        { 1, 0.5f, 0, 4, 0, 1, 0.25f, 0, 0, 0, 1, -1 },
        { -1, 0, 0, 4, 0, 0.5f, 0, 0, 0, 0, 1, 2 },
    };
    character self;
    character_make(model, 4, true, &self);
    for (uint32_t g = 0; g < 4; g++) {
        self.stage.groups[g].transform = transforms[g];
        self.stage.groups[g].use = (pelt_ray_use)g;
    }
    ray_stage_open(&self.stage, device, &tracer, skin_pass);
    for (uint32_t number = 0; number < 4; number++) {
        character_pose(&self, number);
        assert_mostly_judged(ray_stage_judge(&self.stage, NULL));
        for (uint32_t g = 0; g < 4; g++) {
            bool refitted = number > 0 && g < 2;
            assert_int_equal(pelt_ray_scene_action(self.stage.scene, g),
                             refitted ? PELT_RAY_REFIT : PELT_RAY_BUILD);
        }
    }
    character_free(&self);
    pelt_model_destroy(model);
}

/* A hundred small things: the same hits from a structure each and from groups of ten; scratch
 * memory for a few at a time, and rebuilds in between, change nothing. */
static void groups_hit_what_separate_ones_do(void **state)
{
    (void)state;
    enum { SMALL = 100, GROUP = 10, FRAMES = 6 };
    pelt_headless *device = open_device();
    pelt_model *model = make_fox(300);
    character one, other;
    character_make(model, SMALL, true, &one);
    character_make(model, SMALL, true, &other);
    other.stage.group_count = SMALL / GROUP;
    for (uint32_t g = 0; g < SMALL / GROUP; g++) {
        other.stage.groups[g] = (ray_group){ .first_item = GROUP * g, .item_count = GROUP };
    }
    ray_stage_open(&one.stage, device, &tracer, skin_pass);
    ray_stage_open(&other.stage, device, &tracer, skin_pass);
    for (uint32_t number = 0; number < FRAMES; number++) {
        character_pose(&one, number);
        character_pose(&other, number);
        one.stage.frame.rebuild_interval = number >= 3 ? 2 : UINT32_MAX;
        if (number == 2) {
            other.stage.frame.scratch_limit = other.stage.plan.scratch_size / 3;
        }
        assert_mostly_judged(ray_stage_judge(&one.stage, NULL));
        assert_mostly_judged(ray_stage_judge(&other.stage, NULL));
        const ray_hit *a = one.stage.lanes[0].hits.mapped, *b = other.stage.lanes[0].hits.mapped;
        uint32_t different = 0;
        for (uint32_t i = 0; i < GRID_RAYS; i++) {
            assert_true(fabsf(a[i].distance - b[i].distance) < 1e-4f || a[i].distance < 0 ||
                        b[i].distance < 0);
            bool hit = a[i].distance >= 0 && b[i].distance >= 0;
            different += (a[i].distance < 0) != (b[i].distance < 0);
            different += hit && (a[i].instance != GROUP * b[i].instance + b[i].geometry ||
                                 a[i].triangle != b[i].triangle);
        }
        assert_true(different <= GRID_RAYS / 500); /* on edges */
        assert_int_equal(one.stage.plan.rebuild_count, number == 3 ? SMALL : 0);
        assert_true(number < 2 || other.stage.plan.batch_count > 1);
    }
    character_free(&one);
    character_free(&other);
    pelt_model_destroy(model);
}

/* Two frames behind one another in a command buffer: only barriers keep the second from writing
 * what the first still reads, and the first from seeing the second's. */
static void frames_do_not_overtake_each_other(void **state)
{
    (void)state;
    pelt_headless *device = open_device();
    pelt_model *model = make_fox(4000);
    character self;
    character_make(model, 3, true, &self);
    ray_stage_open(&self.stage, device, &tracer, skin_pass);
    ray_truth truths[RAY_LANES];
    ray_record *rays = malloc(GRID_RAYS * sizeof(*rays));
    assert_non_null(rays);
    for (uint32_t round = 0; round < 4; round++) {
        for (uint32_t lane = 0; lane < RAY_LANES; lane++) {
            character_pose(&self, RAY_LANES * round + lane);
            ray_truth_make(&self.stage, &truths[lane]);
        }
        ray_grid(truths[0].box, truths[0].size, rays);
        ray_stage_set_rays(&self.stage, rays, GRID_RAYS);
        VkCommandBuffer commands;
        assert_int_equal(pelt_commands_begin(device, &commands), PELT_OK);
        ray_means means = tracer.query && round % 2 == 1 ? RAY_QUERY : RAY_PIPELINE;
        for (uint32_t lane = 0; lane < RAY_LANES; lane++) {
            character_pose(&self, RAY_LANES * round + lane);
            ray_stage_record(&self.stage, commands, lane, means);
        }
        assert_int_equal(pelt_commands_submit(device, commands), PELT_OK);
        for (uint32_t lane = 0; lane < RAY_LANES; lane++) {
            assert_mostly_judged(
                ray_judge(&truths[lane], rays, self.stage.lanes[lane].hits.mapped));
            ray_truth_free(&truths[lane]);
        }
    }
    free(rays);
    character_free(&self);
    pelt_model_destroy(model);
}

/* Scaled along y by a factor, in place of the pose's matrices times it. */
static void flatten(character *self, const double scale[3])
{
    for (uint32_t i = 0; i < 12 * self->instance_count * self->model->matrix_count; i++) {
        self->matrices[i] *= scale[i % 12 / 4];
    }
}

/* Through scales of zero and back, in place: a point, a line, a plane seen from its side and from
 * above. Nothing hangs, is hit as a number that is none, or stays that way. */
static void flat_poses_do_no_harm(void **state)
{
    (void)state;
    pelt_headless *device = open_device();
    pelt_model *model = make_fox(2000);
    character self;
    character_make(model, 2, true, &self);
    ray_stage_open(&self.stage, device, &tracer, skin_pass);
    const double scales[][3] = { { 1, 1, 1 }, { 0, 0, 0 }, { 1, 1, 1 }, { 0, 1, 0 },
                                 { 0, 0, 0 }, { 0, 1, 1 }, { 1, 0, 1 }, { 1, 1, 1 } };
    character_pose(&self, 0);
    ray_truth whole;
    ray_truth_make(&self.stage, &whole);
    ray_record *rays = malloc(GRID_RAYS * sizeof(*rays));
    assert_non_null(rays);
    ray_grid(whole.box, whole.size, rays);
    for (uint32_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
        const double *scale = scales[i];
        character_pose(&self, 0);
        flatten(&self, scale);
        bool full = scale[0] * scale[1] * scale[2] != 0;
        if (full) {
            assert_mostly_judged(ray_stage_judge(&self.stage, NULL));
        } else {
            ray_stage_set_rays(&self.stage, rays, GRID_RAYS);
            const ray_hit *hits[2] = { ray_stage_run(&self.stage, RAY_PIPELINE), NULL };
            if (tracer.query) {
                hits[1] = ray_stage_trace(&self.stage, RAY_QUERY);
            }
            uint32_t count = 0;
            for (uint32_t r = 0; r < 2 * GRID_RAYS; r++) {
                const ray_hit *hit = hits[r / GRID_RAYS] + r % GRID_RAYS;
                if (!hits[r / GRID_RAYS]) {
                    continue;
                }
                assert_true(isfinite(hit->distance));
                /* Only where there is something. */
                double height = (double)rays[r % GRID_RAYS].origin[1] - (double)hit->distance;
                assert_true(hit->distance == -1 ||
                            (height > whole.box[1] - 1 && height < whole.box[4] + 1));
                count += hit->distance != -1;
                if (scale[1] == 0 && hit->distance != -1) {
                    assert_true(fabs(height) <= 1e-5 * whole.size);
                }
            }
            /* The plane seen from above is all hit that is hit otherwise; the others have no area.
             */
            bool above = scale[0] != 0 && scale[2] != 0;
            assert_true(above ? count > GRID_RAYS / 10 : count == 0);
        }
        assert_actions(&self.stage, i == 0 ? PELT_RAY_BUILD : PELT_RAY_REFIT);
    }
    free(rays);
    ray_truth_free(&whole);
    character_free(&self);
    pelt_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hit_the_sample_after_refits),
        cmocka_unit_test(hit_characters_after_refits),
        cmocka_unit_test(any_stride_will_do),
        cmocka_unit_test(instances_have_transforms_and_uses),
        cmocka_unit_test(groups_hit_what_separate_ones_do),
        cmocka_unit_test(frames_do_not_overtake_each_other),
        cmocka_unit_test(flat_poses_do_no_harm),
    };
    return gpu_result(cmocka_run_group_tests(tests, gpu_setup, teardown));
}
