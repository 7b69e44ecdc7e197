// SPDX-License-Identifier: Apache-2.0
#pragma once
// heap_bytes(): how much memory this process has from the heap, for tests of what may be kept.

#include <malloc.h>

namespace yk::testing {

// A sanitizer has an allocator of its own, which does not count in the way that is asked here.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define YK_HEAP_IS_ANOTHER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define YK_HEAP_IS_ANOTHER
#endif
#endif
#ifdef YK_HEAP_IS_ANOTHER
inline constexpr bool kHeapIsCounted = false;
#undef YK_HEAP_IS_ANOTHER
#else
inline constexpr bool kHeapIsCounted = true;
#endif

/// Bytes in use, without what was given back and is kept for later. Cost: grows with the number of free pieces, so it
/// is not for each step of a loop. REQUIRES: kHeapIsCounted, or the answer means nothing.
inline double heap_bytes() {
    const auto info = ::mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
}

} // namespace yk::testing
