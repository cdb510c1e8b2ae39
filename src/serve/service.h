/* What the files of the service share.
 *
 *     loops (http.c)  --  routes  --  decide from a model, which is never changed once it is published
 *         |                  |
 *         |               noter   --  keeps decisions in the store's journal, and leaves them to the writer
 *         |                  |
 *         |               writer  --  the only one that changes the store; groups everything that is queued
 *         |                  |
 *         answers         trainer --  learns closed events in their order, and publishes new models
 *
 * Locks. registry.lock guards the list of bandits; a bandit's lock guards its settings, its generations
 * and which model each has. A lock is held for a few assignments, never while anything is computed, read
 * or written. Whoever uses a bandit or a model holds a reference to it. */
#ifndef GBOSE_SERVE_SERVICE_H
#define GBOSE_SERVE_SERVICE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "gbose.h"
#include "gbose_schema.h"
#include "serve/document.h"
#include "serve/fields.h"
#include "serve/http.h"
#include "serve/text.h"
#include "store/store.h"

#define GBOSE__MAX_ARMS 1000
#define GBOSE__MAX_BATCH 1000
#define GBOSE__MAX_NAME 256 /* bytes of an event's, an arm's or a reward's name */
#define GBOSE__MAX_BANDIT_NAME 64
#define GBOSE__MAX_DIM 2000
#define GBOSE__KEPT_GENERATIONS 8
#define GBOSE__CHECKPOINT 1024 /* outcomes between two stored snapshots */
/* Changes that the disk may be behind: after that, relaxed answers wait for it too. */
#define GBOSE__MOST_BEHIND 8192

#define GBOSE__MOST_BRIEF                                                                                    \
    32 /* events of a job for the journal: more are as well off in a transaction of their own */

struct gbose__service;
struct gbose__monitor;

/* ---- settings of a bandit (settings.c) ---- */

enum gbose__mode { GBOSE__ONLINE, GBOSE__APPRENTICE, GBOSE__LOG_ONLY };

struct gbose__settings {
    int64_t wait; /* milliseconds */
    double default_reward;
    enum gbose__aggregate aggregate;
    enum gbose__mode mode;
    int relaxed;                        /* answers are sent before the event is on the disk */
    int fallback;                       /* play the base arm, whatever the learner says */
    char base_arm[GBOSE__MAX_NAME + 1]; /* "": the first one of the request */
    double cap;                         /* on the probability of an arm, whole millionths; 1: none */
    int64_t retention;                  /* milliseconds; 0: for ever */
};

/* ---- what turns requests into contexts, and decides (model.c) ---- */

struct gbose__encoder {
    atomic_int references;
    size_t dim, n_round;
    gbose_schema *schema; /* NULL: contexts come as rows */
};

/* A learner that does not change. */
struct gbose__model {
    atomic_int references;
    uint32_t generation;
    uint64_t learned;
    struct gbose__encoder *encoder;
    gbose *g;
};

struct gbose__generation {
    struct gbose__generation *next;
    uint32_t number;
    char *spec, *schema; /* canonical; schema may be NULL */
    struct gbose__encoder *encoder;
    int64_t created;
    atomic_int ready; /* it has learned the log once */
    atomic_int
        wanted; /* 1: to be activated when it has caught up; 2: the writer is about to say that it is ready */
    int dropped;                   /* to be freed by the trainer */
    int stale;                     /* its model is to be replaced even by one that has learned less */
    struct gbose__model *model;    /* NULL until the trainer has published one */
    atomic_uint_fast64_t progress; /* outcomes learned, for people */
    /* The trainer's own: */
    gbose *learning;
    uint64_t learned, checkpoint; /* last outcome learned; and when the last snapshot was taken */
    uint64_t known;               /* outcomes that it knows all of: the last ones may have been erased */
    int64_t published;            /* when, on the monotonic clock */
    uint64_t shown;               /* what other servers have been shown: outcomes learned, plus one */
    int64_t shown_at;
};

/* Decision numbers from next on, before end. */
struct gbose__numbers {
    uint64_t next, end;
    int64_t since; /* when they were leased, on the monotonic clock */
    uint64_t used; /* next, when it was last looked at */
};

