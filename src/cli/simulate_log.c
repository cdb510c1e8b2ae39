#include "cli/simulate_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/error.h"
#include "gbose.h"
#include "gbose_world.h"
#include "io/lines.h"
#include "io/record.h"

/* One decision, as a line. */
static int write_round(struct gbose__lines_writer *writer, FILE *line, char **text, size_t *size, gbose *g,
                       gbose_world *w, uint64_t t, gbose_error *err)
{
    struct gbose__record r;
    gbose_world_round round;
    gbose_decision d;
    char id[24];
    int rc;

    memset(&r, 0, sizeof r);
    gbose__record_reset(&r);
    gbose_world_next(w, &round);
    rc = gbose_decide(g, &d, round.contexts, round.n_arms);
    if (rc)
        return gbose__fail(err, rc, "%s", gbose_strerror(rc));
    snprintf(id, sizeof id, "%llu", (unsigned long long)t);
    r.id = id;
    r.number = (double)t;
    r.n_arms = round.n_arms;
    r.arm = d.arm;
    r.pmf = (double *)d.pmf;
    r.x = (double *)round.contexts;
    r.dim = gbose_dim(g);
    r.has_reward = 1;
    gbose_world_play(w, d.arm, &r.reward, NULL);
    rewind(line);
    gbose__record_print(&r, line);
    if (fflush(line))
        return gbose__no_memory(err);
    rc = gbose__lines_put(writer, *text, *size, err);
    return rc ? rc : gbose_learn(g, d.ticket, d.ticket_size, r.reward);
}

static int write_all(struct gbose__lines_writer *writer, gbose *g, gbose_world *w, uint64_t rounds,
                     gbose_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *line = open_memstream(&text, &size);
    int rc = line ? GBOSE_OK : gbose__no_memory(err);

    for (uint64_t t = 0; t < rounds && !rc; t++)
        rc = write_round(writer, line, &text, &size, g, w, t, err);
    if (line)
        fclose(line);
    free(text);
    return rc;
}

int simulate_log(const char *command, const char *world, const char *learner, uint64_t rounds, uint64_t seed,
                 const char *path)
{
    struct gbose__lines_writer *writer;
    gbose_world *w = NULL;
    gbose *g = NULL;
    gbose_error err;
    char spec[1000];
    int rc = gbose_world_new(&w, world, seed, 0, &err);

    snprintf(spec, sizeof spec,
             strstr(learner, "seed=") ? "%s"
             : strchr(learner, ':')   ? "%s,seed=%llu"
                                      : "%s:seed=%llu",
             learner, (unsigned long long)seed);
    rc = rc ? rc : gbose_new(&g, spec, gbose_world_dim(w), &err);
    if (rc) {
        gbose_world_free(w);
        return usage_error(command, "%s", err.text);
    }
    rc = gbose__lines_create(&writer, path, &err);
    if (!rc) {
        rc = write_all(writer, g, w, rounds, &err);
        if (rc)
            gbose__lines_abandon(writer);
        else
            rc = gbose__lines_finish(writer, &err);
    }
    if (rc)
        fprintf(stderr, "gbose %s: %s\n", command, err.text);
    gbose_free(g);
    gbose_world_free(w);
    return rc ? EXIT_BROKEN : EXIT_FINE;
}
