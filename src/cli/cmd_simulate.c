/* gbose simulate: any study. */
#include "cli/play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/simulate_log.h"
#include "core/error.h"
#include "study/plan_json.h"

/* The sweep ("OPTION=V1,V2,...") among those given that this learner takes; NULL: none. */
static int find_sweep(const char **sweep, const char *learner, const struct arg *sweeps, int *used,
                      gbose_error *err)
{
    *sweep = NULL;
    for (int i = 0; i < sweeps->n; i++) {
        char option[64];
        size_t length = strcspn(sweeps->value[i], "=");

        snprintf(option, sizeof option, "%.*s", (int)length, sweeps->value[i]);
        if (!sweeps->value[i][length] || !sweeps->value[i][length + 1])
            return gbose__fail(err, GBOSE_ESPEC, "--sweep must be OPTION=VALUE,VALUE,...; got '%s'",
                               sweeps->value[i]);
        if (!gbose__plan_learner_has(learner, option))
            continue;
        if (*sweep)
            return gbose__fail(err, GBOSE_ESPEC, "two sweeps for '%s'; one option at a time can be swept",
                               learner);
        *sweep = sweeps->value[i];
        used[i] = 1;
    }
    return GBOSE_OK;
}

static int add_learner(struct gbose__plan *plan, const char *spec, const struct arg *sweeps, int *used,
                       gbose_error *err)
{
    const char *sweep;
    char option[64];
    int rc = find_sweep(&sweep, spec, sweeps, used, err);

    if (rc)
        return rc;
    if (!sweep)
        return gbose__plan_add_learner(plan, spec, NULL, NULL, NULL, 0, err);
    snprintf(option, sizeof option, "%.*s", (int)strcspn(sweep, "="), sweep);
    return gbose__plan_sweep_learner(plan, spec, NULL, option, strchr(sweep, '=') + 1, err);
}

static int fill(struct gbose__plan *plan, const struct arg *worlds, const struct arg *learners,
                const struct arg *sweeps, gbose_error *err)
{
    int *used = calloc((size_t)sweeps->n + 1, sizeof *used);
    int rc = used ? GBOSE_OK : gbose__fail(err, GBOSE_ENOMEM, "%s", gbose_strerror(GBOSE_ENOMEM));

    for (int i = 0; i < worlds->n && !rc; i++)
        rc = gbose__plan_add_world(plan, worlds->value[i], err);
    for (int i = 0; i < learners->n && !rc; i++)
        rc = add_learner(plan, learners->value[i], sweeps, used, err);
    for (int i = 0; i < sweeps->n && !rc; i++)
        if (!used[i])
            rc = gbose__fail(err, GBOSE_ESPEC, "no learner has the option of --sweep %s", sweeps->value[i]);
    gbose__plan_set_fresh(plan);
    free(used);
    return rc;
}

/* The plan of --plan FILE, or of the other options. NULL: said why, in rc. */
static struct gbose__plan *make_plan(char *command, struct arg *args, int *rc)
{
    const struct arg *worlds = args_named(args, "world"), *learners = args_named(args, "learner");
    const struct arg *sweeps = args_named(args, "sweep"), *file = args_named(args, "plan");
    const struct arg *rounds_arg = args_named(args, "rounds"), *reps_arg = args_named(args, "reps");
    const struct arg *seed_arg = args_named(args, "seed");
    uint64_t rounds = 10000, reps = 10, seed = 1;
    struct gbose__plan *plan = NULL;
    gbose_error err = {0, ""};

    if (file->given) {
        if (worlds->n || learners->n || sweeps->n || rounds_arg->given || reps_arg->given || seed_arg->given)
            *rc = usage_error(command, "--plan says everything that is played; leave out the other options");
        else if (!(plan = gbose__plan_json_load(file->value[0], &err)))
            *rc = usage_error(command, "%s", err.text);
        return plan;
    }
    if (!worlds->n)
        *rc = usage_error(command, "--world is missing; gbose worlds lists them");
    else if (!learners->n)
        *rc = usage_error(command, "--learner is missing; gbose learners lists them");
    if (!*rc && rounds_arg->given)
        *rc = parse_count(&rounds, command, "rounds", rounds_arg->value[0], 1, 1000000000000);
    if (!*rc && reps_arg->given)
        *rc = parse_count(&reps, command, "reps", reps_arg->value[0], 1, 1000000);
    if (!*rc && seed_arg->given)
        *rc = parse_count(&seed, command, "seed", seed_arg->value[0], 0, INT64_MAX);
    if (*rc)
        return NULL;
    plan = gbose__plan_new("simulate", rounds, (size_t)reps, seed);
    if (!plan || fill(plan, worlds, learners, sweeps, &err)) {
        *rc = plan ? usage_error(command, "%s", err.text) : EXIT_BROKEN;
        gbose__plan_free(plan);
        return NULL;
    }
    return plan;
}

