/* Live matrices in a baked palette's image: a row that the pose pass and a copy have made is the
 * row that was baked for the same time. */
#include "sample/sample.h"
#include "tests/gpu_pose.h"

#include <pelt/crowd.h>

typedef struct functions {
    PFN_vkCreateImage vkCreateImage;
    PFN_vkDestroyImage vkDestroyImage;
    PFN_vkGetImageMemoryRequirements vkGetImageMemoryRequirements;
    PFN_vkAllocateMemory vkAllocateMemory;
    PFN_vkFreeMemory vkFreeMemory;
    PFN_vkBindImageMemory vkBindImageMemory;
    PFN_vkCmdPipelineBarrier vkCmdPipelineBarrier;
    PFN_vkCmdCopyBufferToImage vkCmdCopyBufferToImage;
    PFN_vkCmdCopyImageToBuffer vkCmdCopyImageToBuffer;
} functions;

static functions load_functions(const pelt_headless *device)
{
    static const char *const names[] = {
        "vkCreateImage",        "vkDestroyImage",         "vkGetImageMemoryRequirements",
        "vkAllocateMemory",     "vkFreeMemory",           "vkBindImageMemory",
        "vkCmdPipelineBarrier", "vkCmdCopyBufferToImage", "vkCmdCopyImageToBuffer",
    };
    functions vk;
    _Static_assert(sizeof(vk) == sizeof(names), "every function has its name");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        PFN_vkVoidFunction function = device->get_device_proc_addr(device->vulkan.device, names[i]);
        assert_non_null(function);
        memcpy((char *)&vk + i * sizeof(function), &function, sizeof(function));
    }
    return vk;
}

typedef struct live_image {
    VkImage image;
    VkDeviceMemory memory;
} live_image;

static live_image create_image(const functions *vk, const pelt_headless *device,
                               const pelt_palette_plan *plan)
{
    live_image out;
    const VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = plan->format,
        .extent = { plan->width, plan->height, 1 },
        .mipLevels = 1,
        .arrayLayers = plan->layer_count,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_OPTIMAL,
        .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                 VK_IMAGE_USAGE_SAMPLED_BIT,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
    assert_int_equal(vk->vkCreateImage(device->vulkan.device, &info, NULL, &out.image), VK_SUCCESS);
    VkMemoryRequirements needs;
    vk->vkGetImageMemoryRequirements(device->vulkan.device, out.image, &needs);
    uint32_t type = 0;
    while ((needs.memoryTypeBits >> type & 1) == 0) {
        type++;
    }
    const VkMemoryAllocateInfo memory = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                          .allocationSize = needs.size,
                                          .memoryTypeIndex = type };
    assert_int_equal(vk->vkAllocateMemory(device->vulkan.device, &memory, NULL, &out.memory),
                     VK_SUCCESS);
    assert_int_equal(vk->vkBindImageMemory(device->vulkan.device, out.image, out.memory, 0),
                     VK_SUCCESS);
    return out;
}

/* Between layouts that are the same for all layers, after anything and before anything. */
static void change_layout(const functions *vk, VkCommandBuffer commands, VkImage image,
                          VkImageLayout from, VkImageLayout to)
{
    const VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, VK_REMAINING_ARRAY_LAYERS },
    };
    vk->vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                             VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
}

enum { AGENTS = 3, AGENT = 1 };

static size_t image_size(const pelt_palette_plan *plan)
{
    return (size_t)16 * plan->width * plan->height * plan->layer_count;
}

/* Poses an instance, copies it to an agent's row in an image of zeros, and reads all of that back.
 */
