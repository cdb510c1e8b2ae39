#include "report/printed.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "learners/learner.h"
#include "worlds/world.h"

#define PAPER_ROUNDS 10000

/* Table 1, "Median of R(T) over 10 simulations". */
static const struct {
    unsigned arms, dim;
    const char *learner;
    double regret[3];
} table[] = {
    {2, 10, "gbose", {21.8, 642.0, 25.4}},         {2, 10, "bose", {21.8, 642.0, 25.4}},
    {2, 10, "action-ts", {19.3, 927.1, 27.0}},     {2, 10, "semi-ts", {18.2, 723.4, 33.1}},
    {2, 10, "lin-ts", {2.1, 1569.6, 114.1}},       {10, 2, "gbose", {42.5, 1217.5, 74.5}},
    {10, 2, "action-ts", {296.7, 2495.4, 399.1}},  {10, 2, "semi-ts", {76.9, 1856.4, 106.7}},
    {10, 2, "lin-ts", {23.0, 3508.8, 659.9}},      {10, 10, "gbose", {137.6, 2188.9, 227.4}},
    {10, 10, "action-ts", {572.0, 3439.6, 928.7}}, {10, 10, "semi-ts", {257.3, 2638.0, 349.6}},
    {10, 10, "lin-ts", {68.1, 4020.8, 589.8}},
};

static const char *const words_of_shift[] = {"zero", "log-sine", "cos-best"};

static int same_value(const struct gbose__value *a, const struct gbose__value *b)
{
    return a->word == b->word && (a->word >= 0 || (a->number == b->number && a->integer == b->integer));
}

/* Is `text` one of the words in `list`, which has a space before and behind each? */
static int listed(const char *list, const char *text)
{
    size_t n = strlen(text);

    for (const char *at = strstr(list, text); at; at = strstr(at + 1, text))
        if (at > list && at[-1] == ' ' && at[n] == ' ')
            return 1;
    return 0;
}

/* The table's entry for a spec whose options, but for those in `open`, have their defaults; else NULL. */
static const gbose_info *read_spec(struct gbose__value *value, const char *spec, const char *open,
                                   const struct gbose__catalog *catalog)
{
    struct gbose__value standard[GBOSE__MAX_OPTIONS];
    const gbose_info *info;
    size_t which, again;

    if (gbose__spec_parse(&which, value, spec, catalog, NULL))
        return NULL;
    info = catalog->at(which);
    if (gbose__spec_parse(&again, standard, info->name, catalog, NULL))
        return NULL;
    for (size_t i = 0; i < info->n_options; i++)
        if (!listed(open, info->options[i].name) && !same_value(&value[i], &standard[i]))
            return NULL;
    return info;
}

/* Is word number `index` of the '|'-separated list this one? */
static int is_word(const char *words, int index, const char *word)
{
    size_t n = strlen(word);

    if (!words || index < 0)
        return 0;
    while (index-- > 0) {
        words = strchr(words, '|');
        if (!words++)
            return 0;
    }
    return strcspn(words, "|") == n && !strncmp(words, word, n);
}

int gbose__printed_cell(struct gbose__printed_cell *out, const char *world)
{
    struct gbose__value value[GBOSE__MAX_OPTIONS];
    const gbose_info *info = read_spec(value, world, " arms dim shift ", &gbose__worlds);
    size_t shift;

    if (!info || strcmp(info->name, "paper"))
        return 0;
    shift = gbose__option_index(info, "shift");
    for (int k = 0; k < 3; k++)
        if (is_word(info->options[shift].words, value[shift].word, words_of_shift[k])) {
            out->arms = value[gbose__option_index(info, "arms")].integer;
            out->dim = value[gbose__option_index(info, "dim")].integer;
            out->shift = k;
            return 1;
        }
    return 0;
}

double gbose__printed(const char *world, const char *learner, uint64_t rounds)
{
    struct gbose__value value[GBOSE__MAX_OPTIONS];
    struct gbose__printed_cell cell;
    const gbose_info *info;

    if (rounds != PAPER_ROUNDS || !gbose__printed_cell(&cell, world))
        return NAN;
    info = read_spec(value, learner, " gamma intercept seed draws delta horizon ", &gbose__learners);
    if (!info)
        return NAN;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].arms == cell.arms && table[i].dim == cell.dim && !strcmp(table[i].learner, info->name))
            return table[i].regret[cell.shift];
    return NAN;
}

double gbose__printed_for(const struct gbose__plan *plan, size_t world, size_t learner)
{
    const struct gbose__entry *e = &plan->learner[learner];

    if (e->option && strcmp(e->option, "gamma"))
        return NAN;
    return gbose__printed(plan->world[world], e->spec, plan->rounds);
}

const char *gbose__printed_shift_numeral(int shift)
{
    static const char *const text[] = {"(i)", "(ii)", "(iii)"};

    return text[shift];
}

const char *gbose__printed_shift_formula(int shift)
{
    static const char *const text[] = {
        "v(t) = 0",
        "v(t) = log2(t + 1) sin(0.0005 t)^2 + t^(1/4)",
        "v(t) = -cos(0.0005 t) sqrt(|best mean|)",
    };

    return text[shift];
}
