/* Random meshes and instances, skinned on the device and judged against arithmetic of this file.
 *
 * All outputs lie in one image that starts out as guard bytes, with guards between them; what is
 * not an output of some instance must still be a guard byte afterwards. */
#ifndef PELT_TESTS_GPU_SCENE_H
#define PELT_TESTS_GPU_SCENE_H

#include "tests/gpu.h"

#include <math.h>

enum { SCENE_GUARD = 0xa5, SCENE_GAP = 48 };

/* How an instance's outputs lie in memory. */
typedef enum scene_layout {
    SCENE_INTERLEAVED, /* 16-byte vertices, aligned; tangents apart */
    SCENE_TIGHT,       /* 12, 4, 4 */
    SCENE_STRUCT,      /* one 24-byte vertex: position, normal, tangent, 4 bytes not ours */
    SCENE_UNALIGNED,   /* 16-byte vertices, but only 4-byte aligned */
    SCENE_WIDE,        /* strides of 32, 8 and 12 */
    SCENE_NO_DIRECTIONS /* positions and box */,
    SCENE_NO_BOX,
    SCENE_LAYOUT_COUNT
} scene_layout;

typedef struct scene_instance {
    uint32_t mesh;
    scene_layout layout;
    bool skip;
    bool dual;                          /* quaternions */
    const float *matrices;              /* of the mesh's joints */
    const pelt_packed_vertex *vertices; /* or NULL: the mesh's */
    const uint32_t *tangents;           /* ignored if the mesh has none */

    /* Filled in: where outputs begin in the image, 0: not wanted. */
    size_t positions, normals, tangents_out, box;
    uint32_t position_stride, normal_stride, tangent_stride;
} scene_instance;

typedef struct scene {
    pelt_packed_mesh *const *meshes;
    uint32_t mesh_count;
    scene_instance *instances;
    uint32_t instance_count;
    bool unknown_palettes; /* no mesh says how many joints it has */

    /* Filled in. */
    pelt_skin_tables tables;
    unsigned char *image;
    size_t image_size;
} scene;

static inline double scene_random(uint64_t *state, double low, double high)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(*state >> 40) / (double)(1 << 24);
}

static inline void scene_random_unit(uint64_t *state, float out[3])
{
    double v[3], length;
    do {
        for (int i = 0; i < 3; i++) {
            v[i] = scene_random(state, -1, 1);
        }
        length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    } while (length < 0.1 || length > 1);
    for (int i = 0; i < 3; i++) {
        out[i] = (float)(v[i] / length);
    }
}

/* A packed mesh of random vertices in [-1, 1]^3, each with 1 to slots influences; the last joint
 * has a vertex, so joint_count above 256 makes it 16-bit. */
