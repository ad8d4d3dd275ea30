/* The state of instances and their overrides, as the pose pass reads them. */
#include "base/base.h"

#include "pelt/pose_layout.h"

#include <math.h>
#include <pelt/pose_pass.h>
#include <string.h>

#include "vulkan/pose_pass.h"

_Static_assert(sizeof(struct pelt_pose_state) == PELT_POSE_INSTANCE_SIZE, "as the header says");
_Static_assert(sizeof(struct pelt_pose_override_record) == PELT_POSE_OVERRIDE_SIZE,
               "as the header says");
_Static_assert((int)PELT_OVERRIDE_LOCAL_REPLACE == PELT_OVERRIDE_KIND_LOCAL_REPLACE &&
                   (int)PELT_OVERRIDE_LOCAL_MULTIPLY == PELT_OVERRIDE_KIND_LOCAL_MULTIPLY &&
                   (int)PELT_OVERRIDE_GLOBAL_REPLACE == PELT_OVERRIDE_KIND_GLOBAL_REPLACE &&
                   (int)PELT_OVERRIDE_GLOBAL_MULTIPLY == PELT_OVERRIDE_KIND_GLOBAL_MULTIPLY,
               "as the shader knows them");

int64_t pelt_pose_clock(double seconds)
{
    double within = fmin(fmax(seconds, -PELT_POSE_CLOCK_MAX), PELT_POSE_CLOCK_MAX);
    return llround(within * 0x1p32); /* of NaN: the least */
}

static bool is_matrix(const double matrix[12])
{
    for (int i = 0; i < 12; i++) {
        if (!(fabs(matrix[i]) <= PELT_MAGNITUDE_MAX)) {
            return false;
        }
    }
    return true;
}

static pelt_result check_play(const pelt_rig *rig, const pelt_gpu_play *play, const char *name)
{
    if (play->clip < -1 || play->clip >= (int64_t)rig->clip_count) {
        return pelt_fail(rig->host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "%s: clip %d is none of the rig's %u", name, play->clip, rig->clip_count);
    }
    if (!isfinite(play->speed) || fabs((double)play->speed) > PELT_POSE_CLOCK_MAX) {
        return pelt_fail(rig->host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "%s: the speed is not finite or beyond 2^29", name);
    }
    if (!(fabs(play->time) <= PELT_POSE_CLOCK_MAX) || !(fabs(play->since) <= PELT_POSE_CLOCK_MAX)) {
        return pelt_fail(rig->host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "%s: a time is not finite or beyond 2^29 s", name);
    }
    return PELT_OK;
}

/* Else nothing of it is looked at. */
static bool has_second(const pelt_pose_instance *instance)
{
    return instance->weight != 0 || instance->weight_rate != 0;
}

static pelt_result check(const pelt_rig *rig, const pelt_pose_instance *instance)
{
    const char *wrong = NULL;
    if (!isfinite(instance->weight) || !isfinite(instance->weight_rate)) {
        wrong = "weight or weight_rate is not finite";
    } else if (instance->world && !is_matrix(instance->world)) {
        wrong = "world has an element that is not finite or beyond 1e18";
    } else if (instance->override_count > 0 &&
               (instance->overrides == 0 || instance->overrides % 16 != 0)) {
        wrong = "overrides is 0 or not 16-byte aligned";
    } else if (rig->matrix_count > 0 && (instance->matrices == 0 || instance->matrices % 16 != 0)) {
        wrong = "matrices is 0 or not 16-byte aligned";
    } else if (instance->sockets % 16 != 0) {
        wrong = "sockets is not 16-byte aligned";
    }
    if (wrong) {
        return pelt_fail(rig->host, PELT_ERROR_ARGUMENT, NULL, NULL, "a pose instance: %s", wrong);
    }
    pelt_result result = check_play(rig, &instance->play, "play");
    if (result == PELT_OK && has_second(instance)) {
        result = check_play(rig, &instance->second, "second");
    }
    return result;
}

