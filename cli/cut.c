#include "cli/cut.h"

#include "base/base.h"

#include <string.h>

/* Of all clips together, but one of each at least; and of one. */
enum { MOMENTS_MAX = 32, CLIP_MOMENTS_MAX = 16 };

/* The poses of one mesh: one after the other for each moment, those of all parts that use it. */
typedef struct pose_list {
    uint32_t count, joint_count;
    float *matrices;
} pose_list;

/* Times of one clip, evenly apart, the first half a step behind its start. */
static uint32_t moments_of_clip(uint32_t clip_count)
{
    uint32_t moments = MOMENTS_MAX / clip_count;
    return moments < 1 ? 1 : moments > CLIP_MOMENTS_MAX ? CLIP_MOMENTS_MAX : moments;
}

static pelt_result start_list(const pelt_character *character, uint32_t mesh, uint32_t moments,
                              pose_list *list)
{
    const pelt_model *model = character->model;
    size_t users = 0, floats;
    for (uint32_t p = 0; p < model->part_count; p++) {
        if (character->part_meshes[p] == mesh) {
            list->joint_count = model->palettes[model->parts[p].palette].matrix_count;
            users++;
        }
    }
    if (pelt_multiply(users * moments, (size_t)12 * list->joint_count, &floats)) {
        list->matrices = pelt_allocate(character->host, floats, sizeof(float));
    }
    return list->matrices ? PELT_OK : PELT_ERROR_MEMORY;
}

/* What all parts look like at a moment. Those that share a mesh with one whose skin has another
 * number of joints are left out. */
static pelt_result add_moment(const pelt_character *character, pelt_batch *batch,
                              const pelt_play *play, pose_list *lists)
{
    const pelt_model *model = character->model;
    pelt_result result = pelt_batch_pose_one(batch, play);
    for (uint32_t p = 0; p < model->part_count && result == PELT_OK; p++) {
        pose_list *list = &lists[character->part_meshes[p]];
        if (model->palettes[model->parts[p].palette].matrix_count == list->joint_count) {
            size_t numbers = (size_t)12 * list->joint_count;
            memcpy(list->matrices + numbers * list->count++, pelt_batch_palette(batch, 0, p),
                   numbers * sizeof(float));
        }
    }
    return result;
}

static pelt_result add_clip(const pelt_character *character, const pelt_cut_info *info,
                            int32_t clip, uint32_t moments, pelt_batch *batch, pose_list *lists)
{
    double duration = clip < 0 ? 0 : character->model->clips[clip].duration;
    uint32_t count = duration > 0 ? moments : 1;
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; i < count && result == PELT_OK; i++) {
        const pelt_play play = { .clip = clip,
                                 .time = info->start + duration * (i + info->offset) / moments,
                                 .loop = true };
        result = add_moment(character, batch, &play, lists);
    }
    return result;
}

/* Poses of all meshes in the clips. */
static pelt_result sample_poses(const pelt_character *character, const pelt_cut_info *info,
                                uint32_t clip_count, uint32_t moments, pose_list *lists)
{
    pelt_batch *batch = NULL;
    pelt_result result = pelt_batch_create(character, 1, false, &batch);
    for (uint32_t i = 0; i < character->mesh_count && result == PELT_OK; i++) {
        result = start_list(character, i, clip_count * moments, &lists[i]);
    }
    bool all = info->all_clips && character->model->clip_count > 0;
    for (uint32_t i = 0; i < clip_count && result == PELT_OK; i++) {
        result = add_clip(character, info, all ? (int32_t)i : info->clip, moments, batch, lists);
    }
    pelt_batch_destroy(batch);
    return result;
}

static pelt_result cut_mesh(const pelt_character *character, uint32_t mesh, const pose_list *list,
                            uint32_t lod_count, pelt_clusters **out)
{
    const pelt_clusters_info info = { .mesh = character->meshes[mesh],
                                      .primitive = character->primitives[mesh],
                                      .lod_count = lod_count,
                                      .poses = list->matrices,
                                      .pose_count = list->count,
                                      .joint_count = list->joint_count };
    return info.primitive->topology < PELT_TRIANGLES
               ? PELT_OK
               : pelt_clusters_create(character->host, &info, out);
}

pelt_result pelt_character_cut(const pelt_character *character, const pelt_cut_info *info,
                               pelt_character_clusters **out)
{
    const pelt_host *host = character->host;
    bool all = info->all_clips && character->model->clip_count > 0;
    bool posed = all || info->clip >= 0;
    uint32_t clip_count = all ? character->model->clip_count : 1;
    uint32_t moments = info->moments ? info->moments : posed ? moments_of_clip(clip_count) : 1;
    pelt_character_clusters *cut = pelt_allocate(host, 1, sizeof(*cut));
    pose_list *lists = pelt_allocate(host, character->mesh_count, sizeof(*lists));
    pelt_result result = PELT_ERROR_MEMORY;
    *out = NULL;
    if (!cut || !lists) {
        goto done;
    }
    cut->host = host;
    cut->moment_count = clip_count * moments;
    cut->clusters = pelt_allocate(host, character->mesh_count, sizeof(pelt_clusters *));
    if (!cut->clusters) {
        goto done;
    }
    cut->mesh_count = character->mesh_count;
    result =
        info->lod_count > 1 ? sample_poses(character, info, clip_count, moments, lists) : PELT_OK;
    for (uint32_t i = 0; i < character->mesh_count && result == PELT_OK; i++) {
        result = cut_mesh(character, i, &lists[i], info->lod_count, &cut->clusters[i]);
    }
    if (result == PELT_OK) {
        *out = cut;
        cut = NULL;
    }
done:
    for (uint32_t i = 0; lists && i < character->mesh_count; i++) {
        pelt_release(host, lists[i].matrices);
    }
    pelt_release(host, lists);
    pelt_character_clusters_destroy(cut);
    return result;
}

void pelt_character_clusters_destroy(pelt_character_clusters *clusters)
{
    if (!clusters) {
        return;
    }
    for (uint32_t i = 0; clusters->clusters && i < clusters->mesh_count; i++) {
        pelt_clusters_destroy(clusters->clusters[i]);
    }
    pelt_release(clusters->host, clusters->clusters);
    pelt_release(clusters->host, clusters);
}
