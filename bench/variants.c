/* What is compared, and the bytes each must move. */
#include "bench/internal.h"

#include <string.h>

const pelt_bench_variant_entry pelt_bench_variants[PELT_BENCH_VARIANT_COUNT] = {
    [BENCH_VARIANT_PELT] = { .info = { "pelt", "pelt_cmd_skin with exact boxes",
                                       PELT_BENCH_EXACT_BOX },
                             .family = BENCH_FAMILY_PELT,
                             .record = pelt_bench_record_pelt },
    [BENCH_VARIANT_STREAM] = { .info = { "stream",
                                         "reads and writes the same bytes, computes nothing",
                                         PELT_BENCH_NO_BOX },
                               .family = BENCH_FAMILY_STREAM,
                               .record = pelt_bench_record_stream },
    [BENCH_VARIANT_SEED] = { .info = { "seed",
                                       "groups of 64 padded per mesh, partial boxes, then one "
                                       "group a mesh; 220 bytes",
                                       PELT_BENCH_EXACT_BOX },
                             .family = BENCH_FAMILY_SEED,
                             .needs_subgroups = true,
                             .record = pelt_bench_record_seed },
    [BENCH_VARIANT_ATOMICS] = { .info = { "global-atomics",
                                          "2023: 4x4 matrices twice, float weights, six atomics a "
                                          "vertex; 564 bytes",
                                          PELT_BENCH_EXACT_BOX },
                                .family = BENCH_FAMILY_ATOMICS,
                                .record = pelt_bench_record_global_atomics },
    { .info = { "wave-atomics", "the same, reduced by wave before the atomics",
                PELT_BENCH_EXACT_BOX },
      .family = BENCH_FAMILY_ATOMICS,
      .needs_subgroups = true,
      .record = pelt_bench_record_wave_atomics },
    { .info = { "scalar-path", "the same, one mesh a wave where waves do not straddle meshes",
                PELT_BENCH_EXACT_BOX },
      .family = BENCH_FAMILY_ATOMICS,
      .needs_subgroups = true,
      .record = pelt_bench_record_scalar_path },
    { .info = { "per-joint", "pelt without boxes, and pelt_cmd_joint_boxes", PELT_BENCH_JOINT_BOX },
      .family = BENCH_FAMILY_PELT,
      .record = pelt_bench_record_per_joint },
    { .info = { "pelt-no-box", "pelt_cmd_skin without boxes", PELT_BENCH_NO_BOX },
      .family = BENCH_FAMILY_PELT,
      .record = pelt_bench_record_pelt_no_box },
    { .info = { "seed-no-box", "seed's first pass alone, without reduction", PELT_BENCH_NO_BOX },
      .family = BENCH_FAMILY_SEED,
      .needs_subgroups = true,
      .record = pelt_bench_record_seed_no_box },
    { .info = { "atomics-no-box", "global-atomics (and wave-atomics) without boxes",
                PELT_BENCH_NO_BOX },
      .family = BENCH_FAMILY_ATOMICS,
      .record = pelt_bench_record_global_no_box },
    { .info = { "scalar-no-box", "scalar-path without boxes", PELT_BENCH_NO_BOX },
      .family = BENCH_FAMILY_ATOMICS,
      .needs_subgroups = true,
      .record = pelt_bench_record_scalar_no_box },
    { .info = { "cofactor",
                "normals by the cofactor matrix of the blend, as pelt; 48 bytes a joint",
                PELT_BENCH_NO_BOX, true },
      .family = BENCH_FAMILY_PELT,
      .record = pelt_bench_record_cofactor },
    { .info = { "inverse", "by the inverse transpose of the blend, of every vertex; 48 bytes",
                PELT_BENCH_NO_BOX, true },
      .family = BENCH_FAMILY_INVERSE,
      .record = pelt_bench_record_inverse },
    { .info = { "joint-inverses", "by the blend of the joints' inverse transposes; 96 bytes",
                PELT_BENCH_NO_BOX, true },
      .family = BENCH_FAMILY_JOINT_INVERSES,
      .record = pelt_bench_record_joint_inverses },
    { .info = { "joint-cofactors",
                "blend of unit normals, each by a joint's cofactors in half floats; 64 bytes",
                PELT_BENCH_NO_BOX, true },
      .family = BENCH_FAMILY_JOINT_COFACTORS,
      .record = pelt_bench_record_joint_cofactors },
    { .info = { "plain", "by the blended matrix itself, which is wrong under scale; 48 bytes",
                PELT_BENCH_NO_BOX, true },
      .family = BENCH_FAMILY_PLAIN,
      .record = pelt_bench_record_plain },
};

const pelt_bench_variant_info *pelt_bench_variant(uint32_t index)
{
    return &pelt_bench_variants[index].info;
}

int pelt_bench_find_variant(const char *name)
{
    for (int i = 0; i < PELT_BENCH_VARIANT_COUNT; i++) {
        if (strcmp(pelt_bench_variants[i].info.name, name) == 0) {
            return i;
        }
    }
    return -1;
}

/* What vertices name of the palettes in a buffer. */
static uint64_t named_bytes(const pelt_bench_data *data, const pelt_buffer *palettes)
{
    return palettes->size / data->unit->matrix_count * data->unit->named_count;
}

uint64_t pelt_bench_bytes(const pelt_bench_data *data, uint32_t variant)
{
    const pelt_bench_variant_entry *entry = &pelt_bench_variants[variant];
    uint64_t bytes =
        data->out_tangents.size + sizeof(pelt_packed_vertex) * (uint64_t)data->vertex_count;
    switch (entry->family) {
    case BENCH_FAMILY_PELT:
    case BENCH_FAMILY_INVERSE:
    case BENCH_FAMILY_JOINT_INVERSES:
    case BENCH_FAMILY_JOINT_COFACTORS:
    case BENCH_FAMILY_PLAIN:
        bytes += data->vertices.size + data->tangents.size + data->weights.size +
                 data->joints.size +
                 named_bytes(data, pelt_bench_normal_palettes(data, entry->family));
        break;
    case BENCH_FAMILY_STREAM:
        bytes += data->vertices.size + data->tangents.size + data->weights.size + data->joints.size;
        break;
    case BENCH_FAMILY_SEED:
        bytes += data->positions.size + data->normals.size + data->tangents.size +
                 data->seed_weights.size + data->seed_joints.size + named_bytes(data, &data->rows);
        break;
    case BENCH_FAMILY_ATOMICS:
        bytes += data->positions.size + data->normals.size + data->tangents.size +
                 data->float_weights.size + data->wide_joints.size +
                 named_bytes(data, &data->matrices) + named_bytes(data, &data->normal_matrices);
        break;
    }
    return bytes + (entry->info.bounds == PELT_BENCH_NO_BOX ? 0 : data->boxes.size);
}
