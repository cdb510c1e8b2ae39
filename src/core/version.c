#include "gbose.h"

#define STRINGIFY(x) #x
#define TEXT(x) STRINGIFY(x)

const char *gbose_version(void)
{
    return TEXT(GBOSE_VERSION_MAJOR) "." TEXT(GBOSE_VERSION_MINOR) "." TEXT(GBOSE_VERSION_PATCH);
}
