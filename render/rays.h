/* Rays through a scene: what the files that trace them share. */
#ifndef PELT_RENDER_RAYS_H
#define PELT_RENDER_RAYS_H

#include "render/picture.h"
#include "vulkan/ray_pass.h"

/* A geometry of a structure; ray_draw of rays.glsl. */
typedef struct pelt_ray_draw {
    VkDeviceAddress vertices, previous, indices;
    VkDeviceAddress texcoords; /* 0 without PELT_HAS_TEXCOORDS */
    VkDeviceAddress colors;    /* 0 without PELT_HAS_COLORS */
    uint32_t flags;
    float alpha_cutoff;
    float base_color[4];
    uint32_t material, alpha_mode, instance, part;
} pelt_ray_draw;

_Static_assert(offsetof(pelt_ray_draw, base_color) == 48, "std430 aligns a vec4 to 16");
_Static_assert(sizeof(pelt_ray_draw) == 80, "as in std430");

/* trace_block of rays.glsl. */
typedef struct pelt_ray_constants {
    VkDeviceAddress draws, pixels;
    uint32_t samples, sky_samples, sun_samples;
} pelt_ray_constants;

/* What a pipeline makes of a pixel. */
typedef enum pelt_ray_output {
    PELT_RAY_PICTURE,
    PELT_RAY_AOV,
    PELT_RAY_OUTPUT_COUNT
} pelt_ray_output;

/* Draws with the same instance: one structure. */
typedef struct pelt_ray_group {
    uint32_t first, count; /* of its draws */
} pelt_ray_group;

/* rays_scene.c: acceleration structures of a scene's draws. */
typedef struct pelt_traced_scene {
    pelt_renderer *renderer;
    pelt_ray_pass *pass;
    pelt_ray_scene *scene;
    uint32_t draw_count, group_count;
    pelt_ray_geometry *geometries; /* of each draw */
    pelt_ray_group *groups;
    pelt_ray_sizes *sizes; /* of each group */
    pelt_ray_structure *structures;
    pelt_ray_blas *blas;
    pelt_ray_plan plan;
    pelt_ray_structure top;
    pelt_buffer draws;     /* pelt_ray_draw each */
    pelt_buffer instances; /* of each group */
    pelt_buffer memory;    /* of all structures, the top level last */
    pelt_buffer scratch, top_scratch;
} pelt_traced_scene;

/* origin: pelt_frame's. Also after an error, what there is of it is pelt_traced_scene_release's. */
pelt_result pelt_traced_scene_prepare(pelt_renderer *renderer, const pelt_render_scene *scene,
                                      const float origin[4], pelt_traced_scene *self);
void pelt_traced_scene_release(pelt_traced_scene *self);

/* Records all builds; rays may be traced behind them. */
void pelt_traced_scene_record(pelt_traced_scene *self, VkCommandBuffer commands);

/* rays_pipeline.c: shaders, their table, and what they are bound to. */
typedef struct pelt_ray_pipeline {
    pelt_renderer *renderer;
    PFN_vkCreateRayTracingPipelinesKHR create_pipelines;
    PFN_vkGetRayTracingShaderGroupHandlesKHR get_group_handles;
    PFN_vkCmdTraceRaysKHR cmd_trace_rays;
    VkDescriptorSetLayout set_layout;
    VkDescriptorPool pool;
    VkDescriptorSet set;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    pelt_buffer table;
    VkStridedDeviceAddressRegionKHR generation, miss, hit;
} pelt_ray_pipeline;

/* Also after an error, what there is of it is pelt_ray_pipeline_release's. */
pelt_result pelt_ray_pipeline_create(pelt_renderer *renderer, pelt_ray_output output,
                                     const pelt_ray_structure *top, pelt_ray_pipeline *self);
void pelt_ray_pipeline_release(pelt_ray_pipeline *self);

/* Records a ray-generation shader for each pixel. */
void pelt_ray_pipeline_record(const pelt_ray_pipeline *self, VkCommandBuffer commands,
                              const pelt_ray_constants *constants);

/* rays.c: whether a draw is one that has surfaces. */
static inline bool pelt_is_surface(const pelt_renderer *renderer, const pelt_render_draw *draw)
{
    const pelt_render_mesh *mesh = &renderer->meshes[draw->mesh];
    return mesh->topology == PELT_CLASS_TRIANGLES && mesh->index_count > 0;
}

/* Traces what a pixel is of pixel_size bytes; report may be NULL. */
pelt_result pelt_render_rays(pelt_renderer *renderer, const pelt_render_scene *scene,
                             pelt_ray_output output, const pelt_trace_info *info, void *pixels,
                             pelt_render_report *report);

/* Whether the scene, which was prepared, is of draws alone; warns of those without surfaces. */
pelt_result pelt_render_check_surfaces(const pelt_renderer *renderer,
                                       const pelt_render_scene *scene);

#endif
