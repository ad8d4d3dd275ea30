#include "base/base.h"

#include <pelt/model.h>
#include <string.h>

pelt_result pelt_model_create(const pelt_host *host, pelt_model **out)
{
    if (!out) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL, "out is NULL");
    }
    *out = NULL;
    pelt_arena *arena = pelt_arena_create(host);
    pelt_model *model = pelt_allocate(host, 1, sizeof(*model));
    if (!arena || !model) {
        pelt_arena_destroy(arena);
        pelt_release(host, model);
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a model");
    }
    model->host = host;
    model->arena = arena;
    *out = model;
    return PELT_OK;
}

void pelt_model_destroy(pelt_model *model)
{
    if (model) {
        const pelt_host *host = model->host;
        pelt_arena_destroy(model->arena);
        pelt_release(host, model);
    }
}

void *pelt_model_allocate(pelt_model *model, size_t count, size_t size)
{
    return pelt_arena_allocate(model->arena, count, size);
}

void pelt_model_release(pelt_model *model, void *block)
{
    pelt_arena_release(model->arena, block);
}

/* A decimal number below limit, else -1. */
static int32_t parse_number(const char *text, uint32_t limit)
{
    uint64_t number = 0;
    if (!*text) {
        return -1;
    }
    for (; *text; text++) {
        if (*text < '0' || *text > '9') {
            return -1;
        }
        number = number * 10 + (uint64_t)(*text - '0');
        if (number >= limit) {
            return -1;
        }
    }
    return (int32_t)number;
}

int32_t pelt_model_find_clip(const pelt_model *model, const char *name)
{
    for (uint32_t i = 0; i < model->clip_count; i++) {
        if (model->clips[i].name && strcmp(model->clips[i].name, name) == 0) {
            return (int32_t)i;
        }
    }
    return parse_number(name, model->clip_count);
}
