#include "report/findings.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/format.h"
#include "report/groups.h"
#include "report/printed.h"
#include "report/tables.h"

#define LONGEST 480

/* The median that counts: on fresh repetitions if there are any. NaN: no run is done. */
static double median_of(const struct gbose__study *s, const struct gbose__summary *u)
{
    const struct gbose__spread *d = s->plan->fresh ? &u->fresh : &u->tuned;

    return d->n ? d->median : NAN;
}

/* The learner with the least median in a world but for `other` (SIZE_MAX: none), or SIZE_MAX; ties go to
 * the first. */
static size_t winner(const struct gbose__study *s, const struct gbose__summary *all, size_t world,
                     size_t other)
{
    size_t best = SIZE_MAX;
    double least = INFINITY;

    for (size_t l = 0; l < s->plan->n_learners; l++) {
        double x = median_of(s, gbose__summary_of(s, all, world, l));
        if (l != other && x < least) {
            best = l;
            least = x;
        }
    }
    return best;
}

static const char *fresh_word(const struct gbose__plan *plan)
{
    return plan->fresh ? " on fresh repetitions" : "";
}

/* One world: the two best. */
static void say_one_world(FILE *to, const struct gbose__study *s, const struct gbose__summary *all,
                          void (*text)(FILE *to, const char *text))
{
    size_t first = winner(s, all, 0, SIZE_MAX), second = winner(s, all, 0, first);
    char line[LONGEST], a[GBOSE__NUMBER_SIZE], b[GBOSE__NUMBER_SIZE];
    const struct gbose__plan *plan = s->plan;
    int used;

    if (first == SIZE_MAX)
        return;
    gbose__format_rounded(a, median_of(s, gbose__summary_of(s, all, 0, first)));
    used = snprintf(line, sizeof line, "%.100s had the least regret%s: %s (median)",
                    plan->learner[first].label, fresh_word(plan), a);
    if (second != SIZE_MAX) {
        gbose__format_rounded(b, median_of(s, gbose__summary_of(s, all, 0, second)));
        used += snprintf(line + used, sizeof line - (size_t)used, ", followed by %.100s with %s",
                         plan->learner[second].label, b);
    }
    snprintf(line + used, sizeof line - (size_t)used, ".");
    text(to, line);
}

/* Several worlds: who was best in how many, the most frequent first. */
static void say_worlds(FILE *to, const struct gbose__study *s, const struct gbose__summary *all,
                       void (*text)(FILE *to, const char *text))
{
    const struct gbose__plan *plan = s->plan;
    size_t *wins = calloc(plan->n_learners + 1, sizeof *wins), worlds = 0;
    char line[LONGEST];
    int used = 0;

    for (size_t w = 0; w < plan->n_worlds && wins; w++) {
        size_t best = winner(s, all, w, SIZE_MAX);
        if (best != SIZE_MAX) {
            wins[best]++;
            worlds++;
        }
    }
    while (wins && used < LONGEST - 160) {
        size_t next = 0;

        for (size_t l = 1; l < plan->n_learners; l++)
            next = wins[l] > wins[next] ? l : next;
        if (!wins[next])
            break;
        used += snprintf(line + used, sizeof line - (size_t)used,
                         used ? ", %.100s%s in %zu" : "%.100s had the least median regret%s in %zu",
                         plan->learner[next].label, used ? "" : fresh_word(plan), wins[next]);
        if (wins[next] == worlds || !strchr(line, ','))
            used += snprintf(line + used, sizeof line - (size_t)used, " of %zu worlds", worlds);
        wins[next] = 0;
    }
    free(wins);
    if (!used)
        return;
    snprintf(line + used, sizeof line - (size_t)used, ".");
    text(to, line);
}

