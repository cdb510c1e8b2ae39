/* Every estimator against its definition, computed from stored rows in long double. */
#include <math.h>

#include "core/normal.h"
#include "logs/estimators.h"
#include "support/check.h"
#include "support/random.h"

#define ROWS 57
#define SWITCH_AT 2.5
#define SHRINK 3.75

struct log {
    long double w[ROWS], r[ROWS], q[ROWS], q_pi[ROWS];
    size_t n;
};

static void draw_log(struct log *log, struct gbose__estimators *s, struct random *random, size_t n,
                     double scale)
{
    *s = (struct gbose__estimators){0};
    log->n = n;
    for (size_t i = 0; i < n; i++) {
        double w = i % 7 == 3 ? 0 : scale * -gbose__log(1 - random_uniform(random)),
               r = 3 * random_uniform(random) - 1, q = random_uniform(random), q_pi = random_uniform(random);

        log->w[i] = w;
        log->r[i] = r;
        log->q[i] = q;
        log->q_pi[i] = q_pi;
        gbose__estimators_add(s, w, r, q, q_pi, SWITCH_AT, SHRINK);
    }
}

/* The weights Q_i = -(g + h w_i) / (n + 1) of all rounds and of the phantom round add up to 1, and so do Q_i
 * w_i: two equations for g and h. */
static long double cressie_read(const struct log *log)
{
    long double n = log->n, s0 = n + 1, s1 = 0, s2 = 0, wr = 0, w2r = 0, r = 0, g, h, det, given = 0;

    for (size_t i = 0; i < log->n; i++) {
        s1 += log->w[i];
        s2 += log->w[i] * log->w[i];
        wr += log->w[i] * log->r[i];
        w2r += log->w[i] * log->w[i] * log->r[i];
        r += log->r[i];
    }
    if (s1 <
        n) /* the phantom's weight is beyond all bounds: Q = 1 / n for all, and what is missing has the mean reward */
        return wr / n + (1 - s1 / n) * r / n;
    /* g s0 + h s1 = -(n+1), g s1 + h s2 = -(n+1); the phantom's w is 0 */
    det = s0 * s2 - s1 * s1;
    g = -(n + 1) * (s2 - s1) / det;
    h = -(n + 1) * (s0 - s1) / det;
    for (size_t i = 0; i < log->n; i++)
        given += -(g + h * log->w[i]) / (n + 1) * log->w[i];
    return (-g * wr - h * w2r) / (n + 1) + (given < 1 ? 1 - given : 0) * r / n;
}

static void estimators_match_definitions(void **state)
{
    struct random random = {.state = 11};
    struct log log;
    struct gbose__estimators s;

    (void)state;
    for (int trial = 0; trial < 40; trial++) {
        long double n, w = 0, w2 = 0, wr = 0, dm = 0, dr = 0, corr = 0, sw = 0, os = 0, most = 0;
        gbose_policy_value out;

        draw_log(&log, &s, &random, (size_t)(5 + trial % 50), trial % 2 ? 1.6 : 0.7);
        n = log.n;
        for (size_t i = 0; i < log.n; i++) {
            long double o = log.w[i] * (log.r[i] - log.q[i]);
            w += log.w[i] / n;
            w2 += log.w[i] * log.w[i] / n;
            wr += log.w[i] * log.r[i] / n;
            dm += log.q_pi[i] / n;
            dr += (log.q_pi[i] + o) / n;
            corr += o / n;
            sw += (log.q_pi[i] + (log.w[i] <= SWITCH_AT ? o : 0)) / n;
            os += (log.q_pi[i] + SHRINK * log.w[i] / (log.w[i] * log.w[i] + SHRINK) * (log.r[i] - log.q[i])) /
                  n;
            most = fmaxl(most, log.w[i]);
        }
        gbose__estimators_report(&s, &out);
        assert_int_equal(out.rounds, log.n);
        assert_near(out.ips, wr, 1e-12);
        assert_near(out.snips, wr / w, 1e-12);
        assert_near(out.dm, dm, 1e-12);
        assert_near(out.dr, dr, 1e-12);
        assert_near(out.sndr, dm + corr / w, 1e-12);
        assert_near(out.switch_dr, sw, 1e-12);
        assert_near(out.dr_os, os, 1e-12);
        assert_near(out.cressie_read, cressie_read(&log), 1e-12);
        assert_close(out.effective, n * w * w / w2, 1e-12);
        assert_close(out.largest, most, 1e-15);
    }
}

/* With all weights 1 every estimator that corrects is the mean reward. */
static void the_logged_policy_is_its_mean(void **state)
{
    struct gbose__estimators s = {0};
    gbose_policy_value out;

    (void)state;
    for (int i = 0; i < 9; i++)
        gbose__estimators_add(&s, 1, i * 0.3 - 1, 0.2 * i, 0.2 * i, 10, 1e300);
    gbose__estimators_report(&s, &out);
    assert_close(out.ips, 0.2, 1e-12);
    assert_close(out.snips, 0.2, 1e-12);
    assert_close(out.dr, 0.2, 1e-12);
    assert_close(out.sndr, 0.2, 1e-12);
    assert_close(out.switch_dr, 0.2, 1e-12);
    assert_close(out.dr_os, 0.2, 1e-12);
    assert_close(out.cressie_read, 0.2, 1e-12);
    assert_close(out.dm, 0.8, 1e-12);
    assert_close(out.effective, 9, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimators_match_definitions),
        cmocka_unit_test(the_logged_policy_is_its_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
