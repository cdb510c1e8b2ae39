/* Encoding: every column against what its name says, computed by code that shares nothing with the
 * library; the same bytes from numbers and texts, names and slots; the order of terms; what is refused. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gbose_schema.h"
#include "support/random.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define MAX_DIM 3000
#define ARMS 4

static gbose_schema *new_schema(const char *text)
{
    gbose_schema *schema = NULL;
    gbose_error err;
    int rc = gbose_schema_new(&schema, text, &err);

    assert_that(rc == GBOSE_OK, "%s\n%s", err.text, text);
    return schema;
}

/* ---- a world of features ---- */

static const char FEATURES[] = "action.n number scale=2.5 offset=0.75\n"
                               "action.l number log scale=3 offset=-0.5 missing=off\n"
                               "action.c category red, \"dark blue\", 7\n"
                               "action.s set a, b, \"c d\"\n"
                               "action.v vector 3 scale=0.25\n"
                               "action.f flag\n"
                               "user.n number scale=4\n"
                               "user.c category x, y, other missing=off\n"
                               "user.s set p, q other=off missing=column\n"
                               "user.w vector 2 missing=off\n"
                               "time.h cycle 24\n"
                               "time.d cycle 7 missing=off\n";

static const char *const names[] = {"action.n", "action.l", "action.c", "action.s", "action.v", "action.f",
                                    "user.n",   "user.c",   "user.s",   "user.w",   "time.h",   "time.d"};
#define N_ACTION 6

/* What a feature of this world is, as plain as can be. */
struct fact {
    int missing;
    double number;
    const char *text;
    double numbers[3];
    const char *texts[4];
    size_t n;
};

/* The facts of a round: those of the round, and those of each arm. */
struct facts {
    struct fact of[ARMS][COUNT(names)]; /* the round's are the same in each */
};

static const char *pick(struct random *rng, const char *const *list, size_t n)
{
    return list[random_below(rng, n)];
}

static void draw_fact(struct random *rng, size_t which, struct fact *f)
{
    static const char *const colours[] = {"red", "dark blue", "7", "green"},
                             *const letters[] = {"a", "b", "c d", "z", "y"}, *const kinds[] = {"x", "y", "w"},
                             *const tags[] = {"p", "q", "r"};

    memset(f, 0, sizeof *f);
    f->missing = random_below(rng, 5) == 0;
    f->number = 3 * random_normal(rng);
    for (int i = 0; i < 3; i++)
        f->numbers[i] = random_normal(rng);
    if (which == 2)
        f->text = pick(rng, colours, COUNT(colours));
    if (which == 7)
        f->text = pick(rng, kinds, COUNT(kinds));
    f->n = random_below(rng, 5);
    for (size_t i = 0; i < f->n; i++)
        f->texts[i] = which == 3 ? pick(rng, letters, COUNT(letters)) : pick(rng, tags, COUNT(tags));
    if (which == 5)
        f->number = random_below(rng, 2) ? 1 : 0;
}

static void draw_facts(struct random *rng, struct facts *facts)
{
    for (size_t arm = 0; arm < ARMS; arm++)
        for (size_t i = 0; i < COUNT(names); i++) {
            if (arm && i >= N_ACTION)
                facts->of[arm][i] = facts->of[0][i];
            else
                draw_fact(rng, i, &facts->of[arm][i]);
        }
}

/* ---- the oracle: a column's value from its name ---- */

static size_t index_of(const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT(names); i++)
        if (strlen(names[i]) == length && !memcmp(names[i], name, length))
            return i;
    fail_msg("no feature '%.*s'", (int)length, name);
    return 0;
}

static int contains(const struct fact *f, const char *text)
{
    for (size_t i = 0; i < f->n; i++)
        if (!strcmp(f->texts[i], text))
            return 1;
    return 0;
}

/* Is a value among those that the feature lists (see FEATURES)? */
static int is_listed(size_t which, const char *text)
{
    static const char *const lists[COUNT(names)] = {
        [2] = "|red|dark blue|7|", [3] = "|a|b|c d|", [7] = "|x|y|other|", [8] = "|p|q|"};
    char between[40];

    snprintf(between, sizeof between, "|%s|", text);
    return strstr(lists[which], between) != NULL;
}

