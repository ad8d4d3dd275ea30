#include "cli/scene.h"

#include "anim/anim.h"
#include "cli/report.h"

#include <string.h>

const pelt_primitive *pelt_part_primitive(const pelt_model *model, uint32_t part)
{
    const pelt_part *p = &model->parts[part];
    return &model->meshes[p->mesh].primitives[p->primitive];
}

/* The slot of (mesh, primitive, skinned) in a table of two a primitive. */
static size_t *primitive_offsets(const pelt_host *host, const pelt_model *model)
{
    size_t *offsets = pelt_allocate(host, (size_t)model->mesh_count + 1, sizeof(*offsets));
    for (uint32_t i = 0; offsets && i < model->mesh_count; i++) {
        offsets[i + 1] = offsets[i] + 2 * (size_t)model->meshes[i].primitive_count;
    }
    return offsets;
}

static pelt_result pack_parts(pelt_character *character)
{
    const pelt_host *host = character->host;
    const pelt_model *model = character->model;
    pelt_result result = PELT_ERROR_MEMORY;
    size_t *offsets = primitive_offsets(host, model);
    /* 1 + the packed mesh of each slot, 0: none yet. */
    uint32_t *slots =
        offsets ? pelt_allocate(host, offsets[model->mesh_count], sizeof(*slots)) : NULL;
    if (!slots) {
        goto done;
    }
    for (uint32_t i = 0; i < model->part_count; i++) {
        const pelt_part *part = &model->parts[i];
        uint32_t *slot = &slots[offsets[part->mesh] + 2 * (size_t)part->primitive + part->skinned];
        if (*slot == 0) {
            uint32_t index = character->mesh_count;
            const pelt_primitive *primitive = pelt_part_primitive(model, i);
            result = pelt_pack(host,
                               &(pelt_pack_info){ .primitive = primitive, .rigid = !part->skinned },
                               &character->meshes[index]);
            if (result != PELT_OK) {
                goto done;
            }
            character->primitives[index] = primitive;
            *slot = ++character->mesh_count;
        }
        character->part_meshes[i] = *slot - 1;
    }
    result = PELT_OK;
done:
    pelt_release(host, slots);
    pelt_release(host, offsets);
    return result;
}

pelt_result pelt_character_create(const pelt_host *host, pelt_model *model, pelt_character **out)
{
    *out = NULL;
    pelt_result result = PELT_ERROR_MEMORY;
    size_t count = model->part_count;
    pelt_character *character = pelt_allocate(host, 1, sizeof(*character));
    if (!character) {
        pelt_model_destroy(model);
        return result;
    }
    character->host = host;
    character->model = model;
    character->meshes = pelt_allocate(host, count, sizeof(*character->meshes));
    character->primitives = pelt_allocate(host, count, sizeof(*character->primitives));
    character->joint_boxes = pelt_allocate(host, count, sizeof(*character->joint_boxes));
    character->part_meshes = pelt_allocate(host, count, sizeof(*character->part_meshes));
    character->vertex_offsets = pelt_allocate(host, count + 1, sizeof(size_t));
    character->tangent_offsets = pelt_allocate(host, count + 1, sizeof(size_t));
    if (!character->meshes || !character->primitives || !character->joint_boxes ||
        !character->part_meshes || !character->vertex_offsets || !character->tangent_offsets) {
        goto fail;
    }
    result = pack_parts(character);
    if (result != PELT_OK) {
        goto fail;
    }
    for (size_t i = 0; i < count; i++) {
        const pelt_packed_mesh *mesh = character->meshes[character->part_meshes[i]];
        character->vertex_offsets[i + 1] = character->vertex_offsets[i] + mesh->vertex_count;
        character->tangent_offsets[i + 1] =
            character->tangent_offsets[i] + (mesh->tangents ? mesh->vertex_count : 0);
    }
    *out = character;
    return PELT_OK;
fail:
    pelt_character_destroy(character);
    return result;
}

void pelt_character_destroy(pelt_character *character)
{
    if (!character) {
        return;
    }
    const pelt_host *host = character->host;
    bool packed = character->joint_boxes && character->meshes;
    for (uint32_t i = 0; packed && i < character->mesh_count; i++) {
        pelt_joint_boxes_destroy(character->joint_boxes[i]);
        pelt_packed_mesh_destroy(character->meshes[i]);
    }
    pelt_release(host, character->tangent_offsets);
    pelt_release(host, character->vertex_offsets);
    pelt_release(host, character->part_meshes);
    pelt_release(host, character->joint_boxes);
    pelt_release(host, character->primitives);
    pelt_release(host, character->meshes);
    pelt_model_destroy(character->model);
    pelt_release(host, character);
}

