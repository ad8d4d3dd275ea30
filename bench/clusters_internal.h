/* What the files of the cluster bench share. */
#ifndef PELT_BENCH_CLUSTERS_INTERNAL_H
#define PELT_BENCH_CLUSTERS_INTERNAL_H

#include "bench/clusters.h"
#include "bench/internal.h"
#include "bench/target.h"

#include <pelt/cluster_pass.h>

typedef struct pelt_bench_clusters_part {
    const pelt_part *from;
    const pelt_primitive *primitive;
    pelt_packed_mesh *packed;
    pelt_clusters *clusters;
    pelt_joint_boxes *boxes;
    pelt_gpu_clusters gpu;
    pelt_buffer memory, bind;
    size_t first_vertex;  /* of all instances' in animated */
    uint32_t first_index; /* in draw.indices */
} pelt_bench_clusters_part;

typedef struct pelt_bench_clusters_functions {
    PFN_vkCmdBindIndexBuffer cmd_bind_index_buffer;
    PFN_vkCmdDrawIndexed cmd_draw_indexed;
    PFN_vkCmdDrawIndexedIndirectCount cmd_draw_indexed_indirect_count;
    PFN_vkCmdDrawMeshTasksEXT cmd_draw_mesh_tasks;
} pelt_bench_clusters_functions;

/* What is drawn with. */
typedef struct pelt_bench_clusters_draw {
    bool drawable, meshes; /* what the device can */
    pelt_bench_clusters_functions vk;
    pelt_bench_target target;
    pelt_buffer indices; /* of packed meshes, level 0 */
    pelt_buffer corners; /* of clusters, pelt_gpu_clusters_indices' */
    VkShaderStageFlags stages;
    VkPipelineLayout layout;
    VkPipeline of_vertices, of_meshes[2]; /* the second: matrices in shared memory */
} pelt_bench_clusters_draw;

/* Instances of parts: instance i's part p is i x part_count + p. */
typedef struct pelt_bench_clusters_data {
    pelt_bench *bench;
    const pelt_bench_clusters_settings *settings;
    pelt_cluster_pass *pass;
    uint32_t part_count;
    pelt_bench_clusters_part *parts;
    pelt_box bind; /* of the model in its first pose */
    pelt_buffer matrices, boxes, box_table, instances, records, view, view_of_all;
    pelt_skin_tables skin_tables;
    pelt_buffer skin_table, skin_scratch, animated;
    pelt_cluster_tables tables;
    uint32_t capacity;
    pelt_buffer table, scratch, visible, counts, draws, vertices;
    pelt_bench_clusters_draw draw;
} pelt_bench_clusters_data;

/* clusters_data.c */
pelt_result pelt_bench_clusters_data_create(pelt_bench *bench,
                                            const pelt_bench_clusters_settings *settings,
                                            pelt_bench_clusters_data *out);
void pelt_bench_clusters_data_destroy(pelt_bench_clusters_data *data);

/* A buffer with these bytes. */
pelt_result pelt_bench_clusters_upload(const pelt_bench_clusters_data *data, const void *bytes,
                                       size_t size, VkBufferUsageFlags usage, pelt_buffer *out);

/* How far apart instances stand, and how many in a row. */
double pelt_bench_clusters_spacing(const pelt_bench_clusters_data *data);
uint32_t pelt_bench_clusters_columns(const pelt_bench_clusters_data *data);

/* Records a stage, and a barrier behind it. */
void pelt_bench_clusters_record(const pelt_bench_clusters_data *data,
                                pelt_bench_cluster_stage stage, VkCommandBuffer commands);

/* clusters_draw.c */
pelt_result pelt_bench_clusters_draw_create(pelt_bench_clusters_data *data);
void pelt_bench_clusters_draw_destroy(pelt_bench_clusters_data *data);

/* Whether the device can. */
bool pelt_bench_clusters_has(const pelt_bench_clusters_data *data, int stage);
void pelt_bench_clusters_draw_record(const pelt_bench_clusters_data *data,
                                     pelt_bench_cluster_stage stage, VkCommandBuffer commands);

/* clusters_view.c: what is seen from there, into data->view. */
pelt_result pelt_bench_clusters_look(const pelt_bench_clusters_data *data,
                                     pelt_bench_cluster_camera which, bool levels);

/* clusters_check.c: runs all stages, counts what is listed, and compares a sample, and where the
 * view has the finest level alone, pictures. */
pelt_result pelt_bench_clusters_check(const pelt_bench_clusters_data *data, bool finest,
                                      pelt_bench_clusters_row *row);

#endif
