/* Proposing a schema from data. What cannot be known from data (is a number a code? which products
 * matter?) is said in comments, for the person who edits it. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/decimal.h"
#include "core/error.h"
#include "core/memory.h"
#include "encode/profile.h"
#include "encode/schema.h"

#define MOST_LISTED 50 /* values of a category that are listed; more are hashed */
#define FEW_CODES 12   /* so few whole numbers may be codes and not amounts */
#define SKEWED 1.5     /* deviation over mean of positive numbers from which a logarithm is proposed */

struct gbose_fit {
    struct gbose__profile profile;
};

int gbose_fit_new(gbose_fit **out, gbose_error *err)
{
    gbose_fit *fit;

    if (!out)
        return gbose__fail_plainly(err, GBOSE_EINVAL);
    fit = gbose__alloc(1, sizeof *fit);
    if (!fit || gbose__profile_init(&fit->profile)) {
        gbose__free(fit);
        return gbose__no_memory(err);
    }
    *out = fit;
    return gbose__fail(err, GBOSE_OK, "%s", "");
}

void gbose_fit_free(gbose_fit *fit)
{
    if (fit)
        gbose__profile_clear(&fit->profile);
    gbose__free(fit);
}

static int all_named(const gbose_features *list)
{
    for (size_t i = 0; list && i < list->n; i++)
        if (!list->at[i].name)
            return 0;
    return 1;
}

int gbose_fit_add(gbose_fit *fit, const gbose_features *shared, const gbose_features *actions, size_t n_arms,
                  gbose_error *err)
{
    int named = all_named(shared);

    if (!fit || (n_arms && !actions))
        return gbose__fail_plainly(err, GBOSE_EINVAL);
    for (size_t i = 0; i < n_arms; i++)
        named &= all_named(&actions[i]);
    if (!named)
        return gbose__fail(err, GBOSE_EINVAL, "a feature has no name");
    if (gbose__profile_add(&fit->profile, shared, actions, n_arms))
        return gbose__no_memory(err);
    return gbose__fail(err, GBOSE_OK, "%s", "");
}

/* ---- writing ---- */

struct draft {
    const struct gbose__profile *profile;
    char *buf;
    size_t room, n; /* written, or what would have been */
};

static void say(struct draft *d, const char *format, ...)
{
    va_list args;
    int more;

    va_start(args, format);
    more =
        vsnprintf(d->n < d->room ? d->buf + d->n : NULL, d->n < d->room ? d->room - d->n : 0, format, args);
    va_end(args);
    d->n += more > 0 ? (size_t)more : 0;
}

/* A number to a tenth or so of `unit`. More digits are not needed: what matters is that it stays the same. */
static void say_number(struct draft *d, const char *option, double x, double unit)
{
    int digits = 2 + (int)floor(log10(fabs(x))) - (int)floor(log10(unit));
    char text[40];

    snprintf(text, sizeof text, "%.*e", digits < 2 ? 1 : digits > 17 ? 16 : digits - 1, x);
    gbose__decimal_write(text, sizeof text, strtod(text, NULL));
    say(d, " %s=%s", option, text);
}

/* Missing so far in no round: a column for it would be one that nothing is ever learned of. */
static void say_missing(struct draft *d, const struct gbose__profile_feature *f)
{
    if (!gbose__profile_missing(d->profile, f))
        say(d, " missing=off");
}

/* ---- types ---- */

/* The period of a number that goes round, by its name and range; 0: it does not. */
static double period_of(const struct gbose__profile_feature *f)
{
    static const struct {
        const char *end;
        double max, period;
    } cycles[] = {{"hour", 24, 24},       {"weekday", 7, 7},          {"dayofweek", 7, 7},
                  {"dow", 7, 7},          {"month", 12, 12},          {"minute", 60, 60},
                  {"day_of_week", 7, 7},  {"dayofyear", 366, 365.25}, {"day_of_year", 366, 365.25},
                  {"hour_of_day", 24, 24}};

    for (size_t i = 0; i < sizeof cycles / sizeof *cycles; i++)
        if (!strcmp(strrchr(f->name, '.') + 1, cycles[i].end) && f->min >= 0 && f->max <= cycles[i].max)
            return cycles[i].period;
    return 0;
}

