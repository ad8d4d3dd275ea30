/* Whether a form did its work. On a sample of the meshes: pelt's positions agree with the CPU's
 * path, every other form's with pelt's, within float rounding; boxes are the min and max of the
 * form's own positions, bit for bit, or hold them where they come from joints; directions agree
 * with the form's formula in double precision. Outputs are poisoned before, and two frames run, so
 * that what one leaves behind is there for the next. */
#include "bench/internal.h"

#include <math.h>
#include <string.h>

enum { INSTANCES_MAX = 16, VERTICES_WANTED = 100000, FORMULAS = BENCH_FAMILY_STREAM };

/* Roundings of two sums of four products of three each, with weights: see the tolerance. */
static const double roundings = 32.0;

/* Codes round to 0.097 degrees at most; the rest is for float arithmetic. */
static const double angle_allowed = 0.15 * 3.14159265358979 / 180.0;

/* Below so much of what it was summed from, a direction says nothing. */
static const double confidence_needed = 1e-3;

/* One mesh of one instance. */
typedef struct mesh_sample {
    uint32_t instance, mesh;
    struct bench_mesh record;
    float *matrices;             /* the instance's, 12 each */
    float *positions;            /* pelt's, once it was checked; before, the CPU's */
    double tolerance;            /* of positions */
    float *directions[FORMULAS]; /* normal and tangent, 6 a vertex; zeros: not comparable */
} mesh_sample;

struct pelt_bench_check {
    const pelt_bench_data *data;
    uint32_t sample_count;
    mesh_sample *samples;
    uint32_t vertex_count; /* of all samples */
    uint32_t largest;      /* of one */
    void *vertices;        /* downloads of the largest: 16 bytes and 4 a vertex */
    uint32_t *tangents;
};

/* What a form wrote of one sample. */
typedef struct animated_mesh {
    const char *positions;
    uint32_t position_stride;
    const char *normals;
    uint32_t normal_stride;
    const uint32_t *tangents;
    pelt_box box;
} animated_mesh;

static void load_floats(const char *from, float out[3])
{
    memcpy(out, from, 3 * sizeof(float));
}

/* 2 x 16 roundings of the largest sum of magnitudes that any joint can give any vertex. */
static double position_tolerance(const pelt_packed_mesh *mesh, const float *matrices)
{
    double extent[3] = { 0 };
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        for (int i = 0; i < 3; i++) {
            extent[i] = fmax(extent[i], fabs((double)mesh->vertices[v].position[i]));
        }
    }
    double largest = 0.0;
    for (uint32_t j = 0; j < mesh->joint_count; j++) {
        for (int i = 0; i < 3; i++) {
            const float *row = matrices + 12 * (size_t)j + 4 * i;
            double sum = fabs((double)row[3]);
            for (int k = 0; k < 3; k++) {
                sum += fabs((double)row[k]) * extent[k];
            }
            largest = fmax(largest, sum);
        }
    }
    return roundings * 0x1p-24 * largest;
}

/* -- expected directions ------------------------------------------------------------------- */

static void cofactor(const double a[9], double out[9])
{
    for (int i = 0; i < 3; i++) {
        const double *r = a + 3 * ((i + 1) % 3);
        const double *s = a + 3 * ((i + 2) % 3);
        for (int k = 0; k < 3; k++) {
            out[3 * i + k] = r[(k + 1) % 3] * s[(k + 2) % 3] - r[(k + 2) % 3] * s[(k + 1) % 3];
        }
    }
}

/* Adds weight x the 3x3 of a matrix, or x its inverse transpose. */
static void add_matrix(const float *matrix, double weight, bool inverse_transpose, double sum[9])
{
    double a[9], c[9];
    for (int i = 0; i < 9; i++) {
        a[i] = (double)matrix[4 * (i / 3) + i % 3];
    }
    if (inverse_transpose) {
        cofactor(a, c);
        double determinant = a[0] * c[0] + a[1] * c[1] + a[2] * c[2];
        for (int i = 0; i < 9; i++) {
            a[i] = determinant != 0.0 ? c[i] / determinant : NAN;
        }
    }
    for (int i = 0; i < 9; i++) {
        sum[i] += weight * a[i];
    }
}

