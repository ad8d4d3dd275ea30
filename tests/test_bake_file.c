/* KTX2 files of baked palettes: what is in them, that they read back, that damage is noticed. */
#include "base/base.h"
#include "sample/sample.h"
#include "tests/build_model.h"

#include <jansson.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct messages {
    char last[512];
    int count;
} messages;

static void keep_message(void *user, const pelt_message *message)
{
    messages *m = user;
    m->count++;
    (void)snprintf(m->last, sizeof(m->last), "%s|%s|%s", message->file ? message->file : "",
                   message->pointer ? message->pointer : "", message->text);
}

/* A folder of its own, and a name in it. */
static char folder[64], path[96], json_path[96];

static int make_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof(folder), "/tmp/pelt-bake-XXXXXX");
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/a.ktx2", folder);
    (void)snprintf(json_path, sizeof(json_path), "%s/a.json", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)unlink(path);
    (void)unlink(json_path);
    assert_int_equal(rmdir(folder), 0);
    return 0;
}

static pelt_model *sample_model(void)
{
    pelt_model *model;
    const pelt_sample_info info = { .vertices = 300, .joints = 8 };
    assert_int_equal(pelt_sample_create(NULL, &info, &model), PELT_OK);
    return model;
}

static pelt_bake *bake_of(const pelt_model *model, pelt_bake_info info)
{
    pelt_bake *bake;
    info.model = model;
    assert_int_equal(pelt_bake_create(NULL, &info, &bake), PELT_OK);
    return bake;
}

/* The bytes of the file that it is written to; free() them. */
static uint8_t *written(const pelt_bake *bake, size_t *size)
{
    uint8_t *bytes;
    assert_int_equal(pelt_bake_write(NULL, bake, path, json_path), PELT_OK);
    assert_int_equal(pelt_file_read(NULL, path, &bytes, size), PELT_OK);
    return bytes;
}

static uint32_t word_at(const uint8_t *bytes, size_t offset)
{
    return bytes[offset] | (uint32_t)bytes[offset + 1] << 8 | (uint32_t)bytes[offset + 2] << 16 |
           (uint32_t)bytes[offset + 3] << 24;
}

static void assert_text_equal(const char *a, const char *b)
{
    assert_true((a == NULL) == (b == NULL));
    if (a) {
        assert_string_equal(a, b);
    }
}

static void assert_same_clip(const pelt_bake_clip *a, const pelt_bake_clip *b)
{
    assert_text_equal(a->name, b->name);
    assert_int_equal(a->clip, b->clip);
    assert_near(a->duration, b->duration, 0);
    assert_near(a->rate, b->rate, 0);
    assert_near(a->seam, b->seam, 0);
    assert_int_equal(a->loop, b->loop);
    assert_near(a->blend_margin, b->blend_margin, 0);
    assert_near(a->dual_margin, b->dual_margin, 0);
    assert_near(a->error.at_frames, b->error.at_frames, 0);
    for (int i = 0; i < PELT_BAKE_INTERPOLATIONS; i++) {
        assert_near(a->error.between[i], b->error.between[i], 0);
    }
    assert_int_equal(a->range_count, b->range_count);
    for (uint32_t i = 0; i < a->range_count; i++) {
        assert_near(a->ranges[i].start, b->ranges[i].start, 0);
        assert_near(a->ranges[i].end, b->ranges[i].end, 0);
        assert_int_equal(a->ranges[i].layer, b->ranges[i].layer);
        assert_int_equal(a->ranges[i].first_row, b->ranges[i].first_row);
        assert_int_equal(a->ranges[i].row_count, b->ranges[i].row_count);
        assert_int_equal(a->ranges[i].first_frame, b->ranges[i].first_frame);
        assert_int_equal(a->ranges[i].jump, b->ranges[i].jump);
    }
    assert_int_equal(a->frame_count, b->frame_count);
    assert_memory_equal(a->boxes, b->boxes, a->frame_count * sizeof(*a->boxes));
    assert_memory_equal(&a->box, &b->box, sizeof(a->box));
}

