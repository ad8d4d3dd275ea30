/* The crowd's vertices skinned by dual quaternions: what a picture of those is compared with. The
 * pose pass writes no rotations, so they are taken out of its matrices here. */
#include "bench/crowd_internal.h"

enum { ROWS = 12, ROWS_AND_ROTATION = 16 };

static pelt_result make_palettes(const pelt_bench_crowd_data *data, pelt_buffer *out)
{
    const pelt_host *host = data->bench->host;
    pelt_headless *device = data->bench->device;
    uint32_t count = data->settings->instances * data->rig->matrix_count;
    size_t size = (size_t)count * ROWS_AND_ROTATION * sizeof(float);
    float *matrices = pelt_allocate(host, count, ROWS * sizeof(*matrices));
    float *palettes = pelt_allocate(host, count, ROWS_AND_ROTATION * sizeof(*palettes));
    pelt_result result = matrices && palettes ? PELT_OK : PELT_ERROR_MEMORY;
    if (result == PELT_OK) {
        result = pelt_buffer_download(device, &data->matrices, 0, matrices,
                                      (size_t)count * ROWS * sizeof(*matrices));
    }
    if (result == PELT_OK) {
        pelt_skin_dual_palette(matrices, count, palettes);
        result = pelt_buffer_create(device, size, 0, PELT_MEMORY_DEVICE, out);
    }
    if (result == PELT_OK) {
        result = pelt_buffer_upload(device, out, 0, palettes, size);
    }
    pelt_release(host, palettes);
    pelt_release(host, matrices);
    return result;
}

pelt_result pelt_bench_crowd_skin_dual(const pelt_bench_crowd_data *data)
{
    pelt_headless *device = data->bench->device;
    pelt_buffer palettes = { 0 }, table = { 0 }, scratch = { 0 };
    pelt_skin_tables tables;
    VkCommandBuffer commands;
    pelt_result result = make_palettes(data, &palettes);
    if (result == PELT_OK) {
        result = pelt_bench_crowd_tables(data, palettes.address, true, &tables, &table);
    }
    if (result == PELT_OK) {
        result = pelt_buffer_create(device, tables.scratch_size, 0, PELT_MEMORY_DEVICE, &scratch);
    }
    if (result == PELT_OK) {
        result = pelt_commands_begin(device, &commands);
    }
    if (result == PELT_OK) {
        pelt_cmd_skin(data->bench->pass, commands, &tables, table.address, scratch.address);
        pelt_bench_full_barrier(data->bench, commands);
        result = pelt_commands_submit(device, commands);
    }
    pelt_buffer_destroy(device, &scratch);
    pelt_buffer_destroy(device, &table);
    pelt_buffer_destroy(device, &palettes);
    return result;
}
