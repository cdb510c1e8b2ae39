/* gbose: semiparametric contextual bandits.
 *
 * A bandit picks one of several arms by their feature vectors, sees only the reward of that arm, and
 * learns. The semiparametric model is
 *
 *     reward = b_a' mu + v + noise
 *
 * where b_a is the context of the arm played and v is anything that does not depend on the arm: a season,
 * a campaign, a tired user. v may change every round, and may depend on the past and on the contexts.
 *
 * The life of a learner:
 *
 *     gbose *g;
 *     gbose_error err;
 *     gbose_decision d;
 *
 *     if (gbose_new(&g, "gbose:gamma=0.1", dim, &err) != GBOSE_OK)
 *         complain(err.text);
 *     for (each round) {
 *         gbose_decide(g, &d, contexts, n_arms);          n_arms rows of dim doubles
 *         reward = play(d.arm);
 *         gbose_learn(g, d.ticket, d.ticket_size, reward);
 *     }
 *     gbose_free(g);
 *
 * Errors. A function that can fail returns GBOSE_OK (0) or a negative code; gbose_strerror() says what a
 * code means. Outputs are written only on success, and a failing call leaves the objects passed to it
 * unchanged, bit for bit. Functions that return no code need a learner that is not NULL, except
 * gbose_free() and gbose_coef_of(). The library never prints, exits, or aborts, and reads no file or clock.
 * Its only global state is the choice of an instruction set, made once when it is loaded (gbose_isa()).
 *
 * Threads. Different learners are independent. On one learner, calls that take a `const gbose *` may run
 * at the same time as each other; a call that takes a `gbose *` must run alone.
 *
 * Randomness. All draws come from counter-based streams keyed by the option `seed`, the stream number
 * (gbose_stream()), the purpose and the number of the decision: the same seed and the same calls give the
 * same bytes, whatever else the process does.
 *
 * Sizes. Contexts and rewards must be finite and of magnitude at most GBOSE_MAX_INPUT. dim and the number
 * of arms are limited by memory. */
#ifndef GBOSE_H
#define GBOSE_H

#include <stddef.h>
#include <stdint.h>

#define GBOSE_VERSION_MAJOR 0
#define GBOSE_VERSION_MINOR 1
#define GBOSE_VERSION_PATCH 0

#if defined(GBOSE_SHARED) && (defined(__GNUC__) || defined(__clang__))
#define GBOSE_API __attribute__((visibility("default")))
#else
#define GBOSE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- errors ---------------------------------------------------------------------------------------- */

/* Every code, its value, and what gbose_strerror() says of it. */
#define GBOSE_STATUS_MAP(X)                                                                                  \
    X(OK, 0, "success")                                                                                      \
    X(EINVAL, -1, "invalid argument: a null pointer, or a size of zero where something is needed")           \
    X(ENOMEM, -2, "out of memory")                                                                           \
    X(ENUMERIC, -3, "a number is NaN, infinite or larger than 1e30 in magnitude")                            \
    X(ESIZE, -4, "the size is too large for this machine's addresses")                                       \
    X(ESPEC, -5, "the learner's spec is wrong: an unknown name, an unknown option or a bad value")           \
    X(ETICKET, -6, "the ticket is truncated, corrupted or not a ticket")                                     \
    X(EFOREIGN, -7, "the ticket comes from a learner of another spec, dimension or schema")                  \
    X(ESTATE, -8, "the saved state is truncated, corrupted or not a saved state")                            \
    X(EVERSION, -9, "the ticket or saved state has a format that this version of gbose does not read")       \
    X(EBUFFER, -10, "the buffer is too small")                                                               \
    X(EMISMATCH, -11, "the learners differ in spec, dimension or schema and cannot be merged")               \
    X(EOVERLAP, -12, "the learners share evidence: merging them would count it twice")                       \
    X(EHISTORY, -13,                                                                                         \
      "the learners have a common past that neither was loaded from: load that state "                       \
      "and merge both into it")                                                                              \
    X(ELEARNER, -14, "only gbose-auto can be diagnosed: this learner does not keep what it takes")           \
    X(ESCHEMA, -15, "the schema is wrong, or not the one that was learned with")                             \
    X(EVALUE, -16, "a feature's value does not fit the schema")                                              \
    X(EPMF, -17, "the probabilities are no distribution, or the arm that was played has none")               \
    X(EUNSEEN, -18, "nothing is known of this: chance has never chosen between arms that differ in it")

