/* Views of the PostgreSQL store: a connection each, made when it is first needed. Every row is held against its
 * checksum before it is shown. */
#include "store/postgres_inner.h"

#include <stdlib.h>
#include <string.h>

#include "core/error.h"

struct postgres_view {
    struct gbose__view base;
    struct gbose__pg c;
    struct gbose__reward_row *rewards;
    size_t capacity;
    struct gbose__unpacked text; /* of an event */
};

/* Read by a statement. A connection that broke while nobody used it is made anew, once. */
static int ask(struct gbose__view *view, const char *sql, const struct gbose__pg_args *args, PGresult **out,
               gbose_error *err)
{
    struct gbose__pg *c = &((struct postgres_view *)view)->c;
    int had = c->conn != NULL, rc = gbose__pg_query(c, sql, args, out, err);

    if (rc == GBOSE__EAWAY && had)
        rc = gbose__pg_query(c, sql, args, out, err);
    return rc == GBOSE__PG_AGAIN ? GBOSE__ESTORE : rc;
}

static int view_bandits(struct gbose__view *view, gbose__bandit_visit *visit, void *context, gbose_error *err)
{
    PGresult *r;
    int rc =
        ask(view, "SELECT id, name, settings, active, created, sum FROM bandit ORDER BY id", NULL, &r, err);

    if (rc)
        return rc;
    for (int i = 0; i < PQntuples(r) && !rc; i++) {
        struct gbose__bandit_row row = {(uint32_t)gbose__pg_int(r, i, 0), gbose__pg_text(r, i, 1),
                                        gbose__pg_text(r, i, 2), (uint32_t)gbose__pg_int(r, i, 3),
                                        gbose__pg_int(r, i, 4)};

        rc = gbose__sum_bandit(&row) == gbose__pg_int(r, i, 5) ? visit(context, &row)
                                                               : gbose__pg_damaged("a bandit's row", err);
    }
    PQclear(r);
    return rc;
}

static int view_generations(struct gbose__view *view, uint32_t bandit, gbose__generation_visit *visit,
                            void *context, gbose_error *err)
{
    struct gbose__pg_args args = {0};
    PGresult *r;
    int rc;

    gbose__pg_arg_int(&args, bandit);
    rc = ask(view,
             "SELECT number, spec, schema, dim, n_round, ready, created, wanted, sum FROM generation"
             " WHERE bandit = $1::int4 ORDER BY number",
             &args, &r, err);
    if (rc)
        return rc;
    for (int i = 0; i < PQntuples(r) && !rc; i++) {
        struct gbose__generation_row row = {bandit,
                                            (uint32_t)gbose__pg_int(r, i, 0),
                                            gbose__pg_text(r, i, 1),
                                            gbose__pg_text(r, i, 2),
                                            (uint32_t)gbose__pg_int(r, i, 3),
                                            (uint32_t)gbose__pg_int(r, i, 4),
                                            gbose__pg_int(r, i, 5) != 0,
                                            gbose__pg_int(r, i, 6),
                                            gbose__pg_int(r, i, 7) != 0};

        rc = gbose__sum_generation(&row) == gbose__pg_int(r, i, 8)
                 ? visit(context, &row)
                 : gbose__pg_damaged("a generation's row", err);
    }
    PQclear(r);
    return rc;
}

