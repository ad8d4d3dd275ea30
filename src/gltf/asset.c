/* What the file says of itself: version, and the extensions it cannot do without. */
#include "reader.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Two whole numbers with a dot between them. */
static bool parse_version(const char *text, unsigned long number[2])
{
    for (unsigned i = 0; i < 2; i++) {
        char *end;
        if (!isdigit((unsigned char)*text)) {
            return false;
        }
        number[i] = strtoul(text, &end, 10);
        if (*end != (i == 0 ? '.' : 0)) {
            return false;
        }
        text = end + 1;
    }
    return true;
}

static bool check_version(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *asset,
                          const char *key, unsigned long newest_minor)
{
    const char *version = NULL;
    if (!pelt_gltf_get_string(reader, at, asset, key, &version)) {
        return false;
    }
    unsigned long number[2] = { 2, 0 };
    if (version && !parse_version(version, number)) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(at, key),
                              "is \"%.40s\", not a version number", version);
    }
    if (number[0] != 2 || number[1] > newest_minor) {
        return pelt_gltf_fail(reader, PELT_ERROR_UNSUPPORTED, pelt_gltf_in(at, key),
                              "is %.40s; pelt reads glTF 2.0", version);
    }
    return true;
}

/* Extensions that change what we use and that we apply, and those of materials: without the
 * latter a surface looks plainer, but nothing moves differently. */
static bool is_supported(const char *name)
{
    static const char *const known[] = { "KHR_mesh_quantization", "EXT_meshopt_compression",
                                         "KHR_meshopt_compression", "KHR_texture_transform" };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(name, known[i]) == 0) {
            return true;
        }
    }
    return strncmp(name, "KHR_materials_", 14) == 0;
}

/* Lists that others refer to before they are read themselves. */
static bool check_lists(pelt_gltf_reader *reader)
{
    static const char *const keys[] = { "meshes", "skins" };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const json_t *list = json_object_get(reader->root, keys[i]);
        if (list && !json_is_array(list)) {
            return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_at("/%s", keys[i]),
                                  "is not an array");
        }
    }
    return true;
}

bool pelt_gltf_read_asset(pelt_gltf_reader *reader)
{
    pelt_gltf_place root = pelt_gltf_at("%s", ""), at = pelt_gltf_in(root, "asset");
    json_t *asset, *array;
    uint32_t count;
    /* A later 2.x stays readable unless minVersion says otherwise. */
    if (!pelt_gltf_require(reader, root, reader->root, "asset") ||
        !pelt_gltf_get_object(reader, root, reader->root, "asset", &asset) ||
        !pelt_gltf_require(reader, at, asset, "version") ||
        !check_version(reader, at, asset, "version", ULONG_MAX) ||
        !check_version(reader, at, asset, "minVersion", 0) ||
        !pelt_gltf_get_name(reader, at, asset, "generator", &reader->model->generator) ||
        !pelt_gltf_get_array(reader, root, reader->root, "extensionsRequired", &array, &count)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(array, i));
        at = pelt_gltf_at("/extensionsRequired/%u", i);
        if (!name) {
            return pelt_gltf_fail(reader, PELT_ERROR_FILE, at, "is not a string");
        }
        if (!is_supported(name)) {
            return pelt_gltf_fail(reader, PELT_ERROR_UNSUPPORTED, at,
                                  "requires the extension %.80s, which pelt does not have", name);
        }
        reader->quantization |= strcmp(name, "KHR_mesh_quantization") == 0;
    }
    if (!pelt_gltf_get_array(reader, root, reader->root, "extensionsUsed", &array, &count)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(array, i));
        reader->quantization |= name && strcmp(name, "KHR_mesh_quantization") == 0;
    }
    return check_lists(reader);
}
