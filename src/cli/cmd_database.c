/* gbose store: what is done to a store as a whole. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "store/store.h"

/* ---- init and migrate ---- */

static int migrate(const char *command, const char *where, int make)
{
    gbose_error err = {0};
    int from = 0, to = 0;

    if (!gbose__store_is_postgres(where))
        return usage_error(command,
                           "this takes postgresql://USER@HOST/DATABASE, not '%s'; gbose serve makes and "
                           "migrates a directory by itself",
                           where);
#ifdef GBOSE_POSTGRES
    if (gbose__postgres_migrate(where, make, &from, &to, &err))
        return command_failed(command, &err);
#else
    (void)make;
    gbose__store_open(&(struct gbose__store *){NULL}, where, 0, 1, &err);
    return command_failed(command, &err);
#endif
    if (from == to)
        printf("the store exists and has version %d: nothing to do\n", to);
    else if (!from)
        printf("made a store of version %d\n", to);
    else
        printf("brought the store from version %d to %d\n", from, to);
    return EXIT_FINE;
}

/* ---- check ---- */

struct checking {
    struct gbose__view *view; /* reading inside a visit needs another one */
    gbose_error *err;
    uint64_t events, rewards, outcomes, snapshots;
    uint64_t last; /* number of the event or the outcome seen last */
    size_t n;
    int wrong;
};

static int check_event(void *context, const struct gbose__case *it)
{
    struct checking *c = context;

    c->n++;
    c->events++;
    c->rewards += it->n_rewards;
    c->last = it->event->number;
    return 0;
}

static int check_outcome(void *context, const struct gbose__case *it)
{
    struct checking *c = context;

    c->n++;
    c->outcomes++;
    c->last = it->outcome->number;
    return 0;
}

static int check_snapshot(void *context, const struct gbose__snapshot_row *row)
{
    struct checking *c = context;
    gbose *g;
    int rc = gbose_load(&g, row->bytes, row->size, c->err);

    if (rc)
        return rc;
    gbose_free(g);
    c->snapshots++;
    return 0;
}

static int check_generation(void *context, const struct gbose__generation_row *row)
{
    struct checking *c = context;
    int rc = c->view->snapshot(c->view, row->bandit, row->number, UINT64_MAX, check_snapshot, c, c->err);

    return rc == GBOSE__EABSENT ? 0 : rc;
}

static int check_bandit(void *context, const struct gbose__bandit_row *row)
{
    struct checking *c = context;
    struct gbose__counts counts;
    uint64_t events = c->events, outcomes = c->outcomes;
    int rc = c->view->generations(c->view, row->id, check_generation, c, c->err);

    c->last = UINT64_MAX;
    do {
        c->n = 0;
        rc = rc ? rc : c->view->events(c->view, row->id, c->last + 1, 500, 0, check_event, c, c->err);
    } while (!rc && c->n);
    c->last = 0;
    do {
        c->n = 0;
        rc =
            rc ? rc : c->view->outcomes(c->view, row->id, c->last, UINT64_MAX, 500, check_outcome, c, c->err);
    } while (!rc && c->n);
    if (!rc)
        rc = c->view->counts(c->view, row->id, &counts, c->err);
    if (rc)
        return rc;
    printf("%s: %" PRIu64 " events, %" PRIu64 " of them closed\n", row->name, c->events - events,
           c->outcomes - outcomes);
    if (c->events - events < counts.pending || c->outcomes - outcomes > counts.outcomes) {
        fprintf(stderr,
                "gbose store: bandit '%s' should have %" PRIu64 " pending events and up to %" PRIu64
                " outcomes\n",
                row->name, counts.pending, counts.outcomes);
        c->wrong = 1;
    }
    return 0;
}

static int check(const char *command, const char *where)
{
    struct gbose__store *store = NULL;
    struct gbose__view *first = NULL;
    gbose_error err = {0};
    struct checking c = {.err = &err};
    int rc = gbose__store_open(&store, where, 0, 1, &err);

    if (!rc)
        rc = store->view(store, &first, &err);
    if (!rc)
        rc = store->view(store, &c.view, &err);
    if (!rc)
        rc = first->bandits(first, check_bandit, &c, &err);
    if (!rc)
        printf("%" PRIu64 " events, %" PRIu64 " rewards, %" PRIu64 " outcomes and %" PRIu64
               " snapshots match their checksums\n",
               c.events, c.rewards, c.outcomes, c.snapshots);
    if (c.view)
        c.view->close(c.view);
    if (first)
        first->close(first);
    if (store)
        store->close(store);
    return rc ? command_failed(command, &err) : c.wrong ? EXIT_BROKEN : EXIT_FINE;
}

static int run(int argc, char **argv)
{
    struct arg args[] = {{"", MANY, NULL, 0, 0}, {NULL, 0, NULL, 0, 0}};
    int rc = args_parse(argc, argv, args);
    const char *verb = !rc && args[0].n == 2 ? args[0].value[0] : "";

    if (rc)
        ;
    else if (!strcmp(verb, "init"))
        rc = migrate(argv[0], args[0].value[1], 1);
    else if (!strcmp(verb, "migrate"))
        rc = migrate(argv[0], args[0].value[1], 0);
    else if (!strcmp(verb, "check"))
        rc = check(argv[0], args[0].value[1]);
    else
        rc = usage_error(argv[0],
                         "usage: gbose store init URL, gbose store migrate URL, gbose store check DATA");
    args_clear(args);
    return rc;
}

const struct command cmd_database = {
    "store", "create, migrate and check a store",
    "Usage: gbose store init URL\n"
    "       gbose store migrate URL\n"
    "       gbose store check DATA\n"
    "\n"
    "URL is postgresql://USER@HOST:PORT/DATABASE, or any other that libpq takes; the store is the schema "
    "named gbose in that database. The\n"
    "password is best given by PGPASSFILE or PGPASSWORD. DATA is a URL or the directory of gbose serve "
    "--data.\n"
    "\n"
    "  init     create the store, unless it exists (gbose serve does that too)\n"
    "  migrate  bring it to the version of this program, once all servers of an older version have been "
    "stopped\n"
    "  check    read everything and compare it with its checksums. Servers may be running\n",
    run};
