#include "learners/auto/doubt.h"

/* The arm for which the orthogonal estimate has most to say that the full one denies. */
static size_t most_disputed(const struct gbose__input *in, size_t best)
{
    size_t rival = best ? 0 : 1;

    for (size_t i = 0; i < in->n; i++)
        if (i != best && in->score[i] - in->other_score[i] > in->score[rival] - in->other_score[rival])
            rival = i;
    return rival;
}

int gbose__doubt_finds(const struct gbose__doubt *doubt, const struct gbose__tuning *tuning,
                       const struct gbose__input *in, size_t best, size_t *rival, double *scratch)
{
    const double *mine = gbose__context(in, best), *other;
    double lead;

    if (in->n < 2)
        return 0;
    *rival = most_disputed(in, best);
    if (!(in->other_score[best] - in->other_score[*rival] > tuning->bold_claim * doubt->residual))
        return 0;
    other = gbose__context(in, *rival);
    for (size_t j = 0; j < doubt->orthogonal->dim; j++)
        scratch[j] = mine[j] - other[j];
    lead = in->score[best] - in->score[*rival];
    return lead < tuning->confirmed * doubt->unit *
                      gbose__ridge_width(doubt->orthogonal, scratch, NULL, doubt->orthogonal->dim);
}
