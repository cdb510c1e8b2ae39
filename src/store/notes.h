/* A journal in front of a store: events are safe on the disk before they are in the store.
 *
 * To sync a few kilobytes that overwrite others is the least that a disk can be asked for; a transaction of a database
 * writes whole pages. So a batch of events is appended to a file and synced, whoever waits for it is answered, and the
 * store has the events a little later, many in one transaction, which also says how far it has come. What it did not
 * come to is read from the journal when the store is opened the next time.
 *
 * The file has two halves, used in turn; one is written anew when the store has all that is in it. Events are
 * numbered 1, 2, 3, ... in the journal (their place), from the opening of the store on; the store has the number of the last that
 * it has, and a random number, new with each opening, by which records of earlier times are known.
 *
 * One thread writes, while another says what the store has: a lock guards the rest. */
#ifndef GBOSE_STORE_NOTES_H
#define GBOSE_STORE_NOTES_H

#include "store/store.h"

struct gbose__notes;

/* Memory for a journal in the file `path`, which is made when it is first written; NULL: there is none. */
struct gbose__notes *gbose__notes_new(const char *path, uint64_t id);
void gbose__notes_free(struct gbose__notes *j); /* NULL is fine */

/* Write a batch, and sync it. GBOSE_OK and batch->last is the place of its last event; or GBOSE__ESTORE: there is no room, or the
 * disk fails. The batch may then be on the disk nonetheless, at the places up to batch->last, which are not used again: if
 * its events are written to the store instead, then it must be told that it has these places. */
int gbose__notes_write(struct gbose__notes *j, struct gbose__batch *batch, gbose_error *err);

/* The store has all up to this place, and will not forget it. */
void gbose__notes_passed(struct gbose__notes *j, uint64_t place);

/* Overwrite everything that the store has. Failing is not an error. */
void gbose__notes_wipe(struct gbose__notes *j);

/* The batches in a file of that id, in the order of their places, as far as they are beyond `after`; a batch may begin before that.
 * A file that is not there has none. GBOSE__ECORRUPT: there was more than can be read now. */
typedef int gbose__batch_visit(void *context, const struct gbose__batch *batch);
int gbose__notes_read(const char *path, uint64_t id, uint64_t after, gbose__batch_visit *visit, void *context,
                      gbose_error *err);
/* The place of its last event, perhaps while it is written; 0: there is none. */
int gbose__notes_last(const char *path, uint64_t id, uint64_t *last, gbose_error *err);

#endif
