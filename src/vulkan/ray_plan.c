/* What is built, what refitted and what left alone in a frame, and where its scratch memory is. */
#include "vulkan/ray_scene.h"

#include <stdlib.h>
#include <string.h>

enum { INTERVAL_DEFAULT = 60 };

/* -- checks -------------------------------------------------------------------------------- */

static pelt_result fail_structure(const pelt_ray_scene *scene, uint32_t index, const char *wrong)
{
    return pelt_fail(scene->host, PELT_ERROR_ARGUMENT, NULL, NULL, "structure %u: %s", index,
                     wrong);
}

static pelt_result check_structure(const pelt_ray_scene *scene, uint32_t index,
                                   const pelt_ray_blas *blas)
{
    if (!blas->geometries) {
        return fail_structure(scene, index, "geometries are counted but NULL");
    }
    if (!blas->sizes || !blas->structure || !blas->structure->handle) {
        return fail_structure(scene, index, "no sizes, or no structure created");
    }
    const pelt_ray_sizes *sizes = blas->sizes;
    uint64_t vertices = 0, triangles = 0;
    for (uint32_t i = 0; i < blas->geometry_count; i++) {
        pelt_result result = pelt_ray_check_geometry(scene->host, &index, i, &blas->geometries[i]);
        if (result != PELT_OK) {
            return result;
        }
        vertices += blas->geometries[i].vertex_count;
        triangles += blas->geometries[i].triangle_count;
    }
    if (blas->geometry_count > sizes->geometry_count || vertices > sizes->vertex_count ||
        triangles > sizes->triangle_count || blas->use != sizes->use) {
        return fail_structure(scene, index,
                              "sizes were measured for fewer geometries, vertices or triangles, or "
                              "for another use");
    }
    if (blas->structure->size < sizes->structure) {
        return fail_structure(scene, index, "the structure is smaller than sizes say");
    }
    return PELT_OK;
}

static pelt_result check_frame(const pelt_ray_scene *scene, const pelt_ray_frame *frame)
{
    if (frame->structure_count > 0 && !frame->structures) {
        return pelt_fail(scene->host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "structures are counted but NULL");
    }
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < frame->structure_count; i++) {
        if (frame->structures[i].geometry_count > 0) {
            result = check_structure(scene, i, &frame->structures[i]);
        }
    }
    return result;
}

/* -- memory -------------------------------------------------------------------------------- */

static pelt_result fail_memory(const pelt_ray_scene *scene, uint32_t count)
{
    return pelt_fail(scene->host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for %u structures",
                     count);
}

static pelt_result reserve_slots(pelt_ray_scene *scene, uint32_t count)
{
    if (count <= scene->slot_capacity) {
        return PELT_OK;
    }
    size_t size = 0;
    ray_slot *slots = pelt_multiply(count, sizeof(*slots), &size)
                          ? pelt_reallocate(scene->host, scene->slots, size)
                          : NULL;
    if (!slots) {
        return fail_memory(scene, count);
    }
    for (uint32_t i = scene->slot_capacity; i < count; i++) {
        slots[i] = (ray_slot){ 0 };
    }
    scene->slots = slots;
    scene->slot_capacity = count;
    return PELT_OK;
}

static pelt_result reserve_keys(pelt_ray_scene *scene, ray_slot *slot, uint32_t count)
{
    if (count <= slot->key_capacity) {
        return PELT_OK;
    }
    pelt_release(scene->host, slot->keys);
    slot->built = false;
    slot->key_capacity = 0;
    slot->keys = pelt_allocate(scene->host, count, sizeof(*slot->keys));
    if (!slot->keys) {
        return fail_memory(scene, 1);
    }
    slot->key_capacity = count;
    return PELT_OK;
}

static pelt_result reserve_infos(pelt_ray_scene *scene, uint32_t count)
{
    if (count <= scene->info_capacity) {
        return PELT_OK;
    }
    pelt_release(scene->host, scene->infos);
    pelt_release(scene->host, scene->info_ranges);
    pelt_release(scene->host, scene->batch_ends);
    scene->info_capacity = 0;
    scene->infos = pelt_allocate(scene->host, count, sizeof(*scene->infos));
    scene->info_ranges = pelt_allocate(scene->host, count, sizeof(*scene->info_ranges));
    scene->batch_ends = pelt_allocate(scene->host, count, sizeof(*scene->batch_ends));
    if (!scene->infos || !scene->info_ranges || !scene->batch_ends) {
        return fail_memory(scene, count);
    }
    scene->info_capacity = count;
    return PELT_OK;
}