static void copy_live_row(pose_scene *scene, const pelt_bake *bake, const pelt_palette_plan *plan,
                          const pelt_model *model, double time, pelt_buffer *out)
{
    const functions vk = load_functions(scene->device);
    live_image texture = create_image(&vk, scene->device, plan);
    pelt_buffer zeros;
    pose_buffer(scene, image_size(plan), PELT_MEMORY_UPLOAD, &zeros);
    memset(zeros.mapped, 0, image_size(plan));
    const VkBufferImageCopy whole = {
        .imageSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, plan->layer_count },
        .imageExtent = { plan->width, plan->height, 1 },
    };
    VkBufferImageCopy regions[64];
    uint32_t count = 64;
    assert_int_equal(
        pelt_palette_live_copies(&gpu_host, plan, bake, model, AGENT, 1, 0, regions, &count),
        PELT_OK);
    assert_true(count <= 64);
    VkCommandBuffer commands;
    assert_int_equal(pelt_commands_begin(scene->device, &commands), PELT_OK);
    const VkImageLayout layout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
    change_layout(&vk, commands, texture.image, VK_IMAGE_LAYOUT_UNDEFINED, layout);
    vk.vkCmdCopyBufferToImage(commands, zeros.buffer, texture.image, layout, 1, &whole);
    pelt_cmd_pose(scene->pass, commands, &scene->tables, scene->table.address,
                  scene->instances.address, scene->scratch.address,
                  &(pelt_pose_frame){ .now = time });
    const VkMemoryBarrier posed = { .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                    .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                    .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT };
    vk.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                            VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &posed, 0, NULL, 0, NULL);
    change_layout(&vk, commands, texture.image, layout, layout);
    vk.vkCmdCopyBufferToImage(commands, scene->outputs.buffer, texture.image, layout, count,
                              regions);
    change_layout(&vk, commands, texture.image, layout, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    vk.vkCmdCopyImageToBuffer(commands, texture.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                              out->buffer, 1, &whole);
    assert_int_equal(pelt_commands_submit(scene->device, commands), PELT_OK);
    pelt_buffer_destroy(scene->device, &zeros);
    vk.vkDestroyImage(scene->device->vulkan.device, texture.image, NULL);
    vk.vkFreeMemory(scene->device->vulkan.device, texture.memory, NULL);
}

/* Some frames of a clip, in an image as wide as need be and in one of several layers. */
static void writes_the_row_that_was_baked(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    const uint32_t sizes[] = { 0, 31 }; /* ten joints wide */
    pelt_model *model;
    pelt_sample_info sample = { .vertices = PELT_SAMPLE_VERTICES_MIN, .joints = 24 };
    assert_int_equal(pelt_sample_create(&gpu_host, &sample, &model), PELT_OK);
    for (int s = 0; s < 2; s++) {
        const int32_t clip = 1;
        const pelt_bake_info info = {
            .model = model, .clip_count = 1, .clips = &clip, .max_size = sizes[s]
        };
        pelt_bake *bake;
        assert_int_equal(pelt_bake_create(&gpu_host, &info, &bake), PELT_OK);
        assert_int_equal(bake->joint_count, model->matrix_count);
        assert_int_equal(bake->joints_per_layer, s == 0 ? 24 : 10);
        pelt_palette_plan plan;
        assert_int_equal(pelt_palette_plan_make(&gpu_host, bake, AGENTS, 0, 0, &plan), PELT_OK);
        pose_scene scene;
        const uint32_t node_0 = 0;
        pose_scene_open(&scene, device, model, &node_0, 1, 1);
        const pelt_gpu_play play = { .clip = clip, .speed = 1 };
        pose_scene_set(&scene, 0, (pelt_pose_instance){ .play = play }, NULL, 0);
        pelt_buffer read;
        pose_buffer(&scene, image_size(&plan), PELT_MEMORY_READBACK, &read);
        for (int frame = 0; frame < 40; frame += 13) {
            double time = frame / 30.0;
            pelt_bake_place place = pelt_bake_locate(&bake->clips[0], time, false);
            place.row = place.fraction < 0.5 ? place.row : place.next_row;
            copy_live_row(&scene, bake, &plan, model, time, &read);
            const float *live = read.mapped;
            size_t in_row = 0;
            for (size_t i = 0; i < image_size(&plan) / sizeof(float); i++) {
                size_t texel = i / 4, x = texel % plan.width;
                size_t layer = texel / plan.width / plan.height;
                size_t row = texel / plan.width % plan.height;
                size_t joint = x / 3 + (layer - plan.live_layer) * bake->joints_per_layer;
                bool ours = row == AGENT && layer >= plan.live_layer && joint < 24 &&
                            x / 3 < bake->joints_per_layer;
                size_t page = place.layer + layer - plan.live_layer;
                size_t at = 4 * ((page * bake->height + place.row) * bake->width + x) + i % 4;
                double baked = ours ? (double)((const float *)bake->texels)[at] : 0;
                assert_true(fabs((double)live[i] - baked) <= (ours ? 1e-5 : 0));
                in_row += ours && live[i] != 0;
            }
            assert_true(in_row > (size_t)24 * 6);
        }
        pelt_buffer_destroy(device, &read);
        pose_scene_close(&scene);
        pelt_bake_destroy(bake);
    }
    pelt_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_the_row_that_was_baked),
    };
    return gpu_result(cmocka_run_group_tests(tests, gpu_setup, pose_teardown));
}
