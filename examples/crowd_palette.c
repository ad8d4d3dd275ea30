/* crowd_palette FILE [COUNT [OUT.ppm]]: draws a crowd of COUNT (5,000) glTF characters with one
 * call for each mesh. They play the file's clips from a baked palette; ten among them are posed
 * live: each looks at a ball above the crowd and reaches for it, if it has joints of the names that
 * the character of `pelt sample` has. Prints how near they come and who is in view, and writes a
 * picture. PELT_VALIDATION=1 turns the validation layers on; exit code 3 means no Vulkan device.
 */
#include <math.h>
#include <pelt/crowd.h>
#include <pelt/pelt.h>
#include <pelt/vulkan_open.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t vertex_code[] =
#include "crowd_palette.vert.inc"
    ;
static const uint32_t fragment_code[] =
#include "crowd_palette.frag.inc"
    ;

enum { WIDTH = 1280, HEIGHT = 720, AGENTS = 10, MATRIX_SIZE = 48 };

/* The joints that live agents move. */
typedef enum agent_joint { HEAD, UPPER_ARM, LOWER_ARM, HAND, AGENT_JOINTS } agent_joint;
static const char *const joint_names[AGENT_JOINTS] = { "head", "upper_arm.L", "lower_arm.L",
                                                       "hand.L" };

typedef struct image {
    VkImage image;
    VkDeviceMemory memory;
    VkImageView view;
} image;

/* Push constants. */
typedef struct draw_constants {
    float view[16];
    float base_color[4];
    VkDeviceAddress mesh, instances, colors;
} draw_constants;

typedef struct scene {
    uint32_t count;
    const char *output;
    pelt_headless *device;
    pelt_model *model;
    pelt_bake *bake;
    pelt_palette_plan plan;
    image palette, color, depth;
    float view[16];

    /* Of each part. */
    pelt_buffer *streams, *indices, *colors;
    uint32_t *index_counts;
    pelt_buffer part_meshes;

    /* The crowd pass. */
    pelt_crowd_pass *crowd_pass;
    pelt_buffer data, members, instances, scratch, draws;

    /* The pose pass, for the agents. */
    pelt_pose_pass *pose_pass;
    pelt_rig *rig;
    pelt_pose_tables tables;
    pelt_buffer rig_data, pose_instances, pose_table, pose_scratch, overrides, matrices, sockets;
    uint32_t joints[AGENT_JOINTS]; /* nodes */
    bool reaches;                  /* the file has them */

    VkDescriptorSetLayout set_layout;
    VkDescriptorPool pool;
    VkDescriptorSet set;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    pelt_buffer pixels;
} scene;

static unsigned error_count;

static void report(void *user, const pelt_message *m)
{
    *(unsigned *)user += m->severity == PELT_ERROR;
    fprintf(stderr, "%s %s: %s\n", m->file ? m->file : "crowd_palette",
            m->pointer ? m->pointer : "", m->text);
}

static const pelt_host host = { .user = &error_count, .message = report };

static void check(bool ok)
{
    if (!ok) {
        fprintf(stderr, "crowd_palette: giving up\n"); /* pelt's errors went to report() */
        exit(EXIT_FAILURE);
    }
}

static void *create_buffer(scene *s, size_t size, VkBufferUsageFlags usage, pelt_memory_kind kind,
                           pelt_buffer *out)
{
    check(pelt_buffer_create(s->device, size, usage, kind, out) == PELT_OK);
    return out->mapped;
}

static void create_image(scene *s, VkFormat format, VkImageUsageFlags usage,
                         VkImageAspectFlags aspect, VkExtent3D size, uint32_t layers, image *out)
{
    VkDevice device = s->device->vulkan.device;
    const VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = format,
        .extent = size,
        .mipLevels = 1,
        .arrayLayers = layers,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = usage,
    };
    check(vkCreateImage(device, &info, NULL, &out->image) == VK_SUCCESS);
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(device, out->image, &needs);
    uint32_t type = 0;
    while (!(needs.memoryTypeBits >> type & 1)) {
        type++; /* an engine would look for DEVICE_LOCAL */
    }
    const VkMemoryAllocateInfo memory = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                          .allocationSize = needs.size,
                                          .memoryTypeIndex = type };
    check(vkAllocateMemory(device, &memory, NULL, &out->memory) == VK_SUCCESS);
    check(vkBindImageMemory(device, out->image, out->memory, 0) == VK_SUCCESS);
    const VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = out->image,
        .viewType = aspect == VK_IMAGE_ASPECT_COLOR_BIT && (usage & VK_IMAGE_USAGE_SAMPLED_BIT)
                        ? VK_IMAGE_VIEW_TYPE_2D_ARRAY
                        : VK_IMAGE_VIEW_TYPE_2D,
        .format = format,
        .subresourceRange = { aspect, 0, 1, 0, layers },
    };
    check(vkCreateImageView(device, &view, NULL, &out->view) == VK_SUCCESS);
}