static int view_snapshot(struct gbose__view *view, uint32_t bandit, uint32_t generation, uint64_t most,
                         gbose__snapshot_visit *visit, void *context, gbose_error *err)
{
    struct gbose__pg_args args = {0};
    PGresult *r;
    int rc;

    gbose__pg_arg_int(&args, bandit);
    gbose__pg_arg_int(&args, generation);
    gbose__pg_arg_int(&args, (int64_t)(most > GBOSE__MAX_NUMBER ? GBOSE__MAX_NUMBER : most));
    rc =
        ask(view,
            "SELECT learned, keep, bytes, sum FROM snapshot WHERE bandit = $1::int4 AND generation = $2::int8"
            " AND learned <= $3::int8 ORDER BY learned DESC LIMIT 1",
            &args, &r, err);
    if (rc)
        return rc;
    if (!PQntuples(r)) {
        rc = gbose__fail(err, GBOSE__EABSENT, "there is no such snapshot");
    } else {
        struct gbose__snapshot_row row = {.bandit = bandit, .generation = generation};

        row.learned = (uint64_t)gbose__pg_int(r, 0, 0);
        row.keep = gbose__pg_int(r, 0, 1) != 0;
        row.bytes = gbose__pg_blob(r, 0, 2, &row.size);
        rc = gbose__sum_snapshot(&row) == gbose__pg_int(r, 0, 3) ? visit(context, &row)
                                                                 : gbose__pg_damaged("a snapshot", err);
    }
    PQclear(r);
    return rc;
}

/* ---- events ---- */

#define EVENT_COLUMNS                                                                                        \
    "e.key, e.name, e.time, e.deadline, e.generation, e.learned, e.flags, e.arm, e.pmf, e.shadow, e.unit,"   \
    " e.body, e.sum, o.key, o.reward, o.why, o.time, o.sum, coalesce(o.activated, a.event IS NOT NULL), "    \
    "e.day"
#define WITH_OUTCOME " LEFT JOIN outcome o ON o.event = e.key LEFT JOIN activated a ON a.event = e.key"

/* Read the columns above. 0, or an error. The name gets a zero behind it from libpq. */
static int read_case(const PGresult *r, int i, struct gbose__event_row *event,
                     struct gbose__outcome_row *outcome, struct gbose__unpacked *text, struct gbose__case *it,
                     gbose_error *err)
{
    int64_t key = gbose__pg_int(r, i, 0), closed = gbose__pg_int(r, i, 13);
    size_t pmf, shadow, unit;
    int rc;

    *event = (struct gbose__event_row){
        .bandit = gbose__row_bandit(key),
        .number = gbose__row_number(key),
        .name = gbose__pg_text(r, i, 1),
        .time = gbose__pg_int(r, i, 2),
        .deadline = gbose__pg_int(r, i, 3),
        .generation = (uint32_t)gbose__pg_int(r, i, 4),
        .learned = (uint64_t)gbose__pg_int(r, i, 5),
        .flags = (unsigned)gbose__pg_int(r, i, 6),
        .arm = (uint32_t)gbose__pg_int(r, i, 7),
        .activated = gbose__pg_int(r, i, 18) != 0,
    };
    event->pmf = gbose__pg_blob(r, i, 8, &pmf);
    event->n_arms = (uint32_t)(pmf / sizeof(double));
    event->shadow = gbose__pg_blob(r, i, 9, &shadow);
    event->unit = gbose__pg_blob(r, i, 10, &unit);
    event->body = gbose__pg_blob(r, i, 11, &event->body_size);
    if (!pmf || pmf % sizeof(double) || event->arm >= event->n_arms || (event->shadow && shadow != pmf) ||
        (event->unit && unit != GBOSE__UNIT_SIZE))
        return gbose__pg_damaged("an event", err);
    rc = gbose__event_unpack(event, gbose__pg_int(r, i, 12), text, err);
    if (rc)
        return rc;
    *it = (struct gbose__case){.event = event};
    if (PQgetisnull(r, i, 13))
        return GBOSE_OK;
    *outcome = (struct gbose__outcome_row){gbose__row_bandit(closed),
                                           gbose__row_number(closed),
                                           event->number,
                                           gbose__pg_double(r, i, 14),
                                           (enum gbose__why)gbose__pg_int(r, i, 15),
                                           gbose__pg_int(r, i, 16)};
    if (gbose__sum_outcome(outcome) != gbose__pg_int(r, i, 17))
        return gbose__pg_damaged("an outcome", err);
    it->outcome = outcome;
    return GBOSE_OK;
}

