/* gbose manual: writes the man pages and the completions. The build calls it; no list names it. */
#include <stdio.h>

#include "cli/manual.h"
#include "io/file.h"

static void page(FILE *to, const void *command)
{
    man_page(to, command);
}

static void with_bash(FILE *to, const void *unused)
{
    (void)unused;
    completion_bash(to);
}

static void with_zsh(FILE *to, const void *unused)
{
    (void)unused;
    completion_zsh(to);
}

static void with_fish(FILE *to, const void *unused)
{
    (void)unused;
    completion_fish(to);
}

static int write_one(const char *dir, const char *name, void (*put)(FILE *, const void *), const void *of)
{
    struct gbose__file file;
    gbose_error err = {0, ""};
    int rc = gbose__file_make_dirs(dir, &err);

    if (!rc)
        rc = gbose__file_open(&file, dir, name, &err);
    if (!rc) {
        put(file.to, of);
        rc = gbose__file_close(&file, &err);
    }
    if (rc)
        fprintf(stderr, "gbose manual: %s\n", err.text);
    return rc ? EXIT_BROKEN : EXIT_FINE;
}

static int write_all(const char *dir)
{
    const struct command *command;
    char path[4096], name[64];
    int rc;

    snprintf(path, sizeof path, "%s/man1", dir);
    rc = write_one(path, "gbose.1", page, NULL);
    for (size_t i = 0; !rc && (command = command_number(i)); i++) {
        snprintf(name, sizeof name, "gbose-%s.1", command->name);
        rc = write_one(path, name, page, command);
    }
    snprintf(path, sizeof path, "%s/completions", dir);
    rc = rc ? rc : write_one(path, "gbose", with_bash, NULL);
    rc = rc ? rc : write_one(path, "_gbose", with_zsh, NULL);
    rc = rc ? rc : write_one(path, "gbose.fish", with_fish, NULL);
    return rc;
}

static int run(int argc, char **argv)
{
    struct arg args[] = {{.name = "", .most = MANY}, {.name = NULL}};
    int rc = args_parse(argc, argv, args);

    if (!rc && args[0].n != 1)
        rc = usage_error(argv[0], "it needs the directory to write to");
    if (!rc)
        rc = write_all(args[0].value[0]);
    args_clear(args);
    return rc;
}

const struct command cmd_manual = {
    "manual", "write the man pages and the completions of shells",
    "Usage: gbose manual DIR\n\n"
    "Writes DIR/man1/ and DIR/completions/, as cmake --install installs them.\n\n"
    "Example:\n"
    "  gbose manual build/manual\n",
    run};
