/* When a thread has its turn on a core that others want, too, and on which core. Linux is asked for it; a refusal does no harm. */
#ifndef GBOSE_SERVE_TURNS_H
#define GBOSE_SERVE_TURNS_H

#include <stdatomic.h>
#include <stddef.h>

/* For a thread that all wait for, and that mostly waits for the disk. With shorter turns than others it takes a core from them as soon as it
 * can go on, and does not wait for the end of their turn, which is milliseconds. From Linux 6.12 on; others take no notice. */
void gbose__turns_short(void);

/* For a thread that clients wait for. Woken by a request it does not interrupt whoever runs there: often this is the client on the same
 * machine, or what receives from the network, in the middle of sending more requests. It then finds all of them together, and perhaps
 * another core is free. Its turns are short, too, so that it does not wait for long. */
void gbose__turns_patient(void);

/* Now and then, on one of several threads that do the same, numbered from 0: where there are as many of them as cores, and all are busy,
 * each stays on a core of its own. When the cores are nearly busy Linux no longer looks for an idle one for a thread that is woken, but
 * leaves it where it was, or where it was woken: the threads and their client then share one core for milliseconds, while another
 * one has nothing to do. Threads that are not busy go wherever there is room, and do not wait for whoever else runs on their core.
 * `busy` is theirs in common, 0 at first: how many of them are. */
void gbose__turns_seat(size_t number, size_t of, atomic_size_t *busy);

#endif
