/* The glTF that the reader's tests start from: a strip of four vertices on two joints, with one
 * morph target and one clip. Tests change a piece of its JSON or of its data and look at what
 * becomes of it.
 */
#ifndef PELT_TESTS_GLTF_STRIP_H
#define PELT_TESTS_GLTF_STRIP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pelt/gltf.h>

/* Where things lie in the binary chunk. */
enum {
    AT_POSITION = 0,
    AT_NORMAL = 48,
    AT_JOINTS = 96,
    AT_WEIGHTS = 112,
    AT_INDICES = 176,
    AT_MATRICES = 188,
    AT_TIMES = 316,
    AT_ROTATIONS = 328,
    AT_TARGET = 376,
    AT_TEXCOORD = 424,
    AT_TANGENT = 456,
    AT_KEY_WEIGHTS = 520,
    STRIP_SIZE = 532
};

static const char strip_json[] =
    "{\"asset\":{\"version\":\"2.0\",\"generator\":\"by hand\"},"
    "\"buffers\":[{\"byteLength\":532}],"
    "\"bufferViews\":["
    "{\"buffer\":0,\"byteOffset\":0,\"byteLength\":48},"
    "{\"buffer\":0,\"byteOffset\":48,\"byteLength\":48},"
    "{\"buffer\":0,\"byteOffset\":96,\"byteLength\":16},"
    "{\"buffer\":0,\"byteOffset\":112,\"byteLength\":64},"
    "{\"buffer\":0,\"byteOffset\":176,\"byteLength\":12},"
    "{\"buffer\":0,\"byteOffset\":188,\"byteLength\":128},"
    "{\"buffer\":0,\"byteOffset\":316,\"byteLength\":12},"
    "{\"buffer\":0,\"byteOffset\":328,\"byteLength\":48},"
    "{\"buffer\":0,\"byteOffset\":376,\"byteLength\":48},"
    "{\"buffer\":0,\"byteOffset\":424,\"byteLength\":32},"
    "{\"buffer\":0,\"byteOffset\":456,\"byteLength\":64},"
    "{\"buffer\":0,\"byteOffset\":520,\"byteLength\":12}],"
    "\"accessors\":["
    "{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"},"
    "{\"bufferView\":1,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"},"
    "{\"bufferView\":2,\"componentType\":5121,\"count\":4,\"type\":\"VEC4\"},"
    "{\"bufferView\":3,\"componentType\":5126,\"count\":4,\"type\":\"VEC4\"},"
    "{\"bufferView\":4,\"componentType\":5123,\"count\":6,\"type\":\"SCALAR\"},"
    "{\"bufferView\":5,\"componentType\":5126,\"count\":2,\"type\":\"MAT4\"},"
    "{\"bufferView\":6,\"componentType\":5126,\"count\":3,\"type\":\"SCALAR\"},"
    "{\"bufferView\":7,\"componentType\":5126,\"count\":3,\"type\":\"VEC4\"},"
    "{\"bufferView\":8,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"},"
    "{\"bufferView\":9,\"componentType\":5126,\"count\":4,\"type\":\"VEC2\"},"
    "{\"bufferView\":10,\"componentType\":5126,\"count\":4,\"type\":\"VEC4\"},"
    "{\"bufferView\":11,\"componentType\":5126,\"count\":3,\"type\":\"SCALAR\"}],"
    "\"meshes\":[{\"name\":\"strip\",\"weights\":[0.25],\"primitives\":[{\"attributes\":{"
    "\"POSITION\":0,\"NORMAL\":1,\"JOINTS_0\":2,\"WEIGHTS_0\":3,\"TEXCOORD_0\":9,\"TANGENT\":10},"
    "\"indices\":4,\"targets\":[{\"POSITION\":8}]}]}],"
    "\"skins\":[{\"joints\":[1,2],\"inverseBindMatrices\":5}],"
    "\"nodes\":[{\"mesh\":0,\"skin\":0},{\"name\":\"root\",\"children\":[2]},"
    "{\"name\":\"tip\",\"translation\":[0,1,0]}],"
    "\"scenes\":[{\"nodes\":[0,1]}],\"scene\":0,"
    "\"animations\":[{\"name\":\"bend\",\"samplers\":[{\"input\":6,\"output\":7},"
    "{\"input\":6,\"output\":11}],"
    "\"channels\":[{\"sampler\":0,\"target\":{\"node\":2,\"path\":\"rotation\"}},"
    "{\"sampler\":1,\"target\":{\"node\":0,\"path\":\"weights\"}}]}]}";

/* What the reader said. */
typedef struct report {
    int errors, warnings;
    pelt_result result;
    char pointer[256], text[1024]; /* of the last error */
    char log[8192];                /* every warning: pointer, space, text, newline */
} report;

