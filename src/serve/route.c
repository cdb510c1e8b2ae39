/* The table of routes: method, path, who may, and who answers. */
#include "serve/service.h"

#include <stdio.h>
#include <string.h>

#include "serve/percent.h"

/* In a path {bandit} stands for the name of a bandit, and any other word in braces for one segment. */
static const struct route {
    const char *method, *path;
    unsigned role; /* 0: anybody */
    gbose__route_handler *handler;
    const char *summary;
} routes[] = {
    {"POST", "/v1/bandits/{bandit}/decide", GBOSE__MAY_DECIDE, gbose__route_decide,
     "Choose an arm; a list of requests gives a list of answers"},
    {"POST", "/v1/bandits/{bandit}/rewards", GBOSE__MAY_REWARD, gbose__route_rewards,
     "Report rewards, one or a list"},
    {"POST", "/v1/bandits/{bandit}/activate", GBOSE__MAY_REWARD, gbose__route_activate,
     "Say that a deferred decision was used"},
    {"GET", "/v1/bandits/{bandit}/events/{event}", GBOSE__MAY_READ, gbose__route_event,
     "One event: why it was decided so, and what came of it; ?recompute=1 decides again"},
    {"GET", "/v1/bandits/{bandit}/events", GBOSE__MAY_READ, gbose__route_events, "The last events; ?last=20"},
    {"GET", "/v1/bandits/{bandit}/log", GBOSE__MAY_READ, gbose__route_log,
     "All events as JSON lines; ?from= and ?to="},
    {"GET", "/v1/bandits", GBOSE__MAY_READ, gbose__route_bandits, "All bandits"},
    {"PUT", "/v1/bandits/{bandit}", GBOSE__MAY_ADMIN, gbose__route_put_bandit,
     "Make a bandit, or change its settings; another spec or schema is a new generation"},
    {"GET", "/v1/bandits/{bandit}", GBOSE__MAY_READ, gbose__route_get_bandit,
     "A bandit's settings and counts"},
    {"DELETE", "/v1/bandits/{bandit}", GBOSE__MAY_ADMIN, gbose__route_drop_bandit,
     "Delete a bandit and all it has"},
    {"GET", "/v1/bandits/{bandit}/generations", GBOSE__MAY_READ, gbose__route_generations,
     "Generations: what decides, what rests, what is learning"},
    {"POST", "/v1/bandits/{bandit}/generations", GBOSE__MAY_ADMIN, gbose__route_add_generation,
     "A new spec or schema learns the log"},
    {"PUT", "/v1/bandits/{bandit}/generations/{generation}/active", GBOSE__MAY_ADMIN,
     gbose__route_activate_generation, "Let a generation decide, or roll back to it"},
    {"DELETE", "/v1/bandits/{bandit}/units/{unit}", GBOSE__MAY_ADMIN, gbose__route_erase_unit,
     "Erase a unit, and learn again without it"},
    {"GET", "/v1/bandits/{bandit}/diagnosis", GBOSE__MAY_READ, gbose__route_diagnosis,
     "What gbose-auto has found out"},
    {"GET", "/v1/bandits/{bandit}/evaluation", GBOSE__MAY_READ, gbose__route_evaluation,
     "Compared with the base arm and with chance; ?policy="},
    {"GET", "/v1/bandits/{bandit}/effects", GBOSE__MAY_READ, gbose__route_effects,
     "What features do to the reward"},
    {"GET", "/v1/bandits/{bandit}/history", GBOSE__MAY_READ, gbose__route_history,
     "Reward, level and arms over time"},
    {"GET", "/v1/servers", GBOSE__MAY_READ, gbose__route_servers,
     "Servers on this store, and how far each has come"},
    {"GET", "/metrics", GBOSE__MAY_READ, gbose__route_metrics, "Numbers for Prometheus"},
    {"GET", "/healthz", 0, gbose__route_health, "Is the process alive"},
    {"GET", "/openapi.json", GBOSE__MAY_READ, gbose__route_openapi, "This list"},
    {"GET", "/", 0, gbose__route_asset, "The page"},
    {"GET", "/web/{file}", 0, gbose__route_asset, "The page"},
    {"GET", "/readyz", GBOSE__MAY_READ, gbose__route_ready, "Can it write"},
    {"POST", "/personalizer/{version}/rank", GBOSE__MAY_DECIDE, gbose__route_rank, "Personalizer: rank"},
    {"POST", "/personalizer/{version}/events/{event}/reward", GBOSE__MAY_REWARD, gbose__route_rank_reward,
     "Personalizer: reward"},
    {"POST", "/personalizer/{version}/events/{event}/activate", GBOSE__MAY_REWARD, gbose__route_rank_activate,
     "Personalizer: activate"},
};
#define N_ROUTES (sizeof routes / sizeof *routes)

