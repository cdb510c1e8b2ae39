#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/ndarraytypes.h>

#include <stdlib.h>
#include <string.h>

#include "glue.h"

py_block *py_block_new(const gbose *g, size_t n_arms)
{
    size_t room = n_arms && g ? gbose_ticket_room(g, n_arms) : 0, size = 8 * (n_arms + 1) + room;
    py_block *block;

    if (n_arms && g && (!room || n_arms > SIZE_MAX / 32 || room > SIZE_MAX / 2))
        return NULL;
    block = malloc(sizeof *block + size);
    if (block) {
        block->n_arms = n_arms;
        block->size = 0;
        block->capacity = size;
    }
    return block;
}

void py_block_free(py_block *block)
{
    free(block);
}

/* Rows of dim doubles, one after the other, where doubles may stand? These are looks at a struct that
 * somebody holds: they need no lock. */
static int is_ready(PyArrayObject *a, size_t dim)
{
    const PyArray_Descr *type = PyArray_DESCR(a);

    return PyArray_NDIM(a) == 2 && type->type_num == NPY_DOUBLE && type->byteorder != NPY_OPPBYTE &&
           PyArray_CHKFLAGS(a, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED) &&
           (size_t)PyArray_DIM(a, 1) == dim;
}

int64_t py_decide(gbose *g, py_block *block, uintptr_t contexts, const double *round)
{
    PyArrayObject *array = (PyArrayObject *)contexts;
    gbose_decision d;
    uint64_t draws;
    size_t n_arms;
    char *to = block->bytes;
    int rc;

    if (!g)
        return GBOSE_EINVAL;
    if (!is_ready(array, gbose_dim(g)))
        return PY_NOT_YET;
    n_arms = (size_t)PyArray_DIM(array, 0);
    if (n_arms < 1 || n_arms > block->n_arms)
        return PY_NOT_YET;
    rc = gbose_decide_in(g, &d, PyArray_DATA(array), n_arms, round);
    if (rc)
        return rc;
    draws = d.draws;
    memcpy(to, d.pmf, 8 * n_arms);
    memcpy(to + 8 * n_arms, &draws, 8);
    memcpy(to + 8 * n_arms + 8, d.ticket, d.ticket_size);
    block->size = 8 * n_arms + 8 + d.ticket_size;
    return (int64_t)d.arm;
}
