/* The tables of the skin pass: records of instances, chunks, reductions, in this order. Measuring
 * walks the instances as writing does, so both agree; each is linear in instances and chunks. */
#include "vulkan/skin_pass.h"

#include "pelt/layout.h"

#include <string.h>

/* Shaders index memory by 32 bits, and some devices wrap the product with the element's size. */
static const uint64_t range_limit = UINT64_C(1) << 32;

enum { BOX_SIZE = sizeof(pelt_box) };
_Static_assert(sizeof(pelt_box) == 24, "six floats, as the shaders write them");

/* An address that must be a multiple of alignment, or may be 0 if optional. */
static bool is_bad_address(VkDeviceAddress address, uint32_t alignment, bool optional)
{
    return address % alignment != 0 || (address == 0 && !optional);
}

static pelt_result check_mesh(const pelt_host *host, uint32_t index, const pelt_gpu_mesh *mesh)
{
    const char *wrong = NULL;
    if (is_bad_address(mesh->vertices, 16, false)) {
        wrong = "vertices is 0 or not 16-byte aligned";
    } else if (is_bad_address(mesh->tangents, 4, true)) {
        wrong = "tangents is not 4-byte aligned";
    } else if (is_bad_address(mesh->weights, 4, false)) {
        wrong = "weights is 0 or not 4-byte aligned";
    } else if (is_bad_address(mesh->joints, 4, false)) {
        wrong = "joints is 0 or not 4-byte aligned";
    } else if (mesh->vertex_count == 0) {
        wrong = "vertex_count is 0";
    } else if (mesh->set_count == 0) {
        wrong = "set_count is 0";
    } else if (mesh->joint_bytes != 1 && mesh->joint_bytes != 2) {
        wrong = "joint_bytes is neither 1 nor 2";
    }
    if (wrong) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL, "mesh %u: %s", index, wrong);
    }
    uint64_t sets = (uint64_t)mesh->set_count * mesh->vertex_count;
    if (16 * (uint64_t)mesh->vertex_count > range_limit || sets > range_limit / 8) {
        return pelt_fail(host, PELT_ERROR_RANGE, NULL, NULL,
                         "mesh %u: %u vertices of %u sets: a stream may not exceed 4 GiB", index,
                         mesh->vertex_count, mesh->set_count);
    }
    return PELT_OK;
}

static bool is_bad_stride(uint32_t stride, uint32_t least)
{
    return stride < least || stride % 4 != 0;
}

static const char *wrong_with(const pelt_gpu_instance *instance)
{
    if (is_bad_address(instance->matrices, 16, false)) {
        return "matrices is 0 or not 16-byte aligned";
    }
    if (is_bad_address(instance->vertices, 16, true)) {
        return "vertices is not 16-byte aligned";
    }
    if (is_bad_address(instance->tangents, 4, true)) {
        return "tangents is not 4-byte aligned";
    }
    if (is_bad_address(instance->positions, 4, false)) {
        return "positions is 0 or not 4-byte aligned";
    }
    if (is_bad_stride(instance->position_stride, 12)) {
        return "position_stride is below 12 or not a multiple of 4";
    }
    if (is_bad_address(instance->normals, 4, true)) {
        return "normals is not 4-byte aligned";
    }
    if (instance->normals && is_bad_stride(instance->normal_stride, 4)) {
        return "normal_stride is below 4 or not a multiple of 4";
    }
    if (is_bad_address(instance->tangents_out, 4, true)) {
        return "tangents_out is not 4-byte aligned";
    }
    if (instance->tangents_out && is_bad_stride(instance->tangent_stride, 4)) {
        return "tangent_stride is below 4 or not a multiple of 4";
    }
    if (is_bad_address(instance->box, 4, true)) {
        return "box is not 4-byte aligned";
    }
    return NULL;
}