static inline pelt_packed_mesh *scene_mesh(uint64_t seed, uint32_t vertex_count, uint32_t slots,
                                           uint32_t joint_count, bool with_tangents)
{
    uint64_t state = seed;
    pelt_primitive primitive = { .topology = PELT_POINTS,
                                 .vertex_count = vertex_count,
                                 .influence_count = slots };
    primitive.positions = malloc(vertex_count * 3 * sizeof(float));
    primitive.normals = malloc(vertex_count * 3 * sizeof(float));
    primitive.tangents = with_tangents ? malloc(vertex_count * 4 * sizeof(float)) : NULL;
    primitive.joints = calloc((size_t)vertex_count * slots, sizeof(uint16_t));
    primitive.weights = calloc((size_t)vertex_count * slots, sizeof(float));
    for (uint32_t v = 0; v < vertex_count; v++) {
        for (int i = 0; i < 3; i++) {
            primitive.positions[3 * v + i] = (float)scene_random(&state, -1, 1);
        }
        scene_random_unit(&state, primitive.normals + 3 * v);
        if (with_tangents) {
            scene_random_unit(&state, primitive.tangents + 4 * v);
            primitive.tangents[4 * v + 3] = scene_random(&state, 0, 1) < 0.5 ? -1.0f : 1.0f;
        }
        /* The first vertex has all influences, so that every set is needed. */
        uint32_t used = v == 0 ? slots : 1 + (uint32_t)scene_random(&state, 0, slots - 0.01);
        uint16_t *joints = primitive.joints + (size_t)v * slots;
        float *weights = primitive.weights + (size_t)v * slots;
        uint32_t first = v == 0 ? joint_count - 1 : (uint32_t)scene_random(&state, 0, joint_count);
        float sum = 0;
        for (uint32_t k = 0; k < used; k++) {
            joints[k] = (uint16_t)((first + k * (joint_count / slots)) % joint_count);
            weights[k] = (float)scene_random(&state, 0.1, 1);
            sum += weights[k];
        }
        for (uint32_t k = 0; k < used; k++) {
            weights[k] /= sum;
        }
    }
    pelt_packed_mesh *mesh = NULL;
    assert_int_equal(pelt_pack(&gpu_host, &(pelt_pack_info){ .primitive = &primitive }, &mesh),
                     PELT_OK);
    free(primitive.positions);
    free(primitive.normals);
    free(primitive.tangents);
    free(primitive.joints);
    free(primitive.weights);
    assert_int_equal(mesh->set_count, (slots + 3) / 4);
    assert_int_equal(mesh->joint_bytes, joint_count > 256 ? 2 : 1);
    assert_int_equal(mesh->joint_count, joint_count);
    return mesh;
}

/* count matrices of twelve different numbers. They lean towards the identity, so that blends of
 * several are rarely near a singular one. */
static inline float *scene_matrices(uint64_t seed, uint32_t count)
{
    uint64_t state = seed;
    float *matrices = malloc(count * 12 * sizeof(float));
    assert_non_null(matrices);
    for (uint32_t i = 0; i < count * 12; i++) {
        double low = i % 4 == 3 ? -3 : -0.6;
        matrices[i] = (float)(scene_random(&state, low, -low) + (i % 12 % 5 == 0 ? 1.0 : 0.0));
    }
    return matrices;
}

/* The same that turn up to 82 degrees from the identity, scale by 0.8 to 1.25 and shear a little:
 * any two have a near way round, and all are on the same side. */
static inline float *scene_motions(uint64_t seed, uint32_t count)
{
    uint64_t state = seed;
    float *matrices = malloc(count * 12 * sizeof(float));
    assert_non_null(matrices);
    for (uint32_t j = 0; j < count; j++) {
        double q[4], length = 0, scale = exp(scene_random(&state, -0.22, 0.22));
        for (int i = 0; i < 4; i++) {
            q[i] = scene_random(&state, -1, 1) + (i == 3 ? 3 : 0);
            length += q[i] * q[i];
        }
        for (int row = 0; row < 3; row++) {
            for (int column = 0; column < 3; column++) {
                int k = 3 - row - column; /* the other axis, off the diagonal */
                double turn = row == column ? 0.5 * length - (q[(row + 1) % 3] * q[(row + 1) % 3] +
                                                              q[(row + 2) % 3] * q[(row + 2) % 3])
                              : (column - row + 3) % 3 == 1 ? q[row] * q[column] - q[3] * q[k]
                                                            : q[row] * q[column] + q[3] * q[k];
                matrices[12 * j + 4 * row + column] =
                    (float)(2 * turn / length * scale + scene_random(&state, -0.05, 0.05));
            }
            matrices[12 * j + 4 * row + 3] = (float)scene_random(&state, -3, 3);
        }
    }
    return matrices;
}