static inline void take_message(void *user, const pelt_message *message)
{
    report *r = user;
    if (message->severity == PELT_ERROR) {
        r->errors++;
        r->result = message->result;
        (void)snprintf(r->pointer, sizeof(r->pointer), "%s",
                       message->pointer ? message->pointer : "(none)");
        (void)snprintf(r->text, sizeof(r->text), "%s", message->text);
        return;
    }
    r->warnings++;
    size_t length = strlen(r->log);
    (void)snprintf(r->log + length, sizeof(r->log) - length, "%s %s\n",
                   message->pointer ? message->pointer : "(none)", message->text);
}

typedef struct strip {
    char *json;
    uint8_t bin[2048];
    size_t bin_size;
} strip;

static inline void put(strip *s, size_t offset, const void *bytes, size_t size)
{
    assert_true(offset + size <= sizeof(s->bin));
    memcpy(s->bin + offset, bytes, size);
}

static inline strip make_strip(void)
{
    static const float positions[] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 2, 3 };
    static const float normals[] = { 0, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0 };
    static const uint8_t joints[] = { 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0 };
    static const float weights[] = { 1, 0, 0, 0, 0.75f, 0.25f, 0, 0, 1, 0, 0, 0, 0.5f, 0.5f, 0, 0 };
    static const uint16_t indices[] = { 0, 1, 2, 2, 1, 3 };
    static const float matrices[] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0,  0, 1,
                                      1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0, 0, -1, 0, 1 };
    static const float times[] = { 0, 0.5f, 2 };
    static const float rotations[] = { 0, 0, 0, 1, 0.6f, 0, 0, 0.8f, 0, 1, 0, 0 };
    static const float target[] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 0.5f, 0, -1 };
    static const float texcoords[] = { 0, 0, 1, 0, 0, 1, 0.5f, 0.25f };
    static const float tangents[] = { 1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, 1, 0, 1, 0, -1 };
    static const float key_weights[] = { 0, 1, 0.5f };
    strip s = { .json = strdup(strip_json), .bin_size = STRIP_SIZE };
    assert_non_null(s.json);
    put(&s, AT_POSITION, positions, sizeof(positions));
    put(&s, AT_NORMAL, normals, sizeof(normals));
    put(&s, AT_JOINTS, joints, sizeof(joints));
    put(&s, AT_WEIGHTS, weights, sizeof(weights));
    put(&s, AT_INDICES, indices, sizeof(indices));
    put(&s, AT_MATRICES, matrices, sizeof(matrices));
    put(&s, AT_TIMES, times, sizeof(times));
    put(&s, AT_ROTATIONS, rotations, sizeof(rotations));
    put(&s, AT_TARGET, target, sizeof(target));
    put(&s, AT_TEXCOORD, texcoords, sizeof(texcoords));
    put(&s, AT_TANGENT, tangents, sizeof(tangents));
    put(&s, AT_KEY_WEIGHTS, key_weights, sizeof(key_weights));
    return s;
}

/* Replaces the first occurrence of find, which must be there. */
static inline void edit(strip *s, const char *find, const char *replace)
{
    char *at = strstr(s->json, find);
    if (!at) {
        fail_msg("the strip's JSON has no %s", find);
        return;
    }
    size_t before = (size_t)(at - s->json), size = strlen(s->json) + strlen(replace) + 1;
    char *json = malloc(size);
    assert_non_null(json);
    (void)snprintf(json, size, "%.*s%s%s", (int)before, s->json, replace, at + strlen(find));
    free(s->json);
    s->json = json;
}

/* Appends data to the binary chunk with a view and an accessor of its own. type: "VEC3" and so on;
 * more: further members of the accessor, with a leading comma, or "". Returns the accessor. */
static inline unsigned add_accessor(strip *s, const void *bytes, size_t size, unsigned component,
                                    const char *type, unsigned count, const char *more)
{
    char text[512];
    unsigned views = 0, accessors = 0;
    for (const char *c = s->json; (c = strstr(c, "{\"buffer\":")); c++) {
        views += c[-1] != ':'; /* not that of a compression */
    }
    for (const char *c = s->json; (c = strstr(c, "\"type\":\"")); c++) {
        accessors++;
    }
    size_t before = s->bin_size;
    s->bin_size = (before + 3) / 4 * 4;
    (void)snprintf(text, sizeof(text),
                   ",{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu}],"
                   "\"accessors\"",
                   s->bin_size, size);
    edit(s, "],\"accessors\"", text);
    (void)snprintf(text, sizeof(text),
                   ",{\"bufferView\":%u,\"componentType\":%u,\"count\":%u,\"type\":\"%s\"%s}],"
                   "\"meshes\"",
                   views, component, count, type, more);
    edit(s, "],\"meshes\"", text);
    put(s, s->bin_size, bytes, size);
    char declared[64];
    (void)snprintf(declared, sizeof(declared), "\"buffers\":[{\"byteLength\":%zu", before);
    (void)snprintf(text, sizeof(text), "\"buffers\":[{\"byteLength\":%zu", s->bin_size + size);
    edit(s, declared, text);
    s->bin_size += size;
    return accessors;
}