/* The learner that is compared with the first one: gbose-auto, or else the winner of most worlds. */
static size_t protagonist(const struct gbose__study *s, const struct gbose__summary *all)
{
    for (size_t l = 1; l < s->plan->n_learners; l++)
        if (gbose__tables_is_own(s->plan, l))
            return l;
    return s->plan->n_worlds == 1 ? winner(s, all, 0, SIZE_MAX) : SIZE_MAX;
}

/* Better and worse than the first learner, by intervals that exclude 0. */
static void say_difference(FILE *to, const struct gbose__study *s, const struct gbose__summary *all,
                           const char *between, void (*text)(FILE *to, const char *text))
{
    const struct gbose__plan *plan = s->plan;
    size_t l = protagonist(s, all), better = 0, worse = 0, open = 0;
    char line[LONGEST];

    if (l == SIZE_MAX || !l)
        return;
    for (size_t w = 0; w < plan->n_worlds; w++) {
        const struct gbose__difference *d = &gbose__summary_of(s, all, w, l)->to_first;
        if (d->n > 1 && isfinite(d->low)) {
            better += d->high < 0;
            worse += d->low > 0;
            open += d->low <= 0 && d->high >= 0;
        }
    }
    if (!(better + worse + open))
        return;
    if (plan->n_worlds == 1)
        snprintf(line, sizeof line, "Its difference from %.100s %s: the 95%% confidence interval %s 0.",
                 plan->learner[0].label, open ? "may be chance" : "is more than chance",
                 open ? "includes" : "excludes");
    else
        snprintf(line, sizeof line,
                 "By 95%% confidence intervals of the difference, %.100s had less regret than %.100s in %zu "
                 "worlds and more in %zu; in %zu the interval includes 0.",
                 plan->learner[l].label, plan->learner[0].label, better, worse, open);
    fputs(between, to);
    text(to, line);
}

void gbose__findings_say(FILE *to, const struct gbose__study *s, const struct gbose__summary *all,
                         const char *between, void (*text)(FILE *to, const char *text))
{
    (s->plan->n_worlds == 1 ? say_one_world : say_worlds)(to, s, all, text);
    say_difference(to, s, all, between, text);
}

/* ---- words ---- */

int gbose__findings_of_paper(const struct gbose__plan *plan)
{
    struct gbose__printed_cell cell;

    for (size_t w = 0; w < plan->n_worlds; w++)
        if (!gbose__printed_cell(&cell, plan->world[w]))
            return 0;
    return plan->n_worlds > 0;
}

static int any_lone_half(const struct gbose__plan *plan)
{
    for (size_t l = 0; l < plan->n_learners; l++)
        if (strstr(plan->learner[l].spec, "lone=half"))
            return 1;
    return 0;
}

void gbose__findings_define(FILE *to, const struct gbose__plan *plan, const char *before, const char *after,
                            void (*text)(FILE *to, const char *text))
{
    char line[LONGEST];

#define SAY(...)                                                                                             \
    do {                                                                                                     \
        snprintf(line, sizeof line, __VA_ARGS__);                                                            \
        fputs(before, to);                                                                                   \
        text(to, line);                                                                                      \
        fputs(after, to);                                                                                    \
    } while (0)
    SAY("Regret: how much more reward the best arm of each round would have brought on average, summed over "
        "the rounds. Lower is better.");
    if (gbose__findings_of_paper(plan)) {
        SAY("N is the number of arms and d the number of features that describe each. v(t) is a shift that "
            "all arms of round t share, in three forms: %s %s; %s %s; %s %s.",
            gbose__printed_shift_numeral(0), gbose__printed_shift_formula(0), gbose__printed_shift_numeral(1),
            gbose__printed_shift_formula(1), gbose__printed_shift_numeral(2),
            gbose__printed_shift_formula(2));
    }
    if (any_lone_half(plan))
        SAY("lone=half: gbose also learns from rounds in which a single arm survives, as if that arm had "
            "been "
            "compared with one whose features are all 0. The paper learns nothing from such rounds.");
#undef SAY
}
