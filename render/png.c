/* Pixels to a PNG file. */
#include "base/base.h"
#include "render/render.h"

#include <spng.h>

/* Only what is opaque throughout goes without its alpha. */
static bool is_opaque(const uint8_t *rgba, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (rgba[i * 4 + 3] != 255) {
            return false;
        }
    }
    return true;
}

static int write_bytes(spng_ctx *png, void *user, void *bytes, size_t size)
{
    (void)png;
    return pelt_output_write(user, bytes, size) == PELT_OK ? 0 : SPNG_IO_ERROR;
}

/* row: room for one row without alpha, NULL to keep alpha. */
static int encode(spng_ctx *png, uint32_t width, uint32_t height, const uint8_t *rgba, uint8_t *row)
{
    int status = spng_encode_image(png, NULL, 0, SPNG_FMT_PNG,
                                   SPNG_ENCODE_PROGRESSIVE | SPNG_ENCODE_FINALIZE);
    for (uint32_t y = 0; y < height && !status; y++) {
        const uint8_t *pixels = rgba + (size_t)4 * width * y;
        for (size_t x = 0; row && x < width; x++) {
            row[x * 3] = pixels[x * 4];
            row[x * 3 + 1] = pixels[x * 4 + 1];
            row[x * 3 + 2] = pixels[x * 4 + 2];
        }
        status = spng_encode_row(png, row ? row : pixels, (size_t)(row ? 3 : 4) * width);
    }
    return status == SPNG_EOI ? 0 : status;
}

pelt_result pelt_write_png(const pelt_host *host, const char *path, uint32_t width, uint32_t height,
                           const uint8_t *rgba)
{
    if (width == 0 || height == 0 || width > INT32_MAX || height > INT32_MAX) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, path, NULL, "a picture of %u x %u", width,
                         height);
    }
    bool opaque = is_opaque(rgba, (size_t)width * height);
    uint8_t *row = opaque ? pelt_allocate(host, width, 3) : NULL;
    spng_ctx *png = spng_ctx_new(SPNG_CTX_ENCODER);
    pelt_output output = { 0 };
    pelt_result result = PELT_OK;
    if (!png || (opaque && !row)) {
        result = pelt_fail(host, PELT_ERROR_MEMORY, path, NULL, "no memory to encode a picture");
        goto done;
    }
    result = pelt_output_open(host, path, &output);
    if (result != PELT_OK) {
        goto done;
    }
    struct spng_ihdr header = {
        .width = width,
        .height = height,
        .bit_depth = 8,
        .color_type = opaque ? SPNG_COLOR_TYPE_TRUECOLOR : SPNG_COLOR_TYPE_TRUECOLOR_ALPHA,
    };
    int status = spng_set_png_stream(png, write_bytes, &output);
    if (!status) {
        status = spng_set_ihdr(png, &header);
    }
    if (!status) {
        status = spng_set_srgb(png, 0);
    }
    if (!status) {
        status = encode(png, width, height, rgba, row);
    }
    if (status == SPNG_IO_ERROR || ferror(output.stream)) {
        result = PELT_ERROR_IO; /* already reported */
    } else if (status) {
        result = pelt_fail(host, status == SPNG_EMEM ? PELT_ERROR_MEMORY : PELT_ERROR_ARGUMENT,
                           path, NULL, "cannot encode the picture: %s", spng_strerror(status));
    } else {
        result = pelt_output_commit(&output);
    }
done:
    if (result != PELT_OK) {
        pelt_output_discard(&output);
    }
    spng_ctx_free(png);
    pelt_release(host, row);
    return result;
}
