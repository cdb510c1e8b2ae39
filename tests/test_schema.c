/* Schemas: what is accepted, the canonical form and its hash, names of columns, which schemas are
 * compatible, and what is said of a wrong one. */
#include "support/check.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gbose_schema.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const char NEWS[] =
    "# features that may come\n"
    "action.price    number    scale=10\n"
    "action.topic    category  sports, politics, travel, other\n"
    "action.tags     set       hash=32\n"
    "user.device     category  ios, android, web\n"
    "user.tenure     number    scale=365\n"
    "time.hour       cycle     24\n"
    "\n"
    "arm   = 1*topic  price  tags  topic*device  price*tenure        # what differs between arms\n"
    "round = hour  tenure  device                                    # what moves all arms alike\n";

static gbose_schema *new_schema(const char *text)
{
    gbose_schema *schema = NULL;
    gbose_error err = {77, "untouched"};
    int rc = gbose_schema_new(&schema, text, &err);

    assert_that(rc == GBOSE_OK, "%s\n%s", err.text, text);
    assert_int_equal(err.code, GBOSE_OK);
    assert_string_equal(err.text, "");
    return schema;
}

/* ---- what is accepted ---- */

static void assert_canonical(const char *text, const char *canonical)
{
    gbose_schema *schema = new_schema(text), *again;

    assert_string_equal(gbose_schema_text(schema), canonical);
    again = new_schema(gbose_schema_text(schema));
    assert_string_equal(gbose_schema_text(again), canonical);
    assert_true(gbose_schema_hash(again) == gbose_schema_hash(schema));
    assert_int_equal(gbose_schema_dim(again), gbose_schema_dim(schema));
    gbose_schema_free(schema);
    gbose_schema_free(again);
}

static void canonical_form_has_full_names_in_the_order_of_their_use(void **state)
{
    (void)state;
    assert_canonical(NEWS, "action.topic category sports, politics, travel, other\n"
                           "action.price number scale=10\n"
                           "action.tags set hash=32\n"
                           "user.device category ios, android, web\n"
                           "user.tenure number scale=365\n"
                           "time.hour cycle 24\n"
                           "arm = action.topic action.price action.tags action.topic*user.device "
                           "action.price*user.tenure\n"
                           "round = time.hour user.tenure user.device\n");
    assert_canonical("\xef\xbb\xbf"
                     "action.a number\r\n\r\narm = a\r\n",
                     "action.a number\narm = action.a\n");
    assert_canonical(
        "arm.a number\naction.x.y flag missing=off\narm = x.y\narm = arm.a*y # twice is one list",
        "action.x.y flag missing=off\narm.a number\narm = action.x.y arm.a*action.x.y\n");
    assert_canonical("action.unused number\naction.a number\narm = a", "action.a number\narm = action.a\n");
}

static void options_have_one_way_of_being_written(void **state)
{
    (void)state;
    assert_canonical("action.a number offset=+2.50 log scale=1e1 missing=column\narm=a",
                     "action.a number log scale=10 offset=2.5\narm = action.a\n");
    assert_canonical("action.a number scale = 1.0 offset=-0\narm=a", "action.a number\narm = action.a\n");
    assert_canonical(
        "action.a category x , \"y z\",\n  # a comment\n  \"w\",\"a\\\"b\\\\\" other=error "
        "missing=off\narm=a",
        "action.a category x, \"y z\", w, \"a\\\"b\\\\\" other=error missing=off\narm = action.a\n");
    assert_canonical("action.a category other=off x, y\narm=a",
                     "action.a category x, y other=off\narm = action.a\n");
    assert_canonical("action.a set x missing=column\narm=a",
                     "action.a set x missing=column\narm = action.a\n");
    assert_canonical("action.a set x missing=off\narm=a", "action.a set x\narm = action.a\n");
    assert_canonical("action.a vector 3 scale=0.5\nuser.b cycle 7.0\narm=a a*b*1",
                     "action.a vector 3 scale=0.5\nuser.b cycle 7\narm = action.a action.a*user.b\n");
    assert_canonical("action.a number\narm = a*a a*a*a a", "action.a number\narm = action.a*action.a "
                                                           "action.a*action.a*action.a action.a\n");
}

