/* Edge collapse by quadric error: Garland and Heckbert, Surface simplification using quadric error
 * metrics (1997). The link condition (two common neighbours, no more) keeps the surface a closed
 * manifold; a collapse that would turn a triangle over is refused. */
#include "sample/surface.h"

#include "base/base.h"

#include <float.h>

enum { NONE = UINT32_MAX, NEIGHBOURS_MAX = 24 };

/* x' A x + 2 b' x + c, the weighted sum of squared distances to planes. */
typedef struct quadric {
    double xx, xy, xz, yy, yz, zz;
    vec3 b;
    double c;
} quadric;

typedef struct candidate {
    double cost;
    uint32_t a, b;
    uint32_t age; /* of both vertices together, when the cost was computed */
} candidate;

typedef struct simplifier {
    const pelt_host *host;
    fox_surface *surface;
    quadric *quadrics;
    uint32_t *first; /* vertex -> its first corner */
    uint32_t *next;  /* corner -> the vertex's next corner; corners of dead triangles remain */
    uint32_t *ages;  /* vertex -> changes so far; NONE: gone */
    uint32_t heap_count, heap_capacity;
    candidate *heap;
} simplifier;

static void add_plane(quadric *q, vec3 n, vec3 point, double weight)
{
    double d = -v3_dot(n, point);
    q->xx += weight * n.x * n.x;
    q->xy += weight * n.x * n.y;
    q->xz += weight * n.x * n.z;
    q->yy += weight * n.y * n.y;
    q->yz += weight * n.y * n.z;
    q->zz += weight * n.z * n.z;
    q->b = v3_along(q->b, n, weight * d);
    q->c += weight * d * d;
}

static quadric add_quadrics(const quadric *p, const quadric *q)
{
    return (quadric){ p->xx + q->xx, p->xy + q->xy, p->xz + q->xz,      p->yy + q->yy,
                      p->yz + q->yz, p->zz + q->zz, v3_add(p->b, q->b), p->c + q->c };
}

static vec3 quadric_times(const quadric *q, vec3 x)
{
    return v3(q->xx * x.x + q->xy * x.y + q->xz * x.z, q->xy * x.x + q->yy * x.y + q->yz * x.z,
              q->xz * x.x + q->yz * x.y + q->zz * x.z);
}

static double quadric_error(const quadric *q, vec3 x)
{
    return v3_dot(x, v3_along(quadric_times(q, x), q->b, 2.0)) + q->c;
}

/* Where the error is least: A x = -b by Cramer's rule; the middle where A is near singular. */
static vec3 best_position(const quadric *q, vec3 middle, double length)
{
    vec3 r0 = v3(q->xx, q->xy, q->xz), r1 = v3(q->xy, q->yy, q->yz), r2 = v3(q->xz, q->yz, q->zz);
    double trace = q->xx + q->yy + q->zz;
    double determinant = v3_dot(r0, v3_cross(r1, r2));
    if (!(determinant > 1e-4 * trace * trace * trace)) {
        return middle;
    }
    vec3 g = v3_add(quadric_times(q, middle), q->b);
    vec3 shift = v3_add(v3_add(v3_scale(v3_cross(r1, r2), g.x), v3_scale(v3_cross(r2, r0), g.y)),
                        v3_scale(v3_cross(r0, r1), g.z));
    shift = v3_scale(shift, -1.0 / determinant);
    return v3_length(shift) < length ? v3_add(middle, shift) : middle;
}

static const uint32_t *triangle_of(const simplifier *s, uint32_t corner)
{
    return s->surface->indices + corner / 3 * 3;
}

static bool alive(const uint32_t *triangle)
{
    return triangle[0] != NONE;
}

static bool has(const uint32_t *triangle, uint32_t v)
{
    return triangle[0] == v || triangle[1] == v || triangle[2] == v;
}

/* The vertices around v; 0 if there are more than NEIGHBOURS_MAX. */
static int neighbours(const simplifier *s, uint32_t v, uint32_t out[NEIGHBOURS_MAX])
{
    int count = 0;
    for (uint32_t c = s->first[v]; c != NONE; c = s->next[c]) {
        const uint32_t *triangle = triangle_of(s, c);
        if (!alive(triangle)) {
            continue;
        }
        if (count == NEIGHBOURS_MAX) {
            return 0;
        }
        /* In a closed fan every neighbour follows v exactly once. */
        out[count++] = triangle[(c + 1) % 3];
    }
    return count;
}

