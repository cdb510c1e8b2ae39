#include "encode/profile.h"

#include <math.h>
#include <string.h>

#include "core/bytes.h"
#include "core/decimal.h"
#include "core/memory.h"
#include "encode/schema.h"

int gbose__profile_init(struct gbose__profile *p)
{
    memset(p, 0, sizeof *p);
    p->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return p->c_locale ? GBOSE_OK : GBOSE_ENOMEM;
}

void gbose__profile_clear(struct gbose__profile *p)
{
    for (size_t i = 0; i < p->n_features; i++) {
        struct gbose__profile_feature *f = &p->feature[i];

        for (size_t k = 0; k < f->n_values; k++)
            gbose__free(f->value[k].text);
        gbose__free(f->value);
        gbose__free(f->place);
        gbose__free(f->name);
    }
    gbose__free(p->feature);
    if (p->c_locale)
        freelocale(p->c_locale);
    memset(p, 0, sizeof *p);
}

/* Room for twice as many entries. GBOSE_OK or GBOSE_ENOMEM. */
static int grow(void **list, size_t *room, size_t n, size_t size)
{
    size_t more = *room ? 2 * *room : 8;
    void *larger = gbose__alloc(more, size);

    if (!larger)
        return GBOSE_ENOMEM;
    if (n)
        memcpy(larger, *list, n * size);
    gbose__free(*list);
    *list = larger;
    *room = more;
    return GBOSE_OK;
}

static char *copy_text(const char *text, size_t n)
{
    char *copy = gbose__alloc(n + 1, 1);

    if (copy)
        memcpy(copy, text, n);
    return copy;
}

/* ---- features by name ---- */

const struct gbose__profile_feature *gbose__profile_find(const struct gbose__profile *p, const char *name)
{
    for (size_t i = 0; i < p->n_features; i++)
        if (!strcmp(p->feature[i].name, name))
            return &p->feature[i];
    return NULL;
}

static int find_or_add(struct gbose__profile *p, const char *name, struct gbose__profile_feature **out)
{
    struct gbose__profile_feature *f =
        (struct gbose__profile_feature *)(uintptr_t)gbose__profile_find(p, name);
    void *list = p->feature;

    if (!f) {
        if (p->n_features == p->room && grow(&list, &p->room, p->n_features, sizeof *f))
            return GBOSE_ENOMEM;
        p->feature = list;
        f = &p->feature[p->n_features];
        memset(f, 0, sizeof *f);
        f->name = copy_text(name, strlen(name));
        if (!f->name)
            return GBOSE_ENOMEM;
        f->is_action = !strncmp(name, "action.", 7);
        f->seed = gbose__mix_text(0, name);
        f->whole = 1;
        f->shortest = SIZE_MAX;
        f->min = INFINITY;
        f->max = -INFINITY;
        p->n_features++;
    }
    *out = f;
    return GBOSE_OK;
}

/* ---- values ---- */

/* The place of a key in the table, or the empty one where it would go. */
static size_t place_of(const struct gbose__profile_feature *f, uint64_t key)
{
    size_t at = (size_t)key & f->mask;

    while (f->place[at] && f->value[f->place[at] - 1].key != key)
        at = (at + 1) & f->mask;
    return at;
}

uint64_t gbose__profile_count(const struct gbose__profile_feature *f, uint64_t key)
{
    uint32_t place = f->place ? f->place[place_of(f, key)] : 0;

    return place ? f->value[place - 1].count : 0;
}

static int make_room(struct gbose__profile_feature *f)
{
    size_t size = f->value_room ? 4 * f->value_room : 16;
    uint32_t *place = gbose__alloc(size, sizeof *place);
    void *list = f->value;

    if (!place || grow(&list, &f->value_room, f->n_values, sizeof *f->value)) {
        gbose__free(place);
        return GBOSE_ENOMEM;
    }
    f->value = list;
    gbose__free(f->place);
    f->place = place;
    f->mask = size - 1;
    for (size_t i = 0; i < f->n_values; i++)
        f->place[place_of(f, f->value[i].key)] = (uint32_t)i + 1;
    return GBOSE_OK;
}

static int count_value(struct gbose__profile_feature *f, uint64_t key, const char *text, size_t n)
{
    size_t at = f->place ? place_of(f, key) : 0;

    if (f->place && f->place[at]) {
        f->value[f->place[at] - 1].count++;
        return GBOSE_OK;
    }
    if (f->n_values == GBOSE__PROFILE_VALUES) {
        f->not_remembered++;
        return GBOSE_OK;
    }
    if (f->n_values == f->value_room) {
        if (make_room(f))
            return GBOSE_ENOMEM;
        at = place_of(f, key);
    }
    f->value[f->n_values] = (struct gbose__profile_value){key, 1, copy_text(text, n)};
    if (!f->value[f->n_values].text)
        return GBOSE_ENOMEM;
    f->place[at] = (uint32_t)++f->n_values;
    return GBOSE_OK;
}

