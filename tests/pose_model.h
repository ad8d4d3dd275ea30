/* Random models of nodes, skins and clips, and what their poses come to in double precision. */
#ifndef PELT_TESTS_POSE_MODEL_H
#define PELT_TESTS_POSE_MODEL_H

#include "anim/anim.h"
#include "tests/build_model.h"
#include "tests/gpu_pose.h"

typedef struct pose_model_info {
    uint64_t seed;
    uint32_t node_count;
    uint32_t joint_count; /* of the one skin; 0: a rigid mesh under each node instead */
    uint32_t clip_count;
    uint32_t most_keys;
    bool chain;        /* each node below the one before it */
    bool any_clip_may; /* move nodes that have a matrix, which glTF forbids */
    bool half_still;   /* every other node is not moved by any clip */
} pose_model_info;

static inline void pose_random_quaternion(uint64_t *state, double out[4])
{
    double square;
    do {
        square = 0;
        for (int i = 0; i < 4; i++) {
            out[i] = pose_random(state, -1, 1);
            square += out[i] * out[i];
        }
    } while (square < 0.1 || square > 1);
    for (int i = 0; i < 4; i++) {
        out[i] /= sqrt(square);
    }
}

/* Translations up to 0.3, scales around 1, some matrices with shear. */
static inline void pose_random_node(uint64_t *state, pelt_node *node)
{
    pose_random_quaternion(state, node->rotation);
    for (int i = 0; i < 3; i++) {
        node->translation[i] = pose_random(state, -0.3, 0.3);
        node->scale[i] = pose_random(state, 0.9, 1.1);
    }
    node->has_matrix = pose_random(state, 0, 1) < 0.2;
    for (int i = 0; i < 12; i++) {
        node->matrix[i] = (i % 5 == 0 ? 0.8 : 0) + pose_random(state, -0.2, 0.2);
    }
}

/* Parents come anywhere in the array, not before their children only. */
static inline pelt_model *pose_model_nodes(const pose_model_info *info, uint64_t *state)
{
    uint32_t count = info->node_count;
    int32_t *parents = malloc((count + 1u) * sizeof(*parents));
    uint32_t *order = malloc((count + 1u) * sizeof(*order));
    assert_true(parents && order);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = info->chain ? i : (uint32_t)pose_random(state, 0, i + 1.0);
        order[i] = order[k];
        order[k] = i;
    }
    for (uint32_t i = 0; i < count; i++) {
        /* Near ones often: deep trees; some roots. */
        double back = pose_random(state, 0, 1) < 0.7 ? 3 : i;
        uint32_t up = info->chain ? 1 : 1 + (uint32_t)pose_random(state, 0, back);
        bool root = i < up || (!info->chain && pose_random(state, 0, 1) < 0.03);
        parents[order[i]] = root ? -1 : (int32_t)order[i - up];
    }
    pelt_model *model = build_nodes(NULL, parents, count);
    for (uint32_t i = 0; i < count; i++) {
        pose_random_node(state, &model->nodes[i]);
    }
    free(parents);
    free(order);
    return model;
}

/* One skin of random joints, which need not be different, or rigid meshes. */
static inline void pose_model_parts(const pose_model_info *info, pelt_model *model, uint64_t *state)
{
    const float corner[9] = { 0, 0, 0, 1, 0, 0, 0, 1, 0 };
    pelt_primitive *primitive = build_mesh(model, corner, 3);
    if (info->joint_count == 0) {
        for (uint32_t i = 0; i < model->node_count; i++) {
            model->nodes[i].mesh = 0;
        }
        return;
    }
    const uint16_t joints[12] = { 0 };
    const float weights[12] = { 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0 };
    primitive->influence_count = 4;
    primitive->joints = build_copy(model, joints, 12, sizeof(joints[0]));
    primitive->weights = build_copy(model, weights, 12, sizeof(weights[0]));
    model->skin_count = 1;
    pelt_skin *skin = model->skins = pelt_model_allocate(model, 1, sizeof(*skin));
    assert_non_null(skin);
    skin->joint_count = info->joint_count;
    skin->joints = pelt_model_allocate(model, info->joint_count, sizeof(uint32_t));
    skin->inverse_bind = pelt_model_allocate(model, info->joint_count, 12 * sizeof(float));
    assert_true(skin->joints && skin->inverse_bind);
    for (uint32_t i = 0; i < info->joint_count; i++) {
        skin->joints[i] = (uint32_t)pose_random(state, 0, model->node_count);
        for (uint32_t k = 0; k < 12; k++) {
            skin->inverse_bind[12 * (size_t)i + k] = (float)pose_random(state, -1, 1);
        }
    }
    model->nodes[0].mesh = 0;
    model->nodes[0].skin = 0;
}

