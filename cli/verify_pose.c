/* The GPU's skin matrices against the CPU's. */
#include "cli/verify_pose.h"

#ifndef PELT_HAVE_VULKAN

pelt_result pelt_pose_verifier_create(pelt_backend *gpu, const pelt_character *character,
                                      uint32_t capacity, double size, pelt_pose_verifier **out)
{
    (void)gpu;
    (void)character;
    (void)capacity;
    (void)size;
    *out = NULL;
    return PELT_OK;
}

void pelt_pose_verifier_destroy(pelt_pose_verifier *verifier)
{
    (void)verifier;
}

pelt_result pelt_pose_verifier_add(pelt_pose_verifier *verifier, const pelt_crowd *crowd,
                                   const pelt_batch *batch, pelt_worst *worst)
{
    (void)verifier;
    (void)crowd;
    (void)batch;
    (void)worst;
    return PELT_OK;
}

#else

#include "base/base.h"
#include "cli/backend_vulkan.h"

#include <math.h>
#include <pelt/pose_pass.h>

enum { NUMBERS = 12, MATRIX_SIZE = 48 };

/* Of the character's size; and of the largest coordinate, for a sum of four rounded numbers. */
static const double allowed_of_size = 1e-5, allowed_rounding = 4 * 0x1p-24;

struct pelt_pose_verifier {
    const pelt_host *host;
    const pelt_character *character;
    pelt_headless *device;
    pelt_pose_pass *pass;
    pelt_rig *rig;
    double size;
    pelt_buffer rig_data, table, scratch, instances, matrices;
    float *written; /* of a batch */
};

static pelt_result create_buffers(pelt_pose_verifier *v, uint32_t capacity)
{
    size_t matrices = (size_t)capacity * v->rig->matrix_count * MATRIX_SIZE;
    const pelt_pose_batch batch = { .rig = v->rig,
                                    .rig_address = v->rig_data.address,
                                    .instance_count = capacity };
    pelt_pose_tables tables;
    pelt_result result = pelt_pose_tables_measure(v->pass, &batch, 1, &tables);
    const struct {
        pelt_buffer *buffer;
        size_t size;
        pelt_memory_kind kind;
    } wanted[] = {
        { &v->table, tables.table_size, PELT_MEMORY_UPLOAD },
        { &v->scratch, tables.scratch_size, PELT_MEMORY_DEVICE },
        { &v->instances, (size_t)capacity * PELT_POSE_INSTANCE_SIZE, PELT_MEMORY_UPLOAD },
        { &v->matrices, matrices, PELT_MEMORY_DEVICE },
    };
    for (size_t i = 0; result == PELT_OK && i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        result = pelt_buffer_create(v->device, wanted[i].size, 0, wanted[i].kind, wanted[i].buffer);
    }
    if (result == PELT_OK) {
        v->written = pelt_allocate(v->host, matrices, 1);
        result = v->written ? PELT_OK : PELT_ERROR_MEMORY;
    }
    return result;
}

static pelt_result open_verifier(pelt_pose_verifier *v, uint32_t capacity)
{
    pelt_result result = pelt_pose_pass_create(
        v->host, &(pelt_pose_pass_info){ .vulkan = &v->device->vulkan }, &v->pass);
    if (result == PELT_OK) {
        const pelt_rig_info info = { .model = v->character->model };
        result = pelt_rig_create(v->host, &info, &v->rig);
    }
    if (result == PELT_OK) {
        result = pelt_buffer_create(v->device, v->rig->size, 0, PELT_MEMORY_DEVICE, &v->rig_data);
    }
    if (result == PELT_OK) {
        result = pelt_buffer_upload(v->device, &v->rig_data, 0, v->rig->data, v->rig->size);
    }
    return result == PELT_OK ? create_buffers(v, capacity) : result;
}

pelt_result pelt_pose_verifier_create(pelt_backend *gpu, const pelt_character *character,
                                      uint32_t capacity, double size, pelt_pose_verifier **out)
{
    *out = NULL;
    if (!gpu) {
        return PELT_OK;
    }
    pelt_pose_verifier *v = pelt_allocate(character->host, 1, sizeof(*v));
    if (!v) {
        return PELT_ERROR_MEMORY;
    }
    *v = (pelt_pose_verifier){ .host = character->host,
                               .character = character,
                               .device = pelt_backend_vulkan_device(gpu),
                               .size = size };
    pelt_result result = open_verifier(v, capacity);
    if (result != PELT_OK) {
        pelt_pose_verifier_destroy(v);
        return result;
    }
    *out = v;
    return PELT_OK;
}

void pelt_pose_verifier_destroy(pelt_pose_verifier *v)
{
    if (!v) {
        return;
    }
    pelt_buffer *buffers[] = { &v->rig_data, &v->table, &v->scratch, &v->instances, &v->matrices };
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        pelt_buffer_destroy(v->device, buffers[i]);
    }
    pelt_release(v->host, v->written);
    pelt_rig_destroy(v->rig);
    pelt_pose_pass_destroy(v->pass);
    pelt_release(v->host, v);
}

