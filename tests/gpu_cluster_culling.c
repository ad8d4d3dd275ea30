/* Culling clusters never changes a pixel: pictures of random poses from random cameras, most of
 * them within the crowd, with and without it. Real characters lie in $PELT_SHARED, or ../shared
 * beside the source tree. */
#include "tests/gpu.h"

#include "render/internal.h"
#include "sample/sample.h"

#include <pelt/gltf.h>
#include <pelt/pose.h>
#include <pelt/skin.h>

#include <math.h>

enum { WIDTH = 48, HEIGHT = 36, BYTES = 4 * WIDTH * HEIGHT };
enum { CAMERAS = 1000, CAMERAS_A_POSE = 12, MEMBERS = 5, LODS = 4 };

/* Beside the sample. */
static const char *const assets[] = {
    "khronos/Fox.glb",
    "kaykit/Knight.glb",
    "godot/player.glb",
    "derived/MakeHuman_game_engine_8inf.glb",
    "synthetic/syn009_300joints.glb",
    "asset-generator/Node_NegativeScale/Node_NegativeScale_12.gltf",
};
enum { ASSET_COUNT = sizeof(assets) / sizeof(assets[0]) };

static uint64_t state = 1;

static double random_between(double low, double high)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(state >> 40) / (double)(1 << 24);
}

/* -- a crowd of one model ------------------------------------------------------------------ */

typedef struct part {
    pelt_packed_mesh *packed;
    pelt_clusters *clusters;
    pelt_joint_boxes *joint_boxes;
    uint32_t mesh;
    pelt_buffer tables;
} part;

typedef struct crowd {
    pelt_renderer *renderer;
    pelt_model *model;
    pelt_pose *pose;
    uint32_t part_count, material;
    part *parts;
    pelt_render_clusters *clusters;
    pelt_box *boxes;       /* of each member of each part */
    pelt_buffer records;   /* a part each */
    pelt_buffer matrices;  /* all of each member */
    pelt_buffer gpu_boxes; /* as boxes */
    pelt_buffer instances; /* as boxes */
    pelt_box box;          /* of all */
} crowd;

static void *make_buffer(size_t size, pelt_buffer *out)
{
    assert_int_equal(pelt_buffer_create(gpu_device(), size, 0, PELT_MEMORY_UPLOAD, out), PELT_OK);
    return out->mapped;
}

static const pelt_primitive *part_primitive(const crowd *c, uint32_t i)
{
    const pelt_part *from = &c->model->parts[i];
    return &c->model->meshes[from->mesh].primitives[from->primitive];
}

/* Levels judged in the bind pose: which they are does not matter here. */
static void open_part(crowd *c, uint32_t i)
{
    part *p = &c->parts[i];
    const pelt_primitive *primitive = part_primitive(c, i);
    const pelt_pack_info pack = { .primitive = primitive, .rigid = !c->model->parts[i].skinned };
    assert_int_equal(pelt_pack(&gpu_host, &pack, &p->packed), PELT_OK);
    const pelt_clusters_info info = { .mesh = p->packed,
                                      .primitive = primitive,
                                      .lod_count = LODS };
    assert_int_equal(pelt_clusters_create(&gpu_host, &info, &p->clusters), PELT_OK);
    assert_int_equal(
        pelt_joint_boxes_create(&gpu_host, p->packed, p->packed->vertices, &p->joint_boxes),
        PELT_OK);
    assert_int_equal(
        pelt_renderer_add_mesh(c->renderer, primitive, p->packed->packed_vertices, &p->mesh),
        PELT_OK);
    pelt_gpu_clusters tables;
    void *memory = make_buffer(pelt_gpu_clusters_size(p->clusters, p->packed), &p->tables);
    pelt_gpu_clusters_write(p->clusters, p->packed, memory, p->tables.address, &tables);
    pelt_gpu_cluster_mesh_write(&tables,
                                (char *)c->records.mapped + i * PELT_GPU_CLUSTER_MESH_SIZE);
    c->clusters[i] = (pelt_render_clusters){
        .mesh = p->mesh,
        .material = c->material,
        .instances =
            c->instances.address + (VkDeviceAddress)i * MEMBERS * PELT_CLUSTER_INSTANCE_SIZE,
        .instance_count = MEMBERS,
        .cluster_count = p->clusters->lods[0].cluster_count,
        .boxes = c->boxes + (size_t)i * MEMBERS,
    };
}

