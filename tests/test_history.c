/* Which slot holds this frame's vertices and which those before: against a record of every pose
 * that was written, for random lives of instances. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pelt/history.h>
#include <stdlib.h>

static pelt_history_slots advance(pelt_history *history, uint32_t instance, bool unchanged,
                                  bool teleported, uint64_t content)
{
    return pelt_history_advance(history, instance,
                                &(pelt_history_event){ .unchanged = unchanged,
                                                       .teleported = teleported,
                                                       .content = content });
}

/* The table of the header, row by row. */
static void follows_the_table(void **state)
{
    (void)state;
    pelt_history *history = NULL;
    assert_int_equal(pelt_history_create(NULL, &history), PELT_OK);
    const struct {
        bool drawn, unchanged, teleported;
        uint64_t content;
        bool write, moves, first;
    } frames[] = {
        { true, true, false, 7, true, false, true },   /* appears: skinned, whatever it says */
        { true, false, false, 7, true, true, false },  /* moves */
        { true, false, false, 7, true, true, false },  /* again */
        { true, true, false, 7, false, false, false }, /* rests */
        { true, true, false, 7, false, false, false }, /* on */
        { true, false, false, 7, true, true, false },  /* moves again */
        { true, false, true, 7, true, false, true },   /* teleported */
        { true, true, true, 7, false, false, true },   /* the same pose elsewhere */
        { true, false, false, 7, true, true, false },  /* moves */
        { true, false, false, 8, true, false, true },  /* another level of detail */
        { true, true, false, 7, true, false, true },   /* and back: must be skinned */
        { false, false, false, 0, false, false, false },
        { true, true, false, 7, true, false, true }, /* was not drawn */
        { true, false, false, 7, true, true, false },
    };
    uint32_t newest = 0;
    for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
        assert_int_equal(pelt_history_begin(history, 3), PELT_OK);
        if (!frames[i].drawn) {
            continue;
        }
        pelt_history_slots slots =
            advance(history, 2, frames[i].unchanged, frames[i].teleported, frames[i].content);
        assert_int_equal(slots.write, frames[i].write);
        assert_int_equal(slots.first, frames[i].first);
        assert_int_equal(slots.current, frames[i].write ? 1 - newest : newest);
        assert_int_equal(slots.previous, frames[i].moves ? newest : slots.current);
        newest = slots.current;
    }
    pelt_history_destroy(history);
    pelt_history_destroy(NULL);
}

static void answers_the_same_within_a_frame(void **state)
{
    (void)state;
    pelt_history *history = NULL;
    assert_int_equal(pelt_history_create(NULL, &history), PELT_OK);
    for (uint32_t frame = 0; frame < 4; frame++) {
        assert_int_equal(pelt_history_begin(history, 1), PELT_OK);
        pelt_history_slots once = advance(history, 0, false, false, 1);
        pelt_history_slots twice = advance(history, 0, true, true, 2);
        assert_int_equal(once.current, twice.current);
        assert_int_equal(once.previous, twice.previous);
        assert_int_equal(once.write, twice.write);
        assert_int_equal(once.first, twice.first);
    }
    pelt_history_forget(history, 0);
    pelt_history_forget(history, 1000);
    assert_int_equal(pelt_history_begin(history, 1), PELT_OK);
    pelt_history_slots slots = advance(history, 0, true, false, 1);
    assert_true(slots.write && slots.first && slots.previous == slots.current);
    pelt_history_destroy(history);
}

/* What an instance's slots hold: numbers of poses. */
typedef struct life {
    uint32_t slots[2];
    uint32_t pose;      /* of this frame */
    uint32_t last_pose; /* of the frame before; 0: it was not drawn */
    uint64_t content, last_content;
} life;

/* Numbers stand for vertices: a slot holds what was written into it last, and the previous slot
 * must hold the pose of the frame before. */
static void the_previous_slot_holds_the_frame_before(void **state)
{
    (void)state;
    enum { INSTANCES = 40, FRAMES = 2000 };
    pelt_history *history = NULL;
    assert_int_equal(pelt_history_create(NULL, &history), PELT_OK);
    life *lives = calloc(INSTANCES, sizeof(*lives));
    assert_non_null(lives);
    uint64_t random = 1;
    uint32_t next_pose = 1, writes = 0, rests = 0, motions = 0;
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        /* The count changes, too. */
        uint32_t count = 1 + frame / 7 % INSTANCES;
        assert_int_equal(pelt_history_begin(history, count), PELT_OK);
        for (uint32_t i = 0; i < INSTANCES; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            uint32_t dice = (uint32_t)(random >> 40);
            life *self = &lives[i];
            if (i >= count || dice % 11 == 0) {
                self->last_pose = 0;
                continue;
            }
            bool unchanged = dice / 11 % 3 != 0 && self->pose != 0;
            bool teleported = dice / 33 % 17 == 0;
            self->content += dice / 561 % 23 == 0;
            self->pose = unchanged ? self->pose : next_pose++;
            pelt_history_slots slots = advance(history, i, unchanged, teleported, self->content);
            if (slots.write) {
                self->slots[slots.current] = self->pose;
                writes++;
            } else {
                rests++;
            }
            assert_int_equal(self->slots[slots.current], self->pose);
            bool known = self->last_pose != 0 && self->last_content == self->content;
            uint32_t before = known && !teleported ? self->last_pose : self->pose;
            assert_int_equal(self->slots[slots.previous], before);
            assert_int_equal(slots.first, !known || teleported);
            /* Nothing is written twice. */
            assert_int_equal(slots.write, !known || !unchanged);
            motions += slots.previous != slots.current;
            self->last_pose = self->pose;
            self->last_content = self->content;
        }
    }
    assert_true(writes > 1000 && rests > 1000 && motions > 1000);
    free(lives);
    pelt_history_destroy(history);
}

static void *no_memory(void *user, void *block, size_t size)
{
    int *left = user;
    if (size > 0 && (*left)-- <= 0) {
        return NULL;
    }
    if (size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, size);
}

static void survives_a_lack_of_memory(void **state)
{
    (void)state;
    int left = 0;
    const pelt_host host = { .user = &left, .allocate = no_memory };
    pelt_history *history = NULL;
    assert_int_equal(pelt_history_create(&host, &history), PELT_ERROR_MEMORY);
    assert_null(history);
    left = 2;
    assert_int_equal(pelt_history_create(&host, &history), PELT_OK);
    assert_int_equal(pelt_history_begin(history, 1), PELT_OK);
    pelt_history_slots slots = advance(history, 0, false, false, 1);
    assert_int_equal(pelt_history_begin(history, 100), PELT_ERROR_MEMORY);
    assert_int_equal(pelt_history_begin(history, UINT32_MAX), PELT_ERROR_MEMORY);
    /* The frame before is still that. */
    assert_int_equal(pelt_history_begin(history, 1), PELT_OK);
    assert_int_equal(advance(history, 0, false, false, 1).previous, slots.current);
    pelt_history_destroy(history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_table),
        cmocka_unit_test(answers_the_same_within_a_frame),
        cmocka_unit_test(the_previous_slot_holds_the_frame_before),
        cmocka_unit_test(survives_a_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
