/* Keys: who may do what. A key is shown once, when it is made; the store has only its hash. */
#include "serve/service.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"

#define PREFIX "gbose_"
#define ID_SIZE 12      /* characters of the public part */
#define SECRET_BYTES 20 /* of chance: 160 bits cannot be guessed, so a plain hash is enough */

int gbose__key_make(char text[GBOSE__KEY_TEXT], struct gbose__key *key)
{
    unsigned char bytes[ID_SIZE / 2 + SECRET_BYTES];
    char hex[2 * sizeof bytes + 1];

    if (sodium_init() < 0)
        return -1;
    randombytes_buf(bytes, sizeof bytes);
    sodium_bin2hex(hex, sizeof hex, bytes, sizeof bytes);
    snprintf(key->id, sizeof key->id, "%.*s", ID_SIZE, hex);
    snprintf(text, GBOSE__KEY_TEXT, "%s%s_%s", PREFIX, key->id, hex + ID_SIZE);
    crypto_hash_sha256(key->hash, (const unsigned char *)text, strlen(text));
    sodium_memzero(bytes, sizeof bytes);
    sodium_memzero(hex, sizeof hex);
    return 0;
}

static int load_key(void *context, const struct gbose__key_row *row)
{
    struct gbose__service *service = context;
    struct gbose__key *more = realloc(service->key, (service->n_keys + 1) * sizeof *more), *key;

    if (!more)
        return GBOSE_ENOMEM;
    service->key = more;
    key = &more[service->n_keys++];
    memset(key, 0, sizeof *key);
    snprintf(key->id, sizeof key->id, "%s", row->id);
    memcpy(key->hash, row->hash, GBOSE__HASH_SIZE);
    key->roles = row->roles;
    snprintf(key->bandit, sizeof key->bandit, "%s", row->bandit ? row->bandit : "");
    return 0;
}

int gbose__keys_load(struct gbose__service *service, struct gbose__view *view, gbose_error *err)
{
    struct gbose__service fresh = {0};
    struct gbose__key *old;
    int rc = view->keys(view, load_key, &fresh, err);

    if (rc) { /* those that are known stay good */
        free(fresh.key);
        return rc;
    }
    pthread_rwlock_wrlock(&service->key_lock);
    old = service->key;
    service->key = fresh.key;
    service->n_keys = fresh.n_keys;
    pthread_rwlock_unlock(&service->key_lock);
    free(old);
    return rc;
}

/* The key of a request: a bearer token, or the header that Personalizer's clients send. NULL: none. */
static const char *given(struct gbose__exchange *x)
{
    const char *authorization = gbose__http_header(x, "Authorization");

    if (authorization && !strncmp(authorization, "Bearer ", 7))
        return authorization + 7;
    return gbose__http_header(x, "Ocp-Apim-Subscription-Key");
}

int gbose__keys_allow(struct gbose__exchange *x, unsigned role, const char *bandit)
{
    struct gbose__service *service = x->service;
    unsigned char hash[crypto_hash_sha256_BYTES] = {0};
    const char *key = given(x);
    int known = 0, allowed = 0, open;

    if (key)
        crypto_hash_sha256(hash, (const unsigned char *)key, strlen(key));
    pthread_rwlock_rdlock(&service->key_lock);
    open = service->n_keys == 0;
    for (size_t i = 0; i < service->n_keys && key; i++) { /* all of them, so that time says nothing */
        const struct gbose__key *k = &service->key[i];
        int same = sodium_memcmp(hash, k->hash, sizeof hash) == 0;

        known |= same;
        allowed |=
            same && (k->roles & (role | GBOSE__MAY_ADMIN)) && (!*k->bandit || !strcmp(k->bandit, bandit));
    }
    pthread_rwlock_unlock(&service->key_lock);
    if (open || allowed)
        return 1;
    atomic_fetch_add(&service->metrics.counter[GBOSE__N_REFUSED], 1);
    if (!known) {
        gbose__answer_error(x, 401, "no_key", "", "this needs a key: Authorization: Bearer KEY");
        x->header[x->n_headers][0] = "WWW-Authenticate";
        x->header[x->n_headers++][1] = "Bearer";
    } else {
        gbose__answer_error(x, 403, "not_allowed", "", "this key may not do that");
    }
    return 0;
}
