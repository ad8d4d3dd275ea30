#include "cli/open.h"

#include <pelt/gltf.h>
#include <string.h>

enum { NAME_SHOWN = 60, LIST_SIZE = 512 };

/* "0 'Idle', 1 'Walk', and 58 more; see pelt info". */
static void list_clips(const pelt_model *model, char list[LIST_SIZE])
{
    size_t used = 0;
    list[0] = 0;
    for (uint32_t i = 0; i < model->clip_count; i++) {
        char entry[NAME_SHOWN + 32], name[NAME_SHOWN + 4];
        const char *clip = model->clips[i].name;
        (void)snprintf(entry, sizeof(entry), clip ? "%s%u '%s'" : "%s%u", i ? ", " : "", i,
                       clip ? pelt_shorten(clip, NAME_SHOWN, name) : "");
        size_t length = strlen(entry);
        if (used + length + NAME_SHOWN > LIST_SIZE) {
            (void)snprintf(list + used, LIST_SIZE - used, ", and %u more; see pelt info",
                           model->clip_count - i);
            return;
        }
        memcpy(list + used, entry, length + 1);
        used += length;
    }
}

/* The clip's name that is nearest to a mistyped one, or NULL. */
static const char *nearest_clip(const pelt_host *host, const pelt_model *model, const char *name)
{
    const char **names = pelt_allocate(host, (size_t)model->clip_count + 1, sizeof(*names));
    if (!names) {
        return NULL;
    }
    size_t count = 0;
    for (uint32_t i = 0; i < model->clip_count; i++) {
        if (model->clips[i].name) {
            names[count++] = model->clips[i].name;
        }
    }
    names[count] = NULL;
    const char *nearest = pelt_nearest(name, names);
    pelt_release(host, names);
    return nearest;
}

pelt_result pelt_find_clip(const pelt_host *host, const char *file, const pelt_model *model,
                           const char *name, int32_t *out)
{
    *out = pelt_model_find_clip(model, name);
    if (*out >= 0) {
        return PELT_OK;
    }
    char given[NAME_SHOWN + 4], other[NAME_SHOWN + 4], list[LIST_SIZE];
    const char *shown = pelt_shorten(name, NAME_SHOWN, given);
    if (model->clip_count == 0) {
        return pelt_fail(host, PELT_ERROR_FILE, file, NULL, "no clip '%s': the file has no clips",
                         shown);
    }
    const char *nearest = nearest_clip(host, model, name);
    list_clips(model, list);
    if (!nearest) {
        return pelt_fail(host, PELT_ERROR_FILE, file, "/animations", "no clip '%s'; there are: %s",
                         shown, list);
    }
    return pelt_fail(host, PELT_ERROR_FILE, file, "/animations",
                     "no clip '%s'; did you mean '%s'? There are: %s", shown,
                     pelt_shorten(nearest, NAME_SHOWN, other), list);
}

static uint64_t count_vertices(const pelt_model *model)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < model->part_count; i++) {
        count += pelt_part_primitive(model, i)->vertex_count;
    }
    return count;
}

bool pelt_open_info_check(pelt_report *report, const pelt_open_info *info)
{
    const char *timing = info->timed ? "--time" : info->loop ? "--loop" : NULL;
    if (info->fixed_pose && (info->clip || timing)) {
        pelt_report_error(report, NULL, "%s and --static exclude each other",
                          info->clip ? "--clip" : timing);
        return false;
    }
    if (timing && !info->clip && !info->first_clip) {
        pelt_report_error(report, NULL, "%s needs --clip: without, there is no clip to play",
                          timing);
        return false;
    }
    return true;
}

pelt_result pelt_character_open(const pelt_host *host, const pelt_open_info *info, pelt_play *play,
                                pelt_character **out)
{
    *out = NULL;
    *play = (pelt_play){ .clip = -1, .time = info->time, .loop = info->loop };
    pelt_model *model;
    pelt_result result = pelt_gltf_read(host, info->file, &model);
    if (result != PELT_OK) {
        return result;
    }
    if (info->clip) {
        result = pelt_find_clip(host, info->file, model, info->clip, &play->clip);
    } else if (info->first_clip && !info->fixed_pose && model->clip_count) {
        play->clip = 0;
    }
    if (result == PELT_OK && play->clip < 0 && (info->timed || info->loop)) {
        result = pelt_fail(host, PELT_ERROR_FILE, info->file, NULL,
                           "%s: no clip to play: the file has no clips",
                           info->timed ? "--time" : "--loop");
    }
    if (result == PELT_OK && model->part_count == 0) {
        result = pelt_fail(host, PELT_ERROR_FILE, info->file, NULL,
                           "nothing to skin: its scene has no mesh");
    }
    uint64_t file_vertices = count_vertices(model);
    if (result == PELT_OK && info->add_normals) {
        result = pelt_model_add_normals(model);
    }
    if (result != PELT_OK) {
        pelt_model_destroy(model);
        return result;
    }
    result = pelt_character_create(host, model, out);
    if (result == PELT_OK) {
        (*out)->file_vertices = file_vertices;
        (*out)->method = (pelt_method)info->method;
    }
    return result;
}

void pelt_print_clip(const pelt_model *model, int32_t clip)
{
    printf("clip %d", clip);
    if (model->clips[clip].name) {
        printf(" '");
        pelt_print_safe(stdout, model->clips[clip].name);
        printf("'");
    }
}

void pelt_json_clip(pelt_json *json, const pelt_model *model, int32_t clip)
{
    if (clip >= 0) {
        pelt_json_integer(json, "clip", clip);
        pelt_json_text(json, "clipName", model->clips[clip].name);
    } else {
        pelt_json_text(json, "clip", NULL);
    }
}

pelt_option pelt_option_clip(const char **target, const char *help)
{
    return (pelt_option){ .name = "clip",
                          .letter = 'c',
                          .kind = PELT_OPTION_TEXT,
                          .value = "CLIP",
                          .help = help,
                          .target = target };
}

pelt_option pelt_option_static(bool *target)
{
    return (pelt_option){ .name = "static",
                          .kind = PELT_OPTION_FLAG,
                          .help = "no clip: the static pose",
                          .target = target };
}

pelt_option pelt_option_loop(bool *target, const char *help)
{
    return (
        pelt_option){ .name = "loop", .kind = PELT_OPTION_FLAG, .help = help, .target = target };
}

pelt_option pelt_option_time(pelt_open_info *target, const char *help)
{
    return (pelt_option){ .name = "time",
                          .letter = 't',
                          .kind = PELT_OPTION_NUMBER,
                          .value = "SECONDS",
                          .help = help,
                          .target = &target->time,
                          .given = &target->timed };
}

pelt_option pelt_option_count(uint32_t *target, const char *help)
{
    return (pelt_option){ .name = "count",
                          .letter = 'n',
                          .kind = PELT_OPTION_COUNT,
                          .value = "N",
                          .help = help,
                          .target = target,
                          .minimum = 1,
                          .maximum = 1000000 };
}
