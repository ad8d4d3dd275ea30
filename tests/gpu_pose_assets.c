/* Poses of real characters on the device against those of pelt_pose, at random times of every clip:
 * gpu_pose_assets [TIMES [FILE...]]. The files lie in $PELT_SHARED, or ../shared beside the source
 * tree. */
#include "tests/gpu_pose.h"

#include <dirent.h>
#include <sys/stat.h>

enum { TIMES_DEFAULT = 100, FILES_MAX = 512 };

static uint32_t times = TIMES_DEFAULT;
static char *files[FILES_MAX];
static uint32_t file_count;
static bool verbose;

/* -- files --------------------------------------------------------------------------------- */

static bool is_model(const char *name)
{
    const char *end = strrchr(name, '.');
    return end && (strcmp(end, ".glb") == 0 || strcmp(end, ".gltf") == 0);
}

static void add_file(const char *path)
{
    char *copy = malloc(strlen(path) + 1);
    assert_true(copy && file_count < FILES_MAX);
    files[file_count++] = strcpy(copy, path);
}

static void find_files(const char *folder)
{
    DIR *listing = opendir(folder);
    struct dirent *entry;
    while (listing && (entry = readdir(listing))) {
        char path[1024];
        struct stat status;
        (void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] == '.' || stat(path, &status) != 0) {
            continue;
        }
        if (S_ISDIR(status.st_mode)) {
            find_files(path);
        } else if (is_model(entry->d_name)) {
            add_file(path);
        }
    }
    if (listing) {
        closedir(listing);
    }
}

/* -- judging ------------------------------------------------------------------------------- */

/* What a model's matrices move: a box of bind-pose positions for each palette. */
typedef struct subject {
    const pelt_model *model;
    pelt_pose *pose;
    pelt_box *boxes;
    double size; /* of the character */
} subject;

static void grow(double box[6], const double *point)
{
    for (int c = 0; c < 3; c++) {
        box[c] = fmin(box[c], point[c]);
        box[3 + c] = fmax(box[3 + c], point[c]);
    }
}

static double diagonal(const double box[6])
{
    double square = 0;
    for (int c = 0; c < 3; c++) {
        square += box[3 + c] > box[c] ? (box[3 + c] - box[c]) * (box[3 + c] - box[c]) : 0;
    }
    return sqrt(square);
}

/* The diagonal of the exact box of all parts in the current pose; of a model without any, of the
 * box of its nodes. */
static double measure_size(const pelt_pose *pose)
{
    const pelt_model *model = pose->model;
    double box[6] = { INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY };
    double *matrices = malloc((model->matrix_count + 1u) * 12 * sizeof(*matrices));
    assert_non_null(matrices);
    assert_int_equal(pelt_pose_skin_matrices_double(pose, NULL, matrices), PELT_OK);
    for (uint32_t p = 0; p < model->part_count; p++) {
        const pelt_part *part = &model->parts[p];
        const pelt_primitive *primitive = &model->meshes[part->mesh].primitives[part->primitive];
        const pelt_reference_job job = {
            .primitive = primitive,
            .matrices = matrices + 12 * (size_t)model->palettes[part->palette].first_matrix,
            .rigid = !part->skinned
        };
        pelt_skin_reference(&job, 0, primitive->vertex_count, box);
    }
    for (uint32_t i = 0; model->part_count == 0 && i < model->node_count; i++) {
        const double *g = pose->globals + 12 * (size_t)i;
        grow(box, (const double[]){ g[3], g[7], g[11] });
    }
    free(matrices);
    return diagonal(box);
}

static void subject_open(const pelt_model *model, subject *out)
{
    *out = (subject){ .model = model };
    const pelt_box empty = PELT_BOX_EMPTY;
    assert_int_equal(pelt_pose_create(&gpu_host, model, &out->pose), PELT_OK);
    out->boxes = malloc((model->palette_count + 1u) * sizeof(*out->boxes));
    assert_non_null(out->boxes);
    for (uint32_t i = 0; i < model->palette_count; i++) {
        out->boxes[i] = empty;
    }
    for (uint32_t p = 0; p < model->part_count; p++) {
        const pelt_part *part = &model->parts[p];
        const pelt_primitive *primitive = &model->meshes[part->mesh].primitives[part->primitive];
        pelt_box *box = &out->boxes[part->palette];
        for (uint32_t v = 0; v < primitive->vertex_count; v++) {
            for (int c = 0; c < 3; c++) {
                float x = primitive->positions[3 * (size_t)v + (size_t)c];
                box->min[c] = x < box->min[c] ? x : box->min[c];
                box->max[c] = x > box->max[c] ? x : box->max[c];
            }
        }
    }
}

static void subject_close(subject *self)
{
    pelt_pose_destroy(self->pose);
    free(self->boxes);
}

/* How far apart two matrices move the corners of a box: no point of it is moved further apart. */
static double distance(const float *a, const double *b, const pelt_box *box)
{
    double worst = 0;
    for (int corner = 0; corner < 8; corner++) {
        double point[3], square = 0;
        for (int c = 0; c < 3; c++) {
            point[c] = (double)(corner >> c & 1 ? box->max[c] : box->min[c]);
        }
        for (int row = 0; row < 3; row++) {
            double difference = (double)a[4 * row + 3] - b[4 * row + 3];
            for (int c = 0; c < 3; c++) {
                difference += ((double)a[4 * row + c] - b[4 * row + c]) * point[c];
            }
            square += difference * difference;
        }
        worst = fmax(worst, square);
    }
    return sqrt(worst);
}

