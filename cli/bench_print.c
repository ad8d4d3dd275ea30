/* What pelt bench found, as JSON and as plots; what there is to ask for. */
#include "cli/bench.h"

#ifdef PELT_HAVE_VULKAN

#include <string.h>

static const char *const bounds_names[] = { "none", "exact", "joints" };

enum { DIGITS = 6 }; /* of times */

static void write_times(pelt_json *json, const pelt_bench_times *times)
{
    pelt_json_rounded(json, "seconds", times->median, DIGITS);
    pelt_json_rounded(json, "least", times->least, DIGITS);
    pelt_json_rounded(json, "quarter", times->quarter, DIGITS);
    pelt_json_rounded(json, "threeQuarters", times->three_quarters, DIGITS);
    pelt_json_rounded(json, "most", times->most, DIGITS);
}

static void write_ratio(pelt_json *json, const char *key, double value)
{
    if (value > 0.0) {
        pelt_json_rounded(json, key, value, 4);
    }
}

static void write_row(pelt_json *json, const pelt_bench_result *result, uint32_t variant)
{
    const pelt_bench_row *row = &result->rows[variant];
    const pelt_bench_variant_info *info = pelt_bench_variant(variant);
    pelt_json_object_line(json, NULL);
    pelt_json_text(json, "name", info->name);
    pelt_json_text(json, "box", bounds_names[info->bounds]);
    if (!row->measured) {
        pelt_json_text(json, "notMeasured", row->reason);
        pelt_json_close(json);
        return;
    }
    pelt_bench_ratios ratios = pelt_bench_compare(result, variant);
    write_times(json, &row->times);
    pelt_json_rounded(json, "verticesPerSecond", (double)result->vertices / row->times.median,
                      DIGITS);
    pelt_json_integer(json, "bytes", (int64_t)row->bytes);
    pelt_json_rounded(json, "bytesPerSecond", (double)row->bytes / row->times.median, DIGITS);
    write_ratio(json, "ofStream", ratios.of_stream);
    write_ratio(json, "fasterThanSeed", ratios.than_seed);
    write_ratio(json, "fasterThanAtomics", ratios.than_atomics);
    pelt_json_integer(json, "repeats", row->repeats);
    pelt_json_bool(json, "checked", row->checked);
    pelt_json_rounded(json, "positionError", row->position_error, 3);
    pelt_json_close(json);
}

static void write_scene(pelt_json *json, const pelt_bench_result *result)
{
    const pelt_bench_scene *scene = &result->scene;
    pelt_json_object(json, NULL);
    pelt_json_text(json, "name", scene->name);
    pelt_json_integer(json, "instances", scene->instances);
    pelt_json_integer(json, "meshes", result->meshes);
    pelt_json_integer(json, "vertices", (int64_t)result->vertices);
    if (scene->file_count == 0 && !scene->mixture) {
        pelt_json_integer(json, "verticesPerMesh", scene->vertices);
    }
    pelt_json_text(json, "sources", scene->shared ? "shared" : "own");
    pelt_json_integer(json, "sourceVertices", (int64_t)result->source_vertices);
    pelt_json_integer(json, "matrices", (int64_t)result->matrices);
    pelt_json_list(json, "files");
    for (uint32_t i = 0; i < scene->file_count; i++) {
        pelt_json_text(json, NULL, scene->files[i]);
    }
    pelt_json_close(json);
    pelt_json_rounded(json, "dividedBy", result->scale, DIGITS);
    pelt_json_integer(json, "verticesChecked", result->vertices_checked);
    pelt_json_object_line(json, "clocks");
    pelt_json_rounded(json, "warmUpSeconds", result->warm_up, 3);
    pelt_json_rounded(json, "firstOverMedian", result->first_over_settled, 4);
    pelt_json_rounded(json, "drift", result->drift, 3);
    pelt_json_close(json);
    if (result->rows[pelt_bench_find_variant("stream")].measured) {
        pelt_json_object_line(json, "streamShape");
        pelt_json_integer(json, "lanes", result->stream_lanes);
        pelt_json_integer(json, "chunkVertices", result->stream_vertices);
        pelt_json_close(json);
    }
    pelt_json_list(json, "variants");
    for (uint32_t v = 0; v < PELT_BENCH_VARIANT_COUNT; v++) {
        if (result->rows[v].measured || result->rows[v].reason) {
            write_row(json, result, v);
        }
    }
    pelt_json_close(json);
    pelt_json_close(json);
}

