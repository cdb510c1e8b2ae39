#include "learners/auto/contest.h"

#include "learners/auto/clip.h"

static void compare(struct gbose__contest *contest, const struct gbose__tuning *tuning, double variance,
                    double least, const struct gbose__coin *coin)
{
    double coin_variance = contest->coin_squares / contest->coin_count, difference;
    double full = gbose__clip(coin->effect - coin->full, GBOSE__CLIP_RESIDUAL);
    double orthogonal = gbose__clip(coin->effect - coin->orthogonal, GBOSE__CLIP_RESIDUAL);

    if (coin_variance > variance)
        variance = coin_variance;
    if (!(contest->full_chooses > 0) && least > 0 && variance > tuning->contest_reach * least)
        variance = tuning->contest_reach * least;
    if (variance > 0) {
        difference = tuning->contest_share * (full * full - orthogonal * orthogonal) / variance;
        contest->evidence =
            tuning->contest_memory * contest->evidence + gbose__clip(difference, tuning->contest_step);
    }
    if (contest->evidence < tuning->contest_least)
        contest->evidence = tuning->contest_least;
    if (contest->evidence > tuning->contest_most)
        contest->evidence = tuning->contest_most;
}

void gbose__contest_learn(struct gbose__contest *contest, const struct gbose__tuning *tuning, size_t dim,
                          double variance, double least, const struct gbose__coin *coin)
{
    if (contest->coins >= tuning->contest_coins * (double)dim)
        compare(contest, tuning, variance, least, coin);
    if (contest->evidence > tuning->contest_high)
        contest->full_chooses = 0;
    else if (contest->evidence < 0)
        contest->full_chooses = 1;
    gbose__contest_count(contest, tuning, coin);
}

void gbose__contest_count(struct gbose__contest *contest, const struct gbose__tuning *tuning,
                          const struct gbose__coin *coin)
{
    contest->coin_squares = tuning->coin_memory * contest->coin_squares + coin->residual * coin->residual;
    contest->coin_count = tuning->coin_memory * contest->coin_count + 1;
    contest->coins++;
}

void gbose__contest_disqualify(struct gbose__contest *contest)
{
    contest->full_chooses = 1;
    if (contest->evidence > 0)
        contest->evidence = 0;
}

int gbose__contest_is_sane(const struct gbose__contest *contest, const struct gbose__tuning *tuning,
                           int has_full)
{
    return (contest->full_chooses == 0 || (contest->full_chooses == 1 && has_full)) &&
           contest->evidence >= tuning->contest_least && contest->evidence <= tuning->contest_most &&
           contest->coins >= 0 && contest->coin_squares >= 0 && contest->coin_count >= 0;
}
