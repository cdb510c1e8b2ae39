/* The kernels for every processor of the architecture: SSE2 on x86-64, NEON on AArch64. */
#define GBOSE__TABLE gbose__kernels_baseline
#include "core/kernels_body.h"
