#include "sample/face.h"

#include "sample/paint.h"

#include "base/base.h"

/* Below this many vertices the eyes have to do. */
enum { DETAIL_VERTICES = 1000 };

/* An ellipse of vertices: center + u cos + v sin. */
typedef struct face_ring {
    vec3 center, u, v;
} face_ring;

/* Makes room for a surface of rings x segments vertices and two poles. */
static bool reserve(fox_face *face, uint32_t rings, uint32_t segments)
{
    uint32_t vertices = face->vertex_count + rings * segments + 2;
    uint32_t indices = face->index_count + 6 * rings * segments;
    vec3 **arrays[3] = { &face->positions, &face->normals, &face->colors };
    for (int i = 0; i < 3; ++i) {
        vec3 *grown = pelt_reallocate(face->host, *arrays[i], vertices * sizeof(*grown));
        if (!grown) {
            return false;
        }
        *arrays[i] = grown;
    }
    uint32_t *grown = pelt_reallocate(face->host, face->indices, indices * sizeof(*grown));
    if (!grown) {
        return false;
    }
    face->indices = grown;
    return true;
}

static void add_vertex(fox_face *face, vec3 position, vec3 color)
{
    face->positions[face->vertex_count] = position;
    face->normals[face->vertex_count] = v3(0, 0, 0);
    face->colors[face->vertex_count++] = color;
}

static void add_triangle(fox_face *face, uint32_t a, uint32_t b, uint32_t c)
{
    const vec3 *p = face->positions;
    vec3 normal = v3_cross(v3_sub(p[b], p[a]), v3_sub(p[c], p[a]));
    const uint32_t corners[3] = { a, b, c };
    for (int i = 0; i < 3; ++i) {
        face->indices[face->index_count++] = corners[i];
        face->normals[corners[i]] = v3_add(face->normals[corners[i]], normal);
    }
}

/* Closes the rings' vertices, all added already after the first pole and before the last, to a
 * surface. u x v points from the first pole to the last. */
static void close_rings(fox_face *face, uint32_t first, uint32_t rings, uint32_t segments)
{
    uint32_t last = first + 1 + rings * segments;
    for (uint32_t s = 0; s < segments; ++s) {
        uint32_t next = (s + 1) % segments;
        add_triangle(face, first, first + 1 + next, first + 1 + s);
        for (uint32_t r = 0; r + 1 < rings; ++r) {
            uint32_t a = first + 1 + r * segments;
            add_triangle(face, a + s, a + next, a + segments + next);
            add_triangle(face, a + s, a + segments + next, a + segments + s);
        }
        add_triangle(face, last, last - segments + s, last - segments + next);
    }
    for (uint32_t v = first; v <= last; ++v) {
        face->normals[v] = v3_unit(face->normals[v], v3(0, 0, 1));
    }
    ++face->part_count;
}

static void add_ring(fox_face *face, face_ring ring, uint32_t segments, vec3 color)
{
    for (uint32_t s = 0; s < segments; ++s) {
        double angle = 2.0 * PELT_SAMPLE_PI * s / segments;
        vec3 position = v3_along(ring.center, ring.u, cos(angle));
        add_vertex(face, v3_along(position, ring.v, sin(angle)), color);
    }
}

/* Where something sits on the head. */
typedef struct face_seat {
    vec3 center, side, up, front;
} face_seat;

/* The surface where a ray from the front first meets it. */
static vec3 hit_from_front(const fox_shape *shape, double x, double y)
{
    vec3 p = v3(x, y, pelt_sample_shape_max(shape).z);
    for (int i = 0; i < 100; ++i) {
        p.z -= pelt_sample_shape_distance(shape, p);
    }
    return p;
}

static face_seat find_seat(const fox_shape *shape, double x, double y)
{
    face_seat seat = { .center = hit_from_front(shape, x, y) };
    vec3 gradient;
    (void)pelt_sample_shape_gradient(shape, seat.center, &gradient);
    seat.front = v3_unit(gradient, v3(0, 0, 1));
    seat.up = v3_unit(v3_reject(v3(0, 1, 0), seat.front), v3(0, 1, 0));
    seat.side = v3_cross(seat.up, seat.front);
    return seat;
}

/* An ellipsoid with its first pole in front. Its colour runs from one below to another above. */
static bool add_ellipsoid(fox_face *face, const face_seat *seat, vec3 radii, uint32_t segments,
                          vec3 below, vec3 above)
{
    uint32_t rings = segments / 2;
    if (!reserve(face, rings, segments)) {
        return false;
    }
    uint32_t first = face->vertex_count;
    add_vertex(face, v3_along(seat->center, seat->front, radii.z), above);
    for (uint32_t r = 0; r < rings; ++r) {
        double polar = PELT_SAMPLE_PI * (r + 1) / (rings + 1);
        face_ring ring = { v3_along(seat->center, seat->front, radii.z * cos(polar)),
                           v3_scale(seat->up, radii.y * sin(polar)),
                           v3_scale(seat->side, radii.x * sin(polar)) };
        uint32_t start = face->vertex_count;
        add_ring(face, ring, segments, above);
        /* Only well within the rim, so that the eye keeps a dark outline. */
        double within = smooth_step(1.35, 1.05, polar);
        for (uint32_t v = start; v < face->vertex_count; ++v) {
            vec3 offset = v3_sub(face->positions[v], seat->center);
            double height = v3_dot(offset, seat->up) / radii.y;
            face->colors[v] = v3_mix(above, below, within * smooth_step(-.1, -.75, height));
        }
    }
    add_vertex(face, v3_along(seat->center, seat->front, -radii.z), above);
    close_rings(face, first, rings, segments);
    return true;
}

