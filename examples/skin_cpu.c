/* skin_cpu FILE: skins a glTF character half a second into its first clip, prints exact boxes. */
#include <pelt/pelt.h>
#include <stdio.h>
#include <stdlib.h>

static void report(void *user, const pelt_message *m)
{
    (void)user;
    fprintf(stderr, "%s %s: %s\n", m->file ? m->file : "", m->pointer ? m->pointer : "", m->text);
}

static void check(bool ok)
{
    if (!ok) {
        exit(EXIT_FAILURE); /* report() has said why */
    }
}

int main(int argc, char **argv)
{
    pelt_host host = { .message = report };
    pelt_model *model = NULL;
    pelt_pose *pose = NULL;
    check(argc == 2 && pelt_gltf_read(&host, argv[1], &model) == PELT_OK);
    check(pelt_pose_create(&host, model, &pose) == PELT_OK);

    pelt_play play = { .clip = model->clip_count ? 0 : -1, .time = 0.5, .loop = true };
    float *matrices = calloc(model->matrix_count + 1, 12 * sizeof(float));
    check(matrices && pelt_pose_evaluate(pose, &play, 1) == PELT_OK);
    check(pelt_pose_skin_matrices(pose, NULL, matrices) == PELT_OK);

    for (const pelt_part *part = model->parts; part < model->parts + model->part_count; part++) {
        const pelt_primitive *primitive = &model->meshes[part->mesh].primitives[part->primitive];
        pelt_pack_info info = { .primitive = primitive, .rigid = !part->skinned };
        pelt_packed_mesh *mesh = NULL; /* made once a character, not once a frame */
        check(pelt_pack(&host, &info, &mesh) == PELT_OK);

        float *positions = calloc(mesh->vertex_count, 3 * sizeof(float));
        pelt_packed_vertex *morphed = calloc(mesh->vertex_count, sizeof(*morphed));
        check(positions && morphed);
        const double *weights = pelt_pose_part_morph_weights(pose, part);
        pelt_pack_morphed(mesh, primitive, weights, morphed, NULL);
        pelt_skin_job job = { .mesh = mesh, .vertices = morphed, .out_positions = positions };
        job.matrices = matrices + (size_t)12 * model->palettes[part->palette].first_matrix;
        pelt_box box = PELT_BOX_EMPTY;
        pelt_skin_cpu(&job, 0, mesh->vertex_count, &box);
        printf("node %u: %u vertices, box (%g %g %g) to (%g %g %g)\n", part->node,
               mesh->vertex_count, box.min[0], box.min[1], box.min[2], box.max[0], box.max[1],
               box.max[2]);
        free(morphed);
        free(positions);
        pelt_packed_mesh_destroy(mesh);
    }
    free(matrices);
    pelt_pose_destroy(pose);
    pelt_model_destroy(model);
    return EXIT_SUCCESS;
}
