#include "study/squash_pose.h"

#include <string.h>

#define PI 3.14159265358979323846

/* -- at rest ------------------------------------------------------------------------------- */

/* The profile: a capsule whose shaft swells a little, like a limb. Its parameter is the length
 * along the profile, 0 at one tip. */
static void profile(double t, double *x, double *radius, double *dx, double *dradius)
{
    const double shaft = 2.0 * (LIMB_HALF - LIMB_RADIUS), cap = LIMB_RADIUS * PI / 2.0;
    double s = t * (shaft + 2.0 * cap) - cap - shaft / 2.0; /* 0 in the middle */
    double beyond = fabs(s) - shaft / 2.0;
    if (beyond > 0.0) {
        double angle = beyond / LIMB_RADIUS;
        double sign = s < 0.0 ? -1.0 : 1.0;
        *x = sign * (shaft / 2.0 + LIMB_RADIUS * sin(angle));
        *radius = LIMB_RADIUS * cos(angle);
        *dx = cos(angle);
        *dradius = -sign * sin(angle);
    } else {
        *x = s;
        *radius = LIMB_RADIUS;
        *dx = 1.0;
        *dradius = 0.0;
    }
}

squash_point squash_point_at(double along, double around)
{
    double x, radius, dx, dradius;
    profile(along, &x, &radius, &dx, &dradius);
    double c = cos(2.0 * PI * around), s = sin(2.0 * PI * around);
    return (squash_point){ .position = { x, radius * c, radius * s },
                           .normal = { -dradius, dx * c, dx * s },
                           .area = radius };
}

/* -- the pose ------------------------------------------------------------------------------ */

static const double identity[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };

static void multiply(const double a[12], const double b[12], double out[12])
{
    double product[12];
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 4; column++) {
            double sum = column == 3 ? a[4 * row + 3] : 0.0;
            for (int k = 0; k < 3; k++) {
                sum += a[4 * row + k] * b[4 * k + column];
            }
            product[4 * row + column] = sum;
        }
    }
    memcpy(out, product, sizeof(product));
}

/* m := m x S */
static void scale(double m[12], double x, double y, double z)
{
    const double s[12] = { x, 0, 0, 0, 0, y, 0, 0, 0, 0, z, 0 };
    multiply(m, s, m);
}

/* m := m x R, about the axis 0, 1 or 2. */
static void rotate(double m[12], int axis, double degrees)
{
    double r[12];
    memcpy(r, identity, sizeof(r));
    int i = (axis + 1) % 3, k = (axis + 2) % 3;
    double c = cos(degrees * PI / 180.0), s = sin(degrees * PI / 180.0);
    r[4 * i + i] = r[4 * k + k] = c;
    r[4 * i + k] = -s;
    r[4 * k + i] = s;
    multiply(m, r, m);
}

const pelt_squash_name pelt_squash_cases[PELT_SQUASH_CASE_COUNT] = {
    { "scale", "both joints scaled by 0.5, 2 and 0.25, askew: weights do not matter" },
    { "bend", "one joint turned by 90 degrees" },
    { "twist", "one joint turned by 120 degrees about the limb" },
    { "squash", "one joint scaled by 0.25 along the limb, 2 across" },
    { "stretch", "one joint scaled by 4 along the limb, 0.5 across" },
    { "flatten", "one joint scaled by 0.25 and 2 across the limb" },
    { "askew", "one joint squashed as above, at 45 degrees to the limb" },
    { "squash-bend", "one joint squashed and turned by 60 degrees" },
    { "flatten-twist", "one joint flattened and turned by 90 degrees" },
    { "grow-bend", "one joint scaled by 4 and turned by 90 degrees" },
    { "grow-twist", "one joint scaled by 3 and turned by 120 degrees" },
    { "mirror", "one joint mirrored across the limb" },
    { "mirror-squash", "both joints mirrored, one squashed" },
};

/* Scales along axes that are turned about z by askew degrees, then a turn. Axes 0 1 2: x, along the
 * limb, y z. */
typedef struct joint_pose {
    double scale[3];
    double askew;
    int axis;
    double degrees;
} joint_pose;

static const joint_pose poses[PELT_SQUASH_CASE_COUNT][2] = {
    { { .scale = { 0.5, 2, 0.25 }, .askew = 25 }, { .scale = { 0.5, 2, 0.25 }, .askew = 25 } },
    { { .scale = { 1, 1, 1 } }, { .scale = { 1, 1, 1 }, .axis = 2, .degrees = 90 } },
    { { .scale = { 1, 1, 1 } }, { .scale = { 1, 1, 1 }, .axis = 0, .degrees = 120 } },
    { { .scale = { 1, 1, 1 } }, { .scale = { 0.25, 2, 2 } } },
    { { .scale = { 1, 1, 1 } }, { .scale = { 4, 0.5, 0.5 } } },
    { { .scale = { 1, 1, 1 } }, { .scale = { 1, 0.25, 2 } } },
    { { .scale = { 1, 1, 1 } }, { .scale = { 0.25, 2, 2 }, .askew = 45 } },
    { { .scale = { 1, 1, 1 } }, { .scale = { 0.25, 2, 2 }, .axis = 1, .degrees = 60 } },
    { { .scale = { 1, 1, 1 } }, { .scale = { 1, 0.25, 2 }, .axis = 0, .degrees = 90 } },
    { { .scale = { 1, 1, 1 } }, { .scale = { 4, 4, 4 }, .axis = 2, .degrees = 90 } },
    { { .scale = { 1, 1, 1 } }, { .scale = { 3, 3, 3 }, .axis = 0, .degrees = 120 } },
    { { .scale = { 1, 1, 1 } }, { .scale = { 1, 1, -1 } } },
    { { .scale = { 1, 1, -1 } }, { .scale = { 0.25, 2, -2 } } },
};

squash_pose squash_pose_of(uint32_t which)
{
    squash_pose pose;
    for (int i = 0; i < 2; i++) {
        const joint_pose *joint = &poses[which][i];
        double *matrix = pose.joints[i];
        memcpy(matrix, identity, sizeof(identity));
        rotate(matrix, joint->axis, joint->degrees);
        rotate(matrix, 2, joint->askew);
        scale(matrix, joint->scale[0], joint->scale[1], joint->scale[2]);
        rotate(matrix, 2, -joint->askew);
    }
    return pose;
}

/* 0 to 1 with two continuous derivatives. */
double squash_weight(double x)
{
    double t = fmin(fmax((x + LIMB_BLEND) / (2.0 * LIMB_BLEND), 0.0), 1.0);
    return t * t * t * (t * (6.0 * t - 15.0) + 10.0);
}

double squash_weight_slope(double x)
{
    double t = fmin(fmax((x + LIMB_BLEND) / (2.0 * LIMB_BLEND), 0.0), 1.0);
    return 30.0 * t * t * (t - 1.0) * (t - 1.0) / (2.0 * LIMB_BLEND);
}

static void transform(const double m[12], const double p[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = dot3(m + 4 * i, p) + m[4 * i + 3];
    }
}

void squash_deform(const squash_pose *pose, const double p[3], double out[3])
{
    double w = squash_weight(p[0]), first[3], second[3];
    transform(pose->joints[0], p, first);
    transform(pose->joints[1], p, second);
    for (int i = 0; i < 3; i++) {
        out[i] = (1.0 - w) * first[i] + w * second[i];
    }
}
