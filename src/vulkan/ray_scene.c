/* The structures of a scene from frame to frame, and recording what is planned for them. */
#include "vulkan/ray_scene.h"

pelt_result pelt_ray_scene_create(const pelt_host *host, const pelt_ray_limits *limits,
                                  pelt_ray_scene **out)
{
    *out = NULL;
    uint32_t alignment = limits->scratch_alignment;
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "scratch_alignment is %u: no power of two", alignment);
    }
    pelt_ray_scene *scene = pelt_allocate(host, 1, sizeof(*scene));
    if (!scene) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a ray scene");
    }
    scene->host = host;
    scene->limits = *limits;
    *out = scene;
    return PELT_OK;
}

void pelt_ray_scene_destroy(pelt_ray_scene *scene)
{
    if (!scene) {
        return;
    }
    const pelt_host *host = scene->host;
    for (uint32_t i = 0; i < scene->slot_capacity; i++) {
        pelt_release(host, scene->slots[i].keys);
    }
    pelt_release(host, scene->slots);
    pelt_release(host, scene->infos);
    pelt_release(host, scene->info_ranges);
    pelt_release(host, scene->batch_ends);
    pelt_release(host, scene->geometries);
    pelt_release(host, scene->ranges);
    pelt_release(host, scene->due);
    pelt_release(host, scene);
}

pelt_ray_action pelt_ray_scene_action(const pelt_ray_scene *scene, uint32_t index)
{
    return index < scene->slot_count ? scene->slots[index].action : PELT_RAY_KEEP;
}

void pelt_ray_scene_forget(pelt_ray_scene *scene, uint32_t index)
{
    if (index < scene->slot_capacity) {
        scene->slots[index].built = false;
    }
}

/* What was planned has happened. */
static void commit(ray_slot *slot)
{
    switch (slot->action) {
    case PELT_RAY_KEEP:
        return;
    case PELT_RAY_REFIT:
        slot->refits += slot->refits < UINT32_MAX;
        break;
    case PELT_RAY_BUILD:
        slot->refits = slot->phase;
        break;
    case PELT_RAY_REBUILD:
        slot->refits = slot->phase = 0;
        break;
    }
    slot->built = true;
    slot->outdated = false;
}

void pelt_cmd_ray_build(const pelt_ray_pass *pass, VkCommandBuffer commands, pelt_ray_scene *scene,
                        VkDeviceAddress scratch)
{
    if (scene->info_count == 0) {
        return;
    }
    VkDeviceAddress base = pelt_align(scratch, scene->limits.scratch_alignment);
    for (uint32_t i = 0; i < scene->info_count; i++) {
        scene->infos[i].scratchData.deviceAddress += base;
    }
    uint32_t first = 0;
    for (uint32_t b = 0; b < scene->batch_count; b++) {
        if (b > 0) {
            pelt_cmd_ray_barrier(pass, commands, PELT_RAY_AFTER_BUILD, 0);
        }
        pass->functions.cmd_build_acceleration_structures(commands, scene->batch_ends[b] - first,
                                                          &scene->infos[first],
                                                          &scene->info_ranges[first]);
        first = scene->batch_ends[b];
    }
    for (uint32_t i = 0; i < scene->slot_count; i++) {
        commit(&scene->slots[i]);
    }
    scene->info_count = 0;
    scene->batch_count = 0;
}
