#include <pelt/skin.h>

#include "skin/deform.h"
#include "skin/dual.h"

/* Signed integers in the order of the floats with these bits; its own inverse. Compares denormals
 * as what they are even where the caller has the processor flush them. */
static int32_t ordered(float value)
{
    int32_t bits = (int32_t)float_to_bits(value);
    return bits < 0 ? bits ^ 0x7fffffff : bits;
}

static float unordered(int32_t key)
{
    return float_from_bits((uint32_t)(key < 0 ? key ^ 0x7fffffff : key));
}

/* The blended matrix of a vertex. A weight of 1 leaves its matrix exactly as it is. */
static void blend_linear(const pelt_skin_job *job, uint32_t vertex, float m[12])
{
    memset(m, 0, 12 * sizeof(*m));
    float implied_weight = 1.0f;
    uint32_t implied_joint = 0;
    for (uint32_t set = 0; set < job->mesh->set_count; set++) {
        float weights[4];
        uint32_t joints[4];
        decode_weights(job->mesh, set, vertex, weights);
        decode_joints(job->mesh, set, vertex, joints);
        implied_joint = set == 0 ? joints[0] : implied_joint;
        for (int k = 0; k < 4; k++) {
            if (weights[k] > 0.0f) {
                blend_matrix(m, weights[k], job->matrices + 12 * (size_t)joints[k]);
                implied_weight -= weights[k];
            }
        }
    }
    blend_matrix(m, implied_weight, job->matrices + 12 * (size_t)implied_joint);
}

/* The same of dual quaternions. The implied weight is the largest: its joint's side counts. */
static void blend_dual(const pelt_skin_job *job, uint32_t vertex, float m[12])
{
    dual_blend sum = { 0 };
    float implied_weight = 1.0f;
    uint32_t joints[4];
    decode_joints(job->mesh, 0, vertex, joints);
    uint32_t implied_joint = joints[0];
    const float *side = job->rotations + 4 * (size_t)implied_joint;
    for (uint32_t set = 0; set < job->mesh->set_count; set++) {
        float weights[4];
        decode_weights(job->mesh, set, vertex, weights);
        decode_joints(job->mesh, set, vertex, joints);
        for (int k = 0; k < 4; k++) {
            if (weights[k] > 0.0f) {
                const float *rotation = job->rotations + 4 * (size_t)joints[k];
                float sign = dot_quaternions(rotation, side) < 0.0f ? -1.0f : 1.0f;
                blend_motion(&sum, sign * weights[k], rotation,
                             job->matrices + 12 * (size_t)joints[k]);
                implied_weight -= weights[k];
            }
        }
    }
    const float *matrix = job->matrices + 12 * (size_t)implied_joint;
    if (implied_weight == 1.0f) {
        memcpy(m, matrix, 12 * sizeof(*m));
        return;
    }
    blend_motion(&sum, implied_weight, side, matrix);
    blended_matrix(&sum, m);
}

static void *at(void *stream, size_t stride, uint32_t vertex)
{
    return (char *)stream + stride * vertex;
}

void pelt_skin_cpu(const pelt_skin_job *job, uint32_t first, uint32_t count, pelt_box *box)
{
    const pelt_packed_vertex *vertices = job->vertices ? job->vertices : job->mesh->vertices;
    const uint32_t *tangents = job->tangents ? job->tangents : job->mesh->tangents;
    bool with_tangents = job->out_tangents && job->mesh->tangents;
    size_t position_stride = job->position_stride ? job->position_stride : 3 * sizeof(float);
    size_t normal_stride = job->normal_stride ? job->normal_stride : sizeof(uint32_t);
    size_t tangent_stride = job->tangent_stride ? job->tangent_stride : sizeof(uint32_t);

    pelt_box grown = box ? *box : (pelt_box)PELT_BOX_EMPTY;
    int32_t min[3], max[3];
    for (int i = 0; i < 3; i++) {
        min[i] = ordered(grown.min[i]);
        max[i] = ordered(grown.max[i]);
    }
    for (uint32_t vertex = first; vertex - first < count; vertex++) {
        float m[12], position[3], bind[3], direction[3];
        if (job->rotations) {
            blend_dual(job, vertex, m);
        } else {
            blend_linear(job, vertex, m);
        }

        deform_position(m, vertices[vertex].position, position);
        memcpy(at(job->out_positions, position_stride, vertex), position, sizeof(position));
        for (int i = 0; i < 3; i++) {
            int32_t key = ordered(position[i]);
            min[i] = key < min[i] ? key : min[i];
            max[i] = key > max[i] ? key : max[i];
        }
        if (job->out_normals) {
            decode_scaled_direction(vertices[vertex].normal, bind);
            deform_normal(m, bind, direction);
            uint32_t *out = at(job->out_normals, normal_stride, vertex);
            *out = encode_unit_direction(direction) | HANDEDNESS_MASK;
        }
        if (with_tangents) {
            decode_scaled_direction(tangents[vertex], bind);
            deform_tangent(m, bind, direction);
            uint32_t *out = at(job->out_tangents, tangent_stride, vertex);
            *out = encode_unit_direction(direction) | (tangents[vertex] & HANDEDNESS_MASK);
        }
    }
    for (int i = 0; box && i < 3; i++) {
        box->min[i] = unordered(min[i]);
        box->max[i] = unordered(max[i]);
    }
}
