/* render/: what lands in a picture, where, and in which colour. */
#include "tests/gpu.h"

#include "render/internal.h"

#include <math.h>

enum { SIZE = 64, DRAW_MAX = 8 };

/* One scene under construction and its picture. */
typedef struct stage {
    pelt_renderer *renderer;
    uint32_t width, height;
    pelt_render_draw draws[DRAW_MAX];
    pelt_buffer buffers[DRAW_MAX];
    uint32_t draw_count;
    pelt_render_scene scene;
    uint8_t *rgba;
} stage;

static stage *open_stage_of(uint32_t width, uint32_t height)
{
    stage *s = calloc(1, sizeof(*s));
    assert_non_null(s);
    s->width = width;
    s->height = height;
    s->rgba = malloc((size_t)4 * width * height);
    assert_non_null(s->rgba);
    const pelt_renderer_info info = { .width = width, .height = height };
    assert_int_equal(pelt_renderer_create(&gpu_host, gpu_device(), &info, &s->renderer), PELT_OK);
    return s;
}

static stage *open_stage(void)
{
    return open_stage_of(SIZE, SIZE);
}

static void close_stage(stage *s)
{
    for (uint32_t i = 0; i < s->draw_count; i++) {
        pelt_buffer_destroy(gpu_device(), &s->buffers[i]);
    }
    pelt_renderer_destroy(s->renderer);
    free(s->rgba);
    free(s);
}

static uint32_t plain_material(stage *s, float r, float g, float b)
{
    const pelt_material material = { .base_color = { r, g, b, 1.0f } };
    uint32_t number;
    assert_int_equal(pelt_renderer_add_material(s->renderer, &material, -1, &number), PELT_OK);
    return number;
}

/* Adds one draw of a mesh whose vertices stand at positions, all with one normal. */
static void add_draw(stage *s, uint32_t mesh, uint32_t material, const float (*positions)[3],
                     uint32_t count, const float normal[3])
{
    assert_true(s->draw_count < DRAW_MAX);
    pelt_buffer *buffer = &s->buffers[s->draw_count];
    assert_int_equal(pelt_buffer_create(gpu_device(), count * sizeof(pelt_packed_vertex), 0,
                                        PELT_MEMORY_UPLOAD, buffer),
                     PELT_OK);
    pelt_packed_vertex *vertices = buffer->mapped;
    pelt_box box = PELT_BOX_EMPTY;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(vertices[i].position, positions[i], sizeof(vertices[i].position));
        vertices[i].normal = pelt_encode_direction(normal, 1.0f);
        for (int k = 0; k < 3; k++) {
            box.min[k] = fminf(box.min[k], positions[i][k]);
            box.max[k] = fmaxf(box.max[k], positions[i][k]);
        }
    }
    s->draws[s->draw_count++] = (pelt_render_draw){
        .mesh = mesh, .material = material, .vertices = buffer->address, .box = box
    };
    s->scene.draws = s->draws;
    s->scene.draw_count = s->draw_count;
}

static uint32_t add_mesh(stage *s, pelt_topology topology, uint32_t vertex_count, uint32_t *indices,
                         uint32_t index_count, float *texcoords, const uint32_t *packed_vertices)
{
    static float normals[24][3]; /* only that there are any is looked at */
    assert_true(vertex_count <= 24);
    pelt_primitive primitive = {
        .topology = topology,
        .vertex_count = vertex_count,
        .normals = normals[0],
        .index_count = index_count,
        .material = -1,
    };
    primitive.texcoords = texcoords;
    primitive.indices = indices;
    uint32_t number;
    assert_int_equal(pelt_renderer_add_mesh(s->renderer, &primitive, packed_vertices, &number),
                     PELT_OK);
    return number;
}

/* A quad's corners go round: 0 1 2 3. */
static uint32_t quad_mesh(stage *s, float *texcoords)
{
    static uint32_t indices[] = { 0, 1, 2, 0, 2, 3 };
    return add_mesh(s, PELT_TRIANGLES, 4, indices, 6, texcoords, NULL);
}

static const float facing_viewer[3] = { 0.0f, 0.0f, 1.0f };

/* Two units wide and high, upright, seen from +Z; lower left, lower right, upper right, upper
 * left as the viewer sees it. */
static const float upright[4][3] = {
    { -1.0f, 0.0f, 0.0f }, { 1.0f, 0.0f, 0.0f }, { 1.0f, 2.0f, 0.0f }, { -1.0f, 2.0f, 0.0f }
};
/* The texture's upper left is (0, 0). */
static float upright_texcoords[] = { 0.0f, 1.0f, 1.0f, 1.0f, 1.0f, 0.0f, 0.0f, 0.0f };

static void look_from(stage *s, float x, float y, float z)
{
    memcpy(s->scene.to_eye, (float[3]){ x, y, z }, sizeof(s->scene.to_eye));
}

