#include "report/html.h"

#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "io/file.h"
#include "report/format.h"

/* Figures are drawn for a white page; in the dark, their black ink takes the colour of the text. */
static const char style[] =
    ":root{color-scheme:light "
    "dark;--paper:#fff;--ink:#1a1a1a;--soft:#5c5c5c;--line:#d9d9d9;--tint:#f5f6f8;--stripe:#1b346708}\n"
    "@media (prefers-color-scheme:dark){:root{--paper:#16181c;--ink:#e8e8e8;--soft:#a6a6a6;--line:#3a3d44;"
    "--tint:#1f2228;--stripe:#ffffff0a}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,\"Segoe "
    "UI\","
    "Roboto,\"Liberation Sans\",sans-serif}\n"
    "main{max-width:76rem;margin:0 auto;padding:1.5rem 1rem 4rem}\n"
    "h1{font-size:1.7rem;line-height:1.2;margin:.5rem 0 1rem}\n"
    "h2{font-size:1.25rem;margin:2.5rem 0 .5rem;border-bottom:1px solid var(--line);padding-bottom:.25rem}\n"
    "h3{font-size:1rem;margin:1.5rem 0 .4rem;overflow-wrap:anywhere}\n"
    "p,li{max-width:70ch}\n"
    ".found{font-size:1.15rem}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem;margin:0}\n"
    "dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}\n"
    "code{font:.88em ui-monospace,\"Liberation Mono\",monospace}\n"
    ".wide{overflow-x:auto}\n"
    /* A shadow at the side where a table goes on: the covers scroll with the table, the shadow does not. */
    ".sides{background:linear-gradient(var(--paper),var(--paper)) 100% 0/2rem 100% no-repeat local,"
    "linear-gradient(to left,var(--line),transparent) 100% 0/1rem 100% no-repeat}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.92rem}\n"
    "th,td{padding:.28rem .7rem;text-align:right;white-space:nowrap}\n"
    "th:first-child,td:first-child{text-align:left}\n"
    "thead th{font-weight:600;border-bottom:1px solid var(--line);vertical-align:bottom}\n"
    "thead tr:first-child th[colspan]{text-align:center;border-bottom-color:transparent}\n"
    "tbody td:first-child,thead th:first-child{background:var(--paper)}\n"
    "tbody tr:nth-child(even){background:var(--stripe)}\n"
    "tbody tr:nth-child(even) td:first-child{background:var(--tint)}\n"
    "thead tr:first-child th:first-child,td:first-child{position:sticky;left:0}\n"
    "td.more{color:var(--soft)}td.edge,th.edge{border-left:1px solid var(--line)}\n"
    "figure{margin:1.5rem 0 2.5rem}\n"
    "figure svg{display:block;width:100%;height:auto;min-width:46rem;max-width:76rem}\n"
    "figure svg.panel{display:none;min-width:0;max-width:34rem}figure svg.panel "
    "svg{display:inline;min-width:0}\n"
    "@media "
    "(max-width:46rem){.stacks>svg[role=img]{position:absolute;width:0;height:0;min-width:0;overflow:hidden}"
    ".stacks>svg.panel{display:block;margin-bottom:1rem}}\n"
    "figure.single svg{min-width:0;max-width:40rem}\n"
    "@media (max-width:46rem){.names "
    "td:first-child{white-space:normal;overflow-wrap:anywhere;min-width:8rem}}\n"
    ".warning{border-left:4px solid #d55e00;background:var(--tint);padding:.1rem 1rem}\n"
    "figcaption{color:var(--soft);font-size:.92rem;max-width:80ch;margin-top:.5rem}\n"
    "summary{cursor:pointer;margin:1rem 0}\n"
    /* Without "figure" in front: at phone width the panels are copies of the drawing, in trees of their own. */
    "[id$=gnuplot_canvas]>rect{fill:none}\n"
    "svg [fill=black],g [fill=black],[fill=\"rgb(0,0,0)\"]{fill:var(--ink)}\n"
    "svg [stroke=black],g [stroke=black]{stroke:var(--ink)}\n"
    "[stroke=\"rgb(221, 221, 221)\"]{stroke:var(--line)}\n"
    "svg [color=black],g [color=black]{color:var(--ink)}\n"
    "svg [font-family],g [font-family]{font-family:inherit}\n"
    "@media (prefers-color-scheme:dark){"
    "[stroke^=\"rgb(176\"]{stroke:#ff6b81}[fill^=\"rgb(176\"]{fill:#ff6b81}[color^=\"rgb(176\"]{color:#"
    "ff6b81}"
    "[stroke=\"rgb(  0, 114, 178)\"]{stroke:#3391d0}[fill=\"rgb(  0, 114, 178)\"]{fill:#3391d0}"
    "[color=\"rgb(  0, 114, 178)\"]{color:#3391d0}}\n"
    "@media print{figure{break-inside:avoid}}\n";

void gbose__html_begin(FILE *to, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
          to);
    gbose__format_html(to, title);
    fprintf(to, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n<h1>", style);
    gbose__format_html(to, title);
    fputs("</h1>\n", to);
}

void gbose__html_end(FILE *to)
{
    fputs("</main>\n</body>\n</html>\n", to);
}

/* Where a name that an SVG gives or refers to begins: after one of these. */
static size_t name_follows(const char *at)
{
    static const char *const marks[] = {" id=\"", " id='", "href=\"#", "href='#", "url(#", "url('#"};

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (!strncmp(at, marks[i], strlen(marks[i])))
            return strlen(marks[i]);
    return 0;
}

/* The drawing of an SVG file, without the declarations before it; names in it begin with a prefix of their
 * own, since several drawings share the page. */
static void put_svg(FILE *to, const char *svg, size_t number, const char *caption)
{
    const char *at = strstr(svg, "<svg");

    if (!at)
        return;
    fputs("<svg role=\"img\" aria-label=\"", to);
    gbose__format_html(to, caption);
    putc('"', to);
    for (at += 4; *at; at++) {
        size_t n = name_follows(at);

        if (n) {
            fprintf(to, "%.*sf%zu-", (int)n, at, number);
            at += n - 1;
        } else {
            putc(*at, to);
        }
    }
}

int gbose__html_svg(FILE *to, const char *dir, const char *file, size_t number, const char *caption,
                    gbose_error *err)
{
    char *path = gbose__file_path(dir, file), *svg;
    size_t size;
    int rc;

    if (!path)
        return gbose__no_memory(err);
    rc = gbose__file_read(&svg, &size, path, err);
    free(path);
    if (rc)
        return rc;
    put_svg(to, svg, number, caption);
    free(svg);
    return GBOSE_OK;
}

int gbose__html_single(FILE *to, const char *dir, const char *name, size_t number, const char *caption,
                       gbose_error *err)
{
    char file[160];
    int rc;

    fputs("<figure class=\"single\">\n", to);
    snprintf(file, sizeof file, "%s.svg", name);
    rc = gbose__html_svg(to, dir, file, number, caption, err);
    if (rc)
        return rc;
    fputs("\n<figcaption>", to);
    gbose__format_html(to, caption);
    fprintf(to,
            " As <a href=\"%s.svg\">SVG</a>, <a href=\"%s.png\">PNG</a>, <a href=\"%s.pdf\">PDF</a>."
            "</figcaption>\n</figure>\n",
            name, name, name);
    return GBOSE_OK;
}

void gbose__html_sentence(FILE *to, const char *class, const char *text)
{
    fprintf(to, "<p%s%s%s>", class ? " class=\"" : "", class ? class : "", class ? "\"" : "");
    gbose__format_html(to, text);
    fputs("</p>\n", to);
}
