/* What a log says about a schema: gbose schema check FILE LOG. */
#ifndef GBOSE_CLI_SCHEMA_CHECK_H
#define GBOSE_CLI_SCHEMA_CHECK_H

#include "encode/profile.h"
#include "encode/schema.h"

/* The contexts of a log in sums: what varies between the arms of a round, and what is determined by what.
 * A round of one arm is compared with the other such rounds. */
struct schema_columns {
    const gbose_schema *schema;
    size_t dim;
    double *row, *centred; /* contexts of a round: room for n_rows of them; one row less the round's mean */
    size_t n_rows;
    double *round;     /* features of the round */
    uint64_t *filled;  /* of each column: arms in which it was not 0 */
    double *varied;    /* sum of squared distances from the round's mean */
    double *gram;      /* dim x dim: sum of products of these distances; NULL: dim is too large for it */
    double *alone_sum; /* sums, and sums of squares, over rounds of one arm */
    uint64_t alone, arms, rounds;
    uint64_t gram_rounds; /* rounds that went into gram: the first ones, as many as take a bearable time */
};

/* GBOSE_OK, GBOSE_ENOMEM; take in a round, or what gbose_encode() says. */
int schema_columns_init(struct schema_columns *c, const gbose_schema *schema, gbose_error *err);
int schema_columns_add(struct schema_columns *c, const gbose_features *shared, const gbose_features *actions,
                       size_t n_arms, gbose_error *err);
void schema_columns_clear(struct schema_columns *c);

/* Print what is worth a look, a line each. Returns how many there were; -1: out of memory. */
int schema_check_columns(struct schema_columns *c);
int schema_check_features(const gbose_schema *schema, const struct gbose__profile *profile);

#endif
