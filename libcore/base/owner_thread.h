// SPDX-License-Identifier: Apache-2.0
#pragma once
// OwnerThread: remembers which thread an object belongs to and checks, in debug, sanitizer and fuzz builds, that it is
// used on that thread only. In release builds it is empty and costs nothing. It starts no thread and waits for none.
//
// Unbound, before bind() or claim() and after release(), nothing is checked: an object that no thread owns (in a test,
// in a playback, before its thread starts or after it was joined) may be used by whoever holds it.

#include <atomic>
#include <thread>

#include "libcore/base/check.h"

namespace yk {

class OwnerThread {
public:
#ifdef NDEBUG
    void bind() noexcept {}
    void release() noexcept {}
    void claim() noexcept {}
    void assert_here() const noexcept {}
#else
    /// The calling thread is the owner from now on.
    void bind() noexcept {
        id_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    }
    /// Nobody is the owner any more.
    void release() noexcept {
        id_.store(std::thread::id{}, std::memory_order_relaxed);
    }
    /// Binds if nobody is the owner, else as assert_here(): whoever uses the object first owns it.
    void claim() noexcept {
        if (id_.load(std::memory_order_relaxed) == std::thread::id{}) bind();
        assert_here();
    }
    void assert_here() const noexcept {
        YK_ASSUME(is_here_or_unbound(), "only the owner thread calls this");
    }

private:
    [[nodiscard]] bool is_here_or_unbound() const noexcept {
        const std::thread::id owner = id_.load(std::memory_order_relaxed);
        return owner == std::thread::id{} || owner == std::this_thread::get_id();
    }

    std::atomic<std::thread::id> id_{};
#endif
};

} // namespace yk
