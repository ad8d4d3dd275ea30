/* The crowd pass: where members are in their clips, who is seen, and in which order. */
#include "tests/gpu.h"

#include "pelt/crowd_layout.h"

#include <math.h>
#include <pelt/crowd.h>

/* splitmix64 */
static uint64_t random_state = 7;

static double uniform(double low, double high)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return low + (high - low) * ((double)((z ^ (z >> 31)) >> 11) * 0x1p-53);
}

static uint32_t below(uint32_t count)
{
    return (uint32_t)uniform(0, count);
}

/* Clips as a bake would have them; nothing here needs texels. */
enum { CLIPS = 4, LONG_ROWS = 4000 };
static pelt_box boxes[CLIPS][LONG_ROWS];
static pelt_bake_range whole[] = { { .end = 2.05, .layer = 1, .first_row = 5, .row_count = 63 } };
static pelt_bake_range jumps[] = {
    { .end = 0.25, .layer = 2, .first_row = 9, .row_count = 1, .jump = true },
    { .start = 0.25, .end = 0.85, .layer = 2, .first_row = 10, .row_count = 16, .first_frame = 1 },
    { .start = 0.85, .end = 1.2, .layer = 0, .first_row = 3, .row_count = 10, .first_frame = 17 },
    { .start = 1.2, .end = 1.2, .layer = 7, .first_row = 40, .row_count = 1, .first_frame = 27 },
};
static pelt_bake_range endless[] = {
    { .end = 3999.0 / 29.97, .layer = 3, .first_row = 61000, .row_count = LONG_ROWS },
};
static pelt_bake_range still[] = { { .layer = 65535, .first_row = 65535, .row_count = 1 } };
static pelt_bake_clip clips[CLIPS] = {
    { .duration = 2.05, .rate = 30, .range_count = 1, .ranges = whole, .frame_count = 63 },
    { .duration = 1.2, .rate = 25, .range_count = 4, .ranges = jumps, .frame_count = 28 },
    { .rate = 29.97, .range_count = 1, .ranges = endless, .frame_count = LONG_ROWS },
    { .rate = 30, .range_count = 1, .ranges = still, .frame_count = 1 },
};
static pelt_bake bake = { .joint_count = 4,
                          .joints_per_layer = 4,
                          .width = 12,
                          .height = 100,
                          .layer_count = 10,
                          .clip_count = CLIPS,
                          .clips = clips };
static const pelt_palette_plan no_live = { .height = 100 };

static void fill_boxes(void)
{
    for (uint32_t c = 0; c < CLIPS; c++) {
        clips[c].boxes = boxes[c];
        for (uint32_t f = 0; f < clips[c].frame_count; f++) {
            for (int k = 0; k < 3; k++) {
                boxes[c][f].min[k] = (float)uniform(-1, 0);
                boxes[c][f].max[k] = (float)uniform(0.1, 1);
            }
        }
    }
    /* As a bake's durations, a float. */
    clips[0].duration = whole[0].end = (double)2.05f;
    clips[1].duration = jumps[2].end = jumps[3].start = jumps[3].end = (double)1.2f;
    clips[2].duration = endless[0].end = (double)(float)endless[0].end;
}

/* What a call of the pass reads and writes. */
typedef struct crowd {
    pelt_headless *device;
    pelt_crowd_pass *pass;
    uint32_t count, draw_count, draw_words;
    pelt_bake_skinning skinning;
    pelt_buffer data, members, instances, scratch, draws;
} crowd;

static void *make_buffer(size_t size, pelt_buffer *out)
{
    assert_int_equal(pelt_buffer_create(gpu_device(), size, 0, PELT_MEMORY_UPLOAD, out), PELT_OK);
    return out->mapped;
}