static void destroy_image(const scene *s, const image *i)
{
    vkDestroyImageView(s->device->vulkan.device, i->view, NULL);
    vkDestroyImage(s->device->vulkan.device, i->image, NULL);
    vkFreeMemory(s->device->vulkan.device, i->memory, NULL);
}

static void change_layout(VkCommandBuffer commands, VkImage of, VkImageAspectFlags aspect,
                          uint32_t first_layer, VkPipelineStageFlags from, VkAccessFlags wrote,
                          VkImageLayout old, VkPipelineStageFlags to, VkAccessFlags next,
                          VkImageLayout new)
{
    const VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = wrote,
        .dstAccessMask = next,
        .oldLayout = old,
        .newLayout = new,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = of,
        .subresourceRange = { aspect, 0, 1, first_layer, VK_REMAINING_ARRAY_LAYERS },
    };
    vkCmdPipelineBarrier(commands, from, to, 0, 0, NULL, 0, NULL, 1, &barrier);
}

static void barrier(VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags wrote,
                    VkPipelineStageFlags to, VkAccessFlags next)
{
    const VkMemoryBarrier memory = { .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = wrote,
                                     .dstAccessMask = next };
    vkCmdPipelineBarrier(commands, from, to, 0, 1, &memory, 0, NULL, 0, NULL);
}

/* -- once ---------------------------------------------------------------------------------- */

static void load(scene *s, const char *path)
{
    check(pelt_gltf_read(&host, path, &s->model) == PELT_OK);
    check(pelt_model_add_normals(s->model) == PELT_OK);
    const pelt_bake_info info = { .model = s->model };
    check(pelt_bake_create(&host, &info, &s->bake) == PELT_OK);
    check(pelt_palette_plan_make(&host, s->bake, AGENTS, 0, 0, &s->plan) == PELT_OK);
    s->reaches = true;
    for (uint32_t j = 0; j < AGENT_JOINTS; j++) {
        uint32_t node = 0;
        while (node < s->model->node_count &&
               !(s->model->nodes[node].name &&
                 strcmp(s->model->nodes[node].name, joint_names[j]) == 0)) {
            node++;
        }
        s->joints[j] = node;
        s->reaches = s->reaches && node < s->model->node_count;
    }
}

