/* The reduction of partial boxes for devices without subgroup arithmetic in compute shaders. */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

#include "pelt/reduce_main.glsl"
