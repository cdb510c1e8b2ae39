#include <string.h>

#include "cli/manual.h"
#include "gbose_study.h"

/* What may stand somewhere on the command line. */
enum kind { KIND_NOTHING, KIND_TEXT, KIND_FILE, KIND_DIR, KIND_LEARNER, KIND_WORLD, KIND_COMMAND };
static const char *const kind_name[] = {"nothing", "text", "file", "dir", "learner", "world", "command"};

enum { OPTIONS_MOST = 64, VERBS_MOST = 8 };

struct option {
    const char *name;
    int many;
    enum kind kind;
    char meaning[160]; /* the beginning of it */
};

/* A command, as a shell must know it. */
struct shape {
    const struct command *command;
    char verb[VERBS_MOST][16];
    size_t n_verbs, n;
    struct option option[OPTIONS_MOST];
    enum kind alone; /* what stands without an option */
};

static enum kind kind_of(const struct arg *arg, const char *value)
{
    static const char *const files[] = {"FILE", "LOG", "STATE"};

    if (!arg->most)
        return KIND_NOTHING;
    if (!strcmp(arg->name, "learner"))
        return KIND_LEARNER;
    if (!strcmp(arg->name, "world"))
        return KIND_WORLD;
    if (!strcmp(value, "DIR"))
        return KIND_DIR;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (!strcmp(value, files[i]))
            return KIND_FILE;
    return KIND_TEXT;
}

/* The first clause. Brackets would end what zsh has it in. */
static void put_meaning(char *to, size_t capacity, const struct line *line)
{
    size_t n = 0;

    for (size_t i = 0; i < line->length && n + 1 < capacity; i++) {
        if (line->text[i] == ';' ||
            (line->text[i] == '.' && i + 1 < line->length && line->text[i + 1] == ' '))
            break;
        if (!strchr("[]\\", line->text[i]))
            to[n++] = line->text[i];
    }
    to[n] = 0;
}

static void take(const struct arg *args, void *to)
{
    struct shape *shape = to;

    for (; args->name; args++) {
        struct option *option = shape->option + shape->n;
        struct line line;
        char value[32];
        int known = !*args->name || shape->n == OPTIONS_MOST;

        for (size_t i = 0; i < shape->n; i++)
            known |= !strcmp(shape->option[i].name, args->name);
        if (known)
            continue;
        option->name = args->name;
        option->many = args->most == MANY;
        option->meaning[0] = 0;
        if (help_option(shape->command, args->name, &line, value, sizeof value))
            put_meaning(option->meaning, sizeof option->meaning, &line);
        option->kind = kind_of(args, value);
        shape->n++;
    }
}

static void shape_of(struct shape *shape, const struct command *command)
{
    *shape = (struct shape){.command = command, .alone = KIND_FILE};
    shape->n_verbs = help_verbs(command, shape->verb, VERBS_MOST);
    for (size_t i = 0; i < shape->n_verbs; i++)
        args_list(command, shape->verb[i], take, shape);
    if (!shape->n_verbs)
        args_list(command, NULL, take, shape);
    if (!strcmp(command->name, "learners"))
        shape->alone = KIND_LEARNER;
    if (!strcmp(command->name, "worlds"))
        shape->alone = KIND_WORLD;
}

/* Within single quotation marks, which all three shells understand alike. */
static void put_quoted(FILE *to, const char *text)
{
    for (; *text; text++)
        fputs(*text == '\'' ? "'\\''" : (char[]){*text, 0}, to);
}

static void put_names(FILE *to, enum kind kind)
{
    const gbose_info *info;
    const struct command *command;

    for (size_t i = 0; kind == KIND_LEARNER && (info = gbose_learner_at(i)); i++)
        fprintf(to, "%s%s", i ? " " : "", info->name);
    for (size_t i = 0; kind == KIND_WORLD && (info = gbose_world_at(i)); i++)
        fprintf(to, "%s%s", i ? " " : "", info->name);
    for (size_t i = 0; kind == KIND_COMMAND && (command = command_number(i)); i++)
        fprintf(to, "%s%s", i ? " " : "", command->name);
}

