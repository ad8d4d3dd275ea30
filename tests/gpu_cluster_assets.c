/* The cluster skin pass with real characters in many poses: gpu_cluster_assets [POSES [FILE...]].
 * The files lie in $PELT_SHARED, or ../shared beside the source tree. */
#include "tests/gpu_clusters.h"

#include "sample/sample.h"

#include <dirent.h>
#include <pelt/gltf.h>
#include <pelt/pose.h>

/* A sanitizer is after other errors than wrong bounds. */
#ifdef __SANITIZE_ADDRESS__
static uint32_t pose_count = 4;
#else
static uint32_t pose_count = 100;
#endif

/* Instances at once: all poses of a large part would need much memory. */
enum { BATCH_VERTICES = 400000 };

/* One part of a model: its own vertices, and morphed ones where it has targets. */
typedef struct subject {
    const pelt_model *model;
    const pelt_part *part;
    const pelt_primitive *primitive;
    pelt_pose *pose;
    pelt_packed_mesh *packed;
    pelt_clusters *clusters;
    pelt_packed_vertex *vertices;
    uint32_t *tangents;
    float *spheres;
} subject;

static void subject_open(pelt_pose *pose, const pelt_part *part, const pelt_primitive *primitive,
                         subject *out)
{
    *out = (subject){ .model = pose->model, .part = part, .primitive = primitive, .pose = pose };
    const pelt_pack_info pack = { .primitive = primitive, .rigid = !part->skinned };
    assert_int_equal(pelt_pack(&gpu_host, &pack, &out->packed), PELT_OK);
    const pelt_clusters_info info = { .mesh = out->packed, .primitive = primitive, .lod_count = 3 };
    assert_int_equal(pelt_clusters_create(&gpu_host, &info, &out->clusters), PELT_OK);
    size_t count = out->packed->vertex_count;
    out->vertices = calloc(count, sizeof(*out->vertices));
    out->tangents = calloc(count, sizeof(*out->tangents));
    out->spheres = calloc((size_t)out->clusters->joint_count, 4 * sizeof(*out->spheres));
    assert_true(out->vertices && out->tangents && out->spheres);
}

static void subject_close(subject *self)
{
    free(self->vertices);
    free(self->tangents);
    free(self->spheres);
    pelt_clusters_destroy(self->clusters);
    pelt_packed_mesh_destroy(self->packed);
}

/* Where clips lead, and every other time with each joint somewhere else besides. */
static void pose_instance(subject *self, uint64_t *seed, bool wild, float *matrices)
{
    const pelt_model *model = self->model;
    const pelt_palette *palette = &model->palettes[self->part->palette];
    float *all = malloc((model->matrix_count + (size_t)1) * 48);
    assert_non_null(all);
    pelt_play play = { .clip = -1 };
    if (model->clip_count > 0) {
        play.clip = (int32_t)scene_random(seed, 0, model->clip_count - 0.01);
        play.time = scene_random(seed, 0, model->clips[play.clip].duration);
    }
    assert_int_equal(pelt_pose_evaluate(self->pose, &play, 1), PELT_OK);
    assert_int_equal(pelt_pose_skin_matrices(self->pose, NULL, all), PELT_OK);
    size_t size = palette->matrix_count * (size_t)48;
    memcpy(matrices, all + 12 * (size_t)palette->first_matrix, size);
    if (wild) {
        float *away = scene_matrices((uint64_t)scene_random(seed, 0, 1e6), palette->matrix_count);
        memcpy(matrices, away, size);
        free(away);
    }
    free(all);
}

/* The box that all of the instances are in. */
static pelt_box bounds(const stage *self)
{
    pelt_box box = self->boxes[0];
    for (uint32_t i = 1; i < self->instance_count; i++) {
        for (int c = 0; c < 3; c++) {
            box.min[c] = fminf(box.min[c], self->boxes[i].min[c]);
            box.max[c] = fmaxf(box.max[c], self->boxes[i].max[c]);
        }
    }
    return box;
}

/* From somewhere around the box to somewhere in it. */
static pelt_cluster_view random_view(const pelt_box *box, uint64_t *seed, float clip[16])
{
    double eye[3], target[3];
    for (int c = 0; c < 3; c++) {
        double size = fmax((double)box->max[c] - box->min[c], 1e-6);
        target[c] = box->min[c] + scene_random(seed, 0, 1) * size;
        eye[c] = box->min[c] + scene_random(seed, -1, 2) * size + 1e-6;
    }
    stage_look(eye, target, scene_random(seed, 0.1, 1), false, clip);
    return (pelt_cluster_view){ .clip = clip,
                                .eye = { eye[0], eye[1], eye[2] },
                                .pixels = 500,
                                .most_error = 1,
                                .lod = PELT_LOD_AUTO,
                                .cull = true };
}

