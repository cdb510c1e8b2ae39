/* The settings of a bandit: from JSON, and back. */
#include "serve/service.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"

enum { WAIT, DEFAULT_REWARD, AGGREGATE, MODE, DURABILITY, FALLBACK, BASE_ARM, CAP, RETENTION };

const struct gbose__field gbose__settings_fields[GBOSE__SET_FIELDS] = {
    [WAIT] = {"wait", GBOSE__IS(GBOSE__TEXT), 0, 0},
    [DEFAULT_REWARD] = {"default_reward", GBOSE__IS(GBOSE__NUMBER), 0, 0},
    [AGGREGATE] = {"aggregate", GBOSE__IS(GBOSE__TEXT), 0, 0},
    [MODE] = {"mode", GBOSE__IS(GBOSE__TEXT), 0, 0},
    [DURABILITY] = {"durability", GBOSE__IS(GBOSE__TEXT), 0, 0},
    [FALLBACK] = {"fallback", GBOSE__IS_FLAG, 0, 0},
    [BASE_ARM] = {"base_arm", GBOSE__IS(GBOSE__TEXT), 0, 0},
    [CAP] = {"cap", GBOSE__IS(GBOSE__NUMBER), 0, 0},
    [RETENTION] = {"retention", GBOSE__IS(GBOSE__TEXT), 0, 0},
};

const struct gbose__settings gbose__settings_default = {.wait = 600000, .aggregate = GBOSE__FIRST, .cap = 1};

static const char *const aggregates[] = {"first", "last", "sum", "mean", "max"};
static const char *const modes[] = {"online", "apprentice", "log-only"};
static const char *const durabilities[] = {"full", "relaxed"};

#define LONGEST (INT64_C(3650) * 86400000) /* ten years */

static const struct {
    const char *unit;
    int64_t milliseconds;
} units[] = {{"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};

/* "30m", "36h", "90d", "1500ms". */
static int read_duration(const struct gbose__document *d, const struct gbose__field *f, int64_t *out,
                         struct gbose__problem *p)
{
    char text[32] = "", *unit;
    double n;

    if (d->value[f->at].end - d->value[f->at].begin < sizeof text)
        gbose__document_text(d, f->at, text);
    n = strtod(text, &unit);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (unit != text && !strcmp(unit, units[i].unit) && n >= 0 &&
            n * (double)units[i].milliseconds <= LONGEST) {
            *out = (int64_t)(n * (double)units[i].milliseconds + 0.5);
            return 0;
        }
    return gbose__problem(p, 400, "bad_duration", "", f->name,
                          "'%s' must be a time such as \"30m\", \"36h\" or \"90d\", at most ten years",
                          f->name);
}

static int read_choice(const struct gbose__document *d, const struct gbose__field *f,
                       const char *const *names, size_t n, struct gbose__problem *p)
{
    char text[40] = "", all[100] = "";
    size_t used = 0;

    for (size_t i = 0; i < n; i++)
        if (gbose__document_is(d, f->at, names[i]))
            return (int)i;
    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s'%s'",
                                 i ? (i + 1 < n ? ", " : " or ") : "", names[i]);
    if (d->value[f->at].end - d->value[f->at].begin < sizeof text)
        gbose__document_text(d, f->at, text);
    return gbose__problem(p, 400, "bad_choice", "", f->name, "'%s' must be %s; did you mean '%s'?", f->name,
                          all, gbose__names_nearest(text, names, n));
}

unsigned gbose__cap_flags(double cap)
{
    return cap < 1 ? (unsigned)(cap * 1e6 + 0.5) << GBOSE__CAP_SHIFT : 0;
}

double gbose__cap_of(unsigned flags)
{
    return flags >> GBOSE__CAP_SHIFT ? (flags >> GBOSE__CAP_SHIFT) / 1e6 : 1;
}

int gbose__settings_read(struct gbose__settings *settings, const struct gbose__document *d,
                         const struct gbose__field *f, struct gbose__problem *p)
{
    int choice;

    if (f[WAIT].at) {
        if (read_duration(d, &f[WAIT], &settings->wait, p))
            return -1;
        if (settings->wait < 1)
            return gbose__problem(p, 400, "bad_duration", "", "wait", "'wait' must be at least 1ms");
    }
    if (f[RETENTION].at && read_duration(d, &f[RETENTION], &settings->retention, p))
        return -1;
    if (f[DEFAULT_REWARD].at &&
        gbose__fields_number(d, f[DEFAULT_REWARD].at, -GBOSE_MAX_INPUT, GBOSE_MAX_INPUT,
                             &settings->default_reward, "", "default_reward", p))
        return -1;
    if (f[CAP].at) {
        if (gbose__fields_number(d, f[CAP].at, 0.001, 1, &settings->cap, "", "cap", p))
            return -1;
        settings->cap = gbose__cap_of(gbose__cap_flags(settings->cap)); /* as an event will remember it */
    }
    if (f[AGGREGATE].at) {
        choice = read_choice(d, &f[AGGREGATE], aggregates, 5, p);
        if (choice < 0)
            return -1;
        settings->aggregate = (enum gbose__aggregate)choice;
    }
    if (f[MODE].at) {
        choice = read_choice(d, &f[MODE], modes, 3, p);
        if (choice < 0)
            return -1;
        settings->mode = (enum gbose__mode)choice;
    }
    if (f[DURABILITY].at) {
        choice = read_choice(d, &f[DURABILITY], durabilities, 2, p);
        if (choice < 0)
            return -1;
        settings->relaxed = choice;
    }
    if (f[FALLBACK].at)
        settings->fallback = d->value[f[FALLBACK].at].kind == GBOSE__TRUE;
    if (f[BASE_ARM].at) {
        if (d->value[f[BASE_ARM].at].end - d->value[f[BASE_ARM].at].begin > GBOSE__MAX_NAME)
            return gbose__problem(p, 400, "too_long", "", "base_arm", "'base_arm' is longer than %d bytes",
                                  GBOSE__MAX_NAME);
        gbose__document_text(d, f[BASE_ARM].at, settings->base_arm);
    }
    return 0;
}

static void write_duration(struct gbose__text *out, int64_t milliseconds)
{
    size_t i = 0;

    while (milliseconds % units[i].milliseconds)
        i++;
    gbose__text_format(out, "\"%" PRId64 "%s\"", milliseconds / units[i].milliseconds, units[i].unit);
}

void gbose__settings_write(const struct gbose__settings *s, struct gbose__text *out)
{
    gbose__text_add(out, "\"wait\": ");
    write_duration(out, s->wait);
    gbose__text_add(out, ", \"default_reward\": ");
    gbose__text_number(out, s->default_reward);
    gbose__text_format(
        out, ", \"aggregate\": \"%s\", \"mode\": \"%s\", \"durability\": \"%s\", \"fallback\": %s",
        aggregates[s->aggregate], modes[s->mode], durabilities[s->relaxed], s->fallback ? "true" : "false");
    gbose__text_add(out, ", \"base_arm\": ");
    gbose__text_quoted(out, *s->base_arm ? s->base_arm : NULL);
    gbose__text_add(out, ", \"cap\": ");
    gbose__text_number(out, s->cap);
    gbose__text_add(out, ", \"retention\": ");
    if (s->retention)
        write_duration(out, s->retention);
    else
        gbose__text_add(out, "null");
}
