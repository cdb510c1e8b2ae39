/* Learners made for a schema: they take its columns, and carry its hash in their states and tickets. */
#include <string.h>

#include "core/error.h"
#include "core/spec.h"
#include "encode/schema.h"
#include "learners/learner.h"

/* The place of the option `round` among a learner's options, or n_options. */
static size_t round_option(const gbose_info *info)
{
    size_t i = 0;

    while (i < info->n_options && strcmp(info->options[i].name, "round"))
        i++;
    return i;
}

/* The spec with `round` set to the schema's features of the round, if the learner has that option; the
 * spec itself may say `said` of them, or nothing. */
static int spec_for(char *out, const char *spec, const gbose_schema *schema, size_t said, gbose_error *err)
{
    struct gbose__value value[GBOSE__MAX_OPTIONS];
    const gbose_info *info;
    size_t which, i, n = gbose_schema_round(schema);
    int rc = gbose__spec_parse(&which, value, spec, &gbose__learners, err);

    if (rc)
        return rc;
    info = gbose__learners.at(which);
    i = round_option(info);
    if (i < info->n_options) {
        if (value[i].integer && value[i].integer != said)
            return gbose__fail(err, GBOSE_ESPEC,
                               "the schema has %zu features of the round; leave out round=%llu", n,
                               (unsigned long long)value[i].integer);
        if ((double)n > info->options[i].max)
            return gbose__fail(err, GBOSE_ESCHEMA,
                               "the schema has %zu columns of the round; %s takes at most %g", n, info->name,
                               info->options[i].max);
        value[i].integer = n;
    }
    return gbose__spec_write(out, info, value, NULL) ? gbose__no_memory(err) : GBOSE_OK;
}

int gbose_new_for(gbose **out, const char *spec, const gbose_schema *schema, gbose_error *err)
{
    char full[GBOSE__MAX_SPEC];
    int rc;

    if (!out || !spec || !schema)
        return gbose__fail_plainly(err, GBOSE_EINVAL);
    rc = spec_for(full, spec, schema, gbose_schema_round(schema), err);
    return rc ? rc : gbose__new(out, full, gbose_schema_dim(schema), gbose_schema_hash(schema), err);
}

static int another_schema(gbose_error *err, const char *what, uint64_t its, const gbose_schema *schema)
{
    if (!its)
        return gbose__fail(err, GBOSE_ESCHEMA, "%s was made without a schema", what);
    return gbose__fail(err, GBOSE_ESCHEMA, "%s was made for the schema %016llx, not for this one, %016llx",
                       what, (unsigned long long)its, (unsigned long long)gbose_schema_hash(schema));
}

int gbose_load_for(gbose **out, const void *buf, size_t size, const gbose_schema *schema, gbose_error *err)
{
    gbose *g = NULL;
    int rc;

    if (!out || !schema)
        return gbose__fail_plainly(err, GBOSE_EINVAL);
    rc = gbose_load(&g, buf, size, err);
    if (!rc && gbose_schema_of(g) != gbose_schema_hash(schema))
        rc = another_schema(err, "the saved state", gbose_schema_of(g), schema);
    if (rc)
        gbose_free(g);
    else
        *out = g;
    return rc;
}

int gbose_grow_for(gbose **out, const gbose *g, const gbose_schema *before, const gbose_schema *now,
                   gbose_error *err)
{
    char spec[GBOSE__MAX_SPEC];
    int rc;

    if (!out || !g || !before || !now)
        return gbose__fail_plainly(err, GBOSE_EINVAL);
    if (gbose_schema_of(g) != gbose_schema_hash(before))
        return another_schema(err, "the learner", gbose_schema_of(g), before);
    rc = gbose_schema_compatible(before, now, err);
    if (!rc)
        rc = spec_for(spec, gbose_spec(g), now, gbose_schema_round(before), err);
    return rc ? rc : gbose__grow(out, g, spec, gbose_schema_dim(now), gbose_schema_hash(now), err);
}
