/* What the subcommands that read logs share: their options, the loop over lines, and policies. */
#ifndef GBOSE_CLI_LOGS_H
#define GBOSE_CLI_LOGS_H

#include "cli/cli.h"
#include "gbose_log.h"
#include "io/logfile.h"

/* The options of a log, to stand in a subcommand's table. */
#define LOG_ARGS                                                                                             \
    {.name = "", .most = MANY}, {.name = "format", .most = 1}, {.name = "schema", .most = 1},                \
        {.name = "arm", .most = 1}, {.name = "reward", .most = 1}, {.name = "probability", .most = 1},       \
        {.name = "id", .most = 1}, {.name = "time", .most = 1}, {.name = "unit", .most = 1},                 \
        {.name = "arms", .most = 1}, {.name = "available", .most = 1}, {.name = "any-schema", .most = 0},    \
    {                                                                                                        \
        .name = "skip-bad", .most = 0                                                                        \
    }
#define LOG_HELP                                                                                             \
    "  LOG             files (plain or gzip), - for standard input, or the store of a service\n"             \
    "  --format F      json (ours), dsjson, csv, obd or trial; if left out, it is recognised from the "      \
    "file\n"                                                                                                 \
    "  --schema FILE   turn features that are given by name into contexts (see gbose help schema)\n"         \
    "  --any-schema    take lines that were decided with another schema, too; otherwise they are refused\n"  \
    "  --skip-bad      skip broken lines and count them, instead of stopping at the first\n\n"               \
    "In a CSV, --arm, --reward, --probability, --id, --time and --unit say which column is which, if they\n" \
    "are not called arm, reward and so on. Columns 'p:ID' hold the probability of each arm, columns\n"       \
    "'x:NAME' features of the round. If only the probability of the arm played is there, tell which arms\n"  \
    "there are: --arms 34 (called 0 to 33) or --arms a,b,c. A trial has columns unit, action (0 or 1),\n"    \
    "probability (of action 1), outcome, and perhaps available (--available).\n"

/* Numbers for texts: 0, 1, 2, ... in the order in which they come. Zeroed memory is empty. */
struct names {
    char **text;
    uint32_t *slot;
    size_t n, room, slots;
};
/* GBOSE_OK or GBOSE_ENOMEM. */
int names_find(struct names *names, const char *text, size_t *at);
/* The number of a text that came, or names->n. */
size_t names_known(const struct names *names, const char *text);
void names_clear(struct names *names);

struct logs {
    const char *command;
    char **path;
    int n;
    struct gbose__log_options set;
    gbose_schema *schema;
    int skip_bad;
    uint64_t lines, missing, bad; /* read, without a reward, broken */
    gbose_error first_bad;
    void (*on_bad)(void *user,
                   const gbose_error *err); /* if not NULL, broken lines go there, and it goes on */
    struct names ids, units;
    struct names columns; /* of contexts that were made of a table's columns */
    int with_constants;   /* those without a '*' are constants of arms */
    size_t *label;        /* of the arms of a round */
    size_t label_room;
    size_t dim;           /* of contexts, that all lines have in common */
    int partial;          /* and whether only the played arm's probability is logged */
    const char *by;       /* --by: the column whose values tell groups apart; NULL: there are no groups */
    size_t by_length;     /* of a value, that counts; 0: all */
    int by_seen;          /* a line had that column */
    double kept;          /* that all lines have in common; 0 before the first */
    char schema_seen[17]; /* and the hash of the schema that contexts were made by; "" before the first */
};

/* --format alone; and all options of a log, LOG_ARGS. EXIT_FINE, or said why. logs_clear() in any case. */
int logs_format(struct logs *logs, struct arg *args);
int logs_options(struct logs *logs, const char *command, struct arg *args);
void logs_clear(struct logs *logs);

/* Hand every record to `take`, which returns GBOSE_OK, GBOSE_EINVAL if the line is at fault (it then counts
 * as broken), or another code, which ends it. Returns an exit code, having said why if it is not EXIT_FINE.
 * */
int logs_each(struct logs *logs, int (*take)(void *user, const struct gbose__record *r, gbose_error *err),
              void *user);

/* Read the schema of a file. EXIT_FINE, or said why. */
int logs_schema(gbose_schema **out, const char *command, const char *path);

/* Does a line suit a learner, which messages call `name`: the schema, dim, features of the round? GBOSE_OK,
 * GBOSE_EINVAL; GBOSE_ESCHEMA if it is another schema's. */
int logs_suits(const gbose *g, const char *name, const struct gbose__record *r, gbose_error *err);

/* --by: COLUMN, or COLUMN:N for the first N characters. What came of the draw is refused: in groups by the arm played, or by
 * the reward, weights no longer average 1, and every number would be wrong. EXIT_FINE, or said why. */
int logs_by_option(struct logs *logs, struct arg *args);
/* The value that a line is grouped by, in buf: "(none)" if the line has none. And in the end: did any line have it?
 * EXIT_FINE, or said that none had. */
void logs_by(struct logs *logs, const struct gbose__record *r, char *buf, size_t size);
int logs_by_seen(const struct logs *logs);

/* Was the line kept with another probability than those before? GBOSE_OK or GBOSE_EINVAL: what was thinned unevenly, perhaps by
 * its rewards, is no sample of what was. */
int logs_thinned(struct logs *logs, const struct gbose__record *r, gbose_error *err);

/* A record as the library takes it, without its unit; labels belong to logs. Lines that were kept with different probabilities,
 * have another number of features than those before, or the probabilities of all arms where those before had not, are refused. */
int logs_row(struct logs *logs, const struct gbose__record *r, gbose_logged *row, gbose_error *err);

/* "1,234 rounds; 5 without a reward were left out; 2 broken lines were skipped, the first: ..." */
void logs_summary(const struct logs *logs, FILE *to);

/* Say that no line could be used, and what was wrong with the first that was skipped: EXIT_USAGE. */
int logs_nothing(const struct logs *logs);

/* Read a saved learner, and write one: atomically. EXIT_FINE, or said why. */
int logs_load(gbose **out, const char *command, const char *path);
int logs_save(const gbose *g, const char *command, const char *path);

#endif
