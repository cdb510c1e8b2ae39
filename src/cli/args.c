#include "cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"

int usage_error(const char *command, const char *format, ...)
{
    va_list list;

    fprintf(stderr, "gbose %s: ", command);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    return EXIT_USAGE;
}

int command_failed(const char *command, const gbose_error *err)
{
    fprintf(stderr, "gbose %s: %s\n", command, err->text);
    return err->code == GBOSE_EINVAL ? EXIT_USAGE : EXIT_BROKEN;
}

static struct arg *find(struct arg *args, const char *name, size_t length)
{
    for (; args->name; args++)
        if (strlen(args->name) == length && !memcmp(args->name, name, length))
            return args;
    return NULL;
}

/* The option that may be meant, or NULL. */
static const char *near_option(const char *name, size_t length, const struct arg *args)
{
    char word[64];
    const char *best = NULL;
    size_t least = SIZE_MAX;

    snprintf(word, sizeof word, "%.*s", (int)length, name);
    for (; args->name; args++) {
        size_t distance = gbose__names_distance(word, args->name);
        if (*args->name && gbose__names_near(word, args->name) && distance < least) {
            best = args->name;
            least = distance;
        }
    }
    return best;
}

static void list_options(char *buf, size_t capacity, const struct arg *args)
{
    size_t used = 0;

    buf[0] = 0;
    for (; args->name; args++)
        if (*args->name && used < capacity)
            used += (size_t)snprintf(buf + used, capacity - used, "%s--%s", used ? ", " : "", args->name);
}

static int add(struct arg *arg, char *value, const char *command)
{
    if (arg->n >= arg->most) {
        if (arg->most == 0)
            return usage_error(command, "--%s takes no value; got '%s'", arg->name, value);
        return usage_error(command, "--%s is given twice", arg->name);
    }
    arg->value[arg->n++] = value;
    return EXIT_FINE;
}

/* Whoever asked for a command's options instead of running it. */
static struct {
    void (*take)(const struct arg *args, void *to);
    void *to;
} asked;

/* A command begins with args_parse(), and ends when that does not succeed. */
void args_list(const struct command *command, const char *verb,
               void (*take)(const struct arg *args, void *to), void *to)
{
    char name[32], word[32], *argv[] = {name, word, NULL};

    snprintf(name, sizeof name, "%s", command->name);
    snprintf(word, sizeof word, "%s", verb ? verb : "");
    asked.take = take;
    asked.to = to;
    command->run(verb ? 2 : 1, argv);
    asked.take = NULL;
}

int args_parse(int argc, char **argv, struct arg *args)
{
    struct arg *alone = find(args, "", 0), *arg = NULL;
    char known[400];
    int rc;

    if (asked.take) {
        asked.take(args, asked.to);
        return EXIT_USAGE;
    }
    for (struct arg *a = args; a->name; a++) {
        a->value = calloc((size_t)argc + 1, sizeof *a->value);
        if (!a->value) {
            fprintf(stderr, "gbose: out of memory\n");
            return EXIT_BROKEN;
        }
    }
    for (int i = 1; i < argc; i++) {
        char *word = argv[i], *equals;

        if (strncmp(word, "--", 2) || !word[2]) {
            if (arg && arg->most == 0)
                arg = NULL;
            if (arg && arg->most == 1 && arg->n == 1)
                arg = NULL;
            if (!arg && !alone)
                return usage_error(argv[0], "unexpected '%s'; see gbose help %s", word, argv[0]);
            rc = add(arg ? arg : alone, word, argv[0]);
            if (rc)
                return rc;
            continue;
        }
        word += 2;
        equals = strchr(word, '=');
        arg = find(args, word, equals ? (size_t)(equals - word) : strlen(word));
        if (!arg && near_option(word, strcspn(word, "="), args))
            return usage_error(argv[0], "unknown option '%s'; did you mean '--%s'?", argv[i],
                               near_option(word, strcspn(word, "="), args));
        if (!arg) {
            list_options(known, sizeof known, args);
            return usage_error(argv[0],
                               *known ? "unknown option '%s'; it knows %s"
                                      : "unknown option '%s'; it has no options%s",
                               argv[i], known);
        }
        if (arg->given && arg->most < MANY)
            return usage_error(argv[0], "--%s is given twice", arg->name);
        arg->given = 1;
        if (equals) {
            rc = add(arg, equals + 1, argv[0]);
            if (rc)
                return rc;
        } else if (arg->most && (i + 1 == argc || !strncmp(argv[i + 1], "--", 2))) {
            return usage_error(argv[0], "--%s needs a value; see gbose help %s", arg->name, argv[0]);
        }
    }
    return EXIT_FINE;
}

struct arg *args_named(struct arg *args, const char *name)
{
    while (strcmp(args->name, name))
        args++;
    return args;
}

void args_clear(struct arg *args)
{
    for (; args->name; args++) {
        free(args->value);
        args->value = NULL;
    }
}

int parse_count(uint64_t *out, const char *command, const char *name, const char *text, uint64_t min,
                uint64_t max)
{
    char *end;
    uintmax_t n;

    errno = 0;
    n = strtoumax(text, &end, 10);
    if (!*text || *end || text[strspn(text, "0123456789")] || errno || n < min || n > max)
        return usage_error(command, "--%s must be a whole number from %" PRIu64 " to %" PRIu64 "; got '%s'",
                           name, min, max, text);
    *out = n;
    return EXIT_FINE;
}
