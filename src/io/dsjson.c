/* A line of dsjson, the log format of Vowpal Wabbit and Azure Personalizer.
 *
 *   a, p             arms from 1 in some order, the played one first, and their probabilities
 *   _label_cost      the reward, negative
 *   pdrop            the probability that the line was dropped. Writers have multiplied it into
 *                    _label_probability already, which is therefore not looked at when p is there, and
 *                    divided by what was kept when it is not
 *   c                features: those of the round, and in _multi those of each arm, in namespaces */
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
    double own;

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
    if (json_integer_value(action) < 1 || json_integer_value(action) > (json_int_t)n)
        return gbose__fail(err, GBOSE_EINVAL, "'_label_Action' must be from 1 to %zu, as '_multi' has arms",
                           n);
    r->arm = (size_t)json_integer_value(action) - 1;
    r->partial = n > 1;
    own = json_number_value(label) / r->kept;
    for (size_t i = 0; i < n; i++)
        r->pmf[i] = i == r->arm ? own : (1 - own) / (double)(n - 1);
    return GBOSE_OK;
}

/* Put the values of one object of features into another. A namespace may be an object, or a list of objects,
 * as Personalizer has it; keys that begin with '_' are about the line, not features. Values that are in no
 * namespace go to `loose`. GBOSE_OK or GBOSE_ENOMEM. */
static int put_features(json_t *to, json_t *loose, const json_t *from)
{
    const char *key;
    json_t *value, *part;
    size_t i;

    json_object_foreach((json_t *)(uintptr_t)from, key, value)
    {
        if (*key == '_')
            continue;
        if (json_is_object(json_array_get(value, 0))) {
            json_t *merged = json_object();

            json_array_foreach(value, i,
                               part) if (json_is_object(part) &&
                                         json_object_update(merged, part)) return json_decref(merged),
                GBOSE_ENOMEM;
            if (json_object_set_new(to, key, merged))
                return GBOSE_ENOMEM;
        } else if (json_object_set(json_is_object(value) ? to : loose, key, value)) {
            return GBOSE_ENOMEM;
        }
    }
    return GBOSE_OK;
}

/* The context as io/features.h takes it: `_multi` is `actions`, and what is in no namespace is of a scope
 * `shared`. */
static int take_features(struct gbose__record *r, const json_t *c, gbose_error *err)
{
    const json_t *multi = json_object_get(c, "_multi");
    json_t *actions = json_array(), *shared = json_object();
    int rc;

    r->features = json_object();
    r->has_features = 1;
    rc = !r->features || !actions || !shared ? GBOSE_ENOMEM : put_features(r->features, shared, c);
    for (size_t i = 0; i < json_array_size(multi) && !rc; i++) {
        json_t *action = json_object();

        rc = put_features(action, action, json_array_get(multi, i));
        if (json_array_append_new(actions, action))
            rc = GBOSE_ENOMEM;
    }
    if (json_object_size(shared) && json_object_set(r->features, "shared", shared))
        rc = GBOSE_ENOMEM;
    json_decref(shared);
    if (json_object_set_new(r->features, "actions", actions))
        rc = GBOSE_ENOMEM;
    return rc ? gbose__no_memory(err) : GBOSE_OK;
}

/* What an arm is called: `id`, or `_tag`, or the `id` in Personalizer's namespace `i`. */
static const char *id_of(const json_t *arm)
{
    const char *id = text_of(arm, "id");

    id = id ? id : text_of(arm, "_tag");
    return id ? id : text_of(json_object_get(arm, "i"), "id");
}

int gbose__dsjson_read(struct gbose__record *r, const char *line, size_t length, int features_only,
                       gbose_error *err)
{
    json_t *doc = gbose__json_parse(line, length, err);
    const json_t *c, *cost, *drop, *multi;
    size_t n;
    int rc;

    if (!doc)
        return err->code;
    r->document = doc;
    c = json_object_get(doc, "c");
    cost = json_object_get(doc, "_label_cost");
    drop = json_object_get(doc, "pdrop");
    multi = json_object_get(c, "_multi");
    n = json_array_size(multi);
    if (!json_is_object(doc) || !n)
        return gbose__fail(err, GBOSE_EINVAL, "'c' must be an object with the arms in its list '_multi'");
    rc = take_features(r, c, err);
    if (rc || features_only)
        return rc;
    r->kept = json_is_number(drop) ? 1 - json_number_value(drop) : 1;
    rc = take_pmf(r, doc, n, err);
    if (rc)
        return rc;
    if (r->n_arms != n)
        return gbose__fail(err, GBOSE_EINVAL, "'a' has %zu entries, and '_multi' %zu", r->n_arms, n);
    r->id = text_of(doc, "EventId");
    r->time = text_of(doc, "Timestamp");
    if (json_is_number(cost) && !json_is_true(json_object_get(doc, "_skipLearn"))) {
        r->has_reward = 1;
        r->reward = 0 - json_number_value(cost);
    }
    for (size_t i = 0; i < n; i++) {
        const char *id = id_of(json_array_get(multi, i));

        if (id && i == r->n_ids && gbose__record_push_arm(r, id))
            return gbose__no_memory(err);
    }
    if (r->n_ids != n)
        r->n_ids = 0;
    return gbose__record_check(r, err);
}
