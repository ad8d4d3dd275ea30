#include "anim/dual_quaternion.h"

#include "anim/anim.h"

#include <math.h>
#include <string.h>

static double dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static double determinant(double columns[3][3])
{
    double c[3];
    cross(columns[1], columns[2], c);
    return dot3(columns[0], c);
}

void pelt_dual_quaternion_make(const double rotation[4], const double translation[3],
                               pelt_dual_quaternion *out)
{
    const double *q = rotation, *t = translation;
    double turned[3];
    cross(t, q, turned);
    memcpy(out->real, q, sizeof(out->real));
    for (int i = 0; i < 3; i++) {
        out->dual[i] = 0.5 * (q[3] * t[i] + turned[i]);
    }
    out->dual[3] = -0.5 * dot3(t, q);
}

void pelt_dual_quaternion_matrix(const pelt_dual_quaternion *motion, double out[12])
{
    const double *q = motion->real, *d = motion->dual;
    double square = dot3(q, q) + q[3] * q[3], c[3];
    pelt_local local = { .rotation = { q[0], q[1], q[2], q[3] }, .scale = { 1, 1, 1 } };
    cross(q, d, c);
    for (int i = 0; i < 3 && square > 0; i++) {
        local.translation[i] = 2 * (q[3] * d[i] - d[3] * q[i] + c[i]) / square;
    }
    pelt_local_matrix(&local, out);
}

void pelt_factors_matrix(const pelt_dual_quaternion *motion, const double stretch[6],
                         double out[12])
{
    const double *s = stretch;
    const double whole[12] = { s[0], s[3], s[4], 0, s[3], s[1], s[5], 0, s[4], s[5], s[2], 0 };
    double rigid[12];
    pelt_dual_quaternion_matrix(motion, rigid);
    pelt_matrix_multiply(rigid, whole, out);
}

void pelt_dual_quaternion_align(pelt_dual_quaternion *motion, const double real[4])
{
    if (dot3(motion->real, real) + motion->real[3] * real[3] < 0) {
        for (int i = 0; i < 4; i++) {
            motion->real[i] = -motion->real[i];
            motion->dual[i] = -motion->dual[i];
        }
    }
}

void pelt_dual_quaternion_blend(const pelt_dual_quaternion *a, const pelt_dual_quaternion *b,
                                double u, pelt_dual_quaternion *out)
{
    pelt_dual_quaternion near = *b, sum;
    double square = 0;
    pelt_dual_quaternion_align(&near, a->real);
    for (int i = 0; i < 4; i++) {
        sum.real[i] = (1 - u) * a->real[i] + u * near.real[i];
        sum.dual[i] = (1 - u) * a->dual[i] + u * near.dual[i];
        square += sum.real[i] * sum.real[i];
    }
    /* Two unit quaternions on the same side: at least 1/2. */
    double inverse = square > 0 ? 1 / sqrt(square) : 1;
    for (int i = 0; i < 4; i++) {
        out->real[i] = inverse * sum.real[i];
        out->dual[i] = inverse * sum.dual[i];
    }
}

/* The quaternion of a rotation given by its columns, from the largest of its four components
 * (Shepperd 1978). */
static void quaternion_of(double columns[3][3], double out[4])
{
    double trace = columns[0][0] + columns[1][1] + columns[2][2];
    int largest = 3;
    double most = trace;
    for (int i = 0; i < 3; i++) {
        if (columns[i][i] > most) {
            most = columns[i][i];
            largest = i;
        }
    }
    int i = largest % 3, j = (i + 1) % 3, k = (i + 2) % 3;
    if (largest == 3) {
        out[3] = 1 + trace;
        out[i] = columns[j][k] - columns[k][j];
        out[j] = columns[k][i] - columns[i][k];
        out[k] = columns[i][j] - columns[j][i];
    } else {
        out[i] = 1 + columns[i][i] - columns[j][j] - columns[k][k];
        out[j] = columns[i][j] + columns[j][i];
        out[k] = columns[i][k] + columns[k][i];
        out[3] = columns[j][k] - columns[k][j];
    }
    pelt_quaternion_normalize(out, pelt_quaternion_identity);
}

/* Turns columns p and q, and those of v with them, so that they are at right angles. Whether they
 * were not. */
