#include "logs/sequences.h"

#include <math.h>

#include "core/stats.h"

#define RHO 1.0 /* of the gamma law: one unit of the terms' variance */
#define LOG_LOWER_RHO                                                                                        \
    -0.45867514538708189 /* log of the lower incomplete gamma function at (RHO, RHO): 1 - 1/e */
#define TERMS_LEAST 50.0 /* terms that are not zero, before a sum of them is taken as normal */
#define SHARE_MOST 0.1   /* of all spread, that a single draw may have had */
#define STEPS 100
#define PRECISE 1e-13 /* relative, of a bound */

/* ---- terms that are not negative ---- */

void gbose__lower_add(struct gbose__lower *s, double x)
{
    double expected = (s->sum + 0.5) / (s->n + 1), off = x - (expected < 1 ? expected : 1);

    s->squares += off * off;
    s->sum += x;
    s->n++;
}

/* S + V - a log x + l(a, x) with a = V + RHO and x = a + S: terms of the order of V log V, which cancel. */
double gbose__gamma_mixture(double S, double V)
{
    return gbose__stats_log_gamma_scaled(V + RHO, S) - RHO - LOG_LOWER_RHO; /* RHO log RHO is 0 */
}

double gbose__lower_evidence(const struct gbose__lower *s, double m)
{
    return gbose__gamma_mixture(s->sum - s->n * m, s->squares);
}

/* Where log K = enough, between S = 0, where it is less, and S = most, where it is not: by false position, with
 * the Illinois rule, in an interval about where a normal mixture would cross. */
static double crossing(double V, double enough, double most)
{
    double low = 0, high = fmin(most, enough + sqrt((V + RHO) * (2 * enough + gbose__log(V + RHO) + 2)));
    double f_low = gbose__gamma_mixture(low, V) - enough, f_high = gbose__gamma_mixture(high, V) - enough;
    int side = 0;

    while (f_high < 0 && high < most) {
        low = high;
        f_low = f_high;
        high = fmin(most, 1.25 * high);
        f_high = gbose__gamma_mixture(high, V) - enough;
    }
    for (int i = 0; i < STEPS && high - low > PRECISE * high; i++) {
        double S = low + (high - low) * (f_low / (f_low - f_high)), f;

        if (!(S > low && S < high))
            S = low + (high - low) / 2;
        f = gbose__gamma_mixture(S, V) - enough;
        if (f >= 0) {
            high = S;
            f_high = f;
            f_low *= side > 0 ? 0.5 : 1;
            side = 1;
        } else {
            low = S;
            f_low = f;
            f_high *= side < 0 ? 0.5 : 1;
            side = -1;
        }
    }
    return high;
}

double gbose__lower_bound(const struct gbose__lower *s, double alpha)
{
    double enough = -gbose__log(alpha);

    if (!(s->n > 0) || !(gbose__lower_evidence(s, 0) >= enough))
        return 0;
    return fmax(0, s->sum - crossing(s->squares, enough, s->sum)) / s->n;
}

double gbose__known_excess(double n, double V, double alpha)
{
    double enough = -gbose__log(alpha), high = 1 + sqrt(2 * V * enough);

    while (gbose__gamma_mixture(high, V) < enough)
        high *= 2;
    return crossing(V, enough, high) / n;
}

/* ---- terms of any sign ---- */

void gbose__running_add(struct gbose__running *s, double term, double error, double spread, double reach,
                        double horizon)
{
    s->n++;
    s->sum += term;
    s->squares += error * error;
    s->terms += error != 0;
    s->spread += spread;
    if (reach > s->reach)
        s->reach = reach;
    if (!(s->unit > 0) && s->terms >= TERMS_LEAST && s->reach <= SHARE_MOST * s->spread)
        s->unit = s->squares / s->n * horizon;
}

double gbose__running_radius(const struct gbose__running *s, double alpha)
{
    return s->unit > 0 ? gbose__stats_mixture_radius(s->squares, s->unit, alpha) / s->n : INFINITY;
}
