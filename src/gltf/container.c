/* The file's outer form: a GLB's chunks, or JSON alone. */
#include "reader.h"

#include <stdio.h>
#include <string.h>

enum { MAGIC = 0x46546c67, CHUNK_JSON = 0x4e4f534a, CHUNK_BIN = 0x004e4942 };
enum { HEADER_SIZE = 12, CHUNK_HEADER_SIZE = 8 };

static uint32_t read_u32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

/* What does not even look like JSON: a file of another format, as its first bytes tell. */
static bool fail_foreign(pelt_gltf_reader *reader, const uint8_t *bytes, size_t size)
{
    enum { SHOWN = 8 };
    char text[3 * SHOWN + 1] = "", hexadecimal[3 * SHOWN + 1] = "";
    size_t count = size < SHOWN ? size : SHOWN;
    bool readable = true;
    for (size_t i = 0; i < count; i++) {
        readable = readable && bytes[i] >= 0x20 && bytes[i] < 0x7f;
        text[i] = (char)bytes[i];
        (void)snprintf(hexadecimal + 3 * i, 4, " %02x", bytes[i]);
    }
    return readable ? pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_at("%s", ""),
                                     "not a glTF file (it begins with '%s')", text)
                    : pelt_gltf_fail(reader, PELT_ERROR_FILE, pelt_gltf_at("%s", ""),
                                     "not a glTF file (it begins with the bytes%s)", hexadecimal);
}

/* Whether the first byte that is no blank can be that of a JSON object or array. A byte order mark
 * may stand before it. */
static bool looks_like_json(const uint8_t *bytes, size_t size)
{
    size_t i = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (i < size && (bytes[i] == ' ' || (bytes[i] >= '\t' && bytes[i] <= '\r'))) {
        i++;
    }
    return i < size && (bytes[i] == '{' || bytes[i] == '[');
}

static bool parse_json(pelt_gltf_reader *reader, const char *text, size_t size)
{
    pelt_gltf_place whole = pelt_gltf_at("%s", "");
    /* glTF wants neither a byte order mark nor, in a GLB, zeros as padding; both are met. */
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        size -= 3;
    }
    while (size > 0 && text[size - 1] == 0) {
        size--;
    }
    /* Integers as floats, since any size of them may stand where nobody looks (a 64-bit number in
     * extras); those that matter are exact all the same. */
    const size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL;
    json_error_t error;
    reader->root = json_loadb(text, size, flags, &error);
    if (!reader->root) {
        if (json_error_code(&error) == json_error_out_of_memory) {
            return pelt_gltf_fail_memory(reader, whole);
        }
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, whole, "invalid JSON, line %d column %d: %s",
                              error.line, error.column, error.text);
    }
    return pelt_gltf_is_object(reader, whole, reader->root);
}

bool pelt_gltf_parse(pelt_gltf_reader *reader, const uint8_t *bytes, size_t size)
{
    pelt_gltf_place whole = pelt_gltf_at("%s", "");
    if (size == 0) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, whole, "the file is empty");
    }
    if (size < 4 || read_u32(bytes) != MAGIC) {
        if (!looks_like_json(bytes, size)) {
            return fail_foreign(reader, bytes, size);
        }
        return parse_json(reader, (const char *)bytes, size);
    }
    if (size < HEADER_SIZE) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, whole,
                              "the file ends within the GLB header");
    }
    uint32_t version = read_u32(bytes + 4);
    if (version != 2) {
        return pelt_gltf_fail(reader, PELT_ERROR_UNSUPPORTED, whole, "is GLB version %u, not 2",
                              version);
    }
    size_t length = read_u32(bytes + 8);
    if (length > size) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, whole,
                              "the file has %zu bytes, but its GLB header says %zu", size, length);
    }
    if (length < size) {
        pelt_gltf_warn(reader, whole, "%zu bytes behind the end of the GLB are ignored",
                       size - length);
    }
    const uint8_t *json = NULL;
    size_t json_size = 0, offset = HEADER_SIZE;
    for (unsigned chunk = 0; offset < length; chunk++) {
        if (length - offset < CHUNK_HEADER_SIZE) {
            return pelt_gltf_fail(reader, PELT_ERROR_FILE, whole,
                                  "chunk %u: the GLB ends within the chunk's header", chunk);
        }
        size_t chunk_size = read_u32(bytes + offset);
        uint32_t type = read_u32(bytes + offset + 4);
        offset += CHUNK_HEADER_SIZE;
        if (chunk_size > length - offset) {
            return pelt_gltf_fail(reader, PELT_ERROR_FILE, whole,
                                  "chunk %u has %zu bytes, but only %zu are left in the GLB", chunk,
                                  chunk_size, length - offset);
        }
        if ((type == CHUNK_JSON) != (chunk == 0)) {
            return pelt_gltf_fail(reader, PELT_ERROR_FILE, whole,
                                  chunk == 0 ? "chunk 0 of the GLB is not its JSON"
                                             : "chunk %u of the GLB is JSON again",
                                  chunk);
        }
        if (type == CHUNK_BIN && chunk != 1) {
            return pelt_gltf_fail(reader, PELT_ERROR_FILE, whole,
                                  "chunk %u of the GLB is binary; only chunk 1 may be", chunk);
        }
        if (chunk_size % 4 != 0) {
            pelt_gltf_warn(reader, whole, "chunk %u has %zu bytes, not a multiple of 4", chunk,
                           chunk_size);
        }
        if (type == CHUNK_JSON) {
            json = bytes + offset;
            json_size = chunk_size;
        } else if (type == CHUNK_BIN) {
            reader->bin = bytes + offset;
            reader->bin_size = chunk_size;
        } /* other types are to be ignored */
        offset += chunk_size;
    }
    if (!json) {
        return pelt_gltf_fail(reader, PELT_ERROR_FILE, whole, "the GLB has no JSON chunk");
    }
    return parse_json(reader, (const char *)json, json_size);
}
