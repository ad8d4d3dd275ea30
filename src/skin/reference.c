/* Skinning in double precision: the oracle of every other path. Plain before fast. */
#include "anim/dual_quaternion.h"
#include "pack/walk.h"

#include <float.h>
#include <math.h>
#include <pelt/skin.h>

/* What a vertex blends. magnitude is the same sum over absolute values: it bounds the rounding
 * error of each element, also where opposite joints cancel. */
typedef struct joint_blend {
    double matrix[12];
    double magnitude[12];

    /* Dual quaternions: one for each column, a motion whose translation the column is. */
    pelt_dual_quaternion columns[4];
    const double *side; /* the dominant joint's rotation; NULL: linear */
    double alignment;
} joint_blend;

/* Sums of a few products lose less than this part of their magnitude. */
static const double ROUNDING = 16 * DBL_EPSILON;

static const double NORMAL_FALLBACK[3] = { 0, 0, 1 };
static const double TANGENT_FALLBACK[3] = { 1, 0, 0 };

static void add_matrix(joint_blend *sum, const double *matrix, double weight)
{
    for (int i = 0; i < 12; i++) {
        sum->matrix[i] += weight * matrix[i];
        sum->magnitude[i] += weight * fabs(matrix[i]);
    }
}

static void add_motion(joint_blend *sum, const double *matrix, const double *rotation,
                       double weight)
{
    for (int column = 0; column < 4; column++) {
        const double to[3] = { matrix[column], matrix[4 + column], matrix[8 + column] };
        double length = sqrt(to[0] * to[0] + to[1] * to[1] + to[2] * to[2]);
        pelt_dual_quaternion motion;
        pelt_dual_quaternion_make(rotation, to, &motion);
        pelt_dual_quaternion_align(&motion, sum->side);
        for (int i = 0; i < 4; i++) {
            sum->columns[column].real[i] += weight * motion.real[i];
            sum->columns[column].dual[i] += weight * motion.dual[i];
        }
        for (int row = 0; row < 3; row++) {
            sum->magnitude[4 * row + column] += weight * length;
        }
    }
    double cosine = 0;
    for (int i = 0; i < 4; i++) {
        cosine += rotation[i] * sum->side[i];
    }
    sum->alignment = fmin(sum->alignment, fabs(cosine));
}

static void finish_motion(joint_blend *sum)
{
    double square = 0;
    for (int i = 0; i < 4; i++) {
        square += sum->columns[0].real[i] * sum->columns[0].real[i];
    }
    for (int column = 0; column < 4; column++) {
        double motion[12];
        pelt_dual_quaternion_matrix(&sum->columns[column], motion);
        for (int row = 0; row < 3; row++) {
            sum->matrix[4 * row + column] = motion[4 * row + 3];
            sum->magnitude[4 * row + column] /= square;
        }
    }
}

static void add_joint(const pelt_reference_job *job, joint_blend *sum, size_t joint, double weight)
{
    if (sum->side) {
        add_motion(sum, job->matrices + 12 * joint, job->rotations + 4 * joint, weight);
    } else {
        add_matrix(sum, job->matrices + 12 * joint, weight);
    }
}

/* Whose rotation the others' are brought to the side of. */
static void choose_dominant(const pelt_reference_job *job, joint_blend *out, size_t joint)
{
    out->side = job->rotations ? job->rotations + 4 * joint : NULL;
}

/* The primitive's own influences; their sum is 1 but for float rounding, which goes here. */
static void blend_given(const pelt_reference_job *job, uint32_t vertex, joint_blend *out)
{
    uint32_t count = job->primitive->influence_count;
    const uint16_t *joints = job->primitive->joints + (size_t)vertex * count;
    const float *weights = job->primitive->weights + (size_t)vertex * count;
    double sum = 0;
    uint32_t dominant = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += (double)weights[i];
        dominant = weights[i] > weights[dominant] ? i : dominant;
    }
    choose_dominant(job, out, joints[dominant]);
    if (!(sum > 0)) {
        add_joint(job, out, joints[0], 1);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (weights[i] != 0) {
            add_joint(job, out, joints[i], (double)weights[i] / sum);
        }
    }
}

/* The influences as a packed mesh decodes them. */
static void blend_packed(const pelt_reference_job *job, uint32_t vertex, joint_blend *out)
{
    const pelt_packed_mesh *mesh = job->influences_of;
    influence_walk walk = walk_influences(mesh, mesh->packed_vertices[vertex]);
    uint32_t joint;
    float weight;
    choose_dominant(job, out, walk.implied_joint);
    while (next_influence(&walk, &joint, &weight)) {
        add_joint(job, out, joint, (double)weight);
    }
}

