#include "support/store_contract.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct store_fault store_fault = {.in = -1};

int store_step_fails(void)
{
    if (store_fault.in < 0 || store_fault.in-- > 0)
        return 0;
    store_fault.happened = 1;
    if (store_fault.stays)
        store_fault.in = 0;
    return 1;
}

void store_ok(struct place *p, int rc)
{
    if (rc)
        fail_msg("%d: %s", rc, p->err.text);
}

void store_open(struct place *p)
{
    store_ok(p, p->open(&p->store, p->dir, 1, 0, &p->err));
    store_ok(p, p->store->view(p->store, &p->view, &p->err));
}

void store_close(struct place *p)
{
    p->view->close(p->view);
    p->store->close(p->store);
}

/* ---- changes ---- */

static enum gbose__result apply(struct place *p, struct gbose__change *change)
{
    store_ok(p, p->store->apply(p->store, change, 1, &p->err));
    return change->result;
}

uint32_t store_bandit(struct place *p, const char *name)
{
    struct gbose__change group[2] = {
        {.kind = GBOSE__PUT_BANDIT, .of.bandit = {0, name, "{}", 1, 123}},
        {.kind = GBOSE__ADD_GENERATION, .of.generation = {0, 1, "gbose", NULL, 3, 0, 1, 123, 0}},
    };

    store_ok(p, p->store->apply(p->store, group, 2, &p->err));
    assert_int_equal(group[0].result, GBOSE__DONE);
    assert_int_equal(group[1].result, GBOSE__DONE);
    return group[0].of.bandit.id;
}

static const double halves[] = {0.25, 0.75};

struct gbose__change store_event(uint32_t bandit, uint64_t number, const char *name, int64_t deadline)
{
    return (struct gbose__change){.kind = GBOSE__ADD_EVENT,
                                  .of.event = {.bandit = bandit,
                                               .number = number,
                                               .name = name,
                                               .time = 1000,
                                               .deadline = deadline,
                                               .generation = 1,
                                               .learned = 7,
                                               .arm = 1,
                                               .n_arms = 2,
                                               .pmf = halves,
                                               .body = "{\"contexts\":[[1,2,3]]}",
                                               .body_size = 22}};
}

enum gbose__result store_add_event(struct place *p, uint32_t bandit, uint64_t number, int64_t deadline)
{
    struct gbose__change change = store_event(bandit, number, NULL, deadline);

    return apply(p, &change);
}

struct gbose__reward_change store_reward(struct place *p, uint32_t bandit, uint64_t number, const char *id,
                                         double value, int64_t now, int final, enum gbose__result expected)
{
    struct gbose__change change = {.kind = GBOSE__ADD_REWARD,
                                   .of.reward = {.bandit = bandit,
                                                 .number = number,
                                                 .id = id,
                                                 .value = value,
                                                 .now = now,
                                                 .final = final,
                                                 .aggregate = GBOSE__SUM,
                                                 .default_reward = -2}};

    assert_int_equal(apply(p, &change), expected);
    return change.of.reward;
}

static size_t close_due(struct place *p, uint32_t bandit, int64_t now, enum gbose__aggregate how)
{
    struct gbose__change change = {.kind = GBOSE__CLOSE_DUE, .of.close = {bandit, now, 100, how, -2, 0, 0}};

    apply(p, &change);
    return change.of.close.closed;
}

/* ---- what a visitor keeps ---- */

int store_see(void *context, const struct gbose__case *it)
{
    struct seen *seen = context;

    assert_true(seen->n < 64);
    seen->event[seen->n] = it->event->number;
    seen->number[seen->n] = it->outcome ? it->outcome->number : 0;
    seen->reward[seen->n] = it->outcome ? it->outcome->reward : NAN;
    seen->why[seen->n] = it->outcome ? it->outcome->why : 0;
    seen->rewards = it->n_rewards;
    seen->late = 0;
    for (size_t i = 0; i < it->n_rewards; i++)
        seen->late += (size_t)it->rewards[i].late;
    seen->activated = it->event->activated;
    snprintf(seen->body, sizeof seen->body, "%.*s", (int)it->event->body_size, it->event->body);
    seen->n++;
    return 0;
}

