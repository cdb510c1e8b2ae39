/* Logs of every format: each line is a record with probabilities for its arms, or is refused with its
 * place; and reading goes on behind it. */
#include "texts.h"

#include <math.h>

#include "io/logfile.h"

static const gbose_schema *schema(void)
{
    static gbose_schema *made;

    if (!made)
        require(!gbose_schema_new(&made,
                                  "action.id category a, b\naction.price number\nuser.age number\n"
                                  "arm = 1*id price id*age\nround = age\n",
                                  NULL));
    return made;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum gbose__log_format formats[] = {GBOSE__LOG_AUTO, GBOSE__LOG_JSON, GBOSE__LOG_DSJSON,
                                                     GBOSE__LOG_CSV, GBOSE__LOG_OBD};
    struct gbose__log_options options = {0};
    const struct gbose__record *r;
    struct gbose__log *log = NULL;
    gbose_error err;
    int rc;

    if (!size)
        return 0;
    options.format = formats[data[0] % 5];
    options.keep_features = data[0] / 5 % 2;
    options.features_only = data[0] / 10 % 2;
    options.schema = data[0] / 20 % 2 ? schema() : NULL;
    options.any_schema = data[0] / 40 % 2;
    rc = gbose__log_open(&log, file_of("log", data + 1, size - 1), &options, &err);
    if (rc) {
        check_refusal(rc, &err);
        return 0;
    }
    for (int n = 0; n < 1000 && (rc = gbose__log_next(log, &r, &err)) != 0; n++)
        if (rc < 0) {
            check_refusal(rc, &err);
            if (rc != GBOSE_EINVAL)
                break;
        } else if (options.features_only) {
            require(r->features && r->n_arms == 0);
        } else {
            require(r->n_arms > 0 && r->arm < r->n_arms && (!r->n_ids || r->n_ids == r->n_arms));
            for (size_t i = 0; i < r->n_arms; i++)
                require(isfinite(r->pmf[i]) && r->pmf[i] >= 0);
            for (size_t i = 0; i < r->n_arms * r->dim; i++)
                require(isfinite(r->x[i]));
        }
    gbose__log_close(log);
    return 0;
}
