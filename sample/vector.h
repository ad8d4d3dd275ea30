/* Small vectors and quaternions in double precision. */
#ifndef PELT_SAMPLE_VECTOR_H
#define PELT_SAMPLE_VECTOR_H

#include <math.h>

#define PELT_SAMPLE_PI 3.14159265358979323846

typedef struct vec3 {
    double x, y, z;
} vec3;

typedef struct quat {
    double x, y, z, w;
} quat;

static inline vec3 v3(double x, double y, double z)
{
    return (vec3){ x, y, z };
}

static inline vec3 v3_add(vec3 a, vec3 b)
{
    return v3(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline vec3 v3_sub(vec3 a, vec3 b)
{
    return v3(a.x - b.x, a.y - b.y, a.z - b.z);
}

static inline vec3 v3_scale(vec3 a, double s)
{
    return v3(a.x * s, a.y * s, a.z * s);
}

/* a + b s */
static inline vec3 v3_along(vec3 a, vec3 b, double s)
{
    return v3(a.x + b.x * s, a.y + b.y * s, a.z + b.z * s);
}

static inline vec3 v3_mix(vec3 a, vec3 b, double s)
{
    return v3_along(a, v3_sub(b, a), s);
}

static inline double v3_dot(vec3 a, vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline vec3 v3_cross(vec3 a, vec3 b)
{
    return v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline double v3_length(vec3 a)
{
    return sqrt(v3_dot(a, a));
}

static inline double v3_distance(vec3 a, vec3 b)
{
    return v3_length(v3_sub(a, b));
}

/* The unit vector along a, or fallback where a has no direction. */
static inline vec3 v3_unit(vec3 a, vec3 fallback)
{
    double length = v3_length(a);
    return length > 1e-12 ? v3_scale(a, 1.0 / length) : fallback;
}

/* a without its part along the unit vector n. */
static inline vec3 v3_reject(vec3 a, vec3 n)
{
    return v3_along(a, n, -v3_dot(a, n));
}

/* The mirror image in the plane x = 0 for side 1, a itself for side 0. */
static inline vec3 v3_side(vec3 a, int side)
{
    return v3(side ? -a.x : a.x, a.y, a.z);
}

static inline double clamp01(double x)
{
    return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x;
}

/* 0 up to a, 1 from b on, smooth between; a > b falls instead. */
static inline double smooth_step(double a, double b, double x)
{
    double t = clamp01((x - a) / (b - a));
    return t * t * (3.0 - 2.0 * t);
}

static inline quat q_identity(void)
{
    return (quat){ 0.0, 0.0, 0.0, 1.0 };
}

/* a after b. */
static inline quat q_multiply(quat a, quat b)
{
    return (quat){ a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                   a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                   a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
                   a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z };
}

static inline quat q_conjugate(quat q)
{
    return (quat){ -q.x, -q.y, -q.z, q.w };
}

static inline double q_dot(quat a, quat b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

static inline quat q_scale(quat q, double s)
{
    return (quat){ q.x * s, q.y * s, q.z * s, q.w * s };
}

static inline quat q_unit(quat q)
{
    return q_scale(q, 1.0 / sqrt(q_dot(q, q)));
}

/* The rotation about v by |v| radians. */
static inline quat q_turn(vec3 v)
{
    double angle = v3_length(v);
    double s = angle > 1e-12 ? sin(angle / 2.0) / angle : 0.5;
    return (quat){ v.x * s, v.y * s, v.z * s, cos(angle / 2.0) };
}

/* The rotation vector of a unit quaternion, q_turn's inverse. */
static inline vec3 q_vector(quat q)
{
    vec3 v = v3(q.x, q.y, q.z);
    double s = v3_length(v);
    double angle = 2.0 * atan2(s, fabs(q.w));
    double scale = s > 1e-12 ? angle / s : 2.0;
    return v3_scale(v, q.w < 0.0 ? -scale : scale);
}

static inline vec3 q_rotate(quat q, vec3 v)
{
    vec3 u = v3(q.x, q.y, q.z);
    vec3 t = v3_scale(v3_cross(u, v), 2.0);
    return v3_add(v3_along(v, t, q.w), v3_cross(u, t));
}

/* The rotation whose matrix has the columns x, y, z: orthonormal and right-handed. */
static inline quat q_frame(vec3 x, vec3 y, vec3 z)
{
    quat q;
    double trace = x.x + y.y + z.z;
    if (trace > 0.0) {
        q = (quat){ y.z - z.y, z.x - x.z, x.y - y.x, 1.0 + trace };
    } else if (x.x >= y.y && x.x >= z.z) {
        q = (quat){ 1.0 + x.x - y.y - z.z, x.y + y.x, z.x + x.z, y.z - z.y };
    } else if (y.y >= z.z) {
        q = (quat){ x.y + y.x, 1.0 + y.y - x.x - z.z, y.z + z.y, z.x - x.z };
    } else {
        q = (quat){ z.x + x.z, y.z + z.y, 1.0 + z.z - x.x - y.y, x.y - y.x };
    }
    return q_unit(q);
}

#endif
