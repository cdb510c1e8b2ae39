/* Rewards and activation in the PostgreSQL store.
 *
 * What the changes of a group mean for each other is worked out in memory, in their order. Nothing is locked until it is
 * written; then the gates are passed, and what was found is looked at again (postgres_run.c). */
#include "store/postgres_event.h"

#include <stdlib.h>
#include <string.h>

#include "core/error.h"

/* A change on its way. */
struct step {
    struct gbose__change *change;
    struct gbose__pg_event *event;
    int there, was_late, writes; /* a reward of that id is in the store; it was late; this one will be */
    double was;
    struct step *earlier; /* that writes a reward of the same event */
};

/* ---- which events are meant ---- */

static int by_touched(const void *a, const void *b)
{
    int64_t x = ((const struct gbose__pg_event *)a)->key, y = ((const struct gbose__pg_event *)b)->key;

    return (x > y) - (x < y);
}

/* Events that are meant by name: find their numbers. Those that are not there keep step.change with MISSING. */
static int resolve(struct gbose__pg_group *g, struct step *steps, size_t n, gbose_error *err)
{
    struct gbose__pg_bytes bandit = {0}, name = {0}, at = {0};
    struct gbose__pg_args args = {0};
    PGresult *r = NULL;
    int rc = GBOSE_OK;

    for (size_t i = 0; i < n; i++) {
        const struct gbose__reward_change *it = &steps[i].change->of.reward;

        if (!it->name)
            continue;
        steps[i].change->result = GBOSE__MISSING;
        gbose__pg_add_int(&bandit, it->bandit);
        gbose__pg_add_blob(&name, it->name, strlen(it->name));
        gbose__pg_add_int(&at, (int64_t)i);
    }
    if (at.size) {
        gbose__pg_arg_text(&args, gbose__pg_close(&bandit));
        gbose__pg_arg_text(&args, gbose__pg_close(&name));
        gbose__pg_arg_text(&args, gbose__pg_close(&at));
        rc = bandit.bad || name.bad || at.bad
                 ? gbose__no_memory(err)
                 : gbose__pg_query(
                       g->c,
                       "SELECT t.at, n.event FROM unnest($1::int4[], $2::bytea[], $3::int8[]) AS t(b, n, at)"
                       " JOIN named n ON n.bandit = t.b AND n.name = t.n",
                       &args, &r, err);
        for (int i = 0; !rc && i < PQntuples(r); i++) {
            struct gbose__change *change = steps[gbose__pg_int(r, i, 0)].change;

            change->of.reward.number = gbose__row_number(gbose__pg_int(r, i, 1));
            change->result = GBOSE__DONE;
        }
        PQclear(r);
    }
    gbose__pg_clear(&bandit);
    gbose__pg_clear(&name);
    gbose__pg_clear(&at);
    return rc;
}

static void take_row(struct gbose__pg_event *events, size_t n, const PGresult *r, int row)
{
    struct gbose__pg_event key = {.key = gbose__pg_int(r, row, 0)};
    struct gbose__pg_event *event = bsearch(&key, events, n, sizeof *events, by_touched);

    event->there = 1;
    event->day = (int32_t)gbose__pg_int(r, row, 1);
    event->activated = gbose__pg_int(r, row, 2) != 0;
    event->deadline = gbose__pg_int(r, row, 3);
    event->deferred = gbose__pg_int(r, row, 4) != 0;
    event->closed = gbose__pg_int(r, row, 5) != 0;
    event->open = !event->closed;
}

#define LOOKED_UP                                                                                            \
    "SELECT e.key, e.day, coalesce(o.activated, CASE WHEN e.flags & 1 <> 0 THEN EXISTS (SELECT FROM"         \
    " activated a WHERE a.event = e.key) ELSE false END), e.deadline, e.flags & 1, o.event IS NOT NULL"

/* Look up those of the events that have not been found, by a statement over LOOKED_UP. */
static int look(struct gbose__pg_group *g, const char *sql, struct gbose__pg_event *events, size_t n,
                int32_t day, gbose_error *err)
{
    struct gbose__pg_bytes keys = {0};
    struct gbose__pg_args args = {0};
    PGresult *r = NULL;
    int rc = GBOSE_OK;

    for (size_t i = 0; i < n; i++)
        if (!events[i].there)
            gbose__pg_add_int(&keys, events[i].key);
    if (keys.size) {
        gbose__pg_arg_text(&args, gbose__pg_close(&keys));
        gbose__pg_arg_int(&args, day);
        rc = gbose__pg_query(g->c, sql, &args, &r, err);
    }
    if (keys.bad)
        rc = gbose__no_memory(err);
    for (int i = 0; !rc && keys.size && i < PQntuples(r); i++)
        take_row(events, n, r, i);
    PQclear(r);
    gbose__pg_clear(&keys);
    return rc;
}

