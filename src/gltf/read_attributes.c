/* A primitive's vertices, without influences. */
#include "reader.h"

#include <float.h>
#include <math.h>

enum {
    SIGNED_NORM = PELT_GLTF_I8_NORM | PELT_GLTF_I16_NORM,
    UNSIGNED_NORM = PELT_GLTF_U8_NORM | PELT_GLTF_U16_NORM,
    WHOLE = PELT_GLTF_I8 | PELT_GLTF_U8 | PELT_GLTF_I16 | PELT_GLTF_U16
};

/* How far a direction's length may be from 1 before the repair is worth a word; the official
 * validator's limit. Integers are coarser, and always normalized in silence. */
static const double length_tolerance = 0.00674;

bool pelt_gltf_get_attribute(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *attributes,
                             const char *name, uint32_t width, unsigned formats, uint32_t count,
                             int32_t *out)
{
    *out = -1;
    if (!pelt_gltf_get_index(reader, at, attributes, name, reader->accessor_count, "accessors",
                             out)) {
        return false;
    }
    if (*out < 0) {
        return true;
    }
    at = pelt_gltf_in(at, name);
    uint32_t have = reader->accessors[*out].count;
    if (!pelt_gltf_expect(reader, at, (uint32_t)*out, width, formats)) {
        return false;
    }
    if (have == 0) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, at, "/accessors/%d has no elements", *out);
    }
    return count == 0 || have == count ||
           pelt_gltf_fail(reader, PELT_ERROR_FILE, at,
                          "/accessors/%d has %u elements, but there are %u vertices", *out, have,
                          count);
}

/* Reads an attribute that may be absent. */
static bool read_floats(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *attributes,
                        const char *name, uint32_t width, unsigned formats, uint32_t count,
                        float **out, int32_t *accessor)
{
    if (!pelt_gltf_get_attribute(reader, at, attributes, name, width, formats, count, accessor)) {
        return false;
    }
    if (*accessor >= 0) {
        *out = pelt_gltf_read_floats(reader, pelt_gltf_in(at, name), (uint32_t)*accessor);
    }
    return *accessor < 0 || *out;
}

/* Makes v a unit vector; false if it has no direction. *off counts lengths far from 1. */
static bool normalize(float v[3], bool strict, uint32_t *off)
{
    double x = v[0], y = v[1], z = v[2];
    double length = sqrt(x * x + y * y + z * z);
    if (length < FLT_MIN) {
        v[0] = v[1] = v[2] = 0;
        return false;
    }
    *off += strict && fabs(length - 1) > length_tolerance;
    v[0] = (float)(x / length);
    v[1] = (float)(y / length);
    v[2] = (float)(z / length);
    return true;
}

static bool read_normals(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *attributes,
                         pelt_primitive *primitive)
{
    unsigned formats = PELT_GLTF_FLOAT | (reader->quantization ? SIGNED_NORM : 0u);
    int32_t accessor;
    if (!read_floats(reader, at, attributes, "NORMAL", 3, formats, primitive->vertex_count,
                     &primitive->normals, &accessor)) {
        return false;
    }
    if (accessor < 0) {
        return true;
    }
    bool strict = reader->accessors[accessor].format == PELT_GLTF_FLOAT;
    uint32_t zeros = 0, off = 0;
    for (size_t i = 0; i < primitive->vertex_count; i++) {
        zeros += !normalize(primitive->normals + 3 * i, strict, &off);
    }
    at = pelt_gltf_in(at, "NORMAL");
    if (zeros) {
        pelt_gltf_warn(reader, at, "%u of %u normals are zero and stay so", zeros,
                       primitive->vertex_count);
    }
    if (off) {
        pelt_gltf_warn(reader, at, "%u of %u normals did not have length 1; normalized", off,
                       primitive->vertex_count);
    }
    return true;
}