static void reads_back_what_was_written(void **state)
{
    (void)state;
    pelt_model *model = sample_model();
    const pelt_bake_info infos[] = { { .rate = 10 },
                                     { .rate = 10, .format = PELT_BAKE_RGBA16F },
                                     { .rate = 10, .layout = PELT_BAKE_MATRIX_4X4 },
                                     { .rate = 20, .layout = PELT_BAKE_DUAL_QUATERNION },
                                     { .rate = 30, .max_size = 12 } };
    for (size_t n = 0; n < sizeof(infos) / sizeof(*infos); n++) {
        pelt_bake *bake = bake_of(model, infos[n]), *again;
        assert_int_equal(pelt_bake_write(NULL, bake, path, NULL), PELT_OK);
        assert_int_not_equal(access(json_path, F_OK), 0);
        assert_int_equal(pelt_bake_read(NULL, path, &again), PELT_OK);
        assert_int_equal(again->layout, bake->layout);
        assert_int_equal(again->format, bake->format);
        assert_int_equal(again->width, bake->width);
        assert_int_equal(again->height, bake->height);
        assert_int_equal(again->layer_count, bake->layer_count);
        assert_int_equal(again->texels_per_joint, bake->texels_per_joint);
        assert_int_equal(again->joint_count, bake->joint_count);
        assert_int_equal(again->joints_per_layer, bake->joints_per_layer);
        assert_int_equal(again->palette_count, bake->palette_count);
        for (uint32_t i = 0; i < bake->palette_count; i++) {
            const pelt_bake_palette *a = &again->palettes[i], *b = &bake->palettes[i];
            assert_int_equal(a->skin, b->skin);
            assert_int_equal(a->node, b->node);
            assert_int_equal(a->first_joint, b->first_joint);
            assert_int_equal(a->joint_count, b->joint_count);
            for (uint32_t j = 0; j < a->joint_count; j++) {
                assert_int_equal(a->nodes[j], b->nodes[j]);
                assert_text_equal(a->names[j], b->names[j]);
            }
        }
        assert_int_equal(again->clip_count, bake->clip_count);
        for (uint32_t i = 0; i < bake->clip_count; i++) {
            assert_same_clip(&again->clips[i], &bake->clips[i]);
        }
        assert_int_equal(again->size, bake->size);
        assert_memory_equal(again->texels, bake->texels, bake->size);
        pelt_bake_destroy(again);
        pelt_bake_destroy(bake);
    }
    pelt_model_destroy(model);
}

/* KTX 2.0, chapter 3, and Khronos Data Format 1.3, chapter 5, number by number. */
static void writes_what_the_specification_asks_for(void **state)
{
    (void)state;
    pelt_model *model = sample_model();
    for (int half = 0; half < 2; half++) {
        for (int array = 0; array < 2; array++) {
            pelt_bake *bake = bake_of(model, (pelt_bake_info){ .format = (pelt_bake_format)half,
                                                               .max_size = array ? 16 : 0 });
            size_t size;
            uint8_t *bytes = written(bake, &size);
            static const uint8_t identifier[12] = { 0xab, 0x4b, 0x54, 0x58, 0x20, 0x32,
                                                    0x30, 0xbb, 0x0d, 0x0a, 0x1a, 0x0a };
            assert_memory_equal(bytes, identifier, 12);
            assert_int_equal(word_at(bytes, 12), half ? 97 : 109);
            assert_int_equal(word_at(bytes, 16), half ? 2 : 4);
            assert_int_equal(word_at(bytes, 20), bake->width);
            assert_int_equal(word_at(bytes, 24), bake->height);
            assert_int_equal(word_at(bytes, 28), 0);
            assert_true(array ? bake->layer_count > 1 : bake->layer_count == 1);
            assert_int_equal(word_at(bytes, 32), array ? bake->layer_count : 0);
            assert_int_equal(word_at(bytes, 36), 1);
            assert_int_equal(word_at(bytes, 40), 1);
            assert_int_equal(word_at(bytes, 44), 0);
            size_t dfd = word_at(bytes, 48), kvd = word_at(bytes, 56), level = word_at(bytes, 80);
            assert_int_equal(dfd, 104);
            assert_int_equal(word_at(bytes, 52), 92);
            assert_int_equal(kvd, 196);
            assert_int_equal(level % (half ? 8 : 16), 0);
            assert_int_equal(word_at(bytes, 88), bake->size);
            assert_int_equal(word_at(bytes, 96), bake->size);
            assert_int_equal(level + bake->size, size);
            assert_memory_equal(bytes + level, bake->texels, bake->size);

            assert_int_equal(word_at(bytes, dfd), 92);
            assert_int_equal(word_at(bytes, dfd + 4), 0);
            assert_int_equal(word_at(bytes, dfd + 8), 88 << 16 | 2);
            assert_int_equal(word_at(bytes, dfd + 12), 1 | 0 << 8 | 1 << 16); /* RGBSDA, linear */
            assert_int_equal(word_at(bytes, dfd + 16), 0);                    /* of one texel */
            assert_int_equal(word_at(bytes, dfd + 20), half ? 8 : 16);
            assert_int_equal(word_at(bytes, dfd + 24), 0);
            for (uint32_t i = 0; i < 4; i++) {
                uint32_t bits = half ? 16 : 32, channel = i == 3 ? 0xcf : 0xc0 + i;
                size_t at = dfd + 28 + 16 * (size_t)i;
                assert_int_equal(word_at(bytes, at), i * bits | (bits - 1) << 16 | channel << 24);
                assert_int_equal(word_at(bytes, at + 4), 0);
                assert_int_equal(word_at(bytes, at + 8), 0xbf800000u);
                assert_int_equal(word_at(bytes, at + 12), 0x3f800000u);
            }
            assert_string_equal((const char *)bytes + kvd + 4, "KTXwriter");
            assert_string_equal((const char *)bytes + kvd + 14, "pelt " PELT_VERSION_STRING);
            pelt_release(NULL, bytes);
            pelt_bake_destroy(bake);
        }
    }
    pelt_model_destroy(model);
}

