/* Texts of events in a file of their own, beside the database of an SQLite store.
 *
 * Most bytes of an event are its text, which is written once and rarely read. In a database it is copied four times: into the
 * write-ahead log, out of it, into the database, and by the system each time. So the texts of a large group of events
 * are written to this file at once, past the system's cache, and the database has the place of each instead.
 *
 * A text is on the disk before the transaction that says where it is, and is never changed. The file begins with a block that says
 * which database it belongs to, and grows: the bytes of texts that are no longer wanted are given back to the system, which
 * leaves a hole that reads as zeros.
 *
 * A transaction that fails may turn out to have happened, after a crash. So the texts that were written for it stay, and no more
 * are written, until another transaction has taken its place; then they are cut off. What a process leaves behind that dies in
 * between is cut off by the next one.
 *
 * One thread of one process writes. Each reader has a struct of its own. */
#ifndef GBOSE_STORE_TEXTS_H
#define GBOSE_STORE_TEXTS_H

#include "store/store.h"

struct gbose__texts {
    char *path;
    int file;             /* -1: not open yet */
    unsigned char *bytes; /* of the writer: what is to be written; of a reader: what was read last */
    size_t size, capacity;
    uint64_t id; /* of the writer, as the rest: the database that the file belongs to */
    uint64_t known,
        end; /* the database knows of texts up to the first; the file may have some up to the second */
};

/* For the file of that name, which is opened, and made by the writer, when it is first needed. 0, or there is no memory. */
int gbose__texts_init(struct gbose__texts *t, const char *path);
void gbose__texts_clear(struct gbose__texts *t);

/* The writer begins: the database has this id, and knows of texts up to `known`. GBOSE__ECORRUPT: the file has less than that, or is
 * of another database, and is left as it was. */
int gbose__texts_begin(struct gbose__texts *t, uint64_t id, uint64_t known, gbose_error *err);

/* Texts have been written, or perhaps were, of which the database does not know: before anything else is written,
 * gbose__texts_settle() must be called. */
int gbose__texts_is_ahead(const struct gbose__texts *t);

/* A text is to be written. Returns its place; 0: it cannot have one, since it is too long, or there are too many, or there is no
 * memory. */
int64_t gbose__texts_add(struct gbose__texts *t, const void *bytes, size_t size);

/* Write and sync all that were added. Afterwards none are, whether it succeeded or not. */
int gbose__texts_write(struct gbose__texts *t, gbose_error *err);

/* A transaction has happened, and surely: the database knows of all texts that were written, if `all`; or still of those it knew, and
 * the others are cut off. */
void gbose__texts_settle(struct gbose__texts *t, int all);

/* The text at a place, in memory of `t` until the next call. GBOSE__ECORRUPT: it is not there. */
int gbose__texts_read(struct gbose__texts *t, int64_t place, const unsigned char **bytes, size_t *size,
                      gbose_error *err);

/* The bytes of texts at these places, which are in order, are no more. 0, or -1: perhaps of some only. */
int gbose__texts_wipe(const struct gbose__texts *t, const int64_t *place, size_t n);

#endif
