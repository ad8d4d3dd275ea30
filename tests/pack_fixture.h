/* Primitives made of random numbers, for the tests of packing and skinning. */
#ifndef PELT_TESTS_PACK_FIXTURE_H
#define PELT_TESTS_PACK_FIXTURE_H

#include <math.h>
#include <pelt/skin.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* splitmix64: the same numbers everywhere. */
static inline double uniform(uint64_t *state, double low, double high)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return low + (high - low) * ((double)(z >> 11) * 0x1p-53);
}

static inline uint32_t below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)uniform(state, 0.0, bound);
}

static inline void random_direction(uint64_t *state, float out[3])
{
    double d[3], squared;
    do {
        for (int i = 0; i < 3; i++) {
            d[i] = uniform(state, -1.0, 1.0);
        }
        squared = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    } while (squared > 1.0 || squared < 1e-4);
    for (int i = 0; i < 3; i++) {
        out[i] = (float)(d[i] / sqrt(squared));
    }
}

static inline void *allocate(size_t count, size_t size)
{
    void *block = calloc(count ? count : 1, size);
    assert_non_null(block);
    return block;
}

/* Positions in [-1, 1]^3, random normals and tangents, all influences 0. */
static inline pelt_primitive make_primitive(uint32_t vertex_count, uint32_t slots, uint64_t seed)
{
    size_t count = vertex_count;
    pelt_primitive p = { .topology = PELT_POINTS,
                         .vertex_count = vertex_count,
                         .positions = allocate(count, 3 * sizeof(float)),
                         .normals = allocate(count, 3 * sizeof(float)),
                         .tangents = allocate(count, 4 * sizeof(float)),
                         .influence_count = slots,
                         .joints = allocate(count * slots, sizeof(uint16_t)),
                         .weights = allocate(count * slots, sizeof(float)),
                         .material = -1 };
    for (size_t v = 0; v < count; v++) {
        for (size_t i = 0; i < 3; i++) {
            p.positions[3 * v + i] = (float)uniform(&seed, -1.0, 1.0);
        }
        random_direction(&seed, p.normals + 3 * v);
        random_direction(&seed, p.tangents + 4 * v);
        p.tangents[4 * v + 3] = below(&seed, 2) ? 1.0f : -1.0f;
    }
    return p;
}

static inline void free_primitive(pelt_primitive *p)
{
    free(p->positions);
    free(p->normals);
    free(p->tangents);
    free(p->joints);
    free(p->weights);
    *p = (pelt_primitive){ 0 };
}

/* 1 to max influences in slots of their own anywhere in the vertex, joints not repeated, of a shape
 * between nearly equal and one that outweighs the others a million times. */
static inline void random_influences(pelt_primitive *p, uint32_t max, uint32_t joint_count,
                                     uint64_t seed)
{
    uint32_t slots = p->influence_count;
    double *raw = allocate(slots, sizeof(*raw));
    for (size_t v = 0; v < p->vertex_count; v++) {
        float *weights = p->weights + v * slots;
        uint16_t *joints = p->joints + v * slots;
        uint32_t count = 1 + below(&seed, max), first_joint = below(&seed, joint_count);
        double shape = uniform(&seed, 0.0, 1.0) < 0.3 ? 0.01 : uniform(&seed, 0.5, 12.0), sum = 0.0;
        uint32_t start = below(&seed, slots - count + 1);
        for (uint32_t k = start; k < start + count; k++) {
            raw[k] = pow(uniform(&seed, 1e-9, 1.0), shape);
            joints[k] = (uint16_t)((first_joint + k) % joint_count);
            sum += raw[k];
        }
        for (uint32_t k = start; k < start + count; k++) {
            weights[k] = (float)(raw[k] / sum);
        }
    }
    free(raw);
}

static inline pelt_packed_mesh *pack_in_order(const pelt_primitive *p, const uint32_t *order)
{
    pelt_packed_mesh *mesh;
    const pelt_pack_info info = { .primitive = p, .order = order };
    assert_int_equal(pelt_pack(NULL, &info, &mesh), PELT_OK);
    return mesh;
}

/* In the primitive's order. */
static inline pelt_packed_mesh *pack(const pelt_primitive *p)
{
    uint32_t *order = allocate(p->vertex_count, sizeof(*order));
    for (uint32_t vertex = 0; vertex < p->vertex_count; vertex++) {
        order[vertex] = vertex;
    }
    pelt_packed_mesh *mesh = pack_in_order(p, order);
    free(order);
    return mesh;
}

/* Rows of a rotation by a random unit quaternion times scales, and a translation. */
static inline void random_matrix(uint64_t *state, double scale_low, double scale_high,
                                 double distance, float out[12])
{
    double q[4], squared = 0.0;
    for (int i = 0; i < 4; i++) {
        q[i] = uniform(state, -1.0, 1.0);
        squared += q[i] * q[i];
    }
    for (int i = 0; i < 4; i++) {
        q[i] /= sqrt(squared);
    }
    double x = q[0], y = q[1], z = q[2], w = q[3];
    double r[9] = { 1 - 2 * (y * y + z * z), 2 * (x * y - z * w),     2 * (x * z + y * w),
                    2 * (x * y + z * w),     1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
                    2 * (x * z - y * w),     2 * (y * z + x * w),     1 - 2 * (x * x + y * y) };
    for (int j = 0; j < 3; j++) {
        double scale = exp(uniform(state, log(scale_low), log(scale_high)));
        for (int i = 0; i < 3; i++) {
            out[4 * i + j] = (float)(r[3 * i + j] * scale);
        }
        out[4 * j + 3] = (float)uniform(state, -distance, distance);
    }
}

#endif
