#include "cli/policies.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/rng.h"
#include "io/csv.h"

#define KEY_MOST 1000 /* bytes of the values that a table's row is found by */

/* ---- tables ---- */

/* "ARM|value|value" in `key`. */
static void make_key(char key[KEY_MOST], const char *arm, const char *(*column)(const void *, const char *),
                     const void *from, const struct policy *p)
{
    size_t used = (size_t)snprintf(key, KEY_MOST, "%s", arm);

    for (size_t i = 0; i < p->n_by && used < KEY_MOST; i++) {
        const char *text = column(from, p->by[i]);
        used += (size_t)snprintf(key + used, KEY_MOST - used, "|%s", text ? text : "");
    }
}

static const char *column_of_csv(const void *csv, const char *name)
{
    return gbose__csv_field(csv, (size_t)gbose__csv_find(csv, name));
}

static const char *column_of_record(const void *record, const char *name)
{
    return gbose__record_column(record, name);
}

static int add_row(struct policy *p, struct gbose__csv *csv, long arm, long probability, gbose_error *err)
{
    const char *text = gbose__csv_field(csv, (size_t)probability);
    char key[KEY_MOST], *end;
    double value = strtod(text, &end), *grown;
    size_t at, before = p->keys.n;

    if (end == text || *end || !(value >= 0 && value <= 1))
        return gbose__fail(err, GBOSE_EINVAL,
                           "%s, line %" PRIu64 ": the probability must be from 0 to 1; got '%.40s'",
                           p->detail, gbose__csv_line(csv), text);
    make_key(key, gbose__csv_field(csv, (size_t)arm), column_of_csv, csv, p);
    if (names_find(&p->keys, key, &at))
        return gbose__no_memory(err);
    if (at < before)
        return gbose__fail(err, GBOSE_EINVAL, "%s, line %" PRIu64 ": there is a row for '%.100s' already",
                           p->detail, gbose__csv_line(csv), key);
    grown = realloc(p->value, p->keys.n * sizeof *grown);
    if (!grown)
        return gbose__no_memory(err);
    p->value = grown;
    p->value[at] = value;
    return GBOSE_OK;
}

static int open_table(struct policy *p, const char *command)
{
    struct gbose__csv *csv;
    gbose_error err = {0, ""};
    long arm, probability;
    int rc = gbose__csv_open(&csv, p->detail, 1 << 20, &err);

    if (rc)
        return usage_error(command, "%s", err.text);
    arm = gbose__csv_find(csv, "arm");
    probability = gbose__csv_find(csv, "probability");
    p->by = calloc(gbose__csv_columns(csv), sizeof *p->by);
    if (arm < 0 || probability < 0 || !p->by) {
        gbose__csv_close(csv);
        return usage_error(
            command,
            "%s: a policy's table has the columns arm and probability, and others that the log has too",
            p->detail);
    }
    for (size_t i = 0; i < gbose__csv_columns(csv); i++)
        if ((long)i != arm && (long)i != probability)
            p->by[p->n_by++] = strdup(gbose__csv_name(csv, i));
    while ((rc = gbose__csv_next(csv, &err)) == 1) {
        rc = add_row(p, csv, arm, probability, &err);
        if (rc)
            break;
    }
    gbose__csv_close(csv);
    return rc ? usage_error(command, "%s", err.text) : EXIT_FINE;
}

/* The table's probabilities of the round's arms, made to add up to 1. */
static int decide_table(struct policy *p, const struct gbose__record *r, gbose_error *err)
{
    char key[KEY_MOST];
    double sum = 0;

    if (!r->n_ids)
        return gbose__fail(err, GBOSE_EINVAL, "arms have no ids, which a policy's table needs");
    for (size_t i = 0; i < p->n_by; i++)
        if (!gbose__record_column(r, p->by[i]))
            return gbose__fail(err, GBOSE_EINVAL, "there is no '%.60s', which %.100s goes by", p->by[i],
                               p->detail);
    for (size_t a = 0; a < r->n_arms; a++) {
        size_t at;

        make_key(key, r->arms[a], column_of_record, r, p);
        at = names_known(&p->keys, key);
        p->pmf[a] = at < p->keys.n ? p->value[at] : 0; /* 0: not in the table */
        sum += p->pmf[a];
    }
    if (!(sum > 0))
        return gbose__fail(err, GBOSE_EINVAL, "%s has none of the round's arms", p->detail);
    for (size_t a = 0; a < r->n_arms; a++)
        p->pmf[a] /= sum;
    return GBOSE_OK;
}

