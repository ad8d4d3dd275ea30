/* Made meshes: random, but as real ones are where it matters. Neighbouring vertices share joints:
 * 16 of them touch four, 64 about six; influences are 2.4 on average. */
#include "bench/internal.h"

#include <math.h>
#include <string.h>

enum {
    WEIGHT_UNITS = 1024, /* every layout holds multiples of 1/1024 exactly */
    WINDOW = 4,          /* joints that a run of vertices draws from ... */
    RUN = 16,            /* ... of so many vertices, and how far neighbouring windows stray */
    STRAY = 3
};

const uint32_t pelt_bench_mixture[BENCH_MIXTURE_COUNT] = { 9000, 4200, 2600, 1800, 1200,
                                                           800,  320,  96,   96 };

pelt_result pelt_bench_vertices_create(const pelt_host *host, uint32_t count,
                                       pelt_bench_vertices *out)
{
    *out = (pelt_bench_vertices){ .count = count };
    out->positions = pelt_allocate(host, count, 3 * sizeof(float));
    out->normals = pelt_allocate(host, count, 3 * sizeof(float));
    out->tangents = pelt_allocate(host, count, 4 * sizeof(float));
    out->joints = pelt_allocate(host, count, 4 * sizeof(uint16_t));
    out->weights = pelt_allocate(host, count, 4 * sizeof(float));
    if (!out->positions || !out->normals || !out->tangents || !out->joints || !out->weights) {
        pelt_bench_vertices_destroy(host, out);
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for %u vertices", count);
    }
    return PELT_OK;
}

void pelt_bench_vertices_destroy(const pelt_host *host, pelt_bench_vertices *vertices)
{
    pelt_release(host, vertices->positions);
    pelt_release(host, vertices->normals);
    pelt_release(host, vertices->tangents);
    pelt_release(host, vertices->joints);
    pelt_release(host, vertices->weights);
    *vertices = (pelt_bench_vertices){ 0 };
}

static void random_unit(uint64_t *state, float out[3])
{
    float z = 2.0f * pelt_bench_random(state) - 1.0f;
    float angle = 6.2831853f * pelt_bench_random(state);
    float radius = sqrtf(fmaxf(0.0f, 1.0f - z * z));
    out[0] = radius * cosf(angle);
    out[1] = radius * sinf(angle);
    out[2] = z;
}

/* A unit vector at a right angle to a unit normal. */
static void perpendicular(const float normal[3], float out[3])
{
    int least = fabsf(normal[0]) < fabsf(normal[1]) ? 0 : 1;
    least = fabsf(normal[2]) < fabsf(normal[least]) ? 2 : least;
    float dot = normal[least];
    float length = sqrtf(fmaxf(1.0f - dot * dot, 1e-12f));
    for (int i = 0; i < 3; i++) {
        out[i] = ((i == least ? 1.0f : 0.0f) - dot * normal[i]) / length;
    }
}

static uint32_t draw_influences(uint64_t *state, uint32_t influences)
{
    if (influences > 0) {
        return influences;
    }
    float draw = pelt_bench_random(state); /* .25 .30 .25 .20: 2.4 on average */
    return draw < 0.25f ? 1 : draw < 0.55f ? 2 : draw < 0.8f ? 3 : 4;
}

/* Positive multiples of 1/1024 that sum to 1; zeros behind them. */
static void draw_weights(uint64_t *state, uint32_t count, float out[4])
{
    uint32_t units[4] = { 0 };
    float parts[4], sum = 0.0f;
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = 0.05f + pelt_bench_random(state);
        sum += parts[i];
    }
    uint32_t left = WEIGHT_UNITS;
    for (uint32_t i = 1; i < count; i++) {
        units[i] = (uint32_t)(parts[i] / sum * WEIGHT_UNITS);
        left -= units[i];
    }
    units[0] = left;
    for (int i = 0; i < 4; i++) {
        out[i] = (float)units[i] / WEIGHT_UNITS;
    }
}

static uint32_t first_of_window(const pelt_bench_vertices *vertices, uint32_t vertex,
                                uint32_t joints, uint64_t seed)
{
    uint32_t stray = (uint32_t)(pelt_bench_hash(seed ^ (vertex / RUN)) % STRAY);
    uint32_t first = (uint32_t)((uint64_t)vertex * joints / vertices->count) + stray;
    uint32_t last = joints > WINDOW ? joints - WINDOW : 0;
    return first < last ? first : last;
}

void pelt_bench_make_vertices(pelt_bench_vertices *vertices, uint32_t joints, uint32_t influences,
                              uint64_t seed)
{
    uint32_t window = joints < WINDOW ? joints : WINDOW;
    uint64_t state = pelt_bench_hash(seed);
    for (uint32_t v = 0; v < vertices->count; v++) {
        for (int i = 0; i < 3; i++) {
            vertices->positions[3 * (size_t)v + i] = pelt_bench_random(&state) - 0.5f;
        }
        float *normal = &vertices->normals[3 * (size_t)v];
        float *tangent = &vertices->tangents[4 * (size_t)v];
        random_unit(&state, normal);
        perpendicular(normal, tangent);
        tangent[3] = pelt_bench_random(&state) < 0.5f ? -1.0f : 1.0f;

        uint32_t first = first_of_window(vertices, v, joints, seed);
        uint32_t turn = (uint32_t)(pelt_bench_random(&state) * (float)window);
        uint32_t count = draw_influences(&state, influences);
        count = count < window ? count : window;
        draw_weights(&state, count, &vertices->weights[4 * (size_t)v]);
        for (uint32_t i = 0; i < count; i++) {
            vertices->joints[4 * (size_t)v + i] = (uint16_t)(first + (turn + i) % window);
        }
    }
}