/* "NAME=VALUE" */
static double indicator(const struct fact *f, size_t which, const char *value)
{
    int is_set = which == 3 || which == 8;

    if (!strcmp(value, "missing"))
        return f->missing;
    if (f->missing)
        return 0;
    if (!strcmp(value, "other")) {
        int any = 0;

        for (size_t i = 0; is_set && i < f->n; i++)
            any |= !is_listed(which, f->texts[i]);
        return is_set ? any : !is_listed(which, f->text);
    }
    return is_set ? contains(f, value) : !strcmp(f->text, value);
}

static double plain_number(const struct fact *f, size_t which)
{
    double x = f->number;

    if (f->missing)
        return 0;
    switch (which) {
    case 0:
        return (x - 0.75) / 2.5;
    case 1:
        return ((x < 0 ? -log(1 - x) : log(1 + x)) + 0.5) / 3;
    case 5:
        return x;
    default:
        return x / 4;
    }
}

/* One factor of a column's name. */
static double factor_value(const struct fact *facts, const char *text)
{
    const double pi = acos(-1);
    char value[60] = "";
    size_t n = strcspn(text, "=[^("), which;

    if (text[n] == '(') { /* sin(NAME) or cos(NAME) */
        which = index_of(text + 4, strlen(text) - 5);
        if (facts[which].missing)
            return 0;
        double angle = 2 * pi * facts[which].number / (which == 10 ? 24 : 7);
        return text[0] == 's' ? sin(angle) : cos(angle);
    }
    which = index_of(text, n);
    if (text[n] == '=') {
        strcpy(value, text + n + 1 + (text[n + 1] == '"'));
        if (text[n + 1] == '"')
            value[strlen(value) - 1] = 0;
        return indicator(&facts[which], which, value);
    }
    if (text[n] == '[')
        return facts[which].missing ? 0 : facts[which].numbers[atoi(text + n + 1)] / (which == 4 ? 0.25 : 1);
    if (text[n] == '^')
        return pow(plain_number(&facts[which], which), atoi(text + n + 1));
    return plain_number(&facts[which], which);
}

static double column_value(const struct fact *facts, const char *name)
{
    char copy[400], *at = copy, *star;
    double product = 1;

    strcpy(copy, name);
    do {
        star = strchr(at, '*');
        if (star)
            *star = 0;
        product *= factor_value(facts, at);
        at = star + 1;
    } while (star);
    return product;
}

/* ---- facts as features ---- */

struct offered {
    gbose_feature shared[COUNT(names)], action[ARMS][COUNT(names)];
    gbose_features lists[ARMS + 1];
    char text[ARMS + 1][COUNT(names)][200];
};

/* How to offer them: by name or slot, numbers as texts, in another order, missing ones left out. */
struct manner {
    int slots, texts, backwards, leave_out;
};

static void offer(const gbose_schema *schema, gbose_feature *to, const struct fact *f, size_t which,
                  char *text, const struct manner *how)
{
    size_t room = 200, n = 0, length = which == 4 ? 3 : 2;
    int is_number = which < 2 || which == 5 || which == 6 || which >= 10;

    memset(to, 0, sizeof *to);
    to->name = names[which];
    if (how->slots) {
        to->slot = gbose_schema_slot(schema, names[which]);
        if (to->slot)
            to->name = NULL;
    }
    if (f->missing) {
        to->kind = how->texts       ? GBOSE_FEATURE_TEXT
                   : how->backwards ? GBOSE_FEATURE_NUMBER
                                    : GBOSE_FEATURE_MISSING;
        if (how->texts)
            to->as.text = "";
        else
            to->as.number = NAN;
        return;
    }
    to->kind = GBOSE_FEATURE_TEXT;
    to->as.text = text;
    if (which == 2 || which == 7) {
        to->as.text = f->text;
        if (!strcmp(f->text, "7") && !how->texts) {
            to->kind = GBOSE_FEATURE_NUMBER;
            to->as.number = 7;
        }
    } else if (is_number && how->texts) {
        if (which == 5)
            strcpy(text, f->number > 0 ? "True" : "false");
        else
            snprintf(text, room, "%.17g", f->number);
    } else if (is_number) {
        to->kind = GBOSE_FEATURE_NUMBER;
        to->as.number = f->number;
    } else if ((which == 3 || which == 8) && how->texts) {
        for (size_t i = 0; i < f->n; i++)
            n += (size_t)snprintf(text + n, room - n, "%s|", f->texts[i]);
        if (!n)
            strcpy(text, "|"); /* a set of nothing: the empty text would be a missing one */
    } else if (which == 3 || which == 8) {
        to->kind = GBOSE_FEATURE_TEXTS;
        to->as.texts = f->texts;
        to->n = f->n;
    } else if (how->texts) {
        for (size_t i = 0; i < length; i++)
            n += (size_t)snprintf(text + n, room - n, "%s%.17g", i ? "|" : "", f->numbers[i]);
    } else {
        to->kind = GBOSE_FEATURE_NUMBERS;
        to->as.numbers = f->numbers;
        to->n = length;
    }
}

