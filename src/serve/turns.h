/* When a thread has its turn on a core that others want, too. Linux is asked for it; a refusal does no harm. */
#ifndef GBOSE_SERVE_TURNS_H
#define GBOSE_SERVE_TURNS_H

/* For a thread that all wait for, and that mostly waits for the disk. With shorter turns than others it takes a core from them as soon as it
 * can go on, and does not wait for the end of their turn, which is milliseconds. From Linux 6.12 on; others take no notice. */
void gbose__turns_short(void);

/* For a thread that clients wait for. Woken by a request it does not interrupt whoever runs there: often this is the client on the same
 * machine, or what receives from the network, in the middle of sending more requests. It then finds all of them together, and perhaps
 * another core is free. Its turns are short, too, so that it does not wait for long. */
void gbose__turns_patient(void);

#endif
