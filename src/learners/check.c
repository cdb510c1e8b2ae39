/* What is wrong with an input or a ticket, in words for a person. */
#include "learners/learner.h"

#include <math.h>
#include <stdio.h>

#include "core/error.h"

/* A number that is not accepted. */
static const char *describe(char *buf, size_t size, double x)
{
    if (isnan(x))
        return "NaN";
    if (isinf(x))
        return x > 0 ? "infinity" : "-infinity";
    snprintf(buf, size, "%.3g (more than 1e30 in magnitude)", x);
    return buf;
}

static int is_fit(double x)
{
    return fabs(x) <= GBOSE_MAX_INPUT;
}

/* The first number that is not accepted; GBOSE_OK if there is none. */
static int check_numbers(const gbose *g, const gbose_input *in, gbose_error *err)
{
    char text[64];

    for (size_t i = 0; i < g->round_features; i++)
        if (!is_fit(in->round[i]))
            return gbose__fail(err, GBOSE_ENUMERIC, "feature %zu of the round is %s", i,
                               describe(text, sizeof text, in->round[i]));
    for (size_t i = 0; i < in->n_arms; i++)
        for (size_t k = 0; k < g->dim; k++) {
            double x = in->contexts[i * g->dim + k];

            if (!is_fit(x))
                return gbose__fail(err, GBOSE_ENUMERIC, "the context of arm %zu has %s as its feature %zu", i,
                                   describe(text, sizeof text, x), k);
        }
    return GBOSE_OK;
}

/* Whether the learner can score these arms: it is tried, in memory of its own. */
static int check_scores(const gbose *g, const gbose_input *in, gbose_error *err)
{
    gbose_scratch *scratch;
    int rc = gbose_scratch_new(&scratch);

    if (rc)
        return gbose__fail_plainly(err, rc);
    rc = gbose__round_reserve(g, scratch, in->n_arms);
    if (!rc)
        rc = gbose__round_prepare(g, scratch, in);
    gbose_scratch_free(scratch);
    if (rc == GBOSE_ENUMERIC)
        return gbose__fail(err, rc,
                           "an arm's score is beyond 1e250: contexts and rewards of absurd sizes were mixed");
    return rc ? gbose__fail_plainly(err, rc) : GBOSE_OK;
}

int gbose_check_input(const gbose *g, const gbose_input *in, gbose_error *err)
{
    int rc;

    if (!g || !in)
        return gbose__fail_plainly(err, GBOSE_EINVAL);
    if (!in->contexts)
        return gbose__fail(err, GBOSE_EINVAL, "there are no contexts");
    if (!in->n_arms)
        return gbose__fail(err, GBOSE_EINVAL, "a round needs at least one arm");
    if (g->round_features && !in->round)
        return gbose__fail(err, GBOSE_EINVAL,
                           "the learner needs %zu features of the round, and there are none",
                           g->round_features);
    if (in->n_arms > SIZE_MAX / sizeof(double) / g->dim)
        return gbose__fail_plainly(err, GBOSE_ESIZE);
    rc = check_numbers(g, in, err);
    if (!rc)
        rc = check_scores(g, in, err);
    if (!rc)
        gbose__fail(err, GBOSE_OK, "%s", "");
    return rc;
}

int gbose_check_reward(const gbose *g, const void *ticket, size_t size, double reward, gbose_error *err)
{
    gbose_ticket_info info;
    char text[64];
    int rc;

    if (!g || !ticket)
        return gbose__fail_plainly(err, GBOSE_EINVAL);
    rc = gbose__ticket_check(g, ticket, size, reward);
    if (rc == GBOSE_ENUMERIC)
        return gbose__fail(err, rc, "the reward is %s", describe(text, sizeof text, reward));
    if (rc == GBOSE_EFOREIGN && !gbose_ticket_read(&info, ticket, size) && info.dim != g->dim)
        return gbose__fail(err, rc, "the ticket is of a decision with %zu features; the learner has %zu",
                           info.dim, g->dim);
    if (rc == GBOSE_OK)
        return gbose__fail(err, rc, "%s", "");
    return gbose__fail_plainly(err, rc);
}
