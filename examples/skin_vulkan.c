/* skin_vulkan FILE [COUNT]: skins COUNT (100) instances of a glTF character on the GPU the way an
 * engine does: everything is planned once, then two frames are in flight, so that the CPU poses one
 * while the GPU skins the other. Prints the GPU's time of each frame and the exact boxes of the
 * last. PELT_VALIDATION=1 turns the validation layers on; exit code 3 means no Vulkan device.
 */
#include <pelt/pelt.h>
#include <pelt/vulkan_open.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 8, IN_FLIGHT = 2, MATRIX_SIZE = 12 * sizeof(float) };

/* A part of the character, and where its data lies in that of an instance. */
typedef struct planned_part {
    const pelt_primitive *primitive;
    pelt_packed_mesh *mesh;
    size_t morphed;  /* in the inputs: vertices with morph targets applied; 0: it has none */
    size_t animated; /* in the outputs: vertices, 16 bytes each */
} planned_part;

/* What the CPU fills and reads while the GPU works on the other frame. */
typedef struct frame {
    pelt_buffer inputs; /* an instance: its skin matrices, then morphed vertices */
    pelt_buffer boxes;
    VkCommandBuffer commands;
    VkFence done;
    uint32_t first_query;
} frame;

typedef struct scene {
    pelt_headless *device;
    pelt_model *model;
    pelt_pose *pose;
    planned_part *parts;
    uint32_t count;
    size_t input_size, output_size; /* of one instance */

    pelt_skin_pass *pass;
    pelt_skin_tables tables;
    pelt_buffer meshes, table, scratch; /* written once, but for scratch */
    pelt_buffer inputs, outputs, boxes; /* of the frame that the GPU works on */
    VkCommandPool pool;
    VkQueryPool queries;
    frame frames[IN_FLIGHT];
} scene;

static void report(void *user, const pelt_message *m)
{
    *(unsigned *)user += m->severity == PELT_ERROR;
    fprintf(stderr, "%s %s: %s\n", m->file ? m->file : "skin_vulkan", m->pointer ? m->pointer : "",
            m->text);
}

static unsigned error_count;
static const pelt_host host = { .user = &error_count, .message = report };

static void check(bool ok)
{
    if (!ok) {
        fprintf(stderr, "skin_vulkan: giving up\n"); /* pelt's errors went to report() */
        exit(EXIT_FAILURE);
    }
}

/* Reads and packs the character; plans what one instance takes. */
static void load(scene *s, const char *path)
{
    check(pelt_gltf_read(&host, path, &s->model) == PELT_OK);
    check(pelt_pose_create(&host, s->model, &s->pose) == PELT_OK);
    s->parts = calloc(s->model->part_count + 1, sizeof(*s->parts));
    check(s->parts);
    s->input_size = (size_t)s->model->matrix_count * MATRIX_SIZE;
    for (uint32_t i = 0; i < s->model->part_count; i++) {
        const pelt_part *from = &s->model->parts[i];
        planned_part *to = &s->parts[i];
        to->primitive = &s->model->meshes[from->mesh].primitives[from->primitive];
        pelt_pack_info info = { .primitive = to->primitive, .rigid = !from->skinned };
        check(pelt_pack(&host, &info, &to->mesh) == PELT_OK);
        size_t size = to->mesh->vertex_count * sizeof(pelt_packed_vertex);
        if (to->primitive->target_count > 0) {
            to->morphed = s->input_size;
            s->input_size += size;
        }
        to->animated = s->output_size;
        s->output_size += size;
    }
}

static void create_buffer(scene *s, size_t size, pelt_memory_kind kind, pelt_buffer *out)
{
    check(pelt_buffer_create(s->device, size, 0, kind, out) == PELT_OK);
}

/* The streams of all meshes go behind each other into one buffer. */
static void upload_meshes(scene *s, pelt_gpu_mesh *meshes)
{
    size_t size = 0, offset = 0;
    for (uint32_t i = 0; i < s->model->part_count; i++) {
        size += pelt_gpu_mesh_size(s->parts[i].mesh);
    }
    create_buffer(s, size, PELT_MEMORY_DEVICE, &s->meshes);
    char *bytes = calloc(size + 1, 1);
    check(bytes);
    for (uint32_t i = 0; i < s->model->part_count; i++) {
        pelt_gpu_mesh_write(s->parts[i].mesh, bytes + offset, s->meshes.address + offset,
                            &meshes[i]);
        offset += pelt_gpu_mesh_size(s->parts[i].mesh);
    }
    check(pelt_buffer_upload(s->device, &s->meshes, 0, bytes, size) == PELT_OK);
    free(bytes);
}

