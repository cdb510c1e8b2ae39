#include "support/store_postgres.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

const char *postgres_url(void)
{
    return getenv("GBOSE_TEST_POSTGRES");
}

long sql(const char *statement)
{
    PGconn *conn = PQconnectdb(postgres_url());
    PGresult *r = (PQclear(PQexec(conn, "SET client_min_messages = error")), PQexec(conn, statement));
    long n = PQresultStatus(r) == PGRES_TUPLES_OK && PQntuples(r) ? atol(PQgetvalue(r, 0, 0)) : 0;

    if (PQresultStatus(r) != PGRES_TUPLES_OK && PQresultStatus(r) != PGRES_COMMAND_OK)
        fail_msg("%s: %s", statement, PQerrorMessage(conn));
    PQclear(r);
    PQfinish(conn);
    return n;
}

int postgres_set_up(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    sql("DROP SCHEMA IF EXISTS gbose CASCADE");
    *p = (struct place){.open = gbose__postgres_open,
                        .dir = strdup(postgres_url()),
                        .failure = GBOSE__EAWAY,
                        .says = "the database",
                        .steps = 20,
                        .in_doubt = 1};
    store_open(p);
    *state = p;
    return 0;
}

int postgres_tear_down(void **state)
{
    struct place *p = *state;

    store_close(p);
    free(p->dir);
    free(p);
    return 0;
}

void close_all(struct place *p, uint32_t bandit)
{
    struct gbose__change change = {.kind = GBOSE__CLOSE_DUE,
                                   .of.close = {bandit, 9000, 1000, GBOSE__SUM, -2, 0, 0}};

    do
        store_ok(p, p->store->apply(p->store, &change, 1, &p->err));
    while (change.of.close.next <= 9000);
    assert_int_equal(change.of.close.next, INT64_MAX);
}

void nothing_is_open(void)
{
    assert_int_equal(sql("SELECT count(*) FROM gbose.pending"), 0);
    assert_int_equal(sql("SELECT count(*) FROM gbose.activated"), 0);
    assert_int_equal(sql("SELECT sum(pending) FROM gbose.tally"), 0);
}