/* The rewards of the events of a result, in the order of its rows. */
static int ask_rewards(struct gbose__view *view, const PGresult *events, PGresult **out, gbose_error *err)
{
    struct gbose__pg_bytes keys = {0}, days = {0};
    struct gbose__pg_args args = {0};
    int rc;

    for (int i = 0; i < PQntuples(events); i++) {
        gbose__pg_add_int(&keys, gbose__pg_int(events, i, 0));
        gbose__pg_add_int(&days, gbose__pg_int(events, i, 19));
    }
    gbose__pg_arg_text(&args, gbose__pg_close(&keys));
    gbose__pg_arg_text(&args, gbose__pg_close(&days));
    rc = keys.bad || days.bad
             ? gbose__no_memory(err)
             : ask(view,
                   "SELECT t.ord, r.id, r.value, r.time, r.late, r.sum FROM unnest($1::int8[], $2::int4[])"
                   " WITH ORDINALITY AS t(k, d, ord) JOIN reward r ON r.day = t.d AND r.event = t.k"
                   " ORDER BY t.ord, r.number",
                   &args, out, err);
    gbose__pg_clear(&keys);
    gbose__pg_clear(&days);
    return rc;
}

/* Rewards of row i of the events, from place *at of theirs on. */
static int take_rewards(struct postgres_view *v, struct gbose__case *it, const PGresult *r, int i, int *at,
                        gbose_error *err)
{
    int64_t key = gbose__row_key(it->event->bandit, it->event->number);

    for (; *at < PQntuples(r) && gbose__pg_int(r, *at, 0) == i + 1; ++*at) {
        struct gbose__reward_row row = {gbose__pg_text(r, *at, 1), gbose__pg_double(r, *at, 2),
                                        gbose__pg_int(r, *at, 3), gbose__pg_int(r, *at, 4) != 0};

        if (gbose__sum_reward(key, &row) != gbose__pg_int(r, *at, 5))
            return gbose__pg_damaged("a reward", err);
        if (it->n_rewards == v->capacity) {
            size_t capacity = v->capacity ? 2 * v->capacity : 16;
            void *more = realloc(v->rewards, capacity * sizeof *v->rewards);

            if (!more)
                return gbose__no_memory(err);
            v->rewards = more;
            v->capacity = capacity;
        }
        v->rewards[it->n_rewards++] = row;
    }
    it->rewards = v->rewards;
    return GBOSE_OK;
}

/* Show the rows of a result over EVENT_COLUMNS, and clear it. */
static int show(struct gbose__view *view, PGresult *r, int with_rewards, gbose__case_visit *visit,
                void *context, gbose_error *err)
{
    struct postgres_view *v = (struct postgres_view *)view;
    struct gbose__event_row event;
    struct gbose__outcome_row outcome;
    struct gbose__case it;
    PGresult *rewards = NULL;
    int rc = with_rewards && PQntuples(r) ? ask_rewards(view, r, &rewards, err) : GBOSE_OK, at = 0;

    for (int i = 0; i < PQntuples(r) && !rc; i++) {
        rc = read_case(r, i, &event, &outcome, &v->text, &it, err);
        if (!rc && rewards)
            rc = take_rewards(v, &it, rewards, i, &at, err);
        if (!rc)
            rc = visit(context, &it);
    }
    PQclear(rewards);
    PQclear(r);
    return rc;
}

