/* What the files of the crowd bench share. */
#ifndef PELT_BENCH_CROWD_INTERNAL_H
#define PELT_BENCH_CROWD_INTERNAL_H

#include "bench/crowd.h"
#include "bench/internal.h"
#include "bench/target.h"

#include <pelt/crowd.h>

/* Entry points beyond the bench's. */
typedef struct pelt_bench_crowd_functions {
    PFN_vkCreateDescriptorSetLayout create_descriptor_set_layout;
    PFN_vkDestroyDescriptorSetLayout destroy_descriptor_set_layout;
    PFN_vkCreateDescriptorPool create_descriptor_pool;
    PFN_vkDestroyDescriptorPool destroy_descriptor_pool;
    PFN_vkAllocateDescriptorSets allocate_descriptor_sets;
    PFN_vkUpdateDescriptorSets update_descriptor_sets;
    PFN_vkCmdBindDescriptorSets cmd_bind_descriptor_sets;
    PFN_vkCmdBindIndexBuffer cmd_bind_index_buffer;
    PFN_vkCmdDrawIndexed cmd_draw_indexed;
    PFN_vkCmdDrawIndexedIndirect cmd_draw_indexed_indirect;
    PFN_vkCmdCopyBufferToImage cmd_copy_buffer_to_image;
} pelt_bench_crowd_functions;

/* A part of the character. */
typedef struct pelt_bench_crowd_part {
    pelt_packed_mesh *packed;
    pelt_gpu_mesh mesh;
    pelt_buffer streams, indices;
    uint32_t index_count;
    size_t first_vertex; /* of all instances' */
} pelt_bench_crowd_part;

typedef struct pelt_bench_crowd_data {
    pelt_bench *bench;
    const pelt_bench_crowd_settings *settings;
    pelt_bench_crowd_functions vk;
    float view[16];
    double now;
    uint32_t part_count;
    pelt_bench_crowd_part *parts;
    double influences; /* of a vertex, on average */

    /* Posed and skinned. */
    pelt_pose_pass *pose_pass;
    pelt_rig *rig;
    pelt_pose_tables pose_tables;
    pelt_skin_tables skin_tables;
    pelt_buffer rig_data, pose_states, pose_table, pose_scratch, matrices;
    pelt_buffer skin_table, skin_scratch, animated;

    /* From palettes: one bake for each draw of them, with the same frames. */
    pelt_crowd_pass *crowd_pass;
    pelt_bake *bakes[PELT_BENCH_CROWD_FORM_COUNT];
    pelt_buffer crowd_data, members, instances, crowd_scratch, draws, part_meshes;

    /* To draw with. */
    pelt_bench_image palettes[PELT_BENCH_CROWD_FORM_COUNT];
    VkDescriptorSetLayout set_layout;
    VkDescriptorPool pool;
    VkDescriptorSet sets[PELT_BENCH_CROWD_FORM_COUNT];
    VkPipelineLayout layout;
    VkPipeline pipelines[PELT_BENCH_CROWD_FORM_COUNT];
    pelt_bench_target target;
} pelt_bench_crowd_data;

/* crowd_data.c */
pelt_result pelt_bench_crowd_data_create(pelt_bench *bench,
                                         const pelt_bench_crowd_settings *settings,
                                         pelt_bench_crowd_data *out);
void pelt_bench_crowd_data_destroy(pelt_bench_crowd_data *data);

/* What the skin pass needs for all instances, into data->animated. matrices: theirs, of 48 bytes,
 * or 64 with rotations. */
pelt_result pelt_bench_crowd_tables(const pelt_bench_crowd_data *data, VkDeviceAddress matrices,
                                    bool dual, pelt_skin_tables *tables, pelt_buffer *buffer);

/* Which form's palette one draws from. */
int pelt_bench_crowd_palette(int form);

/* crowd_draw.c */
pelt_result pelt_bench_crowd_draw_create(pelt_bench_crowd_data *data);
void pelt_bench_crowd_draw_destroy(pelt_bench_crowd_data *data);

/* Draws the crowd, with every triangle culled if pixels are not wanted. */
void pelt_bench_crowd_draw(const pelt_bench_crowd_data *data, pelt_bench_crowd_form form,
                           bool pixels, VkCommandBuffer commands);

/* Draws it and fetches the picture: 4 x width x height bytes. */
pelt_result pelt_bench_crowd_picture(const pelt_bench_crowd_data *data, pelt_bench_crowd_form form,
                                     uint8_t *rgba);

/* crowd_dual.c: skins all instances by dual quaternions, as data->matrices pose them. */
pelt_result pelt_bench_crowd_skin_dual(const pelt_bench_crowd_data *data);

/* crowd_check.c: a step of a frame, and a barrier behind it; all before a draw, at a moment. */
void pelt_bench_crowd_record(const pelt_bench_crowd_data *data, pelt_bench_crowd_form form,
                             bool pixels, VkCommandBuffer commands);
pelt_result pelt_bench_crowd_advance(pelt_bench_crowd_data *data, double now);

/* Compares all pictures with that of skinned vertices. One that differs is an error message. */
pelt_result pelt_bench_crowd_check(pelt_bench_crowd_data *data, pelt_bench_crowd_row *rows);

#endif
