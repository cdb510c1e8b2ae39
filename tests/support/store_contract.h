/* The contract of a store (src/store/store.h), as a suite that takes a constructor, so that every kind of store is held
 * to the same promises. A test of one kind has a set_up and a tear_down of its own, and lists the promises by
 * STORE_PROMISES. */
#ifndef TESTS_SUPPORT_STORE_CONTRACT_H
#define TESTS_SUPPORT_STORE_CONTRACT_H

#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

/* A store under test. */
typedef int open_store(struct gbose__store **out, const char *dir, int create, int beside, gbose_error *err);

struct place {
    open_store *open;
    char *dir;
    struct gbose__store *store;
    struct gbose__view *view;
    gbose_error err;
    /* What becomes of a group when a step of the store fails: the code, and what the sentence begins with. At least so
     * many of its steps can fail; `in_doubt`: of some it must be found out whether the group has happened. */
    int failure;
    const char *says;
    int steps, in_doubt;
};

/* Faults. The store under test asks before every step that can fail, such as a write, a sync or a message: the one that comes after
 * `in` others fails, and with `stays` all later ones, too. */
struct store_fault {
    int in; /* -1: none fails */
    int stays, happened;
};
extern struct store_fault store_fault;
int store_step_fails(void);

/* What a visitor keeps. */
struct seen {
    size_t n;
    uint64_t event[64], number[64];
    double reward[64];
    enum gbose__why why[64];
    size_t rewards, late;
    int activated;
    char body[64];
};

void store_ok(struct place *p, int rc); /* rc is GBOSE_OK, or the test fails with p->err */
void store_open(struct place *p);       /* the store of p->dir, made if it is not there, and a view of it */
void store_close(struct place *p);

uint32_t store_bandit(struct place *p, const char *name); /* a new one, with a generation */
struct gbose__change store_event(uint32_t bandit, uint64_t number, const char *name, int64_t deadline);
enum gbose__result store_add_event(struct place *p, uint32_t bandit, uint64_t number, int64_t deadline);
struct gbose__reward_change store_reward(struct place *p, uint32_t bandit, uint64_t number, const char *id,
                                         double value, int64_t now, int final, enum gbose__result expected);
int store_see(void *context, const struct gbose__case *it); /* context: a struct seen */
struct seen store_seen(struct place *p, uint32_t bandit, uint64_t number, const char *name);

#define STORE_PROMISES(PROMISE)                                                                              \
    PROMISE(events_come_back_as_they_were_written)                                                           \
    PROMISE(a_name_is_taken_once)                                                                            \
    PROMISE(rewards_count_once_and_close_at_the_deadline)                                                    \
    PROMISE(rewards_are_aggregated)                                                                          \
    PROMISE(a_final_reward_closes)                                                                           \
    PROMISE(deferred_events_must_be_activated)                                                               \
    PROMISE(snapshots_replace_each_other)                                                                    \
    PROMISE(a_unit_is_erased_and_old_events_are_dropped)                                                     \
    PROMISE(a_bandit_goes_with_all_it_has)                                                                   \
    PROMISE(keys_are_kept)                                                                                   \
    PROMISE(it_is_there_after_closing)                                                                       \
    PROMISE(a_group_happens_as_a_whole)                                                                      \
    PROMISE(changes_of_a_group_see_each_other)                                                               \
    PROMISE(numbers_are_leased_once)                                                                         \
    PROMISE(parts_of_a_bandit_change_alone)                                                                  \
    PROMISE(what_fails_has_not_happened)

#define DECLARE(name) void name(void **state);
STORE_PROMISES(DECLARE)
#undef DECLARE

#endif
