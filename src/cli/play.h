/* What the commands that play studies share: paper, simulate, collect. */
#ifndef GBOSE_CLI_PLAY_H
#define GBOSE_CLI_PLAY_H

#include "cli/cli.h"
#include "study/plan.h"

/* How to play, from the options --threads, --out, --shard and --quiet. */
struct play {
    const char *command; /* the subcommand's name */
    const char *dir;     /* NULL: results on the terminal only */
    size_t threads;
    size_t shard, shards;
    int quiet;   /* errors only; without a directory the table too */
    char *words; /* the command line without the program and those options, to be shown and repeated */
};

/* Read --threads, --out, --shard and --quiet (each may be missing from args). EXIT_FINE or EXIT_USAGE. */
int play_options(struct play *play, int argc, char **argv, struct arg *args, const char *default_dir);

void play_clear(struct play *play);

/* Play the study of a plan, which is taken over: print the table, write the outputs. `sources` are
 * directories whose finished runs are taken in first (collect), n of them. Returns an exit code. */
int play_study(struct play *play, struct gbose__plan *plan, char **sources, int n);

#endif