/* What a path holds in its variable places, percent signs as they came. */
struct found {
    char bandit[GBOSE__MAX_BANDIT_NAME + 2];
    char rest[3 * GBOSE__MAX_NAME + 2];
};

static void keep(char *to, size_t capacity, const char *from, size_t size)
{
    size = size < capacity ? size : capacity - 1;
    memcpy(to, from, size);
    to[size] = 0;
}

static int matches(const char *pattern, const char *path, struct found *found)
{
    while (*pattern && *path) {
        if (*pattern == '{') {
            const char *after = strchr(pattern, '}') + 1;
            size_t size = strcspn(path, "/");

            if (!*after && strcmp(pattern, "{bandit}"))
                size = strlen(path); /* the last word takes all: an event's name may have slashes */
            if (!size)
                return 0;
            if (!strncmp(pattern, "{bandit}", 8))
                keep(found->bandit, sizeof found->bandit, path, size);
            else
                keep(found->rest, sizeof found->rest, path, size);
            pattern = after;
            path += size;
        } else if (*pattern++ != *path++) {
            return 0;
        }
    }
    return !*pattern && !*path;
}

/* ---- the table as OpenAPI ---- */

static void write_operation(struct gbose__text *out, const struct route *r)
{
    static const char *const roles[] = {"decide", "reward", "read", "admin"};
    const char *body = !strcmp(r->method, "POST") && r->handler == gbose__route_decide    ? "Decide"
                       : !strcmp(r->method, "POST") && r->handler == gbose__route_rewards ? "Reward"
                       : r->handler == gbose__route_put_bandit                            ? "Settings"
                                                                                          : NULL;
    int any = 0;

    gbose__text_format(out, "\"%c%c%c%s\": {\"summary\": \"%s\"", r->method[0] | 32, r->method[1] | 32,
                       r->method[2] | 32,
                       !strcmp(r->method, "POST")     ? "t"
                       : !strcmp(r->method, "DELETE") ? "ete"
                                                      : "",
                       r->summary);
    for (int i = 0; i < 4; i++)
        if (r->role & 1u << i)
            gbose__text_format(out, ", \"x-role\": \"%s\", \"security\": [{\"key\": []}]", roles[i]);
    gbose__text_add(out, ", \"parameters\": [");
    for (const char *c = strchr(r->path, '{'); c; c = strchr(c + 1, '{'))
        gbose__text_format(
            out,
            "%s{\"name\": \"%.*s\", \"in\": \"path\", \"required\": true, \"schema\": {\"type\": "
            "\"string\"}}",
            any++ ? ", " : "", (int)strcspn(c + 1, "}"), c + 1);
    gbose__text_add(out, "]");
    if (body)
        gbose__text_format(
            out,
            ", \"requestBody\": {\"required\": true, \"content\": {\"application/json\": {\"schema\": "
            "{\"$ref\": \"#/components/schemas/%s\"}}}}",
            body);
    gbose__text_add(
        out,
        ", \"responses\": {\"2XX\": {\"description\": \"done\"}, \"default\": {\"description\": \"an "
        "error\", "
        "\"content\": {\"application/json\": {\"schema\": {\"$ref\": \"#/components/schemas/Error\"}}}}}}");
}

