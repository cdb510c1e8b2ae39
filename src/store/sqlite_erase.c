/* Events that go from the SQLite store: all of a unit, or those that are old. */
#include "store/sqlite_write.h"

static int delete_event(struct gbose__sqlite *c, uint32_t bandit, int64_t key, gbose_error *err)
{
    struct gbose__counts *counts = gbose__sqlite_tally(c, bandit, err);
    int64_t deadline;
    int rc;

    if (!counts)
        return GBOSE__ESTORE;
    rc = RUN(DELETE_NAME,
             "DELETE FROM named WHERE bandit = ?1 AND name = (SELECT name FROM event WHERE key = ?2)", bandit,
             key);

    if (!rc)
        rc = gbose__sqlite_first(c, WITH(DEADLINE_OF, "SELECT deadline FROM event WHERE key = ?1", key),
                                 &deadline, err);
    if (rc == 1)
        rc = gbose__sqlite_pending_remove(c, bandit, deadline, key, err);
    if (rc < 0)
        return rc;
    counts->pending -= (uint64_t)rc;
    rc = RUN(DELETE_EVENT, "DELETE FROM event WHERE key = ?1", key);
    if (!rc)
        rc = RUN(DELETE_REWARDS, "DELETE FROM reward WHERE event = ?1", key);
    if (!rc)
        rc = RUN(DELETE_ACTIVATED, "DELETE FROM activated WHERE event = ?1", key);
    return rc ? rc : RUN(DELETE_OUTCOME, "DELETE FROM outcome WHERE event = ?1", key);
}

int gbose__sqlite_erase_unit(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    struct gbose__erase_change *it = &change->of.erase;
    int64_t lo = gbose__row_key(it->bandit, 0), key;
    int rc;

    if (sqlite3_exec(c->db, "PRAGMA secure_delete = ON", NULL, NULL, NULL))
        return gbose__sqlite_fail(c, "write to the store", err);
    for (it->erased = 0;; it->erased++) {
        sqlite3_stmt *s = gbose__sqlite_statement(
            c, UNIT_EVENTS, "SELECT key FROM event WHERE unit = ?1 AND key BETWEEN ?2 AND ?3 LIMIT 1");

        gbose__sqlite_bind_blob(s, 1, it->unit, GBOSE__UNIT_SIZE);
        sqlite3_bind_int64(s, 2, lo);
        sqlite3_bind_int64(s, 3, lo + (int64_t)GBOSE__MAX_NUMBER);
        rc = gbose__sqlite_first(c, s, &key, err);
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

/* The number of the last outcome such that it and all before it were closed before a time; or an error. */
static int last_old(struct gbose__sqlite *c, const struct gbose__erase_change *it, int64_t outcomes,
                    int64_t *out, gbose_error *err)
{
    int64_t lo = gbose__row_key(it->bandit, 0);
    int rc = gbose__sqlite_first(
        c,
        WITH(FIRST_YOUNG,
             "SELECT key FROM outcome WHERE key > ?1 AND key <= ?2 AND time >= ?3 ORDER BY key LIMIT 1", lo,
             lo + (int64_t)GBOSE__MAX_NUMBER, it->before),
        out, err);

    *out = rc == 1 ? (int64_t)gbose__row_number(*out) - 1 : outcomes;
    return rc < 0 ? rc : GBOSE_OK;
}

/* Old events go by blocks: up to a snapshot that every generation at work has passed, which then stands for
 * all before it, if all of these are old. Earlier snapshots are of no use then. */
int gbose__sqlite_retain(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    struct gbose__erase_change *it = &change->of.erase;
    int64_t lo = gbose__row_key(it->bandit, 0), old = 0, learned = 0, outcome, key;
    struct gbose__counts *counts = gbose__sqlite_tally(c, it->bandit, err);
    int rc = counts ? last_old(c, it, (int64_t)counts->outcomes, &old, err) : GBOSE__ESTORE;

    it->erased = 0;
    if (!rc)
        rc = RUN(DROP_OLD_SNAPSHOTS,
                 "DELETE FROM snapshot WHERE bandit = ?1 AND EXISTS (SELECT 1 FROM snapshot AS later"
                 " WHERE later.bandit = ?1 AND later.generation = snapshot.generation"
                 " AND later.learned > snapshot.learned AND later.learned <= ?2)",
                 it->bandit, old);
    if (!rc)
        rc = gbose__sqlite_first(
            c,
            WITH(OLDEST_LEARNED,
                 "SELECT min(oldest) FROM (SELECT coalesce(min(learned), 0) AS oldest FROM generation"
                 " JOIN bandit ON bandit.id = generation.bandit"
                 " LEFT JOIN snapshot ON snapshot.bandit = generation.bandit AND generation = number"
                 " WHERE generation.bandit = ?1 AND (number = active OR ready <> 1) GROUP BY number)",
                 it->bandit),
            &learned, err);
    while (rc >= 0 && learned <= old && it->erased < it->most) {
        rc = gbose__sqlite_first(
            c,
            WITH(OLD_OUTCOMES, "SELECT key FROM outcome WHERE key > ?1 AND key <= ?2 ORDER BY key LIMIT 1",
                 lo, lo + learned),
            &outcome, err);
        if (rc <= 0)
            return rc;
        rc = gbose__sqlite_first(c, WITH(EVENT_OF, "SELECT event FROM outcome WHERE key = ?1", outcome), &key,
                                 err);
        if (rc < 0)
            return rc;
        rc = delete_event(c, it->bandit, key, err);
        counts->dropped = gbose__row_number(outcome);
        it->erased++;
    }
    return rc < 0 ? rc : GBOSE_OK;
}
