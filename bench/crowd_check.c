/* The steps of the crowd bench, and whether what they draw is the same picture. */
#include "bench/crowd_internal.h"

#include <stdlib.h>

static void record_find(const pelt_bench_crowd_data *data, VkCommandBuffer commands)
{
    const pelt_crowd_frame frame = { .data = data->crowd_data.address,
                                     .members = data->members.address,
                                     .member_count = data->settings->instances,
                                     .instances = data->instances.address,
                                     .scratch = data->crowd_scratch.address,
                                     .draws = data->draws.address,
                                     .draw_count = data->part_count,
                                     .now = data->now,
                                     .view = data->view,
                                     .interpolation = PELT_BAKE_LERP };
    pelt_cmd_crowd(data->crowd_pass, commands, &frame);
}

void pelt_bench_crowd_record(const pelt_bench_crowd_data *data, pelt_bench_crowd_form form,
                             bool pixels, VkCommandBuffer commands)
{
    const pelt_pose_frame pose = { .now = data->now, .all = true };
    switch (form) {
    case PELT_BENCH_CROWD_POSE:
        pelt_cmd_pose(data->pose_pass, commands, &data->pose_tables, data->pose_table.address,
                      data->pose_states.address, data->pose_scratch.address, &pose);
        break;
    case PELT_BENCH_CROWD_SKIN:
        pelt_cmd_skin(data->bench->pass, commands, &data->skin_tables, data->skin_table.address,
                      data->skin_scratch.address);
        break;
    case PELT_BENCH_CROWD_FIND:
        record_find(data, commands);
        break;
    default:
        pelt_bench_crowd_draw(data, form, pixels, commands);
        pelt_bench_full_barrier(data->bench, commands);
        return;
    }
    pelt_bench_barrier(data->bench, commands);
}

pelt_result pelt_bench_crowd_advance(pelt_bench_crowd_data *data, double now)
{
    VkCommandBuffer commands;
    data->now = now;
    pelt_result result = pelt_commands_begin(data->bench->device, &commands);
    if (result != PELT_OK) {
        return result;
    }
    for (int f = 0; f < PELT_BENCH_CROWD_DRAW; f++) {
        pelt_bench_crowd_record(data, (pelt_bench_crowd_form)f, false, commands);
    }
    return pelt_commands_submit(data->bench->device, commands);
}

static void compare(const pelt_bench_crowd_data *data, int form, const uint8_t *wanted,
                    const uint8_t *found, size_t size, pelt_bench_crowd_row *row)
{
    enum { MUCH = 16 }; /* of 256 levels */
    size_t differing = 0;
    for (size_t i = 0; i < size; i++) {
        differing += abs(wanted[i] - found[i]) > MUCH;
    }
    row->differs = (double)differing / (double)size;
    row->checked = row->differs < PELT_BENCH_CROWD_DIFFERS;
    if (!row->checked) {
        (void)pelt_fail(data->bench->host, PELT_ERROR_FILE, NULL, NULL,
                        "%s: %.3g %% of the picture is not that of skinned vertices",
                        pelt_bench_crowd_forms[form].name, 100 * row->differs);
    }
}

/* Everyone is at a frame at the moment 0. */
pelt_result pelt_bench_crowd_check(pelt_bench_crowd_data *data, pelt_bench_crowd_row *rows)
{
    size_t size = (size_t)4 * data->settings->width * data->settings->height;
    uint8_t *wanted = pelt_allocate(data->bench->host, size, 1);
    uint8_t *found = pelt_allocate(data->bench->host, size, 1);
    pelt_result result = wanted && found ? pelt_bench_crowd_advance(data, 0) : PELT_ERROR_MEMORY;
    if (result == PELT_OK) {
        result = pelt_bench_crowd_picture(data, PELT_BENCH_CROWD_SKINNED, wanted);
    }
    for (int f = 0; f < PELT_BENCH_CROWD_FORM_COUNT && result == PELT_OK; f++) {
        rows[f].checked = true; /* what has no picture is seen in those of others */
        if (f == PELT_BENCH_CROWD_DUAL) {
            result = pelt_bench_crowd_skin_dual(data);
            if (result == PELT_OK) {
                result = pelt_bench_crowd_picture(data, PELT_BENCH_CROWD_SKINNED, wanted);
            }
        }
        if (result == PELT_OK && f > PELT_BENCH_CROWD_SKINNED) {
            result = pelt_bench_crowd_picture(data, (pelt_bench_crowd_form)f, found);
            compare(data, f, wanted, found, size, &rows[f]);
        }
    }
    pelt_release(data->bench->host, found);
    pelt_release(data->bench->host, wanted);
    return result;
}
