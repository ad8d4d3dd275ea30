/* A scene that changes for a hundred frames: instances come and go, change mesh, level of detail
 * and the order of their triangles, rest, jump, collapse to a point. Each frame rays hit what the
 * double reference says, and the slots hold this frame's vertices and last frame's, bit for bit. */
#include "tests/gpu_ray_judge.h"

#include <sample/sample.h>

enum {
    FRAMES = 100,
    ITEMS = 12,
    ROW = 4,
    SINGLES = 6,
    GROUP = 3,
    GROUPS = SINGLES + 2,
    LEVELS = 3,
    MESHES
};

static uint64_t random_state = 1;

static uint32_t dice(uint32_t sides)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 40) % sides;
}

typedef struct show {
    pelt_model *models[LEVELS]; /* of one skeleton */
    pelt_primitive reversed;    /* the second level's, triangles last to first */
    ray_mesh meshes[MESHES];
    pelt_pose *pose;
    ray_item items[ITEMS];
    ray_group groups[GROUPS];
    double *matrices[ITEMS];
    double places[ITEMS][2];
    ray_stage stage;

    /* The frame before: what was in the current slots. */
    unsigned char *before[ITEMS];
    bool drawn_before[ITEMS];
    uint32_t mesh_before[ITEMS];
} show;

static void reverse_triangles(const ray_mesh *from, pelt_primitive *out)
{
    *out = *from->primitive;
    out->topology = PELT_TRIANGLES;
    out->index_count = 3 * from->triangle_count;
    out->indices = malloc(out->index_count * sizeof(*out->indices));
    assert_non_null(out->indices);
    for (uint32_t t = 0; t < from->triangle_count; t++) {
        memcpy(out->indices + 3 * (size_t)t,
               from->triangles + 3 * (size_t)(from->triangle_count - 1 - t), 12);
    }
}

static void show_open(show *self, pelt_headless *device, const ray_tracer *tracer,
                      const pelt_skin_pass *skin)
{
    const uint32_t vertices[LEVELS] = { 300, 900, 2000 };
    *self = (show){ 0 };
    for (uint32_t i = 0; i < LEVELS; i++) {
        assert_int_equal(pelt_sample_create(&gpu_host,
                                            &(pelt_sample_info){ .vertices = vertices[i] },
                                            &self->models[i]),
                         PELT_OK);
        self->meshes[i] = ray_mesh_make(self->models[i]->meshes[0].primitives, false);
    }
    reverse_triangles(&self->meshes[1], &self->reversed);
    self->meshes[LEVELS] = ray_mesh_make(&self->reversed, false);
    assert_int_equal(pelt_pose_create(&gpu_host, self->models[0], &self->pose), PELT_OK);
    for (uint32_t i = 0; i < ITEMS; i++) {
        self->matrices[i] = calloc(self->models[0]->matrix_count, 12 * sizeof(double));
        self->before[i] = calloc(self->meshes[2].packed->vertex_count, 16);
        assert_true(self->matrices[i] && self->before[i]);
        self->items[i].matrices = self->matrices[i];
    }
    for (uint32_t g = 0; g < GROUPS; g++) {
        bool single = g < SINGLES;
        self->groups[g] = (ray_group){ .first_item = single ? g : SINGLES + (g - SINGLES) * GROUP,
                                       .item_count = single ? 1 : GROUP,
                                       .use = g % 3 == 0 ? PELT_RAY_REFITTED : PELT_RAY_ANIMATED };
    }
    self->stage = (ray_stage){ .meshes = self->meshes,
                               .mesh_count = MESHES,
                               .items = self->items,
                               .item_count = ITEMS,
                               .groups = self->groups,
                               .group_count = GROUPS,
                               .frame.rebuild_interval = 5,
                               .frame.rebuild_structures = 2 };
    ray_stage_open(&self->stage, device, tracer, skin);
}

static void show_close(show *self)
{
    ray_stage_close(&self->stage);
    pelt_pose_destroy(self->pose);
    for (uint32_t i = 0; i < MESHES; i++) {
        ray_mesh_free(&self->meshes[i]);
    }
    free(self->reversed.indices);
    for (uint32_t i = 0; i < LEVELS; i++) {
        pelt_model_destroy(self->models[i]);
    }
    for (uint32_t i = 0; i < ITEMS; i++) {
        free(self->matrices[i]);
        free(self->before[i]);
    }
}

static void move(show *self, uint32_t i, bool collapsed)
{
    const double column = i % ROW, row = floor((double)i / ROW);
    const double world[12] = { 1, 0, 0, 1.5 * column + self->places[i][0], 0, 1, 0, 0,
                               0, 0, 1, 1.5 * row + self->places[i][1] };
    const pelt_play play = { .clip = (int32_t)dice(2), .time = dice(1000) * 0.002, .loop = true };
    assert_int_equal(pelt_pose_evaluate(self->pose, &play, 1), PELT_OK);
    assert_int_equal(pelt_pose_skin_matrices_double(self->pose, world, self->matrices[i]), PELT_OK);
    for (uint32_t k = 0; collapsed && k < 12 * self->models[0]->matrix_count; k++) {
        self->matrices[i][k] *= k % 4 == 3; /* all in one place, not all in the same */
    }
}

