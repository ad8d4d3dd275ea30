/* SPDX-License-Identifier: MIT */
/* pelt/vulkan.h: the GPU passes. They record into the caller's command buffer, on the caller's
 * device, through the caller's loader; they submit nothing and allocate no device memory.
 *
 * Needs Vulkan 1.2 with bufferDeviceAddress enabled; compute queues only. Every buffer whose
 * address is given here needs VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT and STORAGE_BUFFER_BIT.
 *
 * The life of a frame:
 *   - once: pelt_skin_pass_create; upload meshes (pelt_gpu_mesh_write);
 *   - when the scene changes: pelt_skin_tables_measure, pelt_skin_tables_write into your buffer;
 *   - each frame: write skin matrices (pelt_pose_skin_matrices or the GPU), pelt_cmd_skin, then a
 *     barrier to whoever reads the animated vertices and boxes.
 *
 * docs/integration.md goes through it: memory layouts, barriers of each reader, worlds, morphs.
 */
#ifndef PELT_VULKAN_H
#define PELT_VULKAN_H

#include <pelt/skin.h>
#include <vulkan/vulkan_core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the caller owns and keeps alive longer than any pass. */
typedef struct pelt_vulkan {
    VkInstance instance;
    VkPhysicalDevice physical_device;
    VkDevice device;
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;
    const VkAllocationCallbacks *allocator; /* or NULL */
} pelt_vulkan;

typedef struct pelt_skin_pass pelt_skin_pass;

typedef struct pelt_skin_pass_info {
    const pelt_vulkan *vulkan;
    VkPipelineCache cache; /* or VK_NULL_HANDLE */

    /* Vertices of one chunk, the unit of work of one workgroup: a multiple of 64 up to 65,536;
     * 0: what suits the scene, 64 to 2048. */
    uint32_t chunk_vertices;

    /* Reduce through shared memory alone, also where the device has subgroup arithmetic. Boxes
     * are bit-equal either way. */
    bool no_subgroup_arithmetic;

    /* No instance will ask for dual quaternions: creating the pass takes less time. */
    bool no_dual_quaternions;
} pelt_skin_pass_info;

/* Creates the pipelines. host and the objects that *info->vulkan names must outlive the pass.
 * Errors: PELT_ERROR_DEVICE (names the missing feature, limit or function), PELT_ERROR_VULKAN,
 * PELT_ERROR_MEMORY, PELT_ERROR_ARGUMENT. */
PELT_API pelt_result pelt_skin_pass_create(const pelt_host *host, const pelt_skin_pass_info *info,
                                           pelt_skin_pass **out);
PELT_API void pelt_skin_pass_destroy(pelt_skin_pass *pass);

/* A packed mesh in GPU memory. Addresses: vertices 16-byte, the others 4-byte aligned. */
typedef struct pelt_gpu_mesh {
    VkDeviceAddress vertices;
    VkDeviceAddress tangents; /* 0: none */
    VkDeviceAddress weights;
    VkDeviceAddress joints;
    uint32_t vertex_count;
    uint32_t set_count;
    uint32_t joint_bytes; /* 1 or 2 */

    /* Matrices of each of its palettes that the pass may read, not only those that have influence;
     * 0: not known. GPUs copy palettes of up to 112 to shared memory, which is faster. */
    uint32_t joint_count;
} pelt_gpu_mesh;

/* Bytes that all streams of the mesh take behind each other, each 16-byte aligned. */
PELT_API size_t pelt_gpu_mesh_size(const pelt_packed_mesh *mesh);

/* Writes them to memory (to be found at address on the GPU, 16-byte aligned) and fills out. */
PELT_API void pelt_gpu_mesh_write(const pelt_packed_mesh *mesh, void *memory,
                                  VkDeviceAddress address, pelt_gpu_mesh *out);

/* One thing to skin this frame: one part of one instance. */
typedef struct pelt_gpu_instance {
    uint32_t mesh; /* index into the tables' meshes */

    /* Not skinned: invisible, or its pose has not changed. Costs nothing; outputs keep what they
     * hold. */
    bool skip;

    /* 48 bytes each, of its palette (pelt_packed_mesh.joint_count of them at least; not checked);
     * 16-byte aligned. */
    VkDeviceAddress matrices;

    /* Dual quaternion skinning: matrices are 64 bytes each, with their rotations, as
     * pelt_skin_dual_palette writes them. One such instance slows down all of the tables'. */
    bool dual_quaternions;

    /* Streams that replace the mesh's (morphed), or 0. */
    VkDeviceAddress vertices;
    VkDeviceAddress tangents;

    /* Outputs; strides in bytes, multiples of 4, at least 12 / 4 / 4. When normals == positions +
     * 12, both strides are 16 and positions is 16-byte aligned, each vertex is one 16-byte access.
     */
    VkDeviceAddress positions;
    uint32_t position_stride;
    VkDeviceAddress normals; /* 0: not wanted */
    uint32_t normal_stride;
    VkDeviceAddress tangents_out; /* 0: not wanted; ignored if the mesh has none */
    uint32_t tangent_stride;

    VkDeviceAddress box; /* a pelt_box, 4-byte aligned; 0: not wanted */
} pelt_gpu_instance;

