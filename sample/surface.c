/* Dual contouring of the signs on a grid: a vertex for every sheet of surface through a cell, a
 * quadrilateral across every grid edge whose ends differ in sign. An octree finds the cells: the
 * field changes by no more than the way, so a cube with |F| at its centre above half its diagonal
 * holds no surface, and the work is proportional to the surface.
 *
 * Cells with ambiguous faces follow Wenger, Isosurfaces (2013), 3.5: faces separate their inside
 * corners, and where two cells that meet at an ambiguous face would both connect its edges, both
 * take the other choice. Every edge of the result then has exactly two faces. */
#include "sample/surface.h"

#include "base/base.h"

#include <string.h>

enum { LEAF = 4, EDGES = 12, BASE_VERTICES = 16000 };

/* Corner i of a cell: bits 0, 1, 2 for x, y, z. Edge: 4 axis + bits for the two axes after it. */
typedef struct sheet_table {
    int8_t of_edge[EDGES]; /* which sheet crosses the edge, -1: none */
    int8_t count;
    int doubtful_face; /* the only ambiguous one, where one sheet has all four edges; or -1 */
} sheet_table;

typedef struct surface_cell {
    uint64_t key;      /* x, y, z in 21 bits each */
    float center[3];   /* mean of the edge crossings */
    uint32_t vertex;   /* its first */
    uint8_t signs;     /* bit i: corner i is inside */
    uint8_t other_way; /* takes the other choice on its ambiguous face */
} surface_cell;

typedef struct polygoniser {
    const pelt_host *host;
    const fox_shape *shape;
    sheet_table tables[2][256]; /* [other_way] */
    vec3 origin;
    double step;
    uint32_t cell_count, cell_capacity;
    surface_cell *cells;
    bool out_of_memory;
    uint32_t slot_count; /* a power of two */
    uint32_t *slots;     /* cell + 1, 0: empty */
    uint32_t vertex_count;
    uint32_t quad_count;
    uint32_t *quads;
} polygoniser;

static int edge_corner(int edge, int end)
{
    int axis = edge / 4, b = (axis + 1) % 3, c = (axis + 2) % 3;
    return (edge & 1) << b | (edge >> 1 & 1) << c | end << axis;
}

static int edge_of(int axis, int corner)
{
    int b = (axis + 1) % 3, c = (axis + 2) % 3;
    return axis * 4 + (corner >> b & 1) + 2 * (corner >> c & 1);
}

static bool crosses(int signs, int edge)
{
    return ((signs >> edge_corner(edge, 0)) & 1) != ((signs >> edge_corner(edge, 1)) & 1);
}

static void join(int8_t label[EDGES], int a, int b)
{
    int8_t from = label[b], to = label[a];
    for (int e = 0; e < EDGES; ++e) {
        label[e] = label[e] == from ? to : label[e];
    }
}

/* Connects the crossed edges of a face (2 axis + side): two with each other; of four, those around
 * each corner that is inside, or outside the other way. Returns whether there are four. */
static bool join_face(int signs, int face, bool other_way, int8_t label[EDGES])
{
    int axis = face / 2, side = face % 2, b = (axis + 1) % 3, c = (axis + 2) % 3;
    int crossed[4], count = 0;
    for (int i = 0; i < 4; ++i) {
        int corner = side << axis | (i / 2 ? i % 2 << b : i % 2 << c);
        int edge = edge_of(i / 2 ? c : b, corner);
        if (crosses(signs, edge)) {
            crossed[count++] = edge;
        }
    }
    if (count == 2) {
        join(label, crossed[0], crossed[1]);
    }
    for (int i = 0; count == 4 && i < 4; ++i) {
        int corner = side << axis | (i % 2) << b | (i / 2) << c;
        if ((signs >> corner & 1) != (int)other_way) {
            join(label, edge_of(b, corner), edge_of(c, corner));
        }
    }
    return count == 4;
}

