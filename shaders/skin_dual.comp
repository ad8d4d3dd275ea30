/* The skin pass where instances may ask for dual quaternions. */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

#define PELT_DUAL_QUATERNIONS
#include "pelt/skin_main.glsl"
