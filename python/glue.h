/* What the Python package adds to gbose.h and gbose_study.h: a decision in one call and one block of bytes. */
#ifndef GBOSE_PYTHON_GLUE_H
#define GBOSE_PYTHON_GLUE_H

#include <gbose_study.h>

/* What a decision leaves behind: pmf (n_arms doubles), draws (8 bytes), ticket. */
typedef struct {
    char *bytes;
    size_t size, capacity;
} py_block;

/* NULL: out of memory. */
py_block *py_block_new(void);
void py_block_free(py_block *block);

/* Room for a decision among n_arms. GBOSE_OK, GBOSE_ESIZE, GBOSE_ENOMEM. */
int py_block_reserve(py_block *block, const gbose *g, size_t n_arms);

/* The contexts are not where doubles may stand: copy them and try again. */
static const int PY_UNALIGNED = -1000;

/* gbose_decide() into a block with room for it: the arm, or a negative code. */
int64_t py_decide(gbose *g, py_block *block, const double *contexts, size_t n_arms);

#endif
