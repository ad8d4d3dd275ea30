/* Dual quaternion skinning: by hand, against Kavan's formulas written out here, and the float path
 * against the reference. */
#include "pack_fixture.h"

#include "base/box.h"

#define NEAR 1e-13
#define PI   3.14159265358979323846

static void near3(const double *value, double x, double y, double z, double tolerance)
{
    const double wanted[3] = { x, y, z };
    for (int i = 0; i < 3; i++) {
        if (!(fabs(value[i] - wanted[i]) <= tolerance)) {
            fail_msg("%.17g is not %.17g", value[i], wanted[i]);
        }
    }
}

/* -- matrices ------------------------------------------------------------------------------ */

static void multiply(const double a[12], const double b[12], double out[12])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 4; j++) {
            out[4 * i + j] = j == 3 ? a[4 * i + 3] : 0;
            for (int k = 0; k < 3; k++) {
                out[4 * i + j] += a[4 * i + k] * b[4 * k + j];
            }
        }
    }
}

static void transform(const double m[12], const double p[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = m[4 * i] * p[0] + m[4 * i + 1] * p[1] + m[4 * i + 2] * p[2] + m[4 * i + 3];
    }
}

/* Rodrigues: about a unit axis, and moved. */
static void motion(const double axis[3], double degrees, const double t[3], double out[12])
{
    double c = cos(degrees * PI / 180), s = sin(degrees * PI / 180);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            int k = 3 - i - j;
            double cross = i == j ? 0 : ((j - i + 3) % 3 == 1 ? -s : s) * axis[k];
            out[4 * i + j] = (i == j ? c : 0) + (1 - c) * axis[i] * axis[j] + cross;
        }
        out[4 * i + 3] = t[i];
    }
}

static void random_motion(uint64_t *seed, double degrees, double distance, double out[12])
{
    float axis[3];
    random_direction(seed, axis);
    double a[3] = { axis[0], axis[1], axis[2] }, t[3];
    double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    for (int i = 0; i < 3; i++) {
        a[i] /= length;
        t[i] = uniform(seed, -distance, distance);
    }
    motion(a, uniform(seed, -degrees, degrees), t, out);
}

/* -- the reference ------------------------------------------------------------------------- */

typedef struct vertex {
    float position[3], normal[3], tangent[4];
    uint16_t joints[4];
    float weights[4];
} vertex;

typedef struct skinned {
    double position[3], normal[3], tangent[4], scales[3], alignment;
} skinned;

static skinned skin_as(const vertex *v, const double *matrices, bool dual)
{
    vertex copy = *v;
    double rotations[4 * 16];
    pelt_skin_rotations_double(matrices, 4, rotations, NULL);
    pelt_primitive primitive = { .topology = PELT_POINTS,
                                 .vertex_count = 1,
                                 .positions = copy.position,
                                 .normals = copy.normal,
                                 .tangents = copy.tangent,
                                 .influence_count = 4,
                                 .joints = copy.joints,
                                 .weights = copy.weights,
                                 .material = -1 };
    skinned out = { 0 };
    const pelt_reference_job job = { .primitive = &primitive,
                                     .matrices = matrices,
                                     .rotations = dual ? rotations : NULL,
                                     .positions = out.position,
                                     .normals = out.normal,
                                     .tangents = out.tangent,
                                     .position_scales = out.scales,
                                     .alignments = &out.alignment };
    pelt_skin_reference(&job, 0, 1, NULL);
    return out;
}

static skinned skin(const vertex *v, const double *matrices)
{
    return skin_as(v, matrices, true);
}

