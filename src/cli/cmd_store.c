/* gbose rebuild, backup and key: what is done to a store by hand. */
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "serve/fold.h"
#include "serve/service.h"

/* The only argument that stands alone, or NULL after a message. */
static const char *alone(const char *command, const struct arg *arg, int which, int needed, const char *usage)
{
    if (arg->n == needed)
        return arg->value[which];
    usage_error(command, "usage: %s", usage);
    return NULL;
}

/* ---- rebuild ---- */

struct rebuilding {
    struct gbose__store *store;
    struct gbose__view *view, *second;
    struct gbose__desk *desk;
    const struct gbose__bandit_row *bandit; /* NULL: there is none */
    int differ;
    gbose_error *err;
};

/* The model that servers decide by, held against the log. */
struct published {
    struct rebuilding *r;
    const struct gbose__generation *generation;
};

static int check_published(void *context, const struct gbose__snapshot_row *row)
{
    struct published *p = context;
    struct rebuilding *r = p->r;
    gbose *again;
    size_t size;
    void *bytes;
    int same, rc = gbose__fold_upto(r->second, r->desk, row->bandit, p->generation, row->learned, 1, &again,
                                    r->err);

    if (rc)
        return rc;
    bytes = gbose__model_save(again, &size);
    same = bytes && size == row->size && !memcmp(bytes, row->bytes, size);
    printf("%s generation %" PRIu32 ": published after %" PRIu64 " outcomes, %s\n", r->bandit->name,
           row->generation, row->learned, same ? "the same bytes" : "DIFFERENT from the log");
    r->differ |= !same;
    free(bytes);
    gbose_free(again);
    return GBOSE_OK;
}

static int rebuild_generation(void *context, const struct gbose__generation_row *row)
{
    struct rebuilding *r = context;
    struct gbose__generation *generation;
    struct gbose__counts counts;
    gbose *live = NULL, *again = NULL;
    void *bytes[2] = {NULL, NULL};
    size_t size[2] = {0, 0};
    int rc;

    if (!row->ready)
        return 0;
    generation = gbose__generation_new(row, r->err);
    if (!generation)
        return GBOSE_ENOMEM;
    rc = r->second->counts(r->second, row->bandit, &counts, r->err);
    if (!rc)
        rc = gbose__fold_upto(r->second, r->desk, row->bandit, generation, counts.outcomes, 0, &live, r->err);
    if (!rc)
        rc =
            gbose__fold_upto(r->second, r->desk, row->bandit, generation, counts.outcomes, 1, &again, r->err);
    if (!rc) {
        unsigned char hash[crypto_hash_sha256_BYTES];
        char hex[2 * sizeof hash + 1];
        int same;

        bytes[0] = gbose__model_save(live, &size[0]);
        bytes[1] = gbose__model_save(again, &size[1]);
        same = bytes[0] && bytes[1] && size[0] == size[1] && !memcmp(bytes[0], bytes[1], size[0]);
        crypto_hash_sha256(hash, bytes[1], bytes[1] ? size[1] : 0);
        sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
        printf("%s generation %" PRIu32 ": %" PRIu64 " outcomes, %zu bytes, sha256 %.16s, %s\n",
               r->bandit->name, row->number, counts.outcomes, size[1], hex,
               same ? "the same bytes" : "DIFFERENT from the stored model");
        r->differ |= !same;
    }
    if (!rc && r->store->fleet) {
        struct published published = {r, generation};

        rc = r->store->fleet->published(r->store, row->bandit, row->number, check_published, &published,
                                        r->err);
        rc = rc == GBOSE__EABSENT ? GBOSE_OK : rc;
    }
    free(bytes[0]);
    free(bytes[1]);
    gbose_free(live);
    gbose_free(again);
    gbose__generation_free(generation);
    return rc;
}

static int rebuild_bandit(void *context, const struct gbose__bandit_row *row)
{
    struct rebuilding *r = context;

    r->bandit = row;
    return r->view->generations(r->view, row->id, rebuild_generation, r, r->err);
}