static void offer_all(const gbose_schema *schema, struct offered *o, const struct facts *facts,
                      const struct manner *how)
{
    for (size_t list = 0; list <= ARMS; list++) {
        size_t first = list < ARMS ? 0 : N_ACTION, end = list < ARMS ? N_ACTION : COUNT(names), n = 0;
        gbose_feature *to = list < ARMS ? o->action[list] : o->shared;

        for (size_t k = first; k < end; k++) {
            size_t which = how->backwards ? first + end - 1 - k : k;
            const struct fact *f = &facts->of[list < ARMS ? list : 0][which];

            if (!f->missing || !how->leave_out)
                offer(schema, &to[n++], f, which, o->text[list][which], how);
        }
        o->lists[list] = (gbose_features){to, n};
    }
}

static void encode(const gbose_schema *schema, double *rows, double *round, const struct facts *facts,
                   const struct manner *how)
{
    static struct offered o;
    gbose_error err = {77, "untouched"};
    int rc;

    offer_all(schema, &o, facts, how);
    rc = gbose_encode(schema, rows, round, &o.lists[ARMS], o.lists, ARMS, &err);
    assert_that(rc == GBOSE_OK, "%s", err.text);
    assert_string_equal(err.text, "");
}

/* ---- random schemas ---- */

/* Up to six different terms of up to four factors each, as text; every arm term has an action's feature.
 * The words of each term are sorted so that no product comes twice. */
static size_t draw_terms(struct random *rng, char (*term)[100], int is_arm)
{
    size_t n = 0, wanted = 1 + random_below(rng, 6);

    for (int tries = 0; n < wanted && tries < 200; tries++) {
        int in[COUNT(names)] = {0}, fresh = 1;
        size_t factors = 1 + random_below(rng, 4), used = 0;

        if (is_arm)
            in[random_below(rng, N_ACTION)] = 1;
        for (size_t k = is_arm ? 1 : 0; k < factors; k++)
            in[is_arm ? random_below(rng, COUNT(names))
                      : N_ACTION + random_below(rng, COUNT(names) - N_ACTION)] = 1;
        in[0] *= 1 + (int)random_below(rng, 3); /* numbers may be squared and cubed */
        for (size_t i = 0; i < COUNT(names); i++)
            for (int k = 0; k < in[i]; k++)
                used += (size_t)snprintf(term[n] + used, 100 - used, "%s%s", used ? "*" : "", names[i]);
        for (size_t i = 0; i < n; i++)
            fresh &= strcmp(term[i], term[n]) != 0;
        n += (size_t)fresh;
    }
    return n;
}

static void write_schema(char *text, size_t room, char (*arm)[100], size_t n_arm, char (*round)[100],
                         size_t n_round)
{
    size_t n = (size_t)snprintf(text, room, "%sarm =", FEATURES);

    for (size_t i = 0; i < n_arm; i++)
        n += (size_t)snprintf(text + n, room - n, " %s", arm[i]);
    for (size_t i = 0; i < n_round; i++)
        n += (size_t)snprintf(text + n, room - n, "%s%s", i ? " " : "\nround = ", round[i]);
}

