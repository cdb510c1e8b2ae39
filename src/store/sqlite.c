/* The store in one SQLite file: opening, the schema, transactions.
 *
 * Write-ahead log, synchronous=FULL: when apply() returns the changes have reached the disk. A process
 * that writes holds a lock on DIR/lock, so that two servers never work on one store. It may keep events in a journal, which
 * whoever opens the store next brings into it; and their texts in a file of their own, where they stay. */
#include "store/sqlite_inner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/error.h"
#include "store/notes.h"

#define FILE_NAME "gbose.sqlite3"
#define JOURNAL_NAME "gbose.journal"
#define TEXTS_NAME "gbose.texts"
#define APPLICATION_ID 0x67626f73 /* "gbos" */
#define SECRET_SIZE 32
#define PATIENCE 10000  /* milliseconds to wait for a server that has events in its journal; and a lock */
#define BRIEFLY 2000    /* the same for a process that only brings a journal into the store */
#define PAUSE 2         /* milliseconds between two looks */
#define TIDY_EVERY 1000 /* milliseconds between two attempts to wipe what somebody may still read */
#define SMALL_FILE (64 << 20) /* bytes; a file up to this size is checked as a whole when it is opened */

/* Migration i turns version i into version i + 1. Never changed once released; new ones are added at the
 * end. */
