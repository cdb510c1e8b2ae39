/* Files that are part of the program: the page. The table is made by cmake/embed.cmake from src/serve/web
 * and uPlot. */
#ifndef GBOSE_SERVE_ASSETS_H
#define GBOSE_SERVE_ASSETS_H

#include <stddef.h>

struct gbose__asset {
    const char *name;
    const void *bytes;
    size_t size;
};

extern const struct gbose__asset gbose__assets[]; /* ends with a NULL name */

#endif