static void the_locale_does_not_matter(void **state)
{
    static const char *const comma[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8"};

    (void)state;
    for (size_t i = 0; i < COUNT(comma) && !setlocale(LC_ALL, comma[i]); i++)
        ;
    assert_canonical("action.a number scale=2.5\narm=a", "action.a number scale=2.5\narm = action.a\n");
    setlocale(LC_ALL, "C");
}

/* Recorded: states and logs of earlier days carry it. */
static void the_hash_stays_what_it_was(void **state)
{
    gbose_schema *a = new_schema(NEWS), *b = new_schema("action.a number\narm = a");

    (void)state;
    assert_true(gbose_schema_hash(a) != gbose_schema_hash(b));
    assert_true(gbose_schema_hash(a) == UINT64_C(0xe546e4a1bb10f9b5));
    assert_true(gbose_schema_hash(b) == UINT64_C(0xc13e13f3178431f5));
    gbose_schema_free(a);
    gbose_schema_free(b);
}

/* ---- columns ---- */

static void assert_columns(const char *text, const char *const *names, size_t n, const char *const *round,
                           size_t n_round)
{
    gbose_schema *schema = new_schema(text);
    char name[300], cut[8];

    assert_int_equal(gbose_schema_dim(schema), n);
    assert_int_equal(gbose_schema_round(schema), n_round);
    for (size_t i = 0; i < n + n_round; i++) {
        const char *wanted = i < n ? names[i] : round[i - n];
        size_t length = i < n ? gbose_schema_column(schema, i, name, sizeof name)
                              : gbose_schema_round_column(schema, i - n, name, sizeof name);

        assert_string_equal(name, wanted);
        assert_int_equal(length, strlen(wanted));
    }
    assert_int_equal(gbose_schema_column(schema, 0, NULL, 0), strlen(names[0]));
    assert_int_equal(gbose_schema_column(schema, 0, cut, sizeof cut), strlen(names[0]));
    assert_int_equal(strncmp(cut, names[0], 7), 0);
    assert_int_equal(strlen(cut), strlen(names[0]) < 7 ? strlen(names[0]) : 7);
    assert_int_equal(gbose_schema_column(schema, n, name, sizeof name), 0);
    assert_int_equal(gbose_schema_round_column(schema, n_round, name, sizeof name), 0);
    gbose_schema_free(schema);
}

static void columns_have_names(void **state)
{
    static const char *const first[] = {"action.a=x*user.f",       "action.a=x*user.f=missing",
                                        "action.a=\"y z\"*user.f", "action.a=\"y z\"*user.f=missing",
                                        "action.a=other*user.f",   "action.a=other*user.f=missing",
                                        "action.a=missing*user.f", "action.a=missing*user.f=missing"};
    static const char *const second[] = {"action.t#0", "action.t#1", "action.n^2*action.v[0]",
                                         "action.n^2*action.v[1]", "action.n"};
    static const char *const round[] = {"sin(time.h)", "cos(time.h)", "time.h=missing", "user.n",
                                        "user.n=missing"};
    static const char *const listed[] = {"action.c=other", "action.c=missing", "action.c=x"};

    (void)state;
    assert_columns("action.a category x, \"y z\"\nuser.f flag\narm = a*f", first, COUNT(first), NULL, 0);
    assert_columns(
        "action.t set hash=2\naction.n number missing=off\naction.v vector 2 missing=off\ntime.h cycle 7\n"
        "user.n number\narm = t action.n*v*action.n action.n\nround = h user.n",
        second, COUNT(second), round, COUNT(round));
    assert_columns("action.c category other, missing, x\narm = c", listed, COUNT(listed), NULL, 0);
}

/* Values of the action's listed categories are compared with the first ones; all else stays. */
static void columns_have_references(void **state)
{
    gbose_schema *schema = new_schema(
        "action.a category x, y\naction.b category u, v other=off missing=off\naction.n number missing=off\n"
        "action.h category hash=2 missing=off\nuser.c category p, q other=off missing=off\n"
        "arm = n a a*c c*b*a n*n*b h h*b");
    size_t n = gbose_schema_dim(schema);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        char name[200], wanted[200], got[200], *at;

        gbose_schema_column(schema, i, name, sizeof name);
        snprintf(wanted, sizeof wanted, "%s", name);
        at = strstr(wanted, "action.a=");
        if (at) { /* the value's length differs */
            size_t rest = strcspn(at, "*");

            snprintf(wanted + (at - wanted), sizeof wanted - (size_t)(at - wanted), "action.a=x%s",
                     name + (at - wanted) + rest);
        }
        at = strstr(wanted, "action.b=v");
        if (at)
            at[9] = 'u';
        gbose_schema_column(schema, gbose_schema_reference(schema, i), got, sizeof got);
        assert_string_equal(got, wanted);
    }
    assert_int_equal(n, 1 + 4 + 8 + 16 + 2 + 2 + 4);
    gbose_schema_free(schema);
}

