/* pelt's own pass as its users have it, and boxes from joints instead of its reduction. */
#include "bench/internal.h"

static void fill_meshes(const pelt_bench_data *data, pelt_gpu_mesh *meshes)
{
    const pelt_bench_unit *unit = data->unit;
    for (uint32_t i = 0; i < data->source_instances; i++) {
        for (uint32_t m = 0; m < unit->mesh_count; m++) {
            struct bench_mesh record = pelt_bench_mesh_record(data, i, m);
            const pelt_packed_mesh *packed = unit->meshes[m].packed;
            VkDeviceAddress first = record.first_vertex;
            *meshes++ = (pelt_gpu_mesh){
                .vertices = data->vertices.address + sizeof(pelt_packed_vertex) * first,
                .tangents = data->tangents.address + sizeof(uint32_t) * first,
                .weights = data->weights.address + sizeof(uint32_t) * first,
                .joints = data->joints.address +
                          sizeof(uint32_t) * (VkDeviceAddress)record.first_joint_word,
                .vertex_count = packed->vertex_count,
                .set_count = packed->set_count,
                .joint_bytes = packed->joint_bytes,
                .joint_count = packed->joint_count,
            };
        }
    }
}

static VkDeviceAddress matrices_of(const pelt_bench_data *data, const struct bench_mesh *record)
{
    return data->rows.address + 12 * sizeof(float) * (VkDeviceAddress)record->first_matrix;
}

static void fill_instances(const pelt_bench_data *data, pelt_gpu_instance *instances)
{
    const pelt_bench_unit *unit = data->unit;
    for (uint32_t i = 0; i < data->instances; i++) {
        for (uint32_t m = 0; m < unit->mesh_count; m++) {
            struct bench_mesh record = pelt_bench_mesh_record(data, i, m);
            VkDeviceAddress first = record.first_output;
            uint32_t index = i * unit->mesh_count + m;
            VkDeviceAddress vertices =
                data->out_vertices.address + sizeof(pelt_packed_vertex) * first;
            instances[index] = (pelt_gpu_instance){
                .mesh = data->source_instances > 1 ? index : m,
                .matrices = matrices_of(data, &record),
                .positions = vertices,
                .position_stride = sizeof(pelt_packed_vertex),
                .normals = vertices + offsetof(pelt_packed_vertex, normal),
                .normal_stride = sizeof(pelt_packed_vertex),
                .tangents_out = data->out_tangents.address + sizeof(uint32_t) * first,
                .tangent_stride = sizeof(uint32_t),
                .box = data->boxes.address + sizeof(pelt_box) * (VkDeviceAddress)index,
            };
        }
    }
}

static pelt_result create_tables(pelt_bench_data *data, const pelt_skin_tables_info *info,
                                 pelt_bench_tables *out)
{
    const pelt_bench *bench = data->bench;
    pelt_result result = pelt_skin_tables_measure(bench->pass, info, &out->tables);
    if (result == PELT_OK) {
        result = pelt_buffer_create(bench->device, out->tables.table_size, 0, PELT_MEMORY_DEVICE,
                                    &out->table);
    }
    if (result == PELT_OK && out->tables.scratch_size > 0) {
        result = pelt_buffer_create(bench->device, out->tables.scratch_size, 0, PELT_MEMORY_DEVICE,
                                    &out->scratch);
    }
    if (result != PELT_OK) {
        return result;
    }
    void *memory = pelt_allocate(bench->host, out->tables.table_size, 1);
    if (!memory) {
        return pelt_fail(bench->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a table");
    }
    pelt_skin_tables_write(bench->pass, info, &out->tables, memory);
    result = pelt_buffer_upload(bench->device, &out->table, 0, memory, out->tables.table_size);
    pelt_release(bench->host, memory);
    return result;
}

pelt_result pelt_bench_pelt_tables(pelt_bench_data *data)
{
    const pelt_host *host = data->bench->host;
    uint32_t meshes = data->source_instances * data->unit->mesh_count;
    pelt_gpu_mesh *mesh_list = pelt_allocate(host, meshes, sizeof(*mesh_list));
    pelt_gpu_instance *instances = pelt_allocate(host, data->mesh_count, sizeof(*instances));
    pelt_result result = PELT_ERROR_MEMORY;
    if (!mesh_list || !instances) {
        (void)pelt_fail(host, result, NULL, NULL, "no memory for %u meshes", data->mesh_count);
        goto done;
    }
    fill_meshes(data, mesh_list);
    fill_instances(data, instances);
    const pelt_skin_tables_info info = { .meshes = mesh_list,
                                         .mesh_count = meshes,
                                         .instances = instances,
                                         .instance_count = data->mesh_count };
    result = create_tables(data, &info, &data->with_boxes);
    if (result == PELT_OK) {
        for (uint32_t i = 0; i < data->mesh_count; i++) {
            instances[i].box = 0;
        }
        result = create_tables(data, &info, &data->without_boxes);
    }
done:
    pelt_release(host, instances);
    pelt_release(host, mesh_list);
    return result;
}

static void write_joint_table(const void *user, uint32_t first, uint32_t count, void *out)
{
    const pelt_bench_data *data = user;
    const pelt_bench_unit *unit = data->unit;
    size_t size = pelt_joint_box_table_size(1);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = first + i;
        uint32_t instance = index / unit->mesh_count;
        const pelt_bench_mesh *mesh = &unit->meshes[index % unit->mesh_count];
        struct bench_mesh record = pelt_bench_mesh_record(data, instance, index % unit->mesh_count);
        uint64_t source = data->source_instances > 1 ? instance : 0;
        const pelt_gpu_joint_box_instance joint_box = {
            .bind = data->bind_boxes.address +
                    sizeof(pelt_box) * (source * unit->bind_count + mesh->first_bind),
            .matrices = matrices_of(data, &record),
            .joint_count = mesh->joint_boxes->joint_count,
            .influence_count = mesh->joint_boxes->influence_count,
            .box = data->boxes.address + sizeof(pelt_box) * (VkDeviceAddress)index,
        };
        pelt_joint_box_table_write(&joint_box, 1, (char *)out + i * size);
    }
}

pelt_result pelt_bench_joint_table(pelt_bench_data *data)
{
    return pelt_bench_upload(data->bench, data->mesh_count, (uint32_t)pelt_joint_box_table_size(1),
                             write_joint_table, data, &data->joint_table);
}

static void record_pass(const pelt_bench_data *data, const pelt_bench_tables *tables,
                        VkCommandBuffer commands)
{
    pelt_cmd_skin(data->bench->pass, commands, &tables->tables, tables->table.address,
                  tables->scratch.address);
}

void pelt_bench_record_pelt(const pelt_bench_data *data, VkCommandBuffer commands)
{
    record_pass(data, &data->with_boxes, commands);
}

void pelt_bench_record_pelt_no_box(const pelt_bench_data *data, VkCommandBuffer commands)
{
    record_pass(data, &data->without_boxes, commands);
}

/* Boxes and vertices need nothing of each other: no barrier. */
void pelt_bench_record_per_joint(const pelt_bench_data *data, VkCommandBuffer commands)
{
    pelt_cmd_joint_boxes(data->bench->pass, commands, data->mesh_count, data->joint_table.address);
    record_pass(data, &data->without_boxes, commands);
}
