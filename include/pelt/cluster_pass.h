/* SPDX-License-Identifier: MIT */
/* pelt/cluster_pass.h: clusters (pelt/cluster.h) on the GPU: skinning and drawing only those that
 * can be seen. The rules of pelt/vulkan.h hold: nothing is submitted, no device memory is
 * allocated, buffers need SHADER_DEVICE_ADDRESS and STORAGE_BUFFER.
 *
 *   - once: pelt_gpu_clusters_write, pelt_gpu_cluster_mesh_write for each mesh;
 *   - when the scene changes: pelt_cluster_instance_write for each mesh of each character;
 *     pelt_cluster_tables_measure and _write if clusters are drawn by way of the cull pass;
 *   - each frame: skin matrices and boxes of joints, pelt_cluster_view_write; then mesh shaders, or
 *     pelt_cmd_cluster_cull, pelt_cmd_cluster_skin, a barrier, vkCmdDrawIndexedIndirectCount.
 *
 * Shaders read all of it by address, through shaders/pelt/cluster_bounds.glsl: what level of detail
 * an instance needs and which of its clusters can be seen, before a vertex of them is skinned. They
 * decide for visibility where rounding matters: leaving clusters out changes no pixel.
 * docs/clusters.md goes through it.
 */
#ifndef PELT_CLUSTER_PASS_H
#define PELT_CLUSTER_PASS_H

#include <pelt/cluster.h>
#include <pelt/vulkan.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -- what instances share ------------------------------------------------------------------ */

/* A packed mesh and its clusters in GPU memory. Lists are 16-byte aligned. */
typedef struct pelt_gpu_clusters {
    pelt_gpu_mesh mesh;
    VkDeviceAddress clusters;
    VkDeviceAddress vertex_table;
    VkDeviceAddress triangles;
    VkDeviceAddress local_joints;
    VkDeviceAddress joints;
    VkDeviceAddress spheres;
    VkDeviceAddress lods;
    uint32_t lod_count;
    uint32_t most_clusters; /* of a level */

    /* Where pelt_gpu_clusters_indices' begin in the caller's index buffer, in indices. Set it
     * before pelt_gpu_cluster_mesh_write if clusters are drawn by indices. */
    uint32_t first_index;
} pelt_gpu_clusters;

/* Bytes that the mesh's streams and all lists take behind each other. */
PELT_API size_t pelt_gpu_clusters_size(const pelt_clusters *clusters, const pelt_packed_mesh *mesh);

/* Writes them to memory, and reads none of it (to be found at address on the GPU, 16-byte aligned),
 * and fills out. */
PELT_API void pelt_gpu_clusters_write(const pelt_clusters *clusters, const pelt_packed_mesh *mesh,
                                      void *memory, VkDeviceAddress address,
                                      pelt_gpu_clusters *out);

/* The corners of all triangles as vertices of their clusters: 3 x clusters->triangle_count. */
PELT_API void pelt_gpu_clusters_indices(const pelt_clusters *clusters, uint16_t *indices);

/* What shaders read of it, 16-byte aligned: pelt_gpu_cluster_mesh of pelt/cluster_layout.h. A
 * morphed instance has one of its own: mesh.vertices and mesh.tangents replaced by its streams,
 * spheres by theirs (pelt_clusters_spheres). */
#define PELT_GPU_CLUSTER_MESH_SIZE 112
PELT_API void pelt_gpu_cluster_mesh_write(const pelt_gpu_clusters *clusters, void *memory);

/* -- instances and views ------------------------------------------------------------------- */

/* One mesh of one character. */
typedef struct pelt_cluster_instance {
    VkDeviceAddress mesh;     /* of what pelt_gpu_cluster_mesh_write wrote */
    VkDeviceAddress matrices; /* 48 bytes each, 16-byte aligned; linear blend skinning */

    /* A pelt_box that holds the posed mesh, as pelt_cmd_joint_boxes writes it, 4-byte aligned. 0:
     * not known; such an instance is not left out as a whole, and never of a coarser level. */
    VkDeviceAddress box;

    float scale;   /* by which matrices make the mesh's levels larger than their errors say: the
                    * world's; 0: 1 */
    uint32_t user; /* the caller's: shaders can read it */
} pelt_cluster_instance;

