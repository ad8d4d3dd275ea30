#include "bake/describe.h"

#include <math.h>
#include <string.h>

enum { POINTER_MAX = 96, SIZE_MAX_2D = 65536 };

/* One value being read: where it is, for messages, and whether all is well so far. */
typedef struct parser {
    const pelt_host *host;
    const char *name;
    pelt_bake *bake;
    char pointer[POINTER_MAX]; /* of the object being read */
    pelt_result result;        /* of the first failure, which is reported */
} parser;

static void fail(parser *p, pelt_result result, const char *key, const char *text)
{
    if (p->result == PELT_OK) {
        char pointer[2 * POINTER_MAX];
        (void)snprintf(pointer, sizeof(pointer), "%s/%s", p->pointer, key);
        p->result = pelt_fail(p->host, result, p->name, pointer, "%s", text);
    }
}

static void *allocate(parser *p, size_t count, size_t size)
{
    void *block = pelt_arena_allocate(p->bake->arena, count, size);
    if (!block && p->result == PELT_OK) {
        p->result = pelt_fail(p->host, PELT_ERROR_MEMORY, p->name, NULL, "no memory");
    }
    return block;
}

static uint32_t get_count(parser *p, const json_t *object, const char *key, uint32_t least,
                          uint32_t most)
{
    const json_t *value = json_object_get(object, key);
    json_int_t number = json_is_integer(value) ? json_integer_value(value) : -1;
    if (number < (json_int_t)least || number > (json_int_t)most) {
        fail(p, PELT_ERROR_FILE, key, "is not a whole number in its range");
        return least;
    }
    return (uint32_t)number;
}

/* null: -1. */
static int32_t get_index(parser *p, const json_t *object, const char *key)
{
    bool none = json_is_null(json_object_get(object, key));
    return none ? -1 : (int32_t)get_count(p, object, key, 0, INT32_MAX);
}

static double get_number(parser *p, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    double number = json_number_value(value);
    if (!json_is_number(value) || !(number >= 0) || !isfinite(number)) {
        fail(p, PELT_ERROR_FILE, key, "is not a number from 0 on");
        return 0;
    }
    return number;
}

static bool get_bool(parser *p, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_boolean(value)) {
        fail(p, PELT_ERROR_FILE, key, "is not true or false");
    }
    return json_is_true(value);
}

/* An array of so many at least; its size is 0 where there is none. */
static const json_t *get_list(parser *p, const json_t *object, const char *key, size_t least)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_array(value) || json_array_size(value) < least ||
        json_array_size(value) > INT32_MAX) {
        fail(p, PELT_ERROR_FILE, key, "is not a list, or too short");
        return NULL;
    }
    return value;
}

static char *get_text_or_null(parser *p, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    const char *text = json_string_value(value);
    if (!text) {
        if (!json_is_null(value)) {
            fail(p, PELT_ERROR_FILE, key, "is neither a text nor null");
        }
        return NULL;
    }
    char *copy = allocate(p, strlen(text) + 1, 1);
    return copy ? memcpy(copy, text, strlen(text) + 1) : NULL;
}

static uint32_t get_choice(parser *p, const json_t *object, const char *key,
                           const char *const *names, uint32_t count)
{
    const char *text = json_string_value(json_object_get(object, key));
    for (uint32_t i = 0; text && i < count; i++) {
        if (strcmp(text, names[i]) == 0) {
            return i;
        }
    }
    fail(p, PELT_ERROR_FILE, key, "is none of the words that there are");
    return 0;
}

static pelt_box to_box(parser *p, const json_t *numbers, const char *key)
{
    pelt_box box = PELT_BOX_EMPTY;
    bool right = json_is_array(numbers) && json_array_size(numbers) == 6;
    for (size_t i = 0; right && i < 6; i++) {
        const json_t *value = json_array_get(numbers, i);
        float number = (float)json_number_value(value);
        right = json_is_number(value) && isfinite(number);
        *(i < 3 ? &box.min[i] : &box.max[i - 3]) = number;
    }
    if (!right) {
        fail(p, PELT_ERROR_FILE, key, "is not six numbers");
    }
    return box;
}