static struct seen outcomes(struct place *p, uint32_t bandit, uint64_t after)
{
    struct seen seen = {0};

    store_ok(p, p->view->outcomes(p->view, bandit, after, UINT64_MAX, 64, store_see, &seen, &p->err));
    return seen;
}

struct seen store_seen(struct place *p, uint32_t bandit, uint64_t number, const char *name)
{
    struct seen seen = {0};

    store_ok(p, p->view->event(p->view, bandit, number, name, store_see, &seen, &p->err));
    assert_int_equal(seen.n, 1);
    return seen;
}

/* ---- the promises ---- */

void events_come_back_as_they_were_written(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a"), b = store_bandit(p, "b");
    struct seen seen = {0};

    assert_int_not_equal(a, b);
    store_add_event(p, a, 0, 5000);
    store_add_event(p, a, 1, 5000);
    store_add_event(p, b, 0, 5000);
    assert_string_equal(store_seen(p, a, 1, NULL).body, "{\"contexts\":[[1,2,3]]}");
    store_ok(p, p->view->events(p->view, a, 0, 64, 0, store_see, &seen, &p->err));
    assert_int_equal(seen.n, 2);
    store_ok(p, p->view->events(p->view, a, UINT64_MAX, 1, 1, store_see, &seen, &p->err));
    assert_int_equal(seen.event[2], 1);
    assert_int_equal(p->view->event(p->view, b, 1, NULL, store_see, &seen, &p->err), GBOSE__EABSENT);
}

void a_name_is_taken_once(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");
    struct gbose__change change = store_event(a, 4, "order-1", 5000);

    assert_int_equal(apply(p, &change), GBOSE__DONE);
    change = store_event(a, 5, "order-1", 6000);
    assert_int_equal(apply(p, &change), GBOSE__REPEATED);
    assert_int_equal(change.of.event.number, 4);
    change = store_event(a, 6, "order-1", 5000);
    change.of.event.body = "{\"contexts\":[[1,2,4]]}";
    assert_int_equal(apply(p, &change), GBOSE__CONFLICT);
    assert_int_equal(store_seen(p, a, 0, "order-1").event[0], 4);
}

void rewards_count_once_and_close_at_the_deadline(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");
    struct gbose__counts counts;
    struct seen seen;

    for (uint64_t i = 0; i < 4; i++)
        store_add_event(p, a, i, 5000 - (int64_t)i); /* the last one is due first */
    assert_false(store_reward(p, a, 1, "x", 0.5, 2000, 0, GBOSE__DONE).late);
    store_reward(p, a, 1, "x", 0.5, 2000, 0, GBOSE__REPEATED);
    store_reward(p, a, 1, "x", 0.75, 2000, 0, GBOSE__CONFLICT);
    store_reward(p, a, 1, "y", 0.25, 2001, 0, GBOSE__DONE);
    store_reward(p, a, 9, "", 1, 2000, 0, GBOSE__MISSING);
    assert_int_equal(close_due(p, a, 4996, GBOSE__SUM), 0);
    assert_int_equal(close_due(p, a, 5000, GBOSE__SUM), 4);
    assert_int_equal(close_due(p, a, 5000, GBOSE__SUM), 0);
    assert_true(store_reward(p, a, 2, "", 3, 6000, 1, GBOSE__DONE).late);
    seen = outcomes(p, a, 0);
    assert_int_equal(seen.n, 4);
    for (uint64_t i = 0; i < 4; i++) {
        assert_int_equal(seen.number[i], i + 1);
        assert_int_equal(seen.event[i], 3 - i);
    }
    assert_true(seen.reward[2] == 0.75 && seen.why[2] == GBOSE__REWARDED);
    assert_true(seen.reward[1] == -2 && seen.why[1] == GBOSE__DEFAULTED);
    assert_int_equal(outcomes(p, a, 3).n, 1);
    assert_int_equal(store_seen(p, a, 2, NULL).late, 1);
    store_ok(p, p->view->counts(p->view, a, &counts, &p->err));
    assert_int_equal(counts.events, 4);
    assert_int_equal(counts.pending, 0);
    assert_int_equal(counts.rewarded, 1);
    assert_int_equal(counts.defaulted, 3);
    assert_int_equal(counts.rewards, 3);
    assert_int_equal(counts.late, 1);
    assert_int_equal(counts.next_number, 4);
}

