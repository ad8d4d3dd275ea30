#include "sample/clips.h"

#include "sample/motion.h"

#include "base/base.h"

#include <string.h>

enum { LINEAR_RATE = 24, SPLINE_RATE = 12 }; /* keys a second */

/* One clip in the making. */
typedef struct clip_recorder {
    pelt_model *model;
    const fox_skeleton *skeleton;
    uint32_t first_node;
    fox_motion motion;
    pelt_clip *clip;
    uint32_t linear_keys, spline_keys;
    float *linear_times, *spline_times;
} clip_recorder;

static quat parent_bind(const fox_skeleton *skeleton, uint32_t joint)
{
    int32_t parent = skeleton->joints[joint].parent;
    return parent < 0 ? q_identity() : skeleton->joints[parent].bind;
}

/* glTF allows no component beyond 1, which rounding alone would pass. */
static double within_one(double x)
{
    return x > 1.0 ? 1.0 : x < -1.0 ? -1.0 : x;
}

quat pelt_sample_bind_rotation(const fox_skeleton *skeleton, uint32_t joint)
{
    quat q = q_multiply(q_conjugate(parent_bind(skeleton, joint)), skeleton->joints[joint].bind);
    q = q_unit(q);
    return (quat){ within_one(q.x), within_one(q.y), within_one(q.z), within_one(q.w) };
}

vec3 pelt_sample_bind_translation(const fox_skeleton *skeleton, uint32_t joint)
{
    int32_t parent = skeleton->joints[joint].parent;
    vec3 from = parent < 0 ? v3(0, 0, 0) : skeleton->joints[parent].head;
    return q_rotate(q_conjugate(parent_bind(skeleton, joint)),
                    v3_sub(skeleton->joints[joint].head, from));
}

/* A flexible part's rotation is spread evenly over its joints, each a little later than the one
 * before; others turn at their first joint. */
static quat joint_turn(const clip_recorder *r, uint32_t joint, double time)
{
    const fox_joint *j = &r->skeleton->joints[joint];
    if (!pelt_sample_part_flexible(j->part)) {
        return j->index ? q_identity()
                        : pelt_sample_motion_at(r->motion, time).turn[j->part][j->side];
    }
    double count = r->skeleton->counts[j->part];
    double lag = pelt_sample_motion_lag(r->motion, j->part) * (j->index + 0.5) / count;
    quat whole = pelt_sample_motion_at(r->motion, time - lag).turn[j->part][j->side];
    return q_turn(v3_scale(q_vector(whole), 1.0 / count));
}

/* The node's rotation, with the sign that is nearer to a reference. */
static quat node_rotation(const clip_recorder *r, uint32_t joint, double time, quat reference)
{
    quat turned = q_multiply(joint_turn(r, joint, time), r->skeleton->joints[joint].bind);
    quat local = q_unit(q_multiply(q_conjugate(parent_bind(r->skeleton, joint)), turned));
    return q_dot(local, reference) < 0.0 ? q_scale(local, -1.0) : local;
}

static bool moves(const clip_recorder *r, uint32_t joint)
{
    double duration = pelt_sample_motion_duration(r->motion);
    for (int i = 0; i < 16; ++i) {
        if (v3_length(q_vector(joint_turn(r, joint, duration * i / 16))) > 1e-6) {
            return true;
        }
    }
    return false;
}

static float *make_times(pelt_model *model, double duration, uint32_t keys)
{
    float *times = pelt_model_allocate(model, keys, sizeof(*times));
    for (uint32_t k = 0; times && k < keys; ++k) {
        times[k] = (float)(duration * k / (keys - 1));
    }
    return times;
}

static pelt_sampler *add_channel(clip_recorder *r, uint32_t joint, pelt_path path, bool spline)
{
    pelt_clip *clip = r->clip;
    pelt_sampler *sampler = &clip->samplers[clip->sampler_count];
    sampler->interpolation = spline ? PELT_CUBICSPLINE : PELT_LINEAR;
    sampler->key_count = spline ? r->spline_keys : r->linear_keys;
    sampler->times = spline ? r->spline_times : r->linear_times;
    sampler->width = path == PELT_ROTATION ? 4 : 3;
    size_t numbers = sampler->width * (spline ? 3 : 1);
    sampler->values =
        pelt_model_allocate(r->model, sampler->key_count * numbers, sizeof(*sampler->values));
    clip->channels[clip->channel_count++] = (pelt_channel){ .node = r->first_node + joint,
                                                            .path = path,
                                                            .sampler = clip->sampler_count };
    ++clip->sampler_count;
    return sampler->values ? sampler : NULL;
}