static sheet_table find_sheets(int signs, bool other_way)
{
    sheet_table s = { .count = 0, .doubtful_face = -1 };
    int8_t label[EDGES];
    for (int e = 0; e < EDGES; ++e) {
        label[e] = (int8_t)e;
    }
    int ambiguous = 0, last = 0;
    for (int face = 0; face < 6; ++face) {
        if (join_face(signs, face, other_way, label)) {
            ++ambiguous;
            last = face;
        }
    }
    int8_t number[EDGES];
    memset(number, -1, sizeof(number));
    for (int e = 0; e < EDGES; ++e) {
        s.of_edge[e] = -1;
        if (crosses(signs, e)) {
            if (number[label[e]] < 0) {
                number[label[e]] = s.count++;
            }
            s.of_edge[e] = number[label[e]];
        }
    }
    if (ambiguous == 1) {
        int axis = last / 2, corner = last % 2 << axis, b = (axis + 1) % 3, c = (axis + 2) % 3;
        int8_t first = s.of_edge[edge_of(b, corner)];
        bool one = first == s.of_edge[edge_of(b, corner | 1 << c)] &&
                   first == s.of_edge[edge_of(c, corner)] &&
                   first == s.of_edge[edge_of(c, corner | 1 << b)];
        s.doubtful_face = one ? last : -1;
    }
    return s;
}

static uint64_t cell_key(uint32_t x, uint32_t y, uint32_t z)
{
    return (uint64_t)x | (uint64_t)y << 21 | (uint64_t)z << 42;
}

/* What a step along an axis adds to a key. */
static uint64_t key_step(int axis)
{
    return (uint64_t)1 << (21 * axis);
}

static vec3 grid_point(const polygoniser *p, uint32_t x, uint32_t y, uint32_t z)
{
    return v3_along(p->origin, v3(x, y, z), p->step);
}

/* The mean of the points where the field is zero on the edges of one sheet (-1: of all). */
static vec3 mean_crossing(const sheet_table *sheets, const double values[8], int sheet)
{
    vec3 sum = v3(0, 0, 0);
    int count = 0;
    for (int e = 0; e < EDGES; ++e) {
        if (sheets->of_edge[e] < 0 || (sheet >= 0 && sheets->of_edge[e] != sheet)) {
            continue;
        }
        int a = edge_corner(e, 0), b = edge_corner(e, 1);
        double t = values[a] / (values[a] - values[b]);
        vec3 from = v3(a & 1, a >> 1 & 1, a >> 2), to = v3(b & 1, b >> 1 & 1, b >> 2);
        sum = v3_add(sum, v3_mix(from, to, t));
        ++count;
    }
    return v3_scale(sum, 1.0 / count);
}

static void add_cell(polygoniser *p, uint64_t key, int signs, const double values[8])
{
    if (p->cell_count == p->cell_capacity) {
        uint32_t capacity = p->cell_capacity ? p->cell_capacity + p->cell_capacity / 2 : 4096;
        surface_cell *cells = pelt_reallocate(p->host, p->cells, capacity * sizeof(*cells));
        if (!cells) {
            p->out_of_memory = true;
            return;
        }
        p->cells = cells;
        p->cell_capacity = capacity;
    }
    vec3 center = mean_crossing(&p->tables[0][signs], values, -1);
    p->cells[p->cell_count++] =
        (surface_cell){ .key = key,
                        .center = { (float)center.x, (float)center.y, (float)center.z },
                        .signs = (uint8_t)signs };
}

static void scan_leaf(polygoniser *p, uint32_t x, uint32_t y, uint32_t z)
{
    double values[LEAF + 1][LEAF + 1][LEAF + 1];
    bool inside = false, outside = false;
    for (uint32_t k = 0; k <= LEAF; ++k) {
        for (uint32_t j = 0; j <= LEAF; ++j) {
            for (uint32_t i = 0; i <= LEAF; ++i) {
                double v = pelt_sample_shape_distance(p->shape, grid_point(p, x + i, y + j, z + k));
                values[k][j][i] = v;
                inside |= v < 0.0;
                outside |= v >= 0.0;
            }
        }
    }
    if (!inside || !outside) {
        return;
    }
    for (uint32_t k = 0; k < LEAF; ++k) {
        for (uint32_t j = 0; j < LEAF; ++j) {
            for (uint32_t i = 0; i < LEAF; ++i) {
                double corners[8];
                int signs = 0;
                for (int c = 0; c < 8; ++c) {
                    corners[c] = values[k + (c >> 2)][j + (c >> 1 & 1)][i + (c & 1)];
                    signs |= (corners[c] < 0.0) << c;
                }
                if (signs != 0 && signs != 255) {
                    add_cell(p, cell_key(x + i, y + j, z + k), signs, corners);
                }
            }
        }
    }
}

