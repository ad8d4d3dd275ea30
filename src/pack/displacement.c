#include "base/base.h"
#include "pack/influences.h"
#include "pack/walk.h"

#include <math.h>

static void transform(const double *matrix, const float point[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        const double *row = matrix + 4 * i;
        out[i] = row[0] * point[0] + row[1] * point[1] + row[2] * point[2] + row[3];
    }
}

/* Adds the decoded weights of a vertex to weight_of and returns the implied one's joint. */
static uint32_t add_decoded(const pelt_packed_mesh *mesh, uint32_t vertex, double *weight_of)
{
    influence_walk walk = walk_influences(mesh, vertex);
    uint32_t joint;
    float weight;
    while (next_influence(&walk, &joint, &weight)) {
        weight_of[joint] += weight;
    }
    return walk.implied_joint;
}

/* Joints that the mesh or the primitive gives a weight lie below this. */
static uint32_t joint_limit(const pelt_packed_mesh *mesh, const pelt_primitive *primitive)
{
    uint32_t limit = mesh->joint_count;
    size_t slots = mesh->rigid ? 0 : (size_t)primitive->vertex_count * primitive->influence_count;
    for (size_t i = 0; i < slots; i++) {
        if (primitive->weights[i] > 0.0f && primitive->joints[i] >= limit) {
            limit = primitive->joints[i] + 1u;
        }
    }
    return limit;
}

/* What a vertex's influences sum up to: |error| x distance, of which linear blending moves it no
 * farther, |error|, weight x distance, and the quaternions by given and by decoded weights. */
typedef struct moves {
    double far, error, reach;
    double given[4], decoded[4];
} moves;

static void add_rotation(moves *sum, const double rotation[4], const double side[4], double given,
                         double decoded)
{
    double cosine = 0.0;
    for (int i = 0; i < 4; i++) {
        cosine += rotation[i] * side[i];
    }
    for (int i = 0; i < 4; i++) {
        sum->given[i] += (cosine < 0.0 ? -given : given) * rotation[i];
        sum->decoded[i] += (cosine < 0.0 ? -decoded : decoded) * rotation[i];
    }
}

/* Seen from where the implied weight's joint puts the vertex, dual quaternions move it by D q* of
 * unit length, q their real part and D the sum of w (M p - M_0 p) q_k, at most reach long. D / |q|
 * changes by far / |q'| and by D error / (|q| |q'|), q / |q| by 2 error / (|q| + |q'|). */
static double bound_of(const moves *sum, bool dual)
{
    double a = 0.0, b = 0.0;
    for (int i = 0; dual && i < 4; i++) {
        a += sum->given[i] * sum->given[i];
        b += sum->decoded[i] * sum->decoded[i];
    }
    a = sqrt(a);
    b = sqrt(b);
    return dual ? sum->far / b + sum->reach * sum->error / (a * b) +
                      sum->reach / a * 2.0 * sum->error / (a + b)
                : sum->far;
}

pelt_result pelt_pack_displacement(const pelt_packed_mesh *mesh, const pelt_primitive *primitive,
                                   const pelt_packed_vertex *vertices, const double *matrices,
                                   const double *rotations, double *bounds, double *largest)
{
    uint32_t joint_count = joint_limit(mesh, primitive);
    vertices = vertices ? vertices : mesh->vertices;
    double worst = 0.0;
    pelt_gather gather;
    pelt_result result =
        pelt_gather_init(&gather, mesh->host, mesh->rigid ? NULL : primitive, joint_count);
    if (result) {
        return result;
    }
    double *errors = pelt_allocate(mesh->host, joint_count, sizeof(*errors)); /* by joint */
    if (!errors) {
        result = pelt_fail(mesh->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for influences");
        goto done;
    }
    for (uint32_t to = 0; to < mesh->vertex_count; to++) {
        /* Every joint with a decoded weight is among the gathered ones. */
        uint32_t implied = add_decoded(mesh, to, errors);
        pelt_gather_vertex(&gather, mesh->source_vertices[to]);
        double base[3], moved[3];
        moves sum = { 0 };
        transform(matrices + 12 * (size_t)implied, vertices[to].position, base);
        for (uint32_t i = 0; i < gather.count; i++) {
            uint32_t joint = gather.list[i].joint;
            double given = gather.list[i].weight, decoded = errors[joint];
            errors[joint] = 0.0;
            transform(matrices + 12 * (size_t)joint, vertices[to].position, moved);
            double distance = sqrt((moved[0] - base[0]) * (moved[0] - base[0]) +
                                   (moved[1] - base[1]) * (moved[1] - base[1]) +
                                   (moved[2] - base[2]) * (moved[2] - base[2]));
            sum.far += fabs(decoded - given) * distance;
            sum.error += fabs(decoded - given);
            sum.reach += given * distance;
            if (rotations) {
                add_rotation(&sum, rotations + 4 * (size_t)joint, rotations + 4 * (size_t)implied,
                             given, decoded);
            }
        }
        double bound = bound_of(&sum, rotations != NULL);
        if (bounds) {
            bounds[to] = bound;
        }
        worst = bound > worst ? bound : worst;
    }
    if (largest) {
        *largest = worst;
    }
done:
    pelt_release(mesh->host, errors);
    pelt_gather_finish(&gather);
    return result;
}
