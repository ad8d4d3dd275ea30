/* Members of JSON objects, with their types checked. */
#include "reader.h"

#include <math.h>
#include <string.h>

static const char *kind_of(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a boolean";
    default:
        return "null";
    }
}

static bool fail_kind(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *value,
                      const char *wanted)
{
    return pelt_gltf_fail(reader, PELT_ERROR_FILE, at, "is %s, not %s", kind_of(value), wanted);
}

/* A whole number >= 0. glTF lets readers take 1.0 for 1. */
static bool to_size(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *value, size_t *out)
{
    if (!json_is_number(value)) {
        return fail_kind(reader, at, value, "a whole number");
    }
    double number = json_number_value(value);
    if (!(number >= 0 && number < 0x1p53 && number == floor(number))) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, at,
                              "is %.17g, not a whole number from 0 to below 2^53", number);
    }
    *out = (size_t)number;
    return true;
}

bool pelt_gltf_get_size(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                        const char *key, size_t *out)
{
    const json_t *value = json_object_get(object, key);
    return !value || to_size(reader, pelt_gltf_in(at, key), value, out);
}

bool pelt_gltf_to_index(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *value,
                        uint32_t count, const char *what, int32_t *out)
{
    size_t index = 0;
    if (!to_size(reader, at, value, &index)) {
        return false;
    }
    if (index >= count || index > INT32_MAX) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, at, "names number %zu of %u %s", index,
                              count, what);
    }
    *out = (int32_t)index;
    return true;
}

bool pelt_gltf_get_index(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                         const char *key, uint32_t count, const char *what, int32_t *out)
{
    const json_t *value = json_object_get(object, key);
    return !value || pelt_gltf_to_index(reader, pelt_gltf_in(at, key), value, count, what, out);
}

bool pelt_gltf_to_number(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *value,
                         double *out)
{
    if (!json_is_number(value)) {
        return fail_kind(reader, at, value, "a number");
    }
    double number = json_number_value(value);
    if (!(fabs(number) <= PELT_MAGNITUDE_MAX)) {
        return pelt_gltf_fail(reader, PELT_ERROR_RANGE, at, "is %g, beyond %g", number,
                              PELT_MAGNITUDE_MAX);
    }
    *out = number;
    return true;
}

bool pelt_gltf_get_number(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                          const char *key, double *out)
{
    const json_t *value = json_object_get(object, key);
    return !value || pelt_gltf_to_number(reader, pelt_gltf_in(at, key), value, out);
}

bool pelt_gltf_get_numbers(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                           const char *key, size_t count, double *out)
{
    const json_t *array = json_object_get(object, key);
    if (!array) {
        return true;
    }
    at = pelt_gltf_in(at, key);
    if (!json_is_array(array)) {
        return fail_kind(reader, at, array, "an array");
    }
    if (json_array_size(array) != count) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, at, "has %zu numbers, not %zu",
                              json_array_size(array), count);
    }
    for (size_t i = 0; i < count; i++) {
        if (!pelt_gltf_to_number(reader, pelt_gltf_item(at, i), json_array_get(array, i),
                                 &out[i])) {
            return false;
        }
    }
    return true;
}

bool pelt_gltf_get_bool(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                        const char *key, bool *out)
{
    const json_t *value = json_object_get(object, key);
    if (value && !json_is_boolean(value)) {
        return fail_kind(reader, pelt_gltf_in(at, key), value, "a boolean");
    }
    *out = value ? json_is_true(value) : *out;
    return true;
}

bool pelt_gltf_get_string(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                          const char *key, const char **out)
{
    const json_t *value = json_object_get(object, key);
    if (value && !json_is_string(value)) {
        return fail_kind(reader, pelt_gltf_in(at, key), value, "a string");
    }
    if (value && strlen(json_string_value(value)) != json_string_length(value)) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_in(at, key),
                              "holds the character U+0000");
    }
    *out = value ? json_string_value(value) : *out;
    return true;
}

bool pelt_gltf_get_name(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                        const char *key, char **out)
{
    const char *name = NULL;
    if (!pelt_gltf_get_string(reader, at, object, key, &name)) {
        return false;
    }
    if (name) {
        size_t size = strlen(name) + 1;
        *out = pelt_gltf_keep(reader, at, size, 1);
        if (!*out) {
            return false;
        }
        memcpy(*out, name, size);
    }
    return true;
}

bool pelt_gltf_is_object(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *value)
{
    return json_is_object(value) || fail_kind(reader, at, value, "an object");
}

bool pelt_gltf_get_object(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                          const char *key, json_t **out)
{
    *out = json_object_get(object, key);
    return !*out || pelt_gltf_is_object(reader, pelt_gltf_in(at, key), *out);
}

bool pelt_gltf_get_array(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                         const char *key, json_t **out, uint32_t *count)
{
    *out = json_object_get(object, key);
    *count = 0;
    if (!*out) {
        return true;
    }
    at = pelt_gltf_in(at, key);
    if (!json_is_array(*out)) {
        return fail_kind(reader, at, *out, "an array");
    }
    size_t size = json_array_size(*out);
    if (size > INT32_MAX) {
        return pelt_gltf_fail(reader, PELT_ERROR_RANGE, at, "has %zu elements", size);
    }
    if (size == 0) {
        pelt_gltf_warn(reader, at, "is an empty array, which glTF forbids; taken as absent");
    }
    *count = (uint32_t)size;
    return true;
}

bool pelt_gltf_require(pelt_gltf_reader *reader, pelt_gltf_place at, const json_t *object,
                       const char *key)
{
    return json_object_get(object, key) ||
           pelt_gltf_fail(reader, PELT_ERROR_FILE, at, "has no %s", key);
}

json_t *pelt_gltf_extension(const json_t *object, const char *name)
{
    return json_object_get(json_object_get(object, "extensions"), name);
}

uint32_t pelt_gltf_count(const pelt_gltf_reader *reader, const char *key)
{
    size_t count = json_array_size(json_object_get(reader->root, key));
    return count < INT32_MAX ? (uint32_t)count : INT32_MAX;
}
