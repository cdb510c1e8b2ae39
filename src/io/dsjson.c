/* A line of dsjson, the log format of Vowpal Wabbit and Azure Personalizer.
 *
 *   a, p             arms from 1 in some order, the played one first, and their probabilities
 *   _label_cost      the reward, negative
 *   pdrop            the probability that the line was dropped. Writers have multiplied it into
 *                    _label_probability already, which is therefore not looked at when p is there
 *   c                features: those of the round, and in _multi those of each arm */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "io/json.h"
#include "io/record.h"

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* `p` and `a`, or the played arm's probability alone. */
static int take_pmf(struct gbose__record *r, const json_t *doc, size_t n, gbose_error *err)
{
    const json_t *a = json_object_get(doc, "a"), *p = json_object_get(doc, "p");
    const json_t *action = json_object_get(doc, "_label_Action"),
                 *label = json_object_get(doc, "_label_probability");
    size_t listed = json_array_size(a);

    if (listed && json_array_size(p) != listed)
        return gbose__fail(err, GBOSE_EINVAL, "'a' has %zu entries, and 'p' %zu", listed, json_array_size(p));
    n = listed ? listed : n;
    r->n_arms = n;
    for (size_t i = 0; i < n; i++)
        if (gbose__record_push(&r->pmf, &r->pmf_room, i, -1))
            return gbose__no_memory(err);
    for (size_t i = 0; i < listed; i++) {
        json_int_t arm = json_integer_value(json_array_get(a, i));

        if (arm < 1 || (size_t)arm > n || r->pmf[arm - 1] >= 0)
            return gbose__fail(err, GBOSE_EINVAL, "'a' must hold every number from 1 to %zu once", n);
        r->pmf[arm - 1] = json_number_value(json_array_get(p, i));
        if (i == 0)
            r->arm = (size_t)arm - 1;
    }
    if (listed)
        return GBOSE_OK;
    if (!json_is_integer(action) || !json_is_number(label))
        return gbose__fail(err, GBOSE_EINVAL,
                           "'a' and 'p' are missing, and so are '_label_Action' and '_label_probability'");
    r->arm = (size_t)json_integer_value(action) - 1;
    r->partial = n > 1;
    for (size_t i = 0; i < n; i++) {
        double own = json_number_value(label);
        r->pmf[i] = i == r->arm ? n > 1 ? own : 1 : (1 - own) / (double)(n - 1);
    }
    return GBOSE_OK;
}

/* The context with `_multi` under the name that io/features.h knows. */
static int take_features(struct gbose__record *r, const json_t *c, gbose_error *err)
{
    json_t *actions = json_object_get(c, "_multi");

    r->features = json_copy((json_t *)c);
    if (!r->features || json_object_set(r->features, "actions", actions) ||
        json_object_del(r->features, "_multi"))
        return gbose__no_memory(err);
    r->has_features = 1;
    return GBOSE_OK;
}

int gbose__dsjson_read(struct gbose__record *r, const char *line, size_t length, gbose_error *err)
{
    json_t *doc = gbose__json_parse(line, length, err);
    const json_t *c, *cost, *drop;
    size_t n;
    int rc;

    if (!doc)
        return err->code;
    r->document = doc;
    c = json_object_get(doc, "c");
    cost = json_object_get(doc, "_label_cost");
    drop = json_object_get(doc, "pdrop");
    n = json_array_size(json_object_get(c, "_multi"));
    if (!json_is_object(doc) || !n)
        return gbose__fail(err, GBOSE_EINVAL, "'c' must be an object with the arms in its list '_multi'");
    rc = take_pmf(r, doc, n, err);
    rc = rc ? rc : take_features(r, c, err);
    if (rc)
        return rc;
    if (r->n_arms != n)
        return gbose__fail(err, GBOSE_EINVAL, "'a' has %zu entries, and '_multi' %zu", r->n_arms, n);
    r->id = text_of(doc, "EventId");
    r->time = text_of(doc, "Timestamp");
    r->kept = json_is_number(drop) ? 1 - json_number_value(drop) : 1;
    if (json_is_number(cost) && !json_is_true(json_object_get(doc, "_skipLearn"))) {
        r->has_reward = 1;
        r->reward = 0 - json_number_value(cost);
    }
    for (size_t i = 0; i < n; i++) {
        const char *id = text_of(json_array_get(json_object_get(c, "_multi"), i), "id");

        if (id && i == r->n_ids && gbose__record_push_arm(r, id))
            return gbose__no_memory(err);
    }
    if (r->n_ids != n)
        r->n_ids = 0;
    return gbose__record_check(r, err);
}
