/* The skin pass with subgroup arithmetic. A module of its own, for it is invalid on devices that
 * lack it, even if never executed. */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require

#define PELT_SUBGROUP_ARITHMETIC
#include "pelt/skin_main.glsl"
