#include "learners/linear.h"

void gbose__linear_explain(const gbose *g, struct gbose__round *round, size_t arm)
{
    gbose__term(g, round, 1, 1, round->context + arm * round->stride);
}
