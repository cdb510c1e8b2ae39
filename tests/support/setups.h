/* Setups that several learners are played with. lambda is not 1 and a run starts from no data: mixing up B
 * and its inverse would pass at lambda 1. */
#ifndef TESTS_SETUPS_H
#define TESTS_SETUPS_H

#include "support/play.h"

/* For learners that drop the arms which others beat: each kind of round comes up ten times in each setup. */
void setups_for_filters(const struct game *game);

/* For learners whose law is that of the best arm.
 * Two arms: every probability is exact, and at least `least` rounds have two arms that can win. */
void setups_of_two_arms(const struct game *game, size_t least);

/* Many samples at a few states: the law of the best arm to about 0.001. */
void setups_of_many_draws(const struct game *game);

/* For learners of centred contexts: both regressions forget. */
extern const struct setup setup_forgetting;

#endif
