/* A store: everything that the service must not lose.
 *
 * This header is the contract. sqlite.c keeps it for one process, postgres.c for many that work on the same
 * store at once; what they need beside is in struct gbose__fleet.
 *
 * What is in a store. A *bandit* has settings and numbered *generations* (a spec, a schema, snapshots of
 * what was learned). A decision is an *event*: never changed once written, named by its bandit and its
 * decision number. A *reward* belongs to an event. An event is *pending* until it is closed, at its
 * deadline or by a final reward; closing writes an *outcome*. A bandit's outcomes are numbered 1, 2, 3,
 * ... in the order in which they were written, and a generation learns them in that order. A snapshot says
 * how many it has learned, so each is learned exactly once, whatever dies when.
 *
 * Writing. All writing goes through apply(): a group of changes, one transaction. When it returns GBOSE_OK
 * all of them are on the disk, and each says in `result` what became of it. When it fails, none of them
 * has happened. Only one thread may write.
 *
 * Reading. Each thread that reads opens a view of its own. A view sees whole transactions.
 *
 * Times are milliseconds since 1970. What a visitor is shown is borrowed for the call; a visitor that
 * returns non-zero ends the reading, and that number is returned. */
#ifndef GBOSE_STORE_STORE_H
#define GBOSE_STORE_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "gbose.h"

/* What can go wrong, beside the codes of gbose.h. Every one comes with a sentence in gbose_error. */
enum {
    GBOSE__ESTORE = -121,   /* the disk or the database failed; nothing was changed */
    GBOSE__ECORRUPT = -122, /* bytes are not those that were written */
    GBOSE__EBUSY = -123,    /* another process works on this store */
    GBOSE__EABSENT = -124,  /* there is no such thing */
    GBOSE__EAWAY = -125,    /* the database cannot be reached; nothing was changed, and it may be back soon */
    GBOSE__EDOUBT = -126,   /* it went away while it committed: see settle() of struct gbose__fleet */
};

#define GBOSE__MAX_NUMBER ((UINT64_C(1) << 40) - 1) /* decisions of a bandit */
#define GBOSE__MAX_BANDITS ((UINT32_C(1) << 23) - 1)
#define GBOSE__UNIT_SIZE 16 /* bytes of the keyed hash of a unit's name */
#define GBOSE__HASH_SIZE 32 /* bytes of the hash of a key */

enum gbose__aggregate { GBOSE__FIRST, GBOSE__LAST, GBOSE__SUM, GBOSE__MEAN, GBOSE__MAX };

/* Why an event was closed as it was. */
enum gbose__why {
    GBOSE__REWARDED = 1, /* with the rewards that had come */
    GBOSE__DEFAULTED,    /* none had come: the default reward */
    GBOSE__UNUSED        /* deferred and never activated: it is not learned */
};

/* Flags of an event. Bits from 8 to 27 hold what `cap` was when it was decided, in millionths; 0: there was none. */
enum {
    GBOSE__DEFERRED = 1, /* must be activated */
    GBOSE__CALLERS = 2,  /* the caller chose the arm */
    GBOSE__CAP_SHIFT = 8
};

struct gbose__bandit_row {
    uint32_t id; /* given by the store, from 1; never used again */
    const char *name;
    const char *settings; /* JSON, not read by the store */
    uint32_t active;      /* generation */
    int64_t created;
};

struct gbose__generation_row {
    uint32_t bandit, number;
    const char *spec;
    const char *schema; /* NULL: contexts come as rows */
    uint32_t dim, n_round;
    int ready; /* 0: it is still learning the log */
    int64_t created;
    int wanted; /* it is to be activated when it has learned what there is */
};

/* What a generation knew after `learned` outcomes. */
struct gbose__snapshot_row {
    uint32_t bandit, generation;
    uint64_t learned;
    const void *bytes; /* of gbose_save() */
    size_t size;
    int keep;         /* not to be replaced by the next one */
    unsigned history; /* of which outcomes: see history() of struct gbose__fleet; 0: whichever */
};

