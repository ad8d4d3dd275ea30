/* render/: pictures and exact numbers by rays, and the same numbers by raster. */
#include "tests/gpu.h"

#include "render/internal.h"

#include <math.h>

enum { SIZE = 64, COUNT = SIZE * SIZE, DRAW_MAX = 4 };

/* One scene under construction, and what is seen of it. */
typedef struct stage {
    pelt_renderer *renderer;
    pelt_render_draw draws[DRAW_MAX];
    pelt_buffer buffers[DRAW_MAX], before[DRAW_MAX];
    pelt_render_scene scene;
    uint8_t rgba[4 * COUNT];
    pelt_aov_pixel pixels[COUNT];
} stage;

static void open_renderer(stage *s)
{
    const pelt_renderer_info info = { .width = SIZE, .height = SIZE };
    assert_int_equal(pelt_renderer_create(&gpu_host, gpu_device(), &info, &s->renderer), PELT_OK);
    s->scene.draws = s->draws;
}

static stage *open_stage(void)
{
    if (!gpu_device()->ray_tracing_pipeline) {
        (void)printf("skipped: no ray-tracing pipelines\n");
        skip();
    }
    stage *s = calloc(1, sizeof(*s));
    assert_non_null(s);
    open_renderer(s);
    return s;
}

static void close_stage(stage *s)
{
    for (uint32_t i = 0; i < s->scene.draw_count; i++) {
        pelt_buffer_destroy(gpu_device(), &s->buffers[i]);
        pelt_buffer_destroy(gpu_device(), &s->before[i]);
    }
    pelt_renderer_destroy(s->renderer);
    free(s);
}

/* A quad's corners go round: 0 1 2 3. */
static uint32_t add_quad_mesh(stage *s, pelt_topology topology)
{
    static uint32_t indices[] = { 0, 1, 2, 0, 2, 3 };
    static float texcoords[] = { 0.0f, 1.0f, 1.0f, 1.0f, 1.0f, 0.0f, 0.0f, 0.0f };
    static float normals[12];
    const pelt_primitive primitive = { .topology = topology,
                                       .vertex_count = 4,
                                       .normals = normals,
                                       .texcoords = texcoords,
                                       .indices = indices,
                                       .index_count = 6,
                                       .material = -1 };
    uint32_t number;
    assert_int_equal(pelt_renderer_add_mesh(s->renderer, &primitive, NULL, &number), PELT_OK);
    return number;
}

static uint32_t add_material(stage *s, const float color[4], pelt_alpha_mode mode, int32_t image)
{
    const pelt_material material = {
        .base_color = { color[0], color[1], color[2], color[3] },
        .base_color_sampler = { .wrap_s = 33071,
                                .wrap_t = 33071,
                                .mag_filter = 9728,
                                .min_filter = 9728 },
        .alpha_mode = mode,
        .alpha_cutoff = 0.5f,
    };
    uint32_t number;
    assert_int_equal(pelt_renderer_add_material(s->renderer, &material, image, &number), PELT_OK);
    return number;
}

static pelt_buffer write_vertices(const float (*positions)[3], const float normal[3])
{
    pelt_buffer buffer;
    assert_int_equal(pelt_buffer_create(gpu_device(), 4 * sizeof(pelt_packed_vertex),
                                        pelt_render_vertex_usage(gpu_device()), PELT_MEMORY_UPLOAD,
                                        &buffer),
                     PELT_OK);
    pelt_packed_vertex *vertices = buffer.mapped;
    for (int i = 0; i < 4; i++) {
        memcpy(vertices[i].position, positions[i], sizeof(vertices[i].position));
        vertices[i].normal = pelt_encode_direction(normal, 1.0f);
    }
    return buffer;
}

/* Adds a quad; before: where it was in the frame before, or NULL. */
static void add_quad(stage *s, uint32_t mesh, uint32_t material, const float (*positions)[3],
                     const float (*before)[3], const float normal[3])
{
    uint32_t n = s->scene.draw_count++;
    assert_true(n < DRAW_MAX);
    s->buffers[n] = write_vertices(positions, normal);
    pelt_box box = PELT_BOX_EMPTY;
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 3; k++) {
            box.min[k] = fminf(box.min[k], positions[i][k]);
            box.max[k] = fmaxf(box.max[k], positions[i][k]);
        }
    }
    s->draws[n] = (pelt_render_draw){ .mesh = mesh,
                                      .material = material,
                                      .vertices = s->buffers[n].address,
                                      .box = box,
                                      .instance = 7 + n / 2, /* pairs share a structure */
                                      .part = n % 2 };
    if (before) {
        s->before[n] = write_vertices(before, normal);
        s->draws[n].previous = s->before[n].address;
    }
}