/* Some unit vector at right angles to the normal. */
static void replace_tangent(const float *normal, float tangent[3])
{
    double n[3] = { 0, 0, 1 };
    if (normal && (normal[0] != 0 || normal[1] != 0 || normal[2] != 0)) {
        for (unsigned k = 0; k < 3; k++) {
            n[k] = normal[k];
        }
    }
    /* The axis least along the normal, less its part along it. */
    unsigned axis = fabs(n[0]) <= fabs(n[1]) && fabs(n[0]) <= fabs(n[2]) ? 0
                    : fabs(n[1]) <= fabs(n[2])                           ? 1
                                                                         : 2;
    for (unsigned k = 0; k < 3; k++) {
        tangent[k] = (float)((k == axis ? 1.0 : 0.0) - n[axis] * n[k]);
    }
    uint32_t ignored = 0;
    (void)normalize(tangent, false, &ignored);
}

static bool read_tangents(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *attributes,
                          pelt_primitive *primitive)
{
    unsigned formats = PELT_GLTF_FLOAT | (reader->quantization ? SIGNED_NORM : 0u);
    int32_t accessor;
    if (!read_floats(reader, at, attributes, "TANGENT", 4, formats, primitive->vertex_count,
                     &primitive->tangents, &accessor)) {
        return false;
    }
    if (accessor < 0) {
        return true;
    }
    bool strict = reader->accessors[accessor].format == PELT_GLTF_FLOAT;
    uint32_t zeros = 0, off = 0, signs = 0;
    for (size_t i = 0; i < primitive->vertex_count; i++) {
        float *tangent = primitive->tangents + 4 * i;
        if (!normalize(tangent, strict, &off)) {
            replace_tangent(primitive->normals ? primitive->normals + 3 * i : NULL, tangent);
            zeros++;
        }
        signs += tangent[3] != 1.0f && tangent[3] != -1.0f;
        tangent[3] = tangent[3] < 0 ? -1.0f : 1.0f;
    }
    at = pelt_gltf_in(at, "TANGENT");
    if (zeros) {
        pelt_gltf_warn(reader, at, "%u of %u tangents are zero; replaced", zeros,
                       primitive->vertex_count);
    }
    if (off) {
        pelt_gltf_warn(reader, at, "%u of %u tangents did not have length 1; normalized", off,
                       primitive->vertex_count);
    }
    if (signs) {
        pelt_gltf_warn(reader, at,
                       "%u of %u tangents had a w other than 1 or -1; replaced by its "
                       "sign",
                       signs, primitive->vertex_count);
    }
    return true;
}

static bool read_texcoords(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *attributes,
                           pelt_primitive *primitive)
{
    unsigned formats = PELT_GLTF_FLOAT | UNSIGNED_NORM |
                       (reader->quantization ? (unsigned)WHOLE | SIGNED_NORM : 0u);
    pelt_gltf_texture_use use = { 0 };
    char name[32];
    int32_t accessor;
    if (primitive->material >= 0) {
        use = reader->texture_uses[primitive->material];
    }
    (void)snprintf(name, sizeof(name), "TEXCOORD_%u", use.set);
    if (!read_floats(reader, at, attributes, name, 2, formats, primitive->vertex_count,
                     &primitive->texcoords, &accessor)) {
        return false;
    }
    if (accessor < 0 && use.required) {
        pelt_gltf_warn(reader, at, "has no %s, which the base-colour texture of /materials/%d uses",
                       name, primitive->material);
    }
    if (accessor < 0 || !use.transformed) {
        return true;
    }
    /* Scale, then rotate counter-clockwise as seen with v pointing down, then move. */
    double c = cos(use.rotation), s = sin(use.rotation);
    for (size_t i = 0; i < primitive->vertex_count; i++) {
        float *uv = primitive->texcoords + 2 * i;
        double u = uv[0] * use.scale[0], v = uv[1] * use.scale[1];
        const double moved[2] = { c * u + s * v + use.offset[0], c * v - s * u + use.offset[1] };
        for (unsigned k = 0; k < 2; k++) {
            if (!(fabs(moved[k]) <= PELT_MAGNITUDE_MAX)) {
                return pelt_gltf_fail(reader, PELT_ERROR_RANGE, pelt_gltf_in(at, name),
                                      "vertex %zu: the transformed coordinate is beyond 1e18", i);
            }
            uv[k] = (float)moved[k];
        }
    }
    return true;
}

