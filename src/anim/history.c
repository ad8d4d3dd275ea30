/* Whose vertices of the frame before lie where. */
#include "base/base.h"

#include <pelt/history.h>

typedef struct entry {
    uint64_t content;
    uint64_t frame; /* in which it was advanced last; 0: never, or forgotten */
    pelt_history_slots slots;
} entry;

struct pelt_history {
    const pelt_host *host;
    uint64_t frame; /* the first one is 2, so that entries that never were are no frame before it */
    uint32_t capacity;
    entry *entries;
};

pelt_result pelt_history_create(const pelt_host *host, pelt_history **out)
{
    pelt_history *history = pelt_allocate(host, 1, sizeof(*history));
    *out = history;
    if (!history) {
        return pelt_fail(host, PELT_ERROR_MEMORY, NULL, NULL, "no memory for a history");
    }
    history->host = host;
    history->frame = 1;
    return PELT_OK;
}

void pelt_history_destroy(pelt_history *history)
{
    if (!history) {
        return;
    }
    pelt_release(history->host, history->entries);
    pelt_release(history->host, history);
}

pelt_result pelt_history_begin(pelt_history *history, uint32_t instance_count)
{
    if (instance_count > history->capacity) {
        size_t size = 0;
        entry *grown = pelt_multiply(instance_count, sizeof(*grown), &size)
                           ? pelt_reallocate(history->host, history->entries, size)
                           : NULL;
        if (!grown) {
            return pelt_fail(history->host, PELT_ERROR_MEMORY, NULL, NULL,
                             "no memory for the history of %u instances", instance_count);
        }
        for (uint32_t i = history->capacity; i < instance_count; i++) {
            grown[i] = (entry){ 0 };
        }
        history->entries = grown;
        history->capacity = instance_count;
    }
    history->frame++;
    return PELT_OK;
}

pelt_history_slots pelt_history_advance(pelt_history *history, uint32_t instance,
                                        const pelt_history_event *event)
{
    entry *self = &history->entries[instance];
    if (self->frame == history->frame) {
        return self->slots;
    }
    bool known = self->frame == history->frame - 1 && self->content == event->content;
    uint32_t newest = self->slots.current;
    if (known && event->unchanged) {
        self->slots.previous = newest;
        self->slots.write = false;
    } else {
        self->slots.current = 1 - newest;
        self->slots.previous = known && !event->teleported ? newest : self->slots.current;
        self->slots.write = true;
    }
    self->slots.first = !known || event->teleported;
    self->content = event->content;
    self->frame = history->frame;
    return self->slots;
}

void pelt_history_forget(pelt_history *history, uint32_t instance)
{
    if (instance < history->capacity) {
        history->entries[instance].frame = 0;
    }
}
