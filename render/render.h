/* render/render.h: pictures of animated vertex buffers. Sun with soft shadows, sky light that is
 * shadowed too, base-colour textures, tone mapping, multisampling. Part of the tool, not of the
 * library.
 *
 *   once          pelt_renderer_create; add_image, add_material, add_mesh: what instances share
 *   each picture  skin into 16-byte vertices (pelt_packed_vertex), then pelt_renderer_draw
 *   then          pelt_write_png
 *
 * Y is up, as in glTF; scenes of any size and place come out the same.
 */
#ifndef PELT_RENDER_H
#define PELT_RENDER_H

#include <pelt/cluster_pass.h>
#include <pelt/crowd.h>
#include <pelt/vulkan_open.h>

typedef struct pelt_renderer pelt_renderer;

typedef struct pelt_renderer_info {
    uint32_t width, height; /* of the picture; 0: 1600 and 900 */
    uint32_t samples;       /* 1, 2, 4 or 8 a pixel; 0: 4. Fewer where the device has fewer. */

    /* Mesh shaders. Any choice makes the same picture. */
    uint32_t cluster_lanes; /* of a workgroup, up to 128; 0: 32 */
    uint32_t shared_joints; /* clusters of up to so many joints copy their matrices to shared
                             * memory, up to PELT_CLUSTER_JOINT_MAX; 0: all read them by address */
    uint32_t group_limit;   /* workgroups along one side of a draw; 0: the device's limit */
} pelt_renderer_info;

/* host and device must outlive the renderer. Errors: PELT_ERROR_DEVICE (no graphics queue, or no
 * dynamic rendering), PELT_ERROR_RANGE (a picture larger than the device's images; the message
 * says how large they may be), PELT_ERROR_ARGUMENT, PELT_ERROR_VULKAN, PELT_ERROR_MEMORY. */
pelt_result pelt_renderer_create(const pelt_host *host, pelt_headless *device,
                                 const pelt_renderer_info *info, pelt_renderer **out);
void pelt_renderer_destroy(pelt_renderer *renderer);

/* The size that pelt_renderer_draw writes: 4 x width x height bytes. */
void pelt_renderer_size(const pelt_renderer *renderer, uint32_t *width, uint32_t *height);

/* Pixels, R G B A, 8 bits each, rows from the top, tightly packed. */
typedef struct pelt_pixels {
    uint32_t width, height;
    uint8_t *rgba;
    const pelt_host *host;
} pelt_pixels;

/* Decodes a PNG or JPEG of any kind (told by its bytes). Colour profiles are ignored, as glTF asks.
 * file and pointer name the image in messages. limit: the largest width or height wanted, 0: none.
 * Errors: PELT_ERROR_FILE, PELT_ERROR_UNSUPPORTED (CMYK), PELT_ERROR_RANGE, PELT_ERROR_MEMORY. */
pelt_result pelt_image_decode(const pelt_host *host, const char *file, const char *pointer,
                              const void *bytes, size_t size, uint32_t limit, pelt_pixels *out);
void pelt_pixels_release(pelt_pixels *pixels);

/* Writes a whole PNG or nothing. Errors: PELT_ERROR_IO, PELT_ERROR_MEMORY, PELT_ERROR_ARGUMENT. */
pelt_result pelt_write_png(const pelt_host *host, const char *path, uint32_t width, uint32_t height,
                           const uint8_t *rgba);

/* Uploads sRGB pixels with their mip maps; *out: the image's number, counted from 0. */
pelt_result pelt_renderer_add_pixels(pelt_renderer *renderer, const pelt_pixels *pixels,
                                     uint32_t *out);

/* Decodes and uploads image number index of a model; file: the model's path, for messages, which
 * name the image as /images/index. One that cannot be decoded or is too large is a warning, and
 * *out is then -1: no image. */
pelt_result pelt_renderer_add_image(pelt_renderer *renderer, const char *file,
                                    const pelt_model *model, uint32_t index, int32_t *out);

/* material: NULL for glTF's default material. image: number of its base-colour image as this
 * renderer counts them, -1: none (material->base_color_image is not looked at). */
pelt_result pelt_renderer_add_material(pelt_renderer *renderer, const pelt_material *material,
                                       int32_t image, uint32_t *out);

/* What all instances of one source mesh share: indices, texcoords, colours, in packed order.
 * packed_vertices: pelt_packed_mesh's, or NULL where vertices keep the primitive's order. Strips,
 * fans and loops become lists. Nothing of the primitive is kept. */
