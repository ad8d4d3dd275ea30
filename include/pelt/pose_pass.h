/* SPDX-License-Identifier: MIT */
/* pelt/pose_pass.h: poses on the GPU, from clips and the state of instances to the skin matrices
 * that pelt_cmd_skin reads. The rules of pelt/vulkan.h hold: nothing is submitted, no device memory
 * is allocated, buffers need SHADER_DEVICE_ADDRESS and STORAGE_BUFFER.
 *
 *   - once: pelt_pose_pass_create; for each model pelt_rig_create, its data into GPU memory;
 *   - when instances come or go: pelt_pose_tables_measure, pelt_pose_tables_write;
 *   - when what an instance does changes: pelt_pose_instance_write, 160 bytes;
 *   - each frame: pelt_cmd_pose, a barrier, pelt_cmd_skin.
 *
 * The GPU computes with 32-bit floats what pelt_pose computes in double precision, from the same
 * keys: nothing is resampled. Time is carried in pairs of floats. Matrices are within 1e-5 of the
 * character's size of pelt_pose's, of real characters mostly within 2e-6; roundings add up over the
 * joints that hang from each other, to 1.5e-5 where these are some 200.
 */
#ifndef PELT_POSE_PASS_H
#define PELT_POSE_PASS_H

#include <pelt/pose.h>
#include <pelt/vulkan.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -- the pass ------------------------------------------------------------------------------ */

typedef struct pelt_pose_pass pelt_pose_pass;

typedef struct pelt_pose_pass_info {
    const pelt_vulkan *vulkan;
    VkPipelineCache cache; /* or VK_NULL_HANDLE */
} pelt_pose_pass_info;

/* As pelt_skin_pass_create. */
PELT_API pelt_result pelt_pose_pass_create(const pelt_host *host, const pelt_pose_pass_info *info,
                                           pelt_pose_pass **out);
PELT_API void pelt_pose_pass_destroy(pelt_pose_pass *pass);

/* -- rigs ---------------------------------------------------------------------------------- */

#define PELT_RIG_NO_NODE UINT32_MAX

typedef struct pelt_rig_info {
    const pelt_model *model; /* finished; not needed any more afterwards */

    /* Nodes whose global transforms are wanted, too: where a prop is held. Any nodes, joints or
     * not, in any order. */
    const uint32_t *sockets;
    uint32_t socket_count;
} pelt_rig_info;

/* Everything about a model that its instances share: the nodes above any joint, rigid node or
 * socket, inverse bind matrices, and all clips with their own keys. Nodes above all of these that
 * no clip animates are folded into those below, in double precision. Plain bytes without addresses
 * in them. */
typedef struct pelt_rig {
    size_t size;      /* of data; below 4 GiB */
    const void *data; /* to be copied to GPU memory as it is, 16-byte aligned */
    uint32_t node_count;
    uint32_t matrix_count; /* the model's */
    uint32_t socket_count;
    uint32_t clip_count;
    uint32_t carry_count;      /* matrices that tiles of nodes hand on through scratch */
    uint32_t model_node_count; /* entries of places */
    uint32_t *places; /* of the model's nodes in the rig, PELT_RIG_NO_NODE where not needed */
    const pelt_host *host;
} pelt_rig;

/* Takes time linear in the model's nodes and keys. Errors: PELT_ERROR_ARGUMENT (a model that is not
 * finished, a socket that is no node), PELT_ERROR_RANGE (4 GiB), PELT_ERROR_MEMORY. */
PELT_API pelt_result pelt_rig_create(const pelt_host *host, const pelt_rig_info *info,
                                     pelt_rig **out);
PELT_API void pelt_rig_destroy(pelt_rig *rig);

/* -- instances ----------------------------------------------------------------------------- */

/* A clip that plays by itself. Its time at a moment `now` of the caller's clock is
 * time + (now - since) x speed; then as pelt_play says. Right for 2^24 turns of a loop. */
typedef struct pelt_gpu_play {
    int32_t clip; /* -1: the nodes' static values */
    bool loop;
    float speed;  /* 0: stands still; negative: backwards */
    double time;  /* seconds of the clip */
    double since; /* seconds of the caller's clock, magnitude at most 2^29 */
} pelt_gpu_play;