static void parse_layout(parser *p, const json_t *root)
{
    pelt_bake *bake = p->bake;
    if (get_count(p, root, "version", 0, INT32_MAX) != PELT_BAKE_VERSION) {
        fail(p, PELT_ERROR_UNSUPPORTED, "version", "is a version that pelt does not know");
    }
    bake->layout = get_choice(p, root, "layout", pelt_bake_layout_names, 3);
    bake->format = get_choice(p, root, "format", pelt_bake_format_names, 2);
    bake->width = get_count(p, root, "width", 1, SIZE_MAX_2D);
    bake->height = get_count(p, root, "height", 1, SIZE_MAX_2D);
    bake->layer_count = get_count(p, root, "layers", 1, SIZE_MAX_2D);
    bake->joint_count = get_count(p, root, "joints", 1, INT32_MAX);
    uint32_t least = pelt_bake_layout_texels[bake->layout];
    bake->texels_per_joint = get_count(p, root, "texelsPerJoint", least,
                                       least + (bake->layout == PELT_BAKE_DUAL_QUATERNION));
    bake->joints_per_layer = get_count(p, root, "jointsPerLayer", 1, bake->joint_count);
    if ((uint64_t)bake->texels_per_joint * bake->joints_per_layer != bake->width) {
        fail(p, PELT_ERROR_FILE, "width", "is not that of the joints of a layer");
    }
}

static void parse_palette(parser *p, const json_t *object, uint32_t first_joint,
                          pelt_bake_palette *out)
{
    out->skin = get_index(p, object, "skin");
    out->node = get_count(p, object, "node", 0, INT32_MAX);
    out->first_joint = get_count(p, object, "firstJoint", first_joint, first_joint);
    const json_t *joints = get_list(p, object, "joints", 1);
    size_t count = json_array_size(joints);
    out->nodes = allocate(p, count, sizeof(*out->nodes));
    out->names = allocate(p, count, sizeof(*out->names));
    for (size_t j = 0; p->result == PELT_OK && j < count; j++) {
        const json_t *joint = json_array_get(joints, j);
        out->nodes[j] = get_count(p, joint, "node", 0, INT32_MAX);
        out->names[j] = get_text_or_null(p, joint, "name");
    }
    out->joint_count = (uint32_t)count;
}

static void parse_palettes(parser *p, const json_t *root)
{
    pelt_bake *bake = p->bake;
    const json_t *palettes = get_list(p, root, "palettes", 1);
    size_t count = json_array_size(palettes);
    uint64_t joints = 0;
    bake->palettes = allocate(p, count, sizeof(*bake->palettes));
    for (size_t i = 0; p->result == PELT_OK && i < count && joints <= bake->joint_count; i++) {
        (void)snprintf(p->pointer, sizeof(p->pointer), "/palettes/%zu", i);
        parse_palette(p, json_array_get(palettes, i), (uint32_t)joints, &bake->palettes[i]);
        joints += bake->palettes[i].joint_count;
    }
    p->pointer[0] = 0;
    if (joints != bake->joint_count) {
        fail(p, PELT_ERROR_FILE, "joints", "is not how many the palettes have");
    }
    bake->palette_count = (uint32_t)count;
}

static void parse_range(parser *p, const json_t *object, double rate, double start,
                        pelt_bake_range *out)
{
    const pelt_bake *bake = p->bake;
    uint32_t pages = (bake->joint_count + bake->joints_per_layer - 1) / bake->joints_per_layer;
    out->start = get_number(p, object, "start");
    out->end = get_number(p, object, "end");
    out->layer = get_count(p, object, "layer", 0, bake->layer_count - 1);
    out->first_row = get_count(p, object, "firstRow", 0, bake->height - 1);
    out->row_count = get_count(p, object, "frames", 1, bake->height);
    out->jump = get_bool(p, object, "jump");
    if (out->start != start || out->end < start) {
        fail(p, PELT_ERROR_FILE, "start", "is not where the range before ends, or after its end");
    }
    if (out->row_count > bake->height - out->first_row) {
        fail(p, PELT_ERROR_FILE, "frames", "is more than there are rows");
    }
    if (pages > bake->layer_count - out->layer) {
        fail(p, PELT_ERROR_FILE, "layer", "is too near to the last for all joints");
    }
    if (out->row_count > 1 && !((out->end - out->start) * rate - (out->row_count - 2.0) > 0)) {
        fail(p, PELT_ERROR_FILE, "frames", "is more than fit between start and end at this rate");
    }
}

