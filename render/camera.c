/* Where the camera stands, where the sun shines from, and shadow maps that just hold the scene. */
#include "render/internal.h"

#include <float.h>
#include <math.h>

/* Corners of all boxes in unit space. */
typedef struct point_set {
    vec3 *points;
    size_t count;
    vec3 low, high;
} point_set;

static size_t box_count(const pelt_render_scene *scene)
{
    size_t count = (size_t)scene->draw_count + scene->box_count;
    for (uint32_t i = 0; i < scene->crowd_count; i++) {
        count += scene->crowds[i].box_count;
    }
    for (uint32_t i = 0; i < scene->clusters_count; i++) {
        count += scene->clusters[i].instance_count;
    }
    return count;
}

static const pelt_box *box_at(const pelt_render_scene *scene, size_t i)
{
    if (i < scene->draw_count) {
        return &scene->draws[i].box;
    }
    i -= scene->draw_count;
    const pelt_render_crowd *crowd = scene->crowds;
    for (uint32_t left = scene->crowd_count; left > 0; left--, crowd++) {
        if (i < crowd->box_count) {
            return &crowd->boxes[i];
        }
        i -= crowd->box_count;
    }
    const pelt_render_clusters *clusters = scene->clusters;
    for (uint32_t left = scene->clusters_count; left > 0; left--, clusters++) {
        if (i < clusters->instance_count) {
            return &clusters->boxes[i];
        }
        i -= clusters->instance_count;
    }
    return &scene->boxes[i];
}

/* Moves the scene's middle to the origin and scales it to radius 1. */
static void fit_origin(const pelt_render_scene *scene, vec4 origin)
{
    double low[3] = { DBL_MAX, DBL_MAX, DBL_MAX }, high[3] = { -DBL_MAX, -DBL_MAX, -DBL_MAX };
    size_t count = box_count(scene);
    for (size_t i = 0; i < count; i++) {
        const pelt_box *box = box_at(scene, i);
        for (int k = 0; k < 3 && pelt_render_box_is_visible(box); k++) {
            low[k] = fmin(low[k], (double)box->min[k]);
            high[k] = fmax(high[k], (double)box->max[k]);
        }
    }
    glm_vec4_copy((vec4){ 0.0f, 0.0f, 0.0f, 1.0f }, origin);
    if (low[0] > high[0]) {
        return; /* nothing to see */
    }
    double squares = 0.0;
    for (int k = 0; k < 3; k++) {
        origin[k] = (float)(low[k] * 0.5 + high[k] * 0.5);
        squares += (high[k] - low[k]) * (high[k] - low[k]);
    }
    double radius = sqrt(squares) * 0.5;
    /* A single point has no size: take a small part of its distance, or 1 at the origin. */
    double place =
        fmax(fabs((double)origin[0]), fmax(fabs((double)origin[1]), fabs((double)origin[2])));
    double least = place > 0.0 ? fmax(place * 1e-6, 1e-30) : 1e-30;
    origin[3] = (float)(1.0 / (radius > least ? radius : place > 0.0 ? least : 1.0));
}

static void unit_point(const vec4 origin, const float corner[3], vec3 out)
{
    for (int k = 0; k < 3; k++) {
        out[k] = (corner[k] - origin[k]) * origin[3];
    }
}

static pelt_result collect_points(const pelt_host *host, const pelt_render_scene *scene,
                                  const vec4 origin, point_set *out)
{
    size_t boxes = box_count(scene);
    size_t count;
    out->points = pelt_multiply(boxes, 8, &count) ? pelt_allocate(host, count, sizeof(vec3)) : NULL;
    out->count = 0;
    glm_vec3_fill(out->low, -0.01f);
    glm_vec3_fill(out->high, 0.01f);
    if (!out->points) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for %zu boxes", boxes);
    }
    for (size_t i = 0; i < boxes; i++) {
        const pelt_box *box = box_at(scene, i);
        for (int c = 0; c < 8 && pelt_render_box_is_visible(box); c++) {
            const float corner[3] = { (c & 1 ? box->max : box->min)[0],
                                      (c & 2 ? box->max : box->min)[1],
                                      (c & 4 ? box->max : box->min)[2] };
            float *point = out->points[out->count];
            unit_point(origin, corner, point);
            if (out->count++ == 0) {
                glm_vec3_copy(point, out->low);
                glm_vec3_copy(point, out->high);
            }
            glm_vec3_minv(out->low, point, out->low);
            glm_vec3_maxv(out->high, point, out->high);
        }
    }
    return PELT_OK;
}

