#include "io/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/decimal.h"
#include "core/error.h"

void gbose__record_reset(struct gbose__record *r)
{
    json_decref(r->features);
    json_decref(r->document);
    r->features = r->document = NULL;
    r->id = r->time = r->bandit = r->spec = r->unit = r->why = r->reward_time = r->schema = NULL;
    r->model = r->stream = r->number = NAN;
    r->n_arms = r->arm = r->n_ids = r->dim = r->n_round = r->n_columns = r->n_policies = r->n_column_pmf = 0;
    r->partial = r->has_reward = r->has_features = 0;
    r->reward = NAN;
    r->kept = 1;
}

void gbose__record_clear(struct gbose__record *r)
{
    json_decref(r->features);
    json_decref(r->document);
    free(r->arms);
    free(r->pmf);
    free(r->x);
    free(r->round);
    free(r->column_pmf);
    free(r->feature_text);
    memset(r, 0, sizeof *r);
}

int gbose__record_push(double **array, size_t *room, size_t at, double value)
{
    if (at == *room) {
        size_t more = *room ? 2 * *room : 64;
        double *grown = realloc(*array, more * sizeof *grown);

        if (!grown)
            return GBOSE_ENOMEM;
        *array = grown;
        *room = more;
    }
    (*array)[at] = value;
    return GBOSE_OK;
}

int gbose__record_push_arm(struct gbose__record *r, const char *id)
{
    if (r->n_ids == r->arms_room) {
        size_t more = r->arms_room ? 2 * r->arms_room : 64;
        const char **grown = realloc(r->arms, more * sizeof *grown);

        if (!grown)
            return GBOSE_ENOMEM;
        r->arms = grown;
        r->arms_room = more;
    }
    r->arms[r->n_ids++] = id;
    return GBOSE_OK;
}

static int check_pmf(const double *pmf, size_t n, const char *name, gbose_error *err)
{
    double sum = 0;

    for (size_t a = 0; a < n; a++) {
        if (!(pmf[a] >= 0 && pmf[a] <= 1 + 1e-6))
            return gbose__fail(err, GBOSE_EINVAL, "%s has %g for arm %zu: a probability is from 0 to 1", name,
                               pmf[a], a);
        sum += pmf[a];
    }
    if (!(fabs(sum - 1) <= 1e-6))
        return gbose__fail(err, GBOSE_EINVAL, "the numbers of %s add up to %.9g instead of 1", name, sum);
    return GBOSE_OK;
}

int gbose__record_check(const struct gbose__record *r, gbose_error *err)
{
    int rc;

    if (r->n_arms == 0)
        return gbose__fail(err, GBOSE_EINVAL, "there are no arms: 'pmf' is missing");
    if (r->arm >= r->n_arms)
        return gbose__fail(err, GBOSE_EINVAL, "'arm' is %zu, and there are %zu arms, counted from 0", r->arm,
                           r->n_arms);
    if (r->n_ids && r->n_ids != r->n_arms)
        return gbose__fail(err, GBOSE_EINVAL, "'arms' has %zu entries, and 'pmf' %zu", r->n_ids, r->n_arms);
    rc = check_pmf(r->pmf, r->n_arms, "'pmf'", err);
    for (size_t i = 0; i < r->n_policies && !rc; i++) {
        if (r->policy[i].n != r->n_arms)
            return gbose__fail(err, GBOSE_EINVAL, "policy '%s' has %zu probabilities for %zu arms",
                               r->policy[i].name, r->policy[i].n, r->n_arms);
        rc = check_pmf(r->column_pmf + r->policy[i].first, r->n_arms, r->policy[i].name, err);
    }
    if (rc)
        return rc;
    if (!(r->pmf[r->arm] > 0))
        return gbose__fail(err, GBOSE_EINVAL, "arm %zu was played, and 'pmf' gives it probability 0", r->arm);
    if (r->schema && (strlen(r->schema) != 16 || strspn(r->schema, "0123456789abcdef") != 16))
        return gbose__fail(err, GBOSE_EINVAL,
                           "'schema' is '%.40s': it must be a schema's hash, 16 hexadecimal digits",
                           r->schema);
    if (!(r->kept > 0 && r->kept <= 1))
        return gbose__fail(err, GBOSE_EINVAL, "'drop' is %g: the probability of being kept is from 0 to 1",
                           r->kept);
    return GBOSE_OK;
}

/* A feature of the round by its full name: "user.address.city" is "city" of "address" of "user", or, in a row of a
 * table, "address.city" of "user". */