struct gbose__event_row {
    uint32_t bandit;
    uint64_t number;
    const char *name; /* the caller's own, or NULL */
    int64_t time, deadline;
    uint32_t generation; /* that decided, having learned `learned` outcomes */
    uint64_t learned;
    unsigned flags;
    uint32_t arm, n_arms;
    const double *pmf;    /* n_arms, of the arm that was played */
    const double *shadow; /* n_arms, of the learner where the caller chose; else NULL */
    const void *unit;     /* GBOSE__UNIT_SIZE bytes, or NULL */
    const char *body;     /* JSON: what was known when it was decided */
    size_t body_size;
    const void *
        packed; /* only written: the same by gbose__pack(), for a store that `packs` and an event without a name;
                           `body` is then not looked at. Else NULL */
    size_t packed_size;
    int64_t sum;   /* only written: the checksum of such an event, if it is known; else 0 */
    int64_t place; /* the store's own: where its text is, if not in the row (texts.h) */
    int activated;
};

struct gbose__reward_row {
    const char *id; /* "" when the caller gave none */
    double value;
    int64_t time;
    int late;
};

struct gbose__outcome_row {
    uint32_t bandit;
    uint64_t number; /* in the order of closing */
    uint64_t event;
    double reward;
    enum gbose__why why;
    int64_t time;
};

struct gbose__key_row {
    const char *id;
    const unsigned char *hash; /* GBOSE__HASH_SIZE */
    unsigned roles;
    const char *bandit; /* name, or NULL: all of them */
    const char *note;
    int64_t created;
};

/* ---- writing
 * ---------------------------------------------------------------------------------------------- */

enum gbose__change_kind {
    GBOSE__PUT_BANDIT = 1, /* bandit: a new one if id is 0 (it is set), else its settings (NULL: as they
                              are) and its active generation (0: as it is) */
    GBOSE__DROP_BANDIT,    /* bandit.id and all that belongs to it */
    GBOSE__ADD_GENERATION, /* generation; bandit 0 is the one of the PUT_BANDIT before it in the group. CONFLICT: its number
                              is taken */
    GBOSE__SET_READY,       /* bandit and number of generation; it is not wanted any more */
    GBOSE__WANT_GENERATION, /* the same: it is wanted, and no other one of the bandit. Number 0: none is */
    GBOSE__DROP_GENERATION,
    GBOSE__ADD_SNAPSHOT,   /* snapshot; earlier ones of the generation go, but those to be kept */
    GBOSE__LEASE_NUMBERS,  /* lease; bandit 0 as above */
    GBOSE__ADD_EVENT,      /* event */
    GBOSE__ADD_REWARD,     /* reward of an event, see struct gbose__reward_change */
    GBOSE__ACTIVATE_EVENT, /* the same, without the reward */
    GBOSE__CLOSE_DUE,      /* close */
    GBOSE__ERASE_UNIT, /* erase: events of a unit, their rewards and outcomes; and all snapshots of the bandit */
    GBOSE__RETAIN, /* erase: events closed before a time, up to a snapshot of every generation that is active, learning or
                      wanted; and snapshots that are of no use then. One that rests may miss events afterwards */
    GBOSE__ADD_KEY,
    GBOSE__DROP_KEY,
    GBOSE__PASS /* pass: events of the journal up to that place are in the store, or need not be */
};

enum gbose__result {
    GBOSE__DONE = 0,
    GBOSE__REPEATED, /* it was there before, just so; nothing changed */
    GBOSE__CONFLICT, /* something else of that name is there; nothing changed */
    GBOSE__MISSING   /* it refers to something that is not there; nothing changed */
};