/* A column's parts are the columns whose names are made of pieces of its own, in whatever order. */
static void columns_have_parts(void **state)
{
    gbose_schema *schema = new_schema(
        "action.a category x, y\naction.n number missing=off\nuser.c category p, q other=off missing=off\n"
        "arm = n c*a*n a c*a n*c n*n a*n");
    size_t n = gbose_schema_dim(schema), total = 0;
    double *row = malloc(n * sizeof *row);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        char name[200], other[200];

        gbose_schema_column(schema, i, name, sizeof name);
        strcat(name, "*");
        gbose_schema_parts(schema, i, row);
        for (size_t k = 0; k < n; k++) {
            int all = 1;

            gbose_schema_column(schema, k, other, sizeof other);
            for (char *rest, *piece = strtok_r(other, "*", &rest); piece;
                 piece = strtok_r(NULL, "*", &rest)) {
                char wanted[210];
                const char *at;

                snprintf(wanted, sizeof wanted, "%s*", piece);
                at = strstr(name, wanted);
                all &= at && (at == name || at[-1] == '*');
            }
            assert_that(row[k] == all, "%s of %s", other, name);
            total += (size_t)row[k];
        }
    }
    assert_int_equal(n, 1 + 8 + 4 + 8 + 2 + 1 + 4);
    assert_int_equal(total, 1 + 8 * 6 + 4 + 8 * 2 + 2 * 2 + 1 + 4 * 3);
    free(row);
    gbose_schema_free(schema);
}

/* An effect is for each of these: a scale is part of what a number means. */
static void columns_have_units(void **state)
{
    static const char *const expected[] = {"4.8 of action.price",
                                           "", /* action.price=missing */
                                           "4.8 of action.price times 4.8 of action.price",
                                           "0.5 of the logarithm of action.size",
                                           "",
                                           "", /* action.topic=b */
                                           "unit of user.age",
                                           "unit of user.age",
                                           "4.8 of action.price times 3 of user.place[0]",
                                           "4.8 of action.price times 3 of user.place[1]",
                                           "3 of user.place[0]", /* times action.price=missing */
                                           "3 of user.place[1]"};
    gbose_schema *schema;
    char unit[100];

    (void)state;
    assert_int_equal(
        gbose_schema_new(&schema,
                         "action.price number scale=4.8\naction.size number log scale=0.5 missing=off\n"
                         "action.topic category a, b missing=off other=off\nuser.age number missing=off\n"
                         "user.place vector 2 scale=3 missing=off\n"
                         "arm = price price*price size topic topic*age price*place\n",
                         NULL),
        GBOSE_OK);
    for (size_t i = 0; i < gbose_schema_dim(schema); i++) {
        size_t n = gbose_schema_unit(schema, i, unit, sizeof unit);

        assert_string_equal(unit, expected[i]);
        assert_int_equal(n, strlen(unit));
    }
    assert_int_equal(gbose_schema_dim(schema), sizeof expected / sizeof *expected);
    assert_int_equal(gbose_schema_unit(schema, 0, unit, 4), strlen(expected[0])); /* as snprintf() */
    assert_string_equal(unit, "4.8");
    assert_int_equal(gbose_schema_unit(schema, 1000, unit, sizeof unit), 0);
    gbose_schema_free(schema);
}

