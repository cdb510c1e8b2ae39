#include "report/format.h"
#include "report/outputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/tables.h"
#include "support/check.h"
#include "support/made_study.h"
#include "support/scratch.h"

static const char *const two_worlds[] = {"paper:arms=2,dim=10,shift=cos-best", "kim-paik", NULL};
static const char *const two_learners[] = {"gbose", "lin-ts:intercept=0", NULL};

/* Two worlds, two learners, two values, 3 + 2 repetitions; regrets are thirds, so no short decimals. The
 * second value is best for the first learner, the first for the other; the second world is unfinished. */
static struct gbose__study *small_study(void)
{
    struct gbose__study *s = made_study("simulate", two_worlds, two_learners, "0.1,0.25", 10000, 3, 2);

    for (size_t r = 0; r < 3; r++) {
        made_run(s, 0, 0, 0, r, 40 + (double)r / 3);
        made_run(s, 0, 0, 1, r, 20 + (double)r / 3);
        made_run(s, 0, 1, 0, r, 110 + (double)r / 3);
        made_run(s, 0, 1, 1, r, 300 + (double)r / 3);
        made_run(s, 1, 0, 0, r, 5 + (double)r / 3);
    }
    for (size_t r = 3; r < 5; r++) {
        made_run(s, 0, 0, 1, r, 22);
        made_run(s, 0, 1, 0, r, 120 + 2 * (double)r);
    }
    return s;
}

static int write_tables(const struct gbose__study *s, const char *dir, gbose_error *err)
{
    struct gbose__summary *all;
    int rc;

    assert_int_equal(gbose__summary_make(&all, s, err), GBOSE_OK);
    rc = gbose__tables_write(s, all, dir, err);
    free(all);
    return rc;
}

/* Run with gnuplot out of reach, or another program in its place. */
static char *old_path;

static void set_path(const char *dir)
{
    old_path = strdup(getenv("PATH"));
    setenv("PATH", dir, 1);
}

static void restore_path(void)
{
    setenv("PATH", old_path, 1);
    free(old_path);
}

static int without_gnuplot(const struct gbose__study *s, const char *dir, const char *command,
                           gbose_error *err)
{
    int rc;

    set_path("/nowhere");
    rc = gbose__outputs_write(s, dir, command, err);
    restore_path();
    return rc;
}

static int gnuplot_is_there(void)
{
    const char *path = getenv("PATH");

    while (path && *path) {
        char file[4096];
        size_t n = strcspn(path, ":");
        snprintf(file, sizeof file, "%.*s/gnuplot", (int)n, path);
        if (!access(file, X_OK))
            return 1;
        path += n + (path[n] == ':');
    }
    return 0;
}

/* ---- CSV ---- */

/* The next field of a CSV text, by the rules of RFC 4180 and nothing of ours. `end` is what stood behind
 * it. */
static const char *next_field(const char *at, char *field, size_t room, char *end)
{
    size_t n = 0;
    int quoted = *at == '"';

    at += quoted;
    while (*at && (quoted || (*at != ',' && *at != '\n'))) {
        if (quoted && *at == '"' && at[1] != '"')
            break;
        at += quoted && *at == '"';
        assert_true(n + 1 < room);
        field[n++] = *at++;
    }
    field[n] = 0;
    at += quoted;
    *end = *at;
    assert_true(*at == ',' || *at == '\n');
    return at + 1;
}

static size_t read_row(const char **at, char field[32][256])
{
    size_t n = 0;
    char end;

    do {
        assert_true(n < 32);
        *at = next_field(*at, field[n++], 256, &end);
    } while (end == ',');
    return n;
}

static void runs_read_back_exactly(void **state)
{
    struct gbose__study *s = small_study();
    char *dir = scratch_new(), *text, field[32][256];
    const char *at;
    size_t rows = 0;

    (void)state;
    assert_int_equal(write_tables(s, dir, NULL), GBOSE_OK);
    at = text = scratch_read(dir, "runs.csv", NULL);
    assert_int_equal(read_row(&at, field), 10);
    assert_string_equal(field[0], "world");
    for (size_t i = 0; i < s->n_runs; i++) {
        struct gbose__run_id id = gbose__plan_run_at(s->plan, i);
        if (!s->result[i].done)
            continue;
        assert_int_equal(read_row(&at, field), 10);
        assert_string_equal(field[0], s->plan->world[id.world]);
        assert_string_equal(field[1], s->plan->learner[id.learner].label);
        assert_string_equal(field[2], s->plan->learner[id.learner].spec);
        assert_string_equal(field[3], "gamma");
        assert_string_equal(field[4], s->plan->learner[id.learner].value[id.value]);
        assert_int_equal(strtoul(field[5], NULL, 10), id.rep);
        assert_string_equal(field[6], id.rep < 3 ? "tune" : "fresh");
        assert_true(strtod(field[7], NULL) == s->result[i].regret);
        assert_true(strtod(field[8], NULL) == s->result[i].reward);
        assert_true(strtod(field[9], NULL) == s->result[i].lone);
        rows++;
    }
    assert_int_equal(rows, 19);
    assert_int_equal(*at, 0);
    free(text);
    scratch_remove(dir);
    gbose__study_free(s);
}

