/* pelt render --aov: what pixels show, as numbers in an OpenEXR image. */
#ifndef PELT_CLI_RENDER_AOV_H
#define PELT_CLI_RENDER_AOV_H

#ifdef PELT_HAVE_VULKAN

#include "cli/picture.h"

/* Draws info->aov of a scene by rays or by raster, and writes it. */
pelt_result pelt_write_aov(const pelt_host *host, const pelt_picture_info *info,
                           pelt_renderer *renderer, const pelt_render_scene *scene,
                           pelt_render_report *report);

#endif
#endif
