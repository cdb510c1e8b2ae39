/* The kernels as on a processor with vectors of two doubles and no intrinsics of ours, such as NEON. */
#define GBOSE__VEC_DOUBLES 2
#define GBOSE__TABLE kernels_narrow
#include "core/kernels_body.h"