static void check_views(stage *self, uint64_t *seed)
{
    enum { VIEWS = 4 };
    stage_open(self, 0);
    float clip[16] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1 };
    pelt_box box = bounds(self);
    for (uint32_t lod = 0; lod < self->meshes[0].clusters->lod_count; lod++) {
        const pelt_cluster_view all = { .clip = clip, .lod = lod };
        stage_run(self, &all, true);
        assert_int_equal(stage_check_listed(self),
                         (uint64_t)self->instance_count *
                             self->meshes[0].clusters->lods[lod].cluster_count);
        stage_check_skinned(self);
    }
    for (int v = 0; v < VIEWS; v++) {
        const pelt_cluster_view view = random_view(&box, seed, clip);
        stage_run(self, &view, v == 0);
        (void)stage_check_listed(self);
        if (v == 0) {
            stage_check_skinned(self);
        }
    }
    stage_close(self);
}

static void check_batch(subject *self, uint32_t count, uint64_t *seed)
{
    size_t matrix_count = self->model->palettes[self->part->palette].matrix_count;
    float *matrices = malloc(count * matrix_count * 48 + 1);
    stage_instance *instances = calloc(count, sizeof(*instances));
    assert_true(matrices && instances);
    bool morphs = self->primitive->target_count > 0;
    const stage_mesh meshes[2] = {
        { .packed = self->packed, .clusters = self->clusters },
        { .packed = self->packed,
          .clusters = self->clusters,
          .vertices = self->vertices,
          .tangents = self->packed->tangents ? self->tangents : NULL,
          .spheres = self->spheres },
    };
    for (uint32_t i = 0; i < count; i++) {
        float *own = matrices + i * matrix_count * 12;
        pose_instance(self, seed, i % 2 != 0, own);
        instances[i] =
            (stage_instance){ .mesh = morphs && i % 4 > 1, .matrices = own, .boxed = true };
    }
    if (morphs) {
        (void)pelt_pack_morphed(self->packed, self->primitive,
                                pelt_pose_part_morph_weights(self->pose, self->part),
                                self->vertices, self->tangents);
        pelt_clusters_spheres(self->clusters, self->packed, self->vertices, self->spheres);
    }
    stage batch = { .device = gpu_device(),
                    .meshes = meshes,
                    .instances = instances,
                    .mesh_count = morphs ? 2 : 1,
                    .instance_count = count };
    check_views(&batch, seed);
    free(matrices);
    free(instances);
}

static void check_model(const pelt_model *model)
{
    uint64_t seed = 3;
    pelt_pose *pose;
    assert_int_equal(pelt_pose_create(&gpu_host, model, &pose), PELT_OK);
    for (uint32_t p = 0; p < model->part_count; p++) {
        const pelt_part *part = &model->parts[p];
        const pelt_primitive *primitive = &model->meshes[part->mesh].primitives[part->primitive];
        if (pelt_primitive_triangle_count(primitive) == 0) {
            continue;
        }
        subject self;
        subject_open(pose, part, primitive, &self);
        uint32_t most = BATCH_VERTICES / self.packed->vertex_count + 1;
        for (uint32_t left = pose_count; left > 0;) {
            uint32_t count = left < most ? left : most;
            check_batch(&self, count, &seed);
            left -= count;
        }
        subject_close(&self);
    }
    pelt_pose_destroy(pose);
}

static void holds_the_sample(void **state)
{
    (void)state;
    (void)gpu_device();
    pelt_model *model;
    const pelt_sample_info info = { .vertices = 4000 };
    assert_int_equal(pelt_sample_create(&gpu_host, &info, &model), PELT_OK);
    check_model(model);
    pelt_model_destroy(model);
}

static char **given;
static int given_count;

static bool check_file(const char *path)
{
    pelt_model *model;
    if (pelt_gltf_read(NULL, path, &model) != PELT_OK) {
        return false; /* of other tests' concern */
    }
    check_model(model);
    pelt_model_destroy(model);
    return true;
}

/* All models below a folder; how many. */
static uint32_t check_folder(const char *folder)
{
    DIR *listing = opendir(folder);
    struct dirent *entry;
    uint32_t count = 0;
    while (listing && (entry = readdir(listing))) {
        char path[1024];
        const char *dot = strrchr(entry->d_name, '.');
        (void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (dot && (strcmp(dot, ".gltf") == 0 || strcmp(dot, ".glb") == 0)) {
            count += check_file(path);
        } else if (entry->d_name[0] != '.') {
            count += check_folder(path);
        }
    }
    if (listing) {
        (void)closedir(listing);
    }
    return count;
}

static void holds_all_assets(void **state)
{
    (void)state;
    (void)gpu_device();
    const char *shared = getenv("PELT_SHARED");
    char folder[1024];
    (void)snprintf(folder, sizeof(folder), "%s/assets/models", shared ? shared : "../shared");
    uint32_t count = 0;
    for (int i = 0; i < given_count; i++) {
        count += check_file(given[i]);
    }
    count += given_count > 0 ? 0 : check_folder(folder);
    (void)printf("%u models in %u poses\n", count, pose_count);
    if (count == 0) {
        skip();
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_the_sample),
        cmocka_unit_test(holds_all_assets),
    };
    pose_count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : pose_count;
    given = argv + 2;
    given_count = argc > 2 ? argc - 2 : 0;
    return gpu_result(cmocka_run_group_tests(tests, gpu_setup, stage_teardown));
}
