/* What the bench's files share. */
#ifndef PELT_BENCH_INTERNAL_H
#define PELT_BENCH_INTERNAL_H

#include "base/base.h"
#include "bench/bench.h"
#include "bench/layout.h"
#include "vulkan/functions.h"

/* Entry points, by the device's own loader. */
typedef struct pelt_bench_functions {
    PFN_vkCreateShaderModule create_shader_module;
    PFN_vkDestroyShaderModule destroy_shader_module;
    PFN_vkCreatePipelineLayout create_pipeline_layout;
    PFN_vkDestroyPipelineLayout destroy_pipeline_layout;
    PFN_vkCreateComputePipelines create_compute_pipelines;
    PFN_vkDestroyPipeline destroy_pipeline;
    PFN_vkCreateQueryPool create_query_pool;
    PFN_vkDestroyQueryPool destroy_query_pool;
    PFN_vkGetQueryPoolResults get_query_pool_results;
    PFN_vkCmdResetQueryPool cmd_reset_query_pool;
    PFN_vkCmdWriteTimestamp cmd_write_timestamp;
    PFN_vkCmdBindPipeline cmd_bind_pipeline;
    PFN_vkCmdPushConstants cmd_push_constants;
    PFN_vkCmdDispatch cmd_dispatch;
    PFN_vkCmdPipelineBarrier cmd_pipeline_barrier;
    PFN_vkCmdCopyBuffer cmd_copy_buffer;
    PFN_vkCmdFillBuffer cmd_fill_buffer;
} pelt_bench_functions;

typedef enum pelt_bench_pipeline {
    BENCH_GLOBAL_ATOMICS,
    BENCH_GLOBAL_NO_BOX,
    BENCH_RESET_BOXES,
    BENCH_RESOLVE_BOXES,
    BENCH_STREAM,
    BENCH_COPY,
    BENCH_WIDEN,
    BENCH_COFACTOR,
    BENCH_INVERSE,
    BENCH_JOINT_INVERSES,
    BENCH_JOINT_COFACTORS,
    BENCH_PLAIN,
    BENCH_POSE_FLOOR_WRITES,
    BENCH_WAVE_ATOMICS, /* from here on: need subgroup arithmetic, votes and ballots */
    BENCH_SCALAR_PATH,
    BENCH_SCALAR_NO_BOX,
    BENCH_SEED,
    BENCH_SEED_NO_BOX,
    BENCH_SEED_REDUCE,
    BENCH_PIPELINE_COUNT
} pelt_bench_pipeline;

struct pelt_bench {
    const pelt_host *host;
    pelt_headless *device;
    pelt_bench_functions vk;
    bool subgroups; /* has what BENCH_WAVE_ATOMICS and those behind it need */
    VkPipelineLayout layout;
    VkPipeline pipelines[BENCH_PIPELINE_COUNT];
    VkQueryPool queries; /* two timestamps */
    pelt_skin_pass *pass;
};

/* PELT_OK for VK_SUCCESS, else an error that names the call. */
pelt_result pelt_bench_check_status(const pelt_bench *bench, VkResult status, const char *call);

/* Binds, pushes and dispatches groups of BENCH_GROUP, in two dimensions where there are many. */
void pelt_bench_dispatch(const pelt_bench *bench, VkCommandBuffer commands,
                         pelt_bench_pipeline pipeline, const void *constants, uint32_t size,
                         uint32_t groups);

/* Between compute dispatches; between anything. */
void pelt_bench_barrier(const pelt_bench *bench, VkCommandBuffer commands);
void pelt_bench_full_barrier(const pelt_bench *bench, VkCommandBuffer commands);

static inline uint32_t pelt_bench_groups(uint32_t threads)
{
    return threads / BENCH_GROUP + (threads % BENCH_GROUP != 0);
}

