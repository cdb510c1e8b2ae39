#include "report/figure.h"

#include <stdio.h>

int gbose__figure_finish(struct gbose__file *script, struct gbose__file *data, int rc, gbose_error *err)
{
    if (rc) {
        gbose__file_abandon(data);
        gbose__file_abandon(script);
        return rc;
    }
    rc = gbose__file_close(data, err);
    if (rc) {
        gbose__file_abandon(script);
        return rc;
    }
    return gbose__file_close(script, err);
}

int gbose__figure_begin(struct gbose__file *script, struct gbose__file *data, const char *dir,
                        const char *name, gbose_error *err)
{
    char file[128];
    int rc;

    snprintf(file, sizeof file, "%s.gp", name);
    rc = gbose__file_open(script, dir, file, err);
    if (rc)
        return rc;
    snprintf(file, sizeof file, "%s.dat", name);
    rc = gbose__file_open(data, dir, file, err);
    if (rc)
        gbose__file_abandon(script);
    return rc;
}

void gbose__figure_keep_boxes(struct gbose__figure *figure, const struct gbose__page *page, size_t n,
                              double margin)
{
    figure->n_panels = n;
    for (size_t i = 0; i < n; i++)
        figure->panel[i] = gbose__plot_box(page, i, margin);
    figure->names = margin > 0 ? 0 : page->left;
}
