/* A burn-in: for the first weeks a randomised trial decides, then the learner that it has taught. */
#include <gbose.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define DIM 2
#define ARMS 4
#define BURN_IN 500 /* rounds */
#define ROUNDS 2000

static void check(int code, const char *what)
{
    if (code) {
        fprintf(stderr, "%s: %s\n", what, gbose_strerror(code));
        exit(1);
    }
}

static double uniform(void)
{
    return rand() / (RAND_MAX + 1.0);
}

/* What an arm brings on a day: the arm's own part, and a season that moves all alike. */
static double worth(const double *arm)
{
    return 0.7 * arm[0] - 0.4 * arm[1];
}

/* The trial draws the arm, and the learner learns it as if it had drawn with the trial's probabilities. */
static size_t play_trial(gbose *trial, gbose *g, gbose_scratch *scratch, const double *contexts,
                         double season)
{
    gbose_input in = {contexts, ARMS, NULL};
    const void *ticket;
    gbose_decision d;
    size_t size;

    check(gbose_decide(trial, &d, contexts, ARMS), "decide");
    check(gbose_ticket_for(g, scratch, &ticket, &size, &in, d.pmf, d.arm), "ticket");
    check(gbose_learn(g, ticket, size, worth(contexts + d.arm * DIM) + season), "learn");
    return d.arm;
}

static size_t play_learner(gbose *g, const double *contexts, double season)
{
    gbose_decision d;
    size_t arm;

    check(gbose_decide(g, &d, contexts, ARMS), "decide");
    arm = d.arm;
    check(gbose_learn(g, d.ticket, d.ticket_size, worth(contexts + arm * DIM) + season), "learn");
    return arm;
}

int main(void)
{
    double contexts[ARMS * DIM], regret[2] = {0, 0};
    gbose *trial, *g;
    gbose_scratch *scratch;
    gbose_error err;

    if (gbose_new(&trial, "uniform", DIM, &err) || gbose_new(&g, "gbose-auto", DIM, &err))
        return puts(err.text), 1;
    check(gbose_scratch_new(&scratch), "scratch");
    for (int day = 0; day < ROUNDS; day++) {
        double season = sin(day / 60.0), best = -INFINITY;
        size_t arm;

        for (int i = 0; i < ARMS * DIM; i++)
            contexts[i] = uniform();
        for (int i = 0; i < ARMS; i++)
            best = fmax(best, worth(contexts + i * DIM));
        arm = day < BURN_IN ? play_trial(trial, g, scratch, contexts, season)
                            : play_learner(g, contexts, season);
        regret[day >= BURN_IN] += best - worth(contexts + arm * DIM);
    }
    printf("regret a round: %.3f in the trial, %.3f after it\n", regret[0] / BURN_IN,
           regret[1] / (ROUNDS - BURN_IN));
    gbose_scratch_free(scratch);
    gbose_free(trial);
    gbose_free(g);
    return !(regret[1] / (ROUNDS - BURN_IN) < 0.02 * regret[0] / BURN_IN);
}
