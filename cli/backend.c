#include "cli/backend.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

pelt_option pelt_option_device(int *target, const char *help)
{
    static const char *const choices[] = { [PELT_DEVICE_AUTO] = "auto",
                                           [PELT_DEVICE_GPU] = "gpu",
                                           [PELT_DEVICE_CPU] = "cpu",
                                           [PELT_DEVICE_REFERENCE] = "reference",
                                           NULL };
    return (pelt_option){ .name = "device",
                          .letter = 'd',
                          .kind = PELT_OPTION_CHOICE,
                          .value = "DEVICE",
                          .help = help,
                          .target = target,
                          .choices = choices };
}

double pelt_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool pelt_device_is_named(void)
{
    const char *name = getenv("PELT_DEVICE");
    return name && *name;
}

pelt_result pelt_backend_create(pelt_report *report, pelt_device device,
                                const pelt_backend_info *info, pelt_backend **out)
{
    switch (device) {
    case PELT_DEVICE_REFERENCE:
        return pelt_backend_reference(&report->host, info, out);
    case PELT_DEVICE_CPU:
        return pelt_backend_cpu(&report->host, info, out);
    case PELT_DEVICE_GPU:
        return pelt_backend_vulkan(&report->host, info, out);
    case PELT_DEVICE_AUTO:
        break;
    }
    report->mute_no_device = !pelt_device_is_named();
    pelt_result result = pelt_backend_vulkan(&report->host, info, out);
    bool optional = report->mute_no_device;
    report->mute_no_device = false;
    return result == PELT_ERROR_DEVICE && optional ? pelt_backend_cpu(&report->host, info, out)
                                                   : result;
}

void pelt_backend_destroy(pelt_backend *backend)
{
    if (backend) {
        backend->destroy(backend);
    }
}

void pelt_animated_position(const pelt_animated *animated, const pelt_packed_mesh *mesh, uint32_t v,
                            float out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = animated->positions ? (float)animated->positions[3 * (size_t)v + i] + 0.0f
                                     : animated->vertices[mesh->packed_vertices[v]].position[i];
    }
}

/* Ten bits a component leave a length between 0.998 and 1.002: made 1 again. */
static void normalize(float v[3])
{
    double x = v[0], y = v[1], z = v[2];
    double length = sqrt(x * x + y * y + z * z);
    v[0] = (float)(x / length);
    v[1] = (float)(y / length);
    v[2] = (float)(z / length);
}

void pelt_animated_normal(const pelt_animated *animated, const pelt_packed_mesh *mesh, uint32_t v,
                          float out[3])
{
    if (!animated->normals) {
        float w;
        pelt_decode_direction(animated->vertices[mesh->packed_vertices[v]].normal, out, &w);
        normalize(out);
        return;
    }
    const double *normal = animated->normals + 3 * (size_t)v;
    bool none = normal[0] == 0.0 && normal[1] == 0.0 && normal[2] == 0.0;
    for (int i = 0; i < 3; i++) {
        out[i] = none ? (i == 2 ? 1.0f : 0.0f) : (float)normal[i];
    }
}

void pelt_animated_tangent(const pelt_animated *animated, const pelt_packed_mesh *mesh, uint32_t v,
                           float out[4])
{
    if (!animated->tangents_double) {
        pelt_decode_direction(animated->tangents[mesh->packed_vertices[v]], out, &out[3]);
        normalize(out);
        return;
    }
    for (int i = 0; i < 4; i++) {
        out[i] = (float)animated->tangents_double[4 * (size_t)v + i];
    }
}
