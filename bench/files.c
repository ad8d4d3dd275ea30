/* The parts of glTF files as meshes for every form: four influences, weights multiples of 1/1024,
 * normals and tangents always there; and poses of their first clips. */
#include "bench/internal.h"

#include <pelt/gltf.h>
#include <pelt/pose.h>

#include <math.h>
#include <string.h>

enum { POSES = 64, WEIGHT_UNITS = 1024 };

/* The four largest influences, in units that sum to 1024 (the largest gets the rest). Returns
 * whether any was left out. */
static bool reduce_influences(const pelt_primitive *primitive, uint32_t vertex, uint16_t joints[4],
                              float weights[4])
{
    uint32_t slots = primitive->influence_count;
    const float *from = primitive->weights + (size_t)vertex * slots;
    float largest[4] = { 0 };
    memset(joints, 0, 4 * sizeof(*joints));
    bool dropped = false;
    for (uint32_t s = 0; s < slots; s++) {
        float weight = from[s];
        uint16_t joint = primitive->joints[(size_t)vertex * slots + s];
        for (int i = 0; i < 4; i++) {
            if (weight > largest[i]) {
                float weight_before = largest[i];
                uint16_t joint_before = joints[i];
                largest[i] = weight;
                joints[i] = joint;
                weight = weight_before;
                joint = joint_before;
            }
        }
        dropped = dropped || weight > 0.0f;
    }
    float sum = largest[0] + largest[1] + largest[2] + largest[3];
    int left = WEIGHT_UNITS;
    for (int i = 1; i < 4; i++) {
        int units = (int)lroundf(largest[i] / sum * WEIGHT_UNITS);
        weights[i] = (float)units / WEIGHT_UNITS;
        joints[i] = units > 0 ? joints[i] : 0;
        left -= units;
    }
    weights[0] = (float)left / WEIGHT_UNITS;
    return dropped;
}

/* Any unit vector at a right angle, with w = 1. */
static void invent_tangent(const float normal[3], float out[4])
{
    float x = -normal[1], y = normal[0];
    float length = sqrtf(x * x + y * y);
    bool along_z = length < 1e-3f;
    out[0] = along_z ? 1.0f : x / length;
    out[1] = along_z ? 0.0f : y / length;
    out[2] = 0.0f;
    out[3] = 1.0f;
}

static uint32_t convert(const pelt_primitive *primitive, bool skinned, pelt_bench_vertices *out)
{
    static const float up[3] = { 0, 0, 1 };
    uint32_t reduced = 0;
    memcpy(out->positions, primitive->positions, 3 * sizeof(float) * (size_t)out->count);
    for (size_t v = 0; v < out->count; v++) {
        memcpy(&out->normals[3 * v], primitive->normals ? primitive->normals + 3 * v : up,
               3 * sizeof(float));
        if (primitive->tangents) {
            memcpy(&out->tangents[4 * v], primitive->tangents + 4 * v, 4 * sizeof(float));
        } else {
            invent_tangent(&out->normals[3 * v], &out->tangents[4 * v]);
        }
        if (skinned) {
            reduced += reduce_influences(primitive, (uint32_t)v, &out->joints[4 * v],
                                         &out->weights[4 * v]);
        } else {
            out->weights[4 * v] = 1.0f;
        }
    }
    return reduced;
}

static pelt_result add_parts(pelt_bench_files *files, const char *path, const pelt_model *model)
{
    const pelt_host *host = files->host;
    size_t total = (size_t)files->part_count + model->part_count;
    pelt_bench_part *parts = total < SIZE_MAX / sizeof(*parts)
                                 ? pelt_reallocate(host, files->parts, total * sizeof(*parts))
                                 : NULL;
    if (!parts) {
        return pelt_fail(host, PELT_ERROR_MEMORY, path, NULL, "no memory for its parts");
    }
    files->parts = parts;
    uint64_t reduced = 0;
    for (uint32_t i = 0; i < model->part_count; i++) {
        const pelt_part *part = &model->parts[i];
        const pelt_primitive *primitive = &model->meshes[part->mesh].primitives[part->primitive];
        pelt_bench_part *added = &parts[files->part_count];
        pelt_result result =
            pelt_bench_vertices_create(host, primitive->vertex_count, &added->vertices);
        if (result != PELT_OK) {
            return result;
        }
        files->part_count++;
        reduced += convert(primitive, part->skinned, &added->vertices);
        added->first_matrix = files->matrix_count + model->palettes[part->palette].first_matrix;
    }
    if (reduced > 0) {
        pelt_warn(host, path, NULL,
                  "%llu %s more than four influences; the bench keeps the largest four",
                  (unsigned long long)reduced, reduced == 1 ? "vertex has" : "vertices have");
    }
    return PELT_OK;
}

