/* The character that a command works on and the moment of its clip, from the options that say so.
 */
#ifndef PELT_CLI_OPEN_H
#define PELT_CLI_OPEN_H

#include "cli/options.h"
#include "cli/scene.h"

typedef struct pelt_open_info {
    const char *file;
    const char *clip; /* name or number; NULL: the static pose, or with first_clip the first one */
    bool first_clip, fixed_pose;
    double time;
    bool timed; /* time was given: there must be a clip to play, as there must be to loop */
    bool loop;
    bool add_normals; /* where the file has none */
    int method;       /* pelt_method */
} pelt_open_info;

/* Whether the options that chose clip and time make sense together; else says why not. */
bool pelt_open_info_check(pelt_report *report, const pelt_open_info *info);

/* The clip that the user named. PELT_ERROR_FILE if there is none, having said which there are. */
pelt_result pelt_find_clip(const pelt_host *host, const char *file, const pelt_model *model,
                           const char *name, int32_t *out);

/* Reads and packs. *play: what was asked for; its clip is -1 for the static pose. An unknown clip
 * is PELT_ERROR_FILE, having said which there are; so are a time without any clip and a scene
 * without a mesh. */
pelt_result pelt_character_open(const pelt_host *host, const pelt_open_info *info, pelt_play *play,
                                pelt_character **out);

/* "clip 2 'Run'" on stdout. */
void pelt_print_clip(const pelt_model *model, int32_t clip);

/* Members "clip" and, for a clip, "clipName". */
void pelt_json_clip(pelt_json *json, const pelt_model *model, int32_t clip);

/* Warns where joints do what dual quaternions do not blend as motions. stretches: of each joint the
 * worst in all poses that count, as in a pelt_batch that has been posed in these; or NULL. */
void pelt_warn_of_stretch(const pelt_host *host, const pelt_model *model,
                          const pelt_stretch *stretches, const pelt_play *play);

/* Options that several commands have. */
pelt_option pelt_option_clip(const char **target, const char *help);
pelt_option pelt_option_static(bool *target);
pelt_option pelt_option_time(pelt_open_info *target, const char *help);
pelt_option pelt_option_loop(bool *target, const char *help);
pelt_option pelt_option_method(int *target);
const char *pelt_method_name(pelt_method method); /* as the option has it */
pelt_option pelt_option_count(uint32_t *target, const char *help);

#endif
