#include "report/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/error.h"
#include "io/file.h"

extern char **environ;

/* What each output is called, and the bytes that a whole one ends with (space at the end aside). */
static const struct {
    const char *suffix, *end;
} outputs[] = {{".svg", "</svg>"}, {".png", "IEND\xae\x42\x60\x82"}, {".pdf", "%%EOF"}};

#define N_OUTPUTS (sizeof outputs / sizeof *outputs)

/* In double quotes a backslash, a quote and a backtick (which would run a command) are special; in the
 * label of a tic also a percent sign, which begins a format. */
static void put_string(FILE *to, const char *text, int tic)
{
    putc('"', to);
    for (; *text; text++)
        if (*text == '\n')
            fputs("\\n", to);
        else if (*text == '%' && tic)
            fputs("%%", to);
        else if (strchr("\\\"`", *text) || (unsigned char)*text < ' ')
            fprintf(to, "\\%03o", (unsigned)(unsigned char)*text);
        else
            putc(*text, to);
    putc('"', to);
}

void gbose__gnuplot_string(FILE *to, const char *text)
{
    put_string(to, text, 0);
}

void gbose__gnuplot_tic(FILE *to, const char *text)
{
    put_string(to, text, 1);
}

int gbose__gnuplot_missed(int drawn, const gbose_error *drawing, gbose_error *err)
{
    if (!drawn || drawn == GBOSE__ENOPLOT)
        return GBOSE_OK;
    *err = *drawing;
    return drawn;
}

void gbose__gnuplot_outputs(FILE *to, double width, double height, const char *draw)
{
    fprintf(
        to,
        "do for [ending in \"svg png pdf\"] {\n"
        "  if (ending eq \"svg\") { set terminal svg size %.0f,%.0f font \"sans,13\" background \"white\" }\n"
        "  if (ending eq \"png\") { set terminal pngcairo size %.0f,%.0f font \"sans,13\" fontscale 2 }\n"
        "  if (ending eq \"pdf\") { set terminal pdfcairo size %.2fin,%.2fin font \"sans,13\" }\n"
        "  set output out.\".\".ending\n  %s\n  unset output\n}\n",
        width, height, 2 * width, 2 * height, width / 100, height / 100, draw);
}

/* The environment with TZ=UTC, so that the length of a date does not depend on the place. NULL: no memory. */
static char **quiet_environment(void)
{
    static char utc[] = "TZ=UTC";
    size_t n = 0, kept = 0;
    char **env;

    while (environ[n])
        n++;
    env = calloc(n + 2, sizeof *env);
    if (!env)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "TZ=", 3))
            env[kept++] = environ[i];
    env[kept] = utc;
    return env;
}

/* Start it with its standard error in a pipe. 0, or an errno. */
static int start(pid_t *pid, int *from, char *const argv[])
{
    posix_spawn_file_actions_t actions;
    char **env = quiet_environment();
    int ends[2], error = 0;

    if (!env)
        return ENOMEM;
    if (pipe(ends)) {
        error = errno;
        free(env);
        return error;
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    error = posix_spawn_file_actions_init(&actions);
    if (!error) {
        error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        if (!error)
            error = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
        if (!error)
            error = posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
        if (!error)
            error = posix_spawnp(pid, argv[0], &actions, NULL, argv, env);
        posix_spawn_file_actions_destroy(&actions);
    }
    free(env);
    close(ends[1]);
    if (error)
        close(ends[0]);
    else
        *from = ends[0];
    return error;
}

/* Read to the end and keep the first bytes. */
static void drain(int from, char *text, size_t room)
{
    char buf[4096];
    size_t n = 0;
    ssize_t got;

    while ((got = read(from, buf, sizeof buf)) > 0 || (got < 0 && errno == EINTR))
        for (ssize_t i = 0; i < got && n + 1 < room; i++)
            text[n++] = buf[i];
    text[n] = 0;
    close(from);
}

/* gnuplot says: an empty line, the line of the script, a caret under it, and then what was wrong, as
 * "FILE" line N: TEXT. That line, or the first that says anything. */
static const char *complaint(char *text)
{
    const char *first = NULL;
    char *rest;

    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        line += strspn(line, " \t\r");
        if (strstr(line, "\" line "))
            return line;
        if (!first && line[strspn(line, "^ ")])
            first = line;
    }
    return first ? first : "it said nothing";
}

