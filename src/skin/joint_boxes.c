#include <pelt/skin.h>

#include "base/base.h"
#include "base/box.h"
#include "pack/codec.h"

#include <math.h>

/* How far apart the float paths and exact arithmetic can be, given the same float matrices, decoded
 * weights and positions. Component i of a skinned vertex is the sum over its n influences k of
 *
 *     w_k (m_i0 x + m_i1 y + m_i2 z + t_i)      of matrix k,
 *
 * whichever way it is bracketed: matrices blended first (each element: one product, n - 1 sums;
 * then one product, 3 sums) or vertices first (one product, 3 sums; one product, n - 1 sums). Each
 * term thus passes at most n + 4 roundings, fused multiply-adds only save some, and by the usual
 * bound (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1) the sum is off by at
 * most
 *
 *     g sum of w_k (|m_i0| |x| + |m_i1| |y| + |m_i2| |z| + |t_i|),   g = N u / (1 - N u),
 *     N = n + 4, u = 2^-24.
 *
 * Gradual underflow or flushing to zero adds less than 2^-126 for each operation, those of a
 * blended element multiplied by its coordinate: (n + 4) 2^-126 (|x| + |y| + |z| + 1) covers all.
 *
 * The weights are >= 0 and sum to 1 exactly, so exact position and bound are both convex
 * combinations of what the single joints give: a joint's moved box widened by its own share of the
 * error holds, in the union over the joints, every vertex. */
enum { ROUNDINGS_OF_A_PRODUCT = 4 };

/* The double arithmetic below is itself off by a few 2^-53 of the same magnitudes. */
#define OWN_ROUNDING 0x1p-48

pelt_result pelt_joint_boxes_create(const pelt_host *host, const pelt_packed_mesh *mesh,
                                    const pelt_packed_vertex *vertices, pelt_joint_boxes **out)
{
    *out = NULL;
    vertices = vertices ? vertices : mesh->vertices;
    pelt_joint_boxes *boxes = pelt_allocate(host, 1, sizeof(*boxes));
    pelt_box *bind = pelt_allocate(host, mesh->joint_count, sizeof(*bind));
    if (!boxes || !bind) {
        pelt_release(host, boxes);
        pelt_release(host, bind);
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for %u joint boxes",
                         mesh->joint_count);
    }
    *boxes = (pelt_joint_boxes){ .joint_count = mesh->joint_count,
                                 .influence_count = 4 * mesh->set_count,
                                 .bind = bind,
                                 .host = host };
    for (uint32_t j = 0; j < mesh->joint_count; j++) {
        bind[j] = (pelt_box)PELT_BOX_EMPTY;
    }
    for (uint32_t vertex = 0; vertex < mesh->vertex_count; vertex++) {
        float implied_weight = 1.0f;
        uint32_t implied_joint = 0;
        for (uint32_t set = 0; set < mesh->set_count; set++) {
            float weights[4];
            uint32_t joints[4];
            decode_weights(mesh, set, vertex, weights);
            decode_joints(mesh, set, vertex, joints);
            implied_joint = set == 0 ? joints[0] : implied_joint;
            for (int k = 0; k < 4; k++) {
                if (weights[k] > 0.0f) {
                    box_add(&bind[joints[k]], vertices[vertex].position);
                    implied_weight -= weights[k];
                }
            }
        }
        if (implied_weight > 0.0f) {
            box_add(&bind[implied_joint], vertices[vertex].position);
        }
    }
    *out = boxes;
    return PELT_OK;
}

void pelt_joint_boxes_destroy(pelt_joint_boxes *boxes)
{
    if (boxes) {
        pelt_release(boxes->host, boxes->bind);
        pelt_release(boxes->host, boxes);
    }
}

static float round_down(double value)
{
    float nearest = (float)value;
    return nearest > value ? nextafterf(nearest, -INFINITY) : nearest;
}

static float round_up(double value)
{
    float nearest = (float)value;
    return nearest < value ? nextafterf(nearest, INFINITY) : nearest;
}

pelt_box pelt_joint_boxes_bound(const pelt_joint_boxes *boxes, const float *matrices)
{
    double roundings = (double)boxes->influence_count + ROUNDINGS_OF_A_PRODUCT;
    double relative = roundings * 0x1p-24 / (1.0 - roundings * 0x1p-24) + OWN_ROUNDING;
    double absolute = roundings * 0x1p-126;
    double min[3] = { INFINITY, INFINITY, INFINITY }, max[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (uint32_t j = 0; j < boxes->joint_count; j++) {
        const pelt_box *bind = &boxes->bind[j];
        if (box_is_empty(bind)) {
            continue;
        }
        double far[3], far_sum = 1.0;
        for (int c = 0; c < 3; c++) {
            far[c] = fmax(fabs((double)bind->min[c]), fabs((double)bind->max[c]));
            far_sum += far[c];
        }
        for (int i = 0; i < 3; i++) {
            const float *row = matrices + 12 * (size_t)j + 4 * i;
            double low = row[3], high = row[3], magnitude = fabs((double)row[3]);
            for (int c = 0; c < 3; c++) {
                double a = (double)row[c] * bind->min[c], b = (double)row[c] * bind->max[c];
                low += a < b ? a : b;
                high += a < b ? b : a;
                magnitude += fabs((double)row[c]) * far[c];
            }
            double widening = relative * magnitude + absolute * far_sum;
            min[i] = fmin(min[i], low - widening);
            max[i] = fmax(max[i], high + widening);
        }
    }
    pelt_box bound = PELT_BOX_EMPTY;
    for (int i = 0; i < 3 && min[i] <= max[i]; i++) {
        bound.min[i] = round_down(min[i]);
        bound.max[i] = round_up(max[i]);
    }
    return bound;
}