/* The fields that a body may have, each with the JSON types that it accepts. */
static void write_fields(struct gbose__text *out, const struct gbose__field *f, size_t n, int *any)
{
    static const char *const types[] = {"null", "boolean", "boolean", "number", "string", "array", "object"};

    for (size_t i = 0; i < n; i++) {
        const char *last = "";

        gbose__text_format(out, "%s\"%s\": {\"type\": [\"null\"", (*any)++ ? ", " : "", f[i].name);
        for (size_t k = 1; k < 7; k++)
            if (f[i].kinds & GBOSE__IS(k) && strcmp(last, types[k])) {
                gbose__text_format(out, ", \"%s\"", types[k]);
                last = types[k];
            }
        gbose__text_add(out, f[i].kinds & GBOSE__IS(GBOSE__LIST) ? "], \"items\": {}}" : "]}");
    }
}

static void write_components(struct gbose__text *out)
{
    const struct gbose__field *decide, *rewards, *bandit;
    size_t n_decide = gbose__route_decide_fields(&decide), n_rewards = gbose__route_rewards_fields(&rewards),
           n_bandit = gbose__route_bandit_fields(&bandit);
    int any = 0;

    gbose__text_add(
        out,
        "\"components\": {\"securitySchemes\": {\"key\": {\"type\": \"http\", \"scheme\": \"bearer\"}}, "
        "\"schemas\": {\"Error\": {\"type\": \"object\", \"properties\": {\"error\": {\"type\": \"object\", "
        "\"properties\": {\"code\": {\"type\": \"string\"}, \"message\": {\"type\": \"string\"}, "
        "\"at\": {\"type\": [\"string\", \"null\"]}}}}},\n \"Decide\": {\"type\": \"object\", "
        "\"additionalProperties\": false, \"properties\": {");
    write_fields(out, gbose__ask_fields, GBOSE__IN_FIELDS, &any);
    write_fields(out, decide, n_decide, &any);
    gbose__text_add(
        out, "}},\n \"Reward\": {\"type\": \"object\", \"additionalProperties\": false, \"properties\": {");
    any = 0;
    write_fields(out, rewards, n_rewards, &any);
    gbose__text_add(
        out, "}},\n \"Settings\": {\"type\": \"object\", \"additionalProperties\": false, \"properties\": {");
    any = 0;
    write_fields(out, gbose__settings_fields, GBOSE__SET_FIELDS, &any);
    write_fields(out, bandit, n_bandit, &any);
    gbose__text_add(out, "}}}}");
}

void gbose__route_openapi(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    struct gbose__text *out = &x->out;
    int any = 0;

    (void)args;
    x->status = 200;
    gbose__text_format(
        out,
        "{\"openapi\": \"3.1.0\", \"info\": {\"title\": \"gbose serve\", \"version\": \"%s\"},\n\"paths\": {",
        gbose_version());
    for (size_t i = 0; i < N_ROUTES; i++) {
        int seen = 0;

        for (size_t k = 0; k < i; k++)
            seen |= !strcmp(routes[k].path, routes[i].path);
        if (seen)
            continue;
        gbose__text_format(out, "%s\"%s\": {", any++ ? ",\n " : "", routes[i].path);
        for (size_t k = i, first = 1; k < N_ROUTES; k++)
            if (!strcmp(routes[k].path, routes[i].path)) {
                gbose__text_add(out, first ? "" : ", ");
                write_operation(out, &routes[k]);
                first = 0;
            }
        gbose__text_add(out, "}");
    }
    gbose__text_add(out, "},\n");
    write_components(out);
    gbose__text_add(out, "}\n");
}

