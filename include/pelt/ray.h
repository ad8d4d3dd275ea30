/* SPDX-License-Identifier: MIT */
/* pelt/ray.h: acceleration structures over animated vertices. As in pelt/vulkan.h: on the caller's
 * device, through the caller's loader, recorded into the caller's command buffer; nothing is
 * submitted and no device memory allocated.
 *
 * Needs VK_KHR_acceleration_structure, its feature enabled. Positions and indices need
 * ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_BIT_KHR on top of what pelt/vulkan.h asks for.
 *
 * Who builds for himself takes pelt_ray_geometry_of, pelt_ray_geometry_describe and
 * pelt_ray_build_describe. Otherwise
 *   - once: pelt_ray_pass_create, pelt_ray_scene_create;
 *   - when a structure (BLAS) comes or is of another mesh: pelt_ray_measure, have memory,
 *     pelt_ray_structure_create;
 *   - each frame, behind pelt_cmd_skin: pelt_ray_scene_plan decides which structures are left
 *     alone, refitted or built; pelt_cmd_ray_build records that; pelt_cmd_ray_tlas builds the
 *     top level anew. pelt_cmd_ray_barrier between each of them.
 *
 * docs/ray-tracing.md goes through it.
 */
#ifndef PELT_RAY_H
#define PELT_RAY_H

#include <pelt/vulkan.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -- device -------------------------------------------------------------------------------- */

typedef struct pelt_ray_pass pelt_ray_pass;

/* Of the device. */
typedef struct pelt_ray_limits {
    uint32_t scratch_alignment; /* of addresses of scratch memory: a power of two */
    uint64_t geometry_count;    /* the most in a structure */
    uint64_t primitive_count;   /* the most triangles in a structure */
    uint64_t instance_count;    /* the most in a top level */
} pelt_ray_limits;

/* host and the objects that *vulkan names must outlive the pass. Errors: PELT_ERROR_DEVICE (names
 * the missing extension, feature or function), PELT_ERROR_MEMORY, PELT_ERROR_ARGUMENT. */
PELT_API pelt_result pelt_ray_pass_create(const pelt_host *host, const pelt_vulkan *vulkan,
                                          pelt_ray_pass **out);
PELT_API void pelt_ray_pass_destroy(pelt_ray_pass *pass);
PELT_API const pelt_ray_limits *pelt_ray_pass_limits(const pelt_ray_pass *pass);

/* -- geometry ------------------------------------------------------------------------------ */

/* Triangles of one part of one instance. */
typedef struct pelt_ray_geometry {
    VkDeviceAddress positions; /* three floats each, 4-byte aligned */
    uint32_t position_stride;  /* bytes, a multiple of 4, at least 12 */
    uint32_t vertex_count;
    VkDeviceAddress indices; /* into the packed order; 0: none, vertices are three a triangle */
    uint32_t index_bytes;    /* 4 or 2; 0: 4 */
    uint32_t triangle_count;

    /* Any number that differs between sets of indices: of meshes and levels of detail. Needed only
     * where others can come to lie at the same address. */
    uint64_t content;

    /* Not in the structure in this frame, which is built anew without it and again with it. Counts
     * are those that it has otherwise. */
    bool inactive;

    bool any_hit;      /* any-hit shaders are called; false: opaque */
    bool any_hit_once; /* and that no more than once for a triangle */
} pelt_ray_geometry;

/* Where a mesh's triangles are, for pelt_ray_geometry_of. */
typedef struct pelt_ray_indices {
    VkDeviceAddress address;
    uint32_t index_bytes;
    uint32_t triangle_count;
    uint64_t content;
} pelt_ray_indices;

/* The outputs of an instance, opaque; other members may be set afterwards. */
PELT_API pelt_ray_geometry pelt_ray_geometry_of(const pelt_gpu_mesh *mesh,
                                                const pelt_gpu_instance *instance,
                                                const pelt_ray_indices *indices);

/* What a structure's life is like. Decides its flags; compaction is allowed for none, since a
 * structure that is refitted may not be compacted. */
typedef enum pelt_ray_use {
    PELT_RAY_ANIMATED, /* refitted in most frames: ALLOW_UPDATE, PREFER_FAST_TRACE */
    PELT_RAY_REFITTED, /* the same, traced little: ALLOW_UPDATE, PREFER_FAST_BUILD, whose refits are
                        * faster, too */
    PELT_RAY_REBUILT,  /* built whenever it changes, as what tears or explodes: PREFER_FAST_BUILD */
    PELT_RAY_STILL     /* hardly ever changes: PREFER_FAST_TRACE */
} pelt_ray_use;

/* As Vulkan takes it. An inactive geometry has a range of no primitives. */
PELT_API void pelt_ray_geometry_describe(const pelt_ray_geometry *geometry,
                                         VkAccelerationStructureGeometryKHR *out,
                                         VkAccelerationStructureBuildRangeInfoKHR *range);

/* A full build of a BLAS; for an update set mode and srcAccelerationStructure. Destination and
 * scratch are left to the caller. geometries must stay. */