static void no_two_columns_have_the_same_name(void **state)
{
    gbose_schema *schema = new_schema("action.x category a, \"a*user.y=b\", \"a=b\", \"other\", "
                                      "\"=missing\"\nuser.y category b, \"b*user.z\"\nuser.z "
                                      "number\naction.xy flag\naction.v vector 3\naction.s set hash=5\narm = "
                                      "x y*x x*z x*y*z z*z*x xy xy*z v s v*s s*y\n");
    size_t n = gbose_schema_dim(schema);
    char(*name)[300] = malloc(n * sizeof *name);

    (void)state;
    assert_non_null(name);
    for (size_t i = 0; i < n; i++)
        gbose_schema_column(schema, i, name[i], sizeof *name);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(name[i], name[j]);
    free(name);
    gbose_schema_free(schema);
}

static void slots_stand_for_names(void **state)
{
    gbose_schema *schema = new_schema(NEWS);
    uint32_t n = 0;

    (void)state;
    while (gbose_schema_name(schema, n + 1))
        n++;
    assert_int_equal(n, 6);
    for (uint32_t i = 1; i <= n; i++)
        assert_int_equal(gbose_schema_slot(schema, gbose_schema_name(schema, i)), i);
    assert_int_equal(gbose_schema_slot(schema, "topic"), 0);
    assert_int_equal(gbose_schema_slot(schema, ""), 0);
    assert_null(gbose_schema_name(schema, 0));
    gbose_schema_free(schema);
}

/* ---- which schemas are compatible ---- */

static int compatible(const char *before, const char *now, const char *says)
{
    gbose_schema *a = new_schema(before), *b = new_schema(now);
    gbose_error err = {77, "untouched"};
    int rc = gbose_schema_compatible(a, b, &err);

    assert_int_equal(err.code, rc);
    assert_int_equal(gbose_schema_compatible(a, b, NULL), rc);
    if (rc)
        assert_that(strstr(err.text, says) != NULL, "'%s' does not say '%s'", err.text, says);
    else
        assert_string_equal(err.text, "");
    gbose_schema_free(a);
    gbose_schema_free(b);
    return rc;
}

static void a_schema_that_appends_is_compatible(void **state)
{
    static const char features[] = "action.a number\naction.b flag\nuser.c number scale=2\n";
    char before[200], now[300];

    (void)state;
#define SAY(text, end) snprintf(text, sizeof text, "%s%s", features, end)
    SAY(before, "arm = a\nround = c");
    SAY(now, "arm = a b a*c\nround = c c*c");
    assert_int_equal(compatible(before, now, ""), GBOSE_OK);
    assert_int_equal(compatible(before, before, ""), GBOSE_OK);
    assert_int_equal(compatible(now, before, "is not there any more"), GBOSE_ESCHEMA);
    SAY(now, "arm = b a\nround = c");
    assert_int_equal(compatible(before, now, "term 1 of arm was 'action.a' and is 'action.b'"),
                     GBOSE_ESCHEMA);
    SAY(now, "arm = a b");
    assert_int_equal(compatible(before, now, "'user.c' was a term of round"), GBOSE_ESCHEMA);
    assert_int_equal(compatible("action.a number\narm = a", "action.a number scale=3\narm = a",
                                "a feature was 'action.a number' and is 'action.a number scale=3'"),
                     GBOSE_ESCHEMA);
    assert_int_equal(
        compatible("action.a category x\narm = a", "action.a category x, y\narm = a", "a feature was"),
        GBOSE_ESCHEMA);
    assert_int_equal(gbose_schema_compatible(NULL, NULL, NULL), GBOSE_EINVAL);
}

