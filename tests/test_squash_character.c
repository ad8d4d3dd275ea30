/* The squash study on a character: the limb itself, as triangles in a file, must give the errors
 * that the limb's formulas give. */
#include "study/squash_pose.h"
#include "tests/build_model.h"

#include <pelt/gltf.h>
#include <stdio.h>
#include <unistd.h>

enum { RINGS = 201, AROUND = 64, COLUMNS = AROUND + 1 }; /* the last column is the first again */

static char path[64]; /* of this process alone */

static uint32_t case_of(const char *name)
{
    uint32_t c = 0;
    while (strcmp(pelt_squash_cases[c].name, name) != 0) {
        c++;
        assert_true(c < PELT_SQUASH_CASE_COUNT);
    }
    return c;
}

static void fill_vertices(pelt_model *model, pelt_primitive *primitive, bool with_normals)
{
    uint32_t count = RINGS * COLUMNS;
    float *normals = pelt_model_allocate(model, count, 3 * sizeof(float));
    primitive->influence_count = 4;
    primitive->joints = pelt_model_allocate(model, count, 4 * sizeof(uint16_t));
    primitive->weights = pelt_model_allocate(model, count, 4 * sizeof(float));
    for (uint32_t v = 0; v < count; v++) {
        uint32_t ring = v / COLUMNS, column = v % COLUMNS % AROUND;
        squash_point at = squash_point_at((ring + 0.5) / RINGS, (double)column / AROUND);
        for (int i = 0; i < 3; i++) {
            primitive->positions[3 * v + i] = (float)at.position[i];
            normals[3 * v + i] = (float)at.normal[i];
        }
        float weight = (float)squash_weight(at.position[0]);
        bool second = weight > 0.5f; /* the larger one first */
        primitive->weights[4 * v] = second ? weight : 1.0f - weight;
        primitive->weights[4 * v + 1] = second ? 1.0f - weight : weight;
        primitive->joints[4 * v] = second;
        primitive->joints[4 * v + 1] = primitive->weights[4 * v + 1] > 0.0f ? !second : 0;
    }
    primitive->normals = with_normals ? normals : NULL;
}

static void fill_indices(pelt_model *model, pelt_primitive *primitive)
{
    primitive->index_count = (RINGS - 1) * AROUND * 6;
    primitive->indices = pelt_model_allocate(model, primitive->index_count, sizeof(uint32_t));
    uint32_t *to = primitive->indices;
    for (uint32_t ring = 0; ring + 1 < RINGS; ring++) {
        for (uint32_t a = 0; a < AROUND; a++, to += 6) {
            uint32_t near = ring * COLUMNS + a, far = near + COLUMNS;
            const uint32_t quad[6] = { near, near + 1, far, far + 1, far, near + 1 };
            memcpy(to, quad, sizeof(quad));
        }
    }
}

/* Nodes 0 and 1 are the joints, with the case's matrices; node 2 has the mesh. */
static void write_limb(uint32_t which, bool with_normals)
{
    static const int32_t parents[] = { -1, -1, -1 };
    pelt_model *model = build_nodes(NULL, parents, 3);
    float *zeros = calloc(RINGS * COLUMNS, 3 * sizeof(float));
    pelt_primitive *primitive = build_mesh(model, zeros, RINGS * COLUMNS);
    free(zeros);
    fill_vertices(model, primitive, with_normals);
    fill_indices(model, primitive);

    const squash_pose pose = squash_pose_of(which);
    for (int i = 0; i < 2; i++) {
        model->nodes[i].has_matrix = true;
        memcpy(model->nodes[i].matrix, pose.joints[i], sizeof(pose.joints[i]));
    }
    const uint32_t joints[] = { 0, 1 };
    const float inverse_bind[24] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0,
                                     1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
    pelt_skin skin = { .joint_count = 2 };
    skin.joints = build_copy(model, joints, 2, sizeof(*joints));
    skin.inverse_bind = build_copy(model, inverse_bind, 24, sizeof(float));
    model->skin_count = 1;
    model->skins = build_copy(model, &skin, 1, sizeof(skin));
    model->nodes[2].mesh = model->nodes[2].skin = 0;
    assert_int_equal(pelt_model_finish(model), PELT_OK);
    assert_int_equal(pelt_gltf_write(NULL, model, path), PELT_OK);
    pelt_model_destroy(model);
}

