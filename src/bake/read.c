/* What write.c wrote. */
#include "bake/describe.h"
#include "bake/ktx2.h"

#include <string.h>

typedef struct reader {
    const pelt_host *host;
    const char *name;
    const uint8_t *bytes;
    size_t size;
} reader;

static pelt_result fail(const reader *r, pelt_result result, const char *text)
{
    return pelt_fail(r->host, result, r->name, NULL, "%s", text);
}

static uint32_t word(const reader *r, size_t index)
{
    return ktx2_get32(r->bytes + sizeof(ktx2_identifier) + 4 * index);
}

/* Whether it is a plain 2D texture of floats. */
static pelt_result check_header(const reader *r)
{
    if (r->size < sizeof(ktx2_identifier) ||
        memcmp(r->bytes, ktx2_identifier, sizeof(ktx2_identifier)) != 0) {
        return fail(r, PELT_ERROR_FILE, "is not a KTX2 file");
    }
    if (r->size < KTX2_HEADER_SIZE + KTX2_LEVEL_SIZE) {
        return fail(r, PELT_ERROR_FILE, "ends within its header");
    }
    uint32_t format = word(r, 0);
    if ((format != VK_R32G32B32A32_SFLOAT && format != VK_R16G16B16A16_SFLOAT) || word(r, 4) ||
        word(r, 6) != 1 || word(r, 7) > 1 || word(r, 8)) {
        return fail(r, PELT_ERROR_UNSUPPORTED,
                    "is not a 2D texture of four floats, one level and no supercompression");
    }
    return PELT_OK;
}

/* The text under a key; NULL: there is none. What lies out of bounds is an error. */
static pelt_result find_value(const reader *r, const char *wanted, const char **out, size_t *length)
{
    size_t offset = word(r, 11), left = word(r, 12);
    *out = NULL;
    *length = 0;
    if (offset > r->size || left > r->size - offset) {
        return fail(r, PELT_ERROR_FILE, "ends within its keys and values");
    }
    while (left >= 4) {
        const char *entry = (const char *)r->bytes + offset + 4;
        size_t size = ktx2_get32(r->bytes + offset);
        if (size > left - 4) {
            return fail(r, PELT_ERROR_FILE, "has a value that is longer than all of them");
        }
        const char *end = memchr(entry, 0, size);
        if (!end) {
            return fail(r, PELT_ERROR_FILE, "has a key without an end");
        }
        if (strcmp(entry, wanted) == 0) {
            *out = end + 1;
            *length = size - (size_t)(end + 1 - entry);
            *length -= *length && (*out)[*length - 1] == 0;
            return PELT_OK;
        }
        size_t step = 4 + size + (4 - size % 4) % 4;
        step = step < left ? step : left;
        offset += step;
        left -= step;
    }
    return PELT_OK;
}

static pelt_result load_description(const reader *r, pelt_bake *bake)
{
    const char *text;
    size_t length;
    pelt_result result = find_value(r, KTX2_KEY, &text, &length);
    if (result != PELT_OK) {
        return result;
    }
    if (!text) {
        return fail(r, PELT_ERROR_UNSUPPORTED,
                    "has no key 'pelt': it is a texture, but not one that pelt baked");
    }
    json_error_t error;
    json_t *description = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!description) {
        return pelt_fail(r->host, PELT_ERROR_FILE, r->name, NULL, "key 'pelt' is not JSON: %s",
                         error.text);
    }
    result = pelt_bake_parse(r->name, description, bake);
    json_decref(description);
    return result;
}

/* No exponent of all ones. */
static bool are_finite(const pelt_bake *bake)
{
    bool half = bake->format == PELT_BAKE_RGBA16F, finite = true;
    size_t step = half ? 2 : 4;
    uint8_t high = half ? 0x7c : 0x7f;
    for (size_t i = 0; i < bake->size; i += step) {
        const uint8_t *number = (const uint8_t *)bake->texels + i;
        bool ones = (number[step - 1] & high) == high && (half || (number[2] & 0x80));
        finite = finite && !ones;
    }
    return finite;
}

static pelt_result load_texels(const reader *r, pelt_bake *bake)
{
    bool half = word(r, 0) == VK_R16G16B16A16_SFLOAT;
    uint32_t layers = word(r, 5) ? word(r, 5) : 1;
    if (half != (bake->format == PELT_BAKE_RGBA16F) || word(r, 2) != bake->width ||
        word(r, 3) != bake->height || layers != bake->layer_count) {
        return fail(r, PELT_ERROR_FILE, "is another texture than its key 'pelt' describes");
    }
    uint64_t offset = ktx2_get64(r->bytes + KTX2_HEADER_SIZE);
    uint64_t length = ktx2_get64(r->bytes + KTX2_HEADER_SIZE + 8);
    size_t size = pelt_bake_texel_size(bake->format);
    bool fits = pelt_multiply(size, bake->width, &size) &&
                pelt_multiply(size, bake->height, &size) && pelt_multiply(size, layers, &size);
    if (!fits || length != size || offset > r->size || length > r->size - offset) {
        return fail(r, PELT_ERROR_FILE, "ends within its texels");
    }
    bake->texels = pelt_arena_allocate(bake->arena, size, 1);
    if (!bake->texels) {
        return pelt_fail(r->host, PELT_ERROR_MEMORY, r->name, NULL, "no memory for %zu bytes",
                         size);
    }
    memcpy(bake->texels, r->bytes + offset, size);
    bake->size = size;
    return are_finite(bake) ? PELT_OK : fail(r, PELT_ERROR_FILE, "has a texel that is not finite");
}

pelt_result pelt_bake_read_memory(const pelt_host *host, const char *name, const void *bytes,
                                  size_t size, pelt_bake **out)
{
    const reader r = { .host = host, .name = name, .bytes = bytes, .size = size };
    *out = NULL;
    pelt_result result = check_header(&r);
    if (result != PELT_OK) {
        return result;
    }
    pelt_arena *arena = pelt_arena_create(host);
    pelt_bake *bake = arena ? pelt_arena_allocate(arena, 1, sizeof(*bake)) : NULL;
    if (!bake) {
        pelt_arena_destroy(arena);
        return fail(&r, PELT_ERROR_MEMORY, "no memory");
    }
    *bake = (pelt_bake){ .host = host, .arena = arena };
    result = load_description(&r, bake);
    result = result == PELT_OK ? load_texels(&r, bake) : result;
    if (result != PELT_OK) {
        pelt_bake_destroy(bake);
        return result;
    }
    *out = bake;
    return PELT_OK;
}

pelt_result pelt_bake_read(const pelt_host *host, const char *path, pelt_bake **out)
{
    uint8_t *bytes;
    size_t size;
    *out = NULL;
    pelt_result result = pelt_file_read(host, path, &bytes, &size);
    if (result == PELT_OK) {
        result = pelt_bake_read_memory(host, path, bytes, size, out);
        pelt_release(host, bytes);
    }
    return result;
}
