/* Pending events of the SQLite store, by deadline. Events of one transaction that have the same deadline, to the
 * millisecond, share a row: under load that is a row for dozens of them.
 *
 * A row is known by the first of its events. `more` has all that are still pending, in their order; if it is NULL, that is
 * the first event alone. */
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/error.h"
#include "store/sqlite_write.h"

#define MOST_IN_ROW 64 /* events, so that to take one out is cheap */

struct gbose__sqlite_pending {
    uint32_t bandit;
    int64_t deadline, key;
};

/* The events of a row. */
struct row {
    int64_t deadline, first;
    size_t n;
    int64_t key[MOST_IN_ROW];
};

int gbose__sqlite_pending_add(struct gbose__sqlite *c, uint32_t bandit, int64_t deadline, int64_t key,
                              gbose_error *err)
{
    if (c->n_pending == c->pending_capacity) {
        size_t capacity = c->pending_capacity ? 2 * c->pending_capacity : 256;
        void *more = realloc(c->pending, capacity * sizeof *c->pending);

        if (!more)
            return gbose__no_memory(err);
        c->pending = more;
        c->pending_capacity = capacity;
    }
    c->pending[c->n_pending++] = (struct gbose__sqlite_pending){bandit, deadline, key};
    return GBOSE_OK;
}

static int compare(const void *a, const void *b)
{
    const struct gbose__sqlite_pending *x = a, *y = b;

    if (x->bandit != y->bandit)
        return x->bandit < y->bandit ? -1 : 1;
    if (x->deadline != y->deadline)
        return x->deadline < y->deadline ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

/* `more` of n events, in words of little-endian bytes. */
static void bind_keys(sqlite3_stmt *s, int at, uint64_t word[MOST_IN_ROW], const int64_t *key, size_t n)
{
    for (size_t i = 0; i < n; i++)
        word[i] = gbose__little_endian((uint64_t)key[i]);
    gbose__sqlite_bind_blob(s, at, word, n * sizeof *word);
}

int gbose__sqlite_pending_save(struct gbose__sqlite *c, gbose_error *err)
{
    const struct gbose__sqlite_pending *at = c->pending, *end = at + c->n_pending;
    int rc = GBOSE_OK;

    if (!c->n_pending)
        return rc;
    qsort(c->pending, c->n_pending, sizeof *c->pending, compare);
    while (at < end && !rc) {
        sqlite3_stmt *s = WITH(INSERT_PENDING, "INSERT INTO pending VALUES (?1, ?2, ?3, ?4)", at->bandit,
                               at->deadline, at->key);
        const struct gbose__sqlite_pending *first = at;
        int64_t key[MOST_IN_ROW];
        uint64_t word[MOST_IN_ROW];
        size_t n = 0;

        while (n < MOST_IN_ROW && at < end && at->bandit == first->bandit && at->deadline == first->deadline)
            key[n++] = at++->key;
        sqlite3_bind_null(s, 4);
        if (n > 1)
            bind_keys(s, 4, word, key, n);
        rc = gbose__sqlite_run(c, s, err);
    }
    c->n_pending = 0;
    return rc;
}

void gbose__sqlite_pending_forget(struct gbose__sqlite *c)
{
    c->n_pending = 0;
}

/* The row at which a statement over deadline, event and more stands. */
static int read_row(sqlite3_stmt *s, struct row *out, gbose_error *err)
{
    size_t size = (size_t)sqlite3_column_bytes(s, 2);
    const unsigned char *words = sqlite3_column_blob(s, 2);

    out->deadline = sqlite3_column_int64(s, 0);
    out->first = out->key[0] = sqlite3_column_int64(s, 1);
    out->n = 1;
    if (!words)
        return GBOSE_OK;
    if (size % 8 || !size || size / 8 > MOST_IN_ROW)
        return gbose__fail(err, GBOSE__ECORRUPT, "the store is damaged: a list of pending events is not one");
    out->n = size / 8;
    for (size_t i = 0; i < out->n; i++) {
        uint64_t word;

        memcpy(&word, words + 8 * i, 8);
        out->key[i] = (int64_t)gbose__little_endian(word);
    }
    return GBOSE_OK;
}

int gbose__sqlite_pending_due(struct gbose__sqlite *c, uint32_t bandit, int64_t now, int64_t *key,
                              gbose_error *err)
{
    sqlite3_stmt *s = WITH(DUE,
                           "SELECT deadline, event, more FROM pending WHERE bandit = ?1 AND deadline <= ?2"
                           " ORDER BY deadline, event LIMIT 1",
                           bandit, now);
    int step = s ? sqlite3_step(s) : SQLITE_ERROR, rc = 0;
    struct row row;

    if (step == SQLITE_ROW) {
        rc = read_row(s, &row, err);
        *key = row.key[0];
        rc = rc ? rc : 1;
    } else if (step != SQLITE_DONE) {
        rc = gbose__sqlite_fail(c, "read the store", err);
    }
    sqlite3_reset(s);
    return rc;
}

/* Write what is left of a row. */
static int write_row(struct gbose__sqlite *c, uint32_t bandit, const struct row *row, gbose_error *err)
{
    uint64_t word[MOST_IN_ROW];
    sqlite3_stmt *s;

    if (!row->n)
        return RUN(DELETE_PENDING, "DELETE FROM pending WHERE bandit = ?1 AND deadline = ?2 AND event = ?3",
                   bandit, row->deadline, row->first);
    s = WITH(UPDATE_PENDING,
             "UPDATE pending SET more = ?4 WHERE bandit = ?1 AND deadline = ?2 AND event = ?3", bandit,
             row->deadline, row->first);
    bind_keys(s, 4, word, row->key, row->n);
    return gbose__sqlite_run(c, s, err);
}

int gbose__sqlite_pending_remove(struct gbose__sqlite *c, uint32_t bandit, int64_t deadline, int64_t key,
                                 gbose_error *err)
{
    sqlite3_stmt *s = WITH(FIND_PENDING,
                           "SELECT deadline, event, more FROM pending WHERE bandit = ?1 AND deadline = ?2"
                           " AND event <= ?3 ORDER BY event DESC",
                           bandit, deadline, key);
    int step = SQLITE_ERROR, rc = 0;
    struct row row;
    size_t i = 0;

    while (!rc && s && (step = sqlite3_step(s)) == SQLITE_ROW) {
        rc = read_row(s, &row, err);
        for (i = 0; !rc && i < row.n && row.key[i] != key; i++)
            ;
        if (!rc && i < row.n)
            rc = 1;
    }
    if (!rc && step != SQLITE_DONE)
        rc = gbose__sqlite_fail(c, "read the store", err);
    sqlite3_reset(s);
    if (rc != 1)
        return rc;
    memmove(row.key + i, row.key + i + 1, (--row.n - i) * sizeof *row.key);
    rc = write_row(c, bandit, &row, err);
    return rc ? rc : 1;
}
