// What the shaders of the cluster bench share: clusters of any instance, drawn to depth alone.
#extension GL_EXT_mesh_shader : require

#include "pelt/cluster.glsl"

// Push constants, clusters_draw_constants of clusters_draw.c. It has what draws skinned vertices,
// too.
layout(push_constant) uniform draw_block {
    uvec2 instances;
    uvec2 view;
    uint first_instance;
    uint triangles; // most that a cluster emits
} draw;

struct clusters_payload {
    uint instance;
    uint clusters[32];
};
taskPayloadSharedEXT clusters_payload payload;
