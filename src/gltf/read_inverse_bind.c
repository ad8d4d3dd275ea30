/* Inverse bind matrices. Files from the wild have garbage for joints that move nothing, so a bad
 * matrix is an error only once a vertex is found that needs it.
 */
#include "reader.h"

#include <math.h>

enum { NO_PROBLEM, NOT_FINITE, TOO_LARGE, NOT_AFFINE };

/* How far the fourth row of an affine matrix may be from 0 0 0 1: what exporters' rounding does. */
static const float row_tolerance = 1e-5f;

/* glTF's columns to our rows. *padded: the fourth row is zeros, as that of three rows stored in
 * four; there is only one way to read it. */
static uint8_t convert_matrix(const float columns[16], float rows[12], uint32_t *padded)
{
    for (unsigned i = 0; i < 16; i++) {
        if (!(fabsf(columns[i]) <= (float)PELT_MAGNITUDE_MAX)) {
            return isfinite(columns[i]) ? TOO_LARGE : NOT_FINITE;
        }
    }
    for (unsigned column = 0; column < 4; column++) {
        float last = columns[4 * column + 3];
        if (column == 3 && fabsf(last) <= row_tolerance) {
            ++*padded;
        } else if (fabsf(last - (column == 3 ? 1.0f : 0.0f)) > row_tolerance) {
            return NOT_AFFINE;
        }
        for (unsigned row = 0; row < 3; row++) {
            rows[4 * row + column] = columns[4 * column + row];
        }
    }
    return NO_PROBLEM;
}

static void set_identity(float rows[12])
{
    for (unsigned i = 0; i < 12; i++) {
        rows[i] = i % 5 == 0 ? 1.0f : 0.0f;
    }
}

static bool convert_matrices(pelt_gltf_reader *reader, pelt_gltf_place at, uint32_t accessor,
                             const float *columns, uint32_t index)
{
    pelt_skin *skin = &reader->model->skins[index];
    pelt_gltf_bad_matrices *bad = &reader->bad_matrices[index];
    uint32_t padded = 0;
    bad->accessor = accessor;
    for (size_t i = 0; i < skin->joint_count; i++) {
        uint8_t problem = convert_matrix(columns + 16 * i, skin->inverse_bind + 12 * i, &padded);
        if (problem == NO_PROBLEM) {
            continue;
        }
        set_identity(skin->inverse_bind + 12 * i);
        if (!bad->problems) {
            bad->problems = pelt_gltf_borrow(reader, at, skin->joint_count, 1);
        }
        if (!bad->problems) {
            return false;
        }
        bad->problems[i] = problem;
    }
    if (padded) {
        pelt_gltf_warn(reader, at,
                       "the fourth row of %u of %u matrices in /accessors/%u is 0 0 0 0; taken as "
                       "0 0 0 1",
                       padded, skin->joint_count, accessor);
    }
    return true;
}

bool pelt_gltf_read_inverse_bind(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                                 uint32_t index)
{
    pelt_skin *skin = &reader->model->skins[index];
    int32_t accessor = -1;
    if (!pelt_gltf_get_index(reader, at, object, "inverseBindMatrices", reader->accessor_count,
                             "accessors", &accessor)) {
        return false;
    }
    at = pelt_gltf_in(at, "inverseBindMatrices");
    skin->inverse_bind = pelt_gltf_keep(reader, at, skin->joint_count, 12 * sizeof(float));
    if (!skin->inverse_bind) {
        return false;
    }
    if (accessor < 0) {
        for (size_t i = 0; i < skin->joint_count; i++) {
            set_identity(skin->inverse_bind + 12 * i);
        }
        return true;
    }
    uint32_t count = reader->accessors[accessor].count;
    if (!pelt_gltf_expect(reader, at, (uint32_t)accessor, 16, PELT_GLTF_FLOAT)) {
        return false;
    }
    if (count < skin->joint_count) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, at,
                              "/accessors/%d has %u matrices, but the skin has %u joints", accessor,
                              count, skin->joint_count);
    }
    pelt_gltf_warn_strided(reader, at, (uint32_t)accessor);
    float *columns = pelt_gltf_borrow(reader, at, count, 16 * sizeof(float));
    bool ok = columns && pelt_gltf_unpack_floats(reader, (uint32_t)accessor, columns, 16) &&
              convert_matrices(reader, at, (uint32_t)accessor, columns, index);
    pelt_arena_release(reader->scratch, columns);
    return ok;
}

