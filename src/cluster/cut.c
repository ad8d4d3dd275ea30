/* A level's triangles cut into clusters. meshoptimizer groups them; what it knows nothing of, the
 * joints, and limits that it cannot have, are kept by closing clusters early. */
#include "cluster/cluster.h"

#include <math.h>
#include <meshoptimizer.h>
#include <string.h>

enum {
    NONE = UINT32_MAX,
    CORNERS = 3,

    /* meshoptimizer 0.18 wants a multiple of four. No more than 124 is lost by it: by Euler's
     * formula a piece of surface of 64 vertices has 64 x 2 - 4 triangles at most unless it has
     * a hole through it like a ring. */
    GROUPED_MULTIPLE = 4
};

struct cluster_cutter {
    const pelt_host *host;
    const pelt_packed_mesh *mesh;
    pelt_clusters *out;
    uint32_t most_vertices, most_triangles;
    size_t cluster_capacity, vertex_capacity, triangle_capacity, local_capacity, joint_capacity;

    /* The cluster that grows: its lists, and the places of vertices and joints in them. */
    uint32_t vertex_count, triangle_count, joint_count;
    uint32_t vertices[PELT_CLUSTER_VERTEX_MAX + CORNERS];
    uint32_t corners[CORNERS * PELT_CLUSTER_TRIANGLE_MAX];
    uint32_t *joints;        /* PELT_CLUSTER_JOINT_MAX, and what a triangle can add */
    uint32_t *vertex_places; /* of each packed vertex, or NONE */
    uint32_t *joint_places;  /* of each joint of the mesh, or NONE */

    uint32_t *influence_joints; /* of one vertex */
    float *influence_weights;
};

/* Of a vertex. */
static uint32_t influence_count(const cluster_cutter *cutter)
{
    return 4 * cutter->mesh->set_count;
}

static pelt_result no_memory(const cluster_cutter *cutter)
{
    return pelt_fail(cutter->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for clusters");
}

pelt_result pelt_cutter_create(const pelt_host *host, const pelt_clusters_info *info,
                               pelt_clusters *out, cluster_cutter **cutter)
{
    const pelt_packed_mesh *mesh = info->mesh;
    size_t influences = 4 * (size_t)mesh->set_count;
    cluster_cutter *c = pelt_allocate(host, 1, sizeof(*c));
    *cutter = c;
    if (!c) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for clusters");
    }
    c->host = host;
    c->mesh = mesh;
    c->out = out;
    c->most_vertices = info->most_vertices ? info->most_vertices : PELT_CLUSTER_VERTEX_MAX;
    c->most_triangles = info->most_triangles ? info->most_triangles : PELT_CLUSTER_TRIANGLE_MAX;
    c->joints =
        pelt_allocate(host, PELT_CLUSTER_JOINT_MAX + CORNERS * influences, sizeof(*c->joints));
    c->vertex_places = pelt_allocate(host, mesh->vertex_count, sizeof(*c->vertex_places));
    c->joint_places = pelt_allocate(host, mesh->joint_count, sizeof(*c->joint_places));
    c->influence_joints = pelt_allocate(host, influences, sizeof(*c->influence_joints));
    c->influence_weights = pelt_allocate(host, influences, sizeof(*c->influence_weights));
    if (!c->joints || !c->vertex_places || !c->joint_places || !c->influence_joints ||
        !c->influence_weights) {
        return no_memory(c);
    }
    memset(c->vertex_places, 0xff, mesh->vertex_count * sizeof(*c->vertex_places));
    memset(c->joint_places, 0xff, mesh->joint_count * sizeof(*c->joint_places));
    return PELT_OK;
}

void pelt_cutter_destroy(cluster_cutter *cutter)
{
    if (!cutter) {
        return;
    }
    pelt_release(cutter->host, cutter->joints);
    pelt_release(cutter->host, cutter->vertex_places);
    pelt_release(cutter->host, cutter->joint_places);
    pelt_release(cutter->host, cutter->influence_joints);
    pelt_release(cutter->host, cutter->influence_weights);
    pelt_release(cutter->host, cutter);
}

/* Leaves the growing cluster with as many vertices and joints as it had. */
static void shorten(cluster_cutter *cutter, uint32_t vertex_count, uint32_t joint_count)
{
    while (cutter->vertex_count > vertex_count) {
        cutter->vertex_places[cutter->vertices[--cutter->vertex_count]] = NONE;
    }
    while (cutter->joint_count > joint_count) {
        cutter->joint_places[cutter->joints[--cutter->joint_count]] = NONE;
    }
}

