/* What the files of the cluster bench share. */
#ifndef PELT_BENCH_CLUSTERS_INTERNAL_H
#define PELT_BENCH_CLUSTERS_INTERNAL_H

#include "bench/clusters.h"
#include "bench/internal.h"

#include <pelt/cluster_pass.h>

typedef struct pelt_bench_clusters_part {
    const pelt_part *from;
    const pelt_primitive *primitive;
    pelt_packed_mesh *packed;
    pelt_clusters *clusters;
    pelt_joint_boxes *boxes;
    pelt_gpu_clusters gpu;
    pelt_buffer memory, bind;
    size_t first_vertex; /* of all instances' in animated */
} pelt_bench_clusters_part;

/* Instances of parts: instance i's part p is i x part_count + p. */
typedef struct pelt_bench_clusters_data {
    pelt_bench *bench;
    const pelt_bench_clusters_settings *settings;
    pelt_cluster_pass *pass;
    uint32_t part_count;
    pelt_bench_clusters_part *parts;
    pelt_box bind; /* of the model in its first pose */
    pelt_buffer matrices, boxes, box_table, instances, records, view;
    pelt_skin_tables skin_tables;
    pelt_buffer skin_table, skin_scratch, animated;
    pelt_cluster_tables tables;
    uint32_t capacity;
    pelt_buffer table, scratch, visible, counts, draws, vertices;
} pelt_bench_clusters_data;

/* clusters_data.c */
pelt_result pelt_bench_clusters_data_create(pelt_bench *bench,
                                            const pelt_bench_clusters_settings *settings,
                                            pelt_bench_clusters_data *out);
void pelt_bench_clusters_data_destroy(pelt_bench_clusters_data *data);

/* How far apart instances stand, and how many in a row. */
double pelt_bench_clusters_spacing(const pelt_bench_clusters_data *data);
uint32_t pelt_bench_clusters_columns(const pelt_bench_clusters_data *data);

/* Records a stage, and a barrier behind it. */
void pelt_bench_clusters_record(const pelt_bench_clusters_data *data,
                                pelt_bench_cluster_stage stage, VkCommandBuffer commands);

/* clusters_view.c: what is seen from there, into data->view. */
pelt_result pelt_bench_clusters_look(const pelt_bench_clusters_data *data,
                                     pelt_bench_cluster_camera which, bool levels);

/* clusters_check.c: runs all stages, counts what is listed, and compares a sample. */
pelt_result pelt_bench_clusters_check(const pelt_bench_clusters_data *data,
                                      pelt_bench_clusters_row *row);

#endif