enum gbose_status {
#define GBOSE_STATUS_ENUM(name, value, text) GBOSE_##name = (value),
    GBOSE_STATUS_MAP(GBOSE_STATUS_ENUM)
#undef GBOSE_STATUS_ENUM
};

/* The largest magnitude of a context's entry or a reward. Within it, however numbers of different sizes are
 * mixed, nothing that the library computes from them becomes infinite or NaN, and every saved state can be
 * loaded (docs/reliability.md). */
#define GBOSE_MAX_INPUT 1e30

/* What went wrong, in words for a person: one line, no newline at its end. */
typedef struct {
    int code;
    char text[256];
} gbose_error;

/* The meaning of a status code, for any int. Static memory. */
GBOSE_API const char *gbose_strerror(int code);

/* ---- learners -------------------------------------------------------------------------------------- */

typedef struct gbose gbose;

/* Create a learner.
 *   out   set to the new learner on success; free it with gbose_free().
 *   spec  which learner, and its options: "NAME" or "NAME:OPTION=VALUE,OPTION=VALUE". Options not
 *         mentioned have their defaults; gbose_learner_at() lists them all. Borrowed for the call.
 *   dim   the number of features of an arm, at least 1.
 *   err   may be NULL; else filled on failure (and on success set to GBOSE_OK and an empty text).
 * GBOSE_ESPEC if the spec is wrong, GBOSE_EINVAL if a pointer is NULL or dim is 0, GBOSE_ESIZE or
 * GBOSE_ENOMEM if dim is too large for this machine. Memory grows with dim squared. */
GBOSE_API int gbose_new(gbose **out, const char *spec, size_t dim, gbose_error *err);

/* Free a learner and all it owns. NULL is allowed. */
GBOSE_API void gbose_free(gbose *g);

/* ---- a round --------------------------------------------------------------------------------------- */

/* What is known about a round before an arm is drawn. Borrowed for the call that takes it. */
typedef struct {
    const double *contexts; /* n_arms rows of gbose_dim() doubles, row-major */
    size_t n_arms;          /* at least 1; it may differ from round to round */
    const double *round; /* gbose_round_features() doubles, see gbose_decide_in(); NULL when there are none */
} gbose_input;

/* A choice. `pmf` and `ticket` point into the learner and stay valid until the next call on it that takes
 * a `gbose *`; those of gbose_decide_at() point into its scratch and stay valid until the next call that
 * takes this scratch. Copy what must live longer. */
typedef struct {
    size_t arm;         /* play this one */
    double probability; /* the probability it was drawn with; equals pmf[arm] */
    size_t n_arms;
    const double *pmf;  /* of every arm: n_arms doubles that add up to 1 */
    size_t draws;       /* 0: pmf was computed. Else it was estimated from this many samples, and the arm was
                           drawn from the estimate: pmf is exactly what the arm was drawn with, but an arm whose
                           probability would be well below 1 / draws mostly gets 0. The option `floor` helps */
    const void *ticket; /* what gbose_learn() needs, plain bytes */
    size_t ticket_size;
} gbose_decision;

/* Choose an arm.
 *   out       filled on success.
 *   contexts  n_arms rows of gbose_dim(g) doubles, row-major; borrowed for the call. The number of arms
 *             may differ from round to round. Ties go to the lowest index.
 * The learner's estimates do not change; its number of decisions, and so its place in the random stream,
 * does. Allocates only when n_arms exceeds that of every earlier round. GBOSE_EINVAL if a pointer is NULL,
 * n_arms is 0, or the learner has features of the round, which gbose_decide_in() takes; GBOSE_ENUMERIC if
 * a context is not finite or too large, or (only when contexts and rewards of absurd sizes were mixed) a
 * score is beyond 1e250; GBOSE_ESIZE or GBOSE_ENOMEM. After an error g is unchanged (its scratch memory
 * may have grown). */