/* The bake's texels into the image; the layers of the agents are written each frame. */
static void upload_palette(scene *s)
{
    const VkPipelineStageFlags transfer = VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkExtent3D size = { s->plan.width, s->plan.height, 1 };
    create_image(s, s->plan.format, VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                 VK_IMAGE_ASPECT_COLOR_BIT, size, s->plan.layer_count, &s->palette);
    pelt_buffer staging;
    memcpy(create_buffer(s, s->bake->size, 0, PELT_MEMORY_UPLOAD, &staging), s->bake->texels,
           s->bake->size);
    VkCommandBuffer commands;
    const VkBufferImageCopy region = pelt_palette_copy(s->bake, 0);
    check(pelt_commands_begin(s->device, &commands) == PELT_OK);
    change_layout(commands, s->palette.image, VK_IMAGE_ASPECT_COLOR_BIT, 0,
                  VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, 0, VK_IMAGE_LAYOUT_UNDEFINED, transfer,
                  VK_ACCESS_TRANSFER_WRITE_BIT, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    vkCmdCopyBufferToImage(commands, staging.buffer, s->palette.image,
                           VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
    change_layout(commands, s->palette.image, VK_IMAGE_ASPECT_COLOR_BIT, 0, transfer,
                  VK_ACCESS_TRANSFER_WRITE_BIT, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                  VK_PIPELINE_STAGE_VERTEX_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT,
                  VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    check(pelt_commands_submit(s->device, commands) == PELT_OK);
    pelt_buffer_destroy(s->device, &staging);
}

/* Streams, indices and colours of a part, in packed order; morph targets are left out here. */
static void upload_part(scene *s, uint32_t p)
{
    const pelt_part *part = &s->model->parts[p];
    const pelt_primitive *primitive = &s->model->meshes[part->mesh].primitives[part->primitive];
    const pelt_pack_info info = { .primitive = primitive, .rigid = !part->skinned };
    pelt_packed_mesh *mesh;
    pelt_gpu_mesh gpu_mesh;
    check(pelt_pack(&host, &info, &mesh) == PELT_OK);
    void *streams =
        create_buffer(s, pelt_gpu_mesh_size(mesh), 0, PELT_MEMORY_UPLOAD, &s->streams[p]);
    pelt_gpu_mesh_write(mesh, streams, s->streams[p].address, &gpu_mesh);
    const pelt_bake_palette *palette = pelt_bake_part_palette(s->bake, s->model, p);
    pelt_crowd_mesh_write(&gpu_mesh, palette->first_joint,
                          (char *)s->part_meshes.mapped + (size_t)p * PELT_CROWD_MESH_SIZE);

    s->index_counts[p] = 3 * pelt_primitive_triangle_count(primitive);
    uint32_t *indices =
        create_buffer(s, s->index_counts[p] * sizeof(uint32_t), VK_BUFFER_USAGE_INDEX_BUFFER_BIT,
                      PELT_MEMORY_UPLOAD, &s->indices[p]);
    pelt_primitive_triangles(primitive, indices);
    for (uint32_t i = 0; i < s->index_counts[p]; i++) {
        indices[i] = mesh->packed_vertices[indices[i]];
    }
    if (primitive->colors) {
        float(*colors)[4] = create_buffer(s, primitive->vertex_count * sizeof(*colors), 0,
                                          PELT_MEMORY_UPLOAD, &s->colors[p]);
        for (uint32_t v = 0; v < primitive->vertex_count; v++) {
            memcpy(colors[mesh->packed_vertices[v]], &primitive->colors[4 * (size_t)v],
                   sizeof(*colors));
        }
    }
    pelt_packed_mesh_destroy(mesh);
}

static void upload_parts(scene *s)
{
    uint32_t parts = s->model->part_count;
    s->streams = calloc(parts + 1, sizeof(pelt_buffer));
    s->indices = calloc(parts + 1, sizeof(pelt_buffer));
    s->colors = calloc(parts + 1, sizeof(pelt_buffer));
    s->index_counts = calloc(parts + 1, sizeof(uint32_t));
    check(s->streams && s->indices && s->colors && s->index_counts);
    create_buffer(s, (size_t)parts * PELT_CROWD_MESH_SIZE, 0, PELT_MEMORY_UPLOAD, &s->part_meshes);
    for (uint32_t p = 0; p < parts; p++) {
        upload_part(s, p);
    }
    VkDrawIndexedIndirectCommand *draws =
        create_buffer(s, parts * sizeof(*draws), VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT,
                      PELT_MEMORY_UPLOAD, &s->draws);
    for (uint32_t p = 0; p < parts; p++) {
        draws[p] = (VkDrawIndexedIndirectCommand){ .indexCount = s->index_counts[p] };
    }
}

/* Which member an agent is: they stand next to each other, in the middle of the first rows. */
static uint32_t member_of_agent(const scene *s, uint32_t agent)
{
    uint32_t columns = (uint32_t)ceil(sqrt(s->count));
    return columns > AGENTS ? (columns - AGENTS) / 2 + agent : agent;
}

/* Where a member stands: rows behind each other, the first ones nearest to the camera. */
static void stand(const scene *s, uint32_t member, double world[12])
{
    uint32_t columns = (uint32_t)ceil(sqrt(s->count)), row = member / columns;
    const pelt_box *box = &s->bake->clips[0].box;
    double spacing =
        1.2 * fmax((double)box->max[0] - box->min[0], (double)box->max[2] - box->min[2]);
    const double matrix[12] = { 1, 0, 0, spacing * (member % columns - (columns - 1) / 2.0),
                                0, 1, 0, 0,
                                0, 0, 1, -spacing * row };
    memcpy(world, matrix, sizeof(matrix));
}

static void write_members(scene *s)
{
    char *memory = create_buffer(s, (size_t)s->count * PELT_CROWD_MEMBER_SIZE, 0,
                                 PELT_MEMORY_UPLOAD, &s->members);
    for (uint32_t i = 0; i < s->count; i++) {
        const uint8_t tint[4] = { (uint8_t)(255 - i * 37 % 90), (uint8_t)(255 - i * 61 % 90), 230,
                                  255 };
        double world[12];
        stand(s, i, world);
        pelt_crowd_member member = { .play = { .clip = (int32_t)(i % s->bake->clip_count),
                                               .loop = true,
                                               .speed = 1,
                                               .time = i * 0.37 },
                                     .world = world,
                                     .tint = tint };
        for (uint32_t a = 0; a < AGENTS; a++) {
            if (member_of_agent(s, a) == i) {
                member.live = true;
                member.agent = a;
                member.tint = NULL;
            }
        }
        check(pelt_crowd_member_write(&host, s->bake, &s->plan, &member,
                                      memory + (size_t)i * PELT_CROWD_MEMBER_SIZE) == PELT_OK);
    }
}

static void plan_crowd(scene *s)
{
    const pelt_crowd_pass_info info = { .vulkan = &s->device->vulkan };
    check(pelt_crowd_pass_create(&host, &info, &s->crowd_pass) == PELT_OK);
    pelt_crowd_data_write(
        s->bake, create_buffer(s, pelt_crowd_data_size(s->bake), 0, PELT_MEMORY_UPLOAD, &s->data));
    write_members(s);
    create_buffer(s, (size_t)s->count * PELT_CROWD_INSTANCE_SIZE, 0, PELT_MEMORY_DEVICE,
                  &s->instances);
    create_buffer(s, pelt_crowd_scratch_size(s->count), 0, PELT_MEMORY_DEVICE, &s->scratch);
}

/* Time at which an agent plays the first clip: it stands still in it. */
static double agent_time(uint32_t agent)
{
    return 0.1 * agent;
}

static void plan_agents(scene *s)
{
    const pelt_pose_pass_info info = { .vulkan = &s->device->vulkan };
    const pelt_rig_info rig = { .model = s->model,
                                .sockets = s->joints,
                                .socket_count = s->reaches ? AGENT_JOINTS : 0 };
    check(pelt_pose_pass_create(&host, &info, &s->pose_pass) == PELT_OK);
    check(pelt_rig_create(&host, &rig, &s->rig) == PELT_OK);
    memcpy(create_buffer(s, s->rig->size, 0, PELT_MEMORY_UPLOAD, &s->rig_data), s->rig->data,
           s->rig->size);
    size_t palette = (size_t)s->rig->matrix_count * MATRIX_SIZE;
    size_t sockets = (size_t)AGENT_JOINTS * MATRIX_SIZE;
    size_t overrides = (size_t)AGENT_JOINTS * PELT_POSE_OVERRIDE_SIZE;
    create_buffer(s, AGENTS * palette, 0, PELT_MEMORY_DEVICE, &s->matrices);
    create_buffer(s, AGENTS * sockets, 0, PELT_MEMORY_READBACK, &s->sockets);
    create_buffer(s, AGENTS * overrides, 0, PELT_MEMORY_UPLOAD, &s->overrides);
    char *memory = create_buffer(s, (size_t)AGENTS * PELT_POSE_INSTANCE_SIZE, 0, PELT_MEMORY_UPLOAD,
                                 &s->pose_instances);
    for (uint32_t a = 0; a < AGENTS; a++) {
        /* No world transform: the crowd's member has it. */
        const pelt_pose_instance instance = {
            .play = { .clip = s->model->clip_count > 0 ? 0 : -1, .time = agent_time(a) },
            .matrices = s->matrices.address + a * palette,
            .sockets = s->reaches ? s->sockets.address + a * sockets : 0,
            .overrides = s->overrides.address + a * overrides,
            .override_count = s->reaches ? 3 : 0,
        };
        check(pelt_pose_instance_write(s->rig, &instance,
                                       memory + (size_t)a * PELT_POSE_INSTANCE_SIZE) == PELT_OK);
    }
    const pelt_pose_batch batch = { .rig = s->rig,
                                    .rig_address = s->rig_data.address,
                                    .instance_count = AGENTS };
    check(pelt_pose_tables_measure(s->pose_pass, &batch, 1, &s->tables) == PELT_OK);
    pelt_pose_tables_write(
        s->pose_pass, &batch, 1,
        create_buffer(s, s->tables.table_size, 0, PELT_MEMORY_UPLOAD, &s->pose_table));
    create_buffer(s, s->tables.scratch_size, 0, PELT_MEMORY_DEVICE, &s->pose_scratch);
}

static VkShaderModule create_module(const scene *s, const uint32_t *code, size_t size)
{
    VkShaderModule module;
    const VkShaderModuleCreateInfo info = { .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                            .codeSize = size,
                                            .pCode = code };
    check(vkCreateShaderModule(s->device->vulkan.device, &info, NULL, &module) == VK_SUCCESS);
    return module;
}

static void create_set(scene *s)
{
    VkDevice device = s->device->vulkan.device;
    const VkDescriptorSetLayoutBinding binding = { 0, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 1,
                                                   VK_SHADER_STAGE_VERTEX_BIT, NULL };
    const VkDescriptorSetLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 1,
        .pBindings = &binding,
    };
    const VkDescriptorPoolSize size = { VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 1 };
    const VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = 1,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    check(vkCreateDescriptorSetLayout(device, &layout, NULL, &s->set_layout) == VK_SUCCESS);
    check(vkCreateDescriptorPool(device, &pool, NULL, &s->pool) == VK_SUCCESS);
    const VkDescriptorSetAllocateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = s->pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &s->set_layout,
    };
    check(vkAllocateDescriptorSets(device, &set, &s->set) == VK_SUCCESS);
    const VkDescriptorImageInfo palette = { .imageView = s->palette.view,
                                            .imageLayout =
                                                VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL };
    const VkWriteDescriptorSet write = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = s->set,
        .descriptorCount = 1,
        .descriptorType = VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE,
        .pImageInfo = &palette,
    };
    vkUpdateDescriptorSets(device, 1, &write, 0, NULL);
}

