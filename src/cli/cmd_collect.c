/* gbose collect: put the shards of a study together. */
#include "cli/play.h"

#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "io/file.h"
#include "study/plan_json.h"

static int run(int argc, char **argv)
{
    struct arg args[] = {{.name = "", .most = MANY},
                         {.name = "threads", .most = 1},
                         {.name = "out", .most = 1},
                         {.name = "quiet", .most = 0},
                         {.name = NULL}};
    struct gbose__plan *plan = NULL;
    gbose_error err = {0, ""};
    struct play play = {0};
    char *path = NULL;
    int rc = args_parse(argc, argv, args);

    if (!rc && !args[0].n)
        rc = usage_error(argv[0], "the directories of the shards are missing; see gbose help collect");
    if (!rc)
        rc = play_options(&play, argc, argv, args, NULL);
    if (!rc) {
        path = gbose__file_path(args[0].value[0], "study.json");
        plan = path ? gbose__plan_json_load(path, &err) : NULL;
        if (!plan) {
            rc = usage_error(argv[0], "%s", err.text);
        } else {
            rc = play_study(&play, plan, args[0].value, args[0].n);
        }
    }
    free(path);
    play_clear(&play);
    args_clear(args);
    return rc;
}

const struct command cmd_collect = {
    "collect", "put the shards of a study together",
    "Usage: gbose collect DIR... [--out DIR] [--threads N] [--quiet]\n\n"
    "Takes the runs of shards that were played separately (--shard K/N, each with its own DIR), plays the "
    "fresh repetitions with the best parameters, and writes tables, figures and report. Tables and figures "
    "have the same bytes as if the study had been played in one piece.\n\n"
    "  --out DIR     where tables, figures and report go; without it, or with -, only print the table\n"
    "  --threads N   how many runs to play at once (the number of cores)\n"
    "  --quiet       show no progress, and no table if it is also written to DIR\n\n"
    "Example:\n"
    "  gbose paper --shard 1/2 --out part1     (on one machine)\n"
    "  gbose paper --shard 2/2 --out part2     (on another)\n"
    "  gbose collect part1 part2 --out results/paper\n",
    run};