/* Even or uneven key times, the first of which may be later than 0; or those of another sampler. */
static inline void pose_model_sampler(const pose_model_info *info, pelt_model *model,
                                      pelt_clip *clip, pelt_path path, uint64_t *state)
{
    pelt_sampler *sampler = &clip->samplers[clip->sampler_count];
    const pelt_sampler *other = clip->sampler_count > 0 && pose_random(state, 0, 1) < 0.6
                                    ? &clip->samplers[clip->sampler_count - 1]
                                    : NULL;
    clip->sampler_count++;
    sampler->interpolation = (pelt_interpolation)pose_random(state, 0, 3);
    sampler->width = path == PELT_ROTATION ? 4 : 3;
    uint32_t fewest = sampler->interpolation == PELT_CUBICSPLINE ? 2 : 1;
    sampler->key_count =
        fewest + (uint32_t)pose_random(state, 0, (double)info->most_keys - fewest + 1);
    if (other && other->key_count >= fewest) {
        sampler->key_count = other->key_count;
    } else {
        other = NULL;
    }
    uint32_t values = sampler->key_count * (sampler->interpolation == PELT_CUBICSPLINE ? 3 : 1);
    sampler->times = pelt_model_allocate(model, sampler->key_count, sizeof(float));
    sampler->values = pelt_model_allocate(model, (size_t)values * sampler->width, sizeof(float));
    assert_true(sampler->times && sampler->values);
    double time = pose_random(state, -1, 1), even = pose_random(state, -1, 1);
    time = time > 0 ? time : 0;
    for (uint32_t k = 0; k < sampler->key_count; k++) {
        sampler->times[k] = other ? other->times[k] : (float)time;
        time += even > 0 ? 0.25 : exp(pose_random(state, -7, 0));
        clip->duration = fmax(clip->duration, (double)sampler->times[k]);
    }
    for (uint32_t v = 0; v < values; v++) {
        float *out = sampler->values + (size_t)v * sampler->width;
        double q[4];
        pose_random_quaternion(state, q);
        for (uint32_t c = 0; c < sampler->width; c++) {
            out[c] = (float)(path == PELT_ROTATION      ? q[c]
                             : path == PELT_TRANSLATION ? 0.3 * q[c]
                                                        : 1 + 0.1 * q[c]);
        }
    }
}

static inline void pose_model_clip(const pose_model_info *info, pelt_model *model, pelt_clip *clip,
                                   uint64_t *state)
{
    size_t most = 3 * (size_t)model->node_count;
    clip->channels = pelt_model_allocate(model, most, sizeof(*clip->channels));
    clip->samplers = pelt_model_allocate(model, most, sizeof(*clip->samplers));
    assert_true(clip->channels && clip->samplers);
    for (uint32_t i = 0; i < model->node_count; i++) {
        for (pelt_path path = PELT_TRANSLATION; path < PELT_WEIGHTS; path++) {
            bool may =
                (info->any_clip_may || !model->nodes[i].has_matrix) && (!info->half_still || i % 2);
            if (may && pose_random(state, 0, 1) < 0.7) {
                pose_model_sampler(info, model, clip, path, state);
                clip->channels[clip->channel_count++] =
                    (pelt_channel){ .node = i, .path = path, .sampler = clip->sampler_count - 1 };
            }
        }
    }
}

static inline pelt_model *pose_model(const pose_model_info *info)
{
    uint64_t state = info->seed;
    pelt_model *model = pose_model_nodes(info, &state);
    pose_model_parts(info, model, &state);
    model->clip_count = info->clip_count;
    model->clips = pelt_model_allocate(model, info->clip_count, sizeof(*model->clips));
    assert_non_null(model->clips);
    for (uint32_t c = 0; c < info->clip_count; c++) {
        pose_model_clip(info, model, &model->clips[c], &state);
    }
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    return model;
}

/* -- expected ------------------------------------------------------------------------------ */

/* Global transforms, and what rounding is relative to. */
typedef struct pose_expected {
    double *globals; /* 12 a node */
    double *norms;   /* of the linear parts on the way, multiplied */
    double *reaches; /* of the translations on the way, added */
    double *steps;   /* matrices on the way */
} pose_expected;

static inline void pose_expected_open(pose_expected *out, const pelt_model *model)
{
    size_t count = model->node_count + 1u;
    out->globals = malloc(12 * count * sizeof(double));
    out->norms = malloc(count * sizeof(double));
    out->reaches = malloc(count * sizeof(double));
    out->steps = malloc(count * sizeof(double));
    assert_true(out->globals && out->norms && out->reaches && out->steps);
}

static inline void pose_expected_close(pose_expected *self)
{
    free(self->globals);
    free(self->norms);
    free(self->reaches);
    free(self->steps);
}

