/* A line of our own log format (docs/evaluation.md), by scanning: most of a line is numbers, and they go
 * straight to where they belong. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "io/json.h"
#include "io/record.h"
#include "io/scan.h"

/* The keys that may come once. */
enum key {
    K_V,
    K_ID,
    K_T,
    K_BANDIT,
    K_MODEL,
    K_SPEC,
    K_SCHEMA,
    K_STREAM,
    K_N,
    K_ARMS,
    K_ARM,
    K_PMF,
    K_P,
    K_N_ARMS,
    K_X,
    K_ROUND,
    K_R,
    K_RT,
    K_WHY,
    K_UNIT,
    K_DROP,
    K_POLICIES,
    KEYS
};
static const char *const names[KEYS] = {"v", "id",   "t",   "bandit", "model", "spec",    "schema", "stream",
                                        "n", "arms", "arm", "pmf",    "p",     "n_arms",  "x",      "round",
                                        "r", "rt",   "why", "unit",   "drop",  "policies"};

struct parse {
    struct gbose__scan scan;
    struct gbose__record *r;
    unsigned seen; /* bits */
    double arm, n_arms, p;
    size_t n_pmf, n_rows;
    const char *bad; /* what is wrong beside the JSON itself */
    int rc;
};

static int list(struct parse *p, double **array, size_t *room, size_t *n)
{
    size_t items = 0;
    double value;

    if (gbose__scan_open(&p->scan, '[') < 0)
        return -1;
    while (gbose__scan_item(&p->scan, &items) > 0) {
        if (gbose__scan_number(&p->scan, &value) < 0)
            return -1;
        if (gbose__record_push(array, room, *n, value)) {
            p->rc = GBOSE_ENOMEM;
            return -1;
        }
        ++*n;
    }
    return p->scan.wrong ? -1 : 1;
}

static int rows(struct parse *p)
{
    struct gbose__record *r = p->r;
    size_t items = 0, total = 0;

    if (gbose__scan_open(&p->scan, '[') < 0)
        return -1;
    while (gbose__scan_item(&p->scan, &items) > 0) {
        size_t before = total;

        if (list(p, &r->x, &r->x_room, &total) < 0)
            return -1;
        if (p->n_rows++ == 0)
            r->dim = total;
        else if (total - before != r->dim)
            p->bad = "the rows of 'x' have different lengths";
    }
    return p->scan.wrong ? -1 : 1;
}

/* A text, or a number or word as it stands there. Its end is marked by a zero, so what follows must have been
 * looked at: `after` is put back by the caller through s->at. */
static int scalar(struct parse *p, const char **out)
{
    char *begin, *end;

    if (gbose__scan_peek(&p->scan) == '"') {
        char *text;

        if (gbose__scan_text(&p->scan, &text) < 0)
            return -1;
        *out = text;
        return 1;
    }
    begin = p->scan.at;
    if (gbose__scan_skip(&p->scan) < 0)
        return -1;
    end = p->scan.at;
    if (end - begin == 4 && !strncmp(begin, "null", 4)) {
        *out = NULL;
        return 1;
    }
    /* Make room for the zero by moving the word one byte to the left, over the colon, comma or blank before
     * it. */
    memmove(begin - 1, begin, (size_t)(end - begin));
    end[-1] = 0;
    *out = begin - 1;
    return 1;
}

static int arms(struct parse *p)
{
    size_t items = 0;
    const char *id;

    if (gbose__scan_open(&p->scan, '[') < 0)
        return -1;
    while (gbose__scan_item(&p->scan, &items) > 0) {
        char c = gbose__scan_peek(&p->scan);

        if (c == '{' || c == '[' || c == 'n') {
            p->scan.wrong = "an arm's id must be a text or a number";
            return -1;
        }
        if (scalar(p, &id) < 0)
            return -1;
        if (gbose__record_push_arm(p->r, id)) {
            p->rc = GBOSE_ENOMEM;
            return -1;
        }
    }
    return p->scan.wrong ? -1 : 1;
}

