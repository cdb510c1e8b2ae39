/* What the files of the PostgreSQL store share: connections that never wait for ever, parameters, results. */
#ifndef GBOSE_STORE_POSTGRES_INNER_H
#define GBOSE_STORE_POSTGRES_INNER_H

#include <libpq-fe.h>
#include <stdatomic.h>

#include "store/sum.h"

/* A transaction met another one, and must be made again from its beginning. Never leaves the store. */
#define GBOSE__PG_AGAIN (-199)

/* Bytes that grow: array literals, rows of a COPY. A failed allocation is remembered in `bad`. */
struct gbose__pg_bytes {
    char *at;
    size_t size, capacity;
    int bad;
};
void gbose__pg_clear(struct gbose__pg_bytes *b);

/* Elements of an array parameter: "{1,2}" for whole numbers, and so on. Close it with gbose__pg_close(). */
void gbose__pg_add_int(struct gbose__pg_bytes *b, int64_t x);
void gbose__pg_add_double(struct gbose__pg_bytes *b, double x);
void gbose__pg_add_blob(struct gbose__pg_bytes *b, const void *bytes, size_t size);
const char *gbose__pg_close(struct gbose__pg_bytes *b); /* the literal; "{}" if nothing was added */

/* Rows of a binary COPY. */
void gbose__pg_row(struct gbose__pg_bytes *b, int fields);
void gbose__pg_field_int2(struct gbose__pg_bytes *b, int16_t x);
void gbose__pg_field_int4(struct gbose__pg_bytes *b, int32_t x);
void gbose__pg_field_int8(struct gbose__pg_bytes *b, int64_t x);
void gbose__pg_field_bool(struct gbose__pg_bytes *b, int x);
void gbose__pg_field_double(struct gbose__pg_bytes *b, double x);
void gbose__pg_field_bytes(struct gbose__pg_bytes *b, const void *bytes, size_t size); /* NULL: null */

/* Where the database is, for all connections of a store. */
struct gbose__pg_home {
    char *url;
    int patience;    /* milliseconds that an answer may take */
    atomic_int away; /* it cannot be reached: only those who look for it try */
    /* PostgreSQL's timeline: it grows when a standby takes the place of the database, which may not have what was last
     * written to that one. Nothing is written to another one than the trainer knows of. 0: not known. */
    atomic_uint history, renewed; /* of the one we know; and of one that was found in its place */
    /* The version of a store that was migrated while we were at work: nothing is written to it. 0: it was not. */
    atomic_int foreign;
};

#define GBOSE__PG_STATEMENTS 96

struct gbose__pg {
    struct gbose__pg_home *home;
    PGconn *conn;       /* NULL: not connected */
    int64_t pid, since; /* of its session, where it seeks: process and start */
    int patience;       /* milliseconds, if another one than its home's; 0: not */
    int seeks;          /* it tries to connect even when the database is away */
    int adopts;         /* it may connect to a database that has taken the place of the one we know */
    int warned;         /* the database has warned of something since this was 0 */
    unsigned history;   /* of the database it is connected to; 0: not known, or a standby */
    int64_t sought;     /* when it last tried in vain; milliseconds of a monotonic clock */
    const char *prepared[GBOSE__PG_STATEMENTS];
    int n_prepared;
};

int64_t gbose__pg_clock(void); /* milliseconds, monotonic */

/* GBOSE_EINVAL: libpq could not make anything of it. */
int gbose__pg_check_url(const char *url, gbose_error *err);

/* Be connected: GBOSE_OK, or GBOSE__EAWAY or another error. */
int gbose__pg_connect(struct gbose__pg *c, gbose_error *err);
void gbose__pg_disconnect(struct gbose__pg *c);

/* Parameters of a statement. Texts and bytes are borrowed until it has been sent. */
struct gbose__pg_args {
    int n;
    const char *value[16];
    int length[16], format[16];
    char number[16][24];
};
void gbose__pg_arg_int(struct gbose__pg_args *a, int64_t x);
void gbose__pg_arg_text(struct gbose__pg_args *a, const char *text); /* NULL: null */
void gbose__pg_arg_bytes(struct gbose__pg_args *a, const void *bytes, size_t size);

/* Run a statement, prepared when it is first used: `sql` must be a constant. Results are binary. GBOSE_OK
 * with *out to be cleared by PQclear() (out may be NULL), or an error. After GBOSE__EAWAY the connection is
 * closed. */
int gbose__pg_query(struct gbose__pg *c, const char *sql, const struct gbose__pg_args *args, PGresult **out,
                    gbose_error *err);