/* Gives every instance its place in the image. */
static inline void scene_place(scene *self)
{
    size_t at = SCENE_GAP;
    for (uint32_t i = 0; i < self->instance_count; i++) {
        scene_instance *instance = &self->instances[i];
        size_t count = self->meshes[instance->mesh]->vertex_count;
        uint32_t strides[3] = { 16, 16, 4 };
        bool apart = false;
        switch (instance->layout) {
        case SCENE_TIGHT:
        case SCENE_NO_DIRECTIONS:
            strides[0] = 12;
            strides[1] = 4;
            apart = true;
            break;
        case SCENE_STRUCT:
            strides[0] = strides[1] = strides[2] = 24;
            break;
        case SCENE_WIDE:
            strides[0] = 32;
            strides[1] = 8;
            strides[2] = 12;
            apart = true;
            break;
        default:
            break;
        }
        instance->position_stride = strides[0];
        instance->normal_stride = strides[1];
        instance->tangent_stride = strides[2];
        at = (at + 15) / 16 * 16 + (instance->layout == SCENE_UNALIGNED ? 4 : 0);
        instance->positions = at;
        at += count * strides[0] + SCENE_GAP;
        instance->normals = apart ? at : instance->positions + 12;
        at += apart ? count * strides[1] + SCENE_GAP : 0;
        instance->tangents_out = at;
        if (instance->layout == SCENE_STRUCT) {
            instance->tangents_out = instance->positions + 16;
        } else {
            at += count * strides[2] + SCENE_GAP;
        }
        instance->box = instance->layout == SCENE_NO_BOX ? 0 : at;
        at += 24 + SCENE_GAP;
        if (instance->layout == SCENE_NO_DIRECTIONS) {
            instance->normals = 0;
            instance->tangents_out = 0;
        }
    }
    self->image_size = (at + 15) / 16 * 16;
}

/* Mapped memory with an address, handed out piece by piece. */
typedef struct scene_input {
    pelt_buffer buffer;
    size_t used;
} scene_input;

static inline VkDeviceAddress scene_put(scene_input *input, const void *bytes, size_t size)
{
    size_t at = input->used;
    input->used += (size + 15) / 16 * 16;
    assert_true(input->used <= input->buffer.size);
    memcpy((char *)input->buffer.mapped + at, bytes, size);
    return input->buffer.address + at;
}

static inline size_t scene_input_size(const scene *self)
{
    size_t size = 0;
    for (uint32_t m = 0; m < self->mesh_count; m++) {
        size += pelt_gpu_mesh_size(self->meshes[m]);
    }
    for (uint32_t i = 0; i < self->instance_count; i++) {
        const pelt_packed_mesh *mesh = self->meshes[self->instances[i].mesh];
        size += 64 * (size_t)mesh->joint_count + 20 * (size_t)mesh->vertex_count + 48;
    }
    return size;
}

/* What the tables must add up to, given how long chunks are. */
static inline void scene_check_tables(const scene *self)
{
    const pelt_skin_tables *tables = &self->tables;
    uint32_t instances = 0, chunks = 0, reductions = 0, partials = 0;
    for (uint32_t i = 0; i < self->instance_count; i++) {
        if (self->instances[i].skip) {
            continue;
        }
        uint32_t count = self->meshes[self->instances[i].mesh]->vertex_count;
        uint32_t own = (count + tables->chunk_vertices - 1) / tables->chunk_vertices;
        bool reduced = own > 1 && self->instances[i].box;
        instances++;
        chunks += own;
        reductions += reduced;
        partials += reduced ? own : 0;
    }
    assert_int_equal(tables->instance_count, instances);
    assert_int_equal(tables->chunk_count, chunks);
    assert_int_equal(tables->reduce_count, reductions);
    assert_int_equal(tables->reduction_offset, 112 * chunks);
    assert_int_equal(tables->table_size, 112 * chunks + 16 * reductions);
    assert_int_equal(tables->scratch_size, 32 * partials);
}

