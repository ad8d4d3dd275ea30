/* What has to be known of a scene before it is drawn. */
#include "render/picture.h"

#include <stdlib.h>
#include <string.h>

static pelt_result check_scene(const pelt_renderer *renderer, const pelt_render_scene *scene)
{
    for (uint32_t i = 0; i < scene->draw_count; i++) {
        const pelt_render_draw *draw = &scene->draws[i];
        const char *wrong = draw->mesh >= renderer->mesh_count           ? "a mesh not added"
                            : draw->material >= renderer->material_count ? "a material not added"
                            : draw->vertices == 0                        ? "no vertices"
                            : draw->vertices % 16 != 0 ? "vertices that are not 16-byte aligned"
                                                       : NULL;
        if (wrong) {
            return pelt_fail(renderer->host, PELT_ERROR_ARGUMENT, NULL, NULL, "draw %u has %s", i,
                             wrong);
        }
    }
    pelt_result result = pelt_render_check_clusters(renderer, scene);
    return result == PELT_OK ? pelt_render_check_crowds(renderer, scene) : result;
}

/* What a pass over the whole scene draws. */
static double count_triangles(const pelt_renderer *renderer, const pelt_render_scene *scene,
                              double *draws)
{
    double triangles = 0.0;
    *draws = scene->draw_count;
    for (uint32_t i = 0; i < scene->draw_count; i++) {
        triangles += renderer->meshes[scene->draws[i].mesh].index_count / 3.0;
    }
    for (uint32_t i = 0; i < scene->crowd_count; i++) {
        const pelt_render_crowd *crowd = &scene->crowds[i];
        *draws += crowd->part_count;
        for (uint32_t p = 0; p < crowd->part_count; p++) {
            triangles +=
                renderer->meshes[crowd->parts[p].mesh].index_count / 3.0 * crowd->member_count;
        }
    }
    for (uint32_t i = 0; i < scene->clusters_count; i++) {
        const pelt_render_clusters *clusters = &scene->clusters[i];
        *draws += clusters->instance_count;
        triangles += renderer->meshes[clusters->mesh].index_count / 3.0 * clusters->instance_count;
    }
    return triangles;
}

/* Every direction costs a pass over the whole scene. A crowd, whose figures are small, does with
 * fewer, so that a picture takes seconds at most. */
static uint32_t choose_sky_count(const pelt_renderer *renderer, const pelt_render_scene *scene)
{
    enum { LEAST = 8, DRAW_COST = 200 };
    if (scene->no_shadows) {
        return 1;
    }
    double draws; /* what one takes in terms of triangles */
    double cost = count_triangles(renderer, scene, &draws);
    cost += DRAW_COST * draws;
    double budget = renderer->device->is_software ? 20e6 : 4e9;
    double most = renderer->sky_layers;
    double count = cost > 0.0 ? budget / cost : most;
    count = count < LEAST ? LEAST : count;
    return (uint32_t)(count < most ? count : most);
}

/* Software drivers shade whole blocks of pixels for every small triangle: a crowd takes fewer
 * samples of the shadow maps, on figures where nobody could tell. */
static void choose_taps(const pelt_renderer *renderer, const pelt_render_scene *scene, vec4 taps)
{
    double draws, pixels = (double)renderer->width * renderer->height;
    double triangles = count_triangles(renderer, scene, &draws);
    bool few = renderer->device->is_software && triangles > pixels * 0.3;
    glm_vec4_copy(few ? (vec4){ 5.0f, 8.0f, 8.0f, 0.0f } : (vec4){ 16.0f, 32.0f, 40.0f, 0.0f },
                  taps);
}

static int nearer_first(const void *a, const void *b)
{
    const pelt_render_order *p = a, *q = b;
    if (p->distance != q->distance) {
        return p->distance > q->distance ? 1 : -1;
    }
    if (p->draw != q->draw) {
        return p->draw > q->draw ? 1 : -1;
    }
    return (p->instance > q->instance) - (p->instance < q->instance);
}

static bool is_blended(const pelt_renderer *renderer, const pelt_render_clusters *clusters)
{
    return renderer->materials[clusters->material].alpha_mode == PELT_ALPHA_BLEND;
}

static void order_draw(pelt_render_picture *self, const pelt_box *box, uint32_t draw,
                       uint32_t instance)
{
    float squares = 0.0f;
    for (int k = 0; k < 3; k++) {
        float middle = box->min[k] * 0.5f + box->max[k] * 0.5f;
        float unit = (middle - self->frame.origin[k]) * self->frame.origin[3];
        squares += (unit - self->frame.eye[k]) * (unit - self->frame.eye[k]);
    }
    self->order[self->order_count++] = (pelt_render_order){ squares, draw, instance };
}

