/* The reader: GLB chunks, JSON, versions, extensions, URIs, damaged bytes and failing memory. */
#include "gltf_strip.h"

#include <sys/stat.h>
#include <unistd.h>

static report last;

static pelt_result read_bytes(const void *bytes, size_t size, const char *folder)
{
    pelt_host host = { .user = &last, .message = take_message };
    pelt_model *model = NULL;
    last = (report){ 0 };
    pelt_result result = pelt_gltf_read_memory(&host, "test", folder, bytes, size, &model);
    assert_true((model != NULL) == (result == PELT_OK));
    assert_int_equal(last.errors, result != PELT_OK);
    pelt_model_destroy(model);
    return result;
}

static pelt_result read_text(const char *text)
{
    return read_bytes(text, strlen(text), NULL);
}

/* A GLB of chunks: type, then text. */
typedef struct chunk {
    const char *type, *text;
} chunk;

static pelt_result read_chunks(const chunk *chunks, unsigned count, size_t extra_length,
                               size_t extra_bytes)
{
    uint8_t glb[1024] = "glTF\2\0\0\0";
    size_t size = 12;
    for (unsigned i = 0; i < count; i++) {
        size_t length = strlen(chunks[i].text);
        put_u32(glb + size, length);
        memcpy(glb + size + 4, chunks[i].type, 4);
        memcpy(glb + size + 8, chunks[i].text, length);
        size += 8 + length;
    }
    put_u32(glb + 8, size + extra_length);
    return read_bytes(glb, size + extra_bytes, NULL);
}

static const char minimal[] = "{\"asset\":{\"version\":\"2.0\"}} ";

