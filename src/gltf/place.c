/* Places in the file, messages about them, and memory within a budget. */
#include "reader.h"

#include <string.h>

/* What a file may grow to in memory: this much, and this many bytes for each of the input. The
 * largest honest growth is that of compressed, quantised or sparse data, some tens. */
static const size_t budget_base = (size_t)64 << 20;
static const size_t budget_factor = 64;

pelt_gltf_place pelt_gltf_at(const char *format, ...)
{
    pelt_gltf_place place;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(place.text, sizeof(place.text), format, arguments);
    va_end(arguments);
    return place;
}

pelt_gltf_place pelt_gltf_in(pelt_gltf_place object, const char *member)
{
    size_t length = strlen(object.text);
    (void)snprintf(object.text + length, sizeof(object.text) - length, "/%s", member);
    return object;
}

pelt_gltf_place pelt_gltf_item(pelt_gltf_place array, size_t index)
{
    size_t length = strlen(array.text);
    (void)snprintf(array.text + length, sizeof(array.text) - length, "/%zu", index);
    return array;
}

bool pelt_gltf_fail(pelt_gltf_reader *reader, pelt_result result, pelt_gltf_place at,
                    const char *format, ...)
{
    char text[768];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    reader->result = pelt_fail(reader->host, result, reader->name, at.text, "%s", text);
    return false;
}

bool pelt_gltf_fail_memory(pelt_gltf_reader *reader, pelt_gltf_place at)
{
    return pelt_gltf_fail(reader, PELT_ERROR_MEMORY, at, "no memory");
}

void pelt_gltf_warn(pelt_gltf_reader *reader, pelt_gltf_place at, const char *format, ...)
{
    char text[768];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    pelt_warn(reader->host, reader->name, at.text, "%s", text);
}

bool pelt_gltf_check_budget(pelt_gltf_reader *reader, pelt_gltf_place at, size_t count, size_t size)
{
    size_t bytes, total, budget;
    if (!pelt_multiply(reader->input_size, budget_factor, &budget) ||
        !pelt_add(budget, budget_base, &budget)) {
        budget = SIZE_MAX;
    }
    if (!pelt_multiply(count, size, &bytes) || !pelt_add(bytes, reader->allocated_size, &total) ||
        total > budget) {
        return pelt_gltf_fail(reader, PELT_ERROR_RANGE, at,
                              "%zu elements of %zu bytes: a file of %zu bytes may not grow to more "
                              "than %zu in memory",
                              count, size, reader->input_size, budget);
    }
    return true;
}

static void *allocate(pelt_gltf_reader *reader, pelt_arena *arena, pelt_gltf_place at, size_t count,
                      size_t size)
{
    if (!pelt_gltf_check_budget(reader, at, count, size)) {
        return NULL;
    }
    void *block = arena ? pelt_arena_allocate(arena, count, size)
                        : pelt_model_allocate(reader->model, count, size);
    if (!block) {
        (void)pelt_gltf_fail_memory(reader, at);
        return NULL;
    }
    reader->allocated_size += count * size;
    return block;
}

void *pelt_gltf_keep(pelt_gltf_reader *reader, pelt_gltf_place at, size_t count, size_t size)
{
    return allocate(reader, NULL, at, count, size);
}

void *pelt_gltf_borrow(pelt_gltf_reader *reader, pelt_gltf_place at, size_t count, size_t size)
{
    return allocate(reader, reader->scratch, at, count, size);
}
