#include "sample/motion.h"

#define WALK_DURATION 1.0
#define WAVE_DURATION 2.6

/* The walk's feet. */
#define STRIDE   .25  /* that a foot travels on the ground, metres */
#define ON_FLOOR .58  /* part of the cycle */
#define LIFT     .045 /* of the ball of the foot in the swing */
#define TOE_OFF  .80  /* radians */
#define STRIKE   (-.32)

const char *pelt_sample_motion_name(fox_motion motion)
{
    return motion == MOTION_WALK ? "walk" : "wave";
}

double pelt_sample_motion_duration(fox_motion motion)
{
    return motion == MOTION_WALK ? WALK_DURATION : WAVE_DURATION;
}

double pelt_sample_motion_lag(fox_motion motion, fox_part part)
{
    if (part == PART_TAIL) {
        return motion == MOTION_WALK ? .28 : .2;
    }
    return part == PART_EAR ? .08 : 0.0;
}

/* Turned by roll about z first, then by pitch about x, then by yaw about y. */
static quat euler(double pitch, double yaw, double roll)
{
    quat q = q_multiply(q_turn(v3(pitch, 0, 0)), q_turn(v3(0, 0, roll)));
    return q_multiply(q_turn(v3(0, yaw, 0)), q);
}

/* The mirror image of a left part's rotation for the right one. */
static quat side_euler(int side, double pitch, double yaw, double roll)
{
    return side ? euler(pitch, -yaw, -roll) : euler(pitch, yaw, roll);
}

/* Where a foot is to be: how its ball (the toe joint) has moved from the bind pose, how it is
 * pitched, and how far its toes bend back up. */
typedef struct foothold {
    vec3 shift;
    double pitch;
    double toes;
} foothold;

static vec3 start_of(fox_part part, int side)
{
    return pelt_sample_part_path(part, side).points[0];
}

/* The rotation that takes one direction and hinge to another. */
static quat swing(vec3 from, vec3 from_hinge, vec3 to, vec3 to_hinge)
{
    quat a = q_frame(from_hinge, from, v3_cross(from_hinge, from));
    quat b = q_frame(to_hinge, to, v3_cross(to_hinge, to));
    return q_multiply(b, q_conjugate(a));
}

/* Two-bone inverse kinematics: turns thigh, shin, foot and toes so that the foot stands as asked
 * while the hips are where the stance has them. The knee points forward. */
static void plant_foot(stance *s, int side, foothold hold)
{
    vec3 hip = start_of(PART_UPPER_LEG, side), knee = start_of(PART_LOWER_LEG, side);
    vec3 ankle = start_of(PART_FOOT, side), ball = start_of(PART_TOE, side);
    vec3 center = start_of(PART_HIPS, 0);
    quat pitch = q_turn(v3(hold.pitch, 0, 0));

    /* The foot rolls over its heel while the toes are up, over its ball while the heel is. */
    vec3 pivot = hold.pitch < 0.0 ? v3(ball.x, 0.0, ball.z - .15) : ball;
    vec3 goal = v3_add(pivot, q_rotate(pitch, v3_sub(ankle, pivot)));
    goal = v3_add(goal, hold.shift);

    /* Seen from the hips. */
    quat hips = s->turn[PART_HIPS][0];
    vec3 from_center = v3_sub(goal, v3_add(center, s->hips));
    vec3 reach = v3_sub(q_rotate(q_conjugate(hips), from_center), v3_sub(hip, center));

    double thigh = v3_distance(hip, knee), shin = v3_distance(knee, ankle);
    double longest = .999 * (thigh + shin);
    double distance = fmin(v3_length(reach), longest);
    vec3 down = v3_unit(reach, v3(0, -1, 0));
    double cosine = (thigh * thigh + distance * distance - shin * shin) / (2.0 * thigh * distance);
    double sine = sqrt(fmax(0.0, 1.0 - cosine * cosine));
    vec3 forward = v3_unit(v3_reject(v3(side ? -.12 : .12, 0, 1), down), v3(0, 0, 1));
    vec3 new_thigh = v3_along(v3_scale(down, cosine), forward, sine);
    vec3 new_shin = v3_unit(v3_along(v3_scale(down, distance), new_thigh, -thigh), down);
    vec3 new_hinge = v3_cross(down, forward);
    /* Hinges point the same way whichever leg it is: thigh x shin. */
    new_hinge = v3_scale(new_hinge, -1.0);

    vec3 old_thigh = v3_unit(v3_sub(knee, hip), v3(0, -1, 0));
    vec3 old_shin = v3_unit(v3_sub(ankle, knee), v3(0, -1, 0));
    vec3 old_hinge = v3_unit(v3_cross(old_thigh, old_shin), v3(1, 0, 0));
    quat upper = swing(old_thigh, old_hinge, new_thigh, new_hinge);
    quat lower = swing(old_shin, old_hinge, new_shin, new_hinge);
    s->turn[PART_UPPER_LEG][side] = upper;
    s->turn[PART_LOWER_LEG][side] = q_multiply(q_conjugate(upper), lower);
    s->turn[PART_FOOT][side] = q_multiply(q_conjugate(q_multiply(hips, lower)), pitch);
    s->turn[PART_TOE][side] = q_turn(v3(-hold.toes, 0, 0));
}