/* ---- all of them ---- */

static int starts(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

int policy_open(struct policy *p, const char *command, const char *text, int learner)
{
    static const struct {
        const char *begin;
        enum policy_kind kind;
    } kinds[] = {{"arm=", POLICY_ARM},
                 {"greedy:", POLICY_GREEDY},
                 {"state:", POLICY_STATE},
                 {"column:", POLICY_COLUMN},
                 {"table:", POLICY_TABLE}};

    memset(p, 0, sizeof *p);
    p->name = p->detail = text;
    if (gbose_scratch_new(&p->scratch)) {
        fprintf(stderr, "gbose: out of memory\n");
        return EXIT_BROKEN;
    }
    if (learner) {
        gbose_error err;
        int rc = gbose_new(&p->g, text, 1, &err); /* only to see whether the spec is right */

        p->kind = POLICY_LEARNER;
        gbose_free(rc ? NULL : p->g);
        p->g = NULL;
        return rc ? usage_error(command, "%s", err.text) : EXIT_FINE;
    }
    if (!strcmp(text, "logged") || !strcmp(text, "uniform")) {
        p->kind = *text == 'l' ? POLICY_LOGGED : POLICY_UNIFORM;
        return EXIT_FINE;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (starts(text, kinds[i].begin)) {
            p->kind = kinds[i].kind;
            p->detail = text + strlen(kinds[i].begin);
            if (p->kind == POLICY_GREEDY || p->kind == POLICY_STATE)
                return logs_load(&p->g, command, p->detail);
            return p->kind == POLICY_TABLE ? open_table(p, command) : EXIT_FINE;
        }
    return usage_error(command,
                       "unknown policy '%s'; there are logged, uniform, arm=ID, greedy:STATE, state:STATE, "
                       "column:NAME, table:FILE",
                       text);
}

void policy_clear(struct policy *p)
{
    gbose_free(p->g);
    gbose_scratch_free(p->scratch);
    free(p->pmf);
    names_clear(&p->keys);
    free(p->value);
    for (size_t i = 0; i < p->n_by; i++)
        free(p->by[i]);
    free(p->by);
}

static gbose_input input_of(const struct policy *p, const struct gbose__record *r)
{
    return (gbose_input){r->x, r->n_arms, gbose_round_features(p->g) ? r->round : NULL};
}

static int decide_learner(struct policy *p, const struct gbose__record *r, gbose_error *err)
{
    gbose_input in;
    gbose_decision d;
    int rc = logs_suits(p->g, p->name, r, err);

    if (rc)
        return rc;
    in = input_of(p, r);
    rc = gbose_decide_at(p->g, p->scratch, &d, &in, UINT32_MAX, p->rounds);
    if (rc)
        return gbose__fail(err, rc, "%s", gbose_strerror(rc));
    memcpy(p->pmf, d.pmf, r->n_arms * sizeof *p->pmf);
    return GBOSE_OK;
}

static int decide_greedy(struct policy *p, const struct gbose__record *r, gbose_error *err)
{
    const double *mu = gbose_coef(p->g);
    double best = -INFINITY;
    size_t which = 0;
    int rc = logs_suits(p->g, p->name, r, err);

    for (size_t a = 0; a < r->n_arms && !rc; a++) {
        double score = 0;

        for (size_t i = 0; i < r->dim; i++)
            score += r->x[a * r->dim + i] * mu[i];
        if (score > best) {
            best = score;
            which = a;
        }
        p->pmf[a] = 0;
    }
    if (!rc)
        p->pmf[which] = 1;
    return rc;
}

static int decide_arm(struct policy *p, const struct gbose__record *r, gbose_error *err)
{
    size_t which = r->n_arms;

    for (size_t a = 0; a < r->n_arms; a++) {
        char number[24];

        snprintf(number, sizeof number, "%zu", a);
        if (!strcmp(r->n_ids ? r->arms[a] : number, p->detail)) {
            if (which < r->n_arms)
                return gbose__fail(err, GBOSE_EINVAL, "two arms of this round are called '%.60s'", p->detail);
            which = a;
        }
        p->pmf[a] = 0;
    }
    if (which == r->n_arms)
        return gbose__fail(err, GBOSE_EINVAL, "there is no arm '%s' in this round", p->detail);
    p->pmf[which] = 1;
    return GBOSE_OK;
}

static int decide_column(struct policy *p, const struct gbose__record *r, gbose_error *err)
{
    for (size_t i = 0; i < r->n_policies; i++)
        if (!strcmp(r->policy[i].name, p->detail)) {
            memcpy(p->pmf, r->column_pmf + r->policy[i].first, r->n_arms * sizeof *p->pmf);
            return GBOSE_OK;
        }
    return gbose__fail(err, GBOSE_EINVAL, "'policies' has no '%s'", p->detail);
}

/* A learner is made when the first line says how many features there are. */
static int begin_learner(struct policy *p, const struct gbose__record *r, const gbose_schema *schema,
                         gbose_error *err)
{
    if (p->g)
        return GBOSE_OK;
    if (!r->dim)
        return gbose__fail(
            err, GBOSE_ESPEC,
            "the log has no contexts ('x'), which learner '%s' needs; give --schema to make them", p->name);
    return schema ? gbose_new_for(&p->g, p->name, schema, err) : gbose_new(&p->g, p->name, r->dim, err);
}

int policy_decide(struct policy *p, const struct gbose__record *r, const gbose_schema *schema,
                  gbose_error *err)
{
    int rc = GBOSE_OK;

    if (r->n_arms > p->room) {
        double *grown = realloc(p->pmf, r->n_arms * sizeof *grown);

        if (!grown)
            return gbose__no_memory(err);
        p->pmf = grown;
        p->room = r->n_arms;
    }
    if (p->kind == POLICY_LEARNER)
        rc = begin_learner(p, r, schema, err);
    if (rc)
        return rc;
    switch (p->kind) {
    case POLICY_LOGGED:
        memcpy(p->pmf, r->pmf, r->n_arms * sizeof *p->pmf);
        break;
    case POLICY_UNIFORM:
        for (size_t a = 0; a < r->n_arms; a++)
            p->pmf[a] = 1 / (double)r->n_arms;
        break;
    case POLICY_ARM:
        rc = decide_arm(p, r, err);
        break;
    case POLICY_GREEDY:
        rc = decide_greedy(p, r, err);
        break;
    case POLICY_COLUMN:
        rc = decide_column(p, r, err);
        break;
    case POLICY_TABLE:
        rc = decide_table(p, r, err);
        break;
    default:
        rc = decide_learner(p, r, err);
    }
    p->rounds += rc == GBOSE_OK;
    return rc;
}

/* Replay keeps a line with probability c pi(a) / p(a). The random numbers are those of a stream of its own.
 * */
static int is_kept(struct policy *p, const struct gbose__record *r, gbose_error *err)
{
    struct gbose__rng rng;
    double ratio = p->accept * p->pmf[r->arm] / r->pmf[r->arm];

    if (ratio > 1 + 1e-9)
        return gbose__fail(
            err, GBOSE_ESPEC,
            "with --replay %g a line would have to be kept with probability %g; take a smaller number: at "
            "most the smallest logged probability",
            p->accept, ratio);
    gbose__rng_init(&rng, 0, 0, 63, p->rounds);
    return gbose__rng_uniform(&rng) < ratio;
}

int policy_learn(struct policy *p, const struct gbose__record *r, gbose_error *err)
{
    gbose_input in;
    const void *ticket;
    size_t size;
    int rc;

    if (p->kind != POLICY_LEARNER)
        return GBOSE_OK;
    in = input_of(p, r);
    if (p->accept > 0) {
        rc = is_kept(p, r, err);
        if (rc <= 0)
            return rc;
        p->accepted++;
        rc = gbose_ticket_for(p->g, p->scratch, &ticket, &size, &in, p->pmf, r->arm);
    } else {
        rc = gbose_ticket_for(p->g, p->scratch, &ticket, &size, &in, r->pmf, r->arm);
    }
    rc = rc ? rc : gbose_learn(p->g, ticket, size, r->reward);
    return rc ? gbose__fail(err, rc, "%s", gbose_strerror(rc)) : GBOSE_OK;
}
