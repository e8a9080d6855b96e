/*
 * assert(), in release builds too: a lock that goes on after an invariant is broken is worse than one that stops. So
 * NDEBUG has no effect here. PDK_NO_ASSERT leaves the assertions out, to measure what they cost
 * (test/build/assertions-cost).
 */
#ifndef PDK__ASSERT_H
#define PDK__ASSERT_H

#ifdef PDK_NO_ASSERT
#ifndef NDEBUG
#define NDEBUG
#endif
#else
#undef NDEBUG
#endif
#include <assert.h>

#endif
