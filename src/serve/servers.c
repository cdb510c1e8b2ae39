/* GET /v1/servers: who works on this store, and how far each has come. */
#include "serve/service.h"

#include <inttypes.h>
#include <stdlib.h>

#define MOST_REPORTED 200 /* bandits in a report */

void gbose__servers_report(struct gbose__service *service, struct gbose__text *out,
                           struct gbose__bandit **all, size_t n)
{
    gbose__text_format(out, "{\"port\": %d, \"reachable\": %s, \"bandits\": [", atomic_load(&service->port),
                       atomic_load(&service->writer.failing) ? "false" : "true");
    for (size_t i = 0; i < n && i < MOST_REPORTED; i++) {
        struct gbose__model *model = gbose__bandit_model(all[i], NULL);
        uint64_t of = atomic_load(&all[i]->outcomes);

        gbose__text_format(out,
                           "%s{\"bandit\": \"%s\", \"generation\": %" PRIu32 ", \"learned\": %" PRIu64
                           ", \"behind\": %" PRIu64 ", \"leads\": %s}",
                           i ? ", " : "", all[i]->name, model->generation, model->learned,
                           of > model->learned ? of - model->learned : 0,
                           atomic_load(&all[i]->leads) ? "true" : "false");
        gbose__model_release(model);
    }
    gbose__text_add(out, "]}");
}

static int write_server(void *context, const struct gbose__server_row *row)
{
    struct gbose__text *out = context;

    gbose__text_format(out,
                       "%s{\"stream\": %" PRIu32 ", \"name\": ", out->at[out->size - 1] == '[' ? "" : ",\n ",
                       row->stream);
    gbose__text_quoted(out, row->name);
    gbose__text_add(out, ", \"started\": ");
    gbose__text_time(out, row->started);
    gbose__text_format(out, ", \"silent_ms\": %" PRId64 ", \"report\": %s}",
                       row->silent < 0 ? 0 : row->silent, row->report);
    return 0;
}

void gbose__route_servers(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    struct gbose__service *service = x->service;
    struct gbose__desk *desk = x->own;
    struct gbose__text report = {0};
    gbose_error err;
    size_t n;

    (void)args;
    x->status = 200;
    gbose__text_add(&x->out, "{\"servers\": [");
    if (desk->view->servers) {
        if (desk->view->servers(desk->view, write_server, &x->out, &err)) {
            gbose__answer_error(x, 503, "storage", "", "%s", err.text);
            return;
        }
    } else {
        struct gbose__bandit **all = gbose__registry_all(service, &n);
        struct gbose__server_row row = {.stream = 0, .name = "this server", .started = service->started};

        gbose__servers_report(service, &report, all, n);
        row.report = report.bad ? "null" : report.at;
        write_server(&x->out, &row);
        gbose__text_clear(&report);
        for (size_t i = 0; i < n; i++)
            gbose__bandit_release(all[i]);
        free(all);
    }
    gbose__text_add(&x->out, "]}\n");
}
