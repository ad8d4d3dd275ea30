/* A crowd's last batch as a picture: the model's meshes and materials in a renderer, and a draw for
 * each part of each member. */
#ifndef PELT_CLI_PICTURE_H
#define PELT_CLI_PICTURE_H

/* What is written of pixels instead of their colours. */
typedef enum pelt_picture_aov {
    PELT_AOV_NONE,
    PELT_AOV_MOTION,
    PELT_AOV_NORMAL,
    PELT_AOV_POSITION,
    PELT_AOV_INSTANCE
} pelt_picture_aov;

#ifdef PELT_HAVE_VULKAN

#include "cli/backend_vulkan.h"
#include "render/render.h"

typedef struct pelt_picture_info {
    const char *file; /* the model's, for messages */
    const char *output;
    uint32_t width, height;
    bool boxes;           /* draw the members' boxes */
    bool rays;            /* trace it */
    uint32_t sky_samples; /* likewise, as pelt_trace_info's */
    pelt_picture_aov aov;
} pelt_picture_info;

/* A crowd that is skinned as it is drawn, from a palette. */
typedef struct pelt_picture_crowd {
    const pelt_bake *bake;
    pelt_bake_interpolation interpolation;
    pelt_bake_skinning skinning;
    VkDeviceAddress members;            /* pelt_crowd_member_write's */
    const VkDeviceAddress *part_meshes; /* part_count: pelt_crowd_mesh_write's */
    const pelt_box *frames;             /* of each member: what the picture is fitted to */
} pelt_picture_crowd;

/* A part that mesh shaders skin, by clusters. */
typedef struct pelt_picture_part_clusters {
    VkDeviceAddress instances; /* of all members, pelt_cluster_instance_write's */
    uint32_t cluster_count;    /* the most that a level has; 0: it is drawn from its vertices */
} pelt_picture_part_clusters;

typedef struct pelt_picture_clusters {
    const pelt_picture_part_clusters *parts; /* part_count */
    bool keep_all;
    uint32_t lod; /* or PELT_LOD_AUTO */
    pelt_render_debug debug;
} pelt_picture_clusters;

/* What was skinned, ready to draw; or such a crowd, without parts and their boxes. */
typedef struct pelt_picture_scene {
    const pelt_character *character;
    pelt_headless *device;
    uint32_t count;                  /* members */
    bool packed_order;               /* else the primitives' */
    const VkDeviceAddress *parts;    /* count x part_count: where the vertices are */
    const VkDeviceAddress *previous; /* the same, in the frame before; NULL: nothing has moved */
    const pelt_box *part_boxes;      /* count x part_count */
    const pelt_box *member_boxes;    /* count */
    const pelt_picture_crowd *crowd;
    const pelt_picture_clusters *clusters; /* or NULL */
    float zoom;                            /* as pelt_render_scene's */
} pelt_picture_scene;

/* Draws and writes a PNG, or an OpenEXR image of an aov. */
pelt_result pelt_picture_write(const pelt_host *host, const pelt_picture_info *info,
                               const pelt_picture_scene *scene, pelt_render_report *report);

#endif
#endif