static pelt_result check_instance(const pelt_host *host, const pelt_skin_tables_info *info,
                                  uint32_t index)
{
    const pelt_gpu_instance *instance = &info->instances[index];
    if (instance->mesh >= info->mesh_count) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "instance %u: mesh is %u, but there are %u", index, instance->mesh,
                         info->mesh_count);
    }
    const char *wrong = wrong_with(instance);
    if (wrong) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL, "instance %u: %s", index, wrong);
    }
    uint64_t vertex_count = info->meshes[instance->mesh].vertex_count;
    if (vertex_count * instance->position_stride > range_limit ||
        (instance->normals && vertex_count * instance->normal_stride > range_limit) ||
        (instance->tangents_out && vertex_count * instance->tangent_stride > range_limit)) {
        return pelt_fail(host, PELT_ERROR_RANGE, NULL, NULL,
                         "instance %u: its outputs span more than 4 GiB", index);
    }
    return PELT_OK;
}

static uint32_t chunks_of(const pelt_skin_pass *pass, const pelt_gpu_mesh *mesh)
{
    return (mesh->vertex_count - 1) / pass->chunk_vertices + 1;
}

/* What the instances add up to. 64 bits hold 2^32 instances of 2^28 vertices. */
typedef struct totals {
    uint64_t records, chunks, vertices, reductions, partials;
    uint32_t most_sets;
    bool any_joints_16;
} totals;

static pelt_result count_all(const pelt_skin_pass *pass, const pelt_skin_tables_info *info,
                             totals *out)
{
    totals sum = { .most_sets = 1 };
    for (uint32_t i = 0; i < info->mesh_count; i++) {
        pelt_result result = check_mesh(pass->host, i, &info->meshes[i]);
        if (result != PELT_OK) {
            return result;
        }
    }
    for (uint32_t i = 0; i < info->instance_count; i++) {
        const pelt_gpu_instance *instance = &info->instances[i];
        if (instance->skip) {
            continue;
        }
        pelt_result result = check_instance(pass->host, info, i);
        if (result != PELT_OK) {
            return result;
        }
        const pelt_gpu_mesh *mesh = &info->meshes[instance->mesh];
        uint32_t chunks = chunks_of(pass, mesh);
        sum.records++;
        sum.chunks += chunks;
        sum.vertices += mesh->vertex_count;
        if (instance->box && chunks > 1) {
            sum.reductions++;
            sum.partials += chunks;
        }
        sum.most_sets = mesh->set_count > sum.most_sets ? mesh->set_count : sum.most_sets;
        sum.any_joints_16 |= mesh->joint_bytes == 2;
    }
    *out = sum;
    return PELT_OK;
}

/* Whether chunks are so short that most invocations of a usual group would idle: up to one vertex
 * for each on average. */
static bool wants_small_groups(const pelt_skin_pass *pass, const totals *sum)
{
    return sum->vertices <= sum->chunks * pass->group_size;
}

pelt_result pelt_skin_tables_measure(const pelt_skin_pass *pass, const pelt_skin_tables_info *info,
                                     pelt_skin_tables *out)
{
    *out = (pelt_skin_tables){ 0 };
    if ((info->mesh_count > 0 && !info->meshes) || (info->instance_count > 0 && !info->instances)) {
        return pelt_fail(pass->host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "meshes or instances are counted but NULL");
    }
    totals sum;
    pelt_result result = count_all(pass, info, &sum);
    if (result != PELT_OK) {
        return result;
    }
    uint64_t record_bytes = sum.records * sizeof(struct pelt_skin_record);
    uint64_t chunk_bytes = sum.chunks * sizeof(struct pelt_chunk);
    uint64_t reduction_bytes = sum.reductions * sizeof(struct pelt_reduction);
    uint64_t scratch_bytes = sum.partials * BOX_SIZE;
    if (record_bytes > range_limit || chunk_bytes > range_limit || scratch_bytes > range_limit) {
        return pelt_fail(pass->host, PELT_ERROR_RANGE, NULL, NULL,
                         "%llu instances of %llu chunks: a table would exceed 4 GiB",
                         (unsigned long long)sum.records, (unsigned long long)sum.chunks);
    }
    *out = (pelt_skin_tables){
        .table_size = (size_t)(record_bytes + chunk_bytes + reduction_bytes),
        .scratch_size = (size_t)scratch_bytes,
        .chunk_offset = (size_t)record_bytes,
        .reduction_offset = (size_t)(record_bytes + chunk_bytes),
        .instance_count = (uint32_t)sum.records,
        .chunk_count = (uint32_t)sum.chunks,
        .reduce_count = (uint32_t)sum.reductions,
        .permutation =
            pelt_permutation(sum.most_sets, sum.any_joints_16, wants_small_groups(pass, &sum)),
    };
    return PELT_OK;
}