/* An event is meant by its number or, if `name` is not NULL, by the caller's name. */
struct gbose__reward_change {
    uint32_t bandit;
    uint64_t number; /* set, if the event was meant by name */
    const char *name;
    const char *id; /* of the reward */
    double value;
    int no_value; /* only close */
    int final;
    int64_t now;
    enum gbose__aggregate aggregate; /* for closing */
    double default_reward;
    int late;   /* set: it came after the event's deadline or closing */
    int closed; /* set: this closed the event */
};

struct gbose__close_change {
    uint32_t bandit;
    int64_t now;
    size_t most; /* close at most so many */
    enum gbose__aggregate aggregate;
    double default_reward;
    size_t closed; /* set */
    int64_t next;  /* set: the earliest deadline of those that are pending; INT64_MAX: there are none */
};

/* Decision numbers that nobody else is given, ever: first, first + 1, ... */
struct gbose__lease_change {
    uint32_t bandit;
    uint64_t n;
    uint64_t first; /* set */
};

struct gbose__erase_change {
    uint32_t bandit;
    const void *unit; /* of ERASE_UNIT */
    int64_t before;   /* of RETAIN */
    size_t most;      /* of RETAIN: at most so many outcomes are looked at */
    uint64_t erased;  /* set */
};

struct gbose__change {
    enum gbose__change_kind kind;
    int chained; /* only if the change before it in the group was done; else it has the same result */
    enum gbose__result result; /* set */
    union {
        struct gbose__bandit_row bandit;
        struct gbose__generation_row generation;
        struct gbose__snapshot_row snapshot;
        struct gbose__event_row event; /* number is set if the result is REPEATED or CONFLICT */
        struct gbose__reward_change reward;
        struct gbose__close_change close;
        struct gbose__lease_change lease;
        struct gbose__erase_change erase;
        struct gbose__key_row key;
        uint64_t pass;
    } of;
};

/* Events that are safe before they are in the store, see note() of struct gbose__store. To begin with it is all 0. */
struct gbose__batch {
    unsigned char *bytes; /* as they are on the disk (batch.c) */
    size_t size, capacity, n;
    uint64_t sum;
    uint64_t last;                /* place of the last event, set by note(); 0: it has none yet */
    struct gbose__change *change; /* n events to be added, in their order, set by gbose__batch_open() */
    size_t change_capacity;
};
void gbose__batch_begin(struct gbose__batch *batch); /* without events; memory is kept */
/* The event is copied; it is packed and has no name. 0, or there is no memory, and the batch is as it was. */
int gbose__batch_add(struct gbose__batch *batch, const struct gbose__event_row *row);
/* The changes that add its events. They point into the batch. 0, or there is no memory. */
int gbose__batch_open(struct gbose__batch *batch);
void gbose__batch_clear(struct gbose__batch *batch);

/* ---- reading
 * ---------------------------------------------------------------------------------------------- */

struct gbose__view;

/* Counts since the bandit was made; what was erased since is still in them, but for `pending`. */
struct gbose__counts {
    uint64_t events, pending, rewarded, defaulted, unused, rewards, late;
    uint64_t next_number; /* the first decision number that was never used */
    uint64_t outcomes;    /* the number of the last outcome */
    uint64_t dropped;     /* outcomes up to this one were dropped by RETAIN: snapshots stand for them */
};

/* An event as a whole; outcome is NULL while it is pending. */
struct gbose__case {
    const struct gbose__event_row *event;
    const struct gbose__outcome_row *outcome;
    const struct gbose__reward_row *rewards;
    size_t n_rewards;
};

typedef int gbose__bandit_visit(void *context, const struct gbose__bandit_row *row);
typedef int gbose__generation_visit(void *context, const struct gbose__generation_row *row);
typedef int gbose__snapshot_visit(void *context, const struct gbose__snapshot_row *row);
typedef int gbose__case_visit(void *context, const struct gbose__case *it);
struct gbose__server_row {
    uint32_t stream;
    const char *name, *report;
    int64_t started, silent; /* when it started; milliseconds since it was last heard */
};
typedef int gbose__server_visit(void *context, const struct gbose__server_row *row);
typedef int gbose__key_visit(void *context, const struct gbose__key_row *row);

