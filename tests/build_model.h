/* Models built by hand, for tests. Every function asserts that there is memory. */
#ifndef BUILD_MODEL_H
#define BUILD_MODEL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first */
#include <cmocka.h>
#include <math.h>
#include <pelt/pelt.h>
#include <stdlib.h>
#include <string.h>

/* |a - b| <= tolerance, and neither is NaN. */
#define assert_near(a, b, tolerance) near_or_fail(a, b, tolerance, __FILE__, __LINE__)

static inline void near_or_fail(double a, double b, double tolerance, const char *file, int line)
{
    if (!(fabs(a - b) <= tolerance)) {
        print_error("%.17g and %.17g differ by more than %g\n", a, b, tolerance);
        _fail(file, line);
    }
}

/* An allocator that fails on the n-th call and counts what is alive. */
typedef struct meter {
    long calls_left, alive;
} meter;

static inline void *metered(void *user, void *block, size_t size)
{
    meter *m = user;
    if (size == 0) {
        m->alive -= block ? 1 : 0;
        free(block);
        return NULL;
    }
    if (m->calls_left-- <= 0) {
        return NULL;
    }
    m->alive += block ? 0 : 1;
    return realloc(block, size);
}

static inline void *build_copy(pelt_model *model, const void *values, size_t count, size_t size)
{
    void *copy = pelt_model_allocate(model, count, size);
    assert_non_null(copy);
    if (count) {
        memcpy(copy, values, count * size);
    }
    return copy;
}

static inline char *build_name(pelt_model *model, const char *name)
{
    return build_copy(model, name, strlen(name) + 1, 1);
}

/* A model of count nodes at the identity, all of the scene, with the parents given. */
static inline pelt_model *build_nodes(const pelt_host *host, const int32_t *parents, uint32_t count)
{
    pelt_model *model;
    assert_int_equal(pelt_model_create(host, &model), PELT_OK);
    model->node_count = count;
    model->nodes = pelt_model_allocate(model, count, sizeof(*model->nodes));
    assert_non_null(model->nodes);
    for (uint32_t i = 0; i < count; i++) {
        model->nodes[i] = (pelt_node){ .parent = parents[i],
                                       .in_scene = true,
                                       .rotation = { 0, 0, 0, 1 },
                                       .scale = { 1, 1, 1 },
                                       .mesh = -1,
                                       .skin = -1 };
    }
    return model;
}

/* Room for one mesh of one primitive with the given positions. */
static inline pelt_primitive *build_mesh(pelt_model *model, const float *positions, uint32_t count)
{
    model->mesh_count = 1;
    model->meshes = pelt_model_allocate(model, 1, sizeof(*model->meshes));
    assert_non_null(model->meshes);
    model->meshes[0].primitive_count = 1;
    pelt_primitive *primitive = pelt_model_allocate(model, 1, sizeof(*primitive));
    assert_non_null(primitive);
    model->meshes[0].primitives = primitive;
    *primitive =
        (pelt_primitive){ .topology = PELT_TRIANGLES, .vertex_count = count, .material = -1 };
    primitive->positions = build_copy(model, positions, 3 * (size_t)count, sizeof(float));
    return primitive;
}

/* One clip of one channel. */
static inline pelt_sampler *build_clip(pelt_model *model, uint32_t node, pelt_path path,
                                       pelt_interpolation interpolation, uint32_t keys,
                                       uint32_t width, const float *times, const float *values)
{
    pelt_clip *clips = pelt_model_allocate(model, model->clip_count + 1u, sizeof(*clips));
    assert_non_null(clips);
    if (model->clip_count) {
        memcpy(clips, model->clips, model->clip_count * sizeof(*clips));
    }
    pelt_clip *clip = &clips[model->clip_count++];
    model->clips = clips;
    clip->duration = (double)times[keys - 1];
    clip->channel_count = clip->sampler_count = 1;
    clip->channels = pelt_model_allocate(model, 1, sizeof(*clip->channels));
    clip->samplers = pelt_model_allocate(model, 1, sizeof(*clip->samplers));
    assert_non_null(clip->channels);
    assert_non_null(clip->samplers);
    clip->channels[0] = (pelt_channel){ .node = node, .path = path, .sampler = 0 };
    pelt_sampler *sampler = clip->samplers;
    size_t numbers = (size_t)keys * width * (interpolation == PELT_CUBICSPLINE ? 3 : 1);
    *sampler = (pelt_sampler){ .interpolation = interpolation, .key_count = keys, .width = width };
    sampler->times = build_copy(model, times, keys, sizeof(float));
    sampler->values = build_copy(model, values, numbers, sizeof(float));
    return sampler;
}

#endif
