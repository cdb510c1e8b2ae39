/* The laws of core/stats.h against values of mpmath (series and continued fraction in 60 digits, checked
 * with its own incomplete gamma function), and against what defines them. */
#include "support/check.h"
#include "support/random.h"
#include "support/stats.h"

#include <math.h>

#include "core/stats.h"

/* ---- the gamma function ---- */

static void log_gamma_has_the_known_values(void **state)
{
    static const double known[][2] = {
        {0.01, 4.5994798780420217016},
        {0.5, 0.57236494292470008707},
        {1, 0},
        {1.5, -0.12078223763524522235},
        {2, 0},
        {3.7, 1.4280723266653881292},
        {9.99, 12.77931521435019336},
        {10, 12.801827480081469611},
        {57.3, 173.56386827969141894},
        {1e4, 82099.717496442377273},
        {1e8, 1742068066.1038347093},
    };

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_near(gbose__stats_log_gamma(known[i][0]), known[i][1], 1e-14 * fmax(1, fabs(known[i][1])));
}

/* What mpmath says, and 0 for what is below all doubles. */
struct known {
    double a, x, p, q, log_p, log_q;
};

static void check_value(double got, double expected, double a, double x, const char *what)
{
    double error = fabs(got - expected) / fmax(fabs(expected), 1e-300);

    assert_that(error < 1e-12, "%s(%g, %g) is %.17g, not %.17g: off by %.2g", what, a, x, got, expected,
                error);
}

static void incomplete_gamma_has_the_known_values(void **state)
{
    /* clang-format off */
    static const struct known known[] = {
        {0.01, 1e-06, 8.7593375983235330507e-1, 1.2406624016764669493e-1, -1.3246480753456075919e-1, -2.0869396611080263936},
        {0.01, 0.3, 9.9092760357823490695e-1, 9.0723964217650930477e-3, -9.1138012276431278313e-3, -4.7025188356669273006},
        {0.01, 0.9, 9.9737365674794884945e-1, 2.6263432520511505494e-3, -2.6297981419669456973e-3, -5.9421627987529525076},
        {0.01, 5, 9.9998824648058724915e-1, 1.175351941275084887e-5, -1.1753588485901377432e-5, -1.1351357837733176815e+1},
        {0.5, 1e-10, 1.1283791670578999555e-5, 9.99988716208329421e-1, -1.1392143227368316513e+1, -1.1283855333035135115e-5},
        {0.5, 0.2, 4.7291074313446192633e-1, 5.2708925686553807367e-1, -7.488486120296322476e-1, -6.4038537691559637761e-1},
        {0.5, 1.4, 9.0573569315878968746e-1, 9.4264306841210312544e-2, -9.9007744905767869181e-2, -2.3616526674502569495},
        {0.5, 30, 9.9999999999999051426e-1, 9.4857375710738483885e-15, -9.4857375710738933781e-15, -3.2288987032704741763e+1},
        {0.5, 600, 1.0, 6.099568814808433693e-263, -6.099568814808433693e-263, -6.037716613748501073e+2},
        {1.7, 0.001, 5.1390921118193812279e-6, 9.9999486090788818062e-1, -1.2178634126040213561e+1, -5.1391053169984898839e-6},
        {1.7, 2.6, 8.0101167844589854238e-1, 1.9898832155410145762e-1, -2.2187975218748010703e-1, -1.6145091416374968655},
        {1.7, 2.8, 8.3068223664328617336e-1, 1.6931776335671382664e-1, -1.8550794396597696398e-1, -1.775978072980127809},
        {3.25, 1e-30, 3.8168318201107919041e-99, 1.0, -2.266165034943698254e+2, -3.8168318201107919041e-99},
        {7.5, 7, 4.7447087023709112406e-1, 5.2552912976290887594e-1, -7.4555505325478869345e-1, -6.4334965773159867872e-1},
        {9.99, 11.5, 7.1227468159917600856e-1, 2.8772531840082399144e-1, -3.392916532046245919e-1, -1.2457490095131142373},
        {10, 10, 5.4207028552814779169e-1, 4.5792971447185220831e-1, -6.1235960785375468761e-1, -7.8103956849627799636e-1},
        {10.01, 3, 1.0884174161451007262e-3, 9.9891158258385489927e-1, -6.8230305495798437628, -1.0890101725309349765e-3},
        {33.3, 33, 5.0227553562615302987e-1, 4.9772446437384697013e-1, -6.8860643411829685958e-1, -6.9770863946563892835e-1},
        {33.3, 80, 9.9999999882311016031e-1, 1.1768898396899584783e-9, -1.1768898403824933262e-9, -2.0560390607194646416e+1},
        {33.3, 2, 6.0949350274403333078e-29, 1.0, -6.4967509593927883615e+1, -6.0949350274403333078e-29},
        {250, 200, 3.6207045828969313228e-4, 9.9963792954171030687e-1, -7.923671728918289565, -3.6213602162425150721e-4},
        {250, 251.5, 5.4607569718453414883e-1, 4.5392430281546585117e-1, -6.0499767331468994932e-1, -7.8982482872906790995e-1},
        {250, 400, 9.999999999999996823e-1, 3.1770076592385689056e-16, -3.1770076592385694103e-16, -3.5685421721780292884e+1},
        {250, 9, 1.4396157870508506302e-258, 1.0, -5.9370257772902523191e+2, -1.4396157870508506302e-258},
        {4000, 4100, 9.4218817621206256942e-1, 5.7811823787937430582e-2, -5.9550261922444632067e-2, -2.8505619604189816177},
        {4000, 3600, 3.0091725543027358843e-11, 9.9999999996990827446e-1, -2.4226770880868093159e+1, -3.0091725543480114816e-11},
        {4000, 9000, 1.0, 0, 0, -1.761568622620943943e+3},
        {4000, 100, 0, 1.0, -1.0860558489407178528e+4, 0},
        {100000.0, 100000.0, 5.0042052211036517669e-1, 4.9957947788963482331e-1, -6.9230648981872485334e-1, -6.9398857865679716536e-1},
        {100000.0, 102000.0, 9.9999999983493938641e-1, 1.6506061359362833963e-10, -1.6506061360725084271e-10, -2.2524708354373437778e+1},
        {100000.0, 98500.0, 9.382554994077995786e-7, 9.999990617445005922e-1, -1.3879243537602549075e+1, -9.3825593956976598604e-7},
        {1000000.0, 1000000.5, 5.0033245182627165768e-1, 4.9966754817372834232e-1, -6.9248249785790047263e-1, -6.9381230535895503649e-1},
        {1000000.0, 1010000.0, 1.0, 1.0606997477586901443e-23, -1.0606997477586901443e-23, -5.2900528309140249383e+1},
        {1000000.0, 970000.0, 4.9209087785911618951e-202, 1.0, -4.6352869556025424088e+2, -4.9209087785911618951e-202},
        {1000000.0, 5000000.0, 1.0, 0, 0, -2.3905713005544687653e+6},
    };
    /* clang-format on */

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct known *k = &known[i];

        check_value(gbose__stats_gamma_p(k->a, k->x), k->p, k->a, k->x, "P");
        check_value(gbose__stats_gamma_q(k->a, k->x), k->q, k->a, k->x, "Q");
        check_value(gbose__stats_log_gamma_p(k->a, k->x), k->log_p, k->a, k->x, "log P");
        check_value(gbose__stats_log_gamma_q(k->a, k->x), k->log_q, k->a, k->x, "log Q");
    }
}

