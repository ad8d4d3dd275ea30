/* Conservative boxes from joints, on the GPU. */
#include "vulkan/skin_pass.h"

#include "pelt/layout.h"

#include <string.h>

/* How much the shader widens. Skinning passes at most influence_count + 4 roundings (see
 * src/skin/joint_boxes.c), the shader's own sums at most 6 more; 2 cover the rounding of the
 * widening itself. */
enum { ROUNDINGS = 4 + 6 + 2, LEAST_INFLUENCES = 4 };

static double roundings_of(const pelt_gpu_joint_box_instance *instance)
{
    uint32_t influences = instance->influence_count;
    return (double)(influences > LEAST_INFLUENCES ? influences : LEAST_INFLUENCES) + ROUNDINGS;
}

size_t pelt_joint_box_table_size(uint32_t count)
{
    return count * sizeof(struct pelt_joint_box_record);
}

void pelt_joint_box_table_write(const pelt_gpu_joint_box_instance *instances, uint32_t count,
                                void *memory)
{
    for (uint32_t i = 0; i < count; i++) {
        double roundings = roundings_of(&instances[i]);
        double units = roundings * 0x1p-24;
        const struct pelt_joint_box_record record = {
            .bind = instances[i].bind,
            .matrices = instances[i].matrices,
            .box = instances[i].box,
            .relative = units < 0.5 ? (float)(units / (1.0 - units)) : 1.0f,
            .absolute = (float)(roundings * 0x1p-126),
            .joint_count = instances[i].joint_count,
        };
        memcpy((char *)memory + i * sizeof(record), &record, sizeof(record));
    }
}

void pelt_cmd_joint_boxes(const pelt_skin_pass *pass, VkCommandBuffer commands, uint32_t count,
                          VkDeviceAddress table)
{
    /* Shaders index memory by 32 bits: no table may span more than 4 GiB. */
    const uint32_t most = UINT32_C(1) << 26;
    _Static_assert(sizeof(struct pelt_joint_box_record) <= 64, "2^26 of them within 4 GiB");
    for (uint32_t left = count; left > 0;) {
        const struct pelt_joint_box_constants constants = { .records = table,
                                                            .count = left < most ? left : most };
        pelt_compute_push(&pass->compute, commands, &constants, sizeof(constants));
        pelt_compute_dispatch(&pass->compute, commands, pass->pipelines[SKIN_JOINT_BOXES],
                              constants.count);
        table += pelt_joint_box_table_size(constants.count);
        left -= constants.count;
    }
}