static int run(const char *dir, const char *name, const char *script, gbose_error *err)
{
    char *where = NULL, said[2048];
    size_t size;
    FILE *to = open_memstream(&where, &size);
    char *argv[] = {"gnuplot", "-d", "-e", NULL, NULL, NULL};
    int from = -1, status, error;
    pid_t pid;

    if (!to)
        return gbose__no_memory(err);
    /* The directory's name may hold anything: it goes into the script's language, not into a shell's. */
    fputs("cd ", to);
    gbose__gnuplot_string(to, dir);
    fprintf(to, "; out = '%s.tmp'", name);
    if (fclose(to)) {
        free(where);
        return gbose__no_memory(err);
    }
    argv[3] = where;
    argv[4] = (char *)script;
    error = start(&pid, &from, argv);
    free(where);
    if (error == ENOENT)
        return gbose__fail(err, GBOSE__ENOPLOT, "figures skipped: install gnuplot");
    if (error)
        return gbose__fail(err, GBOSE__EBADPLOT, "cannot start gnuplot: %s", strerror(error));
    drain(from, said, sizeof said);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return gbose__fail(err, GBOSE__EBADPLOT, "cannot wait for gnuplot: %s", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return gbose__fail(err, GBOSE__ENOPLOT, "figures skipped: install gnuplot");
    if (WIFSIGNALED(status))
        return gbose__fail(err, GBOSE__EBADPLOT, "gnuplot was ended by signal %d on %s/%s", WTERMSIG(status),
                           dir, script);
    if (WEXITSTATUS(status))
        return gbose__fail(err, GBOSE__EBADPLOT, "gnuplot failed on %s/%s: %s", dir, script, complaint(said));
    return GBOSE_OK;
}

/* ---- what it made ---- */

static int ends_with(const char *text, size_t size, const char *end)
{
    size_t n = strlen(end);

    while (size && (text[size - 1] == '\n' || text[size - 1] == ' '))
        size--;
    return size >= n && !memcmp(text + size - n, end, n);
}

/* Replace the digits of "/CreationDate (D:20260102030405Z)": the file's length and offsets stay. */
static void clear_date(char *text, size_t size)
{
    static const char key[] = "/CreationDate (D:", date[] = "19700101000000";
    size_t n = sizeof key - 1, digits = sizeof date - 1;

    for (size_t i = 0; i + n + digits < size; i++)
        if (!memcmp(text + i, key, n) && strspn(text + i + n, "0123456789") >= digits)
            memcpy(text + i + n, date, digits);
}

/* Take out the titles that are gnuplot's own names, "gnuplot_plot_1a" and the like, which a reader would see on pointing at
 * a curve. The text's new size. */
static size_t clear_titles(char *text, size_t size)
{
    static const char *const mark[] = {"<title>gnuplot_plot_", "<title>Gnuplot<"};
    static const char end[] = "</title>";
    char *to = text;
    const char *at = text;

    while (at < text + size) {
        int own = !strncmp(at, mark[0], strlen(mark[0])) || !strncmp(at, mark[1], strlen(mark[1]));
        const char *after = own ? strstr(at, end) : NULL;

        if (after)
            at = after + strlen(end);
        else
            *to++ = *at++;
    }
    *to = 0;
    return (size_t)(to - text);
}

/* Check DIR/NAME.tmp.SUFFIX and put it in place. */
static int take(const char *dir, const char *name, size_t i, gbose_error *err)
{
    char file[128], *path, *text = NULL;
    struct gbose__file f;
    size_t size;
    int rc;

    snprintf(file, sizeof file, "%.100s.tmp%s", name, outputs[i].suffix);
    path = gbose__file_path(dir, file);
    if (!path)
        return gbose__no_memory(err);
    if (gbose__file_read(&text, &size, path, NULL) || !ends_with(text, size, outputs[i].end)) {
        rc = gbose__fail(err, GBOSE__EBADPLOT, "gnuplot left %s unfinished: is the disk full?", path);
    } else {
        if (!strcmp(outputs[i].suffix, ".pdf"))
            clear_date(text, size);
        if (!strcmp(outputs[i].suffix, ".svg"))
            size = clear_titles(text, size);
        snprintf(file, sizeof file, "%.100s%s", name, outputs[i].suffix);
        rc = gbose__file_open(&f, dir, file, err);
        if (!rc) {
            fwrite(text, 1, size, f.to);
            rc = gbose__file_close(&f, err);
        }
    }
    free(text);
    free(path);
    return rc;
}

static void forget(const char *dir, const char *name, const char *between)
{
    for (size_t i = 0; i < N_OUTPUTS; i++) {
        char file[128], *path;

        snprintf(file, sizeof file, "%.100s%s%s", name, between, outputs[i].suffix);
        path = gbose__file_path(dir, file);
        if (path)
            unlink(path);
        free(path);
    }
}

int gbose__gnuplot(const char *dir, const char *name, gbose_error *err)
{
    char script[128];
    int rc;

    snprintf(script, sizeof script, "%.100s.gp", name);
    rc = run(dir, name, script, err);
    for (size_t i = 0; i < N_OUTPUTS && !rc; i++)
        rc = take(dir, name, i, err);
    forget(dir, name, ".tmp");
    if (rc)
        forget(dir, name, "");
    return rc;
}
