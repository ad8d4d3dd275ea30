/* The reduction of partial boxes with subgroup arithmetic; a module of its own for the same reason
 * as skin_subgroup.comp. */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require

#define PELT_SUBGROUP_ARITHMETIC
#include "pelt/reduce_main.glsl"