typedef struct pelt_skin_tables_info {
    const pelt_gpu_mesh *meshes;
    uint32_t mesh_count;
    const pelt_gpu_instance *instances;
    uint32_t instance_count;
} pelt_skin_tables_info;

/* What a scene needs; plain data, filled by pelt_skin_tables_measure. */
typedef struct pelt_skin_tables {
    size_t table_size;       /* bytes of the table buffer: chunks, reductions */
    size_t reduction_offset; /* where the reductions begin in it, in bytes */
    size_t scratch_size;     /* bytes of the scratch buffer: partial boxes; 0: none needed */
    uint32_t instance_count; /* those that are not skipped */
    uint32_t chunk_count;    /* each is the work of a workgroup, or of a part of one */
    uint32_t reduce_count;   /* boxes that the second pass reduces: instances of several chunks */
    uint32_t chunk_vertices; /* most of a chunk */
    uint32_t team_bits;      /* small meshes: 2^team_bits invocations take a chunk */
    uint32_t permutation;    /* the shader permutation that suits the scene */
} pelt_skin_tables;

/* Takes time linear in meshes and instances. Every mesh and every instance that is not skipped is
 * checked. Errors: PELT_ERROR_ARGUMENT (the message says which one and why), PELT_ERROR_RANGE (a
 * stream, an output or a table spans more than 4 GiB). */
PELT_API pelt_result pelt_skin_tables_measure(const pelt_skin_pass *pass,
                                              const pelt_skin_tables_info *info,
                                              pelt_skin_tables *out);

/* Writes table_size bytes for the same info and pass, and reads none of them (write-combined memory
 * will do). Scratch and tables need no other initialisation. Skipping instances makes no size
 * larger. */
PELT_API void pelt_skin_tables_write(const pelt_skin_pass *pass, const pelt_skin_tables_info *info,
                                     const pelt_skin_tables *tables, void *memory);

/* Records the skin dispatch and, if any instance has several chunks, a barrier and the reduction:
 * one dispatch for every mesh of every instance, of any number (two-dimensional).
 * table: 16-byte aligned address of what was written; scratch: 16-byte aligned, or 0 if
 * scratch_size is 0. Before: make tables, meshes and matrices visible to COMPUTE_SHADER /
 * SHADER_READ, and let earlier uses of outputs and scratch, pelt's own too, be finished. After:
 * outputs are COMPUTE_SHADER / SHADER_WRITE; the barrier to their readers is the caller's. Changes
 * the command buffer's compute pipeline and push constants. */
PELT_API void pelt_cmd_skin(const pelt_skin_pass *pass, VkCommandBuffer commands,
                            const pelt_skin_tables *tables, VkDeviceAddress table,
                            VkDeviceAddress scratch);

/* Conservative boxes from joints (pelt_joint_boxes) instead of a reduction over vertices: they need
 * no vertex to be skinned and hold its exact box always, under linear blend skinning; of dual
 * quaternions they say nothing. matrices are of 48 bytes here. */
typedef struct pelt_gpu_joint_box_instance {
    VkDeviceAddress bind;     /* joint_count x pelt_box, 4-byte aligned */
    VkDeviceAddress matrices; /* 16-byte aligned */
    uint32_t joint_count;
    uint32_t influence_count; /* that of pelt_joint_boxes; 0: 4 */
    VkDeviceAddress box;      /* out: a pelt_box, 4-byte aligned */
} pelt_gpu_joint_box_instance;

/* Bytes of, and the writing of, the table for count instances. */
PELT_API size_t pelt_joint_box_table_size(uint32_t count);
PELT_API void pelt_joint_box_table_write(const pelt_gpu_joint_box_instance *instances,
                                         uint32_t count, void *memory);

/* Records one dispatch for all of them (one for each 2^26); table: 8-byte aligned. Barriers as for
 * pelt_cmd_skin. */
PELT_API void pelt_cmd_joint_boxes(const pelt_skin_pass *pass, VkCommandBuffer commands,
                                   uint32_t count, VkDeviceAddress table);

#ifdef __cplusplus
}
#endif
#endif