static int policies(struct parse *p)
{
    struct gbose__record *r = p->r;
    size_t n = 0;
    char *name;

    if (gbose__scan_open(&p->scan, '{') < 0)
        return -1;
    while (gbose__scan_key(&p->scan, &n, &name) > 0) {
        struct gbose__pmf_column *policy = r->policy + r->n_policies;

        if (r->n_policies == GBOSE__RECORD_COLUMNS) {
            p->bad = "there are more than 32 policies";
            return gbose__scan_skip(&p->scan);
        }
        policy->name = name;
        policy->first = r->n_column_pmf;
        if (list(p, &r->column_pmf, &r->column_room, &r->n_column_pmf) < 0)
            return -1;
        policy->n = r->n_column_pmf - policy->first;
        r->n_policies++;
    }
    return p->scan.wrong ? -1 : 1;
}

static int reward(struct parse *p)
{
    if (gbose__scan_peek(&p->scan) == 'n')
        return gbose__scan_null(&p->scan);
    p->r->has_reward = 1;
    return gbose__scan_number(&p->scan, &p->r->reward);
}

/* What is not the format's own: a value to group by, or features. */
static int other(struct parse *p, const char *key)
{
    struct gbose__record *r = p->r;
    char c = gbose__scan_peek(&p->scan);

    if (c == '{' || c == '[') {
        r->has_features = 1;
        return gbose__scan_skip(&p->scan);
    }
    if (r->n_columns == GBOSE__RECORD_COLUMNS)
        return gbose__scan_skip(&p->scan);
    if (scalar(p, &r->column[r->n_columns].text) < 0)
        return -1;
    r->column[r->n_columns].name = key;
    r->n_columns += r->column[r->n_columns].text != NULL;
    return 1;
}

static int find(const char *key)
{
    for (int k = 0; k < KEYS; k++)
        if (!strcmp(key, names[k]))
            return k;
    return KEYS;
}

static int value(struct parse *p, const char *key)
{
    struct gbose__record *r = p->r;
    double version;
    int k = find(key);

    if (k < KEYS && p->seen & 1u << k) {
        p->bad = "a key is given twice";
        return gbose__scan_skip(&p->scan);
    }
    p->seen |= k < KEYS ? 1u << k : 0;
    switch (k) {
    case K_V:
        if (gbose__scan_number(&p->scan, &version) < 0)
            return -1;
        if (version != GBOSE__LOG_VERSION)
            p->bad = "'v' must be 1: another version of the format is not known";
        return 1;
    case K_ID:
        return scalar(p, &r->id);
    case K_T:
        return scalar(p, &r->time);
    case K_BANDIT:
        return scalar(p, &r->bandit);
    case K_MODEL:
        return gbose__scan_number(&p->scan, &r->model);
    case K_SPEC:
        return scalar(p, &r->spec);
    case K_SCHEMA:
        return scalar(p, &r->schema);
    case K_STREAM:
        return gbose__scan_number(&p->scan, &r->stream);
    case K_N:
        return gbose__scan_number(&p->scan, &r->number);
    case K_ARMS:
        return arms(p);
    case K_ARM:
        return gbose__scan_number(&p->scan, &p->arm);
    case K_PMF:
        return list(p, &r->pmf, &r->pmf_room, &p->n_pmf);
    case K_P:
        return gbose__scan_number(&p->scan, &p->p);
    case K_N_ARMS:
        return gbose__scan_number(&p->scan, &p->n_arms);
    case K_X:
        return rows(p);
    case K_ROUND:
        if (gbose__scan_peek(&p->scan) != '[') /* features by name */
            return other(p, key);
        return list(p, &r->round, &r->round_room, &r->n_round);
    case K_R:
        return reward(p);
    case K_RT:
        return scalar(p, &r->reward_time);
    case K_WHY:
        return scalar(p, &r->why);
    case K_UNIT:
        return scalar(p, &r->unit);
    case K_DROP:
        return gbose__scan_number(&p->scan, &r->kept);
    case K_POLICIES:
        return policies(p);
    default:
        return other(p, key);
    }
}