static void curves_and_table_read_back(void **state)
{
    struct gbose__study *s = small_study();
    char *dir = scratch_new(), *text, field[32][256];
    const char *at;

    (void)state;
    assert_int_equal(write_tables(s, dir, NULL), GBOSE_OK);
    at = text = scratch_read(dir, "curves.csv", NULL);
    assert_int_equal(read_row(&at, field), 9);
    for (size_t k = 0; k < 3 * 200; k++)
        assert_int_equal(read_row(&at, field), 9);
    assert_int_equal(*at, 0);
    assert_string_equal(field[0], "kim-paik");
    assert_string_equal(field[4], "0.1");
    assert_string_equal(field[5], "10000");
    assert_close(strtod(field[7], NULL), 5 + 1.0 / 3, 1e-7);
    free(text);

    at = text = scratch_read(dir, "table.csv", NULL);
    assert_int_equal(read_row(&at, field), 20);
    assert_int_equal(read_row(&at, field), 20);
    assert_string_equal(field[4], "0.25");
    assert_close(strtod(field[6], NULL), 20 + 1.0 / 3, 1e-15);
    assert_string_equal(field[14], "");
    assert_string_equal(field[19], "25.4");
    assert_int_equal(read_row(&at, field), 20);
    assert_string_equal(field[2], "lin-ts:intercept=0");
    assert_string_equal(field[13], "2");
    assert_string_equal(field[14], "105");
    assert_string_equal(field[19], "114.1");
    assert_int_equal(read_row(&at, field), 20);
    assert_int_equal(read_row(&at, field), 20);
    assert_string_equal(field[1], "lin-ts:intercept=0");
    for (size_t i = 4; i < 20; i++)
        assert_true(!*field[i] || !strcmp(field[i], "0"));
    assert_int_equal(*at, 0);
    free(text);
    scratch_remove(dir);
    gbose__study_free(s);
}

