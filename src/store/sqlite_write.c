/* Changes to the SQLite store, one function for each kind. All of them run inside a transaction of
 * apply(). */
#include "store/sqlite_inner.h"

#include <math.h>
#include <string.h>

#include "core/error.h"

/* Places of the statements on the writing connection. */
enum {
    INSERT_BANDIT,
    UPDATE_BANDIT,
    FIND_BANDIT,
    DROP_BANDIT,
    INSERT_GENERATION,
    SET_READY,
    DROP_GENERATION,
    DROP_SNAPSHOTS,
    INSERT_SNAPSHOT,
    REPLACE_SNAPSHOTS,
    INSERT_EVENT,
    INSERT_NAME,
    FIND_NAME,
    SAME_EVENT,
    INSERT_PENDING,
    DELETE_PENDING,
    FIND_EVENT,
    FIND_OUTCOME,
    INSERT_REWARD,
    FIND_REWARD,
    REWARDS_OF,
    INSERT_ACTIVATED,
    FIND_ACTIVATED,
    INSERT_OUTCOME,
    DUE,
    NEXT_DUE,
    INSERT_KEY,
    DROP_KEY,
    UNIT_EVENTS,
    OLD_OUTCOMES,
    EVENT_OF,
    OLDEST_LEARNED,
    DELETE_EVENT,
    DELETE_NAME,
    DELETE_REWARDS,
    DELETE_ACTIVATED,
    DELETE_OUTCOME,
    DROP_ALL_SNAPSHOTS,
    DELETE_PENDING_EVENT,
    N_STATEMENTS
};
_Static_assert(N_STATEMENTS <= GBOSE__SQLITE_STATEMENTS, "more statements than places");

static void bind_text(sqlite3_stmt *s, int at, const char *text)
{
    if (text)
        sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC);
    else
        sqlite3_bind_null(s, at);
}

static void bind_blob(sqlite3_stmt *s, int at, const void *bytes, size_t size)
{
    if (bytes)
        sqlite3_bind_blob64(s, at, bytes, size, SQLITE_STATIC);
    else
        sqlite3_bind_null(s, at);
}

/* A statement with whole numbers bound to its first parameters. */
static sqlite3_stmt *with(struct gbose__sqlite *c, int place, const char *sql, int n, const int64_t *numbers)
{
    sqlite3_stmt *s = gbose__sqlite_statement(c, place, sql);

    for (int i = 0; s && i < n; i++)
        sqlite3_bind_int64(s, i + 1, numbers[i]);
    return s;
}
#define WITH(place, sql, ...)                                                                                \
    with(c, place, sql, (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})
#define RUN(...) gbose__sqlite_run(c, WITH(__VA_ARGS__), err)

/* 1 with *out set to the first column of the first row, 0 if there is no row, or an error. */
static int first(struct gbose__sqlite *c, sqlite3_stmt *s, int64_t *out, gbose_error *err)
{
    int step = s ? sqlite3_step(s) : SQLITE_ERROR, rc = 0;

    *out = 0;
    if (step == SQLITE_ROW) {
        *out = sqlite3_column_int64(s, 0);
        rc = 1;
    } else if (step != SQLITE_DONE) {
        rc = gbose__sqlite_fail(c, "read the store", err);
    }
    sqlite3_reset(s);
    return rc;
}

/* ---- bandits, generations, snapshots, keys ---- */

