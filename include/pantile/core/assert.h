#pragma once

#include <cstdio>
#include <cstdlib>

/// For programmers, not for input: checked in debug and sanitizer builds (PANTILE_ASSERTIONS or no NDEBUG), else
/// nothing.
#if defined(PANTILE_ASSERTIONS) || !defined(NDEBUG)
#define PANTILE_ASSERT(condition)                                                            \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      std::fprintf(stderr, "%s:%d: assertion failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                          \
    }                                                                                        \
  } while (false)
#else
#define PANTILE_ASSERT(condition) static_cast<void>(0)
#endif