static const double identity[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
static const double z_axis[3] = { 0, 0, 1 }, no_shift[3] = { 0, 0, 0 };

/* Four joints: the first stands still, the others are one. */
static void set_two(double matrices[48], const double second[12])
{
    memcpy(matrices, identity, sizeof(identity));
    for (int j = 1; j < 4; j++) {
        memcpy(matrices + 12 * j, second, sizeof(identity));
    }
}

/* A quarter turn about (1 0 0), half of it: (1 1 0) goes on the circle, 45 degrees round. */
static void turns_on_a_circle(void **state)
{
    (void)state;
    double matrices[48], second[12];
    const double shift[3] = { 1, -1, 0 };
    motion(z_axis, 90, shift, second);
    set_two(matrices, second);
    const vertex v = { .position = { 1, 1, 0 },
                       .normal = { 0, 1, 0 },
                       .tangent = { 0, 0, 1, -1 },
                       .joints = { 0, 1 },
                       .weights = { 0.5f, 0.5f } };
    const double s = sqrt(0.5);
    skinned out = skin(&v, matrices);
    near3(out.position, 1 - s, s, 0, NEAR);
    near3(out.normal, -s, s, 0, NEAR);
    near3(out.tangent, 0, 0, 1, NEAR);
    assert_true(out.tangent[3] == -1);
    skinned linear = skin_as(&v, matrices, false);
    near3(linear.position, 0.5, 0.5, 0, NEAR); /* the chord's middle: the limb gets thin */
    /* Three quarters of the second: 2 atan(3 sin 45 / (1 + 3 cos 45)) of it, the blend's angle. */
    const vertex more = { .position = { 1, 1, 0 },
                          .normal = { 0, 1, 0 },
                          .tangent = { 0, 0, 1, 1 },
                          .joints = { 0, 1 },
                          .weights = { 0.25f, 0.75f } };
    double angle = 2 * atan2(0.75 * sin(PI / 4), 0.25 + 0.75 * cos(PI / 4));
    out = skin(&more, matrices);
    near3(out.position, 1 - sin(angle), cos(angle), 0, NEAR);
}

/* The candy wrapper: a ring half twisted. LBS has its radius times the cosine of half the angle. */
static void keeps_a_twisted_ring(void **state)
{
    (void)state;
    for (int degrees = 0; degrees <= 360; degrees += 15) {
        double matrices[48], second[12];
        motion(z_axis, degrees, no_shift, second);
        set_two(matrices, second);
        const vertex v = { .position = { 2, 0, 5 },
                           .normal = { 1, 0, 0 },
                           .tangent = { 0, 1, 0, 1 },
                           .joints = { 1, 0 },
                           .weights = { 0.5f, 0.5f } };
        skinned dual = skin(&v, matrices), linear = skin_as(&v, matrices, false);
        double half = degrees * PI / 360;
        assert_true(fabs(hypot(linear.position[0], linear.position[1]) - 2 * fabs(cos(half))) <=
                    NEAR);
        assert_true(fabs(hypot(dual.position[0], dual.position[1]) - 2) <= NEAR);
        assert_true(fabs(dual.alignment - fabs(cos(half))) <= NEAR);
        /* Beyond half a turn the near way round is the other one. */
        double turn = degrees > 180 ? half - PI : half;
        if (degrees != 180) {
            near3(dual.position, 2 * cos(turn), 2 * sin(turn), 5, NEAR);
        }
    }
}

/* Kavan et al. 2008, section 4 and appendix A: unit dual quaternions from rotation and translation,
 * their sum divided by the length of its real part, and the vertex and normal moved by that. */
typedef struct dual_quaternion {
    double w0, d0[3], we, de[3];
} dual_quaternion;

static dual_quaternion dual_of(const double m[12])
{
    /* The half angle from the trace; fine for angles that are not near 180 degrees. */
    dual_quaternion q = { .w0 = 0.5 * sqrt(1 + m[0] + m[5] + m[10]) };
    q.d0[0] = (m[9] - m[6]) / (4 * q.w0);
    q.d0[1] = (m[2] - m[8]) / (4 * q.w0);
    q.d0[2] = (m[4] - m[1]) / (4 * q.w0);
    const double t[3] = { m[3], m[7], m[11] };
    q.we = -0.5 * (t[0] * q.d0[0] + t[1] * q.d0[1] + t[2] * q.d0[2]);
    q.de[0] = 0.5 * (t[0] * q.w0 + t[1] * q.d0[2] - t[2] * q.d0[1]);
    q.de[1] = 0.5 * (-t[0] * q.d0[2] + t[1] * q.w0 + t[2] * q.d0[0]);
    q.de[2] = 0.5 * (t[0] * q.d0[1] - t[1] * q.d0[0] + t[2] * q.w0);
    return q;
}

static void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* v + 2 d0 x (d0 x v + w0 v) + 2 (w0 de - we d0 + d0 x de); the last term for points only. */
static void apply(const dual_quaternion *q, const double v[3], bool point, double out[3])
{
    double inner[3], outer[3], moved[3];
    cross(q->d0, v, inner);
    for (int i = 0; i < 3; i++) {
        inner[i] += q->w0 * v[i];
    }
    cross(q->d0, inner, outer);
    cross(q->d0, q->de, moved);
    for (int i = 0; i < 3; i++) {
        double shift = q->w0 * q->de[i] - q->we * q->d0[i] + moved[i];
        out[i] = v[i] + 2 * outer[i] + (point ? 2 * shift : 0);
    }
}

static dual_quaternion blend_duals(const vertex *v, const double *matrices)
{
    dual_quaternion sum = { 0 };
    double total = 0, length;
    for (int k = 0; k < 4; k++) {
        dual_quaternion q = dual_of(matrices + 12 * v->joints[k]);
        double w = v->weights[k];
        total += w;
        sum.w0 += w * q.w0;
        sum.we += w * q.we;
        for (int i = 0; i < 3; i++) {
            sum.d0[i] += w * q.d0[i];
            sum.de[i] += w * q.de[i];
        }
    }
    length = sqrt(sum.w0 * sum.w0 + sum.d0[0] * sum.d0[0] + sum.d0[1] * sum.d0[1] +
                  sum.d0[2] * sum.d0[2]);
    assert_true(fabs(total - 1) < 1e-6);
    sum.w0 /= length;
    sum.we /= length;
    for (int i = 0; i < 3; i++) {
        sum.d0[i] /= length;
        sum.de[i] /= length;
    }
    return sum;
}

static vertex random_vertex(uint64_t *seed)
{
    vertex v = { .joints = { 0, 1, 2, 3 } };
    float sum = 0;
    for (int i = 0; i < 4; i++) {
        v.weights[i] = (float)uniform(seed, 0.01, 1);
        sum += v.weights[i];
    }
    for (int i = 0; i < 4; i++) {
        v.weights[i] /= sum;
    }
    for (int i = 0; i < 3; i++) {
        v.position[i] = (float)uniform(seed, -2, 2);
    }
    random_direction(seed, v.normal);
    random_direction(seed, v.tangent);
    v.tangent[3] = 1;
    return v;
}

static void unit(const float from[3], double out[3])
{
    double length =
        sqrt((double)from[0] * from[0] + (double)from[1] * from[1] + (double)from[2] * from[2]);
    for (int i = 0; i < 3; i++) {
        out[i] = from[i] / length;
    }
}

/* All half angles are below 45 degrees, so all quaternions are on one side. */
static void rigid_joints_are_as_kavan_has_them(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int trial = 0; trial < 500; trial++) {
        double matrices[48], wanted[3], n[3], t[3];
        for (int j = 0; j < 4; j++) {
            random_motion(&seed, 89, 5, matrices + 12 * j);
        }
        vertex v = random_vertex(&seed);
        const double p[3] = { v.position[0], v.position[1], v.position[2] };
        dual_quaternion blend = blend_duals(&v, matrices);
        skinned out = skin(&v, matrices);
        apply(&blend, p, true, wanted);
        near3(out.position, wanted[0], wanted[1], wanted[2], 1e-12);
        /* Normals and tangents: turned by the blended rotation. */
        unit(v.normal, n);
        unit(v.tangent, t);
        apply(&blend, n, false, wanted);
        near3(out.normal, wanted[0], wanted[1], wanted[2], 1e-12);
        apply(&blend, t, false, wanted);
        near3(out.tangent, wanted[0], wanted[1], wanted[2], 1e-12);
    }
}