static void test_chunks(void **state)
{
    (void)state;
    const chunk json = { "JSON", minimal }, bin = { "BIN\0", "abcd" }, other = { "WXYZ", "what" };
    assert_int_equal(read_chunks((chunk[]){ json }, 1, 0, 0), PELT_OK);
    assert_int_equal(last.warnings, 0);
    assert_int_equal(read_chunks((chunk[]){ json, bin, other }, 3, 0, 0), PELT_OK);
    assert_int_equal(last.warnings, 0);
    assert_int_equal(read_chunks((chunk[]){ json, other }, 2, 0, 0), PELT_OK);
    assert_int_equal(read_chunks((chunk[]){ json }, 1, 0, 4), PELT_OK);
    assert_non_null(strstr(last.log, "4 bytes behind the end"));
    const struct {
        chunk chunks[3];
        unsigned count;
        size_t extra;
        const char *text;
    } cases[] = {
        { { bin }, 1, 0, "chunk 0 of the GLB is not its JSON" },
        { { other, json }, 2, 0, "chunk 0 of the GLB is not its JSON" },
        { { json, json }, 2, 0, "chunk 1 of the GLB is JSON again" },
        { { json, other, bin }, 3, 0, "chunk 2 of the GLB is binary" },
        { { json, bin, bin }, 3, 0, "chunk 2 of the GLB is binary" },
        { { json }, 0, 0, "no JSON chunk" },
        { { json }, 1, 4, "the file has 48 bytes, but its GLB header says 52" },
        { { { "JSON", "" } }, 1, 0, "invalid JSON" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(read_chunks(cases[i].chunks, cases[i].count, cases[i].extra, 0),
                         PELT_ERROR_FILE);
        assert_string_equal(last.pointer, "");
        if (!strstr(last.text, cases[i].text)) {
            fail_msg("case %zu: %s", i, last.text);
        }
    }
    uint8_t header[12] = "glTF\1\0\0\0\14";
    assert_int_equal(read_bytes(header, 12, NULL), PELT_ERROR_UNSUPPORTED);
    assert_int_equal(read_bytes(header, 11, NULL), PELT_ERROR_FILE);
    /* A chunk's length that is a little too short, or far too long. */
    strip s = make_strip();
    size_t size;
    uint8_t *glb = make_glb(&s, &size);
    uint32_t length;
    memcpy(&length, glb + 12, 4);
    put_u32(glb + 12, length - 8);
    assert_int_equal(read_bytes(glb, size, NULL), PELT_ERROR_FILE);
    put_u32(glb + 12, 0xfffffffc);
    assert_int_equal(read_bytes(glb, size, NULL), PELT_ERROR_FILE);
    free(glb);
    free(s.json);
}

static void test_other_formats(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        const char *text;
    } cases[] = {
        { "", 0, "the file is empty" },
        { "x", 1, "not a glTF file (it begins with 'x')" },
        { "solid cube\n", 11, "not a glTF file (it begins with 'solid cu')" },
        { "\x89PNG\r\n\x1a\n....", 12,
          "not a glTF file (it begins with the bytes 89 50 4e 47 0d 0a 1a 0a)" },
        { "\0\0\0", 3, "not a glTF file (it begins with the bytes 00 00 00)" },
        { "  \n ", 4, "not a glTF file (it begins with the bytes 20 20 0a 20)" },
        { "\xef\xbb\xbf<", 4, "not a glTF file (it begins with the bytes ef bb bf 3c)" },
        { "Kaydara FBX Binary", 18, "not a glTF file (it begins with 'Kaydara ')" },
        { "{ not JSON", 10, "invalid JSON, line 1 column" },
        { " \t\r\n[1]", 7, "is an array, not an object" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(read_bytes(cases[i].bytes, cases[i].size, NULL), PELT_ERROR_FILE);
        assert_string_equal(last.pointer, "");
        if (strncmp(last.text, cases[i].text, strlen(cases[i].text)) != 0) {
            fail_msg("case %zu: %s", i, last.text);
        }
    }
}

static void test_json(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        pelt_result result;
        const char *pointer;
    } cases[] = {
        { minimal, PELT_OK, "" },
        { "\xef\xbb\xbf{\"asset\":{\"version\":\"2.0\"}}", PELT_OK, "" },
        { "", PELT_ERROR_FILE, "" },
        { "glTF", PELT_ERROR_FILE, "" },
        { "[1]", PELT_ERROR_FILE, "" },
        { "{\"asset\":{\"version\":\"2.0\"}", PELT_ERROR_FILE, "" },
        { "{\"asset\":{\"version\":\"2.0\"}} x", PELT_ERROR_FILE, "" },
        { "{\"asset\":{\"version\":\"2.0\",\"version\":\"2.0\"}}", PELT_ERROR_FILE, "" },
        { "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{\"scale\":[1e999,1,1]}]}", PELT_ERROR_FILE,
          "" },
        { "{}", PELT_ERROR_FILE, "" },
        { "{\"asset\":{}}", PELT_ERROR_FILE, "/asset" },
        { "{\"asset\":{\"version\":2}}", PELT_ERROR_FILE, "/asset/version" },
        { "{\"asset\":{\"version\":\"two\"}}", PELT_ERROR_FILE, "/asset/version" },
        { "{\"asset\":{\"version\":\"1.0\"}}", PELT_ERROR_UNSUPPORTED, "/asset/version" },
        { "{\"asset\":{\"version\":\"2.1\"}}", PELT_OK, "" },
        { "{\"asset\":{\"version\":\"2.1\",\"minVersion\":\"2.1\"}}", PELT_ERROR_UNSUPPORTED,
          "/asset/minVersion" },
        { "{\"asset\":{\"version\":\"2.0\"},\"meshes\":{}}", PELT_ERROR_FILE, "/meshes" },
        { "{\"asset\":{\"version\":\"2.0\"},\"meshes\":{},\"nodes\":[{\"mesh\":0}]}",
          PELT_ERROR_FILE, "/meshes" },
        { "{\"asset\":{\"version\":\"2.0\"},\"skins\":0,\"nodes\":[{\"skin\":0}]}", PELT_ERROR_FILE,
          "/skins" },
        /* What pelt does not look at may be anything that JSON allows. */
        { "{\"asset\":{\"version\":\"2.0\"},\"extras\":[18446744073709551615,-1e20,1e-400,"
          "100000000000000000000000,\"\\u0000\"]}",
          PELT_OK, "" },
        { "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{\"scale\":[1,1000000000000000000000,1]}]}",
          PELT_ERROR_RANGE, "/nodes/0/scale/1" },
        { "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{\"name\":\"a\\u0000b\"}]}", PELT_ERROR_FILE,
          "/nodes/0/name" },
        { "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":4,"
          "\"uri\":\"a.bin\\u0000.png\"}]}",
          PELT_ERROR_FILE, "/buffers/0/uri" },
        { "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{\"mesh\":-1}],\"meshes\":[]}",
          PELT_ERROR_FILE, "/nodes/0/mesh" },
        { "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[null]}", PELT_ERROR_FILE, "/nodes/0" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        pelt_result result = read_text(cases[i].text);
        if (result != cases[i].result || strcmp(last.pointer, cases[i].pointer) != 0) {
            fail_msg("%s: %s [%s] %s", cases[i].text, pelt_result_string(result), last.pointer,
                     last.text);
        }
    }
}

static void test_extensions(void **state)
{
    (void)state;
    static const char *const fine[] = { "KHR_mesh_quantization",   "EXT_meshopt_compression",
                                        "KHR_meshopt_compression", "KHR_texture_transform",
                                        "KHR_materials_unlit",     "KHR_materials_clearcoat" };
    static const char *const unknown[] = { "KHR_draco_mesh_compression", "EXT_mesh_gpu_instancing",
                                           "ACME_bones" };
    char text[256];
    for (unsigned i = 0; i < 6; i++) {
        (void)snprintf(text, sizeof(text),
                       "{\"asset\":{\"version\":\"2.0\"},"
                       "\"extensionsRequired\":[\"%s\"]}",
                       fine[i]);
        assert_int_equal(read_text(text), PELT_OK);
        assert_int_equal(last.warnings, 0);
    }
    for (unsigned i = 0; i < 3; i++) {
        (void)snprintf(text, sizeof(text),
                       "{\"asset\":{\"version\":\"2.0\"},"
                       "\"extensionsRequired\":[\"KHR_materials_unlit\",\"%s\"]}",
                       unknown[i]);
        assert_int_equal(read_text(text), PELT_ERROR_UNSUPPORTED);
        assert_string_equal(last.pointer, "/extensionsRequired/1");
        assert_non_null(strstr(last.text, unknown[i]));
        /* Merely used, they are no obstacle. */
        (void)snprintf(text, sizeof(text),
                       "{\"asset\":{\"version\":\"2.0\"},\"extensionsUsed\":[\"%s\"]}", unknown[i]);
        assert_int_equal(read_text(text), PELT_OK);
    }
}

static pelt_result read_uri(const char *uri, unsigned length, const char *folder)
{
    char text[512];
    (void)snprintf(
        text, sizeof(text),
        "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":%u,\"uri\":\"%s\"}]}",
        length, uri);
    return read_bytes(text, strlen(text), folder);
}

static void test_data_uris(void **state)
{
    (void)state;
    static const struct {
        const char *uri;
        unsigned length;
        bool fine;
    } cases[] = {
        { "data:application/octet-stream;base64,AAECAw==", 4, true },
        { "data:;base64,AAECAwQ=", 5, true },
        { "data:application/gltf-buffer;base64,AAECAwQF", 6, true },
        { "data:;base64,AAECAwQF", 3, true }, /* more than needed */
        { "DATA:text/plain;charset=utf-8;BASE64,AAECAwQF", 6, true },
        { "data:;base64,AAECAw%3D%3d", 4, true },
        { "data:;base64,%2B%2f%41=", 2, true },
        { "data:;base64,AAECAw%3D=", 5, false },
        { "data:;base64,AAECAw%3", 4, false },
        { "data:;base64,AAEC%00AA=", 4, false },
        { "data:;base64,A===", 1, false },
        { "data:;base64,AA==AAAA", 1, false },
        { "data:;base64,AAECAw==", 5, false },
        { "data:;base64,AAECAw=", 4, false },
        { "data:;base64,AAECAw", 4, false },
        { "data:;base64,AA=CAw==", 4, false },
        { "data:;base64,AAEC w==", 4, false },
        { "data:;base64,AAEC-_==", 4, false },
        { "data:;base64,====", 1, false },
        { "data:;base64,", 1, false },
        { "data:,abcd", 4, false },
        { "data:", 4, false },
        { "data:;base64", 4, false },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        pelt_result result = read_uri(cases[i].uri, cases[i].length, NULL);
        if ((result == PELT_OK) != cases[i].fine ||
            (!cases[i].fine && strncmp(last.pointer, "/buffers/0/", 11) != 0)) {
            fail_msg("%s: %s [%s] %s", cases[i].uri, pelt_result_string(result), last.pointer,
                     last.text);
        }
    }
    /* The bytes themselves: positions written out by hand. 1.0f is 00 00 80 3f. */
    static const char text[] =
        "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":12,"
        "\"uri\":\"data:;base64,AACAPwAAAAAAAIA/\"}],\"bufferViews\":[{\"buffer\":0,"
        "\"byteLength\":12}],\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":1,"
        "\"type\":\"VEC3\"}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},"
        "\"mode\":0}]}]}";
    pelt_model *model;
    assert_int_equal(pelt_gltf_read_memory(NULL, "test", NULL, text, sizeof(text) - 1, &model),
                     PELT_OK);
    assert_floats(model->meshes[0].primitives[0].positions, 1, 0, 1);
    pelt_model_destroy(model);
}

static void write_file(const char *folder, const char *name, const void *bytes, size_t size)
{
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void test_external_files(void **state)
{
    (void)state;
    char top[] = "/tmp/pelt-test-XXXXXX", folder[64], path[128], target[128];
    assert_non_null(mkdtemp(top));
    (void)snprintf(folder, sizeof(folder), "%s/model", top);
    (void)snprintf(path, sizeof(path), "%s/sub", folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    write_file(top, "outside.bin", "abcd", 4);
    write_file(folder, "a b.bin", "abcd", 4);
    write_file(folder, "sub/c%.bin", "abcd", 4);
    (void)snprintf(path, sizeof(path), "%s/inside", folder);
    assert_int_equal(symlink("a b.bin", path), 0);
    (void)snprintf(path, sizeof(path), "%s/escape", folder);
    assert_int_equal(symlink("../outside.bin", path), 0);
    (void)snprintf(path, sizeof(path), "%s/up", folder);
    assert_int_equal(symlink("..", path), 0);
    (void)snprintf(target, sizeof(target), "%s/a b.bin", folder);
    const struct {
        const char *uri;
        pelt_result result;
    } cases[] = {
        { "a%20b.bin", PELT_OK },
        { "a b.bin", PELT_OK },
        { "./a b.bin", PELT_OK },
        { "sub/c%25.bin", PELT_OK },
        { "sub%2fc%25.bin", PELT_OK },
        { "inside", PELT_OK },
        { "escape", PELT_ERROR_FILE },
        { "up/outside.bin", PELT_ERROR_FILE },
        { "up/model/a%20b.bin", PELT_OK }, /* out and in again: within the folder after all */
        { "../outside.bin", PELT_ERROR_FILE },
        { "sub/../a b.bin", PELT_ERROR_FILE },
        { "%2e%2e/outside.bin", PELT_ERROR_FILE },
        { "..%2foutside.bin", PELT_ERROR_FILE },
        { "..\\\\outside.bin", PELT_ERROR_FILE },
        { target, PELT_ERROR_FILE },
        { "file:a%20b.bin", PELT_ERROR_FILE },
        { "http://example.com/a.bin", PELT_ERROR_FILE },
        { "a%2", PELT_ERROR_FILE },
        { "a%zz", PELT_ERROR_FILE },
        { "a b.bin%00", PELT_ERROR_FILE },
        { "", PELT_ERROR_FILE },
        { "gone.bin", PELT_ERROR_IO },
        { "sub", PELT_ERROR_IO },
        { ".", PELT_ERROR_FILE },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        pelt_result result = read_uri(cases[i].uri, 4, folder);
        if (result != cases[i].result ||
            (result != PELT_OK && strcmp(last.pointer, "/buffers/0/uri") != 0)) {
            fail_msg("%s: %s [%s] %s", cases[i].uri, pelt_result_string(result), last.pointer,
                     last.text);
        }
    }
    assert_int_equal(read_uri("a b.bin", 5, folder), PELT_ERROR_FILE);
    assert_string_equal(last.pointer, "/buffers/0/byteLength");
    assert_int_equal(read_uri("a b.bin", 4, NULL), PELT_ERROR_IO); /* no folder: no files */
    /* From a path, the folder is that of the file. */
    static const char text[] = "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":4,"
                               "\"uri\":\"a%20b.bin\"}]}";
    write_file(folder, "m.gltf", text, sizeof(text) - 1);
    (void)snprintf(path, sizeof(path), "%s/m.gltf", folder);
    pelt_model *model = NULL;
    assert_int_equal(pelt_gltf_read(NULL, path, &model), PELT_OK);
    pelt_model_destroy(model);
    assert_int_equal(pelt_gltf_read(NULL, "/nonexistent/m.gltf", &model), PELT_ERROR_IO);
    assert_null(model);
    static const char *const names[] = {
        "model/m.gltf", "model/up",      "model/escape", "model/inside", "model/sub/c%.bin",
        "model/sub",    "model/a b.bin", "model",        "outside.bin"
    };
    for (unsigned i = 0; i < 9; i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", top, names[i]);
        assert_int_equal(remove(path), 0);
    }
    assert_int_equal(rmdir(top), 0);
}

static void test_arguments(void **state)
{
    (void)state;
    pelt_model *model = NULL;
    assert_int_equal(pelt_gltf_read(NULL, NULL, &model), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_gltf_read(NULL, "x", NULL), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_gltf_read_memory(NULL, "x", NULL, NULL, 5, &model), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_gltf_read_memory(NULL, "x", NULL, "", 0, NULL), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_gltf_read_memory(NULL, "x", NULL, NULL, 0, &model), PELT_ERROR_FILE);
}

/* Every byte of a small GLB turned, in three ways: an answer, never a crash; an error is told. */
static void test_turned_bytes(void **state)
{
    (void)state;
    static const uint8_t masks[] = { 0x01, 0x80, 0xff };
    strip s = make_strip();
    size_t size;
    uint8_t *glb = make_glb(&s, &size);
    uint32_t refused = 0;
    for (size_t i = 0; i < size; i++) {
        for (unsigned k = 0; k < sizeof(masks); k++) {
            glb[i] ^= masks[k];
            refused += read_bytes(glb, size, NULL) != PELT_OK;
            glb[i] ^= masks[k];
        }
    }
    assert_true(refused > size); /* most of the JSON breaks, much of the data does not */
    for (size_t length = 0; length < size; length++) {
        assert_true(read_bytes(glb, length, NULL) != PELT_OK);
    }
    assert_int_equal(read_bytes(glb, size, NULL), PELT_OK);
    free(glb);
    free(s.json);
}

typedef struct failing {
    report *report;
    size_t left; /* allocations until one fails */
    long blocks; /* alive */
} failing;

static void *failing_allocate(void *user, void *block, size_t size)
{
    failing *f = user;
    if (size == 0) {
        f->blocks -= block != NULL;
        free(block);
        return NULL;
    }
    if (f->left == 0) {
        return NULL;
    }
    f->left--;
    f->blocks += block == NULL;
    return realloc(block, size);
}

static void failing_message(void *user, const pelt_message *message)
{
    take_message(((failing *)user)->report, message);
}

/* Every allocation fails once: the error is PELT_ERROR_MEMORY and all else is given back. */
static void test_failing_memory(void **state)
{
    (void)state;
    strip s = make_strip();
    edit(&s, "\"meshes\"",
         "\"images\":[{\"uri\":\"data:image/jpeg;base64,/9j/4AcI\"}],"
         "\"textures\":[{\"source\":0}],\"materials\":[{\"name\":\"m\","
         "\"pbrMetallicRoughness\":{\"baseColorTexture\":{\"index\":0}}}],"
         "\"meshes\"");
    size_t size;
    uint8_t *glb = make_glb(&s, &size);
    bool done = false;
    size_t count = 0;
    for (; !done; count++) {
        report r = { 0 };
        failing f = { .report = &r, .left = count };
        pelt_host host = { &f, failing_allocate, failing_message };
        pelt_model *model = NULL;
        pelt_result result = pelt_gltf_read_memory(&host, "test", NULL, glb, size, &model);
        done = result == PELT_OK;
        if (!done) {
            assert_int_equal(result, PELT_ERROR_MEMORY);
            assert_int_equal(r.errors, 1);
            assert_null(model);
        }
        pelt_model_destroy(model);
        assert_int_equal(f.blocks, 0);
    }
    assert_true(count > 5);
    free(glb);
    free(s.json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunks),         cmocka_unit_test(test_other_formats),
        cmocka_unit_test(test_json),           cmocka_unit_test(test_extensions),
        cmocka_unit_test(test_data_uris),      cmocka_unit_test(test_external_files),
        cmocka_unit_test(test_arguments),      cmocka_unit_test(test_turned_bytes),
        cmocka_unit_test(test_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
