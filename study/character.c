#include "study/character.h"

#include "base/base.h"
#include "sample/sample.h"

#include <pelt/gltf.h>

static bool has_skinned_part(const pelt_model *model)
{
    for (uint32_t i = 0; i < model->part_count; i++) {
        if (model->parts[i].skinned) {
            return true;
        }
    }
    return false;
}

pelt_result pelt_study_character_open(const pelt_host *host, const char *path,
                                      uint32_t poses_a_clip, pelt_study_character *out)
{
    *out = (pelt_study_character){ .host = host,
                                   .name = path ? path : "the built-in character",
                                   .poses_a_clip = poses_a_clip,
                                   .pose_count = 1 };
    pelt_result result = path ? pelt_gltf_read(host, path, &out->model)
                              : pelt_sample_create(host, NULL, &out->model);
    if (result != PELT_OK) {
        return result;
    }
    if (!has_skinned_part(out->model)) {
        result = pelt_fail(host, PELT_ERROR_FILE, path, NULL, "nothing in its scene is skinned");
        goto fail;
    }
    if (out->model->clip_count > 0) {
        uint64_t poses = (uint64_t)out->model->clip_count * poses_a_clip;
        if (poses > UINT32_MAX) {
            result = pelt_fail(host, PELT_ERROR_RANGE, path, NULL, "too many poses: %llu",
                               (unsigned long long)poses);
            goto fail;
        }
        out->pose_count = (uint32_t)poses;
    }
    result = pelt_pose_create(host, out->model, &out->pose);
    if (result == PELT_OK) {
        return PELT_OK;
    }
fail:
    pelt_study_character_close(out);
    return result;
}

void pelt_study_character_close(pelt_study_character *character)
{
    pelt_pose_destroy(character->pose);
    pelt_model_destroy(character->model);
    character->pose = NULL;
    character->model = NULL;
}

pelt_result pelt_study_character_pose(pelt_study_character *character, uint32_t index)
{
    const pelt_model *model = character->model;
    pelt_play play = { .clip = -1 };
    if (model->clip_count > 0) {
        play.clip = (int32_t)(index / character->poses_a_clip);
        play.time = model->clips[play.clip].duration * (index % character->poses_a_clip) /
                    character->poses_a_clip;
    }
    return pelt_pose_evaluate(character->pose, &play, 1);
}

uint32_t pelt_study_character_joints(const pelt_study_character *character)
{
    uint32_t joints = 0;
    for (uint32_t i = 0; i < character->model->palette_count; i++) {
        const pelt_palette *palette = &character->model->palettes[i];
        joints += palette->skin >= 0 ? palette->matrix_count : 0;
    }
    return joints;
}