/* Part p of instance i: from where to where the pass shall skin it. */
static pelt_gpu_instance describe(const scene *s, uint32_t i, uint32_t p)
{
    const planned_part *part = &s->parts[p];
    const pelt_palette *palette = &s->model->palettes[s->model->parts[p].palette];
    VkDeviceAddress inputs = s->inputs.address + i * s->input_size;
    VkDeviceAddress animated = s->outputs.address + i * s->output_size + part->animated;
    return (pelt_gpu_instance){
        .mesh = p,
        .matrices = inputs + (VkDeviceAddress)palette->first_matrix * MATRIX_SIZE,
        .vertices = part->morphed ? inputs + part->morphed : 0,
        .positions = animated, /* normals in between make 16-byte vertices; no tangents here */
        .position_stride = sizeof(pelt_packed_vertex),
        .normals = animated + 12,
        .normal_stride = sizeof(pelt_packed_vertex),
        .box = s->boxes.address + (i * s->model->part_count + p) * sizeof(pelt_box),
    };
}

/* The pass, its buffers and its tables. They hold until an instance comes, goes or is skipped. */
static void plan(scene *s)
{
    uint32_t part_count = s->model->part_count;
    check(s->count <= UINT32_MAX / (part_count + 1));
    uint32_t total = s->count * part_count;
    pelt_gpu_mesh *meshes = calloc(part_count + 1, sizeof(*meshes));
    pelt_gpu_instance *instances = calloc(total + 1, sizeof(*instances));
    check(meshes && instances);
    upload_meshes(s, meshes);
    create_buffer(s, s->count * s->input_size, PELT_MEMORY_DEVICE, &s->inputs);
    create_buffer(s, s->count * s->output_size, PELT_MEMORY_DEVICE, &s->outputs);
    create_buffer(s, total * sizeof(pelt_box), PELT_MEMORY_DEVICE, &s->boxes);
    for (uint32_t n = 0; n < total; n++) {
        instances[n] = describe(s, n / part_count, n % part_count);
    }

    pelt_skin_pass_info pass_info = { .vulkan = &s->device->vulkan };
    pelt_skin_tables_info info = { meshes, part_count, instances, total };
    check(pelt_skin_pass_create(&host, &pass_info, &s->pass) == PELT_OK);
    check(pelt_skin_tables_measure(s->pass, &info, &s->tables) == PELT_OK);
    create_buffer(s, s->tables.scratch_size, PELT_MEMORY_DEVICE, &s->scratch);
    create_buffer(s, s->tables.table_size, PELT_MEMORY_DEVICE, &s->table);
    void *table = calloc(s->tables.table_size + 1, 1);
    check(table);
    pelt_skin_tables_write(s->pass, &info, &s->tables, table);
    check(pelt_buffer_upload(s->device, &s->table, 0, table, s->tables.table_size) == PELT_OK);
    free(table);
    free(instances);
    free(meshes);
}

static void create_frames(scene *s)
{
    VkDevice device = s->device->vulkan.device;
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = s->device->queue_family,
    };
    check(vkCreateCommandPool(device, &pool, NULL, &s->pool) == VK_SUCCESS);
    const VkQueryPoolCreateInfo queries = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = 2 * IN_FLIGHT,
    };
    check(vkCreateQueryPool(device, &queries, NULL, &s->queries) == VK_SUCCESS);
    for (uint32_t i = 0; i < IN_FLIGHT; i++) {
        frame *f = &s->frames[i];
        f->first_query = 2 * i;
        create_buffer(s, s->inputs.size, PELT_MEMORY_UPLOAD, &f->inputs);
        create_buffer(s, s->boxes.size, PELT_MEMORY_READBACK, &f->boxes);
        const VkCommandBufferAllocateInfo commands = {
            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
            .commandPool = s->pool,
            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
            .commandBufferCount = 1,
        };
        check(vkAllocateCommandBuffers(device, &commands, &f->commands) == VK_SUCCESS);
        const VkFenceCreateInfo fence = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO };
        check(vkCreateFence(device, &fence, NULL, &f->done) == VK_SUCCESS);
    }
}

