// SPDX-License-Identifier: Apache-2.0
#pragma once
// Three grades of checks. Input from a socket, a file or a person is never asserted, only answered.

#include <cstdio>
#include <cstdlib>

/// In every build: going on would corrupt accounting. Prints the sentence and aborts.
#define YK_CHECK(cond, sentence)                                                                                       \
    do {                                                                                                               \
        if (!(cond)) [[unlikely]] {                                                                                    \
            std::fprintf(stderr, "%s:%d: check failed: %s (%s)\n", __FILE__, __LINE__, sentence, #cond);               \
            std::abort();                                                                                              \
        }                                                                                                              \
    } while (false)

/// In debug, sanitizer and fuzz builds: what the proofs rely on.
#ifdef NDEBUG
#define YK_ASSUME(cond, sentence) static_cast<void>(0)
#else
#define YK_ASSUME(cond, sentence) YK_CHECK(cond, sentence)
#endif

#define YK_UNREACHABLE(sentence) YK_CHECK(false, sentence)