struct gbose__store {
    void (*close)(struct gbose__store *store); /* NULL is not allowed */
    /* All changes or none. No changes at all are a transaction too: can anything be written? */
    int (*apply)(struct gbose__store *store, struct gbose__change *changes, size_t n, gbose_error *err);
    /* Keep events on the disk until they are in the store: NULL where there is no journal for that. One thread may do so while
     * another applies. GBOSE_OK: they will not be lost. Their changes must be applied soon, in the order of their places (n events,
     * the last at batch->last), and with them or after them PASS. Until that is done others, who open the store, wait. Not
     * GBOSE_OK: apply their changes instead, and PASS with them. */
    int (*note)(struct gbose__store *store, struct gbose__batch *batch, gbose_error *err);
    /* Wipe what had to stay while somebody read the store as it was. Called again and again by the thread that applies. NULL: there is
     * never anything. */
    void (*tidy)(struct gbose__store *store);
    int (*view)(struct gbose__store *store, struct gbose__view **out, gbose_error *err);
    /* A copy of the whole store, as it is at one moment, into a new file. Any thread. */
    int (*backup)(struct gbose__store *store, const char *path, gbose_error *err);
    /* 32 random bytes, made with the store: keys of its hashes. Never leave the process. */
    const unsigned char *secret;
    const struct gbose__fleet *fleet; /* NULL: only one process works on it at a time */
    int packs;                        /* texts of events are stored packed (pack.h) */
};

struct gbose__view {
    void (*close)(struct gbose__view *view);
    int (*bandits)(struct gbose__view *view, gbose__bandit_visit *visit, void *context, gbose_error *err);
    int (*generations)(struct gbose__view *view, uint32_t bandit, gbose__generation_visit *visit,
                       void *context, gbose_error *err);
    /* The newest snapshot of a generation with learned <= most. GBOSE__EABSENT if there is none. */
    int (*snapshot)(struct gbose__view *view, uint32_t bandit, uint32_t generation, uint64_t most,
                    gbose__snapshot_visit *visit, void *context, gbose_error *err);
    /* One event by number or, if name is not NULL, by name. GBOSE__EABSENT. */
    int (*event)(struct gbose__view *view, uint32_t bandit, uint64_t number, const char *name,
                 gbose__case_visit *visit, void *context, gbose_error *err);
    /* Closed events in the order of closing, outcomes after..upto, at most `most` of them; without
     * rewards. */
    int (*outcomes)(struct gbose__view *view, uint32_t bandit, uint64_t after, uint64_t upto, size_t most,
                    gbose__case_visit *visit, void *context, gbose_error *err);
    /* Events in the order of decision, numbers from..; descending if `newest`. At most `most`. */
    int (*events)(struct gbose__view *view, uint32_t bandit, uint64_t from, size_t most, int newest,
                  gbose__case_visit *visit, void *context, gbose_error *err);
    int (*counts)(struct gbose__view *view, uint32_t bandit, struct gbose__counts *out, gbose_error *err);
    int (*keys)(struct gbose__view *view, gbose__key_visit *visit, void *context, gbose_error *err);
    /* Servers that work on the store, in the order of their streams. NULL where there is only one. */
    int (*servers)(struct gbose__view *view, gbose__server_visit *visit, void *context, gbose_error *err);
};

/* ---- many servers
 * ----------------------------------------------------------------------------------------- */

/* What is new about a bandit. */
struct gbose__news_row {
    uint32_t bandit;
    uint64_t outcomes;   /* the number of the last one */
    int64_t due;         /* the earliest deadline of a pending event; INT64_MAX: there is none */
    uint32_t generation; /* of which there is a published model (0: none), after `learned` outcomes */
    uint64_t learned;
};
typedef int gbose__news_visit(void *context, const struct gbose__news_row *row);

