/* Meshes and their primitives; the parts of a primitive have files of their own. */
#include "reader.h"

static bool is_restart(pelt_gltf_format format, uint32_t index)
{
    return format == PELT_GLTF_U8    ? index == UINT8_MAX
           : format == PELT_GLTF_U16 ? index == UINT16_MAX
                                     : index == UINT32_MAX;
}

static bool read_indices(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                         pelt_primitive *primitive)
{
    int32_t accessor = -1;
    if (!pelt_gltf_get_index(reader, at, object, "indices", reader->accessor_count, "accessors",
                             &accessor)) {
        return false;
    }
    if (accessor < 0) {
        return true;
    }
    at = pelt_gltf_in(at, "indices");
    if (!pelt_gltf_expect(reader, at, (uint32_t)accessor, 1,
                          PELT_GLTF_U8 | PELT_GLTF_U16 | PELT_GLTF_U32)) {
        return false;
    }
    pelt_gltf_warn_strided(reader, at, (uint32_t)accessor);
    const pelt_gltf_accessor *source = &reader->accessors[accessor];
    if (source->count == 0) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, at, "/accessors/%d has no elements",
                              accessor);
    }
    uint32_t *indices = pelt_gltf_keep(reader, at, source->count, sizeof(*indices));
    if (!indices || !pelt_gltf_unpack_u32(reader, (uint32_t)accessor, indices)) {
        return false;
    }
    for (uint32_t i = 0; i < source->count; i++) {
        if (is_restart(source->format, indices[i])) {
            return pelt_gltf_fail(reader, PELT_ERROR_FILE, at,
                                  "index %u of /accessors/%d is %u, which would restart the "
                                  "primitive; glTF forbids it",
                                  i, accessor, indices[i]);
        }
        if (indices[i] >= primitive->vertex_count) {
            return pelt_gltf_fail(reader, PELT_ERROR_FILE, at,
                                  "index %u of /accessors/%d is %u, but there are %u vertices", i,
                                  accessor, indices[i], primitive->vertex_count);
        }
    }
    primitive->index_count = source->count;
    primitive->indices = indices;
    return true;
}

/* Points, lines or triangles that are not whole are not drawn. */
static void check_count(pelt_gltf_reader *reader, pelt_gltf_place at,
                        const pelt_primitive *primitive)
{
    static const uint32_t least[] = { 1, 2, 2, 2, 3, 3, 3 };
    uint32_t count = primitive->index_count ? primitive->index_count : primitive->vertex_count;
    uint32_t whole = primitive->topology == PELT_TRIANGLES ? 3
                     : primitive->topology == PELT_LINES   ? 2
                                                           : 1;
    if (count < least[primitive->topology] || count % whole != 0) {
        pelt_gltf_warn(reader, at, "%u vertices or indices are not a whole number of %s", count,
                       primitive->topology >= PELT_TRIANGLES ? "triangles" : "lines");
    }
}

/* Draco data is only an alternative here (a required one was refused), but some files leave the
 * accessors it stands for without data. */
static bool check_draco(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                        const json_t *attributes)
{
    static const char name[] = "KHR_draco_mesh_compression";
    int32_t accessor = -1;
    if (!pelt_gltf_extension(object, name)) {
        return true;
    }
    if (!pelt_gltf_get_index(reader, pelt_gltf_in(at, "attributes"), attributes, "POSITION",
                             reader->accessor_count, "accessors", &accessor)) {
        return false;
    }
    if (accessor >= 0 && reader->accessors[accessor].view < 0 &&
        reader->accessors[accessor].sparse_count == 0) {
        return pelt_gltf_fail(reader, PELT_ERROR_UNSUPPORTED,
                              pelt_gltf_in(pelt_gltf_in(at, "extensions"), name),
                              "the vertices exist only as %s, which pelt does not have", name);
    }
    return true;
}

