/* A crowd: where its members stand, where each looks, and at which time each plays its clip. */
#ifndef PELT_CLI_CROWD_H
#define PELT_CLI_CROWD_H

#include "cli/scene.h"

/* One member stands where its file puts it, at the play's time. More stand in a grid on the ground
 * (x and z), as far apart as the character is large during the clip, each at a time and with a
 * slightly different heading of its own; the same in every run. */
pelt_result pelt_crowd_create(const pelt_character *character, const pelt_play *play,
                              uint32_t count, pelt_crowd **out);

/* The same, but they play all of the model's clips in turn. */
pelt_result pelt_crowd_create_mixed(const pelt_character *character, const pelt_play *play,
                                    uint32_t count, pelt_crowd **out);
void pelt_crowd_destroy(pelt_crowd *crowd);

/* The exact box of the posed character in its own space. */
pelt_result pelt_character_box(const pelt_character *character, const pelt_play *play,
                               pelt_box *out);

#endif