/* Lists a vertex, and the joints that move it. */
static void list_vertex(cluster_cutter *cutter, uint32_t vertex)
{
    if (cutter->vertex_places[vertex] != NONE) {
        return;
    }
    cutter->vertex_places[vertex] = cutter->vertex_count;
    cutter->vertices[cutter->vertex_count++] = vertex;
    pelt_unpack_influences(cutter->mesh, vertex, cutter->influence_joints,
                           cutter->influence_weights);
    for (uint32_t i = 0; i < influence_count(cutter); i++) {
        uint32_t joint = cutter->influence_joints[i];
        if (cutter->influence_weights[i] > 0.0f && cutter->joint_places[joint] == NONE) {
            cutter->joint_places[joint] = cutter->joint_count;
            cutter->joints[cutter->joint_count++] = joint;
        }
    }
}

/* False, and nothing is changed, if the growing cluster has no room for the triangle. */
static bool take_triangle(cluster_cutter *cutter, const uint32_t corners[CORNERS])
{
    uint32_t vertex_count = cutter->vertex_count, joint_count = cutter->joint_count;
    if (cutter->triangle_count == cutter->most_triangles) {
        return false;
    }
    for (int i = 0; i < CORNERS; i++) {
        list_vertex(cutter, corners[i]);
    }
    if (cutter->vertex_count > cutter->most_vertices ||
        cutter->joint_count > PELT_CLUSTER_JOINT_MAX) {
        shorten(cutter, vertex_count, joint_count);
        return false;
    }
    memcpy(cutter->corners + CORNERS * (size_t)cutter->triangle_count++, corners,
           CORNERS * sizeof(*corners));
    return true;
}

/* In rising order: neighbouring lanes of a GPU then read neighbouring memory. */
static void sort(uint32_t *values, uint32_t count, uint32_t *places)
{
    for (uint32_t i = 1; i < count; i++) {
        uint32_t value = values[i], at = i;
        for (; at > 0 && values[at - 1] > value; at--) {
            values[at] = values[at - 1];
        }
        values[at] = value;
    }
    for (uint32_t i = 0; i < count; i++) {
        places[values[i]] = i;
    }
}

/* Room for more elements behind count of them; the arrays double. */
static pelt_result reserve(const cluster_cutter *cutter, void *array, size_t *capacity,
                           uint32_t count, uint32_t more, size_t size)
{
    void **block = array;
    size_t need = (size_t)count + more, bytes;
    if (need > UINT32_MAX) {
        return pelt_fail(cutter->host, PELT_ERROR_RANGE, NULL, NULL,
                         "clusters too large for offsets of 32 bits");
    }
    if (need <= *capacity) {
        return PELT_OK;
    }
    size_t wanted = 2 * *capacity > need ? 2 * *capacity : need + 256;
    void *larger =
        pelt_multiply(wanted, size, &bytes) ? pelt_reallocate(cutter->host, *block, bytes) : NULL;
    if (!larger) {
        return no_memory(cutter);
    }
    *block = larger;
    *capacity = wanted;
    return PELT_OK;
}

static pelt_result reserve_for_cluster(cluster_cutter *cutter)
{
    pelt_clusters *out = cutter->out;
    size_t word = sizeof(uint32_t);
    pelt_result result = reserve(cutter, &out->clusters, &cutter->cluster_capacity,
                                 out->cluster_count, 1, sizeof(*out->clusters));
    result = result ? result
                    : reserve(cutter, &out->vertex_table, &cutter->vertex_capacity,
                              out->vertex_count, cutter->vertex_count, word);
    result = result ? result
                    : reserve(cutter, &out->triangles, &cutter->triangle_capacity,
                              out->triangle_count, cutter->triangle_count, word);
    result = result ? result
                    : reserve(cutter, &out->joints, &cutter->joint_capacity, out->joint_count,
                              cutter->joint_count, word);
    size_t words = ((size_t)out->vertex_count + cutter->vertex_count) * out->set_count;
    if (!result && words > UINT32_MAX) {
        result = pelt_fail(cutter->host, PELT_ERROR_RANGE, NULL, NULL,
                           "clusters too large for offsets of 32 bits");
    }
    return result ? result
                  : reserve(cutter, &out->local_joints, &cutter->local_capacity,
                            out->vertex_count * out->set_count,
                            cutter->vertex_count * out->set_count, word);
}

