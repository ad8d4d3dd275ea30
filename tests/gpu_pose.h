/* Instances of one model posed on the device. Outputs start out as guard bytes, with guards between
 * them. */
#ifndef PELT_TESTS_GPU_POSE_H
#define PELT_TESTS_GPU_POSE_H

#include "tests/gpu.h"

#include <math.h>
#include <pelt/pelt.h>
#include <pelt/pose_pass.h>

enum {
    POSE_GUARD = 0xa5,
    POSE_GAP = 48,
    POSE_OVERRIDES = 64 /* room for each instance, in scenes of up to 1,000 */
};

typedef struct pose_scene {
    pelt_headless *device;
    pelt_pose_pass *pass;
    const pelt_model *model;
    pelt_rig *rig;
    uint32_t count;
    bool all_nodes; /* are sockets */
    size_t stride;  /* bytes of outputs of one instance */
    size_t sockets_at;
    pelt_pose_tables tables;
    pelt_buffer rig_data, table, scratch, instances, overrides, outputs;
} pose_scene;

static pelt_pose_pass *pose_shared_pass;

static inline pelt_pose_pass *pose_pass(pelt_headless *device)
{
    if (!pose_shared_pass) {
        assert_int_equal(pelt_pose_pass_create(&gpu_host,
                                               &(pelt_pose_pass_info){ .vulkan = &device->vulkan },
                                               &pose_shared_pass),
                         PELT_OK);
    }
    return pose_shared_pass;
}

static inline int pose_teardown(void **state)
{
    pelt_pose_pass_destroy(pose_shared_pass);
    pose_shared_pass = NULL;
    return gpu_teardown(state);
}

static inline void pose_buffer(pose_scene *scene, size_t size, pelt_memory_kind kind,
                               pelt_buffer *out)
{
    assert_int_equal(pelt_buffer_create(scene->device, size, 0, kind, out), PELT_OK);
}

/* sockets: of the model, or NULL for all nodes: then nothing is folded. */
static inline void pose_scene_open(pose_scene *scene, pelt_headless *device,
                                   const pelt_model *model, const uint32_t *sockets,
                                   uint32_t socket_count, uint32_t count)
{
    *scene =
        (pose_scene){ .device = device, .pass = pose_pass(device), .model = model, .count = count };
    const size_t room = count <= 1000 ? POSE_OVERRIDES : 0;
    uint32_t *all = NULL;
    if (!sockets) {
        socket_count = model->node_count;
        sockets = all = malloc((socket_count + 1u) * sizeof(*all));
        assert_non_null(all);
        for (uint32_t i = 0; i < socket_count; i++) {
            all[i] = i;
        }
    }
    const pelt_rig_info info = { .model = model, .sockets = sockets, .socket_count = socket_count };
    assert_int_equal(pelt_rig_create(&gpu_host, &info, &scene->rig), PELT_OK);
    free(all);
    scene->sockets_at = 48 * (size_t)model->matrix_count + POSE_GAP;
    scene->stride = scene->sockets_at + 48 * (size_t)socket_count + POSE_GAP;
    pose_buffer(scene, scene->rig->size, PELT_MEMORY_DEVICE, &scene->rig_data);
    assert_int_equal(
        pelt_buffer_upload(device, &scene->rig_data, 0, scene->rig->data, scene->rig->size),
        PELT_OK);
    const pelt_pose_batch batch = { .rig = scene->rig,
                                    .rig_address = scene->rig_data.address,
                                    .instance_count = count };
    assert_int_equal(pelt_pose_tables_measure(scene->pass, &batch, 1, &scene->tables), PELT_OK);
    pose_buffer(scene, scene->tables.table_size, PELT_MEMORY_UPLOAD, &scene->table);
    pelt_pose_tables_write(scene->pass, &batch, 1, scene->table.mapped);
    pose_buffer(scene, scene->tables.scratch_size, PELT_MEMORY_DEVICE, &scene->scratch);
    pose_buffer(scene, (size_t)count * PELT_POSE_INSTANCE_SIZE, PELT_MEMORY_UPLOAD,
                &scene->instances);
    pose_buffer(scene, (size_t)count * room * PELT_POSE_OVERRIDE_SIZE, PELT_MEMORY_UPLOAD,
                &scene->overrides);
    pose_buffer(scene, count * scene->stride, PELT_MEMORY_READBACK, &scene->outputs);
    memset(scene->outputs.mapped, POSE_GUARD, scene->outputs.size);
}

static inline void pose_scene_close(pose_scene *scene)
{
    pelt_buffer *buffers[] = { &scene->rig_data,  &scene->table,     &scene->scratch,
                               &scene->instances, &scene->overrides, &scene->outputs };
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        pelt_buffer_destroy(scene->device, buffers[i]);
    }
    pelt_rig_destroy(scene->rig);
}

/* Writes an instance; its addresses are filled in here. */
static inline void pose_scene_set(pose_scene *scene, uint32_t index, pelt_pose_instance instance,
                                  const pelt_pose_override *overrides, uint32_t override_count)
{
    assert_true(index < scene->count && override_count <= POSE_OVERRIDES);
    assert_true(scene->count <= 1000 || override_count == 0);
    size_t at = scene->count <= 1000 ? (size_t)index * POSE_OVERRIDES * PELT_POSE_OVERRIDE_SIZE : 0;
    assert_int_equal(pelt_pose_overrides_write(scene->rig, overrides, override_count,
                                               (char *)scene->overrides.mapped + at),
                     PELT_OK);
    instance.overrides = scene->overrides.address + at;
    instance.override_count = override_count;
    instance.matrices = scene->outputs.address + index * scene->stride;
    instance.sockets = instance.matrices + scene->sockets_at;
    assert_int_equal(pelt_pose_instance_write(scene->rig, &instance,
                                              (char *)scene->instances.mapped +
                                                  (size_t)index * PELT_POSE_INSTANCE_SIZE),
                     PELT_OK);
}

static inline void pose_scene_run(pose_scene *scene, pelt_pose_frame frame)
{
    VkCommandBuffer commands;
    assert_int_equal(pelt_commands_begin(scene->device, &commands), PELT_OK);
    pelt_cmd_pose(scene->pass, commands, &scene->tables, scene->table.address,
                  scene->instances.address, scene->scratch.address, &frame);
    assert_int_equal(pelt_commands_submit(scene->device, commands), PELT_OK);
    for (uint32_t i = 0; i < scene->count; i++) {
        const unsigned char *bytes = (unsigned char *)scene->outputs.mapped + i * scene->stride;
        for (size_t k = 0; k < POSE_GAP; k++) {
            assert_int_equal(bytes[scene->sockets_at - POSE_GAP + k], POSE_GUARD);
            assert_int_equal(bytes[scene->stride - POSE_GAP + k], POSE_GUARD);
        }
    }
}

static inline const float *pose_scene_matrix(const pose_scene *scene, uint32_t instance,
                                             uint32_t matrix)
{
    return (const float *)((const char *)scene->outputs.mapped + instance * scene->stride) +
           12 * (size_t)matrix;
}

static inline const float *pose_scene_socket(const pose_scene *scene, uint32_t instance,
                                             uint32_t socket)
{
    return (const float *)((const char *)scene->outputs.mapped + instance * scene->stride +
                           scene->sockets_at) +
           12 * (size_t)socket;
}

static inline double pose_random(uint64_t *state, double low, double high)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(*state >> 11) * 0x1p-53;
}

#endif
