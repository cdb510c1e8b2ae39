/* Which kind of store a name means. */
#include "store/store.h"

#include <stdio.h>
#include <string.h>

#include "core/error.h"

int gbose__store_is_postgres(const char *where)
{
    return !strncmp(where, "postgresql://", 13) || !strncmp(where, "postgres://", 11);
}

int gbose__store_open(struct gbose__store **out, const char *where, int create, int beside, gbose_error *err)
{
    if (!gbose__store_is_postgres(where) && strstr(where, "://"))
        return gbose__fail(err, GBOSE_EINVAL,
                           "a store is a directory or postgresql://USER@HOST/DATABASE, not '%.100s'", where);
    if (!gbose__store_is_postgres(where))
        return gbose__sqlite_open(out, where, create, beside, err);
#ifdef GBOSE_POSTGRES
    return gbose__postgres_open(out, where, create, beside, err);
#else
    return gbose__fail(err, GBOSE_EINVAL,
                       "this gbose was built without PostgreSQL: build it where libpq-dev is installed");
#endif
}

/* postgresql://user:password@host/... and ...?password=... lose what is secret. */
void gbose__store_name(char *out, size_t size, const char *where)
{
    const char *user = strstr(where, "://"), *end, *colon;

    if (!gbose__store_is_postgres(where)) {
        snprintf(out, size, "%s", where);
        return;
    }
    user += 3;
    end = user + strcspn(user, "/?");
    while (end > user && *end != '@')
        end--;
    colon = end > user ? memchr(user, ':', (size_t)(end - user)) : NULL;
    snprintf(out, size, "%.*s%s", (int)((colon ? colon : end) - where), where, end);
    if ((colon = strstr(out, "password=")))
        snprintf(out + (colon - out) + 9, 4, "***");
}
