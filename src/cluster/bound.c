/* Where a cluster can be in a pose, from its joints' spheres. src/skin/rounding.h has why these
 * hold what the skinning paths write, rounding included. */
#include "base/box.h"
#include "cluster/cluster.h"
#include "skin/rounding.h"

/* This file's double arithmetic is off by much less than that part of its results. */
#define SLACK (1.0 + 0x1p-40)

enum { SWEEPS = 8 };

/* One joint's sphere moved: its centre, and by how much rounding can carry vertices past it along
 * each axis. */
typedef struct moved_sphere {
    double centre[3], widening[3];
} moved_sphere;

static moved_sphere move(const float *matrix, const float *sphere, skin_rounding rounding)
{
    moved_sphere moved;
    double far[3];
    for (int c = 0; c < 3; c++) {
        far[c] = fabs((double)sphere[c]) + sphere[3];
    }
    for (int i = 0; i < 3; i++) {
        const float *row = matrix + 4 * i;
        moved.centre[i] = (double)row[0] * sphere[0] + (double)row[1] * sphere[1] +
                          (double)row[2] * sphere[2] + row[3];
        moved.widening[i] = skin_rounding_of_row(rounding, row, far);
    }
    return moved;
}

static double length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* Turns a symmetric matrix in the plane of p and q so that its element there becomes 0. */
static void turn(double s[3][3], int p, int q)
{
    double tau = (s[q][q] - s[p][p]) / (2.0 * s[p][q]);
    double t = (tau < 0.0 ? -1.0 : 1.0) / (fabs(tau) + sqrt(1.0 + tau * tau));
    double c = 1.0 / sqrt(1.0 + t * t);
    int r = 3 - p - q;
    double along_p = s[r][p], along_q = s[r][q];
    s[p][p] -= t * s[p][q];
    s[q][q] += t * s[p][q];
    s[p][q] = s[q][p] = 0.0;
    s[r][p] = s[p][r] = c * (along_p - t * along_q);
    s[r][q] = s[q][r] = c * (t * along_p + along_q);
}

/* The largest singular value of the 3x3: the root of the largest eigenvalue of A^T A, by Jacobi's
 * method (Golub and Van Loan, Matrix Computations, section 8.5). What is left beside the diagonal
 * moves no eigenvalue by more than its sum (Gershgorin), which is added. */
static double largest_stretch(const float *matrix)
{
    double s[3][3];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            s[i][j] = (double)matrix[i] * matrix[j] + (double)matrix[4 + i] * matrix[4 + j] +
                      (double)matrix[8 + i] * matrix[8 + j];
        }
    }
    double trace = s[0][0] + s[1][1] + s[2][2];
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        bool done = true;
        for (int p = 0; p < 2; p++) {
            for (int q = p + 1; q < 3; q++) {
                if (fabs(s[p][q]) > 0x1p-50 * trace) {
                    turn(s, p, q);
                    done = false;
                }
            }
        }
        if (done) {
            break;
        }
    }
    double largest = fmax(fmax(s[0][0], s[1][1]), s[2][2]);
    double left = fabs(s[0][1]) + fabs(s[0][2]) + fabs(s[1][2]);
    return sqrt(fmax(largest, 0.0) + left);
}

void pelt_cluster_move_sphere(const float *matrix, const float *sphere, uint32_t influence_count,
                              float *out)
{
    moved_sphere moved = move(matrix, sphere, skin_rounding_of(influence_count));
    double radius = largest_stretch(matrix) * sphere[3];
    double shift[3];
    for (int i = 0; i < 3; i++) {
        out[i] = (float)moved.centre[i];
        shift[i] = moved.centre[i] - (double)out[i];
    }
    out[3] = round_up((radius + length(moved.widening) + length(shift)) * SLACK);
}

pelt_box pelt_cluster_bound(const pelt_clusters *clusters, uint32_t cluster, const float *spheres,
                            const float *matrices)
{
    const pelt_cluster *c = &clusters->clusters[cluster];
    skin_rounding rounding = skin_rounding_of(4 * clusters->set_count);
    pelt_box bound = PELT_BOX_EMPTY;
    for (size_t j = c->first_joint; j < (size_t)c->first_joint + c->joint_count; j++) {
        const float *matrix = matrices + 12 * (size_t)clusters->joints[j];
        const float *sphere = spheres + 4 * j;
        moved_sphere moved = move(matrix, sphere, rounding);
        for (int i = 0; i < 3; i++) {
            /* Along an axis a sphere becomes no wider than the row of that axis is long. */
            const double row[3] = { matrix[4 * i], matrix[4 * i + 1], matrix[4 * i + 2] };
            double reach = (length(row) * sphere[3] + moved.widening[i]) * SLACK;
            bound.min[i] = fminf(bound.min[i], round_down(moved.centre[i] - reach));
            bound.max[i] = fmaxf(bound.max[i], round_up(moved.centre[i] + reach));
        }
    }
    return bound;
}