static void sun_from(stage *s, float x, float y, float z)
{
    memcpy(s->scene.to_sun, (float[3]){ x, y, z }, sizeof(s->scene.to_sun));
}

static void draw(stage *s)
{
    assert_int_equal(pelt_renderer_draw(s->renderer, &s->scene, s->rgba, NULL), PELT_OK);
}

static const uint8_t *pixel(const stage *s, uint32_t x, uint32_t y)
{
    return &s->rgba[((size_t)y * s->width + x) * 4];
}

static int luminance(const stage *s, uint32_t x, uint32_t y)
{
    const uint8_t *p = pixel(s, x, y);
    return (2 * p[0] + 5 * p[1] + p[2]) / 8;
}

/* Largest difference of any channel of any pixel. */
static int largest_difference(const uint8_t *a, const uint8_t *b, size_t size)
{
    int largest = 0;
    for (size_t i = 0; i < size; i++) {
        int difference = abs(a[i] - b[i]);
        largest = difference > largest ? difference : largest;
    }
    return largest;
}

static void colours_come_in_order(void **state)
{
    (void)state;
    stage *s = open_stage();
    add_draw(s, quad_mesh(s, NULL), plain_material(s, 0.6f, 0.05f, 0.01f), upright, 4,
             facing_viewer);
    look_from(s, 0.0f, 0.0f, 1.0f);
    sun_from(s, 0.2f, 0.5f, 1.0f);
    draw(s);
    const uint8_t *middle = pixel(s, SIZE / 2, SIZE / 2);
    assert_true(middle[0] > middle[1] + 60 && middle[1] > middle[2] + 10);
    /* Nothing stands in the corners: sky above, and it is blue. */
    const uint8_t *corner = pixel(s, 1, 1);
    assert_true(corner[2] >= corner[0] && corner[2] > 150);
    for (size_t i = 0; i < (size_t)SIZE * SIZE; i++) {
        assert_int_equal(s->rgba[i * 4 + 3], 255);
    }
    close_stage(s);
}

/* Adds the upright quad with a picture on it. */
static void add_picture(stage *s, uint32_t width, uint32_t height, uint8_t *rgba,
                        pelt_alpha_mode mode)
{
    uint32_t image, material;
    pelt_pixels pixels = { .width = width, .height = height };
    pixels.rgba = rgba;
    assert_int_equal(pelt_renderer_add_pixels(s->renderer, &pixels, &image), PELT_OK);
    const pelt_material textured = {
        .base_color = { 1.0f, 1.0f, 1.0f, 1.0f },
        .base_color_sampler = { .wrap_s = 33071,
                                .wrap_t = 33071,
                                .mag_filter = 9728,
                                .min_filter = 9728 },
        .alpha_mode = mode,
        .alpha_cutoff = 0.5f,
    };
    assert_int_equal(pelt_renderer_add_material(s->renderer, &textured, (int32_t)image, &material),
                     PELT_OK);
    add_draw(s, quad_mesh(s, upright_texcoords), material, upright, 4, facing_viewer);
    look_from(s, 0.0f, 0.0f, 1.0f);
    sun_from(s, 0.0f, 0.5f, 1.0f);
}

static uint8_t four_colours[] = { 200, 10, 10,  255, 10,  200, 10,  255,
                                  10,  10, 200, 255, 200, 200, 200, 255 };

static void expect_four_colours(const stage *s)
{
    const uint8_t *upper_left = pixel(s, SIZE / 4, SIZE / 4);
    const uint8_t *upper_right = pixel(s, SIZE * 3 / 4, SIZE / 4);
    const uint8_t *lower_left = pixel(s, SIZE / 4, SIZE * 3 / 4);
    const uint8_t *lower_right = pixel(s, SIZE * 3 / 4, SIZE * 3 / 4);
    assert_true(upper_left[0] > upper_left[1] + 60 && upper_left[0] > upper_left[2] + 60);
    assert_true(upper_right[1] > upper_right[0] + 60 && upper_right[1] > upper_right[2] + 60);
    assert_true(lower_left[2] > lower_left[0] + 60 && lower_left[2] > lower_left[1] + 60);
    assert_true(abs(lower_right[0] - lower_right[1]) < 40 &&
                abs(lower_right[1] - lower_right[2]) < 40);
}

static void u_points_right_and_v_down(void **state)
{
    (void)state;
    stage *s = open_stage();
    add_picture(s, 2, 2, four_colours, PELT_ALPHA_OPAQUE);
    draw(s);
    expect_four_colours(s);
    close_stage(s);
}