static void scan(polygoniser *p, uint32_t x, uint32_t y, uint32_t z, uint32_t size)
{
    double half = 0.5 * size * p->step;
    vec3 center = v3_add(grid_point(p, x, y, z), v3(half, half, half));
    if (p->out_of_memory ||
        fabs(pelt_sample_shape_distance(p->shape, center)) > half * sqrt(3.0) * (1.0 + 1e-6)) {
        return;
    }
    if (size == LEAF) {
        scan_leaf(p, x, y, z);
        return;
    }
    size /= 2;
    for (uint32_t i = 0; i < 8; ++i) {
        scan(p, x + size * (i & 1), y + size * (i >> 1 & 1), z + size * (i >> 2), size);
    }
}

static uint32_t first_slot(const polygoniser *p, uint64_t key)
{
    uint64_t hash = key * 0x9e3779b97f4a7c15u;
    return (uint32_t)(hash >> 32) & (p->slot_count - 1);
}

/* Cells that the surface passes through are all there; of no other is asked. */
static surface_cell *find_cell(const polygoniser *p, uint64_t key)
{
    uint32_t slot = first_slot(p, key);
    while (p->cells[p->slots[slot] - 1].key != key) {
        slot = (slot + 1) & (p->slot_count - 1);
    }
    return &p->cells[p->slots[slot] - 1];
}

static bool index_cells(polygoniser *p)
{
    pelt_release(p->host, p->slots);
    for (p->slot_count = 16; p->slot_count < 2 * p->cell_count;) {
        p->slot_count *= 2;
    }
    p->slots = pelt_allocate(p->host, p->slot_count, sizeof(*p->slots));
    if (!p->slots) {
        return false;
    }
    for (uint32_t i = 0; i < p->cell_count; ++i) {
        uint32_t slot = first_slot(p, p->cells[i].key);
        while (p->slots[slot]) {
            slot = (slot + 1) & (p->slot_count - 1);
        }
        p->slots[slot] = i + 1;
    }
    return true;
}

static const sheet_table *cell_sheets(const polygoniser *p, const surface_cell *cell)
{
    return &p->tables[cell->other_way][cell->signs];
}

static void settle_doubtful_faces(polygoniser *p)
{
    for (uint32_t i = 0; i < p->cell_count; ++i) {
        int face = p->tables[0][p->cells[i].signs].doubtful_face;
        if (face >= 0) {
            uint64_t step = key_step(face / 2);
            uint64_t key = face % 2 ? p->cells[i].key + step : p->cells[i].key - step;
            const surface_cell *other = find_cell(p, key);
            p->cells[i].other_way = p->tables[0][other->signs].doubtful_face == (face ^ 1);
        }
    }
}

/* Cells, their sheets and the number of vertices at a grid step. */
static bool find_cells(polygoniser *p, double step)
{
    /* An odd multiple of half a step puts the plane of symmetry through cell centres. */
    vec3 low = pelt_sample_shape_min(p->shape), high = pelt_sample_shape_max(p->shape);
    p->step = step;
    p->origin = v3((floor(low.x / step) - 0.5) * step, low.y, low.z);
    p->cell_count = 0;
    p->vertex_count = 0;
    vec3 extent = v3_sub(high, p->origin);
    double longest = fmax(extent.x, fmax(extent.y, extent.z));
    uint32_t size = LEAF;
    while (size * step < longest) {
        size *= 2;
    }
    scan(p, 0, 0, 0, size);
    if (p->out_of_memory || !index_cells(p)) {
        return false;
    }
    settle_doubtful_faces(p);
    for (uint32_t i = 0; i < p->cell_count; ++i) {
        p->cells[i].vertex = p->vertex_count;
        p->vertex_count += (uint32_t)cell_sheets(p, &p->cells[i])->count;
    }
    return true;
}

/* The number of vertices falls with the square of the step, but for the grain of the grid. */
static bool find_step(polygoniser *p, uint32_t wanted)
{
    double step = sqrt(3.24 / wanted), best = step, best_error = 1e9;
    for (int attempt = 0; attempt < 8 && best_error > 0.01; ++attempt) {
        if (!find_cells(p, step)) {
            return false;
        }
        double error = fabs((double)p->vertex_count / wanted - 1.0);
        if (error < best_error) {
            best_error = error;
            best = step;
        }
        step *= sqrt((double)p->vertex_count / wanted);
    }
    return p->step == best || find_cells(p, best);
}

