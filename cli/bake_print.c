#include "cli/bake.h"

#include <string.h>

enum { NAME_SHOWN = 24 };

static const char *const format_names[] = { "rgba32f", "rgba16f" };
static const char *const layout_names[] = { "matrix3x4", "matrix4x4", "dualQuaternion" };
static const char *const layout_words[] = { "3x4 matrices", "4x4 matrices", "dual quaternions" };

static void json_error(pelt_json *json, const pelt_bake_error *error)
{
    pelt_json_object_line(json, "error");
    pelt_json_number(json, "atFrames", error->at_frames);
    pelt_json_number(json, "nearest", error->between[PELT_BAKE_NEAREST]);
    pelt_json_number(json, "lerp", error->between[PELT_BAKE_LERP]);
    pelt_json_number(json, "blend", error->between[PELT_BAKE_BLEND]);
    pelt_json_close(json);
}

void pelt_bake_print_json(const pelt_report *report, const pelt_bake *bake, const char *file,
                          const char *output, const char *sidecar)
{
    pelt_json json;
    pelt_json_begin(&json, stdout);
    pelt_json_text(&json, "file", file);
    pelt_json_text(&json, "output", output);
    pelt_json_text(&json, "description", sidecar);
    pelt_json_text(&json, "layout", layout_names[bake->layout]);
    pelt_json_text(&json, "format", format_names[bake->format]);
    pelt_json_integer(&json, "width", bake->width);
    pelt_json_integer(&json, "height", bake->height);
    pelt_json_integer(&json, "layers", bake->layer_count);
    pelt_json_integer(&json, "joints", bake->joint_count);
    pelt_json_integer(&json, "texelsPerJoint", bake->texels_per_joint);
    pelt_json_integer(&json, "jointsPerLayer", bake->joints_per_layer);
    pelt_json_integer(&json, "bytes", (int64_t)bake->size);
    pelt_json_list(&json, "clips");
    for (uint32_t i = 0; i < bake->clip_count; i++) {
        const pelt_bake_clip *clip = &bake->clips[i];
        pelt_json_object(&json, NULL);
        if (clip->clip < 0) {
            pelt_json_text(&json, "clip", NULL);
        } else {
            pelt_json_integer(&json, "clip", clip->clip);
        }
        pelt_json_text(&json, "name", clip->name);
        pelt_json_integer(&json, "layer", clip->ranges[0].layer);
        pelt_json_integer(&json, "firstRow", clip->ranges[0].first_row);
        pelt_json_integer(&json, "frames", clip->frame_count);
        pelt_json_integer(&json, "ranges", clip->range_count);
        pelt_json_number(&json, "rate", clip->rate);
        pelt_json_number(&json, "duration", clip->duration);
        pelt_json_bool(&json, "loop", clip->loop);
        pelt_json_number(&json, "seam", clip->seam);
        pelt_json_floats(&json, "min", clip->box.min, 3);
        pelt_json_floats(&json, "max", clip->box.max, 3);
        json_error(&json, &clip->error);
        pelt_json_close(&json);
    }
    pelt_json_close(&json);
    pelt_report_warnings(report, &json);
    pelt_json_end(&json);
}

static void print_clip(const pelt_bake_clip *clip)
{
    char name[NAME_SHOWN + 4], frames[32];
    const char *shown = clip->clip < 0 ? "static pose" : clip->name ? clip->name : "";
    if (clip->clip < 0) {
        printf("  %3s  ", "-");
    } else {
        printf("  %3d  ", clip->clip);
    }
    shown = pelt_shorten(shown, NAME_SHOWN, name);
    pelt_print_safe(stdout, shown);
    /* Columns count bytes of UTF-8 as characters, which is as near as it gets. */
    for (size_t i = strlen(shown); i < NAME_SHOWN + 3; i++) {
        putchar(' ');
    }
    printf("%7s  %5.4g  %8.4g  %-4s  %9.2e  %9.2e  %9.2e  %9.2e\n",
           pelt_format_count(clip->frame_count, frames), clip->rate, clip->duration,
           clip->loop ? "yes" : "no", clip->error.at_frames, clip->error.between[PELT_BAKE_NEAREST],
           clip->error.between[PELT_BAKE_LERP], clip->error.between[PELT_BAKE_BLEND]);
}

void pelt_bake_print_text(const pelt_bake *bake, const char *output, const char *sidecar)
{
    char joints[32], bytes[32], clips[32];
    pelt_print_safe(stdout, output);
    printf(", ");
    pelt_print_safe(stdout, sidecar);
    printf(": %s clip%s, %s joint%s as %s%s\n", pelt_format_count(bake->clip_count, clips),
           pelt_plural(bake->clip_count), pelt_format_count(bake->joint_count, joints),
           pelt_plural(bake->joint_count), layout_words[bake->layout],
           bake->layout == PELT_BAKE_DUAL_QUATERNION && bake->texels_per_joint == 3 ? " and scale"
                                                                                    : "");
    printf("  texture  %u x %u texels, %u layer%s, %s, %s\n\n", bake->width, bake->height,
           bake->layer_count, pelt_plural(bake->layer_count), format_names[bake->format],
           pelt_format_bytes(bake->size, bytes));
    printf("  clip%*sframes   rate  duration  loop  worst error, model units:\n", NAME_SHOWN + 5,
           "");
    printf("%*sat frames    nearest       lerp      blend\n", NAME_SHOWN + 42, "");
    for (uint32_t i = 0; i < bake->clip_count; i++) {
        print_clip(&bake->clips[i]);
    }
}
