/* The page: GET / and /web/NAME. It holds no data, so it needs no key; what it then asks for does. */
#include "serve/assets.h"
#include "serve/service.h"

#include <string.h>

static const char *type_of(const char *name)
{
    const char *end = strrchr(name, '.');

    if (end && !strcmp(end, ".html"))
        return "text/html; charset=utf-8";
    if (end && !strcmp(end, ".css"))
        return "text/css; charset=utf-8";
    return "text/javascript; charset=utf-8";
}

void gbose__route_asset(struct gbose__exchange *x, const struct gbose__route_args *args)
{
    const char *name = *args->rest ? args->rest : "index.html";

    for (const struct gbose__asset *a = gbose__assets; a->name; a++)
        if (!strcmp(a->name, name)) {
            x->status = 200;
            x->type = type_of(name);
            x->fixed = a->bytes;
            x->fixed_size = a->size;
            x->header[x->n_headers][0] = "Content-Security-Policy";
            x->header[x->n_headers++][1] = "default-src 'self'; img-src 'self' data:; style-src 'self' "
                                           "'unsafe-inline'; frame-ancestors 'none'";
            x->header[x->n_headers][0] = "Cache-Control";
            x->header[x->n_headers++][1] = "no-cache";
            return;
        }
    gbose__answer_error(x, 404, "no_such_path", "", "there is no such file");
}