/* u: the leg's own phase, 0 where its heel strikes. */
static foothold walk_foothold(double u)
{
    foothold hold = { .toes = 0.0 };
    if (u < ON_FLOOR) {
        double v = u / ON_FLOOR;
        double push = smooth_step(.45, 1.15, v);
        hold.shift = v3(0, 0, STRIDE * (.5 - v));
        hold.pitch = STRIKE * smooth_step(.22, 0, v) + TOE_OFF * push;
        hold.toes = TOE_OFF * push;
        return hold;
    }
    double v = (u - ON_FLOOR) / (1.0 - ON_FLOOR);
    double push = smooth_step(.45, 1.15, 1.0);
    double forward = v * v * (3.0 - 2.0 * v);
    /* The foot leaves and lands at the ground's speed: a Hermite arc. */
    double ground = -(1.0 - ON_FLOOR) / ON_FLOOR;
    forward += ground * (v * (1.0 - v) * (1.0 - v) - v * v * (1.0 - v));
    double release = push + .12 * sin(PELT_SAMPLE_PI * fmin(1.0, 3.0 * v));
    hold.shift =
        v3(0, LIFT * sin(PELT_SAMPLE_PI * v) * sin(PELT_SAMPLE_PI * v), STRIDE * (forward - .5));
    hold.pitch = TOE_OFF * release * smooth_step(.75, .05, v) + STRIKE * smooth_step(.45, 1.0, v);
    hold.toes = TOE_OFF * push * smooth_step(.45, 0, v);
    return hold;
}

static stance still(void)
{
    stance s = { .hips = v3(0, 0, 0) };
    for (fox_part p = 0; p < PART_COUNT; ++p) {
        s.turn[p][0] = s.turn[p][1] = q_identity();
    }
    return s;
}

/* Phase 0: the left heel strikes; a half: the right one. Bodies are lowest then, highest between;
 * hips sway to the leg that stands and drop on the other side; shoulders turn against hips; the
 * head stays level and looks ahead. */
static stance walk(double t)
{
    const double phase = 2.0 * PELT_SAMPLE_PI * t / WALK_DURATION;
    const double c = cos(phase), s = sin(phase), c2 = cos(2.0 * phase);
    stance out = still();
    out.hips = v3(.016 * s, -.010 - .013 * cos(2.0 * phase - .2), .004 * sin(2.0 * phase));
    out.turn[PART_HIPS][0] = euler(.05 + .015 * c2, -.16 * c, .065 * s);
    out.turn[PART_SPINE][0] = euler(.02 + .035 * cos(2.0 * phase - .6), .32 * c, -.10 * s);
    out.turn[PART_NECK][0] = euler(-.03 - .02 * cos(2.0 * phase - .6), -.08 * c, .02 * s);
    out.turn[PART_HEAD][0] =
        euler(-.05 + .035 * cos(2.0 * phase - 1.6), -.07 * c, .045 * sin(phase - .5));
    out.turn[PART_TAIL][0] =
        euler(-.10 + .22 * cos(2.0 * phase - .4), .55 * sin(phase - .5), .1 * s);
    for (int side = 0; side < 2; ++side) {
        double back = side ? -c : c; /* the arm on the side of the leading leg swings back */
        double late = side ? -cos(phase - .7) : cos(phase - .7);
        out.turn[PART_EAR][side] =
            side_euler(side, -.10 + .16 * cos(2.0 * phase - 1.1), 0, .05 + .05 * cos(2.0 * phase));
        out.turn[PART_SHOULDER][side] = side_euler(side, 0, .10 * back, -.04 + .03 * c2);
        out.turn[PART_UPPER_ARM][side] = side_euler(side, .05 + .62 * back, 0, -.28);
        out.turn[PART_LOWER_ARM][side] = side_euler(side, -.55 + .30 * late, 0, -.12);
        out.turn[PART_HAND][side] =
            side_euler(side, -.1 + .22 * cos(phase - 1.3) * (side ? -1 : 1), 0, -.05);
        out.turn[PART_FINGERS][side] = side_euler(side, -.2, 0, -.15);
        double u = t / WALK_DURATION + .5 * side;
        plant_foot(&out, side, walk_foothold(u - floor(u)));
    }
    return out;
}

