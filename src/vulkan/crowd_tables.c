/* Clips, meshes and members as the crowd pass and its shaders read them. */
#include "base/base.h"

#include "pelt/crowd_layout.h"

#include <math.h>
#include <pelt/crowd.h>
#include <string.h>

#include "vulkan/pose_pass.h"

_Static_assert(sizeof(struct pelt_crowd_mesh) == PELT_CROWD_MESH_SIZE, "as the header says");
_Static_assert(sizeof(struct pelt_crowd_state) == PELT_CROWD_MEMBER_SIZE, "as the header says");
_Static_assert((int)PELT_BAKE_MATRIX_3X4 == PELT_PALETTE_MATRIX_3X4 &&
                   (int)PELT_BAKE_MATRIX_4X4 == PELT_PALETTE_MATRIX_4X4 &&
                   (int)PELT_BAKE_DUAL_QUATERNION == PELT_PALETTE_DUAL_QUATERNION &&
                   (int)PELT_BAKE_NEAREST == PELT_PALETTE_NEAREST &&
                   (int)PELT_BAKE_LERP == PELT_PALETTE_LERP &&
                   (int)PELT_BAKE_BLEND == PELT_PALETTE_BLEND &&
                   (int)PELT_BAKE_LINEAR == PELT_PALETTE_LINEAR &&
                   (int)PELT_BAKE_DUAL == PELT_PALETTE_DUAL,
               "as the shaders know them");

/* Where the parts of a crowd's data begin, in bytes; each is indexed from the data's own address,
 * and so begins at a multiple of its element's size. */
typedef struct data_plan {
    size_t clips, ranges, boxes, size;
    uint32_t range_count, box_count;
} data_plan;

static size_t align(size_t offset, size_t to)
{
    return (offset + to - 1) / to * to;
}

static data_plan plan_data(const pelt_bake *bake)
{
    data_plan plan = { 0 };
    for (uint32_t i = 0; i < bake->clip_count; i++) {
        plan.range_count += bake->clips[i].range_count;
        plan.box_count += bake->clips[i].frame_count;
    }
    plan.clips = align(sizeof(struct pelt_crowd_header), sizeof(struct pelt_crowd_clip));
    plan.ranges = plan.clips + bake->clip_count * sizeof(struct pelt_crowd_clip);
    plan.boxes =
        align(plan.ranges + plan.range_count * sizeof(struct pelt_crowd_range), sizeof(pelt_box));
    plan.size = align(plan.boxes + plan.box_count * sizeof(pelt_box), 16);
    return plan;
}

size_t pelt_crowd_data_size(const pelt_bake *bake)
{
    return plan_data(bake).size;
}

/* What a float cannot hold of a number. */
static float rest(double number)
{
    return (float)(number - (double)(float)number);
}

static void write_range(const pelt_bake_clip *clip, const pelt_bake_range *range, void *memory)
{
    double whole = range->row_count - 2.0;
    double last = (range->end - range->start) * clip->rate - whole;
    const struct pelt_crowd_range record = {
        .start_high = (float)range->start,
        .start_low = rest(range->start),
        .last_interval = range->row_count > 1 ? (float)last : 1.0f,
        .layer = range->layer,
        .first_row = range->first_row,
        .row_count = range->row_count,
        .first_frame = range->first_frame,
    };
    memcpy(memory, &record, sizeof(record));
}

void pelt_crowd_data_write(const pelt_bake *bake, void *memory)
{
    data_plan plan = plan_data(bake);
    char *bytes = memory;
    memset(bytes, 0, plan.size);
    const struct pelt_crowd_header header = { .ranges = (uint32_t)plan.ranges,
                                              .boxes = (uint32_t)plan.boxes,
                                              .clips = (uint32_t)plan.clips };
    memcpy(bytes, &header, sizeof(header));
    uint32_t first_range = 0, first_box = 0;
    for (uint32_t i = 0; i < bake->clip_count; i++) {
        const pelt_bake_clip *clip = &bake->clips[i];
        const struct pelt_crowd_clip record = { .duration = (float)clip->duration,
                                                .rate_high = (float)clip->rate,
                                                .rate_low = rest(clip->rate),
                                                .blend_margin = (float)clip->blend_margin,
                                                .first_range = first_range,
                                                .range_count = clip->range_count,
                                                .first_box = first_box,
                                                .dual_margin = (float)clip->dual_margin };
        memcpy(bytes + plan.clips + i * sizeof(record), &record, sizeof(record));
        for (uint32_t k = 0; k < clip->range_count; k++, first_range++) {
            write_range(clip, &clip->ranges[k],
                        bytes + plan.ranges + first_range * sizeof(struct pelt_crowd_range));
        }
        memcpy(bytes + plan.boxes + first_box * sizeof(pelt_box), clip->boxes,
               clip->frame_count * sizeof(pelt_box));
        first_box += clip->frame_count;
    }
}

