#include "logs/estimators.h"

#include <math.h>

void gbose__estimators_add(struct gbose__estimators *s, double w, double r, double q, double q_pi,
                           double switch_at, double shrink)
{
    double off = r - q;

    s->n++;
    s->w += w;
    s->w2 += w * w;
    s->r += r;
    s->wr += w * r;
    s->w2r += w * w * r;
    s->q_pi += q_pi;
    s->correction += w * off;
    s->switched += w <= switch_at ? w * off : 0;
    s->shrunk += w > 0 ? shrink / (w + shrink / w) * off : 0; /* shrink w / (w^2 + shrink), without w^2 */
    if (w > s->largest)
        s->largest = w;
}

/* The empirical likelihood estimator of the Cressie-Read family of order -2 (Karampatziakis, Langford,
 * Mineiro, "Empirical likelihood for contextual bandits", NeurIPS 2020): the least change of the rounds'
 * weights that makes the mean of w one, w being known to be in [0, infinity). A phantom round at the end of
 * that range carries what is left over, with the mean reward. */
static double cressie_read(const struct gbose__estimators *s)
{
    double n = s->n, a, b, gamma, beta, left;

    if (s->w < n) { /* the phantom weight is infinite */
        gamma = -(n + 1) / n;
        beta = 0;
    } else {
        a = s->w / (n + 1);
        b = s->w2 / (n + 1);
        if (!(fabs(a * a - b) > 0))
            return s->r / n;
        gamma = (b - a) / (a * a - b);
        beta = (1 - a) / (a * a - b);
    }
    left = 1 - (-gamma * s->w - beta * s->w2) / (n + 1);
    return (-gamma * s->wr - beta * s->w2r) / (n + 1) + (left > 0 ? left : 0) * s->r / n;
}

void gbose__estimators_report(const struct gbose__estimators *s, gbose_policy_value *out)
{
    double dm = s->q_pi / s->n;

    out->rounds = (uint64_t)s->n;
    out->ips = s->wr / s->n;
    out->snips = s->w > 0 ? s->wr / s->w : NAN;
    out->dm = dm;
    out->dr = dm + s->correction / s->n;
    out->sndr = s->w > 0 ? dm + s->correction / s->w : NAN;
    out->switch_dr = dm + s->switched / s->n;
    out->dr_os = dm + s->shrunk / s->n;
    out->cressie_read = cressie_read(s);
    out->effective = s->w2 > 0 ? s->w * s->w / s->w2 : 0;
    out->largest = s->largest;
}
