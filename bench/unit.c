/* What an instance is made of: meshes packed, their joint boxes, and palettes. */
#include "bench/internal.h"

#include <math.h>
#include <string.h>

/* Makes the packed joints 16 bits wide. */
static pelt_result widen_joints(const pelt_host *host, pelt_packed_mesh *mesh)
{
    if (mesh->joint_bytes == 2) {
        return PELT_OK;
    }
    size_t count = (size_t)mesh->set_count * mesh->vertex_count;
    uint32_t *wide = pelt_allocate(host, count, 2 * sizeof(uint32_t));
    if (!wide) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for wide joints");
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t word = mesh->joints[i];
        wide[2 * i] = (word & 0xff) | (word >> 8 & 0xff) << 16;
        wide[2 * i + 1] = (word >> 16 & 0xff) | word >> 24 << 16;
    }
    pelt_release(host, mesh->joints);
    mesh->joints = wide;
    mesh->joint_bytes = 2;
    return PELT_OK;
}

static pelt_result pack(pelt_bench_unit *unit, pelt_bench_vertices *vertices, uint32_t joint_bits,
                        pelt_bench_mesh *mesh)
{
    const pelt_primitive primitive = {
        .topology = PELT_POINTS,
        .vertex_count = vertices->count,
        .positions = vertices->positions,
        .normals = vertices->normals,
        .tangents = vertices->tangents,
        .influence_count = 4,
        .joints = vertices->joints,
        .weights = vertices->weights,
        .material = -1,
    };
    pelt_result result =
        pelt_pack(unit->host, &(pelt_pack_info){ .primitive = &primitive }, &mesh->packed);
    if (result == PELT_OK && joint_bits == 16) {
        result = widen_joints(unit->host, mesh->packed);
    }
    if (result == PELT_OK && joint_bits == 8 && mesh->packed->joint_bytes != 1) {
        result = pelt_fail(unit->host, PELT_ERROR_ARGUMENT, NULL, NULL,
                           "8-bit joints: the mesh uses joint %u", mesh->packed->joint_count - 1);
    }
    if (result == PELT_OK) {
        result = pelt_joint_boxes_create(unit->host, mesh->packed, NULL, &mesh->joint_boxes);
    }
    return result;
}

/* Appends a mesh that uses the palette from first_matrix on. */
static pelt_result add_mesh(pelt_bench_unit *unit, pelt_bench_vertices *vertices,
                            uint32_t joint_bits, uint32_t first_matrix)
{
    pelt_bench_mesh *mesh = &unit->meshes[unit->mesh_count];
    mesh->first_vertex = unit->vertex_count;
    mesh->first_joint_word = unit->joint_word_count;
    mesh->first_matrix = first_matrix;
    mesh->first_bind = unit->bind_count;
    unit->mesh_count++;
    pelt_result result = pack(unit, vertices, joint_bits, mesh);
    if (result != PELT_OK) {
        return result;
    }
    uint64_t total = (uint64_t)unit->vertex_count + vertices->count;
    if (total > PELT_BENCH_VERTICES_MAX) {
        return pelt_fail(unit->host, PELT_ERROR_RANGE, NULL, NULL,
                         "an instance has more than %u vertices", PELT_BENCH_VERTICES_MAX);
    }
    unit->vertex_count = (uint32_t)total;
    unit->joint_word_count += mesh->packed->joint_bytes * vertices->count;
    unit->bind_count += mesh->joint_boxes->joint_count;
    return PELT_OK;
}

static pelt_result make(pelt_bench_unit *unit, const pelt_bench_scene *scene)
{
    uint32_t count = scene->mixture ? BENCH_MIXTURE_COUNT : 1;
    unit->meshes = pelt_allocate(unit->host, count, sizeof(*unit->meshes));
    if (!unit->meshes) {
        return pelt_fail(unit->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for meshes");
    }
    unit->matrix_count = scene->joints;
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < count; i++) {
        pelt_bench_vertices vertices;
        result = pelt_bench_vertices_create(
            unit->host, scene->mixture ? pelt_bench_mixture[i] : scene->vertices, &vertices);
        if (result == PELT_OK) {
            pelt_bench_make_vertices(&vertices, scene->joints, scene->influences, i);
            result = add_mesh(unit, &vertices, scene->joint_bits, 0);
            pelt_bench_vertices_destroy(unit->host, &vertices);
        }
    }
    return result;
}

static pelt_result add_files(pelt_bench_unit *unit, pelt_bench_files *files, uint32_t joint_bits)
{
    unit->meshes = pelt_allocate(unit->host, files->part_count, sizeof(*unit->meshes));
    if (!unit->meshes) {
        return pelt_fail(unit->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for meshes");
    }
    unit->matrix_count = files->matrix_count;
    unit->pose_count = files->pose_count;
    unit->poses = files->poses;
    files->poses = NULL;
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < files->part_count; i++) {
        result =
            add_mesh(unit, &files->parts[i].vertices, joint_bits, files->parts[i].first_matrix);
    }
    return result;
}

