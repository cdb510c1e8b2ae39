/* Changes to bandits, generations, snapshots and keys in the PostgreSQL store. Each but a snapshot's moves the
 * version on, by which other servers see that there is something to read again. */
#include "store/postgres_inner.h"

#include <string.h>

#include "core/error.h"

static int moved_on(struct gbose__pg *c, gbose_error *err)
{
    int rc = gbose__pg_query(c, "UPDATE version SET number = number + 1", NULL, NULL, err);

    return rc ? rc : gbose__pg_query(c, "NOTIFY gbose", NULL, NULL, err);
}

/* Run a statement that must change a row; `otherwise` is the result of the change when it does not. */
static int must_change(struct gbose__pg *c, const char *sql, const struct gbose__pg_args *args,
                       struct gbose__change *change, enum gbose__result otherwise, gbose_error *err)
{
    PGresult *r;
    int rc = gbose__pg_query(c, sql, args, &r, err);

    if (rc)
        return rc;
    if (!gbose__pg_changed(r))
        change->result = otherwise;
    PQclear(r);
    return change->result == GBOSE__DONE ? moved_on(c, err) : GBOSE_OK;
}

static int make_bandit(struct gbose__pg *c, struct gbose__change *change, gbose_error *err)
{
    struct gbose__bandit_row *row = &change->of.bandit;
    struct gbose__pg_args args = {0};
    PGresult *r;
    int rc;

    gbose__pg_arg_text(&args, row->name);
    gbose__pg_arg_text(&args, row->settings);
    gbose__pg_arg_int(&args, row->active);
    gbose__pg_arg_int(&args, row->created);
    rc = gbose__pg_query(
        c,
        "INSERT INTO bandit (name, settings, active, created, sum)"
        " VALUES ($1::text, $2::text, $3::int8, $4::int8, 0) ON CONFLICT (name) DO NOTHING RETURNING id",
        &args, &r, err);
    if (rc)
        return rc;
    if (!PQntuples(r))
        change->result = GBOSE__CONFLICT;
    else
        row->id = (uint32_t)gbose__pg_int(r, 0, 0);
    PQclear(r);
    if (change->result != GBOSE__DONE)
        return GBOSE_OK;
    if (row->id > GBOSE__MAX_BANDITS)
        return gbose__fail(err, GBOSE__ESTORE, "the store has had %u bandits and takes no more",
                           GBOSE__MAX_BANDITS);
    rc = GBOSE__PG_WITH("UPDATE bandit SET sum = $2::int8 WHERE id = $1::int4", NULL, row->id,
                        gbose__sum_bandit(row));
    if (!rc)
        rc = GBOSE__PG_WITH("INSERT INTO numbering VALUES ($1::int4, 0, 0, 0)", NULL, row->id);
    if (!rc)
        rc = GBOSE__PG_WITH("INSERT INTO lease VALUES ($1::int4, 0)", NULL, row->id);
    return rc ? rc : moved_on(c, err);
}

int gbose__pg_put_bandit(struct gbose__pg_group *g, struct gbose__change *change, gbose_error *err)
{
    struct gbose__bandit_row row = change->of.bandit;
    struct gbose__pg *c = g->c;
    struct gbose__pg_args args = {0};
    PGresult *r;
    int rc;

    if (!row.id)
        return make_bandit(c, change, err);
    rc = GBOSE__PG_WITH("SELECT name, settings, active, created FROM bandit WHERE id = $1::int4 FOR UPDATE",
                        &r, row.id);
    if (rc)
        return rc;
    if (!PQntuples(r)) {
        change->result = GBOSE__MISSING;
        PQclear(r);
        return GBOSE_OK;
    }
    row.name = gbose__pg_text(r, 0, 0);
    if (!row.settings)
        row.settings = gbose__pg_text(r, 0, 1);
    if (!row.active)
        row.active = (uint32_t)gbose__pg_int(r, 0, 2);
    row.created = gbose__pg_int(r, 0, 3);
    gbose__pg_arg_int(&args, row.id);
    gbose__pg_arg_text(&args, row.settings);
    gbose__pg_arg_int(&args, row.active);
    gbose__pg_arg_int(&args, gbose__sum_bandit(&row));
    rc = must_change(
        c, "UPDATE bandit SET settings = $2::text, active = $3::int8, sum = $4::int8 WHERE id = $1::int4",
        &args, change, GBOSE__MISSING, err);
    PQclear(r);
    return rc;
}

