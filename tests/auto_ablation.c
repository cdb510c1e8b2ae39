/* What each part of gbose-auto is worth: one part taken out at a time, by another tuning
 * (learners/auto/tuning.h). Not a test, but built with them; scripts/auto.sh ablation runs it.
 *
 * Usage: auto_ablation SEED REPETITIONS     prints the table of docs/learners/gbose-auto.md */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "gbose_study.h"
#include "learners/auto/auto.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { ROUNDS = 10000 };

/* ---- the variants ---- */

static void change_nothing(struct gbose__tuning *tuning)
{
    (void)tuning;
}

static void no_baseline(struct gbose__tuning *tuning)
{
    tuning->use_baseline = 0;
}

static void no_widening(struct gbose__tuning *tuning)
{
    tuning->expected_u = tuning->strange_u = 1e300;
}

static void fixed_width(struct gbose__tuning *tuning)
{
    tuning->fixed_slope = 0.1;
    no_widening(tuning);
}

static void no_reaction(struct gbose__tuning *tuning)
{
    tuning->reaction_limit = 0;
}

static void equal_weights(struct gbose__tuning *tuning)
{
    tuning->scale_room = 1e300;
}

static void full_only(struct gbose__tuning *tuning)
{
    tuning->contest_high = 1e9;
}

static struct variant {
    const char *name, *spec;
    void (*change)(struct gbose__tuning *tuning);
    struct gbose__tuning tuning;
} variants[] = {
    {.name = "gbose-auto", .spec = "gbose-auto", .change = change_nothing},
    {.name = "baseline off", .spec = "gbose-auto", .change = no_baseline},
    {.name = "width fixed: 0.1 h", .spec = "gbose-auto", .change = fixed_width},
    {.name = "no widening (u)", .spec = "gbose-auto", .change = no_widening},
    {.name = "no reaction", .spec = "gbose-auto", .change = no_reaction},
    {.name = "equal weights", .spec = "gbose-auto", .change = equal_weights},
    {.name = "full estimate only", .spec = "gbose-auto", .change = full_only},
    {.name = "orthogonal estimate only (safe=1)", .spec = "gbose-auto:safe=1", .change = change_nothing},
};

static const char *const worlds[] = {
    "paper:arms=2,dim=10",
    "paper:arms=2,dim=10,shift=log-sine",
    "paper:arms=2,dim=10,shift=cos-best",
    "paper:arms=10,dim=2",
    "paper:arms=10,dim=2,shift=cos-best",
    "gallery:shift=zero,noise=1",
    "gallery:shift=jumps",
    "gallery:shift=context-sine,contexts=blocks,arms=2,dim=10",
    "krishnamurthy",
    "heartsteps",
};

/* ---- a learner of the study ---- */

struct player {
    gbose *g;
    const void *ticket;
    size_t ticket_size;
};

static int begin(void **state, void *user, size_t dim, uint64_t seed, uint32_t repetition, gbose_error *err)
{
    const struct variant *variant = user;
    struct player *player = calloc(1, sizeof *player);
    char spec[100];
    int rc;

    if (!player)
        return err->code = GBOSE_ENOMEM;
    snprintf(spec, sizeof spec, "%s%cseed=%" PRIu64, variant->spec,
             variant->spec[sizeof "gbose-auto" - 1] ? ',' : ':', seed);
    rc = gbose__auto_new(&player->g, spec, dim, &variant->tuning, err);
    if (!rc)
        rc = gbose_stream(player->g, repetition);
    if (rc) {
        gbose_free(player->g);
        free(player);
        return rc;
    }
    *state = player;
    return GBOSE_OK;
}

static int decide(void *state, size_t *arm, double *probability, const double *contexts, size_t n_arms,
                  gbose_error *err)
{
    struct player *player = state;
    gbose_decision d;
    int rc = gbose_decide(player->g, &d, contexts, n_arms);

    if (rc) {
        snprintf(err->text, sizeof err->text, "%s", gbose_strerror(rc));
        return rc;
    }
    player->ticket = d.ticket;
    player->ticket_size = d.ticket_size;
    *arm = d.arm;
    *probability = d.probability;
    return GBOSE_OK;
}

static int learn(void *state, double reward, gbose_error *err)
{
    struct player *player = state;
    int rc = gbose_learn(player->g, player->ticket, player->ticket_size, reward);

    if (rc)
        snprintf(err->text, sizeof err->text, "%s", gbose_strerror(rc));
    return rc;
}

static void end(void *state)
{
    struct player *player = state;

    gbose_free(player->g);
    free(player);
}

/* ---- the table ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Runs are in the order world, learner, repetition. */
static int median_regret(const gbose_study *s, size_t first, size_t reps, double *out)
{
    double *regret = malloc(reps * sizeof *regret);
    gbose_study_run run;
    int rc = regret ? GBOSE_OK : GBOSE_ENOMEM;

    for (size_t i = 0; i < reps && !rc; i++) {
        rc = gbose_study_run_at(s, first + i, &run);
        regret[i] = rc ? 0 : run.regret;
    }
    if (!rc) {
        qsort(regret, reps, sizeof *regret, compare);
        *out = (regret[(reps - 1) / 2] + regret[reps / 2]) / 2;
    }
    free(regret);
    return rc;
}

static int play(struct variant *variant, uint64_t seed, size_t reps, gbose_error *err)
{
    gbose_study_learner learner = {variant->name, variant, begin, decide, learn, end};
    gbose_study *s;
    int rc = gbose_study_new(&s, ROUNDS, reps, seed, err);

    if (rc)
        return rc;
    variant->tuning = gbose__tuning_default;
    variant->change(&variant->tuning);
    for (size_t i = 0; i < COUNT(worlds) && !rc; i++)
        rc = gbose_study_add_world(s, worlds[i], err);
    if (!rc)
        rc = gbose_study_join_learner(s, &learner, err);
    if (!rc)
        rc = gbose_study_play(s, 1, NULL, NULL, err);
    if (!rc)
        printf("| %s |", variant->name);
    for (size_t i = 0; i < COUNT(worlds) && !rc; i++) {
        double median = 0;

        rc = median_regret(s, i * reps, reps, &median);
        printf(" %.1f |", median);
    }
    printf("\n");
    fflush(stdout);
    gbose_study_free(s);
    return rc;
}

int main(int argc, char **argv)
{
    char *seed_end = NULL, *reps_end = NULL;
    gbose_error err = {0, ""};
    uint64_t seed = argc == 3 ? strtoull(argv[1], &seed_end, 10) : 0;
    size_t reps = argc == 3 ? strtoull(argv[2], &reps_end, 10) : 0;

    if (argc != 3 || *seed_end || *reps_end || !reps) {
        fprintf(stderr, "Usage: auto_ablation SEED REPETITIONS\n");
        return 2;
    }
    printf("| |");
    for (size_t i = 0; i < COUNT(worlds); i++)
        printf(" `%s` |", worlds[i]);
    printf("\n|---|");
    for (size_t i = 0; i < COUNT(worlds); i++)
        printf("---|");
    printf("\n");
    for (size_t i = 0; i < COUNT(variants); i++)
        if (play(&variants[i], seed, reps, &err)) {
            fprintf(stderr, "auto_ablation: %s: %s\n", variants[i].name, err.text);
            return 1;
        }
    return 0;
}