static void propose_number(struct draft *d, const struct gbose__profile_feature *f)
{
    int log = f->min >= 0 && gbose__profile_deviation(f, 0) > SKEWED * f->mean[0];
    double deviation = gbose__profile_deviation(f, log), mean = f->mean[log];

    if (period_of(f) > 0) {
        say(d, "%s cycle %g", f->name, period_of(f));
    } else if (f->whole && f->min >= 0 && f->max <= 1 && f->n_values <= 2) {
        say(d, "%s flag", f->name);
    } else {
        say(d, "%s number%s", f->name, log ? " log" : "");
        if (deviation > 0 && isfinite(deviation))
            say_number(d, "scale", deviation, deviation);
        if (fabs(mean) > deviation && deviation > 0 && isfinite(mean))
            say_number(d, "offset", mean, deviation);
    }
    say_missing(d, f);
    say(d, "  # %.3g to %.3g", f->min, f->max);
    if (f->whole && f->n_values > 2 && f->n_values <= FEW_CODES && period_of(f) == 0)
        say(d, ", %zu whole numbers; if they are codes: category", f->n_values);
    say(d, "\n");
}

static int by_count(const void *a, const void *b)
{
    const struct gbose__profile_value *x = a, *y = b;

    return x->count != y->count ? (x->count < y->count ? 1 : -1) : strcmp(x->text, y->text);
}

/* Can it be listed? Longer ones, and those with control characters, count as other. */
static int can_be_listed(const char *text)
{
    if (strlen(text) > GBOSE__MAX_NAME)
        return 0;
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            return 0;
    return 1;
}

static int propose_values(struct draft *d, const struct gbose__profile_feature *f)
{
    struct gbose__profile_value *sorted = gbose__alloc(f->n_values + 1, sizeof *sorted);
    int listed = 0;

    if (!sorted)
        return GBOSE_ENOMEM;
    memcpy(sorted, f->value, f->n_values * sizeof *sorted);
    qsort(sorted, f->n_values, sizeof *sorted, by_count);
    for (size_t i = 0; i < f->n_values; i++) {
        char text[2 * GBOSE__MAX_NAME + 3];

        if (!can_be_listed(sorted[i].text))
            continue;
        gbose__value_write(text, sizeof text, sorted[i].text);
        say(d, "%s%s", listed ? ", " : " ", text);
        listed = 1;
    }
    if (!listed)
        say(d, " hash=2");
    gbose__free(sorted);
    return GBOSE_OK;
}

/* Has it more values than can be listed? */
static int has_many_values(const struct gbose__profile_feature *f)
{
    return f->n_values > MOST_LISTED || f->not_remembered;
}

static size_t buckets_of(const struct gbose__profile_feature *f)
{
    size_t buckets = 64;

    while (buckets < 2 * f->n_values && buckets < 1024)
        buckets *= 2;
    return buckets;
}

static int propose_category(struct draft *d, const struct gbose__profile_feature *f, const char *type)
{
    int rc = GBOSE_OK;

    say(d, "%s %s", f->name, type);
    if (has_many_values(f))
        say(d, " hash=%zu", buckets_of(f));
    else
        rc = propose_values(d, f);
    if (strcmp(type, "set"))
        say_missing(d, f);
    if (has_many_values(f))
        say(d, "  # %s%zu values; list those that matter instead, if you can",
            f->not_remembered ? "more than " : "", f->n_values);
    say(d, "\n");
    return rc;
}

static int is_vector(const struct gbose__profile_feature *f)
{
    return f->lists && !f->list_texts && f->shortest == f->longest && f->longest > 1 && f->lists == f->given;
}

static int is_flag(const struct gbose__profile_feature *f)
{
    return f->truths == f->given;
}

/* An id is a name, though it be a number. */
static int is_number(const struct gbose__profile_feature *f)
{
    return f->numbers == f->given && strcmp(f->name, "action.id") != 0;
}

static int is_category_or_set(const struct gbose__profile_feature *f)
{
    return !is_vector(f) && (f->lists || !(is_flag(f) || is_number(f)));
}

/* The columns that it will have, at most. */
static size_t columns_of(const struct gbose__profile_feature *f)
{
    if (is_vector(f))
        return f->longest + 1;
    if (!is_category_or_set(f))
        return 3; /* sine, cosine, missing */
    return has_many_values(f) ? buckets_of(f) + 1 : f->n_values + 2;
}

/* A feature of the round of which every value is a case of its own, as the name of a user, is in no term: there is too little
 * of each to learn from, and learners take 64 columns of the round. */
static int is_in_terms(const struct gbose__profile_feature *f)
{
    return f->is_action || !is_category_or_set(f) || !has_many_values(f);
}

