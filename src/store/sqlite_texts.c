/* Which texts of events are in a file of their own (texts.h), and which of them are no longer wanted. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/bytes.h"
#include "core/error.h"
#include "store/sqlite_write.h"

#define MOST_WIPED 4096 /* texts at a time */

/* For fewer bytes a write and a sync of their own cost more than the copies that they save. */
size_t gbose__sqlite_texts_worth = (size_t)32 << 10;

/* ---- what the database says of the file ---- */

/* All zeros: it has none, as in a new store and in a backup. */
struct state {
    uint64_t id, known; /* see struct gbose__texts */
    uint64_t any;       /* differs each time, so that the transaction writes a page whatever else it does */
    uint64_t sum;       /* of these: by a wrong number a part of the file would be cut off */
};

static int64_t sum_of(const struct state *state)
{
    return (int64_t)gbose__checksum(state, offsetof(struct state, sum));
}

static int read_state(struct gbose__sqlite *c, struct state *state, gbose_error *err)
{
    static const struct state none;
    sqlite3_stmt *s = gbose__sqlite_statement(c, READ_TEXTS, "SELECT value FROM meta WHERE name = 'texts'");
    int step = s ? sqlite3_step(s) : SQLITE_ERROR, rc = GBOSE_OK, whole;

    *state = none;
    whole = step == SQLITE_ROW && sqlite3_column_bytes(s, 0) == sizeof *state;
    if (whole)
        memcpy(state, sqlite3_column_blob(s, 0), sizeof *state);
    if (step != SQLITE_ROW && step != SQLITE_DONE)
        rc = gbose__sqlite_fail(c, "read the store", err);
    else if (!whole || (memcmp(state, &none, sizeof none) && (int64_t)state->sum != sum_of(state)))
        rc = gbose__fail(err, GBOSE__ECORRUPT,
                         "the store is damaged: it does not know where texts are: restore a backup, or see "
                         "docs/service.md");
    sqlite3_reset(s);
    return rc;
}

static int write_state(struct gbose__sqlite *c, uint64_t id, uint64_t known, gbose_error *err)
{
    sqlite3_stmt *s =
        gbose__sqlite_statement(c, WRITE_TEXTS, "UPDATE meta SET value = ?1 WHERE name = 'texts'");
    struct state state = {.id = id, .known = known};

    sqlite3_randomness(sizeof state.any, &state.any);
    state.sum = (uint64_t)sum_of(&state);
    gbose__sqlite_bind_blob(s, 1, &state, sizeof state);
    return gbose__sqlite_run(c, s, err);
}

int gbose__sqlite_texts_begin(struct gbose__sqlite *c, struct gbose__texts *t, gbose_error *err)
{
    struct state state;
    int rc = read_state(c, &state, err);

    if (!rc && !state.id) {
        if (getrandom(&state.id, sizeof state.id, 0) != sizeof state.id)
            return gbose__fail(err, GBOSE__ESTORE, "cannot get random bytes from the system");
        rc = write_state(c, state.id, 0, err);
    }
    return rc ? rc : gbose__texts_begin(t, state.id, state.known, err);
}

int gbose__sqlite_texts_save(struct gbose__sqlite *c, const struct gbose__texts *t, int all, gbose_error *err)
{
    return gbose__texts_is_ahead(t) ? write_state(c, t->id, all ? t->end : t->known, err) : GBOSE_OK;
}

/* ---- texts that are written ---- */

/* The text of an event that was asked for by its name is compared with later ones, and stays in the database. So does that of an
 * event that may not be added at all. */
static struct gbose__event_row *event_of(struct gbose__change *change)
{
    struct gbose__event_row *row = &change->of.event;

    return change->kind == GBOSE__ADD_EVENT && row->packed && !row->name && !change->chained ? row : NULL;
}

static void forget_places(struct gbose__change *changes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (changes[i].kind == GBOSE__ADD_EVENT)
            changes[i].of.event.place = 0;
}

int gbose__sqlite_texts_write(struct gbose__texts *t, struct gbose__change *changes, size_t n)
{
    size_t size = 0;
    gbose_error err;

    forget_places(changes, n);
    for (size_t i = 0; i < n; i++)
        size += event_of(&changes[i]) ? changes[i].of.event.packed_size : 0;
    if (size < gbose__sqlite_texts_worth || gbose__texts_is_ahead(t))
        return 0;
    for (size_t i = 0; i < n; i++) {
        struct gbose__event_row *row = event_of(&changes[i]);

        if (i + 1 < n)
            gbose__sqlite_foresee(&changes[i + 1]);
        if (!row)
            continue;
        row->place = gbose__texts_add(t, row->packed, row->packed_size);
        row->sum = gbose__known_sum(row); /* as long as its bytes are at hand */
    }
    if (!gbose__texts_write(t, &err))
        return 1;
    forget_places(changes, n); /* if there is no room, then the database will say so */
    return 0;
}

/* ---- texts that are no longer wanted ---- */

/* Does nobody read the store as it was before the last transaction? If so then all of the write-ahead log can be moved. */
static int nobody_looks_back(struct gbose__sqlite *c)
{
    int frames = 0, moved = 0;

    return !sqlite3_wal_checkpoint_v2(c->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &frames, &moved) &&
           frames == moved;
}

/* The first places, in order, but for those that are damaged: who knows whose texts these are. Returns how many; -1: the store
 * cannot be read. */
static int first_holes(struct gbose__sqlite *c, int64_t *place)
{
    sqlite3_stmt *s =
        WITH(HOLES, "SELECT text FROM hole WHERE again = ~text ORDER BY text LIMIT ?1", MOST_WIPED);
    int step = SQLITE_ERROR, n = 0;

    while (s && n < MOST_WIPED && (step = sqlite3_step(s)) == SQLITE_ROW)
        place[n++] = sqlite3_column_int64(s, 0);
    sqlite3_reset(s);
    return step == SQLITE_DONE || n == MOST_WIPED ? n : -1;
}

int gbose__sqlite_texts_wipe(struct gbose__sqlite *c, const struct gbose__texts *t)
{
    int64_t *place = malloc(MOST_WIPED * sizeof *place);
    gbose_error err;
    int n = place ? first_holes(c, place) : -1;

    if (n > 0 && !nobody_looks_back(c))
        n = -1;
    while (n > 0) {
        if (gbose__texts_wipe(t, place, (size_t)n) ||
            gbose__sqlite_run(
                c, WITH(WIPED, "DELETE FROM hole WHERE text <= ?1 AND again = ~text", place[n - 1]), &err))
            n = -1;
        else
            n = first_holes(c, place);
    }
    free(place);
    return n;
}