struct gbose__bandit {
    struct gbose__bandit *next_of_name, *next; /* in the registry */
    atomic_int references;
    uint32_t id;
    char name[GBOSE__MAX_BANDIT_NAME + 1];
    int64_t created;
    atomic_uint_fast64_t outcomes; /* number of the last one in the store */
    atomic_int leads;              /* this server trains it and closes its events */
    atomic_int_fast64_t due;       /* no pending event has an earlier deadline */
    atomic_int gone;
    int64_t retained; /* the writer's: when old events were last looked for */

    pthread_mutex_t lock;
    struct gbose__numbers numbers,
        spare;   /* of decisions, that this server may use; and those it will use next */
    int leasing; /* more of them are under way */
    struct gbose__settings settings;
    struct gbose__generation *generations; /* newest first */
    struct gbose__generation *active;
    uint32_t next_generation;

    pthread_mutex_t monitor_lock;
    struct gbose__monitor *monitor; /* NULL until somebody asks */
};

struct gbose__registry {
    pthread_rwlock_t lock;
    struct gbose__bandit *bucket[4096], *all; /* all: in no order */
    size_t n;
};

/* ---- the writer (writer.c, writer_queue.c) ---- */

struct gbose__job {
    struct gbose__job *next;
    struct gbose__bandit
        *bandit; /* NULL, or whose events these are: refused when it is gone. A reference is held */
    struct gbose__change *change;
    size_t n;
    struct gbose__exchange *exchange; /* answered when it is done; or NULL */
    struct gbose__arena arena;        /* freed when it is done, where there is no exchange */
    /* On the writer's thread, when it is done and before anybody is told; rc says how it went. May be
     * NULL. */
    void (*hook)(struct gbose__service *service, struct gbose__job *job);
    void *context;
    int kept;  /* it was answered before it is stored: it waits for a store that fails, and is not dropped */
    int brief; /* a few events without names: they can be noted in the store's journal (noter.c) */
    uint64_t
        place; /* of its last event in the journal; 0: it was not tried. Such jobs are written in their order */
    int tries;
    int rc;
    gbose_error err;
};

struct gbose__writer_thread {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct gbose__job *first, **last;
    atomic_size_t queued; /* changes */
    int stopping, started;
    /* When to begin a group, see rest() and gather(): */
    size_t wanted;             /* queued jobs that are not kept: somebody waits for them */
    int resting;               /* there are none, and the group may become larger */
    size_t waiting;            /* exchanges that are queued */
    size_t answered, returned; /* exchanges of the last group; and how many were queued since */
    int gathering;             /* somebody waits for the last of them */
    int64_t answered_at;       /* microseconds */
    int64_t return_time;       /* microseconds, smoothed: until as many have come as were answered */
    int64_t commit_time;       /* microseconds, smoothed: of a group */
    atomic_int failing;        /* the last group could not be written */
    atomic_size_t noted;       /* jobs that are in the journal, and not yet in the store */
    struct gbose__arena spare; /* memory of jobs that are done, for the loops */
    /* The writer's own: */
    struct gbose__arena finished; /* the same, while the loops still have some */
    size_t n_finished;            /* jobs that it is of */
    struct gbose__job *doubtful;  /* kept jobs of a group of which it is not known whether it happened */
    int64_t said;                 /* when the log was last told that the store fails; 0: never */
    int told;                     /* that it fails, and not yet that it works again */
    size_t alone;    /* so many jobs are written one by one: one of them was refused with others */
    int64_t stop_by; /* milliseconds of the monotonic clock; 0: not stopping */
};

/* ---- the noter (noter.c) ---- */

struct gbose__noter {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct gbose__job *first, **last;
    int stopping, started;
    size_t queued;             /* jobs */
    size_t enough;             /* it is woken when so many are queued */
    struct gbose__note *spare; /* memory of those that the writer has done with */
    size_t n_spare;
};

/* ---- the whole ---- */

enum gbose__counter {
    GBOSE__N_DECIDE,
    GBOSE__N_REPEATED,
    GBOSE__N_REWARD,
    GBOSE__N_LATE,
    GBOSE__N_GROUPS,
    GBOSE__N_CHANGES,
    GBOSE__N_FAILED_GROUPS,
    GBOSE__N_LEARNED,
    GBOSE__N_SNAPSHOTS,
    GBOSE__N_REFUSED,
    GBOSE__N_LOST,
    GBOSE__N_COUNTERS
};

#define GBOSE__LATENCY_BUCKETS 16 /* the first is 100 us, each next twice that */