static pelt_result reserve_geometries(pelt_ray_scene *scene, uint32_t count)
{
    if (count <= scene->geometry_capacity) {
        return PELT_OK;
    }
    pelt_release(scene->host, scene->geometries);
    pelt_release(scene->host, scene->ranges);
    scene->geometry_capacity = 0;
    scene->geometries = pelt_allocate(scene->host, count, sizeof(*scene->geometries));
    scene->ranges = pelt_allocate(scene->host, count, sizeof(*scene->ranges));
    if (!scene->geometries || !scene->ranges) {
        return fail_memory(scene, count);
    }
    scene->geometry_capacity = count;
    return PELT_OK;
}

static pelt_result reserve_due(pelt_ray_scene *scene, uint32_t count)
{
    if (count <= scene->due_capacity) {
        return PELT_OK;
    }
    pelt_release(scene->host, scene->due);
    scene->due_capacity = 0;
    scene->due = pelt_allocate(scene->host, count, sizeof(*scene->due));
    if (!scene->due) {
        return fail_memory(scene, count);
    }
    scene->due_capacity = count;
    return PELT_OK;
}

/* -- what the rules demand ----------------------------------------------------------------- */

static ray_key make_key(const pelt_ray_geometry *geometry)
{
    VkAccelerationStructureGeometryKHR described;
    VkAccelerationStructureBuildRangeInfoKHR range;
    pelt_ray_geometry_describe(geometry, &described, &range);
    return (ray_key){
        .indices = geometry->indices,
        .content = geometry->content,
        .vertex_count = geometry->vertex_count,
        .triangle_count = range.primitiveCount,
        .index_type = described.geometry.triangles.indexType,
        .flags = described.flags,
    };
}

static bool is_same_key(const ray_key *a, const ray_key *b)
{
    return a->indices == b->indices && a->content == b->content &&
           a->vertex_count == b->vertex_count && a->triangle_count == b->triangle_count &&
           a->index_type == b->index_type && a->flags == b->flags;
}

/* Whether the slot holds a structure that Vulkan would let a refit make into this one. */
static bool is_same(const ray_slot *slot, const pelt_ray_blas *blas)
{
    if (!slot->built || slot->handle != blas->structure->handle ||
        slot->address != blas->structure->address || slot->use != blas->use ||
        slot->key_count != blas->geometry_count) {
        return false;
    }
    for (uint32_t i = 0; i < slot->key_count; i++) {
        ray_key key = make_key(&blas->geometries[i]);
        if (!is_same_key(&slot->keys[i], &key)) {
            return false;
        }
    }
    return true;
}

static bool has_refits(pelt_ray_use use)
{
    return (pelt_ray_flags(use) & VK_BUILD_ACCELERATION_STRUCTURE_ALLOW_UPDATE_BIT_KHR) != 0;
}

static pelt_ray_action demanded_action(const ray_slot *slot, const pelt_ray_blas *blas)
{
    if (!is_same(slot, blas)) {
        return PELT_RAY_BUILD;
    }
    if (blas->unchanged && !slot->outdated) {
        return PELT_RAY_KEEP;
    }
    return has_refits(blas->use) ? PELT_RAY_REFIT : PELT_RAY_BUILD;
}

static uint64_t count_triangles(const pelt_ray_blas *blas)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < blas->geometry_count; i++) {
        count += blas->geometries[i].inactive ? 0 : blas->geometries[i].triangle_count;
    }
    return count;
}

/* -- rebuilds for the sake of rays --------------------------------------------------------- */

uint32_t pelt_ray_phase(uint32_t index, uint32_t interval)
{
    /* Multiples of the golden ratio, modulo 1. */
    uint32_t fraction = index * UINT32_C(2654435769);
    return (uint32_t)((uint64_t)fraction * ((uint64_t)interval + 1) >> 32);
}

static int compare_due(const void *a, const void *b)
{
    const ray_due *left = a, *right = b;
    if (left->refits != right->refits) {
        return left->refits > right->refits ? -1 : 1;
    }
    return (left->index > right->index) - (left->index < right->index);
}

/* Turns actions into rebuilds as far as the budget goes, and counts those that must wait. */
static void choose_rebuilds(pelt_ray_scene *scene, const pelt_ray_frame *frame, uint32_t due_count,
                            pelt_ray_plan *plan)
{
    if (due_count == 0) {
        return; /* nor need there be an array */
    }
    qsort(scene->due, due_count, sizeof(*scene->due), compare_due);
    uint64_t structures = plan->build_count, triangles = plan->built_triangles;
    for (uint32_t i = 0; i < due_count; i++) {
        uint32_t index = scene->due[i].index;
        structures++;
        triangles += count_triangles(&frame->structures[index]);
        bool is_beyond =
            (frame->rebuild_structures > 0 && structures > frame->rebuild_structures) ||
            (frame->rebuild_triangles > 0 && triangles > frame->rebuild_triangles);
        if (i > 0 && is_beyond) {
            plan->waiting_count = due_count - i;
            return;
        }
        scene->slots[index].action = PELT_RAY_REBUILD;
    }
}

