/* Two learners in the same world with a trend.
 *
 * Each round shows ten arms of six features and pays b' mu + v(t) + noise for the arm b that is played. The
 * trend v(t) is the same for every arm, so it says nothing about which arm is best, but it is far larger than
 * what the arms differ by. Both learners meet the same contexts and the same noise. The regret of a round is
 * what the best arm would have paid more; the table shows its sum. */
#include <gbose.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 5000, ARMS = 10, DIM = 6, POINTS = 10, BAR = 30, PLAYERS = 2 };

static const char *const specs[PLAYERS] = {"gbose:intercept=1", "lin-ts"};
static const char bar[BAR + 1] = "##############################";

/* A generator small enough to be read: Marsaglia's xorshift, 64 bits of state. */
static double uniform(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (double)(*state >> 11) * 0x1p-53;
}

/* Nearly normal: the sum of twelve uniforms has variance 1. */
static double noise(uint64_t *state)
{
    double sum = -6;

    for (int i = 0; i < 12; i++)
        sum += uniform(state);
    return sum;
}

static double trend(int t)
{
    double wave = sin(0.0005 * t);

    return log2(t + 1.0) * wave * wave + pow(t, 0.25);
}

static double value(const double *mu, const double *b)
{
    double sum = 0;

    for (int i = 0; i < DIM; i++)
        sum += mu[i] * b[i];
    return sum;
}

static void check(int status, const char *what)
{
    if (status != GBOSE_OK) {
        fprintf(stderr, "trend: %s: %s\n", what, gbose_strerror(status));
        exit(1);
    }
}

/* Play all rounds; total[k] is the regret after round (k + 1) ROUNDS / POINTS. The world is drawn from its
 * own seed, so every learner gets the same one. */
static void play(double total[POINTS], const char *spec)
{
    uint64_t world = 20220621;
    double mu[DIM], contexts[ARMS * DIM], sum = 0;
    gbose *g;
    gbose_error err;

    if (gbose_new(&g, spec, DIM, &err) != GBOSE_OK) {
        fprintf(stderr, "trend: %s\n", err.text);
        exit(1);
    }
    for (int i = 0; i < DIM; i++)
        mu[i] = uniform(&world) - 0.5;
    for (int t = 1; t <= ROUNDS; t++) {
        gbose_decision d;
        double best = -INFINITY, played, e;

        for (int i = 0; i < ARMS * DIM; i++)
            contexts[i] = 2 * uniform(&world) - 1;
        e = 0.1 * noise(&world);
        for (int a = 0; a < ARMS; a++)
            best = fmax(best, value(mu, contexts + a * DIM));

        check(gbose_decide(g, &d, contexts, ARMS), "decide");
        played = value(mu, contexts + d.arm * DIM);
        check(gbose_learn(g, d.ticket, d.ticket_size, played + trend(t) + e), "learn");

        sum += best - played;
        if (t % (ROUNDS / POINTS) == 0)
            total[t / (ROUNDS / POINTS) - 1] = sum;
    }
    gbose_free(g);
}

int main(void)
{
    double total[PLAYERS][POINTS], full = 0, a, b;

    for (int p = 0; p < PLAYERS; p++) {
        play(total[p], specs[p]);
        full = fmax(full, total[p][POINTS - 1]);
    }

    printf("Regret so far; %d arms, %d features, a trend that reaches %.0f, noise 0.1\n\n", ARMS, DIM,
           trend(ROUNDS));
    printf("round            %-*s            %s\n", BAR, specs[0], specs[1]);
    for (int k = 0; k < POINTS; k++) {
        printf("%5d", (k + 1) * (ROUNDS / POINTS));
        for (int p = 0; p < PLAYERS; p++) {
            int length = full > 0 ? (int)lround(total[p][k] / full * (double)BAR) : 0;
            printf("  %8.1f  %-*.*s", total[p][k], p + 1 < PLAYERS ? BAR : 0, length, bar);
        }
        putchar('\n');
    }

    a = total[0][POINTS - 1];
    b = total[1][POINTS - 1];
    printf("\nAfter %d rounds %s has lost %.1f and %s %.1f: ", ROUNDS, specs[0], a, specs[1], b);
    if (a < b)
        printf("%s does better, by a factor of %.1f.\n", specs[0], b / a);
    else if (b < a)
        printf("%s does better, by a factor of %.1f.\n", specs[1], a / b);
    else
        printf("neither does better.\n");
    return 0;
}
