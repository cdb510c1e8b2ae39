#include "cli/studies.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/spec.h"
#include "study/cluster.h"
#include "study/file.h"
#include "study/journal.h"
#include "study/outputs.h"
#include "study/study.h"

static atomic_int stop;

static void on_signal(int number)
{
    (void)number;
    stop = 1;
}

/* ---- options ---- */

struct arg *arg_named(struct arg *args, const char *name)
{
    while (strcmp(args->name, name))
        args++;
    return args;
}

static int is_play_option(const char *word)
{
    return !strncmp(word, "--threads", 9) || !strncmp(word, "--out", 5) || !strncmp(word, "--shard", 7);
}

/* The command line without the options that do not change the results. */
static char *plain_words(int argc, char **argv)
{
    size_t size = sizeof "gbose ", used;
    char *words;

    for (int i = 0; i < argc; i++)
        size += strlen(argv[i]) + 3;
    words = malloc(size);
    if (!words)
        return NULL;
    used = (size_t)snprintf(words, size, "gbose");
    for (int i = 0; i < argc; i++) {
        const char *quote = argv[i][strcspn(argv[i], " *?'\"$&|;<>()")] ? "'" : "";
        if (is_play_option(argv[i])) {
            i += !strchr(argv[i], '=');
            continue;
        }
        used += (size_t)snprintf(words + used, size - used, " %s%s%s", quote, argv[i], quote);
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

static int broken(const struct play *play, const gbose_error *err)
{
    fprintf(stderr, "gbose %s: %s\n", play->command, err->text);
    return err->code == GBOSE_ENOMEM ? EXIT_BROKEN : EXIT_USAGE;
}

static int say_stopped(const struct play *play, const struct gbose__study *study)
{
    fprintf(stderr, "stopped after %zu of %zu runs", gbose__study_done(study), gbose__study_needed(study));
    if (play->dir)
        fprintf(stderr, "; to go on: %s --out %s", play->words, play->dir);
    fputc('\n', stderr);
    return EXIT_STOPPED;
}

/* Take in the runs of other directories; all of the tuning runs must be there. */
static int take_sources(struct gbose__study *study, char **sources, int n, gbose_error *err)
{
    char *plan = gbose__plan_write(study->plan);
    size_t missing = 0;
    int rc = plan ? GBOSE_OK : gbose__no_memory(err);

    for (int i = 0; i < n && !rc; i++) {
        char *text = gbose__study_plan_text(sources[i], err);
        if (!text)
            rc = err->code;
        else if (strcmp(text, plan))
            rc = gbose__fail(err, GBOSE_EINVAL, "%s and %s hold different studies", sources[0], sources[i]);
        else
            rc = gbose__journal_read(sources[i], plan, study, err);
        free(text);
    }
    for (size_t i = 0; i < study->n_runs && !rc; i++)
        missing += gbose__run_at(study->plan, i).rep < study->plan->reps && !study->result[i].done;
    if (!rc && missing)
        rc = gbose__fail(err, GBOSE_EINVAL, "%zu runs are missing: a shard is not complete, or not named",
                         missing);
    free(plan);
    return rc;
}

/* Write the runs that were taken in to the journal of their new home. */
static int copy_runs(const struct play *play, struct gbose__study *study, gbose_error *err)
{
    char *plan = gbose__plan_write(study->plan);
    struct gbose__journal *journal = NULL;
    char *done = calloc(study->n_runs, 1);
    int rc = GBOSE_OK;

    if (!plan || !done)
        rc = gbose__no_memory(err);
    for (size_t i = 0; i < study->n_runs && !rc; i++) {
        done[i] = (char)study->result[i].done;
        study->result[i].done = 0;
    }
    if (!rc)
        rc = gbose__journal_open(&journal, play->dir, plan, study, err);
    for (size_t i = 0; i < study->n_runs && !rc; i++)
        if (done[i] && !study->result[i].done) {
            study->result[i].done = 1;
            rc = gbose__journal_append(journal, study, i, err);
        }
    gbose__journal_close(journal);
    free(plan);
    free(done);
    return rc;
}

static int lead(const struct play *play, struct gbose__study *study, char **sources, int n)
{
    struct gbose__study_settings settings = {play->dir, play->threads, play->shard, play->shards, &stop};
    gbose_error err = {0, ""};
    int rc = GBOSE_OK;

    if (n)
        rc = take_sources(study, sources, n, &err);
    if (!rc && play->dir)
        rc = gbose__study_prepare(study, play->dir, &err);
    if (!rc && n && play->dir)
        rc = copy_runs(play, study, &err);
    if (!rc)
        rc = gbose__study_play(study, &settings, &err);
    if (rc)
        return broken(play, &err);
    if (stop)
        return say_stopped(play, study);
    if (play->shards > 1) {
        fprintf(stderr, "shard %zu of %zu is complete in %s; when all are: gbose collect DIR... --out DIR\n",
                play->shard + 1, play->shards, play->dir);
        return EXIT_FINE;
    }
    gbose__study_print(stdout, study);
    if (!play->dir)
        return EXIT_FINE;
    rc = gbose__study_outputs(study, play->dir, play->words, &err);
    if (rc == GBOSE__ENOPLOT || rc == GBOSE__EBADPLOT)
        fprintf(stderr, "gbose %s: %s\n", play->command, err.text); /* all but the figures is there */
    else if (rc)
        return broken(play, &err);
    printf("\nReport: %s/report.html (tables, figures and every run beside it)\n", play->dir);
    return EXIT_FINE;
}

int play_study(struct play *play, struct gbose__plan *plan, char **sources, int n)
{
    struct sigaction action = {.sa_handler = on_signal};
    struct gbose__study *study = gbose__study_new(plan);
    int rc = EXIT_BROKEN;

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
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
