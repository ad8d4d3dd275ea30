/* Plays -> local transforms and morph weights. */
#include "anim/anim.h"
#include "base/base.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What one play gives. */
typedef struct layer {
    pelt_local *locals;
    double *morph_weights;
} layer;

/* For blending several. */
typedef struct scratch {
    layer next;
    double *first_rotations; /* 4 a node: of the first play that counts */
} scratch;

pelt_result pelt_pose_create(const pelt_host *host, const pelt_model *model, pelt_pose **out)
{
    if (!out) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL, "out is NULL");
    }
    *out = NULL;
    if (!model || !model->morph_offsets) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL, "the model is not finished");
    }
    size_t nodes = model->node_count, weights = model->morph_offsets[nodes];
    pelt_pose *pose = pelt_allocate(host, 1, sizeof(*pose));
    scratch *blend = pelt_allocate(host, 1, sizeof(*blend));
    if (!pose || !blend) {
        pelt_release(host, pose);
        pelt_release(host, blend);
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a pose");
    }
    *pose = (pelt_pose){ .model = model, .host = host, .scratch = blend };
    pose->locals = pelt_allocate(host, nodes, sizeof(*pose->locals));
    pose->globals = pelt_allocate(host, nodes, 12 * sizeof(*pose->globals));
    pose->morph_weights = pelt_allocate(host, weights, sizeof(*pose->morph_weights));
    blend->next.locals = pelt_allocate(host, nodes, sizeof(*blend->next.locals));
    blend->next.morph_weights = pelt_allocate(host, weights, sizeof(*blend->next.morph_weights));
    blend->first_rotations = pelt_allocate(host, nodes, 4 * sizeof(*blend->first_rotations));
    if (!pose->locals || !pose->globals || !pose->morph_weights || !blend->next.locals ||
        !blend->next.morph_weights || !blend->first_rotations) {
        pelt_pose_destroy(pose);
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a pose of %u nodes",
                         model->node_count);
    }
    pelt_result result = pelt_pose_evaluate(pose, NULL, 0);
    if (result != PELT_OK) {
        pelt_pose_destroy(pose);
        return result;
    }
    *out = pose;
    return PELT_OK;
}

void pelt_pose_destroy(pelt_pose *pose)
{
    if (!pose) {
        return;
    }
    const pelt_host *host = pose->host;
    scratch *blend = pose->scratch;
    pelt_release(host, blend->next.locals);
    pelt_release(host, blend->next.morph_weights);
    pelt_release(host, blend->first_rotations);
    pelt_release(host, blend);
    pelt_release(host, pose->locals);
    pelt_release(host, pose->globals);
    pelt_release(host, pose->morph_weights);
    pelt_release(host, pose);
}

/* A node with a matrix has TRS all the same, identity, which a clip may replace: glTF forbids
 * such clips, and this keeps them finite. */
static void set_static_local(const pelt_node *node, pelt_local *local)
{
    *local = (pelt_local){ .has_matrix = node->has_matrix,
                           .rotation = { 0, 0, 0, 1 },
                           .scale = { 1, 1, 1 } };
    if (node->has_matrix) {
        memcpy(local->matrix, node->matrix, sizeof(local->matrix));
    } else {
        memcpy(local->translation, node->translation, sizeof(local->translation));
        memcpy(local->rotation, node->rotation, sizeof(local->rotation));
        memcpy(local->scale, node->scale, sizeof(local->scale));
    }
}

/* node.weights, else mesh.weights, else zeros. */
static void set_static_weights(const pelt_model *model, uint32_t index, double *weights)
{
    const pelt_node *node = &model->nodes[index];
    uint32_t count = model->morph_offsets[index + 1] - model->morph_offsets[index];
    if (count == 0) {
        return;
    }
    const pelt_mesh *mesh = &model->meshes[node->mesh];
    const double *given = node->weight_count ? node->weights : mesh->weights;
    uint32_t given_count = node->weight_count ? node->weight_count : mesh->weight_count;
    for (uint32_t i = 0; i < count; i++) {
        weights[i] = i < given_count ? given[i] : 0;
    }
}