static void put_verbs(FILE *to, const struct shape *shape)
{
    for (size_t i = 0; i < shape->n_verbs; i++)
        fprintf(to, "%s%s", i ? " " : "", shape->verb[i]);
}

/* ---- bash ---- */

static void bash_command(FILE *to, const struct shape *shape)
{
    fprintf(to, "    %s)\n        alone=%s verbs='", shape->command->name, kind_name[shape->alone]);
    put_verbs(to, shape);
    fputs("' options='", to);
    for (size_t i = 0; i < shape->n; i++)
        fprintf(to, "--%s ", shape->option[i].name);
    fputs("--help'\n        case $option in\n", to);
    for (size_t i = 0; i < shape->n; i++)
        if (shape->option[i].kind != KIND_NOTHING)
            fprintf(to, "        --%s) kind=%s many=%d ;;\n", shape->option[i].name,
                    kind_name[shape->option[i].kind], shape->option[i].many);
    fputs("        esac\n        ;;\n", to);
}

void completion_bash(FILE *to)
{
    const struct command *command;
    struct shape shape;

    fputs("# Completion of gbose for bash, made from its help.\n"
          "_gbose() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} option='' kind=nothing many=0 alone=nothing verbs='' "
          "options=''\n"
          "    local i at=0\n"
          "    COMPREPLY=()\n"
          "    for ((i = COMP_CWORD - 1; i > 1; i--)); do\n"
          "        if [[ ${COMP_WORDS[i]} == --* ]]; then\n"
          "            option=${COMP_WORDS[i]} at=$i\n"
          "            break\n"
          "        fi\n"
          "    done\n"
          "    case ${COMP_WORDS[1]} in\n"
          "    help) alone=command ;;\n",
          to);
    for (size_t i = 0; (command = command_number(i)); i++) {
        shape_of(&shape, command);
        bash_command(to, &shape);
    }
    fputs("    esac\n"
          "    # Behind an option stands its value; behind that, or without one, what stands alone.\n"
          "    if ((COMP_CWORD == 1)); then\n"
          "        kind=command options='help --help --version'\n"
          "    elif [[ $kind == nothing ]] || ((!many && COMP_CWORD - at > 1)); then\n"
          "        kind=$alone\n"
          "        if [[ $verbs ]] && ((COMP_CWORD == 2)); then\n"
          "            kind=verb\n"
          "        fi\n"
          "    fi\n"
          "    if [[ $word == -* ]]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
          "        return\n"
          "    fi\n"
          "    case $kind in\n"
          "    verb) mapfile -t COMPREPLY < <(compgen -W \"$verbs\" -- \"$word\") ;;\n",
          to);
    for (enum kind kind = KIND_LEARNER; kind <= KIND_COMMAND; kind++) {
        fprintf(to, "    %s) mapfile -t COMPREPLY < <(compgen -W '", kind_name[kind]);
        put_names(to, kind);
        fprintf(to, "%s' -- \"$word\") ;;\n", kind == KIND_COMMAND ? " help" : "");
    }
    fputs("    file) mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n"
          "    dir) mapfile -t COMPREPLY < <(compgen -d -- \"$word\") ;;\n"
          "    esac\n"
          "}\n"
          "complete -o filenames -F _gbose gbose\n",
          to);
}

/* ---- zsh ---- */

static void zsh_action(FILE *to, enum kind kind)
{
    if (kind == KIND_FILE) {
        fputs("file:_files", to);
    } else if (kind == KIND_DIR) {
        fputs("directory:_files -/", to);
    } else if (kind == KIND_TEXT) {
        fputs("value: ", to);
    } else {
        fprintf(to, "%s:(", kind_name[kind]);
        put_names(to, kind);
        fputc(')', to);
    }
}