/* As palette textures have it: one texel for a whole triangle, no gradient to filter by. */
static void one_texcoord_serves_a_whole_mesh(void **state)
{
    (void)state;
    stage *s = open_stage();
    float green[] = { 0.75f, 0.25f, 0.75f, 0.25f, 0.75f, 0.25f, 0.75f, 0.25f };
    uint32_t image, material;
    const pelt_pixels pixels = { .width = 2, .height = 2, .rgba = four_colours };
    assert_int_equal(pelt_renderer_add_pixels(s->renderer, &pixels, &image), PELT_OK);
    const pelt_material textured = { .base_color = { 1.0f, 1.0f, 1.0f, 1.0f } };
    assert_int_equal(pelt_renderer_add_material(s->renderer, &textured, (int32_t)image, &material),
                     PELT_OK);
    add_draw(s, quad_mesh(s, green), material, upright, 4, facing_viewer);
    look_from(s, 0.0f, 0.0f, 1.0f);
    sun_from(s, 0.0f, 0.5f, 1.0f);
    draw(s);
    const uint8_t *middle = pixel(s, SIZE / 2, SIZE / 2);
    assert_true(middle[1] > middle[0] + 60 && middle[1] > middle[2] + 60);
    close_stage(s);
}

static void shared_streams_follow_the_packed_order(void **state)
{
    (void)state;
    stage *s = open_stage();
    add_picture(s, 2, 2, four_colours, PELT_ALPHA_OPAQUE);
    uint32_t packed[] = { 2, 0, 3, 1 };
    uint32_t indices[] = { 0, 1, 2, 0, 2, 3 };
    float moved[4][3];
    for (int i = 0; i < 4; i++) {
        memcpy(moved[packed[i]], upright[i], sizeof(moved[0]));
    }
    uint32_t mesh = add_mesh(s, PELT_TRIANGLES, 4, indices, 6, upright_texcoords, packed);
    add_draw(s, mesh, s->draws[0].material, (const float(*)[3])moved, 4, facing_viewer);
    s->scene.draws = &s->draws[1];
    s->scene.draw_count = 1;
    draw(s);
    expect_four_colours(s);
    close_stage(s);
}

/* A front seen, and a back seen of which winding and normals point away: as mirrors leave it. */
static void both_sides_look_alike(void **state)
{
    (void)state;
    stage *s = open_stage();
    uint32_t material = plain_material(s, 0.5f, 0.5f, 0.5f);
    uint32_t reversed[] = { 2, 1, 0, 3, 2, 0 };
    add_draw(s, quad_mesh(s, NULL), material, upright, 4, facing_viewer);
    add_draw(s, add_mesh(s, PELT_TRIANGLES, 4, reversed, 6, NULL, NULL), material, upright, 4,
             (float[3]){ 0.0f, 0.0f, -1.0f });
    look_from(s, 0.0f, 0.0f, 1.0f);
    sun_from(s, 0.3f, 0.5f, 1.0f);
    s->scene.draw_count = 1;
    draw(s);
    uint8_t first[4 * SIZE * SIZE];
    memcpy(first, s->rgba, sizeof(first));
    assert_true(luminance(s, SIZE / 2, SIZE / 2) > 150); /* lit */
    s->scene.draws = &s->draws[1];
    draw(s);
    /* The diagonal runs the same way; rounding of shared edges may differ by a step or two. */
    assert_in_range(largest_difference(first, s->rgba, sizeof(first)), 0, 3);
    close_stage(s);
}

/* Normals that lean upwards, at the foot 25 degrees towards the viewer and at the top as much
 * away: the sun above lights all of it. Turned where they begin to lean away, they would point
 * downwards there, into the dark. */
static void normals_that_lean_away_leave_no_edge(void **state)
{
    (void)state;
    stage *s = open_stage();
    const float towards[3] = { 0.0f, 0.906f, 0.423f }, away[3] = { 0.0f, 0.906f, -0.423f };
    add_draw(s, quad_mesh(s, NULL), plain_material(s, 0.3f, 0.3f, 0.3f), upright, 4, towards);
    pelt_packed_vertex *vertices = s->buffers[0].mapped;
    vertices[2].normal = vertices[3].normal = pelt_encode_direction(away, 1.0f);
    look_from(s, 0.0f, 0.0f, 1.0f);
    sun_from(s, 0.0f, 1.0f, 0.3f);
    draw(s);
    /* The quad covers 0.86 of the height. Half of the light is the sun's, which falls by 6 % from
     * the steepest normal to the foot's and 12 % to the top's; the sky's varies slowly too. */
    for (uint32_t y = SIZE / 8; y < SIZE * 7 / 8; y++) {
        assert_true(luminance(s, SIZE / 2, y) > 100);
        assert_in_range(abs(luminance(s, SIZE / 2, y) - luminance(s, SIZE / 2, y + 1)), 0, 6);
    }
    close_stage(s);
}