/* The line of a feature. */
static int propose(struct draft *d, const struct gbose__profile_feature *f)
{
    if (is_vector(f)) {
        double size = sqrt(f->mean[0] * f->mean[0] + f->squares[0] / (double)f->counted);

        say(d, "%s vector %zu", f->name, f->longest);
        if (size > 0 && isfinite(size))
            say_number(d, "scale", size, size);
        say_missing(d, f);
        say(d, "\n");
        return GBOSE_OK;
    }
    if (f->lists)
        return propose_category(d, f, "set");
    if (is_flag(f)) {
        say(d, "%s flag", f->name);
        say_missing(d, f);
        say(d, "\n");
        return GBOSE_OK;
    }
    if (is_number(f)) {
        propose_number(d, f);
        return GBOSE_OK;
    }
    return propose_category(d, f, "category");
}

/* ---- the whole text ---- */

/* Does it say anything? If not, a comment says why. */
static int is_useful(struct draft *d, const struct gbose__profile_feature *f)
{
    size_t n_values = f->n_values + (gbose__profile_missing(d->profile, f) > 0);

    if (!gbose__schema_name_fits(f->name))
        say(d, "# a feature is left out: its name can have letters, digits, '_' and '-' between dots only\n");
    else if (!f->given)
        say(d, "# %s is left out: it was always missing\n", f->name);
    else if (n_values < 2 && !f->lists)
        say(d, "# %s is left out: it was always the same\n", f->name);
    else
        return 1;
    return 0;
}

static void add_terms(struct draft *d, const struct gbose__profile *p, const char *useful)
{
    const struct gbose__profile_feature *id = gbose__profile_find(p, "action.id");
    int any_round = 0;

    for (size_t i = 0; i < p->n_features; i++)
        if (useful[i] && !is_in_terms(&p->feature[i]))
            say(d, "# %s is in no term: it has too many values to learn about each\n", p->feature[i].name);

    say(d, "\n# what differs between arms; products with features of the round let different arms be right "
           "for different\n"
           "# people and times\narm =");
    for (size_t i = 0; i < p->n_features; i++)
        if (useful[i] && p->feature[i].is_action)
            say(d, " %s", p->feature[i].name);
    for (size_t i = 0; i < p->n_features; i++) {
        if (!useful[i] || p->feature[i].is_action || !is_in_terms(&p->feature[i]))
            continue;
        any_round = 1;
        if (id && useful[id - p->feature] &&
            columns_of(id) * columns_of(&p->feature[i]) <= GBOSE__MAX_COLUMNS)
            say(d, " action.id*%s", p->feature[i].name);
    }
    if (any_round)
        say(d, "\n\n# what moves all arms alike\nround =");
    for (size_t i = 0; i < p->n_features; i++)
        if (useful[i] && !p->feature[i].is_action && is_in_terms(&p->feature[i]))
            say(d, " %s", p->feature[i].name);
    say(d, "\n");
}

static int write_draft(struct draft *d, char *useful, gbose_error *err)
{
    const struct gbose__profile *p = d->profile;
    int any_action = 0, rc = GBOSE_OK;

    say(d, "# proposed from %llu rounds and %llu arms: read it, and edit it\n\n",
        (unsigned long long)p->rounds, (unsigned long long)p->arms);
    for (size_t i = 0; i < p->n_features && !rc; i++) {
        useful[i] = (char)is_useful(d, &p->feature[i]);
        if (useful[i])
            rc = propose(d, &p->feature[i]);
        any_action |= useful[i] && p->feature[i].is_action;
    }
    if (rc)
        return gbose__no_memory(err);
    if (!p->rounds)
        return gbose__fail(err, GBOSE_EVALUE, "there is no round to propose a schema from");
    if (!any_action)
        return gbose__fail(err, GBOSE_EVALUE,
                           "no feature of an action (action.NAME) differs: there is nothing to choose by");
    add_terms(d, p, useful);
    return GBOSE_OK;
}

int gbose_fit_text(const gbose_fit *fit, char *buf, size_t capacity, size_t *size, gbose_error *err)
{
    struct draft d = {0};
    locale_t old;
    char *useful;
    int rc;

    if (!fit || !size || (capacity && !buf))
        return gbose__fail_plainly(err, GBOSE_EINVAL);
    useful = gbose__alloc(fit->profile.n_features + 1, 1);
    if (!useful)
        return gbose__no_memory(err);
    d.profile = &fit->profile;
    old = uselocale(fit->profile.c_locale);
    rc = write_draft(&d, useful, err);
    if (!rc && d.n < capacity) {
        d.buf = buf;
        d.room = capacity;
        *size = d.n + 1;
        d.n = 0;
        rc = write_draft(&d, useful, err);
    } else if (!rc) {
        *size = d.n + 1;
        rc = gbose__fail_plainly(err, GBOSE_EBUFFER);
    }
    uselocale(old);
    gbose__free(useful);
    return rc ? rc : gbose__fail(err, GBOSE_OK, "%s", "");
}
