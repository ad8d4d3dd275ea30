/* What the layouts do to random vertices and to characters in their poses. */
#include "study/weights.h"

#include "base/base.h"
#include "study/character.h"

#include <math.h>
#include <string.h>

/* -- random vertices ----------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state)
{
    uint64_t value = *state += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

/* In (0, 1). */
static double random_number(uint64_t *state)
{
    return ((double)(next_random(state) >> 12) + 0.5) * 0x1p-52;
}

static uint32_t draw_count(uint64_t *state)
{
    double draw = random_number(state);
    return draw < 0.25 ? 1 : draw < 0.55 ? 2 : draw < 0.8 ? 3 : 4;
}

/* Exponentially distributed numbers over their sum are uniform on the simplex. */
static void draw_weights(uint64_t *state, uint32_t count, double weights[4])
{
    double sum = 0.0;
    memset(weights, 0, 4 * sizeof(*weights));
    for (uint32_t i = 0; i < count; i++) {
        weights[i] = -log(random_number(state));
        sum += weights[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        weights[i] /= sum;
    }
}

void pelt_weight_study_random(uint64_t vertices, uint32_t influences, uint64_t seed,
                              pelt_weight_study *out)
{
    *out = (pelt_weight_study){ .name = influences ? "random, uniform on the simplex"
                                                   : "random, with 1 to 4 influences",
                                .vertices = vertices };
    uint64_t state = seed;
    for (uint64_t v = 0; v < vertices; v++) {
        double given[4], decoded[4];
        draw_weights(&state, influences ? influences : draw_count(&state), given);
        for (uint32_t l = 0; l < PELT_WEIGHT_LAYOUT_COUNT; l++) {
            pelt_weight_layout_apply(&pelt_weight_layouts[l], given, decoded);
            pelt_weight_errors_add(&out->layouts[l].errors, given, decoded);
        }
    }
}

/* -- characters ---------------------------------------------------------------------------- */

/* The influences of one vertex as every layout gets them: four slots in the file's order, those
 * that are not used with weight 0 and joint 0, as glTF has them. */
typedef struct slots {
    uint32_t count;
    uint32_t joints[4];
    double weights[4];
    bool reduced;
} slots;

/* Where an influence that no slot is left for goes: over the smallest, if that is smaller. The
 * others keep their order. */
static void displace_smallest(slots *to, uint32_t joint, double weight)
{
    uint32_t smallest = 0;
    for (uint32_t i = 1; i < 4; i++) {
        smallest = to->weights[i] <= to->weights[smallest] ? i : smallest;
    }
    to->reduced = true;
    if (weight <= to->weights[smallest]) {
        return;
    }
    for (uint32_t i = smallest; i < 3; i++) {
        to->weights[i] = to->weights[i + 1];
        to->joints[i] = to->joints[i + 1];
    }
    to->weights[3] = weight;
    to->joints[3] = joint;
}

/* Joints named twice are one influence. Of more than four, the largest stay. sums: zeros for any
 * joint, before and after. */
static void gather(const pelt_primitive *primitive, uint32_t vertex, double *sums, slots *to)
{
    uint32_t slot_count = primitive->influence_count;
    const float *weights = primitive->weights + (size_t)vertex * slot_count;
    const uint16_t *joints = primitive->joints + (size_t)vertex * slot_count;
    *to = (slots){ 0 };
    for (uint32_t s = 0; s < slot_count; s++) {
        sums[joints[s]] += weights[s];
    }
    for (uint32_t s = 0; s < slot_count; s++) {
        double weight = sums[joints[s]];
        sums[joints[s]] = 0.0;
        if (!(weight > 0.0)) {
            continue;
        }
        if (to->count < 4) {
            to->joints[to->count] = joints[s];
            to->weights[to->count++] = weight;
        } else {
            displace_smallest(to, joints[s], weight);
        }
    }
    double sum = to->weights[0] + to->weights[1] + to->weights[2] + to->weights[3];
    for (uint32_t i = 0; i < to->count; i++) {
        to->weights[i] /= sum;
    }
}

static void round_part(const pelt_primitive *primitive, double *sums, pelt_weight_study *study)
{
    for (uint32_t v = 0; v < primitive->vertex_count; v++) {
        slots given;
        double decoded[4];
        gather(primitive, v, sums, &given);
        study->reduced += given.reduced;
        for (uint32_t l = 0; l < PELT_WEIGHT_LAYOUT_COUNT; l++) {
            pelt_weight_layout_apply(&pelt_weight_layouts[l], given.weights, decoded);
            pelt_weight_errors_add(&study->layouts[l].errors, given.weights, decoded);
        }
    }
    study->vertices += primitive->vertex_count;
}

static void load_morphed(const pelt_primitive *primitive, const double *morph_weights,
                         uint32_t vertex, double out[3])
{
    size_t at = 3 * (size_t)vertex;
    for (size_t i = 0; i < 3; i++) {
        out[i] = primitive->positions[at + i];
    }
    for (uint32_t t = 0; morph_weights && t < primitive->target_count; t++) {
        const float *positions = primitive->targets[t].positions;
        for (size_t i = 0; positions && i < 3; i++) {
            out[i] += morph_weights[t] * positions[at + i];
        }
    }
}

static void transform(const double *matrix, const double point[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        const double *row = matrix + 4 * i;
        out[i] = row[0] * point[0] + row[1] * point[1] + row[2] * point[2] + row[3];
    }
}

/* A vertex moves by the sum of (decoded - given) x where that slot's joint puts it. */
static void move_vertex(const slots *given, double carried[4][3], pelt_weight_study *study)
{
    for (uint32_t l = 0; l < PELT_WEIGHT_LAYOUT_COUNT; l++) {
        double decoded[4], squared = 0.0;
        pelt_weight_layout_apply(&pelt_weight_layouts[l], given->weights, decoded);
        for (int i = 0; i < 3; i++) {
            double move = 0.0;
            for (int s = 0; s < 4; s++) {
                move += (decoded[s] - given->weights[s]) * carried[s][i];
            }
            squared += move * move;
        }
        pelt_weight_result *result = &study->layouts[l];
        double move = sqrt(squared);
        result->move_worst = fmax(result->move_worst, move);
        result->move_total += move;
    }
    study->moved++;
}

/* Moves the vertices of a skinned part in one pose, whose box grows. */
static void move_part(const pelt_primitive *primitive, const double *morph_weights,
                      const double *palette, double *sums, double box[2][3],
                      pelt_weight_study *study)
{
    for (uint32_t v = 0; v < primitive->vertex_count; v++) {
        slots given;
        double point[3], carried[4][3], position[3] = { 0 };
        gather(primitive, v, sums, &given);
        load_morphed(primitive, morph_weights, v, point);
        for (int s = 0; s < 4; s++) {
            transform(palette + 12 * (size_t)given.joints[s], point, carried[s]);
            for (int i = 0; i < 3; i++) {
                position[i] += given.weights[s] * carried[s][i];
            }
        }
        for (int i = 0; i < 3; i++) {
            box[0][i] = fmin(box[0][i], position[i]);
            box[1][i] = fmax(box[1][i], position[i]);
        }
        move_vertex(&given, carried, study);
    }
}

static void move_parts(const pelt_study_character *character, const double *matrices, double *sums,
                       pelt_weight_study *study)
{
    const pelt_model *model = character->model;
    double box[2][3] = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    double squared = 0.0;
    for (uint32_t i = 0; i < model->part_count; i++) {
        const pelt_part *part = &model->parts[i];
        const double *palette = matrices + 12 * (size_t)model->palettes[part->palette].first_matrix;
        if (part->skinned) {
            move_part(study_primitive(model, part),
                      pelt_pose_part_morph_weights(character->pose, part), palette, sums, box,
                      study);
        }
    }
    for (int i = 0; i < 3; i++) {
        squared += (box[1][i] - box[0][i]) * (box[1][i] - box[0][i]);
    }
    study->size = fmax(study->size, sqrt(squared));
}

static pelt_result move_character(pelt_study_character *character, double *matrices, double *sums,
                                  pelt_weight_study *study)
{
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < character->pose_count; i++) {
        result = pelt_study_character_pose(character, i);
        if (result == PELT_OK) {
            result = pelt_pose_skin_matrices_double(character->pose, NULL, matrices);
        }
        if (result == PELT_OK) {
            move_parts(character, matrices, sums, study);
        }
    }
    return result;
}

pelt_result pelt_weight_study_character(const pelt_host *host, const char *path,
                                        uint32_t poses_a_clip, pelt_weight_study *out)
{
    pelt_study_character character;
    pelt_result result = pelt_study_character_open(host, path, poses_a_clip, &character);
    if (result != PELT_OK) {
        return result;
    }
    const pelt_model *model = character.model;
    *out = (pelt_weight_study){ .name = character.name,
                                .joints = pelt_study_character_joints(&character),
                                .clips = model->clip_count,
                                .poses = character.pose_count };
    double *matrices = pelt_allocate(host, model->matrix_count, 12 * sizeof(*matrices));
    double *sums = pelt_allocate(host, UINT16_MAX + 1, sizeof(*sums));
    if (!matrices || !sums) {
        result = pelt_fail(host, PELT_ERROR_MEMORY, path, NULL, "no memory for its poses");
        goto done;
    }
    for (uint32_t i = 0; i < model->part_count; i++) {
        if (model->parts[i].skinned) {
            round_part(study_primitive(model, &model->parts[i]), sums, out);
        }
    }
    result = move_character(&character, matrices, sums, out);
done:
    pelt_release(host, sums);
    pelt_release(host, matrices);
    pelt_study_character_close(&character);
    return result;
}
