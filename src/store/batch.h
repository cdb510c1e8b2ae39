/* Events of a journal (notes.h) as bytes, and back. */
#ifndef GBOSE_STORE_BATCH_H
#define GBOSE_STORE_BATCH_H

#include "store/store.h"

/* What stands in front of the events of a batch. A record begins and ends at a multiple of GBOSE__DIRECT_BLOCK. */
struct gbose__record {
    uint64_t magic, id;
    uint64_t first; /* place of the first event */
    uint64_t
        previous; /* place of the last event before it that is in the journal: between them there is nothing */
    uint64_t n, size; /* events; and bytes, with this header */
    uint64_t sum;     /* of all this and of the sums of the events */
    uint64_t unused;
};

/* Write the header. Returns the bytes to be written to the disk, or 0: there is no memory. */
size_t gbose__batch_seal(struct gbose__batch *batch, uint64_t id, uint64_t first, uint64_t previous);
/* Is there a record of that id, undamaged, in these bytes? Returns its bytes on the disk; 0: there is none. */
size_t gbose__batch_find(struct gbose__record *out, const unsigned char *bytes, size_t most, uint64_t id);

#endif