PELT_API void pelt_ray_build_describe(const VkAccelerationStructureGeometryKHR *geometries,
                                      uint32_t geometry_count, pelt_ray_use use,
                                      VkAccelerationStructureBuildGeometryInfoKHR *out);

/* -- structures ---------------------------------------------------------------------------- */

/* What a structure takes, and of what: inactive geometries count. */
typedef struct pelt_ray_sizes {
    VkDeviceSize structure; /* bytes, its offset in a buffer 256-byte aligned */
    VkDeviceSize build_scratch;
    VkDeviceSize update_scratch; /* 0 where the use has no refits */
    uint64_t vertex_count, triangle_count;
    uint32_t geometry_count;
    pelt_ray_use use;
} pelt_ray_sizes;

/* Addresses and content do not matter, nor which geometries are inactive. Errors:
 * PELT_ERROR_ARGUMENT (the message says which geometry and why), PELT_ERROR_RANGE (beyond the
 * device's limits), PELT_ERROR_MEMORY. */
PELT_API pelt_result pelt_ray_measure(const pelt_ray_pass *pass,
                                      const pelt_ray_geometry *geometries, uint32_t geometry_count,
                                      pelt_ray_use use, pelt_ray_sizes *out);

/* A BLAS or a TLAS in memory of the caller's. Plain data. */
typedef struct pelt_ray_structure {
    VkAccelerationStructureKHR handle;
    VkDeviceAddress address; /* what pelt_ray_instance refers to */
    VkDeviceSize size;
} pelt_ray_structure;

/* buffer: usage ACCELERATION_STRUCTURE_STORAGE_BIT_KHR | SHADER_DEVICE_ADDRESS_BIT; offset: a
 * multiple of 256; size: pelt_ray_sizes.structure or more. Errors: PELT_ERROR_ARGUMENT,
 * PELT_ERROR_VULKAN, PELT_ERROR_MEMORY; *out is zeroed then. */
PELT_API pelt_result pelt_ray_structure_create(const pelt_ray_pass *pass,
                                               VkAccelerationStructureTypeKHR type, VkBuffer buffer,
                                               VkDeviceSize offset, VkDeviceSize size,
                                               pelt_ray_structure *out);

/* Once no command that uses it is pending; zeroes it. A new one may have the same handle and
 * address: pelt_ray_scene_forget its index. */
PELT_API void pelt_ray_structure_destroy(const pelt_ray_pass *pass, pelt_ray_structure *structure);

/* -- bottom levels ------------------------------------------------------------------------- */

/* What the structures of a scene were built of, and when. Host data alone. */
typedef struct pelt_ray_scene pelt_ray_scene;

/* limits: the device's; copied. Errors: PELT_ERROR_MEMORY, PELT_ERROR_ARGUMENT (an alignment that
 * is no power of two). */
PELT_API pelt_result pelt_ray_scene_create(const pelt_host *host, const pelt_ray_limits *limits,
                                           pelt_ray_scene **out);
PELT_API void pelt_ray_scene_destroy(pelt_ray_scene *scene);

/* One structure in a frame: of one instance, or of a group of small ones, a geometry each. No two
 * share a handle. */
typedef struct pelt_ray_blas {
    const pelt_ray_geometry *geometries; /* read during pelt_ray_scene_plan alone */
    uint32_t geometry_count;             /* 0: there is none in this frame; it is forgotten */
    pelt_ray_use use;
    bool unchanged;              /* no vertex is another than in the frame before */
    const pelt_ray_sizes *sizes; /* of these counts and this use, or larger ones */
    const pelt_ray_structure *structure;
} pelt_ray_blas;

typedef struct pelt_ray_frame {
    /* An index stays with the same structure from frame to frame. */
    const pelt_ray_blas *structures;
    uint32_t structure_count;

    /* Structures are built anew after so many refits, because traversal grows slower with refits;
     * those that came at once, staggered. 0: 60, UINT32_MAX: never. */
    uint32_t rebuild_interval;

    /* Of these rebuilds no more than so many structures and triangles a frame, builds that the
     * rules demand counted in, those with the most refits first, the others later; but one a frame
     * always. 0: no limit. */
    uint32_t rebuild_structures;
    uint64_t rebuild_triangles;

    /* Builds that need more scratch memory than this follow one another, with barriers between
     * them. 0: no limit, everything at once. */
    VkDeviceSize scratch_limit;
} pelt_ray_frame;

typedef struct pelt_ray_plan {
    VkDeviceSize scratch_size;  /* bytes that pelt_cmd_ray_build needs at any address */
    VkDeviceSize scratch_bound; /* the most it can be while structures and limits are the same */
    uint32_t batch_count;   /* vkCmdBuildAccelerationStructuresKHR: 1, unless scratch is limited;
                             * 0: nothing to do */
    uint32_t build_count;   /* builds that the rules demand */
    uint32_t rebuild_count; /* builds for the sake of rays */
    uint32_t refit_count;
    uint32_t kept_count;    /* left alone */
    uint32_t waiting_count; /* due for a rebuild, but beyond the budget: refitted, or left alone */
    uint64_t built_triangles; /* of both kinds of builds */
    uint64_t refitted_triangles;
} pelt_ray_plan;

