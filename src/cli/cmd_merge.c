/* gbose merge: what several learners know, in one. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/logs.h"
#include "gbose.h"

/* Why two states do not go together, for somebody who has files and not objects. */
static int refuse(const char *command, int rc, const char *into, const char *from, const gbose *a,
                  const gbose *b)
{
    switch (rc) {
    case GBOSE_EMISMATCH:
        return usage_error(
            command,
            "%s is '%s' with %zu features, and %s is '%s' with %zu: only learners of the same spec and "
            "dimension can be merged",
            into, gbose_spec(a), gbose_dim(a), from, gbose_spec(b), gbose_dim(b));
    case GBOSE_EOVERLAP:
        return usage_error(
            command,
            "%s holds evidence that is merged already: it or an earlier state of it would be counted twice. "
            "Give each region's newest state once",
            from);
    case GBOSE_EHISTORY:
        return usage_error(
            command,
            "%s and %s went on from a common state that neither was loaded from last: give that state first",
            into, from);
    default:
        fprintf(stderr, "gbose %s: cannot merge %s: %s\n", command, from, gbose_strerror(rc));
        return EXIT_BROKEN;
    }
}

static int merge(const char *command, const struct arg *states, const char *out)
{
    gbose *g = NULL, *from;
    int rc = logs_load(&g, command, states->value[0]);

    for (int i = 1; i < states->n && !rc; i++) {
        rc = logs_load(&from, command, states->value[i]);
        if (rc)
            break;
        rc = gbose_merge(g, from);
        if (rc)
            rc = refuse(command, rc, states->value[0], states->value[i], g, from);
        gbose_free(from);
    }
    if (!rc)
        rc = logs_save(g, command, out);
    if (!rc)
        printf("%s with %zu features knows %" PRIu64 " rewards of %d states; it is in %s\n", gbose_spec(g),
               gbose_dim(g), gbose_rounds(g), states->n, out);
    gbose_free(g);
    return rc;
}

static int run(int argc, char **argv)
{
    struct arg args[] = {{"", MANY, NULL, 0, 0}, {"out", 1, NULL, 0, 0}, {NULL, 0, NULL, 0, 0}};
    int rc = args_parse(argc, argv, args);

    if (!rc && args[0].n < 2)
        rc = usage_error(argv[0], "give two states at least: gbose merge STATE STATE... --out STATE");
    if (!rc && !args[1].n)
        rc = usage_error(argv[0], "--out is missing: the file that takes what all of them know");
    if (!rc)
        rc = merge(argv[0], &args[0], args[1].value[0]);
    args_clear(args);
    return rc;
}

const struct command cmd_merge = {
    "merge", "put what several learners know into one",
    "Usage: gbose merge STATE... --out STATE\n\n"
    "States come from gbose learn, gbose_save() or a bandit in Python. They must have "
    "the same spec and number of features, and have learned from\n"
    "different decisions: regions or devices that share nothing. The result is "
    "the learner that saw all of them. States that share\n"
    "evidence, which would count twice, are refused.\n\n"
    "  --out STATE     where the result goes; it may be one of the states\n\nExample:\n"
    "  gbose merge europe.state asia.state --out both.state\n",
    run};