/* Zeros where that says nothing. */
static void transform_direction(const double a[9], const float from[3], double sign, float out[3])
{
    double v[3], squared = 0.0, magnitude = 0.0;
    for (int i = 0; i < 3; i++) {
        v[i] = 0.0;
        for (int k = 0; k < 3; k++) {
            v[i] += a[3 * i + k] * (double)from[k];
            magnitude = fmax(magnitude, fabs(a[3 * i + k]));
        }
        squared += v[i] * v[i];
    }
    double length = sqrt(squared);
    bool comparable = length > confidence_needed * magnitude && isfinite(length);
    for (int i = 0; i < 3; i++) {
        out[i] = comparable ? (float)(sign * v[i] / length) : 0.0f;
    }
}

/* The sign of the determinant; 0 where the matrix is too near to a singular one to tell. */
static double orientation(const double a[9], const double cofactors[9])
{
    double determinant = 0.0, magnitude = 0.0;
    for (int k = 0; k < 9; k++) {
        determinant += k < 3 ? a[k] * cofactors[k] : 0.0;
        magnitude = fmax(magnitude, fabs(a[k]));
    }
    double threshold = confidence_needed * magnitude * magnitude * magnitude;
    return determinant > threshold ? 1.0 : determinant < -threshold ? -1.0 : 0.0;
}

/* Of the unit normals that each joint's cofactors make. */
static void blend_unit_normals(const float *matrices, const uint32_t joints[4],
                               const float weights[4], const float from[3], float out[3])
{
    double sum[3] = { 0.0 }, squared = 0.0;
    bool comparable = true;
    for (int i = 0; i < 4; i++) {
        if (weights[i] > 0.0f) {
            double cofactors[9];
            float turned[3];
            pelt_bench_stored_cofactors(matrices + 12 * (size_t)joints[i], cofactors);
            transform_direction(cofactors, from, 1.0, turned);
            comparable =
                comparable && (turned[0] != 0.0f || turned[1] != 0.0f || turned[2] != 0.0f);
            for (int k = 0; k < 3; k++) {
                sum[k] += (double)weights[i] * (double)turned[k];
            }
        }
    }
    for (int k = 0; k < 3; k++) {
        squared += sum[k] * sum[k];
    }
    double length = sqrt(squared);
    comparable = comparable && length > confidence_needed;
    for (int k = 0; k < 3; k++) {
        out[k] = comparable ? (float)(sum[k] / length) : 0.0f;
    }
}

/* What a vertex's joints add up to. */
typedef struct blended_joints {
    const float *matrices; /* of all joints */
    uint32_t joints[4];
    float weights[4];
    double matrix[9], cofactors[9], inverse_transpose[9];
} blended_joints;

static blended_joints blend_joints(const pelt_packed_mesh *mesh, const float *matrices, uint32_t v)
{
    blended_joints blend = { .matrices = matrices };
    pelt_unpack_influences(mesh, v, blend.joints, blend.weights);
    for (int i = 0; i < 4; i++) {
        if (blend.weights[i] > 0.0f) {
            const float *matrix = matrices + 12 * (size_t)blend.joints[i];
            add_matrix(matrix, (double)blend.weights[i], false, blend.matrix);
            add_matrix(matrix, (double)blend.weights[i], true, blend.inverse_transpose);
        }
    }
    cofactor(blend.matrix, blend.cofactors);
    return blend;
}

