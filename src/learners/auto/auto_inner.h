/* What the files of gbose-auto share that know the whole learner: auto.c, which decides, explains and learns, and auto_*.c,
 * which it calls. All other files of this folder know only their own part. */
#ifndef GBOSE_LEARNERS_AUTO_AUTO_INNER_H
#define GBOSE_LEARNERS_AUTO_AUTO_INNER_H

#include "core/kernels.h"
#include "learners/auto/baseline.h"
#include "learners/auto/certified.h"
#include "learners/auto/contest.h"
#include "learners/auto/diagnosis.h"
#include "learners/auto/length.h"
#include "learners/auto/note.h"
#include "learners/auto/origin.h"
#include "learners/auto/scale.h"
#include "learners/auto/tuning.h"
#include "learners/auto/users.h"
#include "learners/learner.h"

/* The regressions. RELATIVE is the full one with contexts relative to their common part (origin.h). */
enum { ORTHOGONAL, FULL, BOUND = FULL, RELATIVE };

/* The learner itself, beside what all learners have: g->own. */
struct gbose__auto {
    const struct gbose__tuning *tuning;
    int has_full;                  /* is there a full estimate? */
    int may_choose;                /* may it choose? */
    int certified;                 /* width=certified */
    double forget;                 /* of the regressions */
    struct gbose__certified bound; /* the assumptions of width=certified */
    struct gbose__note_shape note;
    struct gbose__baseline baseline; /* where they are in g->state */
    struct gbose__diagnosis diagnosis;
    /* In g->state: rows, the mean of what the arms have in common, and the sum of all contexts on offer, which the gauge
     * needs; NULL: contexts are as they are. */
    double *mean_common, *totals;
    /* Rows for learn to work in: the context played, one more, the mean context on offer, the common part, and the mean
     * context of neighbours. */
    double *played, *scratch, *offer, *common, *near;
    uint64_t *where; /* likewise: where the common part is */
};

/* What the learner has learned beside its regressions: the beginning of g->state. It is followed by the
 * numbers of the baseline and of the diagnosis. All of it is doubles, which are saved as they are. */
struct gbose__auto_state {
    double rounds; /* learned */
    double worth;  /* of a round, since the full estimate last began anew */
    double began;  /* rounds learned until then */
    /* The sum of the weights of the rounds, as the full regression has them, forgetting as the regressions do. */
    double weights;
    double anew; /* how often the full regression has forgotten all, to learn what is kept again */
    double dark; /* the mean square of residuals in the first rounds, until it first began anew */
    struct gbose__rewards rewards;
    struct gbose__contest contest;
    /* Of the residuals by the baseline in the ticket, for the orthogonal estimate, and of those by the
     * baseline at the time of learning, for the full one. */
    struct gbose__scale by_ticket, by_present;
    struct gbose__users users;
    struct gbose__origin origin;
    struct gbose__length length;
};

static inline struct gbose__auto_state *gbose__auto_state_of(const gbose *g)
{
    return (struct gbose__auto_state *)g->state;
}

/* Does the full estimate choose? */
static inline int gbose__auto_uses_full(const gbose *g)
{
    return gbose__auto_state_of(g)->contest.full_chooses > 0;
}

/* Are contexts taken relative to their common part? */
static inline int gbose__auto_is_relative(const gbose *g)
{
    return gbose__auto_state_of(g)->origin.relative > 0;
}

/* Which regression the full one is. */
static inline size_t gbose__auto_full_index(const gbose *g)
{
    return gbose__auto_is_relative(g) ? RELATIVE : FULL;
}

/* The estimate in use. */
static inline const struct gbose__ridge *gbose__auto_in_use(const gbose *g)
{
    return &g->fit[gbose__auto_uses_full(g) ? gbose__auto_full_index(g) : ORTHOGONAL];
}

/* The estimate by which rewards are predicted: the one in use, but where the full one never chooses it serves
 * for that alone, since it is made to fit the rewards. */
static inline size_t gbose__auto_predictor(const gbose *g)
{
    const struct gbose__auto *own = g->own;

    return gbose__auto_uses_full(g) || (own->has_full && !own->may_choose) ? gbose__auto_full_index(g)
                                                                           : ORTHOGONAL;
}

/* Does the baseline know clearly more by what it knows of users? */
static inline int gbose__auto_follows_users(const gbose *g)
{
    const struct gbose__auto *own = g->own;

    return gbose__tracker_is_of_user(gbose__baseline_leader(&own->baseline)) &&
           gbose__baseline_gain(&own->baseline) > own->tuning->users_gain;
}

/* Does the common part of the next round matter? */
static inline int gbose__auto_needs_common(const gbose *g)
{
    const struct gbose__auto *own = g->own;

    return own->mean_common &&
           (gbose__auto_is_relative(g) || gbose__auto_state_of(g)->rounds < own->tuning->origin_rounds);
}

/* What the learner's scores are less than those of the note, which are of contexts as they are; v is more by that. */
static inline double gbose__auto_origin_of(const gbose *g, const struct gbose__note *note)
{
    return gbose__auto_is_relative(g) ? note->common : 0;
}

/* The score by `fit` of where contexts are measured from, for the best score: of the common part, or of its mean, so
 * that a vector added to all contexts does not matter. */
static inline double gbose__auto_origin_score(const gbose *g, const struct gbose__ridge *fit,
                                              const double *common)
{
    const struct gbose__auto *own = g->own;

    if (!own->mean_common)
        return 0;
    return gbose__dot(gbose__auto_is_relative(g) ? common : own->mean_common, fit->mu, fit->stride);
}

