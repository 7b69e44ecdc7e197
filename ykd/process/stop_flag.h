// SPDX-License-Identifier: Apache-2.0
#pragma once
// StopFlag: whether the process is ending. Once set it stays set. Owner: Daemon. Thread: any.

#include <atomic>

namespace yk::service {

class StopFlag {
public:
    void set() noexcept { set_.store(true, std::memory_order_relaxed); }
    [[nodiscard]] bool is_set() const noexcept { return set_.load(std::memory_order_relaxed); }

private:
    std::atomic<bool> set_{false};
};

} // namespace yk::service