/* Welford's recursion: no digits are lost where the mean is large. */
static void count_number(struct gbose__profile_feature *f, double x)
{
    const double y[2] = {x, copysign(log1p(fabs(x)), x)};

    f->whole &= x == floor(x);
    f->min = fmin(f->min, x);
    f->max = fmax(f->max, x);
    f->counted++;
    for (int k = 0; k < 2; k++) {
        double distance = y[k] - f->mean[k];

        f->mean[k] += distance / (double)f->counted;
        f->squares[k] += distance * (y[k] - f->mean[k]);
    }
}

static int add_number(const struct gbose__profile *p, struct gbose__profile_feature *f, double x)
{
    locale_t old = uselocale(p->c_locale);
    char text[40];

    gbose__decimal_write(text, sizeof text, x);
    uselocale(old);
    count_number(f, x);
    return count_value(f, gbose__value_key_of_number(f->seed, x), text, strlen(text));
}

/* A piece of text; returns by `number` whether it is one. */
static int add_piece(const struct gbose__profile *p, struct gbose__profile_feature *f,
                     struct gbose__piece text, int *number)
{
    double x;

    *number = gbose__value_number(p->c_locale, &x, text, 0);
    if (*number)
        count_number(f, x);
    return count_value(f, gbose__value_key(p->c_locale, f->seed, text), text.at, text.n);
}

/* ---- whole features ---- */

static void end_list(struct gbose__profile_feature *f, size_t n)
{
    f->lists++;
    f->shortest = n < f->shortest ? n : f->shortest;
    f->longest = n > f->longest ? n : f->longest;
}

static int add_split(const struct gbose__profile *p, struct gbose__profile_feature *f, const char *text)
{
    size_t entries = 0;
    int rc = GBOSE_OK, number;

    for (; text && !rc;) {
        struct gbose__piece piece = {text, strcspn(text, "|")};

        if (piece.n) {
            rc = add_piece(p, f, piece, &number);
            *(number ? &f->list_numbers : &f->list_texts) += 1;
            entries++;
        }
        text = text[piece.n] ? text + piece.n + 1 : NULL;
    }
    end_list(f, entries);
    return rc;
}

static int add_text(const struct gbose__profile *p, struct gbose__profile_feature *f, const char *text)
{
    struct gbose__piece all = {text, strlen(text)};
    double truth;
    int number = 0, rc;

    if (strchr(text, '|'))
        return add_split(p, f, text);
    rc = add_piece(p, f, all, &number);
    f->numbers += (uint64_t)number;
    f->truths += !number && gbose__value_number(p->c_locale, &truth, all, 1);
    return rc;
}

static int add_feature(struct gbose__profile *p, const gbose_feature *from)
{
    struct gbose__profile_feature *f;
    int rc = find_or_add(p, from->name, &f), number;

    if (rc || from->kind == GBOSE_FEATURE_MISSING || (from->kind == GBOSE_FEATURE_TEXT && !*from->as.text) ||
        (from->kind == GBOSE_FEATURE_NUMBER && !isfinite(from->as.number)))
        return rc;
    f->given++;
    if (from->kind == GBOSE_FEATURE_TEXT)
        return add_text(p, f, from->as.text);
    if (from->kind == GBOSE_FEATURE_NUMBER) {
        f->numbers++;
        return add_number(p, f, from->as.number);
    }
    end_list(f, from->n);
    for (size_t i = 0; i < from->n && !rc; i++) {
        if (from->kind == GBOSE_FEATURE_NUMBERS) {
            f->list_numbers++;
            rc = isfinite(from->as.numbers[i]) ? add_number(p, f, from->as.numbers[i]) : GBOSE_OK;
        } else {
            struct gbose__piece text = {from->as.texts[i], strlen(from->as.texts[i])};

            f->list_texts++;
            rc = add_piece(p, f, text, &number);
        }
    }
    return rc;
}

static int add_list(struct gbose__profile *p, const gbose_features *list)
{
    int rc = GBOSE_OK;

    for (size_t i = 0; list && i < list->n && !rc; i++)
        rc = list->at[i].name ? add_feature(p, &list->at[i]) : GBOSE_OK;
    return rc;
}

int gbose__profile_add(struct gbose__profile *p, const gbose_features *shared, const gbose_features *actions,
                       size_t n_arms)
{
    int rc = add_list(p, shared);

    for (size_t i = 0; i < n_arms && !rc; i++)
        rc = add_list(p, &actions[i]);
    p->rounds++;
    p->arms += n_arms;
    return rc;
}

/* ---- what was seen ---- */

uint64_t gbose__profile_missing(const struct gbose__profile *p, const struct gbose__profile_feature *f)
{
    uint64_t all = f->is_action ? p->arms : p->rounds;

    return all > f->given ? all - f->given : 0;
}

double gbose__profile_deviation(const struct gbose__profile_feature *f, int log)
{
    return f->counted ? sqrt(f->squares[log] / (double)f->counted) : 0;
}
