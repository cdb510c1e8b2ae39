/* Any bytes as the body of a request: read, or refused with a place and a sentence; never a crash, and
 * numbers as strtod() has them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "serve/numbers.h"
#include "serve/service.h"

static const char schema[] =
    "action.topic category a, b\naction.price number\naction.tags set hash=4\naction.v vector 3\n"
    "user.device category x, y\ntime.hour cycle 24\n"
    "arm = 1*topic price tags v topic*device\nround = hour device\n";

/* A list of which the reader says that it has nothing but numbers that it knows. */
static void check_plain(const struct gbose__document *d, uint32_t list)
{
    const char *at = d->text + d->value[list].begin + 1;

    for (uint32_t i = list + 1; i < d->value[list].next; i++) {
        char text[64] = "", *end;
        size_t n = 0;

        while (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')
            at++;
        while (n < sizeof text - 1 && at[n] != ',' && at[n] != ']')
            n++;
        memcpy(text, at, n);
        if (d->value[i].kind != GBOSE__NUMBER || d->number[i] != strtod(text, &end) || *end ||
            !(fabs(d->number[i]) <= GBOSE__MAX_PLAIN))
            abort();
        at += n + 1;
    }
    if (at != d->text + d->value[list].end)
        abort();
}

static void check_values(const struct gbose__document *d)
{
    for (uint32_t i = 0; i < d->n; i++) {
        const struct gbose__value_at *v = &d->value[i];
        char *text, *end;
        double x, y;

        if (v->begin > v->end || v->end > d->size || v->next <= i || v->next > d->n)
            abort();
        if (v->kind == GBOSE__LIST && v->plain)
            check_plain(d, i);
        if ((v->kind != GBOSE__NUMBER && v->kind != GBOSE__TEXT) || !v->end)
            continue;
        text = malloc(v->end - v->begin + 1);
        if (v->kind == GBOSE__TEXT) {
            if (gbose__document_text(d, i, text) > (size_t)(v->end - v->begin))
                abort();
        } else {
            memcpy(text, d->text + v->begin, v->end - v->begin);
            text[v->end - v->begin] = 0;
            y = strtod(text, &end);
            if (*end || (gbose__document_number(d, i, &x) ? isfinite(y) : x != y))
                abort();
        }
        free(text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct gbose__encoder *encoder[2];
    static struct gbose__desk *desk;
    struct gbose__document d = {0};
    const char *message = NULL;
    gbose_error err;
    size_t at = 0;
    int rc;

    if (!desk) {
        desk = gbose__desk_new(NULL);
        encoder[0] = gbose__encoder_new(NULL, 3, 2, &err);
        encoder[1] = gbose__encoder_new(schema, 0, 0, &err);
        if (!desk || !encoder[0] || !encoder[1])
            abort();
        encoder[1]->n_round = gbose_schema_round(encoder[1]->schema);
    }
    rc = gbose__document_read(&d, (const char *)bytes, size, &message, &at);
    if (rc == -1 && (!message || at > size))
        abort();
    if (!rc) {
        check_values(&d);
        for (int i = 0; i < 2; i++) {
            struct gbose__field f[GBOSE__IN_FIELDS];
            struct gbose__problem p = {0};
            struct gbose__arena arena = {0};
            struct gbose__ask ask;

            memcpy(f, gbose__ask_fields, sizeof f);
            if (gbose__fields_read(&d, 0, f, GBOSE__IN_FIELDS, "", &p) ||
                gbose__ask_read(&ask, encoder[i], desk, &d, f, &arena, 1, "", &p)) {
                if (!p.status || !*p.message)
                    abort();
            } else {
                for (size_t k = 0; k < ask.n_arms * encoder[i]->dim; k++)
                    if (!isfinite(ask.rows[k]))
                        abort();
            }
            gbose__arena_clear(&arena);
        }
        {
            struct gbose__field f[GBOSE__SET_FIELDS];
            struct gbose__settings settings = gbose__settings_default;
            struct gbose__problem p = {0};

            memcpy(f, gbose__settings_fields, sizeof f);
            if (!gbose__fields_read(&d, 0, f, GBOSE__SET_FIELDS, "", &p))
                gbose__settings_read(&settings, &d, f, &p);
        }
    }
    gbose__document_clear(&d);
    return 0;
}