/* An instance's palette, with rotations for dual quaternions. */
static inline VkDeviceAddress scene_put_palette(scene_input *input, const scene_instance *instance,
                                                uint32_t joint_count)
{
    if (!instance->dual) {
        return scene_put(input, instance->matrices, 48 * (size_t)joint_count);
    }
    float *palette = malloc(joint_count * 16 * sizeof(float));
    assert_non_null(palette);
    pelt_skin_dual_palette(instance->matrices, joint_count, palette);
    for (uint32_t j = 1; j < joint_count; j += 2) {
        for (int i = 12; i < 16; i++) {
            palette[16 * (size_t)j + i] *= -1; /* the same rotation */
        }
    }
    VkDeviceAddress address = scene_put(input, palette, 64 * (size_t)joint_count);
    free(palette);
    return address;
}

/* Skins the scene in one pelt_cmd_skin; repeats: that many times in one command buffer. The image
 * is the caller's to free. */
static inline void scene_run(pelt_headless *device, const pelt_skin_pass *pass, scene *self,
                             unsigned repeats)
{
    scene_place(self);
    self->image = malloc(self->image_size);
    pelt_gpu_mesh *meshes = calloc(self->mesh_count, sizeof(*meshes));
    pelt_gpu_instance *instances = calloc(self->instance_count, sizeof(*instances));
    assert_true(self->image && meshes && instances);
    memset(self->image, SCENE_GUARD, self->image_size);

    scene_input input = { .used = 0 };
    pelt_buffer output, table, scratch;
    assert_int_equal(
        pelt_buffer_create(device, scene_input_size(self), 0, PELT_MEMORY_UPLOAD, &input.buffer),
        PELT_OK);
    assert_int_equal(pelt_buffer_create(device, self->image_size, 0, PELT_MEMORY_DEVICE, &output),
                     PELT_OK);
    assert_int_equal(pelt_buffer_upload(device, &output, 0, self->image, self->image_size),
                     PELT_OK);
    for (uint32_t m = 0; m < self->mesh_count; m++) {
        pelt_gpu_mesh_write(self->meshes[m], (char *)input.buffer.mapped + input.used,
                            input.buffer.address + input.used, &meshes[m]);
        input.used += pelt_gpu_mesh_size(self->meshes[m]);
        assert_int_equal(meshes[m].joint_count, self->meshes[m]->joint_count);
        meshes[m].joint_count = self->unknown_palettes ? 0 : meshes[m].joint_count;
    }
    for (uint32_t i = 0; i < self->instance_count; i++) {
        const scene_instance *from = &self->instances[i];
        const pelt_packed_mesh *mesh = self->meshes[from->mesh];
        instances[i] = (pelt_gpu_instance){
            .mesh = from->mesh,
            .skip = from->skip,
            .matrices = scene_put_palette(&input, from, mesh->joint_count),
            .dual_quaternions = from->dual,
            .vertices = from->vertices
                            ? scene_put(&input, from->vertices, 16 * (size_t)mesh->vertex_count)
                            : 0,
            .tangents = from->tangents
                            ? scene_put(&input, from->tangents, 4 * (size_t)mesh->vertex_count)
                            : 0,
            .positions = output.address + from->positions,
            .position_stride = from->position_stride,
            .normals = from->normals ? output.address + from->normals : 0,
            .normal_stride = from->normal_stride,
            .tangents_out = from->tangents_out ? output.address + from->tangents_out : 0,
            .tangent_stride = from->tangent_stride,
            .box = from->box ? output.address + from->box : 0,
        };
    }
    const pelt_skin_tables_info info = { .meshes = meshes,
                                         .mesh_count = self->mesh_count,
                                         .instances = instances,
                                         .instance_count = self->instance_count };
    assert_int_equal(pelt_skin_tables_measure(pass, &info, &self->tables), PELT_OK);
    scene_check_tables(self);
    assert_int_equal(
        pelt_buffer_create(device, self->tables.table_size, 0, PELT_MEMORY_UPLOAD, &table),
        PELT_OK);
    assert_int_equal(
        pelt_buffer_create(device, self->tables.scratch_size, 0, PELT_MEMORY_DEVICE, &scratch),
        PELT_OK);
    pelt_skin_tables_write(pass, &info, &self->tables, table.mapped);

    PFN_vkCmdPipelineBarrier barrier = (PFN_vkCmdPipelineBarrier)device->get_device_proc_addr(
        device->vulkan.device, "vkCmdPipelineBarrier");
    VkCommandBuffer commands;
    assert_int_equal(pelt_commands_begin(device, &commands), PELT_OK);
    for (unsigned n = 0; n < repeats; n++) {
        if (n > 0) {
            const VkMemoryBarrier again = {
                .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_SHADER_READ_BIT,
                .dstAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_SHADER_READ_BIT,
            };
            barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &again, 0, NULL, 0, NULL);
        }
        pelt_cmd_skin(pass, commands, &self->tables, table.address,
                      self->tables.scratch_size > 0 ? scratch.address : 0);
    }
    assert_int_equal(pelt_commands_submit(device, commands), PELT_OK);
    assert_int_equal(pelt_buffer_download(device, &output, 0, self->image, self->image_size),
                     PELT_OK);

    pelt_buffer_destroy(device, &input.buffer);
    pelt_buffer_destroy(device, &output);
    pelt_buffer_destroy(device, &table);
    pelt_buffer_destroy(device, &scratch);
    free(instances);
    free(meshes);
}