static crowd open_crowd(uint32_t count, uint32_t draw_count, uint32_t draw_words)
{
    crowd c = {
        .device = gpu_device(), .count = count, .draw_count = draw_count, .draw_words = draw_words
    };
    fill_boxes();
    const pelt_crowd_pass_info info = { .vulkan = &c.device->vulkan };
    assert_int_equal(pelt_crowd_pass_create(&gpu_host, &info, &c.pass), PELT_OK);
    pelt_crowd_data_write(&bake, make_buffer(pelt_crowd_data_size(&bake), &c.data));
    assert_true(pelt_crowd_scratch_size(count) >= 16);
    make_buffer((size_t)count * PELT_CROWD_MEMBER_SIZE, &c.members);
    make_buffer((size_t)count * PELT_CROWD_INSTANCE_SIZE, &c.instances);
    make_buffer(pelt_crowd_scratch_size(count), &c.scratch);
    memset(make_buffer((size_t)draw_count * draw_words * 4, &c.draws), 0x5a,
           (size_t)draw_count * draw_words * 4);
    return c;
}

static void close_crowd(crowd *c)
{
    pelt_buffer *all[] = { &c->data, &c->members, &c->instances, &c->scratch, &c->draws };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        pelt_buffer_destroy(c->device, all[i]);
    }
    pelt_crowd_pass_destroy(c->pass);
}

static void put(const crowd *c, uint32_t index, const pelt_crowd_member *member)
{
    char *memory = c->members.mapped;
    assert_int_equal(pelt_crowd_member_write(&gpu_host, &bake, &no_live, member,
                                             memory + (size_t)index * PELT_CROWD_MEMBER_SIZE),
                     PELT_OK);
}

/* Runs the pass; how many instances there are. Every draw says so, in its second word alone. */
static uint32_t run(const crowd *c, double now, const float *view,
                    pelt_bake_interpolation interpolation)
{
    VkCommandBuffer commands;
    const pelt_crowd_frame frame = { .data = c->data.address,
                                     .members = c->members.address,
                                     .member_count = c->count,
                                     .instances = c->instances.address,
                                     .scratch = c->scratch.address,
                                     .draws = c->draws.address,
                                     .draw_count = c->draw_count,
                                     .draw_stride = 4 * c->draw_words,
                                     .now = now,
                                     .view = view,
                                     .interpolation = interpolation,
                                     .skinning = c->skinning };
    memset(c->instances.mapped, 0xff, (size_t)c->count * PELT_CROWD_INSTANCE_SIZE);
    assert_int_equal(pelt_commands_begin(c->device, &commands), PELT_OK);
    pelt_cmd_crowd(c->pass, commands, &frame);
    assert_int_equal(pelt_commands_submit(c->device, commands), PELT_OK);
    const uint32_t *words = c->draws.mapped;
    for (uint32_t i = 0; i < c->draw_count * c->draw_words; i++) {
        assert_int_equal(words[i], i % c->draw_words == 1 ? words[1] : 0x5a5a5a5a);
    }
    return words[1];
}

/* Rows of a layer as one number: where one interval ends is where the next begins. */
static void check_place(const struct pelt_crowd_instance *instance, const pelt_bake_place *place,
                        bool nearest)
{
    double row = place->row + place->fraction * (place->next_row - place->row);
    double error = (instance->place & 0xffff) + (double)instance->fraction - row;
    assert_int_equal(instance->place >> 16, place->layer);
    assert_true(instance->fraction >= 0 && instance->fraction <= 1);
    if (nearest) {
        assert_true(instance->fraction == 0 && fabs(error) <= 0.5 + 1e-6);
    } else {
        assert_true(fabs(error) <= 1e-6);
    }
}

/* Times within the clips, at their rows, at their ends, and anywhere. */
static double some_time(uint32_t clip, uint32_t i)
{
    double duration = clips[clip].duration;
    const pelt_bake_range *range = &clips[clip].ranges[i / 8 % clips[clip].range_count];
    switch (i % 8) {
    case 0:
        return range->start;
    case 1:
        return range->end;
    case 2:
        return range->start + below(range->row_count) / clips[clip].rate;
    case 3:
        return uniform(-3, 3) * duration;
    default:
        return uniform(0, 1) * duration;
    }
}

