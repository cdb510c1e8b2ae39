/* Lives of every learner, with every kind of option, as one number each: a machine that prints the same
 * lines as another one computes the same bytes. Knows gbose.h alone, and makes its numbers from integers,
 * so that nothing but the library can differ. */
#include <gbose.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ARMS 70
#define MOST_DIM 21
#define MOST_FEATURES 40

static uint64_t state, hash;

static void mix(uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
}

static void mix_double(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    mix(bits);
}

static void mix_bytes(const unsigned char *at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        mix(at[i]);
}

/* A multiple of 2^-20 in [-1, 1). */
static double number(void)
{
    state = state * 6364136223846793005 + 1442695040888963407;
    return (double)(state >> 43) / (1 << 20) - 1;
}

static void must(int rc)
{
    if (rc) {
        fprintf(stderr, "fingerprint: %s\n", gbose_strerror(rc));
        exit(1);
    }
}

static void mix_state(const gbose *g)
{
    unsigned char *bytes;
    size_t size;
    gbose *copy;

    gbose_save(g, NULL, 0, &size);
    bytes = malloc(size);
    if (!bytes)
        exit(1);
    must(gbose_save(g, bytes, size, &size));
    mix_bytes(bytes, size);
    must(gbose_load(&copy, bytes, size, NULL));
    gbose_free(copy);
    free(bytes);
}

static void play(gbose *g, size_t rounds, size_t arms)
{
    double contexts[MOST_ARMS * MOST_DIM], feature[MOST_FEATURES];
    size_t dim = gbose_dim(g);

    for (size_t t = 0; t < rounds; t++) {
        size_t n = t % 5 ? arms : 1 + t % arms;
        gbose_decision d;

        for (size_t i = 0; i < n * dim; i++)
            contexts[i] = number();
        for (size_t i = 0; i < gbose_round_features(g); i++)
            feature[i] = number();
        must(gbose_decide_in(g, &d, contexts, n, gbose_round_features(g) ? feature : NULL));
        mix(d.arm);
        mix(d.draws);
        for (size_t i = 0; i < n; i++)
            mix_double(d.pmf[i]);
        mix_bytes(d.ticket, d.ticket_size);
        must(gbose_learn(g, d.ticket, d.ticket_size, contexts[d.arm * dim] + number() / 4));
    }
}

/* One line: the spec, and what became of it with few and with many arms; or that there is no such learner. */
static void print_life(const char *spec)
{
    static const size_t dims[] = {3, MOST_DIM}, arms[] = {MOST_ARMS, 7};

    hash = 1;
    state = 2;
    for (size_t i = 0; i < 2; i++) {
        gbose *g, *other;

        if (gbose_new(&g, spec, dims[i], NULL)) {
            printf("%s refused\n", spec);
            return;
        }
        must(gbose_new(&other, spec, dims[i], NULL));
        must(gbose_stream(other, 5));
        play(g, 24, arms[i]);
        play(other, 7, arms[i]);
        if (!gbose_merge(g, other))
            play(g, 5, arms[i]);
        for (size_t k = 0; k < dims[i]; k++)
            mix_double(gbose_coef(g)[k]);
        mix_state(g);
        gbose_free(g);
        gbose_free(other);
    }
    printf("%s %016llx\n", spec, (unsigned long long)hash);
}

/* Values of an option that differ from its default: its words, and a few numbers that it may accept. */
static void print_lives_with(const char *learner, const gbose_option *option)
{
    static const char *const values[] = {"0", "1", "0.9", "31"};
    char spec[200], words[200], *word;

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        snprintf(spec, sizeof spec, "%s:%s=%s", learner, option->name, values[i]);
        print_life(spec);
    }
    snprintf(words, sizeof words, "%s", option->words ? option->words : "");
    for (word = strtok(words, "|"); word; word = strtok(NULL, "|")) {
        snprintf(spec, sizeof spec, "%s:%s=%s", learner, option->name, word);
        print_life(spec);
    }
}

int main(void)
{
    const gbose_info *info;

    for (size_t i = 0; (info = gbose_learner_at(i)) != NULL; i++) {
        print_life(info->name);
        for (size_t k = 0; k < info->n_options; k++)
            print_lives_with(info->name, &info->options[k]);
    }
    return 0;
}
