/* Numbers are the same on every machine because every operation is rounded to its type, once. A compiler
 * that was told otherwise is refused here; CMakeLists.txt says what to tell it. */
#ifndef GBOSE_CORE_ARITHMETIC_H
#define GBOSE_CORE_ARITHMETIC_H

#include <float.h>

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) ||                     \
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__)
#error "gbose needs exact IEEE arithmetic: compile it without -ffast-math and -Ofast"
#endif

#if FLT_EVAL_METHOD != 0
#error                                                                                                       \
    "gbose needs doubles and floats rounded to their type: on i686 add -msse2 -mfpmath=sse, on s390x -fexcess-precision=fast"
#endif

#endif
