/* What encoding costs: ten arms and eighteen columns, made of named features by a schema. Answers requests
 * one a line, "WHAT SECONDS", with CPU microseconds of a round:
 *
 *     arithmetic  the same eighteen columns written by hand, from values that are numbers and indices already
 *     slots       gbose_encode(), names looked up beforehand
 *     names       gbose_encode() by names
 *     decide      a decision of gbose-auto on such rows, without encoding
 *     whole       encoding by names, and the decision */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../include/gbose_schema.h"
#include "workload.h"

#define ARMS 10
#define DIM 18
#define ROUND 4
#define SCENES 64 /* rounds in turn, so that no branch is learned by heart */

static const char SCHEMA[] = "action.topic category sports, politics, travel missing=off\n"
                             "action.price number scale=10 missing=off\n"
                             "user.device  category ios, android missing=off\n"
                             "user.tenure  number scale=365 missing=off\n"
                             "arm   = 1*topic price topic*device price*tenure\n"
                             "round = device tenure\n";

static const char *const topics[] = {"sports", "politics", "travel", "cooking"};
static const char *const devices[] = {"ios", "android", "palm"};

struct scene {
    size_t topic[ARMS], device;
    double price[ARMS], tenure;
    gbose_feature user[2], action[ARMS][2];
    gbose_features shared, actions[ARMS];
};

struct bench {
    gbose_schema *schema;
    gbose *g;
    struct scene scene[SCENES];
    double rows[ARMS * DIM], round[ROUND];
    double sum; /* of something that was computed, so that it is */
};

static void must(int rc)
{
    if (rc) {
        fprintf(stderr, "gbose_bench_features: %s\n", gbose_strerror(rc));
        exit(1);
    }
}

static void make_scenes(struct bench *b, int slots)
{
    uint64_t random = 1;

#define NEXT() ((random = random * UINT64_C(6364136223846793005) + 1442695040888963407) >> 33)
    for (struct scene *s = b->scene; s < b->scene + SCENES; s++) {
        s->device = NEXT() % 3;
        s->tenure = (double)(NEXT() % 1000);
        s->user[0] =
            (gbose_feature){.name = "user.device", .kind = GBOSE_FEATURE_TEXT, .as.text = devices[s->device]};
        s->user[1] =
            (gbose_feature){.name = "user.tenure", .kind = GBOSE_FEATURE_NUMBER, .as.number = s->tenure};
        s->shared = (gbose_features){s->user, 2};
        for (size_t i = 0; i < ARMS; i++) {
            s->topic[i] = NEXT() % 4;
            s->price[i] = (double)(NEXT() % 100) / 4;
            s->action[i][0] = (gbose_feature){
                .name = "action.topic", .kind = GBOSE_FEATURE_TEXT, .as.text = topics[s->topic[i]]};
            s->action[i][1] = (gbose_feature){
                .name = "action.price", .kind = GBOSE_FEATURE_NUMBER, .as.number = s->price[i]};
            s->actions[i] = (gbose_features){s->action[i], 2};
            for (int k = 0; k < 2 && slots; k++)
                s->action[i][k].slot = gbose_schema_slot(b->schema, s->action[i][k].name);
        }
        for (int k = 0; k < 2 && slots; k++)
            s->user[k].slot = gbose_schema_slot(b->schema, s->user[k].name);
    }
}

static void by_hand(void *state, size_t t)
{
    struct bench *b = state;
    const struct scene *s = &b->scene[t % SCENES];
    double tenure = s->tenure / 365;

    memset(b->rows, 0, sizeof b->rows);
    for (size_t i = 0; i < ARMS; i++) {
        double *row = b->rows + i * DIM, price = s->price[i] / 10;

        row[s->topic[i]] = 1;
        row[4] = price;
        row[5 + 3 * s->topic[i] + s->device] = 1;
        row[17] = price * tenure;
    }
    memset(b->round, 0, sizeof b->round);
    b->round[s->device] = 1;
    b->round[3] = tenure;
    b->sum += b->rows[t % (ARMS * DIM)];
}

static void encode(void *state, size_t t)
{
    struct bench *b = state;
    const struct scene *s = &b->scene[t % SCENES];

    must(gbose_encode(b->schema, b->rows, b->round, &s->shared, s->actions, ARMS, NULL));
    b->sum += b->rows[t % (ARMS * DIM)];
}

static void decide(void *state, size_t t)
{
    struct bench *b = state;
    gbose_decision d;

    (void)t;
    must(gbose_decide_in(b->g, &d, b->rows, ARMS, b->round));
    b->sum += d.probability;
}

static void whole(void *state, size_t t)
{
    encode(state, t);
    decide(state, t);
}

/* By hand and by schema are the same numbers. */
static void check(struct bench *b)
{
    for (size_t t = 0; t < SCENES; t++) {
        double rows[ARMS * DIM], round[ROUND];

        by_hand(b, t);
        memcpy(rows, b->rows, sizeof rows);
        memcpy(round, b->round, sizeof round);
        encode(b, t);
        if (memcmp(rows, b->rows, sizeof rows) || memcmp(round, b->round, sizeof round))
            must(GBOSE_ESCHEMA);
    }
}

/* A learner that has seen some rounds. */
static void train(struct bench *b)
{
    must(gbose_new_for(&b->g, "gbose-auto:seed=1", b->schema, NULL));
    for (size_t t = 0; t < 2000; t++) {
        gbose_decision d;

        encode(b, t);
        must(gbose_decide_in(b->g, &d, b->rows, ARMS, b->round));
        must(gbose_learn(b->g, d.ticket, d.ticket_size,
                         b->rows[d.arm * DIM] - b->rows[d.arm * DIM + 4] + (double)(t % 7)));
    }
}

int main(void)
{
    static const struct {
        const char *name;
        void (*play)(void *, size_t);
        int slots;
    } known[] = {{"arithmetic", by_hand, 0},
                 {"slots", encode, 1},
                 {"names", encode, 0},
                 {"decide", decide, 0},
                 {"whole", whole, 0}};
    static struct bench b;
    char line[200], what[64];
    double seconds;

    must(gbose_schema_new(&b.schema, SCHEMA, NULL));
    make_scenes(&b, 0);
    check(&b);
    train(&b);
    while (fgets(line, sizeof line, stdin)) {
        size_t i = 0;

        if (sscanf(line, "%63s %lf", what, &seconds) != 2)
            return 1;
        while (i < sizeof known / sizeof *known && strcmp(known[i].name, what))
            i++;
        if (i == sizeof known / sizeof *known)
            return 1;
        make_scenes(&b, known[i].slots);
        printf("%.9g\n", time_rounds(known[i].play, &b, seconds));
        fflush(stdout);
    }
    if (b.sum == 0.5)
        fputs("\n", stderr);
    gbose_free(b.g);
    gbose_schema_free(b.schema);
    return 0;
}
