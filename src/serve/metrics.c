/* Numbers for Prometheus, and the answers to "is it alive" and "does it work". */
#include "serve/service.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

struct servers {
    struct gbose__text *out;
    struct gbose__document *document;
    const char *field; /* of the report: "learned" or "behind" */
};

/* One line for each bandit of a server's report: {"bandits": [{"bandit", "generation", "learned", ...}]}. */
static int write_server(void *context, const struct gbose__server_row *row)
{
    struct servers *s = context;
    const struct gbose__document *d = s->document;
    struct gbose__field f[] = {{"bandits", GBOSE__IS(GBOSE__LIST), 1, 0},
                               {"port", GBOSE__IS(GBOSE__NUMBER), 0, 0},
                               {"reachable", GBOSE__IS_FLAG, 0, 0}};
    struct gbose__problem p;
    const char *message;
    size_t where;
    uint32_t at;

    if (gbose__document_read(s->document, row->report, strlen(row->report), &message, &where) ||
        gbose__fields_read(d, 0, f, 3, "", &p))
        return 0;
    at = f[0].at + 1;
    for (uint32_t i = 0; i < d->value[f[0].at].count; i++, at = d->value[at].next) {
        struct gbose__field of[] = {{"bandit", GBOSE__IS(GBOSE__TEXT), 1, 0},
                                    {"generation", GBOSE__IS(GBOSE__NUMBER), 1, 0},
                                    {"learned", GBOSE__IS(GBOSE__NUMBER), 1, 0},
                                    {"behind", GBOSE__IS(GBOSE__NUMBER), 1, 0},
                                    {"leads", GBOSE__IS_FLAG, 0, 0}};
        char name[GBOSE__MAX_BANDIT_NAME + 1];
        double generation, value;
        int behind = !strcmp(s->field, "behind");

        if (gbose__fields_read(d, at, of, 5, "", &p) ||
            d->value[of[0].at].end - d->value[of[0].at].begin > GBOSE__MAX_BANDIT_NAME ||
            gbose__fields_number(d, of[1].at, 0, 1e15, &generation, "", "generation", &p) ||
            gbose__fields_number(d, of[2 + behind].at, 0, 1e15, &value, "", s->field, &p))
            return 0;
        gbose__document_text(d, of[0].at, name);
        gbose__text_format(s->out,
                           "gbose_server_%s{stream=\"%" PRIu32 "\",bandit=\"%s\",generation=\"%.0f\"} %.0f\n",
                           s->field, row->stream, name, generation, value);
    }
    return 0;
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
    int away = 0;
    gbose_error err;

    for (size_t i = 0; i < n && counts && !away; i++)
        away = desk->view->counts(desk->view, all[i]->id, &counts[i], &err);
    for (size_t k = 0; k < sizeof column / sizeof *column && counts; k++) {
        gbose__text_format(out, "# HELP %s %s\n# TYPE %s %s\n", column[k].name, column[k].help,
                           column[k].name, column[k].type);
        for (size_t i = 0; i < n && !away; i++) /* a counter that cannot be read is not 0 */
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
    }
    gbose__text_add(
        out, "# HELP gbose_model_behind Outcomes that the active model of this server has not learned.\n"
             "# TYPE gbose_model_behind gauge\n");
    for (size_t i = 0; i < n; i++) {
        struct gbose__model *model = gbose__bandit_model(all[i], NULL);
        uint64_t outcomes = atomic_load(&all[i]->outcomes);

        gbose__text_format(out, "gbose_model_behind{bandit=\"%s\"} %" PRIu64 "\n", all[i]->name,
                           outcomes > model->learned ? outcomes - model->learned : 0);
        gbose__model_release(model);
    }
    gbose__text_add(out, "# HELP gbose_leads Does this server train the bandit.\n# TYPE gbose_leads gauge\n");
    for (size_t i = 0; i < n; i++) {
        gbose__text_format(out, "gbose_leads{bandit=\"%s\"} %d\n", all[i]->name, atomic_load(&all[i]->leads));
        gbose__bandit_release(all[i]);
    }
    free(all);
    free(counts);
}

/* The store, and the other servers on it. */
static void write_fleet(struct gbose__exchange *x, struct gbose__text *out)
{
    struct gbose__service *service = x->service;
    struct gbose__desk *desk = x->own;
    struct servers servers = {out, &desk->stored, "learned"};
    gbose_error err;

    gbose__text_format(
        out,
        "# HELP gbose_store_reachable Could the last group be written.\n# TYPE gbose_store_reachable gauge\n"
        "gbose_store_reachable %d\n"
        "# HELP gbose_buffered_changes Changes that wait to be written.\n# TYPE gbose_buffered_changes "
        "gauge\n"
        "gbose_buffered_changes %zu\n",
        !atomic_load(&service->writer.failing), (size_t)atomic_load(&service->writer.queued));
    if (!desk->view->servers)
        return;
    gbose__text_format(out,
                       "# HELP gbose_stream The stream that this server has leased.\n# TYPE gbose_stream "
                       "gauge\ngbose_stream %" PRIu32
                       "\n# HELP gbose_server_learned Outcomes that a server's active model has learned, by "
                       "its own report.\n"
                       "# TYPE gbose_server_learned gauge\n",
                       service->fleet.stream);
    desk->view->servers(desk->view, write_server, &servers, &err);
    gbose__text_add(out, "# HELP gbose_server_behind Outcomes that it has not learned, by its own report.\n"
                         "# TYPE gbose_server_behind gauge\n");
    servers.field = "behind";
    desk->view->servers(desk->view, write_server, &servers, &err);
}

void gbose__metrics_answer(struct gbose__exchange *x)
{
    struct gbose__service *service = x->service;

    if (x->status >= 100 && x->status < 600)
        atomic_fetch_add(&service->metrics.status[x->status / 100], 1);
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
        [GBOSE__N_LOST] = {"gbose_lost_total", "Decisions answered as not durable that could not be stored."},
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
    write_fleet(x, out);
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

    int failing = atomic_load(&service->writer.failing);
    size_t queued = atomic_load(&service->writer.queued);

    (void)args;
    if (!failing) {
        x->status = 200;
        gbose__text_add(&x->out, "{\"status\": \"ready\"}\n");
    } else if (gbose__http_query(x, "relaxed") && queued < GBOSE__MOST_BEHIND) {
        x->status = 200;
        gbose__text_format(&x->out, "{\"status\": \"store away\", \"buffered\": %zu, \"most\": %d}\n", queued,
                           GBOSE__MOST_BEHIND);
    } else {
        gbose__answer_error(x, 503, "storage", "",
                            "the last transaction could not be written; %zu changes wait. Relaxed bandits "
                            "are still answered: "
                            "/readyz?relaxed",
                            queued);
    }
}
