#include "sample/body.h"

enum { KNOTS_MAX = 8, HOLLOW_KNOTS = 4 };

/* The longest piece of a curve that is one cone. */
#define PIECE .02

/* A sphere of a blob's centre line. */
typedef struct knot {
    double x, y, z, radius;
} knot;

typedef struct blob_plan {
    int blob;
    bool paired;
    double blend; /* k */
    int knot_count;
    knot knots[KNOTS_MAX];
} blob_plan;

static const blob_plan blob_plans[] = {
    { BLOB_TORSO,
      false,
      .06,
      5,
      { { 0, .435, -.005, .122 },
        { 0, .51, 0, .136 },
        { 0, .61, 0, .122 },
        { 0, .69, -.004, .095 },
        { 0, .745, -.005, .072 } } },
    { BLOB_BELLY, false, .06, 2, { { 0, .49, .032, .118 }, { 0, .59, .028, .102 } } },
    { BLOB_CHEST, false, .05, 2, { { 0, .705, .045, .062 }, { 0, .63, .085, .034 } } },
    { BLOB_NECK, false, .05, 2, { { 0, .72, -.005, .074 }, { 0, .84, 0, .078 } } },
    { BLOB_SKULL, false, .06, 2, { { -.055, .99, -.005, .172 }, { .055, .99, -.005, .172 } } },
    { BLOB_MUZZLE,
      false,
      .07,
      3,
      { { 0, .925, .09, .098 }, { 0, .915, .17, .068 }, { 0, .92, .245, .036 } } },
    { BLOB_NOSE, false, .012, 2, { { -.011, .938, .275, .021 }, { .011, .938, .275, .021 } } },
    { BLOB_TUFT,
      false,
      .04,
      3,
      { { 0, 1.13, .04, .05 }, { .008, 1.18, .065, .026 }, { .03, 1.215, .105, .006 } } },
    { BLOB_SCARF_END,
      false,
      .012,
      4,
      { { .055, .765, .1, .03 },
        { .066, .72, .128, .03 },
        { .075, .655, .138, .035 },
        { .082, .585, .134, .032 } } },
    { BLOB_TAIL,
      false,
      .06,
      7,
      { { 0, .445, -.07, .052 },
        { 0, .425, -.17, .056 },
        { 0, .445, -.30, .084 },
        { 0, .55, -.42, .118 },
        { 0, .70, -.462, .128 },
        { 0, .85, -.43, .094 },
        { 0, .985, -.345, .012 } } },
    { BLOB_CHEEK, true, .07, 2, { { .09, .93, .04, .1 }, { .235, .875, .005, .018 } } },
    { BLOB_EAR,
      true,
      .035,
      4,
      { { .11, 1.08, -.012, .086 },
        { .148, 1.18, -.016, .07 },
        { .18, 1.285, -.02, .042 },
        { .203, 1.375, -.024, .012 } } },
    { BLOB_ARM,
      true,
      .05,
      8,
      { { .095, .70, -.005, .06 },
        { .16, .657, -.01, .052 },
        { .225, .585, -.015, .045 },
        { .272, .527, -.003, .043 },
        { .305, .484, .008, .045 },
        { .33, .448, .02, .051 },
        { .354, .41, .031, .052 },
        { .37, .38, .038, .041 } } },
    { BLOB_THUMB, true, .03, 2, { { .325, .45, .03, .03 }, { .332, .417, .078, .021 } } },
    { BLOB_LEG,
      true,
      .06,
      5,
      { { .085, .43, 0, .098 },
        { .094, .34, .012, .083 },
        { .1, .245, .02, .058 },
        { .104, .16, -.002, .049 },
        { .106, .085, -.02, .05 } } },
    { BLOB_FOOT,
      true,
      .04,
      3,
      { { .106, .045, -.03, .054 }, { .11, .045, .04, .058 }, { .115, .04, .1, .054 } } },
    { BLOB_TOES, true, .018, 2, { { .082, .03, .11, .03 }, { .08, .028, .148, .026 } } },
    { BLOB_TOES + 2, true, .018, 2, { { .116, .03, .12, .03 }, { .117, .028, .166, .027 } } },
    { BLOB_TOES + 4, true, .018, 2, { { .15, .03, .105, .03 }, { .153, .028, .14, .026 } } },
};