static void every_column_is_what_its_name_says(void **state)
{
    static double rows[ARMS * MAX_DIM], round[MAX_DIM];
    struct random rng = {11};
    const struct manner plain = {0};
    size_t columns = 0;

    (void)state;
    for (int t = 0; t < 300; t++) {
        char arm[8][100], terms[8][100], text[3000], name[400];
        size_t n_arm = draw_terms(&rng, arm, 1), n_round = draw_terms(&rng, terms, 0);
        struct facts facts;
        gbose_schema *schema;

        write_schema(text, sizeof text, arm, n_arm, terms, n_round);
        schema = new_schema(text);
        if (gbose_schema_dim(schema) <= MAX_DIM && gbose_schema_round(schema) <= MAX_DIM) {
            draw_facts(&rng, &facts);
            encode(schema, rows, round, &facts, &plain);
            for (size_t i = 0; i < gbose_schema_dim(schema); i++) {
                gbose_schema_column(schema, i, name, sizeof name);
                for (size_t a = 0; a < ARMS; a++, columns++)
                    assert_near(rows[a * gbose_schema_dim(schema) + i], column_value(facts.of[a], name),
                                1e-9);
            }
            for (size_t i = 0; i < gbose_schema_round(schema); i++, columns++) {
                gbose_schema_round_column(schema, i, name, sizeof name);
                assert_near(round[i], column_value(facts.of[0], name), 1e-9);
            }
        }
        gbose_schema_free(schema);
    }
    assert_true(columns > 50000);
}

/* Names and slots, numbers and texts, any order, missing ones given or left out: one and the same. */
static void the_same_facts_give_the_same_bytes(void **state)
{
    static double rows[ARMS * MAX_DIM], others[ARMS * MAX_DIM], round[MAX_DIM], other_round[MAX_DIM];
    struct random rng = {12};
    const struct manner plain = {0};
    gbose_schema *schema = new_schema("user.z category hash=5\n"
                                      "action.n number scale=2.5 offset=0.75\naction.l number log\naction.c "
                                      "category red, 7\naction.s set hash=16\n"
                                      "action.v vector 3\naction.f flag\nuser.n number\nuser.c category "
                                      "hash=4\nuser.s set p, q\nuser.w vector 2\n"
                                      "time.h cycle 24\ntime.d cycle 7\n"
                                      "arm = action.n l action.c action.s v f action.n*user.n "
                                      "action.c*user.c action.s*user.s v*w f*time.h*user.z\n"
                                      "round = user.n user.c user.s w time.h d user.s*w\n");
    size_t dim = gbose_schema_dim(schema);

    (void)state;
    for (int t = 0; t < 200; t++) {
        struct facts facts;

        draw_facts(&rng, &facts);
        encode(schema, rows, round, &facts, &plain);
        for (int k = 1; k < 16; k++) {
            const struct manner how = {k & 1, k >> 1 & 1, k >> 2 & 1, k >> 3 & 1};

            memset(others, 255, sizeof others);
            encode(schema, others, other_round, &facts, &how);
            assert_memory_equal(rows, others, ARMS * dim * sizeof *rows);
            assert_memory_equal(round, other_round, gbose_schema_round(schema) * sizeof *round);
        }
    }
    gbose_schema_free(schema);
}

static void the_order_of_terms_is_a_permutation_of_columns(void **state)
{
    static double rows[ARMS * MAX_DIM], others[ARMS * MAX_DIM];
    struct random rng = {13};
    const struct manner plain = {0};

    (void)state;
    for (int t = 0; t < 100; t++) {
        char arm[8][100], turned[8][100], text[3000], name[400], other[400];
        size_t n = draw_terms(&rng, arm, 1), dim;
        struct facts facts;
        gbose_schema *one, *two;

        for (size_t i = 0; i < n; i++)
            strcpy(turned[i], arm[n - 1 - i]);
        write_schema(text, sizeof text, arm, n, NULL, 0);
        one = new_schema(text);
        write_schema(text, sizeof text, turned, n, NULL, 0);
        two = new_schema(text);
        dim = gbose_schema_dim(one);
        assert_int_equal(gbose_schema_dim(two), dim);
        assert_true((gbose_schema_hash(one) == gbose_schema_hash(two)) == (n == 1));
        if (dim <= 500) {
            draw_facts(&rng, &facts);
            encode(one, rows, NULL, &facts, &plain);
            encode(two, others, NULL, &facts, &plain);
            for (size_t i = 0; i < dim; i++) {
                size_t j = 0;

                gbose_schema_column(one, i, name, sizeof name);
                for (gbose_schema_column(two, j, other, sizeof other); strcmp(name, other);)
                    assert_true(gbose_schema_column(two, ++j, other, sizeof other) > 0);
                for (size_t a = 0; a < ARMS; a++)
                    assert_true(rows[a * dim + i] == others[a * dim + j]);
            }
        }
        gbose_schema_free(one);
        gbose_schema_free(two);
    }
}

