/* gbose learners, gbose worlds: what there is, from the tables. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

#include "gbose_world.h"

#define TEXT_WIDTH 80
#define NAME_WIDTH 15

/* A table of the library, through its public face. */
struct list {
    const char *noun;
    const gbose_info *(*at)(size_t i);
    int (*check)(const char *spec, gbose_error *err); /* GBOSE_OK if it is good; else what is wrong with it */
};

/* A paragraph, wrapped at spaces and indented; its first line begins in this column. */
static void print_wrapped(const char *text, int indent, int column)
{

    while (*text) {
        int n = (int)strcspn(text, " ");
        if (!column || column + 1 + n > TEXT_WIDTH) {
            printf("%s%*s", column ? "\n" : "", indent, "");
            column = indent;
        } else if (column > indent) {
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
    printf("%-*s", NAME_WIDTH, info->name);
    print_wrapped(info->summary, NAME_WIDTH, NAME_WIDTH);
    print_wrapped(list, NAME_WIDTH, 0);
}

static void print_entry(const gbose_info *info)
{
    char accepts[200];

    printf("%s: %s\n\n", info->name, info->summary);
    for (size_t i = 0; i < info->n_options; i++) {
        const gbose_option *o = &info->options[i];
        gbose_option_accepts(accepts, sizeof accepts, o);
        printf("  %s=%s   (%s)\n", o->name, o->value, accepts);
        print_wrapped(o->help, 6, 0);
    }
    printf("\nWrite it as %s:OPTION=VALUE,OPTION=VALUE. Options left out have the values above.\n",
           info->name);
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

/* The entry of a spec's name, or NULL. */
static const gbose_info *find(const struct list *list, const char *spec)
{
    size_t n = strcspn(spec, ":");
    const gbose_info *info;

    for (size_t i = 0; (info = list->at(i)); i++)
        if (strlen(info->name) == n && !strncmp(info->name, spec, n))
            return info;
    return NULL;
}

static void print_all(const struct list *list, const char *command)
{
    const gbose_info *info;

    for (size_t i = 0; (info = list->at(i)); i++)
        print_line(info);
    printf("\ngbose %s NAME explains the options of one.\n", command);
}

static int show(int argc, char **argv, const struct list *list)
{
    struct arg args[] = {{.name = "", .most = MANY}, {.name = "markdown", .most = 0}, {.name = NULL}};
    int rc = args_parse(argc, argv, args);

    if (!rc && !args[0].n && args[1].given)
        rc = usage_error(argv[0], "--markdown needs the name of a %s", list->noun);
    else if (!rc && !args[0].n)
        print_all(list, argv[0]);
    for (int k = 0; k < args[0].n && !rc; k++) {
        gbose_error err = {0, ""};

        if (list->check(args[0].value[k], &err))
            rc = usage_error(argv[0], "%s", err.text);
        else
            (args[1].given ? print_markdown : print_entry)(find(list, args[0].value[k]));
    }
    args_clear(args);
    return rc;
}

static int check_learner(const char *spec, gbose_error *err)
{
    gbose *g = NULL;
    int rc = gbose_new(&g, spec, 1, err);

    gbose_free(g);
    return rc;
}

static int check_world(const char *spec, gbose_error *err)
{
    gbose_world *w = NULL;
    int rc = gbose_world_new(&w, spec, 1, 0, err);

    gbose_world_free(w);
    return rc;
}

static int run_learners(int argc, char **argv)
{
    static const struct list learners = {"learner", gbose_learner_at, check_learner};

    return show(argc, argv, &learners);
}

static int run_worlds(int argc, char **argv)
{
    static const struct list worlds = {"world", gbose_world_at, check_world};

    return show(argc, argv, &worlds);
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
