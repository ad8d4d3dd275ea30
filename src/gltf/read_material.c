/* Materials and the images behind their base colours. Wrong structure is an error; an image that
 * is missing or damaged is a warning, as only pictures suffer.
 */
#include "reader.h"

#include <string.h>

typedef struct materials {
    json_t *textures, *images, *samplers;
    uint32_t texture_count, image_count, sampler_count;
    int32_t
        *loaded; /* the model's image for each of the file's; -1: not yet; -2: without success */
} materials;

static const char *sniff(const uint8_t *bytes, size_t size)
{
    static const uint8_t png[8] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };
    static const uint8_t jpeg[3] = { 0xff, 0xd8, 0xff };
    if (size >= sizeof(png) && memcmp(bytes, png, sizeof(png)) == 0) {
        return "image/png";
    }
    return size >= sizeof(jpeg) && memcmp(bytes, jpeg, sizeof(jpeg)) == 0 ? "image/jpeg" : NULL;
}

/* bytes: borrowed or, if *owned is set, the caller's to release. NULL without an error: the image
 * cannot be had, which has been warned of. */
static bool find_bytes(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                       const uint8_t **bytes, size_t *size, uint8_t **owned)
{
    const char *uri = NULL;
    int32_t view = -1;
    if (!pelt_gltf_get_string(reader, at, object, "uri", &uri) ||
        !pelt_gltf_get_index(reader, at, object, "bufferView", reader->view_count, "buffer views",
                             &view)) {
        return false;
    }
    if (uri) {
        char problem[PELT_GLTF_PROBLEM_SIZE];
        pelt_result result = pelt_gltf_fetch(reader, uri, owned, size, problem);
        if (result == PELT_ERROR_MEMORY) {
            return pelt_gltf_fail_memory(reader, at);
        }
        if (result != PELT_OK) {
            pelt_gltf_warn(reader, pelt_gltf_in(at, "uri"), "%s; the image is left out", problem);
        }
        *bytes = *owned;
        return true;
    }
    if (view >= 0) {
        const pelt_gltf_view *v = &reader->views[view];
        if (v->compression || reader->buffers[v->buffer].bytes) {
            *bytes = pelt_gltf_view_bytes(reader, (uint32_t)view);
            *size = v->size;
            return *bytes != NULL;
        }
    }
    pelt_gltf_warn(reader, at, "has no data; the image is left out");
    return true;
}

/* The model's image for one of the file's; -2 if it cannot be had. */
static bool load_image(pelt_gltf_reader *reader, materials *m, int32_t index)
{
    pelt_gltf_place at = pelt_gltf_at("/images/%d", index);
    const json_t *object = json_array_get(m->images, (size_t)index);
    const uint8_t *bytes = NULL;
    uint8_t *owned = NULL;
    size_t size = 0;
    m->loaded[index] = -2;
    if (!pelt_gltf_is_object(reader, at, object) ||
        !find_bytes(reader, at, object, &bytes, &size, &owned)) {
        return false;
    }
    const char *type = bytes ? sniff(bytes, size) : NULL;
    bool ok = true;
    if (type) {
        pelt_image *image = &reader->model->images[reader->model->image_count];
        image->mime_type = type;
        image->size = size;
        image->bytes = pelt_gltf_keep(reader, at, size, 1);
        ok = image->bytes && pelt_gltf_get_name(reader, at, object, "name", &image->name);
        if (ok) {
            memcpy(image->bytes, bytes, size);
            m->loaded[index] = (int32_t)reader->model->image_count++;
        }
    } else if (bytes) {
        pelt_gltf_warn(reader, at, "is neither PNG nor JPEG; the image is left out");
    }
    pelt_release(reader->host, owned);
    return ok;
}

