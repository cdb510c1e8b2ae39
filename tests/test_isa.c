/* Whole lives of learners have the same bytes with every instruction set that this processor has. */
#include "support/players.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernels.h"
#include "support/kernels_other.h"

#define ARMS 80
#define DIM 37
#define ROUNDS 60

static const char *const isas[] = {"baseline", "avx2", "avx512"};

static const struct gbose__kernels *const others[] = {&kernels_narrow, &kernels_wide};

/* All that a life gives: a checksum over decisions would do, but bytes show where they differ. */
struct life {
    size_t arm[ROUNDS];
    double pmf[ROUNDS * ARMS], coef[DIM];
    struct bytes state;
};

static void live(struct life *life, const char *spec, size_t dim, size_t arms)
{
    gbose *g = new_player(spec, dim);
    struct random rng = {61};
    double contexts[ARMS * DIM];

    memset(life, 0, sizeof *life);
    for (size_t t = 0; t < ROUNDS; t++) {
        size_t n = t % 5 ? arms : 1 + random_below(&rng, arms), sparse = random_below(&rng, 3);
        gbose_decision d;

        for (size_t i = 0; i < n * dim; i++) /* some rounds begin or end with zeros */
            contexts[i] = (sparse == 1 && i % dim < dim / 2) || (sparse == 2 && i % dim > dim / 2)
                              ? 0
                              : random_between(&rng, -1, 1);
        assert_int_equal(decide_arms(g, &d, contexts, n), GBOSE_OK);
        life->arm[t] = d.arm;
        memcpy(life->pmf + t * ARMS, d.pmf, n * sizeof(double));
        assert_int_equal(
            gbose_learn(g, d.ticket, d.ticket_size, contexts[d.arm * dim] + random_between(&rng, -0.1, 0.1)),
            GBOSE_OK);
    }
    memcpy(life->coef, gbose_coef(g), dim * sizeof(double));
    life->state = saved(g);
    gbose_free(g);
}

static void check_lives(const char *spec)
{
    static const size_t dims[] = {3, DIM}, arms[] = {ARMS, 10};
    static struct life first, other;

    for (size_t c = 0; c < COUNT(dims); c++) {
        assert_true(gbose__kernels_use("baseline"));
        live(&first, spec, dims[c], arms[c]);
        for (size_t i = 1; i < COUNT(isas) + COUNT(others); i++) {
            if (i >= COUNT(isas)) {
                gbose__kernels = others[i - COUNT(isas)];
            } else {
                if (!gbose__kernels_use(isas[i]))
                    continue;
                assert_string_equal(gbose_isa(), isas[i]);
            }
            live(&other, spec, dims[c], arms[c]);
            assert_memory_equal(first.arm, other.arm, sizeof first.arm);
            assert_memory_equal(first.pmf, other.pmf, sizeof first.pmf);
            assert_memory_equal(first.coef, other.coef, sizeof first.coef);
            assert_int_equal(first.state.size, other.state.size);
            assert_memory_equal(first.state.at, other.state.at, first.state.size);
            bytes_free(&other.state);
        }
        bytes_free(&first.state);
    }
}

static void lives_have_the_same_bytes(void **state)
{
    (void)state;
    for_each_spec(check_lives, INTERCEPT | FORGET);
}

/* What GBOSE_ISA says is used; what it cannot have, or is not a name, is as if it were not set. */
static void the_environment_decides(void **state)
{
    static const char *const names[] = {"baseline", "avx2", "avx512", "sse9", ""};
    char command[600], answer[32], best[32] = "";

    (void)state;
    for (int i = COUNT(names) - 1; i >= 0; i--) {
        FILE *pipe;

        snprintf(command, sizeof command, "GBOSE_ISA='%s' '%s' --isa", names[i], getenv("TEST_ISA_PROGRAM"));
        pipe = popen(command, "r");
        assert_non_null(pipe);
        assert_non_null(fgets(answer, sizeof answer, pipe));
        assert_int_equal(pclose(pipe), 0);
        if (!*names[i])
            strcpy(best, answer);
        else if (i < 3 && gbose__kernels_use(names[i]))
            assert_string_equal(answer, names[i]);
        else
            assert_string_equal(answer, best);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        spec_test(lives_have_the_same_bytes),
        cmocka_unit_test(the_environment_decides),
    };

    if (argc > 1 && !strcmp(argv[1], "--isa")) {
        printf("%s", gbose_isa());
        return 0;
    }
    setenv("TEST_ISA_PROGRAM", argv[0], 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
