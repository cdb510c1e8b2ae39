/* Which events may be open, and who may close them, in the PostgreSQL store.
 *
 * An event is open until it has an outcome. So that those that are due are found, and an event's day by its number, `pending` has
 * a row for each run of events, which are those of one group whose numbers follow each other: a server takes its numbers in order,
 * so a group is a few runs, whatever its size. A run goes when none of its events is left, which is looked at when one of them is due.
 *
 * Gates. A reward must be in the outcome of its event, or say that it was late, whichever servers they come to. Whoever writes
 * rewards passes the bandit's gate together with others who do, before the end of its transaction; whoever closes events
 * passes it alone. Gates are advisory locks, held until the commit can be seen: what was read before the gate is looked
 * at again behind it, and if it is not so any more, then the transaction is made again. A gate of another kind, at the beginning,
 * keeps those who erase events from those who reward them. */
#include "store/postgres_inner.h"

#include <stdlib.h>

#include "core/error.h"

#define RUN_BITS                                                                                             \
    8 /* a run ends where the number's last 8 bits begin again, so that it has 256 events at the most */
#define GATES 64 /* bandits share so many, since a database has room for a limited number of locks */

struct gbose__pg_open {
    int64_t key, deadline;
    int32_t day;
};

int gbose__pg_open_add(struct gbose__pg_group *g, const struct gbose__event_row *row, gbose_error *err)
{
    if (g->n_open == g->open_capacity) {
        size_t capacity = 2 * g->open_capacity + 64;
        void *more = realloc(g->open, capacity * sizeof *g->open);

        if (!more)
            return gbose__no_memory(err);
        g->open = more;
        g->open_capacity = capacity;
    }
    g->open[g->n_open++] = (struct gbose__pg_open){gbose__row_key(row->bandit, row->number), row->deadline,
                                                   gbose__pg_day(row->time)};
    return GBOSE_OK;
}

static int by_key(const void *a, const void *b)
{
    int64_t x = ((const struct gbose__pg_open *)a)->key, y = ((const struct gbose__pg_open *)b)->key;

    return (x > y) - (x < y);
}

static int follows(const struct gbose__pg_open *event, const struct gbose__pg_open *before)
{
    return event->key == before->key + 1 && event->key >> RUN_BITS == before->key >> RUN_BITS &&
           event->day == before->day;
}

int gbose__pg_runs_add(struct gbose__pg_group *g, struct gbose__pg_batch *batch, gbose_error *err)
{
    struct gbose__pg_args *args;
    int bad = 0;

    if (!g->n_open)
        return GBOSE_OK;
    qsort(g->open, g->n_open, sizeof *g->open, by_key);
    for (size_t i = 0, end; i < g->n_open; i = end) {
        int64_t deadline = g->open[i].deadline;

        for (end = i + 1; end < g->n_open && follows(&g->open[end], &g->open[end - 1]); end++)
            if (g->open[end].deadline < deadline)
                deadline = g->open[end].deadline;
        gbose__pg_add_int(&g->run[0], g->open[end - 1].key);
        gbose__pg_add_int(&g->run[1], g->open[i].key);
        gbose__pg_add_int(&g->run[2], gbose__row_bandit(g->open[i].key));
        gbose__pg_add_int(&g->run[3], deadline);
        gbose__pg_add_int(&g->run[4], g->open[i].day);
    }
    g->n_open = 0;
    args = gbose__pg_batch_add(batch, "INSERT INTO pending SELECT * FROM unnest($1::int8[], $2::int8[],"
                                      " $3::int4[], $4::int8[], $5::int4[])");
    for (int i = 0; i < 5; i++) {
        gbose__pg_arg_text(args, gbose__pg_close(&g->run[i]));
        bad |= g->run[i].bad;
    }
    return bad ? gbose__no_memory(err) : GBOSE_OK;
}

int gbose__pg_runs_write(struct gbose__pg_group *g, gbose_error *err)
{
    struct gbose__pg_batch batch = {0};
    int rc = gbose__pg_runs_add(g, &batch, err);

    if (!rc && batch.n)
        rc = gbose__pg_batch_run(g->c, &batch, err);
    gbose__pg_batch_clear(&batch);
    for (int i = 0; i < 5; i++)
        gbose__pg_clear(&g->run[i]);
    return rc;
}

/* What a change needs of its bandit's gate. */
enum { NOTHING, TOGETHER, ALONE };
static int needs(enum gbose__pg_gate gate, const struct gbose__change *change, uint32_t *bandit)
{
    switch ((int)change->kind) {
    case GBOSE__ADD_REWARD:
    case GBOSE__ACTIVATE_EVENT:
        *bandit = change->of.reward.bandit;
        return gate == GBOSE__PG_CLOSING && change->of.reward.final ? ALONE : TOGETHER;
    case GBOSE__CLOSE_DUE:
        *bandit = change->of.close.bandit;
        return gate == GBOSE__PG_CLOSING ? ALONE : NOTHING;
    case GBOSE__ERASE_UNIT:
        *bandit = change->of.erase.bandit;
        return ALONE;
    default:
        return NOTHING;
    }
}

/* All gates of the group at once and in their order, so that two groups do not wait for each other. */
int gbose__pg_gate_add(struct gbose__pg_group *g, enum gbose__pg_gate gate, struct gbose__pg_batch *batch,
                       gbose_error *err)
{
    struct gbose__pg_bytes *which = &g->gate[gate].which, *alone = &g->gate[gate].alone;
    char need[GATES] = {0};
    struct gbose__pg_args *args;

    if (g->gate[gate].passed)
        return GBOSE_OK;
    g->gate[gate].passed = 1;
    for (size_t i = 0; i < g->n; i++) {
        uint32_t bandit = 0;
        int one = needs(gate, &g->changes[i], &bandit);

        if (one > need[bandit % GATES])
            need[bandit % GATES] = (char)one;
    }
    for (int i = 0; i < GATES; i++)
        if (need[i]) {
            gbose__pg_add_int(which, i);
            gbose__pg_add_int(alone, need[i] == ALONE);
        }
    if (which->size) {
        args = gbose__pg_batch_add(batch,
                                   "SELECT CASE WHEN alone <> 0 THEN pg_advisory_xact_lock($1::int4, gate)"
                                   " ELSE pg_advisory_xact_lock_shared($1::int4, gate) END"
                                   " FROM unnest($2::int4[], $3::int4[]) AS t(gate, alone)");
        gbose__pg_arg_int(args, gate == GBOSE__PG_CLOSING ? 1734503284 : 1734503285);
        gbose__pg_arg_text(args, gbose__pg_close(which));
        gbose__pg_arg_text(args, gbose__pg_close(alone));
    }
    return which->bad || alone->bad ? gbose__no_memory(err) : GBOSE_OK;
}

void gbose__pg_group_clear(struct gbose__pg_group *g)
{
    for (int i = 0; i < 5; i++)
        gbose__pg_clear(&g->run[i]);
    for (int i = 0; i < GBOSE__PG_GATES; i++) {
        gbose__pg_clear(&g->gate[i].which);
        gbose__pg_clear(&g->gate[i].alone);
    }
    gbose__pg_clear(&g->activated);
    gbose__pg_clear(&g->closed);
    free(g->open);
    free(g->tally);
}