/* What one vertex should become, in double precision from the packed streams. */
typedef struct scene_expected {
    double position[3];
    double position_bound[3]; /* of the rounding of any float path */
    double normal_confidence, tangent_confidence;
} scene_expected;

static inline void scene_expect(const pelt_packed_mesh *mesh, const pelt_packed_vertex *vertices,
                                const uint32_t *tangents, const float *matrices, uint32_t vertex,
                                scene_expected *out)
{
    uint32_t joints[64];
    float weights[64];
    uint32_t count = 4 * mesh->set_count;
    assert_true(count <= 64);
    pelt_unpack_influences(mesh, vertex, joints, weights);
    double m[12] = { 0 }, magnitudes[12] = { 0 }, largest = 0;
    for (uint32_t k = 0; k < count; k++) {
        for (int i = 0; i < 12; i++) {
            double term = (double)weights[k] * (double)matrices[12 * joints[k] + i];
            m[i] += term;
            magnitudes[i] += fabs(term);
        }
    }
    float normal[3], tangent[3] = { 0 };
    pelt_decode_direction(vertices[vertex].normal, normal, NULL);
    if (tangents) {
        pelt_decode_direction(tangents[vertex], tangent, NULL);
    }
    const float *p = vertices[vertex].position;
    double cofactor[3], moved[3];
    for (int i = 0; i < 3; i++) {
        out->position[i] = m[4 * i + 3];
        out->position_bound[i] = magnitudes[4 * i + 3];
        moved[i] = 0;
        for (int c = 0; c < 3; c++) {
            out->position[i] += m[4 * i + c] * (double)p[c];
            out->position_bound[i] += magnitudes[4 * i + c] * fabs((double)p[c]);
            moved[i] += m[4 * i + c] * (double)tangent[c];
            largest = fmax(largest, magnitudes[4 * i + c]);
        }
        /* One product and at most count + 3 sums on the way of each term. */
        out->position_bound[i] *= (count + 5) * 0x1p-24;
        out->position_bound[i] += 0x1p-120;
        const double *a = m + 4 * ((i + 1) % 3), *b = m + 4 * ((i + 2) % 3);
        cofactor[i] = (a[1] * b[2] - a[2] * b[1]) * (double)normal[0] +
                      (a[2] * b[0] - a[0] * b[2]) * (double)normal[1] +
                      (a[0] * b[1] - a[1] * b[0]) * (double)normal[2];
    }
    out->normal_confidence = hypot(hypot(cofactor[0], cofactor[1]), cofactor[2]);
    out->normal_confidence /= largest > 0 ? largest * largest : 1;
    out->tangent_confidence = hypot(hypot(moved[0], moved[1]), moved[2]);
    out->tangent_confidence /= largest > 0 ? largest : 1;
}

