/* Levels of detail. meshoptimizer's simplifier sees one pose at a time, so it is asked to halve the
 * level before, and to come as far from level 0 itself, in each of a few poses that differ much;
 * the surface that stays nearest to level 0 in all poses is kept. */
#include "cluster/measure.h"
#include "skin/rounding.h"

#include <math.h>
#include <meshoptimizer.h>
#include <stdlib.h>
#include <string.h>

enum {
    NONE = UINT32_MAX,
    CANDIDATES_MAX = 2 * KEY_POSES,

    /* Candidates are told apart by the distances of about so many vertices of level 0. */
    SAMPLES = 2048,

    /* Below it there is nothing to save. */
    TRIANGLES_MIN = 16
};

/* A surface worth having has no more than three quarters of the triangles of the one before. */
static bool is_coarser(uint32_t count, uint32_t before)
{
    return count > 0 && 4 * (uint64_t)count <= 3 * (uint64_t)before;
}

typedef struct level_maker {
    const pelt_host *host;
    const pelt_clusters_info *info;
    cluster_level *levels;
    uint32_t count;
    uint32_t *places;   /* of a packed vertex among those that a list uses, or NONE */
    triangle_list used; /* vertices that level 0 uses, three times each */
    pose_set poses;
    triangle_tree *tree; /* of level 0 */

    /* Level 0 with vertices put together that differ in their directions alone; empty where there
     * are none, or nothing would be left. From some level on it may be what levels are made of. */
    triangle_list welded;
    bool welding;
    uint32_t first_welded; /* level */

    uint32_t candidate_count;
    triangle_list candidates[CANDIDATES_MAX];
} level_maker;

static pelt_result no_memory(const pelt_host *host)
{
    return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for levels of detail");
}

/* Vertices that triangles use, in the order of their first use. vertices: 3 x triangles->count;
 * returns how many there are, and leaves their places in maker->places. */
static uint32_t list_vertices(level_maker *maker, const triangle_list *triangles,
                              uint32_t *vertices)
{
    uint32_t count = 0;
    for (size_t i = 0; i < 3 * (size_t)triangles->count; i++) {
        uint32_t vertex = triangles->corners[i];
        if (maker->places[vertex] == NONE) {
            maker->places[vertex] = count;
            vertices[count++] = vertex;
        }
    }
    return count;
}

static void forget_places(level_maker *maker, const uint32_t *vertices, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        maker->places[vertices[i]] = NONE;
    }
}

static int compare_triangles(const void *a, const void *b)
{
    const uint32_t *first = a, *second = b;
    for (int k = 0; k < 3; k++) {
        if (first[k] != second[k]) {
            return first[k] < second[k] ? -1 : 1;
        }
    }
    return 0;
}

/* Collapsing edges can lay triangles upon each other: of equal ones, one is kept. */
static void drop_duplicates(triangle_list *triangles)
{
    uint32_t *corners = triangles->corners, kept = 0;
    for (size_t t = 0; t < triangles->count; t++) {
        uint32_t *c = corners + 3 * t;
        while (c[0] > c[1] || c[0] > c[2]) {
            uint32_t first = c[0];
            c[0] = c[1];
            c[1] = c[2];
            c[2] = first;
        }
    }
    qsort(corners, triangles->count, 3 * sizeof(*corners), compare_triangles);
    for (size_t t = 0; t < triangles->count; t++) {
        if (t == 0 || compare_triangles(corners + 3 * t, corners + 3 * (t - 1)) != 0) {
            memmove(corners + 3 * (size_t)kept++, corners + 3 * t, 3 * sizeof(*corners));
        }
    }
    triangles->count = kept;
}

/* A surface of about so many triangles, made from another one as it lies in a pose. meshoptimizer
 * gets the vertices that this uses, and no others: unused ones in the same place would look like
 * seams. */