static const char *const migrations[] = {
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE bandit (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, settings TEXT NOT "
    "NULL,"
    " active INTEGER NOT NULL, created INTEGER NOT NULL, sum INTEGER NOT NULL);"
    "CREATE TABLE generation (bandit INTEGER NOT NULL, number INTEGER NOT NULL, spec TEXT NOT NULL, schema "
    "TEXT,"
    " dim INTEGER NOT NULL, n_round INTEGER NOT NULL, ready INTEGER NOT NULL, created INTEGER NOT NULL,"
    " sum INTEGER NOT NULL, PRIMARY KEY (bandit, number)) WITHOUT ROWID;"
    "CREATE TABLE snapshot (id INTEGER PRIMARY KEY, bandit INTEGER NOT NULL, generation INTEGER NOT NULL,"
    " learned INTEGER NOT NULL, keep INTEGER NOT NULL, bytes BLOB NOT NULL,"
    " sum INTEGER NOT NULL, UNIQUE (bandit, generation, learned));"
    "CREATE TABLE event (key INTEGER PRIMARY KEY, name TEXT, time INTEGER NOT NULL, deadline INTEGER NOT "
    "NULL,"
    " generation INTEGER NOT NULL, learned INTEGER NOT NULL, flags INTEGER NOT NULL, arm INTEGER NOT NULL,"
    " pmf BLOB NOT NULL, shadow BLOB, unit BLOB, body BLOB NOT NULL, sum INTEGER NOT NULL);"
    "CREATE INDEX event_unit ON event (unit) WHERE unit IS NOT NULL;"
    "CREATE TABLE named (bandit INTEGER NOT NULL, name TEXT NOT NULL, event INTEGER NOT NULL,"
    " PRIMARY KEY (bandit, name)) WITHOUT ROWID;"
    "CREATE TABLE pending (bandit INTEGER NOT NULL, deadline INTEGER NOT NULL, event INTEGER NOT NULL,"
    " PRIMARY KEY (bandit, deadline, event)) WITHOUT ROWID;"
    "CREATE TABLE activated (event INTEGER PRIMARY KEY, time INTEGER NOT NULL);"
    "CREATE TABLE reward (number INTEGER PRIMARY KEY, event INTEGER NOT NULL, id TEXT NOT NULL, value REAL "
    "NOT NULL,"
    " time INTEGER NOT NULL, late INTEGER NOT NULL, sum INTEGER NOT NULL, UNIQUE (event, id));"
    "CREATE TABLE outcome (key INTEGER PRIMARY KEY, event INTEGER NOT NULL UNIQUE, reward REAL NOT NULL,"
    " why INTEGER NOT NULL, time INTEGER NOT NULL, sum INTEGER NOT NULL);"
    "CREATE TABLE tally (bandit INTEGER PRIMARY KEY, events INTEGER NOT NULL, pending INTEGER NOT NULL,"
    " rewarded INTEGER NOT NULL, defaulted INTEGER NOT NULL, unused INTEGER NOT NULL, rewards INTEGER NOT "
    "NULL,"
    " late INTEGER NOT NULL, next_number INTEGER NOT NULL, outcomes INTEGER NOT NULL,"
    " dropped INTEGER NOT NULL, sum INTEGER NOT NULL);"
    "CREATE TABLE key (id TEXT PRIMARY KEY, hash BLOB NOT NULL, roles INTEGER NOT NULL, bandit TEXT,"
    " note TEXT NOT NULL, created INTEGER NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID;",
    /* Texts of events may be packed from here on (pack.h), and several pending events share a row; what is there stays as it
     * is. */
    "ALTER TABLE pending ADD COLUMN more BLOB;",
    /* Events may be in a journal (notes.h): its id, and the place up to which they are here. */
    "INSERT INTO meta VALUES ('journal', zeroblob(16));",
    /* Texts of events may be in a file of their own (texts.h, sqlite_texts.c): `body` is then a place in it. What the database knows
     * of the file, and which texts are no longer wanted. A hole is there twice, since it must not be another text's by a damaged
     * bit. */
    "INSERT INTO meta VALUES ('texts', zeroblob(32));"
    "CREATE TABLE hole (text INTEGER PRIMARY KEY, again INTEGER NOT NULL);"
    "CREATE TRIGGER event_text AFTER DELETE ON event WHEN typeof(old.body) = 'integer'"
    " BEGIN INSERT OR IGNORE INTO hole VALUES (old.body, ~old.body); END;",
};
#define VERSION ((int)(sizeof migrations / sizeof *migrations))

struct sqlite_store {
    struct gbose__store base;
    struct gbose__sqlite c;
    char *path, *journal_path;
    struct gbose__notes *journal; /* NULL: opened beside whoever has it */
    struct gbose__texts texts;    /* written by whoever has the store */
    int has_holes;                /* some texts are no longer wanted, and are perhaps still there */
    int was_erased;               /* something that is perhaps still in the write-ahead log */
    int64_t tidy_at;              /* milliseconds: not before that is it tried again to wipe these */
    int lock;                     /* file descriptor, -1: none */
    unsigned char secret[SECRET_SIZE];
};

/* ---- connections ---- */

int gbose__sqlite_fail(struct gbose__sqlite *c, const char *doing, gbose_error *err)
{
    int code = c->db ? sqlite3_errcode(c->db) & 0xff : SQLITE_NOMEM;

    if (code == SQLITE_NOMEM)
        return gbose__no_memory(err);
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
        return gbose__fail(err, GBOSE__ECORRUPT,
                           "the store is damaged (%s): restore a backup, or see docs/service.md",
                           sqlite3_errmsg(c->db));
    return gbose__fail(err, GBOSE__ESTORE, "cannot %s: %s%s%s", doing, sqlite3_errmsg(c->db),
                       sqlite3_system_errno(c->db) ? ": " : "",
                       sqlite3_system_errno(c->db) ? strerror(sqlite3_system_errno(c->db)) : "");
}

int gbose__sqlite_connect(struct gbose__sqlite *c, const char *path, int flags, gbose_error *err)
{
    memset(c, 0, sizeof *c);
    if (sqlite3_open_v2(path, &c->db, flags | SQLITE_OPEN_NOMUTEX, NULL) ||
        sqlite3_extended_result_codes(c->db, 1) || sqlite3_busy_timeout(c->db, PATIENCE) ||
        sqlite3_exec(c->db, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA trusted_schema = OFF",
                     NULL, NULL, NULL)) {
        int rc = gbose__sqlite_fail(c, "open the store", err);
        gbose__sqlite_disconnect(c);
        return rc;
    }
    return GBOSE_OK;
}

void gbose__sqlite_disconnect(struct gbose__sqlite *c)
{
    for (size_t i = 0; i < GBOSE__SQLITE_STATEMENTS; i++)
        sqlite3_finalize(c->statement[i]);
    sqlite3_close(c->db);
    free(c->tally);
    free(c->packed);
    free(c->pending);
    memset(c, 0, sizeof *c);
}

sqlite3_stmt *gbose__sqlite_statement(struct gbose__sqlite *c, int place, const char *sql)
{
    if (!c->statement[place] &&
        sqlite3_prepare_v3(c->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &c->statement[place], NULL))
        return NULL;
    sqlite3_reset(c->statement[place]);
    return c->statement[place];
}

int gbose__sqlite_run(struct gbose__sqlite *c, sqlite3_stmt *s, gbose_error *err)
{
    int rc = GBOSE_OK;

    if (!s || sqlite3_step(s) != SQLITE_DONE)
        rc = gbose__sqlite_fail(c, "write to the store", err);
    sqlite3_reset(s);
    return rc;
}

/* ---- opening ---- */

static int read_int(struct gbose__sqlite *c, const char *sql, int64_t *out, gbose_error *err)
{
    sqlite3_stmt *s;
    int rc = GBOSE_OK;

    if (sqlite3_prepare_v2(c->db, sql, -1, &s, NULL))
        return gbose__sqlite_fail(c, "read the store", err);
    if (sqlite3_step(s) == SQLITE_ROW)
        *out = sqlite3_column_int64(s, 0);
    else
        rc = gbose__sqlite_fail(c, "read the store", err);
    sqlite3_finalize(s);
    return rc;
}

/* Bring the schema to the present version, in one transaction. */
static int migrate(struct gbose__sqlite *c, int64_t version, gbose_error *err)
{
    unsigned char secret[SECRET_SIZE];
    char sql[300], hex[2 * SECRET_SIZE + 1];
    int bad;

    if (version == VERSION)
        return GBOSE_OK;
    bad = sqlite3_exec(c->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    for (int64_t i = version; !bad && i < VERSION; i++)
        bad = sqlite3_exec(c->db, migrations[i], NULL, NULL, NULL);
    if (!bad && version == 0) {
        if (getrandom(secret, sizeof secret, 0) != sizeof secret)
            return gbose__fail(err, GBOSE__ESTORE, "cannot get random bytes from the system");
        for (int i = 0; i < SECRET_SIZE; i++)
            snprintf(hex + 2 * i, 3, "%02x", secret[i]);
        snprintf(sql, sizeof sql, "PRAGMA application_id = %d; INSERT INTO meta VALUES ('secret', x'%s')",
                 APPLICATION_ID, hex);
        bad = sqlite3_exec(c->db, sql, NULL, NULL, NULL);
    }
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d; COMMIT", VERSION);
    if (!bad)
        bad = sqlite3_exec(c->db, sql, NULL, NULL, NULL);
    if (bad) {
        int rc = gbose__sqlite_fail(c, "prepare the store", err);
        sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
        return rc;
    }
    return GBOSE_OK;
}

/* Is it one of ours, of a version that we read, and undamaged as far as a look at its structure can tell? */
static int check(struct gbose__sqlite *c, const char *path, int64_t *version, gbose_error *err)
{
    int64_t application = 0, tables = 0;
    struct stat st;
    sqlite3_stmt *s;
    int rc;

    rc = read_int(c, "PRAGMA user_version", version, err);
    if (!rc)
        rc = read_int(c, "PRAGMA application_id", &application, err);
    if (!rc)
        rc = read_int(c, "SELECT count(*) FROM sqlite_schema", &tables, err);
    if (rc)
        return rc;
    if (tables && application != APPLICATION_ID)
        return gbose__fail(err, GBOSE__ECORRUPT, "%s is not a store of gbose, or is damaged", path);
    if (*version > VERSION || *version < 0)
        return gbose__fail(err, GBOSE_EVERSION,
                           "%s has version %lld, and this gbose reads up to %d: use a newer one", path,
                           (long long)*version, VERSION);
    if ((*version == 0) != (tables == 0))
        return gbose__fail(err, GBOSE__ECORRUPT, "%s is damaged: it has tables but no version", path);
    if (stat(path, &st) || st.st_size > SMALL_FILE)
        return GBOSE_OK;
    if (sqlite3_prepare_v2(c->db, "PRAGMA integrity_check(1)", -1, &s, NULL))
        return gbose__sqlite_fail(c, "check the store", err);
    if (sqlite3_step(s) != SQLITE_ROW)
        rc = gbose__sqlite_fail(c, "check the store", err);
    else if (strcmp((const char *)sqlite3_column_text(s, 0), "ok"))
        rc = gbose__fail(err, GBOSE__ECORRUPT,
                         "the store is damaged (%.100s): restore a backup, or see docs/service.md",
                         (const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
    return rc;
}

static int read_secret(struct sqlite_store *store, gbose_error *err)
{
    sqlite3_stmt *s;
    int rc = GBOSE_OK;

    if (sqlite3_prepare_v2(store->c.db, "SELECT value FROM meta WHERE name = 'secret'", -1, &s, NULL))
        return gbose__sqlite_fail(&store->c, "read the store", err);
    if (sqlite3_step(s) == SQLITE_ROW && sqlite3_column_bytes(s, 0) == SECRET_SIZE)
        memcpy(store->secret, sqlite3_column_blob(s, 0), SECRET_SIZE);
    else
        rc = gbose__fail(err, GBOSE__ECORRUPT, "the store is damaged: its secret is not there");
    sqlite3_finalize(s);
    return rc;
}

/* ---- the contract ---- */

static int64_t milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* What is gone is wiped, if nobody reads the store as it was: who does is waited for, so many milliseconds. */
static void wipe(struct sqlite_store *store, int patience)
{
    sqlite3_busy_timeout(store->c.db, patience);
    if (store->was_erased)
        store->was_erased =
            sqlite3_wal_checkpoint_v2(store->c.db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL) != SQLITE_OK;
    if (store->has_holes)
        store->has_holes = gbose__sqlite_texts_wipe(&store->c, &store->texts) != 0;
    sqlite3_busy_timeout(store->c.db, PATIENCE);
    store->tidy_at = milliseconds() + TIDY_EVERY;
}

static void tidy(struct sqlite_store *store)
{
    if (store->was_erased || store->has_holes)
        wipe(store, 0);
}

static void sqlite_tidy(struct gbose__store *base)
{
    struct sqlite_store *store = (struct sqlite_store *)base;

    if (milliseconds() >= store->tidy_at)
        tidy(store);
}

/* After these changes: what was erased must be neither in the write-ahead log nor in the journal nor in the file of texts. What else
 * went only takes room. */
static void wipe_after(struct sqlite_store *store, const struct gbose__change *changes, size_t n)
{
    int erased = 0;

    for (size_t i = 0; i < n; i++) {
        erased |= changes[i].kind == GBOSE__ERASE_UNIT;
        store->has_holes |= changes[i].kind == GBOSE__DROP_BANDIT || changes[i].kind == GBOSE__RETAIN;
    }
    if (!erased)
        return;
    store->has_holes = store->was_erased = 1;
    if (store->journal)
        gbose__notes_wipe(store->journal);
    wipe(store, TIDY_EVERY);
}

static int sqlite_apply(struct gbose__store *base, struct gbose__change *changes, size_t n, gbose_error *err)
{
    struct sqlite_store *store = (struct sqlite_store *)base;
    struct gbose__sqlite *c = &store->c;
    uint32_t made = 0;
    int rc = GBOSE_OK, placed = store->journal && gbose__sqlite_texts_write(&store->texts, changes, n);

    if (sqlite3_exec(c->db, "BEGIN IMMEDIATE", NULL, NULL, NULL))
        return gbose__sqlite_fail(c, "write to the store", err);
    if (!n && sqlite3_exec(c->db, "UPDATE meta SET value = value WHERE name = 'secret'", NULL, NULL, NULL))
        rc = gbose__sqlite_fail(c, "write to the store", err);
    for (size_t i = 0; i < n && !rc; i++) {
        if (i + 1 < n)
            gbose__sqlite_foresee(&changes[i + 1]);
        if (i && changes[i].chained && changes[i - 1].result != GBOSE__DONE) {
            changes[i].result = changes[i - 1].result;
            continue;
        }
        if (changes[i].kind == GBOSE__ADD_GENERATION && !changes[i].of.generation.bandit)
            changes[i].of.generation.bandit = made;
        if (changes[i].kind == GBOSE__LEASE_NUMBERS && !changes[i].of.lease.bandit)
            changes[i].of.lease.bandit = made;
        if (changes[i].kind != GBOSE__ADD_EVENT)
            rc = gbose__sqlite_pending_save(c, err);
        if (!rc)
            rc = gbose__sqlite_apply_one(c, &changes[i], err);
        if (changes[i].kind == GBOSE__PUT_BANDIT)
            made = changes[i].of.bandit.id;
    }
    if (!rc)
        rc = gbose__sqlite_pending_save(c, err);
    if (!rc)
        rc = gbose__sqlite_tally_save(c, err);
    if (!rc)
        rc = gbose__sqlite_texts_save(c, &store->texts, placed, err);
    if (!rc && sqlite3_exec(c->db, "COMMIT", NULL, NULL, NULL))
        rc = gbose__sqlite_fail(c, "write to the store", err);
    if (rc) {
        gbose__sqlite_tally_forget(c);
        gbose__sqlite_pending_forget(c);
        if (!sqlite3_get_autocommit(c->db))
            sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
        return rc;
    }
    gbose__texts_settle(&store->texts, placed);
    for (size_t i = 0; i < n; i++)
        if (changes[i].kind == GBOSE__PASS && store->journal)
            gbose__notes_passed(store->journal, changes[i].of.pass);
    wipe_after(store, changes, n);
    return GBOSE_OK;
}

static int sqlite_note(struct gbose__store *base, struct gbose__batch *batch, gbose_error *err)
{
    return gbose__notes_write(((struct sqlite_store *)base)->journal, batch, err);
}

static int sqlite_view(struct gbose__store *base, struct gbose__view **out, gbose_error *err)
{
    const struct sqlite_store *store = (const struct sqlite_store *)base;

    return gbose__sqlite_view(out, store->path, store->texts.path, err);
}

static int sqlite_backup(struct gbose__store *base, const char *path, gbose_error *err)
{
    const struct sqlite_store *store = (const struct sqlite_store *)base;

    return gbose__sqlite_backup(store->path, store->texts.path, path, err);
}

static void sqlite_close(struct gbose__store *base)
{
    struct sqlite_store *store = (struct sqlite_store *)base;

    tidy(store);
    gbose__sqlite_disconnect(&store->c);
    gbose__notes_free(store->journal);
    gbose__texts_clear(&store->texts);
    if (store->lock >= 0)
        close(store->lock);
    memset(store->secret, 0, sizeof store->secret);
    free(store->path);
    free(store->journal_path);
    free(store);
}

static void pause_briefly(void)
{
    const struct timespec time = {0, PAUSE * 1000000};

    nanosleep(&time, NULL);
}

/* Only one process may write. Another one may have the lock for a moment, to bring a journal into the store: so long it waits. */
static int take_lock(struct sqlite_store *store, const char *dir, int patience, gbose_error *err)
{
    char path[4096];
    int busy;

    if (snprintf(path, sizeof path, "%s/lock", dir) >= (int)sizeof path)
        return gbose__fail(err, GBOSE__ESTORE, "the name of the directory is too long");
    store->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (store->lock < 0)
        return gbose__fail(err, GBOSE__ESTORE, "cannot write %s: %s", path, strerror(errno));
    while ((busy = flock(store->lock, LOCK_EX | LOCK_NB)) && patience > 0) {
        pause_briefly();
        patience -= PAUSE;
    }
    return busy ? gbose__fail(err, GBOSE__EBUSY, "another gbose works on %s", dir) : GBOSE_OK;
}

/* Whoever has the store for itself begins a new journal, when all of the old one is in the store. */
static int begin_journal(struct sqlite_store *store, gbose_error *err)
{
    uint64_t id;
    int rc = gbose__sqlite_replay(&store->c, store->journal_path, err);

    if (!rc && getrandom(&id, sizeof id, 0) != sizeof id)
        rc = gbose__fail(err, GBOSE__ESTORE, "cannot get random bytes from the system");
    if (!rc)
        rc = gbose__sqlite_journal_write_state(&store->c, id, 0, err);
    if (rc)
        return rc;
    store->c.journal = id;
    store->journal = gbose__notes_new(store->journal_path, id);
    return store->journal ? GBOSE_OK : gbose__no_memory(err);
}

/* Beside a server: wait until it has brought into the store what its journal has now. If there is no server, do it in its place. */
static int catch_up(struct sqlite_store *store, const char *dir, gbose_error *err)
{
    uint64_t last = 0, place = 0, id = 0, now = 0;
    int rc = gbose__sqlite_is_behind(&store->c, store->journal_path, &last, err), alone;

    if (rc <= 0)
        return rc;
    rc = gbose__sqlite_journal_state(&store->c, &id, &place, err);
    now = id;
    for (int waited = 0; !rc && now == id && place < last; waited += PAUSE) {
        alone = !take_lock(store, dir, 0, err);
        if (alone)
            rc = gbose__sqlite_replay(&store->c, store->journal_path, err);
        if (store->lock >= 0)
            close(store->lock);
        store->lock = -1;
        if (alone)
            return rc;
        if (waited > PATIENCE)
            return gbose__fail(
                err, GBOSE__EBUSY,
                "the gbose that works on %s has decisions that it cannot write: is the disk full?", dir);
        pause_briefly();
        rc = gbose__sqlite_journal_state(&store->c, &now, &place, err);
    }
    return rc;
}

static int prepare(struct sqlite_store *store, const char *dir, int create, int beside, gbose_error *err)
{
    int64_t version = 0;
    int rc;

    if (create && mkdir(dir, 0700) && errno != EEXIST)
        return gbose__fail(err, GBOSE__ESTORE, "cannot make directory %s: %s", dir, strerror(errno));
    if (!create && access(store->path, F_OK))
        return gbose__fail(err, GBOSE__EABSENT, "there is no store in %s: %s: %s", dir, FILE_NAME,
                           strerror(errno));
    rc = beside ? GBOSE_OK : take_lock(store, dir, BRIEFLY, err);
    /* Reading a write-ahead log that nobody has open needs to write its index: read-only is a promise, not
     * a flag. */
    if (!rc)
        rc = gbose__sqlite_connect(&store->c, store->path,
                                   SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0), err);
    if (!rc)
        rc = check(&store->c, store->path, &version, err);
    if (!rc && beside && !create && version != VERSION)
        return gbose__fail(err, GBOSE_EVERSION, "%s is of an older version: start gbose serve on it once",
                           dir);
    if (!rc && (!beside || create) &&
        sqlite3_exec(
            store->c.db,
            "PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
            "PRAGMA wal_autocheckpoint = 250;" /* 4 MB: who waits for it waits a few milliseconds */
            "PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -8192; PRAGMA secure_delete = FAST",
            NULL, NULL, NULL))
        rc = gbose__sqlite_fail(&store->c, "open the store", err);
    if (!rc)
        rc = migrate(&store->c, version, err);
    if (!rc)
        rc = beside ? catch_up(store, dir, err) : begin_journal(store, err);
    if (!rc && !beside)
        rc = gbose__sqlite_texts_begin(&store->c, &store->texts, err);
    if (!rc && !beside) { /* what somebody left behind who was killed */
        store->has_holes = store->was_erased = 1;
        tidy(store);
    }
    return rc ? rc : read_secret(store, err);
}

int gbose__sqlite_open(struct gbose__store **out, const char *dir, int create, int beside, gbose_error *err)
{
    struct sqlite_store *store = calloc(1, sizeof *store);
    size_t size = strlen(dir) + sizeof FILE_NAME + sizeof JOURNAL_NAME + sizeof TEXTS_NAME;
    int rc;

    if (!store)
        return gbose__no_memory(err);
    store->lock = -1;
    store->path = malloc(size);
    store->journal_path = malloc(size);
    if (!store->path || !store->journal_path) {
        free(store->path);
        free(store->journal_path);
        free(store);
        return gbose__no_memory(err);
    }
    snprintf(store->path, size, "%s/%s", dir, TEXTS_NAME);
    rc = gbose__texts_init(&store->texts, store->path) ? gbose__no_memory(err) : GBOSE_OK;
    snprintf(store->path, size, "%s/%s", dir, FILE_NAME);
    snprintf(store->journal_path, size, "%s/%s", dir, JOURNAL_NAME);
    if (!rc)
        rc = prepare(store, dir, create, beside, err);
    if (rc) {
        sqlite_close(&store->base);
        return rc;
    }
    store->base.close = sqlite_close;
    store->base.apply = sqlite_apply;
    store->base.note = beside ? NULL : sqlite_note;
    store->base.tidy = beside ? NULL : sqlite_tidy;
    store->base.view = sqlite_view;
    store->base.backup = sqlite_backup;
    store->base.secret = store->secret;
    store->base.packs = 1;
    *out = &store->base;
    return GBOSE_OK;
}
