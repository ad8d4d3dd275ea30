#include "base/base.h"
#include "pack/influences.h"
#include "pack/order.h"
#include "pack/walk.h"

#include <math.h>

/* What has to be known of a primitive before anything is allocated. */
typedef struct extent {
    uint32_t set_count;   /* enough for every vertex; merging and rounding may need fewer */
    uint32_t joint_count; /* largest joint with a given weight + 1 */
    double diagonal;      /* of the positions' box */
} extent;

static pelt_result refuse(const pelt_host *host, const char *what, uint32_t vertex)
{
    return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL, "%s of vertex %u", what, vertex);
}

static bool all_finite(const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            return false;
        }
    }
    return true;
}

static pelt_result check_attributes(const pelt_host *host, const pelt_primitive *primitive,
                                    extent *out)
{
    double min[3] = { INFINITY, INFINITY, INFINITY }, max[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (uint32_t v = 0; v < primitive->vertex_count; v++) {
        const float *position = primitive->positions + 3 * (size_t)v;
        for (int i = 0; i < 3; i++) {
            if (!(fabs((double)position[i]) <= PELT_MAGNITUDE_MAX)) {
                return refuse(host, "not finite or too large: the position", v);
            }
            min[i] = fmin(min[i], position[i]);
            max[i] = fmax(max[i], position[i]);
        }
        if (primitive->normals && !all_finite(primitive->normals + 3 * (size_t)v, 3)) {
            return refuse(host, "not finite: the normal", v);
        }
        if (primitive->tangents && !all_finite(primitive->tangents + 4 * (size_t)v, 4)) {
            return refuse(host, "not finite: the tangent", v);
        }
    }
    out->diagonal =
        sqrt((max[0] - min[0]) * (max[0] - min[0]) + (max[1] - min[1]) * (max[1] - min[1]) +
             (max[2] - min[2]) * (max[2] - min[2]));
    return PELT_OK;
}

static pelt_result check_influences(const pelt_host *host, const pelt_primitive *primitive,
                                    extent *out)
{
    uint32_t slots = primitive->influence_count, most = 0, joint_max = 0;
    for (uint32_t v = 0; v < primitive->vertex_count; v++) {
        const float *weights = primitive->weights + (size_t)v * slots;
        const uint16_t *joints = primitive->joints + (size_t)v * slots;
        uint32_t used = 0;
        for (uint32_t slot = 0; slot < slots; slot++) {
            if (!(weights[slot] >= 0.0f && isfinite(weights[slot]))) {
                return refuse(host, "negative or not finite: a weight", v);
            }
            if (weights[slot] > 0.0f) {
                used++;
                joint_max = joints[slot] > joint_max ? joints[slot] : joint_max;
            }
        }
        if (used == 0) {
            return refuse(host, "all 0: the weights", v);
        }
        most = used > most ? used : most;
    }
    out->set_count = most / 4 + (most % 4 != 0);
    out->joint_count = joint_max + 1;
    return PELT_OK;
}

static pelt_result check(const pelt_host *host, const pelt_pack_info *info, extent *out)
{
    const pelt_primitive *primitive = info ? info->primitive : NULL;
    if (!primitive || primitive->vertex_count == 0 || !primitive->positions) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL, "no vertices to pack");
    }
    if (primitive->vertex_count > UINT32_MAX / sizeof(pelt_packed_vertex)) {
        return pelt_fail(host, PELT_ERROR_RANGE, NULL, NULL,
                         "%u vertices need a stream of 4 GiB or more", primitive->vertex_count);
    }
    *out = (extent){ .set_count = 1, .joint_count = 1 };
    pelt_result result = check_attributes(host, primitive, out);
    if (result || info->rigid || primitive->influence_count == 0) {
        return result;
    }
    if (!primitive->joints || !primitive->weights) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "influences without joints or weights");
    }
    return check_influences(host, primitive, out);
}

