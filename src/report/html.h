/* What the pages have in common: their head with the style, for light and dark, wide and narrow, and drawings
 * that belong to the page. */
#ifndef GBOSE_REPORT_HTML_H
#define GBOSE_REPORT_HTML_H

#include <stddef.h>
#include <stdio.h>

#include "gbose.h"

/* Up to the headline, and what ends the page. */
void gbose__html_begin(FILE *to, const char *title);
void gbose__html_end(FILE *to);

/* A paragraph; class may be NULL. */
void gbose__html_sentence(FILE *to, const char *class, const char *text);

/* The drawing DIR/FILE as a part of the page, so that it takes the page's colours. `number` is another one
 * for each drawing of the page. GBOSE_OK, GBOSE__EREAD, GBOSE_ENOMEM. */
int gbose__html_svg(FILE *to, const char *dir, const char *file, size_t number, const char *caption,
                    gbose_error *err);

/* A figure of one panel, DIR/NAME.svg, which fits a phone, with its caption and links to its files. */
int gbose__html_single(FILE *to, const char *dir, const char *name, size_t number, const char *caption,
                       gbose_error *err);

#endif
