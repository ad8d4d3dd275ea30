/* The forms that pelt is compared with: atomics as of 2023, what became of them until 2025, and the
 * seed's. */
#include "bench/internal.h"

/* One invocation a mesh. */
static void record_box_pass(const pelt_bench_data *data, VkCommandBuffer commands,
                            pelt_bench_pipeline pipeline)
{
    const struct bench_box_constants constants = {
        .from = data->box_words.address,
        .to = pipeline == BENCH_RESET_BOXES ? data->box_words.address : data->boxes.address,
        .mesh_count = data->mesh_count,
    };
    pelt_bench_dispatch(data->bench, commands, pipeline, &constants, sizeof(constants),
                        pelt_bench_groups(data->mesh_count));
}

static void record_vertices(const pelt_bench_data *data, VkCommandBuffer commands,
                            pelt_bench_pipeline pipeline)
{
    const struct bench_atomics_constants constants = {
        .meshes = data->meshes.address,
        .prefix = data->vertex_prefix.address,
        .positions = data->positions.address,
        .normals = data->normals.address,
        .tangents = data->tangents.address,
        .weights = data->float_weights.address,
        .joints = data->wide_joints.address,
        .matrices = data->matrices.address,
        .normal_matrices = data->normal_matrices.address,
        .out_positions = data->out_vertices.address,
        .out_normals = data->out_vertices.address + data->normals_at,
        .out_tangents = data->out_tangents.address,
        .boxes = data->box_words.address,
        .mesh_count = data->mesh_count,
        .vertex_count = data->vertex_count,
    };
    pelt_bench_dispatch(data->bench, commands, pipeline, &constants, sizeof(constants),
                        pelt_bench_groups(data->vertex_count));
}

static void record_atomics(const pelt_bench_data *data, VkCommandBuffer commands,
                           pelt_bench_pipeline pipeline)
{
    record_box_pass(data, commands, BENCH_RESET_BOXES);
    pelt_bench_barrier(data->bench, commands);
    record_vertices(data, commands, pipeline);
    pelt_bench_barrier(data->bench, commands);
    record_box_pass(data, commands, BENCH_RESOLVE_BOXES);
}

void pelt_bench_record_global_atomics(const pelt_bench_data *data, VkCommandBuffer commands)
{
    record_atomics(data, commands, BENCH_GLOBAL_ATOMICS);
}

void pelt_bench_record_wave_atomics(const pelt_bench_data *data, VkCommandBuffer commands)
{
    record_atomics(data, commands, BENCH_WAVE_ATOMICS);
}

void pelt_bench_record_scalar_path(const pelt_bench_data *data, VkCommandBuffer commands)
{
    record_atomics(data, commands, BENCH_SCALAR_PATH);
}

void pelt_bench_record_global_no_box(const pelt_bench_data *data, VkCommandBuffer commands)
{
    record_vertices(data, commands, BENCH_GLOBAL_NO_BOX);
}

void pelt_bench_record_scalar_no_box(const pelt_bench_data *data, VkCommandBuffer commands)
{
    record_vertices(data, commands, BENCH_SCALAR_NO_BOX);
}

static void record_seed(const pelt_bench_data *data, VkCommandBuffer commands,
                        pelt_bench_pipeline pipeline)
{
    const struct bench_seed_constants constants = {
        .meshes = data->meshes.address,
        .prefix = data->group_prefix.address,
        .positions = data->positions.address,
        .normals = data->normals.address,
        .tangents = data->tangents.address,
        .weights = data->seed_weights.address,
        .joints = data->seed_joints.address,
        .rows = data->rows.address,
        .out_positions = data->out_vertices.address,
        .out_normals = data->out_vertices.address + data->normals_at,
        .out_tangents = data->out_tangents.address,
        .partials = data->partials.address,
        .mesh_count = data->mesh_count,
        .group_count = data->group_count,
    };
    pelt_bench_dispatch(data->bench, commands, pipeline, &constants, sizeof(constants),
                        data->group_count);
}

void pelt_bench_record_seed(const pelt_bench_data *data, VkCommandBuffer commands)
{
    record_seed(data, commands, BENCH_SEED);
    pelt_bench_barrier(data->bench, commands);
    const struct bench_box_constants constants = {
        .prefix = data->group_prefix.address,
        .from = data->partials.address,
        .to = data->boxes.address,
        .mesh_count = data->mesh_count,
    };
    pelt_bench_dispatch(data->bench, commands, BENCH_SEED_REDUCE, &constants, sizeof(constants),
                        data->mesh_count);
}

void pelt_bench_record_seed_no_box(const pelt_bench_data *data, VkCommandBuffer commands)
{
    record_seed(data, commands, BENCH_SEED_NO_BOX);
}
