/* A bake as a KTX2 file, and its description beside it. */
#include "bake/describe.h"
#include "bake/ktx2.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The basic data format descriptor (Khronos Data Format 1.3, section 5) of four floats. */
static void make_descriptor(pelt_bake_format format, uint8_t out[KTX2_DESCRIPTOR_SIZE])
{
    enum { RGBSDA = 1, LINEAR = 1, FLOAT = 0x80, SIGNED = 0x40, ALPHA = 15 };
    uint32_t bits = format == PELT_BAKE_RGBA16F ? 16 : 32;
    memset(out, 0, KTX2_DESCRIPTOR_SIZE);
    ktx2_put32(out, KTX2_DESCRIPTOR_SIZE);
    ktx2_put32(out + 8, 2 | (KTX2_DESCRIPTOR_SIZE - 4u) << 16); /* version 2, size */
    out[12] = RGBSDA;
    out[14] = LINEAR; /* and primaries unspecified: these are no colours */
    out[20] = (uint8_t)pelt_bake_texel_size(format);
    for (uint32_t i = 0; i < KTX2_CHANNELS; i++) {
        uint8_t *sample = out + 4 + KTX2_BLOCK_SIZE + KTX2_SAMPLE_SIZE * i;
        uint32_t channel = (i == 3 ? ALPHA : i) | FLOAT | SIGNED;
        ktx2_put32(sample, i * bits | (bits - 1) << 16 | channel << 24);
        ktx2_put32(sample + 8, 0xbf800000u); /* -1 and 1: the range that a float counts as */
        ktx2_put32(sample + 12, 0x3f800000u);
    }
}

/* A key and its value with their length in front, and zeros up to a multiple of four. */
static size_t entry_size(const char *key, size_t value_size)
{
    return 4 + (strlen(key) + 1 + value_size + 3) / 4 * 4;
}

static pelt_result write_entry(pelt_output *output, const char *key, const char *value)
{
    static const uint8_t zeros[4] = { 0 };
    size_t key_size = strlen(key) + 1, value_size = strlen(value) + 1;
    uint8_t length[4];
    ktx2_put32(length, (uint32_t)(key_size + value_size));
    pelt_result result = pelt_output_write(output, length, sizeof(length));
    result = result == PELT_OK ? pelt_output_write(output, key, key_size) : result;
    result = result == PELT_OK ? pelt_output_write(output, value, value_size) : result;
    size_t padding = entry_size(key, value_size) - 4 - key_size - value_size;
    return result == PELT_OK ? pelt_output_write(output, zeros, padding) : result;
}

static pelt_result write_ktx2(pelt_output *output, const pelt_bake *bake, const char *description)
{
    static const char writer[] = "pelt " PELT_VERSION_STRING;
    static const uint8_t zeros[16] = { 0 };
    uint8_t head[KTX2_HEADER_SIZE + KTX2_LEVEL_SIZE + KTX2_DESCRIPTOR_SIZE] = { 0 };
    size_t texel_size = pelt_bake_texel_size(bake->format);
    size_t values =
        entry_size(KTX2_WRITER, sizeof(writer)) + entry_size(KTX2_KEY, strlen(description) + 1);
    if (values > UINT32_MAX) {
        return pelt_fail(output->host, PELT_ERROR_RANGE, output->path, NULL,
                         "a description of %zu bytes does not fit a KTX2 file", values);
    }
    size_t level = (sizeof(head) + values + texel_size - 1) / texel_size * texel_size;
    memcpy(head, ktx2_identifier, sizeof(ktx2_identifier));
    const uint32_t words[] = {
        bake->format == PELT_BAKE_RGBA16F ? VK_R16G16B16A16_SFLOAT : VK_R32G32B32A32_SFLOAT,
        (uint32_t)texel_size / KTX2_CHANNELS, /* typeSize */
        bake->width,
        bake->height,
        0,                                             /* pixelDepth */
        bake->layer_count > 1 ? bake->layer_count : 0, /* layerCount, 0: not an array */
        1,                                             /* faceCount */
        1,                                             /* levelCount */
        0,                                             /* supercompressionScheme */
        KTX2_HEADER_SIZE + KTX2_LEVEL_SIZE,            /* the descriptor */
        KTX2_DESCRIPTOR_SIZE,
        sizeof(head), /* keys and values */
        (uint32_t)values,
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        ktx2_put32(head + sizeof(ktx2_identifier) + 4 * i, words[i]);
    }
    ktx2_put64(head + KTX2_HEADER_SIZE, level);
    ktx2_put64(head + KTX2_HEADER_SIZE + 8, bake->size);
    ktx2_put64(head + KTX2_HEADER_SIZE + 16, bake->size);
    make_descriptor(bake->format, head + KTX2_HEADER_SIZE + KTX2_LEVEL_SIZE);

    pelt_result result = pelt_output_write(output, head, sizeof(head));
    result = result == PELT_OK ? write_entry(output, KTX2_WRITER, writer) : result;
    result = result == PELT_OK ? write_entry(output, KTX2_KEY, description) : result;
    if (result == PELT_OK) {
        result = pelt_output_write(output, zeros, level - sizeof(head) - values);
    }
    return result == PELT_OK ? pelt_output_write(output, bake->texels, bake->size) : result;
}

pelt_result pelt_bake_write(const pelt_host *host, const pelt_bake *bake, const char *ktx2_path,
                            const char *json_path)
{
    pelt_output ktx2 = { .host = host }, json = { .host = host };
    bool made = false;
    char *text = NULL;
    json_t *description = pelt_bake_describe(bake);
    pelt_result result = PELT_ERROR_MEMORY;
    text = description ? json_dumps(description, JSON_COMPACT) : NULL;
    if (!text) {
        (void)pelt_fail(host, result, ktx2_path, NULL, "no memory for the description");
        goto done;
    }
    result = pelt_output_open(host, ktx2_path, &ktx2);
    result = result == PELT_OK ? write_ktx2(&ktx2, bake, text) : result;
    if (result == PELT_OK && json_path) {
        result = pelt_output_open(host, json_path, &json);
        result = result == PELT_OK ? pelt_bake_print(&json, description) : result;
        made = result == PELT_OK && json.temporary; /* a file, not a device */
        result = result == PELT_OK ? pelt_output_commit(&json) : result;
    }
    if (result == PELT_OK) {
        result = pelt_output_commit(&ktx2);
        if (result != PELT_OK && made) {
            (void)unlink(json_path);
        }
    }
done:
    pelt_output_discard(&json);
    pelt_output_discard(&ktx2);
    json_decref(description);
    free(text);
    return result;
}