static void strips_fans_and_lists_are_one_picture(void **state)
{
    (void)state;
    stage *s = open_stage();
    uint32_t material = plain_material(s, 0.5f, 0.2f, 0.2f);
    uint32_t fan[] = { 0, 1, 2, 3 };
    uint32_t strip[] = { 0, 1, 3, 2 };
    add_draw(s, quad_mesh(s, NULL), material, upright, 4, facing_viewer);
    add_draw(s, add_mesh(s, PELT_TRIANGLE_FAN, 4, fan, 4, NULL, NULL), material, upright, 4,
             facing_viewer);
    add_draw(s, add_mesh(s, PELT_TRIANGLE_FAN, 4, NULL, 0, NULL, NULL), material, upright, 4,
             facing_viewer);
    add_draw(s, add_mesh(s, PELT_TRIANGLE_STRIP, 4, strip, 4, NULL, NULL), material, upright, 4,
             facing_viewer);
    look_from(s, 0.0f, 0.0f, 1.0f);
    uint8_t first[4 * SIZE * SIZE];
    for (uint32_t i = 0; i < 4; i++) {
        s->scene.draws = &s->draws[i];
        s->scene.draw_count = 1;
        draw(s);
        if (i == 0) {
            memcpy(first, s->rgba, sizeof(first));
        }
        assert_in_range(largest_difference(first, s->rgba, sizeof(first)), 0, 3);
    }
    close_stage(s);
}

/* Red pixels among columns x0 to x1 and rows y0 to y1. */
static int count_red(const stage *s, uint32_t x0, uint32_t x1, uint32_t y0, uint32_t y1)
{
    int count = 0;
    for (uint32_t y = y0; y < y1; y++) {
        for (uint32_t x = x0; x < x1; x++) {
            const uint8_t *p = pixel(s, x, y);
            count += p[0] > p[1] + 30 && p[0] > p[2] + 30;
        }
    }
    return count;
}

static void points_and_lines_are_drawn(void **state)
{
    (void)state;
    stage *s = open_stage();
    uint32_t material = plain_material(s, 0.9f, 0.0f, 0.0f);
    look_from(s, 0.0f, 0.0f, 1.0f);
    add_draw(s, add_mesh(s, PELT_POINTS, 4, NULL, 0, NULL, NULL), material, upright, 4,
             facing_viewer);
    add_draw(s, add_mesh(s, PELT_LINE_STRIP, 4, NULL, 0, NULL, NULL), material, upright, 4,
             facing_viewer);
    add_draw(s, add_mesh(s, PELT_LINE_LOOP, 4, NULL, 0, NULL, NULL), material, upright, 4,
             facing_viewer);
    add_draw(s, add_mesh(s, PELT_LINES, 4, NULL, 0, NULL, NULL), material, upright, 4,
             facing_viewer);
    s->scene.draw_count = 1;
    draw(s);
    assert_in_range(count_red(s, 0, SIZE, 0, SIZE), 4, 16);
    /* The strip is open at the left (corner 3 back to 0), the loop is not; lines are below and
     * above alone. Sides span 0.86 of 64 pixels. */
    const uint32_t third = SIZE / 3;
    for (uint32_t i = 1; i < 4; i++) {
        s->scene.draws = &s->draws[i];
        draw(s);
        int left = count_red(s, 0, third, third, 2 * third);
        int right = count_red(s, 2 * third, SIZE, third, 2 * third);
        int top = count_red(s, third, 2 * third, 0, third);
        int bottom = count_red(s, third, 2 * third, 2 * third, SIZE);
        assert_true(top >= 15 && bottom >= 15);
        assert_true(i == 2 ? left >= 15 : left == 0);
        assert_true(i == 3 ? right == 0 : right >= 15);
    }
    close_stage(s);
}

static void masks_cut_and_blends_mix(void **state)
{
    (void)state;
    uint8_t half[] = { 230, 20, 20, 255, 230, 20, 20, 0 };
    uint8_t thin[] = { 230, 20, 20, 128, 230, 20, 20, 0 };
    int red[3]; /* how much redder than blue the left half is: opaque, masked, blended */
    for (int mode = PELT_ALPHA_OPAQUE; mode <= PELT_ALPHA_BLEND; mode++) {
        stage *s = open_stage();
        add_picture(s, 2, 1, mode == PELT_ALPHA_BLEND ? thin : half, (pelt_alpha_mode)mode);
        draw(s);
        const uint8_t *left = pixel(s, SIZE / 4, SIZE / 2);
        const uint8_t *right = pixel(s, SIZE * 3 / 4, SIZE / 2);
        red[mode] = left[0] - left[2];
        if (mode == PELT_ALPHA_OPAQUE) {
            assert_true(right[0] > right[2] + 60);
        } else {
            assert_true(right[2] >= right[0] - 20); /* what is behind it */
        }
        assert_int_equal(left[3], 255);
        close_stage(s);
    }
    assert_true(red[PELT_ALPHA_OPAQUE] > 60);
    assert_in_range(abs(red[PELT_ALPHA_OPAQUE] - red[PELT_ALPHA_MASK]), 0, 3);
    assert_true(red[PELT_ALPHA_BLEND] > 20);
    assert_true(red[PELT_ALPHA_BLEND] < red[PELT_ALPHA_OPAQUE] - 20);
}