static struct pelt_pose_play make_play(const pelt_rig *rig, const pelt_gpu_play *play)
{
    uint64_t since = (uint64_t)pelt_pose_clock(play->since);
    float high = (float)play->time;
    return (struct pelt_pose_play){
        .since_low = (uint32_t)since,
        .since_high = (uint32_t)(since >> 32),
        .time_high = high,
        .time_low = (float)(play->time - (double)high),
        .speed = play->speed,
        .clip = play->clip < 0 ? rig->clip_count : (uint32_t)play->clip,
        .loop = play->loop,
    };
}

static void put_matrix(const double matrix[12], float out[12])
{
    for (int i = 0; i < 12; i++) {
        out[i] = (float)matrix[i];
    }
}

pelt_result pelt_pose_instance_write(const pelt_rig *rig, const pelt_pose_instance *instance,
                                     void *memory)
{
    static const double identity[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
    pelt_result result = check(rig, instance);
    if (result != PELT_OK) {
        return result;
    }
    uint32_t interval = instance->interval > 0 ? instance->interval : 1;
    struct pelt_pose_state state = {
        .plays[0] = make_play(rig, &instance->play),
        .matrices = instance->matrices,
        .sockets = instance->sockets,
        .overrides = instance->overrides,
        .override_count = instance->override_count,
        .interval = instance->skip ? 0 : interval,
        .phase = instance->phase % interval,
        .weight = instance->weight,
        .weight_rate = instance->weight_rate,
    };
    if (has_second(instance)) {
        state.plays[1] = make_play(rig, &instance->second);
    }
    put_matrix(instance->world ? instance->world : identity, state.world);
    memcpy(memory, &state, sizeof(state));
    return PELT_OK;
}

/* -- overrides ----------------------------------------------------------------------------- */

static pelt_result check_override(const pelt_rig *rig, const pelt_pose_override *override,
                                  uint32_t index)
{
    const char *wrong = NULL;
    if (override->node >= rig->model_node_count ||
        rig->places[override->node] == PELT_RIG_NO_NODE) {
        wrong = "has no place in the rig: it moves nothing, or no clip moves it";
    } else if ((unsigned) override->kind > PELT_OVERRIDE_GLOBAL_MULTIPLY) {
        wrong = "has an unknown kind";
    } else if (!is_matrix(override->matrix)) {
        wrong = "has an element that is not finite or beyond 1e18";
    }
    return wrong ? pelt_fail(rig->host, PELT_ERROR_ARGUMENT, NULL, NULL,
                             "override %u: that of node %u %s", index, override->node, wrong)
                 : PELT_OK;
}

pelt_result pelt_pose_overrides_write(const pelt_rig *rig, const pelt_pose_override *overrides,
                                      uint32_t count, void *memory)
{
    for (uint32_t i = 0; i < count; i++) {
        pelt_result result = check_override(rig, &overrides[i], i);
        if (result != PELT_OK) {
            return result;
        }
        for (uint32_t k = 0; k < i; k++) {
            if (overrides[k].node == overrides[i].node) {
                return pelt_fail(rig->host, PELT_ERROR_ARGUMENT, NULL, NULL,
                                 "overrides %u and %u are both of node %u", k, i,
                                 overrides[i].node);
            }
        }
    }
    /* Each goes behind those whose nodes are before its own. */
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t place = rig->places[overrides[i].node];
        struct pelt_pose_override_record record = { .node = place,
                                                    .kind = (uint32_t)overrides[i].kind };
        size_t rank = 0;
        for (uint32_t k = 0; k < count; k++) {
            rank += rig->places[overrides[k].node] < place;
        }
        put_matrix(overrides[i].matrix, record.matrix);
        memcpy((char *)memory + rank * sizeof(record), &record, sizeof(record));
    }
    return PELT_OK;
}
