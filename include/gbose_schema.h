/* gbose_schema: from what people have (users, actions, a time of day) to the contexts that a learner
 * takes.
 *
 * A schema is a text that says which features there are, and what is made of them:
 *
 *     action.price    number    scale=10
 *     action.topic    category  sports, politics, travel
 *     user.device     category  ios, android, web
 *     time.hour       cycle     24
 *
 *     arm   = 1*topic  price  topic*device       # what differs between arms
 *     round = hour  device                       # what moves all arms alike
 *
 * docs/features.md is its manual. A feature whose name begins with `action.` belongs to an arm, every
 * other one to the round. Terms of `arm` become the columns of the contexts, terms of `round` the features
 * of the round.
 *
 * The life of a schema, here with a learner made for it:
 *
 *     gbose_schema *schema;
 *     gbose_error err;
 *
 *     if (gbose_schema_new(&schema, text, &err) != GBOSE_OK)
 *         complain(err.text);                          "line 7: unknown feature 'pric'; did you mean 'price'?"
 *     gbose_new_for(&g, "gbose-auto", schema, &err);
 *     for (each round) {
 *         gbose_encode(schema, rows, round, shared, actions, n_arms, &err);
 *         gbose_decide_in(g, &d, rows, n_arms, round);
 *         ...
 *     }
 *     gbose_schema_free(schema);
 *
 * A schema does not change once it is made: any number of threads may use it. Nothing in it is estimated
 * while it is used: scales and categories are written in its text, since evidence adds up only in fixed
 * units. Errors are as in gbose.h. */
#ifndef GBOSE_SCHEMA_H
#define GBOSE_SCHEMA_H

#include "gbose.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gbose_schema gbose_schema;

/* Read a schema.
 *   out   set to the new schema on success; free it with gbose_schema_free().
 *   text  its lines, ending with a zero byte; borrowed for the call.
 *   err   may be NULL; else filled on failure: the text begins with "line N: " and says what would be right.
 * GBOSE_ESCHEMA if the text is wrong, GBOSE_EINVAL if a pointer is NULL, GBOSE_ENOMEM. */
GBOSE_API int gbose_schema_new(gbose_schema **out, const char *text, gbose_error *err);

/* Free a schema and all it owns. NULL is allowed. */
GBOSE_API void gbose_schema_free(gbose_schema *schema);

/* The number of columns of a context, at least 1: what gbose_new() takes as dim. */
GBOSE_API size_t gbose_schema_dim(const gbose_schema *schema);

/* The number of features of the round; may be 0. */
GBOSE_API size_t gbose_schema_round(const gbose_schema *schema);

/* The name of column i of the contexts, and of feature i of the round:
 * "action.topic=sports*user.device=ios". No two columns have the same name. Written into buf as snprintf()
 * does: at most capacity bytes with the final zero, and the length of the whole name is returned. 0 if
 * there is no such column. */
GBOSE_API size_t gbose_schema_column(const gbose_schema *schema, size_t i, char *buf, size_t capacity);
GBOSE_API size_t gbose_schema_round_column(const gbose_schema *schema, size_t i, char *buf, size_t capacity);

/* The column that column i of the contexts is compared with: the same product, with the first listed value in
 * place of that of each category of the action. What is constant for each topic, for instance, adds up to the same
 * for all arms, so that only differences between topics can be known: those to the first one. i itself if the
 * product holds no listed category of an action, or if it is the first one. i must be less than
 * gbose_schema_dim(). */
GBOSE_API size_t gbose_schema_reference(const gbose_schema *schema, size_t i);

/* What 1 in column i of the contexts stands for, as text: "4.8 of action.price", "0.5 of the logarithm of action.price",
 * "10 of action.price times 365 of user.tenure", "unit of user.age" where the scale is 1, and an empty text where the
 * column says no more than that something is so. As gbose_schema_column() writes names. */
GBOSE_API size_t gbose_schema_unit(const gbose_schema *schema, size_t i, char *buf, size_t capacity);

