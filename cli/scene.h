/* What the commands work on: a character (a model and its parts packed), and the batches of a crowd
 * of it that go through a skinning path at a time. */
#ifndef PELT_CLI_SCENE_H
#define PELT_CLI_SCENE_H

#include <pelt/pose.h>
#include <pelt/skin.h>

/* --method. */
typedef enum pelt_method { PELT_METHOD_LBS, PELT_METHOD_DQS } pelt_method;

/* Packed meshes are shared by parts that use the same primitive the same way. */
typedef struct pelt_character {
    const pelt_host *host;
    pelt_model *model; /* owned */
    uint32_t mesh_count;
    pelt_packed_mesh **meshes;         /* mesh_count */
    const pelt_primitive **primitives; /* what each was packed from */
    pelt_joint_boxes **joint_boxes;    /* of each; NULL until pelt_character_add_joint_boxes */
    uint32_t *part_meshes;             /* a mesh index for each part of the model */

    /* Where each part's vertices and tangents lie in one instance; part_count + 1 of each. */
    size_t *vertex_offsets, *tangent_offsets;
    uint64_t file_vertices; /* of an instance before normals were added, which split some */
    pelt_method method;     /* how its vertices are blended */
} pelt_character;

/* Packs every part of the model, which belongs to the character from now on, also on failure. */
pelt_result pelt_character_create(const pelt_host *host, pelt_model *model, pelt_character **out);
void pelt_character_destroy(pelt_character *character);
pelt_result pelt_character_add_joint_boxes(pelt_character *character);

/* Gives back what packing has made unnecessary, where it is large: influences, and unless there are
 * morph targets positions, normals and tangents. */
void pelt_character_release_sources(pelt_character *character);

const pelt_primitive *pelt_part_primitive(const pelt_model *model, uint32_t part);

typedef struct pelt_member {
    double world[12];
    pelt_play play;
} pelt_member;

/* Many of one character; cli/crowd.h makes one. */
typedef struct pelt_crowd {
    const pelt_host *host;
    uint32_t count;
    pelt_member *members;
    double spacing; /* between neighbours */
} pelt_crowd;

/* Streams of one part of one member that morph targets have changed; NULL: it uses the mesh's. */
typedef struct pelt_morphed {
    pelt_packed_vertex *vertices;
    uint32_t *tangents;
    pelt_joint_boxes *joint_boxes;
} pelt_morphed;

/* Members first to first + count - 1 of a crowd, posed. */
typedef struct pelt_batch {
    const pelt_host *host;
    const pelt_character *character;
    pelt_pose *pose;
    uint32_t capacity;
    uint32_t first, count;
    float *matrices;         /* 12 each, model->matrix_count a member */
    double *matrices_double; /* the same, unrounded; NULL unless asked for */

    /* Of dual quaternions, else NULL: 4 for each matrix, and the worst stretch of each so far. */
    float *rotations;
    double *rotations_double;
    pelt_stretch *stretches, *stretches_now; /* matrix_count of them, not a member's */

    double *morph_weights; /* model->morph_offsets[node_count] a member */
    pelt_morphed *morphed; /* part_count a member */
} pelt_batch;

/* capacity x part_count must fit 32 bits: else PELT_ERROR_RANGE. */
pelt_result pelt_batch_create(const pelt_character *character, uint32_t capacity, bool doubles,
                              pelt_batch **out);
void pelt_batch_destroy(pelt_batch *batch);

/* count <= capacity. */
pelt_result pelt_batch_pose(pelt_batch *batch, const pelt_crowd *crowd, uint32_t first,
                            uint32_t count);

/* One member where its file puts it. */
pelt_result pelt_batch_pose_one(pelt_batch *batch, const pelt_play *play);

/* Of the batch's i-th member and one part: its palette, the rotations in it (NULL: linear blending)
 * and its morph weights (NULL: none). */
const float *pelt_batch_palette(const pelt_batch *batch, uint32_t i, uint32_t part);
const double *pelt_batch_palette_double(const pelt_batch *batch, uint32_t i, uint32_t part);
const float *pelt_batch_rotations(const pelt_batch *batch, uint32_t i, uint32_t part);
const double *pelt_batch_rotations_double(const pelt_batch *batch, uint32_t i, uint32_t part);
const double *pelt_batch_morph_weights(const pelt_batch *batch, uint32_t i, uint32_t part);
const pelt_morphed *pelt_batch_morphed(const pelt_batch *batch, uint32_t i, uint32_t part);

/* The exact box of the batch's i-th member, all parts; PELT_BOX_EMPTY without any vertex. */
pelt_result pelt_batch_box(const pelt_batch *batch, uint32_t i, pelt_box *out);

/* Bytes that one member takes in a batch with its animated vertices, to choose a capacity. */
size_t pelt_batch_member_bytes(const pelt_character *character);

#endif