static const json_t *find_feature(const json_t *object, const char *name)
{
    const char *dot = strchr(name, '.');
    const json_t *value = json_object_get(object, name);
    char scope[400];

    if (value || !dot || (size_t)(dot - name) >= sizeof scope)
        return value;
    snprintf(scope, sizeof scope, "%.*s", (int)(dot - name), name);
    return find_feature(json_object_get(object, scope), dot + 1);
}

static const char *feature_text(struct gbose__record *r, const char *name)
{
    const json_t *value = strchr(name, '.') ? find_feature(r->features, name) : NULL;

    if (!value || json_is_null(value) || json_is_string(value))
        return json_string_value(value);
    free(r->feature_text);
    r->feature_text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17));
    return r->feature_text;
}

const char *gbose__record_column(const struct gbose__record *r, const char *name)
{
    const struct {
        const char *name, *text;
    } own[] = {{"id", r->id},         {"t", r->time},         {"schema", r->schema},
               {"bandit", r->bandit}, {"unit", r->unit},      {"spec", r->spec},
               {"why", r->why},       {"rt", r->reward_time}, {"arm", r->n_ids ? r->arms[r->arm] : NULL}};

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!strcmp(own[i].name, name))
            return own[i].text;
    for (size_t i = 0; i < r->n_columns; i++)
        if (!strcmp(r->column[i].name, name))
            return r->column[i].text;
    return feature_text((struct gbose__record *)(uintptr_t)r, name);
}

/* ---- writing ---- */

const char *gbose__record_number(char buf[GBOSE__RECORD_NUMBER], double x)
{
    struct gbose__decimal decimal;
    int set = gbose__decimal_begin(&decimal) == GBOSE_OK;

    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buf, GBOSE__RECORD_NUMBER, "%.*g", digits, x);
        if (strtod(buf, NULL) == x)
            break;
    }
    if (set)
        gbose__decimal_end(&decimal);
    return buf;
}

static void print_text(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c < ' ')
            fprintf(to, "\\u%04x", c);
        else
            fputc(c, to);
    }
    fputc('"', to);
}

static void print_list(FILE *to, const double *x, size_t n)
{
    char buf[GBOSE__RECORD_NUMBER];

    fputc('[', to);
    for (size_t i = 0; i < n; i++)
        fprintf(to, "%s%s", i ? "," : "", gbose__record_number(buf, x[i]));
    fputc(']', to);
}

static void print_if(FILE *to, const char *key, const char *text)
{
    if (text) {
        fprintf(to, ",\"%s\":", key);
        print_text(to, text);
    }
}

static void print_number_if(FILE *to, const char *key, double x)
{
    char buf[GBOSE__RECORD_NUMBER];

    if (isfinite(x))
        fprintf(to, ",\"%s\":%s", key, gbose__record_number(buf, x));
}

static void print_features(FILE *to, const json_t *features)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)features, key, value)
    {
        fputc(',', to);
        print_text(to, key);
        fputc(':', to);
        json_dumpf(value, to, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
    }
}

void gbose__record_print(const struct gbose__record *r, FILE *to)
{
    char buf[GBOSE__RECORD_NUMBER];

    fprintf(to, "{\"v\":%d", GBOSE__LOG_VERSION);
    print_if(to, "id", r->id);
    print_if(to, "t", r->time);
    print_if(to, "bandit", r->bandit);
    print_number_if(to, "model", r->model);
    print_if(to, "spec", r->spec);
    print_if(to, "schema", r->schema);
    print_number_if(to, "stream", r->stream);
    print_number_if(to, "n", r->number);
    if (r->n_ids) {
        fputs(",\"arms\":[", to);
        for (size_t i = 0; i < r->n_ids; i++) {
            fputs(i ? "," : "", to);
            print_text(to, r->arms[i]);
        }
        fputc(']', to);
    }
    fprintf(to, ",\"arm\":%zu", r->arm);
    if (r->partial) {
        fprintf(to, ",\"p\":%s,\"n_arms\":%zu", gbose__record_number(buf, r->pmf[r->arm]), r->n_arms);
    } else {
        fputs(",\"pmf\":", to);
        print_list(to, r->pmf, r->n_arms);
    }
    if (r->dim) {
        fputs(",\"x\":[", to);
        for (size_t a = 0; a < r->n_arms; a++) {
            fputs(a ? "," : "", to);
            print_list(to, r->x + a * r->dim, r->dim);
        }
        fputc(']', to);
    }
    if (r->n_round) {
        fputs(",\"round\":", to);
        print_list(to, r->round, r->n_round);
    }
    if (r->features)
        print_features(to, r->features);
    fprintf(to, ",\"r\":%s", r->has_reward ? gbose__record_number(buf, r->reward) : "null");
    print_if(to, "rt", r->reward_time);
    print_if(to, "why", r->why);
    print_if(to, "unit", r->unit);
    if (r->kept < 1)
        print_number_if(to, "drop", r->kept);
    for (size_t i = 0; i < r->n_columns; i++) {
        if (json_object_get(r->features, r->column[i].name))
            continue; /* it is there already, as it was logged */
        fputc(',', to);
        print_text(to, r->column[i].name);
        fputc(':', to);
        print_text(to, r->column[i].text);
    }
    if (r->n_policies) {
        fputs(",\"policies\":{", to);
        for (size_t i = 0; i < r->n_policies; i++) {
            fputs(i ? "," : "", to);
            print_text(to, r->policy[i].name);
            fputc(':', to);
            print_list(to, r->column_pmf + r->policy[i].first, r->policy[i].n);
        }
        fputc('}', to);
    }
    fputs("}\n", to);
}