GBOSE_API int gbose_decide(gbose *g, gbose_decision *out, const double *contexts, size_t n_arms);

/* Choose an arm, given features of the round: what moves the rewards of all arms alike (the hour, the
 * weekday, a user's average so far). They have no part in the choice, but knowing them makes the noise
 * smaller.
 *   round  gbose_round_features(g) doubles, in the same order every round; borrowed for the call. They
 *          must be known before the arm is drawn. Their units do not matter: they are scaled by how far
 *          they vary. It may be NULL when there are none, and this is then gbose_decide().
 * A learner has such features if its spec says so (gbose-auto's option `round`). gbose_decide() refuses a
 * learner that has them with GBOSE_EINVAL, and so does this function when round is NULL. GBOSE_ENUMERIC if
 * one of them is not finite or too large. Everything else is as for gbose_decide(). */
GBOSE_API int gbose_decide_in(gbose *g, gbose_decision *out, const double *contexts, size_t n_arms,
                              const double *round);

/* Learn the reward of a decision.
 *   ticket  the bytes of a decision's ticket, from this learner or another one of the same spec (except
 *           for the seed) and dimension, perhaps stored and brought back hours later in another process.
 *           Any alignment; borrowed for the call.
 *   reward  of the arm that was played.
 * Tickets may come in any order: the estimates are the same up to rounding, except that `forget` counts
 * age in learned rewards, and that gbose-auto's baseline (not its estimate) follows that order. A
 * decision whose reward never comes may be left out. The library does not remember tickets:
 * learning from one twice counts it twice. Never allocates. GBOSE_ETICKET if the bytes are not an intact
 * ticket, GBOSE_EVERSION if they are one of another format, GBOSE_EFOREIGN if they belong to another spec,
 * dimension or schema, GBOSE_ENUMERIC if the reward is not finite or too large, GBOSE_EINVAL if a pointer
 * is NULL. */
GBOSE_API int gbose_learn(gbose *g, const void *ticket, size_t ticket_size, double reward);

/* ---- decisions of a learner that does not change --------------------------------------------------- */

/* Working memory for decisions. Results point into it; it keeps nothing else. Each thread needs its own, which
 * may be used with any learner. */
typedef struct gbose_scratch gbose_scratch;

/* GBOSE_EINVAL if out is NULL, GBOSE_ENOMEM. Free it with gbose_scratch_free(). */
GBOSE_API int gbose_scratch_new(gbose_scratch **out);

/* NULL is allowed. */
GBOSE_API void gbose_scratch_free(gbose_scratch *scratch);

/* Choose an arm without changing the learner: any number of threads may do so at the same time, each with
 * its own scratch.
 *   stream, number  name the random numbers: the decision is, byte for byte, the one that
 *                   gbose_decide_in() makes on a copy of g after gbose_stream(copy, stream) and `number`
 *                   decisions. Use streams that no learner draws from, for the reason given at
 *                   gbose_stream(), and each number only once.
 * GBOSE_EINVAL also if number is 2^56 or more; otherwise as for gbose_decide_in(). Allocates only when the
 * scratch has not been used for so many arms of such a learner before. */
GBOSE_API int gbose_decide_at(const gbose *g, gbose_scratch *scratch, gbose_decision *out,
                              const gbose_input *in, uint32_t stream, uint64_t number);

/* Where the choices go: arrays of the caller, one entry or row for each round. */
typedef struct {
    size_t *arm;
    double *probability; /* may be NULL */
    double *pmf;         /* rows of n_arms doubles; may be NULL */
    size_t *draws;       /* as in gbose_decision; may be NULL */
    void *tickets;       /* rows of gbose_ticket_room() bytes, of which a ticket fills the beginning; may be
                            NULL: no tickets are written, which is faster */
    size_t *ticket_size; /* bytes of each ticket; NULL if and only if tickets is */
} gbose_choices;

