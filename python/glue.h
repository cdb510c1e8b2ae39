/* What the Python package adds to the public headers: a decision in one call and one block of bytes, and
 * features from dictionaries. */
#ifndef GBOSE_PYTHON_GLUE_H
#define GBOSE_PYTHON_GLUE_H

#include <gbose_log.h>
#include <gbose_schema.h>
#include <gbose_study.h>

/* What a decision leaves behind: pmf (n_arms doubles), draws (8 bytes), ticket. */
typedef struct {
    size_t n_arms; /* that there is room for */
    size_t size, capacity;
    char bytes[];
} py_block;

/* With room for a decision of g among n_arms, or among none; g may be NULL, then none is made. NULL: out
 * of memory. */
py_block *py_block_new(const gbose *g, size_t n_arms);
void py_block_free(py_block *block);

/* Not an array of contexts that can be used as it is, or the block has no room for it: bring that in
 * order, then try again. Nothing has happened. */
static const int PY_NOT_YET = -1000;

/* gbose_decide_in() into a block: the arm, or a negative code, PY_NOT_YET among them.
 *   contexts  id() of a numpy array, which the caller holds. Getting at its memory through a buffer would cost more than
 *             deciding among a few arms. */
int64_t py_decide(gbose *g, py_block *block, uintptr_t contexts, const double *round);

/* gbose_encode() and gbose_fit_add() of a round that is made of Python's objects, given by their id():
 *   scopes   a dictionary: "user", "time" and the like to dictionaries of features.
 *   actions  a list: of each arm a dictionary of features, or its name, which is action.id.
 *   rows     an array of doubles, n_arms x dim, and `round` one of the features of the round; 0: they are not wanted.
 * None of them may change meanwhile. */
int py_encode(const gbose_schema *schema, uintptr_t scopes, uintptr_t actions, uintptr_t rows,
              uintptr_t round, gbose_error *err);
int py_fit_add(gbose_fit *fit, uintptr_t scopes, uintptr_t actions, gbose_error *err);

#endif