/* What servers on one store do to work as one. All of it is called by one thread of a server, its trainer's,
 * but settle(), which is the writer's. */
struct gbose__fleet {
    /* Say that this server lives; often, since it is forgotten after GBOSE__FORGOTTEN. The first time it
     * leases a stream number, which no server that lives has. `report` is JSON for people. */
    int (*beat)(struct gbose__store *store, const char *name, const char *report, uint32_t *stream,
                gbose_error *err);
    /* Is this server the one that trains the bandit and closes its events? It tries to become it. *leads
     * is 0 or 1. */
    int (*lead)(struct gbose__store *store, uint32_t bandit, int *leads, gbose_error *err);
    /* Show others what was learned, and tell them. An older model than the published one is ignored, and
     * so is one of a generation that is not there. */
    int (*publish)(struct gbose__store *store, const struct gbose__snapshot_row *row, gbose_error *err);
    /* The published model of a generation. GBOSE__EABSENT. */
    int (*published)(struct gbose__store *store, uint32_t bandit, uint32_t generation,
                     gbose__snapshot_visit *visit, void *context, gbose_error *err);
    /* What is new; *version changes with every change to bandits, generations and keys. */
    int (*news)(struct gbose__store *store, uint64_t *version, gbose__news_visit *visit, void *context,
                gbose_error *err);
    /* Has somebody published something? Does not wait. */
    int (*told)(struct gbose__store *store);
    /* Make room for the days to come, and let go of days that nothing is left of. */
    int (*tend)(struct gbose__store *store, gbose_error *err);
    /* After GBOSE__EDOUBT: did that group happen? GBOSE_OK with *happened, or GBOSE__EAWAY: not known yet. */
    int (*settle)(struct gbose__store *store, int *happened, gbose_error *err);
    /* A standby that takes the place of the database may not have what was last written: outcomes go back, and others get their
     * numbers. Each database has a number of its own. If *renewed, there is another one, which nothing is written to until
     * adopt(): by then everything that was learned from the one before must be forgotten. */
    unsigned (*history)(struct gbose__store *store, int *renewed);
    int (*adopt)(struct gbose__store *store, gbose_error *err);
};
#define GBOSE__FORGOTTEN 15000 /* milliseconds */

/* ---- constructors
 * ----------------------------------------------------------------------------------------- */

/* A store in the file DIR/gbose.sqlite3, with what it keeps beside it; DIR is made if it is not there and `create` is set. A process
 * that writes keeps the store to itself until it closes it (GBOSE__EBUSY for others). With `beside` it is
 * opened whoever has it, for reading, backups, and changes to keys alone. A file that is damaged, or of a
 * newer version, is refused with a sentence. */
int gbose__sqlite_open(struct gbose__store **out, const char *dir, int create, int beside, gbose_error *err);

/* A store in the schema `gbose` of a PostgreSQL database, by any connection string of libpq that begins with
 * postgresql:// or postgres://. With `create` the schema is made if it is not there. One of an older version
 * is refused (gbose__postgres_migrate() brings it up to date), and one of a newer version too. */
int gbose__postgres_open(struct gbose__store **out, const char *url, int create, int beside,
                         gbose_error *err);
/* Bring the schema to the present version; `make`: also from nothing. *from and *to are set. */
int gbose__postgres_migrate(const char *url, int make, int *from, int *to, gbose_error *err);

/* Either, by the look of the name; GBOSE_EINVAL if this program was built without the kind. */
int gbose__store_open(struct gbose__store **out, const char *where, int create, int beside, gbose_error *err);
int gbose__store_is_postgres(const char *where);
/* The name without its password, for people. */
void gbose__store_name(char *out, size_t size, const char *where);

#endif