static void place_vertices(const polygoniser *p, vec3 *positions)
{
    for (uint32_t i = 0; i < p->cell_count; ++i) {
        const surface_cell *cell = &p->cells[i];
        const sheet_table *sheets = cell_sheets(p, cell);
        uint32_t x = cell->key & 0x1fffff, y = cell->key >> 21 & 0x1fffff;
        uint32_t z = (uint32_t)(cell->key >> 42);
        vec3 corner = grid_point(p, x, y, z);
        if (sheets->count == 1) {
            vec3 center = v3(cell->center[0], cell->center[1], cell->center[2]);
            positions[cell->vertex] = v3_along(corner, center, p->step);
            continue;
        }
        double values[8];
        for (uint32_t c = 0; c < 8; ++c) {
            values[c] = pelt_sample_shape_distance(
                p->shape, grid_point(p, x + (c & 1), y + (c >> 1 & 1), z + (c >> 2)));
        }
        for (int s = 0; s < sheets->count; ++s) {
            positions[cell->vertex + (uint32_t)s] =
                v3_along(corner, mean_crossing(sheets, values, s), p->step);
        }
    }
}

/* The four cells around a crossed edge, counter-clockwise seen from outside. Each cell sees to the
 * three edges at its corner 0. */
static void connect(polygoniser *p)
{
    p->quad_count = 0;
    for (uint32_t i = 0; i < p->cell_count; ++i) {
        for (int axis = 0; axis < 3; ++axis) {
            int signs = p->cells[i].signs;
            if (!crosses(signs, 4 * axis)) {
                continue;
            }
            static const int around[4] = { 0, 1, 3, 2 };
            uint32_t *quad = p->quads + 4 * (size_t)p->quad_count++;
            for (int k = 0; k < 4; ++k) {
                int back = around[signs & 1 ? k : 3 - k];
                uint64_t key = p->cells[i].key - (back & 1 ? key_step((axis + 1) % 3) : 0) -
                               (back & 2 ? key_step((axis + 2) % 3) : 0);
                const surface_cell *cell = find_cell(p, key);
                quad[k] = cell->vertex + (uint32_t)cell_sheets(p, cell)->of_edge[4 * axis + back];
            }
        }
    }
}

/* Moves every vertex towards the middle of its neighbours, so that triangles grow even, and back
 * onto the surface. */
static bool relax(const polygoniser *p, vec3 *positions)
{
    vec3 *sums = pelt_allocate(p->host, p->vertex_count, sizeof(*sums));
    uint8_t *counts = pelt_allocate(p->host, p->vertex_count, sizeof(*counts));
    bool ok = sums && counts;
    for (int round = 0; ok && round < 4; ++round) {
        memset(sums, 0, p->vertex_count * sizeof(*sums));
        memset(counts, 0, p->vertex_count * sizeof(*counts));
        for (size_t q = 0; q < p->quad_count; ++q) {
            const uint32_t *quad = p->quads + 4 * q;
            for (int k = 0; k < 4; ++k) {
                uint32_t v = quad[k];
                sums[v] = v3_add(
                    sums[v], v3_add(positions[quad[(k + 1) % 4]], positions[quad[(k + 3) % 4]]));
                counts[v] = (uint8_t)(counts[v] + 2);
            }
        }
        for (uint32_t v = 0; v < p->vertex_count; ++v) {
            vec3 middle = v3_scale(sums[v], 1.0 / counts[v]);
            positions[v] = pelt_sample_shape_project(p->shape, v3_mix(positions[v], middle, 0.5), 1,
                                                     0.5 * p->step);
        }
    }
    pelt_release(p->host, sums);
    pelt_release(p->host, counts);
    return ok;
}

