/* What is found out on the way, for people. */
#include "serve/service.h"

#include <stdlib.h>

void gbose__monitor_free(struct gbose__monitor *monitor)
{
    (void)monitor;
}

int gbose__monitor_extend(struct gbose__bandit *bandit, struct gbose__trainer *trainer, size_t most)
{
    (void)bandit;
    (void)trainer;
    (void)most;
    return 0;
}