/* What happens to each in a frame. A quiet frame is one in which nothing at all does. */
static void change(show *self, bool quiet)
{
    for (uint32_t i = 0; i < ITEMS; i++) {
        ray_item *item = &self->items[i];
        item->unchanged = true;
        item->teleported = false;
        if (quiet) {
            continue;
        }
        bool appears = !item->drawn && dice(5) == 0;
        item->drawn = appears || (item->drawn && dice(20) != 0);
        item->mesh = appears || dice(12) == 0 ? dice(MESHES) : item->mesh;
        /* Runs of rest; whoever appears may say that it has not changed. */
        if (dice(3) != 0) {
            item->unchanged = false;
            item->teleported = dice(8) == 0;
            if (item->teleported) {
                self->places[i][0] = dice(100) * 0.008 - 0.4;
                self->places[i][1] = dice(100) * 0.008 - 0.4;
            }
            move(self, i, dice(25) == 0);
        }
    }
}

static void assert_finite(const unsigned char *vertices, uint32_t count)
{
    for (uint32_t v = 0; v < count; v++) {
        float position[3];
        memcpy(position, vertices + 16 * (size_t)v, 12);
        assert_true(isfinite(position[0]) && isfinite(position[1]) && isfinite(position[2]));
    }
}

/* What became of the instances of a frame. */
typedef struct counts {
    uint32_t moving, resting, first, builds, rebuilds, refits, kept;
} counts;

/* Slots against what was in them in the frame before. */
static void check_motion(show *self, counts *sum)
{
    const ray_stage *stage = &self->stage;
    unsigned char *bytes = malloc(stage->outputs.size);
    assert_non_null(bytes);
    assert_int_equal(
        pelt_buffer_download(stage->device, &stage->outputs, 0, bytes, stage->outputs.size),
        PELT_OK);
    for (uint32_t i = 0; i < ITEMS; i++) {
        const ray_item *item = &self->items[i];
        uint32_t count = self->meshes[item->mesh].packed->vertex_count;
        if (!item->drawn) {
            self->drawn_before[i] = false;
            continue;
        }
        const unsigned char *current = bytes + ray_stage_slot(stage, i, item->slots.current);
        const unsigned char *previous = bytes + ray_stage_slot(stage, i, item->slots.previous);
        bool known = self->drawn_before[i] && self->mesh_before[i] == item->mesh;
        assert_finite(current, count);
        if (!known || item->teleported) {
            assert_ptr_equal(previous, current);
            assert_true(item->slots.first);
            sum->first++;
        } else {
            assert_memory_equal(previous, self->before[i], 16 * (size_t)count);
            bool same = memcmp(current, previous, 16 * (size_t)count) == 0;
            assert_int_equal(same, item->unchanged);
            assert_int_equal(item->slots.previous == item->slots.current, item->unchanged);
            assert_false(item->slots.first);
            sum->moving += !item->unchanged;
            sum->resting += item->unchanged;
        }
        memcpy(self->before[i], current, 16 * (size_t)count);
        self->drawn_before[i] = true;
        self->mesh_before[i] = item->mesh;
    }
    free(bytes);
}

static void a_hundred_frames(void **state)
{
    (void)state;
    pelt_headless *device = ray_device();
    ray_tracer tracer;
    pelt_skin_pass *skin = NULL;
    ray_tracer_open(&tracer, device);
    assert_int_equal(pelt_skin_pass_create(
                         &gpu_host, &(pelt_skin_pass_info){ .vulkan = &device->vulkan }, &skin),
                     PELT_OK);
    show self;
    counts sum = { 0 };
    uint32_t hits = 0, vague = 0;
    const double box[6] = { -1, -0.2, -1, 5.5, 1.6, 4 };
    show_open(&self, device, &tracer, skin);
    for (uint32_t i = 0; i < ITEMS; i++) {
        move(&self, i, false);
    }
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        bool quiet = frame % 10 == 9;
        change(&self, quiet);
        ray_verdict verdict = ray_stage_judge(&self.stage, box);
        check_motion(&self, &sum);
        const pelt_ray_plan *plan = &self.stage.plan;
        assert_true(plan->rebuild_count <= 2 && plan->batch_count <= 1);
        assert_true(!quiet || (plan->build_count == 0 && plan->refit_count == 0));
        sum.builds += plan->build_count;
        sum.rebuilds += plan->rebuild_count;
        sum.refits += plan->refit_count;
        sum.kept += plan->kept_count;
        hits += verdict.hits;
        vague += verdict.vague;
    }
    (void)printf("%u rays hit, %u were too close to an edge; %u builds, %u rebuilds, %u refits, %u "
                 "left alone; %u instances moved, %u rested, %u were new\n",
                 hits, vague, sum.builds, sum.rebuilds, sum.refits, sum.kept, sum.moving,
                 sum.resting, sum.first);
    assert_true(hits > FRAMES * 100 && vague < hits / 2);
    assert_true(sum.builds > 50 && sum.rebuilds > 10 && sum.refits > 100 && sum.kept > 50);
    assert_true(sum.moving > 100 && sum.resting > 100 && sum.first > 50);
    show_close(&self);
    ray_tracer_close(&tracer);
    pelt_skin_pass_destroy(skin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hundred_frames),
    };
    return gpu_result(cmocka_run_group_tests(tests, gpu_setup, gpu_teardown));
}
