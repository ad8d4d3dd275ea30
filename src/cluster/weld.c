/* One vertex instead of several that differ in their normals and tangents alone: kept apart, those
 * of a hard edge can only be collapsed along it, and a surface of flat triangles has no edges that
 * could be. */
#include "cluster/cluster.h"
#include "pack/codec.h"

enum { NONE = UINT32_MAX };

/* Takes count bytes into a hash: Fowler, Noll and Vo's. */
static uint32_t hash_bytes(uint32_t hash, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * 16777619u;
    }
    return hash;
}

/* What must be equal of two vertices: compared, or of the first one taken into a hash. */
typedef struct vertex_key {
    uint32_t a, b; /* packed vertices */
    bool comparing, equal;
    uint32_t hash;
} vertex_key;

/* size bytes of a stream, which is NULL where there is none. */
static void visit(vertex_key *key, const void *stream, size_t stride, size_t size, uint32_t a,
                  uint32_t b)
{
    if (!stream) {
        return;
    }
    const char *first = (const char *)stream + stride * a;
    const char *second = (const char *)stream + stride * b;
    if (key->comparing) {
        key->equal = key->equal && memcmp(first, second, size) == 0;
    } else {
        key->hash = hash_bytes(key->hash, first, size);
    }
}

static void visit_all(vertex_key *key, const pelt_clusters_info *info)
{
    const pelt_packed_mesh *mesh = info->mesh;
    const pelt_primitive *primitive = info->primitive;
    uint32_t a = mesh->source_vertices[key->a], b = mesh->source_vertices[key->b];
    size_t two = 2 * sizeof(float), three = 3 * sizeof(float), four = 4 * sizeof(float);
    visit(key, primitive->texcoords, two, two, a, b);
    visit(key, primitive->colors, four, four, a, b);
    for (uint32_t t = 0; t < primitive->target_count; t++) {
        visit(key, primitive->targets[t].positions, three, three, a, b);
    }
    visit(key, mesh->vertices, sizeof(*mesh->vertices), three, key->a, key->b);
    size_t joints = mesh->joint_bytes * sizeof(*mesh->joints);
    for (uint32_t set = 0; set < mesh->set_count; set++) {
        size_t weights = (set ? 2 : 1) * sizeof(*mesh->weights);
        visit(key, mesh->weights + (set ? further_weights_at(mesh->vertex_count, set, 0) : 0),
              weights, weights, key->a, key->b);
        visit(key, mesh->joints + joints_at(mesh->vertex_count, mesh->joint_bytes, set, 0), joints,
              joints, key->a, key->b);
    }
}

/* The vertex that stands for this one: the first of those equal to it that a triangle has. */
static uint32_t representative(const pelt_clusters_info *info, uint32_t vertex, uint32_t *table,
                               size_t table_size)
{
    vertex_key key = { .a = vertex, .b = vertex, .hash = 2166136261u };
    visit_all(&key, info);
    for (size_t at = key.hash;; at++) {
        uint32_t *slot = &table[at & (table_size - 1)];
        if (*slot == NONE) {
            *slot = vertex;
            return vertex;
        }
        vertex_key both = { .a = vertex, .b = *slot, .comparing = true, .equal = true };
        visit_all(&both, info);
        if (both.equal) {
            return *slot;
        }
    }
}

pelt_result pelt_weld(const pelt_host *host, const pelt_clusters_info *info,
                      triangle_list *triangles)
{
    uint32_t vertex_count = info->mesh->vertex_count, kept = 0;
    size_t table_size = 1;
    while (table_size < 2 * (size_t)vertex_count) {
        table_size *= 2;
    }
    uint32_t *table = pelt_allocate(host, table_size, sizeof(*table));
    uint32_t *stands_for = pelt_allocate(host, vertex_count, sizeof(*stands_for));
    pelt_result result = PELT_OK;
    if (!table || !stands_for) {
        result = pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory to weld %u vertices",
                           vertex_count);
        goto done;
    }
    memset(table, 0xff, table_size * sizeof(*table));
    memset(stands_for, 0xff, vertex_count * sizeof(*stands_for));
    for (size_t i = 0; i < 3 * (size_t)triangles->count; i++) {
        uint32_t vertex = triangles->corners[i];
        if (stands_for[vertex] == NONE) {
            stands_for[vertex] = representative(info, vertex, table, table_size);
        }
    }
    for (size_t t = 0; t < triangles->count; t++) {
        const uint32_t *given = triangles->corners + 3 * t;
        uint32_t a = stands_for[given[0]], b = stands_for[given[1]], c = stands_for[given[2]];
        if (a != b && b != c && c != a) {
            uint32_t *welded = triangles->corners + 3 * (size_t)kept++;
            welded[0] = a;
            welded[1] = b;
            welded[2] = c;
        }
    }
    triangles->count = kept;
done:
    pelt_release(host, table);
    pelt_release(host, stands_for);
    return result;
}
