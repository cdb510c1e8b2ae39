/* Encoding: features as they come, to the rows of contexts that a schema makes of them.
 *
 * Each feature is first turned into the columns of its own that are not 0 (most have one), then every term
 * multiplies the columns of its factors. All that needs memory is on the stack, so nothing is allocated. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/spec.h"
#include "encode/schema.h"

#define MAX_ELEMENTS 2048 /* of all sets of the round and of one arm together: they are kept on the stack */
#define HINTS 32          /* features of an arm whose slots are remembered for the next arm */

static const double TURN = 6.283185307179586476925287; /* 2 pi */

/* An element of a set: its column, and the sign that hashing gives it. */
struct element {
    uint64_t key; /* what makes it the same as another */
    uint32_t column;
    double value;
};

/* The columns of a feature that are not 0. */
enum shape { SHAPE_NONE, SHAPE_ONE, SHAPE_CYCLE, SHAPE_NUMBERS, SHAPE_TEXT, SHAPE_ELEMENTS };

struct input {
    int seen; /* was it given? */
    enum shape shape;
    uint32_t column; /* SHAPE_ONE: of `value` */
    uint32_t n;      /* SHAPE_ELEMENTS */
    double value;
    union {
        double cosine;         /* SHAPE_CYCLE: its sine is `value` */
        const double *numbers; /* SHAPE_NUMBERS: the entries of a vector */
        const char *text;      /* SHAPE_TEXT: the same, still to be split */
        const struct element *elements;
    } of;
};

struct work {
    const gbose_schema *schema;
    gbose_error *err;
    struct input input[GBOSE__MAX_FEATURES];
    struct element element[MAX_ELEMENTS];
    size_t n_elements;
    uint32_t hint[HINTS]; /* the slots of the features of the last list, as far as they had names */
    size_t n_hints;
    int fits; /* is all that was written of a size that learners take? */
};

/* ---- errors ---- */

static int refuse(struct work *w, const struct gbose__schema_feature *f, const char *wanted,
                  const gbose_feature *from)
{
    char got[48] = "a list";

    if (from->kind == GBOSE_FEATURE_NUMBER)
        snprintf(got, sizeof got, "%g", from->as.number);
    if (from->kind == GBOSE_FEATURE_TEXT) {
        snprintf(got, sizeof got, "'%.40s'", from->as.text);
        for (char *c = got; *c; c++)
            if ((unsigned char)*c < ' ')
                *c = '?';
    }
    return gbose__fail(w->err, GBOSE_EVALUE, "%.100s must be %s; got %s", f->name, wanted, got);
}

static int too_large(struct work *w, const char *name)
{
    return gbose__fail(w->err, GBOSE_ENUMERIC, "%.100s is infinite or larger than %g, after its scale", name,
                       GBOSE_MAX_INPUT);
}

/* ---- one value ---- */

static int is_missing(const gbose_feature *from)
{
    return from->kind == GBOSE_FEATURE_MISSING ||
           (from->kind == GBOSE_FEATURE_NUMBER && isnan(from->as.number)) ||
           (from->kind == GBOSE_FEATURE_TEXT && !*from->as.text);
}

static int set_missing(struct work *w, const struct gbose__schema_feature *f, struct input *in)
{
    if (f->missing == STRAY_ERROR)
        return gbose__fail(w->err, GBOSE_EVALUE, "%.100s is missing", f->name);
    in->shape = f->missing_column == GBOSE__NO_COLUMN ? SHAPE_NONE : SHAPE_ONE;
    in->column = f->missing_column;
    in->value = 1;
    return GBOSE_OK;
}

static int get_number(struct work *w, const struct gbose__schema_feature *f, const gbose_feature *from,
                      double *out)
{
    if (from->kind == GBOSE_FEATURE_NUMBER) {
        *out = from->as.number;
        return GBOSE_OK;
    }
    if (from->kind == GBOSE_FEATURE_TEXT) {
        struct gbose__piece text = {from->as.text, strlen(from->as.text)};

        if (gbose__value_number(w->schema->c_locale, out, text, 1))
            return GBOSE_OK;
    }
    return refuse(w, f, "a number", from);
}

/* (f(x) - offset) / scale; the logarithm is odd, so that no number is outside of it. */
static double transformed(const struct gbose__schema_feature *f, double x)
{
    if (f->logarithm)
        x = copysign(log1p(fabs(x)), x);
    return (x - f->offset) / f->scale;
}

