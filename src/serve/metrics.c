/* Numbers for Prometheus, and the answers to "is it alive" and "does it work". */
#include "serve/service.h"

#include <inttypes.h>
#include <stdlib.h>

void gbose__metrics_time(atomic_uint_fast64_t *buckets, atomic_uint_fast64_t *sum, int64_t microseconds)
{
    int i = 0;

    while (i < GBOSE__LATENCY_BUCKETS && microseconds > (INT64_C(100) << i))
        i++;
    atomic_fetch_add(&buckets[i], 1);
    atomic_fetch_add(sum, (uint_fast64_t)microseconds);
}

static void write_histogram(struct gbose__text *out, const char *name, const char *help,
                            atomic_uint_fast64_t *buckets, atomic_uint_fast64_t *sum)
{
    uint64_t total = 0;

    gbose__text_format(out, "# HELP %s %s\n# TYPE %s histogram\n", name, help, name);
    for (int i = 0; i < GBOSE__LATENCY_BUCKETS; i++) {
        total += atomic_load(&buckets[i]);
        gbose__text_format(out, "%s_bucket{le=\"%g\"} %" PRIu64 "\n", name, 1e-4 * (double)(1 << i), total);
    }
    total += atomic_load(&buckets[GBOSE__LATENCY_BUCKETS]);
    gbose__text_format(out, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n%s_sum %g\n%s_count %" PRIu64 "\n", name,
                       total, name, 1e-6 * (double)atomic_load(sum), name, total);
}

static void write_bandits(struct gbose__exchange *x, struct gbose__text *out)
{
    static const struct {
        const char *name, *type, *help;
        size_t at;
    } column[] = {
        {"gbose_events_total", "counter", "Decisions made.", offsetof(struct gbose__counts, events)},
        {"gbose_events_pending", "gauge", "Decisions that wait for their reward.",
         offsetof(struct gbose__counts, pending)},
        {"gbose_events_rewarded_total", "counter", "Closed with a reward.",
         offsetof(struct gbose__counts, rewarded)},
        {"gbose_events_defaulted_total", "counter", "Closed with the default reward.",
         offsetof(struct gbose__counts, defaulted)},
        {"gbose_events_unused_total", "counter", "Deferred and never activated.",
         offsetof(struct gbose__counts, unused)},
        {"gbose_rewards_total", "counter", "Rewards received.", offsetof(struct gbose__counts, rewards)},
        {"gbose_rewards_late_total", "counter", "Rewards that came too late.",
         offsetof(struct gbose__counts, late)},
        {"gbose_outcomes_total", "counter", "Events closed.", offsetof(struct gbose__counts, outcomes)},
    };
    struct gbose__desk *desk = x->own;
    size_t n;
    struct gbose__bandit **all = gbose__registry_all(x->service, &n);
    struct gbose__counts *counts = calloc(n + 1, sizeof *counts);
    gbose_error err;

    for (size_t i = 0; i < n && counts; i++)
        desk->view->counts(desk->view, all[i]->id, &counts[i], &err);
    for (size_t k = 0; k < sizeof column / sizeof *column && counts; k++) {
        gbose__text_format(out, "# HELP %s %s\n# TYPE %s %s\n", column[k].name, column[k].help,
                           column[k].name, column[k].type);
        for (size_t i = 0; i < n; i++)
            gbose__text_format(out, "%s{bandit=\"%s\"} %" PRIu64 "\n", column[k].name, all[i]->name,
                               *(const uint64_t *)((const char *)&counts[i] + column[k].at));
    }
    gbose__text_add(out, "# HELP gbose_model_learned Outcomes that the active model has learned.\n"
                         "# TYPE gbose_model_learned gauge\n");
    for (size_t i = 0; i < n; i++) {
        struct gbose__model *model = gbose__bandit_model(all[i], NULL);

        gbose__text_format(out, "gbose_model_learned{bandit=\"%s\",generation=\"%" PRIu32 "\"} %" PRIu64 "\n",
                           all[i]->name, model->generation, model->learned);
        gbose__model_release(model);
        gbose__bandit_release(all[i]);
    }
    free(all);
    free(counts);
}

void gbose__route_metrics(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    static const struct {
        const char *name, *help;
    } counter[GBOSE__N_COUNTERS] = {
        [GBOSE__N_DECIDE] = {"gbose_decisions_total", "Decisions, by this process."},
        [GBOSE__N_REPEATED] = {"gbose_repeated_total", "Decisions that were asked for again."},
        [GBOSE__N_REWARD] = {"gbose_reward_calls_total", "Rewards, by this process."},
        [GBOSE__N_LATE] = {"gbose_late_calls_total", "Late rewards, by this process."},
        [GBOSE__N_GROUPS] = {"gbose_commits_total", "Transactions."},
        [GBOSE__N_CHANGES] = {"gbose_changes_total", "Changes in them."},
        [GBOSE__N_FAILED_GROUPS] = {"gbose_failed_commits_total", "Transactions that the disk refused."},
        [GBOSE__N_LEARNED] = {"gbose_learned_total", "Outcomes learned."},
        [GBOSE__N_SNAPSHOTS] = {"gbose_snapshots_total", "Snapshots stored."},
        [GBOSE__N_REFUSED] = {"gbose_refused_total", "Requests without the right key."},
    };
    struct gbose__service *service = x->service;
    struct gbose__text *out = &x->out;

    (void)args;
    x->status = 200;
    x->type = "text/plain; version=0.0.4";
    for (int i = 0; i < GBOSE__N_COUNTERS; i++)
        gbose__text_format(out, "# HELP %s %s\n# TYPE %s counter\n%s %" PRIuFAST64 "\n", counter[i].name,
                           counter[i].help, counter[i].name, counter[i].name,
                           atomic_load(&service->metrics.counter[i]));
    gbose__text_add(out,
                    "# HELP gbose_answers_total Answers by status.\n# TYPE gbose_answers_total counter\n");
    for (int i = 2; i < 6; i++)
        gbose__text_format(out, "gbose_answers_total{status=\"%dxx\"} %" PRIuFAST64 "\n", i,
                           atomic_load(&service->metrics.status[i]));
    gbose__text_format(
        out,
        "# HELP gbose_connections Open connections.\n# TYPE gbose_connections gauge\ngbose_connections "
        "%" PRIu64
        "\n# HELP gbose_start_time_seconds When the process started.\n# TYPE gbose_start_time_seconds gauge\n"
        "gbose_start_time_seconds %.3f\n",
        gbose__http_connections(service->http), (double)service->started / 1000);
    write_histogram(out, "gbose_decide_seconds", "From a decide request to its answer.",
                    service->metrics.decide_bucket, &service->metrics.decide_microseconds);
    write_histogram(out, "gbose_commit_seconds", "One transaction.", service->metrics.commit_bucket,
                    &service->metrics.commit_microseconds);
    write_bandits(x, out);
}

void gbose__route_health(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    (void)args;
    x->status = 200;
    gbose__text_format(&x->out, "{\"status\": \"alive\", \"version\": \"%s\"}\n", gbose_version());
}

void gbose__route_ready(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    struct gbose__service *service = x->service;

    (void)args;
    if (service->writer.failing)
        gbose__answer_error(x, 503, "storage", "", "the last transaction could not be written");
    else
        x->status = 200, gbose__text_add(&x->out, "{\"status\": \"ready\"}\n");
}