struct gbose__metrics {
    atomic_uint_fast64_t counter[GBOSE__N_COUNTERS];
    atomic_uint_fast64_t status[6]; /* answers by hundred */
    atomic_uint_fast64_t decide_bucket[GBOSE__LATENCY_BUCKETS + 1], decide_microseconds;
    atomic_uint_fast64_t commit_bucket[GBOSE__LATENCY_BUCKETS + 1], commit_microseconds;
};

enum { GBOSE__MAY_DECIDE = 1, GBOSE__MAY_REWARD = 2, GBOSE__MAY_READ = 4, GBOSE__MAY_ADMIN = 8 };

struct gbose__key {
    char id[17];
    unsigned char hash[GBOSE__HASH_SIZE];
    unsigned roles;
    char bandit[GBOSE__MAX_BANDIT_NAME + 1]; /* "": all of them */
};

struct gbose__trainer {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    int work, stopping, started;
    int woken; /* its own: somebody has work for it */
    struct gbose__view *view;
    struct gbose__desk *desk;
};

/* What a server on a store that others share knows of them (fleet.c). The trainer's own, but for the lock. */
struct gbose__fleet_state {
    pthread_mutex_t
        lock; /* held while the registry follows the store, and while this server changes what it follows */
    uint32_t stream;
    char name[128];
    uint64_t version;           /* of bandits, generations and keys in the store that was read last */
    int64_t news, beat, tended; /* when it last looked, on the monotonic clock */
    int64_t led;
    struct gbose__bandit *newcomers; /* which have no decision numbers yet, and are not in the registry */
};

struct gbose__service {
    struct gbose__store *store;
    struct gbose__http *http;
    struct gbose__registry registry;
    struct gbose__writer_thread writer;
    struct gbose__noter noter;
    struct gbose__trainer trainer;
    struct gbose__fleet_state fleet;
    struct gbose__metrics metrics;
    pthread_rwlock_t key_lock;
    struct gbose__key *key;
    size_t n_keys;
    int64_t started;
    atomic_int ready;
    atomic_int port; /* that it listens on; 0: not yet */
};

/* What a thread that handles requests, or learns, works on: one for each. */
struct gbose__desk {
    struct gbose__service *service;
    struct gbose__view *view;
    gbose_scratch *scratch;
    struct gbose__document document, stored;
    double *rows;
    size_t rows_capacity;
    struct gbose__text text;
    struct gbose__arena spare; /* for requests whose memory went with a job */
    gbose_feature *features;   /* of a request, those of the round first */
    size_t n_features, features_capacity;
    gbose_features *lists; /* one for each arm */
    size_t lists_capacity;
};

struct gbose__desk *gbose__desk_new(struct gbose__service *service);
void gbose__desk_free(struct gbose__desk *desk);

int64_t gbose__now(void);       /* milliseconds since 1970 */
int64_t gbose__monotonic(void); /* microseconds */
/* A condition on which one waits by the clock of gbose__monotonic(). */
void gbose__wake_init(pthread_cond_t *wake);

/* ---- model.c ---- */

/* The features of a request. Pointers are into the arena, or into the desk until its next use. */
struct gbose__ask {
    size_t n_arms;
    const char **id;               /* NULL: arms are their indices */
    double *rows, *round;          /* n_arms rows of dim; n_round, or NULL */
    const unsigned char *excluded; /* n_arms; NULL: none is */
    size_t n_left;
};

enum {
    GBOSE__IN_ROUND,
    GBOSE__IN_USER,
    GBOSE__IN_ARMS,
    GBOSE__IN_CONTEXTS,
    GBOSE__IN_IDS,
    GBOSE__IN_EXCLUDE,
    GBOSE__IN_FIELDS
};
extern const struct gbose__field gbose__ask_fields[GBOSE__IN_FIELDS];

struct gbose__encoder *gbose__encoder_new(const char *schema, size_t dim, size_t n_round, gbose_error *err);
void gbose__encoder_release(struct gbose__encoder *encoder);

/* Read the features of an object, whose fields have been looked up. 0, or -1 with a problem. With `ids` 0
 * the names of the arms and what is excluded are not read, and rows may be shorter than dim: it is an old
 * event, to be learned. */
int gbose__ask_read(struct gbose__ask *ask, const struct gbose__encoder *encoder, struct gbose__desk *desk,
                    const struct gbose__document *d, const struct gbose__field *fields,
                    struct gbose__arena *arena, int ids, const char *where, struct gbose__problem *p);

