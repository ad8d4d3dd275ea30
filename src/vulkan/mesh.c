/* Packed meshes in GPU memory. */
#include "base/base.h"

#include <pelt/vulkan.h>
#include <string.h>

_Static_assert(sizeof(pelt_packed_vertex) == 16, "the shaders' 16-byte vertex");

/* Streams lie behind each other, each 16-byte aligned. */
static size_t align_up(size_t size)
{
    return (size + 15) / 16 * 16;
}

size_t pelt_gpu_mesh_size(const pelt_packed_mesh *mesh)
{
    pelt_packed_sizes sizes = pelt_packed_mesh_sizes(mesh);
    return align_up(sizes.vertices) + align_up(sizes.tangents) + align_up(sizes.weights) +
           align_up(sizes.joints);
}

/* Copies a stream to where *offset says, and moves that on; gives the stream's address. */
static VkDeviceAddress place(const void *stream, size_t size, void *memory, VkDeviceAddress address,
                             size_t *offset)
{
    VkDeviceAddress placed = address + *offset;
    memcpy((char *)memory + *offset, stream, size);
    *offset += align_up(size);
    return placed;
}

void pelt_gpu_mesh_write(const pelt_packed_mesh *mesh, void *memory, VkDeviceAddress address,
                         pelt_gpu_mesh *out)
{
    pelt_packed_sizes sizes = pelt_packed_mesh_sizes(mesh);
    size_t offset = 0;
    *out = (pelt_gpu_mesh){
        .vertex_count = mesh->vertex_count,
        .set_count = mesh->set_count,
        .joint_bytes = mesh->joint_bytes,
        .joint_count = mesh->joint_count,
    };
    out->vertices = place(mesh->vertices, sizes.vertices, memory, address, &offset);
    if (mesh->tangents) {
        out->tangents = place(mesh->tangents, sizes.tangents, memory, address, &offset);
    }
    out->weights = place(mesh->weights, sizes.weights, memory, address, &offset);
    out->joints = place(mesh->joints, sizes.joints, memory, address, &offset);
}
