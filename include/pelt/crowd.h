/* SPDX-License-Identifier: MIT */
/* pelt/crowd.h: crowds drawn from a baked palette (pelt/bake.h), one instanced draw call for all
 * instances of a mesh; with agents among them that are posed live (pelt/pose_pass.h). The rules of
 * pelt/vulkan.h hold: nothing is submitted, no device memory is allocated, buffers need
 * SHADER_DEVICE_ADDRESS and STORAGE_BUFFER.
 *
 *   - once: pelt_crowd_pass_create; the palette's image as pelt_palette_plan says, filled by
 *     vkCmdCopyBufferToImage; pelt_crowd_data_write; pelt_crowd_mesh_write for each mesh;
 *   - when what a member does changes: pelt_crowd_member_write, 112 bytes;
 *   - each frame: pelt_cmd_crowd, a barrier, vkCmdDrawIndexedIndirect for each mesh.
 *
 * pelt_cmd_crowd finds out where each member is in its clip, leaves out whom the view cannot see,
 * and writes the others as instances, in their order. The vertex shader includes pelt/crowd.glsl:
 *
 *     layout(set = 0, binding = 0) uniform texture2DArray palette;
 *     vec4 pelt_palette_texel(ivec3 place) { return texelFetch(palette, place, 0); }
 *     #include "pelt/crowd.glsl"
 *     ...
 *     pelt_crowd_instance instance = pelt_load_instance(instances, gl_InstanceIndex);
 *     pelt_skinned_vertex v =
 *         pelt_crowd_vertex(kind, pelt_load_mesh(mesh), instance, gl_VertexIndex);
 *
 * docs/crowds.md goes through it, examples/crowd_palette.c does it.
 */
#ifndef PELT_CROWD_H
#define PELT_CROWD_H

#include <pelt/bake.h>
#include <pelt/pose_pass.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -- the palette's image ------------------------------------------------------------------- */

/* A 2D array image, one level, one sample, to be sampled in vertex shaders (usage SAMPLED and
 * TRANSFER_DST); its view is a 2D_ARRAY even of one layer. Layers of live agents come behind those
 * of the bake. */
typedef struct pelt_palette_plan {
    VkFormat format;
    uint32_t width, height;
    uint32_t layer_count; /* with those of live agents */
    uint32_t live_layer;  /* the first of them */
    uint32_t live_count;  /* agents that there is room for */
} pelt_palette_plan;

/* live_count: agents that are posed live, each with a row of its own; 0 for none. Errors:
 * PELT_ERROR_UNSUPPORTED (live agents, but the bake's texels are neither 3x4 matrices nor dual
 * quaternions in RGBA32F), PELT_ERROR_RANGE (what vkGetPhysicalDeviceProperties' limits of image
 * width, height and layers, given by max_size and max_layers, or 0: 4,096 and 256, do not hold). */
PELT_API pelt_result pelt_palette_plan_make(const pelt_host *host, const pelt_bake *bake,
                                            uint32_t live_count, uint32_t max_size,
                                            uint32_t max_layers, pelt_palette_plan *out);

/* The one region that copies bake->texels (bake->size bytes) from a buffer, at offset, a multiple
 * of 16, into the image. */
PELT_API VkBufferImageCopy pelt_palette_copy(const pelt_bake *bake, VkDeviceSize offset);

/* The regions that copy live agents first to first + count - 1 from a buffer: agent after agent,
 * from offset on, model->matrix_count skin matrices each, 48 bytes, as pelt_cmd_pose writes them
 * without a world transform; of dual quaternions what pelt_cmd_live_motions makes of these, 16
 * bytes x the bake's texels_per_joint. bake is of model. regions: NULL, or room for *region_count
 * of them. Gives how many there are in *region_count: a few, as long as rows are not wider than the
 * image, whatever the count. Errors: PELT_ERROR_ARGUMENT (agents that there is no room for, a bake
 * of another model, too few regions). */
PELT_API pelt_result pelt_palette_live_copies(const pelt_host *host, const pelt_palette_plan *plan,
                                              const pelt_bake *bake, const pelt_model *model,
                                              uint32_t first, uint32_t count, VkDeviceSize offset,
                                              VkBufferImageCopy *regions, uint32_t *region_count);

/* -- what members share -------------------------------------------------------------------- */

/* Clips, ranges and boxes of a bake, as the pass reads them; 16-byte aligned. No texels. */
PELT_API size_t pelt_crowd_data_size(const pelt_bake *bake);
PELT_API void pelt_crowd_data_write(const pelt_bake *bake, void *memory);

/* A mesh as pelt/crowd.glsl reads it, 16-byte aligned. first_joint: of its palette in the bake. */
#define PELT_CROWD_MESH_SIZE 48
PELT_API void pelt_crowd_mesh_write(const pelt_gpu_mesh *mesh, uint32_t first_joint, void *memory);

/* -- members ------------------------------------------------------------------------------- */

