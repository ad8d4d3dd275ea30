/* Bounds, with u = 2^-24, n the influences a vertex has room for, and for each coordinate i
 * S_i = sum over the joints k of w_k (|a_i0| |x| + |a_i1| |y| + |a_i2| |z| + |t_i|), the largest
 * magnitude that rounding can act on:
 *
 *   position   rounding the matrices: u S. Blending n of them: n u S. Three products and three
 *              sums: 4 u S. One more for the terms in u^2: (n + 6) u S. To that comes pelt's
 *              promise, 2e-6 of the part's box diagonal.
 *   normal     an element of A is off by d = (n + 1) u m, m the largest element of sum w |A|; one
 *              of cof(A) by 4 m d + 4 u m^2; the length of cof(A) n by 12 m d + 30 u m^2. Divided
 *              by |cof(A) n| = c m^2, c the reference's confidence: (12 n + 42) u / c.
 *   tangent    likewise 3 d + 9 u m, divided by c m: (3 n + 12) u / c.
 *   both       encoding ten bits a component: asin(sqrt(3) / 1022), rounded at 511 u or better.
 *
 * Dual quaternions: the element of A (or of the translation) is off by (3 n + 22) u m instead, m
 * the reference's magnitude, sum of w |column| / |q|^2. A quaternion rounded, times its weight: 2
 * u. Summed: n u; so q is off by (n + 2) u. Products with matrix elements, themselves rounded, and
 * sums of three: the dual part is off by (n + 6) u |q|^2 m. Times q's conjugate, by |q|^2: 2 (n +
 * 6) u m and 8 u m for the product; for q's own error (n + 2) u m. Together (3 n + 22) u m. Where
 * joints lie at right angles as quaternions are, half a turn apart, the side that one is on is
 * decided by rounding, up to 6 u: there vertices are not compared. */
#include "cli/compare.h"

#include "base/box.h"

#include <math.h>
#include <string.h>

static const double unit_roundoff = 0x1p-24;
static const double promise = 2e-6;
static const double confidence_min = 1e-4;
static const double alignment_min = 1e-6;
static const double smallest_normal = 0x1p-126; /* what a GPU may flush to 0 */

struct pelt_comparison {
    const pelt_host *host;
    const pelt_character *character;

    /* What the paths start from, in the primitive's order; of the largest part. */
    float *bind_positions, *bind_normals, *bind_tangents;

    /* The two references: of that, and of the primitive itself. */
    double *positions, *normals, *tangents, *normal_confidence, *tangent_confidence;
    double *full_positions, *full_normals, *full_tangents;
    double *scales;       /* S, 3 a vertex */
    double *alignments;   /* 1 a vertex */
    double *displacement; /* what packing may cost, in packed order */

    /* The part that was begun. */
    const pelt_batch *batch;
    uint32_t member, part;
    const pelt_packed_mesh *mesh;
    bool has_normals, has_tangents;
    double diagonal;
    double roundings; /* u of an element of the blended matrix, n + 1 or 3 n + 22 */
};

