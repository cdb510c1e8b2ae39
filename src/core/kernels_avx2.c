/* The kernels for x86-64 with AVX2; compiled with -mavx2. */
#if defined(__AVX2__)
#define GBOSE__TABLE gbose__kernels_avx2
#include "core/kernels_body.h"
#else
typedef int gbose__not_for_this_target;
#endif