/* What is opaque hides what comes after it, what is blended shows what came before. */
static pelt_result sort_draws(pelt_render_picture *self)
{
    const pelt_render_scene *scene = self->scene;
    size_t count = scene->draw_count;
    for (uint32_t i = 0; i < scene->clusters_count; i++) {
        const pelt_render_clusters *clusters = &scene->clusters[i];
        count += is_blended(self->renderer, clusters) ? clusters->instance_count : 0;
    }
    self->order = count <= UINT32_MAX
                      ? pelt_allocate(self->renderer->host, count, sizeof(pelt_render_order))
                      : NULL;
    if (!self->order) {
        return pelt_fail(self->renderer->host, PELT_ERROR_MEMORY, NULL, NULL,
                         "no memory to sort %zu draws", count);
    }
    for (uint32_t i = 0; i < scene->draw_count; i++) {
        order_draw(self, &scene->draws[i].box, i, 0);
    }
    for (uint32_t c = 0; c < scene->clusters_count; c++) {
        const pelt_render_clusters *clusters = &scene->clusters[c];
        uint32_t ordered = is_blended(self->renderer, clusters) ? clusters->instance_count : 0;
        for (uint32_t i = 0; i < ordered; i++) {
            order_draw(self, &clusters->boxes[i], scene->draw_count + c, i);
        }
    }
    qsort(self->order, self->order_count, sizeof(pelt_render_order), nearer_first);
    return PELT_OK;
}

static pelt_result upload_boxes(pelt_render_picture *self)
{
    const pelt_render_scene *scene = self->scene;
    if (scene->box_count == 0) {
        return PELT_OK;
    }
    pelt_result result = pelt_buffer_create(
        self->renderer->device, (VkDeviceSize)scene->box_count * sizeof(pelt_render_wire_box), 0,
        PELT_MEMORY_UPLOAD, &self->boxes);
    if (result != PELT_OK) {
        return result;
    }
    pelt_render_wire_box *boxes = self->boxes.mapped;
    for (uint32_t i = 0; i < scene->box_count; i++) {
        const pelt_box *box = &scene->boxes[i];
        if (!pelt_render_box_is_visible(box)) {
            continue;
        }
        pelt_render_wire_box *to = &boxes[self->box_count++];
        *to = (pelt_render_wire_box){ 0 };
        for (int k = 0; k < 3; k++) {
            to->low[k] = (box->min[k] - self->frame.origin[k]) * self->frame.origin[3];
            to->high[k] = (box->max[k] - self->frame.origin[k]) * self->frame.origin[3];
        }
    }
    return PELT_OK;
}

void pelt_render_scene_view(const struct pelt_frame *frame, mat4 out)
{
    mat4 to_unit;
    glm_scale_make(to_unit, (vec3){ frame->origin[3], frame->origin[3], frame->origin[3] });
    for (int k = 0; k < 3; k++) {
        to_unit[3][k] = -frame->origin[k] * frame->origin[3];
    }
    glm_mat4_mul((vec4 *)frame->camera, to_unit, out);
}

/* What is culled is seen from above, with all around it. */
static pelt_result frame_scene(const pelt_renderer *renderer, const pelt_render_scene *scene,
                               const pelt_framing *framing, pelt_render_picture *self)
{
    pelt_result result = pelt_render_frame_scene(renderer->host, scene, framing, &self->culling);
    self->frame = self->culling;
    if (result != PELT_OK || scene->debug != PELT_DEBUG_CULLED) {
        return result;
    }
    pelt_render_scene above = *scene;
    memcpy(above.to_eye, (float[3]){ 0.25f, 1.0f, 0.55f }, sizeof(above.to_eye));
    above.zoom = 1.0f;
    above.camera = NULL;
    return pelt_render_frame_scene(renderer->host, &above, framing, &self->frame);
}

pelt_result pelt_render_prepare(pelt_render_picture *self)
{
    pelt_renderer *renderer = self->renderer;
    const pelt_render_scene *scene = self->scene;
    pelt_result result = check_scene(renderer, scene);
    if (result != PELT_OK) {
        return result;
    }
    self->sky_count = choose_sky_count(renderer, scene);
    const pelt_framing framing = { renderer->width, renderer->height, renderer->sun_size,
                                   renderer->sky_size, self->sky_count };
    result = frame_scene(renderer, scene, &framing, self);
    if (result == PELT_OK) {
        choose_taps(renderer, scene, self->frame.taps);
        memcpy(renderer->frame.mapped, &self->frame, sizeof(self->frame));
        result = sort_draws(self);
    }
    if (result == PELT_OK) {
        result = pelt_render_prepare_crowds(self);
    }
    if (result == PELT_OK) {
        result = pelt_render_prepare_clusters(self);
    }
    return result == PELT_OK ? upload_boxes(self) : result;
}

void pelt_render_release_picture(pelt_render_picture *self)
{
    pelt_buffer_destroy(self->renderer->device, &self->boxes);
    pelt_release(self->renderer->host, self->order);
    pelt_render_release_clusters(self);
    pelt_render_release_crowds(self);
}