/* Instances stand in rows of ten, two metres apart, each an eighth of a second ahead of the one
 * before. */
static double time_of(uint32_t instance, unsigned number)
{
    return instance / 8.0 + number / 60.0;
}

static double x_of(uint32_t instance)
{
    return 2.0 * (instance % 10);
}

static double z_of(uint32_t instance)
{
    const uint32_t row = instance / 10;
    return 2.0 * row;
}

/* The CPU's part of a frame: skin matrices and morphed vertices of all instances. */
static void pose(const scene *s, const frame *f, unsigned number)
{
    for (uint32_t i = 0; i < s->count; i++) {
        char *inputs = (char *)f->inputs.mapped + i * s->input_size;
        const pelt_play play = { .clip = s->model->clip_count > 0 ? 0 : -1,
                                 .time = time_of(i, number),
                                 .loop = true };
        const double world[12] = { 1, 0, 0, x_of(i), 0, 1, 0, 0, 0, 0, 1, z_of(i) };
        check(pelt_pose_evaluate(s->pose, &play, 1) == PELT_OK);
        check(pelt_pose_skin_matrices(s->pose, world, (void *)inputs) == PELT_OK);
        for (uint32_t p = 0; p < s->model->part_count; p++) {
            const planned_part *part = &s->parts[p];
            if (part->morphed) {
                pelt_pack_morphed(part->mesh, part->primitive,
                                  pelt_pose_part_morph_weights(s->pose, &s->model->parts[p]),
                                  (void *)(inputs + part->morphed), NULL);
            }
        }
    }
}

static void barrier(VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags wrote,
                    VkPipelineStageFlags to, VkAccessFlags next)
{
    const VkMemoryBarrier memory = { .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = wrote,
                                     .dstAccessMask = next };
    vkCmdPipelineBarrier(commands, from, to, 0, 1, &memory, 0, NULL, 0, NULL);
}

static void timestamp(const scene *s, const frame *f, uint32_t which)
{
    if (s->device->timestamp_period > 0) {
        vkCmdWriteTimestamp(f->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, s->queries,
                            f->first_query + which);
    }
}

static void copy(VkCommandBuffer commands, const pelt_buffer *from, const pelt_buffer *to)
{
    const VkBufferCopy whole = { .size = from->size };
    vkCmdCopyBuffer(commands, from->buffer, to->buffer, 1, &whole);
}

/* The GPU's part. */
static void record(const scene *s, const frame *f)
{
    const VkPipelineStageFlags compute = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    const VkPipelineStageFlags transfer = VK_PIPELINE_STAGE_TRANSFER_BIT;
    VkCommandBuffer commands = f->commands;

    /* The frame before still reads its inputs and boxes, which this one overwrites, and writes its
     * vertices. An engine whose passes have read them since waits for those instead. */
    barrier(commands, compute | transfer, VK_ACCESS_SHADER_WRITE_BIT, compute | transfer,
            VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
    copy(commands, &f->inputs, &s->inputs);
    /* Inputs, and from before the first frame meshes and table: copied, before they are read. */
    barrier(commands, transfer, VK_ACCESS_TRANSFER_WRITE_BIT, compute, VK_ACCESS_SHADER_READ_BIT);

    vkCmdResetQueryPool(commands, s->queries, f->first_query, 2);
    timestamp(s, f, 0);
    pelt_cmd_skin(s->pass, commands, &s->tables, s->table.address, s->scratch.address);
    timestamp(s, f, 1);

    /* Outputs: written, before they are read. An engine that draws adds VERTEX_INPUT and
     * VERTEX_ATTRIBUTE_READ here; docs/integration.md lists other readers. */
    barrier(commands, compute, VK_ACCESS_SHADER_WRITE_BIT, transfer, VK_ACCESS_TRANSFER_READ_BIT);
    copy(commands, &s->boxes, &f->boxes);
    barrier(commands, transfer, VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_HOST_BIT,
            VK_ACCESS_HOST_READ_BIT);
}

static void start(const scene *s, const frame *f, unsigned number)
{
    pose(s, f, number);
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    const VkSubmitInfo submit = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                  .commandBufferCount = 1,
                                  .pCommandBuffers = &f->commands };
    check(vkBeginCommandBuffer(f->commands, &begin) == VK_SUCCESS);
    record(s, f);
    check(vkEndCommandBuffer(f->commands) == VK_SUCCESS);
    check(vkQueueSubmit(s->device->queue, 1, &submit, f->done) == VK_SUCCESS);
}