static struct pelt_skin_record make_record(const pelt_gpu_mesh *mesh,
                                           const pelt_gpu_instance *instance)
{
    struct pelt_skin_record record = {
        .vertices = instance->vertices ? instance->vertices : mesh->vertices,
        .tangents = instance->tangents ? instance->tangents : mesh->tangents,
        .weights = mesh->weights,
        .joints = mesh->joints,
        .matrices = instance->matrices,
        .out_positions = instance->positions,
        .out_normals = instance->normals,
        .out_tangents = instance->tangents_out,
        .box = instance->box,
        .vertex_count = mesh->vertex_count,
        .set_count = mesh->set_count,
        .position_stride = instance->position_stride / 4,
        .normal_stride = instance->normal_stride / 4,
        .tangent_stride = instance->tangent_stride / 4,
    };
    bool interleaved = instance->normals == instance->positions + 12 &&
                       instance->position_stride == 16 && instance->normal_stride == 16 &&
                       instance->positions % 16 == 0;
    record.flags = (mesh->joint_bytes == 2 ? PELT_RECORD_JOINTS_16 : 0) |
                   (interleaved ? PELT_RECORD_INTERLEAVED : 0) |
                   (record.out_normals ? PELT_RECORD_NORMALS : 0) |
                   (mesh->tangents && record.out_tangents ? PELT_RECORD_TANGENTS : 0) |
                   (record.box ? PELT_RECORD_BOX : 0);
    return record;
}

/* Whole entries in rising order, for memory may be write-combined. */
static char *append(char *at, const void *entry, size_t size)
{
    memcpy(at, entry, size);
    return at + size;
}

void pelt_skin_tables_write(const pelt_skin_pass *pass, const pelt_skin_tables_info *info,
                            const pelt_skin_tables *tables, void *memory)
{
    char *records = memory;
    char *chunks = records + tables->chunk_offset;
    char *reductions = records + tables->reduction_offset;
    uint32_t record_index = 0;
    uint32_t partial = 0;
    for (uint32_t i = 0; i < info->instance_count; i++) {
        const pelt_gpu_instance *instance = &info->instances[i];
        if (instance->skip) {
            continue;
        }
        const pelt_gpu_mesh *mesh = &info->meshes[instance->mesh];
        struct pelt_skin_record record = make_record(mesh, instance);
        uint32_t count = chunks_of(pass, mesh);
        if (record.box && count > 1) {
            record.flags |= PELT_RECORD_PARTIAL;
            record.first_partial = partial;
            partial += count;
            const struct pelt_reduction reduction = { .box = record.box,
                                                      .first_partial = record.first_partial,
                                                      .count = count };
            reductions = append(reductions, &reduction, sizeof(reduction));
        }
        records = append(records, &record, sizeof(record));
        for (uint32_t c = 0; c < count; c++) {
            const struct pelt_chunk chunk = { .record = record_index,
                                              .first_vertex = c * pass->chunk_vertices };
            chunks = append(chunks, &chunk, sizeof(chunk));
        }
        record_index++;
    }
}