static void open_crowd(pelt_renderer *renderer, uint32_t material, pelt_model *model, crowd *c)
{
    *c = (crowd){
        .renderer = renderer, .model = model, .part_count = model->part_count, .material = material
    };
    size_t slots = (size_t)c->part_count * MEMBERS;
    assert_int_equal(pelt_pose_create(&gpu_host, model, &c->pose), PELT_OK);
    c->parts = calloc(c->part_count, sizeof(*c->parts));
    c->clusters = calloc(c->part_count, sizeof(*c->clusters));
    c->boxes = calloc(slots, sizeof(*c->boxes));
    assert_true(c->parts && c->clusters && c->boxes);
    make_buffer((size_t)c->part_count * PELT_GPU_CLUSTER_MESH_SIZE, &c->records);
    make_buffer((size_t)MEMBERS * model->matrix_count * 12 * sizeof(float), &c->matrices);
    make_buffer(slots * sizeof(pelt_box), &c->gpu_boxes);
    make_buffer(slots * PELT_CLUSTER_INSTANCE_SIZE, &c->instances);
    for (uint32_t i = 0; i < c->part_count; i++) {
        open_part(c, i);
    }
}

static void close_crowd(crowd *c)
{
    for (uint32_t i = 0; i < c->part_count; i++) {
        pelt_buffer_destroy(gpu_device(), &c->parts[i].tables);
        pelt_joint_boxes_destroy(c->parts[i].joint_boxes);
        pelt_clusters_destroy(c->parts[i].clusters);
        pelt_packed_mesh_destroy(c->parts[i].packed);
    }
    pelt_buffer_destroy(gpu_device(), &c->instances);
    pelt_buffer_destroy(gpu_device(), &c->gpu_boxes);
    pelt_buffer_destroy(gpu_device(), &c->matrices);
    pelt_buffer_destroy(gpu_device(), &c->records);
    free(c->boxes);
    free(c->clusters);
    free(c->parts);
    pelt_pose_destroy(c->pose);
    pelt_model_destroy(c->model);
}

/* Turned about the upright axis, stretched, some way off the middle. */
static void place(double reach, double world[12])
{
    double angle = random_between(0, 6.3), c = cos(angle), s = sin(angle);
    double wide = random_between(0.6, 1.6), high = random_between(0.6, 1.6);
    const double matrix[12] = { wide * c,  0,    s, random_between(-reach, reach),
                                0,         high, 0, random_between(-0.2, 0.2) * reach,
                                -wide * s, 0,    c, random_between(-reach, reach) };
    memcpy(world, matrix, sizeof(matrix));
}

static void unite(pelt_box *box, const pelt_box *other)
{
    for (int k = 0; k < 3; k++) {
        box->min[k] = fminf(box->min[k], other->min[k]);
        box->max[k] = fmaxf(box->max[k], other->max[k]);
    }
}

static void pose_member(crowd *c, uint32_t member, double reach)
{
    const pelt_model *model = c->model;
    const float *matrices = (float *)c->matrices.mapped + (size_t)member * 12 * model->matrix_count;
    int32_t clip = model->clip_count ? (int32_t)random_between(0, model->clip_count - 0.01) : -1;
    const pelt_play play = { .clip = clip,
                             .time =
                                 clip >= 0 ? random_between(0, model->clips[clip].duration) : 0 };
    double world[12];
    place(reach, world);
    assert_int_equal(pelt_pose_evaluate(c->pose, &play, 1), PELT_OK);
    assert_int_equal(pelt_pose_skin_matrices(c->pose, world, (float *)matrices), PELT_OK);
    for (uint32_t i = 0; i < c->part_count; i++) {
        size_t slot = (size_t)i * MEMBERS + member;
        size_t first = 12 * (size_t)model->palettes[model->parts[i].palette].first_matrix;
        c->boxes[slot] = pelt_joint_boxes_bound(c->parts[i].joint_boxes, matrices + first);
        unite(&c->box, &c->boxes[slot]);
        memcpy((pelt_box *)c->gpu_boxes.mapped + slot, &c->boxes[slot], sizeof(pelt_box));
        const pelt_cluster_instance instance = {
            .mesh = c->records.address + i * PELT_GPU_CLUSTER_MESH_SIZE,
            .matrices = c->matrices.address +
                        (member * 12 * (size_t)model->matrix_count + first) * sizeof(float),
            .box = slot % 7 ? c->gpu_boxes.address + slot * sizeof(pelt_box) : 0,
            .scale = 1.6f,
        };
        assert_int_equal(pelt_cluster_instance_write(&gpu_host, &instance,
                                                     (char *)c->instances.mapped +
                                                         slot * PELT_CLUSTER_INSTANCE_SIZE),
                         PELT_OK);
    }
}