/* A schema with the first terms of each list, as a person would write it. */
static gbose_schema *first_terms(const char *const *arm, int n_arm, const char *const *round, int n_round,
                                 int swap)
{
    char text[2000], lines[2][500] = {"arm =", "round ="};

    for (int i = 0; i < n_arm; i++)
        sprintf(lines[0] + strlen(lines[0]), " %s", arm[i]);
    for (int i = 0; i < n_round; i++)
        sprintf(lines[1] + strlen(lines[1]), " %s", round[i]);
    if (!n_round)
        lines[1][0] = 0;
    snprintf(text, sizeof text,
             "user.e flag\naction.a number scale=2\nuser.c category x, y\naction.b category u, v\nuser.d "
             "number\n%s\n%s\n",
             lines[swap], lines[!swap]);
    return new_schema(text);
}

/* Whatever terms were appended, an earlier schema is found by its hash alone; the order of the two lines does
 * not matter. d is first used in `round` of some and in `arm` of others, so that the order of features
 * differs. */
static void the_schema_before_is_found_by_its_hash(void **state)
{
    static const char *const arm[] = {"a", "b*c", "a*d*e", "a*a"}, *const round[] = {"e", "d", "c*d"};
    gbose_schema *now = first_terms(arm, 4, round, 3, 1), *before, *none = (gbose_schema *)(uintptr_t)8;
    gbose_error err;

    (void)state;
    for (int i = 1; i <= 4; i++)
        for (int j = 0; j <= 3; j++) {
            gbose_schema *was = first_terms(arm, i, round, j, 0), *swapped = first_terms(arm, i, round, j, 1);

            assert_string_equal(gbose_schema_text(was), gbose_schema_text(swapped));
            assert_int_equal(gbose_schema_before(&before, now, gbose_schema_hash(was), &err), GBOSE_OK);
            assert_string_equal(gbose_schema_text(before), gbose_schema_text(was));
            assert_int_equal(gbose_schema_compatible(before, now, &err), GBOSE_OK);
            gbose_schema_free(before);
            gbose_schema_free(was);
            gbose_schema_free(swapped);
        }
    before = first_terms(arm + 1, 2, round, 3, 0);
    assert_int_equal(gbose_schema_before(&none, now, gbose_schema_hash(before), &err), GBOSE_ESCHEMA);
    assert_true(none == (gbose_schema *)(uintptr_t)8);
    assert_non_null(strstr(err.text, "only appends terms"));
    assert_int_equal(gbose_schema_before(&none, now, 0, NULL), GBOSE_ESCHEMA);
    assert_int_equal(gbose_schema_before(NULL, now, 0, NULL), GBOSE_EINVAL);
    assert_int_equal(gbose_schema_before(&none, NULL, 0, NULL), GBOSE_EINVAL);
    gbose_schema_free(before);
    gbose_schema_free(now);
}

/* ---- what is wrong ---- */

