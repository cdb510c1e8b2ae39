#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/trial.h"
#include "core/decimal.h"
#include "core/error.h"
#include "io/csv.h"

/* Columns by name. An intercept comes before the named controls and moderators. */
struct trial {
    const struct logs *logs;
    struct gbose__csv *csv;
    long unit, action, probability, outcome, available;
    long control[64], moderator[64];
    size_t n_controls, n_moderators; /* without the intercepts */
    double numerator;                /* 0: the mean probability, found in a pass of its own */
    struct names units;
};

static int number(const struct trial *t, long column, double *out, gbose_error *err)
{
    const char *text = gbose__csv_field(t->csv, (size_t)column);
    char *end;

    *out = strtod(text, &end);
    if (end == text || *end || !isfinite(*out))
        return gbose__fail(err, GBOSE_EINVAL, "'%s' must be a number; got '%.40s'",
                           gbose__csv_name(t->csv, (size_t)column), text);
    return GBOSE_OK;
}

static int find(struct trial *t, const char *name, const char *option, long *out)
{
    gbose_error err;

    *out = gbose__csv_find(t->csv, name);
    if (*out >= 0)
        return EXIT_FINE;
    gbose__csv_no_column(t->csv, name, option, &err);
    return usage_error(t->logs->command, "%s", err.text);
}

static const char *given(struct arg *args, const char *name, const char *usual)
{
    struct arg *arg = args_named(args, name);

    return arg->n ? arg->value[0] : usual;
}

static int find_list(struct trial *t, struct arg *args, const char *option, long *out, size_t *n)
{
    const struct arg *arg = args_named(args, option);

    *n = 0;
    for (int i = 0; i < arg->n; i++) {
        int rc;

        if (*n == 64)
            return usage_error(t->logs->command, "--%s takes at most 64 columns", option);
        rc = find(t, arg->value[i], option, out + *n);
        if (rc)
            return rc;
        ++*n;
    }
    return EXIT_FINE;
}

static int open_trial(struct trial *t, struct arg *args)
{
    gbose_error err;
    int rc = gbose__csv_open(&t->csv, t->logs->path[0], (size_t)1 << 26, &err);

    if (rc)
        return usage_error(t->logs->command, "%s", err.text);
    rc = find(t, given(args, "unit", "unit"), "unit", &t->unit);
    rc = rc ? rc : find(t, given(args, "arm", "action"), "arm", &t->action);
    rc = rc ? rc : find(t, given(args, "probability", "probability"), "probability", &t->probability);
    rc = rc ? rc : find(t, given(args, "reward", "outcome"), "reward", &t->outcome);
    rc = rc ? rc : find_list(t, args, "controls", t->control, &t->n_controls);
    rc = rc ? rc : find_list(t, args, "moderators", t->moderator, &t->n_moderators);
    t->available = gbose__csv_find(t->csv, given(args, "available", "available"));
    if (!rc && args_named(args, "available")->given && t->available < 0)
        rc = find(t, args_named(args, "available")->value[0], "available", &t->available);
    return rc;
}

/* One row into the estimator; or, w being NULL, its probability into the mean. */
static int take(struct trial *t, gbose_wcls *w, double *sum, double *count, gbose_error *err)
{
    double controls[65] = {1}, moderators[65] = {1}, available = 1, action = 0;
    gbose_trial_row row = {.numerator = t->numerator, .controls = controls, .moderators = moderators};
    size_t unit;
    int rc = t->available >= 0 ? number(t, t->available, &available, err) : GBOSE_OK;

    if (rc || available == 0)
        return rc;
    rc = number(t, t->probability, &row.probability, err);
    if (rc || !w) {
        *sum += rc ? 0 : row.probability;
        *count += !rc;
        return rc;
    }
    rc = number(t, t->action, &action, err);
    rc = rc ? rc : number(t, t->outcome, &row.outcome, err);
    for (size_t i = 0; i < t->n_controls && !rc; i++)
        rc = number(t, t->control[i], controls + 1 + i, err);
    for (size_t i = 0; i < t->n_moderators && !rc; i++)
        rc = number(t, t->moderator[i], moderators + 1 + i, err);
    if (rc)
        return rc;
    if (action != 0 && action != 1)
        return gbose__fail(err, GBOSE_EINVAL, "the action is %g: it must be 0 or 1", action);
    if (names_find(&t->units, gbose__csv_field(t->csv, (size_t)t->unit), &unit))
        return gbose__no_memory(err);
    row.unit = unit;
    row.action = (int)action;
    row.available = 1;
    return gbose_wcls_add(w, &row, err);
}