/* The same by dual quaternions, of the library's reference: n influences may round (3 n + 28) times
 * (cli/compare.c). rotations: 4 a joint. false: which side a joint is on is a matter of rounding.
 */
static inline bool scene_expect_dual(const pelt_packed_mesh *mesh,
                                     const pelt_packed_vertex *vertices, const uint32_t *tangents,
                                     const double *matrices, const double *rotations,
                                     uint32_t vertex, scene_expected *out)
{
    uint32_t joints[64], count = 4 * mesh->set_count;
    uint16_t narrow[64];
    float weights[64], position[3], normal[3], tangent[4] = { 0 };
    double alignment;
    assert_true(count <= 64);
    pelt_unpack_influences(mesh, vertex, joints, weights);
    for (uint32_t k = 0; k < count; k++) {
        narrow[k] = (uint16_t)joints[k];
    }
    memcpy(position, vertices[vertex].position, sizeof(position));
    pelt_decode_direction(vertices[vertex].normal, normal, NULL);
    if (tangents) {
        pelt_decode_direction(tangents[vertex], tangent, &tangent[3]);
    }
    pelt_primitive primitive = { .topology = PELT_POINTS,
                                 .vertex_count = 1,
                                 .positions = position,
                                 .normals = normal,
                                 .tangents = tangents ? tangent : NULL,
                                 .influence_count = count,
                                 .joints = narrow,
                                 .weights = weights };
    pelt_skin_reference(&(pelt_reference_job){ .primitive = &primitive,
                                               .matrices = matrices,
                                               .rotations = rotations,
                                               .positions = out->position,
                                               .position_scales = out->position_bound,
                                               .normal_confidence = &out->normal_confidence,
                                               .tangent_confidence = &out->tangent_confidence,
                                               .alignments = &alignment },
                        0, 1, NULL);
    for (int i = 0; i < 3; i++) {
        out->position_bound[i] = out->position_bound[i] * (3 * count + 28) * 0x1p-24 + 0x1p-120;
    }
    return alignment >= 1e-6;
}

/* A palette in double precision, and its rotations behind it. */
static inline double *scene_doubles(const float *matrices, uint32_t joint_count)
{
    double *doubles = malloc(joint_count * 16 * sizeof(double));
    assert_non_null(doubles);
    for (size_t i = 0; i < 12 * (size_t)joint_count; i++) {
        doubles[i] = (double)matrices[i];
    }
    pelt_skin_rotations_double(doubles, joint_count, doubles + 12 * (size_t)joint_count, NULL);
    return doubles;
}

static inline uint32_t scene_word(const scene *self, size_t at)
{
    uint32_t word;
    memcpy(&word, self->image + at, 4);
    return word;
}

static inline float scene_float(const scene *self, size_t at)
{
    float value;
    memcpy(&value, self->image + at, 4);
    return value;
}

/* The codes of two directions differ by at most one step a component, the top bits not at all. */
static inline bool scene_same_direction(uint32_t a, uint32_t b)
{
    bool same = a >> 30 == b >> 30;
    for (int shift = 0; shift < 30; shift += 10) {
        int difference = (int)(a >> shift & 0x3ff) - (int)(b >> shift & 0x3ff);
        same = same && difference >= -1 && difference <= 1;
    }
    return same;
}

