/* A primitive's influences: every set of JOINTS_n and WEIGHTS_n, as many as there are. */
#include "reader.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* What a sum of float weights may be off by for each weight that is not zero: glTF's allowance. */
static const double sum_tolerance = 2e-7;

/* JOINTS_n or WEIGHTS_n of the set that a slot belongs to, and its accessor, which is checked. */
static unsigned name_set(const json_t *attributes, const char *prefix, uint32_t slot, char name[24])
{
    (void)snprintf(name, 24, "%s%u", prefix, slot / 4);
    return (unsigned)json_number_value(json_object_get(attributes, name));
}

static uint32_t count_sets(const json_t *attributes, const char *prefix)
{
    const char *key;
    json_t *value;
    uint32_t count = 0;
    json_object_foreach((json_t *)(uintptr_t)attributes, key, value)
    {
        count += strncmp(key, prefix, strlen(prefix)) == 0;
    }
    return count;
}

/* How many sets there are; an error if they do not pair up or numbers are left out. */
static bool find_sets(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *attributes,
                      uint32_t *out)
{
    uint32_t joints = count_sets(attributes, "JOINTS_");
    uint32_t weights = count_sets(attributes, "WEIGHTS_");
    *out = joints > weights ? joints : weights;
    for (uint32_t n = 0; n < *out; n++) {
        char names[2][24];
        (void)snprintf(names[0], sizeof(names[0]), "JOINTS_%u", n);
        (void)snprintf(names[1], sizeof(names[1]), "WEIGHTS_%u", n);
        bool has[2] = { json_object_get(attributes, names[0]) != NULL,
                        json_object_get(attributes, names[1]) != NULL };
        if (!has[0] && !has[1]) {
            return pelt_gltf_fail(reader, PELT_ERROR_FILE, at,
                                  "has %u sets of influences, but no %s: sets must be numbered "
                                  "from 0 without a gap",
                                  *out, names[0]);
        }
        if (!has[0] || !has[1]) {
            return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(at, names[!has[0]]),
                                  "there is no %s beside it", names[has[0]]);
        }
    }
    return true;
}

/* scale: what an integer weight of 1 is in the file, the same for all sets; 0 for floats. */
static bool unpack_sets(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *attributes,
                        pelt_primitive *primitive, double *scale)
{
    uint32_t slots = primitive->influence_count;
    pelt_gltf_format first = PELT_GLTF_FLOAT;
    bool mixed = false;
    for (uint32_t n = 0; n < slots / 4; n++) {
        char name[24];
        int32_t joints, weights;
        (void)snprintf(name, sizeof(name), "JOINTS_%u", n);
        if (!pelt_gltf_get_attribute(reader, at, attributes, name, 4, PELT_GLTF_U8 | PELT_GLTF_U16,
                                     primitive->vertex_count, &joints) ||
            !pelt_gltf_unpack_u16(reader, (uint32_t)joints, primitive->joints + 4 * (size_t)n,
                                  slots)) {
            return false;
        }
        (void)snprintf(name, sizeof(name), "WEIGHTS_%u", n);
        if (!pelt_gltf_get_attribute(reader, at, attributes, name, 4,
                                     PELT_GLTF_FLOAT | PELT_GLTF_U8_NORM | PELT_GLTF_U16_NORM,
                                     primitive->vertex_count, &weights) ||
            !pelt_gltf_unpack_floats(reader, (uint32_t)weights, primitive->weights + 4 * (size_t)n,
                                     slots)) {
            return false;
        }
        pelt_gltf_format format = reader->accessors[weights].format;
        first = n == 0 ? format : first;
        mixed |= format != first;
    }
    *scale = mixed ? 0 : first == PELT_GLTF_U8_NORM ? 255 : first == PELT_GLTF_U16_NORM ? 65535 : 0;
    return true;
}

static bool check_weights(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *attributes,
                          const pelt_primitive *primitive)
{
    uint32_t slots = primitive->influence_count, bad = 0;
    size_t first = 0;
    for (size_t v = 0; v < primitive->vertex_count; v++) {
        const float *weights = primitive->weights + v * slots;
        uint32_t slot = 0;
        while (slot < slots && weights[slot] >= 0 && weights[slot] <= FLT_MAX) {
            slot++;
        }
        if (slot < slots && bad++ == 0) {
            first = v * slots + slot;
        }
    }
    if (bad == 0) {
        return true;
    }
    char name[24];
    unsigned accessor = name_set(attributes, "WEIGHTS_", (uint32_t)(first % slots), name);
    return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(at, name),
                          "vertex %zu has the weight %g, which is not a finite number >= 0; %u of "
                          "%u vertices are like that (/accessors/%u)",
                          first / slots, (double)primitive->weights[first], bad,
                          primitive->vertex_count, accessor);
}

/* What was done to the weights of a primitive, to be told once. */
typedef struct repairs {
    uint32_t zero;  /* vertices without any weight */
    uint32_t off;   /* whose sum was not 1 */
    double largest; /* the largest difference from 1 among them */
} repairs;