/* ---- hashing ---- */

/* A value moves one column by 1 or -1, both about equally often; others stay 0. The same value of another
 * feature goes elsewhere. */
static void hashing_is_signed_and_of_the_feature(void **state)
{
    gbose_schema *schema =
        new_schema("action.a category hash=16 missing=off\naction.b category hash=16 missing=off\n"
                   "arm = a b");
    double row[32], sum[16] = {0}, positive = 0;
    int same = 0;

    (void)state;
    for (int t = 0; t < 4000; t++) {
        char text[20];
        gbose_feature list[] = {{.name = "action.a", .kind = GBOSE_FEATURE_TEXT, .as.text = text},
                                {.name = "action.b", .kind = GBOSE_FEATURE_TEXT, .as.text = text}};
        gbose_features action = {list, 2};
        double size = 0;
        int at = 0;

        snprintf(text, sizeof text, "value %d", t);
        assert_int_equal(gbose_encode(schema, row, NULL, NULL, &action, 1, NULL), GBOSE_OK);
        for (int i = 0; i < 16; i++) {
            size += fabs(row[i]);
            sum[i] += fabs(row[i]);
            at = row[i] != 0 ? i : at;
        }
        assert_true(size == 1);
        positive += row[at] > 0;
        same += row[16 + at] != 0;
    }
    /* binomial: 250 a column, deviation 15; 2000 positive, 32; 250 in the same column, 15. Six deviations:
     * 2e-9 each */
    for (int i = 0; i < 16; i++)
        assert_near(sum[i], 250, 92);
    assert_near(positive, 2000, 190);
    assert_near(same, 250, 92);
    gbose_schema_free(schema);
}

/* A set counts a value once, and "7", 7 and 7.0 are one value. */
static void a_set_holds_a_value_once(void **state)
{
    static const char *const texts[] = {"a", "7", "a", "", "7.0", "a"};
    static const double numbers[] = {7, 7, NAN};
    gbose_schema *schema =
        new_schema("action.s set hash=64\naction.l set a, 7\nuser.n number missing=off\narm = s l s*n");
    gbose_feature user = {.name = "user.n", .kind = GBOSE_FEATURE_NUMBER, .as.number = 3};
    gbose_features shared = {&user, 1};
    double row[64 + 3 + 64], sum = 0, product = 0;

    (void)state;
    for (int k = 0; k < 2; k++) {
        gbose_feature list[] = {{.name = "action.s"}, {.name = "action.l"}};
        gbose_features action = {list, 2};

        for (int i = 0; i < 2; i++) {
            list[i].kind = k ? GBOSE_FEATURE_NUMBERS : GBOSE_FEATURE_TEXTS;
            list[i].n = k ? 3 : 6;
            if (k)
                list[i].as.numbers = numbers;
            else
                list[i].as.texts = texts;
        }
        assert_int_equal(gbose_schema_dim(schema), COUNT(row));
        assert_int_equal(gbose_encode(schema, row, NULL, &shared, &action, 1, NULL), GBOSE_OK);
        sum = product = 0;
        for (int i = 0; i < 64; i++) {
            sum += fabs(row[i]);
            product += fabs(row[67 + i]);
        }
        assert_true(sum == (k ? 1 : 2));
        assert_true(product == 3 * sum);
        assert_true(row[64] == !k && row[65] == 1 && row[66] == 0);
    }
    gbose_schema_free(schema);
}

/* ---- what is refused ---- */

static const char STRICT[] =
    "action.n number missing=error\naction.c category x, y other=error missing=off\n"
    "action.v vector 2\naction.f flag\naction.s set a other=error\nuser.u number scale=1e-90\n"
    "user.h cycle 24\narm = n c v f s n*u n*n\nround = u h";