void pelt_bench_write_json(const pelt_report *report, const pelt_bench_report *bench, FILE *stream)
{
    pelt_json json;
    pelt_json_begin(&json, stream);
    pelt_json_text(&json, "pelt", pelt_version());
    pelt_json_text(&json, "device", bench->device);
    pelt_json_integer(&json, "subgroupSize", bench->subgroup_size);
    pelt_json_bool(&json, "software", bench->is_software);
    pelt_json_object_line(&json, "copy");
    pelt_json_text(&json, "by", bench->copy.by_command ? "vkCmdCopyBuffer" : "shader");
    pelt_json_integer(&json, "bytes", (int64_t)bench->copy.size);
    write_times(&json, &bench->copy.times);
    pelt_json_rounded(&json, "bytesPerSecond",
                      2.0 * (double)bench->copy.size / bench->copy.times.median, DIGITS);
    pelt_json_close(&json);
    pelt_json_integer(&json, "rounds", bench->rounds);
    pelt_json_list(&json, "scenes");
    for (uint32_t i = 0; i < bench->result_count; i++) {
        write_scene(&json, &bench->results[i]);
    }
    pelt_json_close(&json);
    pelt_report_warnings(report, &json);
    pelt_json_end(&json);
}

pelt_result pelt_bench_write_plots(const pelt_report *report, const pelt_bench_report *bench,
                                   const char *folder)
{
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < bench->result_count;) {
        uint32_t points = 0;
        while (i + points < bench->result_count && bench->results[i + points].scene.sweep) {
            points++;
        }
        result = points > 0 ? pelt_bench_plot_sweep(&report->host, folder, bench->device,
                                                    &bench->results[i], points)
                            : pelt_bench_plot_scene(&report->host, folder, bench->device,
                                                    &bench->results[i]);
        i += points > 0 ? points : 1;
    }
    return result;
}

static void list_json(void)
{
    pelt_json json;
    pelt_json_begin(&json, stdout);
    pelt_json_list(&json, "scenes");
    for (uint32_t i = 0; i < pelt_bench_preset_count; i++) {
        pelt_json_object_line(&json, NULL);
        pelt_json_text(&json, "name", pelt_bench_presets[i].name);
        pelt_json_text(&json, "summary", pelt_bench_presets[i].summary);
        pelt_json_close(&json);
    }
    pelt_json_close(&json);
    pelt_json_list(&json, "variants");
    for (uint32_t i = 0; i < PELT_BENCH_VARIANT_COUNT; i++) {
        const pelt_bench_variant_info *info = pelt_bench_variant(i);
        pelt_json_object_line(&json, NULL);
        pelt_json_text(&json, "name", info->name);
        pelt_json_text(&json, "box", bounds_names[info->bounds]);
        pelt_json_bool(&json, "onlyIfAsked", info->of_normals);
        pelt_json_text(&json, "summary", info->summary);
        pelt_json_close(&json);
    }
    pelt_json_close(&json);
    pelt_json_end(&json);
}

static void print_variants(bool of_normals)
{
    for (uint32_t i = 0; i < PELT_BENCH_VARIANT_COUNT; i++) {
        const pelt_bench_variant_info *info = pelt_bench_variant(i);
        if (info->of_normals == of_normals) {
            printf("  %-15s %s\n", info->name, info->summary);
        }
    }
}

void pelt_bench_print_list(const pelt_report *report, bool json)
{
    if (json) {
        list_json();
        return;
    }
    const char *bold = pelt_report_style(report, PELT_BOLD);
    const char *plain = pelt_report_style(report, PELT_PLAIN);
    printf("%sScenes:%s\n", bold, plain);
    for (uint32_t i = 0; i < pelt_bench_preset_count; i++) {
        printf("  %-15s %s\n", pelt_bench_presets[i].name, pelt_bench_presets[i].summary);
    }
    printf("  %-15s 10,000,000 vertices in meshes of 1 to 1,000,000\n", "sweep");
    printf("  %-15s all of these\n", "all");
    printf("\n%sVariants:%s\n", bold, plain);
    print_variants(false);
    printf("\n%sVariants that turn normals otherwise%s, only if asked for; all of them: normals\n",
           bold, plain);
    print_variants(true);
}

void pelt_bench_print_byte_table(bool json)
{
    if (!json) {
        pelt_bench_print_bytes(stdout);
        return;
    }
    pelt_json out;
    pelt_json_begin(&out, stdout);
    pelt_json_list(&out, "streams");
    for (uint32_t i = 0; i < PELT_BENCH_STREAM_COUNT; i++) {
        const pelt_bench_stream_bytes *row = &pelt_bench_streams[i];
        pelt_json_object_line(&out, NULL);
        pelt_json_text(&out, "name", row->name);
        pelt_json_integer(&out, "atomics", row->atomics);
        pelt_json_integer(&out, "seed", row->seed);
        pelt_json_integer(&out, "pelt", row->pelt);
        pelt_json_close(&out);
    }
    pelt_json_close(&out);
    pelt_json_end(&out);
}

#endif
