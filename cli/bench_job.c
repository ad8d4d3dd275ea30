/* What the commands beside pelt bench itself have in common. */
#include "cli/bench.h"

#ifdef PELT_HAVE_VULKAN

#include "cli/backend_vulkan.h"
#include "sample/sample.h"

#include <pelt/gltf.h>

enum { DIGITS = 6 };

pelt_result pelt_bench_open_character(pelt_report *report, const char *file, uint32_t vertices,
                                      pelt_model **out)
{
    const pelt_host *host = &report->host;
    if (!file) {
        return pelt_sample_create(host, &(pelt_sample_info){ .vertices = vertices }, out);
    }
    pelt_result result = pelt_gltf_read(host, file, out);
    if (result == PELT_OK) {
        result = pelt_model_add_normals(*out);
        if (result != PELT_OK) {
            pelt_model_destroy(*out);
            *out = NULL;
        }
    }
    return result;
}

void pelt_bench_on_progress(void *user, const char *scene, const char *what)
{
    pelt_report_progress(user, "%s: %s", scene, what);
}

void pelt_bench_write_statistics(pelt_json *json, const pelt_bench_times *times)
{
    pelt_json_rounded(json, "seconds", times->median, DIGITS);
    pelt_json_rounded(json, "least", times->least, DIGITS);
    pelt_json_rounded(json, "quarter", times->quarter, DIGITS);
    pelt_json_rounded(json, "threeQuarters", times->three_quarters, DIGITS);
    pelt_json_rounded(json, "most", times->most, DIGITS);
}

void pelt_bench_write_times(pelt_json *json, const char *name, const pelt_bench_times *times)
{
    pelt_json_object_line(json, name);
    pelt_bench_write_statistics(json, times);
    pelt_json_close(json);
}

static pelt_result measure(pelt_report *report, const pelt_bench_job *job, pelt_headless *device)
{
    pelt_bench *bench = NULL;
    pelt_describe_device(device, job->device, PELT_BENCH_DEVICE_SIZE);
    pelt_result result = pelt_bench_create(&report->host, device, &bench);
    if (result == PELT_OK) {
        result = job->measure(report, device, bench, job->user);
    }
    pelt_report_progress(report, NULL);
    pelt_bench_destroy(bench);
    return result;
}

pelt_result pelt_bench_run_job(pelt_report *report, const pelt_bench_job *job)
{
    const pelt_host *host = &report->host;
    pelt_headless *device = NULL;
    pelt_output output = { 0 };
    pelt_result result = job->output ? pelt_output_open(host, job->output, &output) : PELT_OK;
    if (result == PELT_OK) {
        result = pelt_open_device(host, &device);
    }
    if (result == PELT_OK) {
        result = measure(report, job, device);
    }
    if (result == PELT_OK && job->output) {
        job->write_json(report, job->user, output.stream);
        result = pelt_output_commit(&output);
    } else {
        pelt_output_discard(&output);
    }
    if (result == PELT_OK && job->json) {
        job->write_json(report, job->user, stdout);
    } else if (result == PELT_OK) {
        job->print_text(report, job->user);
    }
    pelt_vulkan_close(device);
    return result == PELT_OK && !job->all_checked(job->user) ? PELT_ERROR_FILE : result;
}

#endif
