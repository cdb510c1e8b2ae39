#include "study/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/error.h"
#include "io/file.h"
#include "study/journal.h"

struct gbose__session {
    struct gbose__journal *journal;
};

/* The text of DIR/study.json, to be freed, or NULL. */
static int read_plan(char **text, const char *dir, gbose_error *err)
{
    char *path = gbose__file_path(dir, "study.json");
    size_t size;
    int rc = path ? gbose__file_read(text, &size, path, err) : gbose__no_memory(err);

    free(path);
    return rc;
}

static int write_plan(const char *dir, const char *text, gbose_error *err)
{
    struct gbose__file file;
    int rc = gbose__file_open(&file, dir, "study.json", err);

    if (rc)
        return rc;
    fputs(text, file.to);
    return gbose__file_close(&file, err);
}

/* Write DIR/study.json, or find the same text in it. */
static int claim(const char *dir, const char *text, gbose_error *err)
{
    char *path = gbose__file_path(dir, "study.json"), *there = NULL;
    int missing, rc;

    if (!path)
        return gbose__no_memory(err);
    missing = access(path, F_OK) && errno == ENOENT;
    free(path);
    if (missing)
        return write_plan(dir, text, err);
    rc = read_plan(&there, dir, err);
    if (!rc && strcmp(there, text))
        rc = gbose__fail(err, GBOSE_EINVAL,
                         "%s holds another study, or one that other code has played; use another directory, "
                         "or remove it",
                         dir);
    free(there);
    return rc;
}

/* The journal of a directory, its runs taken in. */
static int open_journal(struct gbose__journal **out, struct gbose__study *study, const char *dir,
                        gbose_error *err)
{
    char *text = gbose__plan_text(study->plan);
    struct gbose__journal *journal = NULL;
    int rc = text ? gbose__file_make_dirs(dir, err) : gbose__no_memory(err);

    if (!rc)
        rc = gbose__journal_lock(&journal, dir, study, err);
    if (!rc)
        rc = claim(dir, text, err);
    if (!rc)
        rc = gbose__journal_begin(journal, text, study, err);
    if (rc)
        gbose__journal_close(journal);
    else
        *out = journal;
    free(text);
    return rc;
}

int gbose__session_open(struct gbose__session **out, struct gbose__study *study, const char *dir,
                        gbose_error *err)
{
    struct gbose__session *s = calloc(1, sizeof *s);
    char *had = calloc(study->n_runs + 1, 1);
    int rc = s && had ? GBOSE_OK : gbose__no_memory(err);

    for (size_t i = 0; i < study->n_runs && !rc; i++) {
        had[i] = (char)study->result[i].done;
        study->result[i].done = 0;
    }
    if (!rc)
        rc = open_journal(&s->journal, study, dir, err);
    for (size_t i = 0; i < study->n_runs && had; i++)
        if (had[i] && !study->result[i].done) {
            study->result[i].done = 1;
            if (!rc)
                rc = gbose__journal_append(s->journal, study, i, err);
        }
    free(had);
    if (rc) {
        gbose__session_close(s);
        return rc;
    }
    *out = s;
    return GBOSE_OK;
}

int gbose__session_add(struct gbose__session *s, const struct gbose__study *study, size_t index,
                       gbose_error *err)
{
    return gbose__journal_append(s->journal, study, index, err);
}

void gbose__session_close(struct gbose__session *s)
{
    if (!s)
        return;
    gbose__journal_close(s->journal);
    free(s);
}

int gbose__session_collect(struct gbose__study *study, const char *const *dirs, size_t n, gbose_error *err)
{
    char *plan = gbose__plan_text(study->plan);
    size_t missing = 0;
    int rc = plan ? GBOSE_OK : gbose__no_memory(err);

    for (size_t i = 0; i < n && !rc; i++) {
        char *text = NULL;

        rc = read_plan(&text, dirs[i], err);
        if (!rc && strcmp(text, plan))
            rc = gbose__fail(err, GBOSE_EINVAL, "%s and %s hold different studies", dirs[0], dirs[i]);
        if (!rc)
            rc = gbose__journal_read(dirs[i], plan, study, err);
        free(text);
    }
    for (size_t i = 0; i < study->n_runs && !rc; i++)
        missing += gbose__plan_run_at(study->plan, i).rep < study->plan->reps && !study->result[i].done;
    if (!rc && missing)
        rc = gbose__fail(err, GBOSE_EINVAL, "%zu runs are missing: a shard is not complete, or not named",
                         missing);
    free(plan);
    return rc;
}