/* Fills mesh's counts and allocates its streams. */
static pelt_result allocate(pelt_packed_mesh *mesh, const pelt_primitive *primitive)
{
    const pelt_host *host = mesh->host;
    size_t count = mesh->vertex_count, sets = mesh->set_count, words = mesh->joint_bytes;
    size_t weight_words = 2 * sets - 1, joint_words = words * sets; /* of a vertex */
    size_t widest = weight_words > joint_words ? weight_words : joint_words;
    if (widest > UINT32_MAX / sizeof(uint32_t) / count) {
        return pelt_fail(host, PELT_ERROR_RANGE, NULL, NULL,
                         "%u vertices of up to %u influences need a stream of 4 GiB or more",
                         mesh->vertex_count, 4 * mesh->set_count);
    }
    mesh->vertices = pelt_allocate(host, count, sizeof(*mesh->vertices));
    mesh->weights = pelt_allocate(host, count * weight_words, sizeof(*mesh->weights));
    mesh->joints = pelt_allocate(host, count * joint_words, sizeof(*mesh->joints));
    mesh->source_vertices = pelt_allocate(host, count, sizeof(*mesh->source_vertices));
    mesh->packed_vertices = pelt_allocate(host, count, sizeof(*mesh->packed_vertices));
    if (primitive->tangents) {
        mesh->tangents = pelt_allocate(host, count, sizeof(*mesh->tangents));
    }
    if (!mesh->vertices || !mesh->weights || !mesh->joints || !mesh->source_vertices ||
        !mesh->packed_vertices || (primitive->tangents && !mesh->tangents)) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for %u packed vertices",
                         mesh->vertex_count);
    }
    return PELT_OK;
}

/* The order that mesh has if the caller gives none. */
static void choose_order(pelt_packed_mesh *mesh, const pelt_primitive *primitive)
{
    if (!mesh->rigid) {
        pelt_order_by_influences(primitive, mesh->source_vertices);
        return;
    }
    for (uint32_t vertex = 0; vertex < mesh->vertex_count; vertex++) {
        mesh->source_vertices[vertex] = vertex;
    }
}

/* Fills both maps: from the caller's order, or from what is in source_vertices. */
static pelt_result remap(pelt_packed_mesh *mesh, const uint32_t *order)
{
    memset(mesh->packed_vertices, 0xff, mesh->vertex_count * sizeof(*mesh->packed_vertices));
    for (uint32_t to = 0; to < mesh->vertex_count; to++) {
        uint32_t from = order ? order[to] : mesh->source_vertices[to];
        if (from >= mesh->vertex_count || mesh->packed_vertices[from] != UINT32_MAX) {
            return pelt_fail(mesh->host, PELT_ERROR_ARGUMENT, NULL, NULL,
                             "the order is no permutation: entry %u is %u", to, from);
        }
        mesh->source_vertices[to] = from;
        mesh->packed_vertices[from] = to;
    }
    return PELT_OK;
}

/* sin^2 of the angle between a direction and its code, 1 from a right angle on; 0 where there is no
 * direction. */
static double direction_error(const float given[3], uint32_t code)
{
    float d[3];
    pelt_decode_direction(code, d, NULL);
    double g[3] = { given[0], given[1], given[2] };
    double c[3] = { g[1] * d[2] - g[2] * d[1], g[2] * d[0] - g[0] * d[2],
                    g[0] * d[1] - g[1] * d[0] };
    if (g[0] * d[0] + g[1] * d[1] + g[2] * d[2] < 0.0) {
        return 1.0;
    }
    double lengths = (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) *
                     ((double)d[0] * d[0] + (double)d[1] * d[1] + (double)d[2] * d[2]);
    return lengths > 0.0 ? (c[0] * c[0] + c[1] * c[1] + c[2] * c[2]) / lengths : 0.0;
}

static void pack_attributes(pelt_packed_mesh *mesh, const pelt_primitive *primitive)
{
    double normal_error = 0.0, tangent_error = 0.0;
    for (uint32_t to = 0; to < mesh->vertex_count; to++) {
        size_t from = mesh->source_vertices[to];
        pelt_packed_vertex *vertex = &mesh->vertices[to];
        memcpy(vertex->position, primitive->positions + 3 * from, sizeof(vertex->position));
        static const float up[3] = { 0.0f, 0.0f, 1.0f };
        const float *normal = primitive->normals ? primitive->normals + 3 * from : up;
        vertex->normal = pelt_encode_direction(normal, 1.0f);
        normal_error = fmax(normal_error, direction_error(normal, vertex->normal));
        if (mesh->tangents) {
            const float *tangent = primitive->tangents + 4 * from;
            mesh->tangents[to] = pelt_encode_direction(tangent, tangent[3]);
            tangent_error = fmax(tangent_error, direction_error(tangent, mesh->tangents[to]));
        }
    }
    mesh->report.normal_error = (float)asin(sqrt(normal_error));
    mesh->report.tangent_error = (float)asin(sqrt(tangent_error));
}

