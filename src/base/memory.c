#include "base/base.h"

#include <stdlib.h>
#include <string.h>

void *pelt_reallocate(const pelt_host *host, void *block, size_t size)
{
    if (host && host->allocate) {
        return host->allocate(host->user, block, size);
    }
    if (size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, size);
}

bool pelt_multiply(size_t a, size_t b, size_t *out)
{
    if (b != 0 && a > SIZE_MAX / b) {
        return false;
    }
    *out = a * b;
    return true;
}

bool pelt_add(size_t a, size_t b, size_t *out)
{
    if (a > SIZE_MAX - b) {
        return false;
    }
    *out = a + b;
    return true;
}

void *pelt_allocate(const pelt_host *host, size_t count, size_t size)
{
    size_t bytes;
    if (!pelt_multiply(count, size, &bytes)) {
        return NULL;
    }
    if (!(host && host->allocate)) {
        /* calloc leaves fresh pages untouched, which matters for large blocks. */
        return calloc(1, bytes ? bytes : 1);
    }
    void *block = host->allocate(host->user, NULL, bytes ? bytes : 1);
    if (block) {
        memset(block, 0, bytes);
    }
    return block;
}

void pelt_release(const pelt_host *host, void *block)
{
    if (block) {
        (void)pelt_reallocate(host, block, 0);
    }
}

/* Blocks form a doubly linked list so that any one can leave early. Small requests share a slab;
 * releasing a piece of a slab does nothing, it goes with the arena. Every payload has a header in
 * front of it, all zero for a piece, so that a release knows what it is given. */
enum { SLAB_SIZE = 64 * 1024, SMALL = 4 * 1024, ALIGNMENT = 16 };

typedef struct block {
    struct block *previous, *next;
} block;

_Static_assert(sizeof(block) % ALIGNMENT == 0, "payload must stay aligned");

struct pelt_arena {
    const pelt_host *host;
    block blocks; /* list head */
    unsigned char *slab;
    size_t slab_used;
};

pelt_arena *pelt_arena_create(const pelt_host *host)
{
    pelt_arena *arena = pelt_allocate(host, 1, sizeof(*arena));
    if (arena) {
        arena->host = host;
        arena->blocks.previous = arena->blocks.next = &arena->blocks;
    }
    return arena;
}

void pelt_arena_destroy(pelt_arena *arena)
{
    if (!arena) {
        return;
    }
    const pelt_host *host = arena->host;
    for (block *b = arena->blocks.next; b != &arena->blocks;) {
        block *next = b->next;
        pelt_release(host, b);
        b = next;
    }
    pelt_release(host, arena);
}

static void *allocate_block(pelt_arena *arena, size_t bytes)
{
    size_t whole;
    if (!pelt_add(bytes, sizeof(block), &whole)) {
        return NULL;
    }
    block *b = pelt_allocate(arena->host, 1, whole);
    if (!b) {
        return NULL;
    }
    b->next = &arena->blocks;
    b->previous = arena->blocks.previous;
    b->previous->next = b;
    arena->blocks.previous = b;
    return b + 1;
}

void *pelt_arena_allocate(pelt_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (!pelt_multiply(count, size, &bytes)) {
        return NULL;
    }
    if (bytes > SMALL) {
        return allocate_block(arena, bytes);
    }
    bytes = sizeof(block) + (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (!arena->slab || SLAB_SIZE - arena->slab_used < bytes) {
        unsigned char *slab = allocate_block(arena, SLAB_SIZE);
        if (!slab) {
            return NULL;
        }
        arena->slab = slab;
        arena->slab_used = 0;
    }
    block *piece = (block *)(arena->slab + arena->slab_used);
    arena->slab_used += bytes;
    return piece + 1;
}

void pelt_arena_release(pelt_arena *arena, void *payload)
{
    block *b = payload ? (block *)payload - 1 : NULL;
    if (b && b->next) {
        b->previous->next = b->next;
        b->next->previous = b->previous;
        pelt_release(arena->host, b);
    }
}
