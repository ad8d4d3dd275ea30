/* pelt/vulkan_open.h: choosing a device, buffers, copies, commands, and failing well. */
#include "tests/gpu.h"

static void opens_and_describes(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    assert_non_null(device->vulkan.instance);
    assert_non_null(device->vulkan.physical_device);
    assert_non_null(device->vulkan.device);
    assert_non_null(device->queue);
    assert_non_null(device->get_device_proc_addr(device->vulkan.device, "vkCmdDispatch"));
    assert_true(device->properties.apiVersion >= VK_API_VERSION_1_2);
    assert_true((device->queue_flags & VK_QUEUE_COMPUTE_BIT) != 0);
    assert_true(device->driver[0] != '\0');
    uint32_t size = device->subgroup_size;
    assert_true(size >= 1 && size <= 128 && (size & (size - 1)) == 0);
    assert_int_equal(device->is_software,
                     device->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU);
}

static void finds_a_device_by_part_of_its_name(void **state)
{
    (void)state;
    const char *whole = gpu_device()->properties.deviceName;
    char part[8] = "";
    for (size_t i = 0; i + 1 < sizeof(part) && whole[i] && whole[i] != ' '; i++) {
        part[i] = (char)(whole[i] >= 'a' && whole[i] <= 'z' ? whole[i] - 'a' + 'A' : whole[i]);
    }
    pelt_headless *second = NULL;
    assert_int_equal(pelt_vulkan_open(&gpu_host, &(pelt_headless_info){ .device = part }, &second),
                     PELT_OK);
    assert_string_equal(second->properties.deviceName, whole);
    pelt_vulkan_close(second);
}

static void names_the_devices_there_are(void **state)
{
    (void)state;
    const char *name = gpu_device()->properties.deviceName;
    gpu_log log = { 0 };
    const pelt_host host = { .user = &log, .message = gpu_on_message };
    pelt_headless *device = (pelt_headless *)&log;
    assert_int_equal(pelt_vulkan_open(&host, &(pelt_headless_info){ .device = "no such" }, &device),
                     PELT_ERROR_DEVICE);
    assert_null(device);
    assert_int_equal(log.errors, 1);
    assert_non_null(strstr(log.last, "no such"));
    assert_non_null(strstr(log.last, name));
}

/* A loader that finds no driver, as on a machine without any. */
static void says_that_there_is_no_driver(void **state)
{
    (void)state;
    (void)gpu_device(); /* so there is a loader */
    const char *const names[] = { "VK_ICD_FILENAMES", "VK_DRIVER_FILES" };
    char *before[2];
    for (int i = 0; i < 2; i++) {
        const char *value = getenv(names[i]);
        before[i] = value ? strdup(value) : NULL;
        assert_int_equal(setenv(names[i], "/nowhere/icd.json", 1), 0);
    }
    pelt_headless *device = NULL;
    assert_int_equal(pelt_vulkan_open(&gpu_host, &(pelt_headless_info){ 0 }, &device),
                     PELT_ERROR_DEVICE);
    assert_null(device);
    assert_non_null(strstr(gpu_messages.last, "mesa-vulkan-drivers"));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(before[i] ? setenv(names[i], before[i], 1) : unsetenv(names[i]), 0);
        free(before[i]);
    }
}

static void close_and_destroy_take_null(void **state)
{
    (void)state;
    pelt_vulkan_close(NULL);
    pelt_buffer_destroy(NULL, NULL);
}

/* Every allocation of pelt's fails in turn: an error, nothing kept (the sanitizer looks). */
typedef struct failing {
    gpu_log log; /* first: gpu_on_message takes user as one */
    int left;
    int live;
} failing;

static void *allocate_until(void *user, void *block, size_t size)
{
    failing *self = user;
    if (size == 0) {
        self->live -= block != NULL;
        free(block);
        return NULL;
    }
    if (self->left-- <= 0) {
        return NULL;
    }
    self->live += block == NULL;
    return realloc(block, size);
}

static void unwinds_failed_allocations(void **state)
{
    (void)state;
    (void)gpu_device();
    for (int count = 0;; count++) {
        assert_true(count < 100);
        failing self = { .left = count };
        const pelt_host host = { .user = &self,
                                 .allocate = allocate_until,
                                 .message = gpu_on_message };
        pelt_headless *device = NULL;
        pelt_result result = pelt_vulkan_open(&host, &(pelt_headless_info){ 0 }, &device);
        if (result == PELT_OK) {
            assert_true(count > 2);
            pelt_vulkan_close(device);
            assert_int_equal(self.live, 0);
            return;
        }
        assert_int_equal(result, PELT_ERROR_MEMORY);
        assert_null(device);
        assert_true(self.log.errors > 0);
        assert_int_equal(self.live, 0);
    }
}