static void random_affine(uint64_t *seed, double out[12])
{
    for (int i = 0; i < 12; i++) {
        out[i] = uniform(seed, -1, 1);
    }
    for (int i = 0; i < 3; i++) {
        out[5 * i] += 2;
    }
}

/* A place that all joints put in the same place stays there, however they turn and stretch. Scale
 * that is blended about the origin before the rigid motions (the paper's two phases) moves it. */
static void a_shared_pivot_stays(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int trial = 0; trial < 200; trial++) {
        double matrices[48];
        vertex v = random_vertex(&seed);
        const double p[3] = { v.position[0], v.position[1], v.position[2] };
        for (int j = 0; j < 4; j++) {
            double turn[12], stretch[12], to[3];
            random_motion(&seed, 180, 0, turn);
            random_affine(&seed, stretch);
            multiply(turn, stretch, matrices + 12 * j);
            transform(matrices + 12 * j, p, to);
            for (int i = 0; i < 3; i++) {
                matrices[12 * j + 4 * i + 3] += 7 - to[i];
            }
        }
        skinned out = skin(&v, matrices);
        near3(out.position, 7, 7, 7, 1e-11);
    }
    /* A head at 1.7 that nods by 40 degrees and is half as large again. Halfway, by two phases:
     * scale 1.25 about the origin, then the screw motion halfway, in complex numbers above. */
    double c = cos(40 * PI / 180), s = sin(40 * PI / 180);
    double denominator = (1 - c) * (1 - c) + s * s, a = 1 - 1.5 * c, b = -1.5 * s;
    double x = 1.7 * (a * (1 - c) - b * s) / denominator;
    double y = 1.7 * (b * (1 - c) + a * s) / denominator;
    double h = cos(20 * PI / 180), k = sin(20 * PI / 180), dx = 1.25 * 1.7 - x, dy = -y;
    double off = hypot(x + h * dx - k * dy - 1.7, y + k * dx + h * dy);
    assert_true(fabs(off - 0.075) < 0.0005); /* docs/skinning-methods.md: 7.5 cm */
}