static void blend_vertex(const pelt_reference_job *job, uint32_t vertex, joint_blend *out)
{
    *out = (joint_blend){ .alignment = 1 };
    if (job->rigid || job->primitive->influence_count == 0) {
        add_matrix(out, job->matrices, 1);
    } else if (job->influences_of) {
        blend_packed(job, vertex, out);
    } else {
        blend_given(job, vertex, out);
    }
    if (out->side) {
        finish_motion(out);
    }
}

/* The part of a morph target to add: POSITION, NORMAL or TANGENT. */
typedef enum morphed { POSITION, NORMAL, TANGENT } morphed;

static const float *target_values(const pelt_morph_target *target, morphed what)
{
    switch (what) {
    case POSITION:
        return target->positions;
    case NORMAL:
        return target->normals;
    case TANGENT:
        break;
    }
    return target->tangents;
}

/* Three numbers of a vertex plus the weighted displacements. */
static void morph(const pelt_reference_job *job, uint32_t vertex, const float *base, morphed what,
                  double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = (double)base[i];
    }
    for (uint32_t t = 0; job->morph_weights && t < job->primitive->target_count; t++) {
        const float *deltas = target_values(&job->primitive->targets[t], what);
        for (size_t i = 0; deltas && i < 3; i++) {
            out[i] += job->morph_weights[t] * (double)deltas[3 * (size_t)vertex + i];
        }
    }
}

static double largest(const double *values, int count)
{
    double most = 0;
    for (int i = 0; i < count; i++) {
        most = fmax(most, fabs(values[i]));
    }
    return most;
}

/* Scaled first, so that no square overflows or underflows. Zero stays zero. */
static void normalize(double v[3])
{
    double scale = largest(v, 3);
    if (scale > 0) {
        double a = v[0] / scale, b = v[1] / scale, c = v[2] / scale;
        double length = sqrt(a * a + b * b + c * c);
        v[0] = a / length;
        v[1] = b / length;
        v[2] = c / length;
    }
}

static double length3(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* A of a blend divided by its largest element, so that products of two elements stay in range,
 * and the bound of each element's error. scale: that element, 0 if A is zero; kept: what
 * cancellation has left of it. */
typedef struct linear_part {
    double a[3][3];
    double error[3][3];
    double scale;
    double kept;
} linear_part;

static void make_linear(const joint_blend *blend, linear_part *out)
{
    double magnitude = 0;
    out->scale = 0;
    for (int row = 0; row < 3; row++) {
        out->scale = fmax(out->scale, largest(blend->matrix + 4 * row, 3));
        magnitude = fmax(magnitude, largest(blend->magnitude + 4 * row, 3));
    }
    out->kept = magnitude > 0 ? out->scale / magnitude : 0;
    for (int row = 0; out->scale > 0 && row < 3; row++) {
        for (int column = 0; column < 3; column++) {
            out->a[row][column] = blend->matrix[4 * row + column] / out->scale;
            out->error[row][column] = ROUNDING * (blend->magnitude[4 * row + column] / out->scale);
        }
    }
}

static double product_error(double a, double a_error, double b, double b_error)
{
    return fabs(a) * b_error + a_error * fabs(b) + a_error * b_error;
}

/* cof(A) n: its rows are r1 x r2, r2 x r0, r0 x r1. Returns the bound of its error. */
static double apply_cofactor(const linear_part *linear, const double n[3], double out[3])
{
    double error = 0;
    for (int row = 0; row < 3; row++) {
        const double *p = linear->a[(row + 1) % 3], *q = linear->a[(row + 2) % 3];
        const double *dp = linear->error[(row + 1) % 3], *dq = linear->error[(row + 2) % 3];
        out[row] = 0;
        for (int k = 0; k < 3; k++) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            out[row] += (p[i] * q[j] - p[j] * q[i]) * n[k];
            error += (product_error(p[i], dp[i], q[j], dq[j]) +
                      product_error(p[j], dp[j], q[i], dq[i])) *
                     fabs(n[k]);
        }
    }
    return error;
}

/* A t. Returns the bound of its error. */
static double apply_linear(const linear_part *linear, const double t[3], double out[3])
{
    double error = 0;
    for (int row = 0; row < 3; row++) {
        out[row] = 0;
        for (int k = 0; k < 3; k++) {
            out[row] += linear->a[row][k] * t[k];
            error += linear->error[row][k] * fabs(t[k]);
        }
    }
    return error;
}

