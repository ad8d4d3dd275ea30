#include "cluster/poses.h"

#include <math.h>
#include <pelt/skin.h>
#include <string.h>

/* Pairs of vertices whose distances tell poses apart. */
enum { PAIRS = 256 };

const float *pelt_poses_positions(pose_set *poses, uint32_t pose)
{
    const pelt_packed_mesh *mesh = poses->info->mesh;
    if (pose == 0) {
        for (size_t v = 0; v < mesh->vertex_count; v++) {
            memcpy(poses->positions + 3 * v, mesh->vertices[v].position, 3 * sizeof(float));
        }
    } else {
        const pelt_skin_job job = { .mesh = mesh,
                                    .matrices = poses->info->poses +
                                                12 * (size_t)poses->info->joint_count * (pose - 1),
                                    .out_positions = poses->positions };
        pelt_skin_cpu(&job, 0, mesh->vertex_count, NULL);
    }
    return poses->positions;
}

static double distance(const float *a, const float *b)
{
    double x = (double)a[0] - b[0], y = (double)a[1] - b[1], z = (double)a[2] - b[2];
    return sqrt(x * x + y * y + z * z);
}

/* A pose's distances between vertices, their sum scaled to 1: they stay as they are when a
 * character turns, walks away or is measured in another unit. */
static void shape_of(pose_set *poses, uint32_t pose, const uint32_t *used, uint32_t used_count,
                     double *shape)
{
    const float *positions = pelt_poses_positions(poses, pose);
    double sum = 0.0;
    uint32_t random = 1;
    for (int i = 0; i < PAIRS; i++) {
        const float *ends[2];
        for (int k = 0; k < 2; k++) {
            random = random * 1664525u + 1013904223u;
            ends[k] = positions + 3 * (size_t)used[(uint64_t)random * used_count >> 32];
        }
        shape[i] = distance(ends[0], ends[1]);
        sum += shape[i];
    }
    for (int i = 0; i < PAIRS && sum > 0.0; i++) {
        shape[i] /= sum;
    }
}

/* Each time the pose least like those chosen, until there are enough or no others. */
static pelt_result choose_keys(pose_set *poses, const uint32_t *used, uint32_t used_count)
{
    double *shapes = pelt_allocate(poses->host, poses->count, PAIRS * sizeof(*shapes));
    double *nearest = pelt_allocate(poses->host, poses->count, sizeof(*nearest));
    pelt_result result = PELT_OK;
    if (!shapes || !nearest) {
        result = pelt_fail(poses->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for %u poses",
                           poses->count);
        goto done;
    }
    for (uint32_t pose = 0; pose < poses->count; pose++) {
        shape_of(poses, pose, used, used_count, shapes + PAIRS * (size_t)pose);
        nearest[pose] = INFINITY;
    }
    poses->keys[0] = 0;
    for (poses->key_count = 1; poses->key_count < KEY_POSES; poses->key_count++) {
        const double *last = shapes + PAIRS * (size_t)poses->keys[poses->key_count - 1];
        uint32_t farthest = 0;
        for (uint32_t pose = 0; pose < poses->count; pose++) {
            const double *shape = shapes + PAIRS * (size_t)pose;
            double squared = 0.0;
            for (int i = 0; i < PAIRS; i++) {
                squared += (shape[i] - last[i]) * (shape[i] - last[i]);
            }
            nearest[pose] = fmin(nearest[pose], squared);
            farthest = nearest[pose] > nearest[farthest] ? pose : farthest;
        }
        if (!(nearest[farthest] > 0.0)) {
            break;
        }
        poses->keys[poses->key_count] = farthest;
    }
done:
    pelt_release(poses->host, shapes);
    pelt_release(poses->host, nearest);
    return result;
}

/* One key pose's coordinates into the space of all. */
static void add_to_space(pose_set *poses, uint32_t key, const uint32_t *used, uint32_t used_count)
{
    const float *positions = pelt_poses_positions(poses, poses->keys[key]);
    double min[3] = { INFINITY, INFINITY, INFINITY }, extent = 0.0;
    for (int i = 0; i < 3; i++) {
        double max = -INFINITY;
        for (uint32_t u = 0; u < used_count; u++) {
            double coordinate = positions[3 * (size_t)used[u] + i];
            min[i] = fmin(min[i], coordinate);
            max = fmax(max, coordinate);
        }
        extent = fmax(extent, max - min[i]);
    }
    for (uint32_t u = 0; u < used_count && extent > 0.0; u++) {
        size_t vertex = used[u];
        for (size_t i = 0; i < 3; i++) {
            poses->space[SPACE * vertex + 3 * key + i] =
                (float)((positions[3 * vertex + i] - min[i]) / extent);
        }
    }
}

pelt_result pelt_poses_init(pose_set *poses, const pelt_host *host, const pelt_clusters_info *info,
                            const uint32_t *used, uint32_t used_count)
{
    uint32_t vertex_count = info->mesh->vertex_count;
    *poses = (pose_set){ .host = host, .info = info };
    poses->count = 1 + (info->poses ? info->pose_count : 0);
    poses->positions = pelt_allocate(host, vertex_count, 3 * sizeof(*poses->positions));
    poses->space = pelt_allocate(host, vertex_count, SPACE * sizeof(*poses->space));
    if (!poses->positions || !poses->space) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for %u posed vertices",
                         vertex_count);
    }
    pelt_result result = choose_keys(poses, used, used_count);
    if (result) {
        return result;
    }
    for (uint32_t key = 0; key < poses->key_count; key++) {
        add_to_space(poses, key, used, used_count);
    }
    return PELT_OK;
}

void pelt_poses_finish(pose_set *poses)
{
    pelt_release(poses->host, poses->positions);
    pelt_release(poses->host, poses->space);
}
