/* The records of a top level's instances, as Vulkan defines them. */
#include "vulkan/functions.h"

#include <math.h>
#include <pelt/ray.h>
#include <string.h>

_Static_assert(sizeof(VkAccelerationStructureInstanceKHR) == PELT_RAY_INSTANCE_SIZE,
               "as the header says");

enum { BITS_24 = 0xffffff };

static const float identity[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };

/* Vulkan wants an inverse. Devices compute one in floats, so it must also be finite in these: its
 * elements are at most twice the square of the largest one over the determinant. */
static bool is_singular(const float m[12])
{
    double determinant = 0, magnitude = 0, largest = 0;
    for (int column = 0; column < 3; column++) {
        int next = (column + 1) % 3, last = (column + 2) % 3;
        double forward = (double)m[column] * (double)m[4 + next] * (double)m[8 + last];
        double backward = (double)m[column] * (double)m[4 + last] * (double)m[8 + next];
        determinant += forward - backward;
        magnitude += fabs(forward) + fabs(backward);
        for (int row = 0; row < 3; row++) {
            largest = fmax(largest, fabs((double)m[4 * row + column]));
        }
    }
    /* Less than this is rounding. */
    double doubt = 0x1p-50 * magnitude;
    return !(fabs(determinant) > doubt) ||
           2 * largest * largest / fabs(determinant) >= (double)PELT_FLOAT_MAX;
}

static const char *wrong_with(const pelt_ray_instance *instance, const float *transform)
{
    for (int i = 0; i < 12; i++) {
        if (!isfinite(transform[i])) {
            return "transform is not finite";
        }
    }
    if (instance->custom_index > BITS_24) {
        return "custom_index has more than 24 bits";
    }
    if (instance->sbt_offset > BITS_24) {
        return "sbt_offset has more than 24 bits";
    }
    if (instance->mask > 0xff) {
        return "mask has more than 8 bits";
    }
    if (instance->flags > 0xff) {
        return "flags has more than 8 bits";
    }
    return NULL;
}

pelt_result pelt_ray_instances_write(const pelt_host *host, const pelt_ray_instance *instances,
                                     uint32_t count, void *memory)
{
    char *at = memory;
    for (uint32_t i = 0; i < count; i++) {
        const pelt_ray_instance *from = &instances[i];
        const float *transform = from->transform ? from->transform : identity;
        const char *wrong = wrong_with(from, transform);
        if (wrong) {
            return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL, "ray instance %u: %s", i,
                             wrong);
        }
        bool inactive = is_singular(transform);
        VkAccelerationStructureInstanceKHR record = {
            .instanceCustomIndex = from->custom_index & BITS_24,
            .mask = from->mask == 0 ? 0xff : from->mask & 0xff,
            .instanceShaderBindingTableRecordOffset = from->sbt_offset & BITS_24,
            .flags = from->flags & 0xff,
            .accelerationStructureReference = inactive ? 0 : from->structure,
        };
        memcpy(&record.transform, inactive ? identity : transform, sizeof(record.transform));
        memcpy(at, &record, sizeof(record));
        at += sizeof(record);
    }
    return PELT_OK;
}