static bool read_colors(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *attributes,
                        pelt_primitive *primitive)
{
    int32_t accessor = -1;
    if (!pelt_gltf_get_index(reader, at, attributes, "COLOR_0", reader->accessor_count, "accessors",
                             &accessor)) {
        return false;
    }
    if (accessor < 0) {
        return true;
    }
    uint32_t width = reader->accessors[accessor].width == 3 ? 3 : 4;
    if (!pelt_gltf_get_attribute(reader, at, attributes, "COLOR_0", width,
                                 PELT_GLTF_FLOAT | UNSIGNED_NORM, primitive->vertex_count,
                                 &accessor)) {
        return false;
    }
    at = pelt_gltf_in(at, "COLOR_0");
    primitive->colors = pelt_gltf_keep(reader, at, primitive->vertex_count, 4 * sizeof(float));
    if (!primitive->colors ||
        !pelt_gltf_unpack_floats(reader, (uint32_t)accessor, primitive->colors, 4) ||
        !pelt_gltf_check_floats(reader, at, (uint32_t)accessor, primitive->colors, 4)) {
        return false;
    }
    for (size_t i = 0; width == 3 && i < primitive->vertex_count; i++) {
        primitive->colors[4 * i + 3] = 1;
    }
    return true;
}

bool pelt_gltf_read_attributes(pelt_gltf_reader *reader, pelt_gltf_place at,
                               const json_t *attributes, pelt_primitive *primitive)
{
    unsigned formats = PELT_GLTF_FLOAT |
                       (reader->quantization ? (unsigned)WHOLE | SIGNED_NORM | UNSIGNED_NORM : 0u);
    int32_t accessor;
    at = pelt_gltf_in(at, "attributes");
    if (!json_object_get(attributes, "POSITION")) {
        return pelt_gltf_fail(reader, PELT_ERROR_UNSUPPORTED, at,
                              "has no POSITION; pelt needs vertices that are somewhere");
    }
    if (!pelt_gltf_get_attribute(reader, at, attributes, "POSITION", 3, formats, 0, &accessor)) {
        return false;
    }
    primitive->vertex_count = reader->accessors[accessor].count;
    return read_floats(reader, at, attributes, "POSITION", 3, formats, primitive->vertex_count,
                       &primitive->positions, &accessor) &&
           read_normals(reader, at, attributes, primitive) &&
           read_tangents(reader, at, attributes, primitive) &&
           read_texcoords(reader, at, attributes, primitive) &&
           read_colors(reader, at, attributes, primitive);
}

bool pelt_gltf_read_targets(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *targets,
                            pelt_primitive *primitive)
{
    static const char *const names[] = { "POSITION", "NORMAL", "TANGENT" };
    if (primitive->target_count == 0) {
        return true;
    }
    at = pelt_gltf_in(at, "targets");
    primitive->targets =
        pelt_gltf_keep(reader, at, primitive->target_count, sizeof(*primitive->targets));
    if (!primitive->targets) {
        return false;
    }
    uint32_t others = 0;
    for (uint32_t t = 0; t < primitive->target_count; t++) {
        const json_t *object = json_array_get(targets, t);
        pelt_gltf_place item = pelt_gltf_item(at, t);
        pelt_morph_target *target = &primitive->targets[t];
        float **const arrays[] = { &target->positions, &target->normals, &target->tangents };
        const float *const bases[] = { primitive->positions, primitive->normals,
                                       primitive->tangents };
        if (!pelt_gltf_is_object(reader, item, object)) {
            return false;
        }
        uint32_t known = 0;
        for (unsigned k = 0; k < 3; k++) {
            unsigned whole = k == 0 ? PELT_GLTF_I8 | PELT_GLTF_I16 : 0u;
            unsigned formats = PELT_GLTF_FLOAT | (reader->quantization ? SIGNED_NORM | whole : 0u);
            int32_t accessor;
            if (!read_floats(reader, item, object, names[k], 3, formats, primitive->vertex_count,
                             arrays[k], &accessor)) {
                return false;
            }
            known += accessor >= 0;
            if (accessor >= 0 && !bases[k]) {
                return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(item, names[k]),
                                      "the primitive itself has no %s", names[k]);
            }
        }
        others += json_object_size(object) > known;
    }
    if (others) {
        pelt_gltf_warn(reader, at,
                       "%u of %u targets move colours or texture coordinates; pelt "
                       "moves positions, normals and tangents only",
                       others, primitive->target_count);
    }
    return true;
}