static int put_bandit(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    struct gbose__bandit_row *row = &change->of.bandit;
    sqlite3_stmt *s;
    int64_t id;
    int rc;

    if (!row->id) {
        s = gbose__sqlite_statement(c, FIND_BANDIT, "SELECT id FROM bandit WHERE name = ?1");
        bind_text(s, 1, row->name);
        rc = first(c, s, &id, err);
        if (rc < 0)
            return rc;
        if (rc) {
            change->result = GBOSE__CONFLICT;
            return GBOSE_OK;
        }
        s = gbose__sqlite_statement(c, INSERT_BANDIT,
                                    "INSERT INTO bandit (name, settings, active, created, sum) VALUES "
                                    "(?1, ?2, ?3, ?4, 0)");
        bind_text(s, 1, row->name);
        bind_text(s, 2, row->settings);
        sqlite3_bind_int64(s, 3, row->active);
        sqlite3_bind_int64(s, 4, row->created);
        rc = gbose__sqlite_run(c, s, err);
        if (rc)
            return rc;
        id = sqlite3_last_insert_rowid(c->db);
        if (id > GBOSE__MAX_BANDITS)
            return gbose__fail(err, GBOSE__ESTORE, "the store has had %u bandits and takes no more",
                               GBOSE__MAX_BANDITS);
        row->id = (uint32_t)id;
    }
    s = gbose__sqlite_statement(c, UPDATE_BANDIT,
                                "UPDATE bandit SET settings = ?2, active = ?3, sum = ?4 WHERE id = ?1");
    sqlite3_bind_int64(s, 1, row->id);
    bind_text(s, 2, row->settings);
    sqlite3_bind_int64(s, 3, row->active);
    sqlite3_bind_int64(s, 4, gbose__sum_bandit(row));
    rc = gbose__sqlite_run(c, s, err);
    if (!rc && !sqlite3_changes(c->db))
        change->result = GBOSE__MISSING;
    return rc;
}

static int drop_bandit(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    int64_t id = change->of.bandit.id, lo = gbose__sqlite_key((uint32_t)id, 0),
            hi = lo + (int64_t)GBOSE__MAX_NUMBER;
    static const char *const ranges[] = {
        "DELETE FROM event WHERE key BETWEEN ?1 AND ?2",
        "DELETE FROM outcome WHERE key BETWEEN ?1 AND ?2",
        "DELETE FROM reward WHERE event BETWEEN ?1 AND ?2",
        "DELETE FROM activated WHERE event BETWEEN ?1 AND ?2",
        "DELETE FROM named WHERE bandit = ?3",
        "DELETE FROM pending WHERE bandit = ?3",
        "DELETE FROM snapshot WHERE bandit = ?3",
        "DELETE FROM generation WHERE bandit = ?3",
        "DELETE FROM tally WHERE bandit = ?3",
    };
    int rc = gbose__sqlite_tally_save(c, err);

    gbose__sqlite_tally_forget(c);
    if (!rc)
        rc = RUN(DROP_BANDIT, "DELETE FROM bandit WHERE id = ?1", id);

    if (!rc && !sqlite3_changes(c->db))
        change->result = GBOSE__MISSING;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges && !rc; i++) {
        sqlite3_stmt *s;

        if (sqlite3_prepare_v2(c->db, ranges[i], -1, &s, NULL))
            return gbose__sqlite_fail(c, "write to the store", err);
        sqlite3_bind_int64(s, 1, lo);
        sqlite3_bind_int64(s, 2, hi);
        sqlite3_bind_int64(s, 3, id);
        rc = gbose__sqlite_run(c, s, err);
        sqlite3_finalize(s);
    }
    return rc;
}

static int add_generation(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    struct gbose__generation_row *row = &change->of.generation;
    sqlite3_stmt *s = gbose__sqlite_statement(
        c, INSERT_GENERATION, "INSERT OR IGNORE INTO generation VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");
    int rc;

    sqlite3_bind_int64(s, 1, row->bandit);
    sqlite3_bind_int64(s, 2, row->number);
    bind_text(s, 3, row->spec);
    bind_text(s, 4, row->schema);
    sqlite3_bind_int64(s, 5, row->dim);
    sqlite3_bind_int64(s, 6, row->n_round);
    sqlite3_bind_int(s, 7, row->ready);
    sqlite3_bind_int64(s, 8, row->created);
    sqlite3_bind_int64(s, 9, gbose__sum_generation(row));
    rc = gbose__sqlite_run(c, s, err);
    if (!rc && !sqlite3_changes(c->db))
        change->result = GBOSE__CONFLICT;
    return rc;
}

static int drop_generation(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    struct gbose__generation_row *row = &change->of.generation;
    int rc = RUN(DROP_SNAPSHOTS, "DELETE FROM snapshot WHERE bandit = ?1 AND generation = ?2", row->bandit,
                 row->number);

    if (!rc)
        rc = RUN(DROP_GENERATION, "DELETE FROM generation WHERE bandit = ?1 AND number = ?2", row->bandit,
                 row->number);
    if (!rc && !sqlite3_changes(c->db))
        change->result = GBOSE__MISSING;
    return rc;
}

