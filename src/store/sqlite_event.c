/* Events in the SQLite store: decisions, their rewards, and how they are closed. */
#include "store/sqlite_write.h"

#include <stdlib.h>

#include "core/error.h"
#include "store/pack.h"

/* 1 and its key if there is an event of that name, 0 if not, or an error. */
static int find_name(struct gbose__sqlite *c, uint32_t bandit, const char *name, int64_t *key,
                     gbose_error *err)
{
    sqlite3_stmt *s =
        gbose__sqlite_statement(c, FIND_NAME, "SELECT event FROM named WHERE bandit = ?1 AND name = ?2");

    sqlite3_bind_int64(s, 1, bandit);
    gbose__sqlite_bind_text(s, 2, name);
    return gbose__sqlite_first(c, s, key, err);
}

/* Pack the text of an event, in memory of the connection, unless it comes packed. */
static int pack(struct gbose__sqlite *c, struct gbose__event_row *row, gbose_error *err)
{
    size_t most = gbose__pack_bound(row->body_size);

    if (row->packed)
        return GBOSE_OK;
    if (most > c->packed_capacity) {
        void *more = realloc(c->packed, 2 * most);

        if (!more)
            return gbose__no_memory(err);
        c->packed = more;
        c->packed_capacity = 2 * most;
    }
    row->packed_size = gbose__pack(c->packed, row->body, row->body_size);
    row->packed = c->packed;
    return GBOSE_OK;
}

/* Was the event of that key asked for in the same words? */
static int same_event(struct gbose__sqlite *c, int64_t key, const struct gbose__event_row *row,
                      gbose_error *err)
{
    sqlite3_stmt *s =
        gbose__sqlite_statement(c, SAME_EVENT,
                                "SELECT body IN (?2, ?5) AND (flags & 1) = (?3 & 1) AND unit IS ?4 FROM event"
                                " WHERE key = ?1");
    int64_t same = 0;
    int rc;

    sqlite3_bind_int64(s, 1, key);
    gbose__sqlite_bind_blob(s, 2, row->body, row->body_size);
    sqlite3_bind_int64(s, 3, row->flags);
    gbose__sqlite_bind_blob(s, 4, row->unit, GBOSE__UNIT_SIZE);
    gbose__sqlite_bind_blob(s, 5, row->packed, row->packed_size);
    rc = gbose__sqlite_first(c, s, &same, err);
    return rc < 0 ? rc : same != 0;
}

static int add_event(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    struct gbose__event_row *row = &change->of.event;
    int64_t key = gbose__row_key(row->bandit, row->number), old;
    struct gbose__counts *counts = gbose__sqlite_tally(c, row->bandit, err);
    sqlite3_stmt *s;
    int rc;

    if (!counts)
        return GBOSE__ESTORE;
    if (row->name) {
        rc = find_name(c, row->bandit, row->name, &old, err);
        if (rc < 0)
            return rc;
        if (rc) {
            rc = same_event(c, old, row, err);
            row->number = gbose__row_number(old);
            change->result = rc == 1 ? GBOSE__REPEATED : GBOSE__CONFLICT;
            return rc < 0 ? rc : GBOSE_OK;
        }
        s = gbose__sqlite_statement(c, INSERT_NAME, "INSERT INTO named VALUES (?1, ?2, ?3)");
        sqlite3_bind_int64(s, 1, row->bandit);
        gbose__sqlite_bind_text(s, 2, row->name);
        sqlite3_bind_int64(s, 3, key);
        rc = gbose__sqlite_run(c, s, err);
        if (rc)
            return rc;
    }
    s = gbose__sqlite_statement(
        c, INSERT_EVENT, "INSERT INTO event VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)");
    sqlite3_bind_int64(s, 1, key);
    gbose__sqlite_bind_text(s, 2, row->name);
    sqlite3_bind_int64(s, 3, row->time);
    sqlite3_bind_int64(s, 4, row->deadline);
    sqlite3_bind_int64(s, 5, row->generation);
    sqlite3_bind_int64(s, 6, (int64_t)row->learned);
    sqlite3_bind_int64(s, 7, row->flags);
    sqlite3_bind_int64(s, 8, row->arm);
    gbose__sqlite_bind_blob(s, 9, row->pmf, row->n_arms * sizeof *row->pmf);
    gbose__sqlite_bind_blob(s, 10, row->shadow, row->n_arms * sizeof *row->shadow);
    gbose__sqlite_bind_blob(s, 11, row->unit, GBOSE__UNIT_SIZE);
    if (row->place)
        sqlite3_bind_int64(s, 12, row->place);
    else
        gbose__sqlite_bind_blob(s, 12, row->packed, row->packed_size);
    sqlite3_bind_int64(s, 13, gbose__known_sum(row));
    rc = gbose__sqlite_run(c, s, err);
    counts->events++;
    counts->pending++;
    if (counts->next_number <= row->number)
        counts->next_number = row->number + 1;
    return rc ? rc : gbose__sqlite_pending_add(c, row->bandit, row->deadline, key, err);
}

