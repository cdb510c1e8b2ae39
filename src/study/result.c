#include "study/result.h"

/* regret, reward, lone, and the curve as doubles, so that all are whole words */
size_t gbose__result_size(size_t n_points)
{
    return 8 * (3 + n_points);
}

void gbose__result_write(struct gbose__writer *w, const struct gbose__result *result, size_t n_points)
{
    gbose__put_double(w, result->regret);
    gbose__put_double(w, result->reward);
    gbose__put_double(w, result->lone);
    for (size_t i = 0; i < n_points; i++)
        gbose__put_double(w, (double)result->curve[i]);
}

void gbose__result_read(struct gbose__reader *r, struct gbose__result *result, size_t n_points)
{
    result->regret = gbose__get_double(r);
    result->reward = gbose__get_double(r);
    result->lone = gbose__get_double(r);
    for (size_t i = 0; i < n_points; i++)
        result->curve[i] = (float)gbose__get_double(r);
}
