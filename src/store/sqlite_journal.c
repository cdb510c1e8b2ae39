/* From the journal (notes.h) into the SQLite store. */
#include "store/notes.h"

#include <string.h>

#include "core/error.h"
#include "store/sqlite_write.h"

int gbose__sqlite_journal_state(struct gbose__sqlite *c, uint64_t *id, uint64_t *place, gbose_error *err)
{
    sqlite3_stmt *s =
        gbose__sqlite_statement(c, READ_JOURNAL, "SELECT value FROM meta WHERE name = 'journal'");
    int rc = GBOSE_OK;

    if (!s || sqlite3_step(s) != SQLITE_ROW || sqlite3_column_bytes(s, 0) != 16) {
        int step = s ? sqlite3_errcode(c->db) & 0xff : SQLITE_ERROR;

        rc = !s || (step != SQLITE_ROW && step != SQLITE_DONE)
                 ? gbose__sqlite_fail(c, "read the store", err)
                 : gbose__fail(err, GBOSE__ECORRUPT, "the store is damaged: it does not know its journal");
    } else {
        const unsigned char *value = sqlite3_column_blob(s, 0);

        memcpy(id, value, 8);
        memcpy(place, value + 8, 8);
    }
    sqlite3_reset(s);
    return rc;
}

int gbose__sqlite_journal_write_state(struct gbose__sqlite *c, uint64_t id, uint64_t place, gbose_error *err)
{
    sqlite3_stmt *s =
        gbose__sqlite_statement(c, WRITE_JOURNAL, "UPDATE meta SET value = ?1 WHERE name = 'journal'");
    const uint64_t value[2] = {id, place};

    gbose__sqlite_bind_blob(s, 1, value, sizeof value);
    return gbose__sqlite_run(c, s, err);
}

int gbose__sqlite_pass(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    return gbose__sqlite_journal_write_state(c, c->journal, change->of.pass, err);
}

/* ---- events that are only in the journal ---- */

struct replay {
    struct gbose__sqlite *c;
    uint64_t after;
    gbose_error *err;
};

/* An event may be there already, if it could not be synced in the journal and was written to the store instead; and its bandit may
 * be gone. */
static int add(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    const struct gbose__event_row *row = &change->of.event;
    int64_t found;
    int rc = gbose__sqlite_first(c, WITH(HAS_BANDIT, "SELECT id FROM bandit WHERE id = ?1", row->bandit),
                                 &found, err);

    if (rc <= 0)
        return rc;
    rc = gbose__sqlite_first(c,
                             WITH(FIND_EVENT, "SELECT deadline, flags FROM event WHERE key = ?1",
                                  gbose__row_key(row->bandit, row->number)),
                             &found, err);
    if (rc)
        return rc < 0 ? rc : GBOSE_OK;
    return gbose__sqlite_apply_one(c, change, err);
}

static int replay_batch(void *context, const struct gbose__batch *batch)
{
    const struct replay *r = context;
    uint64_t first = batch->last - batch->n + 1;
    int rc = GBOSE_OK;

    for (size_t i = 0; i < batch->n && !rc; i++)
        if (first + i > r->after)
            rc = add(r->c, &batch->change[i], r->err);
    return rc ? rc : gbose__sqlite_journal_write_state(r->c, r->c->journal, batch->last, r->err);
}

int gbose__sqlite_replay(struct gbose__sqlite *c, const char *path, gbose_error *err)
{
    struct replay r = {.c = c, .err = err};
    int rc;

    if (sqlite3_exec(c->db, "BEGIN IMMEDIATE", NULL, NULL, NULL))
        return gbose__sqlite_fail(c, "write to the store", err);
    rc = gbose__sqlite_journal_state(c, &c->journal, &r.after, err);
    if (!rc)
        rc = gbose__notes_read(path, c->journal, r.after, replay_batch, &r, err);
    if (!rc)
        rc = gbose__sqlite_pending_save(c, err);
    if (!rc)
        rc = gbose__sqlite_tally_save(c, err);
    if (!rc && sqlite3_exec(c->db, "COMMIT", NULL, NULL, NULL))
        rc = gbose__sqlite_fail(c, "write to the store", err);
    if (rc) {
        gbose__sqlite_pending_forget(c);
        if (!sqlite3_get_autocommit(c->db))
            sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
    }
    gbose__sqlite_tally_forget(c); /* it may be another process's turn to write */
    return rc;
}

int gbose__sqlite_is_behind(struct gbose__sqlite *c, const char *path, uint64_t *last, gbose_error *err)
{
    uint64_t id = 0, place = 0;
    int rc = gbose__sqlite_journal_state(c, &id, &place, err);

    if (!rc)
        rc = gbose__notes_last(path, id, last, err);
    return rc ? rc : *last > place;
}