pelt_result pelt_character_add_joint_boxes(pelt_character *character)
{
    for (uint32_t i = 0; i < character->mesh_count; i++) {
        if (!character->joint_boxes[i]) {
            pelt_result result = pelt_joint_boxes_create(character->host, character->meshes[i],
                                                         NULL, &character->joint_boxes[i]);
            if (result != PELT_OK) {
                return result;
            }
        }
    }
    return PELT_OK;
}

void pelt_character_release_sources(pelt_character *character)
{
    enum { LARGE = 1 << 16 }; /* vertices; giving small blocks back would gain nothing */
    pelt_model *model = character->model;
    for (uint32_t m = 0; m < model->mesh_count; m++) {
        for (uint32_t p = 0; p < model->meshes[m].primitive_count; p++) {
            pelt_primitive *primitive = &model->meshes[m].primitives[p];
            if (primitive->vertex_count < LARGE) {
                continue;
            }
            pelt_model_release(model, primitive->weights);
            pelt_model_release(model, primitive->joints);
            primitive->weights = NULL;
            primitive->joints = NULL;
            primitive->influence_count = 0;
            if (primitive->target_count == 0) {
                pelt_model_release(model, primitive->tangents);
                pelt_model_release(model, primitive->normals);
                pelt_model_release(model, primitive->positions);
                primitive->positions = primitive->normals = primitive->tangents = NULL;
            }
        }
    }
}

pelt_result pelt_batch_create(const pelt_character *character, uint32_t capacity, bool doubles,
                              pelt_batch **out)
{
    *out = NULL;
    const pelt_host *host = character->host;
    const pelt_model *model = character->model;
    if ((uint64_t)capacity * model->part_count > UINT32_MAX) {
        return pelt_fail(host, PELT_ERROR_RANGE, NULL, NULL,
                         "%u instances of %u primitives are too many to count", capacity,
                         model->part_count);
    }
    pelt_batch *batch = pelt_allocate(host, 1, sizeof(*batch));
    if (!batch) {
        return PELT_ERROR_MEMORY;
    }
    *batch = (pelt_batch){ .host = host, .character = character, .capacity = capacity };
    pelt_result result = pelt_pose_create(host, model, &batch->pose);
    size_t matrices = (size_t)capacity * model->matrix_count;
    bool dual = character->method == PELT_METHOD_DQS;
    doubles = doubles || dual;
    if (result == PELT_OK && dual) {
        batch->rotations = pelt_allocate(host, matrices, 4 * sizeof(float));
        batch->rotations_double = pelt_allocate(host, matrices, 4 * sizeof(double));
        batch->stretches = pelt_allocate(host, model->matrix_count, sizeof(pelt_stretch));
        batch->stretches_now = pelt_allocate(host, model->matrix_count, sizeof(pelt_stretch));
        if (!batch->rotations || !batch->rotations_double || !batch->stretches ||
            !batch->stretches_now) {
            result = PELT_ERROR_MEMORY;
        }
    }
    if (result == PELT_OK) {
        batch->matrices = pelt_allocate(host, matrices, 12 * sizeof(float));
        batch->matrices_double =
            doubles ? pelt_allocate(host, matrices, 12 * sizeof(double)) : NULL;
        batch->morph_weights = pelt_allocate(
            host, (size_t)capacity * model->morph_offsets[model->node_count], sizeof(double));
        batch->morphed =
            pelt_allocate(host, (size_t)capacity * model->part_count, sizeof(*batch->morphed));
        if (!batch->matrices || (doubles && !batch->matrices_double) || !batch->morph_weights ||
            !batch->morphed) {
            result = PELT_ERROR_MEMORY;
        }
    }
    if (result != PELT_OK) {
        pelt_batch_destroy(batch);
        return result;
    }
    *out = batch;
    return PELT_OK;
}

static void release_morphed(pelt_batch *batch)
{
    size_t count = (size_t)batch->count * batch->character->model->part_count;
    for (size_t i = 0; i < count; i++) {
        pelt_morphed *morphed = &batch->morphed[i];
        pelt_joint_boxes_destroy(morphed->joint_boxes);
        pelt_release(batch->host, morphed->tangents);
        pelt_release(batch->host, morphed->vertices);
        *morphed = (pelt_morphed){ 0 };
    }
    batch->count = 0;
}