/* Features of the round, each scope a namespace. */
static void print_scopes(FILE *to, const json_t *features)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)features, key, value) if (json_is_object(value))
    {
        print_text(to, key);
        fputc(':', to);
        json_dumpf(value, to, JSON_COMPACT | JSON_REAL_PRECISION(17));
        fputc(',', to);
    }
}

/* An arm of dsjson: its id, its features, its contexts. */
static void print_action(FILE *to, const struct gbose__record *r, size_t a)
{
    const json_t *action = json_array_get(json_object_get(r->features, "actions"), a);
    char buf[GBOSE__RECORD_NUMBER];
    const char *key;
    json_t *value;
    int more = r->n_ids && !json_object_get(action, "id");

    fputs(a ? ",{" : "{", to);
    if (more) {
        fputs("\"id\":", to);
        print_text(to, r->arms[a]);
    }
    json_object_foreach((json_t *)(uintptr_t)action, key, value)
    {
        fputs(more ? "," : "", to);
        print_text(to, key);
        fputc(':', to);
        json_dumpf(value, to, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
        more = 1;
    }
    if (r->dim) {
        fputs(more ? ",\"x\":{" : "\"x\":{", to);
        for (size_t i = 0; i < r->dim; i++)
            fprintf(to, "%s\"f%zu\":%s", i ? "," : "", i, gbose__record_number(buf, r->x[a * r->dim + i]));
        fputc('}', to);
    }
    fputc('}', to);
}

/* Arms counted from 1, the one that was played first, and their probabilities in that order. */
static void print_order(FILE *to, const struct gbose__record *r)
{
    char buf[GBOSE__RECORD_NUMBER];

    fprintf(to, ",\"a\":[%zu", r->arm + 1);
    for (size_t a = 0; a < r->n_arms; a++)
        if (a != r->arm)
            fprintf(to, ",%zu", a + 1);
    fprintf(to, "],\"p\":[%s", gbose__record_number(buf, r->pmf[r->arm]));
    for (size_t a = 0; a < r->n_arms; a++)
        if (a != r->arm)
            fprintf(to, ",%s", gbose__record_number(buf, r->pmf[a]));
    fputc(']', to);
}

/* As Vowpal Wabbit reads it: cost = -reward, arms counted from 1, the one that was played first. Contexts are
 * features "f0", "f1", ... of a namespace x. */
void gbose__record_print_dsjson(const struct gbose__record *r, FILE *to)
{
    char buf[GBOSE__RECORD_NUMBER];

    fprintf(to, "{\"_label_cost\":%s,\"_label_probability\":",
            r->has_reward ? gbose__record_number(buf, 0 - r->reward) : "0");
    fprintf(to, "%s,\"_label_Action\":%zu,\"_labelIndex\":%zu",
            gbose__record_number(buf, r->pmf[r->arm] * r->kept), r->arm + 1, r->arm);
    if (!r->has_reward)
        fputs(",\"_skipLearn\":true", to);
    print_if(to, "Timestamp", r->time);
    fputs(",\"Version\":\"1\"", to);
    print_if(to, "EventId", r->id);
    if (!r->partial) /* probabilities that were not logged are not made up */
        print_order(to, r);
    fputs(",\"c\":{", to);
    print_scopes(to, r->features);
    fputs("\"_multi\":[", to);
    for (size_t a = 0; a < r->n_arms; a++)
        print_action(to, r, a);
    fputs("]},\"VWState\":{\"m\":\"N/A\"}", to);
    if (r->kept < 1)
        print_number_if(to, "pdrop", 1 - r->kept);
    fputs("}\n", to);
}
