/* What a schema is once it is read: features with their columns, and terms as products of features. */
#ifndef GBOSE_ENCODE_SCHEMA_H
#define GBOSE_ENCODE_SCHEMA_H

#include <locale.h>

#include "gbose_schema.h"

#define GBOSE__MAX_FEATURES 1024 /* of a schema: encoding keeps a few words for each of them on the stack */
#define GBOSE__MAX_TERMS 1024    /* of arm, and of round */
#define GBOSE__MAX_COLUMNS 10000 /* of one term; more is a mistake, or wants hash= */
#define GBOSE__MAX_FACTORS 16    /* of one term */
#define GBOSE__MAX_NAME 200      /* bytes of a name or a listed value */
#define GBOSE__NO_COLUMN UINT32_MAX

enum gbose__feature_type { TYPE_NUMBER, TYPE_CATEGORY, TYPE_SET, TYPE_VECTOR, TYPE_FLAG, TYPE_CYCLE };

/* What becomes of a value that is missing, or that a category does not list: it has a column of its own,
 * it leaves all columns 0, or it is an error. */
enum gbose__stray { STRAY_COLUMN, STRAY_OFF, STRAY_ERROR };

struct gbose__schema_feature {
    const char *name; /* full */
    const char *text; /* its line in canonical form */
    int line;         /* where it is declared */
    int type;         /* enum gbose__feature_type */
    int is_action;
    int missing, other; /* enum gbose__stray */
    int logarithm;
    double scale, offset; /* a number x becomes (f(x) - offset) / scale, f the identity or a logarithm */
    double period;        /* of a cycle */
    uint32_t length;      /* of a vector */
    uint32_t buckets;     /* hash=; 0: values are listed */
    uint64_t seed;        /* of the hash of its values: a hash of its name */
    const char **value;   /* listed values, n_values of them */
    uint32_t n_values;
    uint64_t *key;   /* the keys of the listed values, and where they are: an open hash table */
    uint32_t *place; /* of mask + 1 entries: index of a value + 1, or 0 */
    uint32_t mask;
    uint32_t width;                        /* columns, those for strays included */
    uint32_t missing_column, other_column; /* GBOSE__NO_COLUMN: there is none */
};

/* A feature in a product. Column c of it moves the column of the product by c * stride. */
struct gbose__factor {
    uint32_t feature; /* index: its slot - 1 */
    uint32_t power;   /* 2 or more: a number times itself, a single column */
    uint32_t width, stride;
};

struct gbose__term {
    struct gbose__factor *factor;
    uint32_t n_factors;
    uint32_t width;   /* columns: the product of the widths */
    size_t first;     /* its first column */
    const char *text; /* in canonical form */
};

struct gbose__terms {
    struct gbose__term *at;
    size_t n, columns;
};

struct gbose_schema {
    struct gbose__schema_feature *feature; /* those that terms use, in the order of first use */
    size_t n_features;
    struct gbose__schema_feature *unused; /* declared only */
    size_t n_unused;
    struct gbose__terms arm, round;
    uint32_t *action; /* indices of the features of an arm */
    size_t n_actions;
    uint32_t *place; /* names to slots: an open hash table of mask + 1 entries, 0 where there is none */
    uint32_t mask;
    uint64_t hash;
    char *text;
    locale_t c_locale; /* numbers in texts have a decimal point */
    struct gbose__chunk *chunks;
};

/* Memory that lives as long as the schema: count * size zeroed bytes, or NULL. */
void *gbose__schema_alloc(gbose_schema *schema, size_t count, size_t size);

/* Read a text into an empty schema: features, unused, arm and round are then filled, but for what
 * gbose__schema_finish() adds. */
int gbose__parse_schema(gbose_schema *schema, const char *text, gbose_error *err);

/* Can it be a feature's name? It has a dot, no empty part, and only letters, digits, '_' and '-' besides. */
int gbose__schema_name_fits(const char *name);

/* ---- values ---- */

/* A piece of text. */
struct gbose__piece {
    const char *at;
    size_t n;
};

/* The number that a piece of text is: 1, or 0 if it is none. "true" and "false" are numbers only if
 * `words`. */
int gbose__value_number(locale_t c_locale, double *out, struct gbose__piece text, int words);

/* What a value is told apart by: equal numbers have equal keys, written as text or not. */
uint64_t gbose__value_key(locale_t c_locale, uint64_t seed, struct gbose__piece text);
uint64_t gbose__value_key_of_number(uint64_t seed, double number);

/* The index of a listed value with this key, or -1. */
int64_t gbose__value_find(const struct gbose__schema_feature *feature, uint64_t key);

/* Where a key goes in a feature with hash=, and its sign. */
uint32_t gbose__value_bucket(const struct gbose__schema_feature *feature, uint64_t key, double *sign);

/* A listed value as a schema has it: bare if it can be, else in quotes. As snprintf(). */
size_t gbose__value_write(char *buf, size_t capacity, const char *value);

#endif
