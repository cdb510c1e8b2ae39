/* A program outside of gbose: it sees only the installed header and library. */
#include <gbose.h>

#include <stdio.h>

int main(void)
{
    const double contexts[] = {1, 0, 0, 1};
    gbose *g;
    gbose_error err;
    gbose_decision d;

    if (gbose_new(&g, "gbose", 2, &err) != GBOSE_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    for (int t = 0; t < 10; t++)
        if (gbose_decide(g, &d, contexts, 2) != GBOSE_OK ||
            gbose_learn(g, d.ticket, d.ticket_size, d.arm == 0 ? 1.0 : 0.0) != GBOSE_OK)
            return 1;
    printf("gbose %s\n", gbose_version());
    gbose_free(g);
    return 0;
}
