/* The PostgreSQL store under test: that of GBOSE_TEST_POSTGRES, which scripts/postgres.py starts. */
#ifndef TESTS_SUPPORT_STORE_POSTGRES_H
#define TESTS_SUPPORT_STORE_POSTGRES_H

#include "support/store_contract.h"

const char *postgres_url(void); /* NULL: there is none */

/* Something done behind the store's back; the first column of the first row as a number. */
long sql(const char *statement);

/* A store with nothing in it, as a struct place. */
int postgres_set_up(void **state);
int postgres_tear_down(void **state);

void close_all(struct place *p, uint32_t bandit); /* everything that it has */
void nothing_is_open(void);

#endif