static void create_pipeline(scene *s)
{
    VkDevice device = s->device->vulkan.device;
    const VkPushConstantRange range = { VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof(draw_constants) };
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &s->set_layout,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };
    check(vkCreatePipelineLayout(device, &layout, NULL, &s->layout) == VK_SUCCESS);
    /* 0 says that a row of all joints fits a layer, and saves a division for each. */
    uint32_t joints_per_layer =
        s->bake->joints_per_layer < s->bake->joint_count ? s->bake->joints_per_layer : 0;
    const VkSpecializationMapEntry entry = { 0, 0, sizeof(joints_per_layer) };
    const VkSpecializationInfo constants = { 1, &entry, sizeof(joints_per_layer),
                                             &joints_per_layer };
    const VkPipelineShaderStageCreateInfo stages[] = {
        { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
          .stage = VK_SHADER_STAGE_VERTEX_BIT,
          .module = create_module(s, vertex_code, sizeof(vertex_code)),
          .pName = "main",
          .pSpecializationInfo = &constants },
        { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
          .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
          .module = create_module(s, fragment_code, sizeof(fragment_code)),
          .pName = "main" },
    };
    const VkFormat format = VK_FORMAT_R8G8B8A8_SRGB;
    const VkPipelineRenderingCreateInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .colorAttachmentCount = 1,
        .pColorAttachmentFormats = &format,
        .depthAttachmentFormat = VK_FORMAT_D32_SFLOAT,
    };
    const VkPipelineVertexInputStateCreateInfo no_input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
    };
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
    };
    const VkViewport viewport = { 0, 0, WIDTH, HEIGHT, 0, 1 };
    const VkRect2D scissor = { { 0, 0 }, { WIDTH, HEIGHT } };
    const VkPipelineViewportStateCreateInfo viewports = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .pViewports = &viewport,
        .scissorCount = 1,
        .pScissors = &scissor,
    };
    const VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .lineWidth = 1,
    };
    const VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT,
    };
    const VkPipelineDepthStencilStateCreateInfo depth = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
        .depthTestEnable = VK_TRUE,
        .depthWriteEnable = VK_TRUE,
        .depthCompareOp = VK_COMPARE_OP_LESS,
    };
    const VkPipelineColorBlendAttachmentState opaque = { .colorWriteMask = 15 };
    const VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &opaque,
    };
    const VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .pNext = &rendering,
        .stageCount = 2,
        .pStages = stages,
        .pVertexInputState = &no_input,
        .pInputAssemblyState = &assembly,
        .pViewportState = &viewports,
        .pRasterizationState = &raster,
        .pMultisampleState = &samples,
        .pDepthStencilState = &depth,
        .pColorBlendState = &blend,
        .layout = s->layout,
    };
    check(vkCreateGraphicsPipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &s->pipeline) ==
          VK_SUCCESS);
    vkDestroyShaderModule(device, stages[0].module, NULL);
    vkDestroyShaderModule(device, stages[1].module, NULL);
}

