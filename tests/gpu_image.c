/* render/image.c and png.c: PNG and JPEG to pixels and back. No device is needed; named gpu_ since
 * the renderer is built with the Vulkan passes alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <turbojpeg.h>
#include <unistd.h>

typedef struct message_log {
    unsigned errors, warnings;
    char file[64], pointer[64], text[256];
} message_log;

static void on_message(void *user, const pelt_message *message)
{
    message_log *log = user;
    log->errors += message->severity == PELT_ERROR;
    log->warnings += message->severity == PELT_WARNING;
    (void)snprintf(log->file, sizeof(log->file), "%s", message->file ? message->file : "");
    (void)snprintf(log->pointer, sizeof(log->pointer), "%s",
                   message->pointer ? message->pointer : "");
    (void)snprintf(log->text, sizeof(log->text), "%s", message->text);
}

/* A file under construction. */
typedef struct bytes {
    uint8_t data[4096];
    size_t size;
} bytes;

static void put(bytes *out, const void *data, size_t size)
{
    assert_true(out->size + size <= sizeof(out->data));
    memcpy(out->data + out->size, data, size);
    out->size += size;
}

static void put_be32(bytes *out, uint32_t value)
{
    const uint8_t big[4] = { (uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                             (uint8_t)value };
    put(out, big, 4);
}

/* PNG's CRC-32, bit by bit. */
static uint32_t crc(const uint8_t *data, size_t size)
{
    uint32_t value = 0xFFFFFFFFu;
    for (size_t i = 0; i < size; i++) {
        value ^= data[i];
        for (int bit = 0; bit < 8; bit++) {
            value = value >> 1 ^ (value & 1 ? 0xEDB88320u : 0);
        }
    }
    return ~value;
}

static void put_chunk(bytes *out, const char *type, const void *data, size_t size)
{
    put_be32(out, (uint32_t)size);
    size_t start = out->size;
    put(out, type, 4);
    put(out, data, size);
    put_be32(out, crc(out->data + start, size + 4));
}

static void put_header(bytes *out, uint32_t width, uint32_t height, uint8_t depth,
                       uint8_t color_type)
{
    static const uint8_t mark[] = { 0x89, 'P', 'N', 'G', 0x0D, 0x0A, 0x1A, 0x0A };
    out->size = 0;
    put(out, mark, sizeof(mark));
    bytes header = { .size = 0 };
    put_be32(&header, width);
    put_be32(&header, height);
    put(&header, (uint8_t[]){ depth, color_type, 0, 0, 0 }, 5);
    put_chunk(out, "IHDR", header.data, header.size);
}

/* Rows (each with its filter byte 0) as one stored deflate block, then the end. */
static void put_rows(bytes *out, const uint8_t *rows, size_t size)
{
    bytes data = { .size = 0 };
    put(&data,
        (uint8_t[]){ 0x78, 0x01, 0x01, (uint8_t)size, (uint8_t)(size >> 8), (uint8_t)~size,
                     (uint8_t)(~size >> 8) },
        7);
    put(&data, rows, size);
    uint32_t a = 1, b = 0; /* Adler-32 */
    for (size_t i = 0; i < size; i++) {
        a = (a + rows[i]) % 65521;
        b = (b + a) % 65521;
    }
    put_be32(&data, b << 16 | a);
    put_chunk(out, "IDAT", data.data, data.size);
    put_chunk(out, "IEND", "", 0);
}

static pelt_result decode(const bytes *file, pelt_pixels *out, message_log *log)
{
    *log = (message_log){ 0 };
    pelt_host host = { .user = log, .message = on_message };
    return pelt_image_decode(&host, "model.glb", "/images/3", file->data, file->size, 0, out);
}

static void expect_pixels(const bytes *file, uint32_t width, uint32_t height,
                          const uint8_t *expected, int tolerance)
{
    message_log log;
    pelt_pixels pixels;
    assert_int_equal(decode(file, &pixels, &log), PELT_OK);
    assert_int_equal(log.errors + log.warnings, 0);
    assert_int_equal(pixels.width, width);
    assert_int_equal(pixels.height, height);
    for (size_t i = 0; i < (size_t)4 * width * height; i++) {
        assert_true(abs(pixels.rgba[i] - expected[i]) <= tolerance);
    }
    pixels.host = NULL; /* decode's host is gone; it had the default allocator */
    pelt_pixels_release(&pixels);
    assert_null(pixels.rgba);
}

static void decodes_palettes_with_transparency(void **state)
{
    (void)state;
    bytes file;
    put_header(&file, 4, 2, 2, 3);
    put_chunk(&file, "PLTE", (uint8_t[]){ 255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 8, 7 }, 12);
    put_chunk(&file, "tRNS", (uint8_t[]){ 255, 128 }, 2);
    /* 0 1 2 3 and 3 2 1 0, two bits each, the highest first */
    put_rows(&file, (uint8_t[]){ 0, 0x1B, 0, 0xE4 }, 4);
    const uint8_t expected[] = {
        255, 0, 0, 255, 0, 255, 0,   128, 0, 0,   255, 255, 9,   8, 7, 255,
        9,   8, 7, 255, 0, 0,   255, 255, 0, 255, 0,   128, 255, 0, 0, 255
    };
    expect_pixels(&file, 4, 2, expected, 0);
}

static void decodes_sixteen_bits(void **state)
{
    (void)state;
    bytes file;
    put_header(&file, 1, 2, 16, 6);
    put_rows(&file,
             (uint8_t[]){ 0, 0xFF, 0xFF, 0x80, 0x00, 0x00, 0x00, 0x40, 0x40, 0, 0x12, 0x34, 0xAB,
                          0xCD, 0x7F, 0xFF, 0xFF, 0xFF },
             18);
    /* v / 257; dropping the low byte may be one less than rounding. */
    const uint8_t expected[] = { 255, 128, 0, 64, 0x12, 0xAB, 0x80, 255 };
    expect_pixels(&file, 1, 2, expected, 1);
}

static void decodes_greys(void **state)
{
    (void)state;
    bytes file;
    put_header(&file, 3, 1, 8, 0);
    put_rows(&file, (uint8_t[]){ 0, 0, 100, 255 }, 4);
    expect_pixels(&file, 3, 1, (uint8_t[]){ 0, 0, 0, 255, 100, 100, 100, 255, 255, 255, 255, 255 },
                  0);

    put_header(&file, 2, 1, 8, 4);
    put_rows(&file, (uint8_t[]){ 0, 10, 20, 200, 0 }, 5);
    expect_pixels(&file, 2, 1, (uint8_t[]){ 10, 10, 10, 20, 200, 200, 200, 0 }, 0);

    put_header(&file, 3, 1, 1, 0); /* 1 bit, black see-through */
    put_chunk(&file, "tRNS", (uint8_t[]){ 0, 0 }, 2);
    put_rows(&file, (uint8_t[]){ 0, 0xA0 }, 2);
    expect_pixels(&file, 3, 1, (uint8_t[]){ 255, 255, 255, 255, 0, 0, 0, 0, 255, 255, 255, 255 },
                  0);
}

/* A valid 2 x 2 PNG. */
static void small_png(bytes *file)
{
    put_header(file, 2, 2, 8, 2);
    put_rows(file, (uint8_t[]){ 0, 1, 2, 3, 4, 5, 6, 0, 7, 8, 9, 10, 11, 12 }, 14);
}

static void expect_error(const bytes *file, pelt_result result)
{
    message_log log;
    pelt_pixels pixels;
    assert_int_equal(decode(file, &pixels, &log), result);
    assert_int_equal(log.errors, 1);
    assert_string_equal(log.file, "model.glb");
    assert_string_equal(log.pointer, "/images/3");
    assert_true(log.text[0] != '\0');
    assert_null(pixels.rgba);
}

/* An error, or a warning where all pixels could be read. */
static void expect_complaint(const bytes *file)
{
    message_log log;
    pelt_pixels pixels;
    pelt_result result = decode(file, &pixels, &log);
    assert_int_equal(log.errors, result == PELT_OK ? 0 : 1);
    assert_int_equal(log.warnings, result == PELT_OK ? 1 : 0);
    assert_string_equal(log.pointer, "/images/3");
    pixels.host = NULL;
    pelt_pixels_release(&pixels);
}

static void names_what_is_wrong_with_a_png(void **state)
{
    (void)state;
    bytes file;
    small_png(&file);
    const bytes good = file;
    /* Pixels end at byte 62, IDAT at 70 with its checksums, the file 12 later (four of
     * them the checksum of nothing, which may be missing). */
    assert_int_equal(good.size, 82);
    for (size_t size = 0; size < 62; size++) {
        file.size = size;
        expect_error(&file, PELT_ERROR_FILE);
    }
    for (size_t size = 62; size < 78; size++) {
        file.size = size;
        expect_complaint(&file);
    }
    /* Every chunk here is critical, and any flipped bit breaks its checksum. */
    for (size_t at = 8; at < 78; at++) {
        file = good;
        file.data[at] ^= 0x10;
        expect_complaint(&file);
    }
    put_header(&file, 0, 5, 8, 2);
    put_rows(&file, (uint8_t[]){ 0 }, 1);
    expect_error(&file, PELT_ERROR_FILE);
    /* A hundred bytes that claim to be gigabytes: refused before anything is allocated. */
    put_header(&file, 60000, 60000, 8, 6);
    put_rows(&file, (uint8_t[]){ 0 }, 1);
    expect_error(&file, PELT_ERROR_FILE);

    message_log log = { 0 };
    pelt_host host = { .user = &log, .message = on_message };
    pelt_pixels pixels;
    assert_int_equal(pelt_image_decode(&host, "f", "/images/0", good.data, good.size, 1, &pixels),
                     PELT_ERROR_RANGE);
    assert_non_null(strstr(log.text, "2 x 2"));
    bytes text = { .size = 0 };
    put(&text, "GIF89a, say", 11);
    expect_error(&text, PELT_ERROR_FILE);
}

static void small_jpeg(bytes *file, const uint8_t *pixels, int format, int subsampling)
{
    tjhandle jpeg = tjInitCompress();
    assert_non_null(jpeg);
    unsigned char *out = NULL;
    unsigned long size = 0;
    assert_int_equal(tjCompress2(jpeg, pixels, 8, 0, 8, format, &out, &size, subsampling, 100, 0),
                     0);
    file->size = 0;
    put(file, out, size);
    tjFree(out);
    (void)tjDestroy(jpeg);
}

static void decodes_jpegs(void **state)
{
    (void)state;
    bytes file;
    uint8_t rgb[8 * 8 * 3], grey[8 * 8], expected[8 * 8 * 4];
    for (int i = 0; i < 64; i++) {
        memcpy(rgb + 3 * i, (uint8_t[]){ 200, 100, 50 }, 3);
        memcpy(expected + 4 * i, (uint8_t[]){ 200, 100, 50, 255 }, 4);
        grey[i] = 77;
    }
    small_jpeg(&file, rgb, TJPF_RGB, TJSAMP_444);
    expect_pixels(&file, 8, 8, expected, 2); /* rounding of YCbCr and back */
    small_jpeg(&file, grey, TJPF_GRAY, TJSAMP_GRAY);
    for (int i = 0; i < 64; i++) {
        memcpy(expected + 4 * i, (uint8_t[]){ 77, 77, 77, 255 }, 4);
    }
    expect_pixels(&file, 8, 8, expected, 1);
}

static void names_what_is_wrong_with_a_jpeg(void **state)
{
    (void)state;
    bytes file;
    uint8_t pixels[8 * 8 * 4];
    for (size_t i = 0; i < sizeof(pixels); i++) {
        pixels[i] = (uint8_t)(i * 37);
    }
    small_jpeg(&file, pixels, TJPF_CMYK, TJSAMP_444);
    expect_error(&file, PELT_ERROR_UNSUPPORTED);

    small_jpeg(&file, pixels, TJPF_RGB, TJSAMP_444);
    const bytes good = file;
    file.size = 100; /* within the tables */
    expect_error(&file, PELT_ERROR_FILE);
    /* Half of the pixels are there: they are used, and it is said. */
    file.size = good.size - 40;
    message_log log;
    pelt_pixels out;
    assert_int_equal(decode(&file, &out, &log), PELT_OK);
    assert_int_equal(log.warnings, 1);
    assert_string_equal(log.pointer, "/images/3");
    out.host = NULL;
    pelt_pixels_release(&out);
}

static void writes_what_it_reads(void **state)
{
    (void)state;
    enum { WIDTH = 7, HEIGHT = 5 };
    char path[] = "/tmp/pelt-png-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    uint8_t rgba[4 * WIDTH * HEIGHT];
    for (int opaque = 0; opaque < 2; opaque++) {
        for (size_t i = 0; i < sizeof(rgba); i++) {
            rgba[i] = opaque && i % 4 == 3 ? 255 : (uint8_t)(i * 71 + 13);
        }
        message_log log = { 0 };
        pelt_host host = { .user = &log, .message = on_message };
        assert_int_equal(pelt_write_png(&host, path, WIDTH, HEIGHT, rgba), PELT_OK);
        bytes file;
        FILE *stream = fopen(path, "rb");
        assert_non_null(stream);
        file.size = fread(file.data, 1, sizeof(file.data), stream);
        (void)fclose(stream);
        expect_pixels(&file, WIDTH, HEIGHT, rgba, 0);
    }
    (void)unlink(path);
}

static void says_when_it_cannot_write(void **state)
{
    (void)state;
    message_log log = { 0 };
    pelt_host host = { .user = &log, .message = on_message };
    const uint8_t rgba[4] = { 0 };
    assert_int_equal(pelt_write_png(&host, "/no/such/folder/x.png", 1, 1, rgba), PELT_ERROR_IO);
    assert_int_equal(log.errors, 1);
    assert_string_equal(log.file, "/no/such/folder/x.png");
    assert_int_equal(pelt_write_png(&host, "x.png", 0, 1, rgba), PELT_ERROR_ARGUMENT);
    assert_int_equal(log.errors, 2);
    assert_int_equal(access("x.png", F_OK), -1);
}

static void *no_memory(void *user, void *block, size_t size)
{
    (void)user;
    (void)size;
    free(block);
    return NULL;
}

static void goes_without_memory_cleanly(void **state)
{
    (void)state;
    const pelt_host host = { .allocate = no_memory };
    bytes file;
    small_png(&file);
    pelt_pixels pixels;
    assert_int_equal(pelt_image_decode(&host, "f", "", file.data, file.size, 0, &pixels),
                     PELT_ERROR_MEMORY);
    assert_null(pixels.rgba);
    const uint8_t rgba[4] = { 0, 0, 0, 255 };
    assert_int_equal(pelt_write_png(&host, "x.png", 1, 1, rgba), PELT_ERROR_MEMORY);
    assert_int_equal(access("x.png", F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_palettes_with_transparency),
        cmocka_unit_test(decodes_sixteen_bits),
        cmocka_unit_test(decodes_greys),
        cmocka_unit_test(names_what_is_wrong_with_a_png),
        cmocka_unit_test(decodes_jpegs),
        cmocka_unit_test(names_what_is_wrong_with_a_jpeg),
        cmocka_unit_test(writes_what_it_reads),
        cmocka_unit_test(says_when_it_cannot_write),
        cmocka_unit_test(goes_without_memory_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
