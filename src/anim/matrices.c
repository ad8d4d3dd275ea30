/* Local transforms -> globals -> skin matrices. */
#include "anim/anim.h"
#include "base/base.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const double pelt_matrix_identity[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };

void pelt_matrix_multiply(const double a[12], const double b[12], double out[12])
{
    for (int row = 0; row < 3; row++) {
        const double *r = a + 4 * row;
        for (int column = 0; column < 4; column++) {
            out[4 * row + column] = r[0] * b[column] + r[1] * b[4 + column] + r[2] * b[8 + column];
        }
        out[4 * row + 3] += r[3];
    }
}

void pelt_local_matrix(const pelt_local *local, double out[12])
{
    if (local->has_matrix) {
        memcpy(out, local->matrix, sizeof(local->matrix));
        return;
    }
    const double *q = local->rotation, *s = local->scale, *t = local->translation;
    double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    /* Right for a quaternion of any length, and no rotation for that of length 0. */
    double k = square > 0 ? 2 / square : 0;
    double xx = k * q[0] * q[0], yy = k * q[1] * q[1], zz = k * q[2] * q[2];
    double xy = k * q[0] * q[1], xz = k * q[0] * q[2], yz = k * q[1] * q[2];
    double wx = k * q[3] * q[0], wy = k * q[3] * q[1], wz = k * q[3] * q[2];
    const double matrix[12] = {
        (1 - yy - zz) * s[0], (xy - wz) * s[1],     (xz + wy) * s[2],     t[0],
        (xy + wz) * s[0],     (1 - xx - zz) * s[1], (yz - wx) * s[2],     t[1],
        (xz - wy) * s[0],     (yz + wx) * s[1],     (1 - xx - yy) * s[2], t[2],
    };
    memcpy(out, matrix, sizeof(matrix));
}

bool pelt_matrix_in_range(const double matrix[12])
{
    for (int i = 0; i < 12; i++) {
        if (!(fabs(matrix[i]) <= PELT_MAGNITUDE_MAX)) {
            return false;
        }
    }
    return true;
}

static pelt_result fail_range(const pelt_pose *pose, uint32_t node, const char *what)
{
    char pointer[32];
    (void)snprintf(pointer, sizeof(pointer), "/nodes/%u", node);
    return pelt_fail(pose->host, PELT_ERROR_RANGE, NULL, pointer,
                     "%s has an element that is not finite or beyond %g", what, PELT_MAGNITUDE_MAX);
}

/* The matrix of a node without a parent: not multiplied, and so not rounded. */
static const double *const nothing_above = (const double[12]){ 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };

/* above x matrix. */
static void place_below(const double *above, const double matrix[12], double out[12])
{
    if (above != nothing_above) {
        pelt_matrix_multiply(above, matrix, out);
    } else {
        memcpy(out, matrix, 12 * sizeof(*out));
    }
}

static void make_global(const pelt_local *local, const double *above, double out[12])
{
    double matrix[12];
    pelt_local_matrix(local, matrix);
    place_below(above, matrix, out);
}

static void make_overridden(const pelt_local *local, const double *above,
                            const pelt_pose_override *override, double out[12])
{
    double matrix[12], product[12];
    switch (override->kind) {
    case PELT_OVERRIDE_LOCAL_REPLACE:
        place_below(above, override->matrix, out);
        break;
    case PELT_OVERRIDE_LOCAL_MULTIPLY:
        pelt_local_matrix(local, matrix);
        pelt_matrix_multiply(matrix, override->matrix, product);
        place_below(above, product, out);
        break;
    case PELT_OVERRIDE_GLOBAL_REPLACE:
        memcpy(out, override->matrix, sizeof(override->matrix));
        break;
    case PELT_OVERRIDE_GLOBAL_MULTIPLY:
        make_global(local, above, matrix);
        pelt_matrix_multiply(override->matrix, matrix, out);
        break;
    }
}

/* places: of each node's override in the list, plus 1; 0: none. */
static pelt_result update(pelt_pose *pose, const pelt_pose_override *overrides,
                          const uint32_t *places)
{
    const pelt_model *model = pose->model;
    for (uint32_t i = 0; i < model->node_count; i++) {
        uint32_t index = model->node_order[i];
        int32_t parent = model->nodes[index].parent;
        double *global = pose->globals + 12 * (size_t)index;
        const double *above = parent < 0 ? nothing_above : pose->globals + 12 * (size_t)parent;
        uint32_t place = places ? places[index] : 0;
        if (place > 0) {
            make_overridden(&pose->locals[index], above, &overrides[place - 1], global);
        } else {
            make_global(&pose->locals[index], above, global);
        }
        if (!pelt_matrix_in_range(global)) {
            return fail_range(pose, index, "the global transform");
        }
    }
    return PELT_OK;
}

