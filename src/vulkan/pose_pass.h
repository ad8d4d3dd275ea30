/* A pose pass as its own files see it. */
#ifndef PELT_SRC_VULKAN_POSE_PASS_H
#define PELT_SRC_VULKAN_POSE_PASS_H

#include "vulkan/compute.h"

#include <pelt/pose_pass.h>

/* 2^29 s: differences fit 31 bits of seconds. */
#define PELT_POSE_CLOCK_MAX 536870912.0

struct pelt_pose_pass {
    pelt_compute compute;
    VkPipeline pipelines[2]; /* by whether overrides may multiply global transforms */
};

/* Seconds, clamped to that, as the shader's clock counts them: in 2^-32 s. */
int64_t pelt_pose_clock(double seconds);

#endif
