/* Changes to the SQLite store: which function makes which, and what they share. */
#include "store/sqlite_write.h"

void gbose__sqlite_bind_text(sqlite3_stmt *s, int at, const char *text)
{
    if (text)
        sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC);
    else
        sqlite3_bind_null(s, at);
}

void gbose__sqlite_bind_blob(sqlite3_stmt *s, int at, const void *bytes, size_t size)
{
    if (bytes)
        sqlite3_bind_blob64(s, at, bytes, size, SQLITE_STATIC);
    else
        sqlite3_bind_null(s, at);
}

sqlite3_stmt *gbose__sqlite_with(struct gbose__sqlite *c, int place, const char *sql, int n,
                                 const int64_t *numbers)
{
    sqlite3_stmt *s = gbose__sqlite_statement(c, place, sql);

    for (int i = 0; s && i < n; i++)
        sqlite3_bind_int64(s, i + 1, numbers[i]);
    return s;
}
int gbose__sqlite_first(struct gbose__sqlite *c, sqlite3_stmt *s, int64_t *out, gbose_error *err)
{
    int step = s ? sqlite3_step(s) : SQLITE_ERROR, rc = 0;

    *out = 0;
    if (step == SQLITE_ROW) {
        *out = sqlite3_column_int64(s, 0);
        rc = 1;
    } else if (step != SQLITE_DONE) {
        rc = gbose__sqlite_fail(c, "read the store", err);
    }
    sqlite3_reset(s);
    return rc;
}

int gbose__sqlite_apply_one(struct gbose__sqlite *c, struct gbose__change *change, gbose_error *err)
{
    static gbose__sqlite_change *const does[] = {
        [GBOSE__PUT_BANDIT] = gbose__sqlite_put_bandit,
        [GBOSE__DROP_BANDIT] = gbose__sqlite_drop_bandit,
        [GBOSE__ADD_GENERATION] = gbose__sqlite_add_generation,
        [GBOSE__SET_READY] = gbose__sqlite_set_ready,
        [GBOSE__WANT_GENERATION] = gbose__sqlite_want_generation,
        [GBOSE__LEASE_NUMBERS] = gbose__sqlite_lease_numbers,
        [GBOSE__DROP_GENERATION] = gbose__sqlite_drop_generation,
        [GBOSE__ADD_SNAPSHOT] = gbose__sqlite_add_snapshot,
        [GBOSE__ADD_EVENT] = gbose__sqlite_add_event,
        [GBOSE__ADD_REWARD] = gbose__sqlite_add_reward,
        [GBOSE__ACTIVATE_EVENT] = gbose__sqlite_activate_event,
        [GBOSE__CLOSE_DUE] = gbose__sqlite_close_due,
        [GBOSE__ERASE_UNIT] = gbose__sqlite_erase_unit,
        [GBOSE__RETAIN] = gbose__sqlite_retain,
        [GBOSE__ADD_KEY] = gbose__sqlite_add_key,
        [GBOSE__DROP_KEY] = gbose__sqlite_drop_key,
        [GBOSE__PASS] = gbose__sqlite_pass,
    };

    change->result = GBOSE__DONE;
    return does[change->kind](c, change, err);
}