/* The size of the largest ticket that a decision among n_arms can have, in bytes; 0 if that is too large for
 * this machine. */
GBOSE_API size_t gbose_ticket_room(const gbose *g, size_t n_arms);

/* Choose an arm in each of many independent rounds, without learning in between: for a million users
 * overnight, say.
 *   scratch   for this call alone; its memory grows to fit the learner and n_arms. May be used with any
 *             learner.
 *   out       its arrays are filled on success.
 *   stream, first   name the random numbers: round t is decision number first + t of that stream.
 *   contexts  n_rounds times n_arms rows of gbose_dim(g) doubles; borrowed for the call.
 *   round     n_rounds rows of gbose_round_features(g) doubles; may be NULL when there are none.
 * Round t comes out, byte for byte, as from gbose_decide_at() with the number first + t. So the rounds may
 * be split among threads in any way, each with its own scratch: the result is the same. Use streams that no
 * learner draws from, for the reason given at gbose_stream(). g itself, including its own stream, does not
 * change. GBOSE_EINVAL if a pointer is NULL that must not be, n_arms is 0, or first +
 * n_rounds exceeds 2^56; GBOSE_ENUMERIC as for gbose_decide(), if any of the contexts is wrong;
 * GBOSE_ESIZE, GBOSE_ENOMEM. After an error nothing is written, with one exception: where a score is
 * beyond 1e250, the rounds before that one are. */
GBOSE_API int gbose_decide_many(const gbose *g, gbose_scratch *scratch, const gbose_choices *out,
                                uint32_t stream, uint64_t first, const double *contexts, const double *round,
                                size_t n_rounds, size_t n_arms);

/* ---- decisions that somebody else made ------------------------------------------------------------- */

/* The ticket of a decision that was not ours: `arm` was drawn from `pmf`, by another learner, another
 * program or a person. Learning it with the reward that followed is exact for any pmf that was really
 * used; how to learn a log is in docs/tickets-and-state.md.
 *   ticket, size  set on success; the bytes are in the scratch, until the next call on it.
 *   pmf           in->n_arms probabilities that add up to 1 (within 1e-9), positive for arm; borrowed for
 *                 the call.
 * The ticket is the one that g would have written now for its own decision with these probabilities, but
 * for the stream, which is 0, and the number, which is GBOSE_LOGGED. (action-ts among more than two arms
 * is the exception: its own tickets also know which arm stood against the base arm. Both kinds are exact.)
 * g does not change. GBOSE_EPMF if pmf is not such a distribution, GBOSE_EINVAL if a pointer is NULL that
 * must not be or arm is not below n_arms; GBOSE_ENUMERIC, GBOSE_ESIZE and GBOSE_ENOMEM as for
 * gbose_decide_at(). */
GBOSE_API int gbose_ticket_for(const gbose *g, gbose_scratch *scratch, const void **ticket, size_t *size,
                               const gbose_input *in, const double *pmf, size_t arm);

#define GBOSE_LOGGED UINT64_MAX

/* What a ticket says. */
typedef struct {
    uint64_t fingerprint; /* of the learner's spec (the seed aside), dimension and schema */
    uint64_t number;      /* of the decision in its stream, or GBOSE_LOGGED */
    uint32_t stream;
    size_t dim, n_arms, arm;
    double probability; /* that the arm was drawn with */
} gbose_ticket_info;

/* Read a ticket, of whatever learner; any alignment. GBOSE_ETICKET if the bytes are not an intact ticket,
 * GBOSE_EVERSION if its format is that of another version, GBOSE_EINVAL if a pointer is NULL. */
GBOSE_API int gbose_ticket_read(gbose_ticket_info *out, const void *ticket, size_t size);

/* ---- what is wrong, in words ------------------------------------------------------------------------ */

/* For a program that has to tell a person what to correct: these return the code that a decision on this
 * input, or learning this reward, would return, and say in `err` (may be NULL) which arm, which feature or
 * which number is wrong; arms and features are counted from 0. Nothing is decided, learned or changed.
 * gbose_check_input() allocates for the call. */
