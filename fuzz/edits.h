/* What the fuzzers of sealed bytes share: learners to make intact ones, and a mutator that edits whole
 * words as readily as bytes and repairs the checksum afterwards, so that the fuzzer gets past it.
 *
 * An input is HEAD bytes that choose a learner and its age, then the bytes under test. Those to begin with
 * are made by the mutator from the code as it is: files in the tree would be out of date with the next
 * version of a format. */
#ifndef GBOSE_FUZZ_EDITS_H
#define GBOSE_FUZZ_EDITS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "gbose.h"

#define DIM 2
#define MAX_ARMS 6
#define MAX_BYTES (1 << 18)
#define HEAD 4

struct input {
    const uint8_t *at;
    size_t left;
};

static inline uint8_t next_byte(struct input *in)
{
    if (!in->left)
        return 0;
    in->left--;
    return *in->at++;
}

static inline uint64_t next_word(struct input *in)
{
    uint64_t word = 0;

    for (int i = 0; i < 8; i++)
        word |= (uint64_t)next_byte(in) << (8 * i);
    return word;
}

static inline double next_double(struct input *in)
{
    uint64_t word = next_word(in);
    double value;

    memcpy(&value, &word, sizeof value);
    return value;
}

static inline int has_option(const gbose_info *info, const char *name, size_t length)
{
    for (size_t i = 0; i < info->n_options; i++)
        if (strlen(info->options[i].name) == length && !strncmp(info->options[i].name, name, length))
            return 1;
    return 0;
}

/* A learner that the input chooses. */
static inline gbose *choose_learner(struct input *in)
{
    static const char *const options[] = {"seed=2",     "intercept=1", "intercept=0", "forget=0.9",
                                          "lambda=0.5", "safe=1",      "round=2",     "width=certified"};
    const gbose_info *info;
    const char *option;
    size_t n = 0;
    char spec[80];
    gbose *g = NULL;

    while (gbose_learner_at(n))
        n++;
    info = gbose_learner_at(next_byte(in) % n);
    option = options[next_byte(in) % (sizeof options / sizeof *options)];
    strcpy(spec, info->name);
    strcat(spec, ":");
    strcat(spec, has_option(info, option, strcspn(option, "=")) ? option : options[0]);
    if (has_option(info, "draws", 5)) /* quick rounds, more of them */
        strcat(spec, ",draws=3");
    if (gbose_new(&g, spec, DIM, NULL) != GBOSE_OK)
        abort();
    return g;
}

/* Decide among fixed arms. */
static inline int decide(gbose *g, gbose_decision *d, unsigned seed)
{
    double contexts[MAX_ARMS * 16], round[64];
    size_t dim = gbose_dim(g), n = 1 + seed % MAX_ARMS;

    if (dim > 16)
        return GBOSE_EINVAL;
    for (size_t i = 0; i < n * dim; i++)
        contexts[i] = (double)((seed + 7 * i * i) % 11) / 5 - 1;
    for (size_t i = 0; i < gbose_round_features(g) && i < 64; i++)
        round[i] = (double)((seed + i) % 5) - 1;
    return gbose_decide_in(g, d, contexts, n, round);
}

static inline void play(gbose *g, unsigned rounds)
{
    for (unsigned t = 0; t < rounds; t++) {
        gbose_decision d;

        if (decide(g, &d, 5 * t + 3) == GBOSE_OK)
            gbose_learn(g, d.ticket, d.ticket_size, t % 3);
    }
}

/* Edits, a command byte each, until the input ends; then the checksum. Returns the new size. */
static inline size_t edit(uint8_t *bytes, size_t size, struct input *in)
{
    static const uint64_t odd[] = {0,
                                   1,
                                   UINT64_MAX,
                                   UINT64_C(1) << 63,
                                   UINT64_C(1) << 32,
                                   UINT64_C(0x7ff8000000000000),
                                   UINT64_C(0x7ff0000000000000),
                                   UINT64_C(0x7fefffffffffffff)};

    while (in->left) {
        uint8_t command = next_byte(in);
        size_t words = size / 8,
               place = (next_byte(in) | (size_t)next_byte(in) << 8) % (words ? words : 1) * 8;
        struct gbose__writer w = {bytes + place, 0, 8, 0};

        switch (command % 6) {
        case 0: /* a word */
            if (place + 8 <= size)
                gbose__put_u64(&w, next_word(in));
            break;
        case 1: /* an odd word */
            if (place + 8 <= size)
                gbose__put_u64(&w, odd[next_byte(in) % 8]);
            break;
        case 2: /* a byte */
            if (place < size)
                bytes[place + next_byte(in) % 8] = next_byte(in);
            break;
        case 3: /* cut */
            size = place;
            break;
        case 4: /* a word more */
            if (size + 8 <= MAX_BYTES) {
                memmove(bytes + place + 8, bytes + place, size - place);
                gbose__put_u64(&w, next_word(in));
                size += 8;
            }
            break;
        default: /* a word less */
            if (place + 8 <= size) {
                memmove(bytes + place, bytes + place + 8, size - place - 8);
                size -= 8;
            }
            break;
        }
    }
    if (size >= 8) {
        struct gbose__writer w = {bytes + size - 8, 0, 8, 0};

        gbose__put_u64(&w, gbose__checksum(bytes, size - 8));
    }
    return size;
}

/* libFuzzer's own mutator, and the one it calls if there is one. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005 + 1442695040888963407;
    return *state >> 32;
}

/* `make` writes intact bytes for the choice in `head`, and returns how many. */
static inline size_t mutate_sealed(uint8_t *data, size_t size, size_t max_size, unsigned seed,
                                   size_t (*make)(uint8_t *to, struct input *head))
{
    uint8_t bytes[MAX_BYTES], commands[48];
    uint64_t state = seed;
    struct input in = {commands, 0};
    size_t length;

    if (max_size < HEAD + MAX_BYTES)
        return LLVMFuzzerMutate(data, size, max_size);
    if (size < HEAD + 16 || size > HEAD + MAX_BYTES || next_random(&state) % 16 == 0) { /* a new one */
        struct input head = {data, HEAD};

        for (size_t i = 0; i < HEAD; i++)
            data[i] = (uint8_t)next_random(&state);
        length = make(bytes, &head);
    } else {
        length = size - HEAD;
        memcpy(bytes, data + HEAD, length);
    }
    if (next_random(&state) % 4 == 0)
        length = LLVMFuzzerMutate(bytes, length, MAX_BYTES);
    else
        in.left = 3 + next_random(&state) % (sizeof commands - 3);
    for (size_t i = 0; i < in.left; i++)
        commands[i] = (uint8_t)next_random(&state);
    length = edit(bytes, length, &in);
    memcpy(data + HEAD, bytes, length);
    return HEAD + length;
}

/* The bytes in memory of exactly their size, so that a read past the end is seen. */
static inline void *exactly(const void *bytes, size_t size)
{
    void *copy = malloc(size ? size : 1);

    if (!copy)
        abort();
    memcpy(copy, bytes, size);
    return copy;
}

#endif
