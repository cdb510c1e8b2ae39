/* Views of the SQLite store: a reading connection each. Every row is held against its checksum before it
 * is shown. */
#include "store/sqlite_inner.h"

#include <stdlib.h>
#include <string.h>

#include "core/error.h"

/* Places of the statements on a reading connection. */
enum { BANDITS, GENERATIONS, SNAPSHOT, EVENT, NAME, REWARDS, OUTCOMES, EVENTS_UP, EVENTS_DOWN, COUNTS, KEYS };

struct sqlite_view {
    struct gbose__view base;
    struct gbose__sqlite c;
    struct gbose__texts texts;
    struct gbose__reward_row *rewards;
    size_t capacity;
};

static int damaged(const char *what, gbose_error *err)
{
    return gbose__fail(err, GBOSE__ECORRUPT, "the store is damaged: %s does not match its checksum", what);
}

static const char *text(sqlite3_stmt *s, int at)
{
    return (const char *)sqlite3_column_text(s, at);
}

/* After the last row: 0, or the error that ended the reading; `rc` is what a visitor said. */
static int finish(struct gbose__sqlite *c, sqlite3_stmt *s, int step, int rc, gbose_error *err)
{
    if (!rc && step != SQLITE_DONE)
        rc = gbose__sqlite_fail(c, "read the store", err);
    sqlite3_reset(s);
    return rc;
}

static struct gbose__sqlite *of(struct gbose__view *view)
{
    return &((struct sqlite_view *)view)->c;
}

static int view_bandits(struct gbose__view *view, gbose__bandit_visit *visit, void *context, gbose_error *err)
{
    struct gbose__sqlite *c = of(view);
    sqlite3_stmt *s = gbose__sqlite_statement(
        c, BANDITS, "SELECT id, name, settings, active, created, sum FROM bandit ORDER BY id");
    int rc = 0, step = SQLITE_ERROR;

    while (!rc && s && (step = sqlite3_step(s)) == SQLITE_ROW) {
        struct gbose__bandit_row row = {(uint32_t)sqlite3_column_int64(s, 0), text(s, 1), text(s, 2),
                                        (uint32_t)sqlite3_column_int64(s, 3), sqlite3_column_int64(s, 4)};

        rc = gbose__sum_bandit(&row) == sqlite3_column_int64(s, 5) ? visit(context, &row)
                                                                   : damaged("a bandit's row", err);
    }
    return finish(c, s, step, rc, err);
}

static int view_generations(struct gbose__view *view, uint32_t bandit, gbose__generation_visit *visit,
                            void *context, gbose_error *err)
{
    struct gbose__sqlite *c = of(view);
    sqlite3_stmt *s =
        gbose__sqlite_statement(c, GENERATIONS,
                                "SELECT number, spec, schema, dim, n_round, ready, created, sum "
                                "FROM generation WHERE bandit = ?1 ORDER BY number");
    int rc = 0, step = SQLITE_ERROR;

    sqlite3_bind_int64(s, 1, bandit);
    while (!rc && s && (step = sqlite3_step(s)) == SQLITE_ROW) {
        struct gbose__generation_row row = {bandit,
                                            (uint32_t)sqlite3_column_int64(s, 0),
                                            text(s, 1),
                                            text(s, 2),
                                            (uint32_t)sqlite3_column_int64(s, 3),
                                            (uint32_t)sqlite3_column_int64(s, 4),
                                            sqlite3_column_int(s, 5) & 1,
                                            sqlite3_column_int64(s, 6),
                                            sqlite3_column_int(s, 5) >> 1 & 1};

        rc = gbose__sum_generation(&row) == sqlite3_column_int64(s, 7) ? visit(context, &row)
                                                                       : damaged("a generation's row", err);
    }
    return finish(c, s, step, rc, err);
}