int gbose__sqlite_add_event(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    struct gbose__event_row *row = &change->of.event;
    int ours = !row->packed, rc = pack(c, row, err);

    if (!rc)
        rc = add_event(c, change, err);
    if (ours)
        row->packed = NULL; /* the next event is packed into the same memory */
    return rc;
}

/* What closing and rewarding must know of an event. */
struct known {
    int64_t key, deadline;
    int deferred;
};

/* 1 with `out` filled, 0: no such event, or an error. */
static int find_event(struct gbose__sqlite *c, int64_t key, struct known *out, gbose_error *err)
{
    sqlite3_stmt *s = WITH(FIND_EVENT, "SELECT deadline, flags FROM event WHERE key = ?1", key);
    int step = s ? sqlite3_step(s) : SQLITE_ERROR, rc = 0;

    *out = (struct known){0};
    if (step == SQLITE_ROW) {
        *out = (struct known){key, sqlite3_column_int64(s, 0), sqlite3_column_int(s, 1) & GBOSE__DEFERRED};
        rc = 1;
    } else if (step != SQLITE_DONE) {
        rc = gbose__sqlite_fail(c, "read the store", err);
    }
    sqlite3_reset(s);
    return rc;
}

/* The rewards that came in time, in the order in which they came, as one number. 1, 0 if there are none,
 * or an error. */
static int aggregate(struct gbose__sqlite *c, int64_t key, enum gbose__aggregate how, double *out,
                     gbose_error *err)
{
    sqlite3_stmt *s =
        WITH(REWARDS_OF, "SELECT value FROM reward WHERE event = ?1 AND NOT late ORDER BY number", key);
    struct gbose__aggregated all = {.how = how};
    int step = SQLITE_ERROR;

    while (s && (step = sqlite3_step(s)) == SQLITE_ROW)
        gbose__aggregate_add(&all, sqlite3_column_double(s, 0));
    if (step != SQLITE_DONE) {
        int rc = gbose__sqlite_fail(c, "read the store", err);
        sqlite3_reset(s);
        return rc;
    }
    sqlite3_reset(s);
    *out = all.n ? gbose__aggregate_value(&all) : 0;
    return all.n > 0;
}

static int close_event(struct gbose__sqlite *c, uint32_t bandit, const struct known *event, int64_t now,
                       enum gbose__aggregate how, double default_reward, gbose_error *err)
{
    struct gbose__counts *counts = gbose__sqlite_tally(c, bandit, err);
    int64_t found;
    struct gbose__outcome_row row = {.bandit = bandit, .event = gbose__row_number(event->key), .time = now};
    sqlite3_stmt *s;
    int rc = counts ? aggregate(c, event->key, how, &row.reward, err) : GBOSE__ESTORE;

    if (rc < 0)
        return rc;
    row.why = rc ? GBOSE__REWARDED : GBOSE__DEFAULTED;
    if (!rc)
        row.reward = default_reward;
    if (event->deferred) {
        rc = gbose__sqlite_first(
            c, WITH(FIND_ACTIVATED, "SELECT event FROM activated WHERE event = ?1", event->key), &found, err);
        if (rc < 0)
            return rc;
        if (!rc)
            row.why = GBOSE__UNUSED;
    }
    row.number = ++counts->outcomes;
    counts->pending--;
    ++*(row.why == GBOSE__REWARDED    ? &counts->rewarded
        : row.why == GBOSE__DEFAULTED ? &counts->defaulted
                                      : &counts->unused);
    s = WITH(INSERT_OUTCOME, "INSERT INTO outcome VALUES (?1, ?2, ?4, ?3, ?5, ?6)",
             gbose__row_key(bandit, row.number), event->key, row.why);
    sqlite3_bind_double(s, 4, row.reward);
    sqlite3_bind_int64(s, 5, now);
    sqlite3_bind_int64(s, 6, gbose__sum_outcome(&row));
    rc = gbose__sqlite_run(c, s, err);
    if (!rc)
        rc = gbose__sqlite_pending_remove(c, bandit, event->deadline, event->key, err);
    return rc < 0 ? rc : GBOSE_OK;
}

/* The event that a change means. 1, 0 with the result set: there is none, or an error. */
static int meant(struct gbose__sqlite *c, struct gbose__change *change, struct known *event, gbose_error *err)
{
    struct gbose__reward_change *it = &change->of.reward;
    int64_t key = gbose__row_key(it->bandit, it->number);
    int rc = 1;

    if (it->name) {
        rc = find_name(c, it->bandit, it->name, &key, err);
        it->number = gbose__row_number(key);
    }
    if (rc == 1)
        rc = find_event(c, key, event, err);
    if (!rc)
        change->result = GBOSE__MISSING;
    return rc;
}

