/* Confidence sequences: intervals that hold at all times together, however often one looks.
 *
 * lower      For terms X >= 0 of any size, whose mean given the past may move: a lower bound for the running
 *            average of those means. The mixture of exponential supermartingales by a gamma law (Howard,
 *            Ramdas, McAuliffe, Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences",
 *            Annals of Statistics 2021), with
 *
 *                S = sum X - n m,  V = sum (X_i - Xhat_{i-1})^2,  Xhat_i = min(1, (X_1 + ... + X_i + 1/2) /
 *                (i + 1)) log K = S + V + rho log rho - (V + rho) log(S + V + rho)
 *                        + l(V + rho, S + V + rho) - l(rho, rho),     rho = 1,
 *
 *            l(a, x) the logarithm of the lower incomplete gamma function. m is excluded when log K >=
 *            log(1/alpha). Xhat is at most 1 because X - Xhat must be at least -1. Needs no bound on X from
 *            above.
 * known      For terms of which range and variance given the past are known, as they are for everything that
 *            policy and log alone decide: log K again, with V the sum of those variances, for terms at most 1
 *            above their mean.
 * running    For any terms: an interval for the running average of their means, by the normal mixture
 *
 *                |S| <= sqrt((V + u) log((V + u) / (u alpha^2))),   V = sum of squared errors,
 *
 *            exact when the errors are symmetric (de la Pena, 1999), and otherwise when many terms share the
 *            variance, so it begins after a burn-in. u is set at its end, so that the interval is tightest
 *            about `horizon` rounds. */
#ifndef GBOSE_LOGS_SEQUENCES_H
#define GBOSE_LOGS_SEQUENCES_H

struct gbose__lower {
    double n, sum, squares;
};

void gbose__lower_add(struct gbose__lower *s, double x);

/* log K for the sum S of terms less their means, and V. */
double gbose__gamma_mixture(double S, double V);

/* log K at the mean m: when it is at least log(1 / alpha), m is excluded. */
double gbose__lower_evidence(const struct gbose__lower *s, double m);

/* The least m >= 0 that is not excluded at alpha; 0 before the first term. */
double gbose__lower_bound(const struct gbose__lower *s, double alpha);

/* By how much the mean of n terms with known variances, V together, may exceed the average of the terms: how
 * far below their means they may have been, when none can be lower than its mean by more than 1. */
double gbose__known_excess(double n, double V, double alpha);

struct gbose__running {
    double n, sum, squares;
    double terms; /* those whose error was not zero */
    double
        spread; /* sum of what a squared factor was expected to be, and the largest that it could have been */
    double reach;
    double unit; /* u, per unit of (-2 log alpha + log(1 - 2 log alpha)); 0 during the burn-in */
};

/* A term, and its error: what of it was not known before the draw. The error is a factor that only the draw
 * decides times something else; spread is the factor's expected square, and reach the largest square that it
 * could have had. The burn-in lasts until no single draw could have had more than a tenth of all spread: a
 * policy that rests on arms too rare to have been seen is not judged by the arms that were. */
void gbose__running_add(struct gbose__running *s, double term, double error, double spread, double reach,
                        double horizon);

/* Half the width of the interval about sum / n; infinite during the burn-in. */
double gbose__running_radius(const struct gbose__running *s, double alpha);

#endif