static int decode_number(struct work *w, const struct gbose__schema_feature *f, struct input *in,
                         const gbose_feature *from)
{
    double x;
    int rc = get_number(w, f, from, &x);

    if (rc)
        return rc;
    if (f->type == TYPE_FLAG && x != 0 && x != 1)
        return refuse(w, f, "true or false", from);
    if (f->type == TYPE_CYCLE) {
        double angle = TURN * fmod(x / f->period, 1);

        if (!isfinite(x))
            return too_large(w, f->name);
        in->shape = SHAPE_CYCLE;
        in->value = sin(angle);
        in->of.cosine = cos(angle);
        return GBOSE_OK;
    }
    in->shape = SHAPE_ONE;
    in->column = 0;
    in->value = f->type == TYPE_FLAG ? x : transformed(f, x);
    return fabs(in->value) <= GBOSE_MAX_INPUT ? GBOSE_OK : too_large(w, f->name);
}

/* The column of a value that is known by its key, and its sign. GBOSE__NO_COLUMN: it has none. */
static int column_of(struct work *w, const struct gbose__schema_feature *f, uint64_t key,
                     const gbose_feature *from, uint32_t *column, double *sign)
{
    int64_t i;

    *sign = 1;
    if (f->buckets) {
        *column = gbose__value_bucket(f, key, sign);
        return GBOSE_OK;
    }
    i = gbose__value_find(f, key);
    if (i < 0 && f->other == STRAY_ERROR)
        return refuse(w, f, "one of its listed values", from);
    *column = i < 0 ? f->other_column : (uint32_t)i;
    return GBOSE_OK;
}

static uint64_t text_key(const struct work *w, const struct gbose__schema_feature *f, const char *text,
                         size_t n)
{
    struct gbose__piece piece = {text, n};

    return gbose__value_key(w->schema->c_locale, f->seed, piece);
}

static int decode_category(struct work *w, const struct gbose__schema_feature *f, struct input *in,
                           const gbose_feature *from)
{
    uint64_t key;
    int rc;

    if (from->kind == GBOSE_FEATURE_TEXT)
        key = text_key(w, f, from->as.text, strlen(from->as.text));
    else if (from->kind == GBOSE_FEATURE_NUMBER)
        key = gbose__value_key_of_number(f->seed, from->as.number);
    else
        return refuse(w, f, "a single value", from);
    rc = column_of(w, f, key, from, &in->column, &in->value);
    in->shape = in->column == GBOSE__NO_COLUMN ? SHAPE_NONE : SHAPE_ONE;
    return rc;
}

/* ---- sets ---- */

/* Values count once, and so do all that are not listed. */
static int add_element(struct work *w, const struct gbose__schema_feature *f, struct input *in, uint64_t key,
                       const gbose_feature *from)
{
    struct element e;
    int rc = column_of(w, f, key, from, &e.column, &e.value);

    if (rc || e.column == GBOSE__NO_COLUMN)
        return rc;
    e.key = f->buckets ? key : e.column;
    for (uint32_t i = 0; i < in->n; i++)
        if (in->of.elements[i].key == e.key)
            return GBOSE_OK;
    if (w->n_elements == MAX_ELEMENTS)
        return gbose__fail(w->err, GBOSE_EVALUE,
                           "%.100s: the sets of a round and an arm hold more than %d values", f->name,
                           MAX_ELEMENTS);
    w->element[w->n_elements++] = e;
    in->n++;
    return GBOSE_OK;
}

static int decode_set(struct work *w, const struct gbose__schema_feature *f, struct input *in,
                      const gbose_feature *from)
{
    int rc = GBOSE_OK;

    in->shape = SHAPE_ELEMENTS;
    in->n = 0;
    in->of.elements = w->element + w->n_elements;
    switch (from->kind) {
    case GBOSE_FEATURE_NUMBER:
        return add_element(w, f, in, gbose__value_key_of_number(f->seed, from->as.number), from);
    case GBOSE_FEATURE_TEXT:
        for (const char *at = from->as.text; at && !rc;) {
            size_t n = strcspn(at, "|");

            if (n)
                rc = add_element(w, f, in, text_key(w, f, at, n), from);
            at = at[n] ? at + n + 1 : NULL;
        }
        return rc;
    case GBOSE_FEATURE_TEXTS:
        for (size_t i = 0; i < from->n && !rc; i++)
            if (*from->as.texts[i])
                rc =
                    add_element(w, f, in, text_key(w, f, from->as.texts[i], strlen(from->as.texts[i])), from);
        return rc;
    default:
        for (size_t i = 0; i < from->n && !rc; i++)
            if (!isnan(from->as.numbers[i]))
                rc = add_element(w, f, in, gbose__value_key_of_number(f->seed, from->as.numbers[i]), from);
        return rc;
    }
}

/* ---- vectors ---- */

/* The number before the next '|', which is then passed. 0: it is none. */
static int next_number(const gbose_schema *schema, const char **at, double *out)
{
    struct gbose__piece piece = {*at, strcspn(*at, "|")};

    *at += piece.n;
    *at += **at == '|';
    return gbose__value_number(schema->c_locale, out, piece, 0);
}

