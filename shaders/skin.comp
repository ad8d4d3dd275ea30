/* The skin pass, of linear blending alone, for devices without subgroup arithmetic in compute
 * shaders. */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

#include "pelt/skin_main.glsl"