/* Where the character stands, how large it is, whether it is mirrored and how its positions were
 * quantised changes nothing. */
static void spaces_do_not_matter(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int trial = 0; trial < 300; trial++) {
        double matrices[48], world[12], left[48], wanted[3];
        vertex v = random_vertex(&seed);
        for (int j = 0; j < 4; j++) {
            double turn[12], stretch[12];
            random_motion(&seed, 120, 3, turn);
            random_affine(&seed, stretch);
            multiply(turn, stretch, matrices + 12 * j);
        }
        random_motion(&seed, 180, 100, world);
        double scale = uniform(&seed, 0.01, 20) * (trial % 2 ? -1 : 1);
        for (int i = 0; i < 12; i++) {
            world[i] *= i % 4 < 3 ? scale : 1;
        }
        skinned here = skin(&v, matrices);
        for (int j = 0; j < 4; j++) {
            multiply(world, matrices + 12 * j, left + 12 * j);
        }
        skinned there = skin(&v, left);
        if (here.alignment > 1e-6) {
            transform(world, here.position, wanted);
            near3(there.position, wanted[0], wanted[1], wanted[2], 1e-9);
        }
        /* Rigid joints after any one matrix: it is of the positions. */
        double quantised[12], rigid[48], right[48];
        random_affine(&seed, quantised);
        for (int j = 0; j < 4; j++) {
            random_motion(&seed, 80, 3, rigid + 12 * j);
            multiply(rigid + 12 * j, quantised, right + 12 * j);
        }
        const double p[3] = { v.position[0], v.position[1], v.position[2] };
        double moved[3];
        transform(quantised, p, moved);
        dual_quaternion blend = blend_duals(&v, rigid);
        apply(&blend, moved, true, wanted);
        there = skin(&v, right);
        near3(there.position, wanted[0], wanted[1], wanted[2], 1e-11);
    }
}

/* Position by finite differences with weights held: normals are at right angles to two surface
 * directions, on the side that cof says; tangents along one. */
