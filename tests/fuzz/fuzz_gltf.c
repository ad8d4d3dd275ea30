/* Feeds arbitrary bytes to the glTF reader. Whatever is accepted must keep the promises of
 * pelt/model.h, which are checked here number by number; then normals and tangents are added.
 *
 *     fuzz_gltf CORPUS_FOLDER SEED_FOLDER... -max_len=65536
 */
#include <math.h>
#include <pelt/gltf.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(bool promise)
{
    if (!promise) {
        abort();
    }
}

static void require_numbers(const float *numbers, size_t count)
{
    for (size_t i = 0; numbers && i < count; i++) {
        require(fabsf(numbers[i]) <= (float)PELT_MAGNITUDE_MAX);
    }
}

static void require_directions(const float *vectors, size_t count, size_t stride, bool zero_allowed)
{
    for (size_t i = 0; vectors && i < count; i++) {
        const float *v = vectors + i * stride;
        double length = sqrt((double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2]);
        require(fabs(length - 1) < 1e-6 || (zero_allowed && length == 0));
        require(stride == 3 || fabsf(v[3]) == 1);
    }
}

static void require_influences(const pelt_primitive *p)
{
    for (size_t v = 0; v < (p->influence_count ? p->vertex_count : 0); v++) {
        double sum = 0;
        for (size_t k = 0; k < p->influence_count; k++) {
            size_t slot = v * p->influence_count + k;
            require(p->weights[slot] >= 0);
            require(p->weights[slot] > 0 || p->joints[slot] == 0);
            sum += (double)p->weights[slot];
        }
        require(fabs(sum - 1) <= 4e-7 * p->influence_count);
    }
}

static void require_primitive(const pelt_primitive *p)
{
    size_t count = p->vertex_count;
    require(count > 0 && p->positions);
    require_numbers(p->positions, 3 * count);
    require_directions(p->normals, count, 3, true);
    require_directions(p->tangents, count, 4, false);
    require_numbers(p->texcoords, 2 * count);
    require_numbers(p->colors, 4 * count);
    require_influences(p);
    for (size_t i = 0; i < p->index_count; i++) {
        require(p->indices[i] < count);
    }
    for (size_t t = 0; t < p->target_count; t++) {
        require_numbers(p->targets[t].positions, 3 * count);
        require_numbers(p->targets[t].normals, 3 * count);
        require_numbers(p->targets[t].tangents, 3 * count);
    }
}

static void require_nodes(const pelt_model *model)
{
    for (uint32_t i = 0; i < model->node_count; i++) {
        const pelt_node *node = &model->nodes[i];
        require(node->parent < (int64_t)model->node_count);
        require(node->mesh < (int64_t)model->mesh_count);
        require(node->skin < (int64_t)model->skin_count);
        const double *q = node->rotation;
        double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
        require(fabs(square - 1) < 1e-12);
        if (node->mesh < 0) {
            continue;
        }
        const pelt_mesh *mesh = &model->meshes[node->mesh];
        require(node->weight_count == 0 || node->weight_count == mesh->primitives[0].target_count);
        for (uint32_t k = 0; node->skin >= 0 && k < mesh->primitive_count; k++) {
            const pelt_primitive *p = &mesh->primitives[k];
            for (size_t j = 0; j < (size_t)p->vertex_count * p->influence_count; j++) {
                require(p->joints[j] < model->skins[node->skin].joint_count);
            }
        }
    }
    for (uint32_t i = 0; i < model->scene_node_count; i++) {
        require(model->scene_nodes[i] < model->node_count);
    }
}

static void require_clip(const pelt_model *model, const pelt_clip *clip)
{
    for (uint32_t i = 0; i < clip->channel_count; i++) {
        require(clip->channels[i].node < model->node_count);
        require(clip->channels[i].sampler < clip->sampler_count);
    }
    for (uint32_t i = 0; i < clip->sampler_count; i++) {
        const pelt_sampler *s = &clip->samplers[i];
        bool cubic = s->interpolation == PELT_CUBICSPLINE;
        require(s->key_count >= (cubic ? 2 : 1) && s->times[0] >= 0);
        for (uint32_t k = 1; k < s->key_count; k++) {
            require(s->times[k] > s->times[k - 1]);
        }
        require((double)s->times[s->key_count - 1] <= clip->duration);
        require_numbers(s->values, (size_t)s->key_count * s->width * (cubic ? 3 : 1));
    }
}

static void require_model(const pelt_model *model)
{
    require_nodes(model);
    for (uint32_t i = 0; i < model->mesh_count; i++) {
        for (uint32_t k = 0; k < model->meshes[i].primitive_count; k++) {
            require_primitive(&model->meshes[i].primitives[k]);
            require(model->meshes[i].primitives[k].material < (int64_t)model->material_count);
        }
    }
    for (uint32_t i = 0; i < model->skin_count; i++) {
        const pelt_skin *skin = &model->skins[i];
        require(skin->joint_count > 0);
        for (uint32_t k = 0; k < skin->joint_count; k++) {
            require(skin->joints[k] < model->node_count);
        }
        require_numbers(skin->inverse_bind, 12 * (size_t)skin->joint_count);
    }
    for (uint32_t i = 0; i < model->clip_count; i++) {
        require_clip(model, &model->clips[i]);
    }
    for (uint32_t i = 0; i < model->material_count; i++) {
        require(model->materials[i].base_color_image < (int64_t)model->image_count);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    pelt_model *model = NULL;
    pelt_result result = pelt_gltf_read_memory(NULL, "fuzz", NULL, bytes, size, &model);
    require((model != NULL) == (result == PELT_OK));
    if (model) {
        require_model(model);
        (void)pelt_model_add_normals(model);
        (void)pelt_model_add_tangents(model, true);
        pelt_model_destroy(model);
    }
    return 0;
}