static void expect_normal(const blended_joints *blend, pelt_bench_family family,
                          const float from[3], float out[3])
{
    switch (family) {
    case BENCH_FAMILY_JOINT_COFACTORS:
        blend_unit_normals(blend->matrices, blend->joints, blend->weights, from, out);
        break;
    case BENCH_FAMILY_INVERSE:
        transform_direction(blend->cofactors, from, orientation(blend->matrix, blend->cofactors),
                            out);
        break;
    case BENCH_FAMILY_JOINT_INVERSES:
    case BENCH_FAMILY_ATOMICS:
        transform_direction(blend->inverse_transpose, from, 1.0, out);
        break;
    case BENCH_FAMILY_PLAIN:
        transform_direction(blend->matrix, from, 1.0, out);
        break;
    default:
        transform_direction(blend->cofactors, from, 1.0, out);
        break;
    }
}

static pelt_result expect_directions(const pelt_bench_check *check, mesh_sample *sample,
                                     pelt_bench_family family)
{
    const pelt_packed_mesh *mesh = check->data->unit->meshes[sample->mesh].packed;
    const float *matrices =
        sample->matrices + 12 * (size_t)check->data->unit->meshes[sample->mesh].first_matrix;
    float *out = pelt_allocate(check->data->bench->host, mesh->vertex_count, 6 * sizeof(float));
    if (!out) {
        return PELT_ERROR_MEMORY;
    }
    sample->directions[family] = out;
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        float direction[3], w;
        const blended_joints blend = blend_joints(mesh, matrices, v);
        pelt_decode_direction(mesh->vertices[v].normal, direction, &w);
        expect_normal(&blend, family, direction, out + 6 * (size_t)v);
        pelt_decode_direction(mesh->tangents[v], direction, &w);
        transform_direction(family == BENCH_FAMILY_SEED      ? blend.cofactors
                            : family == BENCH_FAMILY_ATOMICS ? blend.inverse_transpose
                                                             : blend.matrix,
                            direction, 1.0, out + 6 * (size_t)v + 3);
    }
    return PELT_OK;
}

/* -- samples ------------------------------------------------------------------------------- */

static pelt_result create_sample(pelt_bench_check *check, uint32_t instance, uint32_t mesh_index)
{
    const pelt_bench_data *data = check->data;
    const pelt_host *host = data->bench->host;
    const pelt_bench_mesh *mesh = &data->unit->meshes[mesh_index];
    mesh_sample *added = &check->samples[check->sample_count++];
    *added = (mesh_sample){ .instance = instance,
                            .mesh = mesh_index,
                            .record = pelt_bench_mesh_record(data, instance, mesh_index) };
    added->matrices = pelt_allocate(host, data->unit->matrix_count, 12 * sizeof(float));
    added->positions = pelt_allocate(host, mesh->packed->vertex_count, 3 * sizeof(float));
    if (!added->matrices || !added->positions) {
        return PELT_ERROR_MEMORY;
    }
    pelt_bench_unit_matrices(data->unit, instance, added->matrices);
    const float *matrices = added->matrices + 12 * (size_t)mesh->first_matrix;
    const pelt_skin_job job = { .mesh = mesh->packed,
                                .matrices = matrices,
                                .out_positions = added->positions };
    pelt_skin_cpu(&job, 0, mesh->packed->vertex_count, NULL);
    added->tolerance = position_tolerance(mesh->packed, matrices);
    check->vertex_count += mesh->packed->vertex_count;
    check->largest =
        mesh->packed->vertex_count > check->largest ? mesh->packed->vertex_count : check->largest;
    return PELT_OK;
}

/* The first instance, the last, and some between, as long as there are not too many vertices. */
static uint32_t choose_instances(const pelt_bench_data *data, uint32_t out[INSTANCES_MAX])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < INSTANCES_MAX; i++) {
        uint32_t chosen = i == 0   ? 0
                          : i == 1 ? data->instances - 1
                                   : (uint32_t)(pelt_bench_hash(i) % data->instances);
        bool known = i > 0 && (uint64_t)(count + 1) * data->unit->vertex_count > VERTICES_WANTED;
        for (uint32_t k = 0; k < count; k++) {
            known = known || out[k] == chosen;
        }
        if (!known) {
            out[count++] = chosen;
        }
    }
    return count;
}