static int pass(struct trial *t, gbose_wcls *w, double *mean)
{
    struct logs *logs = (struct logs *)t->logs;
    struct gbose__decimal decimal;
    double sum = 0, count = 0;
    gbose_error err;
    int rc, set = gbose__decimal_begin(&decimal) == GBOSE_OK, exit_code = EXIT_FINE;

    while ((rc = gbose__csv_next(t->csv, &err)) != 0) {
        if (rc == 1) {
            gbose_error inner;

            rc = take(t, w, &sum, &count, &inner);
            if (!rc)
                continue;
            gbose__fail(&err, rc, "%s, line %" PRIu64 ": %s", gbose__csv_path(t->csv),
                        gbose__csv_line(t->csv), inner.text);
        }
        if (!logs->skip_bad || (rc != GBOSE_EINVAL && rc != GBOSE_ENUMERIC)) {
            exit_code = usage_error(logs->command, "%s", err.text);
            break;
        }
        logs->bad += w != NULL;
    }
    if (set)
        gbose__decimal_end(&decimal);
    *mean = count > 0 ? sum / count : 0;
    return exit_code;
}

static int fill(struct trial *t, const gbose_wcls *w, struct gbose__effect_row **rows, size_t *n,
                double level)
{
    *n = 1 + t->n_moderators;
    *rows = calloc(*n, sizeof **rows);
    for (size_t i = 0; *rows && i < *n; i++) {
        double x[65] = {0};
        const char *name = i ? gbose__csv_name(t->csv, (size_t)t->moderator[i - 1]) : NULL;

        x[i] = 1;
        (*rows)[i].name = strdup(name ? name : t->n_moderators ? "treatment (moderators 0)" : "treatment");
        (*rows)[i].kind = i ? GBOSE__EFFECT_MODERATOR : GBOSE__EFFECT_TREATMENT;
        (*rows)[i].known = gbose_wcls_at(w, x, level, &(*rows)[i].value) == GBOSE_OK;
        (*rows)[i].unit = i ? strdup("unit") : NULL;
        if (!(*rows)[i].name)
            return EXIT_BROKEN;
    }
    return *rows ? EXIT_FINE : EXIT_BROKEN;
}

int trial_rows(struct gbose__effect_row **rows, size_t *n, struct logs *logs, struct arg *args, double level)
{
    struct trial t = {.logs = logs};
    gbose_wcls *w = NULL;
    double mean;
    int rc = logs->n == 1 ? open_trial(&t, args) : usage_error(logs->command, "--wcls takes one table");

    if (!rc && args_named(args, "numerator")->given) {
        char *end;
        const char *text = args_named(args, "numerator")->value[0];

        t.numerator = strtod(text, &end);
        if (end == text || *end || !(t.numerator > 0 && t.numerator < 1))
            rc = usage_error(logs->command, "--numerator must be between 0 and 1; got '%s'", text);
    } else if (!rc) {
        rc = pass(&t, NULL, &mean);
        t.numerator = mean;
        gbose__csv_close(t.csv);
        t.csv = NULL;
        rc = rc ? rc : open_trial(&t, args);
    }
    if (!rc && gbose_wcls_new(&w, 1 + t.n_controls, 1 + t.n_moderators, NULL))
        rc = EXIT_BROKEN;
    rc = rc ? rc : pass(&t, w, &mean);
    rc = rc ? rc : fill(&t, w, rows, n, level);
    if (!rc)
        printf("%zu participant%s; effects are centred and weighted by %.4g.\n", t.units.n,
               t.units.n == 1 ? "" : "s", t.numerator);
    gbose_wcls_free(w);
    gbose__csv_close(t.csv);
    names_clear(&t.units);
    return rc;
}