static pelt_result simplify(level_maker *maker, const triangle_list *from, const float *positions,
                            uint32_t target, triangle_list *out)
{
    size_t corner_count = 3 * (size_t)from->count;
    uint32_t *vertices = pelt_allocate(maker->host, corner_count, sizeof(*vertices));
    uint32_t *corners = pelt_allocate(maker->host, corner_count, sizeof(*corners));
    float *compact = NULL;
    pelt_result result = PELT_OK;
    out->corners = pelt_allocate(maker->host, corner_count, sizeof(*out->corners));
    if (!vertices || !corners || !out->corners) {
        result = no_memory(maker->host);
        goto done;
    }
    uint32_t vertex_count = list_vertices(maker, from, vertices);
    for (size_t i = 0; i < corner_count; i++) {
        corners[i] = maker->places[from->corners[i]];
    }
    forget_places(maker, vertices, vertex_count);
    compact = pelt_allocate(maker->host, vertex_count, 3 * sizeof(*compact));
    if (!compact) {
        result = no_memory(maker->host);
        goto done;
    }
    for (size_t v = 0; v < vertex_count; v++) {
        for (size_t i = 0; i < 3; i++) {
            /* -0 becomes 0: meshoptimizer compares bits. */
            compact[3 * v + i] = positions[3 * (size_t)vertices[v] + i] + 0.0f;
        }
    }
    size_t left = meshopt_simplify(out->corners, corners, corner_count, compact, vertex_count,
                                   3 * sizeof(*compact), 3 * (size_t)target, 1.0f, 0, NULL);
    for (size_t i = 0; i < left; i++) {
        out->corners[i] = vertices[out->corners[i]];
    }
    out->count = (uint32_t)(left / 3);
    drop_duplicates(out);
done:
    pelt_release(maker->host, vertices);
    pelt_release(maker->host, corners);
    pelt_release(maker->host, compact);
    return result;
}

static void release_candidates(level_maker *maker)
{
    for (uint32_t i = 0; i < maker->candidate_count; i++) {
        pelt_release(maker->host, maker->candidates[i].corners);
    }
    maker->candidate_count = 0;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Surfaces of half as many triangles as the last level, made from level 0 and, if that was made the
 * same way, from the last one. */
static pelt_result find_candidates(level_maker *maker, bool welding)
{
    const triangle_list *before = &maker->levels[maker->count - 1].triangles;
    const triangle_list *sources[] = { welding ? &maker->welded : &maker->levels[0].triangles,
                                       before };
    int source_count = maker->count > (welding ? maker->first_welded : 1) ? 2 : 1;
    for (uint32_t key = 0; key < maker->poses.key_count; key++) {
        const float *positions = pelt_poses_positions(&maker->poses, maker->poses.keys[key]);
        for (int source = 0; source < source_count; source++) {
            triangle_list *candidate = &maker->candidates[maker->candidate_count++];
            *candidate = (triangle_list){ 0 };
            pelt_result result =
                simplify(maker, sources[source], positions,
                         smaller(before->count / 2, sources[source]->count), candidate);
            if (result) {
                return result;
            }
            if (!is_coarser(candidate->count, before->count)) {
                pelt_release(maker->host, candidate->corners);
                maker->candidate_count--;
            }
        }
    }
    return PELT_OK;
}

/* The first of the poses that count, which are those given if there are any. */
static uint32_t first_pose(const level_maker *maker)
{
    return maker->poses.count > 1 ? 1 : 0;
}

/* How far a sample of level 0's vertices is from each candidate, over all poses: no farther than
 * all of them are. */
static pelt_result estimate(level_maker *maker, double errors[CANDIDATES_MAX])
{
    surface_distance distances[CANDIDATES_MAX] = { 0 };
    uint32_t step = 1 + maker->used.count / SAMPLES;
    triangle_list sample = { 0 };
    sample.corners =
        pelt_allocate(maker->host, maker->used.count / step + 1, 3 * sizeof(*sample.corners));
    if (!sample.corners) {
        return no_memory(maker->host);
    }
    for (size_t i = 0; i < maker->used.count; i += step) {
        memcpy(sample.corners + 3 * (size_t)sample.count++, maker->used.corners + 3 * i,
               3 * sizeof(*sample.corners));
    }
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; i < maker->candidate_count && !result; i++) {
        result =
            pelt_distance_init(&distances[i], &maker->poses, &maker->candidates[i], NULL, &sample);
    }
    for (uint32_t pose = first_pose(maker); pose < maker->poses.count && !result; pose++) {
        const float *positions = pelt_poses_positions(&maker->poses, pose);
        for (uint32_t i = 0; i < maker->candidate_count; i++) {
            pelt_distance_grow(&distances[i], positions);
        }
    }
    for (uint32_t i = 0; i < maker->candidate_count; i++) {
        errors[i] = distances[i].worst;
        pelt_distance_finish(&distances[i]);
    }
    pelt_release(maker->host, sample.corners);
    return result;
}

