/* Animations: the channels that move nodes, and the keys of their samplers. */
#include "reader.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* How far a rotation's length may be from 1 before the repair is worth a word; the official
 * validator's limit. Integers are coarser, and always normalized in silence. */
static const double length_tolerance = 0.00769;

/* What a sampler's numbers are read as; one sampler may serve several channels, and then usually
 * the same kind of them. */
typedef enum { VECTORS, ROTATIONS, WEIGHTS, KIND_COUNT } value_kind;

typedef struct clip_reader {
    pelt_gltf_place samplers_at;
    json_t *samplers;
    uint32_t sampler_count;
    int32_t *converted; /* KIND_COUNT a sampler: the clip's sampler, or -1 */
    uint32_t *animated; /* 4 a node: the last clip + 1 that has a channel for the path */
    uint32_t index;     /* of the clip */
} clip_reader;

static bool read_times(pelt_gltf_reader *reader, pelt_gltf_place at, uint32_t accessor,
                       pelt_sampler *sampler)
{
    if (!pelt_gltf_expect(reader, at, accessor, 1, PELT_GLTF_FLOAT)) {
        return false;
    }
    sampler->key_count = reader->accessors[accessor].count;
    uint32_t least = sampler->interpolation == PELT_CUBICSPLINE ? 2 : 1;
    if (sampler->key_count < least) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, at,
                              "/accessors/%u has %u key times; at least %u are needed", accessor,
                              sampler->key_count, least);
    }
    pelt_gltf_warn_strided(reader, at, accessor);
    sampler->times = pelt_gltf_read_floats(reader, at, accessor);
    if (!sampler->times) {
        return false;
    }
    for (uint32_t i = 0; i < sampler->key_count; i++) {
        float time = sampler->times[i];
        if (i == 0 ? time < 0 : time <= sampler->times[i - 1]) {
            return pelt_gltf_fail(reader, PELT_ERROR_FILE, at,
                                  "key %u of /accessors/%u is at %g s, not %s", i, accessor,
                                  (double)time, i == 0 ? ">= 0" : "later than the key before it");
        }
    }
    return true;
}

static void normalize_rotations(pelt_gltf_reader *reader, pelt_gltf_place at, bool strict,
                                pelt_sampler *sampler)
{
    bool cubic = sampler->interpolation == PELT_CUBICSPLINE;
    uint32_t zeros = 0, off = 0;
    for (size_t i = 0; i < sampler->key_count; i++) {
        float *q = sampler->values + 4 * (cubic ? 3 * i + 1 : i);
        double length = sqrt((double)q[0] * q[0] + (double)q[1] * q[1] + (double)q[2] * q[2] +
                             (double)q[3] * q[3]);
        if (length < FLT_MIN) {
            memcpy(q, (const float[4]){ 0, 0, 0, 1 }, 4 * sizeof(*q));
            zeros++;
            continue;
        }
        off += strict && fabs(length - 1) > length_tolerance;
        for (unsigned k = 0; k < 4; k++) {
            q[k] = (float)(q[k] / length);
        }
    }
    if (zeros) {
        pelt_gltf_warn(reader, at, "%u of %u rotations have no length; replaced by the identity",
                       zeros, sampler->key_count);
    }
    if (off) {
        pelt_gltf_warn(reader, at, "%u of %u rotations did not have length 1; normalized", off,
                       sampler->key_count);
    }
}