/* A post in the middle of a wide empty scene, seen from above: picture right is +X. */
static void add_post(stage *s, float half_width, float height)
{
    const float w = half_width, h = height;
    const float corners[8][3] = { { -w, 0, -w }, { w, 0, -w }, { w, 0, w }, { -w, 0, w },
                                  { -w, h, -w }, { w, h, -w }, { w, h, w }, { -w, h, w } };
    static uint32_t sides[] = { 0, 1, 5, 0, 5, 4, 1, 2, 6, 1, 6, 5, 2, 3, 7,
                                2, 7, 6, 3, 0, 4, 3, 4, 7, 4, 5, 6, 4, 6, 7 };
    uint32_t mesh = add_mesh(s, PELT_TRIANGLES, 8, sides, 30, NULL, NULL);
    add_draw(s, mesh, plain_material(s, 0.5f, 0.5f, 0.5f), corners, 8,
             (float[3]){ 0.0f, 1.0f, 0.0f });
    s->draws[s->draw_count - 1].box =
        (pelt_box){ { -2.0f, 0.0f, -2.0f }, { 2.0f, h, 2.0f } }; /* to see the ground around */
}

static void shadows_fall_away_from_the_sun(void **state)
{
    (void)state;
    for (int side = 0; side < 2; side++) {
        stage *s = open_stage();
        add_post(s, 0.2f, 1.5f);
        look_from(s, 0.0f, 1.0f, 0.0f);
        float x = side ? -1.0f : 1.0f;
        sun_from(s, x, 1.0f, 0.0f);
        draw(s);
        /* Two units are 27 pixels at the height of the post's top, fewer on the ground: the shadow
         * reaches 1.5 beyond the post, 16 pixels or more. 8 beside the middle is well inside. */
        uint32_t shadowed = side ? SIZE / 2 + 8 : SIZE / 2 - 8;
        uint32_t lit = SIZE - 1 - shadowed;
        assert_true(luminance(s, shadowed, SIZE / 2) * 4 < luminance(s, lit, SIZE / 2) * 3);
        /* And it begins at the post: no bright seam between the two. */
        for (uint32_t d = 6; d < 10; d++) {
            uint32_t at = side ? SIZE / 2 + d : SIZE / 2 - d;
            assert_true(luminance(s, at, SIZE / 2) * 4 < luminance(s, lit, SIZE / 2) * 3);
        }
        /* Across, nothing: the ground above and below the shadow is lit. */
        assert_true(luminance(s, shadowed, SIZE / 4) * 4 > luminance(s, lit, SIZE / 2) * 3);
        close_stage(s);
    }
}

static void lit_planes_do_not_shadow_themselves(void **state)
{
    (void)state;
    /* Tilted away from the sun by up to 66 degrees: what is lit evenly must look even. */
    for (int tilt = 0; tilt < 4; tilt++) {
        stage *s = open_stage();
        float angle = 0.38f * (float)tilt;
        float dx = cosf(angle), dy = sinf(angle);
        const float slope[4][3] = { { -dx, 1.0f - dy, 1.0f },
                                    { dx, 1.0f + dy, 1.0f },
                                    { dx, 1.0f + dy, -1.0f },
                                    { -dx, 1.0f - dy, -1.0f } };
        add_draw(s, quad_mesh(s, NULL), plain_material(s, 0.3f, 0.3f, 0.3f), slope, 4,
                 (float[3]){ -dy, dx, 0.0f });
        look_from(s, -dy, dx, 0.05f);
        sun_from(s, 0.0f, 1.0f, 0.0f);
        draw(s);
        int least = 255, most = 0;
        for (uint32_t y = SIZE / 4; y < SIZE * 3 / 4; y++) {
            for (uint32_t x = SIZE / 4; x < SIZE * 3 / 4; x++) {
                int l = luminance(s, x, y);
                least = l < least ? l : least;
                most = l > most ? l : most;
            }
        }
        /* Highlights vary over the plane by a few percent; a shadow would take away half. */
        assert_true(least > 60);
        assert_in_range(most - least, 0, 16);
        close_stage(s);
    }
}