/* The file beside the texture is the JSON within. */
static void describes_it_twice(void **state)
{
    (void)state;
    pelt_model *model = sample_model();
    pelt_bake *bake = bake_of(model, (pelt_bake_info){ .rate = 5 });
    size_t size;
    uint8_t *bytes = written(bake, &size);
    uint32_t first = word_at(bytes, 196);
    size_t entry = 196 + 4 + (first + 3) / 4 * 4;
    assert_string_equal((const char *)bytes + entry + 4, "pelt");
    json_t *within = json_loads((const char *)bytes + entry + 9, 0, NULL);
    json_t *beside = json_load_file(json_path, 0, NULL);
    assert_non_null(within);
    assert_true(json_equal(within, beside));
    json_t *clip = json_array_get(json_object_get(beside, "clips"), 0);
    assert_int_equal(json_integer_value(json_object_get(clip, "frames")),
                     json_array_size(json_object_get(clip, "boxes")));
    assert_string_equal(json_string_value(json_object_get(clip, "name")), model->clips[0].name);
    json_decref(within);
    json_decref(beside);
    pelt_release(NULL, bytes);
    pelt_bake_destroy(bake);
    pelt_model_destroy(model);
}

/* A small file: one joint, one clip of two rows. */
static uint8_t *small_file(size_t *size)
{
    const int32_t parents[] = { -1 };
    const float triangle[] = { 0, 0, 0, 1, 0, 0, 0, 2, 0 };
    const float times[] = { 0, 1 }, rise[] = { 0, 0, 0, 0, 8, 0 };
    pelt_model *model = build_nodes(NULL, parents, 1);
    (void)build_mesh(model, triangle, 3);
    model->nodes[0].mesh = 0;
    build_clip(model, 0, PELT_TRANSLATION, PELT_LINEAR, 2, 3, times, rise);
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    pelt_bake *bake = bake_of(model, (pelt_bake_info){ .rate = 1 });
    uint8_t *bytes = written(bake, size);
    pelt_bake_destroy(bake);
    pelt_model_destroy(model);
    return bytes;
}

/* Reads; whatever can be read can be decoded everywhere. */
static pelt_result try_to_read(const uint8_t *bytes, size_t size, messages *m)
{
    const pelt_host host = { .user = m, .message = keep_message };
    uint8_t *copy = malloc(size ? size : 1); /* so that a sanitizer sees the end */
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    pelt_bake *bake;
    m->count = 0;
    pelt_result result = pelt_bake_read_memory(&host, "x.ktx2", copy, size, &bake);
    free(copy);
    assert_true((bake != NULL) == (result == PELT_OK));
    assert_true((m->count > 0) == (result != PELT_OK));
    for (uint32_t c = 0; bake && c < bake->clip_count; c++) {
        double *matrices = malloc(12 * sizeof(double) * bake->joint_count);
        assert_non_null(matrices);
        for (int i = -1; i <= 5; i++) {
            double time = i * bake->clips[c].duration / 4;
            for (int k = 0; k < PELT_BAKE_INTERPOLATIONS; k++) {
                pelt_bake_place place = pelt_bake_locate(&bake->clips[c], time, i % 2);
                pelt_bake_decode(bake, &place, (pelt_bake_interpolation)k, matrices);
                for (size_t n = 0; n < 12 * (size_t)bake->joint_count; n++) {
                    assert_true(isfinite(matrices[n]));
                }
            }
        }
        free(matrices);
    }
    pelt_bake_destroy(bake);
    return result;
}