void rewards_are_aggregated(void **state)
{
    static const struct {
        enum gbose__aggregate how;
        double expected;
    } cases[] = {
        {GBOSE__FIRST, -4}, {GBOSE__LAST, -6}, {GBOSE__SUM, -13}, {GBOSE__MEAN, -13. / 3}, {GBOSE__MAX, -3}};
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");

    for (size_t i = 0; i < 5; i++) {
        store_add_event(p, a, i, 5000);
        store_reward(p, a, i, "b", -4, 10, 0, GBOSE__DONE);
        store_reward(p, a, i, "c", -3, 11, 0, GBOSE__DONE);
        store_reward(p, a, i, "a", -6, 12, 0, GBOSE__DONE);
        assert_int_equal(close_due(p, a, 5000, cases[i].how), 1);
        assert_true(outcomes(p, a, i).reward[0] == cases[i].expected);
    }
}

void a_final_reward_closes(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");

    store_add_event(p, a, 0, 5000);
    assert_true(store_reward(p, a, 0, "", 0.5, 2000, 1, GBOSE__DONE).closed);
    assert_false(store_reward(p, a, 0, "", 0.5, 2000, 1, GBOSE__REPEATED).closed);
    assert_int_equal(close_due(p, a, 9000, GBOSE__SUM), 0);
    assert_int_equal(outcomes(p, a, 0).n, 1);
}

void deferred_events_must_be_activated(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");
    struct gbose__change change;

    for (uint64_t i = 0; i < 2; i++) {
        change = store_event(a, i, NULL, 5000);
        change.of.event.flags = GBOSE__DEFERRED;
        apply(p, &change);
        store_reward(p, a, i, "", 1, 2000, 0, GBOSE__DONE);
    }
    change = (struct gbose__change){.kind = GBOSE__ACTIVATE_EVENT,
                                    .of.reward = {.bandit = a, .number = 1, .now = 3000}};
    assert_int_equal(apply(p, &change), GBOSE__DONE);
    assert_int_equal(apply(p, &change), GBOSE__REPEATED);
    assert_true(store_seen(p, a, 1, NULL).activated && !store_seen(p, a, 0, NULL).activated);
    close_due(p, a, 5000, GBOSE__SUM);
    assert_int_equal(outcomes(p, a, 0).why[0], GBOSE__UNUSED);
    assert_int_equal(outcomes(p, a, 0).why[1], GBOSE__REWARDED);
    change.of.reward.number = 0;
    assert_int_equal(apply(p, &change), GBOSE__DONE);
    assert_true(change.of.reward.late && !store_seen(p, a, 0, NULL).activated);
}

struct kept {
    uint64_t learned;
    char bytes[16];
};

static int keep(void *context, const struct gbose__snapshot_row *row)
{
    struct kept *kept = context;

    kept->learned = row->learned;
    snprintf(kept->bytes, sizeof kept->bytes, "%.*s", (int)row->size, (const char *)row->bytes);
    return 0;
}

static enum gbose__result add_snapshot(struct place *p, uint32_t bandit, uint64_t learned, const char *bytes,
                                       int kept)
{
    struct gbose__change change = {.kind = GBOSE__ADD_SNAPSHOT,
                                   .of.snapshot = {bandit, 1, learned, bytes, strlen(bytes), kept, 0}};

    return apply(p, &change);
}