pelt_result pelt_comparison_create(const pelt_character *character, pelt_comparison **out)
{
    *out = NULL;
    const pelt_host *host = character->host;
    pelt_comparison *c = pelt_allocate(host, 1, sizeof(*c));
    if (!c) {
        return PELT_ERROR_MEMORY;
    }
    c->host = host;
    c->character = character;
    size_t vertices = 1;
    for (uint32_t i = 0; i < character->mesh_count; i++) {
        const pelt_packed_mesh *mesh = character->meshes[i];
        vertices = mesh->vertex_count > vertices ? mesh->vertex_count : vertices;
    }
    c->bind_positions = pelt_allocate(host, vertices, 3 * sizeof(float));
    c->bind_normals = pelt_allocate(host, vertices, 3 * sizeof(float));
    c->bind_tangents = pelt_allocate(host, vertices, 4 * sizeof(float));
    c->positions = pelt_allocate(host, vertices, 3 * sizeof(double));
    c->normals = pelt_allocate(host, vertices, 3 * sizeof(double));
    c->tangents = pelt_allocate(host, vertices, 4 * sizeof(double));
    c->normal_confidence = pelt_allocate(host, vertices, sizeof(double));
    c->tangent_confidence = pelt_allocate(host, vertices, sizeof(double));
    c->full_positions = pelt_allocate(host, vertices, 3 * sizeof(double));
    c->full_normals = pelt_allocate(host, vertices, 3 * sizeof(double));
    c->full_tangents = pelt_allocate(host, vertices, 4 * sizeof(double));
    c->scales = pelt_allocate(host, vertices, 3 * sizeof(double));
    c->displacement = pelt_allocate(host, vertices, sizeof(double));
    c->alignments = pelt_allocate(host, vertices, sizeof(double));
    if (!c->bind_positions || !c->bind_normals || !c->bind_tangents || !c->positions ||
        !c->normals || !c->tangents || !c->normal_confidence || !c->tangent_confidence ||
        !c->full_positions || !c->full_normals || !c->full_tangents || !c->scales ||
        !c->alignments || !c->displacement) {
        pelt_comparison_destroy(c);
        return PELT_ERROR_MEMORY;
    }
    *out = c;
    return PELT_OK;
}

void pelt_comparison_destroy(pelt_comparison *c)
{
    if (!c) {
        return;
    }
    void *blocks[] = { c->bind_positions, c->bind_normals,      c->bind_tangents,
                       c->positions,      c->normals,           c->tangents,
                       c->full_positions, c->normal_confidence, c->tangent_confidence,
                       c->full_normals,   c->full_tangents,     c->scales,
                       c->alignments,     c->displacement };
    const pelt_host *host = c->host;
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        pelt_release(host, blocks[i]);
    }
    pelt_release(host, c);
}

/* What packing left of the primitive, or of its morphed form, in the primitive's order. */
static void decode(pelt_comparison *c, const pelt_morphed *morphed)
{
    const pelt_packed_mesh *mesh = c->mesh;
    const pelt_packed_vertex *vertices = morphed->vertices ? morphed->vertices : mesh->vertices;
    const uint32_t *tangents = morphed->tangents ? morphed->tangents : mesh->tangents;
    for (uint32_t packed = 0; packed < mesh->vertex_count; packed++) {
        size_t v = mesh->source_vertices[packed];
        float w;
        memcpy(c->bind_positions + 3 * v, vertices[packed].position, 3 * sizeof(float));
        pelt_decode_direction(vertices[packed].normal, c->bind_normals + 3 * v, &w);
        if (c->has_tangents) {
            pelt_decode_direction(tangents[packed], c->bind_tangents + 4 * v,
                                  &c->bind_tangents[4 * v + 3]);
        }
    }
}

static double diagonal_of(const double box[6])
{
    double x = box[3] - box[0], y = box[4] - box[1], z = box[5] - box[2];
    return sqrt(x * x + y * y + z * z);
}