/* The index of an arm by name or number; -1: there is none. */
long gbose__ask_arm(const struct gbose__ask *ask, const struct gbose__document *d, uint32_t at);

/* A decision of the model: fills pmf (n_arms) and arm; excluded arms have probability 0. GBOSE_OK or an
 * error. */
int gbose__model_decide(const struct gbose__model *model, struct gbose__desk *desk,
                        const struct gbose__ask *ask, double cap, uint32_t stream, uint64_t number,
                        double *pmf, size_t *arm);

/* Learn a closed event. GBOSE_OK or an error: the event cannot be learned by this generation (it has other
 * features). */
int gbose__model_learn(gbose *g, const struct gbose__encoder *encoder, struct gbose__desk *desk,
                       const struct gbose__case *it);

/* A published copy of a learner; or, takes g, the learner itself. NULL: no memory. */
struct gbose__model *gbose__model_of(gbose *g, struct gbose__encoder *encoder, uint32_t generation,
                                     uint64_t learned);
struct gbose__model *gbose__model_new(const gbose *g, struct gbose__encoder *encoder, uint32_t generation,
                                      uint64_t learned);
void gbose__model_release(struct gbose__model *model);

/* Bytes of a learner, to be freed; NULL: no memory. */
void *gbose__model_save(const gbose *g, size_t *size);

/* ---- registry.c ---- */

int gbose__registry_load(struct gbose__service *service, gbose_error *err);
void gbose__registry_clear(struct gbose__service *service);
struct gbose__bandit *gbose__registry_find(struct gbose__service *service,
                                           const char *name); /* with a reference */
/* All of them, with references, to be given back one by one and freed. */
struct gbose__bandit **gbose__registry_all(struct gbose__service *service, size_t *n);
int gbose__registry_add(struct gbose__service *service,
                        struct gbose__bandit *bandit); /* takes it; 0, or -1: name taken */
void gbose__registry_remove(struct gbose__service *service, struct gbose__bandit *bandit);
struct gbose__bandit *gbose__bandit_new(const struct gbose__bandit_row *row);
/* A bandit of the store with its generations, which have no models yet. */
int gbose__bandit_load(struct gbose__bandit **out, struct gbose__view *view,
                       const struct gbose__bandit_row *row, gbose_error *err);
int gbose__bandit_settings(struct gbose__settings *settings, const char *text, const char *name,
                           gbose_error *err);
/* The number of a new decision. 0, or -1: there is none at hand. */
int gbose__bandit_number(struct gbose__bandit *bandit, uint64_t *number);
void gbose__bandit_release(struct gbose__bandit *bandit);
struct gbose__model *gbose__bandit_model(struct gbose__bandit *bandit,
                                         struct gbose__settings *settings); /* a reference */
struct gbose__generation *gbose__generation_new(const struct gbose__generation_row *row, gbose_error *err);
void gbose__generation_free(struct gbose__generation *generation);
struct gbose__generation *gbose__generation_find(struct gbose__bandit *bandit,
                                                 uint32_t number); /* under the lock */

/* ---- inherit.c ---- */

/* What dropped events have taught, as the first snapshot of a new generation that already has its number: 1
 * with the change that adds it, chained to the one that adds the generation; 0: there is nothing to inherit;
 * or an error. */
int gbose__inherit(struct gbose__exchange *x, struct gbose__bandit *b, const struct gbose__generation *heir,
                   struct gbose__change *change);

/* ---- settings.c ---- */

extern const struct gbose__settings gbose__settings_default;
enum { GBOSE__SET_FIELDS = 9 };
extern const struct gbose__field gbose__settings_fields[GBOSE__SET_FIELDS];
int gbose__settings_read(struct gbose__settings *settings, const struct gbose__document *d,
                         const struct gbose__field *fields, struct gbose__problem *p);
/* The cap, a whole number of millionths, as flags of an event; and back. */
unsigned gbose__cap_flags(double cap);
double gbose__cap_of(unsigned flags);
/* Members without the braces: "wait": "30m", ... */
void gbose__settings_write(const struct gbose__settings *settings, struct gbose__text *out);

/* ---- writer.c, writer_queue.c ---- */