/* How far from folded the two halves of a quadrilateral are when it is split from corner k. */
static double split_quality(const vec3 corners[4], int k)
{
    vec3 a = corners[k], b = corners[(k + 1) % 4], c = corners[(k + 2) % 4],
         d = corners[(k + 3) % 4];
    vec3 m = v3_cross(v3_sub(b, a), v3_sub(c, a)), n = v3_cross(v3_sub(c, a), v3_sub(d, a));
    double flat = v3_dot(v3_unit(m, v3(0, 0, 0)), v3_unit(n, v3(0, 0, 0)));
    double diagonal = v3_distance(a, c);
    return flat - 0.3 * diagonal / (v3_distance(b, d) + diagonal);
}

static void split_quads(const polygoniser *p, fox_surface *out)
{
    for (size_t q = 0; q < p->quad_count; ++q) {
        const uint32_t *quad = p->quads + 4 * q;
        vec3 corners[4];
        for (int k = 0; k < 4; ++k) {
            corners[k] = out->positions[quad[k]];
        }
        int k = split_quality(corners, 1) > split_quality(corners, 0);
        uint32_t *triangle = out->indices + 6 * q;
        triangle[0] = triangle[3] = quad[k];
        triangle[1] = quad[k + 1];
        triangle[2] = triangle[4] = quad[(k + 2) % 4];
        triangle[5] = quad[(k + 3) % 4];
    }
}

static pelt_result polygonise(polygoniser *p, uint32_t wanted, fox_surface *out)
{
    if (!find_step(p, wanted)) {
        return PELT_ERROR_MEMORY;
    }
    /* One for every crossed edge, counted where its cell has it at corner 0. */
    for (uint32_t i = 0; i < p->cell_count; ++i) {
        for (int axis = 0; axis < 3; ++axis) {
            p->quad_count += crosses(p->cells[i].signs, 4 * axis);
        }
    }
    p->quads = pelt_allocate(p->host, p->quad_count, 4 * sizeof(*p->quads));
    out->positions = pelt_allocate(p->host, p->vertex_count, sizeof(*out->positions));
    out->indices = pelt_allocate(p->host, p->quad_count, 6 * sizeof(*out->indices));
    if (!p->quads || !out->positions || !out->indices) {
        return PELT_ERROR_MEMORY;
    }
    connect(p);
    place_vertices(p, out->positions);
    pelt_release(p->host, p->cells);
    pelt_release(p->host, p->slots);
    p->cells = NULL;
    p->slots = NULL;
    for (uint32_t v = 0; v < p->vertex_count; ++v) {
        out->positions[v] = pelt_sample_shape_project(p->shape, out->positions[v], 2, p->step);
    }
    if (!relax(p, out->positions)) {
        return PELT_ERROR_MEMORY;
    }
    for (uint32_t v = 0; v < p->vertex_count; ++v) {
        out->positions[v] = pelt_sample_shape_project(p->shape, out->positions[v], 1, p->step);
    }
    out->vertex_count = p->vertex_count;
    out->index_count = 6 * p->quad_count;
    split_quads(p, out);
    return PELT_OK;
}

pelt_result pelt_sample_surface_create(const pelt_host *host, const fox_shape *shape,
                                       uint32_t vertex_count, fox_surface *out)
{
    *out = (fox_surface){ .host = host };
    polygoniser p = { .host = host, .shape = shape };
    for (int signs = 0; signs < 256; ++signs) {
        p.tables[0][signs] = find_sheets(signs, false);
        p.tables[1][signs] = find_sheets(signs, true);
    }
    /* A grid that shows ears and thumbs faithfully has about BASE_VERTICES; fewer are left by
     * collapsing edges, which keeps the features that a coarse grid would lose. */
    pelt_result result =
        polygonise(&p, vertex_count < BASE_VERTICES ? BASE_VERTICES : vertex_count, out);
    pelt_release(host, p.cells);
    pelt_release(host, p.slots);
    pelt_release(host, p.quads);
    if (result == PELT_OK && vertex_count < BASE_VERTICES) {
        result = pelt_sample_surface_simplify(out, vertex_count);
    }
    if (result != PELT_OK) {
        pelt_sample_surface_destroy(out);
        return pelt_fail(host, result, NULL, NULL, "no memory for %u vertices",
                         (unsigned)vertex_count);
    }
    return PELT_OK;
}

void pelt_sample_surface_destroy(fox_surface *surface)
{
    pelt_release(surface->host, surface->positions);
    pelt_release(surface->host, surface->indices);
    surface->positions = NULL;
    surface->indices = NULL;
}
