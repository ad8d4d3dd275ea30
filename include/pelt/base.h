/* SPDX-License-Identifier: MIT */
/* pelt/base.h: results, messages, memory and boxes shared by every other header.
 *
 * Conventions of the whole library:
 *   - Column vectors. A 3x4 matrix is 12 numbers, three rows of four, row-major: row i is
 *     (a_i0 a_i1 a_i2 t_i), so y_i = a_i0 x_0 + a_i1 x_1 + a_i2 x_2 + t_i.
 *   - Quaternions are x y z w, as in glTF. Time is in seconds. Units are the file's.
 *   - Info structs start zeroed; zero means the default. NULL is a valid argument to every destroy.
 *   - No global state: objects may be used from different threads as long as each object is used
 *     by one at a time; const objects may be shared.
 */
#ifndef PELT_BASE_H
#define PELT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PELT_API __attribute__((visibility("default")))
#else
#define PELT_API
#endif

#define PELT_VERSION_MAJOR  0
#define PELT_VERSION_MINOR  1
#define PELT_VERSION_PATCH  0
#define PELT_VERSION_STRING "0.1.0"

typedef enum pelt_result {
    PELT_OK = 0,
    PELT_ERROR_ARGUMENT,    /* the caller broke a documented rule; nothing was done */
    PELT_ERROR_MEMORY,      /* an allocation failed; everything is unwound */
    PELT_ERROR_IO,          /* a file could not be opened, read or written */
    PELT_ERROR_FILE,        /* a file's content is invalid */
    PELT_ERROR_UNSUPPORTED, /* a valid file needs something pelt does not have */
    PELT_ERROR_RANGE,       /* a number is too large for the 32-bit float or integer it must fit */
    PELT_ERROR_DEVICE,      /* no Vulkan device, or it lacks a feature; the message names it */
    PELT_ERROR_VULKAN       /* a Vulkan call failed; the message names it */
} pelt_result;

/* A short English name of a result, never NULL. */
PELT_API const char *pelt_result_string(pelt_result result);

/* The version of the library that runs, e.g. "0.1.0"; static storage. */
PELT_API const char *pelt_version(void);

typedef enum pelt_severity { PELT_WARNING, PELT_ERROR } pelt_severity;

/* One warning or error. All strings are valid only during the call. */
typedef struct pelt_message {
    pelt_severity severity;
    pelt_result result;  /* PELT_OK for warnings */
    const char *file;    /* path as the caller gave it, or NULL */
    const char *pointer; /* JSON pointer of the glTF object, "" for the whole file, or NULL */
    const char *text;    /* one line, no trailing newline, does not repeat file and pointer */
} pelt_message;

/* What the library asks of its caller. A NULL pelt_host, or a NULL member, is the default. */
typedef struct pelt_host {
    void *user; /* passed back to the callbacks */

    /* realloc-like: block NULL allocates, size 0 frees and returns NULL, otherwise grows or
     * shrinks. Alignment as malloc's. Default: the C library's. Must outlive what it allocated. */
    void *(*allocate)(void *user, void *block, size_t size);

    /* Receives every warning and, before a function returns an error, what is wrong.
     * Default: nothing is reported. */
    void (*message)(void *user, const pelt_message *message);
} pelt_host;

/* An axis-aligned box. Empty (no point at all): min > max, exactly PELT_BOX_EMPTY. */
typedef struct pelt_box {
    float min[3];
    float max[3];
} pelt_box;

#define PELT_FLOAT_MAX 3.402823466e+38f
#define PELT_BOX_EMPTY                                                                             \
    {                                                                                              \
        { PELT_FLOAT_MAX, PELT_FLOAT_MAX, PELT_FLOAT_MAX },                                        \
        {                                                                                          \
            -PELT_FLOAT_MAX, -PELT_FLOAT_MAX, -PELT_FLOAT_MAX                                      \
        }                                                                                          \
    }

/* The largest magnitude pelt accepts for a coordinate or a matrix element. Products of two and
 * sums of a few of them stay finite in 32-bit floats, so no output is ever NaN or infinite. */
#define PELT_MAGNITUDE_MAX 1e18

#ifdef __cplusplus
}
#endif
#endif