static inline double pose_norm(const double m[12])
{
    double square = 0;
    for (int i = 0; i < 12; i++) {
        square += i % 4 < 3 ? m[i] * m[i] : 0;
    }
    return sqrt(square / 3) > 1 ? sqrt(square / 3) : 1;
}

static inline double pose_length(const double m[12])
{
    return sqrt(m[3] * m[3] + m[7] * m[7] + m[11] * m[11]);
}

static inline const pose_expected *pose_expect(const pelt_pose *pose,
                                               const pelt_pose_override *overrides, uint32_t count,
                                               pose_expected *out)
{
    const pelt_model *model = pose->model;
    const double identity[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
    for (uint32_t i = 0; i < model->node_count; i++) {
        uint32_t node = model->node_order[i];
        int32_t parent = model->nodes[node].parent;
        const pelt_pose_override *override = NULL;
        for (uint32_t k = 0; k < count; k++) {
            override = overrides[k].node == node ? &overrides[k] : override;
        }
        double local[12], changed[12];
        pelt_local_matrix(&pose->locals[node], local);
        if (override && override->kind == PELT_OVERRIDE_LOCAL_MULTIPLY) {
            pelt_matrix_multiply(local, override->matrix, changed);
            memcpy(local, changed, sizeof(local));
        }
        bool replaced = override && override->kind != PELT_OVERRIDE_LOCAL_MULTIPLY &&
                        override->kind != PELT_OVERRIDE_GLOBAL_MULTIPLY;
        if (replaced) {
            memcpy(local, override->matrix, sizeof(local));
        }
        bool root = parent < 0 || (override && override->kind == PELT_OVERRIDE_GLOBAL_REPLACE);
        double *global = out->globals + 12 * (size_t)node;
        const double *above = root ? identity : out->globals + 12 * (size_t)parent;
        pelt_matrix_multiply(above, local, global);
        double norm = root ? 1 : out->norms[parent];
        out->reaches[node] = (root ? 0 : out->reaches[parent]) + norm * pose_length(local);
        out->norms[node] = norm * pose_norm(local);
        out->steps[node] = (root ? 0 : out->steps[parent]) + 1;
        if (override && override->kind == PELT_OVERRIDE_GLOBAL_MULTIPLY) {
            pelt_matrix_multiply(override->matrix, global, changed);
            memcpy(global, changed, sizeof(changed));
            norm = pose_norm(override->matrix);
            out->reaches[node] = norm * out->reaches[node] + pose_length(override->matrix);
            out->norms[node] *= norm;
            out->steps[node]++;
        }
    }
    return out;
}

/* A written matrix against world x global x bind. A product of matrices rounds each number some 4
 * times, what makes a local one some 16 times; that many last digits of what was added up. */
static inline void pose_check_matrix(const float *written, const pose_expected *expected,
                                     uint32_t node, const double *world, const double *bind)
{
    double placed[12], product[12];
    pelt_matrix_multiply(world, expected->globals + 12 * (size_t)node, placed);
    pelt_matrix_multiply(placed, bind, product);
    double roundings = 20 * (expected->steps[node] + 1) * 0x1p-24;
    double norm = expected->norms[node] * pose_norm(world) * pose_norm(bind);
    double reach =
        pose_norm(world) * (expected->reaches[node] + expected->norms[node] * pose_length(bind)) +
        pose_length(world);
    for (int i = 0; i < 12; i++) {
        assert_near((double)written[i], product[i], roundings * (i % 4 < 3 ? norm : reach));
    }
}

/* All matrices of an instance, and its sockets if all nodes are. */
static inline void pose_check_instance(const pose_scene *scene, uint32_t instance,
                                       const pose_expected *expected, const double *world)
{
    const pelt_model *model = scene->model;
    const double identity[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
    world = world ? world : identity;
    for (uint32_t p = 0; p < model->palette_count; p++) {
        const pelt_palette *palette = &model->palettes[p];
        for (uint32_t i = 0; i < palette->matrix_count; i++) {
            const pelt_skin *skin = palette->skin < 0 ? NULL : &model->skins[palette->skin];
            double bind[12];
            for (size_t k = 0; k < 12; k++) {
                bind[k] = skin ? (double)skin->inverse_bind[12 * (size_t)i + k] : identity[k];
            }
            pose_check_matrix(pose_scene_matrix(scene, instance, palette->first_matrix + i),
                              expected, skin ? skin->joints[i] : palette->node, world, bind);
        }
    }
    for (uint32_t i = 0; scene->all_nodes && i < model->node_count; i++) {
        pose_check_matrix(pose_scene_socket(scene, instance, i), expected, i, world, identity);
    }
}

#endif