/* Bytes of one in the buffer of instances, which is 16-byte aligned. */
#define PELT_CLUSTER_INSTANCE_SIZE 32

/* Writes it, and reads none. Errors: PELT_ERROR_ARGUMENT (the message says what is wrong). */
PELT_API pelt_result pelt_cluster_instance_write(const pelt_host *host,
                                                 const pelt_cluster_instance *instance,
                                                 void *memory);

/* Instead of a level: the coarsest that looks right. */
#define PELT_LOD_AUTO 0xffffffff

typedef struct pelt_cluster_view {
    /* 16, by columns: from where matrices lead to Vulkan's clip space; what the vertex shader
     * multiplies positions by. */
    const float *clip;

    /* Levels: of each instance the coarsest whose error is not more than most_error pixels, seen
     * from eye where its box is nearest. pixels: what a unit across the view takes at a distance of
     * 1: viewport height / (2 tan(vertical field of view / 2)); orthographic: at any distance. */
    double eye[3];
    double pixels;
    double most_error;
    uint32_t
        lod; /* PELT_LOD_AUTO, or that of all instances; the last one of those that have less */
    bool orthographic;

    bool cull; /* leaves out what cannot be in the view */
} pelt_cluster_view;

/* Bytes of a view, which is 16-byte aligned. */
#define PELT_CLUSTER_VIEW_SIZE 96

/* Writes it, and reads none. Errors: PELT_ERROR_ARGUMENT (no clip, numbers that are not finite or
 * negative; the message says which). */
PELT_API pelt_result pelt_cluster_view_write(const pelt_host *host, const pelt_cluster_view *view,
                                             void *memory);

/* -- the cull pass ------------------------------------------------------------------------- */

typedef struct pelt_cluster_scene {
    const pelt_gpu_clusters *meshes;
    uint32_t mesh_count;
    const uint32_t *instance_meshes; /* of each instance: one of these, or PELT_CLUSTER_HIDDEN */
    uint32_t instance_count;
} pelt_cluster_scene;

/* Instead of a mesh: the instance is left out, and need not have been written. */
#define PELT_CLUSTER_HIDDEN UINT32_MAX

/* What a scene needs; plain data. */
typedef struct pelt_cluster_tables {
    size_t table_size;      /* bytes of the table, which says who looks at which clusters */
    size_t scratch_size;    /* bytes */
    uint32_t span_count;    /* of up to 32 clusters; a workgroup takes four */
    uint64_t cluster_count; /* most that can be visible */
} pelt_cluster_tables;

/* Takes time linear in instances. Errors: PELT_ERROR_ARGUMENT (a mesh that there is not),
 * PELT_ERROR_RANGE (scratch of more than 4 GiB). */
PELT_API pelt_result pelt_cluster_tables_measure(const pelt_host *host,
                                                 const pelt_cluster_scene *scene,
                                                 pelt_cluster_tables *out);

/* Writes table_size bytes for the same scene, and reads none. */
PELT_API void pelt_cluster_tables_write(const pelt_cluster_scene *scene, void *memory);

/* A cluster that can be seen. Sphere and box are written by the cluster skin pass. */
typedef struct pelt_visible_cluster {
    float centre[3], radius; /* holds all skinned vertices; around the middle of the box, and as
                              * small as one there can be, but for 2^-19 of it */
    float low[3];            /* exact */
    uint32_t instance;
    float high[3];
    uint32_t cluster;  /* of the mesh's */
    uint32_t work[12]; /* for the cluster skin pass */
} pelt_visible_cluster;

/* How many they are. */
typedef struct pelt_cluster_counts {
    VkDispatchIndirectCommand groups; /* the cluster skin pass's */
    uint32_t listed;                  /* and drawn: of visible, those that there is room for */
    uint32_t visible;
} pelt_cluster_counts;

/* Vertices of the output that each listed cluster has: 1 KiB, and 256 bytes of tangents. */
#define PELT_CLUSTER_SLOT 64

/* Most that can be listed: 4 GiB of vertices. */
#define PELT_CLUSTER_CAPACITY_MAX (1u << 22)

