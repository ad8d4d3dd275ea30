/* One picture on its way: what pelt_renderer_draw needs beside the renderer. */
#ifndef PELT_RENDER_PICTURE_H
#define PELT_RENDER_PICTURE_H

#include "render/internal.h"

/* A draw and how far away it is. */
typedef struct pelt_render_order {
    float distance;
    uint32_t draw;
} pelt_render_order;

typedef struct pelt_render_wire_box {
    float low[4], high[4]; /* unit space; box.vert's */
} pelt_render_wire_box;

_Static_assert(sizeof(pelt_render_wire_box) == 32, "as in std430");

typedef struct pelt_render_picture {
    pelt_renderer *renderer;
    const pelt_render_scene *scene;
    struct pelt_frame frame;
    uint32_t sky_count;
    VkCommandBuffer commands;
    VkPipeline bound;
    pelt_render_order *order; /* every draw, nearest first */
    pelt_buffer boxes;        /* pelt_render_wire_box each */
    uint32_t box_count;
} pelt_render_picture;

/* prepare.c: checks the scene, fits camera and lights to it, sorts its draws, uploads its boxes.
 * Also after an error, what there is of it is pelt_render_release_picture's. */
pelt_result pelt_render_prepare(pelt_render_picture *self);
void pelt_render_release_picture(pelt_render_picture *self);

#endif