/* Pixels from (x, y) to the nearest edge of the box as the frame's camera sees it. */
static float edge_distance(const struct pelt_frame *frame, const pelt_box *box, float x, float y)
{
    float nearest = 1e9f;
    for (int corner = 0; corner < 8; corner++) {
        for (int axis = 0; axis < 3; axis++) {
            if (corner >> axis & 1) {
                continue;
            }
            float ends[2][2];
            for (int end = 0; end < 2; end++) {
                int c = corner | end << axis;
                vec4 p = { (c & 1 ? box->max : box->min)[0], (c & 2 ? box->max : box->min)[1],
                           (c & 4 ? box->max : box->min)[2], 1.0f };
                for (int k = 0; k < 3; k++) {
                    p[k] = (p[k] - frame->origin[k]) * frame->origin[3];
                }
                vec4 clip;
                glm_mat4_mulv((vec4 *)frame->camera, p, clip);
                ends[end][0] = (clip[0] / clip[3] * 0.5f + 0.5f) * frame->viewport[0];
                ends[end][1] = (clip[1] / clip[3] * 0.5f + 0.5f) * frame->viewport[1];
            }
            float dx = ends[1][0] - ends[0][0], dy = ends[1][1] - ends[0][1];
            float t =
                ((x - ends[0][0]) * dx + (y - ends[0][1]) * dy) / fmaxf(dx * dx + dy * dy, 1e-12f);
            t = fminf(fmaxf(t, 0.0f), 1.0f);
            nearest = fminf(nearest, hypotf(ends[0][0] + t * dx - x, ends[0][1] + t * dy - y));
        }
    }
    return nearest;
}

static void boxes_change_their_edges_alone(void **state)
{
    (void)state;
    enum { WIDTH = 160, HEIGHT = 90 };
    stage *s = open_stage_of(WIDTH, HEIGHT);
    add_post(s, 0.5f, 1.5f);
    const pelt_box boxes[] = { { { -0.5f, 0.0f, -0.5f }, { 0.5f, 1.5f, 0.5f } }, PELT_BOX_EMPTY };
    draw(s);
    uint8_t *without = malloc((size_t)4 * WIDTH * HEIGHT);
    assert_non_null(without);
    memcpy(without, s->rgba, (size_t)4 * WIDTH * HEIGHT);
    s->scene.boxes = boxes;
    s->scene.box_count = 2;
    draw(s);

    struct pelt_frame *frame = calloc(1, sizeof(*frame));
    assert_non_null(frame);
    const pelt_framing framing = { WIDTH, HEIGHT, 1024, 256, 1 };
    assert_int_equal(pelt_render_frame_scene(&gpu_host, &s->scene, &framing, frame), PELT_OK);
    int changed = 0;
    for (uint32_t y = 0; y < HEIGHT; y++) {
        for (uint32_t x = 0; x < WIDTH; x++) {
            if (memcmp(pixel(s, x, y), &without[(y * WIDTH + x) * 4], 4) != 0) {
                float away = edge_distance(frame, &boxes[0], (float)x + 0.5f, (float)y + 0.5f);
                assert_true(away <= 2.5f);
                changed++;
            }
        }
    }
    /* Nine edges of the twelve are seen, each tens of pixels long. */
    assert_in_range(changed, 150, 3000);
    /* The three behind the post are hidden: its top's middle and sides keep their pixels. The far
     * lower corner projects into the sides. */
    vec4 corner = { -0.5f, 0.0f, -0.5f, 1.0f }, clip;
    for (int k = 0; k < 3; k++) {
        corner[k] = (corner[k] - frame->origin[k]) * frame->origin[3];
    }
    glm_mat4_mulv(frame->camera, corner, clip);
    uint32_t x = (uint32_t)((clip[0] / clip[3] * 0.5f + 0.5f) * WIDTH);
    uint32_t y = (uint32_t)((clip[1] / clip[3] * 0.5f + 0.5f) * HEIGHT);
    assert_memory_equal(pixel(s, x, y), &without[(y * WIDTH + x) * 4], 4);
    free(frame);
    free(without);
    close_stage(s);
}

static void size_and_place_do_not_matter(void **state)
{
    (void)state;
    /* Powers of two, so that the scaled positions are exact. */
    const float scales[] = { 1.0f, 1.0f / 128.0f, 1024.0f, 1e-12f, 1e12f };
    uint8_t first[4 * SIZE * SIZE];
    for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
        stage *s = open_stage();
        float moved[4][3];
        for (int c = 0; c < 4; c++) {
            for (int k = 0; k < 3; k++) {
                moved[c][k] = upright[c][k] * scales[i];
            }
        }
        add_draw(s, quad_mesh(s, NULL), plain_material(s, 0.5f, 0.3f, 0.1f),
                 (const float(*)[3])moved, 4, facing_viewer);
        draw(s);
        if (i == 0) {
            memcpy(first, s->rgba, sizeof(first));
        }
        double sum = 0.0;
        for (size_t b = 0; b < sizeof(first); b++) {
            sum += abs(first[b] - s->rgba[b]);
        }
        assert_true(sum / sizeof(first) < 0.5); /* penumbras are noise, and rounding moves it */
        close_stage(s);
    }
}

