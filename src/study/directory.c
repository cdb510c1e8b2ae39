#include "study/directory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/spec.h"
#include "io/file.h"
#include "study/plan_json.h"

char *gbose__study_plan_text(const char *dir, gbose_error *err)
{
    char *path = gbose__file_path(dir, "study.json"), *text = NULL;
    size_t size;

    if (!path)
        gbose__no_memory(err);
    else if (gbose__file_read(&text, &size, path, err))
        text = NULL;
    free(path);
    return text;
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
    size_t size;
    int rc;

    if (!path)
        return gbose__no_memory(err);
    if (access(path, F_OK) && errno == ENOENT)
        rc = write_plan(dir, text, err);
    else
        rc = gbose__file_read(&there, &size, path, err);
    if (!rc && there && strcmp(there, text))
        rc = gbose__fail(
            err, GBOSE__EWRITE,
            "%s holds another study, or one that other code has played; give another --out, or remove it",
            dir);
    free(there);
    free(path);
    return rc;
}

int gbose__study_open(struct gbose__journal **journal, struct gbose__study *study, const char *dir,
                      gbose_error *err)
{
    char *text = gbose__plan_write(study->plan);
    struct gbose__journal *opened = NULL;
    int rc = text ? gbose__file_make_dirs(dir, err) : gbose__no_memory(err);

    if (!rc)
        rc = gbose__journal_lock(&opened, dir, study, err);
    if (!rc)
        rc = claim(dir, text, err);
    if (!rc)
        rc = gbose__journal_begin(opened, text, study, err);
    if (rc)
        gbose__journal_close(opened);
    else
        *journal = opened;
    free(text);
    return rc;
}
