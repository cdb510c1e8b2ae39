#include "report/outputs.h"

#include <stdlib.h>

#include "report/figures.h"
#include "report/gnuplot.h"
#include "report/report.h"
#include "report/tables.h"

int gbose__outputs_write(const struct gbose__study *s, const char *dir, const char *command_line,
                         gbose_error *err)
{
    struct gbose__summary *all = NULL;
    struct gbose__figure *figures = NULL;
    gbose_error drawing = {0, ""};
    size_t n = 0;
    int rc = gbose__file_make_dir(dir, err), drawn = GBOSE_OK;

    if (!rc)
        rc = gbose__summary_make(&all, s, err);
    if (!rc)
        rc = gbose__tables_write(s, all, dir, err);
    if (!rc)
        drawn = gbose__figures_write(&figures, &n, s, all, dir, &drawing);
    if (drawn && drawn != GBOSE__ENOPLOT && drawn != GBOSE__EBADPLOT) {
        if (err)
            *err = drawing;
        rc = drawn;
    }
    if (!rc)
        rc = gbose__report_write(s, all, figures, n, drawn ? drawing.text : NULL, dir, command_line, err);
    if (!rc && drawn) {
        if (err)
            *err = drawing;
        rc = drawn;
    }
    free(figures);
    free(all);
    return rc;
}

void gbose__outputs_print(FILE *to, const struct gbose__study *s, const struct gbose__print_style *style)
{
    struct gbose__summary *all;

    if (gbose__summary_make(&all, s, NULL)) {
        fputs("out of memory: no table\n", to);
        return;
    }
    gbose__print_table(to, s, all, style);
    free(all);
}
