/* True normals and those of the methods. Matrices here are three rows of three. */
#include "study/squash_pose.h"

#include <string.h>

const pelt_squash_name pelt_squash_methods[PELT_SQUASH_METHOD_COUNT] = {
    { "cofactor", "cofactor matrix of the blended matrix (pelt)" },
    { "inverse", "inverse transpose of the blended matrix, for each vertex" },
    { "joint-inverses", "blend of the joints' inverse transposes" },
    { "joint-cofactors", "blend of unit normals, each by a joint's cofactor matrix (Filament)" },
    { "plain", "the blended matrix itself" },
};

static void blended(const squash_blend *blend, double out[9])
{
    for (int i = 0; i < 9; i++) {
        int at = 4 * (i / 3) + i % 3;
        out[i] = 0.0;
        for (uint32_t joint = 0; joint < blend->count; joint++) {
            out[i] += blend->weights[joint] * blend->matrices[joint][at];
        }
    }
}

static void linear_part(const double m[12], double out[9])
{
    for (int i = 0; i < 9; i++) {
        out[i] = m[4 * (i / 3) + i % 3];
    }
}

static void cofactor(const double a[9], double out[9])
{
    double rows[9];
    for (int i = 0; i < 3; i++) {
        cross3(a + 3 * ((i + 1) % 3), a + 3 * ((i + 2) % 3), rows + 3 * i);
    }
    memcpy(out, rows, sizeof(rows));
}

/* Zero where there is none. */
static void inverse_transpose(const double a[9], double out[9])
{
    double cofactors[9], lengths = 1.0;
    cofactor(a, cofactors);
    double determinant = dot3(a, cofactors);
    for (int row = 0; row < 3; row++) {
        lengths *= sqrt(dot3(a + 3 * row, a + 3 * row));
    }
    for (int i = 0; i < 9; i++) {
        out[i] = fabs(determinant) > 1e-12 * lengths ? cofactors[i] / determinant : 0.0;
    }
}

static void times(const double a[9], const double v[3], double out[3])
{
    double product[3] = { dot3(a, v), dot3(a + 3, v), dot3(a + 6, v) };
    memcpy(out, product, sizeof(product));
}

void squash_jacobian(const squash_pose *pose, const double p[3], double out[9])
{
    double w = squash_weight(p[0]), slope = squash_weight_slope(p[0]);
    for (int row = 0; row < 3; row++) {
        const double *first = pose->joints[0] + 4 * row, *second = pose->joints[1] + 4 * row;
        for (int k = 0; k < 3; k++) {
            out[3 * row + k] = (1.0 - w) * first[k] + w * second[k];
        }
        out[3 * row] += slope * (dot3(second, p) + second[3] - dot3(first, p) - first[3]);
    }
}

void squash_jacobian_by_differences(const squash_pose *pose, const double p[3], double out[9])
{
    /* Truncation grows with the square of the step, rounding with its inverse: both near 1e-10. */
    const double step = 0x1p-17;
    for (int column = 0; column < 3; column++) {
        double ahead[3] = { p[0], p[1], p[2] }, behind[3] = { p[0], p[1], p[2] };
        ahead[column] += step;
        behind[column] -= step;
        squash_deform(pose, ahead, ahead);
        squash_deform(pose, behind, behind);
        for (int row = 0; row < 3; row++) {
            out[3 * row + column] = (ahead[row] - behind[row]) / (2.0 * step);
        }
    }
}

bool squash_cofactor_normal(const double jacobian[9], const double n[3], double out[3])
{
    double scaled[9], largest = 0.0;
    for (int i = 0; i < 9; i++) {
        largest = fmax(largest, fabs(jacobian[i]));
    }
    for (int i = 0; i < 9; i++) {
        scaled[i] = largest > 0.0 ? jacobian[i] / largest : 0.0;
    }
    cofactor(scaled, scaled);
    times(scaled, n, out);
    /* Below this rounding, and differences, would make the direction. */
    return dot3(out, out) > 1e-12 && normalize3(out);
}

bool squash_true_normal(const squash_pose *pose, const double p[3], const double n[3],
                        double out[3])
{
    double jacobian[9];
    squash_jacobian_by_differences(pose, p, jacobian);
    return squash_cofactor_normal(jacobian, n, out);
}

/* Each joint turns the normal by itself; the results are blended. */
static void turn_by_joints(const squash_blend *blend, pelt_squash_method method, const double n[3],
                           double out[3])
{
    out[0] = out[1] = out[2] = 0.0;
    for (uint32_t joint = 0; joint < blend->count; joint++) {
        double matrix[9], turned[3];
        linear_part(blend->matrices[joint], matrix);
        if (method == PELT_SQUASH_JOINT_INVERSES) {
            inverse_transpose(matrix, matrix);
            times(matrix, n, turned);
        } else {
            cofactor(matrix, matrix);
            times(matrix, n, turned);
            (void)normalize3(turned);
        }
        for (int i = 0; i < 3; i++) {
            out[i] += blend->weights[joint] * turned[i];
        }
    }
}

void squash_turn(const squash_blend *blend, pelt_squash_method method, const double n[3],
                 double out[3])
{
    double matrix[9];
    blended(blend, matrix);
    if (method == PELT_SQUASH_JOINT_INVERSES || method == PELT_SQUASH_JOINT_COFACTORS) {
        turn_by_joints(blend, method, n, out);
    } else {
        if (method == PELT_SQUASH_COFACTOR) {
            cofactor(matrix, matrix);
        } else if (method == PELT_SQUASH_INVERSE) {
            inverse_transpose(matrix, matrix);
        }
        times(matrix, n, out);
    }
    if (!normalize3(out)) {
        out[0] = out[1] = 0.0;
        out[2] = 1.0;
    }
}

void squash_method_normal(const squash_pose *pose, pelt_squash_method method, const double p[3],
                          const double n[3], double out[3])
{
    double w = squash_weight(p[0]);
    const double *const matrices[2] = { pose->joints[0], pose->joints[1] };
    const double weights[2] = { 1.0 - w, w };
    squash_turn(&(squash_blend){ 2, matrices, weights }, method, n, out);
}
