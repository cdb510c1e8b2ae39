#include "core/names.h"

#include <string.h>

size_t gbose__names_distance(const char *a, const char *b)
{
    size_t n = strlen(b), cost[64];

    if (n > 63)
        n = 63;
    for (size_t j = 0; j <= n; j++)
        cost[j] = j;
    for (size_t i = 1; *a && i < 64; i++, a++) {
        size_t diagonal = cost[0];
        cost[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = diagonal + (*a != b[j - 1]);
            diagonal = cost[j];
            if (cost[j] + 1 < best)
                best = cost[j] + 1;
            if (cost[j - 1] + 1 < best)
                best = cost[j - 1] + 1;
            cost[j] = best;
        }
    }
    return cost[n];
}

/* The name in lower case, cut to what gbose__names_distance() compares. */
static void lower(char buf[64], const char *name)
{
    size_t n = 0;

    for (; name[n] && n < 63; n++)
        buf[n] = (char)(name[n] >= 'A' && name[n] <= 'Z' ? name[n] - 'A' + 'a' : name[n]);
    buf[n] = 0;
}

int gbose__names_near(const char *name, const char *other)
{
    char a[64], b[64];
    size_t n, m, shorter, longer;

    lower(a, name);
    lower(b, other);
    n = strlen(a);
    m = strlen(b);
    shorter = n < m ? n : m;
    longer = n < m ? m : n;
    if (shorter >= 3 && !strncmp(a, b, shorter))
        return 1;
    return 5 * gbose__names_distance(a, b) <= 2 * longer;
}

const char *gbose__names_nearest(const char *name, const char *const *list, size_t n)
{
    size_t nearest = 0;

    for (size_t i = 1; i < n; i++)
        if (gbose__names_distance(name, list[i]) < gbose__names_distance(name, list[nearest]))
            nearest = i;
    return list[nearest];
}