/* A unit vector from the caller's, or false if there is none. */
static bool direction_from(const float given[3], vec3 out)
{
    double length = sqrt((double)given[0] * given[0] + (double)given[1] * given[1] +
                         (double)given[2] * given[2]);
    if (!(length > 0.0) || !isfinite(length)) {
        return false;
    }
    for (int k = 0; k < 3; k++) {
        out[k] = (float)((double)given[k] / length);
    }
    return true;
}

static void direction_to(float azimuth, float elevation, vec3 out)
{
    glm_vec3_copy(
        (vec3){ sinf(azimuth) * cosf(elevation), sinf(elevation), cosf(azimuth) * cosf(elevation) },
        out);
}

/* Right and up of a view along -back; north is up when looking straight down. */
static void view_axes(vec3 back, vec3 right, vec3 up)
{
    vec3 vertical = { 0.0f, 1.0f, 0.0f };
    if (fabsf(back[1]) > 0.9999f) {
        glm_vec3_copy((vec3){ 0.0f, 0.0f, back[1] > 0.0f ? -1.0f : 1.0f }, vertical);
    }
    glm_vec3_crossn(vertical, back, right);
    glm_vec3_crossn(back, right, up);
}

/* glTF characters look along +Z: seen from there, a little from their left. One figure is met
 * almost at eye level, a crowd or a floor from above. */
static void choose_eye_direction(const point_set *set, vec3 out)
{
    vec3 size;
    glm_vec3_sub((float *)set->high, (float *)set->low, size);
    float width = fmaxf(size[0], size[2]);
    float flatness = glm_smoothstep(0.8f, 7.0f, width / fmaxf(size[1], 0.01f));
    direction_to(glm_rad(glm_lerp(27.0f, 15.0f, flatness)),
                 glm_rad(glm_lerp(11.0f, 27.0f, flatness)), out);
}

/* Moves the camera along its axes to the nearest place from which every point lies within the
 * slopes. For one pair of sides: |x - cx| <= slope (cz - z) for all points, so cx + slope cz is
 * at least the largest x + slope z, and slope cz - cx at least the largest slope z - x. */
static void fit_eye(const point_set *set, vec3 right, vec3 up, vec3 back, const float slope[2],
                    vec3 eye)
{
    float most[2] = { -FLT_MAX, -FLT_MAX }, least[2] = { -FLT_MAX, -FLT_MAX };
    for (size_t i = 0; i < set->count; i++) {
        float *p = set->points[i];
        const float across[2] = { glm_vec3_dot(right, p), glm_vec3_dot(up, p) };
        float z = glm_vec3_dot(back, p);
        for (int k = 0; k < 2; k++) {
            most[k] = fmaxf(most[k], slope[k] * z + across[k]);
            least[k] = fmaxf(least[k], slope[k] * z - across[k]);
        }
    }
    if (set->count == 0) {
        most[0] = most[1] = least[0] = least[1] = 1.0f;
    }
    float away =
        fmaxf((most[0] + least[0]) / (2.0f * slope[0]), (most[1] + least[1]) / (2.0f * slope[1]));
    /* A lone point needs no distance at all. */
    away = fmaxf(away, 0.05f);
    /* Of the room that is left above and below, two thirds become sky rather than floor. */
    float lift = (2.0f * slope[1] * away - most[1] - least[1]) / 6.0f;
    glm_vec3_scale(right, (most[0] - least[0]) * 0.5f, eye);
    glm_vec3_muladds(up, (most[1] - least[1]) * 0.5f + lift, eye);
    glm_vec3_muladds(back, away, eye);
}

/* Reversed depth without a far plane: 1 at near, 0 infinitely far away. */
static void perspective(float slope_x, float slope_y, float near, mat4 out)
{
    glm_mat4_zero(out);
    out[0][0] = 1.0f / slope_x;
    out[1][1] = -1.0f / slope_y; /* Vulkan's y points down */
    out[2][3] = -1.0f;
    out[3][2] = near;
}

