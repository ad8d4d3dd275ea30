/* What the shaders of one picture read, for C (with cglm's vec4 and mat4) and GLSL (std140) alike.
 *
 * All of it is in unit space: the scene moved to the origin and scaled to radius 1, so that no
 * number below depends on the file's units or on where the scene stands.
 */
#ifndef PELT_RENDER_FRAME_H
#define PELT_RENDER_FRAME_H

/* The most directions the sky light is sampled from, each with a shadow map of its own. */
#define PELT_SKY_MAX 64

/* Views of the depth passes: the sun's, then the sky's. */
#define PELT_VIEW_SUN 0
#define PELT_VIEW_SKY 1

/* Bits of pelt_draw_constants.flags. */
#define PELT_HAS_TEXCOORDS 1
#define PELT_HAS_COLORS    2
#define PELT_HAS_NORMALS   4
#define PELT_IS_THIN       8 /* points and lines: no face to be lit or shadowed */

/* Values of the specialisation constant alpha_mode, glTF's. */
#define PELT_MODE_OPAQUE 0
#define PELT_MODE_MASK   1
#define PELT_MODE_BLEND  2

/* What clusters are coloured by: values of pelt_draw_constants.cluster_colors. */
#define PELT_COLORS_OF_MATERIAL 0
#define PELT_COLORS_OF_CLUSTERS 1
#define PELT_COLORS_OF_LODS     2
#define PELT_COLORS_OF_CULLED   3 /* those that culling would have left out are drawn, too: red */

/* Clusters that a group of task shaders looks at, a bit of a word each. */
#define PELT_TASK_CLUSTERS 32

/* What task shaders count. The first three are 64 bits, low word first. */
#define PELT_COUNT_CLUSTERS  0 /* of the levels that instances have */
#define PELT_COUNT_DRAWN     2 /* of those */
#define PELT_COUNT_TRIANGLES 4 /* of those drawn */
#define PELT_COUNT_SEEN      6 /* instances not culled as a whole */
#define PELT_COUNT_LODS      7 /* instances of each level */
#define PELT_COUNT_WORDS     15

struct pelt_frame {
    mat4 camera;                   /* unit space to clip space; depth 1 is near, 0 infinitely far */
    mat4 lights[PELT_SKY_MAX + 1]; /* unit space to u, v in [0, 1] and depth 0 near to 1 far */
    vec4 sky[PELT_SKY_MAX];        /* xyz: towards the sky, unit */
    vec4 origin;                   /* unit = (scene - xyz) * w */
    vec4 eye;                      /* xyz: the camera */
    vec4 to_sun;                   /* xyz: unit; w: tangent of the sun's angular radius */
    vec4 sun_map;                  /* x, y: size of one u, one v, in units; z: of the depth range;
                                    * w: of a texel */
    vec4 sky_map;                  /* x: number of directions; y, z: size of a texel, in units
                                    * and in u */
    vec4 ground;                   /* x: height; y: 0 where there is none to draw */
    vec4 taps;                     /* shadow map samples on meshes: x: for blockers of the sun,
                                    * y: to filter its shadow, z: for all of the sky */
    vec4 viewport;                 /* width, height in pixels */
};

#endif
