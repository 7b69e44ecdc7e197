// SPDX-License-Identifier: Apache-2.0
#pragma once
// Clears: sets a flag to false at the end of a scope, also when something throws there. For flags that mean "under
// way".

#include <atomic>

namespace yk {

class Clears {
public:
    explicit Clears(std::atomic<bool>& flag) noexcept : flag_(flag) {}
    ~Clears() { flag_ = false; }
    Clears(const Clears&) = delete;
    Clears& operator=(const Clears&) = delete;

private:
    std::atomic<bool>& flag_;
};

} // namespace yk