int gbose__writer_start(struct gbose__service *service);
void gbose__writer_stop(struct gbose__service *service); /* writes what is queued */
void gbose__writer_submit(struct gbose__service *service, struct gbose__job *job);
/* Memory of a request went with a job: the arena has that of one which is done. `own` is a loop's stock of such memory. */
void gbose__writer_spare(struct gbose__service *service, struct gbose__arena *arena,
                         struct gbose__arena *own);

/* ---- trainer.c ---- */

int gbose__trainer_start(struct gbose__service *service, gbose_error *err);
void gbose__trainer_stop(struct gbose__service *service);
void gbose__trainer_wake(struct gbose__service *service);
/* Let a model decide, unless a newer one of its generation does. Takes it. */
void gbose__trainer_publish(struct gbose__bandit *bandit, struct gbose__generation *generation,
                            struct gbose__model *model);

/* ---- fleet.c: one of many servers. All of it does nothing where the store is this process's own. ---- */

/* Before anything is written: a stream, and numbers for all bandits; which of them does this server lead? */
int gbose__fleet_start(struct gbose__service *service, gbose_error *err);
/* A model for a bandit that another server leads. */
int gbose__fleet_follow(struct gbose__service *service, struct gbose__bandit *bandit, gbose_error *err);
/* A sign of life, if it is time for one: for whoever keeps the trainer's thread busy. */
void gbose__fleet_live(struct gbose__service *service);
/* Follow the store, show others what was learned, try to lead. On the trainer's thread, again and again. */
void gbose__fleet_turn(struct gbose__service *service);

/* ---- lease.c: decision numbers. On the trainer's thread. ---- */

#define GBOSE__LEASED 16384 /* numbers in one lease */
/* Numbers for all bandits, before anything else is written. */
int gbose__lease_all(struct gbose__service *service, struct gbose__bandit **all, size_t n, gbose_error *err);
/* More numbers for a bandit, if it has few or has had them for long. */
void gbose__lease_more(struct gbose__service *service, struct gbose__bandit *bandit);
/* The first ones for a bandit that is not in the registry, and is taken. */
void gbose__lease_first(struct gbose__service *service, struct gbose__bandit *bandit);
/* Those that have numbers by now go to the registry. Returns 1 if there were any. */
int gbose__lease_welcome(struct gbose__service *service);
/* Those that have none are forgotten. */
void gbose__lease_clear(struct gbose__service *service);

/* ---- servers.c ---- */

/* What this server says of itself, for people: {"port", "reachable", "bandits": [...]}. */
void gbose__servers_report(struct gbose__service *service, struct gbose__text *out,
                           struct gbose__bandit **all, size_t n);

/* ---- monitor.c: what is found out on the way, for people ---- */

void gbose__monitor_free(struct gbose__monitor *monitor);
/* Take in what was closed since, at most `most` events. 1: there is more. On the trainer's thread. */
int gbose__monitor_extend(struct gbose__bandit *bandit, struct gbose__trainer *trainer, size_t most);

/* ---- answers (answer.c) ---- */

void gbose__answer_problem(struct gbose__exchange *x, const struct gbose__problem *p);
void gbose__answer_error(struct gbose__exchange *x, int status, const char *code, const char *at,
                         const char *format, ...) __attribute__((format(printf, 5, 6)));
/* The answer of a job that the store refused: 503, or 404 for a bandit that went away. */
void gbose__answer_failed(struct gbose__exchange *x, const struct gbose__job *job);
/* Say in a header that the store cannot be reached, if so. */
void gbose__answer_store(struct gbose__exchange *x);
/* Read the body as JSON into desk->document. 0, or -1: answered. */
int gbose__answer_document(struct gbose__exchange *x);

/* An event's own name, or one made of (time, number) and a keyed tag, which needs no place in the store. */
#define GBOSE__EVENT_ID 37
void gbose__event_id(char id[GBOSE__EVENT_ID], const struct gbose__service *service, uint32_t bandit,
                     uint64_t number, int64_t time);
/* 1 and the number if it is an id of ours, else 0: then it can only be a caller's. */
int gbose__event_number(const char *id, const struct gbose__service *service, uint32_t bandit,
                        uint64_t *number);
/* The keyed hash of a unit's name. */
void gbose__unit_hash(unsigned char out[GBOSE__UNIT_SIZE], const struct gbose__service *service,
                      uint32_t bandit, const char *unit, size_t size);

/* ---- routes ---- */

