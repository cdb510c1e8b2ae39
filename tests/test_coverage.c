/* A small part of full_coverage.c, for every change: 200 logs each of two worlds with moving levels.
 *
 * Counts are far enough from their limits: a sequence that misses in 5% of logs, the most it may, misses in
 * more than 20 of 200 with probability 0.001, and an interval that misses in 5% does so in fewer than 2 or
 * more than 21 with probability 0.001. */
#include "support/check.h"
#include "support/coverage.h"

static void count(const char *name, const char *world, const char *logger, double high)
{
    struct coverage c = {.name = name, .low = -8, .high = high, .logs = 200};
    struct misses m;

    c.plan = (struct logged_plan){.world = world, .logger = logger, .rounds = 1500, .seed = 5};
    coverage_header();
    coverage_count(&m, &c);
    coverage_print(&c, &m);
    assert_true(m.greedy <= 20 && m.logger <= 20 && m.greedy_paired <= 20 && m.logger_paired <= 20);
    assert_true(m.level <= 40 && m.weight <= 40 && m.peek <= 40 && m.audit <= 4);
    assert_true(m.effect_anytime <= 20 && m.effect_fixed >= 2 && m.effect_fixed <= 21 && m.unknown == 0);
    assert_true(m.phi_width < m.ips_width / 4);
}

static void covers_jumps(void **state)
{
    (void)state;
    count("jumps, eps-greedy", "gallery:shift=jumps,arms=4,dim=3", "eps-greedy:epsilon=0.2", 8);
}

static void covers_log_sine(void **state)
{
    (void)state;
    count("log-sine, gbose-auto", "paper:shift=log-sine,arms=3,dim=2", "gbose-auto:floor=0.2", 25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(covers_jumps), cmocka_unit_test(covers_log_sine)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