pelt_result pelt_bench_check_create(const pelt_bench_data *data, pelt_bench_check **out)
{
    *out = NULL;
    const pelt_host *host = data->bench->host;
    pelt_bench_check *check = pelt_allocate(host, 1, sizeof(*check));
    if (!check) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for checks");
    }
    check->data = data;
    uint32_t instances[INSTANCES_MAX];
    uint32_t count = choose_instances(data, instances);
    pelt_result result = PELT_OK;
    check->samples =
        pelt_allocate(host, (size_t)count * data->unit->mesh_count, sizeof(mesh_sample));
    if (!check->samples) {
        result = PELT_ERROR_MEMORY;
    }
    for (uint32_t i = 0; result == PELT_OK && i < count; i++) {
        for (uint32_t m = 0; result == PELT_OK && m < data->unit->mesh_count; m++) {
            result = create_sample(check, instances[i], m);
        }
    }
    if (result == PELT_OK) {
        check->vertices = pelt_allocate(host, check->largest, sizeof(pelt_packed_vertex));
        check->tangents = pelt_allocate(host, check->largest, sizeof(uint32_t));
        result = check->vertices && check->tangents ? PELT_OK : PELT_ERROR_MEMORY;
    }
    if (result != PELT_OK) {
        pelt_bench_check_destroy(check);
        return pelt_fail(host, result, NULL, NULL, "no memory for checks");
    }
    *out = check;
    return PELT_OK;
}

void pelt_bench_check_destroy(pelt_bench_check *check)
{
    if (!check) {
        return;
    }
    const pelt_host *host = check->data->bench->host;
    for (uint32_t i = 0; check->samples && i < check->sample_count; i++) {
        for (int f = 0; f < FORMULAS; f++) {
            pelt_release(host, check->samples[i].directions[f]);
        }
        pelt_release(host, check->samples[i].positions);
        pelt_release(host, check->samples[i].matrices);
    }
    pelt_release(host, check->samples);
    pelt_release(host, check->vertices);
    pelt_release(host, check->tangents);
    pelt_release(host, check);
}

uint32_t pelt_bench_check_vertices(const pelt_bench_check *check)
{
    return check->vertex_count;
}

/* -- running and reading ------------------------------------------------------------------- */

static pelt_result run_poisoned(const pelt_bench_data *data, uint32_t variant)
{
    const pelt_bench *bench = data->bench;
    VkCommandBuffer commands;
    pelt_result result = pelt_commands_begin(bench->device, &commands);
    if (result != PELT_OK) {
        return result;
    }
    const pelt_buffer *const poisoned[] = { &data->out_vertices, &data->out_tangents, &data->boxes,
                                            &data->partials };
    for (size_t i = 0; i < sizeof(poisoned) / sizeof(poisoned[0]); i++) {
        bench->vk.cmd_fill_buffer(commands, poisoned[i]->buffer, 0, VK_WHOLE_SIZE, UINT32_MAX);
    }
    pelt_bench_full_barrier(bench, commands);
    for (int frame = 0; frame < 2; frame++) {
        pelt_bench_variants[variant].record(data, commands);
        pelt_bench_barrier(bench, commands);
    }
    return pelt_commands_submit(bench->device, commands);
}