typedef enum pelt_ray_action {
    PELT_RAY_KEEP,   /* or there is none */
    PELT_RAY_REFIT,  /* updated in place */
    PELT_RAY_BUILD,  /* because the rules demand it */
    PELT_RAY_REBUILD /* to make rays fast again */
} pelt_ray_action;

/* Decides what to do with each structure. It is built if it is new, forgotten or another handle; if
 * its use, the number of its geometries or the counts, indices, content or flags of one have
 * changed, or one has become active or inactive; or if it has changed and its use has no refits.
 * Else it is refitted if it has changed. Positions may lie elsewhere each time. Linear in the
 * geometries, but for sorting those due for a rebuild. The same frames give the same plans. Errors:
 * PELT_ERROR_ARGUMENT (the message names structure and geometry), PELT_ERROR_RANGE (one structure
 * exceeds scratch_limit), PELT_ERROR_MEMORY; then nothing is planned. */
PELT_API pelt_result pelt_ray_scene_plan(pelt_ray_scene *scene, const pelt_ray_frame *frame,
                                         pelt_ray_plan *out);

/* Of the last plan. */
PELT_API pelt_ray_action pelt_ray_scene_action(const pelt_ray_scene *scene, uint32_t index);

/* The structure's content is not what was recorded (a command buffer was not submitted): it is
 * built in the next frame. */
PELT_API void pelt_ray_scene_forget(pelt_ray_scene *scene, uint32_t index);

/* Records the last plan, once; a plan that is not recorded changes nothing. scratch: scratch_size
 * bytes of a buffer with STORAGE_BUFFER and SHADER_DEVICE_ADDRESS, aligned here; 0 if that is 0.
 * Before: PELT_RAY_AFTER_TRACE and PELT_RAY_AFTER_SKIN. After: PELT_RAY_AFTER_BUILD. */
PELT_API void pelt_cmd_ray_build(const pelt_ray_pass *pass, VkCommandBuffer commands,
                                 pelt_ray_scene *scene, VkDeviceAddress scratch);

/* -- top level ----------------------------------------------------------------------------- */

typedef struct pelt_ray_instance {
    const float *transform; /* 12 floats as everywhere; NULL: identity, vertices are in the world's
                             * space. A singular one makes the instance inactive. */
    VkDeviceAddress structure; /* address of its BLAS; 0: inactive */
    uint32_t custom_index;     /* of 24 bits: gl_InstanceCustomIndexEXT */
    uint32_t mask;             /* of 8 bits; 0: all */
    uint32_t sbt_offset;       /* of 24 bits: in the shader binding table */
    VkGeometryInstanceFlagsKHR flags;
} pelt_ray_instance;

enum { PELT_RAY_INSTANCE_SIZE = 64 };

/* Writes PELT_RAY_INSTANCE_SIZE bytes each, in order, and reads none of them. Errors:
 * PELT_ERROR_ARGUMENT (the message says which instance and why; those before it are written). */
PELT_API pelt_result pelt_ray_instances_write(const pelt_host *host,
                                              const pelt_ray_instance *instances, uint32_t count,
                                              void *memory);

/* Sizes of a top level of up to instance_count instances. Errors: PELT_ERROR_RANGE. */
PELT_API pelt_result pelt_ray_tlas_measure(const pelt_ray_pass *pass, uint32_t instance_count,
                                           pelt_ray_sizes *out);

/* Records a full build: top levels are never refitted, since instances go where they like.
 * instances: 16-byte aligned address of what was written, in a buffer as those of positions.
 * scratch: build_scratch + scratch_alignment - 1 bytes, aligned here. Before:
 * PELT_RAY_AFTER_BUILD. After: PELT_RAY_BEFORE_TRACE. */
PELT_API void pelt_cmd_ray_tlas(const pelt_ray_pass *pass, VkCommandBuffer commands,
                                const pelt_ray_structure *structure, VkDeviceAddress instances,
                                uint32_t count, VkDeviceAddress scratch);

/* -- barriers ------------------------------------------------------------------------------ */

/* Where in a frame, in this order. */
typedef enum pelt_ray_point {
    PELT_RAY_AFTER_TRACE, /* the frame before traced, and read vertices: now they may be skinned,
                           * and structures and scratch written */
    PELT_RAY_AFTER_SKIN, /* positions were written by compute shaders, indices and instances perhaps
                          * by copies: builds, and hit shaders, may read them */
    PELT_RAY_AFTER_BUILD, /* bottom levels: the top level may read them, and scratch be used again
                           */
    PELT_RAY_BEFORE_TRACE /* everything is built: rays may be traced */
} pelt_ray_point;

/* Records a memory barrier. stages: those that trace rays, or read vertices for it, such as
 * RAY_TRACING_SHADER or COMPUTE_SHADER. */
PELT_API void pelt_cmd_ray_barrier(const pelt_ray_pass *pass, VkCommandBuffer commands,
                                   pelt_ray_point point, VkPipelineStageFlags stages);

#ifdef __cplusplus
}
#endif
#endif