static int decode_vector(struct work *w, const struct gbose__schema_feature *f, struct input *in,
                         const gbose_feature *from)
{
    const char *at = from->as.text;
    char wanted[60];
    double x;

    snprintf(wanted, sizeof wanted, "%u numbers", (unsigned)f->length);
    if (from->kind == GBOSE_FEATURE_NUMBERS) {
        in->shape = SHAPE_NUMBERS;
        in->of.numbers = from->as.numbers;
        if (from->n != f->length)
            return gbose__fail(w->err, GBOSE_EVALUE, "%.100s must be %s; got %zu", f->name, wanted, from->n);
        for (uint32_t i = 0; i < f->length; i++)
            if (!(fabs(from->as.numbers[i] / f->scale) <= GBOSE_MAX_INPUT))
                return too_large(w, f->name);
        return GBOSE_OK;
    }
    if (from->kind == GBOSE_FEATURE_NUMBER && f->length == 1) {
        in->shape = SHAPE_ONE;
        in->column = 0;
        in->value = from->as.number / f->scale;
        return fabs(in->value) <= GBOSE_MAX_INPUT ? GBOSE_OK : too_large(w, f->name);
    }
    if (from->kind != GBOSE_FEATURE_TEXT)
        return refuse(w, f, wanted, from);
    in->shape = SHAPE_TEXT;
    in->of.text = at;
    for (uint32_t i = 0; i < f->length; i++) {
        if (!*at || !next_number(w->schema, &at, &x))
            return refuse(w, f, wanted, from);
        if (!(fabs(x / f->scale) <= GBOSE_MAX_INPUT))
            return too_large(w, f->name);
    }
    return *at ? refuse(w, f, wanted, from) : GBOSE_OK;
}

/* ---- lists of features ---- */

static int decode(struct work *w, uint32_t slot, const gbose_feature *from)
{
    const struct gbose__schema_feature *f = &w->schema->feature[slot - 1];
    struct input *in = &w->input[slot - 1];

    in->seen = 1;
    if (from->kind > GBOSE_FEATURE_TEXTS)
        return gbose__fail(w->err, GBOSE_EINVAL, "%.100s has a kind that does not exist: %u", f->name,
                           (unsigned)from->kind);
    if (is_missing(from))
        return set_missing(w, f, in);
    switch (f->type) {
    case TYPE_CATEGORY:
        return decode_category(w, f, in, from);
    case TYPE_SET:
        return decode_set(w, f, in, from);
    case TYPE_VECTOR:
        return decode_vector(w, f, in, from);
    default:
        return decode_number(w, f, in, from);
    }
}

/* The slot of a feature, 0 if the schema does not use it. Arms mostly come with the same features in the
 * same order, so the slot that this place of the list had before is tried first. */
static uint32_t find_slot(struct work *w, const gbose_feature *from, size_t place)
{
    uint32_t slot;

    if (from->slot)
        return from->slot;
    if (place < w->n_hints && w->hint[place] &&
        !strcmp(w->schema->feature[w->hint[place] - 1].name, from->name))
        return w->hint[place];
    slot = gbose_schema_slot(w->schema, from->name);
    if (place < w->n_hints || (place == w->n_hints && place < HINTS)) {
        w->hint[place] = slot;
        w->n_hints += place == w->n_hints;
    }
    return slot;
}

static int read_list(struct work *w, const gbose_features *list, int is_action)
{
    for (size_t i = 0; i < list->n; i++) {
        const gbose_feature *from = &list->at[i];
        uint32_t slot;
        int rc;

        if (!from->slot && !from->name)
            return gbose__fail(w->err, GBOSE_EINVAL, "a feature has neither a name nor a slot");
        slot = find_slot(w, from, i);
        if (!slot)
            continue;
        if (slot > w->schema->n_features)
            return gbose__fail(w->err, GBOSE_EINVAL, "the schema has no slot %u", (unsigned)slot);
        if (w->schema->feature[slot - 1].is_action != is_action)
            return gbose__fail(
                w->err, GBOSE_EVALUE, "%.100s belongs to %s", w->schema->feature[slot - 1].name,
                is_action ? "the round, and is given for an arm" : "an arm, and is given for the round");
        if (w->input[slot - 1].seen)
            return gbose__fail(w->err, GBOSE_EVALUE, "%.100s is given twice",
                               w->schema->feature[slot - 1].name);
        rc = decode(w, slot, from);
        if (rc)
            return rc;
    }
    return GBOSE_OK;
}

