/* The vertices that a palette moves: their boxes, and how far two palettes are apart. */
#include "bake/bake.h"

#include "base/box.h"

#include <math.h>

static pelt_result list_influences(const pelt_host *host, pelt_bake_body *body)
{
    const pelt_packed_mesh *mesh = body->mesh;
    size_t slots = 4 * (size_t)mesh->set_count, total = 0;
    float *weights = pelt_allocate(host, slots, sizeof(*weights));
    uint32_t *joints = pelt_allocate(host, slots, sizeof(*joints));
    body->firsts = pelt_allocate(host, (size_t)mesh->vertex_count + 1, sizeof(*body->firsts));
    bool enough = weights && joints && body->firsts;
    for (int pass = 0; enough && pass < 2; pass++) {
        total = 0;
        for (uint32_t v = 0; v < mesh->vertex_count; v++) {
            body->firsts[v] = total;
            pelt_unpack_influences(mesh, v, joints, weights);
            for (size_t k = 0; k < slots; k++) {
                if (weights[k] > 0 && pass == 1) {
                    body->influences[total] =
                        (pelt_bake_influence){ .joint = joints[k], .weight = weights[k] };
                }
                total += weights[k] > 0;
            }
        }
        body->firsts[mesh->vertex_count] = total;
        if (pass == 0) {
            body->influences = pelt_allocate(host, total, sizeof(*body->influences));
            enough = body->influences != NULL;
        }
    }
    pelt_release(host, weights);
    pelt_release(host, joints);
    return enough ? PELT_OK
                  : pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for %u vertices",
                              mesh->vertex_count);
}

static bool has_morph(const double *weights, uint32_t count)
{
    for (uint32_t i = 0; weights && i < count; i++) {
        if (weights[i] != 0) {
            return true;
        }
    }
    return false;
}

static pelt_result make_body(const pelt_host *host, const pelt_primitive *primitive, bool rigid,
                             const double *morph_weights, pelt_bake_body *body)
{
    pelt_result result =
        pelt_pack(host, &(pelt_pack_info){ .primitive = primitive, .rigid = rigid }, &body->mesh);
    if (result == PELT_OK && has_morph(morph_weights, primitive->target_count)) {
        body->morphed = pelt_allocate(host, body->mesh->vertex_count, sizeof(*body->morphed));
        if (!body->morphed) {
            return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for %u vertices",
                             body->mesh->vertex_count);
        }
        (void)pelt_pack_morphed(body->mesh, primitive, morph_weights, body->morphed, NULL);
    }
    if (result == PELT_OK) {
        result = pelt_joint_boxes_create(host, body->mesh, body->morphed, &body->boxes);
    }
    return result == PELT_OK ? list_influences(host, body) : result;
}

/* An earlier part whose body is this one's, too: of the same primitive, moved the same way, and
 * with nothing to morph. */
static bool is_same_body(const pelt_part *a, const pelt_part *b, const pelt_primitive *primitive)
{
    return a->mesh == b->mesh && a->primitive == b->primitive && a->skinned == b->skinned &&
           primitive->target_count == 0;
}

/* last: of each of the model's meshes, 1 + the last part that uses it, so that only those are
 * looked at; chain: of each part, the one before it likewise. */
static pelt_result add_part(const pelt_pose *pose, uint32_t index, uint32_t *last, uint32_t *chain,
                            uint32_t *bodies_of, pelt_bake_bodies *out)
{
    const pelt_model *model = pose->model;
    const pelt_part *part = &model->parts[index];
    const pelt_primitive *primitive = &model->meshes[part->mesh].primitives[part->primitive];
    uint32_t body = UINT32_MAX;
    for (uint32_t i = last[part->mesh]; i && body == UINT32_MAX; i = chain[i - 1]) {
        if (is_same_body(part, &model->parts[i - 1], primitive)) {
            body = bodies_of[i - 1];
        }
    }
    if (body == UINT32_MAX) {
        body = out->body_count++;
        pelt_result result =
            make_body(out->host, primitive, !part->skinned,
                      pelt_pose_part_morph_weights(pose, part), &out->bodies[body]);
        if (result != PELT_OK) {
            return result;
        }
        chain[index] = last[part->mesh];
        last[part->mesh] = index + 1;
    }
    bodies_of[index] = body;
    out->parts[out->part_count++].body = body;
    return PELT_OK;
}

pelt_result pelt_bake_bodies_make(const pelt_host *host, const pelt_pose *pose,
                                  const uint32_t *first_joints, pelt_bake_bodies *out)
{
    const pelt_model *model = pose->model;
    *out = (pelt_bake_bodies){ .host = host };
    out->bodies = pelt_allocate(host, model->part_count, sizeof(*out->bodies));
    out->parts = pelt_allocate(host, model->part_count, sizeof(*out->parts));
    uint32_t *last = pelt_allocate(host, model->mesh_count, sizeof(*last));
    uint32_t *chain = pelt_allocate(host, model->part_count, sizeof(*chain));
    uint32_t *bodies_of = pelt_allocate(host, model->part_count, sizeof(*bodies_of));
    bool enough = out->bodies && out->parts && last && chain && bodies_of;
    pelt_result result = enough ? PELT_OK : PELT_ERROR_MEMORY;
    uint32_t most = 0;
    for (uint32_t i = 0; result == PELT_OK && i < model->part_count; i++) {
        uint32_t first_joint = first_joints[model->parts[i].palette];
        if (first_joint == UINT32_MAX) {
            continue;
        }
        result = add_part(pose, i, last, chain, bodies_of, out);
        if (result == PELT_OK) {
            pelt_bake_part *part = &out->parts[out->part_count - 1];
            uint32_t count = out->bodies[part->body].mesh->vertex_count;
            part->first_joint = first_joint;
            most = count > most ? count : most;
        }
    }
    if (result == PELT_OK) {
        out->positions = pelt_allocate(host, most, 3 * sizeof(*out->positions));
        enough = out->positions != NULL;
    }
    pelt_release(host, last);
    pelt_release(host, chain);
    pelt_release(host, bodies_of);
    return enough ? result
                  : pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for %u parts",
                              model->part_count);
}

