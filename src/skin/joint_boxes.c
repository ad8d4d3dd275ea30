#include <pelt/skin.h>

#include "base/base.h"
#include "base/box.h"
#include "pack/walk.h"
#include "skin/rounding.h"

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
        influence_walk walk = walk_influences(mesh, vertex);
        uint32_t joint;
        float weight;
        while (next_influence(&walk, &joint, &weight)) {
            if (weight > 0.0f) {
                box_add(&bind[joint], vertices[vertex].position);
            }
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

pelt_box pelt_joint_boxes_bound(const pelt_joint_boxes *boxes, const float *matrices)
{
    skin_rounding rounding = skin_rounding_of(boxes->influence_count);
    double min[3] = { INFINITY, INFINITY, INFINITY }, max[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (uint32_t j = 0; j < boxes->joint_count; j++) {
        const pelt_box *bind = &boxes->bind[j];
        if (box_is_empty(bind)) {
            continue;
        }
        double far[3];
        for (int c = 0; c < 3; c++) {
            far[c] = fmax(fabs((double)bind->min[c]), fabs((double)bind->max[c]));
        }
        for (int i = 0; i < 3; i++) {
            const float *row = matrices + 12 * (size_t)j + 4 * i;
            double low = row[3], high = row[3];
            for (int c = 0; c < 3; c++) {
                double a = (double)row[c] * bind->min[c], b = (double)row[c] * bind->max[c];
                low += a < b ? a : b;
                high += a < b ? b : a;
            }
            double widening = skin_rounding_of_row(rounding, row, far);
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
