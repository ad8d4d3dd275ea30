/* What the cull pass of the cluster bench lists, and whether it is skinned as the skin pass does.
 */
#include "bench/clusters_internal.h"

#include <stdlib.h>

#include <string.h>

enum { SAMPLES = 64 };

static const pelt_cluster *cluster_of(const pelt_bench_clusters_data *data,
                                      const pelt_visible_cluster *visible)
{
    const pelt_bench_clusters_part *part = &data->parts[visible->instance % data->part_count];
    return &part->clusters->clusters[visible->cluster];
}

static void count(const pelt_bench_clusters_data *data, const pelt_visible_cluster *list,
                  uint32_t listed, pelt_bench_clusters_row *row)
{
    uint32_t last = UINT32_MAX;
    row->clusters = listed;
    row->vertices = row->triangles = row->instances = 0;
    for (uint32_t i = 0; i < listed; i++) {
        const pelt_cluster *cluster = cluster_of(data, &list[i]);
        uint32_t instance = list[i].instance / data->part_count;
        row->vertices += cluster->vertex_count;
        row->triangles += cluster->triangle_count;
        row->instances += instance != last;
        last = instance;
    }
}

/* One cluster of the list against the vertices of its instance. all: room for those. */
static pelt_result compare(const pelt_bench_clusters_data *data,
                           const pelt_visible_cluster *visible, uint32_t place,
                           pelt_packed_vertex *all, bool *same)
{
    if (data->part_count == 0) {
        return PELT_ERROR_ARGUMENT;
    }
    pelt_headless *device = data->bench->device;
    const pelt_bench_clusters_part *part = &data->parts[visible->instance % data->part_count];
    const pelt_cluster *cluster = cluster_of(data, visible);
    pelt_packed_vertex slot[PELT_CLUSTER_SLOT];
    size_t vertices = part->packed->vertex_count;
    size_t first = part->first_vertex + visible->instance / data->part_count * vertices;
    pelt_result result = pelt_buffer_download(device, &data->vertices, place * sizeof(slot), slot,
                                              cluster->vertex_count * sizeof(*slot));
    if (result == PELT_OK) {
        result = pelt_buffer_download(device, &data->animated, first * sizeof(*all), all,
                                      vertices * sizeof(*all));
    }
    for (uint32_t v = 0; result == PELT_OK && v < cluster->vertex_count; v++) {
        uint32_t vertex = part->clusters->vertex_table[cluster->first_vertex + v];
        *same = *same && memcmp(&slot[v], &all[vertex], sizeof(*slot)) == 0;
    }
    return result;
}

static pelt_result compare_samples(const pelt_bench_clusters_data *data,
                                   const pelt_visible_cluster *list, uint32_t listed, bool *same)
{
    uint32_t most = 0;
    for (uint32_t p = 0; p < data->part_count; p++) {
        uint32_t vertices = data->parts[p].packed->vertex_count;
        most = vertices > most ? vertices : most;
    }
    pelt_packed_vertex *all = pelt_allocate(data->bench->host, most, sizeof(*all));
    pelt_result result = all ? PELT_OK : PELT_ERROR_MEMORY;
    uint32_t samples = listed < SAMPLES ? listed : SAMPLES;
    for (uint32_t i = 0; result == PELT_OK && i < samples; i++) {
        uint32_t place = (uint32_t)((uint64_t)i * listed / samples);
        result = compare(data, &list[place], place, all, same);
    }
    pelt_release(data->bench->host, all);
    return result;
}

/* -- pictures ------------------------------------------------------------------------------ */

static pelt_result draw(const pelt_bench_clusters_data *data, pelt_bench_cluster_stage stage,
                        uint32_t *pixels, size_t size)
{
    VkCommandBuffer commands;
    pelt_result result = pelt_commands_begin(data->bench->device, &commands);
    if (result == PELT_OK) {
        pelt_bench_clusters_record(data, stage, commands);
        pelt_bench_target_fetch(&data->draw.target, commands);
        result = pelt_commands_submit(data->bench->device, commands);
    }
    if (result == PELT_OK) {
        memcpy(pixels, data->draw.target.pixels.mapped, size);
    }
    return result;
}