static inline void put_u32(uint8_t *at, size_t value)
{
    uint32_t word = (uint32_t)value;
    memcpy(at, &word, sizeof(word));
}

/* The strip as a GLB; the caller frees it. */
static inline uint8_t *make_glb(const strip *s, size_t *size)
{
    size_t json_size = (strlen(s->json) + 3) / 4 * 4, bin_size = (s->bin_size + 3) / 4 * 4;
    *size = 12 + 8 + json_size + 8 + bin_size;
    uint8_t *glb = calloc(1, *size);
    assert_non_null(glb);
    put_u32(glb, 0x46546c67); /* "glTF" */
    put_u32(glb + 4, 2);
    put_u32(glb + 8, *size);
    put_u32(glb + 12, json_size);
    put_u32(glb + 16, 0x4e4f534a); /* "JSON" */
    memset(glb + 20, ' ', json_size);
    memcpy(glb + 20, s->json, strlen(s->json));
    put_u32(glb + 20 + json_size, bin_size);
    put_u32(glb + 24 + json_size, 0x004e4942); /* "BIN" */
    memcpy(glb + 28 + json_size, s->bin, s->bin_size);
    return glb;
}

/* Reads the strip and frees its JSON; NULL if the reader refused it. */
static inline pelt_model *read_strip(strip *s, report *r)
{
    size_t size;
    uint8_t *glb = make_glb(s, &size);
    pelt_model *model = NULL;
    *r = (report){ 0 };
    static pelt_host host; /* models keep it */
    host = (pelt_host){ .user = r, .message = take_message };
    pelt_result result = pelt_gltf_read_memory(&host, "strip.glb", NULL, glb, size, &model);
    free(glb);
    free(s->json);
    s->json = NULL;
    assert_int_equal(result, r->result);
    assert_int_equal(r->errors, result != PELT_OK);
    assert_true((model != NULL) == (result == PELT_OK));
    return model;
}

/* Reads a strip that must be fine. */
static inline pelt_model *read_good(strip *s, report *r)
{
    pelt_model *model = read_strip(s, r);
    if (!model) {
        fail_msg("refused: [%s] %s", r->pointer, r->text);
    }
    return model;
}

/* One fault and what must be said of it. find and replace change the JSON; size bytes of value go
 * to offset of the data. pointer: what the error must be about; text: what it must say, or NULL. */
typedef struct fault {
    const char *find, *replace;
    size_t offset, size;
    uint32_t value;
    pelt_result result;
    const char *pointer, *text;
} fault;

static inline void check_fault(strip *s, const fault *f)
{
    report r;
    if (f->find) {
        edit(s, f->find, f->replace);
    }
    put(s, f->offset, &f->value, f->size);
    pelt_model *model = read_strip(s, &r);
    pelt_model_destroy(model);
    if (model || r.result != f->result || strcmp(r.pointer, f->pointer) != 0 ||
        (f->text && !strstr(r.text, f->text))) {
        fail_msg("%s -> %s, %zu: got %s [%s] %s, expected %s [%s] %s", f->find ? f->find : "",
                 f->replace ? f->replace : "", f->offset,
                 model ? "no error" : pelt_result_string(r.result), r.pointer, r.text,
                 pelt_result_string(f->result), f->pointer, f->text ? f->text : "");
    }
}

static inline void check_faults(const fault *faults, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        strip s = make_strip();
        check_fault(&s, &faults[i]);
    }
}

/* A flaw that is repaired: exactly one warning, about pointer, with text in it. The model is
 * returned. */
static inline pelt_model *read_flawed(strip *s, const char *pointer, const char *text)
{
    report r;
    pelt_model *model = read_good(s, &r);
    size_t length = strlen(pointer);
    if (r.warnings != 1 || strncmp(r.log, pointer, length) != 0 || r.log[length] != ' ' ||
        !strstr(r.log, text)) {
        fail_msg("expected one warning [%s] %s, got:\n%s", pointer, text, r.log);
    }
    return model;
}

#define assert_floats(got, ...)                                                                    \
    do {                                                                                           \
        const float expected_[] = { __VA_ARGS__ };                                                 \
        assert_floats_near((got), expected_, sizeof(expected_) / sizeof(*expected_), 0);           \
    } while (0)

static inline void assert_floats_near(const float *got, const float *expected, size_t count,
                                      double tolerance)
{
    assert_non_null(got);
    for (size_t i = 0; i < count; i++) {
        double difference = (double)got[i] - (double)expected[i];
        if (!(difference <= tolerance && difference >= -tolerance)) {
            fail_msg("number %zu is %.9g, not %.9g", i, (double)got[i], (double)expected[i]);
        }
    }
}

#endif