static pelt_result read_files(pelt_bench_unit *unit, const pelt_bench_scene *scene)
{
    pelt_bench_files files;
    pelt_result result = pelt_bench_files_read(unit->host, scene->files, scene->file_count, &files);
    if (result == PELT_OK) {
        result = add_files(unit, &files, scene->joint_bits);
        pelt_bench_files_destroy(&files);
    }
    return result;
}

/* Of a tiny mesh few joints have a vertex. */
static pelt_result count_named(pelt_bench_unit *unit)
{
    bool *named = pelt_allocate(unit->host, unit->matrix_count, sizeof(*named));
    if (!named) {
        return pelt_fail(unit->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a scene");
    }
    for (uint32_t m = 0; m < unit->mesh_count; m++) {
        const pelt_bench_mesh *mesh = &unit->meshes[m];
        for (uint32_t v = 0; v < mesh->packed->vertex_count; v++) {
            uint32_t joints[4];
            float weights[4];
            pelt_unpack_influences(mesh->packed, v, joints, weights);
            for (int i = 0; i < 4; i++) {
                bool *one = &named[mesh->first_matrix + joints[i]];
                unit->named_count += !*one;
                *one = true;
            }
        }
    }
    pelt_release(unit->host, named);
    return PELT_OK;
}

pelt_result pelt_bench_unit_create(const pelt_host *host, const pelt_bench_scene *scene,
                                   pelt_bench_unit **out)
{
    *out = NULL;
    pelt_bench_unit *unit = pelt_allocate(host, 1, sizeof(*unit));
    if (!unit) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a scene");
    }
    unit->host = host;
    pelt_result result = scene->file_count > 0 ? read_files(unit, scene) : make(unit, scene);
    if (result == PELT_OK) {
        result = count_named(unit);
    }
    if (result != PELT_OK) {
        pelt_bench_unit_destroy(unit);
        return result;
    }
    *out = unit;
    return PELT_OK;
}

void pelt_bench_unit_destroy(pelt_bench_unit *unit)
{
    if (!unit) {
        return;
    }
    for (uint32_t i = 0; i < unit->mesh_count; i++) {
        pelt_joint_boxes_destroy(unit->meshes[i].joint_boxes);
        pelt_packed_mesh_destroy(unit->meshes[i].packed);
    }
    pelt_release(unit->host, unit->poses);
    pelt_release(unit->host, unit->meshes);
    pelt_release(unit->host, unit);
}

/* A turn of what was scaled along its axes. */
static void joint_rows(const float q[4], const float scale[3], const float translation[3],
                       float out[12])
{
    float x = q[0], y = q[1], z = q[2], w = q[3];
    const float rows[12] = {
        1 - 2 * (y * y + z * z), 2 * (x * y - z * w),     2 * (x * z + y * w),     translation[0],
        2 * (x * y + z * w),     1 - 2 * (x * x + z * z), 2 * (y * z - x * w),     translation[1],
        2 * (x * z - y * w),     2 * (y * z + x * w),     1 - 2 * (x * x + y * y), translation[2],
    };
    for (int i = 0; i < 12; i++) {
        out[i] = i % 4 < 3 ? rows[i] * scale[i % 4] : rows[i];
    }
}

/* A chain of joints, each turned and moved a little against the one before, and stretched a little
 * by itself: normals that were turned by a wrong formula are seen. */
static void make_palette(uint32_t count, uint32_t instance, const float origin[3], float *out)
{
    uint64_t state = pelt_bench_hash(~(uint64_t)instance);
    float q[4], t[3] = { origin[0], origin[1], origin[2] };
    for (int i = 0; i < 4; i++) {
        q[i] = pelt_bench_random(&state) - 0.5f;
    }
    q[3] += 1.0f;
    for (uint32_t j = 0; j < count; j++) {
        float squared = 0.0f;
        for (int i = 0; i < 4; i++) {
            q[i] += j > 0 ? 0.4f * (pelt_bench_random(&state) - 0.5f) : 0.0f;
            squared += q[i] * q[i];
        }
        float inverse = 1.0f / sqrtf(fmaxf(squared, 1e-6f)), scale[3];
        for (int i = 0; i < 4; i++) {
            q[i] *= inverse;
        }
        for (int i = 0; i < 3; i++) {
            t[i] += 0.05f * (pelt_bench_random(&state) - 0.5f);
            scale[i] = 0.8f + 0.45f * pelt_bench_random(&state);
        }
        joint_rows(q, scale, t, out + 12 * (size_t)j);
    }
}

void pelt_bench_unit_matrices(const pelt_bench_unit *unit, uint32_t instance, float *out)
{
    /* In a square of 32 x 32, further ones in the same places again: coordinates stay small. */
    const float origin[3] = { 2.0f * (float)(instance % 32), 0.0f,
                              2.0f * (float)(instance / 32 % 32) };
    if (unit->pose_count == 0) {
        make_palette(unit->matrix_count, instance, origin, out);
        return;
    }
    size_t size = 12 * (size_t)unit->matrix_count;
    memcpy(out, unit->poses + instance % unit->pose_count * size, size * sizeof(float));
    for (uint32_t j = 0; j < unit->matrix_count; j++) {
        for (int i = 0; i < 3; i++) {
            out[12 * (size_t)j + 4 * i + 3] += origin[i];
        }
    }
}