GBOSE_API int gbose_check_input(const gbose *g, const gbose_input *in, gbose_error *err);
GBOSE_API int gbose_check_reward(const gbose *g, const void *ticket, size_t size, double reward,
                                 gbose_error *err);

/* ---- what a learner knows -------------------------------------------------------------------------- */

/* The estimate of mu: gbose_dim(g) doubles, valid until the next gbose_learn(), gbose_merge() or
 * gbose_free(). It comes from a ridge regression, so it is shrunk towards zero where there is little evidence.
 * For learners that learn from a random choice between arms, that is so for features in which the arms of few
 * such choices differed. */
GBOSE_API const double *gbose_coef(const gbose *g);

/* An estimate of mu by its name, like gbose_coef(); NULL if g or name is NULL, or the learner has none of
 * that name. gbose-auto has
 *   "orthogonal"  that of gbose_coef(): from rounds with a random choice; unbiased apart from its shrinkage
 *   "full"        from all rounds: less shrunk, but biased if the shift follows the contexts in a way that the
 *                 baseline does not see. It does not exist with safe=1 or width=certified.
 * gbose_diagnose() says which of them is used to choose. */
GBOSE_API const double *gbose_coef_of(const gbose *g, const char *name);

/* sqrt(x' B^-1 x), the uncertainty along x (gbose_dim(g) doubles) in units of the noise. NaN if x contains a
 * NaN. For the linear learners B is that of the regression with its intercept, and x is 0 there: this is the
 * uncertainty of x'mu without the intercept. gbose-auto finds the units of features itself; a feature that
 * was zero in all rounds keeps yours. With gbose-auto:width=certified the width is something else, a
 * bound in units of the reward: with probability 1 - delta, |x'(gbose_coef(g) - mu)| <= gbose_width(g, x)
 * for all x and at all times, under the assumptions on the learner's page. It then allocates for the call,
 * and is infinite, which is still a bound, when there is no memory. */
GBOSE_API double gbose_width(const gbose *g, const double *x);

/* The number of rewards learned, including those of merged learners. */
GBOSE_API uint64_t gbose_rounds(const gbose *g);

/* The number of decisions that this learner has drawn from its current stream. */
GBOSE_API uint64_t gbose_decisions(const gbose *g);

/* The number of features of an arm. */
GBOSE_API size_t gbose_dim(const gbose *g);

/* The number of features of the round that gbose_decide_in() takes; 0 for most learners. */
GBOSE_API size_t gbose_round_features(const gbose *g);

/* The hash of the schema that encodes the learner's contexts; 0 if there is none. */
GBOSE_API uint64_t gbose_schema_of(const gbose *g);

/* The spec in canonical form: the name, then every option that differs from its default in the order of
 * the table. gbose_new() accepts it and makes an equal learner. Valid until gbose_free(). */
GBOSE_API const char *gbose_spec(const gbose *g);

/* What gbose-auto has found out about its world. mu is the estimate used to choose, as it was in each round;
 * "plain" is a linear regression with an intercept, as in lin-ts and lin-ucb, on the same rounds. */
typedef struct {
    uint64_t rounds;       /* the number of learned rewards behind all this */
    double baseline;       /* the recent shift: mean of r - b_a'mu, a round k rounds ago counting 0.98^k */
    double drift;          /* how much it moves per round: the slope of a line through the last 200 or so */
    double residual;       /* root mean square of r - vhat - b_a'mu, what the baseline leaves (0.999^k) */
    double removed;        /* share of the variance of r - b_a'mu that it removes, 0 to 1 (0.999^k) */
    const char *tracker;   /* what the baseline follows now, in words; static memory */
    double tracker_forget; /* how fast it forgets: a round k rounds ago counts tracker_forget^k */
    double lone;           /* share of the rounds in which a single arm survived, and so was certain */
    int full;              /* the estimate used to choose now: 1 that of all rounds, 0 the orthogonal one */
    double hausman;        /* size of the plain estimate's error in the effects that coins have shown */
    double df;         /* its mean if a plain linear learner is right, at most dim: it is then a chi-square */
    double p_value;    /* anytime-valid: you may look at it as often as you like */
    int misled;        /* 1: p_value is at most 0.05: a plain linear learner is misled here */
    double bias;       /* by how much: root mean square over the arms played of the error of its estimate */
    double bias_noise; /* what noise alone would make of `bias` */
    uint64_t coins;    /* rounds with a random choice among those learned */
    double evidence;   /* that the full estimate predicts coins worse; from 1 on the orthogonal one chooses */
    double scale;      /* the least that the residuals' root mean square has been for long; 0: not known */
    double scale_recent; /* and what it is now, over about 50 rounds */
    uint64_t constant;   /* features that never differed between the arms of a round: they can choose none */
    /* Features that are linear in those before them, for the arms played: only the prior tells them apart. */
    uint64_t collinear;
    const char *advice; /* in words, if something keeps it from learning; "" otherwise; static memory */
} gbose_diagnosis;