static void fit_camera(const point_set *set, const pelt_render_scene *scene,
                       const pelt_framing *framing, struct pelt_frame *frame, vec3 back)
{
    if (!direction_from(scene->to_eye, back)) {
        choose_eye_direction(set, back);
    }
    vec3 right, up;
    view_axes(back, right, up);
    /* 27 degrees over the shorter side; very long pictures show less instead of bending. */
    float aspect = (float)framing->width / (float)framing->height;
    float half = tanf(glm_rad(13.5f));
    float longest = 2.4f * half;
    float slope[2] = { half * fmaxf(aspect, 1.0f), half * fmaxf(1.0f / aspect, 1.0f) };
    float shrink = fminf(1.0f, longest / fmaxf(slope[0], slope[1]));
    slope[0] *= shrink;
    slope[1] *= shrink;
    const float margin = 0.86f;
    const float inner[2] = { slope[0] * margin, slope[1] * margin };
    fit_eye(set, right, up, back, inner, frame->eye);

    float nearest = FLT_MAX;
    for (size_t i = 0; i < set->count; i++) {
        vec3 to_point;
        glm_vec3_sub(frame->eye, set->points[i], to_point);
        nearest = fminf(nearest, glm_vec3_dot(to_point, back));
    }
    nearest = set->count ? nearest : 1.0f;

    mat4 view, projection;
    vec3 target;
    glm_vec3_sub(frame->eye, back, target);
    glm_lookat(frame->eye, target, up, view);
    /* The ground in front comes nearer than the scene; this depth keeps its precision anyway. */
    float zoom = scene->zoom > 0.0f ? scene->zoom : 1.0f;
    perspective(slope[0] / zoom, slope[1] / zoom, fmaxf(nearest * 0.02f, 1e-5f), projection);
    glm_mat4_mul(projection, view, frame->camera);
}

static bool place_camera(const pelt_render_camera *camera, const pelt_framing *framing,
                         struct pelt_frame *frame, vec3 back)
{
    const float backward[3] = { (float)-camera->forward[0], (float)-camera->forward[1],
                                (float)-camera->forward[2] };
    float slope = (float)camera->slope, nearest = (float)camera->nearest * frame->origin[3];
    if (!direction_from(backward, back) || !(slope > 0.0f) || !(nearest > 0.0f)) {
        return false;
    }
    for (int k = 0; k < 3; k++) {
        frame->eye[k] = (float)((camera->eye[k] - frame->origin[k]) * frame->origin[3]);
    }
    vec3 right, up, target;
    view_axes(back, right, up);
    glm_vec3_sub(frame->eye, back, target);
    mat4 view, projection;
    glm_lookat(frame->eye, target, up, view);
    perspective(slope * (float)framing->width / (float)framing->height, slope, nearest, projection);
    glm_mat4_mul(projection, view, frame->camera);
    return true;
}

/* An orthographic view along -to_light that holds all points, turned by turn. Returns its area. */
static float fit_light(const point_set *set, vec3 to_light, float turn, uint32_t map_size, mat4 out,
                       vec3 size)
{
    vec3 right, up, axes[3];
    view_axes(to_light, right, up);
    glm_vec3_scale(right, cosf(turn), axes[0]);
    glm_vec3_muladds(up, sinf(turn), axes[0]);
    glm_vec3_negate_to(to_light, axes[2]);
    glm_vec3_cross(axes[2], axes[0], axes[1]);
    vec3 low, high;
    glm_vec3_fill(low, FLT_MAX);
    glm_vec3_fill(high, -FLT_MAX);
    for (size_t i = 0; i < set->count; i++) {
        for (int k = 0; k < 3; k++) {
            float along = glm_vec3_dot(axes[k], set->points[i]);
            low[k] = fminf(low[k], along);
            high[k] = fmaxf(high[k], along);
        }
    }
    if (set->count == 0) {
        glm_vec3_fill(low, -1.0f);
        glm_vec3_fill(high, 1.0f);
    }
    glm_mat4_identity(out);
    for (int k = 0; k < 3; k++) {
        /* Two texels of border; depth ends a little outside, so that what is cleared is farther
         * than everything. */
        float border = k < 2 ? 2.0f / (float)(map_size - 4) : 0.01f;
        float pad = fmaxf((high[k] - low[k]) * border, 1e-3f);
        low[k] -= pad;
        high[k] += pad;
        size[k] = high[k] - low[k];
        for (int column = 0; column < 3; column++) {
            out[column][k] = axes[k][column] / size[k];
        }
        out[3][k] = -low[k] / size[k];
    }
    return size[0] * size[1];
}

