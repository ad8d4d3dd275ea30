/* What the files of the ray bench share. */
#ifndef PELT_BENCH_RAYS_INTERNAL_H
#define PELT_BENCH_RAYS_INTERNAL_H

#include "bench/internal.h"
#include "bench/rays.h"

#include <pelt/pelt.h>
#include <pelt/ray.h>

/* What a ray hits, as the shaders write it. */
typedef struct pelt_bench_rays_hit {
    float distance; /* -1: nothing */
    uint32_t instance, geometry, triangle;
} pelt_bench_rays_hit;

/* Parallel rays, one a pixel; as the shader has it. */
typedef struct pelt_bench_rays_view {
    VkDeviceAddress top_level, hits;
    float corner[4], right[4], down[4], direction[4]; /* right, down: across the whole picture */
} pelt_bench_rays_view;

typedef struct pelt_bench_rays_tracer {
    const pelt_bench *bench;
    PFN_vkCmdTraceRaysKHR cmd_trace_rays;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    pelt_buffer table, hits;
    VkStridedDeviceAddressRegionKHR regions[3]; /* generation, miss, hit */
    uint32_t width, height;
} pelt_bench_rays_tracer;

/* rays_trace.c */
pelt_result pelt_bench_rays_tracer_create(const pelt_bench *bench, uint32_t width, uint32_t height,
                                          pelt_bench_rays_tracer *out);
void pelt_bench_rays_tracer_destroy(pelt_bench_rays_tracer *tracer);
void pelt_bench_rays_trace(const pelt_bench_rays_tracer *tracer, VkCommandBuffer commands,
                           const pelt_bench_rays_view *view);

enum {
    BENCH_RAYS_POSES = 64, /* that instances go through, each at another one, 1/60 s apart */
    BENCH_RAYS_SIZES = 2
};

/* Scratch memory of a batch of builds; a buffer may not be larger everywhere. */
#define BENCH_RAYS_SCRATCH (UINT64_C(2) << 30)

/* The crowd, and its structures for one use at a time. Vertices are in the world's space. */
typedef struct pelt_bench_rays_data {
    pelt_bench *bench;
    const pelt_bench_rays_scene *scene;
    pelt_ray_pass *pass;
    pelt_model *model;
    pelt_packed_mesh *packed;
    pelt_gpu_mesh mesh;
    pelt_ray_indices indices;
    uint32_t matrix_count;
    float *palettes;    /* of the poses, at the origin */
    float (*places)[2]; /* x and z of the instances, neighbours close by */
    pelt_gpu_instance *instances;
    pelt_skin_tables tables;
    pelt_buffer streams, index_data, matrices, outputs, table, skin_scratch;
    pelt_bench_rays_view view; /* without addresses */

    uint32_t structure_count;
    pelt_ray_geometry *geometries; /* of the instances */
    pelt_ray_blas *blas;
    pelt_ray_structure *structures;
    pelt_ray_sizes sizes[BENCH_RAYS_SIZES]; /* of one; of the last, which may have fewer */
    uint64_t structure_bytes;
    pelt_buffer *pools;
    uint32_t pool_count;
    pelt_ray_scene *ray_scene;
    pelt_ray_plan plan;
    pelt_ray_structure top;
    pelt_buffer scratch, records, top_memory, top_scratch;
} pelt_bench_rays_data;

/* rays_data.c */
pelt_result pelt_bench_rays_data_create(pelt_bench *bench, const pelt_bench_rays_scene *scene,
                                        pelt_bench_rays_data *out);
void pelt_bench_rays_data_destroy(pelt_bench_rays_data *data);

/* From now on skinning gives the poses of a frame. */
pelt_result pelt_bench_rays_pose(const pelt_bench_rays_data *data, uint32_t frame);

/* rays_structures.c: structures of a use, not built yet, and a top level over them. */
pelt_result pelt_bench_rays_structures_create(pelt_bench_rays_data *data, pelt_ray_use use);
void pelt_bench_rays_structures_destroy(pelt_bench_rays_data *data);

/* Plans that all are built, or that all are refitted, which have been built. */
pelt_result pelt_bench_rays_plan(pelt_bench_rays_data *data, bool build,
                                 VkDeviceSize scratch_limit);

/* rays.c: whether rays hit the same after refits as after a build. If not, it is an error message.
 */
void pelt_bench_rays_compare(const pelt_host *host, const char *scene,
                             const pelt_bench_rays_hit *worn, const pelt_bench_rays_hit *fresh,
                             size_t count, pelt_bench_rays_use *out);

#endif