/* One flag for each joint that a vertex of the mesh names with a weight. */
static uint8_t *find_used_joints(pelt_gltf_reader *reader, uint32_t index)
{
    const pelt_mesh *mesh = &reader->model->meshes[index];
    uint8_t *used = pelt_gltf_borrow(reader, pelt_gltf_at("/meshes/%u", index), UINT16_MAX + 1, 1);
    for (uint32_t p = 0; used && p < mesh->primitive_count; p++) {
        const pelt_primitive *primitive = &mesh->primitives[p];
        size_t total = (size_t)primitive->vertex_count * primitive->influence_count;
        for (size_t i = 0; i < total; i++) {
            used[primitive->joints[i]] |= primitive->weights[i] > 0;
        }
    }
    return used;
}

static bool check_joints(pelt_gltf_reader *reader, uint32_t skin, uint32_t mesh,
                         const uint8_t *used)
{
    static const char *const texts[] = { [NOT_FINITE] = "holds a number that is not finite",
                                         [TOO_LARGE] = "holds a number beyond 1e18",
                                         [NOT_AFFINE] = "has a fourth row other than 0 0 0 1" };
    const pelt_gltf_bad_matrices *bad = &reader->bad_matrices[skin];
    for (uint32_t j = 0; j < reader->model->skins[skin].joint_count; j++) {
        if (bad->problems[j] != NO_PROBLEM && used[j]) {
            return pelt_gltf_fail(
                reader, bad->problems[j] == TOO_LARGE ? PELT_ERROR_RANGE : PELT_ERROR_FILE,
                pelt_gltf_at("/skins/%u/inverseBindMatrices", skin),
                "matrix %u of /accessors/%u %s; vertices of /meshes/%u need it", j, bad->accessor,
                texts[bad->problems[j]], mesh);
        }
    }
    return true;
}

bool pelt_gltf_check_inverse_bind(pelt_gltf_reader *reader)
{
    const pelt_model *model = reader->model;
    uint8_t **used =
        pelt_gltf_borrow(reader, pelt_gltf_at("/meshes"), model->mesh_count, sizeof(*used));
    if (!used) {
        return false;
    }
    for (uint32_t i = 0; i < model->node_count; i++) {
        const pelt_node *node = &model->nodes[i];
        if (node->skin < 0 || !reader->bad_matrices[node->skin].problems) {
            continue;
        }
        uint8_t **mesh = &used[node->mesh];
        if (!*mesh) {
            *mesh = find_used_joints(reader, (uint32_t)node->mesh);
        }
        if (!*mesh || !check_joints(reader, (uint32_t)node->skin, (uint32_t)node->mesh, *mesh)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < model->skin_count; i++) {
        const pelt_gltf_bad_matrices *bad = &reader->bad_matrices[i];
        uint32_t count = 0;
        for (uint32_t j = 0; bad->problems && j < model->skins[i].joint_count; j++) {
            count += bad->problems[j] != NO_PROBLEM;
        }
        if (count) {
            pelt_gltf_warn(reader, pelt_gltf_at("/skins/%u/inverseBindMatrices", i),
                           "%u of %u matrices in /accessors/%u are invalid; no vertex needs them, "
                           "and they are replaced by the identity",
                           count, model->skins[i].joint_count, bad->accessor);
        }
    }
    return true;
}