static double merged(const simplifier *s, uint32_t a, uint32_t b, vec3 *position)
{
    const vec3 *p = s->surface->positions;
    quadric q = add_quadrics(&s->quadrics[a], &s->quadrics[b]);
    double length = v3_distance(p[a], p[b]);
    *position = best_position(&q, v3_mix(p[a], p[b], 0.5), length);
    /* The length keeps triangles from growing without end where the surface is flat. */
    return quadric_error(&q, *position) + 1e-3 * length * length * length * length;
}

static bool before(const candidate *a, const candidate *b)
{
    return a->cost < b->cost;
}

static bool push(simplifier *s, uint32_t a, uint32_t b)
{
    if (s->heap_count == s->heap_capacity) {
        uint32_t capacity = s->heap_capacity ? 2 * s->heap_capacity : 1 << 14;
        candidate *heap = pelt_reallocate(s->host, s->heap, capacity * sizeof(*heap));
        if (!heap) {
            return false;
        }
        s->heap = heap;
        s->heap_capacity = capacity;
    }
    vec3 position;
    candidate new = { merged(s, a, b, &position), a, b, s->ages[a] + s->ages[b] };
    uint32_t i = s->heap_count++;
    for (; i > 0 && before(&new, &s->heap[(i - 1) / 2]); i = (i - 1) / 2) {
        s->heap[i] = s->heap[(i - 1) / 2];
    }
    s->heap[i] = new;
    return true;
}

static candidate pop(simplifier *s)
{
    candidate top = s->heap[0], last = s->heap[--s->heap_count];
    uint32_t i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child + 1 < s->heap_count && before(&s->heap[child + 1], &s->heap[child])) {
            ++child;
        }
        if (child >= s->heap_count || !before(&s->heap[child], &last)) {
            break;
        }
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = last;
    return top;
}

static bool links_meet_twice(const simplifier *s, uint32_t a, uint32_t b)
{
    uint32_t around_a[NEIGHBOURS_MAX], around_b[NEIGHBOURS_MAX];
    int count_a = neighbours(s, a, around_a), count_b = neighbours(s, b, around_b);
    if (count_a == 0 || count_b == 0 || count_a + count_b - 4 > 11 || count_a + count_b - 4 < 3) {
        return false;
    }
    int common = 0;
    for (int i = 0; i < count_a; ++i) {
        for (int k = 0; k < count_b; ++k) {
            common += around_a[i] == around_b[k];
        }
    }
    return common == 2;
}

/* Whether v's triangles, but those it shares with other, keep their side and some width when v
 * moves. */
static bool stays_upright(const simplifier *s, uint32_t v, uint32_t other, vec3 position)
{
    const vec3 *p = s->surface->positions;
    for (uint32_t c = s->first[v]; c != NONE; c = s->next[c]) {
        const uint32_t *triangle = triangle_of(s, c);
        if (!alive(triangle) || has(triangle, other)) {
            continue;
        }
        vec3 b = p[triangle[(c + 1) % 3]], d = p[triangle[(c + 2) % 3]];
        vec3 old = v3_cross(v3_sub(b, p[v]), v3_sub(d, p[v]));
        vec3 new = v3_cross(v3_sub(b, position), v3_sub(d, position));
        double longest =
            fmax(v3_distance(b, d), fmax(v3_distance(b, position), v3_distance(d, position)));
        if (v3_dot(old, new) < 0.4 * v3_length(old) * v3_length(new) ||
            v3_length(new) < 0.15 * longest * longest) {
            return false;
        }
    }
    return true;
}