/* Writes the unit direction, or fallback where nothing but rounding is left of it. Returns the
 * length it had, 0 for the fallback. */
static double write_direction(double value[3], double error, const double fallback[3], double *out)
{
    double length = length3(value);
    bool vanished = !(largest(value, 3) > error);
    if (!vanished) {
        normalize(value);
    }
    for (int i = 0; i < 3; i++) {
        out[i] = (vanished ? fallback[i] : value[i]) + 0.0;
    }
    return vanished ? 0 : length;
}

/* Return the confidence. */
static double skin_normal(const pelt_reference_job *job, uint32_t vertex, const linear_part *linear,
                          double out[3])
{
    double normal[3], value[3] = { 0, 0, 0 };
    morph(job, vertex, job->primitive->normals + 3 * (size_t)vertex, NORMAL, normal);
    normalize(normal);
    double error = linear->scale > 0 ? apply_cofactor(linear, normal, value) : 0;
    return write_direction(value, error, NORMAL_FALLBACK, out) * linear->kept * linear->kept;
}

static double skin_tangent(const pelt_reference_job *job, uint32_t vertex,
                           const linear_part *linear, double out[4])
{
    const float *given = job->primitive->tangents + 4 * (size_t)vertex;
    double tangent[3], value[3] = { 0, 0, 0 };
    morph(job, vertex, given, TANGENT, tangent);
    normalize(tangent);
    double error = linear->scale > 0 ? apply_linear(linear, tangent, value) : 0;
    out[3] = (double)given[3];
    return write_direction(value, error, TANGENT_FALLBACK, out) * linear->kept;
}

static void skin_position(const pelt_reference_job *job, uint32_t vertex, const joint_blend *blend,
                          double out[3])
{
    double p[3];
    morph(job, vertex, job->primitive->positions + 3 * (size_t)vertex, POSITION, p);
    for (int row = 0; row < 3; row++) {
        const double *r = blend->matrix + 4 * row, *m = blend->magnitude + 4 * row;
        /* + 0.0 turns -0 into 0. */
        out[row] = r[0] * p[0] + r[1] * p[1] + r[2] * p[2] + r[3] + 0.0;
        if (job->position_scales) {
            job->position_scales[3 * (size_t)vertex + (size_t)row] =
                m[0] * fabs(p[0]) + m[1] * fabs(p[1]) + m[2] * fabs(p[2]) + m[3];
        }
    }
}

static void grow_box(double *box, const double position[3])
{
    for (int i = 0; i < 3; i++) {
        box[i] = fmin(box[i], position[i]);
        box[3 + i] = fmax(box[3 + i], position[i]);
    }
}

static void skin_vertex(const pelt_reference_job *job, uint32_t vertex, double *box)
{
    joint_blend blend;
    blend_vertex(job, vertex, &blend);
    double position[3];
    skin_position(job, vertex, &blend, position);
    if (box) {
        grow_box(box, position);
    }
    for (size_t i = 0; job->positions && i < 3; i++) {
        job->positions[3 * (size_t)vertex + i] = position[i];
    }
    if (job->alignments) {
        job->alignments[vertex] = blend.alignment;
    }

    linear_part linear;
    make_linear(&blend, &linear);
    double normal[3] = { 0, 0, 0 }, tangent[4] = { 0, 0, 0, 0 };
    bool has_normals = job->primitive->normals, has_tangents = job->primitive->tangents;
    double normal_confidence = has_normals ? skin_normal(job, vertex, &linear, normal) : 0;
    double tangent_confidence = has_tangents ? skin_tangent(job, vertex, &linear, tangent) : 0;
    for (size_t i = 0; job->normals && i < 3; i++) {
        job->normals[3 * (size_t)vertex + i] = normal[i];
    }
    for (size_t i = 0; job->tangents && i < 4; i++) {
        job->tangents[4 * (size_t)vertex + i] = tangent[i];
    }
    if (job->normal_confidence) {
        job->normal_confidence[vertex] = normal_confidence;
    }
    if (job->tangent_confidence) {
        job->tangent_confidence[vertex] = tangent_confidence;
    }
}

void pelt_skin_reference(const pelt_reference_job *job, uint32_t first, uint32_t count, double *box)
{
    for (uint32_t i = 0; i < count; i++) {
        skin_vertex(job, first + i, box);
    }
}
