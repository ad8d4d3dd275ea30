/* render/exr.h: OpenEXR images of numbers, each exact to its last bit. */
#ifndef PELT_RENDER_EXR_H
#define PELT_RENDER_EXR_H

#include <pelt/base.h>

typedef struct pelt_exr_channel {
    const char *name;
    size_t offset; /* of its 32 bits in a pixel */
    bool is_uint;  /* else float */
} pelt_exr_channel;

typedef struct pelt_exr_image {
    uint32_t width, height;
    const pelt_exr_channel *channels; /* sorted by name, as the format wants them */
    uint32_t channel_count;
    const void *pixels; /* rows from the top */
    size_t stride;      /* bytes from a pixel to the next */
} pelt_exr_image;

/* Writes a whole file or nothing, uncompressed. Errors: PELT_ERROR_IO, PELT_ERROR_MEMORY. */
pelt_result pelt_write_exr(const pelt_host *host, const char *path, const pelt_exr_image *image);

#endif
