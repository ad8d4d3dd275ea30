#include "cli/crowd.h"

#include "anim/anim.h"
#include "base/base.h"
#include "base/box.h"

#include <math.h>
#include <string.h>

/* Fractions of the golden ratio: any number of them spread evenly over [0, 1). */
static double golden_fraction(uint32_t i)
{
    double spread = i * 0.6180339887498949;
    return spread - floor(spread);
}

pelt_result pelt_character_box(const pelt_character *character, const pelt_play *play,
                               pelt_box *out)
{
    pelt_batch *batch;
    pelt_result result = pelt_batch_create(character, 1, false, &batch);
    if (result != PELT_OK) {
        return result;
    }
    result = pelt_batch_pose_one(batch, play);
    if (result == PELT_OK) {
        result = pelt_batch_box(batch, 0, out);
    }
    pelt_batch_destroy(batch);
    return result;
}

/* What the character fills while the clip runs, from a few moments of it. */
static pelt_result box_of_clip(const pelt_character *character, const pelt_play *play,
                               pelt_box *out)
{
    enum { MOMENTS = 4 };
    *out = (pelt_box)PELT_BOX_EMPTY;
    const pelt_model *model = character->model;
    double duration = play->clip >= 0 ? model->clips[play->clip].duration : 0.0;
    for (int m = 0; m < (duration > 0.0 ? MOMENTS : 1); m++) {
        pelt_play moment = *play;
        moment.time = play->time + duration * m / MOMENTS;
        moment.loop = true;
        pelt_box box;
        pelt_result result = pelt_character_box(character, &moment, &box);
        if (result != PELT_OK) {
            return result;
        }
        box_unite(out, &box);
    }
    return PELT_OK;
}

/* Turns about the upright axis through (x, z), which then goes to (to_x, to_z). */
static void place(double world[12], double angle, const double center[2], double to_x, double to_z)
{
    double c = cos(angle), s = sin(angle);
    const double matrix[12] = { c,  0, s, to_x - (c * center[0] + s * center[1]), 0, 1, 0, 0,
                                -s, 0, c, to_z - (-s * center[0] + c * center[1]) };
    memcpy(world, matrix, sizeof(matrix));
}

/* What the character fills in one of count clips, whichever that is; *play is in the first. */
static pelt_result box_of_clips(const pelt_character *character, const pelt_play *play,
                                uint32_t count, pelt_box *out)
{
    pelt_result result = box_of_clip(character, play, out);
    for (uint32_t i = 1; result == PELT_OK && i < count; i++) {
        pelt_play other = *play;
        pelt_box box;
        other.clip = (int32_t)i;
        result = box_of_clip(character, &other, &box);
        if (result == PELT_OK) {
            box_unite(out, &box);
        }
    }
    return result;
}

/* clip_count: that members play in turn; 0: the play's own. */
static pelt_result create(const pelt_character *character, const pelt_play *play,
                          uint32_t clip_count, uint32_t count, pelt_crowd **out)
{
    *out = NULL;
    const pelt_host *host = character->host;
    const pelt_model *model = character->model;
    pelt_box box;
    pelt_result result = box_of_clips(character, play, clip_count, &box);
    if (result != PELT_OK) {
        return result;
    }
    pelt_crowd *crowd = pelt_allocate(host, 1, sizeof(*crowd));
    pelt_member *members = pelt_allocate(host, count, sizeof(*members));
    if (!crowd || !members) {
        pelt_release(host, members);
        pelt_release(host, crowd);
        return PELT_ERROR_MEMORY;
    }
    bool empty = box_is_empty(&box);
    double width = empty ? 0.0 : (double)box.max[0] - box.min[0];
    double depth = empty ? 0.0 : (double)box.max[2] - box.min[2];
    const double center[2] = { empty ? 0.0 : ((double)box.min[0] + box.max[0]) / 2,
                               empty ? 0.0 : ((double)box.min[2] + box.max[2]) / 2 };
    *crowd = (pelt_crowd){ .host = host, .count = count, .members = members };
    crowd->spacing = 1.15 * fmax(width, depth);
    uint32_t columns = (uint32_t)ceil(sqrt(count));
    uint32_t rows = (count + columns - 1) / columns;
    for (uint32_t i = 0; i < count; i++) {
        members[i].play = *play;
        if (count == 1) {
            memcpy(members[i].world, pelt_matrix_identity, sizeof(members[i].world));
            break;
        }
        pelt_play *own = &members[i].play;
        own->clip = clip_count > 0 ? (int32_t)(i % clip_count) : play->clip;
        double duration = own->clip >= 0 ? model->clips[own->clip].duration : 0.0;
        own->time += duration * golden_fraction(i);
        own->loop = true;
        double heading = 0.7 * (golden_fraction(7 * i + 3) - 0.5);
        uint32_t column = i % columns, row = i / columns;
        place(members[i].world, heading, center, (column - (columns - 1) / 2.0) * crowd->spacing,
              (row - (rows - 1) / 2.0) * crowd->spacing);
    }
    *out = crowd;
    return PELT_OK;
}

pelt_result pelt_crowd_create(const pelt_character *character, const pelt_play *play,
                              uint32_t count, pelt_crowd **out)
{
    return create(character, play, 0, count, out);
}

pelt_result pelt_crowd_create_mixed(const pelt_character *character, const pelt_play *play,
                                    uint32_t count, pelt_crowd **out)
{
    pelt_play first = *play;
    first.clip = character->model->clip_count > 0 ? 0 : -1;
    return create(character, &first, character->model->clip_count, count, out);
}

void pelt_crowd_destroy(pelt_crowd *crowd)
{
    if (crowd) {
        const pelt_host *host = crowd->host;
        pelt_release(host, crowd->members);
        pelt_release(host, crowd);
    }
}