static int insert_reward(struct gbose__sqlite *c, struct gbose__change *change, int64_t key, gbose_error *err)
{
    struct gbose__reward_change *it = &change->of.reward;
    struct gbose__reward_row row = {it->id, it->value, it->now, it->late};
    struct gbose__counts *counts = gbose__sqlite_tally(c, it->bandit, err);
    sqlite3_stmt *s = gbose__sqlite_statement(
        c, FIND_REWARD, "SELECT 1 + (value = ?3) + 2 * late FROM reward WHERE event = ?1 AND id = ?2");
    int64_t there;
    int rc;

    if (!counts)
        return GBOSE__ESTORE;
    sqlite3_bind_int64(s, 1, key);
    gbose__sqlite_bind_text(s, 2, it->id);
    sqlite3_bind_double(s, 3, it->value);
    rc = gbose__sqlite_first(c, s, &there, err);
    if (rc < 0)
        return rc;
    if (rc) {
        change->result = (there - 1) & 1 ? GBOSE__REPEATED : GBOSE__CONFLICT;
        it->late = there > 2;
        return GBOSE_OK;
    }
    s = gbose__sqlite_statement(
        c, INSERT_REWARD,
        "INSERT INTO reward (event, id, value, time, late, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
    sqlite3_bind_int64(s, 1, key);
    gbose__sqlite_bind_text(s, 2, it->id);
    sqlite3_bind_double(s, 3, it->value);
    sqlite3_bind_int64(s, 4, it->now);
    sqlite3_bind_int(s, 5, it->late);
    sqlite3_bind_int64(s, 6, gbose__sum_reward(key, &row));
    counts->rewards++;
    counts->late += it->late != 0;
    return gbose__sqlite_run(c, s, err);
}

int gbose__sqlite_add_reward(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    struct gbose__reward_change *it = &change->of.reward;
    struct known event = {0};
    int64_t outcome;
    int rc = meant(c, change, &event, err), closed;

    it->late = it->closed = 0;
    if (rc <= 0)
        return rc;
    closed = gbose__sqlite_first(c, WITH(FIND_OUTCOME, "SELECT key FROM outcome WHERE event = ?1", event.key),
                                 &outcome, err);
    if (closed < 0)
        return closed;
    it->late = closed || it->now > event.deadline;
    rc = it->no_value ? GBOSE_OK : insert_reward(c, change, event.key, err);
    if (rc || !it->final || closed || change->result == GBOSE__CONFLICT)
        return rc;
    it->closed = 1;
    return close_event(c, it->bandit, &event, it->now, it->aggregate, it->default_reward, err);
}

int gbose__sqlite_activate_event(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    struct gbose__reward_change *it = &change->of.reward;
    struct known event = {0};
    int64_t outcome;
    int rc = meant(c, change, &event, err), closed;

    if (rc <= 0)
        return rc;
    if (!event.deferred) {
        change->result = GBOSE__REPEATED;
        return GBOSE_OK;
    }
    closed = gbose__sqlite_first(c, WITH(FIND_OUTCOME, "SELECT key FROM outcome WHERE event = ?1", event.key),
                                 &outcome, err);
    if (closed < 0)
        return closed;
    it->late = closed || it->now > event.deadline;
    rc = gbose__sqlite_first(
        c, WITH(FIND_ACTIVATED, "SELECT event FROM activated WHERE event = ?1", event.key), &outcome, err);
    if (rc)
        change->result = GBOSE__REPEATED;
    if (rc || it->late)
        return rc < 0 ? rc : GBOSE_OK;
    return RUN(INSERT_ACTIVATED, "INSERT INTO activated VALUES (?1, ?2)", event.key, it->now);
}

int gbose__sqlite_close_due(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    struct gbose__close_change *it = &change->of.close;
    int rc = GBOSE_OK;

    for (it->closed = 0; it->closed < it->most && !rc; it->closed++) {
        struct known event = {0};
        int64_t key = 0;

        rc = gbose__sqlite_pending_due(c, it->bandit, it->now, &key, err);
        if (rc <= 0)
            break;
        rc = find_event(c, key, &event, err);
        if (rc == 0)
            return gbose__fail(err, GBOSE__ECORRUPT,
                               "the store is damaged: an event that is pending is not there");
        if (rc == 1)
            rc = close_event(c, it->bandit, &event, it->now, it->aggregate, it->default_reward, err);
    }
    if (rc)
        return rc;
    rc = gbose__sqlite_first(c,
                             WITH(NEXT_DUE,
                                  "SELECT deadline FROM pending WHERE bandit = ?1 ORDER BY deadline LIMIT 1",
                                  it->bandit),
                             &it->next, err);
    if (!rc)
        it->next = INT64_MAX;
    return rc < 0 ? rc : GBOSE_OK;
}

int gbose__sqlite_lease_numbers(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    struct gbose__lease_change *it = &change->of.lease;
    struct gbose__counts *counts = gbose__sqlite_tally(c, it->bandit, err);

    if (!counts)
        return GBOSE__ESTORE;
    it->first = counts->next_number;
    counts->next_number += it->n;
    return GBOSE_OK;
}