static void set_static(const pelt_model *model, layer out)
{
    for (uint32_t i = 0; i < model->node_count; i++) {
        set_static_local(&model->nodes[i], &out.locals[i]);
        set_static_weights(model, i, out.morph_weights + model->morph_offsets[i]);
    }
}

static void sample_channel(const pelt_model *model, const pelt_clip *clip,
                           const pelt_channel *channel, double time, layer out)
{
    const pelt_sampler *sampler = &clip->samplers[channel->sampler];
    pelt_local *local = &out.locals[channel->node];
    if (channel->path == PELT_WEIGHTS) {
        uint32_t first = model->morph_offsets[channel->node];
        if (sampler->width == model->morph_offsets[channel->node + 1] - first) {
            pelt_sampler_evaluate(sampler, time, false, out.morph_weights + first);
        }
        return;
    }
    local->has_matrix = false;
    if (channel->path == PELT_ROTATION) {
        pelt_sampler_evaluate(sampler, time, true, local->rotation);
    } else {
        pelt_sampler_evaluate(sampler, time, false,
                              channel->path == PELT_SCALE ? local->scale : local->translation);
    }
}

static void sample_play(const pelt_model *model, const pelt_play *play, layer out)
{
    set_static(model, out);
    if (play->clip < 0) {
        return;
    }
    const pelt_clip *clip = &model->clips[play->clip];
    double time = pelt_clip_time(clip, play->time, play->loop);
    for (uint32_t i = 0; i < clip->channel_count; i++) {
        sample_channel(model, clip, &clip->channels[i], time, out);
    }
}

static void add_scaled(double *sum, const double *values, size_t count, double weight)
{
    for (size_t i = 0; i < count; i++) {
        sum[i] += weight * values[i];
    }
}

static void scale_all(double *values, size_t count, double weight)
{
    for (size_t i = 0; i < count; i++) {
        values[i] *= weight;
    }
}

/* Makes a layer the first term of a sum. Matrices have no weight: a node keeps its matrix only if
 * every play leaves it alone. */
static void begin_sum(const pelt_model *model, layer sum, double *first_rotations, double weight)
{
    for (uint32_t i = 0; i < model->node_count; i++) {
        pelt_local *local = &sum.locals[i];
        memcpy(first_rotations + 4 * (size_t)i, local->rotation, sizeof(local->rotation));
        scale_all(local->translation, 3, weight);
        scale_all(local->rotation, 4, weight);
        scale_all(local->scale, 3, weight);
    }
    scale_all(sum.morph_weights, model->morph_offsets[model->node_count], weight);
}

/* Every quaternion is taken on the side of the first, so the sum never vanishes: its dot product
 * with the first is at least the first's weight. */
static void add_layer(const pelt_model *model, layer sum, layer next, const double *first_rotations,
                      double weight)
{
    for (uint32_t i = 0; i < model->node_count; i++) {
        pelt_local *to = &sum.locals[i];
        const pelt_local *from = &next.locals[i];
        const double *first = first_rotations + 4 * (size_t)i;
        double dot = 0;
        for (int k = 0; k < 4; k++) {
            dot += first[k] * from->rotation[k];
        }
        to->has_matrix = to->has_matrix && from->has_matrix;
        add_scaled(to->translation, from->translation, 3, weight);
        add_scaled(to->rotation, from->rotation, 4, dot < 0 ? -weight : weight);
        add_scaled(to->scale, from->scale, 3, weight);
    }
    add_scaled(sum.morph_weights, next.morph_weights, model->morph_offsets[model->node_count],
               weight);
}

static void end_sum(const pelt_model *model, layer sum)
{
    for (uint32_t i = 0; i < model->node_count; i++) {
        pelt_quaternion_normalize(sum.locals[i].rotation, pelt_quaternion_identity);
    }
}