/* P(a, x) - P(a + 1, x) = x^a e^-x / Gamma(a + 1), in long double: what the sums have in common drops out. */
static void incomplete_gamma_keeps_its_recurrence(void **state)
{
    struct random r = {5};

    (void)state;
    for (int t = 0; t < 20000; t++) {
        double a = pow(10, -1 + 4 * random_uniform(&r)), x = a * pow(10, random_uniform(&r) - 0.5);
        long double step = expl(a * logl(x) - x - lgammal(a + 1.0L));

        assert_near(gbose__stats_gamma_p(a, x) - gbose__stats_gamma_p(a + 1, x), step, 1e-13);
        assert_near(gbose__stats_gamma_q(a + 1, x) - gbose__stats_gamma_q(a, x), step, 1e-13);
        assert_near(gbose__stats_gamma_p(a, x) + gbose__stats_gamma_q(a, x), 1, 1e-15);
    }
}

/* gamma(a, x) e^x / x^a is the integral of u^(a-1) e^(x (1-u)) over u in (0, 1): with u = 1 - h, by Simpson's rule to where nothing
 * is left. */
static long double scaled_gamma(long double a, long double s)
{
    const int n = 400000;
    long double end = fminl(1, (fmaxl(0, s) / sqrtl(a) + 14) / sqrtl(a)), sum = 0, most = -INFINITY;

    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i <= n; i++) {
            long double h = end * i / n, below, exponent;
            int weight = i == 0 || i == n ? 1 : i % 2 ? 4 : 2;

            /* log(1 - h) + h, where they are nearly the same */
            below = h < 1e-3L ? -h * h * (0.5L + h * (1 / 3.0L + h * (0.25L + h * (0.2L + h / 6))))
                              : log1pl(-h) + h;
            exponent = (a - 1) * below + (s + 1) * h;
            if (i == n && h >= 1)
                continue;
            if (pass == 0)
                most = fmaxl(most, exponent);
            else
                sum += weight * expl(exponent - most);
        }
    return logl(sum * end / n / 3) + most;
}

