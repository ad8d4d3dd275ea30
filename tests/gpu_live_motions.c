/* Matrices of live agents as dual quaternions: the rotations of the CPU's polar decomposition, and
 * texels that give the matrices again. */
#include "tests/gpu.h"

#include "bake/bake.h"

#include <math.h>
#include <pelt/crowd.h>

enum { COUNT = 1000, KINDS = 5 };

static uint32_t random_state = 3;

static double uniform(double low, double high)
{
    random_state = random_state * 1664525u + 1013904223u;
    return low + (high - low) * (random_state >> 8) / 16777216.0;
}

/* Rotations of any kind, and for every other i by 180 degrees about an axis, where w is 0. */
static void random_rotation(uint32_t i, double q[4])
{
    double square = 0;
    for (int k = 0; k < 4; k++) {
        q[k] = k == 3 && i % 2 ? 0 : uniform(-1, 1);
        square += q[k] * q[k];
    }
    for (int k = 0; k < 4; k++) {
        q[k] /= sqrt(square);
    }
}

/* Rigid; scaled along the axes; mirrored along all of them; flat; and nothing at all. */
static void make_matrix(uint32_t i, double out[12])
{
    double q[4], t[3], size = pow(10, uniform(-3, 3));
    pelt_factors factors = { 0 };
    random_rotation(i, q);
    for (int k = 0; k < 3; k++) {
        t[k] = uniform(-2, 2);
        factors.stretch[k] = i % KINDS == 0 ? 1 : size * uniform(0.5, 2);
        factors.stretch[k] *= i % KINDS == 2 ? -1 : i % KINDS == 4 ? 0 : 1;
    }
    factors.stretch[i % 3] *= i % KINDS == 3 ? 0 : 1;
    pelt_dual_quaternion_make(q, t, &factors.motion);
    pelt_factors_matrix(&factors.motion, factors.stretch, out);
}

static void make_motions(const pelt_bake *bake, const pelt_buffer *matrices,
                         const pelt_buffer *motions)
{
    pelt_crowd_pass *pass;
    VkCommandBuffer commands;
    const pelt_crowd_pass_info info = { .vulkan = &gpu_device()->vulkan };
    assert_int_equal(pelt_crowd_pass_create(&gpu_host, &info, &pass), PELT_OK);
    assert_int_equal(pelt_commands_begin(gpu_device(), &commands), PELT_OK);
    pelt_cmd_live_motions(pass, commands, bake, matrices->address, COUNT, motions->address);
    assert_int_equal(pelt_commands_submit(gpu_device(), commands), PELT_OK);
    pelt_crowd_pass_destroy(pass);
}

static void check_motion(const pelt_bake *bake, uint32_t i, const float *given, const float *texels)
{
    double matrix[12], rotation[4], product = 0, square = 0, size = 0;
    for (int k = 0; k < 12; k++) {
        matrix[k] = (double)given[k];
        size = fmax(size, fabs(matrix[k]));
    }
    pelt_skin_rotations_double(matrix, 1, rotation, NULL);
    for (int k = 0; k < 4; k++) {
        product += rotation[k] * (double)texels[k];
        square += (double)texels[k] * (double)texels[k];
    }
    assert_true(fabs(square - 1) < 1e-6);
    /* The same rotation, to the rounding of lengths of 1; what is nothing has none. */
    assert_true(i % KINDS == 4 || fabs(product) > 1 - 2e-7);
    pelt_bake_joint joint;
    pelt_bake_decode_joint(bake, texels, false, &joint);
    bool held = bake->texels_per_joint == 3 || i % KINDS == 0;
    for (int k = 0; k < 12; k++) {
        if (held || k % 4 == 3) {
            assert_true(fabs(joint.matrix[k] - matrix[k]) < 3e-6 * size);
        }
    }
}

static void give_the_matrices_again(void **state)
{
    (void)state;
    for (uint32_t texels = 2; texels <= 3; texels++) {
        const pelt_bake bake = { .layout = PELT_BAKE_DUAL_QUATERNION,
                                 .format = PELT_BAKE_RGBA32F,
                                 .texels_per_joint = texels };
        pelt_buffer matrices, motions;
        assert_int_equal(
            pelt_buffer_create(gpu_device(), COUNT * 48, 0, PELT_MEMORY_UPLOAD, &matrices),
            PELT_OK);
        assert_int_equal(pelt_buffer_create(gpu_device(), (size_t)(COUNT + 1) * 16 * texels, 0,
                                            PELT_MEMORY_READBACK, &motions),
                         PELT_OK);
        float *given = matrices.mapped, *found = motions.mapped;
        for (uint32_t i = 0; i < COUNT; i++) {
            double matrix[12];
            make_matrix(i, matrix);
            for (size_t k = 0; k < 12; k++) {
                given[12 * (size_t)i + k] = (float)matrix[k];
            }
        }
        found[(size_t)COUNT * 4 * texels] = 7; /* behind the last: not ours */
        make_motions(&bake, &matrices, &motions);
        for (uint32_t i = 0; i < COUNT; i++) {
            check_motion(&bake, i, given + 12 * (size_t)i, found + (size_t)i * 4 * texels);
        }
        assert_true(found[(size_t)COUNT * 4 * texels] == 7);
        pelt_buffer_destroy(gpu_device(), &motions);
        pelt_buffer_destroy(gpu_device(), &matrices);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(give_the_matrices_again),
    };
    return gpu_result(cmocka_run_group_tests(tests, gpu_setup, gpu_teardown));
}