static void repair_vertex(float *weights, uint32_t slots, double scale, repairs *done)
{
    double sum = 0, codes = 0;
    uint32_t used = 0;
    for (uint32_t k = 0; k < slots; k++) {
        sum += weights[k];
        codes += round(weights[k] * scale);
        used += weights[k] > 0;
    }
    if (used == 0) {
        weights[0] = 1; /* wholly the first joint named */
        done->zero++;
        return;
    }
    double error = fabs(sum - 1);
    if (scale > 0 ? codes == scale : error <= sum_tolerance * used + FLT_EPSILON) {
        return;
    }
    for (uint32_t k = 0; k < slots; k++) {
        weights[k] = (float)(weights[k] / sum);
    }
    done->off++;
    done->largest = error > done->largest ? error : done->largest;
}

static void repair_weights(pelt_gltf_reader *reader, pelt_gltf_place at, pelt_primitive *primitive,
                           double scale)
{
    repairs done = { 0 };
    for (size_t v = 0; v < primitive->vertex_count; v++) {
        repair_vertex(primitive->weights + v * primitive->influence_count,
                      primitive->influence_count, scale, &done);
    }
    at = pelt_gltf_in(at, "WEIGHTS_0");
    if (done.zero) {
        pelt_gltf_warn(reader, at,
                       "%u of %u vertices have no weight at all; bound to the first joint of "
                       "JOINTS_0",
                       done.zero, primitive->vertex_count);
    }
    if (done.off) {
        pelt_gltf_warn(reader, at,
                       "the weights of %u of %u vertices did not sum to 1 (off by up to %.3g); "
                       "normalized",
                       done.off, primitive->vertex_count, done.largest);
    }
}

static bool fail_joint(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *attributes,
                       uint32_t mesh, const pelt_primitive *primitive, size_t influence)
{
    char name[24];
    uint32_t slots = primitive->influence_count, skin = reader->mesh_limit_skins[mesh];
    unsigned accessor = name_set(attributes, "JOINTS_", (uint32_t)(influence % slots), name);
    return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(at, name),
                          "vertex %zu uses joint %u with weight %g, but skin %u (/skins/%u) has %u "
                          "joints (/accessors/%u)",
                          influence / slots, primitive->joints[influence],
                          (double)primitive->weights[influence], skin, skin,
                          reader->mesh_joint_limits[mesh], accessor);
}

/* Slots without weight name joint 0; all others a joint that every skin of the mesh has. Real files
 * name joints that do not exist where the weight is 0: harmless, but worth a word. */
static bool check_joints(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *attributes,
                         uint32_t mesh, pelt_primitive *primitive)
{
    uint32_t slots = primitive->influence_count, limit = reader->mesh_joint_limits[mesh];
    size_t total = (size_t)primitive->vertex_count * slots, missing = 0, first = 0;
    for (size_t i = 0; i < total; i++) {
        if (limit > 0 && primitive->joints[i] >= limit) {
            if (primitive->weights[i] > 0) {
                return fail_joint(reader, at, attributes, mesh, primitive, i);
            }
            first = missing++ == 0 ? i : first;
        }
        if (!(primitive->weights[i] > 0)) {
            primitive->joints[i] = 0;
        }
    }
    if (missing) {
        char name[24];
        (void)name_set(attributes, "JOINTS_", (uint32_t)(first % slots), name);
        pelt_gltf_warn(reader, pelt_gltf_in(at, name),
                       "%zu of %zu influences name joints that /skins/%u does not have; their "
                       "weights are 0, so nothing is lost",
                       missing, total, reader->mesh_limit_skins[mesh]);
    }
    return true;
}

bool pelt_gltf_read_influences(pelt_gltf_reader *reader, pelt_gltf_place at,
                               const json_t *attributes, uint32_t mesh, pelt_primitive *primitive)
{
    uint32_t sets;
    double scale;
    at = pelt_gltf_in(at, "attributes");
    if (!find_sets(reader, at, attributes, &sets)) {
        return false;
    }
    if (sets == 0) {
        return true;
    }
    size_t slots = 4 * (size_t)sets;
    primitive->joints = pelt_gltf_keep(reader, pelt_gltf_in(at, "JOINTS_0"),
                                       primitive->vertex_count, slots * sizeof(uint16_t));
    primitive->weights = pelt_gltf_keep(reader, pelt_gltf_in(at, "WEIGHTS_0"),
                                        primitive->vertex_count, slots * sizeof(float));
    if (!primitive->joints || !primitive->weights) {
        return false;
    }
    primitive->influence_count = (uint32_t)slots;
    if (!unpack_sets(reader, at, attributes, primitive, &scale) ||
        !check_weights(reader, at, attributes, primitive)) {
        return false;
    }
    repair_weights(reader, at, primitive, scale);
    return check_joints(reader, at, attributes, mesh, primitive);
}