/* The camera stands in front of the first row, a little above it, and looks a little down: by
 * columns, from the scene to Vulkan's clip space. */
static void place_camera(scene *s)
{
    const pelt_box *box = &s->bake->clips[0].box;
    const double size = (double)box->max[1] - box->min[1], eye[3] = { 0, 2 * size, 6 * size };
    const double sine = 0.16, cosine = sqrt(1 - sine * sine);
    const double right[3] = { 1, 0, 0 }, up[3] = { 0, cosine, -sine },
                 back[3] = { 0, sine, cosine };
    const double near = 0.5 * size, far = 200 * size, slope = 0.45;
    for (int k = 0; k < 4; k++) {
        double r = 0, u = 0, b = 0;
        for (int i = 0; i < 3; i++) {
            double at = k < 3 ? (double)(i == k) : -eye[i];
            r += right[i] * at;
            u += up[i] * at;
            b += back[i] * at;
        }
        s->view[4 * k] = (float)(r / slope * HEIGHT / WIDTH);
        s->view[4 * k + 1] = (float)(-u / slope);
        s->view[4 * k + 2] = (float)((-b * far - (k == 3 ? near * far : 0)) / (far - near));
        s->view[4 * k + 3] = (float)-b;
    }
}

/* -- inverse kinematics -------------------------------------------------------------------- */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static void subtract(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = a[i] - b[i];
    }
}

static double length(const double a[3])
{
    return sqrt(dot(a, a));
}

static void origin_of(const double matrix[12], double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = matrix[4 * (size_t)i + 3];
    }
}

static void move(const double matrix[12], const double p[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = dot(matrix + 4 * (size_t)i, p) + matrix[4 * (size_t)i + 3];
    }
}

static void multiply(const double a[12], const double b[12], double out[12])
{
    for (int i = 0; i < 12; i++) {
        size_t row = (size_t)i / 4 * 4, column = (size_t)i % 4;
        out[i] = a[row] * b[column] + a[row + 1] * b[4 + column] + a[row + 2] * b[8 + column] +
                 (column == 3 ? a[row + 3] : 0);
    }
}

/* Turns about a place, from one direction to another (Rodrigues; not for opposite ones). */
static void turn(const double place[3], const double from[3], const double to[3], double out[12])
{
    double size = length(from) * length(to), axis[3];
    cross(from, to, axis);
    double c = dot(from, to) / size, k = 1 / (1 + c);
    for (int i = 0; i < 3; i++) {
        axis[i] /= size;
    }
    const double skew[9] = { 0, -axis[2], axis[1], axis[2], 0, -axis[0], -axis[1], axis[0], 0 };
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 3; j++) {
            out[4 * i + j] = (i == j ? c : 0) + k * axis[i] * axis[j] + skew[3 * i + j];
        }
        out[4 * i + 3] = place[i] - dot(out + 4 * i, place);
    }
}

/* The elbow's place so that both bones reach from shoulder to hand, in the plane that the arm is
 * in; a hand out of reach is taken nearer. */