static void members_are_where_the_cpu_finds_them(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    crowd c = open_crowd(COUNT, 1, 5);
    static double times[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t clip = i % CLIPS;
        times[i] = some_time(clip, i / CLIPS);
        const pelt_crowd_member member = {
            .play = { .clip = (int32_t)clip, .time = times[i], .loop = i % 3 == 0 }
        };
        put(&c, i, &member);
    }
    for (int nearest = 0; nearest < 2; nearest++) {
        assert_int_equal(run(&c, 12.5, NULL, nearest ? PELT_BAKE_NEAREST : PELT_BAKE_LERP), COUNT);
        const struct pelt_crowd_instance *instances = c.instances.mapped;
        for (uint32_t i = 0; i < COUNT; i++) {
            pelt_bake_place place = pelt_bake_locate(&clips[i % CLIPS], times[i], i % 3 == 0);
            assert_int_equal(instances[i].member, i);
            check_place(&instances[i], &place, nearest);
        }
    }
    close_crowd(&c);
}

/* A clock that has run for a year, and speeds. */
static void clocks_keep_their_precision(void **state)
{
    (void)state;
    enum { COUNT = 900 };
    crowd c = open_crowd(COUNT, 1, 4);
    static double times[COUNT];
    const double now = 31536000.25;
    for (uint32_t i = 0; i < COUNT; i++) {
        double ago = below(4000) / 16.0;
        pelt_gpu_play play = { .clip = (int32_t)(i % CLIPS), .loop = true };
        play.speed = (float)below(9) / 4 - 1;
        play.time = uniform(0, 1);
        play.since = now - ago;
        times[i] = play.time + ago * (double)play.speed;
        put(&c, i, &(pelt_crowd_member){ .play = play });
    }
    assert_int_equal(run(&c, now, NULL, PELT_BAKE_BLEND), COUNT);
    const struct pelt_crowd_instance *instances = c.instances.mapped;
    for (uint32_t i = 0; i < COUNT; i++) {
        pelt_bake_place place = pelt_bake_locate(&clips[i % CLIPS], times[i], true);
        check_place(&instances[i], &place, false);
    }
    close_crowd(&c);
}

/* Perspective from eye towards target, by columns, in Vulkan's clip space. */
static void look(const double eye[3], const double target[3], float view[16])
{
    double back[3], right[3], up[3], length = 0;
    for (int k = 0; k < 3; k++) {
        back[k] = eye[k] - target[k];
        length += back[k] * back[k];
    }
    for (int k = 0; k < 3; k++) {
        back[k] /= sqrt(length);
    }
    length = sqrt(back[0] * back[0] + back[2] * back[2]);
    right[0] = back[2] / length, right[1] = 0, right[2] = -back[0] / length;
    up[0] = back[1] * right[2];
    up[1] = back[2] * right[0] - back[0] * right[2];
    up[2] = -back[1] * right[0];
    /* Slopes 0.6 and 0.4, from 0.5 to 40. */
    const double near = 0.5, far = 40;
    for (int k = 0; k < 4; k++) {
        double r = 0, u = 0, b = 0;
        for (int i = 0; i < 3; i++) {
            double at = k < 3 ? (double)(i == k) : -eye[i];
            r += right[i] * at, u += up[i] * at, b += back[i] * at;
        }
        view[4 * k] = (float)(r / 0.6);
        view[4 * k + 1] = (float)(-u / 0.4);
        view[4 * k + 2] =
            (float)(-b * far / (far - near) - (k == 3 ? near * far / (far - near) : 0));
        view[4 * k + 3] = (float)-b;
    }
}

/* How far the box reaches inside of each plane of the view, at most; the least of them: below 0,
 * it is outside as a whole. And whether a corner is inside of all. */