void pelt_batch_destroy(pelt_batch *batch)
{
    if (!batch) {
        return;
    }
    release_morphed(batch);
    pelt_release(batch->host, batch->morphed);
    pelt_release(batch->host, batch->morph_weights);
    pelt_release(batch->host, batch->stretches_now);
    pelt_release(batch->host, batch->stretches);
    pelt_release(batch->host, batch->rotations_double);
    pelt_release(batch->host, batch->rotations);
    pelt_release(batch->host, batch->matrices_double);
    pelt_release(batch->host, batch->matrices);
    pelt_pose_destroy(batch->pose);
    pelt_release(batch->host, batch);
}

/* Applies morph targets for one part of the member posed last, if any has a weight. */
static pelt_result morph_part(pelt_batch *batch, uint32_t i, uint32_t part)
{
    const pelt_character *character = batch->character;
    const pelt_primitive *primitive = pelt_part_primitive(character->model, part);
    const double *weights = pelt_batch_morph_weights(batch, i, part);
    bool moved = false;
    for (uint32_t t = 0; weights && t < primitive->target_count; t++) {
        moved = moved || weights[t] != 0.0;
    }
    if (!moved) {
        return PELT_OK;
    }
    uint32_t index = character->part_meshes[part];
    const pelt_packed_mesh *mesh = character->meshes[index];
    pelt_morphed *morphed = &batch->morphed[(size_t)i * character->model->part_count + part];
    morphed->vertices = pelt_allocate(batch->host, mesh->vertex_count, sizeof(*morphed->vertices));
    morphed->tangents =
        mesh->tangents ? pelt_allocate(batch->host, mesh->vertex_count, sizeof(*morphed->tangents))
                       : NULL;
    if (!morphed->vertices || (mesh->tangents && !morphed->tangents)) {
        return PELT_ERROR_MEMORY;
    }
    uint32_t beyond =
        pelt_pack_morphed(mesh, primitive, weights, morphed->vertices, morphed->tangents);
    if (beyond) {
        char pointer[32];
        (void)snprintf(pointer, sizeof(pointer), "/nodes/%u", character->model->parts[part].node);
        return pelt_fail(batch->host, PELT_ERROR_RANGE, NULL, pointer,
                         "morph targets move %u %s of primitive %u beyond %g", beyond,
                         beyond == 1 ? "vertex" : "vertices",
                         character->model->parts[part].primitive, PELT_MAGNITUDE_MAX);
    }
    return character->joint_boxes[index]
               ? pelt_joint_boxes_create(batch->host, mesh, morphed->vertices,
                                         &morphed->joint_boxes)
               : PELT_OK;
}

/* Rotations of the i-th member, skin by skin: a stretch is one beside the joints of the same skin.
 */
static void find_rotations(pelt_batch *batch, uint32_t i)
{
    const pelt_model *model = batch->character->model;
    size_t first = (size_t)i * model->matrix_count;
    for (uint32_t p = 0; p < model->palette_count; p++) {
        size_t at = model->palettes[p].first_matrix;
        pelt_skin_rotations_double(
            batch->matrices_double + 12 * (first + at), model->palettes[p].matrix_count,
            batch->rotations_double + 4 * (first + at), batch->stretches_now + at);
    }
    for (size_t j = 0; j < model->matrix_count; j++) {
        if (batch->stretches_now[j] > batch->stretches[j]) {
            batch->stretches[j] = batch->stretches_now[j];
        }
    }
    for (size_t k = 4 * first; k < 4 * (first + model->matrix_count); k++) {
        batch->rotations[k] = (float)batch->rotations_double[k];
    }
}

static pelt_result pose_member(pelt_batch *batch, const pelt_member *member, uint32_t i)
{
    const pelt_model *model = batch->character->model;
    pelt_pose *pose = batch->pose;
    size_t matrices = (size_t)i * model->matrix_count * 12;
    size_t weights = model->morph_offsets[model->node_count];
    pelt_result result = pelt_pose_evaluate(pose, &member->play, 1);
    if (result == PELT_OK) {
        result = pelt_pose_skin_matrices(pose, member->world, batch->matrices + matrices);
    }
    if (result == PELT_OK && batch->matrices_double) {
        result =
            pelt_pose_skin_matrices_double(pose, member->world, batch->matrices_double + matrices);
    }
    if (result == PELT_OK && batch->rotations) {
        find_rotations(batch, i);
    }
    if (result == PELT_OK && weights) {
        memcpy(batch->morph_weights + i * weights, pose->morph_weights, weights * sizeof(double));
    }
    for (uint32_t part = 0; result == PELT_OK && part < model->part_count; part++) {
        result = morph_part(batch, i, part);
    }
    return result;
}