static const float white[4] = { 1.0f, 1.0f, 1.0f, 1.0f };
static const float toward_viewer[3] = { 0.0f, 0.0f, 1.0f };

/* Two units wide and high, far from the origin, seen from +Z. */
static const float upright[4][3] = {
    { 9.0f, 5.0f, 3.0f }, { 11.0f, 5.0f, 3.0f }, { 11.0f, 7.0f, 3.0f }, { 9.0f, 7.0f, 3.0f }
};
/* The left half of it, nearer. */
static const float half[4][3] = {
    { 9.0f, 5.0f, 3.5f }, { 10.0f, 5.0f, 3.5f }, { 10.0f, 7.0f, 3.5f }, { 9.0f, 7.0f, 3.5f }
};

static void look_from(stage *s, float x, float y, float z)
{
    memcpy(s->scene.to_eye, (float[3]){ x, y, z }, sizeof(s->scene.to_eye));
}

static void tell(stage *s, bool rays)
{
    memset(s->pixels, 0xff, sizeof(s->pixels));
    assert_int_equal(pelt_renderer_aov(s->renderer, &s->scene, rays, s->pixels, NULL), PELT_OK);
}

static const pelt_aov_pixel *pixel(const stage *s, uint32_t x, uint32_t y)
{
    return &s->pixels[y * SIZE + x];
}

/* Where a place in the scene is seen, in pixels, computed in double. */
static void project(const struct pelt_frame *frame, const double scene[3], double out[2])
{
    double unit[3], clip[4];
    for (int k = 0; k < 3; k++) {
        unit[k] = (scene[k] - frame->origin[k]) * frame->origin[3];
    }
    for (int r = 0; r < 4; r++) {
        clip[r] = frame->camera[3][r];
        for (int c = 0; c < 3; c++) {
            clip[r] += frame->camera[c][r] * unit[c];
        }
    }
    for (int k = 0; k < 2; k++) {
        out[k] = (clip[k] / clip[3] * 0.5 + 0.5) * SIZE;
    }
}

static struct pelt_frame frame_of(const stage *s)
{
    const pelt_framing framing = { SIZE, SIZE, 64, 64, 1 };
    struct pelt_frame frame;
    memset(&frame, 0, sizeof(frame));
    assert_int_equal(pelt_render_frame_scene(&gpu_host, &s->scene, &framing, &frame), PELT_OK);
    return frame;
}

/* A quad that came from elsewhere: every number of every pixel. */
static void numbers_are_exact(void **state)
{
    (void)state;
    stage *s = open_stage();
    const float motion[3] = { 0.25f, 0.5f, -0.125f };
    float before[4][3];
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 3; k++) {
            before[i][k] = upright[i][k] - motion[k]; /* exact: all are multiples of 1/8 */
        }
    }
    uint32_t mesh = add_quad_mesh(s, PELT_TRIANGLES);
    uint32_t material = add_material(s, white, PELT_ALPHA_OPAQUE, -1);
    add_quad(s, mesh, material, upright, before, toward_viewer);
    look_from(s, 0.3f, 0.2f, 1.0f);
    struct pelt_frame frame = frame_of(s);
    for (int rays = 0; rays < 2; rays++) {
        tell(s, rays != 0);
        uint32_t hits = 0, triangles[2] = { 0 };
        for (uint32_t i = 0; i < COUNT; i++) {
            const pelt_aov_pixel *p = &s->pixels[i];
            if (!p->hit) {
                static const pelt_aov_pixel none;
                assert_memory_equal(p, &none, sizeof(none));
                continue;
            }
            hits++;
            assert_true(p->instance == 7 && p->part == 0 && p->triangle < 2);
            triangles[p->triangle]++;
            assert_float_equal(p->covered, 1.0f, 0.0f);
            /* Above the diagonal from corner 0 to 2 lies the second triangle. */
            float above = (p->position[1] - 5.0f) - (p->position[0] - 9.0f);
            assert_true(fabsf(above) < 1e-3f || (above > 0.0f) == (p->triangle == 1));
            double now[2], then[2], at[3], was[3];
            for (int k = 0; k < 3; k++) {
                assert_float_equal(p->motion[k], motion[k], 1e-6f);
                assert_float_equal(p->normal[k], toward_viewer[k], 1e-3f);
                at[k] = p->position[k];
                was[k] = (double)p->position[k] - motion[k];
            }
            assert_float_equal(p->position[2], 3.0f, 1e-6f);
            project(&frame, at, now);
            project(&frame, was, then);
            uint32_t column = (uint32_t)i % SIZE, row = (uint32_t)i / SIZE;
            /* The middle of the pixel, as far as corners are moved: by 1/512 of a pixel. */
            assert_float_equal((float)now[0], (float)column + 0.5f, 0.01f);
            assert_float_equal((float)now[1], (float)row + 0.5f, 0.01f);
            assert_float_equal(p->moved_x, (float)(now[0] - then[0]), 1e-3f);
            assert_float_equal(p->moved_y, (float)(now[1] - then[1]), 1e-3f);
        }
        assert_true(hits > COUNT / 4 && hits < COUNT);
        assert_true(triangles[0] > hits / 3 && triangles[1] > hits / 3);
    }
    close_stage(s);
}

