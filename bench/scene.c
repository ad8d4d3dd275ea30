/* The scenes, by name. */
#include "bench/internal.h"

#include <string.h>

enum { CHARACTER_JOINTS = 64 };

const pelt_bench_scene pelt_bench_presets[] = {
    { .name = "crowd-own",
      .summary = "1,000 characters of 20,000 vertices, each its own source",
      .instances = 1000,
      .vertices = 20000,
      .joints = CHARACTER_JOINTS },
    { .name = "crowd-shared",
      .summary = "the same of one source mesh",
      .instances = 1000,
      .vertices = 20000,
      .joints = CHARACTER_JOINTS,
      .shared = true },
    { .name = "hundred-own",
      .summary = "100 characters of 20,000 vertices",
      .instances = 100,
      .vertices = 20000,
      .joints = CHARACTER_JOINTS },
    { .name = "hundred-shared",
      .summary = "the same of one source mesh",
      .instances = 100,
      .vertices = 20000,
      .joints = CHARACTER_JOINTS,
      .shared = true },
    { .name = "single",
      .summary = "one character of 20,000 vertices",
      .instances = 1,
      .vertices = 20000,
      .joints = CHARACTER_JOINTS },
    { .name = "large",
      .summary = "10 meshes of 1,000,000 vertices",
      .instances = 10,
      .vertices = 1000000,
      .joints = CHARACTER_JOINTS },
    { .name = "many-own",
      .summary = "50,000 meshes of 400 vertices, 24 joints",
      .instances = 50000,
      .vertices = 400,
      .joints = 24 },
    { .name = "many-shared",
      .summary = "the same of one source mesh",
      .instances = 50000,
      .vertices = 400,
      .joints = 24,
      .shared = true },
    { .name = "tiny",
      .summary = "200,000 meshes of 64 vertices, 8 joints",
      .instances = 200000,
      .vertices = 64,
      .joints = 8 },
    { .name = "mixed",
      .summary = "characters of nine meshes of 96 to 9,000 vertices, or the parts of --file",
      .joints = CHARACTER_JOINTS,
      .mixture = true },
};
const uint32_t pelt_bench_preset_count = sizeof(pelt_bench_presets) / sizeof(pelt_bench_presets[0]);

/* Small meshes have few joints. */
static uint32_t sweep_joints(uint32_t vertices)
{
    uint32_t joints = vertices / 8;
    if (joints < 4) {
        joints = vertices < 4 ? vertices : 4;
    }
    return joints < CHARACTER_JOINTS ? joints : CHARACTER_JOINTS;
}

uint32_t pelt_bench_sweep(uint64_t total, pelt_bench_scene out[PELT_BENCH_SWEEP_POINT_MAX])
{
    uint32_t count = 0;
    uint32_t decade = 1;
    for (uint32_t i = 0; i < PELT_BENCH_SWEEP_POINT_MAX; i++) {
        uint32_t vertices = i % 2 == 0 ? decade : 3 * decade;
        if (vertices > total) {
            break;
        }
        out[count++] = (pelt_bench_scene){ .name = "sweep",
                                           .instances = (uint32_t)(total / vertices),
                                           .vertices = vertices,
                                           .joints = sweep_joints(vertices),
                                           .sweep = true };
        decade *= i % 2 == 0 ? 1 : 10;
    }
    return count;
}

uint32_t pelt_bench_unit_vertices(const pelt_bench_scene *scene)
{
    if (scene->file_count > 0) {
        return 0;
    }
    if (!scene->mixture) {
        return scene->vertices;
    }
    uint32_t total = 0;
    for (uint32_t i = 0; i < BENCH_MIXTURE_COUNT; i++) {
        total += pelt_bench_mixture[i];
    }
    return total;
}

void pelt_bench_scale(pelt_bench_scene *scene, double divisor)
{
    double instances = (double)scene->instances / divisor;
    if (instances >= 1.0) {
        scene->instances = (uint32_t)instances;
        return;
    }
    scene->instances = 1;
    double vertices = (double)scene->vertices * instances;
    if (scene->vertices > 0) {
        scene->vertices = vertices >= 1.0 ? (uint32_t)vertices : 1;
    }
}

/* 1234567 as "1,234,567". */
static const char *grouped(uint32_t value, char buffer[16])
{
    char digits[12];
    int length = snprintf(digits, sizeof(digits), "%u", value);
    char *out = buffer;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            *out++ = ',';
        }
        *out++ = digits[i];
    }
    *out = '\0';
    return buffer;
}

void pelt_bench_describe(const pelt_bench_scene *scene, char *out, size_t size)
{
    char instances[16], vertices[16], shape[96];
    const char *joints = scene->joints == 1 ? "joint" : "joints";
    (void)grouped(scene->instances, instances);
    if (scene->file_count > 0) {
        (void)snprintf(shape, sizeof(shape), "%s x the parts of %u file%s", instances,
                       scene->file_count, scene->file_count > 1 ? "s" : "");
    } else if (scene->mixture) {
        (void)snprintf(shape, sizeof(shape), "%s x %u meshes, %s vertices in all, %u %s", instances,
                       BENCH_MIXTURE_COUNT, grouped(pelt_bench_unit_vertices(scene), vertices),
                       scene->joints, joints);
    } else {
        (void)snprintf(shape, sizeof(shape), "%s x %s %s, %u %s", instances,
                       grouped(scene->vertices, vertices),
                       scene->vertices == 1 ? "vertex" : "vertices", scene->joints, joints);
    }
    char influences[32] = "";
    if (scene->influences > 0) {
        (void)snprintf(influences, sizeof(influences), ", %u influence%s", scene->influences,
                       scene->influences > 1 ? "s" : "");
    }
    (void)snprintf(out, size, "%s, %s%s", shape,
                   scene->shared ? "one shared source" : "own sources", influences);
}
