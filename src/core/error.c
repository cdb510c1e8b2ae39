#include "core/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/decimal.h"

const char *gbose_strerror(int code)
{
    switch (code) {
#define STATUS_CASE(name, value, text)                                                                       \
    case GBOSE_##name:                                                                                       \
        return text;
        GBOSE_STATUS_MAP(STATUS_CASE)
#undef STATUS_CASE
    default:
        return "unknown status code";
    }
}

/* A text may quote what somebody else has written; it is one line all the same. */
static void make_one_line(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            *text = '?';
}

int gbose__fail(gbose_error *err, int code, const char *format, ...)
{
    struct gbose__decimal point;
    va_list args;
    int switched;

    if (err) {
        err->code = code;
        switched = !gbose__decimal_begin(&point);
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
        make_one_line(err->text);
        if (switched)
            gbose__decimal_end(&point);
    }
    return code;
}

int gbose__fail_plainly(gbose_error *err, int code)
{
    return gbose__fail(err, code, "%s", gbose_strerror(code));
}

int gbose__no_memory(gbose_error *err)
{
    return gbose__fail_plainly(err, GBOSE_ENOMEM);
}