static bool add_eye(fox_face *face, const fox_shape *shape, double x, uint32_t segments,
                    bool detailed)
{
    face_seat eye = find_seat(shape, x, .995);
    vec3 radii = v3(.036, .047, .022);
    eye.center = v3_along(eye.center, eye.front, -.006);
    if (!add_ellipsoid(face, &eye, radii, segments, pelt_sample_color(0x8a4a1c),
                       pelt_sample_color(0x1a0f0e))) {
        return false;
    }
    if (!detailed) {
        return true;
    }
    /* Two lights, on the same side of both eyes. */
    const vec3 white = v3(1, 1, 1);
    const double places[2][3] = { { .34, .40, .0125 }, { -.36, -.38, .006 } };
    for (int i = 0; i < 2; ++i) {
        double u = places[i][0], v = places[i][1], size = places[i][2];
        face_seat light = eye;
        light.center = v3_along(light.center, eye.side, u * radii.x);
        light.center = v3_along(light.center, eye.up, v * radii.y);
        light.center = v3_along(light.center, eye.front, radii.z * sqrt(1.0 - u * u - v * v));
        vec3 n = v3_scale(eye.side, u / radii.x);
        n = v3_along(n, eye.up, v / radii.y);
        n = v3_along(n, eye.front, sqrt(1.0 - u * u - v * v) / radii.z);
        light.front = v3_unit(n, eye.front);
        light.up = v3_unit(v3_reject(eye.up, light.front), eye.up);
        light.side = v3_cross(light.up, light.front);
        uint32_t fewer = segments / 2 > 6 ? segments / 2 : 6;
        if (!add_ellipsoid(face, &light, v3(size, size * 1.1, size * .25), fewer, white, white)) {
            return false;
        }
    }
    return true;
}

/* A line on the surface, thickest in its middle; y runs through three heights over x from one to
 * the other. */
static bool add_line(fox_face *face, const fox_shape *shape, vec3 from, vec3 middle, vec3 to,
                     double thickness, uint32_t segments, uint32_t color)
{
    uint32_t rings = segments, around = segments / 3 > 5 ? segments / 3 : 5;
    if (!reserve(face, rings, around)) {
        return false;
    }
    vec3 paint = pelt_sample_color(color);
    uint32_t first = face->vertex_count;
    for (uint32_t r = 0; r < rings + 2; ++r) {
        /* Quadratic through the three points, at even steps of t. */
        double t = (double)r / (rings + 1), bulge = 4.0 * t * (1.0 - t);
        vec3 chord = v3_mix(from, to, t);
        vec3 bend = v3_sub(middle, v3_mix(from, to, 0.5));
        vec3 flat = v3_along(chord, bend, bulge);
        vec3 p = hit_from_front(shape, flat.x, flat.y);
        if (r == 0 || r == rings + 1) {
            add_vertex(face, p, paint);
            continue;
        }
        vec3 gradient;
        (void)pelt_sample_shape_gradient(shape, p, &gradient);
        vec3 n = v3_unit(gradient, v3(0, 0, 1));
        vec3 slope = v3_along(v3_sub(to, from), bend, 4.0 - 8.0 * t);
        vec3 ahead = v3_unit(v3_reject(v3(slope.x, slope.y, 0), n), v3(1, 0, 0));
        double radius = thickness * (.55 + .45 * bulge) * sqrt(fmin(1.0, 4.0 * bulge));
        face_ring ring = { p, v3_scale(n, .7 * radius), v3_scale(v3_cross(ahead, n), radius) };
        add_ring(face, ring, around, paint);
    }
    close_rings(face, first, rings, around);
    return true;
}

pelt_result pelt_sample_face_create(const pelt_host *host, const fox_shape *shape,
                                    uint32_t vertex_count, fox_face *out)
{
    *out = (fox_face){ .host = host };
    bool detailed = vertex_count >= DETAIL_VERTICES;
    uint32_t segments = (uint32_t)(0.2 * sqrt(vertex_count));
    segments = segments < 6 ? 6 : segments > 48 ? 48 : segments;
    bool ok = add_eye(out, shape, .088, segments, detailed) &&
              add_eye(out, shape, -.088, segments, detailed);
    if (ok && detailed) {
        const uint32_t dark = 0x2b1816;
        ok = add_line(out, shape, v3(-.062, .893, 0), v3(0, .868, 0), v3(.062, .893, 0), .0055,
                      segments, dark) &&
             add_line(out, shape, v3(.055, 1.068, 0), v3(.088, 1.082, 0), v3(.122, 1.072, 0), .0085,
                      segments, dark) &&
             add_line(out, shape, v3(-.122, 1.072, 0), v3(-.088, 1.082, 0), v3(-.055, 1.068, 0),
                      .0085, segments, dark);
    }
    if (!ok) {
        pelt_sample_face_destroy(out);
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for the face");
    }
    return PELT_OK;
}

void pelt_sample_face_destroy(fox_face *face)
{
    pelt_release(face->host, face->positions);
    pelt_release(face->host, face->normals);
    pelt_release(face->host, face->colors);
    pelt_release(face->host, face->indices);
    *face = (fox_face){ .host = face->host };
}
