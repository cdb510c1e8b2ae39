/* gbose learn: a learner from somebody else's log. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/logs.h"
#include "core/error.h"

struct learning {
    struct logs logs;
    const char *spec, *state;
    gbose *g;
    gbose_scratch *scratch;
};

/* The first line says how many features there are. */
static int begin(struct learning *l, const struct gbose__record *r, gbose_error *err)
{
    if (l->g)
        return GBOSE_OK;
    if (!r->dim)
        return gbose__fail(err, GBOSE_EINVAL,
                           "there are no contexts ('x'); give --schema to make them of features by name");
    return l->logs.schema ? gbose_new_for(&l->g, l->spec, l->logs.schema, err)
                          : gbose_new(&l->g, l->spec, r->dim, err);
}

static int take(void *user, const struct gbose__record *r, gbose_error *err)
{
    struct learning *l = user;
    gbose_input in = {r->x, r->n_arms, NULL};
    const void *ticket;
    size_t size;
    int rc;

    if (!r->has_reward) {
        l->logs.missing++;
        return GBOSE_OK;
    }
    if (r->partial)
        return gbose__fail(
            err, GBOSE_EINVAL,
            "only the played arm's probability is logged; to learn, those of all arms are needed");
    rc = logs_thinned(&l->logs, r, err);
    rc = rc ? rc : begin(l, r, err);
    if (rc)
        return rc;
    rc = logs_suits(l->g, l->spec ? l->spec : "the state", r, err);
    if (rc)
        return rc;
    in.round = gbose_round_features(l->g) ? r->round : NULL;
    rc = gbose_ticket_for(l->g, l->scratch, &ticket, &size, &in, r->pmf, r->arm);
    rc = rc ? rc : gbose_learn(l->g, ticket, size, r->reward);
    return rc ? gbose__fail(err, rc, "%s", gbose_strerror(rc)) : GBOSE_OK;
}

/* A state that was made for a schema to which ours only appends terms grows; one of another schema is
 * refused. */
static int grow(struct learning *l, const char *path)
{
    gbose_schema *before = NULL;
    gbose *grown = NULL;
    gbose_error err;
    int rc;

    if (!l->logs.schema || gbose_schema_of(l->g) == gbose_schema_hash(l->logs.schema))
        return EXIT_FINE;
    if (!gbose_schema_of(l->g))
        return usage_error(l->logs.command, "%s was made without a schema; leave out --schema", path);
    rc = gbose_schema_before(&before, l->logs.schema, gbose_schema_of(l->g), &err);
    rc = rc ? rc : gbose_grow_for(&grown, l->g, before, l->logs.schema, &err);
    gbose_schema_free(before);
    if (rc)
        return usage_error(l->logs.command, "%s: %s", path, err.text);
    gbose_free(l->g);
    l->g = grown;
    return EXIT_FINE;
}

static int learn(struct learning *l, struct arg *args)
{
    const struct arg *learner = args_named(args, "learner"), *from = args_named(args, "from"),
                     *out = args_named(args, "out");
    const char *command = l->logs.command;
    int rc;

    if (learner->given == from->given)
        return usage_error(command, "give either --learner SPEC or --from STATE");
    if (!out->given)
        return usage_error(command, "--out is missing: the file that takes what was learned");
    l->spec = learner->given ? learner->value[0] : NULL;
    if (from->given) {
        rc = logs_load(&l->g, command, from->value[0]);
        rc = rc ? rc : grow(l, from->value[0]);
        if (rc)
            return rc;
    }
    if (gbose_scratch_new(&l->scratch)) {
        fprintf(stderr, "gbose: out of memory\n");
        return EXIT_BROKEN;
    }
    rc = logs_each(&l->logs, take, l);
    if (rc)
        return rc;
    if (!l->g)
        return logs_nothing(&l->logs);
    rc = logs_save(l->g, command, out->value[0]);
    if (rc)
        return rc;
    logs_summary(&l->logs, stdout);
    printf("%s with %zu feature%s has learned %" PRIu64 " reward%s; it is in %s\n", gbose_spec(l->g),
           gbose_dim(l->g), gbose_dim(l->g) == 1 ? "" : "s", gbose_rounds(l->g),
           gbose_rounds(l->g) == 1 ? "" : "s", out->value[0]);
    return EXIT_FINE;
}

static int run(int argc, char **argv)
{
    struct arg args[] = {LOG_ARGS,
                         {.name = "learner", .most = 1},
                         {.name = "from", .most = 1},
                         {.name = "out", .most = 1},
                         {.name = NULL}};
    struct learning l = {0};
    int rc = args_parse(argc, argv, args);

    if (!rc)
        rc = logs_options(&l.logs, argv[0], args);
    if (!rc)
        rc = learn(&l, args);
    gbose_free(l.g);
    gbose_scratch_free(l.scratch);
    logs_clear(&l.logs);
    args_clear(args);
    return rc;
}

const struct command cmd_learn = {
    "learn", "train a learner on a log that anybody made",
    "Usage: gbose learn LOG... --learner SPEC --out STATE\n"
    "       gbose learn LOG... --from STATE --out STATE\n\n"
    "The learner learns every decision of the log as if it had made it itself, with the probabilities in\n"
    "the log. This is exact whichever policy made the log, as long as its probabilities are the true ones.\n"
    "The file that is written is what gbose_load() reads.\n\n"
    "  --learner SPEC  begin with a new learner (see gbose learners)\n"
    "  --from STATE    or go on with a saved one; with a --schema that appends terms to its own, it grows\n"
    "  --out STATE     the file to write the learner to\n" LOG_HELP "\nExample:\n"
    "  gbose learn monday.jsonl.gz tuesday.jsonl.gz --learner gbose-auto:floor=0.1 --out bandit.state\n",
    run};
