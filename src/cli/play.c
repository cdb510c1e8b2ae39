#include "cli/play.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/progress.h"
#include "cli/terminal.h"
#include "core/error.h"
#include "io/file.h"
#include "report/gnuplot.h"
#include "report/outputs.h"
#include "study/cluster.h"
#include "study/engine.h"
#include "study/session.h"

static atomic_int stop;

static void on_signal(int number)
{
    (void)number;
    stop = 1;
}

/* ---- options ---- */

static int is_play_option(const char *word)
{
    return !strncmp(word, "--threads", 9) || !strncmp(word, "--out", 5) || !strncmp(word, "--shard", 7) ||
           !strcmp(word, "--quiet");
}

/* A word as a shell would read it back: in quotes if it holds anything but these. */
static void put_word(FILE *to, const char *word)
{
    if (*word &&
        !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%")]) {
        fputs(word, to);
        return;
    }
    fputc('\'', to);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", to);
        else
            fputc(*word, to);
    fputc('\'', to);
}

/* The command line without the options that do not change the results. */
static char *plain_words(int argc, char **argv)
{
    char *words = NULL;
    size_t size;
    FILE *to = open_memstream(&words, &size);

    if (!to)
        return NULL;
    for (int i = 0; i < argc; i++) {
        if (is_play_option(argv[i])) {
            i += !strchr(argv[i], '=') && strcmp(argv[i], "--quiet");
            continue;
        }
        fputs(i ? " " : "", to);
        put_word(to, argv[i]);
    }
    if (fclose(to)) {
        free(words);
        return NULL;
    }
    return words;
}

static int parse_shard(struct play *play, const char *text)
{
    unsigned long k, n;
    char rest;

    if (sscanf(text, "%lu/%lu%c", &k, &n, &rest) != 2 || k < 1 || k > n || n > 100000 || strchr(text, '-'))
        return usage_error(play->command, "--shard must be K/N with K from 1 to N, such as 3/16; got '%s'",
                           text);
    if (!play->dir)
        return usage_error(play->command, "--shard needs --out DIR, to be collected from there");
    play->shard = k - 1;
    play->shards = n;
    return EXIT_FINE;
}

int play_options(struct play *play, int argc, char **argv, struct arg *args, const char *default_dir)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t threads = cores > 0 ? (uint64_t)cores : 1;
    int rc = EXIT_FINE;

    memset(play, 0, sizeof *play);
    play->command = argv[0];
    play->dir = default_dir;
    play->shards = 1;
    if (gbose__cluster_size() > 1)
        threads = 1; /* a rank for each core is the launcher's business */
    for (struct arg *a = args; a->name && !rc; a++) {
        if (!strcmp(a->name, "threads") && a->given)
            rc = parse_count(&threads, argv[0], "threads", a->value[0], 1, 1024);
        if (!strcmp(a->name, "quiet"))
            play->quiet = a->given;
        if (!strcmp(a->name, "out") && a->given)
            play->dir = strcmp(a->value[0], "-") ? a->value[0] : NULL;
        if (!rc && play->dir && !*play->dir)
            rc = usage_error(argv[0], "--out needs the name of a directory, or - for none");
    }
    for (struct arg *a = args; a->name && !rc; a++)
        if (!strcmp(a->name, "shard") && a->given)
            rc = parse_shard(play, a->value[0]);
    play->threads = (size_t)threads;
    if (!rc)
        play->words = plain_words(argc, argv);
    return rc;
}

void play_clear(struct play *play)
{
    free(play->words);
    play->words = NULL;
}

/* ---- playing ---- */

/* Something failed while at work. */
static int broken(const struct play *play, const gbose_error *err)
{
    fprintf(stderr, "gbose %s: %s\n", play->command, err->text);
    return EXIT_BROKEN;
}

/* A directory that cannot be used, before anything was done. */
static int refused(const struct play *play, const gbose_error *err)
{
    int code = broken(play, err);

    return err->code == GBOSE_ENOMEM ? code : EXIT_USAGE;
}

static int say_stopped(const struct play *play, const struct gbose__study *study)
{
    fprintf(stderr, "stopped after %zu of %zu runs; ", gbose__engine_done(study),
            gbose__engine_needed(study, play->shard, play->shards));
    if (play->dir) {
        fputs("to go on: ", stderr);
        put_word(stderr, program_name);
        fprintf(stderr, " %s --out ", play->words);
        put_word(stderr, play->dir);
        if (play->shards > 1)
            fprintf(stderr, " --shard %zu/%zu", play->shard + 1, play->shards);
    } else {
        fputs("nothing is kept without --out DIR", stderr);
    }
    fputc('\n', stderr);
    return EXIT_STOPPED;
}