static void bend(const double shoulder[3], const double elbow[3], const double hand[3],
                 double target[3], double out[3])
{
    double upper[3], lower[3], away[3], pole[3];
    subtract(elbow, shoulder, upper);
    subtract(hand, elbow, lower);
    subtract(target, shoulder, away);
    double a = length(upper), b = length(lower), far = length(away);
    double reach = fmin(fmax(far, 1.001 * fabs(a - b)), 0.999 * (a + b));
    for (int i = 0; i < 3; i++) {
        away[i] /= far;
        target[i] = shoulder[i] + reach * away[i];
    }
    double along = (a * a + reach * reach - b * b) / (2 * reach), in = dot(upper, away);
    for (int i = 0; i < 3; i++) {
        pole[i] = upper[i] - in * away[i];
    }
    double side = sqrt(fmax(a * a - along * along, 0)) / length(pole);
    for (int i = 0; i < 3; i++) {
        out[i] = shoulder[i] + along * away[i] + side * pole[i];
    }
}

/* What an agent looks at and reaches for, in its own space. */
static void ball(const scene *s, uint32_t agent, double out[3])
{
    const pelt_box *box = &s->bake->clips[0].box;
    double size = (double)box->max[1] - box->min[1];
    out[0] = size * (0.35 + 0.03 * agent);
    out[1] = size * (0.5 + 0.05 * agent);
    out[2] = size * 0.45;
}

/* Head, upper and lower arm: their global transforms instead of the clip's. What is below follows.
 * target: where the hand will be. */
static void aim(const scene *s, const pelt_pose *pose, uint32_t agent, double target[3],
                pelt_pose_override overrides[3])
{
    const double *global[AGENT_JOINTS], forward[3] = { 0, 0, 1 };
    double place[AGENT_JOINTS][3], gaze[3], elbow[3], from[3], to[3], moved[3], turned[12];
    for (int j = 0; j < AGENT_JOINTS; j++) {
        global[j] = pose->globals + 12 * (size_t)s->joints[j];
        origin_of(global[j], place[j]);
    }
    ball(s, agent, target);
    subtract(target, place[HEAD], gaze);
    turn(place[HEAD], forward, gaze, turned);
    multiply(turned, global[HEAD], overrides[0].matrix);

    bend(place[UPPER_ARM], place[LOWER_ARM], place[HAND], target, elbow);
    subtract(place[LOWER_ARM], place[UPPER_ARM], from);
    subtract(elbow, place[UPPER_ARM], to);
    turn(place[UPPER_ARM], from, to, turned);
    multiply(turned, global[UPPER_ARM], overrides[1].matrix);

    double carried[12], bent[12];
    multiply(turned, global[LOWER_ARM], carried);
    move(turned, place[HAND], moved);
    subtract(moved, elbow, from);
    subtract(target, elbow, to);
    turn(elbow, from, to, bent);
    multiply(bent, carried, overrides[2].matrix);
    for (int i = 0; i < 3; i++) {
        overrides[i].kind = PELT_OVERRIDE_GLOBAL_REPLACE;
        overrides[i].node = s->joints[i];
    }
}

/* Poses each agent on the CPU, for its joints' places alone. targets: where hands will be. */
static void aim_agents(scene *s, double targets[AGENTS][3])
{
    pelt_pose *pose;
    check(pelt_pose_create(&host, s->model, &pose) == PELT_OK);
    for (uint32_t a = 0; a < AGENTS && s->reaches; a++) {
        const pelt_play play = { .clip = s->model->clip_count > 0 ? 0 : -1, .time = agent_time(a) };
        pelt_pose_override overrides[3];
        check(pelt_pose_evaluate(pose, &play, 1) == PELT_OK);
        aim(s, pose, a, targets[a], overrides);
        check(pelt_pose_overrides_write(s->rig, overrides, 3,
                                        (char *)s->overrides.mapped +
                                            (size_t)a * AGENT_JOINTS * PELT_POSE_OVERRIDE_SIZE) ==
              PELT_OK);
    }
    pelt_pose_destroy(pose);
}

/* -- a frame ------------------------------------------------------------------------------- */

