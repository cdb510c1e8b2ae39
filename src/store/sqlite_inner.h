/* What the files of the SQLite store share: a connection with its statements. */
#ifndef GBOSE_STORE_SQLITE_INNER_H
#define GBOSE_STORE_SQLITE_INNER_H

#include <sqlite3.h>

#include "store/sum.h"
#include "store/texts.h"

#define GBOSE__SQLITE_STATEMENTS 64

/* A connection. Statements are prepared when they are first needed, each at its place. */
struct gbose__sqlite {
    sqlite3 *db;
    sqlite3_stmt *statement[GBOSE__SQLITE_STATEMENTS];
    struct gbose__sqlite_tally *tally; /* of the writing connection: see sqlite_tally.c */
    size_t n_tally;
    struct gbose__sqlite_pending *pending; /* of the writing connection: see sqlite_pending.c */
    size_t n_pending, pending_capacity;
    uint64_t journal; /* of the writing connection: id of its journal, see sqlite_journal.c */
    void *packed;     /* of the writing connection: the text of the event that is written */
    size_t packed_capacity;
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

/* The counts of a bandit, to be changed inside a transaction; NULL: an error. They are written by
 * gbose__sqlite_tally_save() before it is committed, and forgotten by gbose__sqlite_tally_forget() when it
 * is not. */
struct gbose__counts *gbose__sqlite_tally(struct gbose__sqlite *c, uint32_t bandit, gbose_error *err);
int gbose__sqlite_tally_save(struct gbose__sqlite *c, gbose_error *err);
void gbose__sqlite_tally_forget(struct gbose__sqlite *c);
/* 1 with *out filled, 0: no such bandit, or an error. */
int gbose__sqlite_tally_read(struct gbose__sqlite *c, int place, uint32_t bandit, struct gbose__counts *out,
                             gbose_error *err);

/* Events become pending inside a transaction: rows are written by gbose__sqlite_pending_save(), before anything else looks
 * at them and before it is committed, and forgotten when it is not. */
int gbose__sqlite_pending_add(struct gbose__sqlite *c, uint32_t bandit, int64_t deadline, int64_t key,
                              gbose_error *err);
int gbose__sqlite_pending_save(struct gbose__sqlite *c, gbose_error *err);
void gbose__sqlite_pending_forget(struct gbose__sqlite *c);
/* The first event whose deadline has come: 1 with its key, 0: there is none, or an error. */
int gbose__sqlite_pending_due(struct gbose__sqlite *c, uint32_t bandit, int64_t now, int64_t *key,
                              gbose_error *err);
/* An event is not pending any more. 1: it was, 0: it was not, or an error. */
int gbose__sqlite_pending_remove(struct gbose__sqlite *c, uint32_t bandit, int64_t deadline, int64_t key,
                                 gbose_error *err);

/* What the store knows of its journal: an id, and the place up to which it has all events. */
int gbose__sqlite_journal_state(struct gbose__sqlite *c, uint64_t *id, uint64_t *place, gbose_error *err);
int gbose__sqlite_journal_write_state(struct gbose__sqlite *c, uint64_t id, uint64_t place, gbose_error *err);
/* Events that are only in the journal `path` come into the store. Nobody else may write either. */
int gbose__sqlite_replay(struct gbose__sqlite *c, const char *path, gbose_error *err);
/* Are there any? 1 with the place of the last, 0, or an error. */
int gbose__sqlite_is_behind(struct gbose__sqlite *c, const char *path, uint64_t *last, gbose_error *err);

#define GBOSE__LINE 64 /* bytes that a processor fetches together */

/* An event was put together on another core: its bytes are fetched while the one before it is written. */
static inline void gbose__sqlite_foresee(const struct gbose__change *change)
{
    const struct gbose__event_row *event = &change->of.event;

    if (change->kind != GBOSE__ADD_EVENT || !event->packed)
        return;
    __builtin_prefetch(event->pmf);
    if (event->place) /* the text is written already */
        return;
    for (size_t at = 0; at < event->packed_size; at += GBOSE__LINE)
        __builtin_prefetch((const char *)event->packed + at);
}

/* Texts of events in a file of their own (sqlite_texts.c): whoever has the store begins to write it. GBOSE__ECORRUPT: it is not what
 * the database says. */
int gbose__sqlite_texts_begin(struct gbose__sqlite *c, struct gbose__texts *t, gbose_error *err);
/* Before a transaction: if the texts of a group have so many bytes, they are written to the file, and `place` of the events is
 * set. Returns 1 then. Else 0: they go into the database. */
int gbose__sqlite_texts_write(struct gbose__texts *t, struct gbose__change *changes, size_t n);
extern size_t gbose__sqlite_texts_worth; /* bytes; only tests change it */
/* Inside: the database knows of all texts that were written, or not of the last ones. */
int gbose__sqlite_texts_save(struct gbose__sqlite *c, const struct gbose__texts *t, int all,
                             gbose_error *err);
/* After it: texts of events that are gone are wiped, unless somebody may still read them. Returns 0, or -1: some are left. */
int gbose__sqlite_texts_wipe(struct gbose__sqlite *c, const struct gbose__texts *t);

/* A copy of a database and its texts, as they are at one moment, in a new file (sqlite_backup.c). It has its name when it is whole. */
int gbose__sqlite_backup(const char *from, const char *texts_path, const char *path, gbose_error *err);

/* One change of a group (sqlite_write.c), and a view (sqlite_read.c) of a database and its file of texts. */
int gbose__sqlite_apply_one(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err);
int gbose__sqlite_view(struct gbose__view **out, const char *path, const char *texts_path, gbose_error *err);

#endif