static void directions_follow_the_differential(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (int trial = 0; trial < 300; trial++) {
        double matrices[48], jacobian[9], column[3][3], n[3], t[3], wanted[3];
        vertex v = random_vertex(&seed);
        for (int j = 0; j < 4; j++) {
            double turn[12], stretch[12];
            random_motion(&seed, 100, 3, turn);
            random_affine(&seed, stretch);
            multiply(turn, stretch, matrices + 12 * j);
        }
        skinned out = skin(&v, matrices);
        for (int axis = 0; axis < 3; axis++) {
            vertex low = v, high = v;
            low.position[axis] = -4; /* the position is linear in it */
            high.position[axis] = 4;
            skinned from = skin(&low, matrices), to = skin(&high, matrices);
            for (int i = 0; i < 3; i++) {
                column[axis][i] = (to.position[i] - from.position[i]) / 8;
                jacobian[3 * i + axis] = column[axis][i];
            }
        }
        unit(v.normal, n);
        unit(v.tangent, t);
        double cofactor[3][3];
        cross(column[1], column[2], cofactor[0]);
        cross(column[2], column[0], cofactor[1]);
        cross(column[0], column[1], cofactor[2]);
        double length_n = 0, length_t = 0, turned[3];
        for (int i = 0; i < 3; i++) {
            wanted[i] = cofactor[0][i] * n[0] + cofactor[1][i] * n[1] + cofactor[2][i] * n[2];
            turned[i] =
                jacobian[3 * i] * t[0] + jacobian[3 * i + 1] * t[1] + jacobian[3 * i + 2] * t[2];
            length_n += wanted[i] * wanted[i];
            length_t += turned[i] * turned[i];
        }
        length_n = sqrt(length_n);
        length_t = sqrt(length_t);
        if (length_n > 1e-2 && length_t > 1e-2) {
            near3(out.normal, wanted[0] / length_n, wanted[1] / length_n, wanted[2] / length_n,
                  1e-10);
            near3(out.tangent, turned[0] / length_t, turned[1] / length_t, turned[2] / length_t,
                  1e-10);
        }
    }
}

/* -- rotations ----------------------------------------------------------------------------- */

static void tells_stretches(void **state)
{
    (void)state;
    const double shear[12] = { 1, 0.1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
    const double uneven[12] = { 2, 0, 0, 5, 0, 2.1, 0, 0, 0, 0, 2, 0 };
    const double scaled[12] = { 0, -3, 0, 5, 3, 0, 0, 0, 0, 0, 3, 0 };
    const double mirror[12] = { -1, 0, 0, 5, 0, 1, 0, 0, 0, 0, 1, 0 };
    const double line[12] = { 1, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0 };
    const double nothing[12] = { 0 };
    const double *all[] = { identity, shear, uneven, scaled, mirror, line, nothing };
    const pelt_stretch wanted[] = { PELT_STRETCH_EVEN,     PELT_STRETCH_UNEVEN,
                                    PELT_STRETCH_UNEVEN,   PELT_STRETCH_EVEN,
                                    PELT_STRETCH_MIRRORED, PELT_STRETCH_COLLAPSED,
                                    PELT_STRETCH_COLLAPSED };
    double matrices[12 * 7], rotations[4 * 7];
    pelt_stretch stretches[7];
    for (int j = 0; j < 7; j++) {
        memcpy(matrices + 12 * j, all[j], sizeof(identity));
    }
    pelt_skin_rotations_double(matrices, 7, rotations, stretches);
    for (int j = 0; j < 7; j++) {
        assert_int_equal(stretches[j], wanted[j]);
        const double *q = rotations + 4 * j;
        assert_true(fabs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1) < NEAR);
    }
    /* A quarter turn about z, of either sign; the mirror's is that of its negative, half about x.
     */
    const double s = sqrt(0.5), *q = rotations + 4 * 3;
    double sign = q[3] < 0 ? -1 : 1;
    near3(q, 0, 0, sign * s, NEAR);
    assert_true(fabs(rotations[4 * 4]) > 1 - NEAR);
    /* A palette that stretches alike stretches nothing; nor does one that is mirrored alike. */
    double turned[12];
    motion(z_axis, 30, no_shift, turned);
    memcpy(matrices, uneven, sizeof(identity));
    multiply(turned, uneven, matrices + 12);
    pelt_skin_rotations_double(matrices, 2, rotations, stretches);
    assert_int_equal(stretches[0], PELT_STRETCH_EVEN);
    assert_int_equal(stretches[1], PELT_STRETCH_EVEN);
    memcpy(matrices, mirror, sizeof(identity));
    multiply(turned, mirror, matrices + 12);
    memcpy(matrices + 24, shear, sizeof(identity));
    pelt_skin_rotations_double(matrices, 2, rotations, stretches);
    assert_int_equal(stretches[0], PELT_STRETCH_EVEN);
    assert_int_equal(stretches[1], PELT_STRETCH_EVEN);
    pelt_skin_rotations_double(matrices, 3, rotations, stretches);
    assert_int_equal(stretches[2], PELT_STRETCH_MIRRORED);
}

/* -- the float path ------------------------------------------------------------------------ */

typedef struct outputs {
    float *positions;
    uint32_t *normals, *tangents;
    pelt_box box;
} outputs;

