/* The table of the pose pass: which instances of which rig each workgroup poses. And where in an
 * image their matrices go. */
#include "vulkan/pose_pass.h"

#include "pelt/pose_layout.h"

#include <string.h>

/* Shaders index memory by 32 bits, and some devices wrap the product with the element's size. */
static const uint64_t range_limit = UINT64_C(1) << 32;

enum { MATRIX_SIZE = 48, MATRIX_ROWS = 3 };

/* Instances that share a workgroup. */
static uint32_t instances_a_group(const pelt_rig *rig)
{
    return rig->node_count < PELT_POSE_LANES ? PELT_POSE_LANES / rig->node_count : 1;
}

static uint64_t groups_of(const pelt_pose_batch *batch)
{
    if (batch->rig->node_count == 0) {
        return 0; /* nothing is written */
    }
    uint32_t each = instances_a_group(batch->rig);
    return batch->instance_count / each + (batch->instance_count % each != 0);
}

static pelt_result check_batch(const pelt_pose_pass *pass, const pelt_pose_batch *batch,
                               uint32_t index)
{
    if (batch->instance_count > 0 && (batch->rig_address == 0 || batch->rig_address % 16 != 0)) {
        return pelt_fail(pass->compute.host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "batch %u: rig_address is 0 or not 16-byte aligned", index);
    }
    uint64_t end = (uint64_t)batch->first_instance + batch->instance_count;
    if (end * PELT_POSE_INSTANCE_SIZE > range_limit) {
        return pelt_fail(pass->compute.host, PELT_ERROR_RANGE, NULL, NULL,
                         "batch %u: instances %u + %u are past 4 GiB", index, batch->first_instance,
                         batch->instance_count);
    }
    return PELT_OK;
}

pelt_result pelt_pose_tables_measure(const pelt_pose_pass *pass, const pelt_pose_batch *batches,
                                     uint32_t count, pelt_pose_tables *out)
{
    *out = (pelt_pose_tables){ 0 };
    uint64_t groups = 0, scratch = 0;
    for (uint32_t i = 0; i < count; i++) {
        pelt_result result = check_batch(pass, &batches[i], i);
        if (result != PELT_OK) {
            return result;
        }
        groups += groups_of(&batches[i]);
        /* Neither factor reaches 2^28. */
        scratch += (uint64_t)batches[i].instance_count * batches[i].rig->carry_count * MATRIX_SIZE;
        if (groups * sizeof(struct pelt_pose_group) > range_limit || scratch > range_limit) {
            return pelt_fail(pass->compute.host, PELT_ERROR_RANGE, NULL, NULL,
                             "batches 0 to %u need a table or scratch past 4 GiB", i);
        }
    }
    *out = (pelt_pose_tables){ .table_size = groups * sizeof(struct pelt_pose_group),
                               .scratch_size = scratch,
                               .group_count = (uint32_t)groups };
    return PELT_OK;
}

void pelt_pose_tables_write(const pelt_pose_pass *pass, const pelt_pose_batch *batches,
                            uint32_t count, void *memory)
{
    (void)pass;
    char *at = memory;
    uint32_t scratch = 0;
    for (uint32_t i = 0; i < count; i++) {
        const pelt_pose_batch *batch = &batches[i];
        uint32_t groups = (uint32_t)groups_of(batch);
        for (uint32_t g = 0; g < groups; g++) {
            uint32_t each = instances_a_group(batch->rig);
            uint32_t left = batch->instance_count - g * each;
            const struct pelt_pose_group group = { .rig = batch->rig_address,
                                                   .first_instance =
                                                       batch->first_instance + g * each,
                                                   .instance_count = left < each ? left : each,
                                                   .scratch = scratch };
            memcpy(at, &group, sizeof(group));
            at += sizeof(group);
            scratch += MATRIX_ROWS * batch->rig->carry_count;
        }
    }
}
