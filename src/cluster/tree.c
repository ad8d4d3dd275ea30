/* A balanced tree of boxes: each node halves its triangles along its longest side. Nodes lie as in
 * a heap, and a node's triangles follow from its place, so only boxes are stored. */
#include "cluster/tree.h"

#include <math.h>
#include <string.h>

enum {
    LEAF_TRIANGLES = 4,
    LANES = 4,

    /* After so many leaves a search makes do with what it has. On surfaces it takes about ten;
     * among large triangles that all cross each other it would take all. */
    LEAVES_MAX = 128
};

/* A corner of a triangle, the sides from it, and their products: ab ab, ab ac, ac ac. */
typedef struct tree_triangle {
    float a[SPACE], ab[SPACE], ac[SPACE];
    double edges[3];
    uint32_t triangle;
} tree_triangle;

typedef struct tree_box {
    float min[SPACE], max[SPACE];
} tree_box;

struct triangle_tree {
    const pelt_host *host;
    uint32_t count;
    tree_triangle *triangles; /* those of a node next to each other */
    tree_box *boxes;          /* of each node */
};

/* In lanes that a compiler may make vectors of: sums of floats may not be reordered otherwise. */
static inline float dot(const float a[SPACE], const float b[SPACE])
{
    float sums[LANES] = { 0 };
    for (int i = 0; i < SPACE; i += LANES) {
        for (int lane = 0; lane < LANES; lane++) {
            sums[lane] += a[i + lane] * b[i + lane];
        }
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* Where one point of the triangle lies, a + u (b - a) + v (c - a), and how much nearer than a it
 * is, squared. */
typedef struct foot {
    double u, v, gain;
} foot;

/* Keeps the nearer one. */
static inline void try_foot(foot *best, double u, double v, const double edges[3],
                            const double along[2])
{
    double gain = 2.0 * (u * along[0] + v * along[1]) - u * u * edges[0] - 2.0 * u * v * edges[1] -
                  v * v * edges[2];
    if (gain > best->gain) {
        *best = (foot){ u, v, gain };
    }
}

static inline double clamp(double numerator, double denominator)
{
    return numerator <= 0.0 ? 0.0 : numerator >= denominator ? 1.0 : numerator / denominator;
}

/* Of the point nearest to another one. edges: products of the sides ab and ac, ab ab, ab ac, ac ac;
 * along: of them with the way from a to the other point. Where the other point's foot on the plane
 * is within the triangle, it; else the nearest of those on the sides. */
static inline foot find_foot(const double edges[3], const double along[2])
{
    foot best = { 0 };
    double u = along[0] * edges[2] - along[1] * edges[1];
    double v = along[1] * edges[0] - along[0] * edges[1];
    double area = edges[0] * edges[2] - edges[1] * edges[1];
    if (u >= 0.0 && v >= 0.0 && u + v < area) {
        try_foot(&best, u / area, v / area, edges, along);
    } else {
        try_foot(&best, clamp(along[0], edges[0]), 0.0, edges, along);
        try_foot(&best, 0.0, clamp(along[1], edges[2]), edges, along);
        double side = edges[0] - 2.0 * edges[1] + edges[2];
        double w = clamp(along[1] - along[0] + edges[0] - edges[1], side);
        try_foot(&best, 1.0 - w, w, edges, along);
    }
    return best;
}

double pelt_triangle_distance(const double point[3], const float *const corners[3])
{
    double edges[3] = { 0.0 }, along[2] = { 0.0 }, squared = 0.0;
    double a[3], ab[3], ac[3];
    for (int i = 0; i < 3; i++) {
        a[i] = corners[0][i];
        ab[i] = corners[1][i] - a[i];
        ac[i] = corners[2][i] - a[i];
        edges[0] += ab[i] * ab[i];
        edges[1] += ab[i] * ac[i];
        edges[2] += ac[i] * ac[i];
        along[0] += (point[i] - a[i]) * ab[i];
        along[1] += (point[i] - a[i]) * ac[i];
    }
    foot nearest = find_foot(edges, along);
    for (int i = 0; i < 3; i++) {
        double d = point[i] - (a[i] + nearest.u * ab[i] + nearest.v * ac[i]);
        squared += d * d;
    }
    return squared;
}

/* Three times the middle of a triangle, along one axis. */
static float middle(const tree_triangle *triangle, uint32_t axis)
{
    return 3.0f * triangle->a[axis] + triangle->ab[axis] + triangle->ac[axis];
}

/* Puts the lower half of the triangles from begin to end before the upper one: Hoare, Algorithm 65,
 * Find, 1961. */
static void halve(const triangle_tree *tree, int64_t begin, int64_t end, uint32_t axis)
{
    tree_triangle *triangles = tree->triangles;
    int64_t half = begin + (end - begin) / 2;
    while (end - begin > 1) {
        float pivot = middle(&triangles[begin + (end - begin) / 2], axis);
        int64_t low = begin, high = end - 1;
        while (low <= high) {
            while (middle(&triangles[low], axis) < pivot) {
                low++;
            }
            while (middle(&triangles[high], axis) > pivot) {
                high--;
            }
            if (low <= high) {
                tree_triangle swapped = triangles[low];
                triangles[low++] = triangles[high];
                triangles[high--] = swapped;
            }
        }
        if (half <= high) {
            end = high + 1;
        } else if (half >= low) {
            begin = low;
        } else {
            break;
        }
    }
}

static void build(triangle_tree *tree, size_t node, uint32_t begin, uint32_t end)
{
    tree_box *box = &tree->boxes[node];
    for (int i = 0; i < SPACE; i++) {
        box->min[i] = INFINITY;
        box->max[i] = -INFINITY;
    }
    for (uint32_t t = begin; t < end; t++) {
        const tree_triangle *triangle = &tree->triangles[t];
        for (int i = 0; i < SPACE; i++) {
            float a = triangle->a[i], b = a + triangle->ab[i], c = a + triangle->ac[i];
            float low = a < b ? a : b, high = a < b ? b : a;
            low = c < low ? c : low;
            high = c > high ? c : high;
            box->min[i] = low < box->min[i] ? low : box->min[i];
            box->max[i] = high > box->max[i] ? high : box->max[i];
        }
    }
    if (end - begin <= LEAF_TRIANGLES) {
        return;
    }
    uint32_t longest = 0;
    for (uint32_t i = 1; i < SPACE; i++) {
        longest = box->max[i] - box->min[i] > box->max[longest] - box->min[longest] ? i : longest;
    }
    halve(tree, begin, end, longest);
    uint32_t half = begin + (end - begin) / 2;
    build(tree, 2 * node + 1, begin, half);
    build(tree, 2 * node + 2, half, end);
}

pelt_result pelt_tree_create(const pelt_host *host, const triangle_list *triangles,
                             const float *space, triangle_tree **out)
{
    size_t nodes = 1;
    for (uint32_t most = triangles->count; most > LEAF_TRIANGLES; most = most / 2 + most % 2) {
        nodes = 2 * nodes + 1;
    }
    triangle_tree *tree = pelt_allocate(host, 1, sizeof(*tree));
    *out = tree;
    if (tree) {
        tree->host = host;
        tree->count = triangles->count;
        tree->triangles = pelt_allocate(host, triangles->count, sizeof(*tree->triangles));
        tree->boxes = pelt_allocate(host, nodes, sizeof(*tree->boxes));
    }
    if (!tree || !tree->triangles || !tree->boxes) {
        pelt_tree_destroy(tree);
        *out = NULL;
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory to search %u triangles",
                         triangles->count);
    }
    for (uint32_t t = 0; t < triangles->count; t++) {
        const uint32_t *corners = triangles->corners + 3 * (size_t)t;
        tree_triangle *triangle = &tree->triangles[t];
        triangle->triangle = t;
        for (size_t i = 0; i < SPACE; i++) {
            triangle->a[i] = space[SPACE * (size_t)corners[0] + i];
            triangle->ab[i] = space[SPACE * (size_t)corners[1] + i] - triangle->a[i];
            triangle->ac[i] = space[SPACE * (size_t)corners[2] + i] - triangle->a[i];
        }
        triangle->edges[0] = dot(triangle->ab, triangle->ab);
        triangle->edges[1] = dot(triangle->ab, triangle->ac);
        triangle->edges[2] = dot(triangle->ac, triangle->ac);
    }
    build(tree, 0, 0, triangles->count);
    return PELT_OK;
}

void pelt_tree_destroy(triangle_tree *tree)
{
    if (!tree) {
        return;
    }
    pelt_release(tree->host, tree->triangles);
    pelt_release(tree->host, tree->boxes);
    pelt_release(tree->host, tree);
}

/* The best so far, nearest first. */
typedef struct search {
    const triangle_tree *tree;
    const float *point;
    uint32_t leaves; /* looked at */
    uint32_t count;
    uint32_t triangles[NEAREST_COUNT];
    double squared[NEAREST_COUNT];
} search;

/* Beyond which nothing is looked for any more. */
static double limit(const search *s)
{
    if (s->leaves >= LEAVES_MAX) {
        return -1.0;
    }
    return s->count < NEAREST_COUNT ? INFINITY : s->squared[NEAREST_COUNT - 1];
}

static double box_distance(const search *s, size_t node)
{
    const tree_box *box = &s->tree->boxes[node];
    float outside[SPACE];
    for (int i = 0; i < SPACE; i++) {
        float below = box->min[i] - s->point[i], above = s->point[i] - box->max[i];
        float larger = below > above ? below : above;
        outside[i] = larger > 0.0f ? larger : 0.0f;
    }
    return dot(outside, outside);
}

static void try_triangle(search *s, const tree_triangle *triangle)
{
    float way[SPACE];
    for (int i = 0; i < SPACE; i++) {
        way[i] = s->point[i] - triangle->a[i];
    }
    const double along[2] = { dot(way, triangle->ab), dot(way, triangle->ac) };
    double squared = dot(way, way) - find_foot(triangle->edges, along).gain;
    if (!(squared < limit(s))) {
        return;
    }
    s->count += s->count < NEAREST_COUNT;
    uint32_t at = s->count - 1;
    for (; at > 0 && s->squared[at - 1] > squared; at--) {
        s->squared[at] = s->squared[at - 1];
        s->triangles[at] = s->triangles[at - 1];
    }
    s->squared[at] = squared;
    s->triangles[at] = triangle->triangle;
}

static void descend(search *s, size_t node, uint32_t begin, uint32_t end)
{
    if (end - begin <= LEAF_TRIANGLES) {
        for (uint32_t t = begin; t < end; t++) {
            try_triangle(s, &s->tree->triangles[t]);
        }
        s->leaves++;
        return;
    }
    uint32_t half = begin + (end - begin) / 2;
    double left = box_distance(s, 2 * node + 1), right = box_distance(s, 2 * node + 2);
    for (int turn = 0; turn < 2; turn++) {
        if ((left <= right) == (turn == 0)) {
            if (left < limit(s)) {
                descend(s, 2 * node + 1, begin, half);
            }
        } else if (right < limit(s)) {
            descend(s, 2 * node + 2, half, end);
        }
    }
}

void pelt_tree_nearest(const triangle_tree *tree, const float point[SPACE],
                       uint32_t found[NEAREST_COUNT])
{
    search s = { .tree = tree, .point = point };
    descend(&s, 0, 0, tree->count);
    for (uint32_t i = 0; i < NEAREST_COUNT; i++) {
        found[i] = s.count == 0 ? 0 : s.triangles[i < s.count ? i : s.count - 1];
    }
}