static void print_table(const struct play *play, const struct gbose__study *study)
{
    struct gbose__print_style style = {terminal_width(stdout), terminal_utf8(), terminal_colour(stdout),
                                       !play->quiet};

    gbose__outputs_print(stdout, study, &style);
}

/* The table, and the files. The report names the command as anybody would call it. */
static int show(const struct play *play, const struct gbose__study *study)
{
    gbose_error err = {0, ""};
    char *command;
    int rc;

    if (!play->dir) {
        print_table(play, study);
        return EXIT_FINE;
    }
    command = gbose__file_join("gbose ", play->words, "");
    rc = command ? gbose__outputs_write(study, play->dir, command, &err) : gbose__no_memory(&err);
    free(command);
    if (stop)
        return say_stopped(play, study);
    if (rc && rc != GBOSE__ENOPLOT)
        return broken(play, &err);
    if (!play->quiet) {
        print_table(play, study);
        printf("\nReport, with tables, figures and all runs beside it: %s/report.html\n", play->dir);
    }
    if (rc)
        fprintf(stderr, "gbose %s: %s\n", play->command,
                err.text); /* everything but the figures has been written */
    return EXIT_FINE;
}

/* What goes along with playing: where runs are kept, or NULL, and the line on the terminal. */
struct company {
    struct gbose__session *session;
    struct gbose__progress_line line;
};

static int finished(void *user, const struct gbose__study *study, size_t index, gbose_error *err)
{
    struct company *c = user;

    return c->session ? gbose__session_add(c->session, study, index, err) : GBOSE_OK;
}

static void tick(void *user, const struct gbose__progress *progress)
{
    gbose__progress_show(&((struct company *)user)->line, progress);
}

static int lead(const struct play *play, struct gbose__study *study, char **sources, int n)
{
    struct company company = {0};
    struct gbose__engine_settings settings = {play->threads,   play->shard, play->shards, &stop,
                                              &gbose__cluster, finished,    tick,         &company};
    gbose_error err = {0, ""};
    int rc = GBOSE_OK, code;

    if (n)
        rc = gbose__session_collect(study, (const char *const *)sources, (size_t)n, &err);
    if (!rc && play->dir)
        rc = gbose__session_open(&company.session, study, play->dir, &err);
    if (rc) {
        gbose__session_close(company.session);
        return refused(play, &err);
    }
    gbose__progress_begin(&company.line, !play->quiet);
    rc = gbose__engine_play(study, &settings, &err);
    gbose__progress_end(&company.line);
    if (rc) {
        code = broken(play, &err);
    } else if (gbose__engine_done(study) < gbose__engine_needed(study, play->shard, play->shards)) {
        code = say_stopped(play, study);
    } else if (play->shards > 1) {
        fprintf(stderr, "shard %zu of %zu is complete in %s; when all are: gbose collect DIR... --out DIR\n",
                play->shard + 1, play->shards, play->dir);
        code = EXIT_FINE;
    } else {
        code = show(play, study);
    }
    gbose__session_close(company.session); /* until here nobody else writes to the directory */
    return code;
}

/* Stop on a signal, unless it was to be ignored. */
static void catch_signal(int number)
{
    struct sigaction action;

    if (!sigaction(number, NULL, &action) && action.sa_handler != SIG_IGN) {
        memset(&action, 0, sizeof action);
        action.sa_handler = on_signal;
        sigaction(number, &action, NULL);
    }
}

int play_study(struct play *play, struct gbose__plan *plan, char **sources, int n)
{
    struct gbose__study *study = gbose__study_new(plan);
    int rc = EXIT_BROKEN;

    catch_signal(SIGINT);
    catch_signal(SIGTERM);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* writing past a limit is an error like a full disk */
    if (!study || !play->words) {
        fprintf(stderr, "gbose: out of memory\n");
        if (!study)
            gbose__plan_free(plan);
    } else if (gbose__cluster_rank()) {
        gbose__cluster_serve(plan, &stop);
        rc = EXIT_FINE;
    } else {
        rc = lead(play, study, sources, n);
        gbose__cluster_dismiss();
    }
    gbose__study_free(study);
    return rc;
}