static void assert_refused(const gbose_feature *shared, const gbose_feature *action, int code,
                           const char *says)
{
    gbose_schema *schema = new_schema(STRICT);
    double rows[64], round[8];
    gbose_feature list[2] = {{.name = "action.n", .kind = GBOSE_FEATURE_NUMBER, .as.number = 2}};
    gbose_features of_round = {shared, shared != NULL}, of_arm = {list, 1};
    gbose_error err = {77, "untouched"};

    if (action) {
        list[1] = *action;
        of_arm.n = 2;
        if (action->name && !strcmp(action->name, "action.n") && action->as.number != 5) {
            of_arm.at = list + 1;
            of_arm.n = 1;
        }
    }
    assert_that(gbose_encode(schema, rows, round, &of_round, &of_arm, 1, &err) == code, "%s (%s)", err.text,
                says);
    assert_int_equal(err.code, code);
    assert_that(!strcmp(err.text, says), "'%s', not '%s'", err.text, says);
    assert_int_equal(gbose_encode(schema, rows, round, &of_round, &of_arm, 1, NULL), code);
    gbose_schema_free(schema);
}

#define NUMBER(x) .kind = GBOSE_FEATURE_NUMBER, .as.number = (x)
#define TEXT(x) .kind = GBOSE_FEATURE_TEXT, .as.text = (x)
#define NUMBERS(x, count) .kind = GBOSE_FEATURE_NUMBERS, .as.numbers = (x), .n = (count)
#define REFUSED_ARM(code, says, ...) assert_refused(NULL, &(gbose_feature){__VA_ARGS__}, code, says)
#define REFUSED_ROUND(code, says, ...) assert_refused(&(gbose_feature){__VA_ARGS__}, NULL, code, says)

static void what_does_not_fit_is_refused(void **state)
{
    static const double numbers[] = {1, 2, INFINITY};
    static const char *const texts[] = {"a", "b"};

    (void)state;
    REFUSED_ARM(GBOSE_EVALUE, "action.n is missing", .name = "action.n");
    REFUSED_ARM(GBOSE_EVALUE, "action.n is missing", .name = "action.n", NUMBER(NAN));
    REFUSED_ARM(GBOSE_EVALUE, "action.n must be a number; got 'many'", .name = "action.n", TEXT("many"));
    REFUSED_ARM(GBOSE_EVALUE, "action.n must be a number; got '0x10'", .name = "action.n", TEXT("0x10"));
    REFUSED_ARM(GBOSE_EVALUE, "action.n must be a number; got '1?2'", .name = "action.n", TEXT("1\n2"));
    REFUSED_ARM(GBOSE_EVALUE, "action.n must be a number; got a list", .name = "action.n",
                NUMBERS(numbers, 2));
    REFUSED_ARM(GBOSE_EVALUE, "action.n is given twice", .name = "action.n", NUMBER(5));
    REFUSED_ARM(GBOSE_ENUMERIC, "action.n is infinite or larger than 1e+30, after its scale",
                .name = "action.n", NUMBER(INFINITY));
    REFUSED_ARM(GBOSE_ENUMERIC, "a product is infinite or larger than 1e+30, after its scale",
                .name = "action.n", NUMBER(1e20));
    REFUSED_ARM(GBOSE_EVALUE, "action.c must be one of its listed values; got 'z'", .name = "action.c",
                TEXT("z"));
    REFUSED_ARM(GBOSE_EVALUE, "action.c must be a single value; got a list", .name = "action.c",
                NUMBERS(numbers, 2));
    REFUSED_ARM(GBOSE_EVALUE, "action.v must be 2 numbers; got 3", .name = "action.v", NUMBERS(numbers, 3));
    REFUSED_ARM(GBOSE_EVALUE, "action.v must be 2 numbers; got '1'", .name = "action.v", TEXT("1"));
    REFUSED_ARM(GBOSE_EVALUE, "action.v must be 2 numbers; got '1|2|3'", .name = "action.v", TEXT("1|2|3"));
    REFUSED_ARM(GBOSE_EVALUE, "action.v must be 2 numbers; got '1|x'", .name = "action.v", TEXT("1|x"));
    REFUSED_ARM(GBOSE_EVALUE, "action.v must be 2 numbers; got 3.5", .name = "action.v", NUMBER(3.5));
    REFUSED_ARM(GBOSE_ENUMERIC, "action.v is infinite or larger than 1e+30, after its scale",
                .name = "action.v", NUMBERS(numbers + 1, 2));
    REFUSED_ARM(GBOSE_EVALUE, "action.f must be true or false; got 2", .name = "action.f", NUMBER(2));
    REFUSED_ARM(GBOSE_EVALUE, "action.f must be a number; got 'maybe'", .name = "action.f", TEXT("maybe"));
    REFUSED_ARM(GBOSE_EVALUE, "action.s must be one of its listed values; got a list", .name = "action.s",
                .kind = GBOSE_FEATURE_TEXTS, .as.texts = texts, .n = 2);
    REFUSED_ARM(GBOSE_EVALUE, "user.u belongs to the round, and is given for an arm", .name = "user.u",
                NUMBER(1));
    REFUSED_ARM(GBOSE_EINVAL, "a feature has neither a name nor a slot", NUMBER(1));
    REFUSED_ARM(GBOSE_EINVAL, "the schema has no slot 99", .slot = 99, NUMBER(1));
    REFUSED_ARM(GBOSE_EINVAL, "action.f has a kind that does not exist: 9", .name = "action.f", .kind = 9);
    REFUSED_ROUND(GBOSE_EVALUE, "action.c belongs to an arm, and is given for the round", .name = "action.c",
                  TEXT("x"));
    REFUSED_ROUND(GBOSE_ENUMERIC, "user.u is infinite or larger than 1e+30, after its scale",
                  .name = "user.u", NUMBER(1e40));
    REFUSED_ROUND(GBOSE_ENUMERIC, "user.h is infinite or larger than 1e+30, after its scale",
                  .name = "user.h", NUMBER(-INFINITY));
    assert_int_equal(gbose_encode(NULL, NULL, NULL, NULL, NULL, 0, NULL), GBOSE_EINVAL);
}