static int set_ready(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    struct gbose__generation_row *row = &change->of.generation;
    int rc = RUN(SET_READY, "UPDATE generation SET ready = 1 WHERE bandit = ?1 AND number = ?2", row->bandit,
                 row->number);

    if (!rc && !sqlite3_changes(c->db))
        change->result = GBOSE__MISSING;
    return rc;
}

static int add_snapshot(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    struct gbose__snapshot_row *row = &change->of.snapshot;
    sqlite3_stmt *s;
    int rc;

    rc = RUN(REPLACE_SNAPSHOTS,
             "DELETE FROM snapshot WHERE bandit = ?1 AND generation = ?2 AND (NOT keep OR learned = ?3)",
             row->bandit, row->generation, (int64_t)row->learned);
    if (rc)
        return rc;
    s = gbose__sqlite_statement(c, INSERT_SNAPSHOT,
                                "INSERT INTO snapshot (bandit, generation, learned, keep, bytes, sum)"
                                " SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE EXISTS"
                                " (SELECT 1 FROM generation WHERE bandit = ?1 AND number = ?2)");
    sqlite3_bind_int64(s, 1, row->bandit);
    sqlite3_bind_int64(s, 2, row->generation);
    sqlite3_bind_int64(s, 3, (int64_t)row->learned);
    sqlite3_bind_int(s, 4, row->keep);
    bind_blob(s, 5, row->bytes, row->size);
    sqlite3_bind_int64(s, 6, gbose__sum_snapshot(row));
    rc = gbose__sqlite_run(c, s, err);
    if (!rc && !sqlite3_changes(c->db))
        change->result = GBOSE__MISSING;
    return rc;
}

static int add_key(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    struct gbose__key_row *row = &change->of.key;
    sqlite3_stmt *s = gbose__sqlite_statement(
        c, INSERT_KEY, "INSERT OR IGNORE INTO key VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)");
    int rc;

    bind_text(s, 1, row->id);
    bind_blob(s, 2, row->hash, GBOSE__HASH_SIZE);
    sqlite3_bind_int64(s, 3, row->roles);
    bind_text(s, 4, row->bandit);
    bind_text(s, 5, row->note);
    sqlite3_bind_int64(s, 6, row->created);
    sqlite3_bind_int64(s, 7, gbose__sum_key(row));
    rc = gbose__sqlite_run(c, s, err);
    if (!rc && !sqlite3_changes(c->db))
        change->result = GBOSE__CONFLICT;
    return rc;
}

static int drop_key(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    sqlite3_stmt *s = gbose__sqlite_statement(c, DROP_KEY, "DELETE FROM key WHERE id = ?1");
    int rc;

    bind_text(s, 1, change->of.key.id);
    rc = gbose__sqlite_run(c, s, err);
    if (!rc && !sqlite3_changes(c->db))
        change->result = GBOSE__MISSING;
    return rc;
}

/* ---- events ---- */

/* 1 and its key if there is an event of that name, 0 if not, or an error. */
static int find_name(struct gbose__sqlite *c, uint32_t bandit, const char *name, int64_t *key,
                     gbose_error *err)
{
    sqlite3_stmt *s =
        gbose__sqlite_statement(c, FIND_NAME, "SELECT event FROM named WHERE bandit = ?1 AND name = ?2");

    sqlite3_bind_int64(s, 1, bandit);
    bind_text(s, 2, name);
    return first(c, s, key, err);
}

/* Was the event of that key asked for in the same words? */
static int same_event(struct gbose__sqlite *c, int64_t key, const struct gbose__event_row *row,
                      gbose_error *err)
{
    sqlite3_stmt *s =
        gbose__sqlite_statement(c, SAME_EVENT,
                                "SELECT body = ?2 AND (flags & 1) = (?3 & 1) AND unit IS ?4 FROM event"
                                " WHERE key = ?1");
    int64_t same = 0;
    int rc;

    sqlite3_bind_int64(s, 1, key);
    bind_blob(s, 2, row->body, row->body_size);
    sqlite3_bind_int64(s, 3, row->flags);
    bind_blob(s, 4, row->unit, GBOSE__UNIT_SIZE);
    rc = first(c, s, &same, err);
    return rc < 0 ? rc : same != 0;
}