/* Checks one instance and clears what it may have written. */
static inline void scene_check_instance(scene *self, uint32_t index)
{
    const scene_instance *instance = &self->instances[index];
    const pelt_packed_mesh *mesh = self->meshes[instance->mesh];
    const pelt_packed_vertex *vertices = instance->vertices ? instance->vertices : mesh->vertices;
    const uint32_t *tangents =
        instance->tangents && mesh->tangents ? instance->tangents : mesh->tangents;
    uint32_t count = mesh->vertex_count;
    float *cpu_positions = malloc(count * 3 * sizeof(float));
    uint32_t *cpu_normals = malloc(count * sizeof(uint32_t));
    uint32_t *cpu_tangents = malloc(count * sizeof(uint32_t));
    assert_true(cpu_positions && cpu_normals && cpu_tangents);
    double *doubles = scene_doubles(instance->matrices, mesh->joint_count);
    const double *rotations = doubles + 12 * (size_t)mesh->joint_count;
    float *float_rotations = malloc(mesh->joint_count * 4 * sizeof(float));
    assert_non_null(float_rotations);
    pelt_skin_rotations(instance->matrices, mesh->joint_count, float_rotations);
    pelt_skin_cpu(&(pelt_skin_job){ .mesh = mesh,
                                    .matrices = instance->matrices,
                                    .rotations = instance->dual ? float_rotations : NULL,
                                    .vertices = instance->vertices,
                                    .tangents = instance->tangents,
                                    .out_positions = cpu_positions,
                                    .out_normals = cpu_normals,
                                    .out_tangents = cpu_tangents },
                  0, count, NULL);

    double low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY };
    double worst = 0;
    uint32_t vague = 0;
    for (uint32_t v = 0; v < count; v++) {
        scene_expected expected;
        bool sided = true;
        if (instance->dual) {
            sided = scene_expect_dual(mesh, vertices, tangents, doubles, rotations, v, &expected);
            expected.normal_confidence = sided ? expected.normal_confidence : 1e-9;
            expected.tangent_confidence = sided ? expected.tangent_confidence : 1e-9;
        } else {
            scene_expect(mesh, vertices, tangents, instance->matrices, v, &expected);
        }
        size_t at = instance->positions + (size_t)v * instance->position_stride;
        for (int i = 0; i < 3; i++) {
            double value = (double)scene_float(self, at + 4 * i);
            double error = fabs(value - expected.position[i]);
            error = sided ? error : 0;
            if (!(error <= expected.position_bound[i])) {
                fail_msg("instance %u vertex %u: component %d is %.9g, not %.9g", index, v, i,
                         value, expected.position[i]);
            }
            assert_true(scene_word(self, at + 4 * i) != 0x80000000u);
            worst = fmax(worst, error);
            low[i] = fmin(low[i], value);
            high[i] = fmax(high[i], value);
        }
        memset(self->image + at, SCENE_GUARD, 12);
        if (instance->normals) {
            at = instance->normals + (size_t)v * instance->normal_stride;
            bool comparable = expected.normal_confidence >= 1e-3 || expected.normal_confidence == 0;
            vague += !comparable;
            if (comparable && !scene_same_direction(scene_word(self, at), cpu_normals[v])) {
                fail_msg("instance %u vertex %u: normal is %08x, not %08x", index, v,
                         scene_word(self, at), cpu_normals[v]);
            }
            memset(self->image + at, SCENE_GUARD, 4);
        }
        if (instance->tangents_out && tangents) {
            at = instance->tangents_out + (size_t)v * instance->tangent_stride;
            bool comparable =
                expected.tangent_confidence >= 1e-3 || expected.tangent_confidence == 0;
            vague += !comparable;
            if (comparable && !scene_same_direction(scene_word(self, at), cpu_tangents[v])) {
                fail_msg("instance %u vertex %u: tangent is %08x, not %08x", index, v,
                         scene_word(self, at), cpu_tangents[v]);
            }
            memset(self->image + at, SCENE_GUARD, 4);
        }
    }
    assert_true(vague <= count / 50);
    double diagonal = hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
    if (count >= 63) {
        assert_true(worst <= 2e-6 * diagonal);
    }
    if (instance->box) {
        for (int i = 0; i < 3; i++) {
            /* Positions have no -0, so equal values have equal bits. */
            float bound[2] = { (float)low[i], (float)high[i] };
            assert_memory_equal(self->image + instance->box + 4 * i, &bound[0], 4);
            assert_memory_equal(self->image + instance->box + 12 + 4 * i, &bound[1], 4);
        }
        memset(self->image + instance->box, SCENE_GUARD, 24);
    }
    free(float_rotations);
    free(doubles);
    free(cpu_positions);
    free(cpu_normals);
    free(cpu_tangents);
}

