#include "sample/sample.h"

#include "sample/clips.h"
#include "sample/face.h"
#include "sample/paint.h"
#include "sample/skeleton.h"
#include "sample/surface.h"
#include "sample/weights.h"

#include "base/base.h"

#include <string.h>

/* Node 0 is the root, joint j is node FIRST_JOINT + j, the mesh's node is the last. */
enum { FIRST_JOINT = 1 };

static char *copy_name(pelt_model *model, const char *name)
{
    char *copy = pelt_model_allocate(model, strlen(name) + 1, 1);
    if (copy) {
        memcpy(copy, name, strlen(name) + 1);
    }
    return copy;
}

static bool make_node(pelt_model *model, uint32_t index, const char *name, int32_t parent)
{
    pelt_node *node = &model->nodes[index];
    *node = (pelt_node){ .name = copy_name(model, name),
                         .parent = parent,
                         .in_scene = true,
                         .rotation = { 0, 0, 0, 1 },
                         .scale = { 1, 1, 1 },
                         .mesh = -1,
                         .skin = -1 };
    return node->name != NULL;
}

/* Rows of the inverse of a rotation and a place. */
static void inverse_bind(const fox_joint *joint, float rows[12])
{
    quat inverse = q_conjugate(joint->bind);
    const vec3 columns[3] = { q_rotate(inverse, v3(1, 0, 0)), q_rotate(inverse, v3(0, 1, 0)),
                              q_rotate(inverse, v3(0, 0, 1)) };
    vec3 shift = q_rotate(inverse, v3_scale(joint->head, -1.0));
    for (int i = 0; i < 3; ++i) {
        rows[i] = (float)columns[i].x;
        rows[4 + i] = (float)columns[i].y;
        rows[8 + i] = (float)columns[i].z;
    }
    rows[3] = (float)shift.x;
    rows[7] = (float)shift.y;
    rows[11] = (float)shift.z;
}

static bool make_rig(pelt_model *model, const fox_skeleton *skeleton)
{
    uint32_t joints = skeleton->joint_count;
    model->node_count = FIRST_JOINT + joints + 1;
    model->nodes = pelt_model_allocate(model, model->node_count, sizeof(*model->nodes));
    model->skins = pelt_model_allocate(model, 1, sizeof(*model->skins));
    if (!model->nodes || !model->skins || !make_node(model, 0, "fox", -1) ||
        !make_node(model, model->node_count - 1, "fox_body", -1)) {
        return false;
    }
    model->skin_count = 1;
    pelt_skin *skin = &model->skins[0];
    skin->name = copy_name(model, "fox_rig");
    skin->joint_count = joints;
    skin->joints = pelt_model_allocate(model, joints, sizeof(*skin->joints));
    skin->inverse_bind = pelt_model_allocate(model, joints, 12 * sizeof(*skin->inverse_bind));
    if (!skin->name || !skin->joints || !skin->inverse_bind) {
        return false;
    }
    for (uint32_t j = 0; j < joints; ++j) {
        const fox_joint *joint = &skeleton->joints[j];
        if (!make_node(model, FIRST_JOINT + j, joint->name, FIRST_JOINT + joint->parent)) {
            return false;
        }
        quat rotation = pelt_sample_bind_rotation(skeleton, j);
        vec3 translation = pelt_sample_bind_translation(skeleton, j);
        pelt_node *node = &model->nodes[FIRST_JOINT + j];
        memcpy(node->rotation, &rotation, sizeof(node->rotation));
        memcpy(node->translation, &translation, sizeof(node->translation));
        skin->joints[j] = FIRST_JOINT + j;
        inverse_bind(joint, skin->inverse_bind + 12 * (size_t)j);
    }
    return true;
}