static void numbers_are_short_and_exact(void **state)
{
    static const double x[] = {0.1, 1.0 / 3, 1e300, -4.9e-324, 123456789.125, 0, 5, 2.0 / 3 * 1e-7};
    char buf[GBOSE__NUMBER_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        assert_true(strtod(gbose__format_number(buf, x[i]), NULL) == x[i]);
    assert_string_equal(gbose__format_number(buf, 0.1), "0.1");
    assert_string_equal(gbose__format_number(buf, NAN), "");
    assert_string_equal(gbose__format_rounded(buf, 19.66), "19.7");
    assert_string_equal(gbose__format_rounded(buf, 0.25), "0.250");
    assert_string_equal(gbose__format_rounded(buf, 123456.7), "123457");
    assert_string_equal(gbose__format_rounded(buf, NAN), "-");
    assert_string_equal(gbose__format_rounded_like(buf, 0.3, 20, 1), "+0.3");
}

/* ---- tables for people ---- */

static void table_md_says_it_all(void **state)
{
    struct gbose__study *s = small_study();
    char *dir = scratch_new(), *text;

    (void)state;
    assert_int_equal(write_tables(s, dir, NULL), GBOSE_OK);
    text = scratch_read(dir, "table.md", NULL);
    assert_non_null(strstr(text, "# Final regret after 10000 rounds\n"));
    assert_non_null(
        strstr(text, "over 3 repetitions, with the gamma that was best on these same repetitions"));
    assert_non_null(
        strstr(text, "### `paper:arms=2,dim=10,shift=cos-best`\n\n"
                     "| learner | gamma | median [quartiles] | fresh | difference from gbose | reward | "
                     "lone | printed |\n"
                     "|---|---:|---:|---:|---:|---:|---:|---:|\n"
                     "| gbose | 0.25 | **20.3 [20.2, 20.5]** | 22.0 [22.0, 22.0] | - | 992.7 | 0.285 | "
                     "25.4 |\n"
                     "| lin-ts:intercept=0 | 0.1 | 110.3 [110.2, 110.5] | 127.0 [126.5, 127.5] | "
                     "+105.0 [92.3, 117.7] | 957.7 | 0.285 | 114.1 |\n"));
    assert_non_null(strstr(text, "| lin-ts:intercept=0 | - | - | - | - | - | - | - |\n"));
    free(text);
    scratch_remove(dir);
    gbose__study_free(s);
}

static void a_study_of_the_paper_begins_with_its_table(void **state)
{
    struct gbose__study *s = made_paper_study(4, 3);
    char *dir = scratch_new(), *text;

    (void)state;
    assert_int_equal(write_tables(s, dir, NULL), GBOSE_OK);
    text = scratch_read(dir, "table.md", NULL);
    assert_non_null(strstr(text,
                           "## As in Table 1\n\n### N = 2, d = 10\n\n"
                           "| algorithm | (i) | fresh | printed | (ii) | fresh | printed | (iii) | fresh | "
                           "printed |\n"));
    assert_non_null(strstr(text, "### N = 10, d = 10, (iii): `paper:dim=10,shift=cos-best`\n"));
    free(text);
    scratch_remove(dir);
    gbose__study_free(s);
}

static size_t letters(const char *line, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += ((unsigned char)line[i] & 0xC0) != 0x80;
    return count;
}

/* Under a rule, every line of a block is as wide as the rule. */
static void the_terminals_columns_line_up(void **state)
{
    struct gbose__study *studies[] = {small_study(), made_paper_study(4, 3)};
    struct gbose__print_style style = {200, 1, 0, 1};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char *text;
        size_t size, width = 0, rows = 0;
        FILE *to = open_memstream(&text, &size);

        gbose__outputs_print(to, studies[i], &style);
        fclose(to);
        assert_non_null(strstr(text, "Final regret after 10000 rounds\n"));
        assert_non_null(strstr(text, i ? "N = 10, d = 10" : "paper:arms=2,dim=10,shift=cos-best\n"));
        for (char *line = text; *line; line += strcspn(line, "\n") + 1) {
            size_t n = letters(line, strcspn(line, "\n"));
            if (!strncmp(line, "─", strlen("─"))) {
                width = n;
            } else if (!n) {
                width = 0;
            } else if (width) {
                assert_int_equal(n, width);
                rows++;
            }
        }
        assert_int_equal(rows, i ? 21 : 4);
        free(text);
        gbose__study_free(studies[i]);
    }
}

/* On 80 columns nothing is wider, without UTF-8 nothing is beyond ASCII, and without colour there is no
 * escape. */
static void the_terminals_limits_are_kept(void **state)
{
    struct gbose__study *studies[] = {small_study(), made_paper_study(4, 3)};
    struct gbose__print_style plain = {80, 0, 0, 1}, coloured = {80, 1, 1, 0};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char *text;
        size_t size;
        FILE *to = open_memstream(&text, &size);

        gbose__outputs_print(to, studies[i], &plain);
        fclose(to);
        for (char *line = text; *line; line += strcspn(line, "\n") + 1)
            assert_that(strcspn(line, "\n") <= 80, "%.*s", (int)strcspn(line, "\n"), line);
        for (char *at = text; *at; at++)
            assert_true(*at == '\n' || (*at >= ' ' && *at < 127));
        assert_non_null(strstr(text, "had the least"));
        assert_non_null(strstr(text, "Lower is better"));
        free(text);
        to = open_memstream(&text, &size);
        gbose__outputs_print(to, studies[i], &coloured);
        fclose(to);
        assert_non_null(strstr(text, "\033[1;32m"));
        assert_null(strstr(text, "Lower is better"));
        free(text);
        gbose__study_free(studies[i]);
    }
}

/* ---- the report ---- */

static void the_report_escapes_html(void **state)
{
    struct gbose__study *s = small_study();
    char *dir = scratch_new(), *text;
    gbose_error err;

    (void)state;
    free(s->plan->learner[1].label);
    s->plan->learner[1].label = strdup("<i>\"a\" & 'b'</i>");
    assert_int_equal(without_gnuplot(s, dir, "gbose --out '<script>alert(1)</script>'", &err),
                     GBOSE__ENOPLOT);
    text = scratch_read(dir, "report.html", NULL);
    assert_null(strstr(text, "<script"));
    assert_null(strstr(text, "<i>"));
    assert_non_null(strstr(text, "gbose --out &#39;&lt;script&gt;alert(1)&lt;/script&gt;&#39;"));
    assert_non_null(strstr(text, "&lt;i&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/i&gt;"));
    assert_null(strstr(text, "http")); /* nothing from outside */
    assert_non_null(strstr(text, "</html>\n"));
    free(text);
    scratch_remove(dir);
    gbose__study_free(s);
}

