/* A plan as JSON text, written without a JSON library: the library gbose_study needs none. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "study/plan.h"

/* A hash of the sources that results depend on, from the build: runs of other code are not taken for
 * these. */
#ifndef GBOSE_CODE
#define GBOSE_CODE "unknown"
#endif

static void put_string(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(to, "\\%c", *text);
        else if ((unsigned char)*text < ' ')
            fprintf(to, "\\u%04X", (unsigned)*text);
        else
            fputc(*text, to);
    fputc('"', to);
}

/* "name": "text", and what follows it. */
static void put_member(FILE *to, const char *name, const char *text, const char *after)
{
    fprintf(to, "\"%s\": ", name);
    put_string(to, text);
    fputs(after, to);
}

static void put_values(FILE *to, const struct gbose__entry *e)
{
    fputs("\"values\": [", to);
    for (size_t v = 0; e->option && v < e->n_values; v++) {
        fputs(v ? ",\n        " : "\n        ", to);
        put_string(to, e->value[v]);
    }
    fputs(e->option && e->n_values ? "\n      ]" : "]", to);
}

static void put_learner(FILE *to, const struct gbose__entry *e)
{
    fputs("    {\n      ", to);
    put_member(to, "label", e->label, ",\n      ");
    put_member(to, e->joined ? "own" : "spec", e->spec, ",\n      ");
    if (e->option)
        put_member(to, "sweep", e->option, ",\n      ");
    put_values(to, e);
    fputs("\n    }", to);
}

static void put_world(FILE *to, const struct gbose__plan *plan, size_t i)
{
    fputs(plan->joined[i] ? "    {" : "    ", to);
    if (plan->joined[i])
        put_member(to, "own", plan->world[i], "}");
    else
        put_string(to, plan->world[i]);
}

char *gbose__plan_text(const struct gbose__plan *plan)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    int bad;

    if (!to)
        return NULL;
    fputs("{\n  ", to);
    put_member(to, "gbose", gbose_version(), ",\n  ");
    put_member(to, "code", GBOSE_CODE, ",\n  ");
    put_member(to, "study", plan->name, ",\n  \"worlds\": [\n");
    for (size_t i = 0; i < plan->n_worlds; i++) {
        put_world(to, plan, i);
        fputs(i + 1 < plan->n_worlds ? ",\n" : "\n", to);
    }
    fputs("  ],\n  \"learners\": [\n", to);
    for (size_t i = 0; i < plan->n_learners; i++) {
        put_learner(to, &plan->learner[i]);
        fputs(i + 1 < plan->n_learners ? ",\n" : "\n", to);
    }
    fprintf(to,
            "  ],\n  \"rounds\": %" PRIu64
            ",\n  \"repetitions\": %zu,\n  \"fresh\": %zu,\n  \"seed\": %" PRIu64 "\n}",
            plan->rounds, plan->reps, plan->fresh, plan->seed);
    bad = ferror(to);
    if (fclose(to) || bad) {
        free(text);
        return NULL;
    }
    return text;
}
