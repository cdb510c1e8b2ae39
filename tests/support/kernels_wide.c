/* The kernels as wide as AVX-512, for processors that do not have it. */
#define GBOSE__VEC_DOUBLES 8
#define GBOSE__TABLE kernels_wide
#include "core/kernels_body.h"
