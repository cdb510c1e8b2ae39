/* What reading a log costs: bench/run.py starts it. logs lines|scan|jansson PATH...: prints microseconds of
 * CPU time a line. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "io/json.h"
#include "io/lines.h"
#include "io/logfile.h"

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* Records, as gbose evaluate reads them. */
static int scan(const char *path, double *lines)
{
    struct gbose__log_options options = {0};
    const struct gbose__record *r;
    struct gbose__log *log;
    gbose_error err;
    int rc = gbose__log_open(&log, path, &options, &err);

    if (rc)
        return rc;
    while ((rc = gbose__log_next(log, &r, &err)) == 1)
        ++*lines;
    gbose__log_close(log);
    return rc;
}

/* Lines, and perhaps a tree of each. */
static int lines_of(const char *path, int tree, double *lines)
{
    struct gbose__lines *reader;
    gbose_error err;
    char *line;
    size_t length;
    int rc = gbose__lines_open(&reader, path, 1 << 26, &err);

    if (rc)
        return rc;
    while ((rc = gbose__lines_next(reader, &line, &length, &err)) == 1) {
        json_t *document = tree ? gbose__json_parse(line, length, &err) : NULL;

        if (tree && !document)
            return GBOSE_EINVAL;
        json_decref(document);
        ++*lines;
    }
    gbose__lines_close(reader);
    return rc;
}

int main(int argc, char **argv)
{
    double begin = seconds(), lines = 0;
    int rc = argc < 3;

    for (int i = 2; i < argc && !rc; i++)
        rc = !strcmp(argv[1], "scan") ? scan(argv[i], &lines)
                                      : lines_of(argv[i], !strcmp(argv[1], "jansson"), &lines);
    if (rc) {
        fprintf(stderr, "logs: cannot read\n");
        return 1;
    }
    printf("%.6f\n", 1e6 * (seconds() - begin) / lines);
    return 0;
}
