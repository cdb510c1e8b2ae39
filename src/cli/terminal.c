#define _DEFAULT_SOURCE /* struct winsize */
#include "cli/terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PLAIN_WIDTH 80
#define LEAST_WIDTH 40

static int utf8;

void terminal_begin(void)
{
    utf8 = setlocale(LC_CTYPE, "") && !strcmp(nl_langinfo(CODESET), "UTF-8");
    setlocale(LC_CTYPE, "C");
}

int terminal_utf8(void)
{
    return utf8;
}

int terminal_colour(FILE *stream)
{
    const char *off = getenv("NO_COLOR"), *kind = getenv("TERM");

    return isatty(fileno(stream)) && !(off && *off) && kind && *kind && strcmp(kind, "dumb");
}

size_t terminal_width(FILE *stream)
{
    struct winsize size;

    if (!isatty(fileno(stream)) || ioctl(fileno(stream), TIOCGWINSZ, &size) || !size.ws_col)
        return PLAIN_WIDTH;
    return size.ws_col > LEAST_WIDTH ? size.ws_col : LEAST_WIDTH;
}
