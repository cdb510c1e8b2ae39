/* What features have been like in many rounds: how often they came, as what, and which values they had. */
#ifndef GBOSE_ENCODE_PROFILE_H
#define GBOSE_ENCODE_PROFILE_H

#include <locale.h>

#include "gbose_schema.h"

#define GBOSE__PROFILE_VALUES                                                                                \
    20000 /* different values of a feature that are remembered; more are only counted */

struct gbose__profile_value {
    uint64_t key; /* as gbose__value_key() with the feature's seed */
    uint64_t count;
    char *text;
};

struct gbose__profile_feature {
    char *name;
    int is_action;
    uint64_t seed;                     /* of its keys: that of a schema's feature of this name */
    uint64_t given;                    /* times that it came and was not missing */
    uint64_t numbers;                  /* of these: a number, also one written as text */
    uint64_t truths;                   /* true or false */
    uint64_t lists;                    /* a list, also a text with '|' in it */
    uint64_t list_numbers, list_texts; /* entries of its lists */
    size_t shortest, longest;          /* of the lists */
    int whole;                         /* were all numbers whole? */
    uint64_t counted;                  /* numbers, those in lists too */
    double min, max;                   /* of these */
    double mean[2], squares[2]; /* of these, and of log(1 + |x|) with the sign of x: their mean, and the sum
                                          of squared distances from it */
    struct gbose__profile_value *value;
    size_t n_values, value_room;
    uint32_t *place; /* keys to values: an open hash table of mask + 1 entries */
    size_t mask;
    uint64_t not_remembered; /* times that a value came which there was no room for */
};

struct gbose__profile {
    uint64_t rounds, arms; /* arms of all rounds together */
    struct gbose__profile_feature *feature;
    size_t n_features, room;
    locale_t c_locale;
};

/* GBOSE_OK or GBOSE_ENOMEM. */
int gbose__profile_init(struct gbose__profile *p);
void gbose__profile_clear(struct gbose__profile *p);

/* Take in a round. GBOSE_OK or GBOSE_ENOMEM. */
int gbose__profile_add(struct gbose__profile *p, const gbose_features *shared, const gbose_features *actions,
                       size_t n_arms);

/* A feature by its name, or NULL; how often it did not come; how often it had a value of this key. */
const struct gbose__profile_feature *gbose__profile_find(const struct gbose__profile *p, const char *name);
uint64_t gbose__profile_missing(const struct gbose__profile *p, const struct gbose__profile_feature *f);
uint64_t gbose__profile_count(const struct gbose__profile_feature *f, uint64_t key);

/* The standard deviation of its numbers, of their logarithms if `log`. */
double gbose__profile_deviation(const struct gbose__profile_feature *f, int log);

#endif