static bool read_sampler(pelt_gltf_reader *reader, const materials *m, int32_t index,
                         pelt_texture_sampler *out)
{
    static const char *const keys[] = { "wrapS", "wrapT", "magFilter", "minFilter" };
    uint32_t *const fields[] = { &out->wrap_s, &out->wrap_t, &out->mag_filter, &out->min_filter };
    pelt_gltf_place at = pelt_gltf_at("/samplers/%d", index);
    const json_t *object = json_array_get(m->samplers, (size_t)index);
    if (!pelt_gltf_is_object(reader, at, object)) {
        return false;
    }
    for (unsigned i = 0; i < 4; i++) {
        size_t value = 0;
        if (!pelt_gltf_get_size(reader, at, object, keys[i], &value)) {
            return false;
        }
        *fields[i] = (uint32_t)value;
    }
    return true;
}

static bool read_texture(pelt_gltf_reader *reader, materials *m, int32_t index,
                         pelt_material *material)
{
    pelt_gltf_place at = pelt_gltf_at("/textures/%d", index);
    const json_t *object = json_array_get(m->textures, (size_t)index);
    int32_t source = -1, sampler = -1;
    if (!pelt_gltf_is_object(reader, at, object) ||
        !pelt_gltf_get_index(reader, at, object, "source", m->image_count, "images", &source) ||
        !pelt_gltf_get_index(reader, at, object, "sampler", m->sampler_count, "samplers",
                             &sampler)) {
        return false;
    }
    if (source < 0) {
        pelt_gltf_warn(reader, at, "has no PNG or JPEG source; the texture is left out");
        return true;
    }
    if (m->loaded[source] == -1 && !load_image(reader, m, source)) {
        return false;
    }
    material->base_color_image = m->loaded[source] >= 0 ? m->loaded[source] : -1;
    return sampler < 0 || read_sampler(reader, m, sampler, &material->base_color_sampler);
}

/* Which texture coordinates a textureInfo names, and how KHR_texture_transform moves them. */
static bool read_use(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *info,
                     pelt_gltf_texture_use *use)
{
    size_t set = 0;
    const json_t *transform = pelt_gltf_extension(info, "KHR_texture_transform");
    pelt_gltf_place inner = pelt_gltf_in(at, "extensions/KHR_texture_transform");
    *use = (pelt_gltf_texture_use){ .required = true, .scale = { 1, 1 } };
    if (!pelt_gltf_get_size(reader, at, info, "texCoord", &set) ||
        (transform &&
         (!pelt_gltf_is_object(reader, inner, transform) ||
          !pelt_gltf_get_size(reader, inner, transform, "texCoord", &set) ||
          !pelt_gltf_get_numbers(reader, inner, transform, "offset", 2, use->offset) ||
          !pelt_gltf_get_numbers(reader, inner, transform, "scale", 2, use->scale) ||
          !pelt_gltf_get_number(reader, inner, transform, "rotation", &use->rotation)))) {
        return false;
    }
    use->transformed = transform != NULL;
    use->set = set < UINT32_MAX ? (uint32_t)set : UINT32_MAX;
    return true;
}

static bool read_base_color(pelt_gltf_reader *reader, materials *m, pelt_gltf_place at,
                            const json_t *object, const char *factor, const char *texture,
                            pelt_material *material, pelt_gltf_texture_use *use)
{
    double color[4] = { 1, 1, 1, 1 };
    json_t *info;
    int32_t index = -1;
    if (!pelt_gltf_get_numbers(reader, at, object, factor, 4, color) ||
        !pelt_gltf_get_object(reader, at, object, texture, &info)) {
        return false;
    }
    for (unsigned i = 0; i < 4; i++) {
        double clamped = color[i] < 0 ? 0 : color[i] > 1 ? 1 : color[i];
        if (clamped != color[i]) {
            pelt_gltf_warn(reader, pelt_gltf_item(pelt_gltf_in(at, factor), i),
                           "is %g, not 0 to 1; clamped", color[i]);
        }
        material->base_color[i] = (float)clamped;
    }
    if (!info) {
        return true;
    }
    at = pelt_gltf_in(at, texture);
    return pelt_gltf_require(reader, at, info, "index") &&
           pelt_gltf_get_index(reader, at, info, "index", m->texture_count, "textures", &index) &&
           read_use(reader, at, info, use) && read_texture(reader, m, index, material);
}

