#include "support/faults.h"

struct heap heap = {.until_failure = -1};

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *p);

static int may_allocate(size_t size)
{
    if (!heap.watched)
        return 1;
    heap.calls++;
    heap.bytes += size;
    heap.after_failure += heap.failed;
    if (heap.until_failure == 0 || (heap.most && size > heap.most)) {
        heap.failed = 1;
        return 0;
    }
    if (heap.until_failure > 0)
        heap.until_failure--;
    return 1;
}

static void *counted(void *p)
{
    heap.live += p != NULL;
    return p;
}

void *__wrap_malloc(size_t size)
{
    return may_allocate(size) ? counted(__real_malloc(size)) : NULL;
}

void *__wrap_calloc(size_t count, size_t size)
{
    return may_allocate(count * size) ? counted(__real_calloc(count, size)) : NULL;
}

void *__wrap_realloc(void *p, size_t size)
{
    if (!may_allocate(size))
        return NULL;
    return p ? __real_realloc(p, size) : counted(__real_realloc(NULL, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return may_allocate(size) ? counted(__real_aligned_alloc(alignment, size)) : NULL;
}

void __wrap_free(void *p)
{
    heap.live -= p != NULL;
    __real_free(p);
}

void watch(long successes)
{
    heap.calls = heap.after_failure = 0;
    heap.bytes = 0;
    heap.failed = 0;
    heap.until_failure = successes;
    heap.watched = 1;
}

long stop_watching(void)
{
    heap.watched = 0;
    heap.until_failure = -1;
    return heap.calls;
}
