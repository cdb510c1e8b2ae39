#include "learners/linear.h"

int gbose__linear_init(gbose *g)
{
    size_t dim = g->dim + (gbose__learner_option(g, "intercept")->integer ? 1 : 0);

    return gbose__learner_fit(g, dim, gbose__learner_option(g, "lambda")->number);
}

void gbose__linear_explain(const gbose *g, const struct gbose__input *in, const double *pmf, size_t arm,
                           struct gbose__ticket *to)
{
    (void)g;
    (void)pmf;
    gbose__ticket_term(to, 0, 1, 1, 0, gbose__context(in, arm));
}
