#include "bake/describe.h"

#include <stdlib.h>
#include <string.h>

const char *const pelt_bake_layout_names[3] = { "matrix3x4", "matrix4x4", "dualQuaternion" };
const char *const pelt_bake_format_names[2] = { "rgba32f", "rgba16f" };
const char *const pelt_bake_interpolation_names[PELT_BAKE_INTERPOLATIONS] = { "nearest", "lerp",
                                                                              "blend" };

/* All of these take what they are given, and without memory nothing comes of it: *failed. */
static void set(json_t *object, const char *key, json_t *value, bool *failed)
{
    *failed = json_object_set_new(object, key, value) != 0 || *failed;
}

static void append(json_t *array, json_t *value, bool *failed)
{
    *failed = json_array_append_new(array, value) != 0 || *failed;
}

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

static json_t *describe_box(const pelt_box *box, bool *failed)
{
    json_t *numbers = json_array();
    for (int i = 0; i < 3; i++) {
        append(numbers, json_real((double)box->min[i]), failed);
    }
    for (int i = 0; i < 3; i++) {
        append(numbers, json_real((double)box->max[i]), failed);
    }
    return numbers;
}

static json_t *describe_error(const pelt_bake_error *error, bool *failed)
{
    json_t *object = json_object();
    set(object, "atFrames", json_real(error->at_frames), failed);
    for (int i = 0; i < PELT_BAKE_INTERPOLATIONS; i++) {
        set(object, pelt_bake_interpolation_names[i], json_real(error->between[i]), failed);
    }
    return object;
}

static json_t *describe_palette(const pelt_bake_palette *palette, bool *failed)
{
    json_t *object = json_object(), *joints = json_array();
    set(object, "skin", palette->skin < 0 ? json_null() : json_integer(palette->skin), failed);
    set(object, "node", json_integer(palette->node), failed);
    set(object, "firstJoint", json_integer(palette->first_joint), failed);
    for (uint32_t j = 0; j < palette->joint_count; j++) {
        json_t *joint = json_object();
        set(joint, "node", json_integer(palette->nodes[j]), failed);
        set(joint, "name", text_or_null(palette->names[j]), failed);
        append(joints, joint, failed);
    }
    set(object, "joints", joints, failed);
    return object;
}

static json_t *describe_range(const pelt_bake_range *range, bool *failed)
{
    json_t *object = json_object();
    set(object, "start", json_real(range->start), failed);
    set(object, "end", json_real(range->end), failed);
    set(object, "layer", json_integer(range->layer), failed);
    set(object, "firstRow", json_integer(range->first_row), failed);
    set(object, "frames", json_integer(range->row_count), failed);
    set(object, "jump", json_boolean(range->jump), failed);
    return object;
}

/* dual: of dual quaternions. */
static json_t *describe_clip(const pelt_bake_clip *clip, bool dual, bool *failed)
{
    json_t *object = json_object(), *ranges = json_array(), *boxes = json_array();
    set(object, "name", text_or_null(clip->name), failed);
    set(object, "clip", clip->clip < 0 ? json_null() : json_integer(clip->clip), failed);
    set(object, "layer", json_integer(clip->ranges[0].layer), failed);
    set(object, "firstRow", json_integer(clip->ranges[0].first_row), failed);
    set(object, "frames", json_integer(clip->frame_count), failed);
    set(object, "rate", json_real(clip->rate), failed);
    set(object, "duration", json_real(clip->duration), failed);
    set(object, "loop", json_boolean(clip->loop), failed);
    set(object, "seam", json_real(clip->seam), failed);
    set(object, "error", describe_error(&clip->error, failed), failed);
    set(object, "blendMargin", json_real(clip->blend_margin), failed);
    set(object, "dualMargin", dual ? json_real(clip->dual_margin) : json_null(), failed);
    set(object, "box", describe_box(&clip->box, failed), failed);
    for (uint32_t i = 0; i < clip->range_count; i++) {
        append(ranges, describe_range(&clip->ranges[i], failed), failed);
    }
    set(object, "ranges", ranges, failed);
    for (uint32_t i = 0; i < clip->frame_count; i++) {
        append(boxes, describe_box(&clip->boxes[i], failed), failed);
    }
    set(object, "boxes", boxes, failed);
    return object;
}