/* Each began at 0 on the clock, with its clip at some time. */
static pelt_result write_instances(const pelt_pose_verifier *v, const pelt_crowd *crowd,
                                   const pelt_batch *batch)
{
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < batch->count; i++) {
        const pelt_member *member = &crowd->members[batch->first + i];
        const pelt_pose_instance instance = {
            .play = { .clip = member->play.clip,
                      .loop = member->play.loop,
                      .time = member->play.time },
            .world = member->world,
            .matrices =
                v->matrices.address + (VkDeviceAddress)i * v->rig->matrix_count * MATRIX_SIZE,
        };
        result = pelt_pose_instance_write(
            v->rig, &instance, (char *)v->instances.mapped + (size_t)i * PELT_POSE_INSTANCE_SIZE);
    }
    return result;
}

static pelt_result run(const pelt_pose_verifier *v, uint32_t count)
{
    const pelt_pose_batch batch = { .rig = v->rig,
                                    .rig_address = v->rig_data.address,
                                    .instance_count = count };
    pelt_pose_tables tables;
    pelt_result result = pelt_pose_tables_measure(v->pass, &batch, 1, &tables);
    VkCommandBuffer commands;
    if (result == PELT_OK) {
        pelt_pose_tables_write(v->pass, &batch, 1, v->table.mapped);
        result = pelt_commands_begin(v->device, &commands);
    }
    if (result != PELT_OK) {
        return result;
    }
    pelt_cmd_pose(v->pass, commands, &tables, v->table.address, v->instances.address,
                  v->scratch.address, &(pelt_pose_frame){ .all = true });
    result = pelt_commands_submit(v->device, commands);
    size_t size = (size_t)count * v->rig->matrix_count * MATRIX_SIZE;
    return result == PELT_OK ? pelt_buffer_download(v->device, &v->matrices, 0, v->written, size)
                             : result;
}

/* How far apart two matrices move a corner of a box, and the largest coordinate there. No point of
 * the box is moved further apart. */
static double distance(const float *a, const double *b, const pelt_box *box, double *largest)
{
    double worst = 0;
    for (int corner = 0; corner < 8; corner++) {
        double square = 0;
        for (int row = 0; row < 3; row++) {
            double apart = (double)a[4 * row + 3] - b[4 * row + 3];
            double terms = fabs(b[4 * row + 3]);
            for (int c = 0; c < 3; c++) {
                double x = (double)(corner >> c & 1 ? box->max[c] : box->min[c]);
                apart += ((double)a[4 * row + c] - b[4 * row + c]) * x;
                terms += fabs(b[4 * row + c] * x);
            }
            square += apart * apart;
            *largest = fmax(*largest, terms);
        }
        worst = square <= worst ? worst : square; /* NaN, too */
    }
    return sqrt(worst);
}

static void compare_part(const pelt_pose_verifier *v, const pelt_batch *batch, uint32_t i,
                         uint32_t part, pelt_worst *worst)
{
    const pelt_character *character = v->character;
    const pelt_model *model = character->model;
    const pelt_joint_boxes *boxes = character->joint_boxes[character->part_meshes[part]];
    const double *expected = pelt_batch_palette_double(batch, i, part);
    const float *written =
        v->written + NUMBERS * ((size_t)i * model->matrix_count +
                                model->palettes[model->parts[part].palette].first_matrix);
    for (uint32_t j = 0; j < boxes->joint_count; j++) {
        if (boxes->bind[j].min[0] > boxes->bind[j].max[0]) {
            continue; /* the joint moves no vertex */
        }
        double largest = 0;
        double error = distance(written + NUMBERS * (size_t)j, expected + NUMBERS * (size_t)j,
                                &boxes->bind[j], &largest);
        double allowed = allowed_of_size * v->size + allowed_rounding * largest;
        double of_bound = allowed > 0 ? error / allowed : error > 0 ? INFINITY : 0;
        worst->count++;
        worst->error = error <= worst->error ? worst->error : error;
        worst->of_box = v->size > 0 ? worst->error / v->size : 0;
        if (!(of_bound <= worst->of_bound)) {
            worst->of_bound = of_bound;
            worst->allowed = allowed;
            worst->member = batch->first + i;
            worst->part = part;
            worst->vertex = j;
        }
    }
}

pelt_result pelt_pose_verifier_add(pelt_pose_verifier *v, const pelt_crowd *crowd,
                                   const pelt_batch *batch, pelt_worst *worst)
{
    if (!v) {
        return PELT_OK;
    }
    pelt_result result = write_instances(v, crowd, batch);
    if (result == PELT_OK) {
        result = run(v, batch->count);
    }
    for (uint32_t i = 0; result == PELT_OK && i < batch->count; i++) {
        for (uint32_t part = 0; part < v->character->model->part_count; part++) {
            compare_part(v, batch, i, part, worst);
        }
    }
    return result;
}

#endif
