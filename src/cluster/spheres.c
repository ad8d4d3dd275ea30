/* The sphere of those vertices of a cluster that a joint moves, for each of its joints. */
#include "cluster/cluster.h"
#include "pack/codec.h"
#include "skin/rounding.h"

/* Sets of a cluster's vertices, a bit each, are words. */
_Static_assert(PELT_CLUSTER_VERTEX_MAX == 64, "fits");

/* Steps towards the farthest point. */
enum { STEPS = 32 };

/* Adds a vertex to the sets of the joints that move it. */
static void mark(const pelt_clusters *clusters, const pelt_cluster *cluster,
                 const pelt_packed_mesh *mesh, uint32_t place, uint64_t *moved)
{
    const uint32_t *local_joints =
        clusters->local_joints + (size_t)clusters->set_count * cluster->first_vertex;
    uint32_t vertex = clusters->vertex_table[cluster->first_vertex + place];
    float implied = 1.0f;
    for (uint32_t set = 0; set < mesh->set_count; set++) {
        uint32_t word = local_joints[(size_t)set * cluster->vertex_count + place];
        float weights[4];
        decode_weights(mesh, set, vertex, weights);
        for (int k = 0; k < 4; k++) {
            if (weights[k] > 0.0f) {
                moved[(word >> (8 * k)) & 0xff] |= (uint64_t)1 << place;
                implied -= weights[k];
            }
        }
    }
    if (implied > 0.0f) {
        moved[local_joints[place] & 0xff] |= (uint64_t)1 << place;
    }
}

static double distance(const float a[3], const float b[3])
{
    double x = (double)a[0] - b[0], y = (double)a[1] - b[1], z = (double)a[2] - b[2];
    return sqrt(x * x + y * y + z * z);
}

/* Whose distance from a centre is the largest. */
static uint32_t farthest(const float (*points)[3], uint32_t count, const float centre[3],
                         double *largest)
{
    uint32_t found = 0;
    *largest = -1.0;
    for (uint32_t i = 0; i < count; i++) {
        double d = distance(points[i], centre);
        if (d > *largest) {
            *largest = d;
            found = i;
        }
    }
    return found;
}

/* From the middle of the points' box, by ever shorter steps towards the farthest point: Badoiu and
 * Clarkson, Smaller core-sets for balls, 2003. The best of the centres passed on the way. */
static void enclose(const float (*points)[3], uint32_t count, float sphere[4])
{
    float centre[3];
    for (int c = 0; c < 3; c++) {
        float min = points[0][c], max = points[0][c];
        for (uint32_t i = 1; i < count; i++) {
            min = points[i][c] < min ? points[i][c] : min;
            max = points[i][c] > max ? points[i][c] : max;
        }
        centre[c] = min + 0.5f * (max - min);
    }
    double best = INFINITY;
    for (int step = 0; step < STEPS && best > 0.0; step++) {
        double radius;
        uint32_t far = farthest(points, count, centre, &radius);
        if (radius < best) {
            best = radius;
            memcpy(sphere, centre, sizeof(centre));
        }
        for (int c = 0; c < 3; c++) {
            centre[c] += (points[far][c] - centre[c]) / (float)(step + 2);
        }
    }
    /* The distance was off by a few 2^-53 of itself. */
    sphere[3] = round_up(best * (1.0 + 0x1p-48));
}

void pelt_clusters_spheres(const pelt_clusters *clusters, const pelt_packed_mesh *mesh,
                           const pelt_packed_vertex *vertices, float *spheres)
{
    for (uint32_t i = 0; i < clusters->cluster_count; i++) {
        const pelt_cluster *cluster = &clusters->clusters[i];
        const uint32_t *table = clusters->vertex_table + cluster->first_vertex;
        uint64_t moved[PELT_CLUSTER_JOINT_MAX] = { 0 };
        for (uint32_t place = 0; place < cluster->vertex_count; place++) {
            mark(clusters, cluster, mesh, place, moved);
        }
        for (uint32_t j = 0; j < cluster->joint_count; j++) {
            float points[PELT_CLUSTER_VERTEX_MAX][3];
            uint32_t count = 0;
            for (uint32_t place = 0; place < cluster->vertex_count; place++) {
                if (moved[j] >> place & 1) {
                    memcpy(points[count++], vertices[table[place]].position, sizeof(points[0]));
                }
            }
            enclose(points, count, spheres + 4 * ((size_t)cluster->first_joint + j));
        }
    }
}