static double size_of(const pelt_box *box)
{
    double squares = 0;
    for (int k = 0; k < 3; k++) {
        double side = (double)box->max[k] - (double)box->min[k];
        squares += side * side;
    }
    return sqrt(squares);
}

/* Stands closer together than the members are large, so that cameras stand among their limbs. */
static void pose_crowd(crowd *c)
{
    c->box = (pelt_box)PELT_BOX_EMPTY;
    pose_member(c, 0, 0);
    double reach = 0.8 * size_of(&c->box);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        pose_member(c, i, reach);
    }
}

/* -- pictures ------------------------------------------------------------------------------ */

/* In or around the crowd; most look at a place in it. */
static pelt_render_camera random_camera(const crowd *c, bool towards)
{
    pelt_render_camera camera = { .slope = exp(random_between(log(0.03), log(2))),
                                  .nearest =
                                      size_of(&c->box) * exp(random_between(log(1e-4), log(0.1))) };
    for (int k = 0; k < 3; k++) {
        double low = (double)c->box.min[k], high = (double)c->box.max[k];
        camera.eye[k] = random_between(low - 0.2 * (high - low), high + 0.2 * (high - low));
        camera.forward[k] = towards ? random_between(low, high) - camera.eye[k]
                                    : random_between(-1, 1) * (k == 1 ? 0.5 : 1);
    }
    return camera;
}

typedef struct tally {
    uint64_t pictures, all, drawn, empty, coarse;
} tally;

static void compare(const crowd *c, uint32_t number, tally *counted)
{
    static uint8_t with[BYTES], without[BYTES];
    const pelt_render_camera camera = random_camera(c, number % 5 != 0);
    pelt_render_scene scene = { .clusters = c->clusters,
                                .clusters_count = c->part_count,
                                .lod = number % 3 ? 0 : PELT_LOD_AUTO,
                                .camera = &camera,
                                .no_shadows = true };
    pelt_render_report report, all;
    assert_int_equal(pelt_renderer_draw(c->renderer, &scene, with, &report), PELT_OK);
    scene.keep_all_clusters = true;
    assert_int_equal(pelt_renderer_draw(c->renderer, &scene, without, &all), PELT_OK);
    if (memcmp(with, without, BYTES) != 0) {
        fail_msg("camera %u: culling changes the picture", number);
    }
    assert_int_equal(all.drawn_cluster_count, all.cluster_count);
    assert_int_equal(report.cluster_count, all.cluster_count);
    assert_memory_equal(report.lod_counts, all.lod_counts, sizeof(all.lod_counts));
    assert_true(report.triangle_count <= all.triangle_count);
    counted->pictures++;
    counted->all += report.cluster_count;
    counted->drawn += report.drawn_cluster_count;
    counted->empty += report.drawn_cluster_count == 0;
    counted->coarse += report.lod_counts[0] < MEMBERS * c->part_count;
}

static void look_around(crowd *c, uint32_t cameras, tally *counted)
{
    for (uint32_t i = 0; i < cameras; i++) {
        if (i % CAMERAS_A_POSE == 0) {
            pose_crowd(c);
        }
        compare(c, i, counted);
    }
}

static pelt_model *read_asset(const char *name)
{
    const char *shared = getenv("PELT_SHARED");
    char path[1024];
    pelt_model *model = NULL;
    (void)snprintf(path, sizeof(path), "%s/assets/models/%s", shared ? shared : "../shared", name);
    FILE *file = fopen(path, "rb");
    if (file) {
        (void)fclose(file);
        assert_int_equal(pelt_gltf_read(&gpu_host, path, &model), PELT_OK);
    } else {
        (void)printf("not looked at: %s is not there\n", path);
    }
    return model;
}

static void need_mesh_shaders(void)
{
    if (!gpu_device()->mesh_shader || !gpu_device()->task_shader) {
        (void)printf("skipped: no mesh and task shaders\n");
        assert_false(gpu_flag("PELT_REQUIRE_GPU"));
        skip();
    }
}

static pelt_model *make_sample(void)
{
    pelt_model *model;
    const pelt_sample_info sample = { .vertices = 4000 };
    assert_int_equal(pelt_sample_create(&gpu_host, &sample, &model), PELT_OK);
    return model;
}

static pelt_renderer *open_renderer(const pelt_renderer_info *info, uint32_t *material)
{
    pelt_renderer *renderer;
    assert_int_equal(pelt_renderer_create(&gpu_host, gpu_device(), info, &renderer), PELT_OK);
    assert_int_equal(pelt_renderer_add_material(renderer, NULL, -1, material), PELT_OK);
    return renderer;
}

