/* The ways to skin a batch, behind one interface: the reference, the CPU's float path, the GPU's
 * pass. */
#ifndef PELT_CLI_BACKEND_H
#define PELT_CLI_BACKEND_H

#include "cli/options.h"
#include "cli/scene.h"

/* What --device chooses. */
typedef enum pelt_device {
    PELT_DEVICE_AUTO,
    PELT_DEVICE_GPU,
    PELT_DEVICE_CPU,
    PELT_DEVICE_REFERENCE
} pelt_device;

/* --device. */
pelt_option pelt_option_device(int *target, const char *help);

/* One part of one member of a batch, skinned. */
typedef struct pelt_animated {
    uint32_t vertex_count;

    /* The packed paths: in packed order. */
    const pelt_packed_vertex *vertices;
    const uint32_t *tangents; /* NULL: none */

    /* The reference: in the primitive's order. */
    const double *positions, *normals, *tangents_double; /* NULL: none */

    pelt_box box;       /* exact, of the positions as 32-bit floats */
    pelt_box joint_box; /* where the backend was asked for it and has one */
} pelt_animated;

typedef struct pelt_backend pelt_backend;
struct pelt_backend {
    const char *path; /* "reference", "cpu" or "gpu" */
    char device[384]; /* what it runs on, in words */
    double skin_time; /* seconds that skinning the last batch took, as far as fetched */
    uint32_t groups;  /* GPU: chunks of its dispatch */

    /* Skins a whole batch, which must stay until the last fetch. */
    pelt_result (*skin)(pelt_backend *backend, const pelt_batch *batch);

    /* One result; valid until the next call. */
    pelt_result (*fetch)(pelt_backend *backend, uint32_t member, uint32_t part, pelt_animated *out);
    void (*destroy)(pelt_backend *backend);
};

typedef struct pelt_backend_info {
    const pelt_character *character;
    bool keep_on_gpu;   /* the GPU keeps the vertices; fetch gives boxes alone */
    bool joint_boxes;   /* the character has joint boxes: bounds from them, too */
    bool keep_previous; /* the GPU also keeps the vertices of the batch before, with keep_on_gpu */
} pelt_backend_info;

pelt_result pelt_backend_reference(const pelt_host *host, const pelt_backend_info *info,
                                   pelt_backend **out);
pelt_result pelt_backend_cpu(const pelt_host *host, const pelt_backend_info *info,
                             pelt_backend **out);
/* PELT_ERROR_DEVICE in a build without Vulkan, too. */
pelt_result pelt_backend_vulkan(const pelt_host *host, const pelt_backend_info *info,
                                pelt_backend **out);

/* Whether the user names a Vulkan device (PELT_DEVICE): then AUTO may not do without. */
bool pelt_device_is_named(void);

/* The backend that --device asks for. AUTO takes the GPU and, where there is none and none is
 * named, the CPU; why not the GPU is then in report->no_device. A GPU that is there but fails is an
 * error.
 */
pelt_result pelt_backend_create(pelt_report *report, pelt_device device,
                                const pelt_backend_info *info, pelt_backend **out);
void pelt_backend_destroy(pelt_backend *backend);

/* Vertex v of the primitive: where it is, and unit directions (w too). mesh: NULL for the
 * reference. */
void pelt_animated_position(const pelt_animated *animated, const pelt_packed_mesh *mesh, uint32_t v,
                            float out[3]);
void pelt_animated_normal(const pelt_animated *animated, const pelt_packed_mesh *mesh, uint32_t v,
                          float out[3]);
void pelt_animated_tangent(const pelt_animated *animated, const pelt_packed_mesh *mesh, uint32_t v,
                           float out[4]);

double pelt_seconds(void); /* of a clock that never jumps */

#endif
