#include "cli/render_aov.h"

#ifdef PELT_HAVE_VULKAN

#include "render/exr.h"

enum { CHANNEL_MAX = 6 };

#define OFFSET(member) offsetof(pelt_aov_pixel, member)

/* Each sorted by name, as the format wants it. */
static const struct {
    uint32_t channel_count;
    pelt_exr_channel channels[CHANNEL_MAX];
} layouts[] = {
    [PELT_AOV_MOTION] = { 6,
                          { { "A", OFFSET(covered), false },
                            { "X", OFFSET(motion[0]), false },
                            { "Y", OFFSET(motion[1]), false },
                            { "Z", OFFSET(motion[2]), false },
                            { "pixels.X", OFFSET(moved_x), false },
                            { "pixels.Y", OFFSET(moved_y), false } } },
    [PELT_AOV_NORMAL] = { 4,
                          { { "A", OFFSET(covered), false },
                            { "X", OFFSET(normal[0]), false },
                            { "Y", OFFSET(normal[1]), false },
                            { "Z", OFFSET(normal[2]), false } } },
    [PELT_AOV_POSITION] = { 4,
                            { { "A", OFFSET(covered), false },
                              { "X", OFFSET(position[0]), false },
                              { "Y", OFFSET(position[1]), false },
                              { "Z", OFFSET(position[2]), false } } },
    [PELT_AOV_INSTANCE] = { 4,
                            { { "hit", OFFSET(hit), true },
                              { "instance", OFFSET(instance), true },
                              { "part", OFFSET(part), true },
                              { "triangle", OFFSET(triangle), true } } },
};

pelt_result pelt_write_aov(const pelt_host *host, const pelt_picture_info *info,
                           pelt_renderer *renderer, const pelt_render_scene *scene,
                           pelt_render_report *report)
{
    uint32_t width, height;
    pelt_renderer_size(renderer, &width, &height);
    pelt_aov_pixel *pixels = pelt_allocate(host, (size_t)width * height, sizeof(*pixels));
    if (!pixels) {
        return PELT_ERROR_MEMORY;
    }
    pelt_result result = pelt_renderer_aov(renderer, scene, info->rays, pixels, report);
    if (result == PELT_OK) {
        result =
            pelt_write_exr(host, info->output,
                           &(pelt_exr_image){ .width = width,
                                              .height = height,
                                              .channels = layouts[info->aov].channels,
                                              .channel_count = layouts[info->aov].channel_count,
                                              .pixels = pixels,
                                              .stride = sizeof(*pixels) });
    }
    pelt_release(host, pixels);
    return result;
}

#endif
