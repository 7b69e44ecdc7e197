// SPDX-License-Identifier: Apache-2.0
#pragma once
// comes_true(): what another thread will bring about is waited for, never slept for.

#include <chrono>
#include <thread>

namespace yk::testing {

inline constexpr std::chrono::seconds kPatience{20}; // a loaded machine is slow

/// Whether it holds within kPatience, looked at again and again.
template <class Condition>
bool comes_true(Condition&& condition) {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (!condition() && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    return condition();
}

} // namespace yk::testing
