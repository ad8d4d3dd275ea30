/* SPDX-License-Identifier: MIT */
/* pelt/pelt.h: everything that needs no Vulkan header; see pelt/vulkan.h for the GPU passes. */
#ifndef PELT_PELT_H
#define PELT_PELT_H

#include <pelt/bake.h>
#include <pelt/base.h>
#include <pelt/cluster.h>
#include <pelt/gltf.h>
#include <pelt/history.h>
#include <pelt/model.h>
#include <pelt/pack.h>
#include <pelt/pose.h>
#include <pelt/skin.h>

#endif
