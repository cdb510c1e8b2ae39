/* Replicas that learn side by side and are merged, again and again.
 *
 * Each generation begins from one saved state S. Every worker loads S, takes a random stream of its own,
 * plays its own visitors and sends its state back as bytes. The centre loads S, merges what was sent and
 * saves the next S. In the end the centre knows what one learner that saw every reward would know. */
#include <gbose.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIM = 4, ARMS = 5, WORKERS = 3, GENERATIONS = 4, VISITS = 200 };

struct bytes {
    void *at;
    size_t size;
};

static const double truth[DIM] = {0.6, -0.2, 0.1, 0.4};

static void check(int status, const char *what)
{
    if (status != GBOSE_OK) {
        fprintf(stderr, "replicas: %s: %s\n", what, gbose_strerror(status));
        exit(1);
    }
}

static struct bytes save(const gbose *g)
{
    struct bytes b;

    check(gbose_save(g, NULL, 0, &b.size), "size");
    b.at = malloc(b.size);
    if (!b.at)
        exit(1);
    check(gbose_save(g, b.at, b.size, &b.size), "save");
    return b;
}

static gbose *load(struct bytes b)
{
    gbose *g;

    check(gbose_load(&g, b.at, b.size, NULL), "load");
    return g;
}

/* In [-1, 1): the upper bits of a linear congruential generator. */
static double chance(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

/* Play a worker's visitors; `witness` is the one learner that sees every reward. */
static void play(gbose *g, gbose *witness, uint64_t *state)
{
    for (int t = 0; t < VISITS; t++) {
        double contexts[ARMS][DIM], reward = chance(state); /* v and noise in one */
        gbose_decision d;

        for (int i = 0; i < ARMS * DIM; i++)
            contexts[i / DIM][i % DIM] = chance(state);
        check(gbose_decide(g, &d, contexts[0], ARMS), "decide");
        for (int i = 0; i < DIM; i++)
            reward += truth[i] * contexts[d.arm][i];
        check(gbose_learn(g, d.ticket, d.ticket_size, reward), "learn");
        check(gbose_learn(witness, d.ticket, d.ticket_size, reward), "learn");
    }
}

/* A worker's share of a generation: the state it sends back. */
static struct bytes work(struct bytes S, uint32_t stream, gbose *witness, uint64_t *state)
{
    gbose *g = load(S);
    struct bytes sent;

    check(gbose_stream(g, stream), "stream");
    play(g, witness, state);
    sent = save(g);
    gbose_free(g);
    return sent;
}

/* The centre's share: the next S. */
static struct bytes join(struct bytes S, const struct bytes sent[WORKERS])
{
    gbose *g = load(S);
    struct bytes next;

    for (int w = 0; w < WORKERS; w++) {
        gbose *from = load(sent[w]);

        check(gbose_merge(g, from), "merge");
        if (gbose_merge(g, from) != GBOSE_EOVERLAP) /* a second time is refused */
            exit(1);
        gbose_free(from);
    }
    next = save(g);
    gbose_free(g);
    return next;
}

int main(void)
{
    uint64_t state = 11;
    double apart = 0;
    gbose *witness, *g;
    struct bytes S, sent[WORKERS];

    check(gbose_new(&witness, "gbose:gamma=1", DIM, NULL), "new");
    S = save(witness); /* it has learned nothing yet: the first S */

    for (uint32_t generation = 0; generation < GENERATIONS; generation++) {
        struct bytes next;

        for (uint32_t w = 0; w < WORKERS; w++) {
            uint32_t stream = 1 + generation * WORKERS + w; /* never the same one twice */
            sent[w] = work(S, stream, witness, &state);
        }
        next = join(S, sent);
        for (int w = 0; w < WORKERS; w++)
            free(sent[w].at);
        free(S.at);
        S = next;
    }

    g = load(S);
    for (int i = 0; i < DIM; i++)
        apart = fmax(apart, fabs(gbose_coef(g)[i] - gbose_coef(witness)[i]));
    printf("%u rewards by %d workers: %6.3f %6.3f %6.3f %6.3f\n", (unsigned)gbose_rounds(g), WORKERS,
           gbose_coef(g)[0], gbose_coef(g)[1], gbose_coef(g)[2], gbose_coef(g)[3]);
    printf("the truth is              %6.3f %6.3f %6.3f %6.3f\n", truth[0], truth[1], truth[2], truth[3]);
    printf("one learner of all rewards differs by less than 1e-9: %s\n", apart < 1e-9 ? "yes" : "no");
    if (gbose_rounds(g) != GENERATIONS * WORKERS * VISITS)
        return 1;
    gbose_free(g);
    gbose_free(witness);
    free(S.at);
    return apart < 1e-9 ? 0 : 1;
}