static void what_has_no_past_has_not_moved(void **state)
{
    (void)state;
    stage *s = open_stage();
    add_quad(s, add_quad_mesh(s, PELT_TRIANGLES), add_material(s, white, PELT_ALPHA_OPAQUE, -1),
             upright, NULL, toward_viewer);
    for (int rays = 0; rays < 2; rays++) {
        tell(s, rays != 0);
        for (uint32_t i = 0; i < COUNT; i++) {
            const pelt_aov_pixel *p = &s->pixels[i];
            assert_true(p->motion[0] == 0.0f && p->motion[1] == 0.0f && p->motion[2] == 0.0f &&
                        p->moved_x == 0.0f && p->moved_y == 0.0f);
        }
    }
    close_stage(s);
}

/* Of three quads, the nearest is seen: structures of one and of two geometries. */
static void the_nearest_is_seen(void **state)
{
    (void)state;
    stage *s = open_stage();
    uint32_t mesh = add_quad_mesh(s, PELT_TRIANGLES);
    uint32_t material = add_material(s, white, PELT_ALPHA_OPAQUE, -1);
    static const float far_away[4][3] = {
        { 8.0f, 5.0f, 2.0f }, { 12.0f, 5.0f, 2.0f }, { 12.0f, 7.0f, 2.0f }, { 8.0f, 7.0f, 2.0f }
    };
    add_quad(s, mesh, material, far_away, NULL, toward_viewer);
    add_quad(s, mesh, material, upright, NULL, toward_viewer);
    add_quad(s, mesh, material, half, NULL, toward_viewer);
    look_from(s, 0.0f, 0.0f, 1.0f);
    for (int rays = 0; rays < 2; rays++) {
        tell(s, rays != 0);
        uint32_t seen[3] = { 0 };
        for (uint32_t i = 0; i < COUNT; i++) {
            const pelt_aov_pixel *p = &s->pixels[i];
            if (p->hit) {
                uint32_t draw = (p->instance - 7) * 2 + p->part;
                assert_true(draw < 3);
                seen[draw]++;
                const float depths[] = { 2.0f, 3.0f, 3.5f };
                assert_float_equal(p->position[2], depths[draw], 1e-5f);
                bool behind = p->position[0] > 9.02f && p->position[0] < 9.9f;
                assert_true(!behind || draw == 2);
            }
        }
        assert_true(seen[0] > 100 && seen[1] > 100 && seen[2] > 100);
    }
    close_stage(s);
}