static pelt_primitive *make_primitive(pelt_model *model, uint32_t vertices, uint32_t indices)
{
    model->meshes = pelt_model_allocate(model, 1, sizeof(*model->meshes));
    model->materials = pelt_model_allocate(model, 1, sizeof(*model->materials));
    if (!model->meshes || !model->materials) {
        return NULL;
    }
    model->mesh_count = model->material_count = 1;
    model->materials[0] = (pelt_material){ .name = copy_name(model, "fur"),
                                           .base_color = { 1, 1, 1, 1 },
                                           .base_color_image = -1,
                                           .alpha_cutoff = 0.5f };
    pelt_mesh *mesh = &model->meshes[0];
    mesh->name = copy_name(model, "fox");
    mesh->primitives = pelt_model_allocate(model, 1, sizeof(*mesh->primitives));
    if (!mesh->primitives || !mesh->name || !model->materials[0].name) {
        return NULL;
    }
    mesh->primitive_count = 1;
    pelt_primitive *p = &mesh->primitives[0];
    *p = (pelt_primitive){ .topology = PELT_TRIANGLES,
                           .vertex_count = vertices,
                           .influence_count = INFLUENCES,
                           .index_count = indices };
    p->positions = pelt_model_allocate(model, vertices, 3 * sizeof(float));
    p->normals = pelt_model_allocate(model, vertices, 3 * sizeof(float));
    p->tangents = pelt_model_allocate(model, vertices, 4 * sizeof(float));
    p->colors = pelt_model_allocate(model, vertices, 4 * sizeof(float));
    p->joints = pelt_model_allocate(model, vertices, INFLUENCES * sizeof(*p->joints));
    p->weights = pelt_model_allocate(model, vertices, INFLUENCES * sizeof(*p->weights));
    p->indices = pelt_model_allocate(model, indices, sizeof(*p->indices));
    bool ok = p->positions && p->normals && p->tangents && p->colors && p->joints && p->weights &&
              p->indices;
    return ok ? p : NULL;
}

static void put(float *out, vec3 v)
{
    out[0] = (float)v.x;
    out[1] = (float)v.y;
    out[2] = (float)v.z;
}

/* Tangents run the way fur lies, along the bones, and are left-handed on the right side, as those
 * of a texture used for both sides would be. */
static void put_vertex(pelt_primitive *p, uint32_t index, const fox_skeleton *skeleton,
                       vec3 position, vec3 normal, vec3 color, fox_influences influences)
{
    vec3 flow = v3(0, 0, 0);
    for (int i = 0; i < INFLUENCES; ++i) {
        const fox_joint *joint = &skeleton->joints[influences.joints[i]];
        flow = v3_along(flow, v3_sub(joint->tail, joint->head), influences.weights[i]);
    }
    vec3 tangent = v3_reject(v3_unit(flow, v3(0, 1, 0)), normal);
    if (v3_length(tangent) < 0.05) {
        /* Straight up along the fur: any direction will do, and x and z are not both the normal. */
        tangent = v3_reject(fabs(normal.x) < 0.7 ? v3(1, 0, 0) : v3(0, 0, 1), normal);
    }
    tangent = v3_unit(tangent, v3(1, 0, 0));
    size_t v = index;
    put(p->positions + 3 * v, position);
    put(p->normals + 3 * v, normal);
    put(p->tangents + 4 * v, tangent);
    p->tangents[4 * v + 3] = position.x < 0.0 ? -1.0f : 1.0f;
    put(p->colors + 4 * v, color);
    p->colors[4 * v + 3] = 1.0f;
    memcpy(p->joints + INFLUENCES * v, influences.joints, sizeof(influences.joints));
    memcpy(p->weights + INFLUENCES * v, influences.weights, sizeof(influences.weights));
}