/* Column i of the contexts with its parts: 1 in it and in the columns of those terms that are products of some of its
 * factors, with the same values; 0 in all others. Where a schema has both topic and topic*device, what topic=travel
 * adds for device=ios is both together, and either alone may not be knowable.
 *   row   filled: gbose_schema_dim() doubles.
 * i must be less than gbose_schema_dim(). */
GBOSE_API void gbose_schema_parts(const gbose_schema *schema, size_t i, double *row);

/* The schema in canonical form: full names, one line for each feature that a term uses (in the order of
 * their first use), then the terms in their order. gbose_schema_new() accepts it and makes an equal
 * schema. Valid until gbose_schema_free(). */
GBOSE_API const char *gbose_schema_text(const gbose_schema *schema);

/* A hash of the canonical form, never 0: schemas with the same hash encode alike. */
GBOSE_API uint64_t gbose_schema_hash(const gbose_schema *schema);

/* GBOSE_OK if `now` only appends terms to `before`: the columns of `before` are then the first ones of
 * `now`, in the same order, and what was learned about them stays true. Equal schemas are compatible. Else
 * GBOSE_ESCHEMA, and err (may be NULL) says what differs. GBOSE_EINVAL if a schema is NULL. */
GBOSE_API int gbose_schema_compatible(const gbose_schema *before, const gbose_schema *now, gbose_error *err);

/* The schema with this hash that `now` only appends terms to: what a log or a state was made by that carries the hash,
 * when nothing but the later schema is at hand. For `now`'s own hash it is an equal schema.
 *   out   set to a new schema on success; free it with gbose_schema_free().
 * GBOSE_ESCHEMA if there is none: `now` is another schema, not a grown one. GBOSE_EINVAL if out or now is NULL,
 * GBOSE_ENOMEM. */
GBOSE_API int gbose_schema_before(gbose_schema **out, const gbose_schema *now, uint64_t hash,
                                  gbose_error *err);

/* ---- features ---------------------------------------------------------------------------------------- */

/* The number that stands for a full name ("user.device") in a feature, 1 or more; 0 if the schema uses no
 * such feature. Look it up once and features need no name. */
GBOSE_API uint32_t gbose_schema_slot(const gbose_schema *schema, const char *name);

/* The full name of a slot; NULL if there is none. Slots go from 1 to the number of features. Valid until
 * gbose_schema_free(). */
GBOSE_API const char *gbose_schema_name(const gbose_schema *schema, uint32_t slot);

/* What a feature holds. */
enum gbose_kind {
    GBOSE_FEATURE_MISSING = 0,
    GBOSE_FEATURE_NUMBER = 1,
    GBOSE_FEATURE_TEXT = 2,
    GBOSE_FEATURE_NUMBERS = 3, /* a vector, or a set of numbers */
    GBOSE_FEATURE_TEXTS = 4    /* a set */
};

/* A feature as it comes: its name or slot, and its value. These are the same everywhere, so that JSON, a
 * table and a program give the same bytes: NaN and the empty text are missing; a text that is a number is
 * that number ("7", "7.0" and 7 are the same, as the value of a category too); "True" and "TRUE" are
 * "true", the same with false, and where a number is wanted they are 1 and 0; a text where a set or vector
 * is wanted is split at '|'. */
typedef struct {
    const char *name; /* the full name; not looked at when slot is not 0 */
    uint32_t slot;    /* gbose_schema_slot(), or 0: look the name up */
    uint32_t kind;    /* enum gbose_kind */
    union {
        double number;
        const char *text; /* ends with a zero byte */
        const double *numbers;
        const char *const *texts;
    } as;
    size_t n; /* of NUMBERS and TEXTS: how many */
} gbose_feature;

/* A list of features, in any order. What is left out is missing. */
typedef struct {
    const gbose_feature *at;
    size_t n;
} gbose_features;