static void flat_and_empty_scenes_have_pictures(void **state)
{
    (void)state;
    stage *s = open_stage();
    draw(s); /* nothing at all: ground and sky */
    assert_true(luminance(s, SIZE / 2, SIZE - 2) > 60);
    const float floor[4][3] = { { -1, 5, -1 }, { 1, 5, -1 }, { 1, 5, 1 }, { -1, 5, 1 } };
    const float point[4][3] = { { 3, 3, 3 }, { 3, 3, 3 }, { 3, 3, 3 }, { 3, 3, 3 } };
    uint32_t red = plain_material(s, 0.7f, 0.0f, 0.0f);
    add_draw(s, quad_mesh(s, NULL), red, floor, 4, (float[3]){ 0.0f, 1.0f, 0.0f });
    draw(s);
    const uint8_t *middle = pixel(s, SIZE / 2, SIZE / 2);
    assert_true(middle[0] > middle[1] + 40); /* the floor, not the ground beneath it */
    add_draw(s, s->draws[0].mesh, red, point, 4, (float[3]){ 0.0f, 1.0f, 0.0f });
    s->scene.draws = &s->draws[1];
    s->scene.draw_count = 1;
    draw(s); /* a box of no size */
    assert_true(luminance(s, SIZE / 2, SIZE - 2) > 60);
    close_stage(s);
}

static void odd_picture_sizes_work(void **state)
{
    (void)state;
    const uint32_t sizes[][2] = { { 1, 1 }, { 300, 3 }, { 3, 300 }, { 101, 67 } };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        stage *s = open_stage_of(sizes[i][0], sizes[i][1]);
        uint32_t width, height;
        pelt_renderer_size(s->renderer, &width, &height);
        assert_int_equal(width, sizes[i][0]);
        assert_int_equal(height, sizes[i][1]);
        add_draw(s, quad_mesh(s, NULL), plain_material(s, 0.7f, 0.0f, 0.0f), upright, 4,
                 facing_viewer);
        look_from(s, 0.0f, 0.0f, 1.0f);
        sun_from(s, 0.0f, 0.3f, 1.0f);
        draw(s);
        /* It stands within 0.86 of the picture; a third of the room that is left is below it. */
        float room = 0.86f * (float)(height > width ? height - width : 0);
        const uint8_t *middle = pixel(s, width / 2, (uint32_t)((float)height / 2 + room / 6));
        assert_true(middle[0] > middle[1] + 40);
        close_stage(s);
    }
}

static void refuses_what_it_cannot_draw(void **state)
{
    (void)state;
    pelt_headless *device = gpu_device();
    gpu_log log = { 0 };
    const pelt_host host = { .user = &log, .message = gpu_on_message };
    pelt_renderer *none = (pelt_renderer *)&log;
    uint32_t limit = device->properties.limits.maxImageDimension2D;
    pelt_renderer_info info = { .width = limit + 1, .height = 4 };
    assert_int_equal(pelt_renderer_create(&host, device, &info, &none), PELT_ERROR_RANGE);
    assert_null(none);
    char wanted[32];
    (void)snprintf(wanted, sizeof(wanted), "%u x 4", limit + 1);
    assert_non_null(strstr(log.last, wanted));
    info = (pelt_renderer_info){ .width = 4, .height = 4, .samples = 3 };
    assert_int_equal(pelt_renderer_create(&host, device, &info, &none), PELT_ERROR_ARGUMENT);
    assert_int_equal(log.errors, 2);

    stage *s = open_stage();
    add_draw(s, quad_mesh(s, NULL), plain_material(s, 1.0f, 1.0f, 1.0f), upright, 4, facing_viewer);
    const pelt_render_draw good = s->draws[0];
    pelt_render_draw *bad = &s->draws[0];
    bad->mesh = 1;
    assert_int_equal(pelt_renderer_draw(s->renderer, &s->scene, s->rgba, NULL),
                     PELT_ERROR_ARGUMENT);
    *bad = good;
    bad->material = 1;
    assert_int_equal(pelt_renderer_draw(s->renderer, &s->scene, s->rgba, NULL),
                     PELT_ERROR_ARGUMENT);
    *bad = good;
    bad->vertices += 4;
    assert_int_equal(pelt_renderer_draw(s->renderer, &s->scene, s->rgba, NULL),
                     PELT_ERROR_ARGUMENT);
    bad->vertices = 0;
    assert_int_equal(pelt_renderer_draw(s->renderer, &s->scene, s->rgba, NULL),
                     PELT_ERROR_ARGUMENT);
    *bad = good;
    uint32_t ignored;
    assert_int_equal(pelt_renderer_add_material(s->renderer, NULL, 0, &ignored),
                     PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_renderer_add_material(s->renderer, NULL, -1, &ignored), PELT_OK);
    const pelt_pixels nothing = { 0 };
    assert_int_equal(pelt_renderer_add_pixels(s->renderer, &nothing, &ignored),
                     PELT_ERROR_ARGUMENT);
    const pelt_model model = { 0 };
    int32_t image;
    assert_int_equal(pelt_renderer_add_image(s->renderer, "m.glb", &model, 0, &image),
                     PELT_ERROR_ARGUMENT);
    draw(s);
    close_stage(s);
}

