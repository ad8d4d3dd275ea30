/* Clips in which everything moves: what the pose pass finds most work in. */
#include "base/base.h"
#include "bench/internal.h"
#include "bench/pose.h"

#include <math.h>
#include <string.h>

enum { CLIPS = 8, KEYS = 31, PATHS = 3 };

static bool *find_joints(pelt_model *model)
{
    bool *joints = pelt_model_allocate(model, model->node_count, sizeof(*joints));
    for (uint32_t s = 0; joints && s < model->skin_count; s++) {
        for (uint32_t j = 0; j < model->skins[s].joint_count; j++) {
            joints[model->skins[s].joints[j]] = true;
        }
    }
    return joints;
}

/* rotation turned by angle about one of the axes. */
static void turn(const double rotation[4], int axis, double angle, float out[4])
{
    double s = sin(angle / 2), c = cos(angle / 2);
    double turned[3] = { 0, 0, 0 };
    turned[axis] = s;
    const double *r = rotation;
    double w = r[3] * c, v[3];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        v[i] = r[3] * turned[i] + r[i] * c + r[j] * turned[k] - r[k] * turned[j];
        w -= r[i] * turned[i];
    }
    for (int i = 0; i < 3; i++) {
        out[i] = (float)v[i];
    }
    out[3] = (float)w;
}

/* One key of a node's wave, whose amplitude and phase are random. */
static void put_key(const pelt_node *node, pelt_path path, double wave, uint64_t hash, float *out)
{
    if (path == PELT_ROTATION) {
        turn(node->rotation, (int)(hash % 3), 0.5 * wave, out);
        return;
    }
    for (int i = 0; i < 3; i++) {
        out[i] = (float)(path == PELT_TRANSLATION ? node->translation[i] * (1 + 0.05 * wave)
                                                  : node->scale[i] * (1 + 0.02 * i * wave));
    }
}

static bool fill_sampler(pelt_model *model, uint32_t node, pelt_path path, uint32_t clip,
                         const float *times, pelt_sampler *sampler)
{
    uint32_t width = path == PELT_ROTATION ? 4 : 3;
    uint64_t hash = pelt_bench_hash(((uint64_t)clip << 34) + ((uint64_t)node << 2) + path);
    *sampler = (pelt_sampler){ .interpolation = PELT_LINEAR, .key_count = KEYS, .width = width };
    sampler->times = pelt_model_allocate(model, KEYS, sizeof(float));
    sampler->values = pelt_model_allocate(model, KEYS, width * sizeof(float));
    if (!sampler->times || !sampler->values) {
        return false;
    }
    memcpy(sampler->times, times, KEYS * sizeof(float));
    double phase = (double)(hash >> 40) * 0x1p-24;
    for (uint32_t k = 0; k < KEYS; k++) {
        double wave = sin(2 * acos(-1) * (phase + (double)k / (KEYS - 1)));
        put_key(&model->nodes[node], path, wave, hash, sampler->values + (size_t)k * width);
    }
    return true;
}

static bool fill_clip(pelt_model *model, const bool *joints, uint32_t index, pelt_clip *clip)
{
    float times[KEYS];
    for (uint32_t k = 0; k < KEYS; k++) {
        times[k] = (float)k / (24.0f + 2.0f * (float)index);
    }
    clip->duration = (double)times[KEYS - 1];
    clip->channels = pelt_model_allocate(model, model->node_count, PATHS * sizeof(pelt_channel));
    clip->samplers = pelt_model_allocate(model, model->node_count, PATHS * sizeof(pelt_sampler));
    bool done = clip->channels && clip->samplers;
    for (uint32_t i = 0; done && i < model->node_count; i++) {
        for (pelt_path path = PELT_TRANSLATION; done && joints[i] && path < PELT_WEIGHTS; path++) {
            uint32_t next = clip->sampler_count++;
            clip->channels[clip->channel_count++] =
                (pelt_channel){ .node = i, .path = path, .sampler = next };
            done = fill_sampler(model, i, path, index, times, &clip->samplers[next]);
        }
    }
    return done;
}

pelt_result pelt_bench_pose_animate(pelt_model *model)
{
    const bool *joints = find_joints(model);
    pelt_clip *clips = pelt_model_allocate(model, CLIPS, sizeof(*clips));
    bool done = joints && clips;
    for (uint32_t c = 0; done && c < CLIPS; c++) {
        done = fill_clip(model, joints, c, &clips[c]);
    }
    if (!done) {
        return pelt_fail(model->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for clips");
    }
    model->clips = clips;
    model->clip_count = CLIPS;
    return PELT_OK;
}