static int read_shared(struct work *w, const gbose_features *shared)
{
    const gbose_schema *s = w->schema;
    int rc;

    for (size_t i = 0; i < s->n_features; i++)
        w->input[i].seen = 0;
    w->n_hints = 0;
    rc = shared ? read_list(w, shared, 0) : GBOSE_OK;
    for (size_t i = 0; i < s->n_features && !rc; i++)
        if (!w->input[i].seen && !s->feature[i].is_action)
            rc = set_missing(w, &s->feature[i], &w->input[i]);
    w->n_hints = 0;
    return rc;
}

static int read_action(struct work *w, const gbose_features *action)
{
    const gbose_schema *s = w->schema;
    int rc;

    for (size_t i = 0; i < s->n_actions; i++)
        w->input[s->action[i]].seen = 0;
    rc = read_list(w, action, 1);
    for (size_t i = 0; i < s->n_actions && !rc; i++)
        if (!w->input[s->action[i]].seen)
            rc = set_missing(w, &s->feature[s->action[i]], &w->input[s->action[i]]);
    return rc;
}

/* ---- terms ---- */

static double power_of(double x, uint32_t power)
{
    double y = x;

    while (--power)
        y *= x;
    return y;
}

/* The columns of a factor that is no single number, one after the other: multiply() goes on with each of
 * them. */
static inline void multiply(struct work *w, const struct gbose__term *t, uint32_t k, double *row,
                            double product);

static void spread(struct work *w, const struct gbose__term *t, uint32_t k, double *row, double product)
{
    const struct gbose__factor *f = &t->factor[k];
    const struct gbose__schema_feature *feature = &w->schema->feature[f->feature];
    const struct input *in = &w->input[f->feature];
    const char *at;
    double x;

    switch (in->shape) {
    case SHAPE_ONE: /* of a power: it has one column, which is 0 where the number is missing */
        if (!in->column)
            multiply(w, t, k + 1, row, product * power_of(in->value, f->power));
        return;
    case SHAPE_NONE:
        return;
    case SHAPE_CYCLE:
        multiply(w, t, k + 1, row, product * in->value);
        multiply(w, t, k + 1, row + f->stride, product * in->of.cosine);
        return;
    case SHAPE_ELEMENTS:
        for (uint32_t i = 0; i < in->n; i++)
            multiply(w, t, k + 1, row + in->of.elements[i].column * f->stride,
                     product * in->of.elements[i].value);
        return;
    case SHAPE_NUMBERS:
        for (uint32_t i = 0; i < feature->length; i++)
            multiply(w, t, k + 1, row + i * f->stride, product * (in->of.numbers[i] / feature->scale));
        return;
    default:
        at = in->of.text;
        for (uint32_t i = 0; i < feature->length; i++) {
            next_number(w->schema, &at, &x);
            multiply(w, t, k + 1, row + i * f->stride, product * (x / feature->scale));
        }
    }
}

/* Add the product of the factors from number k on, times `product`, to the columns from `row` on. */
static inline void multiply(struct work *w, const struct gbose__term *t, uint32_t k, double *row,
                            double product)
{
    for (; k < t->n_factors; k++) {
        const struct gbose__factor *f = &t->factor[k];
        const struct input *in = &w->input[f->feature];

        if (in->shape != SHAPE_ONE || f->power > 1) {
            spread(w, t, k, row, product);
            return;
        }
        row += in->column * f->stride;
        product *= in->value;
    }
    *row += product;
    w->fits &= fabs(*row) <= GBOSE_MAX_INPUT;
}

static int write_row(struct work *w, const struct gbose__terms *list, double *row)
{
    memset(row, 0, list->columns * sizeof *row);
    w->fits = 1;
    for (size_t i = 0; i < list->n; i++)
        multiply(w, &list->at[i], 0, row + list->at[i].first, 1);
    return w->fits ? GBOSE_OK : too_large(w, "a product");
}

int gbose_encode(const gbose_schema *schema, double *rows, double *round, const gbose_features *shared,
                 const gbose_features *actions, size_t n_arms, gbose_error *err)
{
    struct work w;
    size_t elements;
    int rc;

    if (!schema || (n_arms && (!rows || !actions)))
        return gbose__fail(err, GBOSE_EINVAL, "%s", gbose_strerror(GBOSE_EINVAL));
    w.schema = schema;
    w.err = err;
    w.n_elements = 0;
    rc = read_shared(&w, shared);
    if (!rc && round)
        rc = write_row(&w, &schema->round, round);
    elements = w.n_elements;
    for (size_t i = 0; i < n_arms && !rc; i++) {
        w.n_elements = elements;
        rc = read_action(&w, &actions[i]);
        if (!rc)
            rc = write_row(&w, &schema->arm, rows + i * schema->arm.columns);
    }
    if (!rc && err) {
        err->code = GBOSE_OK;
        err->text[0] = 0;
    }
    return rc;
}