static void finish(const scene *s, const frame *f, unsigned number)
{
    VkDevice device = s->device->vulkan.device;
    uint64_t ticks[2] = { 0, 0 };
    check(vkWaitForFences(device, 1, &f->done, VK_TRUE, UINT64_MAX) == VK_SUCCESS);
    check(vkResetFences(device, 1, &f->done) == VK_SUCCESS);
    if (s->device->timestamp_period > 0) {
        check(vkGetQueryPoolResults(device, s->queries, f->first_query, 2, sizeof(ticks), ticks,
                                    sizeof(ticks[0]), VK_QUERY_RESULT_64_BIT) == VK_SUCCESS);
    }
    printf("frame %u: skinned in %.4f ms\n", number,
           (double)(ticks[1] - ticks[0]) * s->device->timestamp_period * 1e-6);
}

static void print_boxes(const scene *s, const frame *f, unsigned number)
{
    const pelt_box *box = f->boxes.mapped;
    for (uint32_t i = 0; i < s->count; i++) {
        for (uint32_t p = 0; p < s->model->part_count; p++, box++) {
            printf("instance %u at (%g 0 %g), %.9g s, node %u: box (%.7g %.7g %.7g) to "
                   "(%.7g %.7g %.7g)\n",
                   i, x_of(i), z_of(i), time_of(i, number), s->model->parts[p].node, box->min[0],
                   box->min[1], box->min[2], box->max[0], box->max[1], box->max[2]);
        }
    }
}

static void destroy(scene *s)
{
    VkDevice device = s->device->vulkan.device;
    for (uint32_t i = 0; i < IN_FLIGHT; i++) {
        vkDestroyFence(device, s->frames[i].done, NULL);
        pelt_buffer_destroy(s->device, &s->frames[i].boxes);
        pelt_buffer_destroy(s->device, &s->frames[i].inputs);
    }
    vkDestroyQueryPool(device, s->queries, NULL);
    vkDestroyCommandPool(device, s->pool, NULL);
    pelt_buffer *buffers[] = { &s->meshes, &s->table,   &s->scratch,
                               &s->inputs, &s->outputs, &s->boxes };
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        pelt_buffer_destroy(s->device, buffers[i]);
    }
    pelt_skin_pass_destroy(s->pass);
    for (uint32_t i = 0; i < s->model->part_count; i++) {
        pelt_packed_mesh_destroy(s->parts[i].mesh);
    }
    free(s->parts);
    pelt_pose_destroy(s->pose);
    pelt_model_destroy(s->model);
    pelt_vulkan_close(s->device);
}

int main(int argc, char **argv)
{
    scene s = { .count = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 100 };
    if (argc < 2 || argc > 3 || s.count == 0) {
        fprintf(stderr, "usage: skin_vulkan FILE [COUNT]\n");
        return EXIT_FAILURE;
    }
    const char *validation = getenv("PELT_VALIDATION");
    pelt_headless_info info = { .validation = validation && strcmp(validation, "1") == 0 };
    pelt_result opened = pelt_vulkan_open(&host, &info, &s.device);
    if (opened != PELT_OK) {
        return opened == PELT_ERROR_DEVICE ? 3 : EXIT_FAILURE;
    }
    load(&s, argv[1]);
    plan(&s);
    create_frames(&s);
    printf("%s: %u instances, parts of each: %u, workgroups: %u\n", s.device->properties.deviceName,
           s.count, s.model->part_count, s.tables.chunk_count);
    for (unsigned n = 0; n < FRAMES + IN_FLIGHT; n++) {
        frame *f = &s.frames[n % IN_FLIGHT];
        if (n >= IN_FLIGHT) {
            finish(&s, f, n - IN_FLIGHT);
        }
        if (n < FRAMES) {
            start(&s, f, n);
        }
    }
    print_boxes(&s, &s.frames[(FRAMES - 1) % IN_FLIGHT], FRAMES - 1);
    destroy(&s);
    /* What validation has to say comes to report(), the last of it while the device closes. */
    return error_count > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