/* Writes one set of a vertex from four codes over 65536. */
static void write_set(pelt_packed_mesh *mesh, uint32_t set, uint32_t vertex,
                      const uint32_t codes[4], const uint32_t joints[4])
{
    if (set == 0) {
        enum { SHIFT = FURTHER_DIGITS - FIRST_DIGITS };
        mesh->weights[vertex] =
            encode_first_weights(codes[1] >> SHIFT, codes[2] >> SHIFT, codes[3] >> SHIFT);
    } else {
        uint32_t *words = mesh->weights + further_weights_at(mesh->vertex_count, set, vertex);
        words[0] = codes[0] | (codes[1] << 16);
        words[1] = codes[2] | (codes[3] << 16);
    }
    uint32_t *words = mesh->joints + joints_at(mesh->vertex_count, mesh->joint_bytes, set, vertex);
    if (mesh->joint_bytes == 1) {
        words[0] = joints[0] | (joints[1] << 8) | (joints[2] << 16) | (joints[3] << 24);
    } else {
        words[0] = joints[0] | (joints[1] << 16);
        words[1] = joints[2] | (joints[3] << 16);
    }
}

/* Packs all influences; *set_count becomes what they turned out to need. codes: 4 a set. */
static void pack_influences(pelt_packed_mesh *mesh, pelt_gather *gather, double diagonal,
                            uint32_t *codes, uint32_t *set_count)
{
    pelt_pack_report *report = &mesh->report;
    double weight_error = 0.0, total_error = 0.0;
    uint32_t sets_used = 1, joint_max = 0;
    for (uint32_t to = 0; to < mesh->vertex_count; to++) {
        pelt_gather_vertex(gather, mesh->source_vertices[to]);
        pelt_round_influences(gather->list, gather->count, codes);
        uint32_t implied = gather->list[0].joint, used = 0;
        double total = 0.0;
        for (uint32_t i = 0; i < gather->count; i++) {
            double error = fabs(codes[i] / 65536.0 - gather->list[i].weight);
            weight_error = fmax(weight_error, error);
            total += error;
            used += codes[i] != 0;
        }
        total_error = fmax(total_error, total);
        report->influence_max = used > report->influence_max ? used : report->influence_max;
        report->influences_merged += gather->merged;
        report->influences_rounded += gather->count - used;
        joint_max = implied > joint_max ? implied : joint_max;

        for (uint32_t set = 0; set < mesh->set_count; set++) {
            uint32_t set_codes[4] = { 0 }, joints[4] = { implied, implied, implied, implied };
            for (uint32_t k = 0; k < 4 && 4 * set + k < gather->count; k++) {
                set_codes[k] = codes[4 * set + k];
                if (set_codes[k] != 0) {
                    joints[k] = gather->list[4 * set + k].joint;
                    joint_max = joints[k] > joint_max ? joints[k] : joint_max;
                    sets_used = set + 1 > sets_used ? set + 1 : sets_used;
                }
            }
            write_set(mesh, set, to, set_codes, joints);
        }
    }
    report->weight_error = (float)weight_error;
    report->position_error = (float)(total_error / 2.0 * diagonal);
    mesh->joint_count = joint_max + 1;
    *set_count = sets_used;
}

static pelt_result shrink(const pelt_host *host, uint32_t **stream, size_t words)
{
    uint32_t *smaller = pelt_reallocate(host, *stream, words * sizeof(**stream));
    if (!smaller) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a packed stream");
    }
    *stream = smaller;
    return PELT_OK;
}

/* Gives back sets that merging and rounding left empty, and the high bytes of joints if the large
 * indices lost their weights. */