/* Describe what the learner has found. Takes time of order dim cubed; allocates. It can be called at any
 * time: as long as there is nothing to compare, hausman and bias are 0 and p_value is 1.
 * docs/learners/gbose-auto.md has the formulas. GBOSE_ELEARNER if the learner is not gbose-auto,
 * GBOSE_EINVAL if a pointer is NULL, GBOSE_ENOMEM. */
GBOSE_API int gbose_diagnose(const gbose *g, gbose_diagnosis *out);

/* What the features x add to the reward: an estimate of x'mu without the shrinkage of ridge regression,
 * unbiased whatever v does, and an interval for it.
 *   x      gbose_dim(g) doubles: a unit vector for one feature, the difference of two contexts for a contrast.
 *   level  of confidence, between 0 and 1, such as 0.95. The interval is valid at all times at once, however
 *          often you look; it is infinite until there were max(200, 20 dim) rounds with a random choice.
 * For intervals from a whole log, also for a single look, see gbose_effects_at() in gbose_log.h. Takes time of
 * order dim cubed; allocates. GBOSE_ELEARNER if the learner is not gbose-auto, GBOSE_EUNSEEN if chance has
 * never chosen between arms that differ along x; GBOSE_EINVAL, GBOSE_ENUMERIC, GBOSE_ENOMEM. */
GBOSE_API int gbose_effect(const gbose *g, const double *x, double level, double *estimate, double *lower,
                           double *upper);

/* ---- keeping and sharing --------------------------------------------------------------------------- */

/* Write the learner's state as bytes: versioned, checksummed, the same on every machine.
 *   size  set to the number of bytes written, or needed: gbose_save(g, NULL, 0, &size) asks for it.
 * GBOSE_EBUFFER if capacity is too small (size is set all the same, the buffer is untouched).
 * GBOSE_EINVAL if g or size is NULL, or buf is NULL and capacity is not 0. Never allocates. */
GBOSE_API int gbose_save(const gbose *g, void *buf, size_t capacity, size_t *size);

/* Make a learner from saved bytes. It continues bit for bit where the saved one was, including its random
 * stream. The bytes are checked before they are used: any change to them is an error.
 *   err  may be NULL.
 * GBOSE_ESTATE, GBOSE_EVERSION, GBOSE_ENOMEM, GBOSE_EINVAL; GBOSE_ESPEC if this version does not know the
 * learner or one of its options. */
GBOSE_API int gbose_load(gbose **out, const void *buf, size_t size, gbose_error *err);

/* From now on draw from another random stream of the same seed, beginning at decision 0. Replicas that start
 * from one saved state and work in parallel should each use their own stream: on the same one they would
 * make the same draws. For the same reason use a number that was not used before from the same state: a new
 * one whenever replicas start again. A new learner draws from stream 0. GBOSE_EINVAL if g
 * is NULL. */
GBOSE_API int gbose_stream(gbose *g, uint32_t stream);

