/* GET diagnosis: what the learner has found out about the place it works in. */
#include "serve/service.h"

void gbose__route_diagnosis(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    struct gbose__model *model = gbose__bandit_model(args->bandit, NULL);
    gbose_diagnosis d;
    int rc = gbose_diagnose(model->g, &d);

    if (rc) {
        gbose__answer_error(x, rc == GBOSE_ENOMEM ? 503 : 409, rc == GBOSE_ENOMEM ? "no_memory" : "not_kept",
                            "", "%s",
                            rc == GBOSE_ENOMEM ? "out of memory" : "only gbose-auto can be diagnosed");
        gbose__model_release(model);
        return;
    }
    x->status = 200;
    gbose__text_add(&x->out, "{\"rounds\": ");
    gbose__text_integer(&x->out, d.rounds);
    {
        const struct {
            const char *name;
            double value;
        } number[] = {{"baseline", d.baseline},
                      {"drift", d.drift},
                      {"residual", d.residual},
                      {"removed", d.removed},
                      {"tracker_forget", d.tracker_forget},
                      {"lone", d.lone},
                      {"hausman", d.hausman},
                      {"df", d.df},
                      {"p_value", d.p_value},
                      {"bias", d.bias},
                      {"bias_noise", d.bias_noise}};

        for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
            gbose__text_format(&x->out, ", \"%s\": ", number[i].name);
            gbose__text_number(&x->out, number[i].value);
        }
    }
    gbose__text_add(&x->out, ", \"tracker\": ");
    gbose__text_quoted(&x->out, d.tracker);
    gbose__text_format(&x->out, ", \"full\": %s, \"misled\": %s}\n", d.full ? "true" : "false",
                       d.misled ? "true" : "false");
    gbose__model_release(model);
}
