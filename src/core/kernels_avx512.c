/* The kernels for x86-64 with AVX-512; compiled with -mavx512f. */
#if defined(__AVX512F__)
#define GBOSE__TABLE gbose__kernels_avx512
#include "core/kernels_body.h"
#else
typedef int gbose__not_for_this_target;
#endif