json_t *pelt_bake_describe(const pelt_bake *bake)
{
    bool failed = false, dual = bake->layout == PELT_BAKE_DUAL_QUATERNION;
    json_t *root = json_object(), *palettes = json_array(), *clips = json_array();
    set(root, "generator", json_string("pelt " PELT_VERSION_STRING), &failed);
    set(root, "version", json_integer(PELT_BAKE_VERSION), &failed);
    set(root, "layout", json_string(pelt_bake_layout_names[bake->layout]), &failed);
    set(root, "format", json_string(pelt_bake_format_names[bake->format]), &failed);
    set(root, "width", json_integer(bake->width), &failed);
    set(root, "height", json_integer(bake->height), &failed);
    set(root, "layers", json_integer(bake->layer_count), &failed);
    set(root, "joints", json_integer(bake->joint_count), &failed);
    set(root, "texelsPerJoint", json_integer(bake->texels_per_joint), &failed);
    set(root, "jointsPerLayer", json_integer(bake->joints_per_layer), &failed);
    for (uint32_t i = 0; i < bake->palette_count; i++) {
        append(palettes, describe_palette(&bake->palettes[i], &failed), &failed);
    }
    set(root, "palettes", palettes, &failed);
    for (uint32_t i = 0; i < bake->clip_count; i++) {
        append(clips, describe_clip(&bake->clips[i], dual, &failed), &failed);
    }
    set(root, "clips", clips, &failed);
    if (failed) {
        json_decref(root);
        return NULL;
    }
    return root;
}

static pelt_result put(pelt_output *output, const char *text)
{
    return pelt_output_write(output, text, strlen(text));
}

static pelt_result put_indent(pelt_output *output, int depth)
{
    pelt_result result = put(output, "\n");
    for (int i = 0; result == PELT_OK && i < depth; i++) {
        result = put(output, "  ");
    }
    return result;
}

static bool is_container(const json_t *value)
{
    return json_is_object(value) || json_is_array(value);
}

static bool holds_containers(const json_t *value)
{
    const char *key;
    json_t *member;
    size_t index;
    json_object_foreach((json_t *)value, key, member)
    {
        if (is_container(member)) {
            return true;
        }
    }
    json_array_foreach(value, index, member)
    {
        if (is_container(member)) {
            return true;
        }
    }
    return false;
}

static pelt_result put_line(pelt_output *output, const json_t *value)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY);
    pelt_result result = text ? put(output, text)
                              : pelt_fail(output->host, PELT_ERROR_MEMORY, output->path, NULL,
                                          "no memory for the JSON");
    free(text);
    return result;
}

static pelt_result put_value(pelt_output *output, const json_t *value, int depth);

/* A member on a line of its own. */
static pelt_result put_member(pelt_output *output, const char *key, const json_t *member,
                              bool first, int depth)
{
    pelt_result result = first ? PELT_OK : put(output, ",");
    result = result == PELT_OK ? put_indent(output, depth) : result;
    if (result == PELT_OK && key) {
        result = put(output, "\"");
        result = result == PELT_OK ? put(output, key) : result; /* ours, nothing to escape */
        result = result == PELT_OK ? put(output, "\": ") : result;
    }
    return result == PELT_OK ? put_value(output, member, depth) : result;
}

/* Our own values, which are four deep. */
static pelt_result put_value(pelt_output *output, const json_t *value, int depth)
{
    if (!holds_containers(value)) {
        return put_line(output, value);
    }
    bool object = json_is_object(value), first = true;
    const char *key;
    json_t *member;
    size_t index;
    pelt_result result = put(output, object ? "{" : "[");
    json_object_foreach((json_t *)value, key, member)
    {
        result = result == PELT_OK ? put_member(output, key, member, first, depth + 1) : result;
        first = false;
    }
    json_array_foreach(value, index, member)
    {
        result = result == PELT_OK ? put_member(output, NULL, member, first, depth + 1) : result;
        first = false;
    }
    result = result == PELT_OK ? put_indent(output, depth) : result;
    return result == PELT_OK ? put(output, object ? "}" : "]") : result;
}

pelt_result pelt_bake_print(pelt_output *output, const json_t *description)
{
    pelt_result result = put_value(output, description, 0);
    return result == PELT_OK ? put(output, "\n") : result;
}