/* What an instance does until it is written anew. */
typedef struct pelt_pose_instance {
    pelt_gpu_play play;

    /* Blended in as pelt_pose_sample blends plays of the weights 1 - w and w, where w is
     * weight + (now - second.since) x weight_rate, kept within 0 and 1. Ignored if both are 0. */
    pelt_gpu_play second;
    float weight;
    float weight_rate; /* per second */

    /* Not posed: outputs keep what they hold. */
    bool skip;

    /* Posed in frames for which (number + phase) % interval == 0; 0: every frame. Neighbours
     * in memory share workgroups, so it pays to give them the same phase. */
    uint32_t interval;
    uint32_t phase;

    const double *world; /* 12, or NULL: identity; as for pelt_pose_skin_matrices */

    /* What pelt_pose_overrides_write wrote, 16-byte aligned; may change at any time. */
    VkDeviceAddress overrides;
    uint32_t override_count;

    /* Outputs, 16-byte aligned, 48 bytes a matrix. */
    VkDeviceAddress matrices; /* rig.matrix_count: as pelt_pose_skin_matrices orders them */
    VkDeviceAddress sockets;  /* rig.socket_count: world x global(node); 0: not wanted */
} pelt_pose_instance;

/* Bytes of one instance in the buffer of instances, which is 16-byte aligned. */
#define PELT_POSE_INSTANCE_SIZE 160

/* Writes them, and reads none. Errors: PELT_ERROR_ARGUMENT (a clip that there is not, a number that
 * is not finite or out of range, an address; the message says which). */
PELT_API pelt_result pelt_pose_instance_write(const pelt_rig *rig,
                                              const pelt_pose_instance *instance, void *memory);

/* Bytes of one override. */
#define PELT_POSE_OVERRIDE_SIZE 64

/* Writes the overrides of one instance, at most one a node, in any order. What they do is what
 * pelt_pose_update_overridden does. Time is the square of count. Errors: PELT_ERROR_ARGUMENT (two
 * for a node; a node that moves no matrix or socket of the rig, or is folded; a number not finite
 * or beyond PELT_MAGNITUDE_MAX). */
PELT_API pelt_result pelt_pose_overrides_write(const pelt_rig *rig,
                                               const pelt_pose_override *overrides, uint32_t count,
                                               void *memory);

/* -- a scene ------------------------------------------------------------------------------- */

/* Instances of one rig, one behind the other in the buffer of instances. */
typedef struct pelt_pose_batch {
    const pelt_rig *rig;
    VkDeviceAddress rig_address; /* where its data is */
    uint32_t first_instance;
    uint32_t instance_count;
} pelt_pose_batch;

/* What a scene needs; plain data, filled by pelt_pose_tables_measure. */
typedef struct pelt_pose_tables {
    size_t table_size;    /* bytes of the table */
    size_t scratch_size;  /* bytes of scratch; 0 unless a rig has more than 128 nodes */
    uint32_t group_count; /* workgroups of the dispatch */
} pelt_pose_tables;

/* Errors: PELT_ERROR_ARGUMENT (an address), PELT_ERROR_RANGE (tables, instances or scratch past 4
 * GiB). */
PELT_API pelt_result pelt_pose_tables_measure(const pelt_pose_pass *pass,
                                              const pelt_pose_batch *batches, uint32_t count,
                                              pelt_pose_tables *out);

/* Writes table_size bytes for the same batches, and reads none of them. */
PELT_API void pelt_pose_tables_write(const pelt_pose_pass *pass, const pelt_pose_batch *batches,
                                     uint32_t count, void *memory);

typedef struct pelt_pose_frame {
    double now;      /* seconds of the caller's clock, magnitude at most 2^29 */
    uint32_t number; /* counts up: what intervals go by */
    bool all;        /* whatever the intervals; as the first frame must */

    /* No override of any instance multiplies a global transform; one that does is ignored. Saves
     * half of the pass's shared memory, and on some devices nearly half its time. */
    bool no_global_multiplies;
} pelt_pose_frame;

/* Records one dispatch for all instances of all rigs. table: 8-byte aligned; instances and scratch:
 * 16-byte aligned, scratch 0 if its size is 0. Before: make rigs, tables, instances and overrides
 * visible to COMPUTE_SHADER / SHADER_READ, and let earlier uses of outputs and scratch be finished.
 * After: outputs are COMPUTE_SHADER / SHADER_WRITE; the barrier to their readers, such as
 * pelt_cmd_skin, is the caller's. Changes the command buffer's compute pipeline and push constants.
 * Numbers beyond PELT_MAGNITUDE_MAX, for which the CPU's pose fails, are written as that. */
PELT_API void pelt_cmd_pose(const pelt_pose_pass *pass, VkCommandBuffer commands,
                            const pelt_pose_tables *tables, VkDeviceAddress table,
                            VkDeviceAddress instances, VkDeviceAddress scratch,
                            const pelt_pose_frame *frame);

#ifdef __cplusplus
}
#endif
#endif