static outputs skin_floats(const pelt_packed_mesh *mesh, const float *matrices,
                           const float *rotations)
{
    outputs out = { allocate(mesh->vertex_count, 3 * sizeof(float)),
                    allocate(mesh->vertex_count, sizeof(uint32_t)),
                    allocate(mesh->vertex_count, sizeof(uint32_t)), PELT_BOX_EMPTY };
    pelt_skin_job job = { .mesh = mesh,
                          .matrices = matrices,
                          .rotations = rotations,
                          .out_positions = out.positions,
                          .out_normals = out.normals,
                          .out_tangents = out.tangents };
    pelt_skin_cpu(&job, 0, mesh->vertex_count, &out.box);
    return out;
}

static void free_outputs(outputs *out)
{
    free(out->positions);
    free(out->normals);
    free(out->tangents);
}

static double angle_of(const double a[3], const double b[3])
{
    double c[3];
    cross(a, b, c);
    return atan2(sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]),
                 a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
}

static double decoded_angle(uint32_t code, const double wanted[3])
{
    float decoded[3], w;
    pelt_decode_direction(code, decoded, &w);
    const double d[3] = { decoded[0], decoded[1], decoded[2] };
    return angle_of(d, wanted);
}

/* n influences, u = 2^-24: an element of the sums is off by (n + 6) u of its magnitude, the real
 * part by (n + 2) u; their quotient by (3 n + 22) u of what the reference calls its magnitude. A
 * position has four more roundings, and two for the matrices. */
static void check_floats(uint32_t slots, uint32_t joint_count, double low, double high,
                         uint64_t seed)
{
    enum { VERTICES = 400 };
    pelt_primitive p = make_primitive(VERTICES, slots, seed);
    random_influences(&p, slots, joint_count, seed + 1);
    pelt_packed_mesh *mesh = pack(&p);
    float *matrices = allocate(joint_count, 12 * sizeof(float));
    float *rotations = allocate(joint_count, 4 * sizeof(float));
    double *doubles = allocate(joint_count, 12 * sizeof(double));
    double *exact = allocate(joint_count, 4 * sizeof(double));
    for (size_t j = 0; j < joint_count; j++) {
        random_matrix(&seed, low, high, 3, matrices + 12 * j);
        for (size_t i = 0; i < 12; i++) {
            doubles[12 * j + i] = (double)matrices[12 * j + i];
        }
    }
    pelt_skin_rotations_double(doubles, joint_count, exact, NULL);
    pelt_skin_rotations(matrices, joint_count, rotations);
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        size_t from = mesh->source_vertices[v];
        float w;
        pelt_decode_direction(mesh->vertices[v].normal, p.normals + 3 * from, &w);
        pelt_decode_direction(mesh->tangents[v], p.tangents + 4 * from, &w);
    }
    double *positions = allocate(VERTICES, 3 * sizeof(double));
    double *normals = allocate(VERTICES, 3 * sizeof(double));
    double *tangents = allocate(VERTICES, 4 * sizeof(double));
    double *scales = allocate(VERTICES, 3 * sizeof(double));
    double *alignments = allocate(VERTICES, sizeof(double));
    double *confidences = allocate(2 * VERTICES, sizeof(double));
    const pelt_reference_job job = { .primitive = &p,
                                     .matrices = doubles,
                                     .rotations = exact,
                                     .influences_of = mesh,
                                     .positions = positions,
                                     .normals = normals,
                                     .tangents = tangents,
                                     .normal_confidence = confidences,
                                     .tangent_confidence = confidences + VERTICES,
                                     .position_scales = scales,
                                     .alignments = alignments };
    pelt_skin_reference(&job, 0, VERTICES, NULL);
    outputs out = skin_floats(mesh, matrices, rotations);
    double n = 4.0 * mesh->set_count, element = 3 * n + 22;
    double directions = asin(sqrt(3.0) / 1022.0), worst = 0;
    uint32_t compared = 0;
    pelt_box box = PELT_BOX_EMPTY;
    for (uint32_t v = 0; v < VERTICES; v++) {
        size_t from = mesh->source_vertices[v];
        box_add(&box, out.positions + 3 * (size_t)v);
        if (alignments[from] < 1e-6) { /* the products of two rounded quaternions: 6 u */
            continue;
        }
        compared++;
        for (size_t i = 0; i < 3; i++) {
            double off = fabs(out.positions[3 * (size_t)v + i] - positions[3 * from + i]);
            double bound = (element + 6) * 0x1p-24 * scales[3 * from + i];
            worst = fmax(worst, off / bound);
            assert_true(off <= bound);
        }
        if (confidences[from] > 1e-4) {
            double bound = directions + (12 * element + 30) * 0x1p-24 / confidences[from];
            assert_true(decoded_angle(out.normals[v], normals + 3 * from) <= bound);
        }
        if (confidences[VERTICES + from] > 1e-4) {
            double bound = directions + (3 * element + 9) * 0x1p-24 / confidences[VERTICES + from];
            assert_true(decoded_angle(out.tangents[v], tangents + 4 * from) <= bound);
        }
    }
    assert_true(compared > VERTICES - 10);
    assert_true(worst > 1e-3); /* else the bound says nothing */
    assert_memory_equal(&box, &out.box, sizeof(box));
    free_outputs(&out);
    free(confidences);
    free(alignments);
    free(scales);
    free(tangents);
    free(normals);
    free(positions);
    free(exact);
    free(doubles);
    free(rotations);
    free(matrices);
    pelt_packed_mesh_destroy(mesh);
    free_primitive(&p);
}

