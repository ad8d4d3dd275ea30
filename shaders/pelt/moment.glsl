/* SPDX-License-Identifier: MIT */
/* Time in twice a float's precision, so that neither a long clip nor a clock that has run for days
 * makes it coarse. Sums and products of floats with what rounding takes off them: Knuth's and
 * Dekker's. */
#ifndef PELT_MOMENT_GLSL
#define PELT_MOMENT_GLSL

#include "pose_layout.h"

/* The sum of both; |low| is at most half of high's last digit. */
struct pelt_moment {
    float high;
    float low;
};

pelt_moment pelt_exact_sum(float a, float b)
{
    precise float sum = a + b;
    precise float b_part = sum - a;
    precise float a_part = sum - b_part;
    precise float error = (a - a_part) + (b - b_part);
    return pelt_moment(sum, error);
}

/* Of magnitudes well below 2^100. fma would do it in two operations, but need not be exact. */
pelt_moment pelt_exact_product(float a, float b)
{
    precise float product = a * b;
    precise float a_shifted = 4097.0 * a;
    precise float a_high = a_shifted - (a_shifted - a);
    precise float a_low = a - a_high;
    precise float b_shifted = 4097.0 * b;
    precise float b_high = b_shifted - (b_shifted - b);
    precise float b_low = b - b_high;
    precise float error =
        ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
    return pelt_moment(product, error);
}

pelt_moment pelt_add(pelt_moment a, pelt_moment b)
{
    pelt_moment sum = pelt_exact_sum(a.high, b.high);
    precise float low = sum.low + (a.low + b.low);
    return pelt_exact_sum(sum.high, low);
}

bool pelt_before(pelt_moment a, float b)
{
    return a.high < b || (a.high == b && a.low < 0.0);
}

/* now - since, both in 2^-32 s; to 2^-25 s. */
pelt_moment pelt_elapsed(uvec2 now, uvec2 since)
{
    uint borrow;
    uint fraction = usubBorrow(now.x, since.x, borrow);
    int seconds = int(now.y - since.y - borrow);
    float high = float(seconds);
    /* Past 2^24 s, half a year, the conversion rounds: by so much. */
    precise float low = float(seconds - int(high)) + float(fraction) * (1.0 / 4294967296.0);
    return pelt_exact_sum(high, low);
}

/* Into [0, duration); a clip without duration stays at 0. */
pelt_moment pelt_wrap(pelt_moment time, float duration)
{
    if (!(duration > 0.0)) {
        return pelt_moment(0.0, 0.0);
    }
    pelt_moment turns = pelt_exact_product(-floor(time.high / duration), duration);
    time = pelt_add(time, turns);
    if (pelt_before(time, 0.0)) {
        time = pelt_add(time, pelt_moment(duration, 0.0));
    }
    if (!pelt_before(time, duration)) {
        time = pelt_add(time, pelt_moment(-duration, 0.0));
    }
    return pelt_before(time, 0.0) ? pelt_moment(0.0, 0.0) : time;
}

/* What time it is in a clip of this duration. */
pelt_moment pelt_play_time(pelt_pose_play play, uvec2 now, float duration)
{
    pelt_moment elapsed = pelt_elapsed(now, uvec2(play.since_low, play.since_high));
    pelt_moment played = pelt_exact_product(elapsed.high, play.speed);
    played.low += elapsed.low * play.speed;
    pelt_moment time = pelt_add(played, pelt_moment(play.time_high, play.time_low));
    return play.loop != 0u ? pelt_wrap(time, duration) : time;
}

#endif