/* Look up events. Most rewards come on the day of the decision; the day of others is known by their runs while they are
 * open, and by their outcomes afterwards. */
static int look_up(struct gbose__pg_group *g, struct gbose__pg_event *events, size_t n, int32_t day,
                   gbose_error *err)
{
    int rc = look(g,
                  LOOKED_UP " FROM event e LEFT JOIN outcome o ON o.event = e.key"
                            " WHERE e.key = ANY($1::int8[]) AND e.day = $2::int4",
                  events, n, day, err);

    return rc ? rc
              : look(g,
                     LOOKED_UP " FROM unnest($1::int8[]) AS t(k) LEFT JOIN outcome o ON o.event = t.k"
                               " LEFT JOIN LATERAL " GBOSE__PG_DAY_OF(
                                   "t.k") " AS w ON true"
                                          " JOIN event e ON e.day = coalesce(o.day, w.day) AND e.key = t.k"
                                          " AND e.day <> $2::int4",
                     events, n, day, err);
}

/* ---- rewards ---- */

static int is_reward(const struct step *s)
{
    return s->event && s->change->kind == GBOSE__ADD_REWARD && !s->change->of.reward.no_value;
}

/* Which of the rewards are in the store already? */
static int look_up_rewards(struct gbose__pg_group *g, struct step *steps, size_t n, gbose_error *err)
{
    struct gbose__pg_bytes day = {0}, event = {0}, id = {0}, at = {0};
    struct gbose__pg_args args = {0};
    PGresult *r = NULL;
    int rc = GBOSE_OK;

    for (size_t i = 0; i < n; i++)
        if (is_reward(&steps[i])) {
            gbose__pg_add_int(&day, steps[i].event->day);
            gbose__pg_add_int(&event, steps[i].event->key);
            gbose__pg_add_blob(&id, steps[i].change->of.reward.id, strlen(steps[i].change->of.reward.id));
            gbose__pg_add_int(&at, (int64_t)i);
        }
    if (at.size) {
        gbose__pg_arg_text(&args, gbose__pg_close(&day));
        gbose__pg_arg_text(&args, gbose__pg_close(&event));
        gbose__pg_arg_text(&args, gbose__pg_close(&id));
        gbose__pg_arg_text(&args, gbose__pg_close(&at));
        rc = day.bad || event.bad || id.bad || at.bad
                 ? gbose__no_memory(err)
                 : gbose__pg_query(
                       g->c,
                       "SELECT t.at, r.value, r.late FROM unnest($1::int4[], $2::int8[], $3::bytea[], "
                       "$4::int8[])"
                       " AS t(d, e, i, at) JOIN reward r ON r.day = t.d AND r.event = t.e AND r.id = t.i",
                       &args, &r, err);
        for (int i = 0; !rc && i < PQntuples(r); i++) {
            struct step *s = &steps[gbose__pg_int(r, i, 0)];

            s->there = 1;
            s->was = gbose__pg_double(r, i, 1);
            s->was_late = gbose__pg_int(r, i, 2) != 0;
        }
        PQclear(r);
    }
    gbose__pg_clear(&day);
    gbose__pg_clear(&event);
    gbose__pg_clear(&id);
    gbose__pg_clear(&at);
    return rc;
}

/* One change, after those before it. */
static int take_step(struct step *s, struct step *before, struct gbose__pg_closings *closings,
                     gbose_error *err)
{
    struct gbose__reward_change *it = &s->change->of.reward;
    struct gbose__pg_event *event = s->event;
    int closed = event->closed;

    it->closed = 0;
    it->late = closed || it->now > event->deadline;
    if (s->change->kind == GBOSE__ACTIVATE_EVENT) {
        if (!event->deferred || event->activated)
            s->change->result = GBOSE__REPEATED;
        else if (!it->late)
            event->activated = s->writes = 1;
        return GBOSE_OK;
    }
    if (!it->no_value) {
        for (; before && !s->there; before = before->earlier) /* has this group brought it before? */
            if (!strcmp(before->change->of.reward.id, it->id)) {
                s->there = 1;
                s->was = before->change->of.reward.value;
                s->was_late = before->change->of.reward.late;
            }
        s->writes = !s->there;
        if (s->there) {
            s->change->result = s->was == it->value ? GBOSE__REPEATED : GBOSE__CONFLICT;
            it->late = s->was_late;
        }
    }
    if (!it->final || closed || s->change->result == GBOSE__CONFLICT)
        return GBOSE_OK;
    it->closed = event->closed = 1;
    return gbose__pg_closing_add(closings, event, it->now, it->aggregate, it->default_reward, err);
}

