/* Learning a log that another program wrote, then deciding. The log has the contexts of every round, the
 * probabilities that the other program drew with, the arm, and the reward. */
#include <gbose.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define DIM 2
#define ARMS 3

/* A row of the log. */
struct row {
    double contexts[ARMS * DIM], pmf[ARMS], reward;
    size_t arm;
};

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

/* The other program likes arms with a large first feature; what it logs also rises with the season. */
static void other_program(struct row *row, int day)
{
    double sum = 0, u = uniform();

    for (int i = 0; i < ARMS * DIM; i++)
        row->contexts[i] = uniform();
    for (int i = 0; i < ARMS; i++)
        sum += row->pmf[i] = exp(2 * row->contexts[i * DIM]);
    for (int i = 0; i < ARMS; i++)
        row->pmf[i] /= sum;
    for (row->arm = 0; row->arm + 1 < ARMS && u >= row->pmf[row->arm]; row->arm++)
        u -= row->pmf[row->arm];
    row->reward = 0.7 * row->contexts[row->arm * DIM] - 0.4 * row->contexts[row->arm * DIM + 1] +
                  sin(day / 60.0) + 0.1 * uniform();
}

static void learn_row(gbose *g, gbose_scratch *scratch, const struct row *row)
{
    gbose_input in = {row->contexts, ARMS, NULL};
    const void *ticket;
    size_t size;

    check(gbose_ticket_for(g, scratch, &ticket, &size, &in, row->pmf, row->arm), "ticket");
    check(gbose_learn(g, ticket, size, row->reward), "learn");
}

int main(void)
{
    gbose_scratch *scratch;
    gbose_decision d;
    gbose_error err;
    struct row row;
    gbose *g;

    if (gbose_new(&g, "gbose:gamma=1,intercept=1", DIM, &err) != GBOSE_OK)
        return puts(err.text), 1;
    check(gbose_scratch_new(&scratch), "scratch");
    for (int day = 0; day < 5000; day++) {
        other_program(&row, day);
        learn_row(g, scratch, &row);
    }
    printf("learned %.2f and %.2f from the log; the truth is 0.70 and -0.40\n", gbose_coef(g)[0],
           gbose_coef(g)[1]);
    check(gbose_decide(g, &d, row.contexts, ARMS), "decide"); /* and now it decides by itself */
    gbose_scratch_free(scratch);
    if (fabs(gbose_coef(g)[0] - 0.7) > 0.1 || fabs(gbose_coef(g)[1] + 0.4) > 0.1)
        return 1;
    gbose_free(g);
}
