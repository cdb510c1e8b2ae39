/* The command `gbose`: a table of subcommands, and what they share. */
#ifndef GBOSE_CLI_CLI_H
#define GBOSE_CLI_CLI_H

#include <stddef.h>
#include <stdint.h>

#include "gbose.h"

/* Exit codes, and what man pages say of them. */
enum { EXIT_FINE = 0, EXIT_BROKEN = 1, EXIT_USAGE = 2, EXIT_STOPPED = 130 };
#define EXIT_CODES                                                                                           \
    {EXIT_FINE, "All went well."},                                                                           \
        {EXIT_BROKEN, "Something failed, such as a full disk, or what was checked is wrong."},               \
        {EXIT_USAGE,                                                                                         \
         "The command line cannot be used: an unknown option, a value out of range, a file that "            \
         "cannot be read or is not what it should be. Nothing was done."},                                   \
    {                                                                                                        \
        EXIT_STOPPED, "Stopped by Ctrl-C; what was finished is kept."                                        \
    }

struct command {
    const char *name;
    const char *summary;               /* one line */
    const char *help;                  /* usage and examples */
    int (*run)(int argc, char **argv); /* argv[0] is the subcommand's name */
};

extern const struct command cmd_paper, cmd_simulate, cmd_collect, cmd_worlds, cmd_learners, cmd_schema;
extern const struct command cmd_serve, cmd_database, cmd_rebuild, cmd_backup,
    cmd_key; /* with GBOSE_SERVE only */
extern const struct command cmd_log, cmd_learn, cmd_merge, cmd_evaluate, cmd_effects;

extern const struct command cmd_manual; /* for the build: in no list */

/* The commands that are listed, one by one; NULL behind the last. */
const struct command *command_number(size_t i);

/* How this program was called, so that what it proposes can be pasted: "gbose", or "./run". */
extern const char *program_name;

/* An option of a subcommand: "--name" with 0, 1 or any number of values. */
struct arg {
    const char *name; /* without the dashes; "" for what stands alone */
    int most;         /* values: 0, 1, or MANY */
    char **value;     /* filled by args_parse() */
    int n;
    int given;
};
#define MANY 1000000

/* Read argv into args, which end with a NULL name. Prints one line and returns EXIT_USAGE if something does
 * not fit, else EXIT_FINE. args_clear() frees what was taken. */
int args_parse(int argc, char **argv, struct arg *args);
void args_clear(struct arg *args);

/* Hand the options that a command parses (behind the verb, if it is not NULL) to `take`. Nothing else is
 * run. */
void args_list(const struct command *command, const char *verb,
               void (*take)(const struct arg *args, void *to), void *to);

/* Look an option up; it must be in args. */
struct arg *args_named(struct arg *args, const char *name);

/* One line to standard error, "gbose COMMAND: ...", and EXIT_USAGE. */
int usage_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same with the text of an error: EXIT_USAGE if what was given is wrong, or else EXIT_BROKEN. */
int command_failed(const char *command, const gbose_error *err);

/* A whole number from min to max in `text`, or else a usage error about option --name. */
int parse_count(uint64_t *out, const char *command, const char *name, const char *text, uint64_t min,
                uint64_t max);

#endif
