/* A Vulkan device for tests. Environment:
 *   PELT_VALIDATION=1   validation layers on; any message fails the program
 *   PELT_REQUIRE_GPU=1  no device is a failure instead of a reason to skip
 *   PELT_DEVICE=NAME    which device
 */
#ifndef PELT_TESTS_GPU_H
#define PELT_TESTS_GPU_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pelt/vulkan_open.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* host.user of every device opened here. */
typedef struct gpu_log {
    unsigned errors;
    unsigned validation; /* of those, from the layers */
    char last[1024];
} gpu_log;

static inline void gpu_on_message(void *user, const pelt_message *message)
{
    gpu_log *log = user;
    (void)snprintf(log->last, sizeof(log->last), "%s", message->text);
    log->errors += message->severity == PELT_ERROR;
    if (strncmp(message->text, "validation:", 11) == 0) {
        log->validation++;
        (void)fprintf(stderr, "%s\n", message->text);
    }
}

static inline bool gpu_flag(const char *name)
{
    const char *value = getenv(name);
    return value && strcmp(value, "1") == 0;
}

/* The device that all tests of the program share, and how it failed to open. */
static gpu_log gpu_messages;
static const pelt_host gpu_host = { .user = &gpu_messages, .message = gpu_on_message };
static pelt_headless *gpu_shared;

static inline int gpu_setup(void **state)
{
    (void)state;
    pelt_headless_info info = { .validation = gpu_flag("PELT_VALIDATION") };
    pelt_result result = pelt_vulkan_open(&gpu_host, &info, &gpu_shared);
    if (result != PELT_OK) {
        (void)printf("no Vulkan device: %s\n", gpu_messages.last);
        return result == PELT_ERROR_DEVICE && !gpu_flag("PELT_REQUIRE_GPU") ? 0 : -1;
    }
    (void)printf("device: %s, %s, subgroups of %u%s\n", gpu_shared->properties.deviceName,
                 gpu_shared->driver, gpu_shared->subgroup_size,
                 gpu_shared->validation ? ", validated" : "");
    if (info.validation && !gpu_shared->validation) {
        (void)printf("PELT_VALIDATION=1, but the validation layer is not installed\n");
        return -1;
    }
    return 0;
}

static inline int gpu_teardown(void **state)
{
    (void)state;
    pelt_vulkan_close(gpu_shared);
    gpu_shared = NULL;
    return 0;
}

/* The device, or the test is skipped. */
static inline pelt_headless *gpu_device(void)
{
    if (!gpu_shared) {
        (void)printf("skipped: no Vulkan device: %s\n", gpu_messages.last);
        skip();
    }
    return gpu_shared;
}

/* main's result: what cmocka counted, and every validation message. */
static inline int gpu_result(int failed)
{
    if (gpu_messages.validation > 0) {
        (void)fprintf(stderr, "%u validation messages\n", gpu_messages.validation);
    }
    return failed + (int)gpu_messages.validation;
}

#endif
