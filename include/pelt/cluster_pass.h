/* SPDX-License-Identifier: MIT */
/* pelt/cluster_pass.h: clusters (pelt/cluster.h) on the GPU: skinning and drawing only those that
 * can be seen. The rules of pelt/vulkan.h hold: nothing is submitted, no device memory is
 * allocated, buffers need SHADER_DEVICE_ADDRESS and STORAGE_BUFFER.
 *
 *   - once: pelt_gpu_clusters_write, pelt_gpu_cluster_mesh_write for each mesh;
 *   - when the scene changes: pelt_cluster_instance_write for each mesh of each character;
 *   - when the camera moves: pelt_cluster_view_write.
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

#ifdef __cplusplus
}
#endif
#endif