static void notices_where_a_file_ends(void **state)
{
    (void)state;
    messages m;
    size_t size;
    uint8_t *bytes = small_file(&size);
    assert_int_equal(try_to_read(bytes, size, &m), PELT_OK);
    for (size_t length = 0; length < size; length++) {
        assert_int_equal(try_to_read(bytes, length, &m), PELT_ERROR_FILE);
        assert_memory_equal(m.last, "x.ktx2|", 7);
    }
    pelt_release(NULL, bytes);
}

/* Each byte, three ways: an error with a message, or something that decodes. */
static void survives_any_byte(void **state)
{
    (void)state;
    messages m;
    size_t size, refused = 0;
    uint8_t *bytes = small_file(&size);
    static const uint8_t changes[] = { 0x01, 0x80, 0xff };
    for (size_t i = 0; i < size; i++) {
        for (int k = 0; k < 3; k++) {
            bytes[i] ^= changes[k];
            refused += try_to_read(bytes, size, &m) != PELT_OK;
            bytes[i] ^= changes[k];
        }
    }
    assert_true(refused > size); /* most of it is JSON, which no control character is part of */
    pelt_release(NULL, bytes);
}

/* The description with one piece of text replaced. The key's length and the level's place are kept:
 * the replacement is as long, blanks fill it up. */
static pelt_result read_with(const char *from, const char *to, messages *m)
{
    size_t size;
    uint8_t *bytes = small_file(&size);
    size_t length = strlen(from);
    uint8_t *found = NULL;
    for (size_t i = 0; i + length < size && !found; i++) {
        found = memcmp(bytes + i, from, length) == 0 ? bytes + i : NULL;
    }
    assert_non_null(found);
    assert_true(strlen(to) <= length);
    memset(found, ' ', length);
    memcpy(found, to, strlen(to));
    pelt_result result = try_to_read(bytes, size, m);
    pelt_release(NULL, bytes);
    return result;
}

static void names_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *said;
        pelt_result result;
    } cases[] = {
        { "\"version\":1", "\"version\":7", "|/version|", PELT_ERROR_UNSUPPORTED },
        { "\"layout\":\"matrix3x4\"", "\"layout\":\"matrix9x9\"", "|/layout|", PELT_ERROR_FILE },
        { "\"matrix3x4\"", "\"matrix4x4\"", "|/texelsPerJoint|", PELT_ERROR_FILE },
        { "\"rgba32f\"", "\"rgba16f\"", "another texture", PELT_ERROR_FILE },
        { "\"width\":3", "\"width\":6", "|/width|", PELT_ERROR_FILE },
        { "\"height\":2", "\"height\":3", "another texture", PELT_ERROR_FILE },
        { "\"height\":2", "\"height\":1", "/clips/0/ranges/0/frames|", PELT_ERROR_FILE },
        { "\"layers\":1", "\"layers\":0", "|/layers|", PELT_ERROR_FILE },
        { "\"joints\":1", "\"joints\":2", "|/joints|", PELT_ERROR_FILE },
        { "\"firstJoint\":0", "\"firstJoint\":1", "/palettes/0/firstJoint|", PELT_ERROR_FILE },
        { "\"clip\":0", "\"clip\":-", "not JSON", PELT_ERROR_FILE },
        { "\"rate\":1.0", "\"rate\":0.0", "/clips/0/ranges/0/frames|", PELT_ERROR_FILE },
        { "\"duration\":1.0", "\"duration\":2.0", "/clips/0/duration|", PELT_ERROR_FILE },
        { "\"start\":0.0", "\"start\":0.5", "/clips/0/ranges/0/start|", PELT_ERROR_FILE },
        { "\"end\":1.0", "\"end\":9.0", "/clips/0/duration|", PELT_ERROR_FILE },
        { "\"layer\":0,\"firstRow\":0,\"frames\":2,\"jump\"",
          "\"layer\":1,\"firstRow\":0,\"frames\":2,\"jump\"", "/clips/0/ranges/0/layer|",
          PELT_ERROR_FILE },
        { "\"firstRow\":0,\"frames\":2,\"jump\"", "\"firstRow\":1,\"frames\":2,\"jump\"",
          "/clips/0/ranges/0/frames|", PELT_ERROR_FILE },
        { "\"jump\":false", "\"jump\":0", "/clips/0/ranges/0/jump|", PELT_ERROR_FILE },
        { "\"boxes\":[[0.0,0.0", "\"boxes\":[[null,0", "/clips/0/boxes|", PELT_ERROR_FILE },
        { "\"name\":null", "\"name\":5", "/palettes/0/name|", PELT_ERROR_FILE },
    };
    messages m;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        pelt_result result = read_with(cases[i].from, cases[i].to, &m);
        if (result != cases[i].result || !strstr(m.last, cases[i].said)) {
            fail_msg("%s -> %s: %s", cases[i].from, cases[i].to, m.last);
        }
    }
}

