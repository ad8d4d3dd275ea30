/* PNG and JPEG to pixels. */
#include "base/base.h"
#include "render/render.h"

#include <limits.h>
#include <spng.h>
#include <string.h>
#include <turbojpeg.h>

/* What a decoder is asked for and how it tells what went wrong. */
typedef struct decoding {
    const pelt_host *host;
    const char *file, *pointer;
    const uint8_t *bytes;
    size_t size;
    uint32_t limit;
} decoding;

static pelt_result allocate_pixels(const decoding *input, uint32_t width, uint32_t height,
                                   pelt_pixels *out)
{
    if (input->limit != 0 && (width > input->limit || height > input->limit)) {
        return pelt_fail(input->host, PELT_ERROR_RANGE, input->file, input->pointer,
                         "image of %u x %u pixels; at most %u x %u can be used", width, height,
                         input->limit, input->limit);
    }
    size_t count;
    if (width == 0 || height == 0 || !pelt_multiply(width, height, &count)) {
        return pelt_fail(input->host, PELT_ERROR_FILE, input->file, input->pointer,
                         "image of %u x %u pixels", width, height);
    }
    out->rgba = pelt_allocate(input->host, count, 4);
    if (!out->rgba) {
        return pelt_fail(input->host, PELT_ERROR_MEMORY, input->file, input->pointer,
                         "no memory for an image of %u x %u pixels", width, height);
    }
    out->width = width;
    out->height = height;
    out->host = input->host;
    return PELT_OK;
}

static pelt_result png_error(const decoding *input, int status)
{
    pelt_result result = status == SPNG_EMEM ? PELT_ERROR_MEMORY : PELT_ERROR_FILE;
    return pelt_fail(input->host, result, input->file, input->pointer, "PNG: %s",
                     spng_strerror(status));
}

static pelt_result decode_png(const decoding *input, pelt_pixels *out)
{
    /* Text and profiles that a file may hold but nobody reads here. */
    enum { CHUNK_LIMIT = 16 << 20 };
    /* Deflate shrinks by 1032 at most; a shorter file cannot hold what its header says. */
    enum { DEFLATE_MAX = 1032 };
    spng_ctx *png = spng_ctx_new(0);
    if (!png) {
        return png_error(input, SPNG_EMEM);
    }
    pelt_result result;
    struct spng_ihdr header;
    size_t row_bits = 0, packed = 0, decoded = 0;
    int status = spng_set_chunk_limits(png, CHUNK_LIMIT, CHUNK_LIMIT);
    if (!status) {
        status = spng_set_png_buffer(png, input->bytes, input->size);
    }
    if (!status) {
        status = spng_get_ihdr(png, &header);
    }
    if (!status) {
        status = spng_decoded_image_size(png, SPNG_FMT_RGBA8, &decoded);
    }
    if (status) {
        result = png_error(input, status);
        goto done;
    }
    if (!pelt_multiply(header.width, header.bit_depth, &row_bits) ||
        !pelt_multiply(row_bits / 8, header.height, &packed) ||
        packed / DEFLATE_MAX > input->size) {
        result = pelt_fail(input->host, PELT_ERROR_FILE, input->file, input->pointer,
                           "PNG: %zu bytes cannot hold %u x %u pixels", input->size, header.width,
                           header.height);
        goto done;
    }
    result = allocate_pixels(input, header.width, header.height, out);
    if (result != PELT_OK) {
        goto done;
    }
    status = spng_decode_image(png, out->rgba, decoded, SPNG_FMT_RGBA8, SPNG_DECODE_TRNS);
    if (status) {
        result = png_error(input, status);
        goto done;
    }
    /* Every pixel is there; the rest of the file may still tell of damage. */
    status = spng_decode_chunks(png);
    if (status) {
        pelt_warn(input->host, input->file, input->pointer, "PNG: %s; what was read is used",
                  spng_strerror(status));
    }
done:
    spng_ctx_free(png);
    return result;
}

static pelt_result jpeg_error(const decoding *input, tjhandle jpeg)
{
    return pelt_fail(input->host, PELT_ERROR_FILE, input->file, input->pointer, "JPEG: %s",
                     tjGetErrorStr2(jpeg));
}

static pelt_result decode_jpeg(const decoding *input, pelt_pixels *out)
{
    if (input->size > ULONG_MAX) {
        return pelt_fail(input->host, PELT_ERROR_RANGE, input->file, input->pointer,
                         "JPEG: %zu bytes", input->size);
    }
    tjhandle jpeg = tjInitDecompress();
    if (!jpeg) {
        return pelt_fail(input->host, PELT_ERROR_MEMORY, input->file, input->pointer,
                         "no memory to decode a JPEG");
    }
    pelt_result result;
    int width = 0, height = 0, subsampling = 0, colors = 0;
    if (tjDecompressHeader3(jpeg, input->bytes, (unsigned long)input->size, &width, &height,
                            &subsampling, &colors) != 0) {
        result = jpeg_error(input, jpeg);
        goto done;
    }
    if (colors == TJCS_CMYK || colors == TJCS_YCCK) {
        result = pelt_fail(input->host, PELT_ERROR_UNSUPPORTED, input->file, input->pointer,
                           "JPEG: four-colour (CMYK) images are not supported");
        goto done;
    }
    result = allocate_pixels(input, (uint32_t)width, (uint32_t)height, out);
    if (result != PELT_OK) {
        goto done;
    }
    /* Scans are limited so that a small progressive file cannot take minutes. */
    if (tjDecompress2(jpeg, input->bytes, (unsigned long)input->size, out->rgba, width, 0, height,
                      TJPF_RGBA, TJFLAG_LIMITSCANS) != 0) {
        if (tjGetErrorCode(jpeg) != TJERR_WARNING) {
            result = jpeg_error(input, jpeg);
            goto done;
        }
        pelt_warn(input->host, input->file, input->pointer, "JPEG: %s; what was read is used",
                  tjGetErrorStr2(jpeg));
    }
done:
    (void)tjDestroy(jpeg);
    return result;
}

pelt_result pelt_image_decode(const pelt_host *host, const char *file, const char *pointer,
                              const void *bytes, size_t size, uint32_t limit, pelt_pixels *out)
{
    static const uint8_t png_mark[] = { 0x89, 'P', 'N', 'G', 0x0D, 0x0A, 0x1A, 0x0A };
    static const uint8_t jpeg_mark[] = { 0xFF, 0xD8, 0xFF };
    *out = (pelt_pixels){ 0 };
    const decoding input = { host, file, pointer, bytes, size, limit };
    pelt_result result;
    if (size >= sizeof(png_mark) && memcmp(bytes, png_mark, sizeof(png_mark)) == 0) {
        result = decode_png(&input, out);
    } else if (size >= sizeof(jpeg_mark) && memcmp(bytes, jpeg_mark, sizeof(jpeg_mark)) == 0) {
        result = decode_jpeg(&input, out);
    } else {
        result = pelt_fail(host, PELT_ERROR_FILE, file, pointer, "neither a PNG nor a JPEG");
    }
    if (result != PELT_OK) {
        pelt_pixels_release(out);
    }
    return result;
}

void pelt_pixels_release(pelt_pixels *pixels)
{
    if (pixels) {
        pelt_release(pixels->host, pixels->rgba);
        *pixels = (pelt_pixels){ 0 };
    }
}