static void fit_sun(const point_set *set, const float to_sun[3], vec3 back,
                    const pelt_framing *framing, struct pelt_frame *frame)
{
    if (!direction_from(to_sun, frame->to_sun)) {
        /* From the side, but more from the front in upright pictures, which are too narrow for a
         * shadow that falls sideways. */
        float ratio = (float)framing->height / (float)framing->width;
        float uprightness = glm_smoothstep(1.0f, 2.0f, ratio);
        float azimuth = atan2f(back[0], back[2]) - glm_rad(glm_lerp(66.0f, 30.0f, uprightness));
        direction_to(azimuth, glm_rad(41.0f), frame->to_sun);
    }
    frame->to_sun[3] = tanf(glm_rad(1.6f));
    /* The turn about the light's axis that wastes least of the map. */
    enum { TURNS = 12 };
    float best_turn = 0.0f, best = FLT_MAX;
    mat4 light;
    vec3 size;
    for (int i = 0; i < TURNS; i++) {
        float turn = (float)i * (GLM_PI_2f / TURNS);
        float area = fit_light(set, frame->to_sun, turn, framing->sun_size, light, size);
        if (area < best) {
            best = area;
            best_turn = turn;
        }
    }
    fit_light(set, frame->to_sun, best_turn, framing->sun_size, frame->lights[PELT_VIEW_SUN], size);
    glm_vec4(size, fmaxf(size[0], size[1]) / (float)framing->sun_size, frame->sun_map);
}

/* Directions spread evenly over the upper half (Fibonacci's spiral), the lowest a little above the
 * horizon. */
static void fit_sky(const point_set *set, const pelt_framing *framing, struct pelt_frame *frame)
{
    float texel = 0.0f;
    for (uint32_t i = 0; i < framing->sky_count; i++) {
        float height = ((float)i + 0.5f) / (float)framing->sky_count;
        float angle = 2.39996323f * (float)i + 0.5f;
        float out = sqrtf(1.0f - height * height);
        glm_vec4_copy((vec4){ cosf(angle) * out, height, sinf(angle) * out, 0.0f }, frame->sky[i]);
        vec3 size;
        fit_light(set, frame->sky[i], 0.0f, framing->sky_size, frame->lights[PELT_VIEW_SKY + i],
                  size);
        texel = fmaxf(texel, fmaxf(size[0], size[1]) / (float)framing->sky_size);
    }
    /* Directions show as separate shadows unless each is soft: the softer, the fewer they are. */
    float blur = framing->sky_count < 24 ? 9.0f : 6.0f;

    glm_vec4_copy((vec4){ (float)framing->sky_count, texel, 1.0f / (float)framing->sky_size, blur },
                  frame->sky_map);
}

pelt_result pelt_render_frame_scene(const pelt_host *host, const pelt_render_scene *scene,
                                    const pelt_framing *framing, struct pelt_frame *frame)
{
    fit_origin(scene, frame->origin);
    point_set set;
    pelt_result result = collect_points(host, scene, frame->origin, &set);
    if (result != PELT_OK) {
        return result;
    }
    vec3 back;
    if (!scene->camera) {
        fit_camera(&set, scene, framing, frame, back);
    } else if (!place_camera(scene->camera, framing, frame, back)) {
        pelt_release(host, set.points);
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "a camera looks nowhere or sees nothing");
    }
    fit_sun(&set, scene->to_sun, back, framing, frame);
    fit_sky(&set, framing, frame);
    /* A hair below the lowest point, so that floors of the scene's own stay above it. */
    frame->ground[0] = set.low[1] - 1e-4f;
    frame->ground[1] = frame->eye[1] > frame->ground[0] ? 1.0f : 0.0f;
    frame->viewport[0] = (float)framing->width;
    frame->viewport[1] = (float)framing->height;
    pelt_release(host, set.points);
    return PELT_OK;
}