/* ---- disks ---- */

static void an_unwritable_directory_is_one_clear_line(void **state)
{
    struct gbose__study *s = small_study();
    char *dir = scratch_new();
    gbose_error err;

    (void)state;
    scratch_write(dir, "file", "", 0600);
    assert_int_equal(gbose__outputs_write(s, scratch_path(dir, "file"), NULL, &err), GBOSE__EWRITE);
    assert_non_null(strstr(err.text, "file: a file of that name is there"));
    assert_int_equal(gbose__outputs_write(s, scratch_path(dir, "file/below"), NULL, &err), GBOSE__EWRITE);
    assert_non_null(strstr(err.text, "Not a directory"));
    assert_int_equal(write_tables(s, scratch_path(dir, "gone"), &err), GBOSE__EWRITE);
    assert_non_null(strstr(err.text, "gone/runs.csv: No such file or directory"));
    assert_int_equal(err.code, GBOSE__EWRITE);
    scratch_remove(dir);
    gbose__study_free(s);
}

/* A link to /dev/full stands where the temporary file would be: opening succeeds, writing does not. */
static void a_full_disk_leaves_no_half_a_file(void **state)
{
    static const char *const name[] = {"runs.csv",
                                       "curves.csv",
                                       "table.csv",
                                       "table.md",
                                       "report.html",
                                       "figures/regret-worlds-1.gp",
                                       "figures/regret-worlds-1.dat"};
    struct gbose__study *s = small_study();

    (void)state;
    if (access("/dev/full", W_OK))
        skip();
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        for (int before = 0; before < 2; before++) {
            char *dir = scratch_new(), tmp[64], expected[64], *old;
            gbose_error err = {0, ""};

            snprintf(tmp, sizeof tmp, "%s.tmp", name[i]);
            snprintf(expected, sizeof expected, "%s: No space left on device", name[i]);
            assert_int_equal(mkdir(scratch_path(dir, "figures"), 0700), 0);
            assert_int_equal(symlink("/dev/full", scratch_path(dir, tmp)), 0);
            if (before)
                scratch_write(dir, name[i], "old", 0600);
            assert_int_equal(without_gnuplot(s, dir, NULL, &err), GBOSE__EWRITE);
            assert_int_equal(strncmp(err.text, "cannot write ", 13), 0);
            assert_that(strstr(err.text, expected) != NULL, "%s", err.text);
            assert_false(scratch_exists(dir, tmp));
            if (before) {
                old = scratch_read(dir, name[i], NULL);
                assert_string_equal(old, "old");
                free(old);
            } else {
                assert_false(scratch_exists(dir, name[i]));
            }
            scratch_remove(dir);
        }
    gbose__study_free(s);
}

/* ---- gnuplot ---- */

static void no_gnuplot_is_told_apart(void **state)
{
    struct gbose__study *s = small_study();
    char *dir = scratch_new(), *text;
    gbose_error err;

    (void)state;
    assert_int_equal(without_gnuplot(s, dir, NULL, &err), GBOSE__ENOPLOT);
    assert_string_equal(err.text, "figures skipped: install gnuplot");
    text = scratch_read(dir, "report.html", NULL);
    assert_non_null(strstr(text, "<p>figures skipped: install gnuplot</p>"));
    assert_null(strstr(text, "<svg"));
    assert_true(scratch_exists(dir, "figures/regret-worlds-1.gp"));
    assert_false(scratch_exists(dir, "figures/regret-worlds-1.svg"));
    free(text);
    scratch_remove(dir);
    gbose__study_free(s);
}

