/* What the fuzzers of texts and files share. */
#ifndef GBOSE_FUZZ_TEXTS_H
#define GBOSE_FUZZ_TEXTS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gbose.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(int condition)
{
    if (!condition)
        abort();
}

/* The input as a text; free it. */
static inline char *text_of(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    require(text != NULL);
    memcpy(text, data, size);
    text[size] = 0;
    return text;
}

/* A refusal is one line that says something. */
static inline void check_refusal(int rc, const gbose_error *err)
{
    require(rc < 0 && err->code == rc && strlen(err->text) > 10 && !strpbrk(err->text, "\r\n"));
}

/* A directory of this process, removed at its end. */
static char directory[64];

static inline void remove_directory(void)
{
    char file[128];

    snprintf(file, sizeof file, "%s/journal.bin", directory);
    unlink(file);
    snprintf(file, sizeof file, "%s/log", directory);
    unlink(file);
    rmdir(directory);
}

/* Write the input to a file there; its path. */
static inline const char *file_of(const char *name, const void *data, size_t size)
{
    static char path[128];
    FILE *file;

    if (!*directory) {
        strcpy(directory, "/tmp/gbose-fuzz-XXXXXX");
        require(mkdtemp(directory) != NULL);
        atexit(remove_directory);
    }
    snprintf(path, sizeof path, "%s/%s", directory, name);
    file = fopen(path, "wb");
    require(file && fwrite(data, 1, size, file) == size && !fclose(file));
    return path;
}

#endif