/* Add what `from` has learned to `into`: afterwards `into` knows what one learner that saw both streams
 * of rewards would know, up to rounding. `from` is unchanged. The specs must be equal except for the seed.
 *
 * Common history counts once. Each learner remembers the last 16 saved states that it was loaded from and,
 * for each, a mark of what it learned next. What is added is what `from` has learned since the last state
 * that both were loaded from, or everything if both began new. So this is right:
 *
 *     every worker:  g = load(S); gbose_stream(g, a number of its own); decide and learn; send save(g)
 *     the centre:    g = load(S); for each worker: gbose_merge(g, load(sent)); S = save(g)
 *
 * and these are refused:
 *     GBOSE_EOVERLAP   both hold the same evidence: `from` was merged before (now or when it was smaller),
 *                      or one is a copy of the other that went on. Two replicas of the same seed and stream
 *                      that saw the same first contexts and reward look the same, and are refused too.
 *     GBOSE_EHISTORY   the last state common to both is one that neither was loaded from most recently, so
 *                      that its evidence is not at hand: load it, and merge both into that.
 *     GBOSE_EMISMATCH  another spec or dimension.   GBOSE_EINVAL  NULL, or into == from.
 * With `forget`, each learner's evidence keeps its age. For gbose-auto the estimates are merged; the
 * baseline stays that of `into`. Takes time of order dim cubed; allocates. GBOSE_ENOMEM;
 * GBOSE_ENUMERIC if the sum cannot be represented. */
GBOSE_API int gbose_merge(gbose *into, const gbose *from);

/* Make a learner that has more features: the same spec, everything that g knows, and the new features
 * appended to the old ones. It is as if it had had them from the start and seen only zeros there; it also
 * takes over the past of g and its place in the random stream. With forget=1 and numbers for gamma and
 * lambda, decisions on contexts that are zero in the new features are those of g. (gbose-auto's width and
 * the values 'theory' and 'lemma1' depend on the number of features, and change with it. What was subtracted
 * from past rewards stays as it was.)
 *   out  set on success; free it with gbose_free(). g is unchanged.
 *   dim  at least gbose_dim(g).
 *   err  may be NULL.
 * Tickets of g cannot be learned by the new learner: learn them first. GBOSE_EINVAL if out or g is NULL,
 * dim is too small, or g belongs to a schema, which then has to grow; GBOSE_ENOMEM, GBOSE_ESIZE,
 * GBOSE_ENUMERIC. */
GBOSE_API int gbose_grow(gbose **out, const gbose *g, size_t dim, gbose_error *err);

/* ---- the table of learners ------------------------------------------------------------------------- */

typedef enum {
    GBOSE_POSITIVE, /* a number greater than zero, from min to max */
    GBOSE_NUMBER,   /* a number from min to max */
    GBOSE_INTEGER,  /* a whole number from min to max */
    GBOSE_WORD      /* one of the words only */
} gbose_type;

typedef struct {
    const char *name;
    gbose_type type;
    double min, max;
    const char *words; /* words accepted instead of a number, separated by '|'; NULL: none */
    const char *value; /* the default, as text */
    const char *help;
} gbose_option;

typedef struct {
    const char *name;
    const char *summary;
    const gbose_option *options;
    size_t n_options;
} gbose_info;

/* Learner number i, in the order of the documentation, or NULL past the last one. Static memory. */
GBOSE_API const gbose_info *gbose_learner_at(size_t i);

/* What an option accepts, in words: "a positive number, 'theory' or 'lemma1'". Writes at most capacity
 * bytes including the final zero, and returns the length of the whole text as snprintf() does. */
GBOSE_API int gbose_option_accepts(char *buf, size_t capacity, const gbose_option *option);

/* The instruction set that the library works with: "baseline", "avx2" or "avx512". It takes the widest
 * that the processor has when it is loaded, or the one that the environment variable GBOSE_ISA names; if
 * the processor does not have that one, or there is none of that name, GBOSE_ISA is ignored. Results have
 * the same bytes with all of them. Static memory. */
GBOSE_API const char *gbose_isa(void);

/* "MAJOR.MINOR.PATCH" of the library in use. Static memory. */
GBOSE_API const char *gbose_version(void);

#ifdef __cplusplus
}
#endif
#endif
