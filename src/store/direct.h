/* Files that are written past the system's cache, if that can be: bytes are written once and hardly ever read. */
#ifndef GBOSE_STORE_DIRECT_H
#define GBOSE_STORE_DIRECT_H

#include <stddef.h>
#include <stdint.h>

/* What is written, its place in the file and its place in memory are multiples of so many bytes. */
#define GBOSE__DIRECT_BLOCK ((size_t)4096)

/* open() for such a file; -1 with errno. */
int gbose__direct_open(const char *path, int flags);

/* The same for reading and writing. A file that is not there is made, and is there after a crash. */
int gbose__direct_make(const char *path);

/* Write, and sync. 0, or -1 with errno: some of it may have been written. */
int gbose__direct_write(int file, const void *bytes, size_t size, uint64_t at);

#endif