static void zsh_command(FILE *to, const struct shape *shape)
{
    fprintf(to, "%s)\n    _arguments", shape->command->name);
    for (size_t i = 0; i < shape->n; i++) {
        const struct option *option = shape->option + i;

        fprintf(to, " \\\n        '%s--%s[", option->many ? "*" : "", option->name);
        put_quoted(to, option->meaning);
        fputc(']', to);
        if (option->kind != KIND_NOTHING) {
            fputs(option->many ? ":*-*:" : ":", to);
            zsh_action(to, option->kind);
        }
        fputc('\'', to);
    }
    fputs(" \\\n        '--help[explain]'", to);
    if (shape->n_verbs) {
        fputs(" \\\n        '1:what to do:(", to);
        put_verbs(to, shape);
        fputs(")'", to);
    }
    fputs(" \\\n        '*:", to);
    zsh_action(to, shape->alone);
    fputs("'\n    ;;\n", to);
}

static void put_summary(FILE *to, const struct command *command)
{
    struct line line = {.text = command->summary, .length = strlen(command->summary)};
    char summary[160];

    put_meaning(summary, sizeof summary, &line);
    put_quoted(to, summary);
}

void completion_zsh(FILE *to)
{
    const struct command *command;
    struct shape shape;

    fputs("#compdef gbose\n# Completion of gbose for zsh, made from its help.\n"
          "local -a commands\ncommands=(\n",
          to);
    for (size_t i = 0; (command = command_number(i)); i++) {
        fprintf(to, "    '%s:", command->name);
        put_summary(to, command);
        fputs("'\n", to);
    }
    fputs("    'help:explain a command'\n)\n"
          "if ((CURRENT == 2)); then\n    _describe command commands\n    return\nfi\n"
          "shift words\n((CURRENT--))\n"
          "case $words[1] in\n"
          "help) _describe command commands ;;\n",
          to);
    for (size_t i = 0; (command = command_number(i)); i++) {
        shape_of(&shape, command);
        zsh_command(to, &shape);
    }
    fputs("esac\n", to);
}

/* ---- fish ---- */

static void fish_action(FILE *to, enum kind kind)
{
    if (kind == KIND_FILE) {
        fputs(" -F", to);
    } else if (kind == KIND_DIR) {
        fputs(" -x -a '(__fish_complete_directories)'", to);
    } else if (kind == KIND_TEXT) {
        fputs(" -x", to);
    } else if (kind != KIND_NOTHING) {
        fputs(" -x -a '", to);
        put_names(to, kind);
        fputc('\'', to);
    }
}

static void fish_command(FILE *to, const struct shape *shape)
{
    const char *name = shape->command->name;

    fprintf(to, "complete -c gbose -n __fish_use_subcommand -a %s -d '", name);
    put_summary(to, shape->command);
    fputs("'\n", to);
    for (size_t i = 0; i < shape->n; i++) {
        const struct option *option = shape->option + i;

        fprintf(to, "complete -c gbose -n '__fish_seen_subcommand_from %s' -l %s", name, option->name);
        if (option->kind != KIND_NOTHING)
            fputs(" -r", to);
        fish_action(to, option->kind);
        fputs(" -d '", to);
        put_quoted(to, option->meaning);
        fputs("'\n", to);
    }
    if (shape->n_verbs) {
        fprintf(to, "complete -c gbose -n '__fish_seen_subcommand_from %s' -a '", name);
        put_verbs(to, shape);
        fputs("'\n", to);
    }
    fprintf(to, "complete -c gbose -n '__fish_seen_subcommand_from %s'", name);
    fish_action(to, shape->alone);
    fputc('\n', to);
}

void completion_fish(FILE *to)
{
    const struct command *command;
    struct shape shape;

    fputs("# Completion of gbose for fish, made from its help.\n"
          "complete -c gbose -f\n"
          "complete -c gbose -n __fish_use_subcommand -a help -d 'explain a command'\n"
          "complete -c gbose -n '__fish_seen_subcommand_from help' -a '",
          to);
    put_names(to, KIND_COMMAND);
    fputs("'\n", to);
    for (size_t i = 0; (command = command_number(i)); i++) {
        shape_of(&shape, command);
        fish_command(to, &shape);
    }
}