/* Poses of one file go beside those of the others: its matrices from files->matrix_count on. */
static pelt_result add_poses(pelt_bench_files *files, const pelt_model *model, float *columns)
{
    pelt_pose *pose;
    pelt_result result = pelt_pose_create(files->host, model, &pose);
    const double duration = model->clip_count > 0 ? model->clips[0].duration : 0.0;
    for (uint32_t i = 0; result == PELT_OK && i < POSES; i++) {
        const pelt_play play = { .clip = model->clip_count > 0 ? 0 : -1,
                                 .time = duration * i / POSES };
        result = pelt_pose_evaluate(pose, &play, 1);
        if (result == PELT_OK) {
            result =
                pelt_pose_skin_matrices(pose, NULL, columns + (size_t)i * model->matrix_count * 12);
        }
    }
    pelt_pose_destroy(pose);
    return result;
}

/* poses[i] = what it was, then the i-th of the file's. */
static pelt_result merge_poses(pelt_bench_files *files, const pelt_model *model)
{
    size_t before = 12 * (size_t)files->matrix_count;
    size_t added = 12 * (size_t)model->matrix_count;
    float *columns = pelt_allocate(files->host, POSES, added * sizeof(float));
    float *merged = pelt_allocate(files->host, POSES, (before + added) * sizeof(float));
    pelt_result result = columns && merged ? add_poses(files, model, columns) : PELT_ERROR_MEMORY;
    if (result == PELT_OK) {
        for (size_t i = 0; i < POSES; i++) {
            float *to = merged + i * (before + added);
            if (before > 0) {
                memcpy(to, files->poses + i * before, before * sizeof(float));
            }
            memcpy(to + before, columns + i * added, added * sizeof(float));
        }
        pelt_release(files->host, files->poses);
        files->poses = merged;
        files->matrix_count += model->matrix_count;
        merged = NULL;
    }
    pelt_release(files->host, merged);
    pelt_release(files->host, columns);
    return result;
}

static pelt_result add_file(pelt_bench_files *files, const char *path)
{
    pelt_model *model;
    pelt_result result = pelt_gltf_read(files->host, path, &model);
    if (result != PELT_OK) {
        return result;
    }
    if (model->part_count == 0) {
        result = pelt_fail(files->host, PELT_ERROR_FILE, path, NULL,
                           "nothing to skin: its scene has no mesh");
    }
    if (result == PELT_OK) {
        result = add_parts(files, path, model);
    }
    if (result == PELT_OK) {
        result = merge_poses(files, model);
    }
    pelt_model_destroy(model);
    return result;
}

pelt_result pelt_bench_files_read(const pelt_host *host, const char *const *paths, uint32_t count,
                                  pelt_bench_files *out)
{
    *out = (pelt_bench_files){ .host = host, .pose_count = POSES };
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < count; i++) {
        result = add_file(out, paths[i]);
    }
    if (result != PELT_OK) {
        pelt_bench_files_destroy(out);
    }
    return result;
}

void pelt_bench_files_destroy(pelt_bench_files *files)
{
    for (uint32_t i = 0; i < files->part_count; i++) {
        pelt_bench_vertices_destroy(files->host, &files->parts[i].vertices);
    }
    pelt_release(files->host, files->parts);
    pelt_release(files->host, files->poses);
    *files = (pelt_bench_files){ .host = files->host };
}
