#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/manual.h"
#include "cli/terminal.h"
#include "core/error.h"
#include "core/names.h"
#include "gbose.h"
#include "study/cluster.h"

static const struct command *const commands[] = {
    &cmd_paper, &cmd_simulate, &cmd_collect, &cmd_worlds,   &cmd_learners, &cmd_schema,
    &cmd_log,   &cmd_learn,    &cmd_merge,   &cmd_evaluate, &cmd_effects,
#ifdef GBOSE_SERVE
    &cmd_serve, &cmd_database, &cmd_rebuild, &cmd_backup,   &cmd_key,
#endif
};
#define N_COMMANDS (sizeof commands / sizeof *commands)

const char *program_name = "gbose";

const struct command *command_number(size_t i)
{
    return i < N_COMMANDS ? commands[i] : NULL;
}

static void print_overview(FILE *to)
{
    fprintf(to, "gbose %s: semiparametric contextual bandits\n\nUsage: gbose COMMAND ...\n\n",
            gbose_version());
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(to, "  %-10s %s\n\n", "help", "explain a command: gbose help simulate");
    fprintf(to, "Examples:\n"
                "  gbose paper --quick                       the paper's table, in half a minute\n"
                "  gbose simulate --world gallery --learner gbose-auto lin-ts\n"
                "  gbose learners gbose                      a learner's options\n\n"
                "Exit codes: 0 done, 1 failed, 2 not understood (nothing was done),\n"
                "130 stopped by Ctrl-C\n");
}

/* The command of this name; NULL, and a message, if there is none. */
static const struct command *find(const char *name)
{
    const char *names[N_COMMANDS], *nearest;
    gbose_error err; /* which makes one line of whatever the name is */

    if (!strcmp(name, cmd_manual.name))
        return &cmd_manual;
    for (size_t i = 0; i < N_COMMANDS; i++) {
        names[i] = commands[i]->name;
        if (!strcmp(name, names[i]))
            return commands[i];
    }
    nearest = gbose__names_nearest(name, names, N_COMMANDS);
    if (gbose__names_near(name, nearest))
        gbose__fail(&err, GBOSE_EINVAL, "unknown command '%.40s'; did you mean '%s'?", name, nearest);
    else
        gbose__fail(&err, GBOSE_EINVAL, "unknown command '%.40s'", name);
    fprintf(stderr, "gbose: %s (gbose help lists all commands)\n", err.text);
    return NULL;
}

/* What was printed must have arrived: a full disk behind standard output is an error too. */
static int check_output(int rc)
{
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "gbose: cannot write to standard output: %s\n", strerror(errno));
        return rc ? rc : EXIT_BROKEN;
    }
    return rc;
}

/* A file that we open must not become standard error because that was closed: messages would go into it. What
 * takes the place of a closed one fails as that did, but for messages, which are lost. */
static int keep_standard_files(void)
{
    static const int mode[] = {O_WRONLY, O_RDONLY, O_WRONLY};

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", mode[fd]) != fd)
            return 0;
    return 1;
}

int main(int argc, char **argv)
{
    const struct command *command;
    int help, rc;

    terminal_begin();
    if (getenv("GBOSE_CALLED_AS") && *getenv("GBOSE_CALLED_AS"))
        program_name = getenv("GBOSE_CALLED_AS");
    else if (argc && *argv[0])
        program_name = argv[0];
    if (!keep_standard_files())
        return EXIT_USAGE;
    if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        print_overview(argc < 2 ? stderr : stdout);
        return argc < 2 ? EXIT_USAGE : EXIT_FINE;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("gbose %s\n", gbose_version());
        return EXIT_FINE;
    }
    help = !strcmp(argv[1], "help");
    if (help && (argc < 3 || !strcmp(argv[2], "help") || argv[2][0] == '-')) {
        print_overview(stdout);
        return EXIT_FINE;
    }
    command = find(argv[help ? 2 : 1]);
    if (!command)
        return EXIT_USAGE;
    for (int i = 2; i < argc && !help; i++)
        help = !strcmp(argv[i], "--help") || !strcmp(argv[i], "-h");
    if (help) {
        printf("gbose %s: %s\n\n", command->name, command->summary);
        help_print(stdout, command->help, terminal_width(stdout));
        return check_output(EXIT_FINE);
    }
    gbose__cluster_begin();
    rc = command->run(argc - 1, argv + 1);
    gbose__cluster_end();
    return check_output(rc);
}