/* Pixels of which a channel differs by more than that. */
static uint64_t differences(const uint32_t *a, const uint32_t *b, size_t count, int allowed)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        bool differs = false;
        for (int shift = 0; shift < 32; shift += 8) {
            int difference = (int)(a[i] >> shift & 255) - (int)(b[i] >> shift & 255);
            differs = differs || abs(difference) > allowed;
        }
        sum += differs;
    }
    return sum;
}

/* Behind the stages that skin, of a view of the finest level: drawn from vertices, all or those of
 * the list, it is the same picture; so it is by meshes, culled or not, and the two hardly differ.
 */
static pelt_result compare_pictures(const pelt_bench_clusters_data *data,
                                    pelt_bench_clusters_row *row)
{
    size_t count = (size_t)data->draw.target.width * data->draw.target.height;
    uint32_t *pictures[PELT_BENCH_STAGE_COUNT] = { NULL };
    pelt_result result = PELT_OK;
    for (int i = PELT_BENCH_STAGE_DRAW; i <= PELT_BENCH_STAGE_SHARED && result == PELT_OK; i++) {
        pictures[i] = pelt_allocate(data->bench->host, count, sizeof(uint32_t));
        result = !pictures[i] ? PELT_ERROR_MEMORY
                 : pelt_bench_clusters_has(data, i)
                     ? draw(data, (pelt_bench_cluster_stage)i, pictures[i], 4 * count)
                     : PELT_OK;
    }
    if (result == PELT_OK && data->draw.drawable) {
        uint32_t **p = pictures;
        row->checked = row->checked && differences(p[PELT_BENCH_STAGE_DRAW],
                                                   p[PELT_BENCH_STAGE_LISTED], count, 0) == 0;
    }
    if (result == PELT_OK && data->draw.drawable && data->draw.meshes) {
        /* The skin pass's normals have ten bits. */
        enum { ROUNDED = 2 };
        const uint32_t *all = pictures[PELT_BENCH_STAGE_ALL];
        row->differs = (double)differences(pictures[PELT_BENCH_STAGE_DRAW], all, count, ROUNDED) /
                       (double)count;
        row->checked = row->checked && row->differs <= PELT_BENCH_CLUSTERS_DIFFERS &&
                       differences(all, pictures[PELT_BENCH_STAGE_MESH], count, 0) == 0 &&
                       differences(all, pictures[PELT_BENCH_STAGE_SHARED], count, 0) == 0;
    }
    for (int i = 0; i < PELT_BENCH_STAGE_COUNT; i++) {
        pelt_release(data->bench->host, pictures[i]);
    }
    return result;
}

pelt_result pelt_bench_clusters_check(const pelt_bench_clusters_data *data, bool finest,
                                      pelt_bench_clusters_row *row)
{
    const pelt_host *host = data->bench->host;
    pelt_headless *device = data->bench->device;
    VkCommandBuffer commands;
    pelt_cluster_counts counts;
    pelt_result result = pelt_commands_begin(device, &commands);
    if (result != PELT_OK) {
        return result;
    }
    for (int stage = 0; stage < PELT_BENCH_STAGE_DRAW; stage++) {
        pelt_bench_clusters_record(data, (pelt_bench_cluster_stage)stage, commands);
    }
    result = pelt_commands_submit(device, commands);
    if (result == PELT_OK) {
        result = pelt_buffer_download(device, &data->counts, 0, &counts, sizeof(counts));
    }
    if (result != PELT_OK) {
        return result;
    }
    pelt_visible_cluster *list = pelt_allocate(host, counts.listed, sizeof(*list));
    result = list ? PELT_OK : PELT_ERROR_MEMORY;
    if (result == PELT_OK && counts.listed > 0) {
        result =
            pelt_buffer_download(device, &data->visible, 0, list, counts.listed * sizeof(*list));
    }
    row->checked = counts.listed == counts.visible;
    if (result == PELT_OK) {
        count(data, list, counts.listed, row);
        result = compare_samples(data, list, counts.listed, &row->checked);
    }
    pelt_release(host, list);
    if (result == PELT_OK && finest && data->draw.drawable) {
        result = compare_pictures(data, row);
    }
    return result;
}