pelt_result pelt_batch_pose(pelt_batch *batch, const pelt_crowd *crowd, uint32_t first,
                            uint32_t count)
{
    release_morphed(batch);
    batch->first = first;
    batch->count = count;
    for (uint32_t i = 0; i < count; i++) {
        pelt_result result = pose_member(batch, &crowd->members[first + i], i);
        if (result != PELT_OK) {
            return result;
        }
    }
    return PELT_OK;
}

pelt_result pelt_batch_pose_one(pelt_batch *batch, const pelt_play *play)
{
    pelt_member member = { .play = *play };
    memcpy(member.world, pelt_matrix_identity, sizeof(member.world));
    return pelt_batch_pose(batch, &(pelt_crowd){ .count = 1, .members = &member }, 0, 1);
}

static size_t palette_offset(const pelt_batch *batch, uint32_t i, uint32_t part)
{
    const pelt_model *model = batch->character->model;
    const pelt_palette *palette = &model->palettes[model->parts[part].palette];
    return (size_t)i * model->matrix_count + palette->first_matrix;
}

const float *pelt_batch_palette(const pelt_batch *batch, uint32_t i, uint32_t part)
{
    return batch->matrices + 12 * palette_offset(batch, i, part);
}

const double *pelt_batch_palette_double(const pelt_batch *batch, uint32_t i, uint32_t part)
{
    return batch->matrices_double + 12 * palette_offset(batch, i, part);
}

const float *pelt_batch_rotations(const pelt_batch *batch, uint32_t i, uint32_t part)
{
    return batch->rotations ? batch->rotations + 4 * palette_offset(batch, i, part) : NULL;
}

const double *pelt_batch_rotations_double(const pelt_batch *batch, uint32_t i, uint32_t part)
{
    return batch->rotations_double ? batch->rotations_double + 4 * palette_offset(batch, i, part)
                                   : NULL;
}

const double *pelt_batch_morph_weights(const pelt_batch *batch, uint32_t i, uint32_t part)
{
    const pelt_model *model = batch->character->model;
    if (pelt_part_primitive(model, part)->target_count == 0) {
        return NULL;
    }
    size_t stride = model->morph_offsets[model->node_count];
    return batch->morph_weights + i * stride + model->morph_offsets[model->parts[part].node];
}

const pelt_morphed *pelt_batch_morphed(const pelt_batch *batch, uint32_t i, uint32_t part)
{
    return &batch->morphed[(size_t)i * batch->character->model->part_count + part];
}

size_t pelt_batch_member_bytes(const pelt_character *character)
{
    const pelt_model *model = character->model;
    size_t bytes = (size_t)model->matrix_count * (16 * sizeof(float) + 16 * sizeof(double)) +
                   (size_t)model->part_count * sizeof(pelt_morphed);
    for (uint32_t i = 0; i < model->part_count; i++) {
        size_t vertices = character->vertex_offsets[i + 1] - character->vertex_offsets[i];
        size_t tangents = character->tangent_offsets[i + 1] - character->tangent_offsets[i];
        size_t copies = pelt_part_primitive(model, i)->target_count ? 2 : 1;
        bytes += copies * (vertices * sizeof(pelt_packed_vertex) + tangents * sizeof(uint32_t));
    }
    return bytes;
}

pelt_result pelt_batch_box(const pelt_batch *batch, uint32_t i, pelt_box *out)
{
    const pelt_character *character = batch->character;
    uint32_t largest = 0;
    for (uint32_t m = 0; m < character->mesh_count; m++) {
        uint32_t vertices = character->meshes[m]->vertex_count;
        largest = vertices > largest ? vertices : largest;
    }
    float *positions = pelt_allocate(batch->host, largest, 3 * sizeof(float));
    if (!positions) {
        return PELT_ERROR_MEMORY;
    }
    *out = (pelt_box)PELT_BOX_EMPTY;
    for (uint32_t part = 0; part < character->model->part_count; part++) {
        const pelt_packed_mesh *mesh = character->meshes[character->part_meshes[part]];
        pelt_skin_cpu(&(pelt_skin_job){ .mesh = mesh,
                                        .matrices = pelt_batch_palette(batch, i, part),
                                        .rotations = pelt_batch_rotations(batch, i, part),
                                        .vertices = pelt_batch_morphed(batch, i, part)->vertices,
                                        .out_positions = positions },
                      0, mesh->vertex_count, out);
    }
    pelt_release(batch->host, positions);
    return PELT_OK;
}
