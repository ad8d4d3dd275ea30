/* What the files of the renderer share. */
#ifndef PELT_RENDER_INTERNAL_H
#define PELT_RENDER_INTERNAL_H

#include "base/base.h"
#include "vulkan/functions.h"

#include "render/render.h"

#include <pelt/crowd.h>

#include <cglm/cglm.h>

#include "render/frame.h"

/* Entry points beyond those that a pelt_headless wraps. */
typedef struct pelt_render_functions {
    PFN_vkCreateImage create_image;
    PFN_vkDestroyImage destroy_image;
    PFN_vkGetImageMemoryRequirements get_image_memory_requirements;
    PFN_vkAllocateMemory allocate_memory;
    PFN_vkFreeMemory free_memory;
    PFN_vkBindImageMemory bind_image_memory;
    PFN_vkCreateImageView create_image_view;
    PFN_vkDestroyImageView destroy_image_view;
    PFN_vkCreateSampler create_sampler;
    PFN_vkDestroySampler destroy_sampler;
    PFN_vkCreateDescriptorSetLayout create_descriptor_set_layout;
    PFN_vkDestroyDescriptorSetLayout destroy_descriptor_set_layout;
    PFN_vkCreateDescriptorPool create_descriptor_pool;
    PFN_vkDestroyDescriptorPool destroy_descriptor_pool;
    PFN_vkAllocateDescriptorSets allocate_descriptor_sets;
    PFN_vkUpdateDescriptorSets update_descriptor_sets;
    PFN_vkCreatePipelineLayout create_pipeline_layout;
    PFN_vkDestroyPipelineLayout destroy_pipeline_layout;
    PFN_vkCreateShaderModule create_shader_module;
    PFN_vkDestroyShaderModule destroy_shader_module;
    PFN_vkCreateGraphicsPipelines create_graphics_pipelines;
    PFN_vkDestroyPipeline destroy_pipeline;
    PFN_vkCreateQueryPool create_query_pool;
    PFN_vkDestroyQueryPool destroy_query_pool;
    PFN_vkGetQueryPoolResults get_query_pool_results;
    PFN_vkCmdResetQueryPool cmd_reset_query_pool;
    PFN_vkCmdWriteTimestamp2 cmd_write_timestamp2;
    PFN_vkCmdPipelineBarrier2 cmd_pipeline_barrier2;
    PFN_vkCmdBeginRendering cmd_begin_rendering;
    PFN_vkCmdEndRendering cmd_end_rendering;
    PFN_vkCmdSetViewport cmd_set_viewport;
    PFN_vkCmdSetScissor cmd_set_scissor;
    PFN_vkCmdBindPipeline cmd_bind_pipeline;
    PFN_vkCmdBindDescriptorSets cmd_bind_descriptor_sets;
    PFN_vkCmdBindIndexBuffer cmd_bind_index_buffer;
    PFN_vkCmdPushConstants cmd_push_constants;
    PFN_vkCmdDraw cmd_draw;
    PFN_vkCmdDrawIndexed cmd_draw_indexed;
    PFN_vkCmdDrawIndexedIndirect cmd_draw_indexed_indirect;
    PFN_vkCmdCopyBufferToImage cmd_copy_buffer_to_image;
    PFN_vkCmdCopyImageToBuffer cmd_copy_image_to_buffer;
    PFN_vkCmdBlitImage cmd_blit_image;

    /* Of VK_EXT_mesh_shader; NULL where the device lacks mesh or task shaders. */
    PFN_vkCmdDrawMeshTasksEXT cmd_draw_mesh_tasks;
} pelt_render_functions;

/* Push constants of every draw; draw_block of scene.glsl. */
typedef struct pelt_draw_constants {
    VkDeviceAddress vertices;  /* of crowds: pelt_crowd_mesh_write's */
    VkDeviceAddress texcoords; /* 0 without PELT_HAS_TEXCOORDS */
    VkDeviceAddress colors;    /* 0 without PELT_HAS_COLORS */
    VkDeviceAddress instances; /* of crowds: pelt_cmd_crowd's */
    float base_color[4];
    uint32_t view;
    uint32_t flags;
    float alpha_cutoff;

    /* Of crowds: what the palette's texture holds, and how it is used. */
    uint32_t layout_kind, interpolation, texels_per_joint, joints_per_layer, skinning;

    /* Of clusters; instances are pelt_cluster_instance_write's. */
    VkDeviceAddress cluster_view;
    VkDeviceAddress cluster_counts; /* PELT_COUNT_WORDS words; 0: do not count */
    uint32_t first_group;           /* of an instance's clusters */
    uint32_t cluster_colors;
} pelt_draw_constants;

