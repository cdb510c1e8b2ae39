#include "learners/auto/users.h"

#include <math.h>
#include <stddef.h>

#include "gbose.h"
#include "learners/auto/clip.h"

enum { CLASSES = GBOSE__USER_CLASSES };

/* About equally many in each, were vhat normal: z / sqrt(z^2 + 1) is in (-1, 1). */
static size_t class_of(const struct gbose__users *users, double shift)
{
    double z = users->variance > 0 ? (shift - users->mean) / sqrt(users->variance) : 0;
    double place = CLASSES / 2 * (1 + z / sqrt(z * z + 1));

    return place < CLASSES - 1 ? (size_t)place : CLASSES - 1;
}

/* The mean square of all classes over that of one, which is drawn to it by some rounds of the usual size. */
double gbose__users_weight(const struct gbose__users *users, const struct gbose__tuning *tuning, double shift)
{
    size_t own = class_of(users, shift);
    double prior = tuning->user_prior, most = tuning->user_limit, squares = 0, counts = 0, usual;

    for (size_t k = 0; k < CLASSES; k++) {
        squares += users->squares[k];
        counts += users->counts[k];
    }
    if (users->rounds < tuning->user_rounds || !(squares > 0))
        return 1;
    usual = squares / counts;
    usual *= (users->counts[own] + prior) / (users->squares[own] + prior * usual);
    return gbose__clip_below(gbose__clip(usual, most), 1 / most);
}

void gbose__users_learn(struct gbose__users *users, const struct gbose__tuning *tuning, double shift,
                        double residual)
{
    size_t k = class_of(users, shift);
    double memory = tuning->user_memory, off = shift - users->mean;
    double share = gbose__clip_below(1 / (users->rounds + 1), 1 - tuning->shift_memory);

    for (size_t i = 0; i < CLASSES; i++) {
        users->squares[i] *= memory;
        users->counts[i] *= memory;
    }
    users->squares[k] += residual * residual;
    users->counts[k]++;
    users->mean += share * off;
    users->variance = (1 - share) * (users->variance + share * off * off);
    users->rounds++;
}

int gbose__users_are_sane(const struct gbose__users *users)
{
    int fine = users->rounds >= 0 && fabs(users->mean) <= 2 * GBOSE_MAX_INPUT && users->variance >= 0 &&
               users->variance <= 1e70;

    for (size_t k = 0; k < CLASSES; k++)
        fine &= users->squares[k] >= 0 && users->counts[k] >= 0;
    return fine;
}