void snapshots_replace_each_other(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");
    struct kept kept;

    assert_int_equal(p->view->snapshot(p->view, a, 1, 99, keep, &kept, &p->err), GBOSE__EABSENT);
    add_snapshot(p, a, 10, "ten", 1);
    add_snapshot(p, a, 20, "twenty", 0);
    add_snapshot(p, a, 30, "thirty", 0);
    store_ok(p, p->view->snapshot(p->view, a, 1, UINT64_MAX, keep, &kept, &p->err));
    assert_string_equal(kept.bytes, "thirty");
    store_ok(p, p->view->snapshot(p->view, a, 1, 29, keep, &kept, &p->err));
    assert_string_equal(kept.bytes, "ten");
    assert_int_equal(add_snapshot(p, a + 1, 1, "of nobody", 0), GBOSE__MISSING);
}

void a_unit_is_erased_and_old_events_are_dropped(void **state)
{
    static const char unit[GBOSE__UNIT_SIZE] = "somebody's hash";
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");
    struct gbose__change change;
    struct gbose__counts counts;
    struct kept kept;

    for (uint64_t i = 0; i < 6; i++) {
        change = store_event(a, i, i == 1 ? "mine" : NULL, 5000);
        if (i % 2)
            change.of.event.unit = unit;
        apply(p, &change);
        store_reward(p, a, i, "", 1, 2000, i < 4, GBOSE__DONE);
    }
    add_snapshot(p, a, 2, "two", 1);
    change = (struct gbose__change){.kind = GBOSE__ERASE_UNIT, .of.erase = {.bandit = a, .unit = unit}};
    assert_int_equal(apply(p, &change), GBOSE__DONE);
    assert_int_equal(change.of.erase.erased, 3);
    assert_int_equal(apply(p, &change), GBOSE__MISSING);
    assert_int_equal(p->view->snapshot(p->view, a, 1, 99, keep, &kept, &p->err), GBOSE__EABSENT);
    store_ok(p, p->view->counts(p->view, a, &counts, &p->err));
    assert_int_equal(counts.events, 6); /* that there were */
    assert_int_equal(counts.pending, 1);
    assert_int_equal(outcomes(p, a, 0).n, 2);

    change =
        (struct gbose__change){.kind = GBOSE__RETAIN, .of.erase = {.bandit = a, .before = 9000, .most = 10}};
    apply(p, &change);
    assert_int_equal(change.of.erase.erased, 0); /* nothing has learned them */
    add_snapshot(p, a, 3, "three", 0);
    apply(p, &change);
    assert_int_equal(change.of.erase.erased, 2);
    assert_int_equal(outcomes(p, a, 0).n, 0);
    change = store_event(a, 9, "mine", 5000);
    assert_int_equal(apply(p, &change), GBOSE__DONE); /* the name is free again */
    assert_true(store_reward(p, a, 9, "", 1, 2000, 1, GBOSE__DONE).closed);
    assert_int_equal(outcomes(p, a, 0).number[0], 5); /* numbers are never used again */
}

void a_bandit_goes_with_all_it_has(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a"), b = store_bandit(p, "b"), again;
    struct gbose__change change = {.kind = GBOSE__PUT_BANDIT, .of.bandit = {0, "a", "{}", 1, 5}};
    struct gbose__counts counts;

    assert_int_equal(apply(p, &change), GBOSE__CONFLICT);
    store_add_event(p, a, 0, 5000);
    store_add_event(p, b, 0, 5000);
    change = (struct gbose__change){.kind = GBOSE__DROP_BANDIT, .of.bandit.id = a};
    assert_int_equal(apply(p, &change), GBOSE__DONE);
    assert_int_equal(apply(p, &change), GBOSE__MISSING);
    again = store_bandit(p, "a");
    assert_true(again > b);
    store_ok(p, p->view->counts(p->view, a, &counts, &p->err));
    assert_int_equal(counts.events + counts.pending, 0);
    store_ok(p, p->view->counts(p->view, b, &counts, &p->err));
    assert_int_equal(counts.events, 1);
}