static const struct {
    const char *text, *says;
} wrong[] = {
    {"", "line 1: there is no line 'arm = ...'"},
    {"# nothing\n\n\n", "line 4: there is no line 'arm = ...'"},
    {"action.a number\nround = a",
     "line 2: 'a' holds 'action.a', which differs between arms: move it to 'arm = ...'"},
    {"user.a number\nround = 1 a", "line 2: a constant of the round needs no feature: leave out '1'"},
    {"user.a number\n\narm = a",
     "line 3: 'a' holds nothing of action.: it is the same for all arms and cancels. Move it to 'round"},
    {"user.a number\naction.b number\narm = 1", "line 3: '1' holds nothing of action."},
    {"user.a number\naction.b number\narm = b a*1", "line 3: 'a*1' holds nothing of action."},
    {"action.b number\narm = b 1*b", "line 2: '1*b' is there already, as 'action.b'"},
    {"action.b number\nuser.c flag\narm = b*c\n\narm = c*b",
     "line 5: 'c*b' is there already, as 'action.b*user.c'"},
    {"action.b flag\narm = b*b", "line 2: 'action.b' is twice in one product"},
    {"action.price number\narm = pric", "line 2: unknown feature 'pric'; did you mean 'price'?"},
    {"action.price number\narm = action.pric",
     "line 2: unknown feature 'action.pric'; did you mean 'action.price'?"},
    {"arm = a", "line 1: unknown feature 'a'; features are declared before"},
    {"action.a number\nuser.a number\narm = a",
     "line 3: 'a' may be 'action.a' or 'user.a'; write the full name"},
    {"action.a category x, y, x\narm = a", "line 1: 'action.a' lists the value 'x' twice"},
    {"action.a category 1, 1.0\narm = a", "line 1: the values '1' and '1.0' of 'action.a' are the same"},
    {"action.a category true, TRUE\narm = a", "line 1: the values 'true' and 'TRUE'"},
    {"action.a category x, \"\"\narm = a", "line 1: a value cannot be empty"},
    {"action.a category x,\n\n y z", "line 3: values have commas between them; there is none before 'z'"},
    {"action.a category x,,y", "line 1: a value is missing behind ','"},
    {"action.a category x,\narm = a", "line 2: a value is missing between ',' and 'arm='"},
    {"action.a category x,", "line 1: a value is missing behind ','"},
    {"action.a category x, missing=off", "line 1: a value is missing between ',' and 'missing='"},
    {"action.a category", "line 1: 'action.a' needs its values, as in category a, b, c; or hash=32"},
    {"action.a set", "line 1: 'action.a' needs its values, as in set a, b, c; or hash=32"},
    {"action.a set x hash=4", "line 1: 'action.a' lists its values and hashes them"},
    {"action.a set hash=1", "line 1: hash must be a whole number from 2 to 10000; got '1'"},
    {"action.a set hash=2.5", "line 1: hash must be a whole number"},
    {"action.a set hash=99999999999999999999", "line 1: hash must be a whole number"},
    {"action.a vector", "line 1: a vector needs its length: action.a vector 16"},
    {"action.a vector 0", "line 1: the length of a vector must be a whole number from 1 to 10000; got '0'"},
    {"action.a vector 3 4", "line 1: '4' is not expected here; such a line looks like: action.a vector 16"},
    {"action.a cycle", "line 1: a cycle needs its period: action.a cycle 24"},
    {"action.a cycle 0", "line 1: the period of a cycle must be a number from 1e-100 to 1e+100; got '0'"},
    {"action.a number 3", "line 1: '3' is not expected here"},
    {"action.a number log log", "line 1: 'log' is not expected here"},
    {"action.a number scale=0", "line 1: scale must be a number from 1e-100 to 1e+100; got '0'"},
    {"action.a number scale=-2", "line 1: scale must be"},
    {"action.a number scale=nan", "line 1: scale must be"},
    {"action.a number offset=1e999", "line 1: offset must be a number; got '1e999'"},
    {"action.a number scale=2 scale=2", "line 1: option 'scale' is given twice"},
    {"action.a number scale=", "line 1: option 'scale=' has no value"},
    {"action.a number scale", "line 1: 'scale' is not expected here"},
    {"action.a number scal=2", "line 1: a number has no option 'scal'; did you mean 'scale'?"},
    {"action.a flag mising=off", "line 1: a flag has no option 'mising'; did you mean 'missing'?"},
    {"action.a flag missing=no", "line 1: missing must be 'column', 'off' or 'error'; got 'no'"},
    {"action.a flag *", "line 1: '*' is not expected here"},
    {"action.a flag =", "line 1: '=' is not expected here"},
    {"action.a flags", "line 1: there is no type 'flags'; did you mean 'flag'?"},
    {"action.a", "line 1: 'action.a' has no type; the types are number, category"},
    {"price number", "line 1: 'price' does not say whose feature it is: write action.price"},
    {"action. number", "line 1: 'action.' has an empty part"},
    {"action..a number", "line 1: 'action..a' has an empty part"},
    {"action.a(b) number", "line 1: 'action.a(b)' holds '('"},
    {"action.a number\naction.b flag\naction.a number", "line 3: 'action.a' is declared already, on line 1"},
    {"action.a number\narms = a",
     "line 2: only 'arm = ...' and 'round = ...' are lists; 'arms' is neither; did you mean 'arm'?"},
    {"arm", "line 1: '=' is missing: arm = TERM TERM ..."},
    {"arm =\n", "line 1: 'arm =' names no terms"},
    {"round =", "line 1: 'round =' names no terms"},
    {"action.a number\narm = a, a*a", "line 2: terms have spaces between them, and no commas"},
    {"action.a number\narm = a*", "line 2: a feature's name is missing behind '*'"},
    {"action.a number\narm = *a", "line 2: a feature's name is missing before '*'"},
    {"action.a number\narm = \"a\"", "line 2: a term is a product of features' names"},
    {"action.a number\narm = a = a", "line 2: a term is a product"},
    {"= 3", "line 1: a line is 'NAME TYPE ...'"},
    {"\n\"a\" number", "line 2: a line is 'NAME TYPE ...'"},
    {"action.a category \"x", "line 1: a quote \" is opened and not closed on the same line"},
    {"action.a category \"x\ny\"", "line 1: a quote \" is opened and not closed"},
    {"action.a category \"x\\", "line 1: a quote \" is opened and not closed"},
    {"action.a category x\x01", "line 1: there is a control character (byte 1)"},
    {"action.a category \"x\x02\"", "line 1: there is a control character (byte 2)"},
    {"action.a category \"x\x7f\"", "line 1: there is a control character (byte 127)"},
    {"action.a vector 101\naction.b vector 100\narm = a*b",
     "line 3: 'a*b' would have more than 10000 columns"},
    {"action.a number\narm = a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a", "line 2: a product has at most 16 features"},
};

