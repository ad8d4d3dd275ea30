/* --method: linear blending or dual quaternions, and what of a character the latter do not blend as
 * motions. */
#include "cli/open.h"

#include <string.h>

static const char *const choices[] = { [PELT_METHOD_LBS] = "lbs", [PELT_METHOD_DQS] = "dqs", NULL };

const char *pelt_method_name(pelt_method method)
{
    return choices[method];
}

pelt_option pelt_option_method(int *target)
{
    return (pelt_option){ .name = "method",
                          .letter = 'm',
                          .kind = PELT_OPTION_CHOICE,
                          .value = "METHOD",
                          .help = "lbs: linear blend skinning; dqs: dual quaternions,\n"
                                  "whose twisted limbs stay thick (default: lbs)",
                          .target = target,
                          .choices = choices };
}

enum { NAMED = 8, NAME_SHOWN = 48 };

/* "'hip'", or "node 12". */
static void name_joint(const pelt_model *model, const pelt_palette *palette, uint32_t joint,
                       char *out, size_t size)
{
    char name[NAME_SHOWN + 4];
    uint32_t node = model->skins[palette->skin].joints[joint];
    if (model->nodes[node].name) {
        (void)snprintf(out, size, "'%s'", pelt_shorten(model->nodes[node].name, NAME_SHOWN, name));
    } else {
        (void)snprintf(out, size, "node %u", node);
    }
}

/* Counts the joints with this stretch and lists the first of them, the node of the first of all.
 * Rigid meshes blend nothing. */
static uint32_t list_joints(const pelt_model *model, const pelt_stretch *stretches,
                            pelt_stretch stretch, char *list, size_t size, uint32_t *node)
{
    uint32_t count = 0;
    list[0] = 0;
    for (uint32_t p = 0; p < model->palette_count; p++) {
        const pelt_palette *palette = &model->palettes[p];
        for (uint32_t j = 0; palette->skin >= 0 && j < palette->matrix_count; j++) {
            if (stretches[palette->first_matrix + j] != stretch) {
                continue;
            }
            size_t used = strlen(list);
            if (count == 0) {
                *node = model->skins[palette->skin].joints[j];
            }
            if (count < NAMED) {
                char name[NAME_SHOWN + 16];
                name_joint(model, palette, j, name, sizeof(name));
                (void)snprintf(list + used, size - used, "%s%s", count ? ", " : "", name);
            } else if (count == NAMED) {
                (void)snprintf(list + used, size - used, ", ...");
            }
            count++;
        }
    }
    return count;
}

void pelt_warn_of_stretch(const pelt_host *host, const pelt_model *model,
                          const pelt_stretch *stretches, const pelt_play *play)
{
    static const struct {
        pelt_stretch stretch;
        const char *one, *many, *so;
    } kinds[] = {
        { PELT_STRETCH_UNEVEN, "scales unevenly or shears", "scale unevenly or shear",
          "dual quaternions blend that linearly, apart from the rotation" },
        { PELT_STRETCH_MIRRORED, "is mirrored beside others", "are mirrored beside others",
          "no rotation leads from those to these, and dual quaternions blend the negative" },
        { PELT_STRETCH_COLLAPSED, "collapses its vertices", "collapse their vertices",
          "dual quaternions blend that as if it did not turn" },
    };
    if (!stretches) {
        return;
    }
    const char *clip = play->clip >= 0 ? model->clips[play->clip].name : NULL;
    char where[NAME_SHOWN + 40] = "", shown[NAME_SHOWN + 4];
    if (clip) {
        (void)snprintf(where, sizeof(where), " in clip '%s'",
                       pelt_shorten(clip, NAME_SHOWN, shown));
    } else if (play->clip >= 0) {
        (void)snprintf(where, sizeof(where), " in clip %d", play->clip);
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        char list[(NAMED + 1) * (NAME_SHOWN + 16)];
        uint32_t node = 0;
        uint32_t count = list_joints(model, stretches, kinds[i].stretch, list, sizeof(list), &node);
        if (count) {
            char pointer[24];
            (void)snprintf(pointer, sizeof(pointer), "/nodes/%u", node);
            pelt_warn(host, NULL, pointer, "%u joint%s %s%s; %s: %s", count, pelt_plural(count),
                      count == 1 ? kinds[i].one : kinds[i].many, where, kinds[i].so, list);
        }
    }
}