int gbose__pg_drop_bandit(struct gbose__pg_group *g, struct gbose__change *change, gbose_error *err)
{
    static const char *const of_keys[] = {
        "DELETE FROM event WHERE key BETWEEN $1::int8 AND $2::int8",
        "DELETE FROM outcome WHERE key BETWEEN $1::int8 AND $2::int8",
        "DELETE FROM reward WHERE event BETWEEN $1::int8 AND $2::int8",
        "DELETE FROM pending WHERE last BETWEEN $1::int8 AND $2::int8",
        "DELETE FROM activated WHERE event BETWEEN $1::int8 AND $2::int8",
    };
    static const char *const of_bandit[] = {
        "DELETE FROM named WHERE bandit = $1::int4", "DELETE FROM snapshot WHERE bandit = $1::int4",
        "DELETE FROM live WHERE bandit = $1::int4",  "DELETE FROM generation WHERE bandit = $1::int4",
        "DELETE FROM tally WHERE bandit = $1::int4", "DELETE FROM numbering WHERE bandit = $1::int4",
        "DELETE FROM lease WHERE bandit = $1::int4",
    };
    struct gbose__pg *c = g->c;
    int64_t id = change->of.bandit.id, lo = gbose__row_key((uint32_t)id, 0),
            hi = lo + (int64_t)GBOSE__MAX_NUMBER;
    struct gbose__pg_args args = {0};
    int rc;

    gbose__pg_arg_int(&args, id);
    rc = must_change(c, "DELETE FROM bandit WHERE id = $1::int4", &args, change, GBOSE__MISSING, err);
    for (size_t i = 0; i < sizeof of_keys / sizeof *of_keys && !rc; i++)
        rc = GBOSE__PG_WITH(of_keys[i], NULL, lo, hi);
    for (size_t i = 0; i < sizeof of_bandit / sizeof *of_bandit && !rc; i++)
        rc = GBOSE__PG_WITH(of_bandit[i], NULL, id);
    for (size_t i = 0; i < g->n_tally; i++) /* what it did before in this transaction */
        if (g->tally[i].bandit == id)
            g->tally[i] = (struct gbose__pg_tally){.bandit = (uint32_t)id};
    return rc;
}

int gbose__pg_add_generation(struct gbose__pg_group *g, struct gbose__change *change, gbose_error *err)
{
    const struct gbose__generation_row *row = &change->of.generation;
    struct gbose__pg_args args = {0};

    gbose__pg_arg_int(&args, row->bandit);
    gbose__pg_arg_int(&args, row->number);
    gbose__pg_arg_text(&args, row->spec);
    gbose__pg_arg_text(&args, row->schema);
    gbose__pg_arg_int(&args, row->dim);
    gbose__pg_arg_int(&args, row->n_round);
    gbose__pg_arg_text(&args, row->ready ? "t" : "f");
    gbose__pg_arg_text(&args, row->wanted ? "t" : "f");
    gbose__pg_arg_int(&args, row->created);
    gbose__pg_arg_int(&args, gbose__sum_generation(row));
    return must_change(
        g->c,
        "INSERT INTO generation VALUES ($1::int4, $2::int8, $3::text, $4::text, $5::int8, $6::int8,"
        " $7::boolean, $8::boolean, $9::int8, $10::int8) ON CONFLICT DO NOTHING",
        &args, change, GBOSE__CONFLICT, err);
}

static void of_generation(const struct gbose__change *change, struct gbose__pg_args *args)
{
    gbose__pg_arg_int(args, change->of.generation.bandit);
    gbose__pg_arg_int(args, change->of.generation.number);
}

int gbose__pg_drop_generation(struct gbose__pg_group *g, struct gbose__change *change, gbose_error *err)
{
    struct gbose__pg_args args = {0};
    int rc;

    of_generation(change, &args);
    rc = gbose__pg_query(g->c, "DELETE FROM snapshot WHERE bandit = $1::int4 AND generation = $2::int8",
                         &args, NULL, err);
    if (!rc)
        rc = gbose__pg_query(g->c, "DELETE FROM live WHERE bandit = $1::int4 AND generation = $2::int8",
                             &args, NULL, err);
    return rc ? rc
              : must_change(g->c, "DELETE FROM generation WHERE bandit = $1::int4 AND number = $2::int8",
                            &args, change, GBOSE__MISSING, err);
}