static pelt_result download(const pelt_bench_check *check, const mesh_sample *sample,
                            pelt_bench_family family, animated_mesh *out)
{
    const pelt_bench_data *data = check->data;
    pelt_headless *device = data->bench->device;
    VkDeviceSize first = sample->record.first_output, count = sample->record.vertex_count;
    pelt_result result;
    if (family != BENCH_FAMILY_SEED && family != BENCH_FAMILY_ATOMICS) {
        result = pelt_buffer_download(device, &data->out_vertices, 16 * first, check->vertices,
                                      16 * count);
        out->positions = check->vertices;
        out->position_stride = sizeof(pelt_packed_vertex);
        out->normals = out->positions + offsetof(pelt_packed_vertex, normal);
        out->normal_stride = sizeof(pelt_packed_vertex);
    } else {
        char *normals = (char *)check->vertices + 12 * count;
        result = pelt_buffer_download(device, &data->out_vertices, 12 * first, check->vertices,
                                      12 * count);
        if (result == PELT_OK) {
            result = pelt_buffer_download(device, &data->out_vertices, data->normals_at + 4 * first,
                                          normals, 4 * count);
        }
        out->positions = check->vertices;
        out->position_stride = 3 * sizeof(float);
        out->normals = normals;
        out->normal_stride = sizeof(uint32_t);
    }
    if (result == PELT_OK) {
        result = pelt_buffer_download(device, &data->out_tangents, 4 * first, check->tangents,
                                      4 * count);
    }
    out->tangents = check->tangents;
    VkDeviceSize box = (VkDeviceSize)sample->instance * data->unit->mesh_count + sample->mesh;
    if (result == PELT_OK) {
        result = pelt_buffer_download(device, &data->boxes, box * sizeof(pelt_box), &out->box,
                                      sizeof(pelt_box));
    }
    return result;
}

/* -- comparing ----------------------------------------------------------------------------- */

/* Each returns whether all is well, and otherwise says into text what is not. */

static bool check_positions(const mesh_sample *sample, const animated_mesh *animated, double *worst,
                            char text[128])
{
    for (uint32_t v = 0; v < sample->record.vertex_count; v++) {
        float position[3];
        load_floats(animated->positions + (size_t)v * animated->position_stride, position);
        for (int i = 0; i < 3; i++) {
            double off = fabs((double)position[i] - (double)sample->positions[3 * (size_t)v + i]);
            if (!(off <= sample->tolerance)) {
                (void)snprintf(text, 128, "vertex %u is off by %.3g, allowed %.3g", v, off,
                               sample->tolerance);
                return false;
            }
            *worst = off > *worst ? off : *worst;
        }
    }
    return true;
}

static bool check_box(const mesh_sample *sample, const animated_mesh *animated,
                      pelt_bench_bounds bounds, char text[128])
{
    pelt_box exact = PELT_BOX_EMPTY;
    for (uint32_t v = 0; v < sample->record.vertex_count; v++) {
        float position[3];
        load_floats(animated->positions + (size_t)v * animated->position_stride, position);
        for (int i = 0; i < 3; i++) {
            exact.min[i] = position[i] < exact.min[i] ? position[i] : exact.min[i];
            exact.max[i] = position[i] > exact.max[i] ? position[i] : exact.max[i];
        }
    }
    for (int i = 0; i < 3; i++) {
        float low = animated->box.min[i], high = animated->box.max[i];
        bool fine = bounds == PELT_BENCH_JOINT_BOX ? low <= exact.min[i] && high >= exact.max[i]
                                                   : low == exact.min[i] && high == exact.max[i];
        if (!fine) {
            (void)snprintf(
                text, 128, "its box is %.9g to %.9g along %c, its positions %.9g to %.9g",
                (double)low, (double)high, "xyz"[i], (double)exact.min[i], (double)exact.max[i]);
            return false;
        }
    }
    return true;
}

static bool check_direction(uint32_t code, uint32_t source, const float expected[3], uint32_t v,
                            const char *what, char text[128])
{
    float direction[3], w, squared = 0.0f;
    double along = 0.0, across = 0.0;
    pelt_decode_direction(code, direction, &w);
    for (int i = 0; i < 3; i++) {
        int k = (i + 1) % 3, l = (i + 2) % 3;
        double c =
            (double)direction[k] * (double)expected[l] - (double)direction[l] * (double)expected[k];
        along += (double)direction[i] * (double)expected[i];
        across += c * c;
        squared += expected[i] * expected[i];
    }
    double angle = atan2(sqrt(across), along);
    if (squared > 0.0f && !(angle <= angle_allowed)) {
        (void)snprintf(text, 128, "vertex %u: its %s is off by %.3g degrees", v, what,
                       angle * 180.0 / 3.14159265358979);
        return false;
    }
    if ((code ^ source) >> 30 != 0) {
        (void)snprintf(text, 128, "vertex %u: its %s has lost its sign", v, what);
        return false;
    }
    return true;
}

