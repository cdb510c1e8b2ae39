/* Memory of schemas: allocation 1, 2, 3, ... fails until none is left to fail, nothing is leaked; and
 * encoding does not allocate. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include "gbose_schema.h"
#include "support/faults.h"

static void a_schema_survives_failing_allocations(void **state)
{
    static char text[30000];
    gbose_schema *mark = (gbose_schema *)&mark, *schema;
    size_t n = (size_t)snprintf(text, sizeof text, "action.a category v");
    long live = heap.live, k = 0;
    int rc;

    (void)state;
    for (int i = 0; i < 500; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, ",\n  \"value %d\"", i);
    for (int i = 0; i < 100; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "\nuser.u%d number\nround = u%d", i, i);
    snprintf(text + n, sizeof text - n, "\narm = a a*u3");
    do {
        gbose_error err = {77, "untouched"};

        schema = mark;
        watch(k++);
        rc = gbose_schema_new(&schema, text, &err);
        stop_watching();
        assert_int_equal(err.code, rc);
        if (rc) {
            assert_int_equal(rc, GBOSE_ENOMEM);
            assert_ptr_equal(schema, mark);
            assert_int_equal(heap.live, live);
        }
    } while (rc && k < 1000);
    assert_int_equal(rc, GBOSE_OK);
    assert_true(k > 5);
    gbose_schema_free(schema);
    assert_int_equal(heap.live, live);
}

static void the_schema_before_survives_failing_allocations(void **state)
{
    gbose_schema *was = NULL, *now = NULL, *mark = (gbose_schema *)&mark, *before;
    long live, k = 0;
    int rc;

    (void)state;
    assert_int_equal(gbose_schema_new(&was, "action.a number\nuser.b flag\narm = a", NULL), GBOSE_OK);
    assert_int_equal(gbose_schema_new(&now, "action.a number\nuser.b flag\narm = a a*b\nround = b", NULL),
                     GBOSE_OK);
    live = heap.live;
    do {
        before = mark;
        watch(k++);
        rc = gbose_schema_before(&before, now, gbose_schema_hash(was), NULL);
        stop_watching();
        if (rc) {
            assert_int_equal(rc, GBOSE_ENOMEM);
            assert_ptr_equal(before, mark);
            assert_int_equal(heap.live, live);
        }
    } while (rc && k < 1000);
    assert_int_equal(rc, GBOSE_OK);
    assert_true(k > 5);
    gbose_schema_free(before);
    gbose_schema_free(was);
    gbose_schema_free(now);
}

static void encoding_does_not_allocate(void **state)
{
    static const char *const tags[] = {"x", "y", "x"};
    gbose_schema *schema = NULL;
    gbose_feature user[] = {{.name = "user.n", .kind = GBOSE_FEATURE_TEXT, .as.text = "3.25"},
                            {.name = "user.v", .kind = GBOSE_FEATURE_TEXT, .as.text = "1|2e-3"}};
    gbose_feature action[] = {{.name = "action.s", .kind = GBOSE_FEATURE_TEXTS, .as.texts = tags, .n = 3},
                              {.name = "action.c", .kind = GBOSE_FEATURE_TEXT, .as.text = "q"}};
    gbose_features shared = {user, 2}, arms[] = {{action, 2}, {action, 1}};
    double rows[2000], round[20];

    (void)state;
    assert_int_equal(
        gbose_schema_new(&schema,
                         "action.s set hash=9\naction.c category p, q\nuser.n number\nuser.v vector 2\n"
                         "arm = s c s*c*n*v\nround = v n",
                         NULL),
        GBOSE_OK);
    watch(-1);
    assert_int_equal(gbose_encode(schema, rows, round, &shared, arms, 2, NULL), GBOSE_OK);
    assert_int_equal(stop_watching(), 0);
    gbose_schema_free(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_schema_survives_failing_allocations),
        cmocka_unit_test(the_schema_before_survives_failing_allocations),
        cmocka_unit_test(encoding_does_not_allocate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