/* Checks every instance that is not skipped, then that nothing else was written. */
static inline void scene_check(scene *self)
{
    for (uint32_t i = 0; i < self->instance_count; i++) {
        if (!self->instances[i].skip) {
            scene_check_instance(self, i);
        }
    }
    for (size_t i = 0; i < self->image_size; i++) {
        if (self->image[i] != SCENE_GUARD) {
            fail_msg("byte %zu of the image was written", i);
        }
    }
}

static inline pelt_skin_pass *scene_pass(pelt_headless *device, uint32_t chunk_vertices,
                                         bool no_subgroup_arithmetic)
{
    pelt_skin_pass *pass = NULL;
    const pelt_skin_pass_info info = { .vulkan = &device->vulkan,
                                       .chunk_vertices = chunk_vertices,
                                       .no_subgroup_arithmetic = no_subgroup_arithmetic };
    assert_int_equal(pelt_skin_pass_create(&gpu_host, &info, &pass), PELT_OK);
    return pass;
}

/* The pass of a program's tests that need no other: drivers take their time to compile one. */
static pelt_skin_pass *scene_shared;

static inline pelt_skin_pass *scene_shared_pass(pelt_headless *device)
{
    if (!scene_shared) {
        scene_shared = scene_pass(device, 0, false);
    }
    return scene_shared;
}

/* Processors that say they are GPUs, and the reverse: both have permutations that the other lacks,
 * and only GPUs read ahead. */
static PFN_vkGetInstanceProcAddr scene_honest_loader;
static PFN_vkGetPhysicalDeviceProperties scene_honest_properties;

static inline void VKAPI_PTR scene_claim_other_type(VkPhysicalDevice device,
                                                    VkPhysicalDeviceProperties *out)
{
    scene_honest_properties(device, out);
    out->deviceType = out->deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU
                          ? VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU
                          : VK_PHYSICAL_DEVICE_TYPE_CPU;
}

static inline PFN_vkVoidFunction VKAPI_PTR scene_claiming_loader(VkInstance instance,
                                                                 const char *name)
{
    PFN_vkVoidFunction function = scene_honest_loader(instance, name);
    if (function && strcmp(name, "vkGetPhysicalDeviceProperties") == 0) {
        scene_honest_properties = (PFN_vkGetPhysicalDeviceProperties)function;
        return (PFN_vkVoidFunction)scene_claim_other_type;
    }
    return function;
}

/* For scene_shared_pass to be of the other type. */
static inline int scene_setup_as_other_type(void **state)
{
    int failed = gpu_setup(state);
    if (failed || !gpu_shared) {
        return failed;
    }
    pelt_vulkan vulkan = gpu_shared->vulkan;
    scene_honest_loader = vulkan.get_instance_proc_addr;
    vulkan.get_instance_proc_addr = scene_claiming_loader;
    const pelt_skin_pass_info info = { .vulkan = &vulkan };
    assert_int_equal(pelt_skin_pass_create(&gpu_host, &info, &scene_shared), PELT_OK);
    return 0;
}

static inline int scene_teardown(void **state)
{
    pelt_skin_pass_destroy(scene_shared);
    scene_shared = NULL;
    return gpu_teardown(state);
}

#endif
