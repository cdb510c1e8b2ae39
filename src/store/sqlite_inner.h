/* What the files of the SQLite store share: a connection with its statements, and checksums of rows. */
#ifndef GBOSE_STORE_SQLITE_INNER_H
#define GBOSE_STORE_SQLITE_INNER_H

#include <sqlite3.h>

#include "store/store.h"

/* The key of a row that belongs to number `number` of a bandit: rows of one bandit lie together, in order. */
static inline int64_t gbose__sqlite_key(uint32_t bandit, uint64_t number)
{
    return (int64_t)((uint64_t)bandit << 40 | number);
}

static inline uint64_t gbose__sqlite_number(int64_t key)
{
    return (uint64_t)key & GBOSE__MAX_NUMBER;
}

#define GBOSE__SQLITE_STATEMENTS 64

/* A connection. Statements are prepared when they are first needed, each at its place. */
struct gbose__sqlite {
    sqlite3 *db;
    sqlite3_stmt *statement[GBOSE__SQLITE_STATEMENTS];
    struct gbose__sqlite_tally *tally; /* of the writing connection: see sqlite_tally.c */
    size_t n_tally;
};

/* Open a connection with the settings that all of them have. */
int gbose__sqlite_connect(struct gbose__sqlite *c, const char *path, int flags, gbose_error *err);
void gbose__sqlite_disconnect(struct gbose__sqlite *c);

/* The statement at `place`, ready to be bound; NULL if it could not be prepared. */
sqlite3_stmt *gbose__sqlite_statement(struct gbose__sqlite *c, int place, const char *sql);

/* The connection's last failure as a sentence; returns GBOSE__ESTORE or GBOSE__ECORRUPT. */
int gbose__sqlite_fail(struct gbose__sqlite *c, const char *doing, gbose_error *err);

/* Step a statement that gives no rows, and reset it. GBOSE_OK, or an error. */
int gbose__sqlite_run(struct gbose__sqlite *c, sqlite3_stmt *s, gbose_error *err);

/* Rows carry a checksum of what they say, so that a damaged file is noticed and not believed. */
struct gbose__sum {
    uint64_t value;
};
void gbose__sum_word(struct gbose__sum *sum, uint64_t word);
void gbose__sum_double(struct gbose__sum *sum, double x);
void gbose__sum_bytes(struct gbose__sum *sum, const void *bytes, size_t size);
void gbose__sum_text(struct gbose__sum *sum, const char *text); /* NULL is not the empty text */

int64_t gbose__sum_bandit(const struct gbose__bandit_row *row);
int64_t gbose__sum_generation(const struct gbose__generation_row *row);
int64_t gbose__sum_snapshot(const struct gbose__snapshot_row *row);
int64_t gbose__sum_event(const struct gbose__event_row *row);
int64_t gbose__sum_reward(int64_t event, const struct gbose__reward_row *row);
int64_t gbose__sum_outcome(const struct gbose__outcome_row *row);
int64_t gbose__sum_key(const struct gbose__key_row *row);
int64_t gbose__sum_counts(uint32_t bandit, const struct gbose__counts *row);

/* The counts of a bandit, to be changed inside a transaction; NULL: an error. They are written by
 * gbose__sqlite_tally_save() before it is committed, and forgotten by gbose__sqlite_tally_forget() when it
 * is not. */
struct gbose__counts *gbose__sqlite_tally(struct gbose__sqlite *c, uint32_t bandit, gbose_error *err);
int gbose__sqlite_tally_save(struct gbose__sqlite *c, gbose_error *err);
void gbose__sqlite_tally_forget(struct gbose__sqlite *c);
/* 1 with *out filled, 0: no such bandit, or an error. */
int gbose__sqlite_tally_read(struct gbose__sqlite *c, int place, uint32_t bandit, struct gbose__counts *out,
                             gbose_error *err);

/* One change of a group (sqlite_write.c), and a view (sqlite_read.c). */
int gbose__sqlite_apply_one(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err);
int gbose__sqlite_view(struct gbose__view **out, const char *path, gbose_error *err);

#endif