static void a_wrong_schema_gets_its_line_and_a_sentence(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        gbose_schema *mark = (gbose_schema *)&mark, *schema = mark;
        gbose_error err = {77, "untouched"};

        assert_that(gbose_schema_new(&schema, wrong[i].text, &err) == GBOSE_ESCHEMA, "'%s'", wrong[i].text);
        assert_ptr_equal(schema, mark);
        assert_int_equal(err.code, GBOSE_ESCHEMA);
        assert_that(!strncmp(err.text, wrong[i].says, strlen(wrong[i].says)), "'%s'\nsays  '%s'\nnot   '%s'",
                    wrong[i].text, err.text, wrong[i].says);
        assert_int_equal(gbose_schema_new(&schema, wrong[i].text, NULL), GBOSE_ESCHEMA);
    }
    assert_int_equal(gbose_schema_new(NULL, "", NULL), GBOSE_EINVAL);
    {
        gbose_schema *schema;
        assert_int_equal(gbose_schema_new(&schema, NULL, NULL), GBOSE_EINVAL);
    }
    gbose_schema_free(NULL);
}

/* A text made of `before`, n times `each` with its number in it, and `after`. */
static char *repeated(const char *before, const char *each, size_t n, const char *after)
{
    size_t room = strlen(before) + n * (strlen(each) + 20) + strlen(after) + 1, used;
    char *text = malloc(room);

    assert_non_null(text);
    used = (size_t)snprintf(text, room, "%s", before);
    for (size_t i = 0; i < n; i++) {
        const char *hash = strchr(each, '%');

        used +=
            (size_t)snprintf(text + used, room - used, "%.*s%zu%s", (int)(hash - each), each, i, hash + 1);
    }
    snprintf(text + used, room - used, "%s", after);
    return text;
}