int gbose__pg_set_ready(struct gbose__pg_group *g, struct gbose__change *change, gbose_error *err)
{
    struct gbose__pg_args args = {0};

    of_generation(change, &args);
    return must_change(
        g->c,
        "UPDATE generation SET ready = true, wanted = false WHERE bandit = $1::int4 AND number = $2::int8",
        &args, change, GBOSE__MISSING, err);
}

int gbose__pg_want_generation(struct gbose__pg_group *g, struct gbose__change *change, gbose_error *err)
{
    struct gbose__pg_args args = {0};
    int rc;

    of_generation(change, &args);
    rc = gbose__pg_query(
        g->c,
        "UPDATE generation SET wanted = false WHERE bandit = $1::int4 AND number <> $2::int8 AND wanted",
        &args, NULL, err);
    if (rc || !change->of.generation.number)
        return rc ? rc : moved_on(g->c, err);
    return must_change(g->c,
                       "UPDATE generation SET wanted = true WHERE bandit = $1::int4 AND number = $2::int8",
                       &args, change, GBOSE__MISSING, err);
}

/* Snapshots of a generation are a fold of the log, so those of two servers that both think that they train it have the
 * same bytes; the one that is behind must only not take the place of the other's. */
int gbose__pg_add_snapshot(struct gbose__pg_group *g, struct gbose__change *change, gbose_error *err)
{
    const struct gbose__snapshot_row *row = &change->of.snapshot;
    struct gbose__pg_args args = {0};
    struct gbose__pg *c = g->c;
    PGresult *r;
    int rc =
        GBOSE__PG_WITH("SELECT 1 FROM generation WHERE bandit = $1::int4 AND number = $2::int8 FOR KEY SHARE",
                       &r, row->bandit, row->generation);

    if (rc)
        return rc;
    if (!PQntuples(r) || (row->history && row->history != c->history))
        change->result = GBOSE__MISSING;
    PQclear(r);
    if (change->result != GBOSE__DONE)
        return GBOSE_OK;
    gbose__pg_arg_int(&args, row->bandit);
    gbose__pg_arg_int(&args, row->generation);
    gbose__pg_arg_int(&args, (int64_t)row->learned);
    gbose__pg_arg_text(&args, row->keep ? "t" : "f");
    gbose__pg_arg_bytes(&args, row->bytes, row->size);
    gbose__pg_arg_int(&args, gbose__sum_snapshot(row));
    rc = gbose__pg_query(
        c,
        "INSERT INTO snapshot VALUES ($1::int4, $2::int8, $3::int8, $4::boolean, $5::bytea, $6::int8)"
        " ON CONFLICT DO NOTHING",
        &args, NULL, err);
    return rc ? rc
              : GBOSE__PG_WITH(
                    "DELETE FROM snapshot WHERE bandit = $1::int4 AND generation = $2::int8 AND NOT keep"
                    " AND learned < $3::int8",
                    NULL, row->bandit, row->generation, (int64_t)row->learned);
}

int gbose__pg_add_key(struct gbose__pg_group *g, struct gbose__change *change, gbose_error *err)
{
    const struct gbose__key_row *row = &change->of.key;
    struct gbose__pg_args args = {0};

    gbose__pg_arg_text(&args, row->id);
    gbose__pg_arg_bytes(&args, row->hash, GBOSE__HASH_SIZE);
    gbose__pg_arg_int(&args, row->roles);
    gbose__pg_arg_text(&args, row->bandit);
    gbose__pg_arg_text(&args, row->note);
    gbose__pg_arg_int(&args, row->created);
    gbose__pg_arg_int(&args, gbose__sum_key(row));
    return must_change(
        g->c,
        "INSERT INTO key VALUES ($1::text, $2::bytea, $3::int8, $4::text, $5::text, $6::int8, $7::int8)"
        " ON CONFLICT DO NOTHING",
        &args, change, GBOSE__CONFLICT, err);
}

int gbose__pg_drop_key(struct gbose__pg_group *g, struct gbose__change *change, gbose_error *err)
{
    struct gbose__pg_args args = {0};

    gbose__pg_arg_text(&args, change->of.key.id);
    return must_change(g->c, "DELETE FROM key WHERE id = $1::text", &args, change, GBOSE__MISSING, err);
}
