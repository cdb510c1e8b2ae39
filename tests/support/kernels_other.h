/* The kernels compiled for widths that the processor may not have: their logic, if not their intrinsics. */
#ifndef TESTS_KERNELS_OTHER_H
#define TESTS_KERNELS_OTHER_H

#include "core/kernels.h"

extern const struct gbose__kernels kernels_narrow, kernels_wide;

#endif