static int run_rebuild(int argc, char **argv)
{
    struct arg args[] = {{"", MANY, NULL, 0, 0}, {NULL, 0, NULL, 0, 0}};
    struct rebuilding r = {0};
    struct gbose__view *first = NULL;
    gbose_error err = {0};
    int rc = args_parse(argc, argv, args);
    const char *data = rc ? NULL : alone(argv[0], &args[0], 0, 1, "gbose rebuild DATA");

    if (!data) {
        args_clear(args);
        return EXIT_USAGE;
    }
    r.err = &err;
    rc = gbose__store_open(&r.store, data, 0, 1, &err);
    if (!rc)
        rc = r.store->view(r.store, &first, &err);
    if (!rc)
        rc = r.store->view(r.store, &r.view, &err);
    if (!rc)
        rc = r.store->view(r.store, &r.second, &err);
    r.desk = rc ? NULL : gbose__desk_new(NULL);
    if (r.desk)
        rc = first->bandits(first, rebuild_bandit, &r, &err);
    gbose__desk_free(r.desk);
    if (first)
        first->close(first);
    if (r.view)
        r.view->close(r.view);
    if (r.second)
        r.second->close(r.second);
    if (r.store)
        r.store->close(r.store);
    args_clear(args);
    if (rc)
        return command_failed(argv[0], &err);
    if (!r.bandit)
        printf("there is no bandit in this store yet: nothing to learn\n");
    return r.differ ? EXIT_BROKEN : EXIT_FINE;
}

const struct command cmd_rebuild = {
    "rebuild", "learn a service's log again from nothing, and compare",
    "Usage: gbose rebuild DATA\n"
    "\n"
    "Learns every model of the store in DATA again from the log, without "
    "any snapshot, and compares it with the model that\n"
    "the service has: both must have the same bytes. The exit code is 1 if they do "
    "not. The service may be running.\n",
    run_rebuild};

/* ---- backup ---- */

static int run_backup(int argc, char **argv)
{
    struct arg args[] = {{"", MANY, NULL, 0, 0}, {NULL, 0, NULL, 0, 0}};
    struct gbose__store *store = NULL;
    gbose_error err = {0};
    int rc = args_parse(argc, argv, args);

    if (rc || !alone(argv[0], &args[0], 0, 2, "gbose backup DATA FILE")) {
        args_clear(args);
        return EXIT_USAGE;
    }
    rc = gbose__store_open(&store, args[0].value[0], 0, 1, &err);
    if (!rc)
        rc = store->backup(store, args[0].value[1], &err);
    if (store)
        store->close(store);
    args_clear(args);
    return rc ? command_failed(argv[0], &err) : EXIT_FINE;
}

const struct command cmd_backup = {"backup", "copy a service's store, while it runs",
                                   "Usage: gbose backup DATA FILE\n"
                                   "\n"
                                   "FILE becomes a copy of the store as it is at one moment. To use it, put "
                                   "it into an empty directory as gbose.sqlite3\n"
                                   "and start gbose serve there. To copy a store in PostgreSQL, use "
                                   "PostgreSQL's own tools: pg_dump --schema=gbose.\n",
                                   run_backup};

/* ---- keys ---- */

static const struct {
    const char *name;
    unsigned bit;
} roles[] = {{"decide", GBOSE__MAY_DECIDE},
             {"reward", GBOSE__MAY_REWARD},
             {"read", GBOSE__MAY_READ},
             {"admin", GBOSE__MAY_ADMIN}};