/* Of probabilities only that of the arm played is known: the others share the rest. */
static int fill_pmf(struct parse *p)
{
    struct gbose__record *r = p->r;
    size_t n = r->n_ids ? r->n_ids : p->n_arms >= 1 && p->n_arms <= 1e6 ? (size_t)p->n_arms : 0;

    if (n == 0 || !(p->p > 0 && p->p <= 1) || !(p->arm < (double)n))
        return GBOSE_OK; /* the check will say what is missing */
    r->partial = n > 1;
    for (size_t a = 0; a < n; a++)
        if (gbose__record_push(&r->pmf, &r->pmf_room, a,
                               a == (size_t)p->arm ? p->p : (1 - p->p) / (double)(n - 1)))
            return GBOSE_ENOMEM;
    r->n_arms = n;
    return GBOSE_OK;
}

/* Why there are no probabilities. */
static int no_arms(const struct parse *p, gbose_error *err)
{
    if (!(p->seen & 1u << K_P))
        return gbose__fail(err, GBOSE_EINVAL, "'pmf' is missing: the probabilities that all arms had");
    if (!(p->p > 0 && p->p <= 1))
        return gbose__fail(err, GBOSE_EINVAL,
                           "'p' is %g: the probability of the arm played is above 0 and at most 1", p->p);
    if (!p->r->n_ids && !(p->n_arms >= 1 && p->n_arms <= 1e6))
        return gbose__fail(err, GBOSE_EINVAL,
                           "with 'p' alone, 'arms' or 'n_arms' says how many arms there are");
    return gbose__fail(err, GBOSE_EINVAL, "'arm' is %g, and there are fewer arms, counted from 0", p->arm);
}

static int finish(struct parse *p, gbose_error *err)
{
    struct gbose__record *r = p->r;

    if (p->bad)
        return gbose__fail(err, GBOSE_EINVAL, "%s", p->bad);
    if (!(p->seen & 1u << K_ARM))
        return gbose__fail(err, GBOSE_EINVAL,
                           "'arm' is missing: the index, from 0, of the arm that was played");
    if (!(p->arm >= 0 && p->arm <= 1e9 && floor(p->arm) == p->arm))
        return gbose__fail(err, GBOSE_EINVAL, "'arm' is %g: it must be a whole number, counted from 0",
                           p->arm);
    r->arm = (size_t)p->arm;
    r->n_arms = p->n_pmf;
    if (r->n_arms == 0 && p->seen & 1u << K_P && fill_pmf(p))
        return gbose__no_memory(err);
    if (r->n_arms == 0)
        return no_arms(p, err);
    if (r->dim && p->n_rows != r->n_arms)
        return gbose__fail(err, GBOSE_EINVAL, "'x' has %zu rows, and there are %zu arms", p->n_rows,
                           r->n_arms);
    return gbose__record_check(r, err);
}

/* Of a line that was parsed whole: what is not the format's own. */
static void keep_features(struct gbose__record *r)
{
    for (int k = 0; k < KEYS; k++)
        if (k != K_ROUND || json_is_array(json_object_get(r->features, names[k])))
            json_object_del(r->features, names[k]);
}

int gbose__jsonlog_read(struct gbose__record *r, char *line, size_t length, enum gbose__reading reading,
                        gbose_error *err)
{
    struct parse p = {.scan = {line, NULL}, .r = r, .arm = NAN};
    char *key, *in = NULL; /* the key whose value is wrong */
    size_t n = 0;

    if (memchr(line, 0, length))
        return gbose__fail(err, GBOSE_EINVAL, "a zero byte");
    if (reading != GBOSE__NUMBERS_ONLY) {
        r->features = gbose__json_parse(line, length, err);
        if (!r->features)
            return err->code;
        keep_features(r);
    }
    if (reading == GBOSE__FEATURES_ONLY)
        return GBOSE_OK;
    if (gbose__scan_open(&p.scan, '{') > 0)
        while (gbose__scan_key(&p.scan, &n, &key) > 0)
            if (value(&p, key) < 0) {
                in = key;
                break;
            }
    if (p.rc)
        return gbose__no_memory(err);
    if (p.scan.wrong || gbose__scan_end(&p.scan) < 0)
        return gbose__fail(err, GBOSE_EINVAL, in ? "column %zu: %s, in '%.40s'" : "column %zu: %s",
                           (size_t)(p.scan.at - line) + 1, p.scan.wrong, in);
    if (r->features && !r->has_features) {
        json_decref(r->features);
        r->features = NULL;
    }
    return finish(&p, err);
}
