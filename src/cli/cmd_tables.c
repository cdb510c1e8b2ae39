/* gbose learners, gbose worlds: what there is, from the tables. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

#include "core/spec.h"
#include "learners/learner.h"
#include "worlds/world.h"

#define TEXT_WIDTH 96

/* A paragraph, wrapped at spaces and indented. */
static void print_wrapped(const char *text, int indent)
{
    int column = 0;

    while (*text) {
        int n = (int)strcspn(text, " ");
        if (!column || column + 1 + n > TEXT_WIDTH) {
            printf("%s%*s", column ? "\n" : "", indent, "");
            column = indent;
        } else {
            putchar(' ');
            column++;
        }
        printf("%.*s", n, text);
        column += n;
        text += n;
        text += strspn(text, " ");
    }
    putchar('\n');
}

/* Name and summary, then the options with their defaults. */
static void print_line(const gbose_info *info)
{
    char list[600] = "";
    size_t used = 0;

    for (size_t i = 0; i < info->n_options && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s=%s", i ? " " : "",
                                 info->options[i].name, info->options[i].value);
    printf("%-14s %s\n", info->name, info->summary);
    print_wrapped(list, 15);
}

static void print_entry(const gbose_info *info)
{
    char accepts[200];

    printf("%s: %s\n\n", info->name, info->summary);
    for (size_t i = 0; i < info->n_options; i++) {
        const gbose_option *o = &info->options[i];
        gbose_option_accepts(accepts, sizeof accepts, o);
        printf("  %s=%s   (%s)\n", o->name, o->value, accepts);
        print_wrapped(o->help, 6);
    }
    printf("\nWritten as %s:OPTION=VALUE,OPTION=VALUE; what is left out has the value above.\n", info->name);
}

static void print_markdown(const gbose_info *info)
{
    char accepts[200];

    printf("| option | default | accepts | meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; i < info->n_options; i++) {
        const gbose_option *o = &info->options[i];
        gbose_option_accepts(accepts, sizeof accepts, o);
        printf("| `%s` | `%s` | %s | %s |\n", o->name, o->value, accepts, o->help);
    }
}

static int show(int argc, char **argv, const struct gbose__catalog *catalog)
{
    struct arg args[] = {{.name = "", .most = MANY}, {.name = "markdown", .most = 0}, {.name = NULL}};
    int rc = args_parse(argc, argv, args);

    if (!rc && !args[0].n && !args[1].given)
        for (size_t i = 0; catalog->at(i); i++)
            print_line(catalog->at(i));
    if (!rc && !args[0].n && !args[1].given)
        printf("\nWhat the options of one mean: gbose %s NAME\n", argv[0]);
    if (!rc && !args[0].n && args[1].given)
        rc = usage_error(argv[0], "--markdown needs the name of a %s", catalog->noun);
    for (int k = 0; k < args[0].n && !rc; k++) {
        struct gbose__value value[GBOSE__MAX_OPTIONS];
        gbose_error err;
        size_t i;

        if (gbose__spec_parse(&i, value, args[0].value[k], catalog, &err)) {
            rc = usage_error(argv[0], "%s", err.text);
            break;
        }
        if (args[1].given)
            print_markdown(catalog->at(i));
        else
            print_entry(catalog->at(i));
    }
    args_clear(args);
    return rc;
}

static int run_learners(int argc, char **argv)
{
    return show(argc, argv, &gbose__learners);
}

static int run_worlds(int argc, char **argv)
{
    return show(argc, argv, &gbose__worlds);
}

const struct command cmd_learners = {"learners", "list the learners, or the options of one",
                                     "Usage: gbose learners [NAME...] [--markdown]\n\n"
                                     "  --markdown   the options as a Markdown table\n\n"
                                     "Examples:\n"
                                     "  gbose learners\n"
                                     "  gbose learners gbose semi-ts\n",
                                     run_learners};

const struct command cmd_worlds = {"worlds", "list the simulated worlds, or the options of one",
                                   "Usage: gbose worlds [NAME...] [--markdown]\n\n"
                                   "  --markdown   the options as a Markdown table\n\n"
                                   "Examples:\n"
                                   "  gbose worlds\n"
                                   "  gbose worlds gallery\n",
                                   run_worlds};