static bool read_alpha(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                       pelt_material *material)
{
    static const char *const modes[] = { "OPAQUE", "MASK", "BLEND" };
    const char *mode = "OPAQUE";
    double cutoff = 0.5;
    if (!pelt_gltf_get_string(reader, at, object, "alphaMode", &mode) ||
        !pelt_gltf_get_number(reader, at, object, "alphaCutoff", &cutoff)) {
        return false;
    }
    material->alpha_cutoff = (float)cutoff;
    for (int i = 0; i < 3; i++) {
        if (strcmp(mode, modes[i]) == 0) {
            material->alpha_mode = (pelt_alpha_mode)i;
            return true;
        }
    }
    return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(at, "alphaMode"),
                          "is \"%.40s\", not OPAQUE, MASK or BLEND", mode);
}

static bool read_material(pelt_gltf_reader *reader, materials *m, pelt_gltf_place at,
                          const json_t *object, pelt_material *material, pelt_gltf_texture_use *use)
{
    json_t *pbr, *normal;
    *material = (pelt_material){ .base_color = { 1, 1, 1, 1 }, .base_color_image = -1 };
    if (!pelt_gltf_is_object(reader, at, object) ||
        !pelt_gltf_get_name(reader, at, object, "name", &material->name) ||
        !pelt_gltf_get_object(reader, at, object, "pbrMetallicRoughness", &pbr) ||
        !pelt_gltf_get_object(reader, at, object, "normalTexture", &normal) ||
        !read_alpha(reader, at, object, material) ||
        !pelt_gltf_get_bool(reader, at, object, "doubleSided", &material->double_sided)) {
        return false;
    }
    if (normal) {
        /* Tangents follow the normal map's coordinates unless a base colour has others. */
        if (!read_use(reader, pelt_gltf_in(at, "normalTexture"), normal, use)) {
            return false;
        }
        use->required = use->transformed = false;
        material->has_normal_map = true;
    }
    /* The older workflow's diffuse colour stands in for the base colour. */
    const json_t *glossiness = pelt_gltf_extension(object, "KHR_materials_pbrSpecularGlossiness");
    if (!pbr && json_is_object(glossiness)) {
        return read_base_color(reader, m,
                               pelt_gltf_in(at, "extensions/KHR_materials_pbrSpecularGlossiness"),
                               glossiness, "diffuseFactor", "diffuseTexture", material, use);
    }
    return !pbr || read_base_color(reader, m, pelt_gltf_in(at, "pbrMetallicRoughness"), pbr,
                                   "baseColorFactor", "baseColorTexture", material, use);
}

bool pelt_gltf_read_materials(pelt_gltf_reader *reader)
{
    pelt_model *model = reader->model;
    pelt_gltf_place root = pelt_gltf_at("%s", ""), at = pelt_gltf_in(root, "materials");
    materials m;
    json_t *array;
    uint32_t count;
    if (!pelt_gltf_get_array(reader, root, reader->root, "materials", &array, &count) ||
        !pelt_gltf_get_array(reader, root, reader->root, "textures", &m.textures,
                             &m.texture_count) ||
        !pelt_gltf_get_array(reader, root, reader->root, "images", &m.images, &m.image_count) ||
        !pelt_gltf_get_array(reader, root, reader->root, "samplers", &m.samplers,
                             &m.sampler_count)) {
        return false;
    }
    if (count == 0) {
        return true;
    }
    model->materials = pelt_gltf_keep(reader, at, count, sizeof(pelt_material));
    model->images = pelt_gltf_keep(reader, at, m.image_count, sizeof(pelt_image));
    m.loaded = pelt_gltf_borrow(reader, at, m.image_count, sizeof(*m.loaded));
    reader->texture_uses = pelt_gltf_borrow(reader, at, count, sizeof(*reader->texture_uses));
    if (!model->materials || !model->images || !m.loaded || !reader->texture_uses) {
        return false;
    }
    for (uint32_t i = 0; i < m.image_count; i++) {
        m.loaded[i] = -1;
    }
    model->material_count = count;
    for (uint32_t i = 0; i < count; i++) {
        if (!read_material(reader, &m, pelt_gltf_item(at, i), json_array_get(array, i),
                           &model->materials[i], &reader->texture_uses[i])) {
            return false;
        }
    }
    return true;
}