static double reach(const pelt_box *box, double margin, const double world[12],
                    const float view[16], bool *corner_inside)
{
    double most[6] = { -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY };
    *corner_inside = false;
    for (int c = 0; c < 8; c++) {
        double corner[4], at[4] = { 0, 0, 0, 1 }, clip[4] = { 0 };
        for (int k = 0; k < 3; k++) {
            corner[k] = c >> k & 1 ? (double)box->max[k] + margin : (double)box->min[k] - margin;
        }
        for (int k = 0; k < 3; k++) {
            const double *row = world + 4 * (size_t)k;
            at[k] = row[0] * corner[0] + row[1] * corner[1] + row[2] * corner[2] + row[3];
        }
        for (int k = 0; k < 16; k++) {
            clip[k % 4] += (double)view[k] * at[k / 4];
        }
        const double sides[6] = { clip[3] + clip[0], clip[3] - clip[0], clip[3] + clip[1],
                                  clip[3] - clip[1], clip[2],           clip[3] - clip[2] };
        double least = INFINITY;
        for (int k = 0; k < 6; k++) {
            most[k] = fmax(most[k], sides[k]);
            least = fmin(least, sides[k]);
        }
        *corner_inside |= least >= 0;
    }
    double least = INFINITY;
    for (int k = 0; k < 6; k++) {
        least = fmin(least, most[k]);
    }
    return least;
}

static pelt_box box_between(const pelt_bake_clip *clip, const pelt_bake_place *place)
{
    pelt_box box = clip->boxes[place->frame];
    const pelt_box *next = &clip->boxes[place->next_frame];
    for (int k = 0; k < 3 && place->fraction > 0; k++) {
        box.min[k] = fminf(box.min[k], next->min[k]);
        box.max[k] = fmaxf(box.max[k], next->max[k]);
    }
    return box;
}

static void random_world(double world[12])
{
    for (int i = 0; i < 12; i++) {
        world[i] = i % 4 == 3 ? uniform(-15, 15) : uniform(-1, 1);
    }
}

static void what_is_seen_is_kept_in_order(void **state)
{
    (void)state;
    enum { COUNT = 1000, VIEWS = 60 };
    crowd c = open_crowd(COUNT, 3, 5);
    static double worlds[COUNT][12], times[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        random_world(worlds[i]);
        times[i] = uniform(0, 1.2);
        const pelt_crowd_member member = {
            .play = { .clip = (int32_t)(i % CLIPS), .time = times[i] },
            .world = worlds[i],
            .hidden = i % 17 == 0,
        };
        put(&c, i, &member);
    }
    for (uint32_t k = 0; k < CLIPS; k++) {
        clips[k].blend_margin = 0.25;
        clips[k].dual_margin = 0.5;
    }
    pelt_crowd_data_write(&bake, c.data.mapped);
    uint32_t seen_in_all = 0;
    for (uint32_t v = 0; v < VIEWS; v++) {
        bool blends = v % 2, dual = v % 4 > 1;
        double eye[3], target[3];
        for (int k = 0; k < 3; k++) {
            eye[k] = uniform(-20, 20);
            target[k] = uniform(-10, 10);
        }
        float view[16];
        look(eye, target, view);
        c.skinning = dual ? PELT_BAKE_DUAL : PELT_BAKE_LINEAR;
        uint32_t seen = run(&c, 3.25, view, blends ? PELT_BAKE_BLEND : PELT_BAKE_LERP), next = 0;
        /* Dual quaternions always blend between rows. */
        double margin = (blends || dual ? 0.25 : 0) + (dual ? 0.5 : 0);
        const struct pelt_crowd_instance *instances = c.instances.mapped;
        for (uint32_t i = 0; i < COUNT; i++) {
            const pelt_bake_clip *clip = &clips[i % CLIPS];
            pelt_bake_place place = pelt_bake_locate(clip, times[i], false);
            pelt_box box = box_between(clip, &place);
            bool corner, kept = next < seen && instances[next].member == i;
            double inside = reach(&box, margin, worlds[i], view, &corner);
            next += kept;
            if (i % 17 == 0) {
                assert_false(kept);
            } else if (corner || inside >= 0) {
                assert_true(kept);
            } else if (inside < -1e-3) {
                assert_false(kept);
            }
        }
        assert_int_equal(next, seen);
        seen_in_all += seen;
    }
    /* Neither all nor none. */
    assert_in_range(seen_in_all, COUNT * VIEWS / 50, COUNT * VIEWS / 2);
    close_crowd(&c);
}

