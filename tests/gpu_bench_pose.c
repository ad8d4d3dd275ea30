/* pelt bench pose: its checks notice what is wrong, its clips move everything. */
#include "bench/pose_internal.h"
#include "sample/sample.h"
#include "tests/gpu.h"

#include "pelt/pose_layout.h"

static pelt_model *make_model(uint32_t joints)
{
    pelt_model *model;
    const pelt_sample_info info = { .vertices = PELT_SAMPLE_VERTICES_MIN, .joints = joints };
    assert_int_equal(pelt_sample_create(&gpu_host, &info, &model), PELT_OK);
    assert_int_equal(pelt_bench_pose_animate(model), PELT_OK);
    return model;
}

static void moves_every_joint_in_every_way(void **state)
{
    (void)state;
    pelt_model *model = make_model(20);
    assert_int_equal(model->clip_count, 8);
    for (uint32_t c = 0; c < model->clip_count; c++) {
        const pelt_clip *clip = &model->clips[c];
        assert_int_equal(clip->channel_count, 3 * 20);
        for (uint32_t i = 0; i < clip->channel_count; i++) {
            const pelt_sampler *sampler = &clip->samplers[clip->channels[i].sampler];
            assert_int_equal(sampler->key_count, 31);
            double turned = 0;
            for (uint32_t k = 0; k < sampler->key_count; k++) {
                const float *v = sampler->values + (size_t)k * sampler->width;
                double square = 0;
                for (uint32_t n = 0; sampler->width == 4 && n < 4; n++) {
                    square += (double)v[n] * (double)v[n];
                    turned += (double)v[n] != (double)sampler->values[n];
                }
                assert_true(sampler->width == 3 || (square > 1 - 1e-6 && square < 1 + 1e-6));
            }
            assert_true(sampler->width == 3 || turned >= 50);
        }
    }
    pelt_model_destroy(model);
}

static void checks_notice_wrong_matrices(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    pelt_model *model = make_model(24);
    pelt_bench *bench;
    pelt_bench_pose_data data;
    pelt_bench_pose_row row;
    const pelt_bench_pose_settings settings = { .model = model, .instances = 13, .rounds = 1 };
    assert_int_equal(pelt_bench_create(&gpu_host, device, &bench), PELT_OK);
    assert_int_equal(pelt_bench_pose_data_create(bench, &settings, &data), PELT_OK);
    for (uint32_t f = PELT_BENCH_POSE_ONE; f < PELT_BENCH_POSE_FORM_COUNT; f++) {
        assert_int_equal(pelt_bench_pose_check(&data, (pelt_bench_pose_form)f, &row, NULL),
                         PELT_OK);
        assert_true(row.checked && row.error > 0);
    }
    /* One number of the last inverse bind matrix, by a thousandth. */
    const struct pelt_rig_header *header = data.rig->data;
    size_t at = 16 * ((size_t)header->inverse_bind + 3 * (size_t)(data.rig->matrix_count - 1));
    float number;
    memcpy(&number, (const char *)data.rig->data + at, sizeof(number));
    const float wrong = number + 1e-3f;
    assert_int_equal(pelt_buffer_upload(device, &data.rig_data, at, &wrong, 4), PELT_OK);
    unsigned errors = gpu_messages.errors;
    assert_int_equal(pelt_bench_pose_check(&data, PELT_BENCH_POSE_TWO, &row, NULL), PELT_OK);
    assert_false(row.checked);
    assert_int_equal(gpu_messages.errors, errors + 1);
    assert_non_null(strstr(gpu_messages.last, "pose-two: matrices off by"));
    assert_int_equal(pelt_buffer_upload(device, &data.rig_data, at, &number, 4), PELT_OK);

    /* An instance that is never due keeps what was there. */
    const uint32_t never = 0;
    size_t interval =
        12 * (size_t)PELT_POSE_INSTANCE_SIZE + offsetof(struct pelt_pose_state, interval);
    assert_int_equal(
        pelt_buffer_upload(device, &data.states[PELT_BENCH_POSE_ONE], interval, &never, 4),
        PELT_OK);
    assert_int_equal(pelt_bench_pose_check(&data, PELT_BENCH_POSE_ONE, &row, NULL), PELT_OK);
    assert_false(row.checked);
    pelt_bench_pose_data_destroy(&data);
    pelt_bench_destroy(bench);
    pelt_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_every_joint_in_every_way),
        cmocka_unit_test(checks_notice_wrong_matrices),
    };
    return gpu_result(cmocka_run_group_tests(tests, gpu_setup, gpu_teardown));
}