/* What the schema does not use is skipped; a round alone may be encoded; both may be NULL where nothing is
 * wanted. */
static void what_is_not_used_is_skipped(void **state)
{
    gbose_schema *schema =
        new_schema("action.n number missing=off\nuser.u number missing=off\narm = n\nround = u");
    gbose_feature user[] = {
        {.name = "user.else", TEXT("?")}, {.name = "user.u", NUMBER(4)}, {.name = "x", NUMBER(1)}};
    gbose_features shared = {user, 3}, none = {NULL, 0};
    double round = -1, row = -1;

    (void)state;
    assert_int_equal(gbose_encode(schema, NULL, &round, &shared, NULL, 0, NULL), GBOSE_OK);
    assert_true(round == 4);
    assert_int_equal(gbose_encode(schema, &row, NULL, NULL, &none, 1, NULL), GBOSE_OK);
    assert_true(row == 0);
    assert_int_equal(gbose_encode(schema, NULL, &round, &shared, &none, 1, NULL), GBOSE_EINVAL);
    assert_int_equal(gbose_encode(schema, &row, &round, &shared, NULL, 1, NULL), GBOSE_EINVAL);
    gbose_schema_free(schema);
}

/* The sets of a round and an arm share a place on the stack: one more than fits is refused, and an arm
 * does not use up the next one's. */
static void sets_have_a_limit(void **state)
{
    gbose_schema *schema = new_schema("action.s set hash=100\narm = s");
    static double numbers[2049], rows[300];
    gbose_feature s = {.name = "action.s", NUMBERS(numbers, 2048)};
    gbose_features actions[] = {{&s, 1}, {&s, 1}, {&s, 1}};
    gbose_error err;

    (void)state;
    for (size_t i = 0; i < COUNT(numbers); i++)
        numbers[i] = (double)i;
    assert_int_equal(gbose_encode(schema, rows, NULL, NULL, actions, 3, NULL), GBOSE_OK);
    s.n = 2049;
    assert_int_equal(gbose_encode(schema, rows, NULL, NULL, actions, 3, &err), GBOSE_EVALUE);
    assert_string_equal(err.text, "action.s: the sets of a round and an arm hold more than 2048 values");
    gbose_schema_free(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_column_is_what_its_name_says),
        cmocka_unit_test(the_same_facts_give_the_same_bytes),
        cmocka_unit_test(the_order_of_terms_is_a_permutation_of_columns),
        cmocka_unit_test(hashing_is_signed_and_of_the_feature),
        cmocka_unit_test(a_set_holds_a_value_once),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(what_is_not_used_is_skipped),
        cmocka_unit_test(sets_have_a_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