/* A program of that name that fails, and others that leave nothing, or half a figure. */
static void gnuplots_failures_are_reported(void **state)
{
    static const struct {
        const char *program, *said;
    } fake[] = {
        {"#!/bin/sh\necho >&2; echo 'plot nonsense' >&2; echo '     ^' >&2\n"
         "echo '\"x.gp\" line 7: undefined variable: nonsense' >&2\nexit 1\n",
         "regret-worlds-1.gp: \"x.gp\" line 7: undefined variable: nonsense"},
        {"#!/bin/sh\nexit 3\n", "it said nothing"},
        {"#!/bin/sh\nkill -9 $$\n", "ended by signal 9"},
        {"#!/bin/sh\nexit 0\n", "unfinished"},
        {"#!/bin/sh\ncd \"$FIGURES\"\nfor e in svg png pdf; do echo '<svg>' >regret-worlds-1.tmp.$e; done\n",
         "unfinished"},
    };
    struct gbose__study *s = small_study();

    (void)state;
    for (size_t i = 0; i < sizeof fake / sizeof *fake; i++) {
        char *dir = scratch_new(), *bin = scratch_new(), *text;
        gbose_error err;
        int rc;

        scratch_write(bin, "gnuplot", fake[i].program, 0700);
        assert_int_equal(mkdir(scratch_path(dir, "figures"), 0700), 0);
        setenv("FIGURES", scratch_path(dir, "figures"), 1);
        scratch_write(dir, "figures/regret-worlds-1.svg", "<svg>stale</svg>", 0600);
        set_path(bin);
        rc = gbose__outputs_write(s, dir, NULL, &err);
        restore_path();
        assert_int_equal(rc, GBOSE__EBADPLOT);
        assert_that(strstr(err.text, fake[i].said) != NULL, "%s", err.text);
        assert_int_equal(scratch_count(scratch_path(dir, "figures"), ".svg"), 0);
        assert_int_equal(scratch_count(scratch_path(dir, "figures"), ".tmp"), 0);
        text = scratch_read(dir, "report.html", NULL);
        assert_null(strstr(text, "<svg"));
        assert_true(scratch_exists(dir, "table.md"));
        free(text);
        scratch_remove(bin);
        scratch_remove(dir);
    }
    gbose__study_free(s);
}

static void same_bytes(const char *a, const char *b, const char *name)
{
    size_t n, m;
    char *x = scratch_read(a, name, &n), *y = scratch_read(b, name, &m);

    assert_that(n == m && !memcmp(x, y, n), "%s differs", name);
    free(x);
    free(y);
}

/* Twice, the second time in a directory whose name is a trap for quoting. */
static void figures_are_whole_and_the_same_each_time(void **state)
{
    static const char *const begins[] = {"<?xml", "\x89PNG", "%PDF"};
    static const char *const suffix[] = {"svg", "png", "pdf"};
    static const char *const figure[] = {"regret-worlds-1", "difference-worlds-1"};
    struct gbose__study *s = small_study();
    char *base = scratch_new(), *text, a[4096], b[4096], name[128];
    gbose_error err = {0, ""};

    (void)state;
    if (!gnuplot_is_there()) {
        scratch_remove(base);
        gbose__study_free(s);
        skip();
    }
    snprintf(a, sizeof a, "%s/plain", base);
    snprintf(b, sizeof b, "%s/it's \"a\" `touch broken` $HOME\\n %%d", base);
    assert_that(!gbose__outputs_write(s, a, "gbose simulate", &err), "%s", err.text);
    assert_that(!gbose__outputs_write(s, b, "gbose simulate", &err), "%s", err.text);
    for (size_t f = 0; f < 2; f++)
        for (size_t i = 0; i < 3; i++) {
            snprintf(name, sizeof name, "figures/%s.%s", figure[f], suffix[i]);
            text = scratch_read(a, name, NULL);
            assert_int_equal(strncmp(text, begins[i], strlen(begins[i])), 0);
            free(text);
            same_bytes(a, b, name);
        }
    same_bytes(a, b, "report.html");
    same_bytes(a, b, "runs.csv");
    assert_int_equal(scratch_count(scratch_path(a, "figures"), ".tmp"), 0);
    assert_int_equal(scratch_count(scratch_path(a, "figures"), ""), 2 + 2 * 5); /* with . and .. */
    text = scratch_read(a, "report.html", NULL);
    assert_non_null(strstr(text, "<svg role=\"img\" aria-label=\"Cumulative regret"));
    assert_non_null(strstr(text, "id=\"f1-gnuplot_canvas\""));
    assert_non_null(strstr(text, "id=\"f2-gnuplot_canvas\""));
    assert_null(strstr(text, "<?xml"));
    assert_null(strstr(text, "'#gp")); /* every reference has its figure's prefix */
    free(text);
    scratch_remove(base);
    gbose__study_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_read_back_exactly),
        cmocka_unit_test(curves_and_table_read_back),
        cmocka_unit_test(numbers_are_short_and_exact),
        cmocka_unit_test(table_md_says_it_all),
        cmocka_unit_test(a_study_of_the_paper_begins_with_its_table),
        cmocka_unit_test(the_terminals_columns_line_up),
        cmocka_unit_test(the_terminals_limits_are_kept),
        cmocka_unit_test(the_report_escapes_html),
        cmocka_unit_test(an_unwritable_directory_is_one_clear_line),
        cmocka_unit_test(a_full_disk_leaves_no_half_a_file),
        cmocka_unit_test(no_gnuplot_is_told_apart),
        cmocka_unit_test(gnuplots_failures_are_reported),
        cmocka_unit_test(figures_are_whole_and_the_same_each_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
