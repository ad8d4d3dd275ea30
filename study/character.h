/* A character and its poses, as the studies go through them. */
#ifndef PELT_STUDY_CHARACTER_H
#define PELT_STUDY_CHARACTER_H

#include <pelt/pose.h>

typedef struct pelt_study_character {
    const pelt_host *host;
    const char *name; /* the path, as given, or that of the built-in one */
    pelt_model *model;
    pelt_pose *pose;
    uint32_t poses_a_clip, pose_count; /* without clips: the static pose alone */
} pelt_study_character;

/* path: NULL: the built-in character. Errors: those of pelt_gltf_read; PELT_ERROR_FILE where no
 * part is skinned; PELT_ERROR_RANGE for too many poses. */
pelt_result pelt_study_character_open(const pelt_host *host, const char *path,
                                      uint32_t poses_a_clip, pelt_study_character *out);
void pelt_study_character_close(pelt_study_character *character);

/* Clip by clip, at even times from the beginning of each. */
pelt_result pelt_study_character_pose(pelt_study_character *character, uint32_t index);

uint32_t pelt_study_character_joints(const pelt_study_character *character);

static inline const pelt_primitive *study_primitive(const pelt_model *model, const pelt_part *part)
{
    return &model->meshes[part->mesh].primitives[part->primitive];
}

#endif