static bool make_mesh(pelt_model *model, const fox_skeleton *skeleton, const fox_rigging *rigging,
                      const fox_shape *shape, const fox_surface *body, const fox_face *face)
{
    pelt_primitive *p = make_primitive(model, body->vertex_count + face->vertex_count,
                                       body->index_count + face->index_count);
    if (!p) {
        return false;
    }
    for (uint32_t v = 0; v < body->vertex_count; ++v) {
        vec3 position = body->positions[v], normal;
        (void)pelt_sample_shape_gradient(shape, position, &normal);
        normal = v3_unit(normal, v3(0, 1, 0));
        put_vertex(p, v, skeleton, position, normal, pelt_sample_paint(shape, position, normal),
                   pelt_sample_weights(rigging, shape, position));
    }
    uint32_t head = pelt_sample_last_joint(skeleton, PART_HEAD, 0);
    for (uint32_t v = 0; v < face->vertex_count; ++v) {
        put_vertex(p, body->vertex_count + v, skeleton, face->positions[v], face->normals[v],
                   face->colors[v], pelt_sample_rigid(head));
    }
    memcpy(p->indices, body->indices, body->index_count * sizeof(*p->indices));
    for (uint32_t i = 0; i < face->index_count; ++i) {
        p->indices[body->index_count + i] = body->vertex_count + face->indices[i];
    }
    pelt_node *node = &model->nodes[model->node_count - 1];
    node->mesh = 0;
    node->skin = 0;
    return true;
}

static pelt_result fill(const pelt_host *host, pelt_model *model, uint32_t vertices,
                        uint32_t joints)
{
    fox_skeleton skeleton = { .host = host };
    fox_rigging *rigging = NULL;
    fox_shape *shape = NULL;
    fox_face face = { .host = host };
    fox_surface body = { .host = host };
    pelt_result result = pelt_sample_skeleton_create(host, joints, &skeleton);
    if (result == PELT_OK) {
        result = pelt_sample_rigging_create(host, &skeleton, &rigging);
    }
    if (result == PELT_OK) {
        result = pelt_sample_shape_create(host, vertices, &shape);
    }
    if (result == PELT_OK) {
        result = pelt_sample_face_create(host, shape, vertices, &face);
    }
    if (result == PELT_OK) {
        result = pelt_sample_surface_create(host, shape, vertices - face.vertex_count, &body);
    }
    if (result == PELT_OK) {
        model->generator = copy_name(model, "pelt sample");
        if (!model->generator || !make_rig(model, &skeleton) ||
            !make_mesh(model, &skeleton, rigging, shape, &body, &face)) {
            result = pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for the model");
        }
    }
    if (result == PELT_OK) {
        result = pelt_sample_clips_add(host, model, &skeleton, FIRST_JOINT);
    }
    pelt_sample_surface_destroy(&body);
    pelt_sample_face_destroy(&face);
    pelt_sample_shape_destroy(shape);
    pelt_sample_rigging_destroy(rigging);
    pelt_sample_skeleton_destroy(&skeleton);
    return result == PELT_OK ? pelt_model_finish(model) : result;
}

pelt_result pelt_sample_create(const pelt_host *host, const pelt_sample_info *info,
                               pelt_model **out)
{
    *out = NULL;
    uint32_t vertices = info ? info->vertices : 0, joints = info ? info->joints : 0;
    vertices = vertices ? vertices : PELT_SAMPLE_VERTICES_DEFAULT;
    joints = joints ? joints : PELT_SAMPLE_JOINTS_DEFAULT;
    if (vertices < PELT_SAMPLE_VERTICES_MIN || vertices > PELT_SAMPLE_VERTICES_MAX) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "vertices is %u; it must be %u to %u", (unsigned)vertices,
                         (unsigned)PELT_SAMPLE_VERTICES_MIN, (unsigned)PELT_SAMPLE_VERTICES_MAX);
    }
    if (joints > PELT_SAMPLE_JOINTS_MAX) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL, "joints is %u; it must be 1 to %u",
                         (unsigned)joints, (unsigned)PELT_SAMPLE_JOINTS_MAX);
    }
    pelt_model *model;
    pelt_result result = pelt_model_create(host, &model);
    if (result != PELT_OK) {
        return result;
    }
    result = fill(host, model, vertices, joints);
    if (result != PELT_OK) {
        pelt_model_destroy(model);
        return result;
    }
    *out = model;
    return PELT_OK;
}