static bool check_directions(const pelt_bench_check *check, const mesh_sample *sample,
                             const animated_mesh *animated, pelt_bench_family family,
                             char text[128])
{
    const pelt_packed_mesh *mesh = check->data->unit->meshes[sample->mesh].packed;
    for (uint32_t v = 0; v < sample->record.vertex_count; v++) {
        uint32_t normal;
        memcpy(&normal, animated->normals + (size_t)v * animated->normal_stride, sizeof(normal));
        const float *expected = sample->directions[family] + 6 * (size_t)v;
        if (!check_direction(normal, mesh->vertices[v].normal, expected, v, "normal", text) ||
            !check_direction(animated->tangents[v], mesh->tangents[v], expected + 3, v, "tangent",
                             text)) {
            return false;
        }
    }
    return true;
}

static bool check_stream(const pelt_bench_check *check, const mesh_sample *sample,
                         const animated_mesh *animated, char text[128])
{
    const pelt_packed_mesh *mesh = check->data->unit->meshes[sample->mesh].packed;
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        uint32_t words = mesh->tangents[v] ^ mesh->weights[v];
        for (uint32_t i = 0; i < mesh->joint_bytes; i++) {
            words ^= mesh->joints[(size_t)v * mesh->joint_bytes + i];
        }
        if (memcmp(animated->positions + (size_t)v * animated->position_stride, &mesh->vertices[v],
                   sizeof(pelt_packed_vertex)) != 0 ||
            animated->tangents[v] != words) {
            (void)snprintf(text, 128, "vertex %u is not what was read", v);
            return false;
        }
    }
    return true;
}

static bool check_sample(const pelt_bench_check *check, mesh_sample *sample,
                         const animated_mesh *animated, uint32_t variant, double *worst,
                         char text[128])
{
    const pelt_bench_variant_entry *entry = &pelt_bench_variants[variant];
    if (entry->family == BENCH_FAMILY_STREAM) {
        return check_stream(check, sample, animated, text);
    }
    if (!check_positions(sample, animated, worst, text) ||
        !check_directions(check, sample, animated, entry->family, text)) {
        return false;
    }
    if (entry->info.bounds != PELT_BENCH_NO_BOX &&
        !check_box(sample, animated, entry->info.bounds, text)) {
        return false;
    }
    for (size_t v = 0; variant == BENCH_VARIANT_PELT && v < sample->record.vertex_count; v++) {
        load_floats(animated->positions + v * animated->position_stride, sample->positions + 3 * v);
    }
    return true;
}

pelt_result pelt_bench_check_variant(pelt_bench_check *check, uint32_t variant, const char *scene,
                                     pelt_bench_row *row)
{
    const pelt_bench_variant_entry *entry = &pelt_bench_variants[variant];
    const pelt_host *host = check->data->bench->host;
    row->checked = true;
    pelt_result result = run_poisoned(check->data, variant);
    for (uint32_t i = 0; result == PELT_OK && row->checked && i < check->sample_count; i++) {
        mesh_sample *sample = &check->samples[i];
        if (entry->family < BENCH_FAMILY_STREAM && !sample->directions[entry->family]) {
            result = expect_directions(check, sample, entry->family);
        }
        animated_mesh animated;
        if (result == PELT_OK) {
            result = download(check, sample, entry->family, &animated);
        }
        char text[128];
        if (result == PELT_OK &&
            !check_sample(check, sample, &animated, variant, &row->position_error, text)) {
            row->checked = false;
            (void)pelt_fail(host, PELT_ERROR_VULKAN, NULL, NULL, "%s, %s: instance %u, mesh %u: %s",
                            scene, entry->info.name, sample->instance, sample->mesh, text);
        }
    }
    return result;
}
