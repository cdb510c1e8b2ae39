#include "cli/schema_check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"

#define MOST_GRAM 1000  /* columns: beyond, the matrix would take more than 8 MB and minutes */
#define GRAM_WORK 4e9   /* multiplications spent on it: seconds */
#define MOST_NAMED 8    /* columns or values that are named in one remark */
#define DETERMINED 1e-9 /* share of a column's variation that is left where others determine it */
#define MAX_COLUMN_NAME 4000

static void remark(const char *about, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void remark(const char *about, const char *format, ...)
{
    va_list args;

    printf("  %-12s", about);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

/* ---- sums over columns ---- */

int schema_columns_init(struct schema_columns *c, const gbose_schema *schema, gbose_error *err)
{
    size_t dim = gbose_schema_dim(schema);

    memset(c, 0, sizeof *c);
    c->schema = schema;
    c->dim = dim;
    c->centred = calloc(dim, sizeof *c->centred);
    c->round = calloc(gbose_schema_round(schema) + 1, sizeof *c->round);
    c->filled = calloc(dim, sizeof *c->filled);
    c->varied = calloc(dim, sizeof *c->varied);
    c->alone_sum = calloc(2 * dim, sizeof *c->alone_sum);
    c->gram = dim <= MOST_GRAM ? calloc(dim * dim, sizeof *c->gram) : NULL;
    if (!c->centred || !c->round || !c->filled || !c->varied || !c->alone_sum ||
        (dim <= MOST_GRAM && !c->gram)) {
        schema_columns_clear(c);
        return gbose__no_memory(err);
    }
    return GBOSE_OK;
}

void schema_columns_clear(struct schema_columns *c)
{
    free(c->row);
    free(c->centred);
    free(c->round);
    free(c->filled);
    free(c->varied);
    free(c->alone_sum);
    free(c->gram);
    memset(c, 0, sizeof *c);
}

/* A row's distance from `mean`, into the sums. */
static void add_row(struct schema_columns *c, const double *row, const double *mean, int with_gram)
{
    for (size_t j = 0; j < c->dim; j++) {
        double x = row[j] - mean[j];

        c->filled[j] += row[j] != 0;
        c->varied[j] += x * x;
        c->centred[j] = x;
    }
    for (size_t j = 0; j < c->dim && with_gram; j++)
        for (size_t k = 0; c->centred[j] != 0 && k <= j; k++)
            c->gram[j * c->dim + k] += c->centred[j] * c->centred[k];
}

int schema_columns_add(struct schema_columns *c, const gbose_features *shared, const gbose_features *actions,
                       size_t n_arms, gbose_error *err)
{
    double *mean = c->alone_sum + c->dim;
    int with_gram = c->gram && (double)c->arms * (double)c->dim * (double)c->dim <= 2 * GRAM_WORK, rc;

    if (n_arms > c->n_rows) {
        double *row = realloc(c->row, n_arms * c->dim * sizeof *row);

        if (!row)
            return gbose__no_memory(err);
        c->row = row;
        c->n_rows = n_arms;
    }
    rc = gbose_encode(c->schema, c->row, c->round, shared, actions, n_arms, err);
    if (rc)
        return rc;
    for (size_t j = 0; j < c->dim && n_arms > 1; j++) {
        mean[j] = 0;
        for (size_t i = 0; i < n_arms; i++)
            mean[j] += c->row[i * c->dim + j] / (double)n_arms;
    }
    if (n_arms == 1) { /* Welford's recursion, by a row whose product with itself is the growth of the sum */
        double n = (double)++c->alone, root = sqrt((n - 1) / n);

        for (size_t j = 0; j < c->dim; j++) {
            double distance = c->row[j] - c->alone_sum[j];

            mean[j] = c->row[j] - root * distance;
            c->alone_sum[j] += distance / n;
        }
    }
    for (size_t i = 0; i < n_arms; i++)
        add_row(c, c->row + i * c->dim, mean, with_gram);
    c->arms += n_arms;
    c->rounds++;
    c->gram_rounds += (uint64_t)with_gram;
    return GBOSE_OK;
}

/* ---- remarks about columns ---- */

static const struct gbose__term *term_of(const gbose_schema *s, size_t column)
{
    const struct gbose__term *t = s->arm.at;

    while (column >= t->first + t->width)
        t++;
    return t;
}

/* Is each feature of a in b? */
static int is_part(const struct gbose__term *a, const struct gbose__term *b)
{
    for (uint32_t i = 0; i < a->n_factors; i++) {
        int found = 0;

        for (uint32_t k = 0; k < b->n_factors; k++)
            found |= a->factor[i].feature == b->factor[k].feature;
        if (!found)
            return 0;
    }
    return 1;
}

static void print_column(const gbose_schema *s, size_t i)
{
    char name[MAX_COLUMN_NAME];

    gbose_schema_column(s, i, name, sizeof name);
    fputs(name, stdout);
}

/* A list of columns in one remark. */
static int name_columns(const struct schema_columns *c, const char *about, const char *words,
                        const char *picked)
{
    size_t n = 0;

    for (size_t j = 0; j < c->dim; j++)
        n += picked[j] != 0;
    if (!n)
        return 0;
    printf("  %-12s%zu column%s %s: ", about, n, n > 1 ? "s" : "", words);
    n = 0;
    for (size_t j = 0; j < c->dim && n <= MOST_NAMED; j++) {
        if (!picked[j])
            continue;
        fputs(n ? ", " : "", stdout);
        if (n++ == MOST_NAMED)
            fputs("...", stdout);
        else
            print_column(c->schema, j);
    }
    putchar('\n');
    return 1;
}

/* Column j of the arms is determined by the columns in `base`, with these weights. Within a product, and
 * between a product and its parts, that is so by design (the values of a category add up to 1), and the
 * ridge deals with it. */
static int remark_determined(const struct schema_columns *c, size_t j, const size_t *base,
                             const double *weight, size_t n)
{
    const gbose_schema *s = c->schema;
    int by_design = 1;
    size_t named = 0;

    for (size_t i = 0; i < n; i++)
        if (fabs(weight[i]) > 1e-6) {
            const struct gbose__term *a = term_of(s, j), *b = term_of(s, base[i]);

            by_design &= is_part(a, b) || is_part(b, a);
        }
    if (by_design)
        return 0;
    printf("  %-12s", "collinear");
    print_column(s, j);
    fputs(" is determined by ", stdout);
    for (size_t i = 0; i < n && named <= MOST_NAMED; i++) {
        if (fabs(weight[i]) <= 1e-6)
            continue;
        fputs(named ? ", " : "", stdout);
        if (named++ == MOST_NAMED)
            fputs("...", stdout);
        else
            print_column(s, base[i]);
    }
    putchar('\n');
    return 1;
}

/* Cholesky, column after column; one of which nothing is left is determined by those before it. */
static int find_collinear(const struct schema_columns *c)
{
    size_t dim = c->dim, n = 0;
    size_t *base = calloc(dim, sizeof *base);
    double *factor = calloc(dim * dim, sizeof *factor), *y = calloc(2 * dim, sizeof *y),
           *weight = y ? y + dim : NULL;
    int remarks = 0;

    if (!base || !factor || !y)
        remarks = -1;
    for (size_t j = 0; j < dim && remarks >= 0 && remarks < MOST_NAMED; j++) {
        double left = c->gram[j * dim + j];

        if (!(left > 0))
            continue;
        for (size_t i = 0; i < n; i++) {
            y[i] = c->gram[j * dim + base[i]];
            for (size_t k = 0; k < i; k++)
                y[i] -= factor[i * dim + k] * y[k];
            y[i] /= factor[i * dim + i];
            left -= y[i] * y[i];
        }
        if (left > DETERMINED * c->gram[j * dim + j]) {
            memcpy(factor + n * dim, y, n * sizeof *y);
            factor[n * dim + n] = sqrt(left);
            base[n++] = j;
            continue;
        }
        for (size_t i = n; i-- > 0;) {
            weight[i] = y[i];
            for (size_t k = i + 1; k < n; k++)
                weight[i] -= factor[k * dim + i] * weight[k];
            weight[i] /= factor[i * dim + i];
        }
        remarks += remark_determined(c, j, base, weight, n);
    }
    free(base);
    free(factor);
    free(y);
    return remarks;
}

int schema_check_columns(struct schema_columns *c)
{
    char *picked = calloc(c->dim, 1);
    int remarks = 0, more = 0;

    if (!picked)
        return -1;
    for (size_t j = 0; j < c->dim; j++)
        picked[j] = !c->filled[j];
    remarks += name_columns(c, "empty", "always 0", picked);
    for (size_t j = 0; j < c->dim; j++)
        picked[j] = c->filled[j] && !(c->varied[j] > 0);
    remarks += name_columns(c, "constant", "never different between the arms of a round", picked);
    free(picked);
    if (c->gram)
        more = find_collinear(c);
    else
        remark("note", "%zu columns are too many to look for collinear ones", c->dim);
    if (c->gram && c->gram_rounds < c->rounds)
        remark("note", "collinear columns were looked for in the first %llu rounds",
               (unsigned long long)c->gram_rounds);
    return more < 0 ? -1 : remarks + more;
}

/* ---- remarks about features ---- */

static int check_seen(const gbose_schema *s, const struct gbose__schema_feature *f,
                      const struct gbose__profile_feature *seen)
{
    size_t never = 0;

    (void)s;
    for (uint32_t i = 0; i < f->n_values; i++) {
        if (i == f->other_column || i == f->missing_column || gbose__profile_count(seen, f->key[i]))
            continue;
        if (never++ == 0)
            printf("  %-12s%s: ", "never seen", f->name);
        else if (never <= MOST_NAMED + 1)
            fputs(", ", stdout);
        if (never <= MOST_NAMED)
            fputs(f->value[i], stdout);
        else if (never == MOST_NAMED + 1)
            fputs("...", stdout);
    }
    if (never)
        putchar('\n');
    return never > 0;
}

/* How often values came that the schema does not list, and which most often. */
static int check_other(const struct gbose__schema_feature *f, const struct gbose__profile_feature *seen)
{
    uint64_t others = seen->not_remembered, most = 0;
    const char *which = "";

    for (size_t i = 0; i < seen->n_values && f->n_values; i++)
        if (gbose__value_find(f, seen->value[i].key) < 0) {
            others += seen->value[i].count;
            if (seen->value[i].count > most) {
                most = seen->value[i].count;
                which = seen->value[i].text;
            }
        }
    if (!f->n_values || !others)
        return 0;
    remark("other", "%s: %llu values are not listed; '%.60s' is the most frequent one (%llu)", f->name,
           (unsigned long long)others, which, (unsigned long long)most);
    return 1;
}

static int check_collisions(const struct gbose__schema_feature *f, const struct gbose__profile_feature *seen)
{
    const char **first;
    size_t shared = 0, shown = 0;
    char example[200] = "";
    double sign;

    if (!f->buckets)
        return 0;
    first = calloc(f->buckets, sizeof *first);
    if (!first)
        return -1;
    for (size_t i = 0; i < seen->n_values; i++) {
        uint32_t at = gbose__value_bucket(f, seen->value[i].key, &sign);

        if (first[at]) {
            shared++;
            if (shown++ == 0)
                snprintf(example, sizeof example, "'%.60s' and '%.60s' in #%u", first[at],
                         seen->value[i].text, (unsigned)at);
        } else {
            first[at] = seen->value[i].text;
        }
    }
    free(first);
    if (!shared)
        return 0;
    remark("collision", "%s: %zu of %zu values share a column with another one, such as %s", f->name, shared,
           seen->n_values, example);
    return 1;
}

static int check_scale(const struct gbose__schema_feature *f, const struct gbose__profile_feature *seen)
{
    double deviation = gbose__profile_deviation(seen, f->logarithm), size;

    if ((f->type != TYPE_NUMBER && f->type != TYPE_VECTOR) || !seen->counted)
        return 0;
    size = deviation / f->scale;
    if (deviation == 0) {
        remark("constant", "%s is always %g", f->name, seen->mean[0]);
        return 1;
    }
    if (size >= 0.1 && size <= 10)
        return 0;
    remark("scale", "%s: its deviation is %.2g after scale=%g; scale=%.2g would make it 1", f->name, size,
           f->scale, deviation);
    return 1;
}

static int check_missing(const struct gbose__profile *profile, const struct gbose__profile_feature *seen)
{
    uint64_t missing = gbose__profile_missing(profile, seen),
             all = seen->is_action ? profile->arms : profile->rounds;

    if (!missing)
        return 0;
    remark("missing", "%s in %.2g%% of the %s", seen->name, 100 * (double)missing / (double)all,
           seen->is_action ? "arms" : "rounds");
    return 1;
}

int schema_check_features(const gbose_schema *schema, const struct gbose__profile *profile)
{
    int remarks = 0;

    for (size_t i = 0; i < schema->n_features; i++) {
        const struct gbose__schema_feature *f = &schema->feature[i];
        const struct gbose__profile_feature *seen = gbose__profile_find(profile, f->name);
        int collisions;

        if (!seen || !seen->given) {
            remark("missing", "%s never comes", f->name);
            remarks++;
            continue;
        }
        remarks += check_missing(profile, seen) + check_seen(schema, f, seen) + check_other(f, seen) +
                   check_scale(f, seen);
        collisions = check_collisions(f, seen);
        if (collisions < 0)
            return -1;
        remarks += collisions;
    }
    return remarks;
}
