/* Which kernels to use: decided once, when the library is loaded. */
#include "core/kernels.h"

#include <stdlib.h>
#include <string.h>

#include "gbose.h"

/* Before the choice is made, and where nobody makes it, any processor will do: the results are the same. */
const struct gbose__kernels *gbose__kernels = &gbose__kernels_baseline;
static const char *in_use = "baseline";

struct variant {
    const char *name;
    const struct gbose__kernels *kernels;
    int supported;
};

int gbose__kernels_use(const char *name)
{
    const struct variant variant[] = {
        {"baseline", &gbose__kernels_baseline, 1},
#if defined(GBOSE_X86_KERNELS)
        {"avx2", &gbose__kernels_avx2, __builtin_cpu_supports("avx2") != 0},
        {"avx512", &gbose__kernels_avx512, __builtin_cpu_supports("avx512f") != 0},
#endif
    };

    for (size_t i = 0; i < sizeof variant / sizeof *variant; i++)
        if (variant[i].supported && !strcmp(name, variant[i].name)) {
            gbose__kernels = variant[i].kernels;
            in_use = variant[i].name;
            return 1;
        }
    return 0;
}

const char *gbose_isa(void)
{
    return in_use;
}

#if defined(__GNUC__)
__attribute__((constructor)) static void choose_kernels(void)
{
    const char *wish = getenv("GBOSE_ISA");

#if defined(GBOSE_X86_KERNELS)
    __builtin_cpu_init();
#endif
    if (wish && gbose__kernels_use(wish))
        return;
    if (!gbose__kernels_use("avx512"))
        gbose__kernels_use("avx2");
}
#endif