/* A picture whose left half is not there, before a quad: by cutoff. */
static void alpha_is_cut(void **state)
{
    (void)state;
    const pelt_alpha_mode modes[] = { PELT_ALPHA_MASK, PELT_ALPHA_BLEND };
    for (int m = 0; m < 2; m++) {
        stage *s = open_stage();
        uint8_t rgba[8] = { 255, 255, 255, 100, 255, 255, 255, 160 };
        uint32_t image;
        assert_int_equal(
            pelt_renderer_add_pixels(
                s->renderer, &(pelt_pixels){ .width = 2, .height = 1, .rgba = rgba }, &image),
            PELT_OK);
        uint32_t mesh = add_quad_mesh(s, PELT_TRIANGLES);
        add_quad(s, mesh, add_material(s, white, modes[m], (int32_t)image), upright, NULL,
                 toward_viewer);
        look_from(s, 0.0f, 0.0f, 1.0f);
        for (int rays = 0; rays < 2; rays++) {
            tell(s, rays != 0);
            assert_int_equal(pixel(s, SIZE / 2 - 4, SIZE / 2)->hit, 0);
            assert_int_equal(pixel(s, SIZE / 2 + 4, SIZE / 2)->hit, 1);
        }
        close_stage(s);
    }
}

static int mean_of(const uint8_t *rgba, uint32_t x, uint32_t y, int channel)
{
    int sum = 0;
    for (uint32_t i = 0; i < 16; i++) {
        sum += rgba[4 * ((y + i / 4) * SIZE + x + i % 4) + (uint32_t)channel];
    }
    return sum / 16;
}

/* The same quads, also half there, by raster and by rays: the same light within the noise of the
 * rays to the sky and the blur of shadow maps. */
static void pictures_are_alike(void **state)
{
    (void)state;
    const struct {
        float color[4];
        pelt_alpha_mode mode;
    } cases[] = { { { 0.6f, 0.05f, 0.01f, 1.0f }, PELT_ALPHA_OPAQUE },
                  { { 0.02f, 0.2f, 0.6f, 0.5f }, PELT_ALPHA_BLEND } };
    for (int c = 0; c < 2; c++) {
        stage *s = open_stage();
        uint32_t mesh = add_quad_mesh(s, PELT_TRIANGLES);
        add_quad(s, mesh, add_material(s, white, PELT_ALPHA_OPAQUE, -1), upright, NULL,
                 toward_viewer);
        add_quad(s, mesh, add_material(s, cases[c].color, cases[c].mode, -1), half, NULL,
                 toward_viewer);
        look_from(s, 0.0f, 0.0f, 1.0f);
        memcpy(s->scene.to_sun, (float[3]){ -0.3f, 0.5f, 1.0f }, sizeof(s->scene.to_sun));
        uint8_t *again = malloc(sizeof(s->rgba));
        assert_non_null(again);
        assert_int_equal(pelt_renderer_draw(s->renderer, &s->scene, again, NULL), PELT_OK);
        const pelt_trace_info info = { .sky_samples = 64 };
        pelt_render_report report;
        assert_int_equal(pelt_renderer_trace(s->renderer, &s->scene, &info, s->rgba, &report),
                         PELT_OK);
        assert_int_equal(report.triangle_count, 4);
        assert_int_equal(report.structure_count, 1);
        const uint32_t places[][2] = { { 20, 30 }, { 44, 20 }, { 2, 2 }, { 30, 60 }, { 52, 60 } };
        for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
            for (int k = 0; k < 3; k++) {
                int ours = mean_of(s->rgba, places[i][0], places[i][1], k);
                int theirs = mean_of(again, places[i][0], places[i][1], k);
                assert_true(abs(ours - theirs) <= 8);
            }
        }
        assert_int_equal(pelt_renderer_trace(s->renderer, &s->scene, &info, again, NULL), PELT_OK);
        assert_memory_equal(s->rgba, again, sizeof(s->rgba));
        free(again);
        close_stage(s);
    }
}