static void assert_limit(const char *before, const char *each, size_t most, const char *after,
                         const char *says)
{
    for (size_t n = most; n <= most + 1; n++) {
        char *text = repeated(before, each, n, after);
        gbose_schema *schema = NULL;
        gbose_error err;
        int rc = gbose_schema_new(&schema, text, &err);

        assert_that(rc == (n > most ? GBOSE_ESCHEMA : GBOSE_OK), "%zu: %s", n, err.text);
        if (rc)
            assert_that(strstr(err.text, says) != NULL, "%s", err.text);
        gbose_schema_free(schema);
        free(text);
    }
}

static void limits_are_those_that_the_errors_name(void **state)
{
    char name[300] = "action.", text[700];

    (void)state;
    assert_limit("", "action.a% number\n", 1024, "arm = a0", "line 1025: there are more than 1024 features");
    assert_limit("action.a category x", ", v%", 9997, "\narm = a", "'a' would have more than 10000 columns");
    assert_limit("action.a category x", ", v%", 9999, " other=off missing=off\narm = a",
                 "line 1: 'action.a' has more than 10000 values");
    memset(name + 7, 'a', 200);
    assert_int_equal(gbose_schema_new(&(gbose_schema *){NULL}, name, NULL), GBOSE_ESCHEMA);
    name[200] = 0; /* as long as a name may be */
    snprintf(text, sizeof text, "%s number\narm = %s", name, name);
    gbose_schema_free(new_schema(text));
}

/* 1024 terms: 32 features of the action times 32 of the user. */
static void terms_have_a_limit(void **state)
{
    char text[40000];

    (void)state;
    for (int more = 0; more < 2; more++) {
        gbose_schema *schema = NULL;
        gbose_error err;
        size_t n = 0;

        for (int i = 0; i < 32; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, "action.a%d flag\nuser.u%d flag\n", i, i);
        for (int i = 0; i < 1024; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, "arm = a%d*u%d\n", i / 32, i % 32);
        snprintf(text + n, sizeof text - n, "%s", more ? "arm = a0" : "");
        assert_int_equal(gbose_schema_new(&schema, text, &err), more ? GBOSE_ESCHEMA : GBOSE_OK);
        if (more)
            assert_string_equal(err.text, "line 1089: there are more than 1024 terms");
        else
            assert_int_equal(gbose_schema_dim(schema), 4096);
        gbose_schema_free(schema);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical_form_has_full_names_in_the_order_of_their_use),
        cmocka_unit_test(options_have_one_way_of_being_written),
        cmocka_unit_test(the_locale_does_not_matter),
        cmocka_unit_test(the_hash_stays_what_it_was),
        cmocka_unit_test(columns_have_names),
        cmocka_unit_test(columns_have_references),
        cmocka_unit_test(columns_have_parts),
        cmocka_unit_test(columns_have_units),
        cmocka_unit_test(no_two_columns_have_the_same_name),
        cmocka_unit_test(slots_stand_for_names),
        cmocka_unit_test(a_schema_that_appends_is_compatible),
        cmocka_unit_test(the_schema_before_is_found_by_its_hash),
        cmocka_unit_test(a_wrong_schema_gets_its_line_and_a_sentence),
        cmocka_unit_test(limits_are_those_that_the_errors_name),
        cmocka_unit_test(terms_have_a_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