/* The agents' matrices, from the pose pass into their rows. */
static void record_agents(scene *s, VkCommandBuffer commands, double now)
{
    const pelt_pose_frame frame = { .now = now, .all = true };
    pelt_cmd_pose(s->pose_pass, commands, &s->tables, s->pose_table.address,
                  s->pose_instances.address, s->pose_scratch.address, &frame);
    barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
            VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
    uint32_t count = 0;
    check(pelt_palette_live_copies(&host, &s->plan, s->bake, s->model, 0, AGENTS, 0, NULL,
                                   &count) == PELT_OK);
    VkBufferImageCopy *regions = calloc(count + 1, sizeof(*regions));
    check(regions && pelt_palette_live_copies(&host, &s->plan, s->bake, s->model, 0, AGENTS, 0,
                                              regions, &count) == PELT_OK);
    /* Only the agents' layers; what they held is not needed any more. */
    change_layout(commands, s->palette.image, VK_IMAGE_ASPECT_COLOR_BIT, s->plan.live_layer,
                  VK_PIPELINE_STAGE_VERTEX_SHADER_BIT, 0, VK_IMAGE_LAYOUT_UNDEFINED,
                  VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                  VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    vkCmdCopyBufferToImage(commands, s->matrices.buffer, s->palette.image,
                           VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, count, regions);
    change_layout(commands, s->palette.image, VK_IMAGE_ASPECT_COLOR_BIT, s->plan.live_layer,
                  VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                  VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_PIPELINE_STAGE_VERTEX_SHADER_BIT,
                  VK_ACCESS_SHADER_READ_BIT, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    free(regions);
}

/* Everyone's rows, and who is in view. */
static void record_crowd(const scene *s, VkCommandBuffer commands, double now)
{
    const pelt_crowd_frame frame = { .data = s->data.address,
                                     .members = s->members.address,
                                     .member_count = s->count,
                                     .instances = s->instances.address,
                                     .scratch = s->scratch.address,
                                     .draws = s->draws.address,
                                     .draw_count = s->model->part_count,
                                     .now = now,
                                     .view = s->view,
                                     .interpolation = PELT_BAKE_LERP };
    pelt_cmd_crowd(s->crowd_pass, commands, &frame);
    barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
            VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT | VK_PIPELINE_STAGE_VERTEX_SHADER_BIT,
            VK_ACCESS_INDIRECT_COMMAND_READ_BIT | VK_ACCESS_SHADER_READ_BIT);
}

/* The call: all instances of a mesh. */
static void record_draw(const scene *s, VkCommandBuffer commands, uint32_t p)
{
    const pelt_part *part = &s->model->parts[p];
    int32_t material = s->model->meshes[part->mesh].primitives[part->primitive].material;
    draw_constants constants = {
        .base_color = { 1, 1, 1, 1 },
        .mesh = s->part_meshes.address + (VkDeviceSize)p * PELT_CROWD_MESH_SIZE,
        .instances = s->instances.address,
        .colors = s->colors[p].address,
    };
    memcpy(constants.view, s->view, sizeof(constants.view));
    if (material >= 0) {
        memcpy(constants.base_color, s->model->materials[material].base_color,
               sizeof(constants.base_color));
    }
    vkCmdPushConstants(commands, s->layout, VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof(constants),
                       &constants);
    vkCmdBindIndexBuffer(commands, s->indices[p].buffer, 0, VK_INDEX_TYPE_UINT32);
    vkCmdDrawIndexedIndirect(commands, s->draws.buffer, p * sizeof(VkDrawIndexedIndirectCommand), 1,
                             sizeof(VkDrawIndexedIndirectCommand));
}

static void record_picture(const scene *s, VkCommandBuffer commands)
{
    const VkPipelineStageFlags output = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
    const VkPipelineStageFlags tests = VK_PIPELINE_STAGE_EARLY_FRAGMENT_TESTS_BIT;
    change_layout(commands, s->color.image, VK_IMAGE_ASPECT_COLOR_BIT, 0, output, 0,
                  VK_IMAGE_LAYOUT_UNDEFINED, output, VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
                  VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL);
    change_layout(commands, s->depth.image, VK_IMAGE_ASPECT_DEPTH_BIT, 0, tests, 0,
                  VK_IMAGE_LAYOUT_UNDEFINED, tests, VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT,
                  VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL);
    const VkRenderingAttachmentInfo color = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = s->color.view,
        .imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .clearValue = { .color = { .float32 = { 0.6f, 0.65f, 0.7f, 1 } } },
    };
    const VkRenderingAttachmentInfo depth = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = s->depth.view,
        .imageLayout = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
        .clearValue = { .depthStencil = { 1, 0 } },
    };
    const VkRenderingInfo info = { .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                                   .renderArea = { { 0, 0 }, { WIDTH, HEIGHT } },
                                   .layerCount = 1,
                                   .colorAttachmentCount = 1,
                                   .pColorAttachments = &color,
                                   .pDepthAttachment = &depth };
    vkCmdBeginRendering(commands, &info);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, s->pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, s->layout, 0, 1, &s->set, 0,
                            NULL);
    for (uint32_t p = 0; p < s->model->part_count; p++) {
        record_draw(s, commands, p);
    }
    vkCmdEndRendering(commands);
    change_layout(commands, s->color.image, VK_IMAGE_ASPECT_COLOR_BIT, 0, output,
                  VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
                  VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT,
                  VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    const VkBufferImageCopy copy = { .imageSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1 },
                                     .imageExtent = { WIDTH, HEIGHT, 1 } };
    vkCmdCopyImageToBuffer(commands, s->color.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                           s->pixels.buffer, 1, &copy);
}

static void draw(scene *s, double now)
{
    VkCommandBuffer commands;
    check(pelt_commands_begin(s->device, &commands) == PELT_OK);
    record_agents(s, commands, now);
    record_crowd(s, commands, now);
    record_picture(s, commands);
    check(pelt_commands_submit(s->device, commands) == PELT_OK);
}

/* -- what came of it ----------------------------------------------------------------------- */