void gbose__route(struct gbose__exchange *x); /* route.c: the table of all */
struct gbose__route_args {
    struct gbose__bandit *bandit; /* NULL when the path has none */
    const char *rest;             /* what stands for * in the path; "" */
};
typedef void gbose__route_handler(struct gbose__exchange *x, const struct gbose__route_args *args);
gbose__route_handler gbose__route_decide, gbose__route_rewards, gbose__route_activate, gbose__route_event,
    gbose__route_events, gbose__route_log, gbose__route_bandits, gbose__route_put_bandit,
    gbose__route_get_bandit, gbose__route_drop_bandit, gbose__route_generations, gbose__route_add_generation,
    gbose__route_activate_generation, gbose__route_erase_unit, gbose__route_metrics, gbose__route_health,
    gbose__route_ready, gbose__route_openapi, gbose__route_asset, gbose__route_evaluation,
    gbose__route_effects, gbose__route_diagnosis, gbose__route_history, gbose__route_rank,
    gbose__route_rank_reward, gbose__route_rank_activate, gbose__route_servers;

/* The fields that their bodies have, beside those of gbose__ask_fields and gbose__settings_fields; how
 * many. */
size_t gbose__route_decide_fields(const struct gbose__field **out);
size_t gbose__route_rewards_fields(const struct gbose__field **out);
size_t gbose__route_bandit_fields(const struct gbose__field **out);

/* ---- route_generations.c: what others need, too ---- */

/* A new generation, not yet of any bandit, with a first model that has learned nothing. NULL with a
 * problem. The schema may be NULL, and dim is then needed. */
struct gbose__generation *gbose__generation_make(const char *spec, const char *schema, size_t dim,
                                                 struct gbose__problem *p);
/* Its row, for the store. */
struct gbose__generation_row gbose__generation_row(const struct gbose__generation *generation,
                                                   uint32_t bandit);
/* Put a generation that is in the store into the bandit, and let old ones go. Under the bandit's lock. */
void gbose__generation_take(struct gbose__bandit *bandit, struct gbose__generation *generation, int wanted);
/* Read "spec", "schema" and "dim", fields that have been looked up. */
struct gbose__generation *gbose__generation_read(struct gbose__exchange *x, const struct gbose__document *d,
                                                 uint32_t spec, uint32_t schema, uint32_t dim,
                                                 const struct gbose__generation *like,
                                                 struct gbose__problem *p);
/* Make a bandit with default settings and this generation, unless it is there. Answers later by `finish`;
 * takes the generation. */
void gbose__bandit_make(struct gbose__exchange *x, const char *name, const struct gbose__settings *settings,
                        struct gbose__generation *generation, void (*finish)(struct gbose__exchange *x));
/* A bandit as JSON. An error if its counts cannot be read: they are then 0. */
int gbose__bandit_write(struct gbose__text *out, struct gbose__bandit *bandit, struct gbose__desk *desk,
                        gbose_error *err);

/* The log of a store that is opened beside whoever has it, piece by piece, until `put` says no. `bandit`
 * may be NULL when there is only one. GBOSE_OK or an error. */
int gbose__events_export(struct gbose__store *store, const char *bandit,
                         int (*put)(void *context, const char *text, size_t size), void *context,
                         gbose_error *err);

/* ---- keys.c ---- */

int gbose__keys_load(struct gbose__service *service, struct gbose__view *view, gbose_error *err);
/* 1: the request may do this to that bandit ("": to all). 0: it is answered with 401 or 403. */
int gbose__keys_allow(struct gbose__exchange *x, unsigned role, const char *bandit);
/* A new key: its text, for the owner's eyes only, and its row. */
#define GBOSE__KEY_TEXT 64
int gbose__key_make(char text[GBOSE__KEY_TEXT], struct gbose__key *key);

/* ---- service.c ---- */

struct gbose__service_options {
    const char *data, *listen;
    int port, threads;
    size_t max_body;
    unsigned connections, slow_seconds;
};

int gbose__service_start(struct gbose__service **out, const struct gbose__service_options *options,
                         gbose_error *err);
int gbose__service_port(const struct gbose__service *service);
void gbose__service_stop(struct gbose__service *service);

/* An answer is about to be sent. */
void gbose__metrics_answer(struct gbose__exchange *x);
void gbose__metrics_time(atomic_uint_fast64_t *buckets, atomic_uint_fast64_t *sum, int64_t microseconds);

#endif