void pelt_bake_bodies_free(pelt_bake_bodies *bodies)
{
    for (uint32_t i = 0; i < bodies->body_count; i++) {
        pelt_bake_body *body = &bodies->bodies[i];
        pelt_packed_mesh_destroy(body->mesh);
        pelt_joint_boxes_destroy(body->boxes);
        pelt_release(bodies->host, body->morphed);
        pelt_release(bodies->host, body->firsts);
        pelt_release(bodies->host, body->influences);
    }
    pelt_release(bodies->host, bodies->bodies);
    pelt_release(bodies->host, bodies->parts);
    pelt_release(bodies->host, bodies->positions);
}

pelt_box pelt_bake_bodies_box(const pelt_bake_bodies *bodies, const float *matrices)
{
    pelt_box box = PELT_BOX_EMPTY;
    for (uint32_t i = 0; i < bodies->part_count; i++) {
        const pelt_bake_part *part = &bodies->parts[i];
        const pelt_bake_body *body = &bodies->bodies[part->body];
        const pelt_skin_job job = { .mesh = body->mesh,
                                    .matrices = matrices + 12 * (size_t)part->first_joint,
                                    .vertices = body->morphed,
                                    .out_positions = bodies->positions };
        pelt_skin_cpu(&job, 0, body->mesh->vertex_count, &box);
    }
    return box;
}

/* |D (p 1)|^2 */
static double square_moved(const double *d, const double p[3])
{
    double square = 0;
    for (int i = 0; i < 12; i += 4) {
        double moved = d[i] * p[0] + d[i + 1] * p[1] + d[i + 2] * p[2] + d[i + 3];
        square += moved * moved;
    }
    return square;
}

/* Weights sum to 1, so no vertex is moved farther than the farthest of its joints would move it,
 * and that one no farther than some corner of a box around all that the joint moves. */
static double body_bound(const pelt_bake_body *body, const double *differences)
{
    double most = 0;
    for (uint32_t j = 0; j < body->boxes->joint_count; j++) {
        const pelt_box *box = &body->boxes->bind[j];
        for (int corner = 0; !box_is_empty(box) && corner < 8; corner++) {
            const double p[3] = { (double)(corner & 1 ? box->max : box->min)[0],
                                  (double)(corner & 2 ? box->max : box->min)[1],
                                  (double)(corner & 4 ? box->max : box->min)[2] };
            most = fmax(most, square_moved(differences + 12 * (size_t)j, p));
        }
    }
    return most;
}

static double body_farthest(const pelt_bake_body *body, const double *differences)
{
    const pelt_packed_vertex *vertices = body->morphed ? body->morphed : body->mesh->vertices;
    double most = 0;
    for (uint32_t v = 0; v < body->mesh->vertex_count; v++) {
        double blended[12] = { 0 };
        for (size_t k = body->firsts[v]; k < body->firsts[v + 1]; k++) {
            double weight = (double)body->influences[k].weight;
            const double *d = differences + 12 * (size_t)body->influences[k].joint;
            for (int i = 0; i < 12; i++) {
                blended[i] += weight * d[i];
            }
        }
        const double p[3] = { (double)vertices[v].position[0], (double)vertices[v].position[1],
                              (double)vertices[v].position[2] };
        double square = square_moved(blended, p);
        most = square > most ? square : most;
    }
    return most;
}

bool pelt_bake_bodies_farther(const pelt_bake_bodies *bodies, const double *differences,
                              double *worst)
{
    double least = *worst * *worst, most = least;
    for (uint32_t i = 0; i < bodies->part_count; i++) {
        const pelt_bake_part *part = &bodies->parts[i];
        const pelt_bake_body *body = &bodies->bodies[part->body];
        const double *d = differences + 12 * (size_t)part->first_joint;
        if (body_bound(body, d) > most) {
            most = fmax(most, body_farthest(body, d));
        }
    }
    *worst = most > least ? sqrt(most) : *worst;
    return most > least;
}

double pelt_bake_bodies_bound(const pelt_bake_bodies *bodies, const double *differences)
{
    double most = 0;
    for (uint32_t i = 0; i < bodies->part_count; i++) {
        const pelt_bake_part *part = &bodies->parts[i];
        most = fmax(most, body_bound(&bodies->bodies[part->body],
                                     differences + 12 * (size_t)part->first_joint));
    }
    return sqrt(most);
}