/* targets: of the node whose weights move. */
static bool read_values(pelt_gltf_reader *reader, pelt_gltf_place at, uint32_t accessor,
                        value_kind kind, uint32_t targets, pelt_sampler *sampler)
{
    unsigned formats = PELT_GLTF_FLOAT;
    if (kind != VECTORS) {
        formats |= PELT_GLTF_I8_NORM | PELT_GLTF_U8_NORM | PELT_GLTF_I16_NORM | PELT_GLTF_U16_NORM;
    }
    uint32_t width = kind == VECTORS ? 3 : kind == ROTATIONS ? 4 : 1;
    sampler->width = kind == WEIGHTS ? targets : width;
    if (!pelt_gltf_expect(reader, at, accessor, width, formats)) {
        return false;
    }
    uint64_t each = (uint64_t)(kind == WEIGHTS ? targets : 1) *
                    (sampler->interpolation == PELT_CUBICSPLINE ? 3 : 1);
    uint32_t have = reader->accessors[accessor].count;
    if (have % each != 0 || have / each != sampler->key_count) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, at,
                              "/accessors/%u has %u values, but %u keys need %llu each", accessor,
                              have, sampler->key_count, (unsigned long long)each);
    }
    pelt_gltf_warn_strided(reader, at, accessor);
    sampler->values = pelt_gltf_read_floats(reader, at, accessor);
    if (sampler->values && kind == ROTATIONS) {
        normalize_rotations(reader, at, reader->accessors[accessor].format == PELT_GLTF_FLOAT,
                            sampler);
    }
    return sampler->values != NULL;
}

static bool get_interpolation(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                              pelt_interpolation *out)
{
    static const char *const names[] = { "LINEAR", "STEP", "CUBICSPLINE" };
    const char *name = names[0];
    if (!pelt_gltf_get_string(reader, at, object, "interpolation", &name)) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = (pelt_interpolation)i;
            return true;
        }
    }
    return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(at, "interpolation"),
                          "is \"%.40s\", not LINEAR, STEP or CUBICSPLINE", name);
}

/* Only what a sampler names is checked for those that no channel uses. */
static bool read_sampler(pelt_gltf_reader *reader, const clip_reader *c, uint32_t index,
                         int32_t accessors[2], pelt_interpolation *interpolation)
{
    pelt_gltf_place at = pelt_gltf_item(c->samplers_at, index);
    const json_t *object = json_array_get(c->samplers, index);
    return pelt_gltf_is_object(reader, at, object) &&
           pelt_gltf_require(reader, at, object, "input") &&
           pelt_gltf_require(reader, at, object, "output") &&
           pelt_gltf_get_index(reader, at, object, "input", reader->accessor_count, "accessors",
                               &accessors[0]) &&
           pelt_gltf_get_index(reader, at, object, "output", reader->accessor_count, "accessors",
                               &accessors[1]) &&
           get_interpolation(reader, at, object, interpolation);
}

static bool convert_sampler(pelt_gltf_reader *reader, const clip_reader *c, uint32_t index,
                            value_kind kind, uint32_t targets, pelt_clip *clip)
{
    pelt_gltf_place at = pelt_gltf_item(c->samplers_at, index);
    pelt_sampler *sampler = &clip->samplers[clip->sampler_count];
    int32_t accessors[2];
    *sampler = (pelt_sampler){ 0 };
    if (!read_sampler(reader, c, index, accessors, &sampler->interpolation) ||
        !read_times(reader, pelt_gltf_in(at, "input"), (uint32_t)accessors[0], sampler) ||
        !read_values(reader, pelt_gltf_in(at, "output"), (uint32_t)accessors[1], kind, targets,
                     sampler)) {
        return false;
    }
    double end = sampler->times[sampler->key_count - 1];
    clip->duration = end > clip->duration ? end : clip->duration;
    c->converted[KIND_COUNT * index + kind] = (int32_t)clip->sampler_count++;
    return true;
}

/* False for what moves nothing that we have, with a warning if something is lost. */
static bool get_path(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *target,
                     const char *text, pelt_path *path)
{
    static const char *const names[] = { "translation", "rotation", "scale", "weights" };
    for (int i = 0; i < 4; i++) {
        if (strcmp(text, names[i]) == 0) {
            *path = (pelt_path)i;
            return true;
        }
    }
    const char *pointer = json_string_value(
        json_object_get(pelt_gltf_extension(target, "KHR_animation_pointer"), "pointer"));
    if (strcmp(text, "pointer") != 0 || !pointer || strncmp(pointer, "/nodes/", 7) == 0) {
        pelt_gltf_warn(reader, pelt_gltf_in(at, "path"),
                       "is \"%.40s\"%s%.80s; the channel is "
                       "ignored",
                       text, pointer ? " for " : "", pointer ? pointer : "");
    }
    return false;
}