/* The baseline c = vhat + bbar'mu of width=certified. */
static inline double gbose__auto_orthogonal_certified(const gbose *g, const struct gbose__note *note)
{
    const struct gbose__auto *own = g->own;

    return gbose__certified_baseline(&own->bound, note->shift + note->believable_centre);
}

/* The orthogonal regression's response, r - c. */
static inline double gbose__auto_orthogonal_response(const gbose *g, const struct gbose__note *note,
                                                     double reward)
{
    const struct gbose__auto *own = g->own;

    return own->certified ? reward - gbose__auto_orthogonal_certified(g, note)
                          : reward - note->shift - note->believable_centre;
}

/* ---- auto_state.c ---- */

/* How many numbers g->state has. */
size_t gbose__auto_state_size(const gbose *g);

/* Begin with nothing learned. */
void gbose__auto_state_begin(gbose *g, const struct gbose__tuning *tuning);

/* These do what learner.h says of check, holds, merge, grow and rescale. */
int gbose__auto_state_check(const gbose *g);
int gbose__auto_state_holds(size_t fit, const double *state, const double *earlier);
void gbose__auto_state_merge(gbose *into, const double *from, const double *common, double remains);
void gbose__auto_state_grow(const gbose *g, double *state, const gbose *from, const double *from_state);
void gbose__auto_state_rescale(const gbose *g, double *state, size_t j, double factor);

/* And of write and read: the rounds that are kept, which are no part of the state, so that only the learner itself has them. */
void gbose__auto_state_write(const gbose *g, struct gbose__writer *w);
void gbose__auto_state_read(gbose *g, struct gbose__reader *r);

/* ---- auto_full.c ---- */

/* What the full regression learns: x, which is b_best before, and the response. */
struct gbose__auto_term {
    double response;
    double residual; /* by the estimate in use */
    double score;    /* of the context played, by the same */
    double effect;   /* that score less what the baseline expects of it */
    double reach;    /* how much of a vector that is added to all contexts there is in x */
};

/* Look back with the baseline of the present: r - rhat on b_a - bhat, both with the reaction. x is b_best, and becomes
 * what is regressed on. Of a reward that comes late, neighbours may say more than the baseline (neighbours.h). */
struct gbose__auto_term gbose__auto_full_look_back(const gbose *g, const double *features, double number,
                                                   double reward, double *x);

/* In the first rounds: the full regressions are told that the arm played is as good as the mean of those on offer. The prior speaks of each
 * feature by itself, so where features are far from zero beside how much they vary, as the alcohol of a wine is, it allows arms to be
 * better than others by far more than features can make them; and if what the first rewards say of an arm is taken for that, the arm is
 * played for ever. A prior in features less their means, which nobody knows yet, would say the same. */
void gbose__auto_full_level(gbose *g);

/* Full regression i, FULL or RELATIVE, learns its row x with weight w. */
void gbose__auto_full_learn(gbose *g, size_t i, double w, double response);

/* In the second round: the full estimate takes the level of the rewards for zero in its first round. If the second reward is so near to the
 * first that both may be a level, it forgets that round, and what it has said of the second one: that was expected to be
 * like the first. What the orthogonal estimate learns from is left as it was at the draw. */
void gbose__auto_full_doubt_first(gbose *g, struct gbose__note *note, double reward);

/* Learn what a coin says of the length of the full estimate, and shorten that where it is too long. */
void gbose__auto_full_shorten(gbose *g, const struct gbose__note *note, double reward);

/* ---- auto_anew.c ---- */

/* After a round: begin anew if the full estimate is worse than none. */
void gbose__auto_anew_try(gbose *g);

/* ---- auto_hindsight.c ---- */

/* It is time to learn the rounds that are kept again: a new tree is grown on them, and where the baseline explains by users what it
 * could not explain in the first rounds, the full regression learns them anew. */
void gbose__auto_hindsight(gbose *g);

/* ---- auto_origin.c ---- */

/* Find the common part of a round, to->x, and say in to->words where it is; where there is no need it is said to be the
 * mean. Trackers on users may need it of their coordinates. */
void gbose__auto_origin_find(const gbose *g, const struct gbose__input *in, size_t arm,
                             struct gbose__ticket *to);

/* Make contexts relative to the common part where they are to be. */
void gbose__auto_origin_subtract(const gbose *g, const struct gbose__note_rows *rows, double arms);

/* Before the first round is learned nothing is known of where contexts are: it is relative for both estimates. */
void gbose__auto_origin_begin(gbose *g, double *x);

/* The other full estimate learns a round in which the one in use learns, too, and the better one is used from then on. */
void gbose__auto_origin_try(gbose *g, const struct gbose__auto_term *term, double w);

/* ---- auto_orthogonal.c ---- */

/* The orthogonal regression's baseline c = vhat + bbar'mu, within reach of the rewards there were; less
 * vhat. */
double gbose__auto_orthogonal_centre(const gbose *g, double shift, double centre);

/* What a coin teaches the orthogonal regression, and says of the two estimates. */
void gbose__auto_orthogonal_learn(gbose *g, const struct gbose__note *note, double reward, double residual);

/* ---- auto_report.c ---- */

/* The diagnosis learns a round. */
void gbose__auto_report_learn(const gbose *g, const struct gbose__note *note, double reward);

/* These do what learner.h says of coef_of, diagnose, effect and width. */
const double *gbose__auto_report_coef(const gbose *g, const char *name);
int gbose__auto_report_diagnose(const gbose *g, gbose_diagnosis *out);
int gbose__auto_report_effect(const gbose *g, const double *x, double alpha, double *estimate, double *lower,
                              double *upper);
double gbose__auto_report_width(const gbose *g, const double *x);

#endif
