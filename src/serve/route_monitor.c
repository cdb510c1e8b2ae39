/* GET evaluation, effects, history and diagnosis: what a person wants to know of a bandit. */
#include "serve/monitor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"

#define LEVEL 0.95

static struct gbose__monitor *monitor_of(struct gbose__exchange *x, struct gbose__bandit *b)
{
    struct gbose__monitor *m = gbose__monitor_lock(b);

    if (!m)
        gbose__answer_error(x, 503, "no_memory", "", "out of memory");
    gbose__trainer_wake(x->service);
    return m;
}

static void write_pair(struct gbose__text *out, const char *name, double value)
{
    gbose__text_format(out, ", \"%s\": ", name);
    gbose__text_number(out, value);
}

static void write_interval(struct gbose__text *out, const char *name, gbose_interval i)
{
    gbose__text_format(
        out, "%s\"%s\": {\"estimate\": ", out->size && out->at[out->size - 1] == '{' ? "" : ", ", name);
    gbose__text_number(out, i.estimate);
    write_pair(out, "lower", i.lower);
    write_pair(out, "upper", i.upper);
    gbose__text_add(out, "}");
}

/* How far it has come: a log that is long takes a while when somebody asks for the first time. */
static void write_progress(struct gbose__text *out, const struct gbose__monitor *m, struct gbose__bandit *b)
{
    gbose__text_format(
        out, "{\"rounds\": %" PRIu64 ", \"unreadable\": %" PRIu64 ", \"seen\": %" PRIu64 ", \"of\": %" PRIu64,
        m->rounds, m->unreadable, m->seen, (uint64_t)atomic_load(&b->outcomes));
}

static void write_policy(struct gbose__text *out, const struct gbose__monitor *m, size_t i)
{
    gbose_policy_value v;
    gbose_difference d;

    if (gbose_evaluation_policy(m->evaluation, i, &v))
        return;
    gbose__text_format(out, "{\"policy\": \"%s\"", gbose__monitor_policies[i]);
    {
        const struct {
            const char *name;
            double value;
        } number[] = {{"ips", v.ips},
                      {"snips", v.snips},
                      {"dr", v.dr},
                      {"supported", v.supported},
                      {"effective", v.effective},
                      {"largest", v.largest}};

        for (size_t k = 0; k < sizeof number / sizeof *number; k++)
            write_pair(out, number[k].name, number[k].value);
    }
    write_interval(out, "level", v.level);
    write_interval(out, "weight", v.weight);
    if (i && !gbose_evaluation_difference(m->evaluation, i, &d)) {
        write_interval(out, "difference", d.phi);
        write_interval(out, "exact_difference", d.paired);
    }
    gbose__text_add(out, "}");
}

static void write_audit(struct gbose__text *out, const struct gbose__monitor *m)
{
    gbose_audit a;

    gbose__text_add(out, ", \"audit\": ");
    if (gbose_evaluation_audit(m->evaluation, &a)) {
        gbose__text_add(out, "null");
        return;
    }
    gbose__text_add(out, "{\"p\": ");
    gbose__text_number(out, a.p);
    write_pair(out, "arm_p", a.arm_p);
    write_pair(out, "bin_p", a.bin_p);
    write_pair(out, "score_p", a.score_p);
    write_pair(out, "least_probability", a.least_p);
    write_pair(out, "unplayable", a.unplayable);
    write_pair(out, "certain", a.certain);
    gbose__text_add(out, "}");
}

void gbose__route_evaluation(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    const char *only = gbose__http_query(x, "policy");
    struct gbose__monitor *m;
    int known = !only, any = 0;

    for (size_t i = 0; i < GBOSE__POLICIES && only; i++)
        known |= !strcmp(only, gbose__monitor_policies[i]);
    if (!known) {
        gbose__answer_error(x, 400, "no_such_policy", "policy",
                            "'policy' is logged, base, uniform or shadow; did you mean '%s'?",
                            gbose__names_nearest(only, gbose__monitor_policies, GBOSE__POLICIES));
        return;
    }
    m = monitor_of(x, args->bandit);
    if (!m)
        return;
    x->status = 200;
    write_progress(&x->out, m, args->bandit);
    gbose__text_add(&x->out, ", \"policies\": [");
    for (size_t i = 0; i < GBOSE__POLICIES && m->rounds; i++) {
        if ((only && strcmp(only, gbose__monitor_policies[i])) || (i == GBOSE__SHADOW && !m->has_shadow))
            continue;
        gbose__text_add(&x->out, any++ ? ",\n " : "");
        write_policy(&x->out, m, i);
    }
    gbose__text_add(&x->out, "]");
    write_audit(&x->out, m);
    gbose__text_add(&x->out, "}\n");
    gbose__monitor_unlock(args->bandit);
}

void gbose__route_effects(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    struct gbose__monitor *m = monitor_of(x, args->bandit);
    double *unit;
    size_t dim;

    if (!m)
        return;
    dim = m->encoder->dim;
    unit = calloc(dim, sizeof *unit);
    x->status = 200;
    write_progress(&x->out, m, args->bandit);
    gbose__text_format(&x->out, ", \"confidence\": %g, \"effects\": [", LEVEL);
    for (size_t i = 0; i < dim && unit && m->effects; i++) {
        char name[256];
        gbose_effect_value e;
        int rc;

        if (m->encoder->schema)
            gbose_schema_column(m->encoder->schema, i, name, sizeof name);
        else
            snprintf(name, sizeof name, "feature %zu", i);
        gbose__text_add(&x->out, i ? ",\n {\"feature\": " : "{\"feature\": ");
        gbose__text_quoted(&x->out, name);
        unit[i] = 1;
        rc = m->rounds ? gbose_effects_at(m->effects, unit, LEVEL, &e) : GBOSE_ELEARNER;
        unit[i] = 0;
        if (rc) {
            gbose__text_add(
                &x->out, ", \"estimate\": null, \"because\": \"chance has not told arms apart along it\"}");
            continue;
        }
        write_pair(&x->out, "estimate", e.estimate);
        write_pair(&x->out, "error", e.error);
        write_interval(&x->out, "fixed", e.fixed);
        write_interval(&x->out, "anytime", e.anytime);
        gbose__text_format(&x->out, ", \"rounds\": %" PRIu64 "}", e.rounds);
    }
    gbose__text_add(&x->out, m->effects ? "]}\n" : "], \"because\": \"there are too many features\"}\n");
    gbose__monitor_unlock(args->bandit);
    free(unit);
}