/* Write the rewards: those of an event in their order, which is that of their numbers; and in the order of events, so that two
 * servers that are sent the same ones do not wait for each other. */
static int write_rewards(struct gbose__pg_group *g, const struct step *steps, size_t n, gbose_error *err)
{
    struct gbose__pg_bytes column[7] = {{0}};
    struct gbose__pg_args args = {0};
    PGresult *r = NULL;
    size_t m = 0;
    int rc = GBOSE_OK, bad = 0;

    for (size_t i = 0; i < n; i++) {
        const struct gbose__reward_change *it = &steps[i].change->of.reward;
        struct gbose__reward_row row = {it->id, it->value, it->now, it->late};
        struct gbose__pg_tally *t;

        if (!is_reward(&steps[i]) || !steps[i].writes)
            continue;
        m++;
        t = gbose__pg_tally_of(g, it->bandit, err);
        t->count[GBOSE__PG_REWARDS]++;
        t->count[GBOSE__PG_LATE] += it->late != 0;
        gbose__pg_add_int(&column[0], steps[i].event->day);
        gbose__pg_add_int(&column[1], steps[i].event->key);
        gbose__pg_add_blob(&column[2], it->id, strlen(it->id));
        gbose__pg_add_double(&column[3], it->value);
        gbose__pg_add_int(&column[4], it->now);
        gbose__pg_add_int(&column[5], it->late != 0);
        gbose__pg_add_int(&column[6], gbose__sum_reward(steps[i].event->key, &row));
    }
    for (int k = 0; k < 7; k++) {
        gbose__pg_arg_text(&args, gbose__pg_close(&column[k]));
        bad |= column[k].bad;
    }
    if (m)
        rc = bad ? gbose__no_memory(err)
                 : gbose__pg_query(
                       g->c,
                       "INSERT INTO reward (day, event, id, value, time, late, sum)"
                       " SELECT d, e, i, v, w, l <> 0, s FROM unnest($1::int4[], $2::int8[], $3::bytea[],"
                       " $4::float8[], $5::int8[], $6::int4[], $7::int8[]) WITH ORDINALITY"
                       " AS t(d, e, i, v, w, l, s, ord) ORDER BY e, ord ON CONFLICT DO NOTHING",
                       &args, &r, err);
    if (!rc && m && gbose__pg_changed(r) != m) /* another server has just written one of them */
        rc = gbose__fail(err, GBOSE__PG_AGAIN, "cannot write to the store: a reward came twice at once");
    PQclear(r);
    for (int k = 0; k < 7; k++)
        gbose__pg_clear(&column[k]);
    return rc;
}

static int write_activations(struct gbose__pg_group *g, const struct step *steps, size_t n, gbose_error *err)
{
    struct gbose__pg_bytes keys = {0};
    struct gbose__pg_args args = {0};
    PGresult *r = NULL;
    size_t m = 0;
    int rc = GBOSE_OK;

    for (size_t i = 0; i < n; i++)
        if (steps[i].event && steps[i].change->kind == GBOSE__ACTIVATE_EVENT && steps[i].writes) {
            gbose__pg_add_int(&keys, steps[i].event->key);
            m++;
        }
    if (m) {
        gbose__pg_arg_text(&args, gbose__pg_close(&keys));
        rc = keys.bad ? gbose__no_memory(err)
                      : gbose__pg_query(g->c,
                                        "INSERT INTO activated SELECT k FROM unnest($1::int8[]) AS t(k)"
                                        " ORDER BY k ON CONFLICT DO NOTHING",
                                        &args, &r, err);
        if (!rc && gbose__pg_changed(r) != m) /* another server has just activated one of them */
            rc = gbose__fail(err, GBOSE__PG_AGAIN,
                             "cannot write to the store: an event was activated twice at once");
        PQclear(r);
    }
    gbose__pg_clear(&keys);
    return rc;
}

/* Pass the gates. Are the events that were open still so, and activated as they should be by now? Read the rewards of those that
 * are to be closed. */
static int confirm(struct gbose__pg_group *g, const struct gbose__pg_event *events, size_t n,
                   struct gbose__pg_closings *closings, gbose_error *err)
{
    struct gbose__pg_bytes open = {0}, deferred = {0};
    struct gbose__pg_batch batch = {0};
    int64_t activated = 0;
    int rc, at;

