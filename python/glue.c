#include "glue.h"

#include <stdlib.h>
#include <string.h>

py_block *py_block_new(void)
{
    return calloc(1, sizeof(py_block));
}

void py_block_free(py_block *block)
{
    if (block)
        free(block->bytes);
    free(block);
}

int py_block_reserve(py_block *block, const gbose *g, size_t n_arms)
{
    size_t room = gbose_ticket_room(g, n_arms), size;
    char *bytes;

    if (!room || n_arms > SIZE_MAX / 16 - room / 8 - 1)
        return GBOSE_ESIZE;
    size = 8 * (n_arms + 1) + room;
    if (size <= block->capacity)
        return GBOSE_OK;
    bytes = realloc(block->bytes, size);
    if (!bytes)
        return GBOSE_ENOMEM;
    block->bytes = bytes;
    block->capacity = size;
    return GBOSE_OK;
}

int64_t py_decide(gbose *g, py_block *block, const double *contexts, size_t n_arms)
{
    gbose_decision d;
    uint64_t draws;
    char *to = block->bytes;
    int rc;

    if ((uintptr_t)contexts % _Alignof(double))
        return PY_UNALIGNED;
    rc = gbose_decide(g, &d, contexts, n_arms);
    if (rc)
        return rc;
    draws = d.draws;
    memcpy(to, d.pmf, 8 * n_arms);
    memcpy(to + 8 * n_arms, &draws, 8);
    memcpy(to + 8 * n_arms + 8, d.ticket, d.ticket_size);
    block->size = 8 * n_arms + 8 + d.ticket_size;
    return (int64_t)d.arm;
}
