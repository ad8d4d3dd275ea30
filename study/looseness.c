/* How much larger boxes from joints are than exact ones, on characters in their poses. */
#include "study/crossover.h"

#include "base/base.h"
#include "base/box.h"
#include "study/character.h"

#include <math.h>
#include <pelt/skin.h>
#include <stdlib.h>

/* Ratios as they come, and how many. */
typedef struct ratios {
    double *values;
    size_t count;
} ratios;

typedef struct loose {
    pelt_study_character character;
    uint32_t skinned;          /* parts */
    pelt_packed_mesh **packed; /* of each part; NULL: not skinned */
    pelt_joint_boxes **boxes;  /* likewise; without morphs */
    float *matrices, *positions;
    pelt_packed_vertex *vertices; /* morphed */
    ratios volumes, edges, whole_volumes, whole_edges;
    uint64_t flat;
} loose;

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The smallest value that so many of the ratios do not exceed. */
static double rank(const ratios *sorted, double part)
{
    double place = ceil(part * (double)sorted->count);
    return sorted->values[place < 1.0 ? 0 : (size_t)place - 1];
}

static pelt_spread spread_of(ratios *of)
{
    pelt_spread spread = { .count = of->count };
    if (of->count > 0) {
        qsort(of->values, of->count, sizeof(*of->values), compare_doubles);
        spread.median = rank(of, 0.5);
        spread.nineteen = rank(of, 0.95);
        spread.most = of->values[of->count - 1];
    }
    return spread;
}

static void add_ratios(const pelt_box *exact, const pelt_box *bound, ratios *volumes, ratios *edges,
                       uint64_t *flat)
{
    double volume[2] = { 1.0, 1.0 }, edge[2] = { 0.0, 0.0 };
    for (int i = 0; i < 3; i++) {
        const double sides[2] = { (double)exact->max[i] - exact->min[i],
                                  (double)bound->max[i] - bound->min[i] };
        for (int b = 0; b < 2; b++) {
            volume[b] *= sides[b];
            edge[b] += sides[b];
        }
    }
    if (edge[0] > 0.0) {
        edges->values[edges->count++] = edge[1] / edge[0];
    }
    /* Where the product underflows, a box is as good as flat. */
    if (volume[0] > 0.0 && isfinite(volume[1] / volume[0])) {
        volumes->values[volumes->count++] = volume[1] / volume[0];
    } else {
        *flat += edge[0] > 0.0;
    }
}

/* Both boxes of a part as it is posed. */
static pelt_result bound_part(loose *self, uint32_t index, pelt_box *exact, pelt_box *bound)
{
    const pelt_model *model = self->character.model;
    const pelt_part *part = &model->parts[index];
    const pelt_packed_mesh *mesh = self->packed[index];
    const float *palette =
        self->matrices + 12 * (size_t)model->palettes[part->palette].first_matrix;
    const double *morph_weights = pelt_pose_part_morph_weights(self->character.pose, part);
    pelt_joint_boxes *morphed = NULL;
    if (morph_weights) {
        (void)pelt_pack_morphed(mesh, study_primitive(model, part), morph_weights, self->vertices,
                                NULL);
        pelt_result result =
            pelt_joint_boxes_create(self->character.host, mesh, self->vertices, &morphed);
        if (result != PELT_OK) {
            return result;
        }
    }
    const pelt_skin_job job = { .mesh = mesh,
                                .matrices = palette,
                                .vertices = morph_weights ? self->vertices : NULL,
                                .out_positions = self->positions };
    *exact = (pelt_box)PELT_BOX_EMPTY;
    pelt_skin_cpu(&job, 0, mesh->vertex_count, exact);
    *bound = pelt_joint_boxes_bound(morphed ? morphed : self->boxes[index], palette);
    pelt_joint_boxes_destroy(morphed);
    return PELT_OK;
}

static pelt_result bound_pose(loose *self, uint32_t pose)
{
    pelt_result result = pelt_study_character_pose(&self->character, pose);
    if (result == PELT_OK) {
        result = pelt_pose_skin_matrices(self->character.pose, NULL, self->matrices);
    }
    pelt_box whole_exact = PELT_BOX_EMPTY, whole_bound = PELT_BOX_EMPTY;
    for (uint32_t i = 0; result == PELT_OK && i < self->character.model->part_count; i++) {
        pelt_box exact, bound;
        if (!self->packed[i]) {
            continue;
        }
        result = bound_part(self, i, &exact, &bound);
        if (result == PELT_OK) {
            box_unite(&whole_exact, &exact);
            box_unite(&whole_bound, &bound);
            add_ratios(&exact, &bound, &self->volumes, &self->edges, &self->flat);
        }
    }
    if (result == PELT_OK) {
        uint64_t flat = 0; /* the parts are counted already */
        add_ratios(&whole_exact, &whole_bound, &self->whole_volumes, &self->whole_edges, &flat);
    }
    return result;
}

