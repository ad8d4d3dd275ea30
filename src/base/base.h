/* Memory and messages for the library's own files. */
#ifndef PELT_SRC_BASE_H
#define PELT_SRC_BASE_H

#include <pelt/base.h>
#include <stdarg.h>
#include <stdio.h>

#if defined(__GNUC__)
#define PELT_PRINTF(string, first) __attribute__((format(printf, string, first)))
#else
#define PELT_PRINTF(string, first)
#endif

/* The host's realloc-like function, with malloc's as the default. */
void *pelt_reallocate(const pelt_host *host, void *block, size_t size);

/* count x size bytes, zeroed; NULL without memory or on overflow. A count of 0 gives a valid block.
 */
void *pelt_allocate(const pelt_host *host, size_t count, size_t size);
void pelt_release(const pelt_host *host, void *block);

/* false on overflow. */
bool pelt_multiply(size_t a, size_t b, size_t *out);
bool pelt_add(size_t a, size_t b, size_t *out);

/* Reports an error and returns result, so callers write: return pelt_fail(...). file and pointer
 * may be NULL. */
pelt_result pelt_fail(const pelt_host *host, pelt_result result, const char *file,
                      const char *pointer, const char *format, ...) PELT_PRINTF(5, 6);
void pelt_warn(const pelt_host *host, const char *file, const char *pointer, const char *format,
               ...) PELT_PRINTF(4, 5);

/* Memory that is given back all at once, or block by block. */
typedef struct pelt_arena pelt_arena;
pelt_arena *pelt_arena_create(const pelt_host *host); /* NULL: no memory */
void pelt_arena_destroy(pelt_arena *arena);
void *pelt_arena_allocate(pelt_arena *arena, size_t count, size_t size); /* zeroed, 16-aligned */
void pelt_arena_release(pelt_arena *arena, void *payload);               /* NULL is fine */

/* A whole file in memory, one zero byte behind it. Errors are reported with file = path. */
pelt_result pelt_file_read(const pelt_host *host, const char *path, uint8_t **out, size_t *size);

/* A file that appears whole or not at all: written beside path, renamed by commit. */
typedef struct pelt_output {
    const pelt_host *host;
    const char *path; /* the caller's, must stay */
    char *temporary;
    FILE *stream;
} pelt_output;
pelt_result pelt_output_open(const pelt_host *host, const char *path, pelt_output *out);
pelt_result pelt_output_write(pelt_output *output, const void *bytes, size_t size);
pelt_result pelt_output_commit(pelt_output *output); /* closes either way */
void pelt_output_discard(pelt_output *output);       /* fine after commit */

#endif