/* The errors of a level: how far any of the points is from the surface, in the given poses and in
 * the bind pose. Stops, with an error that large, once it is known not to be below limit. */
static pelt_result measure(level_maker *maker, const triangle_list *surface,
                           const triangle_tree *tree, const triangle_list *points, double limit,
                           cluster_level *level)
{
    surface_distance distance = { 0 };
    uint32_t first = first_pose(maker);
    double error = 0.0;
    pelt_result result = pelt_distance_init(&distance, &maker->poses, surface, tree, points);
    for (uint32_t pose = first; pose < maker->poses.count && !result && error < limit; pose++) {
        pelt_distance_grow(&distance, pelt_poses_positions(&maker->poses, pose));
        error = distance.worst;
    }
    level->error = fmaxf(level->error, round_up(error));
    if (!result && error < limit) {
        distance.worst = 0.0;
        pelt_distance_grow(&distance, pelt_poses_positions(&maker->poses, 0));
        level->bind_error = fmaxf(level->bind_error, round_up(distance.worst));
    }
    pelt_distance_finish(&distance);
    return result;
}

/* The candidate that the vertices of level 0 are nearest to. Estimates tell which to measure first,
 * and when no other one can be better. Of the chosen one, the middles of its triangles must not be
 * farther from level 0 either. */
static pelt_result choose(level_maker *maker, cluster_level *best)
{
    double estimates[CANDIDATES_MAX] = { 0.0 };
    uint32_t chosen = NONE;
    pelt_result result = estimate(maker, estimates);
    *best = (cluster_level){ .error = INFINITY };
    while (!result) {
        uint32_t next = 0;
        for (uint32_t i = 1; i < maker->candidate_count; i++) {
            next = estimates[i] < estimates[next] ? i : next;
        }
        if (chosen != NONE && !(estimates[next] < best->error)) {
            break;
        }
        cluster_level level = { .triangles = maker->candidates[next] };
        result = measure(maker, &level.triangles, NULL, &maker->used, best->error, &level);
        if (!result && (chosen == NONE || level.error < best->error)) {
            *best = level;
            chosen = next;
        }
        estimates[next] = INFINITY;
    }
    if (chosen != NONE) {
        maker->candidates[chosen].corners = NULL; /* the level's from now on */
    }
    return result ? result
                  : measure(maker, &maker->levels[0].triangles, maker->tree, &best->triangles,
                            INFINITY, best);
}

/* The best surface for the next level; without corners where none is coarser. */
static pelt_result make_level(level_maker *maker, bool welding, cluster_level *level)
{
    *level = (cluster_level){ 0 };
    pelt_result result = find_candidates(maker, welding);
    if (!result && maker->candidate_count > 0) {
        result = choose(maker, level);
    }
    release_candidates(maker);
    return result;
}

/* Adds a level; none is added where there is nothing coarser. Vertices that differ in directions
 * stay apart, at the price of an error up to twice as large. */