static int view_snapshot(struct gbose__view *view, uint32_t bandit, uint32_t generation, uint64_t most,
                         gbose__snapshot_visit *visit, void *context, gbose_error *err)
{
    struct gbose__sqlite *c = of(view);
    sqlite3_stmt *s =
        gbose__sqlite_statement(c, SNAPSHOT,
                                "SELECT learned, keep, bytes, sum FROM snapshot WHERE bandit = ?1"
                                " AND generation = ?2 AND learned <= ?3 ORDER BY learned DESC LIMIT 1");
    int rc = 0, step = SQLITE_ERROR;

    sqlite3_bind_int64(s, 1, bandit);
    sqlite3_bind_int64(s, 2, generation);
    sqlite3_bind_int64(s, 3, most > GBOSE__MAX_NUMBER ? (int64_t)GBOSE__MAX_NUMBER : (int64_t)most);
    step = s ? sqlite3_step(s) : SQLITE_ERROR;
    if (step == SQLITE_ROW) {
        struct gbose__snapshot_row row = {.bandit = bandit,
                                          .generation = generation,
                                          .learned = (uint64_t)sqlite3_column_int64(s, 0),
                                          .bytes = sqlite3_column_blob(s, 2),
                                          .size = (size_t)sqlite3_column_bytes(s, 2),
                                          .keep = sqlite3_column_int(s, 1)};

        rc = gbose__sum_snapshot(&row) == sqlite3_column_int64(s, 3) ? visit(context, &row)
                                                                     : damaged("a snapshot", err);
        step = SQLITE_DONE;
    } else if (step == SQLITE_DONE) {
        rc = gbose__fail(err, GBOSE__EABSENT, "there is no such snapshot");
    }
    return finish(c, s, step, rc, err);
}

/* ---- events ---- */

#define EVENT_COLUMNS                                                                                        \
    "e.key, e.name, e.time, e.deadline, e.generation, e.learned, e.flags, e.arm, e.pmf, e.shadow, e.unit, "  \
    "e.body, "                                                                                               \
    "e.sum, o.key, o.reward, o.why, o.time, o.sum, EXISTS (SELECT 1 FROM activated WHERE event = e.key)"

/* The text of an event is in its row, or the row says where it is. 0, or an error. */
static int read_text(sqlite3_stmt *s, struct gbose__event_row *event, struct gbose__texts *texts,
                     gbose_error *err)
{
    const unsigned char *bytes = NULL;
    int rc = GBOSE_OK;

    if (sqlite3_column_type(s, 11) == SQLITE_INTEGER) {
        rc = gbose__texts_read(texts, sqlite3_column_int64(s, 11), &bytes, &event->body_size, err);
        event->body = (const char *)bytes;
    } else {
        event->body = sqlite3_column_blob(s, 11);
        event->body_size = (size_t)sqlite3_column_bytes(s, 11);
    }
    return rc;
}

/* Read the columns above. 0, or an error. */
static int read_case(sqlite3_stmt *s, struct gbose__texts *texts, struct gbose__event_row *event,
                     struct gbose__outcome_row *outcome, struct gbose__unpacked *text_of,
                     struct gbose__case *it, gbose_error *err)
{
    int64_t key = sqlite3_column_int64(s, 0), closed = sqlite3_column_int64(s, 13);
    size_t size = (size_t)sqlite3_column_bytes(s, 8);
    int rc;

    *event = (struct gbose__event_row){
        .bandit = (uint32_t)(key >> 40),
        .number = gbose__row_number(key),
        .name = text(s, 1),
        .time = sqlite3_column_int64(s, 2),
        .deadline = sqlite3_column_int64(s, 3),
        .generation = (uint32_t)sqlite3_column_int64(s, 4),
        .learned = (uint64_t)sqlite3_column_int64(s, 5),
        .flags = (unsigned)sqlite3_column_int64(s, 6),
        .arm = (uint32_t)sqlite3_column_int64(s, 7),
        .n_arms = (uint32_t)(size / sizeof(double)),
        .pmf = sqlite3_column_blob(s, 8),
        .shadow = sqlite3_column_blob(s, 9),
        .unit = sqlite3_column_blob(s, 10),
        .activated = sqlite3_column_int(s, 18),
    };
    if (sqlite3_column_type(s, 0) == SQLITE_NULL) /* closed, and not there */
        return damaged("an outcome", err);
    if (!size || size % sizeof(double) || event->arm >= event->n_arms ||
        (event->shadow && (size_t)sqlite3_column_bytes(s, 9) != size) ||
        (event->unit && sqlite3_column_bytes(s, 10) != GBOSE__UNIT_SIZE))
        return damaged("an event", err);
    rc = read_text(s, event, texts, err);
    if (!rc)
        rc = gbose__event_unpack(event, sqlite3_column_int64(s, 12), text_of, err);
    if (rc)
        return rc;
    *it = (struct gbose__case){.event = event};
    if (sqlite3_column_type(s, 13) == SQLITE_NULL)
        return GBOSE_OK;
    *outcome = (struct gbose__outcome_row){(uint32_t)(closed >> 40),
                                           gbose__row_number(closed),
                                           event->number,
                                           sqlite3_column_double(s, 14),
                                           (enum gbose__why)sqlite3_column_int(s, 15),
                                           sqlite3_column_int64(s, 16)};
    if (gbose__sum_outcome(outcome) != sqlite3_column_int64(s, 17))
        return damaged("an outcome", err);
    it->outcome = outcome;
    return GBOSE_OK;
}

