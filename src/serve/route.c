/* The table of routes: method, path, who may, and who answers. */
#include "serve/service.h"

#include <stdio.h>
#include <string.h>

/* In a path {bandit} stands for the name of a bandit, * for any one segment, and a final ** for all that follows. */
static const struct route {
    const char *method, *path;
    unsigned role; /* 0: anybody */
    gbose__route_handler *handler;
} routes[] = {
    {"POST", "/v1/bandits/{bandit}/decide", GBOSE__MAY_DECIDE, gbose__route_decide},
    {"POST", "/v1/bandits/{bandit}/rewards", GBOSE__MAY_REWARD, gbose__route_rewards},
    {"POST", "/v1/bandits/{bandit}/activate", GBOSE__MAY_REWARD, gbose__route_activate},
    {"GET", "/v1/bandits/{bandit}/events/*", GBOSE__MAY_READ, gbose__route_event},
    {"GET", "/v1/bandits/{bandit}/events", GBOSE__MAY_READ, gbose__route_events},
    {"GET", "/v1/bandits/{bandit}/log", GBOSE__MAY_READ, gbose__route_log},
    {"GET", "/v1/bandits", GBOSE__MAY_READ, gbose__route_bandits},
    {"PUT", "/v1/bandits/{bandit}", GBOSE__MAY_ADMIN, gbose__route_put_bandit},
    {"GET", "/v1/bandits/{bandit}", GBOSE__MAY_READ, gbose__route_get_bandit},
    {"DELETE", "/v1/bandits/{bandit}", GBOSE__MAY_ADMIN, gbose__route_drop_bandit},
    {"GET", "/v1/bandits/{bandit}/generations", GBOSE__MAY_READ, gbose__route_generations},
    {"POST", "/v1/bandits/{bandit}/generations", GBOSE__MAY_ADMIN, gbose__route_add_generation},
    {"PUT", "/v1/bandits/{bandit}/generations/*/active", GBOSE__MAY_ADMIN, gbose__route_activate_generation},
    {"DELETE", "/v1/bandits/{bandit}/units/*", GBOSE__MAY_ADMIN, gbose__route_erase_unit},
    {"GET", "/v1/bandits/{bandit}/diagnosis", GBOSE__MAY_READ, gbose__route_diagnosis},
    {"GET", "/metrics", GBOSE__MAY_READ, gbose__route_metrics},
    {"GET", "/healthz", 0, gbose__route_health},
    {"GET", "/readyz", GBOSE__MAY_READ, gbose__route_ready},
};
#define N_ROUTES (sizeof routes / sizeof *routes)

/* What a path holds in its variable places. */
struct found {
    char bandit[GBOSE__MAX_BANDIT_NAME + 2];
    char rest[3 * GBOSE__MAX_NAME + 2];
};

static void keep(char *to, size_t capacity, const char *from, size_t size)
{
    snprintf(to, capacity, "%.*s", (int)(size < capacity ? size : capacity), from);
}

static int matches(const char *pattern, const char *path, struct found *found)
{
    while (*pattern && *path) {
        size_t size = strcspn(path, "/");

        if (*pattern == '{' || *pattern == '*') {
            if (!size)
                return 0;
            if (*pattern == '{')
                keep(found->bandit, sizeof found->bandit, path, size);
            else
                keep(found->rest, sizeof found->rest, path, size);
            pattern += *pattern == '{' ? strlen("{bandit}") : 1;
            path += size;
        } else if (*pattern++ != *path++) {
            return 0;
        }
    }
    return !*pattern && !*path;
}

static void dispatch(struct gbose__exchange *x)
{
    struct gbose__service *service = x->service;
    const struct route *route = NULL;
    const char *method = strcmp(x->method, "HEAD") ? x->method : "GET";
    struct found found = {"", ""};
    struct gbose__route_args args = {NULL, found.rest};
    int known = 0;

    for (size_t i = 0; i < N_ROUTES && !route; i++)
        if (matches(routes[i].path, x->path, &found)) {
            known = 1;
            if (!strcmp(routes[i].method, method))
                route = &routes[i];
        }
    if (!route && known) {
        gbose__answer_error(x, 405, "wrong_method", "", "this path does not answer to %.10s", x->method);
        return;
    }
    if (!route) {
        gbose__answer_error(x, 404, "no_such_path", "",
                            "there is nothing at this path; /openapi.json lists what there is");
        return;
    }
    if (route->role && !gbose__keys_allow(x, route->role, found.bandit))
        return;
    if (*found.bandit) {
        args.bandit = gbose__registry_find(service, found.bandit);
        if (!args.bandit && strcmp(method, "PUT")) {
            gbose__answer_error(x, 404, "no_such_bandit", "",
                                "there is no bandit '%s'; make it with PUT /v1/bandits/%s", found.bandit,
                                found.bandit);
            return;
        }
        if (!args.bandit)
            snprintf(found.rest, sizeof found.rest, "%s", found.bandit); /* the name of one to be made */
    }
    route->handler(x, &args);
    gbose__bandit_release(args.bandit);
}

void gbose__route(struct gbose__exchange *x)
{
    struct gbose__service *service = x->service;

    dispatch(x);
    if (x->status >= 100 && x->status < 600)
        atomic_fetch_add(&service->metrics.status[x->status / 100], 1);
}