static int add_key(struct gbose__store *store, const struct arg *role, const struct arg *bandit,
                   const struct arg *note, const char *command)
{
    struct gbose__key key = {0};
    struct gbose__change change = {.kind = GBOSE__ADD_KEY};
    char text[GBOSE__KEY_TEXT];
    gbose_error err;

    for (int i = 0; i < role->n; i++) {
        unsigned bit = 0;

        for (size_t k = 0; k < 4; k++)
            if (!strcmp(role->value[i], roles[k].name))
                bit = roles[k].bit;
        if (!bit)
            return usage_error(command, "--role is decide, reward, read or admin, not '%s'", role->value[i]);
        key.roles |= bit;
    }
    if (!key.roles)
        return usage_error(command, "--role is missing: decide, reward, read or admin, one or more");
    if (gbose__key_make(text, &key)) {
        fprintf(stderr, "gbose %s: the system gives no random numbers\n", command);
        return EXIT_BROKEN;
    }
    change.of.key = (struct gbose__key_row){
        key.id,      key.hash, key.roles, bandit->n ? bandit->value[0] : NULL, note->n ? note->value[0] : "",
        gbose__now()};
    if (store->apply(store, &change, 1, &err))
        return command_failed(command, &err);
    printf("%s\n", text);
    fprintf(stderr, "gbose key: this is key %s. It is not shown again.\n", key.id);
    return EXIT_FINE;
}

static int list_key(void *context, const struct gbose__key_row *row)
{
    *(int *)context = 1;
    printf("%s  ", row->id);
    for (size_t k = 0; k < 4; k++)
        if (row->roles & roles[k].bit)
            printf("%s ", roles[k].name);
    printf(" %s  %s\n", row->bandit ? row->bandit : "(all bandits)", row->note);
    return 0;
}

static int run_key(int argc, char **argv)
{
    struct arg args[] = {{"", MANY, NULL, 0, 0},
                         {"role", MANY, NULL, 0, 0},
                         {"bandit", 1, NULL, 0, 0},
                         {"note", 1, NULL, 0, 0},
                         {NULL, 0, NULL, 0, 0}};
    static const char usage[] =
        "gbose key add DATA --role ROLE..., gbose key list DATA, gbose key revoke DATA KEY-ID";
    struct gbose__store *store = NULL;
    struct gbose__view *view = NULL;
    gbose_error err = {0};
    int rc = args_parse(argc, argv, args), add, list, revoke, any = 0;

    if (rc || args[0].n < 2) {
        args_clear(args);
        return rc ? rc : usage_error(argv[0], "usage: %s", usage);
    }
    add = !strcmp(args[0].value[0], "add") && args[0].n == 2;
    list = !strcmp(args[0].value[0], "list") && args[0].n == 2;
    revoke = !strcmp(args[0].value[0], "revoke") && args[0].n == 3;
    if (!add && !list && !revoke)
        rc = usage_error(argv[0], "usage: %s", usage);
    else if (gbose__store_open(&store, args[0].value[1], add, 1, &err) || store->view(store, &view, &err))
        rc = command_failed(argv[0], &err);
    else if (add)
        rc = add_key(store, &args[1], &args[2], &args[3], argv[0]);
    else if (list && view->keys(view, list_key, &any, &err))
        rc = command_failed(argv[0], &err);
    else if (list && !any)
        fprintf(stderr, "gbose key: there is no key: anybody on this machine may do everything\n");
    else if (revoke) {
        struct gbose__change change = {.kind = GBOSE__DROP_KEY, .of.key = {.id = args[0].value[2]}};

        if (store->apply(store, &change, 1, &err))
            rc = command_failed(argv[0], &err);
        else if (change.result == GBOSE__MISSING)
            rc = usage_error(argv[0], "there is no key '%s'; gbose key list %s shows all", args[0].value[2],
                             args[0].value[1]);
    }
    if (view)
        view->close(view);
    if (store)
        store->close(store);
    args_clear(args);
    return rc;
}

const struct command cmd_key = {
    "key", "make, list and revoke keys of a service",
    "Usage: gbose key add DATA --role ROLE... [--bandit NAME] [--note TEXT]\n"
    "       gbose key list DATA\n"
    "       gbose key revoke DATA KEY-ID\n"
    "\n"
    "  --role    decide, reward, read or admin (which may do everything); one or more\n"
    "  --bandit  the key is valid for this bandit only\n"
    "  --note    what it is for, shown by list\n"
    "\n"
    "`add` prints the key once: the store keeps only a hash. A running service notices a change within two "
    "seconds. As long as there\n"
    "is no key, anybody on this machine may do everything; from the first key on, every call but /healthz "
    "needs one.\n",
    run_key};
