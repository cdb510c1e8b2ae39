/* Answers that all routes give, and names of events and units. */
#include "serve/service.h"

#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int64_t gbose__now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t gbose__monotonic(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void gbose__wake_init(pthread_cond_t *wake)
{
    pthread_condattr_t clock;

    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(wake, &clock);
    pthread_condattr_destroy(&clock);
}

/* ---- errors ---- */

static void write_error(struct gbose__exchange *x, int status, const char *code, const char *at,
                        const char *message)
{
    x->status = status;
    gbose__text_reset(&x->out);
    gbose__text_add(&x->out, "{\"error\": {\"code\": ");
    gbose__text_quoted(&x->out, code);
    gbose__text_add(&x->out, ", \"message\": ");
    gbose__text_quoted(&x->out, message);
    gbose__text_add(&x->out, ", \"at\": ");
    gbose__text_quoted(&x->out, *at ? at : NULL);
    gbose__text_add(&x->out, "}}\n");
    if (status == 503 && x->n_headers < 3) {
        x->header[x->n_headers][0] = "Retry-After";
        x->header[x->n_headers++][1] = "1";
    }
}

void gbose__answer_store(struct gbose__exchange *x)
{
    struct gbose__service *service = x->service;

    if (atomic_load(&service->writer.failing) && x->n_headers < 3) {
        x->header[x->n_headers][0] = "Gbose-Store";
        x->header[x->n_headers++][1] = "away";
    }
}

void gbose__http_refuse(struct gbose__exchange *x, int status, const char *code, const char *message)
{
    write_error(x, status, code, "", message);
}

void gbose__answer_problem(struct gbose__exchange *x, const struct gbose__problem *p)
{
    write_error(x, p->status, p->code, p->at, p->message);
}

void gbose__answer_error(struct gbose__exchange *x, int status, const char *code, const char *at,
                         const char *format, ...)
{
    char message[400];
    va_list list;

    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    write_error(x, status, code, at, message);
}

void gbose__answer_failed(struct gbose__exchange *x, const struct gbose__job *job)
{
    if (job->rc == GBOSE__EABSENT)
        write_error(x, 404, "no_such_bandit", "", "the bandit was deleted");
    else
        write_error(x, 503, "storage", "", *job->err.text ? job->err.text : gbose_strerror(job->rc));
}

int gbose__answer_document(struct gbose__exchange *x)
{
    struct gbose__desk *desk = x->own;
    const char *message;
    size_t at;
    int rc = gbose__document_read(&desk->document, x->body, x->body_size, &message, &at);

    if (rc == -2)
        gbose__answer_error(x, 503, "no_memory", "", "out of memory");
    else if (rc && !x->body_size)
        gbose__answer_error(x, 400, "no_body", "", "a JSON object was expected in the body");
    else if (rc)
        gbose__answer_error(x, 400, "not_json", "", "this is not JSON: %s, at byte %zu of the body", message,
                            at);
    return rc;
}

/* ---- names ---- */

#define TAG_BITS 34

/* A tag that only this store can make: nobody else can guess the id of an event. */
static uint64_t tag(const struct gbose__service *service, uint32_t bandit, uint64_t number, int64_t time)
{
    uint64_t words[3] = {bandit, number, (uint64_t)time};
    unsigned char hash[crypto_shorthash_BYTES];
    uint64_t out;

    crypto_shorthash(hash, (const unsigned char *)words, sizeof words, service->store->secret);
    memcpy(&out, hash, sizeof out);
    return out & ((UINT64_C(1) << TAG_BITS) - 1);
}

/* The last n digits of a number. */
static inline void put_hex(char *to, uint64_t x, int n)
{
    for (; n-- > 0; x >>= 4)
        to[n] = "0123456789abcdef"[x & 15];
}

/* The form is that of a UUID of version 7: 48 bits of time, and then the tag and the number where chance
 * would be. */
void gbose__event_id(char id[GBOSE__EVENT_ID], const struct gbose__service *service, uint32_t bandit,
                     uint64_t number, int64_t time)
{
    uint64_t t = tag(service, bandit, number, time);
    uint64_t high = (uint64_t)time << 16 | 0x7000 | t >> 22;
    uint64_t low = UINT64_C(2) << 62 | (t & 0x3fffff) << 40 | number;

    put_hex(id, high >> 32, 8);
    id[8] = id[13] = id[18] = id[23] = '-';
    put_hex(id + 9, high >> 16, 4);
    put_hex(id + 14, high, 4);
    put_hex(id + 19, low >> 48, 4);
    put_hex(id + 24, low, 12);
    id[GBOSE__EVENT_ID - 1] = 0;
}

int gbose__event_number(const char *id, const struct gbose__service *service, uint32_t bandit,
                        uint64_t *number)
{
    uint64_t part[2] = {0, 0};
    char again[GBOSE__EVENT_ID];
    int digits = 0;

    if (strlen(id) != GBOSE__EVENT_ID - 1)
        return 0;
    for (const char *c = id; *c; c++) {
        int digit = *c >= '0' && *c <= '9' ? *c - '0' : *c >= 'a' && *c <= 'f' ? *c - 'a' + 10 : -1;

        if (digit < 0 && *c != '-')
            return 0;
        if (digit >= 0 && digits < 32) {
            part[digits / 16] = part[digits / 16] << 4 | (unsigned)digit;
            digits++;
        }
    }
    *number = part[1] & GBOSE__MAX_NUMBER;
    gbose__event_id(again, service, bandit, *number, (int64_t)(part[0] >> 16));
    return !strcmp(again, id);
}

void gbose__unit_hash(unsigned char out[GBOSE__UNIT_SIZE], const struct gbose__service *service,
                      uint32_t bandit, const char *unit, size_t size)
{
    crypto_generichash_state state;

    crypto_generichash_init(&state, service->store->secret, 32, GBOSE__UNIT_SIZE);
    crypto_generichash_update(&state, (const unsigned char *)&bandit, sizeof bandit);
    crypto_generichash_update(&state, (const unsigned char *)unit, size);
    crypto_generichash_final(&state, out, GBOSE__UNIT_SIZE);
}
