/* One picture on its way: what pelt_renderer_draw needs beside the renderer. */
#ifndef PELT_RENDER_PICTURE_H
#define PELT_RENDER_PICTURE_H

#include "render/internal.h"

/* A draw and how far away it is. Behind the scene's draws, as if they went on, come those of
 * clusters that are blended: an instance each. */
typedef struct pelt_render_order {
    float distance;
    uint32_t draw, instance;
} pelt_render_order;

typedef struct pelt_render_wire_box {
    float low[4], high[4]; /* unit space; box.vert's */
} pelt_render_wire_box;

_Static_assert(sizeof(pelt_render_wire_box) == 32, "as in std430");

/* A crowd as a picture needs it. Its draws come twice, one for each mesh: of the members that the
 * camera sees, and of all, for the lights. */
typedef struct pelt_render_drawn_crowd {
    pelt_buffer instances, all_instances;
    pelt_buffer scratch;
    pelt_buffer draws; /* VkDrawIndexedIndirectCommand each */
} pelt_render_drawn_crowd;

typedef struct pelt_render_picture {
    pelt_renderer *renderer;
    const pelt_render_scene *scene;
    struct pelt_frame frame;
    struct pelt_frame culling; /* what clusters are culled by: the same but for PELT_DEBUG_CULLED */
    uint32_t sky_count;
    VkCommandBuffer commands;
    VkPipeline bound;
    pelt_render_order *order; /* every draw, nearest first */
    uint32_t order_count;
    pelt_buffer cluster_views;  /* the camera's, the lights' */
    pelt_buffer cluster_counts; /* PELT_COUNT_WORDS words */
    pelt_buffer boxes;          /* pelt_render_wire_box each */
    uint32_t box_count;
    pelt_render_drawn_crowd *crowds; /* of each of the scene's */
    uint32_t draw_count;             /* calls that draw meshes into the picture */
} pelt_render_picture;

/* prepare.c: checks the scene, fits camera and lights to it, sorts its draws, uploads its boxes.
 * Also after an error, what there is of it is pelt_render_release_picture's. */
pelt_result pelt_render_prepare(pelt_render_picture *self);
void pelt_render_release_picture(pelt_render_picture *self);

/* From the scene's space to a camera's clip space. */
void pelt_render_scene_view(const struct pelt_frame *frame, mat4 out);

/* clusters.c. */
pelt_result pelt_render_check_clusters(const pelt_renderer *renderer,
                                       const pelt_render_scene *scene);
pelt_result pelt_render_prepare_clusters(pelt_render_picture *self);
void pelt_render_release_clusters(pelt_render_picture *self);

/* Draws instances first to first + count - 1 of a bound mesh. */
void pelt_render_draw_clusters(pelt_render_picture *self, const pelt_render_clusters *clusters,
                               uint32_t first, uint32_t count, pelt_draw_constants *constants);
void pelt_render_report_clusters(const pelt_render_picture *self, pelt_render_report *report);

/* draw.c */
void pelt_render_push(pelt_render_picture *self, const pelt_draw_constants *constants);

/* crowds.c. */
pelt_result pelt_render_check_crowds(const pelt_renderer *renderer, const pelt_render_scene *scene);

/* Makes room for what pelt_cmd_crowd writes. */
pelt_result pelt_render_prepare_crowds(pelt_render_picture *self);
void pelt_render_release_crowds(pelt_render_picture *self);

/* Finds out who is seen. */
void pelt_render_record_crowds(pelt_render_picture *self);

/* How many of a crowd's members the camera saw. */
uint32_t pelt_render_seen_count(const pelt_render_picture *self, uint32_t crowd);

#endif
