/* What packing costs against what docs/formats.md promises, whatever the pose. The bounds come from
 * the layout, not from the packer:
 *
 *   weights     a step of 1/4096; in meshes of several sets 1/32 of it more
 *   directions  half a step of 1/511 in each component, all of it across: asin(sqrt(3) / 1022)
 *
 * and an allowance for rounding to 32-bit floats, which reports and directions are in. */
#include "cli/compare.h"

#include <math.h>

static const double weight_step = 1.0 / 4096.0;
static const double weight_rounding = 1e-9;
static const double direction_rounding = 1e-6;

double pelt_direction_bound(void)
{
    return asin(sqrt(3.0) / 1022.0) + direction_rounding;
}

static void note(pelt_worst *worst, double error, double allowed, uint32_t part)
{
    double of_bound = isnan(error) ? INFINITY : error / allowed;
    worst->count++;
    worst->error = error > worst->error ? error : worst->error;
    if (!(of_bound <= worst->of_bound)) {
        worst->of_bound = of_bound;
        worst->allowed = allowed;
        worst->part = part;
    }
}

void pelt_packing_add_report(pelt_packing_result *packing, const pelt_packed_mesh *mesh,
                             uint32_t part)
{
    const pelt_pack_report *report = &mesh->report;
    double steps = mesh->set_count > 1 ? 1.0 + 1.0 / 32.0 : 1.0;
    note(&packing->weights, report->weight_error, steps * weight_step + weight_rounding, part);
    if (mesh->has_normals) {
        note(&packing->directions, report->normal_error, pelt_direction_bound(), part);
    }
    if (mesh->tangents) {
        note(&packing->directions, report->tangent_error, pelt_direction_bound(), part);
    }
}

bool pelt_packing_holds(const pelt_packing_result *packing)
{
    return packing->position.of_bound <= 1.0 && packing->weights.of_bound <= 1.0 &&
           packing->directions.of_bound <= 1.0;
}