void pelt_crowd_mesh_write(const pelt_gpu_mesh *mesh, uint32_t first_joint, void *memory)
{
    const struct pelt_crowd_mesh record = { .vertices = mesh->vertices,
                                            .tangents = mesh->tangents,
                                            .weights = mesh->weights,
                                            .joints = mesh->joints,
                                            .vertex_count = mesh->vertex_count,
                                            .set_count = mesh->set_count,
                                            .joints_16 = mesh->joint_bytes == 2,
                                            .first_joint = first_joint };
    memcpy(memory, &record, sizeof(record));
}

static pelt_result check_play(const pelt_host *host, const pelt_bake *bake,
                              const pelt_gpu_play *play)
{
    const char *wrong = NULL;
    if (play->clip < 0 || play->clip >= (int64_t)bake->clip_count) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "a crowd's member: clip %d is none of the bake's %u", play->clip,
                         bake->clip_count);
    }
    if (!(fabs((double)play->speed) <= PELT_POSE_CLOCK_MAX)) {
        wrong = "the speed is not finite or beyond 2^29";
    } else if (!(fabs(play->time) <= PELT_POSE_CLOCK_MAX) ||
               !(fabs(play->since) <= PELT_POSE_CLOCK_MAX)) {
        wrong = "a time is not finite or beyond 2^29 s";
    }
    return wrong ? pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL, "a crowd's member: %s", wrong)
                 : PELT_OK;
}

static pelt_result check(const pelt_host *host, const pelt_bake *bake,
                         const pelt_palette_plan *plan, const pelt_crowd_member *member)
{
    for (int i = 0; member->world && i < 12; i++) {
        if (!(fabs(member->world[i]) <= PELT_MAGNITUDE_MAX)) {
            return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL,
                             "a crowd's member: world has an element that is not finite or beyond "
                             "1e18");
        }
    }
    if (!member->live) {
        return check_play(host, bake, &member->play);
    }
    if (member->agent >= plan->live_count) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "a crowd's member: agent %u is none of the image's %u", member->agent,
                         plan->live_count);
    }
    if (member->box % 4 != 0) {
        return pelt_fail(host, PELT_ERROR_ARGUMENT, NULL, NULL,
                         "a crowd's member: box is not 4-byte aligned");
    }
    return PELT_OK;
}

static struct pelt_pose_play make_play(const pelt_gpu_play *play)
{
    uint64_t since = (uint64_t)pelt_pose_clock(play->since);
    return (struct pelt_pose_play){ .since_low = (uint32_t)since,
                                    .since_high = (uint32_t)(since >> 32),
                                    .time_high = (float)play->time,
                                    .time_low = rest(play->time),
                                    .speed = play->speed,
                                    .clip = (uint32_t)play->clip,
                                    .loop = play->loop };
}

pelt_result pelt_crowd_member_write(const pelt_host *host, const pelt_bake *bake,
                                    const pelt_palette_plan *plan, const pelt_crowd_member *member,
                                    void *memory)
{
    static const double identity[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
    static const uint8_t white[4] = { 255, 255, 255, 255 };
    pelt_result result = check(host, bake, plan, member);
    if (result != PELT_OK) {
        return result;
    }
    const double *world = member->world ? member->world : identity;
    const uint8_t *tint = member->tint ? member->tint : white;
    struct pelt_crowd_state state = {
        .flags = member->hidden ? PELT_MEMBER_HIDDEN : 0,
        .tint =
            tint[0] | (uint32_t)tint[1] << 8 | (uint32_t)tint[2] << 16 | (uint32_t)tint[3] << 24,
    };
    if (member->live) {
        uint32_t layers = (plan->layer_count - plan->live_layer) /
                          ((plan->live_count + plan->height - 1) / plan->height);
        uint32_t layer = plan->live_layer + member->agent / plan->height * layers;
        state.flags |= PELT_MEMBER_LIVE | (member->box ? PELT_MEMBER_BOXED : 0);
        state.place = member->agent % plan->height | layer << 16;
        state.box = member->box;
    } else {
        state.play = make_play(&member->play);
    }
    for (int i = 0; i < 12; i++) {
        state.world[i] = (float)world[i];
    }
    memcpy(memory, &state, sizeof(state));
    return PELT_OK;
}