static bool read_primitive(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                           uint32_t mesh, pelt_primitive *primitive)
{
    json_t *attributes, *targets;
    size_t mode = PELT_TRIANGLES;
    primitive->material = -1;
    if (!pelt_gltf_is_object(reader, at, object) ||
        !pelt_gltf_require(reader, at, object, "attributes") ||
        !pelt_gltf_get_object(reader, at, object, "attributes", &attributes) ||
        !pelt_gltf_get_size(reader, at, object, "mode", &mode) ||
        !pelt_gltf_get_index(reader, at, object, "material", reader->model->material_count,
                             "materials", &primitive->material) ||
        !pelt_gltf_get_array(reader, at, object, "targets", &targets, &primitive->target_count) ||
        !check_draco(reader, at, object, attributes)) {
        return false;
    }
    if (mode > PELT_TRIANGLE_FAN) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(at, "mode"),
                              "is %zu, not 0 to 6", mode);
    }
    primitive->topology = (pelt_topology)mode;
    if (!pelt_gltf_read_attributes(reader, at, attributes, primitive) ||
        !pelt_gltf_read_influences(reader, at, attributes, mesh, primitive) ||
        !read_indices(reader, at, object, primitive) ||
        !pelt_gltf_read_targets(reader, at, targets, primitive)) {
        return false;
    }
    check_count(reader, at, primitive);
    return true;
}

static bool read_weights(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                         pelt_mesh *mesh)
{
    json_t *array;
    uint32_t targets = mesh->primitives[0].target_count;
    if (!pelt_gltf_get_array(reader, at, object, "weights", &array, &mesh->weight_count)) {
        return false;
    }
    if (mesh->weight_count == 0) {
        return true;
    }
    if (mesh->weight_count != targets) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(at, "weights"),
                              "has %u numbers, but the mesh has %u morph targets",
                              mesh->weight_count, targets);
    }
    mesh->weights = pelt_gltf_keep(reader, at, targets, sizeof(*mesh->weights));
    return mesh->weights &&
           pelt_gltf_get_numbers(reader, at, object, "weights", targets, mesh->weights);
}

static bool read_mesh(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                      uint32_t index)
{
    pelt_mesh *mesh = &reader->model->meshes[index];
    json_t *array;
    uint32_t count;
    if (!pelt_gltf_is_object(reader, at, object) ||
        !pelt_gltf_get_name(reader, at, object, "name", &mesh->name) ||
        !pelt_gltf_require(reader, at, object, "primitives") ||
        !pelt_gltf_get_array(reader, at, object, "primitives", &array, &count)) {
        return false;
    }
    pelt_gltf_place primitives = pelt_gltf_in(at, "primitives");
    if (count == 0) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, primitives, "is empty");
    }
    mesh->primitives = pelt_gltf_keep(reader, primitives, count, sizeof(pelt_primitive));
    if (!mesh->primitives) {
        return false;
    }
    mesh->primitive_count = count;
    for (uint32_t i = 0; i < count; i++) {
        pelt_primitive *primitive = &mesh->primitives[i];
        pelt_gltf_place place = pelt_gltf_item(primitives, i);
        if (!read_primitive(reader, place, json_array_get(array, i), index, primitive)) {
            return false;
        }
        if (primitive->target_count != mesh->primitives[0].target_count) {
            return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(place, "targets"),
                                  "has %u morph targets, but the first primitive has %u",
                                  primitive->target_count, mesh->primitives[0].target_count);
        }
    }
    return read_weights(reader, at, object, mesh);
}

bool pelt_gltf_read_meshes(pelt_gltf_reader *reader)
{
    pelt_gltf_place root = pelt_gltf_at("%s", ""), at = pelt_gltf_in(root, "meshes");
    json_t *array;
    uint32_t count;
    if (!pelt_gltf_get_array(reader, root, reader->root, "meshes", &array, &count)) {
        return false;
    }
    if (count == 0) {
        return true;
    }
    reader->model->meshes = pelt_gltf_keep(reader, at, count, sizeof(pelt_mesh));
    if (!reader->model->meshes) {
        return false;
    }
    reader->model->mesh_count = count;
    for (uint32_t i = 0; i < count; i++) {
        if (!read_mesh(reader, pelt_gltf_item(at, i), json_array_get(array, i), i)) {
            return false;
        }
    }
    return true;
}