static double angle(const double a[3], const double b[3])
{
    double x = a[1] * b[2] - a[2] * b[1];
    double y = a[2] * b[0] - a[0] * b[2];
    double z = a[0] * b[1] - a[1] * b[0];
    return atan2(sqrt(x * x + y * y + z * z), a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
}

static void note(const pelt_comparison *c, pelt_worst *worst, uint32_t vertex, double error,
                 double allowed, double of_box)
{
    double of_bound = allowed > 0.0 ? error / allowed : error > 0.0 ? INFINITY : 0.0;
    worst->count++;
    worst->error = error > worst->error ? error : worst->error;
    worst->of_box = of_box > worst->of_box ? of_box : worst->of_box;
    if (!(of_bound <= worst->of_bound)) {
        worst->of_bound = of_bound;
        worst->allowed = allowed;
        worst->member = c->batch->first + c->member;
        worst->part = c->part;
        worst->vertex = vertex;
    }
}

static double length(const double a[3])
{
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

/* The decoded influences against the file's own. */
static void judge_packing(pelt_comparison *c, uint32_t vertex_count, pelt_packing_result *packing)
{
    for (uint32_t v = 0; v < vertex_count; v++) {
        const double *a = c->positions + 3 * (size_t)v, *b = c->full_positions + 3 * (size_t)v;
        const double difference[3] = { a[0] - b[0], a[1] - b[1], a[2] - b[2] };
        /* A morphed position is rounded to float, and the given weights' sum is 1 to a rounding. */
        double rounding = 2 * unit_roundoff * length(c->scales + 3 * (size_t)v);
        double moved = length(difference);
        note(c, &packing->position, v, moved,
             c->displacement[c->mesh->packed_vertices[v]] + rounding,
             c->diagonal > 0.0 ? moved / c->diagonal : 0.0);
        if (c->has_normals && c->normal_confidence[v] >= confidence_min &&
            length(c->full_normals + 3 * (size_t)v) > 0.5) {
            note(c, &packing->normal, v,
                 angle(c->normals + 3 * (size_t)v, c->full_normals + 3 * (size_t)v), INFINITY, 0.0);
        }
        if (c->has_tangents && c->tangent_confidence[v] >= confidence_min) {
            note(c, &packing->tangent, v,
                 angle(c->tangents + 4 * (size_t)v, c->full_tangents + 4 * (size_t)v), INFINITY,
                 0.0);
        }
    }
}

pelt_result pelt_comparison_begin(pelt_comparison *c, const pelt_batch *batch, uint32_t i,
                                  uint32_t part, pelt_packing_result *packing)
{
    const pelt_character *character = c->character;
    const pelt_primitive *primitive = pelt_part_primitive(character->model, part);
    const pelt_morphed *morphed = pelt_batch_morphed(batch, i, part);
    const double *matrices = pelt_batch_palette_double(batch, i, part);
    const double *rotations = pelt_batch_rotations_double(batch, i, part);
    c->batch = batch;
    c->member = i;
    c->part = part;
    c->mesh = character->meshes[character->part_meshes[part]];
    c->has_normals = c->mesh->has_normals;
    c->has_tangents = c->mesh->tangents != NULL;
    decode(c, morphed);
    const double n = 4.0 * c->mesh->set_count;
    c->roundings = rotations ? 3.0 * n + 22.0 : n + 1.0;

    pelt_primitive decoded = *primitive;
    decoded.positions = c->bind_positions;
    decoded.normals = c->has_normals ? c->bind_normals : NULL;
    decoded.tangents = c->has_tangents ? c->bind_tangents : NULL;
    decoded.target_count = 0;
    decoded.targets = NULL;
    double box[6] = { INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY };
    pelt_reference_job job = { .primitive = &decoded,
                               .matrices = matrices,
                               .rotations = rotations,
                               .rigid = c->mesh->rigid,
                               .influences_of = c->mesh,
                               .positions = c->positions,
                               .normals = c->has_normals ? c->normals : NULL,
                               .tangents = c->has_tangents ? c->tangents : NULL,
                               .normal_confidence = c->has_normals ? c->normal_confidence : NULL,
                               .tangent_confidence = c->has_tangents ? c->tangent_confidence : NULL,
                               .position_scales = c->scales,
                               .alignments = c->alignments };
    pelt_skin_reference(&job, 0, primitive->vertex_count, box);
    c->diagonal = diagonal_of(box);

    pelt_reference_job full = { .primitive = primitive,
                                .matrices = matrices,
                                .rotations = rotations,
                                .morph_weights = pelt_batch_morph_weights(batch, i, part),
                                .rigid = c->mesh->rigid,
                                .positions = c->full_positions,
                                .normals = c->has_normals ? c->full_normals : NULL,
                                .tangents = c->has_tangents ? c->full_tangents : NULL };
    pelt_skin_reference(&full, 0, primitive->vertex_count, NULL);
    pelt_result result = pelt_pack_displacement(c->mesh, primitive, morphed->vertices, matrices,
                                                rotations, c->displacement, NULL);
    if (result == PELT_OK) {
        judge_packing(c, primitive->vertex_count, packing);
    }
    return result;
}

static void add_position(const pelt_comparison *c, const float *position, uint32_t v,
                         pelt_path_result *path)
{
    const double *wanted = c->positions + 3 * (size_t)v;
    const double *scale = c->scales + 3 * (size_t)v;
    const double n = 4.0 * c->mesh->set_count;
    const float *bind = c->bind_positions + 3 * (size_t)v;
    double flushed = 4 * n * smallest_normal *
                     (1.0 + fabs((double)bind[0]) + fabs((double)bind[1]) + fabs((double)bind[2]));
    double worst = 0.0, allowed = 1.0, error = 0.0;
    for (int i = 0; i < 3; i++) {
        if (!isfinite(position[i])) {
            path->not_finite++;
            return;
        }
        double off = fabs(position[i] - wanted[i]);
        off = c->alignments[v] < alignment_min ? 0.0 : off;
        double bound =
            promise * c->diagonal + (c->roundings + 5) * unit_roundoff * scale[i] + flushed;
        if (off / bound >= worst) {
            worst = off / bound;
            allowed = bound;
            error = off;
        }
    }
    note(c, &path->position, v, error, allowed, c->diagonal > 0.0 ? error / c->diagonal : 0.0);
}

static void add_direction(const pelt_comparison *c, const double *wanted, double confidence,
                          double rounding, uint32_t code, uint32_t v, pelt_worst *worst)
{
    if (confidence < confidence_min || c->alignments[v] < alignment_min) {
        return;
    }
    float decoded[3], w;
    pelt_decode_direction(code, decoded, &w);
    const double direction[3] = { decoded[0], decoded[1], decoded[2] };
    note(c, worst, v, angle(direction, wanted),
         pelt_direction_bound() + rounding * unit_roundoff / confidence, 0.0);
}

void pelt_comparison_add(const pelt_comparison *c, const pelt_animated *animated, bool joint_boxes,
                         pelt_path_result *path)
{
    pelt_box box = PELT_BOX_EMPTY;
    for (uint32_t v = 0; v < animated->vertex_count; v++) {
        uint32_t packed = c->mesh->packed_vertices[v];
        const pelt_packed_vertex *vertex = &animated->vertices[packed];
        box_add(&box, vertex->position);
        add_position(c, vertex->position, v, path);
        if (c->has_normals) {
            add_direction(c, c->normals + 3 * (size_t)v, c->normal_confidence[v],
                          12 * c->roundings + 30, vertex->normal, v, &path->normal);
        }
        if (c->has_tangents) {
            uint32_t code = animated->tangents[packed];
            add_direction(c, c->tangents + 4 * (size_t)v, c->tangent_confidence[v],
                          3 * c->roundings + 9, code, v, &path->tangent);
            path->handedness_wrong += (code >> 31 == 1) != (c->tangents[4 * (size_t)v + 3] > 0.0);
        }
    }
    path->boxes++;
    path->boxes_equal += memcmp(&box, &animated->box, sizeof(box)) == 0;
    if (joint_boxes) {
        path->joint_boxes++;
        path->joint_boxes_hold += box_contains(&animated->joint_box, &animated->box);
    }
}

bool pelt_path_result_holds(const pelt_path_result *path)
{
    return path->position.of_bound <= 1.0 && path->normal.of_bound <= 1.0 &&
           path->tangent.of_bound <= 1.0 && path->boxes_equal == path->boxes &&
           path->joint_boxes_hold == path->joint_boxes && path->handedness_wrong == 0 &&
           path->not_finite == 0;
}