static int count_key(void *context, const struct gbose__key_row *row)
{
    assert_string_equal(row->note, "for the web shop");
    ++*(int *)context;
    return 0;
}

void keys_are_kept(void **state)
{
    static const unsigned char hash[GBOSE__HASH_SIZE] = {1, 2, 3};
    struct place *p = *state;
    struct gbose__change change = {.kind = GBOSE__ADD_KEY,
                                   .of.key = {"k1", hash, 5, NULL, "for the web shop", 9}};
    int n = 0;

    assert_int_equal(apply(p, &change), GBOSE__DONE);
    assert_int_equal(apply(p, &change), GBOSE__CONFLICT);
    store_ok(p, p->view->keys(p->view, count_key, &n, &p->err));
    change.kind = GBOSE__DROP_KEY;
    assert_int_equal(apply(p, &change), GBOSE__DONE);
    assert_int_equal(apply(p, &change), GBOSE__MISSING);
    store_ok(p, p->view->keys(p->view, count_key, &n, &p->err));
    assert_int_equal(n, 1);
}

void it_is_there_after_closing(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");
    unsigned char secret[32];

    store_add_event(p, a, 0, 5000);
    memcpy(secret, p->store->secret, 32);
    store_close(p);
    store_open(p);
    assert_memory_equal(secret, p->store->secret, 32);
    assert_int_equal(store_seen(p, a, 0, NULL).n, 1);
}

void a_group_happens_as_a_whole(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");
    struct gbose__change group[2] = {store_event(a, 0, NULL, 5000), store_event(a, 0, NULL, 5000)};
    struct seen seen = {0};

    /* The same number twice is a mistake of the caller, which the store does not survive by guessing. */
    assert_int_equal(p->store->apply(p->store, group, 2, &p->err), GBOSE__ESTORE);
    assert_int_equal(p->view->event(p->view, a, 0, NULL, store_see, &seen, &p->err), GBOSE__EABSENT);
    store_add_event(p, a, 0, 5000);
}

/* What several changes of one group mean for each other is what they would mean one after the other. */
void changes_of_a_group_see_each_other(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a"), b = store_bandit(p, "b");
    struct gbose__reward_change of = {
        .bandit = a, .id = "", .now = 2000, .aggregate = GBOSE__SUM, .default_reward = -2};
    struct gbose__change group[12];
    struct gbose__counts counts;
    struct seen seen;
    size_t n = 0;

    group[n++] = store_event(a, 0, "one", 5000);
    group[n++] = store_event(a, 1, "one", 5000);
    group[n++] = store_event(a, 2, "one", 5000);
    group[2].of.event.body = "{\"contexts\":[[1,2,4]]}";
    group[n++] = store_event(b, 0, "one", 5000);
    for (int i = 0; i < 6; i++) {
        struct gbose__change reward_change = {.kind = GBOSE__ADD_REWARD, .of.reward = of};

        reward_change.of.reward.name = i % 2 ? "one" : NULL; /* the same event by name and by number */
        reward_change.of.reward.value = (double[]){0.5, 0.5, 0.25, 3, 1, 1}[i];
        reward_change.of.reward.id = (const char *[]){"x", "x", "x", "y", "z", "z"}[i];
        reward_change.of.reward.final = i == 3;
        group[n++] = reward_change;
    }
    group[n++] = store_event(a, 3, NULL, 5000);
    group[n++] = (struct gbose__change){.kind = GBOSE__ADD_REWARD, .of.reward = of};
    group[11].of.reward.number = 3;
    group[11].of.reward.no_value = group[11].of.reward.final = 1;
    store_ok(p, p->store->apply(p->store, group, n, &p->err));
    assert_int_equal(group[0].result, GBOSE__DONE);
    assert_int_equal(group[1].result, GBOSE__REPEATED);
    assert_int_equal(group[1].of.event.number, 0);
    assert_int_equal(group[2].result, GBOSE__CONFLICT);
    assert_int_equal(group[3].result, GBOSE__DONE);
    assert_int_equal(group[4].result, GBOSE__DONE);
    assert_int_equal(group[5].result, GBOSE__REPEATED);
    assert_int_equal(group[6].result, GBOSE__CONFLICT);
    assert_true(group[7].result == GBOSE__DONE && group[7].of.reward.closed && !group[7].of.reward.late);
    assert_true(group[8].result == GBOSE__DONE && group[8].of.reward.late && !group[8].of.reward.closed);
    assert_int_equal(group[9].result, GBOSE__REPEATED);
    assert_true(group[11].of.reward.closed);
    seen = outcomes(p, a, 0);
    assert_int_equal(seen.n, 2);
    assert_true(seen.reward[0] == 3.5 && seen.why[0] == GBOSE__REWARDED && seen.number[0] == 1);
    assert_true(seen.reward[1] == -2 && seen.why[1] == GBOSE__DEFAULTED && seen.number[1] == 2);
    store_ok(p, p->view->counts(p->view, a, &counts, &p->err));
    assert_int_equal(counts.events, 2);
    assert_int_equal(counts.rewards, 3);
    assert_int_equal(counts.late, 1);
}