static void print_agents(const scene *s, double targets[AGENTS][3])
{
    const float(*sockets)[AGENT_JOINTS][12] = s->sockets.mapped;
    for (uint32_t a = 0; a < AGENTS && s->reaches; a++) {
        double hand[3], off[3];
        for (int i = 0; i < 3; i++) {
            hand[i] = (double)sockets[a][HAND][4 * i + 3];
        }
        subtract(hand, targets[a], off);
        printf("agent %u, member %u: hand at (%.4f %.4f %.4f), %.1e from where it shall be\n", a,
               member_of_agent(s, a), hand[0], hand[1], hand[2], length(off));
    }
}

static void write_picture(const scene *s)
{
    FILE *file = s->output ? fopen(s->output, "wb") : NULL;
    if (!file) {
        check(!s->output);
        return;
    }
    const uint8_t *rgba = s->pixels.mapped;
    bool ok = fprintf(file, "P6\n%d %d\n255\n", WIDTH, HEIGHT) > 0;
    for (size_t i = 0; ok && i < (size_t)WIDTH * HEIGHT; i++) {
        ok = fwrite(rgba + 4 * i, 3, 1, file) == 1;
    }
    check(fclose(file) == 0 && ok);
}

static void destroy(scene *s)
{
    VkDevice device = s->device->vulkan.device;
    vkDestroyPipeline(device, s->pipeline, NULL);
    vkDestroyPipelineLayout(device, s->layout, NULL);
    vkDestroyDescriptorPool(device, s->pool, NULL);
    vkDestroyDescriptorSetLayout(device, s->set_layout, NULL);
    destroy_image(s, &s->palette);
    destroy_image(s, &s->color);
    destroy_image(s, &s->depth);
    for (uint32_t p = 0; p < s->model->part_count; p++) {
        pelt_buffer_destroy(s->device, &s->streams[p]);
        pelt_buffer_destroy(s->device, &s->indices[p]);
        pelt_buffer_destroy(s->device, &s->colors[p]);
    }
    free(s->streams);
    free(s->indices);
    free(s->colors);
    free(s->index_counts);
    pelt_buffer *buffers[] = { &s->part_meshes, &s->data,         &s->members,   &s->instances,
                               &s->scratch,     &s->draws,        &s->rig_data,  &s->pose_instances,
                               &s->pose_table,  &s->pose_scratch, &s->overrides, &s->matrices,
                               &s->sockets,     &s->pixels };
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        pelt_buffer_destroy(s->device, buffers[i]);
    }
    pelt_rig_destroy(s->rig);
    pelt_pose_pass_destroy(s->pose_pass);
    pelt_crowd_pass_destroy(s->crowd_pass);
    pelt_bake_destroy(s->bake);
    pelt_model_destroy(s->model);
    pelt_vulkan_close(s->device);
}

int main(int argc, char **argv)
{
    scene s = { .count = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 5000,
                .output = argc > 3 ? argv[3] : NULL };
    if (argc < 2 || argc > 4 || s.count < AGENTS) {
        fprintf(stderr, "usage: crowd_palette FILE [COUNT [OUT.ppm]], COUNT from 10 on\n");
        return EXIT_FAILURE;
    }
    const char *validation = getenv("PELT_VALIDATION");
    pelt_headless_info info = { .validation = validation && strcmp(validation, "1") == 0 };
    pelt_result opened = pelt_vulkan_open(&host, &info, &s.device);
    if (opened != PELT_OK) {
        return opened == PELT_ERROR_DEVICE ? 3 : EXIT_FAILURE;
    }
    if (!s.device->dynamic_rendering) {
        fprintf(stderr, "crowd_palette: this device does not render without a render pass\n");
        pelt_vulkan_close(s.device);
        return 3;
    }
    const VkExtent3D size = { WIDTH, HEIGHT, 1 };
    load(&s, argv[1]);
    upload_palette(&s);
    upload_parts(&s);
    plan_crowd(&s);
    plan_agents(&s);
    create_set(&s);
    create_pipeline(&s);
    create_image(&s, VK_FORMAT_R8G8B8A8_SRGB,
                 VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                 VK_IMAGE_ASPECT_COLOR_BIT, size, 1, &s.color);
    create_image(&s, VK_FORMAT_D32_SFLOAT, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT,
                 VK_IMAGE_ASPECT_DEPTH_BIT, size, 1, &s.depth);
    create_buffer(&s, (size_t)4 * WIDTH * HEIGHT, 0, PELT_MEMORY_READBACK, &s.pixels);
    place_camera(&s);

    double targets[AGENTS][3] = { { 0 } };
    aim_agents(&s, targets);
    draw(&s, 0.5);
    print_agents(&s, targets);
    const VkDrawIndexedIndirectCommand *draws = s.draws.mapped;
    printf("%s: %u of %u members in view, %u posed live, %u draw call%s\n",
           s.device->properties.deviceName, s.model->part_count ? draws[0].instanceCount : 0,
           s.count, AGENTS, s.model->part_count, s.model->part_count == 1 ? "" : "s");
    write_picture(&s);
    destroy(&s);
    /* What validation has to say comes to report(), the last of it while the device closes. */
    return error_count > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
