// SPDX-License-Identifier: Apache-2.0
#pragma once
// HeldSignals: SIGINT and SIGTERM as something that a command waits for.

#include <chrono>

namespace yk::cli {

/// SIGINT and SIGTERM are held back while this lives, so that a loop notices them between two steps.
class HeldSignals {
public:
    HeldSignals();
    ~HeldSignals();
    HeldSignals(const HeldSignals&) = delete;
    HeldSignals& operator=(const HeldSignals&) = delete;
    /// Waits for at most `time`; returns the signal that came, or 0.
    [[nodiscard]] int wait(std::chrono::milliseconds time) const;
};

} // namespace yk::cli