/* The sun from above: the ground under a roof is dark, beside it it is not. */
static void rays_cast_shadows(void **state)
{
    (void)state;
    stage *s = open_stage();
    static const float roof[4][3] = {
        { 0.0f, 1.0f, 0.0f }, { 0.0f, 1.0f, 1.0f }, { 1.0f, 1.0f, 1.0f }, { 1.0f, 1.0f, 0.0f }
    };
    static const float ground[4][3] = {
        { -1.0f, 0.0f, -1.0f }, { -1.0f, 0.0f, 2.0f }, { 2.0f, 0.0f, 2.0f }, { 2.0f, 0.0f, -1.0f }
    };
    static const float up[3] = { 0.0f, 1.0f, 0.0f };
    uint32_t mesh = add_quad_mesh(s, PELT_TRIANGLES);
    uint32_t material = add_material(s, white, PELT_ALPHA_OPAQUE, -1);
    add_quad(s, mesh, material, roof, NULL, up);
    add_quad(s, mesh, material, ground, NULL, up);
    look_from(s, 0.0f, 0.3f, 1.0f);
    memcpy(s->scene.to_sun, up, sizeof(up));
    assert_int_equal(
        pelt_renderer_trace(s->renderer, &s->scene, &(pelt_trace_info){ 0 }, s->rgba, NULL),
        PELT_OK);
    tell(s, true);
    double lit = 0.0, dark = 0.0;
    uint32_t lit_count = 0, dark_count = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        const pelt_aov_pixel *p = &s->pixels[i];
        if (p->hit && p->part == 1) {
            bool under = p->position[0] > 0.1f && p->position[0] < 0.9f && p->position[2] > 0.1f &&
                         p->position[2] < 0.9f;
            bool beside = p->position[0] < -0.3f || p->position[0] > 1.3f;
            dark += under ? s->rgba[4 * i + 1] : 0;
            dark_count += under;
            lit += beside ? s->rgba[4 * i + 1] : 0;
            lit_count += beside;
        }
    }
    assert_true(dark_count > 20 && lit_count > 20);
    assert_true(lit / lit_count > dark / dark_count + 60);
    close_stage(s);
}

/* Lines are no surfaces, and a scene of nothing is one. */
static void what_cannot_be_hit_is_left_out(void **state)
{
    (void)state;
    stage *s = open_stage();
    uint32_t material = add_material(s, white, PELT_ALPHA_OPAQUE, -1);
    for (int rays = 0; rays < 2; rays++) {
        tell(s, rays != 0);
        for (uint32_t i = 0; i < COUNT; i++) {
            assert_int_equal(s->pixels[i].hit, 0);
        }
    }
    add_quad(s, add_quad_mesh(s, PELT_LINES), material, half, NULL, toward_viewer);
    add_quad(s, add_quad_mesh(s, PELT_TRIANGLES), material, upright, NULL, toward_viewer);
    look_from(s, 0.0f, 0.0f, 1.0f);
    for (int rays = 0; rays < 2; rays++) {
        gpu_messages.last[0] = 0;
        tell(s, rays != 0);
        assert_non_null(strstr(gpu_messages.last, "1 draw of points or lines is left out"));
        assert_true(pixel(s, SIZE / 4 + 4, SIZE / 2)->hit == 1);
        assert_true(pixel(s, SIZE / 4 + 4, SIZE / 2)->part == 1);
    }
    close_stage(s);
}

static void errors_are_told(void **state)
{
    (void)state;
    stage *s = open_stage();
    uint32_t mesh = add_quad_mesh(s, PELT_TRIANGLES);
    add_quad(s, mesh, add_material(s, white, PELT_ALPHA_OPAQUE, -1), upright, NULL, toward_viewer);
    const pelt_trace_info info = { 0 };
    s->draws[0].mesh = mesh + 1;
    assert_int_equal(pelt_renderer_trace(s->renderer, &s->scene, &info, s->rgba, NULL),
                     PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_renderer_aov(s->renderer, &s->scene, false, s->pixels, NULL),
                     PELT_ERROR_ARGUMENT);
    s->draws[0].mesh = mesh;
    s->scene.boxes = &s->draws[0].box;
    s->scene.box_count = 1;
    assert_int_equal(pelt_renderer_trace(s->renderer, &s->scene, &info, s->rgba, NULL),
                     PELT_ERROR_ARGUMENT);
    s->scene.box_count = 0;
    gpu_shared->ray_tracing_pipeline = false;
    pelt_result result = pelt_renderer_trace(s->renderer, &s->scene, &info, s->rgba, NULL);
    gpu_shared->ray_tracing_pipeline = true;
    assert_int_equal(result, PELT_ERROR_DEVICE);
    assert_non_null(strstr(gpu_messages.last, "VK_KHR_ray_tracing_pipeline"));
    close_stage(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_exact),
        cmocka_unit_test(what_has_no_past_has_not_moved),
        cmocka_unit_test(the_nearest_is_seen),
        cmocka_unit_test(alpha_is_cut),
        cmocka_unit_test(pictures_are_alike),
        cmocka_unit_test(rays_cast_shadows),
        cmocka_unit_test(what_cannot_be_hit_is_left_out),
        cmocka_unit_test(errors_are_told),
    };
    return gpu_result(cmocka_run_group_tests(tests, gpu_setup, gpu_teardown));
}