/* b becomes a. */
static bool collapse(simplifier *s, uint32_t a, uint32_t b, vec3 position)
{
    uint32_t last = s->first[a];
    while (s->next[last] != NONE) {
        last = s->next[last];
    }
    for (uint32_t c = s->first[b]; c != NONE; c = s->next[c]) {
        uint32_t *triangle = s->surface->indices + c / 3 * 3;
        if (alive(triangle) && has(triangle, a)) {
            triangle[0] = NONE;
        } else if (alive(triangle)) {
            triangle[c % 3] = a;
        }
    }
    s->next[last] = s->first[b];
    s->first[b] = NONE;
    s->ages[b] = NONE;
    ++s->ages[a];
    s->surface->positions[a] = position;
    s->quadrics[a] = add_quadrics(&s->quadrics[a], &s->quadrics[b]);

    uint32_t around[NEIGHBOURS_MAX];
    int count = neighbours(s, a, around);
    for (int i = 0; i < count; ++i) {
        if (!push(s, a, around[i])) {
            return false;
        }
    }
    return true;
}

static bool start(simplifier *s)
{
    const fox_surface *surface = s->surface;
    s->quadrics = pelt_allocate(s->host, surface->vertex_count, sizeof(*s->quadrics));
    s->first = pelt_allocate(s->host, surface->vertex_count, sizeof(*s->first));
    s->ages = pelt_allocate(s->host, surface->vertex_count, sizeof(*s->ages));
    s->next = pelt_allocate(s->host, surface->index_count, sizeof(*s->next));
    if (!s->quadrics || !s->first || !s->ages || !s->next) {
        return false;
    }
    for (uint32_t v = 0; v < surface->vertex_count; ++v) {
        s->first[v] = NONE;
    }
    for (uint32_t c = 0; c < surface->index_count; ++c) {
        const uint32_t *t = triangle_of(s, c);
        const vec3 *p = surface->positions;
        vec3 n = v3_cross(v3_sub(p[t[1]], p[t[0]]), v3_sub(p[t[2]], p[t[0]]));
        add_plane(&s->quadrics[t[c % 3]], v3_unit(n, v3(0, 1, 0)), p[t[0]], v3_length(n) / 2.0);
        s->next[c] = s->first[t[c % 3]];
        s->first[t[c % 3]] = c;
    }
    for (uint32_t c = 0; c < surface->index_count; ++c) {
        uint32_t a = surface->indices[c], b = surface->indices[c / 3 * 3 + (c + 1) % 3];
        if (a < b && !push(s, a, b)) {
            return false;
        }
    }
    return true;
}

/* Closes the gaps that dead triangles and vertices left. */
static void compact(simplifier *s)
{
    fox_surface *surface = s->surface;
    uint32_t vertices = 0, indices = 0;
    for (uint32_t v = 0; v < surface->vertex_count; ++v) {
        if (s->ages[v] != NONE) {
            surface->positions[vertices] = surface->positions[v];
            s->first[v] = vertices++;
        }
    }
    for (uint32_t t = 0; t < surface->index_count; t += 3) {
        if (alive(surface->indices + t)) {
            for (uint32_t k = 0; k < 3; ++k) {
                surface->indices[indices++] = s->first[surface->indices[t + k]];
            }
        }
    }
    surface->vertex_count = vertices;
    surface->index_count = indices;
}

pelt_result pelt_sample_surface_simplify(fox_surface *surface, uint32_t vertex_count)
{
    simplifier s = { .host = surface->host, .surface = surface };
    pelt_result result = start(&s) ? PELT_OK : PELT_ERROR_MEMORY;
    uint32_t left = surface->vertex_count;
    while (result == PELT_OK && left > vertex_count && s.heap_count > 0) {
        candidate edge = pop(&s);
        if (s.ages[edge.a] == NONE || s.ages[edge.b] == NONE ||
            s.ages[edge.a] + s.ages[edge.b] != edge.age) {
            continue;
        }
        vec3 position;
        (void)merged(&s, edge.a, edge.b, &position);
        if (!links_meet_twice(&s, edge.a, edge.b) || !stays_upright(&s, edge.a, edge.b, position) ||
            !stays_upright(&s, edge.b, edge.a, position)) {
            continue;
        }
        if (!collapse(&s, edge.a, edge.b, position)) {
            result = PELT_ERROR_MEMORY;
        }
        --left;
    }
    if (result == PELT_OK) {
        compact(&s);
    }
    pelt_release(s.host, s.quadrics);
    pelt_release(s.host, s.first);
    pelt_release(s.host, s.next);
    pelt_release(s.host, s.ages);
    pelt_release(s.host, s.heap);
    return result;
}
