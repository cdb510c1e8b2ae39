#include "support/scratch.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"

char *scratch_new(void)
{
    const char *base = getenv("TMPDIR");
    char *dir = malloc(4096);

    assert_non_null(dir);
    snprintf(dir, 4096, "%s/gbose-test-XXXXXX", base && *base ? base : "/tmp");
    assert_non_null(mkdtemp(dir));
    return dir;
}

static void remove_tree(const char *path)
{
    struct stat st;

    if (lstat(path, &st))
        return;
    if (S_ISDIR(st.st_mode)) {
        DIR *d = opendir(path);
        struct dirent *e;
        while (d && (e = readdir(d)))
            if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..")) {
                char below[4096 + 512];
                snprintf(below, sizeof below, "%s/%s", path, e->d_name);
                remove_tree(below);
            }
        if (d)
            closedir(d);
    }
    remove(path);
}

void scratch_remove(char *dir)
{
    remove_tree(dir);
    free(dir);
}

const char *scratch_path(const char *dir, const char *name)
{
    static char buf[8][4096];
    static unsigned next;
    char *path = buf[next++ % 8];

    snprintf(path, sizeof buf[0], "%s/%s", dir, name);
    return path;
}

int scratch_exists(const char *dir, const char *name)
{
    struct stat st;

    return !lstat(scratch_path(dir, name), &st);
}

size_t scratch_count(const char *dir, const char *part)
{
    DIR *d = opendir(dir);
    struct dirent *e;
    size_t n = 0;

    assert_that(d != NULL, "%s", dir);
    while ((e = readdir(d)))
        n += strstr(e->d_name, part) != NULL;
    closedir(d);
    return n;
}

char *scratch_read(const char *dir, const char *name, size_t *size)
{
    FILE *from = fopen(scratch_path(dir, name), "rb");
    char *text = NULL;
    size_t n = 0, got;

    assert_that(from != NULL, "%s/%s", dir, name);
    do {
        text = realloc(text, n + 65537);
        assert_non_null(text);
        got = fread(text + n, 1, 65536, from);
        n += got;
    } while (got);
    fclose(from);
    text[n] = 0;
    if (size)
        *size = n;
    return text;
}

void scratch_write(const char *dir, const char *name, const char *text, unsigned mode)
{
    FILE *to = fopen(scratch_path(dir, name), "w");

    assert_that(to != NULL, "%s/%s", dir, name);
    fputs(text, to);
    assert_int_equal(fclose(to), 0);
    assert_int_equal(chmod(scratch_path(dir, name), (mode_t)mode), 0);
}
