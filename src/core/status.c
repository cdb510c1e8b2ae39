#include "gbose.h"

#define STRINGIFY(x) #x
#define TEXT(x) STRINGIFY(x)

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

const char *gbose_version(void)
{
    return TEXT(GBOSE_VERSION_MAJOR) "." TEXT(GBOSE_VERSION_MINOR) "." TEXT(GBOSE_VERSION_PATCH);
}
