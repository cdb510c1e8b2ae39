#include <gbose.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    double arms[3][2]; /* three arms of two features, new ones every day */
    gbose_error err;
    gbose_decision d;
    gbose *g;

    if (gbose_new(&g, "gbose:gamma=1,intercept=1", 2, &err) != GBOSE_OK)
        return puts(err.text), 1;
    for (int day = 0; day < 5000; day++) {
        for (int i = 0; i < 6; i++)
            arms[i / 2][i % 2] = rand() / (double)RAND_MAX;
        if (gbose_decide(g, &d, arms[0], 3) != GBOSE_OK)
            return 1;
        double weekday = 0.1 * (day % 7); /* moves the reward of every arm alike */
        double reward = 0.7 * arms[d.arm][0] - 0.4 * arms[d.arm][1] + weekday;
        if (gbose_learn(g, d.ticket, d.ticket_size, reward) != GBOSE_OK)
            return 1;
    }
    printf("learned %.2f and %.2f; the truth is 0.70 and -0.40\n", gbose_coef(g)[0], gbose_coef(g)[1]);
    gbose_free(g);
}