static void count_actions(const pelt_ray_scene *scene, const pelt_ray_frame *frame,
                          pelt_ray_plan *plan)
{
    for (uint32_t i = 0; i < scene->slot_count; i++) {
        uint64_t triangles = count_triangles(&frame->structures[i]);
        switch (scene->slots[i].action) {
        case PELT_RAY_KEEP:
            plan->kept_count += scene->slots[i].present;
            break;
        case PELT_RAY_REFIT:
            plan->refit_count++;
            plan->refitted_triangles += triangles;
            break;
        case PELT_RAY_BUILD:
            break; /* counted before rebuilds were chosen */
        case PELT_RAY_REBUILD:
            plan->rebuild_count++;
            plan->built_triangles += triangles;
            break;
        }
    }
}

/* Whether refits have made it slow. One that has had none since it was built is not, however far
 * its phase says it is. */
static bool is_worn(const ray_slot *slot, uint32_t interval)
{
    return slot->refits >= interval &&
           (slot->action == PELT_RAY_REFIT || slot->refits > slot->phase);
}

/* Gives every slot its action. */
static void decide(pelt_ray_scene *scene, const pelt_ray_frame *frame, pelt_ray_plan *plan)
{
    uint32_t interval = frame->rebuild_interval ? frame->rebuild_interval : INTERVAL_DEFAULT;
    uint32_t due_count = 0;
    for (uint32_t i = 0; i < scene->slot_count; i++) {
        ray_slot *slot = &scene->slots[i];
        const pelt_ray_blas *blas = &frame->structures[i];
        slot->present = blas->geometry_count > 0;
        if (!slot->present) {
            slot->built = false;
            slot->action = PELT_RAY_KEEP;
            continue;
        }
        slot->action = demanded_action(slot, blas);
        if (slot->action == PELT_RAY_BUILD) {
            slot->phase = interval == UINT32_MAX ? 0 : pelt_ray_phase(i, interval);
            plan->build_count++;
            plan->built_triangles += count_triangles(blas);
        } else if (has_refits(blas->use) && interval != UINT32_MAX && is_worn(slot, interval)) {
            scene->due[due_count++] = (ray_due){ .refits = slot->refits, .index = i };
        }
    }
    choose_rebuilds(scene, frame, due_count, plan);
    count_actions(scene, frame, plan);
}

/* -- layout -------------------------------------------------------------------------------- */

/* Where scratch memory ends, in the batch that is being filled. */
typedef struct layout {
    VkDeviceSize limit; /* of a batch, without what aligning may cost; 0: none */
    VkDeviceSize used;
    VkDeviceSize most; /* of all batches */
} layout;

/* What a structure takes of it. Vulkan wants an address even of who needs nothing. */
static VkDeviceSize slice_of(const pelt_ray_scene *scene, VkDeviceSize size)
{
    return pelt_align(size > 0 ? size : 1, scene->limits.scratch_alignment);
}

/* Whether another structure still fits into the batch. */
static bool has_room(const layout *self, VkDeviceSize size)
{
    return self->limit == 0 || (size <= self->limit && self->used <= self->limit - size);
}

static pelt_result place(pelt_ray_scene *scene, uint32_t index, VkDeviceSize size, layout *self,
                         VkDeviceSize *offset)
{
    size = slice_of(scene, size);
    if (!has_room(self, size)) {
        if (self->used == 0 || size > self->limit) {
            return pelt_fail(scene->host, PELT_ERROR_RANGE, NULL, NULL,
                             "structure %u needs %llu bytes of scratch memory, more than "
                             "scratch_limit allows",
                             index, (unsigned long long)size);
        }
        scene->batch_ends[scene->batch_count++] = scene->info_count;
        self->used = 0;
    }
    *offset = self->used;
    self->used += size;
    self->most = self->used > self->most ? self->used : self->most;
    return PELT_OK;
}