static pelt_result add_level(level_maker *maker, bool *added)
{
    cluster_level level = { 0 }, welded = { 0 };
    pelt_result result = make_level(maker, maker->welding, &level);
    if (!result && !maker->welding && maker->welded.count > 0) {
        maker->first_welded = maker->count;
        result = make_level(maker, true, &welded);
    }
    if (!result && welded.triangles.corners &&
        (!level.triangles.corners || level.error > 2.0f * welded.error)) {
        maker->welding = true;
        cluster_level kept_apart = level;
        level = welded;
        welded = kept_apart;
    }
    *added = !result && level.triangles.corners;
    if (*added) {
        maker->levels[maker->count++] = level;
    } else {
        pelt_release(maker->host, level.triangles.corners);
    }
    pelt_release(maker->host, welded.triangles.corners);
    return result;
}

static pelt_result weld(level_maker *maker)
{
    const triangle_list *triangles = &maker->levels[0].triangles;
    size_t size = 3 * (size_t)triangles->count * sizeof(*triangles->corners);
    maker->welded.corners = pelt_allocate(maker->host, size, 1);
    if (!maker->welded.corners) {
        return no_memory(maker->host);
    }
    memcpy(maker->welded.corners, triangles->corners, size);
    maker->welded.count = triangles->count;
    pelt_result result = pelt_weld(maker->host, maker->info, &maker->welded);
    if (maker->welded.count == triangles->count &&
        memcmp(maker->welded.corners, triangles->corners, size) == 0) {
        maker->welded.count = 0;
    }
    return result;
}

static pelt_result init(level_maker *maker)
{
    const triangle_list *triangles = &maker->levels[0].triangles;
    uint32_t vertex_count = maker->info->mesh->vertex_count;
    size_t corner_count = 3 * (size_t)triangles->count;
    uint32_t *vertices = pelt_allocate(maker->host, corner_count, sizeof(*vertices));
    maker->places = pelt_allocate(maker->host, vertex_count, sizeof(*maker->places));
    pelt_result result = PELT_OK;
    if (!vertices || !maker->places) {
        result = no_memory(maker->host);
        goto done;
    }
    memset(maker->places, 0xff, vertex_count * sizeof(*maker->places));
    uint32_t used_count = list_vertices(maker, triangles, vertices);
    forget_places(maker, vertices, used_count);
    maker->used.corners = pelt_allocate(maker->host, used_count, 3 * sizeof(*vertices));
    if (!maker->used.corners) {
        result = no_memory(maker->host);
        goto done;
    }
    maker->used.count = used_count;
    for (size_t i = 0; i < 3 * (size_t)used_count; i++) {
        maker->used.corners[i] = vertices[i / 3];
    }
    result = pelt_poses_init(&maker->poses, maker->host, maker->info, vertices, used_count);
    result = result ? result
                    : pelt_tree_create(maker->host, triangles, maker->poses.space, &maker->tree);
    result = result ? result : weld(maker);
done:
    pelt_release(maker->host, vertices);
    return result;
}

pelt_result pelt_levels_make(const pelt_host *host, const pelt_clusters_info *info,
                             cluster_level levels[PELT_LOD_MAX], uint32_t *count)
{
    level_maker maker = { .host = host, .info = info, .levels = levels, .count = 1 };
    pelt_result result = PELT_OK;
    bool more =
        info->lod_count > 1 && !levels[0].tangled && levels[0].triangles.count >= TRIANGLES_MIN;
    if (more) {
        result = init(&maker);
    }
    while (!result && more && maker.count < info->lod_count &&
           levels[maker.count - 1].triangles.count >= TRIANGLES_MIN) {
        result = add_level(&maker, &more);
    }
    *count = maker.count;
    pelt_tree_destroy(maker.tree);
    pelt_poses_finish(&maker.poses);
    pelt_release(host, maker.places);
    pelt_release(host, maker.used.corners);
    pelt_release(host, maker.welded.corners);
    return result;
}
