/* Coefficients that the normal law is computed with, one value at a time (normal.c) and many
 * (kernels_body.h): both must do the same operations in the same order. */
#ifndef GBOSE_CORE_NORMAL_TABLES_H
#define GBOSE_CORE_NORMAL_TABLES_H

#define LN2_HIGH 0x1.62e42fefa3800p-1 /* ln 2 with its last 11 bits zero: k LN2_HIGH is exact */
#define LN2_LOW 0x1.ef35793c76730p-45
#define SQRT_HALF 0x1.6a09e667f3bcdp-1

/* log m = 2 atanh s = 2 (s + s^3 / 3 + ...), s = (m - 1) / (m + 1), where m is in [sqrt 1/2, sqrt 2), |s|
 * < 0.172 */
static const double log_odd[] = {1.0,      1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9, 1.0 / 11,
                                 1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21};

/* Wichura's algorithm AS 241 (Applied Statistics 37, 1988), routine PPND16: for |q| = |p - 1/2| at most
 * QUANTILE_CENTRE in q, and beyond in r = sqrt(-log p), up to QUANTILE_TAIL and from there. */
#define QUANTILE_CENTRE 0.425
#define QUANTILE_TAIL 5

/* clang-format off */
static const double centre_top[] = {
    3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
    4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3};
static const double centre_bottom[] = {
    1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
    2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3};
static const double tail_top[] = {
    1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
    1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4};
static const double tail_bottom[] = {
    1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
    1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9};
static const double far_top[] = {
    6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
    2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7};
static const double far_bottom[] = {
    1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
    7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15};
/* clang-format on */

/* The same in single precision, routine PPND7, for p down to 2^-33. */
static const float rough_centre_top[] = {3.3871327179F, 50.434271938F, 159.29113202F, 59.109374720F};
static const float rough_centre_bottom[] = {1.0F, 17.895169469F, 78.757757664F, 67.187563600F};
static const float rough_tail_top[] = {1.4234372777F, 2.7568153900F, 1.3067284816F, 0.17023821103F};
static const float rough_tail_bottom[] = {1.0F, 0.73700164250F, 0.12021132975F};

#endif
