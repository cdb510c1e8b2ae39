/* A shop chooses which of three offers to show: from named features to a decision, by a schema. */
#include <stdio.h>

#include <gbose_schema.h>

static const char text[] = "action.price   number    scale=10            missing=off\n"
                           "action.kind    category  book, game, film    missing=off\n"
                           "user.member    flag                          missing=off\n"
                           "time.hour      cycle     24                  missing=off\n"
                           "arm   = 1*kind  price  price*member\n"
                           "round = hour  member\n";

#define OFFERS 3
#define VISITS 5000

/* A number from 0 to n - 1. */
static int any_of(int n)
{
    static unsigned long long state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (unsigned long long)n);
}

int main(void)
{
    static const char *const kinds[OFFERS] = {"book", "game", "film"};
    double rows[OFFERS * 16], round[16], worth[OFFERS], best = 0, lost[2] = {0, 0};
    gbose_schema *schema = NULL;
    gbose *g = NULL;
    gbose_error err;

    if (gbose_schema_new(&schema, text, &err) || gbose_new_for(&g, "gbose-auto", schema, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    for (int t = 0; t < VISITS; t++) {
        int is_member = any_of(3) == 0, hour = any_of(24);
        gbose_feature user[] = {
            {.name = "user.member", .kind = GBOSE_FEATURE_TEXT, .as.text = is_member ? "true" : "false"},
            {.name = "time.hour", .kind = GBOSE_FEATURE_NUMBER, .as.number = hour},
        };
        gbose_feature offer[OFFERS][2];
        gbose_features shared = {user, 2}, actions[OFFERS];
        gbose_decision d;

        for (int i = 0; i < OFFERS; i++) {
            offer[i][0] =
                (gbose_feature){.name = "action.kind", .kind = GBOSE_FEATURE_TEXT, .as.text = kinds[i]};
            offer[i][1] = (gbose_feature){
                .name = "action.price", .kind = GBOSE_FEATURE_NUMBER, .as.number = 5 + any_of(11)};
            actions[i] = (gbose_features){offer[i], 2};
        }
        if (gbose_encode(schema, rows, round, &shared, actions, OFFERS, &err) ||
            gbose_decide_in(g, &d, rows, OFFERS, round)) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        /* games are liked, members care less about the price, and evenings are good for everything */
        for (int i = 0; i < OFFERS; i++)
            worth[i] = 0.3 * (i == 1) - (is_member ? 0.02 : 0.1) * offer[i][1].as.number;
        gbose_learn(g, d.ticket, d.ticket_size, worth[d.arm] + (hour > 17 ? 2 : 0));
        for (int i = 0; i < OFFERS; i++)
            best = !i || worth[i] > best ? worth[i] : best;
        lost[2 * t / VISITS] += (best - worth[d.arm]) * 2 / VISITS;
    }
    printf("lost a visit: %.4f in the first half, %.4f in the second\n", lost[0], lost[1]);
    gbose_free(g);
    gbose_schema_free(schema);
    return 0;
}
