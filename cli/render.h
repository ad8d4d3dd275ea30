/* pelt render: what it was asked for, for both ways to draw. */
#ifndef PELT_CLI_RENDER_H
#define PELT_CLI_RENDER_H

#include "cli/crowd.h"
#include "cli/open.h"
#include "cli/options.h"

typedef enum pelt_render_path {
    PELT_PATH_COMPUTE,
    PELT_PATH_PALETTE,
    PELT_PATH_MESH,
    PELT_PATH_RAYS,
    PELT_PATH_AUTO
} pelt_render_path;

typedef struct pelt_render_options {
    pelt_open_info open;
    const char *output;
    uint32_t count, size[2];
    bool boxes, json;
    int device;
    bool all_clips;
    double zoom;

    /* The palette path. */
    const char *baked; /* a file of pelt bake, or NULL */
    int path, format, interpolation;
    double fps;
    bool format_given, interpolation_given, fps_given;
    bool tint;

    /* The mesh path. */
    bool no_cull;
    const char *lod_text; /* a number or auto; NULL: 0 */
    uint32_t lod;         /* from that ... */
    bool lod_auto;
    int debug; /* a pelt_render_debug */

    /* Rays, and numbers instead of colours. */
    uint32_t samples; /* 0: not given */
    int aov;          /* a pelt_picture_aov */
    double motion_dt; /* seconds */
    bool motion_dt_given;
} pelt_render_options;

/* Of --format and --interpolation. */
extern const char *const pelt_render_formats[], *const pelt_render_interpolations[];

pelt_result pelt_render_crowd_create(const pelt_render_options *options,
                                     const pelt_character *character, const pelt_play *play,
                                     pelt_crowd **out);

/* Whether the options go with each other; says which do not. */
bool pelt_render_palette_check(pelt_report *report, const pelt_render_options *options);

/* Draws a crowd from a palette that it bakes. */
pelt_result pelt_render_palette_run(pelt_report *report, const pelt_render_options *options);

#ifndef PELT_HAVE_VULKAN
/* Where nothing can be drawn: says so, but first what is wrong with the input. */
pelt_result pelt_render_without_vulkan(pelt_report *report, const pelt_render_options *options);
#endif

#endif