static void reports_what_it_took(void **state)
{
    (void)state;
    stage *s = open_stage();
    add_draw(s, quad_mesh(s, NULL), plain_material(s, 1.0f, 1.0f, 1.0f), upright, 4, facing_viewer);
    pelt_render_report report;
    assert_int_equal(pelt_renderer_draw(s->renderer, &s->scene, s->rgba, &report), PELT_OK);
    assert_int_equal(report.triangle_count, 2);
    assert_in_range(report.sky_count, 8, PELT_SKY_MAX);
    if (gpu_device()->timestamp_period > 0.0f) {
        assert_true(report.shadow_time > 0.0 && report.raster_time > 0.0);
    }
    close_stage(s);
}

/* An allocator that fails from some call on. */
typedef struct failing {
    unsigned left;
    unsigned failed;
} failing;

static void *allocate(void *user, void *block, size_t size)
{
    failing *f = user;
    if (size == 0) {
        free(block);
        return NULL;
    }
    if (f->left == 0) {
        f->failed++;
        return NULL;
    }
    f->left--;
    return realloc(block, size);
}

static pelt_result draw_once(const pelt_host *host)
{
    uint8_t white[] = { 255, 255, 255, 255 }, rgba[4 * 4 * 4];
    const pelt_pixels pixels = { .width = 1, .height = 1, .rgba = white };
    float positions[9] = { 0 };
    const pelt_primitive triangle = {
        .topology = PELT_TRIANGLES, .vertex_count = 3, .positions = positions, .material = -1
    };
    pelt_renderer *renderer = NULL;
    pelt_buffer vertices = { 0 };
    uint32_t image, material, mesh;
    const pelt_renderer_info info = { .width = 4, .height = 4 };
    pelt_result result = pelt_renderer_create(host, gpu_device(), &info, &renderer);
    if (result == PELT_OK) {
        result = pelt_renderer_add_pixels(renderer, &pixels, &image);
    }
    if (result == PELT_OK) {
        result = pelt_renderer_add_material(renderer, NULL, (int32_t)image, &material);
    }
    if (result == PELT_OK) {
        result = pelt_renderer_add_mesh(renderer, &triangle, NULL, &mesh);
    }
    if (result == PELT_OK) {
        result = pelt_buffer_create(gpu_device(), 48, 0, PELT_MEMORY_UPLOAD, &vertices);
    }
    if (result == PELT_OK) {
        memset(vertices.mapped, 0, 48);
        const pelt_render_draw one = { .mesh = mesh,
                                       .material = material,
                                       .vertices = vertices.address,
                                       .box = { { 0.0f }, { 0.0f } } };
        const pelt_box box = one.box;
        const pelt_render_scene scene = {
            .draws = &one, .draw_count = 1, .boxes = &box, .box_count = 1
        };
        result = pelt_renderer_draw(renderer, &scene, rgba, NULL);
    }
    pelt_buffer_destroy(gpu_device(), &vertices);
    pelt_renderer_destroy(renderer);
    return result;
}

static void unwinds_failed_allocations(void **state)
{
    (void)state;
    (void)gpu_device();
    unsigned count = 0;
    for (;; count++) {
        failing f = { .left = count };
        const pelt_host host = { .user = &f, .allocate = allocate };
        pelt_result result = draw_once(&host);
        if (f.failed == 0) {
            assert_int_equal(result, PELT_OK);
            break;
        }
        assert_int_equal(result, PELT_ERROR_MEMORY);
        assert_true(count < 100);
    }
    assert_true(count >= 6); /* renderer, three arrays, mesh, picture at least */
}

static void destroy_takes_null(void **state)
{
    (void)state;
    pelt_renderer_destroy(NULL);
    pelt_pixels_release(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colours_come_in_order),
        cmocka_unit_test(u_points_right_and_v_down),
        cmocka_unit_test(one_texcoord_serves_a_whole_mesh),
        cmocka_unit_test(shared_streams_follow_the_packed_order),
        cmocka_unit_test(both_sides_look_alike),
        cmocka_unit_test(normals_that_lean_away_leave_no_edge),
        cmocka_unit_test(strips_fans_and_lists_are_one_picture),
        cmocka_unit_test(points_and_lines_are_drawn),
        cmocka_unit_test(masks_cut_and_blends_mix),
        cmocka_unit_test(shadows_fall_away_from_the_sun),
        cmocka_unit_test(lit_planes_do_not_shadow_themselves),
        cmocka_unit_test(boxes_change_their_edges_alone),
        cmocka_unit_test(size_and_place_do_not_matter),
        cmocka_unit_test(flat_and_empty_scenes_have_pictures),
        cmocka_unit_test(odd_picture_sizes_work),
        cmocka_unit_test(refuses_what_it_cannot_draw),
        cmocka_unit_test(reports_what_it_took),
        cmocka_unit_test(unwinds_failed_allocations),
        cmocka_unit_test(destroy_takes_null),
    };
    return gpu_result(cmocka_run_group_tests(tests, gpu_setup, gpu_teardown));
}
