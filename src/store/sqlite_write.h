/* What the files share that change the SQLite store: their statements, and how to bind, run and read one. */
#ifndef GBOSE_STORE_SQLITE_WRITE_H
#define GBOSE_STORE_SQLITE_WRITE_H

#include "store/sqlite_inner.h"

enum {
    INSERT_BANDIT,
    UPDATE_BANDIT,
    FIND_BANDIT,
    DROP_BANDIT,
    INSERT_GENERATION,
    SET_READY,
    DROP_GENERATION,
    DROP_SNAPSHOTS,
    INSERT_SNAPSHOT,
    REPLACE_SNAPSHOTS,
    INSERT_EVENT,
    INSERT_NAME,
    FIND_NAME,
    SAME_EVENT,
    INSERT_PENDING,
    DELETE_PENDING,
    UPDATE_PENDING,
    FIND_PENDING,
    FIND_EVENT,
    FIND_OUTCOME,
    INSERT_REWARD,
    FIND_REWARD,
    REWARDS_OF,
    INSERT_ACTIVATED,
    FIND_ACTIVATED,
    INSERT_OUTCOME,
    DUE,
    NEXT_DUE,
    INSERT_KEY,
    DROP_KEY,
    UNIT_EVENTS,
    OLD_OUTCOMES,
    EVENT_OF,
    OLDEST_LEARNED,
    FIRST_YOUNG,
    DROP_OLD_SNAPSHOTS,
    DELETE_EVENT,
    DELETE_NAME,
    DELETE_REWARDS,
    DELETE_ACTIVATED,
    DELETE_OUTCOME,
    DROP_ALL_SNAPSHOTS,
    DEADLINE_OF,
    READ_BANDIT,
    WANT_NONE,
    WANT_GENERATION,
    READ_JOURNAL,
    WRITE_JOURNAL,
    HAS_BANDIT,
    READ_TEXTS,
    WRITE_TEXTS,
    HOLES,
    WIPED,
    N_STATEMENTS
};
_Static_assert(N_STATEMENTS <= GBOSE__SQLITE_STATEMENTS, "more statements than places");

void gbose__sqlite_bind_text(sqlite3_stmt *s, int at, const char *text); /* NULL is SQL's null */
void gbose__sqlite_bind_blob(sqlite3_stmt *s, int at, const void *bytes, size_t size);

/* A statement with whole numbers bound to its first parameters. */
sqlite3_stmt *gbose__sqlite_with(struct gbose__sqlite *c, int place, const char *sql, int n,
                                 const int64_t *numbers);
#define WITH(place, sql, ...)                                                                                \
    gbose__sqlite_with(c, place, sql, (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),             \
                       (int64_t[]){__VA_ARGS__})
#define RUN(...) gbose__sqlite_run(c, WITH(__VA_ARGS__), err)

/* 1 with *out set to the first column of the first row, 0 if there is no row, or an error. */
int gbose__sqlite_first(struct gbose__sqlite *c, sqlite3_stmt *s, int64_t *out, gbose_error *err);

/* One function for each kind of change. All of them run inside a transaction of apply(). */
typedef int gbose__sqlite_change(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err);
/* sqlite_bandit.c */
gbose__sqlite_change gbose__sqlite_put_bandit, gbose__sqlite_drop_bandit, gbose__sqlite_add_generation,
    gbose__sqlite_drop_generation, gbose__sqlite_set_ready, gbose__sqlite_want_generation,
    gbose__sqlite_add_snapshot, gbose__sqlite_add_key, gbose__sqlite_drop_key;
/* sqlite_event.c */
gbose__sqlite_change gbose__sqlite_add_event, gbose__sqlite_add_reward, gbose__sqlite_activate_event,
    gbose__sqlite_close_due, gbose__sqlite_lease_numbers;
/* sqlite_journal.c */
gbose__sqlite_change gbose__sqlite_pass;
/* sqlite_erase.c */
gbose__sqlite_change gbose__sqlite_erase_unit, gbose__sqlite_retain;

#endif