typedef struct pelt_cluster_pass pelt_cluster_pass;

typedef struct pelt_cluster_pass_info {
    const pelt_vulkan *vulkan;
    VkPipelineCache cache; /* or VK_NULL_HANDLE */

    /* The skin pass copies the matrices that a cluster needs to shared memory, up to 64 of them,
     * instead of reading them where they lie; slower on an H200. The results are the same. */
    bool shared_palettes;
} pelt_cluster_pass_info;

/* As pelt_skin_pass_create. */
PELT_API pelt_result pelt_cluster_pass_create(const pelt_host *host,
                                              const pelt_cluster_pass_info *info,
                                              pelt_cluster_pass **out);
PELT_API void pelt_cluster_pass_destroy(pelt_cluster_pass *pass);

typedef struct pelt_cluster_cull {
    const pelt_cluster_tables *tables;
    VkDeviceAddress table;     /* 8-byte aligned */
    VkDeviceAddress instances; /* 16-byte aligned */
    VkDeviceAddress view;      /* 16-byte aligned */
    VkDeviceAddress scratch;   /* 4-byte aligned */

    /* Out. What is visible, in the order of instances and of their clusters; the first `capacity`
     * of them are listed, up to PELT_CLUSTER_CAPACITY_MAX. */
    uint32_t capacity;
    VkDeviceAddress visible; /* pelt_visible_cluster, 16-byte aligned; sphere and box are not
                              * written */
    VkDeviceAddress counts;  /* a pelt_cluster_counts, 4-byte aligned, of usage INDIRECT_BUFFER */

    /* Out: a VkDrawIndexedIndirectCommand for each one listed, 4-byte aligned, of usage
     * INDIRECT_BUFFER; 0: not wanted. counts.listed says how many; draws behind them are not
     * written. Vertices are those of the cluster skin pass, indices pelt_gpu_clusters_indices';
     * gl_InstanceIndex is the place in the list (feature drawIndirectFirstInstance). */
    VkDeviceAddress draws;
} pelt_cluster_cull;

/* Records three dispatches with barriers between them. Before: make tables, meshes, instances, the
 * view, matrices and boxes visible to COMPUTE_SHADER / SHADER_READ, and let earlier uses of scratch
 * and outputs be finished. After: outputs are COMPUTE_SHADER / SHADER_WRITE; the barrier to those
 * of their readers that are not pelt_cmd_cluster_skin is the caller's. Changes the command buffer's
 * compute pipeline and push constants. */
PELT_API void pelt_cmd_cluster_cull(const pelt_cluster_pass *pass, VkCommandBuffer commands,
                                    const pelt_cluster_cull *cull);

/* -- the cluster skin pass ----------------------------------------------------------------- */

typedef struct pelt_cluster_skin {
    VkDeviceAddress instances; /* as they were culled, and so are these */
    VkDeviceAddress visible;
    VkDeviceAddress counts;
    VkBuffer counts_buffer; /* the same, as vkCmdDispatchIndirect wants it */
    VkDeviceSize counts_offset;

    /* Out: vertices of the i-th cluster that is listed from 64 i on, in its own order: 16 bytes
     * each, position and normal, as pelt_cmd_skin writes them, 16-byte aligned. */
    VkDeviceAddress vertices;
    VkDeviceAddress tangents; /* out: 4 bytes each, 4-byte aligned, of meshes that have any; 0: not
                               * wanted */
    bool bounds;              /* wanted: spheres and boxes in visible */
} pelt_cluster_skin;

/* Records a barrier behind pelt_cmd_cluster_cull and an indirect dispatch. Before: let earlier uses
 * of outputs be finished. After: they are COMPUTE_SHADER / SHADER_WRITE; the barrier to their
 * readers, and from counts and draws to DRAW_INDIRECT / INDIRECT_COMMAND_READ, is the caller's.
 * Changes the command buffer's compute pipeline and push constants. */
PELT_API void pelt_cmd_cluster_skin(const pelt_cluster_pass *pass, VkCommandBuffer commands,
                                    const pelt_cluster_skin *skin);

#ifdef __cplusplus
}
#endif
#endif