/* A vertex's influences as places in the list of joints; those of weight 0, which may be of joints
 * that are not listed, as that of the implied weight, which never is 0. */
static void write_local_joints(cluster_cutter *cutter, uint32_t place, uint32_t *words)
{
    pelt_unpack_influences(cutter->mesh, cutter->vertices[place], cutter->influence_joints,
                           cutter->influence_weights);
    for (uint32_t set = 0; set < cutter->mesh->set_count; set++) {
        uint32_t word = 0;
        for (uint32_t k = 0; k < 4; k++) {
            bool used = cutter->influence_weights[4 * (size_t)set + k] > 0.0f;
            uint32_t joint = cutter->influence_joints[used ? 4 * (size_t)set + k : 0];
            word |= cutter->joint_places[joint] << (8 * k);
        }
        words[(size_t)set * cutter->vertex_count + place] = word;
    }
}

/* Writes the growing cluster and begins another one. */
static pelt_result close_cluster(cluster_cutter *cutter)
{
    if (cutter->triangle_count == 0) {
        return PELT_OK;
    }
    pelt_clusters *out = cutter->out;
    pelt_result result = reserve_for_cluster(cutter);
    if (result) {
        return result;
    }
    sort(cutter->vertices, cutter->vertex_count, cutter->vertex_places);
    sort(cutter->joints, cutter->joint_count, cutter->joint_places);
    uint32_t *local_joints = out->local_joints + (size_t)out->set_count * out->vertex_count;
    for (uint32_t i = 0; i < cutter->vertex_count; i++) {
        out->vertex_table[out->vertex_count + i] = cutter->vertices[i];
        write_local_joints(cutter, i, local_joints);
    }
    for (uint32_t i = 0; i < cutter->triangle_count; i++) {
        const uint32_t *corners = cutter->corners + CORNERS * (size_t)i;
        const uint32_t *places = cutter->vertex_places;
        out->triangles[out->triangle_count + i] =
            places[corners[0]] | (places[corners[1]] << 8) | (places[corners[2]] << 16);
    }
    memcpy(out->joints + out->joint_count, cutter->joints,
           cutter->joint_count * sizeof(*out->joints));
    out->clusters[out->cluster_count++] = (pelt_cluster){
        .first_vertex = out->vertex_count,
        .vertex_count = cutter->vertex_count,
        .first_triangle = out->triangle_count,
        .triangle_count = cutter->triangle_count,
        .first_joint = out->joint_count,
        .joint_count = cutter->joint_count,
        .lod = out->lod_count,
    };
    out->vertex_count += cutter->vertex_count;
    out->triangle_count += cutter->triangle_count;
    out->joint_count += cutter->joint_count;
    out->most_joints =
        cutter->joint_count > out->most_joints ? cutter->joint_count : out->most_joints;
    cutter->triangle_count = 0;
    shorten(cutter, 0, 0);
    return PELT_OK;
}

static pelt_result add_triangle(cluster_cutter *cutter, const uint32_t corners[CORNERS])
{
    if (take_triangle(cutter, corners)) {
        return PELT_OK;
    }
    pelt_result result = close_cluster(cutter);
    if (result || take_triangle(cutter, corners)) {
        return result;
    }
    return pelt_fail(cutter->host, PELT_ERROR_RANGE, NULL, NULL,
                     "a triangle is moved by more joints than the %d of a cluster",
                     PELT_CLUSTER_JOINT_MAX);
}

/* What meshoptimizer makes of a level. */
typedef struct grouping {
    size_t count;
    struct meshopt_Meshlet *meshlets;
    unsigned int *vertices;
    unsigned char *triangles;
} grouping;

static void release_grouping(const pelt_host *host, grouping *groups)
{
    pelt_release(host, groups->meshlets);
    pelt_release(host, groups->vertices);
    pelt_release(host, groups->triangles);
}

/* Positions scaled into a unit box of the triangles' own: meshoptimizer squares areas in float, and
 * where they overflow it leaves triangles out. */
