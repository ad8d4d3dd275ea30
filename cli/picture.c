#include "cli/picture.h"
#include "cli/render_aov.h"

#ifdef PELT_HAVE_VULKAN

enum { NOT_ADDED = -2 };

/* Numbers that the renderer gave to what the model has. */
typedef struct added {
    int32_t *images;     /* of each image of the model, -1: left out, NOT_ADDED: not used so far */
    uint32_t *materials; /* of each material, and last of the default one */
    uint32_t *meshes;    /* of each packed mesh */
} added;

static pelt_result add_materials(pelt_renderer *renderer, const char *file, const pelt_model *model,
                                 added *numbers)
{
    for (uint32_t i = 0; i < model->image_count; i++) {
        numbers->images[i] = NOT_ADDED;
    }
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < model->material_count; i++) {
        const pelt_material *material = &model->materials[i];
        int32_t source = material->base_color_image;
        int32_t image = source >= 0 ? numbers->images[source] : -1;
        if (image == NOT_ADDED) {
            result = pelt_renderer_add_image(renderer, file, model, (uint32_t)source, &image);
            numbers->images[source] = image;
        }
        if (result == PELT_OK) {
            result = pelt_renderer_add_material(renderer, material, image, &numbers->materials[i]);
        }
    }
    return result == PELT_OK ? pelt_renderer_add_material(
                                   renderer, NULL, -1, &numbers->materials[model->material_count])
                             : result;
}

static pelt_result add_meshes(pelt_renderer *renderer, const pelt_picture_scene *scene,
                              added *numbers)
{
    const pelt_character *character = scene->character;
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < character->mesh_count; i++) {
        result = pelt_renderer_add_mesh(renderer, character->primitives[i],
                                        scene->packed_order ? character->meshes[i]->packed_vertices
                                                            : NULL,
                                        &numbers->meshes[i]);
    }
    return result;
}

static uint32_t part_material(const pelt_model *model, const added *numbers, uint32_t part)
{
    int32_t material = pelt_part_primitive(model, part)->material;
    return numbers->materials[material < 0 ? model->material_count : (uint32_t)material];
}

/* Whether mesh shaders draw a part. */
static bool has_clusters(const pelt_picture_scene *scene, uint32_t part)
{
    return scene->clusters && scene->clusters->parts[part].cluster_count > 0;
}

/* The draws of what was skinned before, a part of a member each. */
static uint32_t fill_draws(const pelt_picture_scene *scene, const added *numbers,
                           pelt_render_draw *draws)
{
    const pelt_character *character = scene->character;
    const pelt_model *model = character->model;
    uint32_t count = 0;
    size_t slot = 0;
    for (uint32_t i = 0; i < scene->count; i++) {
        for (uint32_t part = 0; part < model->part_count; part++, slot++) {
            if (has_clusters(scene, part)) {
                continue;
            }
            draws[count++] =
                (pelt_render_draw){ .mesh = numbers->meshes[character->part_meshes[part]],
                                    .material = part_material(model, numbers, part),
                                    .vertices = scene->parts[slot],
                                    .box = scene->part_boxes[slot],
                                    .previous = scene->previous ? scene->previous[slot] : 0,
                                    .instance = i,
                                    .part = part };
        }
    }
    return count;
}

/* The parts that are drawn by clusters, all members at once. What shows more than its material does
 * is drawn with the default one. boxes: room for those of each part. */
static uint32_t fill_clusters(const pelt_picture_scene *scene, const added *numbers,
                              pelt_render_clusters *clusters, pelt_box *boxes)
{
    const pelt_character *character = scene->character;
    const pelt_model *model = character->model;
    uint32_t count = 0;
    for (uint32_t part = 0; part < model->part_count; part++) {
        if (!has_clusters(scene, part)) {
            continue;
        }
        pelt_box *own = boxes + (size_t)part * scene->count;
        for (uint32_t i = 0; i < scene->count; i++) {
            own[i] = scene->part_boxes[(size_t)i * model->part_count + part];
        }
        clusters[count++] = (pelt_render_clusters){
            .mesh = numbers->meshes[character->part_meshes[part]],
            .material = scene->clusters->debug == PELT_DEBUG_NONE
                            ? part_material(model, numbers, part)
                            : numbers->materials[model->material_count],
            .instances = scene->clusters->parts[part].instances,
            .instance_count = scene->count,
            .cluster_count = scene->clusters->parts[part].cluster_count,
            .boxes = own,
        };
    }
    return count;
}

static void fill_parts(const pelt_picture_scene *scene, const added *numbers,
                       pelt_render_part *parts)
{
    const pelt_character *character = scene->character;
    for (uint32_t part = 0; part < character->model->part_count; part++) {
        parts[part] = (pelt_render_part){
            .mesh = numbers->meshes[character->part_meshes[part]],
            .material = part_material(character->model, numbers, part),
            .packed_mesh = scene->crowd->part_meshes[part],
        };
    }
}

static pelt_result draw_pixels(const pelt_picture_info *info, pelt_renderer *renderer,
                               const pelt_render_scene *self, uint8_t *rgba,
                               pelt_render_report *report)
{
    return info->rays ? pelt_renderer_trace(renderer, self,
                                            &(pelt_trace_info){ .sky_samples = info->sky_samples },
                                            rgba, report)
                      : pelt_renderer_draw(renderer, self, rgba, report);
}

