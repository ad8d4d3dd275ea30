/* The reader's entry points and the order of its steps. */
#include "reader.h"

#include <pelt/gltf.h>
#include <string.h>

static bool read_steps(pelt_gltf_reader *reader)
{
    return pelt_gltf_read_asset(reader) && pelt_gltf_read_buffers(reader) &&
           pelt_gltf_read_views(reader) && pelt_gltf_read_accessors(reader) &&
           pelt_gltf_read_nodes(reader) && pelt_gltf_read_tree(reader) &&
           pelt_gltf_read_skins(reader) && pelt_gltf_read_materials(reader) &&
           pelt_gltf_read_meshes(reader) && pelt_gltf_check_nodes(reader) &&
           pelt_gltf_check_inverse_bind(reader) && pelt_gltf_read_clips(reader);
}

/* owned: the block that bytes lie in if it may go as soon as it is not needed, else NULL. */
static pelt_result read_bytes(const pelt_host *host, const char *name, const char *folder,
                              const uint8_t *bytes, size_t size, uint8_t *owned, pelt_model **out)
{
    pelt_gltf_reader reader = { .host = host, .name = name, .folder = folder, .input_size = size };
    pelt_gltf_place whole = pelt_gltf_at("%s", "");
    bool ok = false;
    reader.result = pelt_model_create(host, &reader.model);
    if (reader.result != PELT_OK) {
        goto done;
    }
    reader.scratch = pelt_arena_create(host);
    if (!reader.scratch) {
        (void)pelt_gltf_fail_memory(&reader, whole);
        goto done;
    }
    if (!pelt_gltf_parse(&reader, bytes, size)) {
        goto done;
    }
    if (!reader.bin) {
        pelt_release(host, owned); /* all that was in the text is in the tree now */
        owned = NULL;
    }
    if (!read_steps(&reader)) {
        goto done;
    }
    reader.result = pelt_model_finish(reader.model);
    ok = reader.result == PELT_OK;
done:
    for (uint32_t i = 0; i < reader.buffer_count; i++) {
        pelt_release(host, reader.buffers[i].owned);
    }
    pelt_arena_destroy(reader.scratch);
    json_decref(reader.root);
    pelt_release(host, owned);
    if (ok) {
        *out = reader.model;
    } else {
        pelt_model_destroy(reader.model);
    }
    return reader.result;
}

pelt_result pelt_gltf_read_memory(const pelt_host *host, const char *name, const char *folder,
                                  const void *bytes, size_t size, pelt_model **out)
{
    if (!out || (!bytes && size > 0)) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, name, NULL, "%s is NULL",
                         out ? "bytes" : "out");
    }
    *out = NULL;
    return read_bytes(host, name, folder, bytes ? bytes : (const void *)"", size, NULL, out);
}

/* The folder part of a path, "." if it has none. */
static char *copy_folder(const pelt_host *host, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = !slash ? 1 : slash == path ? 1 : (size_t)(slash - path);
    char *folder = pelt_allocate(host, length + 1, 1);
    if (folder) {
        memcpy(folder, slash ? path : ".", length);
    }
    return folder;
}

pelt_result pelt_gltf_read(const pelt_host *host, const char *path, pelt_model **out)
{
    if (!path || !out) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, path, NULL, "%s is NULL",
                         path ? "out" : "path");
    }
    *out = NULL;
    uint8_t *bytes;
    size_t size;
    pelt_result result = pelt_file_read(host, path, &bytes, &size);
    if (result != PELT_OK) {
        return result;
    }
    char *folder = copy_folder(host, path);
    if (folder) {
        result = read_bytes(host, path, folder, bytes, size, bytes, out);
    } else {
        result = pelt_fail(host, PELT_ERROR_MEMORY, path, NULL, "no memory");
        pelt_release(host, bytes);
    }
    pelt_release(host, folder);
    return result;
}
