/* SPDX-License-Identifier: MIT */
/* pelt/history.h: which of two output buffers holds an instance's vertices of this frame, and which
 * those of the frame before. Motion vectors then need no copy.
 *
 * Every instance has two slots for its outputs. A frame that skins it writes the slot that does not
 * hold its newest vertices; a frame that does not skin it writes nothing. Slots alternate by what
 * was written, not by the number of the frame, so the newest vertices are the pose of the frame
 * before however long ago they were written:
 *
 *     the instance                      written   current     previous          motion
 *     appears, or was not drawn         one       that one    the same          0
 *     moves                             other     that one    the one before    this - last frame
 *     does not move, however long       none      stays       the same          0
 *     moves again                       other     that one    the one before    this - last frame
 *     moves, is teleported              other     that one    the same          0
 *     is of another mesh or LOD         other     that one    the same          0
 *
 * Vertex v of the previous slot is then bit for bit vertex v of the frame before.
 *
 * docs/ray-tracing.md has the rules for transforms, and for more frames in flight.
 */
#ifndef PELT_HISTORY_H
#define PELT_HISTORY_H

#include <pelt/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pelt_history pelt_history;

/* What is known of an instance in a frame. */
typedef struct pelt_history_event {
    /* Its pose and streams are those of the frame before: it need not be skinned. */
    bool unchanged;

    /* A cut: where it was is not where it came from. */
    bool teleported;

    /* Which vertices it has: any number that differs between meshes and levels of detail. */
    uint64_t content;
} pelt_history_event;

typedef struct pelt_history_slots {
    uint32_t current;  /* 0 or 1: this frame's vertices */
    uint32_t previous; /* those of the frame before; the same one where nothing moves */
    bool write;        /* current must be skinned in this frame; else pelt_gpu_instance.skip */

    /* There is no frame before: it appears, was teleported or is of another content. Whoever keeps
     * transforms or anything else for motion starts anew as well. */
    bool first;
} pelt_history_slots;

/* Errors: PELT_ERROR_MEMORY. */
PELT_API pelt_result pelt_history_create(const pelt_host *host, pelt_history **out);
PELT_API void pelt_history_destroy(pelt_history *history);

/* Begins a frame of instances 0 to instance_count - 1, before any of them is advanced. More than
 * before are new; those beyond are forgotten. Errors: PELT_ERROR_MEMORY (nothing has changed). */
PELT_API pelt_result pelt_history_begin(pelt_history *history, uint32_t instance_count);

/* What the instance's slots are in this frame, once it is known what happens to it. Whoever is not
 * drawn is not advanced, and appears anew later. Advancing again in a frame gives the same slots
 * and ignores event. instance must be less than instance_count. */
PELT_API pelt_history_slots pelt_history_advance(pelt_history *history, uint32_t instance,
                                                 const pelt_history_event *event);

/* Nothing of the instance's slots is what it was: they were moved, or what should have been skinned
 * was not. Like one that was not drawn, it appears anew in the next frame. */
PELT_API void pelt_history_forget(pelt_history *history, uint32_t instance);

#ifdef __cplusplus
}
#endif
#endif
