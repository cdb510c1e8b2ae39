/* Rewards that come late, in another order, and in another process.
 *
 * A shop chooses what to show and hears later whether it sold. It keeps the ticket of every decision, as a
 * row in a table would, and learns when the reward comes: 50 decisions later. An office that sees the tickets
 * and the rewards, but neither the shop's learner nor its contexts, learns them from the last to the first.
 * Both know the same in the end. */
#include <gbose.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIM = 3, ARMS = 4, VISITS = 2000, DELAY = 50 };

/* What is kept of a decision until its reward comes. */
struct row {
    void *ticket;
    size_t ticket_size;
    double reward;
};

static const double truth[DIM] = {0.5, -0.3, 0.2};

static void check(int status, const char *what)
{
    if (status != GBOSE_OK) {
        fprintf(stderr, "late_rewards: %s: %s\n", what, gbose_strerror(status));
        exit(1);
    }
}

static gbose *make(const char *spec)
{
    gbose *g;
    gbose_error err;

    if (gbose_new(&g, spec, DIM, &err) != GBOSE_OK) {
        fprintf(stderr, "late_rewards: %s\n", err.text);
        exit(1);
    }
    return g;
}

/* In [-1, 1): the upper bits of a linear congruential generator. */
static double chance(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

/* The ticket belongs to the learner and is gone with its next call. */
static void keep(struct row *row, const gbose_decision *d)
{
    row->ticket = malloc(d->ticket_size);
    if (!row->ticket)
        exit(1);
    memcpy(row->ticket, d->ticket, d->ticket_size);
    row->ticket_size = d->ticket_size;
}

int main(void)
{
    static struct row row[VISITS];
    uint64_t state = 7;
    double apart = 0;
    gbose *shop = make("gbose:gamma=2,intercept=1"), *office;

    for (int t = 0; t < VISITS; t++) {
        double contexts[ARMS][DIM], v = 0.3 * sin(0.01 * t);
        gbose_decision d;

        for (int i = 0; i < ARMS * DIM; i++)
            contexts[i / DIM][i % DIM] = chance(&state);
        check(gbose_decide(shop, &d, contexts[0], ARMS), "decide");
        keep(&row[t], &d);
        row[t].reward = v + 0.1 * chance(&state);
        for (int i = 0; i < DIM; i++)
            row[t].reward += truth[i] * contexts[d.arm][i];
        if (t >= DELAY) {
            const struct row *old = &row[t - DELAY];
            check(gbose_learn(shop, old->ticket, old->ticket_size, old->reward), "learn");
        }
    }
    for (int t = VISITS - DELAY; t < VISITS; t++)
        check(gbose_learn(shop, row[t].ticket, row[t].ticket_size, row[t].reward), "learn");

    office = make("gbose:gamma=2,intercept=1,seed=99"); /* seeds may differ, other options may not */
    for (int t = VISITS; t-- > 0;)
        check(gbose_learn(office, row[t].ticket, row[t].ticket_size, row[t].reward), "learn");

    for (int i = 0; i < DIM; i++)
        apart = fmax(apart, fabs(gbose_coef(shop)[i] - gbose_coef(office)[i]));
    printf("the shop learned   %6.3f %6.3f %6.3f\n", gbose_coef(shop)[0], gbose_coef(shop)[1],
           gbose_coef(shop)[2]);
    printf("the truth is       %6.3f %6.3f %6.3f\n", truth[0], truth[1], truth[2]);
    printf("the office differs by less than 1e-9: %s\n", apart < 1e-9 ? "yes" : "no");

    /* A ticket that was cut short is refused, and nothing changes. */
    if (gbose_learn(office, row[0].ticket, row[0].ticket_size - 8, row[0].reward) != GBOSE_ETICKET)
        return 1;

    for (int t = 0; t < VISITS; t++)
        free(row[t].ticket);
    gbose_free(shop);
    gbose_free(office);
    return apart < 1e-9 ? 0 : 1;
}