static void refuses_other_textures(void **state)
{
    (void)state;
    messages m;
    size_t size;
    uint8_t *bytes = small_file(&size);
    static const struct {
        size_t offset;
        uint8_t value;
        pelt_result result;
    } cases[] = {
        { 0, 0, PELT_ERROR_FILE },          /* identifier */
        { 12, 37, PELT_ERROR_UNSUPPORTED }, /* vkFormat */
        { 28, 1, PELT_ERROR_UNSUPPORTED },  /* depth */
        { 36, 6, PELT_ERROR_UNSUPPORTED },  /* faces */
        { 40, 2, PELT_ERROR_UNSUPPORTED },  /* levels */
        { 44, 2, PELT_ERROR_UNSUPPORTED },  /* supercompression */
        { 32, 7, PELT_ERROR_FILE },         /* layers, which the description contradicts */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint8_t kept = bytes[cases[i].offset];
        bytes[cases[i].offset] = cases[i].value;
        assert_int_equal(try_to_read(bytes, size, &m), cases[i].result);
        bytes[cases[i].offset] = kept;
    }
    bytes[196 + 4 + 24 + 4] = 'q'; /* "pelt" -> "qelt" */
    assert_int_equal(try_to_read(bytes, size, &m), PELT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(m.last, "no key 'pelt'"));
    bytes[196 + 4 + 24 + 4] = 'p';
    /* A number that is not finite. */
    const uint8_t nan_bytes[] = { 0, 0, 0xc0, 0x7f };
    memcpy(bytes + size - 4, nan_bytes, 4);
    assert_int_equal(try_to_read(bytes, size, &m), PELT_ERROR_FILE);
    pelt_release(NULL, bytes);
}

static void unwinds_when_reading_finds_no_memory(void **state)
{
    (void)state;
    meter counter = { 0 };
    const pelt_host host = { .user = &counter, .allocate = metered };
    size_t size;
    uint8_t *bytes = small_file(&size);
    pelt_bake *bake = NULL;
    long n = 0;
    for (; !bake; n++) {
        counter.calls_left = n;
        pelt_result result = pelt_bake_read(&host, path, &bake);
        assert_true(n < 50 && result == (bake ? PELT_OK : PELT_ERROR_MEMORY));
        assert_true(bake || counter.alive == 0);
    }
    assert_true(n > 3);
    pelt_bake_destroy(bake);
    assert_int_equal(counter.alive, 0);
    pelt_release(NULL, bytes);
}

/* Neither file where one of them cannot be written. */
static void leaves_nothing_behind(void **state)
{
    (void)state;
    messages m = { 0 };
    const pelt_host host = { .user = &m, .message = keep_message };
    pelt_model *model = sample_model();
    pelt_bake *bake = bake_of(model, (pelt_bake_info){ .rate = 5 });
    (void)unlink(path);
    (void)unlink(json_path);
    assert_int_equal(pelt_bake_write(&host, bake, path, "/nowhere/at/all.json"), PELT_ERROR_IO);
    assert_int_equal(m.count, 1);
    assert_int_equal(pelt_bake_write(&host, bake, "/nowhere/a.ktx2", json_path), PELT_ERROR_IO);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_not_equal(access(json_path, F_OK), 0);
    /* The texture's name is taken by a folder: found when it is renamed, at the very end. */
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(pelt_bake_write(&host, bake, path, json_path), PELT_ERROR_IO);
    assert_int_not_equal(access(json_path, F_OK), 0);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(pelt_bake_read(&host, path, &(pelt_bake *){ NULL }), PELT_ERROR_IO);
    pelt_bake_destroy(bake);
    pelt_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_back_what_was_written),
        cmocka_unit_test(writes_what_the_specification_asks_for),
        cmocka_unit_test(describes_it_twice),
        cmocka_unit_test(notices_where_a_file_ends),
        cmocka_unit_test(survives_any_byte),
        cmocka_unit_test(names_what_is_wrong),
        cmocka_unit_test(refuses_other_textures),
        cmocka_unit_test(unwinds_when_reading_finds_no_memory),
        cmocka_unit_test(leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