/* ---- finding the route ---- */

/* There is something at this path, and it answers to other methods. */
static void answer_wrong_method(struct gbose__exchange *x)
{
    static const char *const methods[] = {"GET", "PUT", "POST", "DELETE"};
    struct found found;
    char *allowed = gbose__arena_take(&x->arena, 64);
    size_t n = 0;

    if (!allowed) {
        gbose__answer_error(x, 503, "no_memory", "", "out of memory");
        return;
    }
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (size_t i = 0; i < N_ROUTES; i++)
            if (!strcmp(routes[i].method, methods[m]) && matches(routes[i].path, x->path, &found))
                n += (size_t)snprintf(allowed + n, 64 - n, "%s%s", n ? ", " : "", methods[m]);
    x->header[x->n_headers][0] = "Allow";
    x->header[x->n_headers++][1] = allowed;
    gbose__answer_error(x, 405, "wrong_method", "", "this path answers to %s, not to %.10s", allowed,
                        x->method);
}

/* What a request may have to wait for before its handler is called. */
enum { NEW, CAUGHT_UP, IN_TURN };

static void dispatch(struct gbose__exchange *x, int step);

static void go_on(struct gbose__exchange *x)
{
    const struct gbose__job *job = x->work;

    x->work = NULL;
    if (job->rc)
        gbose__answer_failed(x, job);
    else
        dispatch(x, CAUGHT_UP);
}

static void take_turn(struct gbose__exchange *x)
{
    dispatch(x, IN_TURN);
}

/* Decisions that were answered may still be in the journal alone: who reads the store waits until it has them. Returns 1 if there is
 * something to wait for; the exchange is then dispatched again. */
static int catch_up(struct gbose__exchange *x)
{
    struct gbose__service *service = x->service;
    struct gbose__job *job;

    if (!atomic_load(&service->writer.noted) || !(job = gbose__arena_take(&x->arena, sizeof *job)))
        return 0;
    *job =
        (struct gbose__job){.exchange = x}; /* it changes nothing, and is done when all in front of it is */
    x->work = job;
    x->finish = go_on;
    gbose__http_park(x);
    gbose__writer_submit(service, job);
    return 1;
}

static void dispatch(struct gbose__exchange *x, int step)
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
        answer_wrong_method(x);
        return;
    }
    if (!route) {
        gbose__answer_error(x, 404, "no_such_path", "",
                            "there is nothing at this path; /openapi.json lists what there is");
        return;
    }
    if (gbose__percent_decode(found.bandit) || gbose__percent_decode(found.rest)) {
        gbose__answer_error(x, 400, "bad_path", "",
                            "the path has a percent sign without the code of a character behind it");
        return;
    }
    if (route->role && !gbose__keys_allow(x, route->role, found.bandit))
        return;
    if (*found.bandit) {
        args.bandit = gbose__registry_find(service, found.bandit);
        if (!args.bandit && route->handler != gbose__route_put_bandit) {
            gbose__answer_error(x, 404, "no_such_bandit", "",
                                "there is no bandit '%s'; make it with PUT /v1/bandits/%s", found.bandit,
                                found.bandit);
            return;
        }
        if (!args.bandit)
            snprintf(found.rest, sizeof found.rest, "%s", found.bandit); /* the name of one to be made */
    }
    if (step == NEW && route->role == GBOSE__MAY_READ && !strncmp(x->path, "/v1/bandits", 11) &&
        catch_up(x)) {
        ;
    } else if (step != IN_TURN && (route->role == GBOSE__MAY_READ || route->role == GBOSE__MAY_ADMIN)) {
        x->finish = take_turn; /* reading a log, or learning it again: decisions and rewards go first */
        gbose__http_later(x);
    } else {
        route->handler(x, &args);
    }
    gbose__bandit_release(args.bandit);
}

void gbose__route(struct gbose__exchange *x)
{
    dispatch(x, NEW);
}