static bool rotate_pair(double w[3][3], double v[3][3], int p, int q)
{
    double a = dot3(w[p], w[p]), b = dot3(w[q], w[q]), c = dot3(w[p], w[q]);
    if (!(fabs(c) > 1e-15 * sqrt(a) * sqrt(b))) {
        return false;
    }
    double zeta = (b - a) / (2 * c);
    double t = (zeta < 0 ? -1 : 1) / (fabs(zeta) + sqrt(1 + zeta * zeta));
    double cosine = 1 / sqrt(1 + t * t), sine = cosine * t;
    for (int i = 0; i < 3; i++) {
        double wp = w[p][i], vp = v[p][i];
        w[p][i] = cosine * wp - sine * w[q][i];
        w[q][i] = sine * wp + cosine * w[q][i];
        v[p][i] = cosine * vp - sine * v[q][i];
        v[q][i] = sine * vp + cosine * v[q][i];
    }
    return true;
}

/* A unit vector at right angles to another. */
static void perpendicular(const double to[3], double out[3])
{
    int least = 0;
    for (int i = 1; i < 3; i++) {
        least = fabs(to[i]) < fabs(to[least]) ? i : least;
    }
    double axis[3] = { least == 0, least == 1, least == 2 };
    cross(to, axis, out);
    double length = sqrt(dot3(out, out));
    for (int i = 0; i < 3; i++) {
        out[i] /= length;
    }
}

/* The directions u of columns that have vanished: whatever makes all three a right-handed set, if
 * v is one. */
static void complete(double u[3][3], const double v[3][3], const bool known[3], int rank)
{
    if (rank == 2) {
        int lost = !known[0] ? 0 : !known[1] ? 1 : 2;
        cross(u[(lost + 1) % 3], u[(lost + 2) % 3], u[lost]);
    } else if (rank == 1) {
        int kept = known[0] ? 0 : known[1] ? 1 : 2;
        perpendicular(u[kept], u[(kept + 1) % 3]);
        cross(u[kept], u[(kept + 1) % 3], u[(kept + 2) % 3]);
    } else if (rank == 0) {
        memcpy(u, v, sizeof(double[3][3]));
    }
}

void pelt_matrix_factor(const double matrix[12], pelt_factors *out)
{
    /* One-sided Jacobi: w = A v, v a rotation, until the columns of w are at right angles. Scaled,
     * so that no square overflows. */
    double w[3][3], v[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, u[3][3], most = 0;
    for (int i = 0; i < 9; i++) {
        most = fmax(most, fabs(matrix[4 * (i / 3) + i % 3]));
    }
    double scale = most > 0 ? most : 1;
    for (int i = 0; i < 9; i++) {
        w[i % 3][i / 3] = matrix[4 * (i / 3) + i % 3] / scale;
    }
    bool turned = true;
    for (int sweep = 0; turned && sweep < 30; sweep++) {
        bool first = rotate_pair(w, v, 0, 1), second = rotate_pair(w, v, 0, 2);
        turned = rotate_pair(w, v, 1, 2) || first || second;
    }
    double lengths[3], longest = 0;
    for (int i = 0; i < 3; i++) {
        lengths[i] = sqrt(dot3(w[i], w[i]));
        longest = fmax(longest, lengths[i]);
    }
    bool known[3];
    out->rank = 0;
    for (int i = 0; i < 3; i++) {
        known[i] = lengths[i] > 1e-6 * longest;
        out->rank += known[i];
        for (int k = 0; known[i] && k < 3; k++) {
            u[i][k] = w[i][k] / lengths[i];
        }
    }
    complete(u, (const double(*)[3])v, known, out->rank);
    double sign = determinant(u) < 0 ? -1 : 1;
    double rotation[3][3] = { { 0 } }, stretch[3][3] = { { 0 } };
    for (int i = 0; i < 3; i++) {
        double length = sign * scale * dot3(u[i], w[i]);
        for (int column = 0; column < 3; column++) {
            for (int row = 0; row < 3; row++) {
                rotation[column][row] += sign * u[i][row] * v[i][column];
                stretch[column][row] += length * v[i][row] * v[i][column];
            }
        }
    }
    const double translation[3] = { matrix[3], matrix[7], matrix[11] };
    double quaternion[4];
    quaternion_of(rotation, quaternion);
    pelt_dual_quaternion_make(quaternion, translation, &out->motion);
    const double six[6] = { stretch[0][0], stretch[1][1], stretch[2][2],
                            stretch[0][1], stretch[0][2], stretch[1][2] };
    memcpy(out->stretch, six, sizeof(six));
}