static void culling_never_changes_a_pixel(void **unused)
{
    (void)unused;
    need_mesh_shaders();
    pelt_model *models[ASSET_COUNT + 1];
    models[0] = make_sample();
    uint32_t count = 1;
    for (size_t i = 0; i < ASSET_COUNT; i++) {
        models[count] = read_asset(assets[i]);
        count += models[count] != NULL;
    }
    uint32_t material;
    const pelt_renderer_info info = { .width = WIDTH, .height = HEIGHT };
    pelt_renderer *renderer = open_renderer(&info, &material);
    tally counted = { 0 };
    for (uint32_t i = 0; i < count; i++) {
        crowd c;
        open_crowd(renderer, material, models[i], &c);
        look_around(&c, (CAMERAS + count - 1) / count, &counted);
        close_crowd(&c);
    }
    pelt_renderer_destroy(renderer);
    (void)printf("%llu pictures: %llu of %llu clusters drawn, none in %llu, levels in %llu\n",
                 (unsigned long long)counted.pictures, (unsigned long long)counted.drawn,
                 (unsigned long long)counted.all, (unsigned long long)counted.empty,
                 (unsigned long long)counted.coarse);
    /* Else there was nothing to be wrong about. */
    assert_true(counted.drawn < counted.all / 2);
    assert_true(counted.drawn > counted.all / 50);
    assert_true(counted.empty < counted.pictures / 3);
}

/* The same crowd, all of it in view. Gives how many calls drew it. */
static uint32_t draw_crowd(const pelt_renderer_info *info, uint8_t *rgba)
{
    uint32_t material;
    pelt_renderer *renderer = open_renderer(info, &material);
    crowd c;
    open_crowd(renderer, material, make_sample(), &c);
    state = 7;
    pose_crowd(&c);
    const pelt_render_scene scene = { .clusters = c.clusters,
                                      .clusters_count = c.part_count,
                                      .no_shadows = true };
    pelt_render_report report;
    assert_int_equal(pelt_renderer_draw(renderer, &scene, rgba, &report), PELT_OK);
    assert_int_equal(report.drawn_cluster_count, report.cluster_count);
    assert_int_equal(report.seen_instance_count, MEMBERS);
    assert_int_equal(report.lod_counts[0], MEMBERS);
    assert_true(c.parts[0].clusters->lods[0].cluster_count > 2 * PELT_TASK_CLUSTERS);
    close_crowd(&c);
    pelt_renderer_destroy(renderer);
    return report.draw_count;
}

static void draws_alike_however_split(void **unused)
{
    (void)unused;
    need_mesh_shaders();
    static uint8_t once[BYTES], split[BYTES];
    pelt_renderer_info info = { .width = WIDTH, .height = HEIGHT };
    assert_int_equal(draw_crowd(&info, once), 1);
    const struct {
        uint32_t lanes, joints, limit, draws;
    } ways[] = { { 16, PELT_CLUSTER_JOINT_MAX, 1, 3 * MEMBERS },
                 { 64, 4, 2, 2 * ((MEMBERS + 1) / 2) },
                 { 128, 0, 3, (MEMBERS + 2) / 3 } };
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        info.cluster_lanes = ways[i].lanes;
        info.shared_joints = ways[i].joints;
        info.group_limit = ways[i].limit;
        assert_int_equal(draw_crowd(&info, split), ways[i].draws);
        assert_memory_equal(split, once, BYTES);
    }
    info.cluster_lanes = 129;
    pelt_renderer *none;
    assert_int_equal(pelt_renderer_create(&gpu_host, gpu_device(), &info, &none),
                     PELT_ERROR_ARGUMENT);
}

static void says_what_a_device_lacks(void **unused)
{
    (void)unused;
    pelt_headless *device = gpu_device();
    bool able = device->task_shader;
    device->task_shader = false;
    uint32_t material;
    const pelt_renderer_info info = { .width = WIDTH, .height = HEIGHT };
    pelt_renderer *renderer = open_renderer(&info, &material);
    const pelt_render_clusters clusters = { .instance_count = 1 };
    const pelt_render_scene scene = { .clusters = &clusters, .clusters_count = 1 };
    static uint8_t rgba[BYTES];
    assert_int_equal(pelt_renderer_draw(renderer, &scene, rgba, NULL), PELT_ERROR_DEVICE);
    assert_non_null(strstr(gpu_messages.last, "VK_EXT_mesh_shader"));
    pelt_renderer_destroy(renderer);
    device->task_shader = able;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_alike_however_split),
        cmocka_unit_test(says_what_a_device_lacks),
        cmocka_unit_test(culling_never_changes_a_pixel),
    };
    return gpu_result(cmocka_run_group_tests(tests, gpu_setup, gpu_teardown));
}