static pelt_result trim(pelt_packed_mesh *mesh, uint32_t set_count)
{
    bool narrower = mesh->joint_bytes == 2 && mesh->joint_count <= 256;
    if (set_count == mesh->set_count && !narrower) {
        return PELT_OK;
    }
    mesh->set_count = set_count;
    if (narrower) {
        mesh->joint_bytes = 1;
        for (size_t i = 0; i < (size_t)set_count * mesh->vertex_count; i++) {
            uint32_t low = mesh->joints[2 * i], high = mesh->joints[2 * i + 1];
            mesh->joints[i] =
                (low & 0xff) | ((low >> 16) << 8) | ((high & 0xff) << 16) | ((high >> 16) << 24);
        }
    }
    pelt_packed_sizes sizes = pelt_packed_mesh_sizes(mesh);
    pelt_result result = shrink(mesh->host, &mesh->weights, sizes.weights / sizeof(uint32_t));
    return result ? result : shrink(mesh->host, &mesh->joints, sizes.joints / sizeof(uint32_t));
}

pelt_result pelt_pack(const pelt_host *host, const pelt_pack_info *info, pelt_packed_mesh **out)
{
    *out = NULL;
    extent need = { 0 };
    pelt_result result = check(host, info, &need);
    if (result) {
        return result;
    }
    const pelt_primitive *primitive = info->primitive;
    pelt_gather gather = { 0 };
    uint32_t *codes = NULL;
    pelt_packed_mesh *mesh = pelt_allocate(host, 1, sizeof(*mesh));
    if (!mesh) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a packed mesh");
    }
    mesh->host = host;
    mesh->vertex_count = primitive->vertex_count;
    mesh->set_count = need.set_count;
    mesh->joint_bytes = need.joint_count <= 256 ? 1 : 2;
    mesh->rigid = info->rigid || primitive->influence_count == 0;
    mesh->has_normals = primitive->normals != NULL;
    result = allocate(mesh, primitive);
    if (result) {
        goto done;
    }
    choose_order(mesh, primitive);
    result = remap(mesh, info->order);
    if (result) {
        goto done;
    }
    result = pelt_gather_init(&gather, host, mesh->rigid ? NULL : primitive, need.joint_count);
    if (result) {
        goto done;
    }
    codes = pelt_allocate(host, 4 * (size_t)mesh->set_count, sizeof(*codes));
    if (!codes) {
        result = pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for influences");
        goto done;
    }
    pack_attributes(mesh, primitive);
    uint32_t set_count;
    pack_influences(mesh, &gather, need.diagonal, codes, &set_count);
    result = trim(mesh, set_count);
    if (result) {
        goto done;
    }
    *out = mesh;
    mesh = NULL;
done:
    pelt_release(host, codes);
    pelt_gather_finish(&gather);
    pelt_packed_mesh_destroy(mesh);
    return result;
}

void pelt_packed_mesh_destroy(pelt_packed_mesh *mesh)
{
    if (!mesh) {
        return;
    }
    pelt_release(mesh->host, mesh->vertices);
    pelt_release(mesh->host, mesh->tangents);
    pelt_release(mesh->host, mesh->weights);
    pelt_release(mesh->host, mesh->joints);
    pelt_release(mesh->host, mesh->source_vertices);
    pelt_release(mesh->host, mesh->packed_vertices);
    pelt_release(mesh->host, mesh);
}

pelt_packed_sizes pelt_packed_mesh_sizes(const pelt_packed_mesh *mesh)
{
    size_t count = mesh->vertex_count, sets = mesh->set_count;
    return (pelt_packed_sizes){
        .vertices = count * sizeof(*mesh->vertices),
        .tangents = mesh->tangents ? count * sizeof(*mesh->tangents) : 0,
        .weights = count * (2 * sets - 1) * sizeof(*mesh->weights),
        .joints = count * sets * mesh->joint_bytes * sizeof(*mesh->joints),
    };
}

void pelt_unpack_influences(const pelt_packed_mesh *mesh, uint32_t vertex, uint32_t *joints,
                            float *weights)
{
    float implied = 1.0f;
    for (uint32_t set = 0; set < mesh->set_count; set++) {
        decode_set(mesh, set, vertex, joints + 4 * (size_t)set, weights + 4 * (size_t)set,
                   &implied);
    }
    weights[0] = implied;
}