static void scaled_gamma_is_its_integral(void **state)
{
    const double a[] = {3, 51.5, 1e4, 9.9e5, 1.1e6, 1e9, 1e15, 1e30}, z[] = {0, 1e-4, 0.3, 2, 9};

    (void)state;
    for (size_t i = 0; i < 8; i++)
        for (size_t k = 0; k < 5; k++)
            assert_near(gbose__stats_log_gamma_scaled(a[i], z[k] * sqrt(a[i])),
                        scaled_gamma(a[i], z[k] * sqrt(a[i])), 1e-10);
    assert_near(gbose__stats_log_gamma_scaled(7.5, -3.1), scaled_gamma(7.5L, -3.1L), 1e-10);
    assert_near(gbose__stats_log_gamma_scaled(1e12, -2e6), scaled_gamma(1e12L, -2e6L), 1e-8);
    assert_true(gbose__stats_log_gamma_scaled(2, -2) == -INFINITY);
    /* gamma(a + 1, x) = a gamma(a, x) - x^a e^-x */
    for (double large = 10; large < 1e13; large *= 3.7) {
        double s = 1 + sqrt(large), g = exp(gbose__stats_log_gamma_scaled(large, s));
        assert_close(exp(gbose__stats_log_gamma_scaled(large + 1, s - 1)), (large * g - 1) / (large + s),
                     1e-11);
    }
}

static void incomplete_gamma_at_the_edges(void **state)
{
    (void)state;
    assert_true(gbose__stats_gamma_p(2.5, 0) == 0 && gbose__stats_gamma_q(2.5, 0) == 1);
    assert_true(gbose__stats_gamma_p(2.5, INFINITY) == 1 && gbose__stats_gamma_q(2.5, INFINITY) == 0);
    assert_true(isinf(gbose__stats_log_gamma_p(2.5, 0)) && gbose__stats_log_gamma_q(2.5, 0) == 0);
    assert_true(isinf(gbose__stats_log_gamma_q(2.5, INFINITY)) &&
                gbose__stats_log_gamma_p(2.5, INFINITY) == 0);
    assert_true(isnan(gbose__stats_gamma_p(2.5, NAN)) && isnan(gbose__stats_log_gamma_q(NAN, 1)));
}

/* Two degrees of freedom have an exponential tail, one a normal one. */
static void chi_square_tails(void **state)
{
    (void)state;
    for (double x = 0.01; x < 1000; x *= 1.3) {
        assert_close(gbose__stats_chi2_tail(x, 2), expl(-x / 2.0L), 1e-12);
        assert_close(gbose__stats_chi2_tail(x, 1), erfcl(sqrtl(x / 2.0L)), 1e-12);
    }
    assert_true(gbose__stats_chi2_tail(0, 3) == 1);
}

/* ---- Student's t ---- */

static void t_quantiles_are_the_known_ones(void **state)
{
    (void)state;
    assert_near(gbose__stats_t_quantile(0.975, 1), 12.7062047361747, 1e-9);
    assert_near(gbose__stats_t_quantile(0.975, 2), 4.30265272974946, 1e-10);
    assert_near(gbose__stats_t_quantile(0.975, 9), 2.262157162740992, 1e-10);
    assert_near(gbose__stats_t_quantile(0.975, 30), 2.042272456301238, 1e-10);
    assert_near(gbose__stats_t_quantile(0.975, 100), 1.983971518523553, 1e-10);
    assert_near(gbose__stats_t_quantile(0.995, 5), 4.032142983555228, 1e-9);
    assert_near(gbose__stats_t_quantile(0.025, 9), -2.262157162740992, 1e-10);
    assert_near(gbose__stats_t_quantile(0.975, SIZE_MAX), 1.959963984540054, 1e-12);
    assert_true(gbose__stats_t_quantile(0.5, 4) == 0);
    assert_true(isnan(gbose__stats_t_quantile(0.975, 0)));
}

/* P(-x < t < x) by Simpson's rule on the density. */
static double t_mass(double x, double df)
{
    double c = exp(lgamma((df + 1) / 2) - lgamma(df / 2)) / sqrt(df * 3.14159265358979323846), sum = 0;
    int n = 20000;

    for (int i = 0; i <= n; i++) {
        double t = x * i / n;
        sum += (i == 0 || i == n ? 1 : i % 2 ? 4 : 2) * pow(1 + t * t / df, -(df + 1) / 2);
    }
    return 2 * c * sum * x / n / 3;
}

/* Both methods, on either side of 200 degrees of freedom, against the density. */
static void t_quantiles_hold_the_right_mass(void **state)
{
    static const size_t df[] = {1, 2, 3, 4, 7, 12, 29, 77, 150, 199, 200, 201, 202, 350, 1000};

    (void)state;
    for (size_t i = 0; i < sizeof df / sizeof *df; i++) {
        assert_near(t_mass(gbose__stats_t_quantile(0.975, df[i]), (double)df[i]), 0.95, 1e-9);
        assert_near(t_mass(gbose__stats_t_quantile(0.9, df[i]), (double)df[i]), 0.8, 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_gamma_has_the_known_values),
        cmocka_unit_test(incomplete_gamma_has_the_known_values),
        cmocka_unit_test(incomplete_gamma_keeps_its_recurrence),
        cmocka_unit_test(incomplete_gamma_at_the_edges),
        cmocka_unit_test(scaled_gamma_is_its_integral),
        cmocka_unit_test(chi_square_tails),
        cmocka_unit_test(t_quantiles_are_the_known_ones),
        cmocka_unit_test(t_quantiles_hold_the_right_mass),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