/* The number of morph targets of a node whose weights are animated. */
static bool get_targets(pelt_gltf_reader *reader, pelt_gltf_place at, int32_t node,
                        uint32_t *targets)
{
    const pelt_model *model = reader->model;
    int32_t mesh = model->nodes[node].mesh;
    *targets = mesh >= 0 ? model->meshes[mesh].primitives[0].target_count : 0;
    return *targets > 0 ||
           pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(at, "path"),
                          "is \"weights\", but /nodes/%d has no morph targets", node);
}

/* Key times without any data behind them, all zero: a placeholder, which some extension or a
 * validator's test fills. */
static bool is_placeholder(const pelt_gltf_reader *reader, int32_t accessor)
{
    const pelt_gltf_accessor *a = &reader->accessors[accessor];
    return a->view < 0 && a->sparse_count == 0 && a->count > 1;
}

/* Checks that node and path may be animated, and that no other channel of the clip does so. */
static bool claim_target(pelt_gltf_reader *reader, const clip_reader *c, pelt_gltf_place at,
                         int32_t node, pelt_path path, const char *text, uint32_t *targets)
{
    *targets = 0;
    if (path != PELT_WEIGHTS && reader->model->nodes[node].has_matrix) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(at, "path"),
                              "is \"%s\", but /nodes/%d has a matrix, which cannot be animated",
                              text, node);
    }
    if (path == PELT_WEIGHTS && !get_targets(reader, at, node, targets)) {
        return false;
    }
    uint32_t *last = &c->animated[4 * (size_t)node + path];
    if (*last == c->index + 1) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, at,
                              "the %s of /nodes/%d has a channel in this animation already", text,
                              node);
    }
    *last = c->index + 1;
    return true;
}

static bool add_channel(pelt_gltf_reader *reader, const clip_reader *c, pelt_gltf_place at,
                        uint32_t sampler, int32_t node, pelt_path path, uint32_t targets,
                        pelt_clip *clip)
{
    value_kind kind = path == PELT_WEIGHTS ? WEIGHTS : path == PELT_ROTATION ? ROTATIONS : VECTORS;
    int32_t *converted = &c->converted[KIND_COUNT * (size_t)sampler + kind];
    if (*converted < 0 && !convert_sampler(reader, c, sampler, kind, targets, clip)) {
        return false;
    }
    if (kind == WEIGHTS && clip->samplers[*converted].width != targets) {
        return pelt_gltf_fail(
            reader, PELT_ERROR_FILE, at,
            "the sampler has %u weights a key, but /nodes/%d has %u morph targets",
            clip->samplers[*converted].width, node, targets);
    }
    clip->channels[clip->channel_count++] =
        (pelt_channel){ .node = (uint32_t)node, .path = path, .sampler = (uint32_t)*converted };
    return true;
}