static pelt_result pack_parts(loose *self, uint32_t *largest)
{
    const pelt_host *host = self->character.host;
    const pelt_model *model = self->character.model;
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < model->part_count; i++) {
        const pelt_part *part = &model->parts[i];
        if (!part->skinned) {
            continue;
        }
        const pelt_primitive *primitive = study_primitive(model, part);
        result = pelt_pack(host, &(pelt_pack_info){ .primitive = primitive }, &self->packed[i]);
        if (result == PELT_OK) {
            result = pelt_joint_boxes_create(host, self->packed[i], NULL, &self->boxes[i]);
        }
        *largest = primitive->vertex_count > *largest ? primitive->vertex_count : *largest;
        self->skinned++;
    }
    return result;
}

static pelt_result make_room(loose *self, uint32_t largest)
{
    const pelt_host *host = self->character.host;
    size_t poses = self->character.pose_count, parts;
    if (!pelt_multiply(poses, self->skinned, &parts)) {
        parts = SIZE_MAX; /* more than there is memory for */
    }
    self->matrices = pelt_allocate(host, self->character.model->matrix_count, 12 * sizeof(float));
    self->positions = pelt_allocate(host, largest, 3 * sizeof(float));
    self->vertices = pelt_allocate(host, largest, sizeof(*self->vertices));
    self->volumes.values = pelt_allocate(host, parts, sizeof(double));
    self->edges.values = pelt_allocate(host, parts, sizeof(double));
    self->whole_volumes.values = pelt_allocate(host, poses, sizeof(double));
    self->whole_edges.values = pelt_allocate(host, poses, sizeof(double));
    bool enough = self->matrices && self->positions && self->vertices && self->volumes.values &&
                  self->edges.values && self->whole_volumes.values && self->whole_edges.values;
    return enough ? PELT_OK
                  : pelt_fail(host, PELT_ERROR_MEMORY, self->character.name, NULL,
                              "no memory for its poses");
}

static void finish(loose *self)
{
    const pelt_host *host = self->character.host;
    uint32_t parts = self->packed && self->boxes ? self->character.model->part_count : 0;
    for (uint32_t i = 0; i < parts; i++) {
        pelt_joint_boxes_destroy(self->boxes[i]);
        pelt_packed_mesh_destroy(self->packed[i]);
    }
    pelt_release(host, self->boxes);
    pelt_release(host, self->packed);
    pelt_release(host, self->matrices);
    pelt_release(host, self->positions);
    pelt_release(host, self->vertices);
    pelt_release(host, self->volumes.values);
    pelt_release(host, self->edges.values);
    pelt_release(host, self->whole_volumes.values);
    pelt_release(host, self->whole_edges.values);
    pelt_study_character_close(&self->character);
}

pelt_result pelt_looseness_measure(const pelt_host *host, const char *path, uint32_t poses_a_clip,
                                   pelt_looseness *out)
{
    loose self = { 0 };
    pelt_result result = pelt_study_character_open(host, path, poses_a_clip, &self.character);
    if (result != PELT_OK) {
        return result;
    }
    const pelt_model *model = self.character.model;
    uint32_t largest = 0;
    self.packed = pelt_allocate(host, model->part_count, sizeof(pelt_packed_mesh *));
    self.boxes = pelt_allocate(host, model->part_count, sizeof(pelt_joint_boxes *));
    result = self.packed && self.boxes
                 ? pack_parts(&self, &largest)
                 : pelt_fail(host, PELT_ERROR_MEMORY, path, NULL, "no memory for its parts");
    if (result == PELT_OK) {
        result = make_room(&self, largest);
    }
    for (uint32_t i = 0; result == PELT_OK && i < self.character.pose_count; i++) {
        result = bound_pose(&self, i);
    }
    if (result == PELT_OK) {
        *out = (pelt_looseness){ .name = self.character.name,
                                 .parts = self.skinned,
                                 .joints = pelt_study_character_joints(&self.character),
                                 .clips = model->clip_count,
                                 .poses = self.character.pose_count,
                                 .volumes = spread_of(&self.volumes),
                                 .edges = spread_of(&self.edges),
                                 .whole_volumes = spread_of(&self.whole_volumes),
                                 .whole_edges = spread_of(&self.whole_edges),
                                 .flat = self.flat };
    }
    finish(&self);
    return result;
}