/* Plans the build or refit of a slot; first: of its geometries in the plan's. */
static pelt_result add_info(pelt_ray_scene *scene, uint32_t index, const pelt_ray_blas *blas,
                            uint32_t first, layout *self)
{
    ray_slot *slot = &scene->slots[index];
    bool refit = slot->action == PELT_RAY_REFIT;
    VkDeviceSize offset = 0;
    pelt_result result =
        place(scene, index, refit ? blas->sizes->update_scratch : blas->sizes->build_scratch, self,
              &offset);
    if (result == PELT_OK && !refit) {
        result = reserve_keys(scene, slot, blas->geometry_count);
    }
    if (result != PELT_OK) {
        return result;
    }
    for (uint32_t i = 0; i < blas->geometry_count; i++) {
        pelt_ray_geometry_describe(&blas->geometries[i], &scene->geometries[first + i],
                                   &scene->ranges[first + i]);
        if (!refit) {
            slot->keys[i] = make_key(&blas->geometries[i]);
        }
    }
    VkAccelerationStructureBuildGeometryInfoKHR *info = &scene->infos[scene->info_count];
    pelt_ray_build_describe(&scene->geometries[first], blas->geometry_count, blas->use, info);
    info->dstAccelerationStructure = blas->structure->handle;
    if (refit) {
        info->mode = VK_BUILD_ACCELERATION_STRUCTURE_MODE_UPDATE_KHR;
        info->srcAccelerationStructure = info->dstAccelerationStructure;
    }
    info->scratchData.deviceAddress = offset;
    scene->info_ranges[scene->info_count++] = &scene->ranges[first];
    slot->built = refit; /* until the build is recorded */
    slot->outdated = true;
    slot->use = blas->use;
    slot->handle = blas->structure->handle;
    slot->address = blas->structure->address;
    slot->key_count = blas->geometry_count;
    return PELT_OK;
}

static VkDeviceSize largest_scratch(const pelt_ray_sizes *sizes)
{
    return sizes->build_scratch > sizes->update_scratch ? sizes->build_scratch
                                                        : sizes->update_scratch;
}

/* Fills the arrays that vkCmdBuildAccelerationStructuresKHR takes. */
static pelt_result lay_out(pelt_ray_scene *scene, const pelt_ray_frame *frame, pelt_ray_plan *plan)
{
    const VkDeviceSize slack = scene->limits.scratch_alignment - 1;
    layout self = { 0 };
    if (frame->scratch_limit > 0) {
        self.limit = frame->scratch_limit > slack ? frame->scratch_limit - slack : 1;
    }
    VkDeviceSize bound = 0;
    uint32_t first = 0;
    for (uint32_t i = 0; i < scene->slot_count; i++) {
        const pelt_ray_blas *blas = &frame->structures[i];
        if (!scene->slots[i].present) {
            continue;
        }
        bound += slice_of(scene, largest_scratch(blas->sizes));
        if (scene->slots[i].action != PELT_RAY_KEEP) {
            pelt_result result = add_info(scene, i, blas, first, &self);
            if (result != PELT_OK) {
                return result;
            }
            first += blas->geometry_count;
        }
    }
    if (scene->info_count > 0) {
        scene->batch_ends[scene->batch_count++] = scene->info_count;
    }
    plan->batch_count = scene->batch_count;
    plan->scratch_size = self.most > 0 ? self.most + slack : 0;
    plan->scratch_bound = bound > 0 ? bound + slack : 0;
    if (frame->scratch_limit > 0 && plan->scratch_bound > frame->scratch_limit) {
        plan->scratch_bound = frame->scratch_limit;
    }
    return PELT_OK;
}

/* Room for whatever is decided. */
static pelt_result reserve_plan(pelt_ray_scene *scene, const pelt_ray_frame *frame)
{
    uint64_t geometries = 0;
    for (uint32_t i = 0; i < frame->structure_count; i++) {
        geometries += frame->structures[i].geometry_count;
    }
    if (geometries > UINT32_MAX) {
        return pelt_fail(scene->host, PELT_ERROR_RANGE, NULL, NULL, "%llu geometries in a frame",
                         (unsigned long long)geometries);
    }
    pelt_result result = reserve_slots(scene, frame->structure_count);
    if (result == PELT_OK) {
        result = reserve_infos(scene, frame->structure_count);
    }
    if (result == PELT_OK) {
        result = reserve_geometries(scene, (uint32_t)geometries);
    }
    return result == PELT_OK ? reserve_due(scene, frame->structure_count) : result;
}

/* Without a plan nothing is known of what has changed. */
static void drop_plan(pelt_ray_scene *scene)
{
    for (uint32_t i = 0; i < scene->slot_capacity; i++) {
        scene->slots[i].outdated = true;
        scene->slots[i].action = PELT_RAY_KEEP;
    }
    scene->info_count = 0;
    scene->batch_count = 0;
}

pelt_result pelt_ray_scene_plan(pelt_ray_scene *scene, const pelt_ray_frame *frame,
                                pelt_ray_plan *out)
{
    *out = (pelt_ray_plan){ 0 };
    scene->info_count = 0;
    scene->batch_count = 0;
    pelt_result result = check_frame(scene, frame);
    if (result == PELT_OK) {
        result = reserve_plan(scene, frame);
    }
    if (result == PELT_OK) {
        for (uint32_t i = frame->structure_count; i < scene->slot_capacity; i++) {
            scene->slots[i].built = false;
        }
        scene->slot_count = frame->structure_count;
        decide(scene, frame, out);
        result = lay_out(scene, frame, out);
    }
    if (result != PELT_OK) {
        drop_plan(scene);
        *out = (pelt_ray_plan){ 0 };
    }
    return result;
}
