/* A model made in memory, posed and skinned through nothing but the installed headers and library.
 * Two joints; the second turns by a quarter about z and the vertices follow one, both and none. */
#include <math.h>
#include <pelt/pelt.h>
#include <stdio.h>
#include <string.h>

const char *version_from_cpp(void);

static pelt_model *make_model(void)
{
    static const float positions[] = { 0, 1, 0, 1, 1, 0, 1, 0, 0 };
    static const float weights[] = { 1, 0, 0, 0, 0.5f, 0.5f, 0, 0, 1, 0, 0, 0 };
    static const uint16_t joints[] = { 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0 };
    pelt_model *model = NULL;
    if (pelt_model_create(NULL, &model) != PELT_OK) {
        return NULL;
    }
    pelt_primitive *primitive = pelt_model_allocate(model, 1, sizeof(*primitive));
    pelt_skin *skin = pelt_model_allocate(model, 1, sizeof(*skin));
    model->meshes = pelt_model_allocate(model, 1, sizeof(*model->meshes));
    model->nodes = pelt_model_allocate(model, 3, sizeof(*model->nodes));
    primitive->positions = pelt_model_allocate(model, 9, sizeof(float));
    primitive->weights = pelt_model_allocate(model, 12, sizeof(float));
    primitive->joints = pelt_model_allocate(model, 12, sizeof(uint16_t));
    skin->joints = pelt_model_allocate(model, 2, sizeof(uint32_t));
    skin->inverse_bind = pelt_model_allocate(model, 24, sizeof(float));

    primitive->topology = PELT_TRIANGLES;
    primitive->vertex_count = 3;
    primitive->influence_count = 4;
    primitive->material = -1;
    memcpy(primitive->positions, positions, sizeof(positions));
    memcpy(primitive->weights, weights, sizeof(weights));
    memcpy(primitive->joints, joints, sizeof(joints));
    model->mesh_count = 1;
    model->meshes->primitive_count = 1;
    model->meshes->primitives = primitive;

    skin->joint_count = 2;
    for (uint32_t j = 0; j < 2; j++) {
        skin->joints[j] = j;
        for (int row = 0; row < 3; row++) {
            skin->inverse_bind[12 * j + 5 * row] = 1;
        }
    }
    model->skin_count = 1;
    model->skins = skin;

    model->node_count = 3;
    for (int i = 0; i < 3; i++) {
        pelt_node *node = &model->nodes[i];
        node->parent = i == 1 ? 0 : -1;
        node->in_scene = true;
        node->mesh = node->skin = i == 2 ? 0 : -1;
        node->rotation[3] = 1;
        node->scale[0] = node->scale[1] = node->scale[2] = 1;
    }
    model->nodes[1].rotation[2] = model->nodes[1].rotation[3] = sqrt(0.5);
    return model;
}

int main(void)
{
    /* Joint 0 stays; joint 1 takes (1 0 0) to (0 1 0) and (1 1 0) to (-1 1 0). */
    static const float expected[] = { 0, 1, 0, 0, 1, 0, 0, 1, 0 };
    /* Packed weights are off by 1.5/4096 at most, and the joints carry a vertex 2 apart at most. */
    const float tolerance = 2 * 1.5f / 4096 + 1e-6f;
    pelt_pose *pose = NULL;
    pelt_packed_mesh *mesh = NULL;
    float matrices[24], positions[9];
    pelt_box box = PELT_BOX_EMPTY;

    pelt_model *model = make_model();
    bool ok = model && pelt_model_finish(model) == PELT_OK && model->part_count == 1 &&
              model->matrix_count == 2 && pelt_pose_create(NULL, model, &pose) == PELT_OK &&
              pelt_pose_evaluate(pose, &(pelt_play){ .clip = -1 }, 1) == PELT_OK &&
              pelt_pose_skin_matrices(pose, NULL, matrices) == PELT_OK;
    pelt_pack_info info = { .primitive = ok ? model->meshes->primitives : NULL };
    ok = ok && pelt_pack(NULL, &info, &mesh) == PELT_OK;
    if (ok) {
        pelt_skin_job job = { .mesh = mesh, .matrices = matrices, .out_positions = positions };
        pelt_skin_cpu(&job, 0, mesh->vertex_count, &box);
        for (uint32_t i = 0; i < 9; i++) {
            const float *position = positions + 3 * mesh->packed_vertices[i / 3];
            ok = ok && fabsf(position[i % 3] - expected[i]) <= tolerance;
        }
    }
    pelt_packed_mesh_destroy(mesh);
    pelt_pose_destroy(pose);
    pelt_model_destroy(model);
    ok = ok && strcmp(pelt_version(), PELT_VERSION_STRING) == 0 &&
         strcmp(version_from_cpp(), PELT_VERSION_STRING) == 0;
    printf("pelt %s: %s\n", pelt_version(), ok ? "ok" : "WRONG");
    return !ok;
}
