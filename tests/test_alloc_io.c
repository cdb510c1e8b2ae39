/* Line files and CSV when memory runs out: allocation 1, 2, 3, ... fails, until none is left to fail.
 * Every call says so, nothing leaks (the sanitizer looks), no file is left half-written, and what is read
 * until then is right. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/csv.h"
#include "support/faults.h"
#include "support/scratch.h"

static char *dir;

/* Write a header, a long record and a quoted one; GBOSE_OK or what went wrong. */
static int write_file(const char *path, const char *field, gbose_error *err)
{
    const char *header[] = {"a", "b"}, *record[] = {field, "x,\"y\""};
    struct gbose__lines_writer *w;
    int rc = gbose__lines_create(&w, path, err);

    if (rc)
        return rc;
    rc = gbose__csv_put_record(w, header, 2, err);
    if (!rc)
        rc = gbose__csv_put_record(w, record, 2, err);
    if (rc) {
        gbose__lines_abandon(w);
        return rc;
    }
    return gbose__lines_finish(w, err);
}

static int read_file(const char *path, const char *field, gbose_error *err)
{
    struct gbose__csv *c;
    int rc = gbose__csv_open(&c, path, 1000000, err);

    if (rc)
        return rc;
    rc = gbose__csv_next(c, err);
    if (rc == 1) {
        assert_string_equal(gbose__csv_field(c, 0), field);
        assert_string_equal(gbose__csv_field(c, 1), "x,\"y\"");
        rc = gbose__csv_next(c, err);
    }
    gbose__csv_close(c);
    return rc;
}

static void sweep(int (*step)(const char *, const char *, gbose_error *), const char *name, const char *field)
{
    const char *path = scratch_path(dir, name);
    int rc = GBOSE_ENOMEM;

    for (long n = 0; rc; n++) {
        gbose_error err = {0, ""};

        watch(n);
        rc = step(path, field, &err);
        stop_watching();
        assert_int_equal(scratch_count(dir, ".tmp"), 0);
        assert_int_equal(rc, heap.failed ? GBOSE_ENOMEM : GBOSE_OK);
        assert_int_equal(err.code, rc);
        assert_that(rc || n >= 3, "%s takes hardly any memory", name);
    }
}

static void every_allocation_may_fail(void **state)
{
    static const char *const names[] = {"plain.csv", "packed.csv.gz"};
    static char field[200001];

    (void)state;
    memset(field, 'z', sizeof field - 1);
    dir = scratch_new();
    for (size_t i = 0; i < 2; i++) {
        sweep(write_file, names[i], field);
        sweep(read_file, names[i], field);
    }
    scratch_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