static void put(float *values, quat q)
{
    values[0] = (float)q.x;
    values[1] = (float)q.y;
    values[2] = (float)q.z;
    values[3] = (float)q.w;
}

/* Rates of change are central differences of the motion itself. */
#define DIFFERENCE 1e-4

static bool record_rotation(clip_recorder *r, uint32_t joint)
{
    bool spline = pelt_sample_part_flexible(r->skeleton->joints[joint].part);
    pelt_sampler *sampler = add_channel(r, joint, PELT_ROTATION, spline);
    if (!sampler) {
        return false;
    }
    quat value = pelt_sample_bind_rotation(r->skeleton, joint);
    for (uint32_t k = 0; k < sampler->key_count; ++k) {
        double time = r->clip->duration * k / (sampler->key_count - 1);
        value = node_rotation(r, joint, time, value);
        if (!spline) {
            put(sampler->values + 4 * (size_t)k, value);
            continue;
        }
        quat before = node_rotation(r, joint, time - DIFFERENCE, value);
        quat after = node_rotation(r, joint, time + DIFFERENCE, value);
        quat rate = { after.x - before.x, after.y - before.y, after.z - before.z,
                      after.w - before.w };
        rate = q_scale(rate, 0.5 / DIFFERENCE);
        float *values = sampler->values + 12 * (size_t)k;
        put(values, rate);
        put(values + 4, value);
        put(values + 8, rate);
    }
    return true;
}

/* The hips' place. */
static bool record_translation(clip_recorder *r)
{
    pelt_sampler *sampler = add_channel(r, 0, PELT_TRANSLATION, true);
    if (!sampler) {
        return false;
    }
    vec3 rest = pelt_sample_bind_translation(r->skeleton, 0);
    for (uint32_t k = 0; k < sampler->key_count; ++k) {
        double time = r->clip->duration * k / (sampler->key_count - 1);
        vec3 value = v3_add(rest, pelt_sample_motion_at(r->motion, time).hips);
        vec3 rate = v3_sub(pelt_sample_motion_at(r->motion, time + DIFFERENCE).hips,
                           pelt_sample_motion_at(r->motion, time - DIFFERENCE).hips);
        rate = v3_scale(rate, 0.5 / DIFFERENCE);
        const vec3 parts[3] = { rate, value, rate };
        for (int i = 0; i < 3; ++i) {
            float *values = sampler->values + 9 * (size_t)k + 3 * i;
            values[0] = (float)parts[i].x;
            values[1] = (float)parts[i].y;
            values[2] = (float)parts[i].z;
        }
    }
    return true;
}

static bool record(clip_recorder *r)
{
    const char *name = pelt_sample_motion_name(r->motion);
    double duration = pelt_sample_motion_duration(r->motion);
    pelt_clip *clip = r->clip;
    size_t channels = (size_t)r->skeleton->joint_count + 1;
    clip->duration = (float)duration;
    clip->name = pelt_model_allocate(r->model, strlen(name) + 1, 1);
    clip->channels = pelt_model_allocate(r->model, channels, sizeof(*clip->channels));
    clip->samplers = pelt_model_allocate(r->model, channels, sizeof(*clip->samplers));
    r->linear_keys = (uint32_t)lround(duration * LINEAR_RATE) + 1;
    r->spline_keys = (uint32_t)lround(duration * SPLINE_RATE) + 1;
    r->linear_times = make_times(r->model, duration, r->linear_keys);
    r->spline_times = make_times(r->model, duration, r->spline_keys);
    if (!clip->name || !clip->channels || !clip->samplers || !r->linear_times || !r->spline_times ||
        !record_translation(r)) {
        return false;
    }
    memcpy(clip->name, name, strlen(name) + 1);
    for (uint32_t j = 0; j < r->skeleton->joint_count; ++j) {
        if (moves(r, j) && !record_rotation(r, j)) {
            return false;
        }
    }
    return true;
}

pelt_result pelt_sample_clips_add(const pelt_host *host, pelt_model *model,
                                  const fox_skeleton *skeleton, uint32_t first_node)
{
    model->clips = pelt_model_allocate(model, MOTION_COUNT, sizeof(*model->clips));
    bool ok = model->clips != NULL;
    for (fox_motion m = 0; ok && m < MOTION_COUNT; ++m) {
        clip_recorder recorder = { .model = model,
                                   .skeleton = skeleton,
                                   .first_node = first_node,
                                   .motion = m,
                                   .clip = &model->clips[m] };
        ok = record(&recorder);
        model->clip_count = m + 1;
    }
    return ok ? PELT_OK : pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for the clips");
}