/* A reproducible 64-bit hash, and numbers from it in [0, 1). */
static inline uint64_t pelt_bench_hash(uint64_t value)
{
    value += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

static inline float pelt_bench_random(uint64_t *state)
{
    *state = pelt_bench_hash(*state);
    return (float)(*state >> 40) * 0x1p-24f;
}

/* -- units --------------------------------------------------------------------------------- */

/* A mesh before it is packed: four influences a vertex, weights multiples of 1/1024, which all
 * layouts hold exactly. */
typedef struct pelt_bench_vertices {
    uint32_t count;
    float *positions, *normals, *tangents; /* 3, 3, 4 */
    uint16_t *joints;
    float *weights; /* 4 each */
} pelt_bench_vertices;

pelt_result pelt_bench_vertices_create(const pelt_host *host, uint32_t count,
                                       pelt_bench_vertices *out);
void pelt_bench_vertices_destroy(const pelt_host *host, pelt_bench_vertices *vertices);

/* Random vertices whose neighbours share joints. */
void pelt_bench_make_vertices(pelt_bench_vertices *vertices, uint32_t joints, uint32_t influences,
                              uint64_t seed);

/* One mesh of a unit. Where its parts lie in the unit's streams, palette and joint boxes. */
typedef struct pelt_bench_mesh {
    pelt_packed_mesh *packed;
    pelt_joint_boxes *joint_boxes;
    uint32_t first_vertex;
    uint32_t first_joint_word;
    uint32_t first_matrix;
    uint32_t first_bind;
} pelt_bench_mesh;

/* The mixture's meshes: a body, a head, clothes, hair, hands, boots, a satchel, two eyes. */
enum { BENCH_MIXTURE_COUNT = 9 };
extern const uint32_t pelt_bench_mixture[BENCH_MIXTURE_COUNT];

/* What an instance is made of. */
typedef struct pelt_bench_unit {
    const pelt_host *host;
    uint32_t mesh_count;
    pelt_bench_mesh *meshes;
    uint32_t vertex_count, matrix_count, joint_word_count, bind_count;
    uint32_t named_count; /* matrices that a vertex names */
    uint32_t pose_count;  /* 0: made, one of its own for each instance */
    float *poses;         /* pose_count x matrix_count x 12 */
} pelt_bench_unit;

pelt_result pelt_bench_unit_create(const pelt_host *host, const pelt_bench_scene *scene,
                                   pelt_bench_unit **out);
void pelt_bench_unit_destroy(pelt_bench_unit *unit);

/* The palette of an instance, matrix_count x 12. */
void pelt_bench_unit_matrices(const pelt_bench_unit *unit, uint32_t instance, float *out);

/* The parts of glTF files: their vertices and poses. */
typedef struct pelt_bench_part {
    pelt_bench_vertices vertices;
    uint32_t first_matrix;
} pelt_bench_part;
typedef struct pelt_bench_files {
    const pelt_host *host;
    uint32_t part_count;
    pelt_bench_part *parts;
    uint32_t matrix_count;
    uint32_t pose_count;
    float *poses;
} pelt_bench_files;
pelt_result pelt_bench_files_read(const pelt_host *host, const char *const *paths, uint32_t count,
                                  pelt_bench_files *out);
void pelt_bench_files_destroy(pelt_bench_files *files);

/* -- data ---------------------------------------------------------------------------------- */

enum { BENCH_STREAM_SHAPES = 3 };

/* How the stream cuts meshes into chunks. */
typedef struct pelt_bench_shape {
    uint32_t lane_bits;
    uint32_t vertices;
    uint32_t chunk_count;
    pelt_buffer chunks;
} pelt_bench_shape;

/* A table of pelt's pass, with its scratch. */
typedef struct pelt_bench_tables {
    pelt_skin_tables tables;
    pelt_buffer table, scratch;
} pelt_bench_tables;

/* A scene in GPU memory, for all forms. Streams hold every mesh end to end. */
typedef struct pelt_bench_data {
    const pelt_bench *bench;
    const pelt_bench_unit *unit;
    uint32_t instances, source_instances;
    uint32_t mesh_count, vertex_count, matrix_count; /* of all instances */

    pelt_buffer vertices, tangents, weights, joints; /* pelt's */
    pelt_buffer positions, normals;                  /* the older forms' */
    pelt_buffer float_weights, wide_joints;          /* that of 2023 */
    pelt_buffer seed_weights, seed_joints;           /* the seed's */
    pelt_buffer rows, matrices, normal_matrices;     /* 3x4; 4x4 twice */
    pelt_buffer bind_boxes;                          /* for boxes from joints */
    pelt_buffer out_vertices, out_tangents;          /* pelt's; the older forms put */
    VkDeviceSize normals_at;                         /* positions, then normals there */
    pelt_buffer boxes, box_words, partials;          /* pelt_box a mesh; a group */
    pelt_buffer meshes, vertex_prefix, group_prefix, joint_table; /* tables of the forms */
    uint32_t group_count;
    pelt_bench_tables with_boxes, without_boxes;
    pelt_bench_shape shapes[BENCH_STREAM_SHAPES];
    uint32_t shape_count, shape; /* shape: the one in use */
    pelt_buffer normal_chunks;   /* what the ways of turning normals need */
    uint32_t normal_chunk_count;
    pelt_buffer inverse_palettes, cofactor_palettes;
    bool cofactors_fit; /* into half floats, those of all joints */
} pelt_bench_data;

pelt_result pelt_bench_data_create(const pelt_bench *bench, const pelt_bench_unit *unit,
                                   uint32_t instances, bool shared, pelt_bench_data *out);
void pelt_bench_data_destroy(pelt_bench_data *data);

/* One mesh of one instance, as the tables have it. */
struct bench_mesh pelt_bench_mesh_record(const pelt_bench_data *data, uint32_t instance,
                                         uint32_t mesh);

/* A new device buffer of count items, each written by the callback in pieces. */
typedef void (*pelt_bench_writer)(const void *user, uint32_t first, uint32_t count, void *out);
pelt_result pelt_bench_upload(const pelt_bench *bench, uint32_t count, uint32_t item_size,
                              pelt_bench_writer write, const void *user, pelt_buffer *out);

pelt_result pelt_bench_pelt_tables(pelt_bench_data *data);
pelt_result pelt_bench_joint_table(pelt_bench_data *data);
pelt_result pelt_bench_stream_tables(pelt_bench_data *data);

/* A table of chunks of so many vertices. */
pelt_result pelt_bench_chunks(const pelt_bench_data *data, uint32_t vertices, uint32_t *count,
                              pelt_buffer *out);

/* Makes what only the ways of turning normals read; nothing the second time. */
pelt_result pelt_bench_normals_create(pelt_bench_data *data);

/* -- variants ------------------------------------------------------------------------------ */

/* Whose formulas and outputs a variant has. Outputs are interleaved but for two. */
typedef enum pelt_bench_family {
    BENCH_FAMILY_PELT, /* normals by the cofactor of the blend, tangents by the blend, as in ... */
    BENCH_FAMILY_INVERSE,         /* by the inverse transpose of the blend */
    BENCH_FAMILY_JOINT_INVERSES,  /* by the blend of inverse transposes */
    BENCH_FAMILY_JOINT_COFACTORS, /* the blend of unit ones, by each joint's stored cofactors */
    BENCH_FAMILY_PLAIN,           /* ... these four; by the blend */
    BENCH_FAMILY_SEED,            /* apart; both by the cofactor of the blend */
    BENCH_FAMILY_ATOMICS,         /* apart; both by the blend of inverse transposes */
    BENCH_FAMILY_STREAM           /* the input itself */
} pelt_bench_family;

typedef struct pelt_bench_variant_entry {
    pelt_bench_variant_info info;
    pelt_bench_family family;
    bool needs_subgroups;
    void (*record)(const pelt_bench_data *data, VkCommandBuffer commands);
} pelt_bench_variant_entry;

/* In the order of the public indices. */
extern const pelt_bench_variant_entry pelt_bench_variants[PELT_BENCH_VARIANT_COUNT];
enum { BENCH_VARIANT_PELT, BENCH_VARIANT_STREAM, BENCH_VARIANT_SEED, BENCH_VARIANT_ATOMICS };

/* Each records one frame. */
void pelt_bench_record_global_atomics(const pelt_bench_data *data, VkCommandBuffer commands);
void pelt_bench_record_wave_atomics(const pelt_bench_data *data, VkCommandBuffer commands);
void pelt_bench_record_scalar_path(const pelt_bench_data *data, VkCommandBuffer commands);
void pelt_bench_record_global_no_box(const pelt_bench_data *data, VkCommandBuffer commands);
void pelt_bench_record_scalar_no_box(const pelt_bench_data *data, VkCommandBuffer commands);
void pelt_bench_record_seed(const pelt_bench_data *data, VkCommandBuffer commands);
void pelt_bench_record_seed_no_box(const pelt_bench_data *data, VkCommandBuffer commands);
void pelt_bench_record_pelt(const pelt_bench_data *data, VkCommandBuffer commands);
void pelt_bench_record_pelt_no_box(const pelt_bench_data *data, VkCommandBuffer commands);
void pelt_bench_record_per_joint(const pelt_bench_data *data, VkCommandBuffer commands);
void pelt_bench_record_cofactor(const pelt_bench_data *data, VkCommandBuffer commands);
void pelt_bench_record_inverse(const pelt_bench_data *data, VkCommandBuffer commands);
void pelt_bench_record_joint_inverses(const pelt_bench_data *data, VkCommandBuffer commands);
void pelt_bench_record_joint_cofactors(const pelt_bench_data *data, VkCommandBuffer commands);
void pelt_bench_record_plain(const pelt_bench_data *data, VkCommandBuffer commands);
void pelt_bench_record_stream(const pelt_bench_data *data, VkCommandBuffer commands);

/* The palettes that a family's normals need. */
const pelt_buffer *pelt_bench_normal_palettes(const pelt_bench_data *data,
                                              pelt_bench_family family);

/* A joint's cofactor matrix as its palette stores it. */
void pelt_bench_stored_cofactors(const float *matrix, double out[9]);

/* Bytes that a variant must move: distinct ones of sources, matrices, outputs and boxes. */
uint64_t pelt_bench_bytes(const pelt_bench_data *data, uint32_t variant);

/* -- checks and times ---------------------------------------------------------------------- */

/* Expected results for a sample of the instances. */
typedef struct pelt_bench_check pelt_bench_check;
pelt_result pelt_bench_check_create(const pelt_bench_data *data, pelt_bench_check **out);
void pelt_bench_check_destroy(pelt_bench_check *check);
uint32_t pelt_bench_check_vertices(const pelt_bench_check *check);

/* Runs a variant and compares; what is wrong is reported as an error. pelt comes first: the others
 * are compared with it. */
pelt_result pelt_bench_check_variant(pelt_bench_check *check, uint32_t variant, const char *scene,
                                     pelt_bench_row *row);

/* Seconds that what a callback records takes when repeated so often. */
pelt_result pelt_bench_measure(const pelt_bench *bench, uint32_t repeats,
                               void (*record)(const void *user, VkCommandBuffer commands),
                               const void *user, double *out);

/* Likewise, of a frame of a variant. */
pelt_result pelt_bench_sample(const pelt_bench_data *data, uint32_t variant, uint32_t repeats,
                              double *out);

/* Sorts. */
pelt_bench_times pelt_bench_statistics(double *values, uint32_t count);

#endif