/* Counts around words of bits and workgroups, and every member's record comes through whole. */
static void any_number_of_members(void **state)
{
    (void)state;
    static const uint32_t counts[] = { 0, 1, 31, 32, 33, 127, 128, 129, 4096, 20001 };
    for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
        uint32_t count = counts[k], hidden = 0;
        crowd c = open_crowd(count, 200, 5);
        for (uint32_t i = 0; i < count; i++) {
            const uint8_t tint[4] = { (uint8_t)i, (uint8_t)(i >> 8), 7, 200 };
            double world[12];
            for (int e = 0; e < 12; e++) {
                world[e] = i + e / 16.0;
            }
            const pelt_crowd_member member = { .world = world,
                                               .tint = tint,
                                               .hidden = i % 5 == 3 || i % 128 < 40 };
            hidden += member.hidden;
            put(&c, i, &member);
        }
        assert_int_equal(run(&c, 0, NULL, PELT_BAKE_LERP), count - hidden);
        const struct pelt_crowd_instance *instance = c.instances.mapped;
        for (uint32_t i = 0; i < count; i++) {
            if (i % 5 == 3 || i % 128 < 40) {
                continue;
            }
            assert_int_equal(instance->member, i);
            assert_int_equal(instance->tint, 0xc8070000 | (i & 0xffff));
            for (int e = 0; e < 12; e++) {
                assert_true(instance->world[e] == (float)(i + e / 16.0));
            }
            instance++;
        }
        close_crowd(&c);
    }
}

static void live_members_have_rows_and_boxes_of_their_own(void **state)
{
    (void)state;
    enum { COUNT = 300 };
    pelt_palette_plan plan;
    assert_int_equal(pelt_palette_plan_make(&gpu_host, &bake, COUNT, 128, 0, &plan), PELT_OK);
    /* 300 rows on pages of 128: three, and the bake's 10. */
    assert_int_equal(plan.height, 128);
    assert_int_equal(plan.live_layer, 10);
    assert_int_equal(plan.layer_count, 13);
    crowd c = open_crowd(COUNT, 1, 5);
    pelt_buffer given;
    pelt_box *box = make_buffer(2 * sizeof(pelt_box), &given);
    box[0] = (pelt_box){ { -1, -1, -1 }, { 1, 1, 1 } };
    box[1] = (pelt_box){ { 99, 99, 99 }, { 100, 100, 100 } };
    for (uint32_t i = 0; i < COUNT; i++) {
        const pelt_crowd_member member = {
            .live = true,
            .agent = i,
            .box = i % 3 == 2 ? 0 : given.address + i % 3 * sizeof(pelt_box),
        };
        char *memory = c.members.mapped;
        assert_int_equal(pelt_crowd_member_write(&gpu_host, &bake, &plan, &member,
                                                 memory + (size_t)i * PELT_CROWD_MEMBER_SIZE),
                         PELT_OK);
    }
    float view[16];
    look((const double[3]){ 0, 0, 5 }, (const double[3]){ 0, 0, 0 }, view);
    assert_int_equal(run(&c, 0, view, PELT_BAKE_LERP), 200);
    const struct pelt_crowd_instance *instance = c.instances.mapped;
    for (uint32_t i = 0; i < COUNT; i++) {
        if (i % 3 != 1) {
            assert_int_equal(instance->member, i);
            assert_int_equal(instance->place & 0xffff, i % 128);
            assert_int_equal(instance->place >> 16, 10 + i / 128);
            assert_true(instance->fraction == 0);
            instance++;
        }
    }
    pelt_buffer_destroy(c.device, &given);
    close_crowd(&c);
}