/* What a member does until it is written anew. */
typedef struct pelt_crowd_member {
    pelt_gpu_play play;  /* clip: of the bake's */
    const double *world; /* 12, or NULL: identity */
    const uint8_t *tint; /* red green blue alpha, for the shader; NULL: 255 each */
    bool hidden;

    /* Posed live: reads its own row, plays no clip. */
    bool live;
    uint32_t agent;      /* its row: of plan->live_count */
    VkDeviceAddress box; /* a pelt_box without the world transform, such as pelt_cmd_joint_boxes
                          * writes (under PELT_BAKE_DUAL that is none: it does not hold what is
                          * drawn), 4-byte aligned; 0: never culled */
} pelt_crowd_member;

/* Bytes of one member in the buffer of members, which is 16-byte aligned. */
#define PELT_CROWD_MEMBER_SIZE 112

/* Writes them, and reads none. plan: of live ones, else it may be NULL. Errors: PELT_ERROR_ARGUMENT
 * (a clip or an agent that there is not, a number that is not finite or out of range; the message
 * says which). */
PELT_API pelt_result pelt_crowd_member_write(const pelt_host *host, const pelt_bake *bake,
                                             const pelt_palette_plan *plan,
                                             const pelt_crowd_member *member, void *memory);

/* -- the pass ------------------------------------------------------------------------------ */

typedef struct pelt_crowd_pass pelt_crowd_pass;

typedef struct pelt_crowd_pass_info {
    const pelt_vulkan *vulkan;
    VkPipelineCache cache; /* or VK_NULL_HANDLE */
} pelt_crowd_pass_info;

/* As pelt_skin_pass_create. */
PELT_API pelt_result pelt_crowd_pass_create(const pelt_host *host, const pelt_crowd_pass_info *info,
                                            pelt_crowd_pass **out);
PELT_API void pelt_crowd_pass_destroy(pelt_crowd_pass *pass);

/* Bytes of what is written for each instance: pelt_crowd_instance of pelt/crowd_layout.h. */
#define PELT_CROWD_INSTANCE_SIZE 64

/* Members that one call can take. */
#define PELT_CROWD_MEMBERS_MAX (1u << 25)

/* Bytes of scratch that so many members need. */
PELT_API size_t pelt_crowd_scratch_size(uint32_t member_count);

typedef struct pelt_crowd_frame {
    VkDeviceAddress data;      /* pelt_crowd_data_write's */
    VkDeviceAddress members;   /* 16-byte aligned */
    uint32_t member_count;     /* up to PELT_CROWD_MEMBERS_MAX */
    VkDeviceAddress instances; /* out: room for all members, 16-byte aligned */
    VkDeviceAddress scratch;   /* 4-byte aligned */

    /* Out: instanceCount of draw_count VkDrawIndexedIndirectCommands (or VkDrawIndirectCommands)
     * draw_stride bytes apart becomes how many members are seen. Nothing else of them is written.
     * 4-byte aligned, in a buffer of usage INDIRECT_BUFFER, too; draw_stride: a multiple of 4 up to
     * 252, 0: 20; draw_count up to 2^22 - 1. */
    VkDeviceAddress draws;
    uint32_t draw_count;
    uint32_t draw_stride;

    double now; /* seconds of the caller's clock, magnitude at most 2^29 */

    /* 16, by columns: from where worlds lead to Vulkan's clip space. What cannot be in it is left
     * out, by the boxes of the frames a member is between; that decides for it where rounding
     * matters. NULL: all but hidden ones are drawn. */
    const float *view;

    /* What the vertex shader will do: nearest frames are chosen here (fractions are 0), a blend
     * widens boxes by the clip's blend_margin, and skinning by dual quaternions by its dual_margin.
     */
    pelt_bake_interpolation interpolation;
    pelt_bake_skinning skinning;
} pelt_crowd_frame;

/* Records two dispatches with a barrier between them. Before: make data, members and live boxes
 * visible to COMPUTE_SHADER / SHADER_READ, and let earlier uses of outputs and scratch be finished.
 * After: instances and draws are COMPUTE_SHADER / SHADER_WRITE; the barrier to VERTEX_SHADER /
 * SHADER_READ and DRAW_INDIRECT / INDIRECT_COMMAND_READ is the caller's. Changes the command
 * buffer's compute pipeline and push constants. */
PELT_API void pelt_cmd_crowd(const pelt_crowd_pass *pass, VkCommandBuffer commands,
                             const pelt_crowd_frame *frame);

/* Records a dispatch that makes of count skin matrices (48 bytes each, 16-byte aligned) of live
 * agents what a bake of dual quaternions holds: count x 16 bytes x the bake's texels_per_joint,
 * from motions on. What such a palette does not hold is lost: shear, scale along other directions
 * than the model's axes, and all scale where the bake has none. Up to 2^26. Before: make matrices
 * visible to COMPUTE_SHADER / SHADER_READ. After: motions are COMPUTE_SHADER / SHADER_WRITE.
 * Changes the command buffer's compute pipeline and push constants. */
PELT_API void pelt_cmd_live_motions(const pelt_crowd_pass *pass, VkCommandBuffer commands,
                                    const pelt_bake *bake, VkDeviceAddress matrices, uint32_t count,
                                    VkDeviceAddress motions);

#ifdef __cplusplus
}
#endif
#endif