static bool read_channel(pelt_gltf_reader *reader, const clip_reader *c, pelt_gltf_place at,
                         const json_t *object, pelt_clip *clip)
{
    json_t *target;
    const char *text = NULL;
    int32_t sampler = -1, node = -1, accessors[2];
    pelt_interpolation interpolation;
    pelt_path path;
    uint32_t targets;
    if (!pelt_gltf_is_object(reader, at, object) ||
        !pelt_gltf_require(reader, at, object, "sampler") ||
        !pelt_gltf_require(reader, at, object, "target") ||
        !pelt_gltf_get_index(reader, at, object, "sampler", c->sampler_count, "samplers",
                             &sampler) ||
        !read_sampler(reader, c, (uint32_t)sampler, accessors, &interpolation) ||
        !pelt_gltf_get_object(reader, at, object, "target", &target)) {
        return false;
    }
    at = pelt_gltf_in(at, "target");
    if (!pelt_gltf_require(reader, at, target, "path") ||
        !pelt_gltf_get_string(reader, at, target, "path", &text) ||
        !pelt_gltf_get_index(reader, at, target, "node", reader->model->node_count, "nodes",
                             &node)) {
        return false;
    }
    if (!get_path(reader, at, target, text, &path) || node < 0) {
        return true;
    }
    if (!claim_target(reader, c, at, node, path, text, &targets)) {
        return false;
    }
    if (is_placeholder(reader, accessors[0])) {
        pelt_gltf_warn(reader, at,
                       "the key times, /accessors/%d, have no data; the channel is "
                       "ignored",
                       accessors[0]);
        return true;
    }
    return add_channel(reader, c, at, (uint32_t)sampler, node, path, targets, clip);
}

static bool read_clip(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                      clip_reader c)
{
    pelt_clip *clip = &reader->model->clips[c.index];
    pelt_gltf_place channels_at = pelt_gltf_in(at, "channels");
    json_t *channels;
    uint32_t channel_count;
    if (!pelt_gltf_is_object(reader, at, object) ||
        !pelt_gltf_get_name(reader, at, object, "name", &clip->name) ||
        !pelt_gltf_require(reader, at, object, "samplers") ||
        !pelt_gltf_require(reader, at, object, "channels") ||
        !pelt_gltf_get_array(reader, at, object, "samplers", &c.samplers, &c.sampler_count) ||
        !pelt_gltf_get_array(reader, at, object, "channels", &channels, &channel_count)) {
        return false;
    }
    c.samplers_at = pelt_gltf_in(at, "samplers");
    size_t slots = KIND_COUNT * (size_t)c.sampler_count;
    c.converted = pelt_gltf_borrow(reader, c.samplers_at, slots, sizeof(*c.converted));
    clip->channels = pelt_gltf_keep(reader, channels_at, channel_count, sizeof(pelt_channel));
    clip->samplers = pelt_gltf_keep(reader, channels_at, channel_count, sizeof(pelt_sampler));
    if (!c.converted || !clip->channels || !clip->samplers) {
        return false;
    }
    for (size_t i = 0; i < slots; i++) {
        c.converted[i] = -1;
    }
    for (uint32_t i = 0; i < c.sampler_count; i++) {
        int32_t accessors[2];
        pelt_interpolation interpolation;
        if (!read_sampler(reader, &c, i, accessors, &interpolation)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < channel_count; i++) {
        if (!read_channel(reader, &c, pelt_gltf_item(channels_at, i), json_array_get(channels, i),
                          clip)) {
            return false;
        }
    }
    return true;
}

bool pelt_gltf_read_clips(pelt_gltf_reader *reader)
{
    pelt_model *model = reader->model;
    pelt_gltf_place root = pelt_gltf_at("%s", ""), at = pelt_gltf_in(root, "animations");
    json_t *array;
    uint32_t count;
    if (!pelt_gltf_get_array(reader, root, reader->root, "animations", &array, &count)) {
        return false;
    }
    if (count == 0) {
        return true;
    }
    model->clips = pelt_gltf_keep(reader, at, count, sizeof(pelt_clip));
    clip_reader c = { .animated = pelt_gltf_borrow(reader, at, model->node_count,
                                                   4 * sizeof(*c.animated)) };
    if (!model->clips || !c.animated) {
        return false;
    }
    model->clip_count = count;
    for (; c.index < count; c.index++) {
        if (!read_clip(reader, pelt_gltf_item(at, c.index), json_array_get(array, c.index), c)) {
            return false;
        }
    }
    return true;
}