static void bad_members_are_refused(void **state)
{
    (void)state;
    const double nowhere[12] = { NAN };
    const pelt_palette_plan plan = { .height = 4, .layer_count = 1, .live_count = 1 };
    const pelt_crowd_member bad[] = {
        { .play = { .clip = -1 } },        { .play = { .clip = CLIPS } },
        { .play = { .time = NAN } },       { .play = { .since = 1e30 } },
        { .play = { .speed = INFINITY } }, { .world = nowhere },
        { .live = true, .agent = 1 },      { .live = true, .box = 2 },
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        uint8_t memory[PELT_CROWD_MEMBER_SIZE] = { 0 };
        assert_int_equal(pelt_crowd_member_write(&gpu_host, &bake, &plan, &bad[i], memory),
                         PELT_ERROR_ARGUMENT);
        for (size_t k = 0; k < sizeof(memory); k++) {
            assert_int_equal(memory[k], 0);
        }
    }
    const pelt_crowd_pass_info nothing = { 0 };
    pelt_crowd_pass *pass;
    assert_int_equal(pelt_crowd_pass_create(&gpu_host, &nothing, &pass), PELT_ERROR_ARGUMENT);
    assert_null(pass);
    pelt_crowd_pass_destroy(NULL);
}

/* Two palettes of 3 and 2 joints, four of which fit a layer; in the bake in the other order. */
static void check_live_rows(uint32_t texels)
{
    pelt_palette palettes[] = { { .node = 4, .matrix_count = 3 },
                                { .skin = 1, .node = 5, .first_matrix = 3, .matrix_count = 2 } };
    const pelt_model model = { .palettes = palettes, .palette_count = 2, .matrix_count = 5 };
    pelt_bake_palette baked[] = { { .skin = 1, .node = 5, .joint_count = 2 },
                                  { .node = 4, .first_joint = 2, .joint_count = 3 } };
    const pelt_bake split = { .layout =
                                  texels == 2 ? PELT_BAKE_DUAL_QUATERNION : PELT_BAKE_MATRIX_3X4,
                              .texels_per_joint = texels,
                              .joint_count = 5,
                              .joints_per_layer = 4,
                              .width = 4 * texels,
                              .height = 6,
                              .layer_count = 2,
                              .palette_count = 2,
                              .palettes = baked };
    pelt_palette_plan plan;
    assert_int_equal(pelt_palette_plan_make(&gpu_host, &split, 20, 12, 0, &plan), PELT_OK);
    assert_int_equal(plan.height, 12);
    assert_int_equal(plan.layer_count, 2 + 2 * 2);
    VkBufferImageCopy regions[8];
    uint32_t count = 0;
    assert_int_equal(
        pelt_palette_live_copies(&gpu_host, &plan, &split, &model, 11, 2, 480, NULL, &count),
        PELT_OK);
    assert_int_equal(count, 6);
    count = 5;
    assert_int_equal(
        pelt_palette_live_copies(&gpu_host, &plan, &split, &model, 11, 2, 480, regions, &count),
        PELT_ERROR_ARGUMENT);
    count = 8;
    assert_int_equal(
        pelt_palette_live_copies(&gpu_host, &plan, &split, &model, 11, 2, 480, regions, &count),
        PELT_OK);
    assert_int_equal(count, 6);
    /* Agent 11 has row 11 of layers 2 and 3, agent 12 row 0 of layers 4 and 5. Of each: matrices 3
     * and 4 to joints 0 and 1, matrices 0 and 1 to joints 2 and 3, matrix 2 to joint 0 of the next.
     */
    static const struct {
        uint32_t matrix, count, joint, layer, row;
    } wanted[] = {
        { 3, 2, 0, 2, 11 }, { 0, 2, 2, 2, 11 }, { 2, 1, 0, 3, 11 },
        { 8, 2, 0, 4, 0 },  { 5, 2, 2, 4, 0 },  { 7, 1, 0, 5, 0 },
    };
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(regions[i].bufferOffset, 480 + 16 * texels * wanted[i].matrix);
        assert_int_equal(regions[i].bufferRowLength, 5 * texels);
        assert_int_equal(regions[i].imageSubresource.baseArrayLayer, wanted[i].layer);
        assert_int_equal(regions[i].imageSubresource.layerCount, 1);
        assert_int_equal(regions[i].imageOffset.x, texels * wanted[i].joint);
        assert_int_equal(regions[i].imageOffset.y, wanted[i].row);
        assert_int_equal(regions[i].imageExtent.width, texels * wanted[i].count);
        assert_int_equal(regions[i].imageExtent.height, 1);
    }
    count = 0;
    assert_int_equal(
        pelt_palette_live_copies(&gpu_host, &plan, &split, &model, 19, 2, 0, NULL, &count),
        PELT_ERROR_ARGUMENT);
    palettes[0].matrix_count = 2;
    assert_int_equal(
        pelt_palette_live_copies(&gpu_host, &plan, &split, &model, 0, 1, 0, NULL, &count),
        PELT_ERROR_ARGUMENT);
}