/* --log: one learner in one world, as a log. */
static int write_log(char *command, struct arg *args)
{
    const struct arg *worlds = args_named(args, "world"), *learners = args_named(args, "learner");
    const struct arg *rounds_arg = args_named(args, "rounds"), *seed_arg = args_named(args, "seed");
    uint64_t rounds = 10000, seed = 1;
    int rc = EXIT_FINE;

    if (worlds->n != 1 || learners->n != 1)
        return usage_error(command,
                           "--log writes one learner in one world; give one --world and one --learner");
    for (struct arg *arg = args; arg->name; arg++)
        if (arg->given &&
            (!strcmp(arg->name, "sweep") || !strcmp(arg->name, "reps") || !strcmp(arg->name, "plan") ||
             !strcmp(arg->name, "out") || !strcmp(arg->name, "shard")))
            return usage_error(command, "--log goes without --%s", arg->name);
    if (rounds_arg->given)
        rc = parse_count(&rounds, command, "rounds", rounds_arg->value[0], 1, 1000000000000);
    if (!rc && seed_arg->given)
        rc = parse_count(&seed, command, "seed", seed_arg->value[0], 0, INT64_MAX);
    return rc ? rc
              : simulate_log(command, worlds->value[0], learners->value[0], rounds, seed,
                             args_named(args, "log")->value[0]);
}

static int run(int argc, char **argv)
{
    struct arg args[] = {{.name = "world", .most = MANY},
                         {.name = "learner", .most = MANY},
                         {.name = "sweep", .most = MANY},
                         {.name = "rounds", .most = 1},
                         {.name = "reps", .most = 1},
                         {.name = "seed", .most = 1},
                         {.name = "plan", .most = 1},
                         {.name = "threads", .most = 1},
                         {.name = "out", .most = 1},
                         {.name = "quiet", .most = 0},
                         {.name = "shard", .most = 1},
                         {.name = "log", .most = 1},
                         {.name = NULL}};
    struct gbose__plan *plan = NULL;
    struct play play = {0};
    int rc = args_parse(argc, argv, args);

    if (!rc && args_named(args, "log")->given) {
        rc = write_log(argv[0], args);
        args_clear(args);
        return rc;
    }
    if (!rc)
        rc = play_options(&play, argc, argv, args, NULL);
    if (!rc)
        plan = make_plan(argv[0], args, &rc);
    if (plan)
        rc = play_study(&play, plan, NULL, 0);
    play_clear(&play);
    args_clear(args);
    return rc;
}

const struct command cmd_simulate = {
    "simulate", "a study of your own: learners in simulated worlds",
    "Usage: gbose simulate --world SPEC... --learner SPEC...\n"
    "                      [--sweep OPTION=VALUE,VALUE,...] [--rounds T] [--reps R]\n"
    "                      [--seed S] [--threads N] [--out DIR] [--shard K/N]\n"
    "                      [--quiet]\n"
    "       gbose simulate --plan FILE [--threads N] [--out DIR] [--shard K/N]\n"
    "                      [--quiet]\n"
    "       gbose simulate --world SPEC --learner SPEC --log FILE [--rounds T]\n"
    "                      [--seed S]\n\n"
    "Plays every learner in every world. All learners meet the same rounds. With --sweep, each learner that "
    "has the option is tried with each value, and its best value (lowest median regret) is played again in "
    "as many fresh repetitions. If a study with --out DIR was stopped, give the same command again to "
    "continue it.\n\n"
    "  --world       one or more worlds; gbose worlds lists them\n"
    "  --learner     one or more learners; gbose learners lists them. The others are compared with the "
    "first\n"
    "  --sweep       an option and the values to try\n"
    "  --rounds T    rounds in a repetition (10000)\n"
    "  --reps R      repetitions (10)\n"
    "  --seed S      seed of worlds and learners (1)\n"
    "  --plan FILE   instead of all the above: the study.json of an earlier study, to play it again\n"
    "  --threads N   how many runs to play at once (the number of cores)\n"
    "  --out DIR     where tables, figures and report go; without it, or with -, only print the table\n"
    "  --shard K/N   play only part K of N; gbose collect puts the parts together\n"
    "  --quiet       show no progress, and no table if it is also written to DIR\n"
    "  --log FILE    write what one learner does in one world as a log (gbose help evaluate); .gz "
    "compresses it\n\n"
    "Examples:\n"
    "  gbose simulate --world gallery:shift=jumps --learner gbose lin-ts\n"
    "  gbose simulate --world paper kim-paik --learner gbose bose semi-ts \\\n"
    "        --sweep gamma=0.02,0.05,0.1,0.2 --reps 30 --out results/widths\n"
    "  gbose simulate --world heartsteps --learner gbose:intercept=1 action-ts:p_min=0.1,p_max=0.9 lin-ts\n",
    run};