static void floats_agree_with_the_reference(void **state)
{
    (void)state;
    check_floats(4, 12, 1, 1, 10);
    check_floats(4, 12, 0.25, 4, 20);
    check_floats(8, 12, 0.5, 2, 30);
    check_floats(20, 30, 0.9, 1.1, 40);
    check_floats(4, 300, 1e-3, 1e-3, 50);
}

/* What packed weights move, given and decoded ones blended exactly, stays below the bound. */
static void packing_moves_no_farther_than_it_says(void **state)
{
    (void)state;
    enum { VERTICES = 500, JOINTS = 9 };
    uint64_t seed = 80;
    pelt_primitive p = make_primitive(VERTICES, 8, 81);
    random_influences(&p, 7, JOINTS, 82);
    pelt_packed_mesh *mesh = pack(&p);
    double *matrices = allocate(JOINTS, 12 * sizeof(double));
    double rotations[4 * JOINTS], bounds[VERTICES], worst = 0;
    for (size_t j = 0; j < JOINTS; j++) {
        random_motion(&seed, 150, 3, matrices + 12 * j);
    }
    pelt_skin_rotations_double(matrices, JOINTS, rotations, NULL);
    double *given = allocate(VERTICES, 3 * sizeof(double));
    double *decoded = allocate(VERTICES, 3 * sizeof(double));
    pelt_reference_job job = {
        .primitive = &p, .matrices = matrices, .rotations = rotations, .positions = given
    };
    pelt_skin_reference(&job, 0, VERTICES, NULL);
    job.positions = decoded;
    job.influences_of = mesh;
    pelt_skin_reference(&job, 0, VERTICES, NULL);
    assert_int_equal(pelt_pack_displacement(mesh, &p, NULL, matrices, rotations, bounds, NULL),
                     PELT_OK);
    for (size_t to = 0; to < VERTICES; to++) {
        const double *a = given + 3 * mesh->source_vertices[to];
        const double *b = decoded + 3 * mesh->source_vertices[to];
        double moved = sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                            (a[2] - b[2]) * (a[2] - b[2]));
        assert_true(moved <= bounds[to] + 1e-12);
        worst = fmax(worst, bounds[to] > 0 ? moved / bounds[to] : 0);
    }
    assert_true(worst > 0.3);
    free(decoded);
    free(given);
    free(matrices);
    pelt_packed_mesh_destroy(mesh);
    free_primitive(&p);
}