static int add_event(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    struct gbose__event_row *row = &change->of.event;
    int64_t key = gbose__sqlite_key(row->bandit, row->number), old;
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
            row->number = gbose__sqlite_number(old);
            change->result = rc == 1 ? GBOSE__REPEATED : GBOSE__CONFLICT;
            return rc < 0 ? rc : GBOSE_OK;
        }
        s = gbose__sqlite_statement(c, INSERT_NAME, "INSERT INTO named VALUES (?1, ?2, ?3)");
        sqlite3_bind_int64(s, 1, row->bandit);
        bind_text(s, 2, row->name);
        sqlite3_bind_int64(s, 3, key);
        rc = gbose__sqlite_run(c, s, err);
        if (rc)
            return rc;
    }
    s = gbose__sqlite_statement(
        c, INSERT_EVENT, "INSERT INTO event VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)");
    sqlite3_bind_int64(s, 1, key);
    bind_text(s, 2, row->name);
    sqlite3_bind_int64(s, 3, row->time);
    sqlite3_bind_int64(s, 4, row->deadline);
    sqlite3_bind_int64(s, 5, row->generation);
    sqlite3_bind_int64(s, 6, (int64_t)row->learned);
    sqlite3_bind_int64(s, 7, row->flags);
    sqlite3_bind_int64(s, 8, row->arm);
    bind_blob(s, 9, row->pmf, row->n_arms * sizeof *row->pmf);
    bind_blob(s, 10, row->shadow, row->n_arms * sizeof *row->shadow);
    bind_blob(s, 11, row->unit, GBOSE__UNIT_SIZE);
    bind_blob(s, 12, row->body, row->body_size);
    sqlite3_bind_int64(s, 13, gbose__sum_event(row));
    rc = gbose__sqlite_run(c, s, err);
    counts->events++;
    counts->pending++;
    if (counts->next_number <= row->number)
        counts->next_number = row->number + 1;
    return rc ? rc
              : RUN(INSERT_PENDING, "INSERT INTO pending VALUES (?1, ?2, ?3)", row->bandit, row->deadline,
                    key);
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
    double value = 0;
    size_t n = 0;
    int step = SQLITE_ERROR;

    while (s && (step = sqlite3_step(s)) == SQLITE_ROW) {
        double x = sqlite3_column_double(s, 0);

        if (!n++ || how == GBOSE__LAST)
            value = x;
        else if (how == GBOSE__SUM || how == GBOSE__MEAN)
            value += x;
        else if (how == GBOSE__MAX)
            value = fmax(value, x);
    }
    if (step != SQLITE_DONE) {
        int rc = gbose__sqlite_fail(c, "read the store", err);
        sqlite3_reset(s);
        return rc;
    }
    sqlite3_reset(s);
    *out = how == GBOSE__MEAN && n ? value / (double)n : value;
    return n > 0;
}

static int close_event(struct gbose__sqlite *c, uint32_t bandit, const struct known *event, int64_t now,
                       enum gbose__aggregate how, double default_reward, gbose_error *err)
{
    struct gbose__counts *counts = gbose__sqlite_tally(c, bandit, err);
    int64_t found;
    struct gbose__outcome_row row = {
        .bandit = bandit, .event = gbose__sqlite_number(event->key), .time = now};
    sqlite3_stmt *s;
    int rc = counts ? aggregate(c, event->key, how, &row.reward, err) : GBOSE__ESTORE;

    if (rc < 0)
        return rc;
    row.why = rc ? GBOSE__REWARDED : GBOSE__DEFAULTED;
    if (!rc)
        row.reward = default_reward;
    if (event->deferred) {
        rc = first(c, WITH(FIND_ACTIVATED, "SELECT event FROM activated WHERE event = ?1", event->key),
                   &found, err);
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
             gbose__sqlite_key(bandit, row.number), event->key, row.why);
    sqlite3_bind_double(s, 4, row.reward);
    sqlite3_bind_int64(s, 5, now);
    sqlite3_bind_int64(s, 6, gbose__sum_outcome(&row));
    rc = gbose__sqlite_run(c, s, err);
    return rc ? rc
              : RUN(DELETE_PENDING, "DELETE FROM pending WHERE bandit = ?1 AND deadline = ?2 AND event = ?3",
                    bandit, event->deadline, event->key);
}