/* The same with whole numbers as parameters: GBOSE__PG_WITH(sql, out, 1, 2, 3), where c and err are. */
int gbose__pg_query_ints(struct gbose__pg *c, const char *sql, int n, const int64_t *numbers, PGresult **out,
                         gbose_error *err);
#define GBOSE__PG_WITH(sql, out, ...)                                                                        \
    gbose__pg_query_ints(c, sql, (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),                  \
                         (int64_t[]){__VA_ARGS__}, out, err)
/* Several statements, sent together and answered together: one way to the database and back. GBOSE_OK with a result in each, to be
 * cleared by gbose__pg_batch_clear(); or the error of the first that failed, after which none of the later ones was run. */
struct gbose__pg_batch {
    int n;
    const char *sql[8];
    struct gbose__pg_args args[8];
    PGresult *result[8];
};
struct gbose__pg_args *gbose__pg_batch_add(struct gbose__pg_batch *batch, const char *sql);
int gbose__pg_batch_run(struct gbose__pg *c, struct gbose__pg_batch *batch, gbose_error *err);
void gbose__pg_batch_clear(struct gbose__pg_batch *batch);
/* Several statements without parameters. The result is the last one's, in text. */
int gbose__pg_exec(struct gbose__pg *c, const char *sql, PGresult **out, gbose_error *err);
/* COPY ... FROM STDIN (FORMAT binary) of rows that were put together before. */
int gbose__pg_copy(struct gbose__pg *c, const char *sql, const struct gbose__pg_bytes *rows,
                   gbose_error *err);

/* Rows that the last statement changed. */
uint64_t gbose__pg_changed(const PGresult *r);
int64_t gbose__pg_int(const PGresult *r, int row, int column); /* of 2, 4 or 8 bytes, or a boolean */
double gbose__pg_double(const PGresult *r, int row, int column);
const char *gbose__pg_text(const PGresult *r, int row, int column); /* NULL: null */
const void *gbose__pg_blob(const PGresult *r, int row, int column, size_t *size);

int gbose__pg_damaged(const char *what, gbose_error *err);
int gbose__pg_foreign(const struct gbose__pg_home *home, gbose_error *err); /* GBOSE__EAWAY if it is */

/* ---- the schema (postgres_schema.c) ---- */

#define GBOSE__PG_VERSION 3

int gbose__pg_home_init(struct gbose__pg_home *home, const char *url, gbose_error *err);
/* Go by the history of the database that c is connected to from now on. With `lease`, numbers that may have been given away in
 * an earlier one are passed over. */
int gbose__pg_history_adopt(struct gbose__pg *c, int lease, gbose_error *err);
/* The version of the schema; 0 if there is none. One that is newer or strange is an error. */
int gbose__pg_schema_version(struct gbose__pg *c, int *version, gbose_error *err);
/* Bring it to the present version; `make`: also from nothing. *from is what it was. */
int gbose__pg_schema_make(struct gbose__pg *c, int make, int *from, gbose_error *err);

/* ---- the store ---- */

struct gbose__pg_tally;
struct gbose__pg_open;

struct gbose__pg_store {
    struct gbose__store base;
    struct gbose__pg_home home;
    struct gbose__pg writer, keeper; /* the writer's connection, and the trainer's */
    unsigned char secret[32];
    atomic_uint stream; /* leased by this server; 0: none yet */
    int64_t token;      /* by which it knows its lease again */
    int32_t *day;       /* that have partitions, as far as the writer knows */
    size_t n_days;
    uint64_t *led; /* bandits whose lock this session holds, a bit each */
    size_t led_words;
    /* Transactions are numbered, and each leaves its number in `done`: so it can be asked for when its commit was not answered.
     * (By PostgreSQL's own id it cannot: after a crash that may be given to another one.) */
    uint64_t group;
    int doubt; /* the last one may have happened; it was made by this session: */
    int64_t doubt_pid, doubt_since;
};

/* Two kinds of gates (postgres_run.c): at the beginning of a transaction that rewards or erases, and before the end of one that
 * rewards or closes. */
enum gbose__pg_gate { GBOSE__PG_ERASING, GBOSE__PG_CLOSING, GBOSE__PG_GATES };

