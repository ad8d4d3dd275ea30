/* SPDX-License-Identifier: MIT */
/* Skin matrices from a palette texture (pelt/bake.h). Whoever includes this has defined
 *
 *     vec4 pelt_palette_texel(ivec3 place)
 *
 * which fetches a texel (x, y, layer), as texelFetch does from a texture2DArray, and calls
 * pelt_use_palette before anything else. What the texture holds is best given by constants or
 * specialisation constants: all choices below then vanish. */
#ifndef PELT_PALETTE_TEXTURE_GLSL
#define PELT_PALETTE_TEXTURE_GLSL

#include "affine.glsl"
#include "crowd_layout.h"

struct pelt_palette_texture {
    uint layout_kind;      /* PELT_PALETTE_MATRIX_3X4 and so on */
    uint interpolation;    /* PELT_PALETTE_NEAREST, LERP; BLEND of dual quaternions alone */
    uint texels_per_joint; /* 2 to 4 */
    uint joints_per_layer; /* 0: all of them */
    uint skinning;         /* PELT_PALETTE_LINEAR; DUAL of dual quaternions alone */
};

/* A palette between two rows. */
struct pelt_palette_use {
    pelt_palette_texture kind;
    uint first_joint;
    uint row;
    uint layer;
    float fraction; /* 0: the next row is not read */
};

pelt_palette_use pelt_palette;

/* place: a pelt_crowd_instance's. */
void pelt_use_palette(pelt_palette_texture kind, uint first_joint, uint place, float fraction)
{
    uint row = place & 0xffffu;
    if (kind.interpolation == PELT_PALETTE_NEAREST) {
        row += fraction < 0.5 ? 0u : 1u;
        fraction = 0.0;
    }
    pelt_palette = pelt_palette_use(kind, first_joint, row, place >> 16, fraction);
}

/* Where a joint's first texel is in the row; the others follow in x, the next row in y. */
ivec3 pelt_palette_place(uint joint)
{
    joint += pelt_palette.first_joint;
    uint layer = pelt_palette.layer;
    if (pelt_palette.kind.joints_per_layer > 0u) {
        layer += joint / pelt_palette.kind.joints_per_layer;
        joint %= pelt_palette.kind.joints_per_layer;
    }
    return ivec3(pelt_palette.kind.texels_per_joint * joint, pelt_palette.row, layer);
}

/* A rigid motion, and what it scales before along the model's axes; x y z w. */
struct pelt_motion {
    vec4 real;
    vec4 dual;
    vec3 scale;
};

pelt_motion pelt_fetch_motion(ivec3 place)
{
    vec4 real = pelt_palette_texel(place);
    vec4 dual = pelt_palette_texel(place + ivec3(1, 0, 0));
    vec3 scale = vec3(1.0);
    if (pelt_palette.kind.texels_per_joint == 3u) {
        scale = pelt_palette_texel(place + ivec3(2, 0, 0)).xyz;
    }
    return pelt_motion(real, dual, scale);
}

/* Also of a motion that is not unit: both parts multiplied by the same number are the same. */
pelt_matrix pelt_motion_matrix(pelt_motion m)
{
    vec3 q = m.real.xyz;
    vec3 d = m.dual.xyz;
    vec3 t = (m.real.w * d - m.dual.w * q + cross(q, d)) * (2.0 / dot(m.real, m.real));
    return pelt_compose(t, m.real, m.scale);
}

/* Rows next to each other have their real parts on the same side: the sum needs no alignment, and
 * is no shorter than sqrt(1/2). */
pelt_motion pelt_mix_motions(pelt_motion a, pelt_motion b, float u)
{
    return pelt_motion(mix(a.real, b.real, u), mix(a.dual, b.dual, u), mix(a.scale, b.scale, u));
}

/* A joint of a dual quaternion palette. */
pelt_motion pelt_palette_motion(uint joint)
{
    ivec3 place = pelt_palette_place(joint);
    pelt_motion motion = pelt_fetch_motion(place);
    if (pelt_palette.fraction > 0.0) {
        pelt_motion next = pelt_fetch_motion(place + ivec3(0, 1, 0));
        motion = pelt_mix_motions(motion, next, pelt_palette.fraction);
    }
    return motion;
}

pelt_matrix pelt_mix_matrices(pelt_matrix a, pelt_matrix b, float u)
{
    return pelt_matrix(vec4[3](mix(a.rows[0], b.rows[0], u), mix(a.rows[1], b.rows[1], u),
                               mix(a.rows[2], b.rows[2], u)));
}

pelt_matrix pelt_fetch_matrix(ivec3 place)
{
    if (pelt_palette.kind.layout_kind == PELT_PALETTE_DUAL_QUATERNION) {
        return pelt_motion_matrix(pelt_fetch_motion(place));
    }
    return pelt_matrix(vec4[3](pelt_palette_texel(place),
                               pelt_palette_texel(place + ivec3(1, 0, 0)),
                               pelt_palette_texel(place + ivec3(2, 0, 0))));
}

/* The skin matrix of a joint. */
pelt_matrix pelt_palette_matrix(uint joint)
{
    if (pelt_palette.kind.layout_kind == PELT_PALETTE_DUAL_QUATERNION &&
        pelt_palette.kind.interpolation == PELT_PALETTE_BLEND) {
        return pelt_motion_matrix(pelt_palette_motion(joint));
    }
    ivec3 place = pelt_palette_place(joint);
    pelt_matrix matrix = pelt_fetch_matrix(place);
    if (pelt_palette.fraction > 0.0) {
        matrix = pelt_mix_matrices(matrix, pelt_fetch_matrix(place + ivec3(0, 1, 0)),
                                   pelt_palette.fraction);
    }
    return matrix;
}

/* A row of it; of the three rows of a joint, compilers find what is common. */
vec4 pelt_palette_row(uint joint, uint row)
{
    return pelt_palette_matrix(joint).rows[row];
}

#endif