/* Both, as parts of the character's size. */
typedef struct worst {
    double matrices;
    double sockets;
} worst;

static void judge(const subject *self, const pose_scene *scene, uint32_t instance,
                  const double *matrices, worst *out)
{
    const pelt_model *model = self->model;
    for (uint32_t p = 0; p < model->palette_count; p++) {
        const pelt_palette *palette = &model->palettes[p];
        for (uint32_t i = 0; i < palette->matrix_count; i++) {
            uint32_t m = palette->first_matrix + i;
            double apart = distance(pose_scene_matrix(scene, instance, m),
                                    matrices + 12 * (size_t)m, &self->boxes[p]);
            out->matrices = fmax(out->matrices, apart / self->size);
        }
    }
    const pelt_box origin = { { 0, 0, 0 }, { 0, 0, 0 } };
    for (uint32_t i = 0; scene->all_nodes && i < model->node_count; i++) {
        double apart = distance(pose_scene_socket(scene, instance, i),
                                self->pose->globals + 12 * (size_t)i, &origin);
        out->sockets = fmax(out->sockets, apart / self->size);
    }
}

/* All clips at random times: an instance each, at once. Times reach beyond both ends. Either all
 * nodes are sockets, or only the last one. */
static void check_model(pelt_headless *device, const pelt_model *model, bool sockets,
                        const char *name)
{
    const uint32_t last = model->node_count - 1;
    subject self;
    pose_scene scene;
    uint32_t count = model->clip_count * times;
    subject_open(model, &self);
    pose_scene_open(&scene, device, model, sockets ? NULL : &last, 1, count);
    double *all_times = malloc((count + 1u) * sizeof(*all_times));
    double *matrices = malloc((model->matrix_count + 1u) * 12 * sizeof(*matrices));
    assert_true(all_times && matrices);
    uint64_t state = 1;
    for (uint32_t i = 0; i < count; i++) {
        double duration = model->clips[i / times].duration;
        all_times[i] = pose_random(&state, -0.1 * duration - 0.01, 1.1 * duration + 0.01);
        const pelt_gpu_play play = { .clip = (int32_t)(i / times), .time = all_times[i] };
        pose_scene_set(&scene, i, (pelt_pose_instance){ .play = play }, NULL, 0);
    }
    pose_scene_run(&scene, (pelt_pose_frame){ .all = true });
    worst found = { 0, 0 };
    for (uint32_t i = 0; i < count; i++) {
        const pelt_play play = { .clip = (int32_t)(i / times), .time = all_times[i] };
        assert_int_equal(pelt_pose_evaluate(self.pose, &play, 1), PELT_OK);
        if (i % times == 0) {
            self.size = measure_size(self.pose);
        }
        assert_int_equal(pelt_pose_skin_matrices_double(self.pose, NULL, matrices), PELT_OK);
        judge(&self, &scene, i, matrices, &found);
    }
    if (verbose || !(found.matrices <= 1e-5 && found.sockets <= 1e-5)) {
        (void)printf("%-60s %3u clips: matrices %.2e, nodes %.2e\n", name, model->clip_count,
                     found.matrices, found.sockets);
    }
    assert_true(found.matrices <= 1e-5);
    assert_true(found.sockets <= 1e-5);
    free(all_times);
    free(matrices);
    pose_scene_close(&scene);
    subject_close(&self);
}

static void agrees_with_the_cpu_on_every_clip(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    if (file_count == 0) {
        (void)printf("skipped: no shared models\n");
        skip();
    }
    uint32_t checked = 0;
    for (uint32_t i = 0; i < file_count; i++) {
        pelt_model *model;
        if (pelt_gltf_read(NULL, files[i], &model) != PELT_OK) {
            continue; /* of other tests' concern */
        }
        if (model->clip_count > 0) {
            check_model(device, model, true, files[i]);
            check_model(device, model, false, files[i]);
            checked++;
        }
        pelt_model_destroy(model);
    }
    (void)printf("%u models, %u times of each clip\n", checked, times);
    assert_true(checked > 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_cpu_on_every_clip),
    };
    if (argc > 1) {
        times = (uint32_t)strtoul(argv[1], NULL, 10);
        verbose = true;
    }
    for (int i = 2; i < argc; i++) {
        add_file(argv[i]);
    }
    if (argc <= 2) {
        const char *shared = getenv("PELT_SHARED");
        char path[1024];
        (void)snprintf(path, sizeof(path), "%s/assets/models", shared ? shared : "../shared");
        find_files(path);
        (void)snprintf(path, sizeof(path), "%s/cases", shared ? shared : "../shared");
        find_files(path);
    }
    int failed = gpu_result(cmocka_run_group_tests(tests, gpu_setup, pose_teardown));
    for (uint32_t i = 0; i < file_count; i++) {
        free(files[i]);
    }
    return failed;
}
