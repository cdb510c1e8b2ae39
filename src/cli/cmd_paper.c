/* gbose paper: Table 1 and Figures 1 to 3 of the GBOSE paper. */
#include "cli/play.h"

#include <stdio.h>
#include <string.h>

#include "core/error.h"

/* The systems, with the parameter values of the authors' earlier study (none: nothing to choose).
 * `draws=1` is the paper's Thompson sampling: one sample, and the arm that is best in it. */
static const struct {
    const char *label, *spec, *values, *quick;
} systems[] = {
#define WIDTHS "0.01,0.02,0.03,0.04,0.05,0.06,0.07,0.08,0.09,0.1,0.2"
#define FEW_WIDTHS "0.04,0.1"
    {"gbose", "gbose:intercept=1", WIDTHS, FEW_WIDTHS},
    {"gbose lone=half", "gbose:intercept=1,lone=half", WIDTHS, FEW_WIDTHS},
    {"bose", "bose:intercept=1", WIDTHS, FEW_WIDTHS},
    {"action-ts", "action-ts:intercept=1,draws=1", WIDTHS, FEW_WIDTHS},
    {"semi-ts", "semi-ts:intercept=1", "0.05,0.06,0.07,0.08,0.09,0.1,0.11,0.12,0.2,0.3,0.4", "0.06,0.12"},
    {"lin-ts", "lin-ts:draws=1", "0.001,0.002,0.003,0.004,0.005,0.006,0.007,0.008,0.009,0.01,0.02",
     "0.003,0.01"},
    {"lin-ucb", "lin-ucb", WIDTHS, FEW_WIDTHS},
    {"gbose-auto", "gbose-auto", NULL, NULL},
};

static const char *const shifts[] = {"zero", "log-sine", "cos-best"};

static int add_setup(struct gbose__plan *plan, const char *text, size_t length, gbose_error *err)
{
    unsigned arms, dim;
    char setup[32], rest, spec[128];

    snprintf(setup, sizeof setup, "%.*s", (int)length, text);
    if (sscanf(setup, "%ux%u%c", &arms, &dim, &rest) != 2)
        return gbose__fail(err, GBOSE_ESPEC, "--setup must be ARMSxDIM, such as 10x2; got '%s'", setup);
    for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++) {
        int rc;
        snprintf(spec, sizeof spec, "paper:arms=%u,dim=%u,shift=%s", arms, dim, shifts[i]);
        rc = gbose__plan_add_world(plan, spec, err);
        if (rc)
            return rc;
    }
    return GBOSE_OK;
}

static int fill(struct gbose__plan *plan, const struct arg *setup, int quick, gbose_error *err)
{
    static char *standard[] = {"2x10,10x2,10x10"};
    char *const *list = setup->n ? setup->value : standard;
    int n = setup->n ? setup->n : 1, rc = GBOSE_OK;

    for (int i = 0; i < n && !rc; i++)
        for (const char *p = list[i]; !rc;) {
            size_t length = strcspn(p, ",");
            rc = add_setup(plan, p, length, err);
            p += length;
            if (!*p++)
                break;
        }
    for (size_t i = 0; i < sizeof systems / sizeof *systems && !rc; i++)
        if (systems[i].values)
            rc = gbose__plan_sweep_learner(plan, systems[i].spec, systems[i].label, "gamma",
                                           quick ? systems[i].quick : systems[i].values, err);
        else
            rc = gbose__plan_add_learner(plan, systems[i].spec, systems[i].label, NULL, NULL, 0, err);
    return rc;
}

static int run(int argc, char **argv)
{
    struct arg args[] = {{.name = "quick", .most = 0}, {.name = "setup", .most = MANY},
                         {.name = "reps", .most = 1},  {.name = "rounds", .most = 1},
                         {.name = "seed", .most = 1},  {.name = "threads", .most = 1},
                         {.name = "out", .most = 1},   {.name = "quiet", .most = 0},
                         {.name = "shard", .most = 1}, {.name = NULL}};
    struct arg *quick = &args[0], *setup = &args[1], *reps_arg = &args[2], *rounds_arg = &args[3],
               *seed_arg = &args[4];
    uint64_t rounds = 10000, reps, seed = 1;
    struct gbose__plan *plan;
    struct play play = {0};
    gbose_error err = {0, ""};
    int rc = args_parse(argc, argv, args);

    reps = quick->given ? 3 : 10;
    if (!rc && reps_arg->given)
        rc = parse_count(&reps, argv[0], "reps", reps_arg->value[0], 1, 1000000);
    if (!rc && rounds_arg->given)
        rc = parse_count(&rounds, argv[0], "rounds", rounds_arg->value[0], 1, 1000000000000);
    if (!rc && seed_arg->given)
        rc = parse_count(&seed, argv[0], "seed", seed_arg->value[0], 0, INT64_MAX);
    if (!rc)
        rc = play_options(&play, argc, argv, args, quick->given ? "results/paper-quick" : "results/paper");
    if (!rc) {
        plan = gbose__plan_new("paper", rounds, (size_t)reps, seed);
        if (plan && fill(plan, setup, quick->given, &err)) {
            gbose__plan_free(plan);
            rc = usage_error(argv[0], "%s", err.text);
        } else if (plan) {
            plan->fresh = plan->reps;
            rc = play_study(&play, plan, NULL, 0);
        } else {
            rc = EXIT_BROKEN;
        }
    }
    play_clear(&play);
    args_clear(args);
    return rc;
}

const struct command cmd_paper = {
    "paper", "the paper's table and figures",
    "Usage: gbose paper [--quick] [--setup NxD...] [--reps N] [--rounds T] [--seed S]\n"
    "                   [--threads N] [--out DIR] [--shard K/N] [--quiet]\n\n"
    "Plays the paper's learners, and some that it does not have, in its nine worlds: (N, d) = (2, 10), "
    "(10, 2) and (10, 10), with the shifts (i) none, (ii) log-sine and (iii) cos-best. Each of 11 parameter "
    "values is played in the same 10 repetitions of 10,000 rounds; the best one is then played in 10 fresh "
    "repetitions. The last row, gbose-auto, is not in the paper and has no parameter to choose. If a study "
    "was stopped, give the same command again to continue it.\n\n"
    "  --quick       2 parameter values and 3 repetitions: about half a minute\n"
    "  --setup       only these (N, d), such as 2x10,10x2\n"
    "  --reps N      repetitions (10)\n"
    "  --rounds T    rounds in a repetition (10000)\n"
    "  --seed S      seed of worlds and learners (1)\n"
    "  --threads N   how many runs to play at once (the number of cores)\n"
    "  --out DIR     where tables, figures and report go (results/paper); -: only print the table\n"
    "  --shard K/N   play only part K of N; gbose collect puts the parts together\n"
    "  --quiet       show no progress, and no table if it is also written to DIR\n\n"
    "Examples:\n"
    "  gbose paper --quick\n"
    "  gbose paper --setup 10x2 --reps 100 --out results/many\n"
    "  mpirun -n 8 gbose paper --reps 100\n",
    run};