pelt_result pelt_renderer_add_mesh(pelt_renderer *renderer, const pelt_primitive *primitive,
                                   const uint32_t *packed_vertices, uint32_t *out);

/* Uploads a bake's palette, with room for so many agents that are posed live; nothing of the bake
 * is kept. plan: as pelt_crowd_member_write wants it, or NULL. Errors: as pelt_palette_plan_make,
 * of what the device can hold. */
pelt_result pelt_renderer_add_palette(pelt_renderer *renderer, const pelt_bake *bake,
                                      uint32_t live_count, uint32_t *out, pelt_palette_plan *plan);

/* Copies the skin matrices of live agents into the palette's image; regions are
 * pelt_palette_live_copies'. What wrote the buffer was submitted before. */
pelt_result pelt_renderer_copy_live(pelt_renderer *renderer, uint32_t palette, VkBuffer buffer,
                                    const VkBufferImageCopy *regions, uint32_t region_count);

/* One animated mesh. */
typedef struct pelt_render_draw {
    uint32_t mesh, material;  /* as added */
    VkDeviceAddress vertices; /* the mesh's vertex_count pelt_packed_vertex, 16-byte aligned;
                               * positions in scene space */
    pelt_box box;             /* exact: the camera and the shadow maps are fitted to it */

    /* What pelt_renderer_aov tells. Draws one after another that share an instance share a
     * structure where rays are traced. */
    VkDeviceAddress previous; /* the vertices in the frame before; 0: they have not moved */
    uint32_t instance, part;
} pelt_render_draw;

/* A mesh of a crowd. */
typedef struct pelt_render_part {
    uint32_t mesh, material;     /* as added */
    VkDeviceAddress packed_mesh; /* pelt_crowd_mesh_write's, of streams in the same order */
} pelt_render_part;

/* Members drawn from a palette, one draw call a mesh. Those that the camera does not see are culled
 * before. Members of BLEND materials are drawn in their order, whatever is behind what. */
typedef struct pelt_render_crowd {
    uint32_t palette; /* as added */
    pelt_bake_interpolation interpolation;
    pelt_bake_skinning skinning;
    VkDeviceAddress members; /* pelt_crowd_member_write's */
    uint32_t member_count;   /* > 0 */
    double now;
    bool keep_all; /* cull nobody */
    const pelt_render_part *parts;
    uint32_t part_count;
    const pelt_box *boxes; /* the camera and the shadow maps are fitted to these */
    uint32_t box_count;
} pelt_render_crowd;

/* Instances of a mesh that mesh shaders skin, by clusters. Needs a device with mesh_shader and
 * task_shader. */
typedef struct pelt_render_clusters {
    uint32_t mesh, material;   /* as added, triangles in packed order */
    VkDeviceAddress instances; /* pelt_cluster_instance_write's */
    uint32_t instance_count;   /* > 0 */
    uint32_t cluster_count;    /* the most that a level of an instance has */
    const pelt_box *boxes;     /* of each instance: camera and shadow maps are fitted to these */
} pelt_render_clusters;

/* What clusters show instead of their material. */
typedef enum pelt_render_debug {
    PELT_DEBUG_NONE,
    PELT_DEBUG_MESHLETS, /* a colour for each cluster */
    PELT_DEBUG_LOD,      /* a colour for each level of detail */
    PELT_DEBUG_CULLED    /* seen from above: what the camera's view leaves out is red */
} pelt_render_debug;

/* A camera that is not chosen from the scene's shape. */
typedef struct pelt_render_camera {
    double eye[3];     /* in the scene */
    double forward[3]; /* any length > 0, not along y */
    double slope;      /* tangent of half the vertical field of view, > 0 */
    double nearest;    /* what is nearer is cut off, > 0 */
} pelt_render_camera;