pelt_result pelt_pose_update(pelt_pose *pose)
{
    return update(pose, NULL, NULL);
}

static pelt_result place_overrides(const pelt_pose *pose, const pelt_pose_override *overrides,
                                   uint32_t count, uint32_t *places)
{
    for (uint32_t i = 0; i < count; i++) {
        const char *wrong = NULL;
        if (overrides[i].node >= pose->model->node_count) {
            wrong = "there is no such node";
        } else if (places[overrides[i].node] > 0) {
            wrong = "it has another one";
        } else if ((unsigned)overrides[i].kind > PELT_OVERRIDE_GLOBAL_MULTIPLY) {
            wrong = "its kind is unknown";
        } else if (!pelt_matrix_in_range(overrides[i].matrix)) {
            wrong = "a number is not finite or beyond 1e18";
        }
        if (wrong) {
            return pelt_fail(pose->host, PELT_ERROR_ARGUMENT, NULL, NULL,
                             "override %u, of node %u: %s", i, overrides[i].node, wrong);
        }
        places[overrides[i].node] = i + 1;
    }
    return PELT_OK;
}

pelt_result pelt_pose_update_overridden(pelt_pose *pose, const pelt_pose_override *overrides,
                                        uint32_t count)
{
    if (count == 0) {
        return pelt_pose_update(pose);
    }
    uint32_t *places = pelt_allocate(pose->host, pose->model->node_count, sizeof(*places));
    if (!places) {
        return pelt_fail(pose->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for overrides");
    }
    pelt_result result = place_overrides(pose, overrides, count, places);
    if (result == PELT_OK) {
        result = update(pose, overrides, places);
    }
    pelt_release(pose->host, places);
    return result;
}

/* One matrix of a palette; node: the joint it belongs to. */
static pelt_result make_skin_matrix(const pelt_pose *pose, const double *world,
                                    const pelt_palette *palette, uint32_t index, double out[12])
{
    const pelt_skin *skin = palette->skin < 0 ? NULL : &pose->model->skins[palette->skin];
    uint32_t node = skin ? skin->joints[index] : palette->node;
    const double *global = pose->globals + 12 * (size_t)node;
    double placed[12];
    if (world) {
        pelt_matrix_multiply(world, global, placed);
    } else {
        memcpy(placed, global, sizeof(placed));
    }
    if (skin) {
        double inverse_bind[12];
        for (size_t i = 0; i < 12; i++) {
            inverse_bind[i] = (double)skin->inverse_bind[12 * (size_t)index + i];
        }
        pelt_matrix_multiply(placed, inverse_bind, out);
    } else {
        memcpy(out, placed, sizeof(placed));
    }
    return pelt_matrix_in_range(out) ? PELT_OK : fail_range(pose, node, "the skin matrix");
}

/* Into one of the two, the other is NULL. */
static pelt_result make_skin_matrices(const pelt_pose *pose, const double *world, float *floats,
                                      double *doubles)
{
    const pelt_model *model = pose->model;
    for (uint32_t i = 0; i < model->palette_count; i++) {
        const pelt_palette *palette = &model->palettes[i];
        for (uint32_t j = 0; j < palette->matrix_count; j++) {
            double matrix[12];
            pelt_result result = make_skin_matrix(pose, world, palette, j, matrix);
            if (result != PELT_OK) {
                return result;
            }
            size_t first = 12 * ((size_t)palette->first_matrix + j);
            for (size_t k = 0; floats && k < 12; k++) {
                floats[first + k] = (float)matrix[k];
            }
            for (size_t k = 0; doubles && k < 12; k++) {
                doubles[first + k] = matrix[k];
            }
        }
    }
    return PELT_OK;
}

pelt_result pelt_pose_skin_matrices(const pelt_pose *pose, const double *world, float *matrices)
{
    return make_skin_matrices(pose, world, matrices, NULL);
}

pelt_result pelt_pose_skin_matrices_double(const pelt_pose *pose, const double *world,
                                           double *matrices)
{
    return make_skin_matrices(pose, world, NULL, matrices);
}