void gbose__route_history(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    struct gbose__monitor *m = monitor_of(x, args->bandit);

    if (!m)
        return;
    x->status = 200;
    write_progress(&x->out, m, args->bandit);
    gbose__text_add(&x->out, ", \"arms\": [");
    for (size_t i = 0; i < m->n_arms; i++) {
        gbose__text_add(&x->out, i ? ", " : "");
        gbose__text_quoted(&x->out, m->arm[i]);
    }
    gbose__text_add(&x->out, "], \"points\": [");
    for (size_t i = 0; i < m->n_points; i++) {
        const struct gbose__monitor_point *p = &m->point[i];

        gbose__text_format(&x->out, "%s{\"t\": %" PRId64 ", \"n\": %" PRIu64, i ? ",\n " : "", p->time, p->n);
        write_pair(&x->out, "reward", p->reward / (double)p->n);
        write_pair(&x->out, "level", p->level / (double)p->n);
        write_pair(&x->out, "defaulted", (double)p->defaulted / (double)p->n);
        gbose__text_add(&x->out, ", \"played\": [");
        for (size_t k = 0; k <= GBOSE__MONITOR_ARMS; k++) {
            gbose__text_add(&x->out, k ? ", " : "");
            gbose__text_integer(&x->out, p->played[k]);
        }
        gbose__text_add(&x->out, "]");
        write_interval(&x->out, "base", p->difference[GBOSE__BASE]);
        write_interval(&x->out, "uniform", p->difference[GBOSE__UNIFORM]);
        if (m->has_shadow)
            write_interval(&x->out, "shadow", p->difference[GBOSE__SHADOW]);
        gbose__text_add(&x->out, "}");
    }
    gbose__text_add(&x->out, "]}\n");
    gbose__monitor_unlock(args->bandit);
}

/* The diagnosis of gbose-auto, in words. */
static void write_words(struct gbose__text *out, const gbose_diagnosis *d)
{
    gbose__text_add(out, ", \"says\": [");
    gbose__text_format(out, "\"The level of rewards is %.4g now, and moves by %.2g a round.\"", d->baseline,
                       d->drift);
    gbose__text_format(out, ", \"Following it removes %.0f%% of what features do not explain.\"",
                       100 * d->removed);
    gbose__text_format(
        out, ", \"In %.0f%% of the rounds one arm was certain; these rounds say nothing about the others.\"",
        100 * d->lone);
    if (d->misled)
        gbose__text_format(
            out,
            ", \"A plain linear learner would be misled here: its effects are off by %.3g, and noise alone "
            "would make that %.3g (p = %.2g, for looks as often as one likes).\"",
            d->bias, d->bias_noise, d->p_value);
    else
        gbose__text_add(out, ", \"Nothing shows so far that a plain linear learner would be misled here.\"");
    if (d->advice[0]) {
        gbose__text_add(out, ", ");
        gbose__text_quoted(out, d->advice);
    }
    gbose__text_add(out, "]");
}

void gbose__route_diagnosis(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    struct gbose__model *model = gbose__bandit_model(args->bandit, NULL);
    gbose_diagnosis d;
    int rc = gbose_diagnose(model->g, &d);

    if (rc == GBOSE_ENOMEM) {
        gbose__answer_error(x, 503, "no_memory", "", "out of memory");
    } else if (rc) {
        x->status = 200;
        gbose__text_format(
            &x->out,
            "{\"says\": [\"Only gbose-auto finds out what moves the reward; this bandit learns "
            "with %.*s.\"]}\n",
            (int)strcspn(gbose_spec(model->g), ":"), gbose_spec(model->g));
    }
    gbose__model_release(model);
    if (rc)
        return;
    x->status = 200;
    gbose__text_add(&x->out, "{\"rounds\": ");
    gbose__text_integer(&x->out, d.rounds);
    {
        const struct {
            const char *name;
            double value;
        } number[] = {{"baseline", d.baseline},
                      {"drift", d.drift},
                      {"residual", d.residual},
                      {"removed", d.removed},
                      {"tracker_forget", d.tracker_forget},
                      {"lone", d.lone},
                      {"hausman", d.hausman},
                      {"df", d.df},
                      {"p_value", d.p_value},
                      {"bias", d.bias},
                      {"bias_noise", d.bias_noise},
                      {"coins", (double)d.coins},
                      {"evidence", d.evidence},
                      {"scale", d.scale},
                      {"scale_recent", d.scale_recent},
                      {"constant", (double)d.constant},
                      {"collinear", (double)d.collinear}};

        for (size_t i = 0; i < sizeof number / sizeof *number; i++)
            write_pair(&x->out, number[i].name, number[i].value);
    }
    gbose__text_add(&x->out, ", \"tracker\": ");
    gbose__text_quoted(&x->out, d.tracker);
    gbose__text_format(&x->out, ", \"full\": %s, \"misled\": %s", d.full ? "true" : "false",
                       d.misled ? "true" : "false");
    write_words(&x->out, &d);
    gbose__text_add(&x->out, "}\n");
}
