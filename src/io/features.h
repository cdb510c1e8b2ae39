/* The features of a round as they come in, as gbose_encode() takes them. Whatever is read, a line of a log, a
 * row of a table or a request, becomes JSON first, so that the same data give the same bytes.
 *
 * In JSON a round is an object like
 *
 *     {"user": {"device": "ios", "address": {"city": "Bern"}}, "time": {"hour": 14},
 *      "actions": [{"price": 3, "tags": ["new", "red"]}, {"price": 4}]}
 *
 * `actions` is the list of arms; the feature price of one is called action.price. An action that is a text
 * or a number instead of an object is its action.id. Every other key that holds an object is a scope of
 * the round: user.device, user.address.city, time.hour. Other keys are passed over: they are not features.
 * true and false are texts of these words, null is missing, a list is all numbers or all texts. */
#ifndef GBOSE_IO_FEATURES_H
#define GBOSE_IO_FEATURES_H

#include <jansson.h>

#include "gbose_schema.h"

struct gbose__feature_chunk;

/* One for each thread; all zero at first, and used for any number of rounds. */
struct gbose__round_features {
    gbose_features shared;   /* of the round; these three are valid until the next round is begun */
    gbose_features *actions; /* of each arm */
    size_t n_arms;
    gbose_feature *feature; /* all of them, list after list */
    size_t n_features, feature_room;
    size_t *first; /* of each list: where it begins; the first list is `shared` */
    size_t n_lists, list_room;
    struct gbose__feature_chunk *chunks; /* of names and values; the one in use is the first */
};

/* Free its memory; it is then as at first. */
void gbose__features_clear(struct gbose__round_features *f);

/* A whole round from JSON. GBOSE_OK, GBOSE_ENOMEM; GBOSE_EINVAL with a text like "actions[2].price: a list
 * must be all numbers or all texts". What the document holds is copied. GBOSE_EINVAL if `record` is no
 * object or `actions` no list; there may be no actions. */
int gbose__features_from_json(struct gbose__round_features *f, const json_t *record, gbose_error *err);

#endif
