/* SPDX-License-Identifier: MIT */
/* The blended matrix of a vertex by dual quaternions (pelt/skin.h), from a palette texture of them.
 * A vertex's joints are added one by one, the dominant one first. */
#ifndef PELT_PALETTE_DUAL_GLSL
#define PELT_PALETTE_DUAL_GLSL

#include "palette_texture.glsl"
/* Of which it needs pelt_palette_row. */
#include "dual.glsl"

/* Joints that only turn and move are summed as they are, which is Kavan's blend. Where there is
 * scale, their motions are seen from the vertex. The other sum vanishes. */
struct pelt_palette_blend {
    pelt_motion rigid;
    pelt_dual_blend scaled;
};

pelt_palette_blend pelt_no_palette_motion()
{
    return pelt_palette_blend(pelt_motion(vec4(0.0), vec4(0.0), vec3(1.0)), pelt_no_motion());
}

bool pelt_palette_is_scaled()
{
    return pelt_palette.kind.texels_per_joint == 3u;
}

/* side: a motion's real part, on whose side this one's is counted. Between rows, and in 16 bits
 * everywhere, real parts are not unit, and duals not at right angles to them. What a dual has along
 * its own real part moves nothing there, but would in a sum. */
void pelt_add_palette_motion(inout pelt_palette_blend sum, pelt_motion motion, float weight,
                             vec4 side)
{
    float square = dot(motion.real, motion.real);
    weight *= inversesqrt(square);
    weight = dot(motion.real, side) < 0.0 ? -weight : weight;
    if (pelt_palette_is_scaled()) {
        pelt_matrix m = pelt_motion_matrix(motion);
        pelt_add_turned(sum.scaled, m.rows[0], m.rows[1], m.rows[2], weight * motion.real);
    } else {
        sum.rigid.real += weight * motion.real;
        float along = dot(motion.real, motion.dual) / square;
        sum.rigid.dual += weight * (motion.dual - along * motion.real);
    }
}

pelt_matrix pelt_palette_blended_matrix(pelt_palette_blend sum)
{
    if (pelt_palette_is_scaled()) {
        return pelt_blended_matrix(sum.scaled);
    }
    return pelt_motion_matrix(sum.rigid);
}

#endif