/* Make the contexts of a round.
 *   rows     filled: n_arms rows of gbose_schema_dim() doubles, row-major.
 *   round    filled: gbose_schema_round() doubles; may be NULL, and they are then not made.
 *   shared   the features of the round: user, time, whatever is not an action's. NULL: there are none.
 *   actions  n_arms lists: the features of each arm, by names that begin with "action.". n_arms may be 0 (and rows
 *            and actions NULL): only `round` is then filled.
 *   err      may be NULL.
 * A feature that the schema does not use is skipped: data often has more than is used. Everything is
 * borrowed for the call. Never allocates. GBOSE_EVALUE if a value does not fit its feature, is given twice, or stands
 * in the wrong list; GBOSE_ENUMERIC if a number, or a product, is infinite or larger than GBOSE_MAX_INPUT;
 * GBOSE_EINVAL if a pointer is NULL or a slot does not exist. After an error rows and round hold nothing
 * of use. */
GBOSE_API int gbose_encode(const gbose_schema *schema, double *rows, double *round,
                           const gbose_features *shared, const gbose_features *actions, size_t n_arms,
                           gbose_error *err);

/* ---- learners for a schema -------------------------------------------------------------------------- */

/* gbose_new() for the contexts of a schema: dim is that of the schema, and so is the option `round`, if
 * the learner has it (a learner that has not leaves the features of the round alone). The learner's states
 * and tickets carry the hash of the schema: a ticket of another one is GBOSE_EFOREIGN, merging with
 * another one GBOSE_EMISMATCH. The schema is not needed any more after the call. Errors are those of
 * gbose_new(); GBOSE_ESCHEMA if the schema has more columns of the round than the learner takes. */
GBOSE_API int gbose_new_for(gbose **out, const char *spec, const gbose_schema *schema, gbose_error *err);

/* gbose_load() of a state that was saved by a learner for this schema; GBOSE_ESCHEMA if it was another
 * one, or none. */
GBOSE_API int gbose_load_for(gbose **out, const void *buf, size_t size, const gbose_schema *schema,
                             gbose_error *err);

/* gbose_grow() from a schema to one that only appends terms (gbose_schema_compatible()): a learner for
 * `now` that knows all that g knows, as if what is new, features of the round too, had been 0 in every
 * round. g is unchanged. Tickets of g cannot be learned by the new learner: learn them first.
 * GBOSE_ESCHEMA if g was not made for `before`, or if `now` does more than append terms, or has more
 * columns of the round than the learner takes. Other errors are those of gbose_grow(). */
GBOSE_API int gbose_grow_for(gbose **out, const gbose *g, const gbose_schema *before, const gbose_schema *now,
                             gbose_error *err);

/* ---- a schema from data -------------------------------------------------------------------------------- */

/* What features have been like: types, scales and values can be proposed from it, once, and are then
 * fixed. */
typedef struct gbose_fit gbose_fit;

/* GBOSE_EINVAL if out is NULL, GBOSE_ENOMEM. Free it with gbose_fit_free(), to which NULL may be passed. */
GBOSE_API int gbose_fit_new(gbose_fit **out, gbose_error *err);
GBOSE_API void gbose_fit_free(gbose_fit *fit);

/* Take in a round, as gbose_encode() takes it; features need names. GBOSE_EINVAL if a pointer is NULL or a
 * feature has no name, GBOSE_ENOMEM: it may then hold a part of the round. */
GBOSE_API int gbose_fit_add(gbose_fit *fit, const gbose_features *shared, const gbose_features *actions,
                            size_t n_arms, gbose_error *err);

/* Propose a schema: its text with comments, to be read and edited by a person; gbose_schema_new() accepts
 * it as it is.
 *   size  set to the number of bytes written, the final zero included, or needed.
 * GBOSE_EBUFFER if capacity is too small (nothing is written), GBOSE_EINVAL if a pointer is NULL,
 * GBOSE_ENOMEM; GBOSE_EVALUE if no feature of an action was ever given, without which there is nothing to
 * choose by. */
GBOSE_API int gbose_fit_text(const gbose_fit *fit, char *buf, size_t capacity, size_t *size,
                             gbose_error *err);

#ifdef __cplusplus
}
#endif

#endif