static float *unit_positions(const cluster_cutter *cutter, const triangle_list *triangles)
{
    float *positions =
        pelt_allocate(cutter->host, cutter->mesh->vertex_count, 3 * sizeof(*positions));
    if (!positions) {
        return NULL;
    }
    const pelt_packed_vertex *vertices = cutter->mesh->vertices;
    double min[3] = { INFINITY, INFINITY, INFINITY }, max[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (size_t i = 0; i < CORNERS * (size_t)triangles->count; i++) {
        const float *position = vertices[triangles->corners[i]].position;
        for (int c = 0; c < 3; c++) {
            min[c] = fmin(min[c], (double)position[c]);
            max[c] = fmax(max[c], (double)position[c]);
        }
    }
    double extent = fmax(fmax(max[0] - min[0], max[1] - min[1]), max[2] - min[2]);
    for (size_t i = 0; extent > 0.0 && i < CORNERS * (size_t)triangles->count; i++) {
        size_t vertex = triangles->corners[i];
        for (int c = 0; c < 3; c++) {
            positions[3 * vertex + c] =
                (float)(((double)vertices[vertex].position[c] - min[c]) / extent);
        }
    }
    return positions;
}

static pelt_result group(const cluster_cutter *cutter, const cluster_level *level, grouping *groups)
{
    const triangle_list *triangles = &level->triangles;
    size_t index_count = CORNERS * (size_t)triangles->count;
    size_t most_vertices = cutter->most_vertices;
    size_t most_triangles = cutter->most_triangles / GROUPED_MULTIPLE * GROUPED_MULTIPLE;
    most_triangles = most_triangles ? most_triangles : GROUPED_MULTIPLE;
    size_t bound = meshopt_buildMeshletsBound(index_count, most_vertices, most_triangles);
    groups->meshlets = pelt_allocate(cutter->host, bound, sizeof(*groups->meshlets));
    groups->vertices =
        pelt_allocate(cutter->host, bound, most_vertices * sizeof(*groups->vertices));
    groups->triangles = pelt_allocate(cutter->host, bound, CORNERS * most_triangles);
    float *positions = unit_positions(cutter, triangles);
    pelt_result result = PELT_OK;
    if (!groups->meshlets || !groups->vertices || !groups->triangles || !positions) {
        result = no_memory(cutter);
    } else if (level->tangled) {
        groups->count = meshopt_buildMeshletsScan(
            groups->meshlets, groups->vertices, groups->triangles, triangles->corners, index_count,
            cutter->mesh->vertex_count, most_vertices, most_triangles);
    } else {
        groups->count = meshopt_buildMeshlets(groups->meshlets, groups->vertices, groups->triangles,
                                              triangles->corners, index_count, positions,
                                              cutter->mesh->vertex_count, 3 * sizeof(*positions),
                                              most_vertices, most_triangles, 0.0f);
    }
    pelt_release(cutter->host, positions);
    return result;
}

/* Different vertices that triangles have. */
static uint32_t count_vertices(cluster_cutter *cutter, const triangle_list *triangles)
{
    uint32_t count = 0;
    for (size_t i = 0; i < CORNERS * (size_t)triangles->count; i++) {
        uint32_t *place = &cutter->vertex_places[triangles->corners[i]];
        count += *place == NONE;
        *place = 0;
    }
    for (size_t i = 0; i < CORNERS * (size_t)triangles->count; i++) {
        cutter->vertex_places[triangles->corners[i]] = NONE;
    }
    return count;
}

pelt_result pelt_cutter_add_level(cluster_cutter *cutter, const cluster_level *level)
{
    const triangle_list *triangles = &level->triangles;
    pelt_clusters *out = cutter->out;
    pelt_lod *lod = &out->lods[out->lod_count];
    grouping groups = { 0 };
    *lod = (pelt_lod){ .first_cluster = out->cluster_count,
                       .triangle_count = triangles->count,
                       .vertex_count = count_vertices(cutter, triangles),
                       .error = level->error,
                       .bind_error = level->bind_error };
    pelt_result result = triangles->count ? group(cutter, level, &groups) : PELT_OK;
    for (size_t i = 0; i < groups.count && !result; i++) {
        const struct meshopt_Meshlet *meshlet = &groups.meshlets[i];
        for (size_t t = 0; t < meshlet->triangle_count && !result; t++) {
            const unsigned char *places = groups.triangles + meshlet->triangle_offset + CORNERS * t;
            uint32_t corners[CORNERS];
            for (int k = 0; k < CORNERS; k++) {
                corners[k] = groups.vertices[meshlet->vertex_offset + places[k]];
            }
            result = add_triangle(cutter, corners);
        }
        result = result ? result : close_cluster(cutter);
    }
    release_grouping(cutter->host, &groups);
    lod->cluster_count = out->cluster_count - lod->first_cluster;
    out->lod_count++;
    return result;
}
