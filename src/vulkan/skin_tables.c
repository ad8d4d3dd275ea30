/* The tables of the skin pass: chunks, then reductions. Measuring walks the instances as writing
 * does, so both agree; each is linear in instances and chunks. */
#include "vulkan/skin_plan.h"

#include "pelt/layout.h"

#include <string.h>

/* Shaders index memory by 32 bits, and some devices wrap the product with the element's size. */
static const uint64_t range_limit = UINT64_C(1) << 32;

_Static_assert(sizeof(pelt_box) == 24, "six floats, as the shaders write them");

enum { PARTIAL_SIZE = 32 }; /* two quads, as shaders/pelt/buffers.glsl has them */

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

static pelt_result check_instance(const pelt_skin_pass *pass, const pelt_skin_tables_info *info,
                                  uint32_t index)
{
    const pelt_host *host = pass->compute.host;
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
    if (instance->dual_quaternions && pass->no_dual_quaternions) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "instance %u: dual_quaternions, but the pass was created without them",
                         index);
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

static uint32_t chunks_of(const pelt_gpu_mesh *mesh, uint32_t chunk_vertices)
{
    return (mesh->vertex_count - 1) / chunk_vertices + 1;
}

/* -- measuring ----------------------------------------------------------------------------- */

static pelt_result check_all(const pelt_skin_pass *pass, const pelt_skin_tables_info *info)
{
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < info->mesh_count; i++) {
        result = check_mesh(pass->compute.host, i, &info->meshes[i]);
    }
    for (uint32_t i = 0; result == PELT_OK && i < info->instance_count; i++) {
        if (!info->instances[i].skip) {
            result = check_instance(pass, info, i);
        }
    }
    return result;
}

/* What the instances that are not skipped add up to. */
typedef struct totals {
    uint64_t instances, chunks, reductions, partials;
} totals;

static totals count_chunks(const pelt_skin_tables_info *info, uint32_t chunk_vertices)
{
    totals sum = { 0 };
    for (uint32_t i = 0; i < info->instance_count; i++) {
        const pelt_gpu_instance *instance = &info->instances[i];
        if (instance->skip) {
            continue;
        }
        uint32_t chunks = chunks_of(&info->meshes[instance->mesh], chunk_vertices);
        sum.instances++;
        sum.chunks += chunks;
        if (instance->box && chunks > 1) {
            sum.reductions++;
            sum.partials += chunks;
        }
    }
    return sum;
}

pelt_result pelt_skin_tables_measure(const pelt_skin_pass *pass, const pelt_skin_tables_info *info,
                                     pelt_skin_tables *out)
{
    *out = (pelt_skin_tables){ 0 };
    if ((info->mesh_count > 0 && !info->meshes) || (info->instance_count > 0 && !info->instances)) {
        return pelt_fail(pass->compute.host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "meshes or instances are counted but NULL");
    }
    pelt_result result = check_all(pass, info);
    if (result != PELT_OK) {
        return result;
    }
    skin_plan plan = pelt_plan_skinning(pass, info);
    totals sum = count_chunks(info, plan.chunk_vertices);
    uint64_t chunk_bytes = sum.chunks * sizeof(struct pelt_skin_chunk);
    uint64_t reduction_bytes = sum.reductions * sizeof(struct pelt_reduction);
    uint64_t scratch_bytes = sum.partials * PARTIAL_SIZE; /* fewer than those of chunks */
    if (chunk_bytes > range_limit) {
        return pelt_fail(pass->compute.host, PELT_ERROR_RANGE, NULL, NULL,
                         "%llu instances of %llu chunks: a table would exceed 4 GiB",
                         (unsigned long long)sum.instances, (unsigned long long)sum.chunks);
    }
    *out = (pelt_skin_tables){
        .table_size = (size_t)(chunk_bytes + reduction_bytes),
        .scratch_size = (size_t)scratch_bytes,
        .reduction_offset = (size_t)chunk_bytes,
        .instance_count = (uint32_t)sum.instances,
        .chunk_count = (uint32_t)sum.chunks,
        .reduce_count = (uint32_t)sum.reductions,
        .chunk_vertices = plan.chunk_vertices,
        .team_bits = plan.team_bits,
        .permutation = plan.permutation,
    };
    return PELT_OK;
}

/* -- writing ------------------------------------------------------------------------------- */

/* All but what differs between the chunks of an instance. */
static struct pelt_skin_chunk make_chunk(const pelt_gpu_mesh *mesh,
                                         const pelt_gpu_instance *instance)
{
    struct pelt_skin_chunk chunk = {
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
        .joint_count = mesh->joint_count,
        .position_stride = instance->position_stride / 4,
        .normal_stride = instance->normal_stride / 4,
        .tangent_stride = instance->tangent_stride / 4,
    };
    if (!mesh->tangents) {
        chunk.tangents = mesh->weights;
    }
    chunk.flags = (mesh->joint_bytes == 2 ? PELT_CHUNK_JOINTS_16 : 0) |
                  (pelt_is_interleaved(instance) ? PELT_CHUNK_INTERLEAVED : 0) |
                  (instance->normals ? PELT_CHUNK_NORMALS : 0) |
                  (pelt_has_tangents(mesh, instance) ? PELT_CHUNK_TANGENTS : 0) |
                  (instance->box ? PELT_CHUNK_BOX : 0) |
                  (instance->dual_quaternions ? PELT_CHUNK_DUAL : 0);
    return chunk;
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
    (void)pass;
    char *chunks = memory;
    char *reductions = chunks + tables->reduction_offset;
    uint32_t partial = 0;
    for (uint32_t i = 0; i < info->instance_count; i++) {
        const pelt_gpu_instance *instance = &info->instances[i];
        if (instance->skip) {
            continue;
        }
        const pelt_gpu_mesh *mesh = &info->meshes[instance->mesh];
        struct pelt_skin_chunk chunk = make_chunk(mesh, instance);
        uint32_t count = chunks_of(mesh, tables->chunk_vertices);
        if (instance->box && count > 1) {
            chunk.flags |= PELT_CHUNK_PARTIAL;
            chunk.partial = partial;
            partial += count;
            const struct pelt_reduction reduction = { .box = instance->box,
                                                      .first_partial = chunk.partial,
                                                      .count = count };
            reductions = append(reductions, &reduction, sizeof(reduction));
        }
        for (uint32_t c = 0; c < count; c++) {
            uint32_t left = mesh->vertex_count - chunk.first_vertex;
            chunk.end_vertex = chunk.first_vertex +
                               (left < tables->chunk_vertices ? left : tables->chunk_vertices);
            chunks = append(chunks, &chunk, sizeof(chunk));
            chunk.first_vertex = chunk.end_vertex;
            chunk.partial++;
        }
    }
}