static void live_rows_go_where_the_shader_reads(void **state)
{
    (void)state;
    check_live_rows(3);
    check_live_rows(2);
}

static void images_that_no_device_has_are_refused(void **state)
{
    (void)state;
    pelt_palette_plan plan;
    pelt_bake other = bake;
    other.layout = PELT_BAKE_MATRIX_4X4;
    assert_int_equal(pelt_palette_plan_make(&gpu_host, &other, 1, 0, 0, &plan),
                     PELT_ERROR_UNSUPPORTED);
    assert_int_equal(pelt_palette_plan_make(&gpu_host, &other, 0, 0, 0, &plan), PELT_OK);
    assert_int_equal(plan.format, VK_FORMAT_R32G32B32A32_SFLOAT);
    other.layout = PELT_BAKE_DUAL_QUATERNION;
    assert_int_equal(pelt_palette_plan_make(&gpu_host, &other, 1, 0, 0, &plan), PELT_OK);
    other = bake;
    other.format = PELT_BAKE_RGBA16F;
    assert_int_equal(pelt_palette_plan_make(&gpu_host, &other, 1, 0, 0, &plan),
                     PELT_ERROR_UNSUPPORTED);
    assert_int_equal(pelt_palette_plan_make(&gpu_host, &other, 0, 0, 0, &plan), PELT_OK);
    assert_int_equal(plan.format, VK_FORMAT_R16G16B16A16_SFLOAT);
    assert_int_equal(pelt_palette_plan_make(&gpu_host, &bake, 0, 99, 0, &plan), PELT_ERROR_RANGE);
    assert_int_equal(pelt_palette_plan_make(&gpu_host, &bake, 0, 0, 9, &plan), PELT_ERROR_RANGE);
    assert_int_equal(pelt_palette_plan_make(&gpu_host, &bake, 101, 100, 11, &plan),
                     PELT_ERROR_RANGE);
    assert_int_equal(pelt_palette_plan_make(&gpu_host, &bake, 101, 0, 11, &plan), PELT_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_where_the_cpu_finds_them),
        cmocka_unit_test(clocks_keep_their_precision),
        cmocka_unit_test(what_is_seen_is_kept_in_order),
        cmocka_unit_test(any_number_of_members),
        cmocka_unit_test(live_members_have_rows_and_boxes_of_their_own),
        cmocka_unit_test(bad_members_are_refused),
        cmocka_unit_test(live_rows_go_where_the_shader_reads),
        cmocka_unit_test(images_that_no_device_has_are_refused),
    };
    return gpu_result(cmocka_run_group_tests(tests, gpu_setup, gpu_teardown));
}