/* Draws and writes what self holds beside the boxes. */
static pelt_result write_scene(const pelt_host *host, const pelt_picture_info *info,
                               const pelt_picture_scene *scene, pelt_renderer *renderer,
                               pelt_render_scene *self, pelt_render_report *report)
{
    uint32_t width, height;
    pelt_renderer_size(renderer, &width, &height);
    self->boxes = info->boxes ? scene->member_boxes : NULL;
    self->box_count = info->boxes ? scene->count : 0;
    self->zoom = scene->zoom;
    if (info->aov != PELT_AOV_NONE) {
        return pelt_write_aov(host, info, renderer, self, report);
    }
    uint8_t *rgba = pelt_allocate(host, (size_t)width * height, 4);
    if (!rgba) {
        return PELT_ERROR_MEMORY;
    }
    pelt_result result = draw_pixels(info, renderer, self, rgba, report);
    if (result == PELT_OK) {
        result = pelt_write_png(host, info->output, width, height, rgba);
    }
    pelt_release(host, rgba);
    return result;
}

static pelt_result draw(const pelt_host *host, const pelt_picture_info *info,
                        const pelt_picture_scene *scene, pelt_renderer *renderer,
                        const added *numbers, pelt_render_report *report)
{
    uint32_t parts = scene->character->model->part_count;
    size_t count = (size_t)scene->count * parts;
    pelt_render_draw *draws = pelt_allocate(host, count, sizeof(*draws));
    pelt_render_clusters *clusters = pelt_allocate(host, parts, sizeof(*clusters));
    pelt_box *boxes = pelt_allocate(host, count, sizeof(*boxes));
    pelt_result result = PELT_ERROR_MEMORY;
    if (draws && clusters && boxes) {
        pelt_render_scene self = { .draws = draws, .clusters = clusters };
        self.draw_count = fill_draws(scene, numbers, draws);
        self.clusters_count = fill_clusters(scene, numbers, clusters, boxes);
        if (scene->clusters) {
            self.keep_all_clusters = scene->clusters->keep_all;
            self.lod = scene->clusters->lod;
            self.debug = scene->clusters->debug;
        }
        result = write_scene(host, info, scene, renderer, &self, report);
    }
    pelt_release(host, boxes);
    pelt_release(host, clusters);
    pelt_release(host, draws);
    return result;
}

static pelt_result draw_crowd(const pelt_host *host, const pelt_picture_info *info,
                              const pelt_picture_scene *scene, pelt_renderer *renderer,
                              const added *numbers, pelt_render_report *report)
{
    uint32_t count = scene->character->model->part_count, palette;
    pelt_render_part *parts = pelt_allocate(host, count, sizeof(*parts));
    if (!parts) {
        return PELT_ERROR_MEMORY;
    }
    fill_parts(scene, numbers, parts);
    pelt_result result = pelt_renderer_add_palette(renderer, scene->crowd->bake, 0, &palette, NULL);
    if (result == PELT_OK) {
        const pelt_render_crowd crowd = { .palette = palette,
                                          .interpolation = scene->crowd->interpolation,
                                          .skinning = scene->crowd->skinning,
                                          .members = scene->crowd->members,
                                          .member_count = scene->count,
                                          .parts = parts,
                                          .part_count = count,
                                          .boxes = scene->crowd->frames,
                                          .box_count = scene->count };
        pelt_render_scene self = { .crowds = &crowd, .crowd_count = 1 };
        result = write_scene(host, info, scene, renderer, &self, report);
    }
    pelt_release(host, parts);
    return result;
}

pelt_result pelt_picture_write(const pelt_host *host, const pelt_picture_info *info,
                               const pelt_picture_scene *scene, pelt_render_report *report)
{
    const pelt_model *model = scene->character->model;
    added numbers = {
        .images = pelt_allocate(host, model->image_count, sizeof(*numbers.images)),
        .materials =
            pelt_allocate(host, (size_t)model->material_count + 1, sizeof(*numbers.materials)),
        .meshes = pelt_allocate(host, scene->character->mesh_count, sizeof(*numbers.meshes)),
    };
    pelt_renderer *renderer = NULL;
    pelt_result result = PELT_ERROR_MEMORY;
    if (numbers.images && numbers.materials && numbers.meshes) {
        result = pelt_renderer_create(
            host, scene->device,
            &(pelt_renderer_info){ .width = info->width, .height = info->height }, &renderer);
    }
    if (result == PELT_OK) {
        result = add_materials(renderer, info->file, model, &numbers);
    }
    if (result == PELT_OK) {
        result = add_meshes(renderer, scene, &numbers);
    }
    if (result == PELT_OK) {
        result = (scene->crowd ? draw_crowd : draw)(host, info, scene, renderer, &numbers, report);
    }
    pelt_renderer_destroy(renderer);
    pelt_release(host, numbers.meshes);
    pelt_release(host, numbers.materials);
    pelt_release(host, numbers.images);
    return result;
}

#endif
