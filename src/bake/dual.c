/* How far skinning by dual quaternions may take a vertex from where linear blending has it.
 *
 * Its joints put it at y_k with the rotations q_k (unit) and weights w_k, the dominant one, whose
 * weight is the largest, being 0. By pelt/skin.h dual quaternions put it at the sum of C_k y_k, and
 * C_k - w_k is w_k |s_k q_k - q| / |q| times a rotation at most, where q is the sum of w_k s_k q_k.
 * All C_k sum to 1 as the w_k do, so y_0 may be taken off everywhere, and it is no farther than
 *
 *     sum of w_k |s_k q_k - q| / |q| |y_k - y_0|
 *
 * from the sum of w_k y_k. With a_k the angle between q_k and q_0, whatever their signs (90 degrees
 * at most), e_k = 2 sin(a_k / 2) the distance after aligning them and E the sum of w_k e_k:
 *
 *     |s_k q_k - q| <= (1 - 2 w_k) e_k + E   by way of q_0, from joint k to every other
 *     |q|           >= q . q_0 = sum of w_k cos(a_k)
 *
 * No sign is left in this: it holds where the blend jumps to the other side, too, and grows with
 * every angle and distance. Between two rows it therefore holds with the largest of these. Each q_k
 * moves along the arc from one row to the next, h_k long. Going back over both arcs to one row, and
 * on over the rest of them to the other one, two bounds of a_k add up to
 *
 *     2 a_k <= a_k of one row + a_k of the other + h_k + h_0
 *
 * And y_k - y_0, if both went straight, would be as long as in one of the rows at most; a blend
 * takes each of them off the straight line by its own margin. */
#include "bake/bake.h"

#include <math.h>

static const double quarter_turn = 1.5707963267948966;

/* A shader's rounding: 128 units in the last place of what it adds up, which is |t_k| and
 * |y_k - t_k|, over the square of |q|. */
static const double roundings = 0x1p-17;

/* The angle between two quaternions as rotations: no sign, no length. */
static double angle_between(const double a[4], const double b[4])
{
    double product = 0, square_a = 0, square_b = 0;
    for (int i = 0; i < 4; i++) {
        product += a[i] * b[i];
        square_a += a[i] * a[i];
        square_b += b[i] * b[i];
    }
    double lengths = sqrt(square_a) * sqrt(square_b);
    return lengths > 0 ? acos(fmin(fabs(product) / lengths, 1)) : quarter_turn;
}

/* Where a joint puts a vertex in both rows. */
typedef struct placed {
    double y[2][3];
} placed;

static void place(const pelt_bake_joint *const rows[2], size_t joint, const float p[3], placed *out)
{
    for (int r = 0; r < 2; r++) {
        const double *m = rows[r][joint].matrix;
        for (int i = 0; i < 3; i++, m += 4) {
            out->y[r][i] = m[0] * (double)p[0] + m[1] * (double)p[1] + m[2] * (double)p[2] + m[3];
        }
    }
}

/* The longer of the distances in both rows. */
static double distance(const placed *a, const placed *b)
{
    double most = 0;
    for (int r = 0; r < 2; r++) {
        double square = 0;
        for (int i = 0; i < 3; i++) {
            square += (a->y[r][i] - b->y[r][i]) * (a->y[r][i] - b->y[r][i]);
        }
        most = fmax(most, square);
    }
    return sqrt(most);
}

/* At least |y_k| + 2 |t_k|. */
static double size_of(const pelt_bake_joint *const rows[2], size_t joint, const placed *at)
{
    double most = 0;
    for (int r = 0; r < 2; r++) {
        const double *m = rows[r][joint].matrix;
        double sum = 0;
        for (int i = 0; i < 3; i++) {
            sum += fabs(at->y[r][i]) + 2 * fabs(m[4 * i + 3]);
        }
        most = fmax(most, sum);
    }
    return most;
}

/* A vertex between two rows; its dominant joint comes first. */
typedef struct vertex_joints {
    const pelt_bake_joint *rows[2];
    const pelt_bake_influence *influences;
    size_t count;
    double margin; /* of a blend */
} vertex_joints;

/* As large as the angle between two joints can be in either row or between them. */
static double largest_angle(const vertex_joints *v, size_t a, size_t b)
{
    double sum = 0;
    for (int r = 0; r < 2; r++) {
        sum += angle_between(v->rows[r][a].factors.motion.real, v->rows[r][b].factors.motion.real);
    }
    sum += angle_between(v->rows[0][a].factors.motion.real, v->rows[1][a].factors.motion.real);
    sum += angle_between(v->rows[0][b].factors.motion.real, v->rows[1][b].factors.motion.real);
    return fmin(sum / 2, quarter_turn);
}

/* The bound; without angles, a larger one that is found sooner. */
static double bound_vertex(const vertex_joints *v, const float p[3], bool angles)
{
    size_t dominant = v->influences[0].joint;
    double chords = 0, far = 0, sum = 0, cosines = (double)v->influences[0].weight;
    placed first, at;
    place(v->rows, dominant, p, &first);
    double size = size_of(v->rows, dominant, &first);
    for (size_t k = 1; k < v->count; k++) {
        size_t joint = v->influences[k].joint;
        double weight = (double)v->influences[k].weight;
        double cosine = angles ? cos(largest_angle(v, joint, dominant)) : 0;
        double chord = sqrt(2 - 2 * cosine);
        place(v->rows, joint, p, &at);
        size = fmax(size, size_of(v->rows, joint, &at));
        double weighted = weight * (distance(&at, &first) + 2 * v->margin);
        sum += (1 - 2 * weight) * chord * weighted;
        far += weighted;
        chords += weight * chord;
        cosines += weight * cosine;
    }
    return (sum + chords * far) / cosines + roundings * size / (cosines * cosines);
}

static double body_bound(const pelt_bake_body *body, const pelt_bake_joint *row,
                         const pelt_bake_joint *next_row, double margin, double least)
{
    const pelt_packed_vertex *vertices = body->morphed ? body->morphed : body->mesh->vertices;
    double most = least;
    for (uint32_t i = 0; i < body->mesh->vertex_count; i++) {
        const vertex_joints v = { .rows = { row, next_row },
                                  .influences = body->influences + body->firsts[i],
                                  .count = body->firsts[i + 1] - body->firsts[i],
                                  .margin = margin };
        if (v.count > 1 && bound_vertex(&v, vertices[i].position, false) > most) {
            most = fmax(most, bound_vertex(&v, vertices[i].position, true));
        }
    }
    return most;
}

double pelt_bake_bodies_dual_bound(const pelt_bake_bodies *bodies, const pelt_bake_joint *row,
                                   const pelt_bake_joint *next_row, double margin, double least)
{
    for (uint32_t i = 0; i < bodies->part_count; i++) {
        const pelt_bake_part *part = &bodies->parts[i];
        least = body_bound(&bodies->bodies[part->body], row + part->first_joint,
                           next_row + part->first_joint, margin, least);
    }
    return least;
}
