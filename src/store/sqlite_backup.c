/* A copy of the SQLite store in one file. */
#include "store/sqlite_inner.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/error.h"

/* The SQL function text_at(place). */
static void text_at(sqlite3_context *context, int n, sqlite3_value **value)
{
    const unsigned char *bytes;
    size_t size;
    gbose_error err;
    int rc =
        gbose__texts_read(sqlite3_user_data(context), sqlite3_value_int64(value[0]), &bytes, &size, &err);

    (void)n;
    if (!rc) {
        sqlite3_result_blob64(context, bytes, size, SQLITE_TRANSIENT);
        return;
    }
    sqlite3_result_error(context, err.text, -1);
    if (rc == GBOSE__ECORRUPT)
        sqlite3_result_error_code(context, SQLITE_CORRUPT);
}

/* A copy of the database gets the texts that are in a file of their own. */
static int bring_home(const char *texts_path, const char *path, gbose_error *err)
{
    struct gbose__texts texts;
    struct gbose__sqlite c = {0};
    int rc = gbose__texts_init(&texts, texts_path)
                 ? gbose__no_memory(err)
                 : gbose__sqlite_connect(&c, path, SQLITE_OPEN_READWRITE, err);

    if (!rc && (sqlite3_create_function(c.db, "text_at", 1, SQLITE_UTF8, &texts, text_at, NULL, NULL) ||
                sqlite3_exec(c.db,
                             "PRAGMA journal_mode = OFF; BEGIN;"
                             "UPDATE event SET body = text_at(body) WHERE typeof(body) = 'integer';"
                             "DELETE FROM hole; UPDATE meta SET value = zeroblob(32) WHERE name = 'texts';"
                             "COMMIT",
                             NULL, NULL, NULL)))
        rc = gbose__sqlite_fail(&c, "make a backup", err);
    gbose__sqlite_disconnect(&c);
    gbose__texts_clear(&texts);
    return rc;
}

/* A copy of the database as it is. */
static int copy_database(const char *from, const char *path, gbose_error *err)
{
    struct gbose__sqlite c;
    sqlite3_stmt *s;
    int rc = gbose__sqlite_connect(&c, from, SQLITE_OPEN_READWRITE, err);

    if (rc)
        return rc;
    if (sqlite3_prepare_v2(c.db, "VACUUM INTO ?1", -1, &s, NULL)) {
        rc = gbose__sqlite_fail(&c, "make a backup", err);
    } else {
        sqlite3_bind_text(s, 1, path, -1, SQLITE_STATIC);
        if (sqlite3_step(s) != SQLITE_DONE)
            rc = gbose__sqlite_fail(&c, "make a backup", err);
        sqlite3_finalize(s);
    }
    gbose__sqlite_disconnect(&c);
    return rc;
}

int gbose__sqlite_backup(const char *from, const char *texts_path, const char *path, gbose_error *err)
{
    struct gbose__sqlite reader = {0};
    char part[4096];
    int rc;

    if (!access(path, F_OK))
        return gbose__fail(err, GBOSE__ESTORE, "%s is there already; give a new name", path);
    if (snprintf(part, sizeof part, "%s.tmp", path) >= (int)sizeof part)
        return gbose__fail(err, GBOSE__ESTORE, "the name of the backup is too long");
    unlink(part);
    /* As long as somebody reads the store as it is now, no text of it is wiped. */
    rc = gbose__sqlite_connect(&reader, from, SQLITE_OPEN_READWRITE, err);
    if (!rc && sqlite3_exec(reader.db, "BEGIN; SELECT value FROM meta", NULL, NULL, NULL))
        rc = gbose__sqlite_fail(&reader, "make a backup", err);
    if (!rc)
        rc = copy_database(from, part, err);
    if (!rc)
        rc = bring_home(texts_path, part, err);
    gbose__sqlite_disconnect(&reader);
    if (!rc && rename(part, path))
        rc = gbose__fail(err, GBOSE__ESTORE, "cannot write %s: %s", path, strerror(errno));
    if (rc)
        unlink(part);
    return rc;
}