void numbers_are_leased_once(void **state)
{
    struct place *p = *state;
    struct gbose__change group[3] = {
        {.kind = GBOSE__PUT_BANDIT, .of.bandit = {0, "a", "{}", 1, 123}},
        {.kind = GBOSE__ADD_GENERATION,
         .chained = 1,
         .of.generation = {0, 1, "gbose", NULL, 3, 0, 1, 123, 0}},
        {.kind = GBOSE__LEASE_NUMBERS, .chained = 1, .of.lease = {.n = 100}},
    };
    struct gbose__counts counts;
    uint32_t a;

    store_ok(p, p->store->apply(p->store, group, 3, &p->err));
    a = group[0].of.bandit.id;
    assert_int_equal(group[2].of.lease.first, 0);
    group[2].chained = 0;
    assert_int_equal(apply(p, &group[2]), GBOSE__DONE);
    assert_int_equal(group[2].of.lease.first, 100);
    store_add_event(p, a, 100, 5000);
    assert_int_equal(apply(p, &group[2]), GBOSE__DONE);
    assert_int_equal(group[2].of.lease.first, 200);
    store_ok(p, p->view->counts(p->view, a, &counts, &p->err));
    assert_int_equal(counts.next_number, 300);
}

static int note_generation(void *context, const struct gbose__generation_row *row)
{
    ((int *)context)[row->number] = row->ready + 10 * row->wanted;
    return 0;
}

static int note_bandit(void *context, const struct gbose__bandit_row *row)
{
    snprintf(context, 64, "%s %s %u", row->name, row->settings, row->active);
    return 0;
}