static int view_event(struct gbose__view *view, uint32_t bandit, uint64_t number, const char *name,
                      gbose__case_visit *visit, void *context, gbose_error *err)
{
    struct gbose__pg_args args = {0};
    PGresult *r;
    int rc;

    if (name) {
        gbose__pg_arg_int(&args, bandit);
        gbose__pg_arg_bytes(&args, name, strlen(name));
        rc = ask(view,
                 "SELECT " EVENT_COLUMNS
                 " FROM named n JOIN event e ON e.day = n.day AND e.key = n.event" WITH_OUTCOME
                 " WHERE n.bandit = $1::int4 AND n.name = $2::bytea",
                 &args, &r, err);
    } else {
        gbose__pg_arg_int(&args, gbose__row_key(bandit, number));
        rc = ask(view,
                 "SELECT " EVENT_COLUMNS " FROM (SELECT day FROM " GBOSE__PG_DAY_OF(
                     "$1::int8") " AS r UNION SELECT day FROM outcome WHERE event = $1::int8) AS w"
                                 " JOIN event e ON e.day = w.day AND e.key = $1::int8" WITH_OUTCOME,
                 &args, &r, err);
    }
    if (rc)
        return rc;
    if (!PQntuples(r)) {
        PQclear(r);
        return gbose__fail(err, GBOSE__EABSENT, "there is no such event");
    }
    return show(view, r, 1, visit, context, err);
}

static int view_outcomes(struct gbose__view *view, uint32_t bandit, uint64_t after, uint64_t upto,
                         size_t most, gbose__case_visit *visit, void *context, gbose_error *err)
{
    struct gbose__pg_args args = {0};
    PGresult *r;
    int rc;

    gbose__pg_arg_int(&args, gbose__row_key(bandit, after));
    gbose__pg_arg_int(&args, gbose__row_key(bandit, upto > GBOSE__MAX_NUMBER ? GBOSE__MAX_NUMBER : upto));
    gbose__pg_arg_int(&args, (int64_t)most);
    rc = ask(view,
             "SELECT " EVENT_COLUMNS
             " FROM (SELECT * FROM outcome WHERE key > $1::int8 AND key <= $2::int8 ORDER BY key"
             " LIMIT $3::int8) AS o JOIN event e ON e.day = o.day AND e.key = o.event LEFT JOIN activated a "
             "ON false"
             " ORDER BY o.key",
             &args, &r, err);
    return rc ? rc : show(view, r, 0, visit, context, err);
}

static int view_events(struct gbose__view *view, uint32_t bandit, uint64_t from, size_t most, int newest,
                       gbose__case_visit *visit, void *context, gbose_error *err)
{
    struct gbose__pg_args args = {0};
    PGresult *r;
    int rc;

    gbose__pg_arg_int(&args, gbose__row_key(bandit, from > GBOSE__MAX_NUMBER ? GBOSE__MAX_NUMBER : from));
    gbose__pg_arg_int(&args, gbose__row_key(bandit, newest ? 0 : GBOSE__MAX_NUMBER));
    gbose__pg_arg_int(&args, (int64_t)most);
    rc = ask(view,
             newest ? "SELECT " EVENT_COLUMNS
                      " FROM (SELECT * FROM event WHERE key <= $1::int8 AND key >= $2::int8"
                      " ORDER BY key DESC LIMIT $3::int8) AS e" WITH_OUTCOME " ORDER BY e.key DESC"
                    : "SELECT " EVENT_COLUMNS
                      " FROM (SELECT * FROM event WHERE key >= $1::int8 AND key <= $2::int8"
                      " ORDER BY key LIMIT $3::int8) AS e" WITH_OUTCOME " ORDER BY e.key",
             &args, &r, err);
    return rc ? rc : show(view, r, 1, visit, context, err);
}

/* ---- counts, keys, servers ---- */