    for (size_t i = 0; i < n; i++) {
        if (events[i].open)
            gbose__pg_add_int(&open, events[i].key);
        if (events[i].open && events[i].deferred) {
            gbose__pg_add_int(&deferred, events[i].key);
            activated += events[i].activated;
        }
    }
    if (!open.size)
        return open.bad ? gbose__no_memory(err) : GBOSE_OK;
    rc = gbose__pg_gate_add(g, GBOSE__PG_CLOSING, &batch, err);
    at = batch.n;
    gbose__pg_arg_text(
        gbose__pg_batch_add(&batch, "SELECT count(*) FROM outcome WHERE event = ANY($1::int8[])"),
        gbose__pg_close(&open));
    if (deferred.size)
        gbose__pg_arg_text(
            gbose__pg_batch_add(&batch, "SELECT count(*) FROM activated WHERE event = ANY($1::int8[])"),
            gbose__pg_close(&deferred));
    if (!rc && closings->n)
        rc = gbose__pg_rewards_ask(closings, &batch, err);
    if (!rc)
        rc = open.bad || deferred.bad ? gbose__no_memory(err) : gbose__pg_batch_run(g->c, &batch, err);
    if (!rc && (gbose__pg_int(batch.result[at], 0, 0) ||
                (deferred.size && gbose__pg_int(batch.result[at + 1], 0, 0) != activated)))
        rc = gbose__fail(err, GBOSE__PG_AGAIN,
                         "cannot write to the store: an event was closed at the same moment");
    if (!rc && closings->n)
        gbose__pg_rewards_take(closings, &batch);
    gbose__pg_batch_clear(&batch);
    gbose__pg_clear(&open);
    gbose__pg_clear(&deferred);
    return rc;
}

/* The steps, when their events are known. */
static int take_steps(struct gbose__pg_group *g, struct step *steps, size_t n, struct gbose__pg_event *events,
                      size_t n_events, gbose_error *err)
{
    struct step **last = calloc(n_events + 1, sizeof(struct step *)); /* that wrote a reward of each event */
    struct gbose__pg_closings closings = {0};
    int rc = last ? look_up_rewards(g, steps, n, err) : gbose__no_memory(err);

    for (size_t i = 0; i < n && !rc; i++) {
        size_t at;

        if (!steps[i].event)
            continue;
        at = (size_t)(steps[i].event - events);
        rc = take_step(&steps[i], last[at], &closings, err);
        if (steps[i].writes && is_reward(&steps[i])) {
            steps[i].earlier = last[at];
            last[at] = &steps[i];
        }
    }
    if (!rc)
        rc = write_rewards(g, steps, n, err);
    if (!rc)
        rc = write_activations(g, steps, n, err);
    if (!rc)
        rc = confirm(g, events, n_events, &closings, err);
    if (!rc)
        rc = gbose__pg_close_all(g, &closings, err);
    gbose__pg_closings_clear(&closings);
    free(last);
    return rc;
}

int gbose__pg_add_rewards(struct gbose__pg_group *g, struct gbose__change **changes, size_t n,
                          gbose_error *err)
{
    struct step *steps = calloc(n, sizeof *steps);
    struct gbose__pg_event *events = calloc(n, sizeof *events);
    size_t n_events = 0, m = 0;
    int rc = steps && events ? GBOSE_OK : gbose__no_memory(err);

    for (size_t i = 0; i < n && !rc; i++) {
        steps[i].change = changes[i];
        changes[i]->of.reward.late = changes[i]->of.reward.closed = 0;
    }
    if (!rc)
        rc = resolve(g, steps, n, err);
    for (size_t i = 0; i < n && !rc; i++)
        if (changes[i]->result == GBOSE__DONE)
            events[m++].key = gbose__row_key(changes[i]->of.reward.bandit, changes[i]->of.reward.number);
    if (!rc && m) {
        qsort(events, m, sizeof *events, by_touched);
        for (size_t i = 0; i < m; i++)
            if (!n_events || events[n_events - 1].key != events[i].key)
                events[n_events++] = events[i];
        rc = look_up(g, events, n_events, gbose__pg_day(changes[0]->of.reward.now), err);
        for (size_t i = 0; i < n && !rc; i++) {
            struct gbose__pg_event key = {
                .key = gbose__row_key(changes[i]->of.reward.bandit, changes[i]->of.reward.number)};

            if (changes[i]->result != GBOSE__DONE)
                continue;
            steps[i].event = bsearch(&key, events, n_events, sizeof *events, by_touched);
            if (!steps[i].event->there) {
                steps[i].event = NULL;
                changes[i]->result = GBOSE__MISSING;
            }
        }
    }
    if (!rc && m)
        rc = take_steps(g, steps, n, events, n_events, err);
    free(steps);
    free(events);
    return rc;
}