_Static_assert(offsetof(pelt_draw_constants, base_color) == 32, "std430 aligns a vec4 to 16");
_Static_assert(offsetof(pelt_draw_constants, alpha_cutoff) == 56, "as in std430");
_Static_assert(offsetof(pelt_draw_constants, cluster_view) == 80, "as in std430");
_Static_assert(sizeof(pelt_draw_constants) <= 128, "what every device takes");
_Static_assert(sizeof(struct pelt_frame) == 64 * (PELT_SKY_MAX + 2) + 16 * (PELT_SKY_MAX + 8),
               "mat4 and vec4 alone: as in std140");

typedef struct pelt_render_image {
    VkImage image;
    VkDeviceMemory memory;
    VkImageView view;
} pelt_render_image;

typedef struct pelt_render_image_info {
    VkFormat format;
    VkImageUsageFlags usage;
    VkImageAspectFlags aspect;
    uint32_t width, height;
    uint32_t levels, layers;
    VkSampleCountFlagBits samples;
    bool array; /* the view is 2D_ARRAY */
} pelt_render_image_info;

/* Passes that draw, each with its pipeline state; those of meshes come once a topology class. */
typedef enum pelt_render_pipeline {
    PELT_PIPELINE_DEPTH,
    PELT_PIPELINE_DEPTH_MASK,
    PELT_PIPELINE_MESH,
    PELT_PIPELINE_MESH_MASK,
    PELT_PIPELINE_MESH_BLEND,
    PELT_PIPELINE_GROUND,
    PELT_PIPELINE_SKY,
    PELT_PIPELINE_BOX,
    PELT_PIPELINE_COUNT
} pelt_render_pipeline;

/* Where a pass of meshes takes its vertices from. */
typedef enum pelt_render_source {
    PELT_SOURCE_ANIMATED, /* memory */
    PELT_SOURCE_PALETTE,  /* skins them itself, from a texture */
    PELT_SOURCE_CLUSTERS, /* skins them itself, in mesh shaders; triangles alone */
    PELT_SOURCE_COUNT
} pelt_render_source;

typedef enum pelt_render_class {
    PELT_CLASS_POINTS,
    PELT_CLASS_LINES,
    PELT_CLASS_TRIANGLES,
    PELT_CLASS_COUNT
} pelt_render_class;

typedef struct pelt_render_material {
    float base_color[4];
    float alpha_cutoff;
    pelt_alpha_mode alpha_mode;
    VkSampler sampler;
    VkImageView view;      /* of its image */
    VkDescriptorPool pool; /* of its one set */
    VkDescriptorSet set;
} pelt_render_material;

typedef struct pelt_render_mesh {
    uint32_t vertex_count;
    uint32_t index_count;
    pelt_render_class topology;
    uint32_t flags;
    pelt_buffer buffer; /* indices, then texcoords, then colours */
    VkDeviceAddress texcoords;
    VkDeviceAddress colors;
} pelt_render_mesh;

/* A palette texture. */
typedef struct pelt_render_palette {
    pelt_palette_plan plan;
    pelt_draw_constants constants; /* those that say what the texture holds */
    pelt_render_image image;
    pelt_buffer data; /* pelt_crowd_data_write's */
    VkDescriptorPool pool;
    VkDescriptorSet set;
} pelt_render_palette;

struct pelt_renderer {
    const pelt_host *host;
    pelt_headless *device;
    pelt_render_functions vk;
    uint32_t width, height;
    VkSampleCountFlagBits samples;
    float anisotropy; /* of textures, 0: not supported */

    VkShaderStageFlags vertex_stages; /* that can come before the fragment shader */
    uint32_t cluster_lanes, shared_joints;
    uint32_t task_limit[2], task_total; /* workgroups of a draw */

    /* Attachments: multisampled color and depth, what color resolves to (unused with one sample),
     * and where the picture is copied. */
    pelt_render_image color, depth, resolved;
    pelt_buffer readback;

    /* Shadow maps. The sky's are layers of one image, each with a view to draw through. */
    uint32_t sun_size, sky_size, sky_layers;
    pelt_render_image sun, sky;
    VkImageView sky_views[PELT_SKY_MAX];