/* Whatever the matrix, mirrored and sheared too, a vertex of one joint is as in LBS, to the bit. */
static void rigid_vertices_are_exact(void **state)
{
    (void)state;
    uint64_t seed = 60;
    pelt_primitive p = make_primitive(100, 4, 61);
    random_influences(&p, 1, 8, 62);
    pelt_packed_mesh *mesh = pack(&p);
    float matrices[12 * 8], rotations[4 * 8];
    for (int i = 0; i < 12 * 8; i++) {
        matrices[i] = (float)uniform(&seed, -2, 2);
    }
    pelt_skin_rotations(matrices, 8, rotations);
    outputs dual = skin_floats(mesh, matrices, rotations),
            linear = skin_floats(mesh, matrices, NULL);
    assert_memory_equal(dual.positions, linear.positions, 100 * 3 * sizeof(float));
    assert_memory_equal(dual.normals, linear.normals, 100 * sizeof(uint32_t));
    assert_memory_equal(dual.tangents, linear.tangents, 100 * sizeof(uint32_t));
    free_outputs(&dual);
    free_outputs(&linear);
    pelt_packed_mesh_destroy(mesh);
    free_primitive(&p);
}

/* Joints that mirror, flatten, vanish, are huge or tiny: everything is finite. */
static void odd_joints_stay_finite(void **state)
{
    (void)state;
    uint64_t seed = 70;
    pelt_primitive p = make_primitive(300, 4, 71);
    random_influences(&p, 4, 8, 72);
    pelt_packed_mesh *mesh = pack(&p);
    for (int trial = 0; trial < 50; trial++) {
        float matrices[12 * 8], rotations[4 * 8];
        for (size_t j = 0; j < 8; j++) {
            float *m = matrices + 12 * j;
            random_matrix(&seed, 0.5, 2, 3, m);
            double scale = pow(10, uniform(&seed, -18, 17));
            uint32_t kind = below(&seed, 6);
            for (int i = 0; i < 12; i++) {
                m[i] *= kind == 0 ? 0 : kind == 1 ? -1 : kind == 2 ? (float)scale : 1;
                m[i] = kind == 3 && i % 4 == 0 ? 0 : kind == 4 && i % 4 < 2 ? 0 : m[i];
            }
        }
        pelt_skin_rotations(matrices, 8, rotations);
        outputs out = skin_floats(mesh, matrices, rotations);
        for (int i = 0; i < 3 * 300; i++) {
            assert_true(isfinite(out.positions[i]));
        }
        free_outputs(&out);
    }
    pelt_packed_mesh_destroy(mesh);
    free_primitive(&p);
}

/* Turned by 170 degrees halfway, (1 0 0) rises to sin 85 degrees: no joint puts it above sin 170.
 */
static void joint_boxes_do_not_hold(void **state)
{
    (void)state;
    float positions[3] = { 1, 0, 0 }, weights[4] = { 0.5f, 0.5f, 0, 0 };
    uint16_t joints[4] = { 0, 1, 0, 0 };
    pelt_primitive p = { .topology = PELT_POINTS,
                         .vertex_count = 1,
                         .positions = positions,
                         .influence_count = 4,
                         .joints = joints,
                         .weights = weights,
                         .material = -1 };
    pelt_packed_mesh *mesh = pack(&p);
    double turned[12];
    float matrices[24], rotations[8];
    motion(z_axis, 170, no_shift, turned);
    for (int i = 0; i < 12; i++) {
        matrices[i] = (float)identity[i];
        matrices[12 + i] = (float)turned[i];
    }
    pelt_skin_rotations(matrices, 2, rotations);
    outputs out = skin_floats(mesh, matrices, rotations);
    assert_true(fabs(out.positions[1] - sin(85 * PI / 180)) < 1e-6);
    pelt_joint_boxes *boxes;
    assert_int_equal(pelt_joint_boxes_create(NULL, mesh, NULL, &boxes), PELT_OK);
    pelt_box bound = pelt_joint_boxes_bound(boxes, matrices);
    assert_false(box_contains(&bound, &out.box));
    pelt_joint_boxes_destroy(boxes);
    free_outputs(&out);
    pelt_packed_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_on_a_circle),
        cmocka_unit_test(keeps_a_twisted_ring),
        cmocka_unit_test(rigid_joints_are_as_kavan_has_them),
        cmocka_unit_test(a_shared_pivot_stays),
        cmocka_unit_test(spaces_do_not_matter),
        cmocka_unit_test(directions_follow_the_differential),
        cmocka_unit_test(tells_stretches),
        cmocka_unit_test(floats_agree_with_the_reference),
        cmocka_unit_test(packing_moves_no_farther_than_it_says),
        cmocka_unit_test(rigid_vertices_are_exact),
        cmocka_unit_test(odd_joints_stay_finite),
        cmocka_unit_test(joint_boxes_do_not_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