static void copies_through_every_kind_of_memory(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    enum { COUNT = 1000 };
    uint32_t sent[COUNT];
    uint32_t got[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        sent[i] = i * 2654435761u;
    }
    for (int kind = PELT_MEMORY_DEVICE; kind <= PELT_MEMORY_READBACK; kind++) {
        pelt_buffer buffer;
        assert_int_equal(
            pelt_buffer_create(device, sizeof(sent), 0, (pelt_memory_kind)kind, &buffer), PELT_OK);
        assert_true(buffer.address != 0);
        assert_int_equal(buffer.mapped != NULL, kind != PELT_MEMORY_DEVICE);
        assert_int_equal(pelt_buffer_upload(device, &buffer, 0, sent, sizeof(sent)), PELT_OK);
        /* A part again, one word further. */
        assert_int_equal(pelt_buffer_upload(device, &buffer, 400, sent + 99, 40), PELT_OK);
        memset(got, 0, sizeof(got));
        assert_int_equal(pelt_buffer_download(device, &buffer, 0, got, sizeof(got)), PELT_OK);
        assert_memory_equal(got, sent, 400);
        assert_memory_equal(got + 100, sent + 99, 40);
        assert_memory_equal(got + 110, sent + 110, sizeof(sent) - 440);
        assert_int_equal(pelt_buffer_download(device, &buffer, 3996, got, 4), PELT_OK);
        assert_int_equal(got[0], sent[999]);
        pelt_buffer_destroy(device, &buffer);
        assert_true(buffer.buffer == VK_NULL_HANDLE && buffer.address == 0);
    }
}

static void copies_more_than_one_staging_buffer(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    const size_t count = (64u << 20) / 4 + 12345;
    uint32_t *words = malloc(count * 4);
    assert_non_null(words);
    for (size_t i = 0; i < count; i++) {
        words[i] = (uint32_t)i * 2654435761u;
    }
    pelt_buffer buffer;
    assert_int_equal(pelt_buffer_create(device, count * 4, 0, PELT_MEMORY_DEVICE, &buffer),
                     PELT_OK);
    assert_int_equal(pelt_buffer_upload(device, &buffer, 0, words, count * 4), PELT_OK);
    memset(words, 0, count * 4);
    assert_int_equal(pelt_buffer_download(device, &buffer, 0, words, count * 4), PELT_OK);
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        wrong += words[i] != (uint32_t)i * 2654435761u;
    }
    assert_int_equal(wrong, 0);
    pelt_buffer_destroy(device, &buffer);
    free(words);
}

static void refuses_ranges_outside_a_buffer(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    uint32_t words[8] = { 0 };
    pelt_buffer buffer;
    assert_int_equal(pelt_buffer_create(device, 0, 0, PELT_MEMORY_UPLOAD, &buffer), PELT_OK);
    assert_int_equal(buffer.size, 16);
    assert_int_equal(pelt_buffer_upload(device, &buffer, 0, words, 16), PELT_OK);
    assert_int_equal(pelt_buffer_upload(device, &buffer, 16, words, 0), PELT_OK);
    assert_int_equal(pelt_buffer_upload(device, &buffer, 0, words, 20), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_buffer_upload(device, &buffer, 4, words, 16), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_buffer_upload(device, &buffer, 20, words, 0), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_buffer_upload(device, &buffer, 2, words, 4), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_buffer_download(device, &buffer, 0, words, 6), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_buffer_download(device, &buffer, UINT64_MAX - 3, words, 8),
                     PELT_ERROR_ARGUMENT);
    pelt_buffer_destroy(device, &buffer);
}

static void records_around_transfers(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    PFN_vkCmdFillBuffer fill =
        (PFN_vkCmdFillBuffer)device->get_device_proc_addr(device->vulkan.device, "vkCmdFillBuffer");
    pelt_buffer buffer;
    assert_int_equal(pelt_buffer_create(device, 64, 0, PELT_MEMORY_DEVICE, &buffer), PELT_OK);
    uint32_t words[16];
    VkCommandBuffer commands;
    /* Begun and dropped: its fill must never run. */
    assert_int_equal(pelt_commands_begin(device, &commands), PELT_OK);
    fill(commands, buffer.buffer, 0, 64, 0xdeadbeef);
    for (uint32_t frame = 1; frame <= 3; frame++) {
        assert_int_equal(pelt_commands_begin(device, &commands), PELT_OK);
        fill(commands, buffer.buffer, 0, 32, frame);
        for (uint32_t i = 0; i < 16; i++) {
            words[i] = 100 * frame + i;
        }
        assert_int_equal(pelt_buffer_upload(device, &buffer, 0, words, 64), PELT_OK);
        assert_int_equal(pelt_commands_submit(device, commands), PELT_OK);
        assert_int_equal(pelt_buffer_download(device, &buffer, 0, words, 64), PELT_OK);
        for (uint32_t i = 0; i < 16; i++) {
            assert_int_equal(words[i], i < 8 ? frame : 100 * frame + i);
        }
    }
    pelt_buffer_destroy(device, &buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_and_describes),
        cmocka_unit_test(finds_a_device_by_part_of_its_name),
        cmocka_unit_test(names_the_devices_there_are),
        cmocka_unit_test(says_that_there_is_no_driver),
        cmocka_unit_test(close_and_destroy_take_null),
        cmocka_unit_test(unwinds_failed_allocations),
        cmocka_unit_test(copies_through_every_kind_of_memory),
        cmocka_unit_test(copies_more_than_one_staging_buffer),
        cmocka_unit_test(refuses_ranges_outside_a_buffer),
        cmocka_unit_test(records_around_transfers),
    };
    return gpu_result(cmocka_run_group_tests(tests, gpu_setup, gpu_teardown));
}