/* The event that a change means. 1, 0 with the result set: there is none, or an error. */
static int meant(struct gbose__sqlite *c, struct gbose__change *change, struct known *event, gbose_error *err)
{
    struct gbose__reward_change *it = &change->of.reward;
    int64_t key = gbose__sqlite_key(it->bandit, it->number);
    int rc = 1;

    if (it->name) {
        rc = find_name(c, it->bandit, it->name, &key, err);
        it->number = gbose__sqlite_number(key);
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
    bind_text(s, 2, it->id);
    sqlite3_bind_double(s, 3, it->value);
    rc = first(c, s, &there, err);
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
    bind_text(s, 2, it->id);
    sqlite3_bind_double(s, 3, it->value);
    sqlite3_bind_int64(s, 4, it->now);
    sqlite3_bind_int(s, 5, it->late);
    sqlite3_bind_int64(s, 6, gbose__sum_reward(key, &row));
    counts->rewards++;
    counts->late += it->late != 0;
    return gbose__sqlite_run(c, s, err);
}

static int add_reward(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    struct gbose__reward_change *it = &change->of.reward;
    struct known event = {0};
    int64_t outcome;
    int rc = meant(c, change, &event, err), closed;

    it->late = it->closed = 0;
    if (rc <= 0)
        return rc;
    closed =
        first(c, WITH(FIND_OUTCOME, "SELECT key FROM outcome WHERE event = ?1", event.key), &outcome, err);
    if (closed < 0)
        return closed;
    it->late = closed || it->now > event.deadline;
    rc = it->no_value ? GBOSE_OK : insert_reward(c, change, event.key, err);
    if (rc || !it->final || closed || change->result == GBOSE__CONFLICT)
        return rc;
    it->closed = 1;
    return close_event(c, it->bandit, &event, it->now, it->aggregate, it->default_reward, err);
}

static int activate_event(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
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
    closed =
        first(c, WITH(FIND_OUTCOME, "SELECT key FROM outcome WHERE event = ?1", event.key), &outcome, err);
    if (closed < 0)
        return closed;
    it->late = closed || it->now > event.deadline;
    rc = first(c, WITH(FIND_ACTIVATED, "SELECT event FROM activated WHERE event = ?1", event.key), &outcome,
               err);
    if (rc)
        change->result = GBOSE__REPEATED;
    if (rc || it->late)
        return rc < 0 ? rc : GBOSE_OK;
    return RUN(INSERT_ACTIVATED, "INSERT INTO activated VALUES (?1, ?2)", event.key, it->now);
}

static int close_due(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    struct gbose__close_change *it = &change->of.close;
    int rc = GBOSE_OK;

    for (it->closed = 0; it->closed < it->most && !rc; it->closed++) {
        struct known event = {0};
        int64_t key = 0;

        rc = first(c,
                   WITH(DUE,
                        "SELECT event FROM pending WHERE bandit = ?1 AND deadline <= ?2 ORDER BY deadline, "
                        "event LIMIT 1",
                        it->bandit, it->now),
                   &key, err);
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
    rc = first(c,
               WITH(NEXT_DUE, "SELECT deadline FROM pending WHERE bandit = ?1 ORDER BY deadline LIMIT 1",
                    it->bandit),
               &it->next, err);
    if (!rc)
        it->next = INT64_MAX;
    return rc < 0 ? rc : GBOSE_OK;
}

/* ---- erasing ---- */

static int delete_event(struct gbose__sqlite *c, uint32_t bandit, int64_t key, gbose_error *err)
{
    struct gbose__counts *counts = gbose__sqlite_tally(c, bandit, err);
    int rc;

    if (!counts)
        return GBOSE__ESTORE;
    rc = RUN(DELETE_NAME,
             "DELETE FROM named WHERE bandit = ?1 AND name = (SELECT name FROM event WHERE key = ?2)", bandit,
             key);

    if (!rc)
        rc = RUN(DELETE_PENDING_EVENT,
                 "DELETE FROM pending WHERE bandit = ?1 AND event = ?2 AND deadline = "
                 "(SELECT deadline FROM event WHERE key = ?2)",
                 bandit, key);
    counts->pending -= (uint64_t)sqlite3_changes(c->db);
    if (!rc)
        rc = RUN(DELETE_EVENT, "DELETE FROM event WHERE key = ?1", key);
    if (!rc)
        rc = RUN(DELETE_REWARDS, "DELETE FROM reward WHERE event = ?1", key);
    if (!rc)
        rc = RUN(DELETE_ACTIVATED, "DELETE FROM activated WHERE event = ?1", key);
    return rc ? rc : RUN(DELETE_OUTCOME, "DELETE FROM outcome WHERE event = ?1", key);
}

static int erase_unit(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    struct gbose__erase_change *it = &change->of.erase;
    int64_t lo = gbose__sqlite_key(it->bandit, 0), key;
    int rc;

    if (sqlite3_exec(c->db, "PRAGMA secure_delete = ON", NULL, NULL, NULL))
        return gbose__sqlite_fail(c, "write to the store", err);
    for (it->erased = 0;; it->erased++) {
        sqlite3_stmt *s = gbose__sqlite_statement(
            c, UNIT_EVENTS, "SELECT key FROM event WHERE unit = ?1 AND key BETWEEN ?2 AND ?3 LIMIT 1");

        bind_blob(s, 1, it->unit, GBOSE__UNIT_SIZE);
        sqlite3_bind_int64(s, 2, lo);
        sqlite3_bind_int64(s, 3, lo + (int64_t)GBOSE__MAX_NUMBER);
        rc = first(c, s, &key, err);
        if (rc <= 0)
            break;
        rc = delete_event(c, it->bandit, key, err);
        if (rc)
            break;
    }
    if (!rc && it->erased)
        rc = RUN(DROP_ALL_SNAPSHOTS, "DELETE FROM snapshot WHERE bandit = ?1", it->bandit);
    if (!rc && !it->erased)
        change->result = GBOSE__MISSING;
    sqlite3_exec(c->db, "PRAGMA secure_delete = FAST", NULL, NULL, NULL);
    return rc;
}

/* Events go when they are old and every generation has a snapshot that has learned them, which then stands
 * for them. */
static int retain(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    struct gbose__erase_change *it = &change->of.erase;
    int64_t lo = gbose__sqlite_key(it->bandit, 0), learned = 0, outcome, key;
    struct gbose__counts *counts = gbose__sqlite_tally(c, it->bandit, err);
    int rc =
        !counts
            ? GBOSE__ESTORE
            : first(c,
                    WITH(OLDEST_LEARNED,
                         "SELECT min(oldest) FROM (SELECT coalesce(min(learned), 0) AS oldest FROM generation"
                         " LEFT JOIN snapshot ON snapshot.bandit = generation.bandit AND generation = number"
                         " WHERE generation.bandit = ?1 GROUP BY number)",
                         it->bandit),
                    &learned, err);

    it->erased = 0;
    while (rc >= 0 && it->erased < it->most) {
        rc = first(
            c,
            WITH(OLD_OUTCOMES,
                 "SELECT key FROM outcome WHERE key > ?1 AND key <= ?2 AND time < ?3 ORDER BY key LIMIT 1",
                 lo, lo + learned, it->before),
            &outcome, err);
        if (rc <= 0)
            return rc;
        rc = first(c, WITH(EVENT_OF, "SELECT event FROM outcome WHERE key = ?1", outcome), &key, err);
        if (rc < 0)
            return rc;
        rc = delete_event(c, it->bandit, key, err);
        counts->dropped = gbose__sqlite_number(outcome);
        it->erased++;
    }
    return rc < 0 ? rc : GBOSE_OK;
}

int gbose__sqlite_apply_one(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    static int (*const does[])(struct gbose__sqlite *, struct gbose__change *, gbose_error *) = {
        [GBOSE__PUT_BANDIT] = put_bandit,
        [GBOSE__DROP_BANDIT] = drop_bandit,
        [GBOSE__ADD_GENERATION] = add_generation,
        [GBOSE__SET_READY] = set_ready,
        [GBOSE__DROP_GENERATION] = drop_generation,
        [GBOSE__ADD_SNAPSHOT] = add_snapshot,
        [GBOSE__ADD_EVENT] = add_event,
        [GBOSE__ADD_REWARD] = add_reward,
        [GBOSE__ACTIVATE_EVENT] = activate_event,
        [GBOSE__CLOSE_DUE] = close_due,
        [GBOSE__ERASE_UNIT] = erase_unit,
        [GBOSE__RETAIN] = retain,
        [GBOSE__ADD_KEY] = add_key,
        [GBOSE__DROP_KEY] = drop_key,
    };

    change->result = GBOSE__DONE;
    return does[change->kind](c, change, err);
}