/* Blends the plays that have a weight, of which there are several. */
static void blend_plays(pelt_pose *pose, const pelt_play *plays, uint32_t count, double total)
{
    const pelt_model *model = pose->model;
    scratch *blend = pose->scratch;
    layer sum = { pose->locals, pose->morph_weights };
    bool first = true;
    for (uint32_t i = 0; i < count; i++) {
        double weight = plays[i].weight / total;
        if (weight == 0) {
            continue;
        }
        if (first) {
            sample_play(model, &plays[i], sum);
            begin_sum(model, sum, blend->first_rotations, weight);
            first = false;
        } else {
            sample_play(model, &plays[i], blend->next);
            add_layer(model, sum, blend->next, blend->first_rotations, weight);
        }
    }
    end_sum(model, sum);
}

static pelt_result check_play(const pelt_pose *pose, const pelt_play *play, uint32_t index)
{
    const pelt_model *model = pose->model;
    if (play->clip < -1 || play->clip >= (int64_t)model->clip_count) {
        return pelt_fail(pose->host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "play %u: clip %d is none of the model's %u", index, play->clip,
                         model->clip_count);
    }
    if (!isfinite(play->time)) {
        return pelt_fail(pose->host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "play %u: the time is not finite", index);
    }
    if (!isfinite(play->weight) || play->weight < 0) {
        return pelt_fail(pose->host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "play %u: the weight is negative or not finite", index);
    }
    return PELT_OK;
}

/* So that morphed positions stay finite. */
static pelt_result check_morph_weights(const pelt_pose *pose)
{
    const pelt_model *model = pose->model;
    for (uint32_t i = 0; i < model->node_count; i++) {
        for (uint32_t k = model->morph_offsets[i]; k < model->morph_offsets[i + 1]; k++) {
            if (!(fabs(pose->morph_weights[k]) <= PELT_MAGNITUDE_MAX)) {
                char pointer[32];
                (void)snprintf(pointer, sizeof(pointer), "/nodes/%u", i);
                return pelt_fail(pose->host, PELT_ERROR_RANGE, NULL, pointer,
                                 "morph weight %u is not finite or beyond %g",
                                 k - model->morph_offsets[i], PELT_MAGNITUDE_MAX);
            }
        }
    }
    return PELT_OK;
}

pelt_result pelt_pose_sample(pelt_pose *pose, const pelt_play *plays, uint32_t count)
{
    layer out = { pose->locals, pose->morph_weights };
    double total = 0;
    uint32_t weighted = 0, last_weighted = 0;
    for (uint32_t i = 0; i < count; i++) {
        pelt_result result = check_play(pose, &plays[i], i);
        if (result != PELT_OK) {
            return result;
        }
        total += plays[i].weight;
        if (plays[i].weight > 0) {
            weighted++;
            last_weighted = i;
        }
    }
    if (count > 1 && (weighted == 0 || !isfinite(total))) {
        return pelt_fail(pose->host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "the sum of the plays' weights is zero or not finite");
    }
    if (count == 0) {
        set_static(pose->model, out);
    } else if (count == 1 || weighted == 1) {
        sample_play(pose->model, &plays[last_weighted], out);
    } else {
        blend_plays(pose, plays, count, total);
    }
    return check_morph_weights(pose);
}

pelt_result pelt_pose_evaluate(pelt_pose *pose, const pelt_play *plays, uint32_t count)
{
    pelt_result result = pelt_pose_sample(pose, plays, count);
    return result == PELT_OK ? pelt_pose_update(pose) : result;
}

const double *pelt_pose_part_morph_weights(const pelt_pose *pose, const pelt_part *part)
{
    const pelt_primitive *primitive = &pose->model->meshes[part->mesh].primitives[part->primitive];
    return primitive->target_count ? pose->morph_weights + pose->model->morph_offsets[part->node]
                                   : NULL;
}
