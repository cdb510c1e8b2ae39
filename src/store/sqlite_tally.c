/* Counts of each bandit, changed in the same transactions as what they count. */
#include "store/sqlite_inner.h"

#include <stdlib.h>
#include <string.h>

#include "core/error.h"

/* Places of the statements, at the end of the writing connection's. */
enum { READ_TALLY = GBOSE__SQLITE_STATEMENTS - 2, WRITE_TALLY };

struct gbose__sqlite_tally {
    uint32_t bandit;
    int dirty;
    struct gbose__counts counts;
};

int gbose__sqlite_tally_read(struct gbose__sqlite *c, int place, uint32_t bandit, struct gbose__counts *out,
                             gbose_error *err)
{
    sqlite3_stmt *s =
        gbose__sqlite_statement(c, place,
                                "SELECT events, pending, rewarded, defaulted, unused, rewards, late, "
                                "next_number, outcomes, dropped, sum FROM tally WHERE bandit = ?1");
    uint64_t column[10];
    int step, rc = 0;

    sqlite3_bind_int64(s, 1, bandit);
    step = s ? sqlite3_step(s) : SQLITE_ERROR;
    if (step == SQLITE_ROW) {
        for (int i = 0; i < 10; i++)
            column[i] = (uint64_t)sqlite3_column_int64(s, i);
        *out = (struct gbose__counts){column[0], column[1], column[2], column[3], column[4],
                                      column[5], column[6], column[7], column[8], column[9]};
        rc = 1;
        if (gbose__sum_counts(bandit, out) != sqlite3_column_int64(s, 10))
            rc =
                gbose__fail(err, GBOSE__ECORRUPT, "the store is damaged: counts do not match their checksum");
    } else if (step != SQLITE_DONE) {
        rc = gbose__sqlite_fail(c, "read the store", err);
    }
    sqlite3_reset(s);
    return rc;
}

/* Bandits of one transaction are few; those of earlier ones are kept, since they will come again. */
#define MOST_KEPT 256

struct gbose__counts *gbose__sqlite_tally(struct gbose__sqlite *c, uint32_t bandit, gbose_error *err)
{
    struct gbose__sqlite_tally *more;

    for (size_t i = 0; i < c->n_tally; i++)
        if (c->tally[i].bandit == bandit) {
            c->tally[i].dirty = 1;
            return &c->tally[i].counts;
        }
    more = realloc(c->tally, (c->n_tally + 1) * sizeof *more);
    if (!more) {
        gbose__no_memory(err);
        return NULL;
    }
    c->tally = more;
    more += c->n_tally;
    *more = (struct gbose__sqlite_tally){.bandit = bandit, .dirty = 1};
    if (gbose__sqlite_tally_read(c, READ_TALLY, bandit, &more->counts, err) < 0)
        return NULL;
    c->n_tally++;
    return &more->counts;
}

int gbose__sqlite_tally_save(struct gbose__sqlite *c, gbose_error *err)
{
    int rc = GBOSE_OK;

    for (size_t i = 0; i < c->n_tally && !rc; i++) {
        const struct gbose__counts *n = &c->tally[i].counts;
        const uint64_t column[] = {c->tally[i].bandit, n->events,   n->pending, n->rewarded,
                                   n->defaulted,       n->unused,   n->rewards, n->late,
                                   n->next_number,     n->outcomes, n->dropped};
        sqlite3_stmt *s;

        if (!c->tally[i].dirty)
            continue;
        s = gbose__sqlite_statement(
            c, WRITE_TALLY,
            "INSERT OR REPLACE INTO tally VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)");
        for (int k = 0; k < 11; k++)
            sqlite3_bind_int64(s, k + 1, (int64_t)column[k]);
        sqlite3_bind_int64(s, 12, gbose__sum_counts(c->tally[i].bandit, n));
        rc = gbose__sqlite_run(c, s, err);
        c->tally[i].dirty = 0;
    }
    if (c->n_tally > MOST_KEPT)
        c->n_tally = 0;
    return rc;
}

void gbose__sqlite_tally_forget(struct gbose__sqlite *c)
{
    c->n_tally = 0;
}