/* Weight shifts to the left leg, the right arm goes up and waves three times. */
static stance wave(double t)
{
    const double phase = 2.0 * PELT_SAMPLE_PI * t / WAVE_DURATION;
    const double up = smooth_step(.1, .62, t) * smooth_step(2.5, 1.95, t);
    const double lean = smooth_step(.0, .55, t) * smooth_step(2.6, 2.0, t);
    const double beat = 2.0 * PELT_SAMPLE_PI * (t - .55) / .48;
    const double breath = sin(2.0 * phase);
    stance s = still();
    s.hips = v3(.028 * lean, -.006 - .006 * lean + .002 * breath, 0);
    s.turn[PART_HIPS][0] = euler(0, .06 * lean, .07 * lean);
    s.turn[PART_SPINE][0] = euler(-.02 * breath, -.12 * lean, -.15 * lean + .02 * up * sin(beat));
    s.turn[PART_NECK][0] = euler(.01 * breath, 0, .05 * lean);
    s.turn[PART_HEAD][0] = euler(-.07 * lean, -.03 * lean, -.13 * lean + .03 * up * sin(beat - .6));
    s.turn[PART_TAIL][0] =
        euler(.10 * lean + .05 * breath,
              .18 * sin(phase) + .62 * lean * sin(2.0 * PELT_SAMPLE_PI * t / .65), 0);
    for (int side = 0; side < 2; ++side) {
        double flick = exp(-40.0 * (t - .9) * (t - .9)) + exp(-40.0 * (t - 1.6) * (t - 1.6));
        s.turn[PART_EAR][side] =
            side_euler(side, .12 * lean - .22 * flick * side, 0, .06 * lean + .03 * breath);
        plant_foot(&s, side, (foothold){ .pitch = 0.0 });
    }
    s.turn[PART_SHOULDER][0] = euler(0, 0, -.05 - .03 * lean);
    s.turn[PART_UPPER_ARM][0] = euler(.05, 0, -.26 + .02 * breath);
    s.turn[PART_LOWER_ARM][0] = euler(-.32 - .1 * lean, 0, -.1);
    s.turn[PART_HAND][0] = euler(-.12, 0, -.05);
    s.turn[PART_FINGERS][0] = euler(-.2, 0, -.15);

    double down = 1.0 - up;
    s.turn[PART_SHOULDER][1] = euler(0, .10 * up, .05 * down - .30 * up);
    s.turn[PART_UPPER_ARM][1] = euler(.05 * down, .30 * up, .28 * down - .88 * up);
    s.turn[PART_LOWER_ARM][1] =
        euler(-.32 * down - .15 * up, .2 * up, .1 * down + up * (-.66 + .40 * sin(beat)));
    s.turn[PART_HAND][1] = euler(-.12 * down, 0, .05 * down + up * (.05 + .28 * sin(beat - .9)));
    s.turn[PART_FINGERS][1] = euler(-.2 * down, 0, .15 * down + up * .2 * sin(beat - 1.3));
    return s;
}

stance pelt_sample_motion_at(fox_motion motion, double time)
{
    double duration = pelt_sample_motion_duration(motion);
    time -= floor(time / duration) * duration;
    return motion == MOTION_WALK ? walk(time) : wave(time);
}