static const knot ear_hollow[HOLLOW_KNOTS] = {
    { .118, 1.125, .062, .058 },
    { .148, 1.18, .052, .054 },
    { .176, 1.265, .034, .031 },
    { .196, 1.335, .016, .008 },
};

/* The scarf's ring around the neck, lower in front. */
enum { SCARF_KNOTS = 20 };
#define SCARF_Y      .778
#define SCARF_RADIUS .09
#define SCARF_TILT   .22
#define SCARF_THICK  .036

static round_cone make_cone(knot a, knot b)
{
    round_cone cone = { .start = v3(a.x, a.y, a.z), .radius = a.radius };
    vec3 axis = v3_sub(v3(b.x, b.y, b.z), cone.start);
    cone.length = v3_length(axis);
    cone.axis = v3_scale(axis, 1.0 / cone.length);
    cone.taper = (a.radius - b.radius) / cone.length;
    cone.slope = cone.taper / sqrt(1.0 - cone.taper * cone.taper);
    return cone;
}

/* Catmull-Rom between b and c. */
static double spline(double a, double b, double c, double d, double t)
{
    return b +
           0.5 * t * (c - a + t * (2.0 * a - 5.0 * b + 4.0 * c - d + t * (3.0 * (b - c) + d - a)));
}

static knot spline_knot(const knot *knots, int count, int span, double t)
{
    const knot *b = &knots[span], *c = &knots[span + 1];
    const knot *a = span > 0 ? b - 1 : b;
    const knot *d = span + 2 < count ? c + 1 : c;
    return (knot){ spline(a->x, b->x, c->x, d->x, t), spline(a->y, b->y, c->y, d->y, t),
                   spline(a->z, b->z, c->z, d->z, t),
                   spline(a->radius, b->radius, c->radius, d->radius, t) };
}

static knot mirror_knot(knot k, int side)
{
    return (knot){ side ? -k.x : k.x, k.y, k.z, k.radius };
}

/* Smooths the line through the knots, unless there are only two, and returns how many cones. */
static int make_cones(const knot *knots, int count, int side, round_cone *cones)
{
    int n = 0;
    for (int span = 0; span + 1 < count; ++span) {
        const knot *from = &knots[span], *to = &knots[span + 1];
        double length = v3_length(v3(to->x - from->x, to->y - from->y, to->z - from->z));
        int pieces = count == 2 ? 1 : (int)ceil(length / PIECE);
        for (int i = 0; i < pieces; ++i) {
            knot a = spline_knot(knots, count, span, (double)i / pieces);
            knot b = spline_knot(knots, count, span, (i + 1.0) / pieces);
            cones[n++] = make_cone(mirror_knot(a, side), mirror_knot(b, side));
        }
    }
    return n;
}

static void add_blob(fox_body *body, const blob_plan *plan, int side)
{
    int blob = plan->blob + side;
    int n = make_cones(plan->knots, plan->knot_count, side, body->cones + body->cone_count);
    body->blends[blob] = plan->blend;
    for (int i = 0; i < n; ++i) {
        body->cone_blobs[body->cone_count++] = (uint16_t)blob;
    }
}

static knot scarf_knot(int i)
{
    double angle = 2.0 * PELT_SAMPLE_PI * i / SCARF_KNOTS;
    double z = SCARF_RADIUS * cos(angle);
    return (knot){ SCARF_RADIUS * sin(angle), SCARF_Y - SCARF_TILT * z, z + .005, SCARF_THICK };
}

static void add_scarf(fox_body *body)
{
    body->blends[BLOB_SCARF] = .012;
    for (int i = 0; i < SCARF_KNOTS; ++i) {
        body->cones[body->cone_count] = make_cone(scarf_knot(i), scarf_knot(i + 1));
        body->cone_blobs[body->cone_count++] = BLOB_SCARF;
    }
}

void pelt_sample_body_make(fox_body *out)
{
    out->cone_count = 0;
    for (size_t i = 0; i < sizeof(blob_plans) / sizeof(*blob_plans); ++i) {
        add_blob(out, &blob_plans[i], 0);
        if (blob_plans[i].paired) {
            add_blob(out, &blob_plans[i], 1);
        }
    }
    add_scarf(out);
    for (int side = 0; side < 2; ++side) {
        out->hollow_cones = make_cones(ear_hollow, HOLLOW_KNOTS, side, out->hollows[side]);
    }
}
