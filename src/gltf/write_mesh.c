/* Meshes and their materials for the writer. */
#include "gltf/write.h"

#include <math.h>

static uint32_t add_attribute(pelt_writer *writer, pelt_view_kind kind, const float *values,
                              uint32_t count, uint32_t width)
{
    static const char *const types[] = { [2] = "VEC2", [3] = "VEC3", [4] = "VEC4" };
    pelt_view view = { .kind = kind,
                       .source = values,
                       .count = count,
                       .element_size = width * sizeof(float),
                       .target = GL_ARRAY_BUFFER };
    return pelt_writer_accessor(writer, &view, GL_FLOAT, types[width], count);
}

static uint32_t add_positions(pelt_writer *writer, const float *positions, uint32_t count)
{
    double min[3] = { INFINITY, INFINITY, INFINITY };
    double max[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (size_t i = 0; i < 3 * (size_t)count; i++) {
        min[i % 3] = fmin(min[i % 3], (double)positions[i]);
        max[i % 3] = fmax(max[i % 3], (double)positions[i]);
    }
    uint32_t accessor = add_attribute(writer, PELT_VIEW_RAW, positions, count, 3);
    pelt_writer_bounds(writer, accessor, min, max, 3);
    return accessor;
}

static bool needs_wide_joints(const pelt_primitive *primitive)
{
    size_t count = (size_t)primitive->vertex_count * primitive->influence_count;
    for (size_t i = 0; i < count; i++) {
        if (primitive->joints[i] > 255 && primitive->weights[i] > 0) {
            return true;
        }
    }
    return false;
}

static void set_influences(pelt_writer *writer, json_t *attributes, const pelt_primitive *primitive)
{
    bool wide = needs_wide_joints(primitive);
    for (uint32_t set = 0; set < primitive->influence_count / 4; set++) {
        char key[32];
        pelt_view view = { .kind = wide ? PELT_VIEW_JOINTS_16 : PELT_VIEW_JOINTS_8,
                           .primitive = primitive,
                           .set = set,
                           .count = primitive->vertex_count,
                           .element_size = wide ? 8 : 4,
                           .target = GL_ARRAY_BUFFER };
        uint32_t joints =
            pelt_writer_accessor(writer, &view, wide ? GL_UNSIGNED_SHORT : GL_UNSIGNED_BYTE, "VEC4",
                                 primitive->vertex_count);
        view.kind = PELT_VIEW_WEIGHTS;
        view.element_size = 16;
        uint32_t weights =
            pelt_writer_accessor(writer, &view, GL_FLOAT, "VEC4", primitive->vertex_count);
        (void)snprintf(key, sizeof(key), "JOINTS_%u", set);
        pelt_writer_set(writer, attributes, key, json_integer(joints));
        (void)snprintf(key, sizeof(key), "WEIGHTS_%u", set);
        pelt_writer_set(writer, attributes, key, json_integer(weights));
    }
}

static json_t *make_attributes(pelt_writer *writer, const pelt_primitive *primitive)
{
    uint32_t count = primitive->vertex_count;
    json_t *attributes = json_object();
    pelt_writer_set(writer, attributes, "POSITION",
                    json_integer(add_positions(writer, primitive->positions, count)));
    if (primitive->normals) {
        pelt_writer_set(
            writer, attributes, "NORMAL",
            json_integer(add_attribute(writer, PELT_VIEW_NORMALS, primitive->normals, count, 3)));
    }
    if (primitive->tangents) {
        pelt_writer_set(
            writer, attributes, "TANGENT",
            json_integer(add_attribute(writer, PELT_VIEW_TANGENTS, primitive->tangents, count, 4)));
    }
    if (primitive->texcoords) {
        pelt_writer_set(
            writer, attributes, "TEXCOORD_0",
            json_integer(add_attribute(writer, PELT_VIEW_RAW, primitive->texcoords, count, 2)));
    }
    if (primitive->colors) {
        pelt_writer_set(
            writer, attributes, "COLOR_0",
            json_integer(add_attribute(writer, PELT_VIEW_COLORS, primitive->colors, count, 4)));
    }
    set_influences(writer, attributes, primitive);
    return attributes;
}

/* Only what the primitive has itself may be displaced. A target without anything keeps its place by
 * positions that are all zero, for which an accessor needs no bytes. */
static json_t *make_target(pelt_writer *writer, const pelt_primitive *primitive,
                           const pelt_morph_target *target)
{
    static const double zero[3] = { 0 };
    uint32_t count = primitive->vertex_count;
    json_t *object = json_object();
    if (target->positions) {
        pelt_writer_set(writer, object, "POSITION",
                        json_integer(add_positions(writer, target->positions, count)));
    }
    if (target->normals && primitive->normals) {
        pelt_writer_set(
            writer, object, "NORMAL",
            json_integer(add_attribute(writer, PELT_VIEW_RAW, target->normals, count, 3)));
    }
    if (target->tangents && primitive->tangents) {
        pelt_writer_set(
            writer, object, "TANGENT",
            json_integer(add_attribute(writer, PELT_VIEW_RAW, target->tangents, count, 3)));
    }
    if (json_object_size(object) == 0) {
        uint32_t accessor = pelt_writer_accessor(writer, NULL, GL_FLOAT, "VEC3", count);
        pelt_writer_bounds(writer, accessor, zero, zero, 3);
        pelt_writer_set(writer, object, "POSITION", json_integer(accessor));
    }
    return object;
}

/* 16 bits where no index is 65,535, which would restart a strip. */
static uint32_t add_indices(pelt_writer *writer, const pelt_primitive *primitive)
{
    bool narrow = primitive->vertex_count <= UINT16_MAX;
    pelt_view view = { .kind = narrow ? PELT_VIEW_INDICES_16 : PELT_VIEW_RAW,
                       .source = primitive->indices,
                       .count = primitive->index_count,
                       .element_size = narrow ? 2 : 4,
                       .target = GL_ELEMENT_ARRAY_BUFFER };
    return pelt_writer_accessor(writer, &view, narrow ? GL_UNSIGNED_SHORT : GL_UNSIGNED_INT,
                                "SCALAR", primitive->index_count);
}

static void set_texture(pelt_writer *writer, json_t *root, json_t *surface,
                        const pelt_material *material)
{
    static const char *const keys[] = { "magFilter", "minFilter", "wrapS", "wrapT" };
    const pelt_texture_sampler *given = &material->base_color_sampler;
    const uint32_t values[] = { given->mag_filter, given->min_filter, given->wrap_s,
                                given->wrap_t };
    json_t *texture = json_object(), *reference = json_object(), *sampler = json_object();
    for (int i = 0; i < 4; i++) {
        if (values[i]) {
            pelt_writer_set(writer, sampler, keys[i], json_integer(values[i]));
        }
    }
    if (json_object_size(sampler) > 0) {
        uint32_t index = pelt_writer_append(writer, json_object_get(root, "samplers"), sampler);
        pelt_writer_set(writer, texture, "sampler", json_integer(index));
    } else {
        json_decref(sampler);
    }
    pelt_writer_set(writer, texture, "source", json_integer(material->base_color_image));
    uint32_t index = pelt_writer_append(writer, json_object_get(root, "textures"), texture);
    pelt_writer_set(writer, reference, "index", json_integer(index));
    pelt_writer_set(writer, surface, "baseColorTexture", reference);
}

/* The model knows the base colour alone; a dielectric of some roughness shows that best. */
static json_t *make_material(pelt_writer *writer, json_t *root, const pelt_material *material,
                             bool textured)
{
    json_t *object = json_object(), *surface = json_object();
    double factor[4];
    for (int i = 0; i < 4; i++) {
        factor[i] = fmin(fmax((double)material->base_color[i], 0), 1);
    }
    pelt_writer_set_name(writer, object, material->name);
    pelt_writer_set(writer, surface, "baseColorFactor", pelt_writer_numbers(writer, factor, 4));
    pelt_writer_set(writer, surface, "metallicFactor", json_integer(0));
    if (textured && material->base_color_image >= 0) {
        set_texture(writer, root, surface, material);
    }
    pelt_writer_set(writer, object, "pbrMetallicRoughness", surface);
    if (material->alpha_mode == PELT_ALPHA_MASK) {
        double cutoff = (double)material->alpha_cutoff;
        pelt_writer_set(writer, object, "alphaMode", json_string("MASK"));
        pelt_writer_set(writer, object, "alphaCutoff", json_real(fmax(cutoff, 0)));
    } else if (material->alpha_mode == PELT_ALPHA_BLEND) {
        pelt_writer_set(writer, object, "alphaMode", json_string("BLEND"));
    }
    if (material->double_sided) {
        pelt_writer_set(writer, object, "doubleSided", json_true());
    }
    return object;
}

/* The written material of a primitive. Without texcoords it cannot use a texture; then a copy
 * without one, made once and noted in plain (index plus 1), takes its place. */
static uint32_t choose_material(pelt_writer *writer, json_t *root, const pelt_primitive *primitive,
                                uint32_t *plain)
{
    uint32_t index = (uint32_t)primitive->material;
    const pelt_material *material = &writer->model->materials[index];
    if (primitive->texcoords || material->base_color_image < 0) {
        return index;
    }
    if (plain[index] == 0) {
        plain[index] = 1 + pelt_writer_append(writer, json_object_get(root, "materials"),
                                              make_material(writer, root, material, false));
    }
    return plain[index] - 1;
}

static json_t *make_primitive(pelt_writer *writer, json_t *root, const pelt_primitive *primitive,
                              uint32_t *plain)
{
    json_t *object = json_object(), *targets = json_array();
    pelt_writer_set(writer, object, "attributes", make_attributes(writer, primitive));
    if (primitive->index_count) {
        pelt_writer_set(writer, object, "indices", json_integer(add_indices(writer, primitive)));
    }
    if (primitive->topology != PELT_TRIANGLES) {
        pelt_writer_set(writer, object, "mode", json_integer((json_int_t)primitive->topology));
    }
    if (primitive->material >= 0) {
        pelt_writer_set(writer, object, "material",
                        json_integer(choose_material(writer, root, primitive, plain)));
    }
    for (uint32_t t = 0; t < primitive->target_count; t++) {
        (void)pelt_writer_append(writer, targets,
                                 make_target(writer, primitive, &primitive->targets[t]));
    }
    if (primitive->target_count) {
        pelt_writer_set(writer, object, "targets", targets);
    } else {
        json_decref(targets);
    }
    return object;
}

static json_t *make_mesh(pelt_writer *writer, json_t *root, uint32_t index, uint32_t *plain)
{
    const pelt_mesh *mesh = &writer->model->meshes[index];
    json_t *object = json_object(), *primitives = json_array();
    pelt_writer_set_name(writer, object, mesh->name);
    if (mesh->primitive_count == 0) {
        char pointer[40];
        (void)snprintf(pointer, sizeof(pointer), "/meshes/%u/primitives", index);
        pelt_writer_fail(writer, PELT_ERROR_ARGUMENT, pointer, "a mesh has no primitives");
    }
    for (uint32_t i = 0; i < mesh->primitive_count; i++) {
        (void)pelt_writer_append(writer, primitives,
                                 make_primitive(writer, root, &mesh->primitives[i], plain));
    }
    pelt_writer_set(writer, object, "primitives", primitives);
    if (mesh->weight_count) {
        pelt_writer_set(writer, object, "weights",
                        pelt_writer_numbers(writer, mesh->weights, mesh->weight_count));
    }
    return object;
}

void pelt_writer_set_meshes(pelt_writer *writer, json_t *root)
{
    static const char *const optional[] = { "meshes", "materials", "textures", "samplers" };
    const pelt_model *model = writer->model;
    uint32_t *plain = pelt_allocate(writer->host, model->material_count, sizeof(*plain));
    if (!plain) {
        pelt_writer_fail(writer, PELT_ERROR_MEMORY, NULL, "no memory for the materials");
        return;
    }
    for (int i = 0; i < 4; i++) {
        pelt_writer_set(writer, root, optional[i], json_array());
    }
    for (uint32_t i = 0; i < model->material_count; i++) {
        (void)pelt_writer_append(writer, json_object_get(root, "materials"),
                                 make_material(writer, root, &model->materials[i], true));
    }
    for (uint32_t i = 0; i < model->mesh_count; i++) {
        (void)pelt_writer_append(writer, json_object_get(root, "meshes"),
                                 make_mesh(writer, root, i, plain));
    }
    for (int i = 0; i < 4; i++) {
        if (json_array_size(json_object_get(root, optional[i])) == 0) {
            (void)json_object_del(root, optional[i]);
        }
    }
    pelt_release(writer->host, plain);
}
