// Instances of one mesh, drawn by clusters: what task shaders tell mesh shaders.
#extension GL_EXT_mesh_shader : require

#include "scene.glsl"
#include "pelt/cluster.glsl"

const uint CLUSTER_IS_CULLED = 0x80000000u; // but drawn to be shown

struct cluster_payload {
    uint instance;
    uint clusters[PELT_TASK_CLUSTERS];
};
taskPayloadSharedEXT cluster_payload payload;
