/* The same with subgroup arithmetic. */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require

#define PELT_SUBGROUP_ARITHMETIC
#define PELT_DUAL_QUATERNIONS
#include "pelt/skin_main.glsl"
