/* Changes to bandits, generations, snapshots and keys in the SQLite store. */
#include "store/sqlite_write.h"

#include "core/error.h"

/* Write a bandit's row; what the change leaves open stays as it is. */
static int change_bandit(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    struct gbose__bandit_row row = change->of.bandit;
    sqlite3_stmt *s = WITH(READ_BANDIT, "SELECT name, settings, active, created FROM bandit WHERE id = ?1",
                           row.id),
                 *update = gbose__sqlite_statement(
                     c, UPDATE_BANDIT,
                     "UPDATE bandit SET settings = ?2, active = ?3, sum = ?4 WHERE id = ?1");
    int step = s && update ? sqlite3_step(s) : SQLITE_ERROR, rc = GBOSE_OK;

    if (step == SQLITE_ROW) {
        row.name = (const char *)sqlite3_column_text(s, 0);
        if (!row.settings)
            row.settings = (const char *)sqlite3_column_text(s, 1);
        if (!row.active)
            row.active = (uint32_t)sqlite3_column_int64(s, 2);
        row.created = sqlite3_column_int64(s, 3);
        sqlite3_bind_int64(update, 1, row.id);
        gbose__sqlite_bind_text(update, 2, row.settings);
        sqlite3_bind_int64(update, 3, row.active);
        sqlite3_bind_int64(update, 4, gbose__sum_bandit(&row));
        rc = gbose__sqlite_run(c, update, err);
    } else if (step == SQLITE_DONE) {
        change->result = GBOSE__MISSING;
    } else {
        rc = gbose__sqlite_fail(c, "read the store", err);
    }
    sqlite3_reset(s);
    return rc;
}

int gbose__sqlite_put_bandit(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    struct gbose__bandit_row *row = &change->of.bandit;
    sqlite3_stmt *s;
    int64_t id;
    int rc;

    if (!row->id) {
        s = gbose__sqlite_statement(c, FIND_BANDIT, "SELECT id FROM bandit WHERE name = ?1");
        gbose__sqlite_bind_text(s, 1, row->name);
        rc = gbose__sqlite_first(c, s, &id, err);
        if (rc < 0)
            return rc;
        if (rc) {
            change->result = GBOSE__CONFLICT;
            return GBOSE_OK;
        }
        s = gbose__sqlite_statement(c, INSERT_BANDIT,
                                    "INSERT INTO bandit (name, settings, active, created, sum) VALUES "
                                    "(?1, ?2, ?3, ?4, 0)");
        gbose__sqlite_bind_text(s, 1, row->name);
        gbose__sqlite_bind_text(s, 2, row->settings);
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
    return change_bandit(c, change, err);
}

int gbose__sqlite_drop_bandit(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    int64_t id = change->of.bandit.id, lo = gbose__row_key((uint32_t)id, 0),
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

int gbose__sqlite_add_generation(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    struct gbose__generation_row *row = &change->of.generation;
    sqlite3_stmt *s = gbose__sqlite_statement(
        c, INSERT_GENERATION, "INSERT OR IGNORE INTO generation VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");
    int rc;

    sqlite3_bind_int64(s, 1, row->bandit);
    sqlite3_bind_int64(s, 2, row->number);
    gbose__sqlite_bind_text(s, 3, row->spec);
    gbose__sqlite_bind_text(s, 4, row->schema);
    sqlite3_bind_int64(s, 5, row->dim);
    sqlite3_bind_int64(s, 6, row->n_round);
    sqlite3_bind_int(s, 7, (row->ready != 0) | (row->wanted != 0) << 1); /* two facts in one column */
    sqlite3_bind_int64(s, 8, row->created);
    sqlite3_bind_int64(s, 9, gbose__sum_generation(row));
    rc = gbose__sqlite_run(c, s, err);
    if (!rc && !sqlite3_changes(c->db))
        change->result = GBOSE__CONFLICT;
    return rc;
}

int gbose__sqlite_drop_generation(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
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

int gbose__sqlite_want_generation(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    struct gbose__generation_row *row = &change->of.generation;
    int rc = RUN(WANT_NONE, "UPDATE generation SET ready = ready & 1 WHERE bandit = ?1", row->bandit);

    if (rc || !row->number)
        return rc;
    rc = RUN(WANT_GENERATION, "UPDATE generation SET ready = ready | 2 WHERE bandit = ?1 AND number = ?2",
             row->bandit, row->number);
    if (!rc && !sqlite3_changes(c->db))
        change->result = GBOSE__MISSING;
    return rc;
}

int gbose__sqlite_set_ready(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    struct gbose__generation_row *row = &change->of.generation;
    int rc = RUN(SET_READY, "UPDATE generation SET ready = 1 WHERE bandit = ?1 AND number = ?2", row->bandit,
                 row->number);

    if (!rc && !sqlite3_changes(c->db))
        change->result = GBOSE__MISSING;
    return rc;
}

int gbose__sqlite_add_snapshot(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
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
    gbose__sqlite_bind_blob(s, 5, row->bytes, row->size);
    sqlite3_bind_int64(s, 6, gbose__sum_snapshot(row));
    rc = gbose__sqlite_run(c, s, err);
    if (!rc && !sqlite3_changes(c->db))
        change->result = GBOSE__MISSING;
    return rc;
}

int gbose__sqlite_add_key(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    struct gbose__key_row *row = &change->of.key;
    sqlite3_stmt *s = gbose__sqlite_statement(
        c, INSERT_KEY, "INSERT OR IGNORE INTO key VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)");
    int rc;

    gbose__sqlite_bind_text(s, 1, row->id);
    gbose__sqlite_bind_blob(s, 2, row->hash, GBOSE__HASH_SIZE);
    sqlite3_bind_int64(s, 3, row->roles);
    gbose__sqlite_bind_text(s, 4, row->bandit);
    gbose__sqlite_bind_text(s, 5, row->note);
    sqlite3_bind_int64(s, 6, row->created);
    sqlite3_bind_int64(s, 7, gbose__sum_key(row));
    rc = gbose__sqlite_run(c, s, err);
    if (!rc && !sqlite3_changes(c->db))
        change->result = GBOSE__CONFLICT;
    return rc;
}

int gbose__sqlite_drop_key(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    sqlite3_stmt *s = gbose__sqlite_statement(c, DROP_KEY, "DELETE FROM key WHERE id = ?1");
    int rc;

    gbose__sqlite_bind_text(s, 1, change->of.key.id);
    rc = gbose__sqlite_run(c, s, err);
    if (!rc && !sqlite3_changes(c->db))
        change->result = GBOSE__MISSING;
    return rc;
}