static int view_counts(struct gbose__view *view, uint32_t bandit, struct gbose__counts *out, gbose_error *err)
{
    struct gbose__pg_args args = {0};
    uint64_t column[10];
    PGresult *r;
    int rc;

    memset(out, 0, sizeof *out);
    gbose__pg_arg_int(&args, bandit);
    rc = ask(view,
             "SELECT coalesce(t.e, 0)::int8, coalesce(t.p, 0)::int8, coalesce(t.r, 0)::int8, coalesce(t.d, "
             "0)::int8,"
             " coalesce(t.u, 0)::int8, coalesce(t.w, 0)::int8, coalesce(t.l, 0)::int8, l.next_number, "
             "n.outcomes, n.dropped"
             " FROM numbering n JOIN lease l USING (bandit), (SELECT sum(events) AS e, sum(pending) AS p, "
             "sum(rewarded) AS r,"
             " sum(defaulted) AS d, sum(unused) AS u, sum(rewards) AS w, sum(late) AS l FROM tally WHERE "
             "bandit = $1::int4) AS t"
             " WHERE n.bandit = $1::int4",
             &args, &r, err);
    if (rc)
        return rc;
    if (PQntuples(r)) {
        for (int i = 0; i < 10; i++)
            column[i] = (uint64_t)gbose__pg_int(r, 0, i);
        *out = (struct gbose__counts){column[0], column[1], column[2], column[3], column[4],
                                      column[5], column[6], column[7], column[8], column[9]};
    }
    PQclear(r);
    return GBOSE_OK;
}

static int view_keys(struct gbose__view *view, gbose__key_visit *visit, void *context, gbose_error *err)
{
    PGresult *r;
    int rc = ask(view, "SELECT id, hash, roles, bandit, note, created, sum FROM key ORDER BY created, id",
                 NULL, &r, err);

    if (rc)
        return rc;
    for (int i = 0; i < PQntuples(r) && !rc; i++) {
        size_t size;
        struct gbose__key_row row = {gbose__pg_text(r, i, 0),          gbose__pg_blob(r, i, 1, &size),
                                     (unsigned)gbose__pg_int(r, i, 2), gbose__pg_text(r, i, 3),
                                     gbose__pg_text(r, i, 4),          gbose__pg_int(r, i, 5)};

        rc = size == GBOSE__HASH_SIZE && gbose__sum_key(&row) == gbose__pg_int(r, i, 6)
                 ? visit(context, &row)
                 : gbose__pg_damaged("a key's row", err);
    }
    PQclear(r);
    return rc;
}

static int view_servers(struct gbose__view *view, gbose__server_visit *visit, void *context, gbose_error *err)
{
    struct gbose__pg_args args = {0};
    PGresult *r;
    int rc;

    gbose__pg_arg_int(&args, GBOSE__FORGOTTEN);
    rc = ask(view,
             "SELECT stream, name, report, (extract(epoch FROM started) * 1000)::int8,"
             " (extract(epoch FROM clock_timestamp() - seen) * 1000)::int8 FROM server"
             " WHERE seen > now() - $1::int8 * interval '1 millisecond' ORDER BY stream",
             &args, &r, err);
    if (rc)
        return rc;
    for (int i = 0; i < PQntuples(r) && !rc; i++) {
        struct gbose__server_row row = {(uint32_t)gbose__pg_int(r, i, 0), gbose__pg_text(r, i, 1),
                                        gbose__pg_text(r, i, 2), gbose__pg_int(r, i, 3),
                                        gbose__pg_int(r, i, 4)};

        rc = visit(context, &row);
    }
    PQclear(r);
    return rc;
}

static void view_close(struct gbose__view *view)
{
    struct postgres_view *v = (struct postgres_view *)view;

    gbose__pg_disconnect(&v->c);
    free(v->rewards);
    free(v->text.text);
    free(v);
}

int gbose__pg_view(struct gbose__store *store, struct gbose__view **out, gbose_error *err)
{
    struct postgres_view *v = calloc(1, sizeof *v);

    if (!v)
        return gbose__no_memory(err);
    v->c.home = &((struct gbose__pg_store *)store)->home;
    v->base =
        (struct gbose__view){view_close,    view_bandits, view_generations, view_snapshot, view_event,
                             view_outcomes, view_events,  view_counts,      view_keys,     view_servers};
    *out = &v->base;
    return GBOSE_OK;
}