static int add_rewards(struct gbose__view *view, struct gbose__case *it, gbose_error *err)
{
    struct sqlite_view *v = (struct sqlite_view *)view;
    int64_t key = gbose__row_key(it->event->bandit, it->event->number);
    sqlite3_stmt *s = gbose__sqlite_statement(
        &v->c, REWARDS, "SELECT id, value, time, late, sum FROM reward WHERE event = ?1 ORDER BY number");
    int rc = 0, step = SQLITE_ERROR;

    sqlite3_bind_int64(s, 1, key);
    while (!rc && s && (step = sqlite3_step(s)) == SQLITE_ROW) {
        struct gbose__reward_row row = {text(s, 0), sqlite3_column_double(s, 1), sqlite3_column_int64(s, 2),
                                        sqlite3_column_int(s, 3)};

        if (gbose__sum_reward(key, &row) != sqlite3_column_int64(s, 4)) {
            rc = damaged("a reward", err);
            break;
        }
        if (it->n_rewards == v->capacity) {
            size_t capacity = v->capacity ? 2 * v->capacity : 16;
            void *more = realloc(v->rewards, capacity * sizeof *v->rewards);

            if (!more) {
                rc = gbose__no_memory(err);
                break;
            }
            v->rewards = more;
            v->capacity = capacity;
        }
        row.id = strdup(row.id);
        if (!row.id) {
            rc = gbose__no_memory(err);
            break;
        }
        v->rewards[it->n_rewards++] = row;
    }
    it->rewards = v->rewards;
    return finish(&v->c, s, step, rc, err);
}

static void drop_rewards(struct gbose__case *it)
{
    for (size_t i = 0; i < it->n_rewards; i++)
        free((char *)it->rewards[i].id);
}

/* Show the rows of a statement over EVENT_COLUMNS. *shown counts them. */
static int show(struct gbose__view *view, sqlite3_stmt *s, int rewards, gbose__case_visit *visit,
                void *context, size_t *shown, gbose_error *err)
{
    struct gbose__event_row event;
    struct gbose__outcome_row outcome;
    struct gbose__case it;
    struct gbose__unpacked text_of = {0};
    int rc = 0, step = SQLITE_ERROR;

    while (!rc && s && (step = sqlite3_step(s)) == SQLITE_ROW) {
        rc = read_case(s, &((struct sqlite_view *)view)->texts, &event, &outcome, &text_of, &it, err);
        if (rc)
            break;
        if (rewards)
            rc = add_rewards(view, &it, err);
        if (!rc)
            rc = visit(context, &it);
        drop_rewards(&it);
        ++*shown;
    }
    free(text_of.text);
    return finish(of(view), s, step, rc, err);
}

static int view_event(struct gbose__view *view, uint32_t bandit, uint64_t number, const char *name,
                      gbose__case_visit *visit, void *context, gbose_error *err)
{
    struct gbose__sqlite *c = of(view);
    size_t shown = 0;
    sqlite3_stmt *s;
    int rc;

    if (name) {
        s = gbose__sqlite_statement(c, NAME,
                                    "SELECT " EVENT_COLUMNS
                                    " FROM named n JOIN event e ON e.key = n.event LEFT JOIN "
                                    "outcome o ON o.event = e.key WHERE n.bandit = ?1 AND n.name = ?2");
        sqlite3_bind_int64(s, 1, bandit);
        sqlite3_bind_text(s, 2, name, -1, SQLITE_STATIC);
    } else {
        s = gbose__sqlite_statement(c, EVENT,
                                    "SELECT " EVENT_COLUMNS
                                    " FROM event e LEFT JOIN outcome o ON o.event = e.key WHERE e.key = ?1");
        sqlite3_bind_int64(s, 1, gbose__row_key(bandit, number));
    }
    rc = show(view, s, 1, visit, context, &shown, err);
    return rc || shown ? rc : gbose__fail(err, GBOSE__EABSENT, "there is no such event");
}