static void parse_error(parser *p, const json_t *object, pelt_bake_error *out)
{
    out->at_frames = get_number(p, object, "atFrames");
    for (int i = 0; i < PELT_BAKE_INTERPOLATIONS; i++) {
        out->between[i] = get_number(p, object, pelt_bake_interpolation_names[i]);
    }
}

static void parse_clip(parser *p, const json_t *object, size_t index, pelt_bake_clip *out)
{
    char own[POINTER_MAX];
    (void)snprintf(own, sizeof(own), "/clips/%zu", index);
    memcpy(p->pointer, own, sizeof(own));
    out->name = get_text_or_null(p, object, "name");
    out->clip = get_index(p, object, "clip");
    out->rate = get_number(p, object, "rate");
    out->duration = get_number(p, object, "duration");
    out->loop = get_bool(p, object, "loop");
    out->seam = get_number(p, object, "seam");
    out->blend_margin = get_number(p, object, "blendMargin");
    if (p->bake->layout == PELT_BAKE_DUAL_QUATERNION) {
        out->dual_margin = get_number(p, object, "dualMargin");
    }
    out->box = to_box(p, json_object_get(object, "box"), "box");
    parse_error(p, json_object_get(object, "error"), &out->error);
    const json_t *ranges = get_list(p, object, "ranges", 1);
    const json_t *boxes = get_list(p, object, "boxes", 1);
    size_t count = json_array_size(ranges), frames = 0;
    out->ranges = allocate(p, count, sizeof(*out->ranges));
    double start = 0;
    for (size_t i = 0; p->result == PELT_OK && i < count; i++) {
        (void)snprintf(p->pointer, sizeof(p->pointer), "/clips/%zu/ranges/%zu", index, i);
        parse_range(p, json_array_get(ranges, i), out->rate, start, &out->ranges[i]);
        start = out->ranges[i].end;
        out->ranges[i].first_frame = (uint32_t)frames;
        frames += out->ranges[i].row_count;
    }
    out->range_count = (uint32_t)count;
    memcpy(p->pointer, own, sizeof(own));
    if (start != out->duration) {
        fail(p, PELT_ERROR_FILE, "duration", "is not where the last range ends");
    }
    if (frames != json_array_size(boxes)) {
        fail(p, PELT_ERROR_FILE, "boxes", "are not as many as frames");
    }
    out->boxes = allocate(p, frames, sizeof(*out->boxes));
    for (size_t i = 0; p->result == PELT_OK && i < frames; i++) {
        out->boxes[i] = to_box(p, json_array_get(boxes, i), "boxes");
    }
    out->frame_count = (uint32_t)frames;
}

pelt_result pelt_bake_parse(const char *name, const json_t *description, pelt_bake *bake)
{
    parser p = { .host = bake->host, .name = name, .bake = bake };
    parse_layout(&p, description);
    if (p.result == PELT_OK) {
        parse_palettes(&p, description);
    }
    const json_t *clips = get_list(&p, description, "clips", 1);
    size_t count = json_array_size(clips);
    bake->clips = allocate(&p, count, sizeof(*bake->clips));
    for (size_t i = 0; p.result == PELT_OK && i < count; i++) {
        parse_clip(&p, json_array_get(clips, i), i, &bake->clips[i]);
    }
    bake->clip_count = (uint32_t)count;
    return p.result;
}
