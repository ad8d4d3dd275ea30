/* OpenEXR images: one part, scan lines, not compressed. */
#include "render/exr.h"

#include "base/base.h"

#include <string.h>

/* What is written so far; bytes NULL: only counted. */
typedef struct writer {
    unsigned char *bytes;
    size_t used;
} writer;

static void put(writer *self, const void *bytes, size_t size)
{
    if (self->bytes) {
        memcpy(self->bytes + self->used, bytes, size);
    }
    self->used += size;
}

/* Little-endian. */
static void put_number(writer *self, uint64_t value, size_t size)
{
    unsigned char bytes[8];
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (unsigned char)(value >> (8 * i));
    }
    put(self, bytes, size);
}

static void put_float(writer *self, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    put_number(self, bits, 4);
}

static void put_text(writer *self, const char *text)
{
    put(self, text, strlen(text) + 1);
}

static void put_attribute(writer *self, const char *name, const char *type, size_t size)
{
    put_text(self, name);
    put_text(self, type);
    put_number(self, size, 4);
}

static void put_channels(writer *self, const pelt_exr_image *image)
{
    size_t size = 1;
    for (uint32_t i = 0; i < image->channel_count; i++) {
        size += strlen(image->channels[i].name) + 1 + 16;
    }
    put_attribute(self, "channels", "chlist", size);
    for (uint32_t i = 0; i < image->channel_count; i++) {
        put_text(self, image->channels[i].name);
        put_number(self, image->channels[i].is_uint ? 0 : 2, 4); /* UINT or FLOAT */
        put_number(self, 0, 4);                                  /* not perceptually linear */
        put_number(self, 1, 4);                                  /* a sample every pixel ... */
        put_number(self, 1, 4);                                  /* ... and every line */
    }
    put_number(self, 0, 1);
}

static void put_window(writer *self, const char *name, const pelt_exr_image *image)
{
    put_attribute(self, name, "box2i", 16);
    put_number(self, 0, 8);
    put_number(self, image->width - 1, 4);
    put_number(self, image->height - 1, 4);
}

static void put_header(writer *self, const pelt_exr_image *image)
{
    put_number(self, 20000630, 4);
    put_number(self, 2, 4);
    put_channels(self, image);
    put_attribute(self, "compression", "compression", 1);
    put_number(self, 0, 1);
    put_window(self, "dataWindow", image);
    put_window(self, "displayWindow", image);
    put_attribute(self, "lineOrder", "lineOrder", 1);
    put_number(self, 0, 1); /* increasing y */
    put_attribute(self, "pixelAspectRatio", "float", 4);
    put_float(self, 1.0f);
    put_attribute(self, "screenWindowCenter", "v2f", 8);
    put_float(self, 0.0f);
    put_float(self, 0.0f);
    put_attribute(self, "screenWindowWidth", "float", 4);
    put_float(self, 1.0f);
    put_number(self, 0, 1);
}

/* Each line: its y, its size, then one channel after the other. */
static void put_lines(writer *self, const pelt_exr_image *image)
{
    size_t line = (size_t)4 * image->channel_count * image->width;
    size_t first = self->used + (size_t)8 * image->height;
    for (uint32_t y = 0; y < image->height; y++) {
        put_number(self, first + y * (line + 8), 8);
    }
    for (uint32_t y = 0; y < image->height; y++) {
        put_number(self, y, 4);
        put_number(self, line, 4);
        const char *row = (const char *)image->pixels + (size_t)y * image->width * image->stride;
        for (uint32_t c = 0; c < image->channel_count; c++) {
            for (uint32_t x = 0; x < image->width; x++) {
                uint32_t word;
                memcpy(&word, row + x * image->stride + image->channels[c].offset, sizeof(word));
                put_number(self, word, 4);
            }
        }
    }
}

pelt_result pelt_write_exr(const pelt_host *host, const char *path, const pelt_exr_image *image)
{
    writer self = { 0 };
    size_t pixels, size;
    put_header(&self, image);
    if (!pelt_multiply((size_t)image->width * image->height, (size_t)4 * image->channel_count,
                       &pixels) ||
        !pelt_add(self.used + (size_t)16 * image->height, pixels, &size)) {
        return pelt_fail(host, PELT_ERROR_MEMORY, path, NULL, "the image is too large");
    }
    self = (writer){ .bytes = pelt_allocate(host, size, 1) };
    if (!self.bytes) {
        return pelt_fail(host, PELT_ERROR_MEMORY, path, NULL, "no memory for %zu bytes", size);
    }
    put_header(&self, image);
    put_lines(&self, image);
    pelt_output output = { 0 };
    pelt_result result = pelt_output_open(host, path, &output);
    if (result == PELT_OK) {
        result = pelt_output_write(&output, self.bytes, self.used);
    }
    if (result == PELT_OK) {
        result = pelt_output_commit(&output);
    }
    if (result != PELT_OK) {
        pelt_output_discard(&output);
    }
    pelt_release(host, self.bytes);
    return result;
}