static int view_outcomes(struct gbose__view *view, uint32_t bandit, uint64_t after, uint64_t upto,
                         size_t most, gbose__case_visit *visit, void *context, gbose_error *err)
{
    sqlite3_stmt *s = gbose__sqlite_statement(
        of(view), OUTCOMES,
        "SELECT " EVENT_COLUMNS
        " FROM outcome o LEFT JOIN event e ON e.key = o.event WHERE o.key > ?1 AND o.key <= ?2 "
        "ORDER BY o.key LIMIT ?3");
    size_t shown = 0;

    sqlite3_bind_int64(s, 1, gbose__row_key(bandit, after));
    sqlite3_bind_int64(s, 2, gbose__row_key(bandit, upto > GBOSE__MAX_NUMBER ? GBOSE__MAX_NUMBER : upto));
    sqlite3_bind_int64(s, 3, (int64_t)most);
    return show(view, s, 0, visit, context, &shown, err);
}

static int view_events(struct gbose__view *view, uint32_t bandit, uint64_t from, size_t most, int newest,
                       gbose__case_visit *visit, void *context, gbose_error *err)
{
    sqlite3_stmt *s =
        newest ? gbose__sqlite_statement(of(view), EVENTS_DOWN,
                                         "SELECT " EVENT_COLUMNS
                                         " FROM event e LEFT JOIN outcome o ON o.event = e.key "
                                         "WHERE e.key <= ?1 AND e.key >= ?2 ORDER BY e.key DESC LIMIT ?3")
               : gbose__sqlite_statement(of(view), EVENTS_UP,
                                         "SELECT " EVENT_COLUMNS
                                         " FROM event e LEFT JOIN outcome o ON o.event = e.key "
                                         "WHERE e.key >= ?1 AND e.key <= ?2 ORDER BY e.key LIMIT ?3");
    size_t shown = 0;

    sqlite3_bind_int64(s, 1, gbose__row_key(bandit, from > GBOSE__MAX_NUMBER ? GBOSE__MAX_NUMBER : from));
    sqlite3_bind_int64(s, 2, gbose__row_key(bandit, newest ? 0 : GBOSE__MAX_NUMBER));
    sqlite3_bind_int64(s, 3, (int64_t)most);
    return show(view, s, 1, visit, context, &shown, err);
}

static int view_counts(struct gbose__view *view, uint32_t bandit, struct gbose__counts *out, gbose_error *err)
{
    int rc;

    memset(out, 0, sizeof *out);
    rc = gbose__sqlite_tally_read(of(view), COUNTS, bandit, out, err);
    return rc < 0 ? rc : GBOSE_OK;
}

static int view_keys(struct gbose__view *view, gbose__key_visit *visit, void *context, gbose_error *err)
{
    struct gbose__sqlite *c = of(view);
    sqlite3_stmt *s = gbose__sqlite_statement(
        c, KEYS, "SELECT id, hash, roles, bandit, note, created, sum FROM key ORDER BY created, id");
    int rc = 0, step = SQLITE_ERROR;

    while (!rc && s && (step = sqlite3_step(s)) == SQLITE_ROW) {
        struct gbose__key_row row = {
            text(s, 0), sqlite3_column_blob(s, 1), (unsigned)sqlite3_column_int64(s, 2), text(s, 3),
            text(s, 4), sqlite3_column_int64(s, 5)};

        rc = sqlite3_column_bytes(s, 1) == GBOSE__HASH_SIZE &&
                     gbose__sum_key(&row) == sqlite3_column_int64(s, 6)
                 ? visit(context, &row)
                 : damaged("a key's row", err);
    }
    return finish(c, s, step, rc, err);
}

static void view_close(struct gbose__view *view)
{
    struct sqlite_view *v = (struct sqlite_view *)view;

    gbose__sqlite_disconnect(&v->c);
    gbose__texts_clear(&v->texts);
    free(v->rewards);
    free(v);
}

int gbose__sqlite_view(struct gbose__view **out, const char *path, const char *texts_path, gbose_error *err)
{
    struct sqlite_view *v = calloc(1, sizeof *v);
    int rc;

    if (!v)
        return gbose__no_memory(err);
    rc = gbose__texts_init(&v->texts, texts_path)
             ? gbose__no_memory(err)
             : gbose__sqlite_connect(&v->c, path, SQLITE_OPEN_READWRITE, err);
    if (!rc && sqlite3_exec(v->c.db, "PRAGMA query_only = ON", NULL, NULL, NULL))
        rc = gbose__sqlite_fail(&v->c, "open the store", err);
    if (rc) {
        view_close(&v->base);
        return rc;
    }
    v->base = (struct gbose__view){view_close,    view_bandits, view_generations, view_snapshot, view_event,
                                   view_outcomes, view_events,  view_counts,      view_keys,     NULL};
    *out = &v->base;
    return GBOSE_OK;
}