void parts_of_a_bandit_change_alone(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");
    struct gbose__change change = {.kind = GBOSE__ADD_GENERATION,
                                   .of.generation = {a, 2, "lin-ts", NULL, 3, 0, 0, 5, 1}};
    int is[4] = {0};
    char text[64];

    assert_int_equal(apply(p, &change), GBOSE__DONE);
    assert_int_equal(apply(p, &change), GBOSE__CONFLICT);
    store_ok(p, p->view->generations(p->view, a, note_generation, is, &p->err));
    assert_true(is[1] == 1 && is[2] == 10);
    change =
        (struct gbose__change){.kind = GBOSE__WANT_GENERATION, .of.generation = {.bandit = a, .number = 1}};
    assert_int_equal(apply(p, &change), GBOSE__DONE);
    store_ok(p, p->view->generations(p->view, a, note_generation, is, &p->err));
    assert_true(is[1] == 11 && is[2] == 0);
    change.of.generation.number = 7;
    assert_int_equal(apply(p, &change), GBOSE__MISSING);
    change = (struct gbose__change){.kind = GBOSE__SET_READY, .of.generation = {.bandit = a, .number = 2}};
    assert_int_equal(apply(p, &change), GBOSE__DONE);
    change = (struct gbose__change){.kind = GBOSE__PUT_BANDIT, .of.bandit = {a, "a", NULL, 2, 123}};
    assert_int_equal(apply(p, &change), GBOSE__DONE);
    store_ok(p, p->view->bandits(p->view, note_bandit, text, &p->err));
    assert_string_equal(text, "a {} 2");
    change = (struct gbose__change){.kind = GBOSE__PUT_BANDIT, .of.bandit = {a, "a", "{\"cap\":1}", 0, 123}};
    assert_int_equal(apply(p, &change), GBOSE__DONE);
    store_ok(p, p->view->bandits(p->view, note_bandit, text, &p->err));
    assert_string_equal(text, "a {\"cap\":1} 2");
    store_ok(p, p->view->generations(p->view, a, note_generation, is, &p->err));
    assert_true(is[2] == 1);
}

/* A group of everything that clients and the clock do, whose first step fails, then its second, and so on until none does:
 * either all of it has happened, or nothing. */
void what_fails_has_not_happened(void **state)
{
    struct place *p = *state;
    uint32_t a = store_bandit(p, "a");
    int refused = 0, survived = 0;

    store_fault.happened = 1;
    for (int after = 0; store_fault.happened; after++) {
        uint64_t number = 10 * (uint64_t)after;
        char name[24];
        struct gbose__change group[5] = {
            store_event(a, number, NULL, 5000),
            store_event(a, number + 1, NULL, 5000),
            store_event(a, number + 2, name, 5000),
            {.kind = GBOSE__ADD_REWARD,
             .of.reward = {.bandit = a, .number = number, .id = "", .value = 1, .now = 2000, .final = 1}},
            {.kind = GBOSE__CLOSE_DUE, .of.close = {a, 9000, 1, GBOSE__SUM, -2, 0, 0}}};
        struct timespec pause = {0, 50 * 1000000};
        struct gbose__counts before, counts;
        int rc, back = -1;

        snprintf(name, sizeof name, "name %d", after);
        store_ok(p, p->view->counts(p->view, a, &before, &p->err));
        store_fault.happened = 0;
        store_fault.in = after;
        rc = p->store->apply(p->store, group, 5, &p->err);
        store_fault.in = -1;
        if (rc) {
            assert_int_equal(rc, p->failure);
            assert_true(!strncmp(p->err.text, p->says, strlen(p->says)));
        }
        refused += rc != 0;
        survived += store_fault.happened && !rc;
        for (int again = 0; again < 1 + after % 2;
             again++) { /* and it is so after the process has ended, too */
            struct seen seen = {0};

            store_ok(p, p->view->events(p->view, a, number, 64, 0, store_see, &seen, &p->err));
            assert_int_equal(seen.n, rc ? 0 : 3);
            store_ok(p, p->view->counts(p->view, a, &counts, &p->err));
            assert_int_equal(counts.outcomes, before.outcomes + (rc ? 0 : 2));
            assert_int_equal(counts.events, before.events + (rc ? 0 : 3));
            if (after % 2 && !again) {
                store_close(p);
                store_open(p);
            }
        }
        for (int i = 0; i < 1200 && (back = p->store->apply(p->store, NULL, 0, &p->err)); i++)
            nanosleep(&pause, NULL); /* it is back by itself */
        store_ok(p, back);
    }
    print_message("of %d groups with a fault %d had not happened, and %d had\n", refused + survived, refused,
                  survived);
    assert_true(refused >= p->steps && survived >= p->in_doubt);
}