/* The triangles' surface is the limb's but for edges of 1/45 of its length and 1/10 of its radius,
 * and an angle at a vertex is that of a neighbourhood: a tenth of a degree on the mean, three
 * degrees where only a hundredth of the surface is worse. */
static void compare(const char *name, bool with_normals, double tolerance)
{
    uint32_t which = case_of(name);
    pelt_squash_limb *limb;
    pelt_squash_character character;
    write_limb(which, with_normals);
    assert_int_equal(pelt_squash_character_run(NULL, path, 16, &character), PELT_OK);
    assert_int_equal(pelt_squash_create(NULL, which, RINGS, AROUND, &limb), PELT_OK);
    assert_int_equal(character.vertices, RINGS * COLUMNS);
    assert_int_equal(character.poses, 1);
    const double degree = 3.14159265358979 / 180.0;
    for (int m = 0; m < PELT_SQUASH_METHOD_COUNT; m++) {
        assert_near(character.errors[m].mean, limb->errors[m].mean, tolerance * degree);
        assert_near(character.errors[m].flipped, limb->errors[m].flipped, 0.01);
        assert_true(character.errors[m].most <= limb->errors[m].worst + 3.0 * degree);
        assert_true(character.errors[m].most >= character.errors[m].mean);
    }
    pelt_squash_destroy(limb);
    (void)unlink(path);
}

static void triangles_have_the_limbs_errors(void **state)
{
    (void)state;
    compare("squash", true, 0.1);
    compare("twist", true, 0.1);
    compare("flatten-twist", true, 0.1);
    compare("grow-twist", true, 0.1);
    compare("mirror-squash", true, 0.1);
}

static void smooth_normals_are_made(void **state)
{
    (void)state;
    compare("flatten-twist", false, 0.2);
}

static void measures_the_built_in_character(void **state)
{
    (void)state;
    pelt_squash_character character;
    assert_int_equal(pelt_squash_character_run(NULL, NULL, 2, &character), PELT_OK);
    assert_true(character.vertices > 1000 && character.poses > 1 && character.poses % 2 == 0);
    double cofactor = character.errors[PELT_SQUASH_COFACTOR].mean;
    assert_true(cofactor > 0.0);
    assert_near(character.errors[PELT_SQUASH_INVERSE].mean, cofactor, 1e-12);
    /* Its joints are turned, not scaled: these are one. */
    assert_near(character.errors[PELT_SQUASH_JOINT_INVERSES].mean,
                character.errors[PELT_SQUASH_PLAIN].mean, 1e-6);
}

static void unwinds_failed_allocations(void **state)
{
    (void)state;
    meter memory;
    const pelt_host host = { .user = &memory, .allocate = metered };
    write_limb(case_of("squash"), true);
    pelt_result result = PELT_ERROR_MEMORY;
    /* Most are the reader's, and tested there. */
    for (long calls = 0; result != PELT_OK; calls += 1 + calls / 40) {
        memory = (meter){ .calls_left = calls };
        pelt_squash_character character;
        result = pelt_squash_character_run(&host, path, 1, &character);
        assert_true(result == PELT_OK || result == PELT_ERROR_MEMORY);
        assert_int_equal(memory.alive, 0);
    }
    (void)unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triangles_have_the_limbs_errors),
        cmocka_unit_test(smooth_normals_are_made),
        cmocka_unit_test(measures_the_built_in_character),
        cmocka_unit_test(unwinds_failed_allocations),
    };
    (void)snprintf(path, sizeof(path), "/tmp/pelt-squash-%ld.glb", (long)getpid());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