/* One transaction of the writer, while it is made. */
struct gbose__pg_group {
    struct gbose__pg_store *store;
    struct gbose__pg *c;
    struct gbose__pg_tally *tally; /* by bandit: what it adds to the counts */
    size_t n_tally;
    const struct gbose__change *changes; /* all of them */
    size_t n;
    struct gbose__pg_open *open; /* events that were added, and are in no run yet */
    size_t n_open, open_capacity;
    struct gbose__pg_bytes run[5]; /* arrays of the columns of `pending` */
    /* Of what was closed: events that had been activated, and all that were not found by their runs */
    struct gbose__pg_bytes activated, closed;
    struct {
        struct gbose__pg_bytes which, alone; /* arrays: gates, and is each passed alone? */
        int passed;
    } gate[GBOSE__PG_GATES];
};
struct gbose__pg_tally {
    uint32_t bandit;
    int there;        /* the bandit is in the store */
    int64_t count[7]; /* events, pending, rewarded, defaulted, unused, rewards, late: to be added */
    uint64_t used;    /* the first number after those of events that were added; 0: none were */
};
enum {
    GBOSE__PG_EVENTS,
    GBOSE__PG_PENDING,
    GBOSE__PG_REWARDED,
    GBOSE__PG_DEFAULTED,
    GBOSE__PG_UNUSED,
    GBOSE__PG_REWARDS,
    GBOSE__PG_LATE,
    GBOSE__PG_COUNTS
};

/* The counts of a bandit in this transaction. NULL: no memory. */
struct gbose__pg_tally *gbose__pg_tally_of(struct gbose__pg_group *g, uint32_t bandit, gbose_error *err);

static inline int32_t gbose__pg_day(int64_t time)
{
    return (int32_t)(time / 86400000);
}

/* Which of the bandits of these changes are not known to be there: an array of their ids, empty if there are none. What the
 * statement of that name says of them is then taken in. */
int gbose__pg_bandits_asked(struct gbose__pg_group *g, const struct gbose__change *changes, size_t n,
                            struct gbose__pg_bytes *ids, gbose_error *err);
extern const char gbose__pg_bandits_sql[];
void gbose__pg_bandits_found(struct gbose__pg_group *g, const PGresult *r);

/* ---- runs of events, and gates (postgres_run.c) ---- */

/* An event was added. Its row of `pending` waits for the end of the transaction, unless something before it needs it. */
int gbose__pg_open_add(struct gbose__pg_group *g, const struct gbose__event_row *row, gbose_error *err);
int gbose__pg_runs_add(struct gbose__pg_group *g, struct gbose__pg_batch *batch, gbose_error *err);
int gbose__pg_runs_write(struct gbose__pg_group *g, gbose_error *err);
/* Pass the gates of a kind that this group needs, unless it has: before the statements that depend on it. */
int gbose__pg_gate_add(struct gbose__pg_group *g, enum gbose__pg_gate gate, struct gbose__pg_batch *batch,
                       gbose_error *err);
/* What was kept of events while they were open goes at the end (postgres_close.c). */
int gbose__pg_forget_add(struct gbose__pg_group *g, struct gbose__pg_batch *batch, gbose_error *err);
void gbose__pg_group_clear(struct gbose__pg_group *g);
/* The day of event `key` by its run: a table of one row, or of none. */
#define GBOSE__PG_DAY_OF(key)                                                                                \
    "(SELECT day FROM (SELECT first, day FROM pending WHERE last >= " key                                    \
    " ORDER BY last LIMIT 1) AS next WHERE first <= " key ")"

/* Decisions, rewards and activations, all at once (postgres_event.c). */
int gbose__pg_apply_events(struct gbose__pg_group *g, struct gbose__change *changes, size_t n,
                           gbose_error *err);
/* One change of another kind: postgres_event.c, postgres_bandit.c, postgres_erase.c. */
typedef int gbose__pg_change(struct gbose__pg_group *g, struct gbose__change *change, gbose_error *err);
gbose__pg_change gbose__pg_close_due, gbose__pg_lease_numbers;
gbose__pg_change gbose__pg_put_bandit, gbose__pg_drop_bandit, gbose__pg_add_generation,
    gbose__pg_drop_generation, gbose__pg_set_ready, gbose__pg_want_generation, gbose__pg_add_snapshot,
    gbose__pg_add_key, gbose__pg_drop_key;
gbose__pg_change gbose__pg_erase_unit, gbose__pg_retain;

/* Partitions of these days are there, or are made now: outside of a transaction. */
int gbose__pg_make_days(struct gbose__pg *c, const int32_t *day, size_t n, gbose_error *err);
int gbose__pg_tend(struct gbose__store *store, gbose_error *err);

/* A new view (postgres_read.c), and what a fleet does (postgres_fleet.c). */
int gbose__pg_view(struct gbose__store *store, struct gbose__view **out, gbose_error *err);
extern const struct gbose__fleet gbose__pg_fleet;
int gbose__pg_settle(struct gbose__store *store, int *happened, gbose_error *err);

#endif