    VkSampler depth_sampler;   /* plain texels */
    VkSampler compare_sampler; /* percentage closer */
    VkDescriptorSetLayout frame_layout, material_layout, palette_layout;
    VkDescriptorPool frame_pool;
    VkDescriptorSet frame_set;
    VkPipelineLayout pipeline_layout;
    /* Made when first used. */
    VkPipeline pipelines[PELT_SOURCE_COUNT][PELT_PIPELINE_COUNT][PELT_CLASS_COUNT];
    pelt_crowd_pass *crowd_pass; /* likewise */
    VkQueryPool queries;         /* three timestamps */
    pelt_buffer frame;           /* struct pelt_frame */

    uint32_t image_count, material_count, mesh_count, palette_count;
    uint32_t image_capacity, material_capacity, mesh_capacity, palette_capacity;
    pelt_render_image *images; /* the first is white, for materials without a texture */
    pelt_render_material *materials;
    pelt_render_mesh *meshes;
    pelt_render_palette *palettes;
};

/* functions.c */
pelt_result pelt_render_load_functions(const pelt_host *host, const pelt_headless *device,
                                       pelt_render_functions *out);

/* images.c: image, device memory and view; destroying zeroes it. */
pelt_result pelt_render_image_create(pelt_renderer *renderer, const pelt_render_image_info *info,
                                     pelt_render_image *out);
void pelt_render_image_destroy(pelt_renderer *renderer, pelt_render_image *image);
pelt_result pelt_render_view_create(pelt_renderer *renderer, VkImage image,
                                    const pelt_render_image_info *info, uint32_t layer,
                                    VkImageView *out);

/* Records a change of layout of all levels and layers. */
typedef struct pelt_render_transition {
    VkPipelineStageFlags2 from_stage;
    VkAccessFlags2 from_access;
    VkPipelineStageFlags2 to_stage;
    VkAccessFlags2 to_access;
    VkImageLayout from, to;
    VkImageAspectFlags aspect;
    uint32_t first_level, level_count; /* 0: all */
} pelt_render_transition;
void pelt_render_transition_image(const pelt_renderer *renderer, VkCommandBuffer commands,
                                  VkImage image, const pelt_render_transition *transition);

/* The array with room for one more element; NULL without memory (the old one stays). */
void *pelt_render_grow(const pelt_host *host, void *array, uint32_t count, uint32_t *capacity,
                       size_t size);

/* textures.c */
pelt_result pelt_render_white_image(pelt_renderer *renderer);
void pelt_render_material_destroy(pelt_renderer *renderer, pelt_render_material *material);

/* pipelines.c */
pelt_result pelt_render_layouts_create(pelt_renderer *renderer);
void pelt_render_layouts_destroy(pelt_renderer *renderer);
pelt_result pelt_render_pipeline_get(pelt_renderer *renderer, pelt_render_source source,
                                     pelt_render_pipeline kind, pelt_render_class topology,
                                     VkPipeline *out);

pelt_result pelt_render_module_create(pelt_renderer *renderer, const uint32_t *words, size_t size,
                                      VkShaderModule *out);

/* clusters.c: limits of the device's mesh shaders, if it has them. */
pelt_result pelt_render_choose_clusters(pelt_renderer *renderer, const pelt_renderer_info *info);

/* palettes.c */
void pelt_render_palette_destroy(pelt_renderer *renderer, pelt_render_palette *palette);

#define PELT_SHADOW_FORMAT VK_FORMAT_D16_UNORM
#define PELT_DEPTH_FORMAT  VK_FORMAT_D32_SFLOAT
#define PELT_COLOR_FORMAT  VK_FORMAT_R8G8B8A8_SRGB

/* Neither empty nor, from a careless caller, without end. */
static inline bool pelt_render_box_is_visible(const pelt_box *box)
{
    for (int k = 0; k < 3; k++) {
        if (!(box->min[k] >= -PELT_FLOAT_MAX && box->min[k] <= box->max[k] &&
              box->max[k] <= PELT_FLOAT_MAX)) {
            return false;
        }
    }
    return true;
}

/* camera.c: fits camera and lights to the scene; everything of frame but nothing of Vulkan. */
typedef struct pelt_framing {
    uint32_t width, height;
    uint32_t sun_size, sky_size, sky_count;
} pelt_framing;
pelt_result pelt_render_frame_scene(const pelt_host *host, const pelt_render_scene *scene,
                                    const pelt_framing *framing, struct pelt_frame *frame);

#endif