typedef struct pelt_render_scene {
    const pelt_render_draw *draws;
    uint32_t draw_count;

    const pelt_render_crowd *crowds;
    uint32_t crowd_count;

    const pelt_render_clusters *clusters;
    uint32_t clusters_count;
    bool keep_all_clusters; /* cull none */
    uint32_t lod;           /* of their instances, or PELT_LOD_AUTO */
    float most_error;       /* of PELT_LOD_AUTO, in pixels; 0: 1 */
    pelt_render_debug debug;

    const pelt_box *boxes; /* drawn as wire boxes; empty ones are left out */
    uint32_t box_count;

    float to_sun[3]; /* towards the sun; zeros: over the viewer's left shoulder */
    float to_eye[3]; /* from the scene towards the camera; zeros: chosen from the scene's shape */

    float zoom; /* shows so many times less of the middle, larger; 0: 1, all of the scene */

    const pelt_render_camera *camera; /* instead of to_eye and zoom; NULL: none */
    bool no_shadows;                  /* sun and sky reach everything */
} pelt_render_scene;

/* What a picture took. Times are the GPU's, in milliseconds, 0 where it has no timestamps. */
typedef struct pelt_render_report {
    uint64_t triangle_count; /* in the picture */
    uint32_t draw_count;     /* draw calls of meshes, one pass over the picture */
    uint32_t seen_count;     /* of all crowds' members */
    uint32_t sky_count;      /* directions the sky light was sampled from */

    /* Of instances that are drawn by clusters: their levels' clusters, how many of them were drawn,
     * instances that were not culled as a whole, and how many had which level. */
    uint64_t cluster_count, drawn_cluster_count;
    uint32_t seen_instance_count, lod_counts[PELT_LOD_MAX];

    double shadow_time; /* sun and sky shadow maps */
    double raster_time;

    /* Of rays: acceleration structures of the bottom level, and their builds. */
    uint32_t structure_count;
    double build_time, trace_time;
} pelt_render_report;

/* Renders, waits and reads back 4 x width x height bytes (sRGB, alpha 255). Animated vertices must
 * have been written by work that was submitted before, on the same queue, or by the host; no other
 * barrier is needed. report may be NULL.
 * Errors: PELT_ERROR_ARGUMENT (a draw names what was not added, or lacks its vertices),
 * PELT_ERROR_VULKAN, PELT_ERROR_MEMORY. */
pelt_result pelt_renderer_draw(pelt_renderer *renderer, const pelt_render_scene *scene,
                               uint8_t *rgba, pelt_render_report *report);

/* -- rays ---------------------------------------------------------------------------------- */

/* What buffers of vertices must have been created with, if rays are to hit them. */
VkBufferUsageFlags pelt_render_vertex_usage(const pelt_headless *device);

typedef struct pelt_trace_info {
    uint32_t sky_samples; /* rays to the sky for each of the picture's samples, and a quarter as
                           * many to the sun; 0: 16, 8 on software drivers */
} pelt_trace_info;

/* As pelt_renderer_draw, with the same camera, light and materials, but by ray tracing: the sun's
 * shadows and the sky's are those of rays. Takes draws alone, of triangles; points and lines are
 * left out, with a warning. MASK materials are cut at the cutoff, BLEND ones are blended, up to 16
 * behind each other. Errors: PELT_ERROR_DEVICE (no ray-tracing pipelines), PELT_ERROR_RANGE (more
 * materials or instances than the device takes), those of pelt_renderer_draw. */
pelt_result pelt_renderer_trace(pelt_renderer *renderer, const pelt_render_scene *scene,
                                const pelt_trace_info *info, uint8_t *rgba,
                                pelt_render_report *report);

/* What the middle of a pixel shows; all 0 where there is no triangle. MASK and BLEND materials are
 * there where alpha (of the image's finest level) is at least the cutoff, 0.5 of BLEND ones. */
typedef struct pelt_aov_pixel {
    float position[3]; /* of the scene */
    float covered;     /* 1, or 0 */
    float normal[3];   /* unit, smooth; without normals that of the triangle, towards the eye */
    float moved_x;     /* pixels since the frame before, to the right ... */
    float motion[3];   /* the same in the scene: position - motion is where it was */
    float moved_y;     /* ... and down, under this frame's camera */
    uint32_t instance, part, triangle; /* triangle: of the primitive's, as a list */
    uint32_t hit;                      /* 1, or 0 */
} pelt_aov_pixel;

/* Writes width x height pixels, rows from the top: by rays or by raster, which differ only where
 * the middle of a pixel lies on an edge, as good as. Takes what pelt_renderer_trace takes. Errors:
 * likewise; PELT_ERROR_DEVICE also by raster where there is no geometryShader. */
pelt_result pelt_renderer_aov(pelt_renderer *renderer, const pelt_render_scene *scene, bool rays,
                              pelt_aov_pixel *pixels, pelt_render_report *report);

#endif
