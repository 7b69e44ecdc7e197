// SPDX-License-Identifier: Apache-2.0
#pragma once
// The fast core and its twin side by side, fed with the same commands.

#include <optional>
#include <string>
#include <vector>

#include "libcore/cluster/cluster_context.h"
#include "tests/differential/reference_cluster.h"
#include "tests/support/command_text.h"
#include "tests/support/player.h"
#include "tests/support/recorder.h"

namespace yk::testing {

/// Small time limits, so that retention and sweeps come into play within a run.
[[nodiscard]] Settings test_settings(const Shortcuts& shortcuts = {});

class Pair {
public:
    explicit Pair(const Shortcuts& shortcuts);

    /// Plays one command on both; the first difference in words, or nothing. `whole`: compares the whole state too.
    [[nodiscard]] std::optional<std::string> play(const Command& command, bool whole);

private:
    [[nodiscard]] std::optional<std::string> compare(bool in_order);
    [[nodiscard]] std::optional<std::string> compare_states();
    void advance(Duration by);

    Recorder fast_said_, slow_said_;
    ClusterContext fast_;
    reference::Cluster slow_;
    Instant now_ = kStart;
};

/// Plays all commands; what differs first, with the commands up to there, or nothing.
[[nodiscard]] std::optional<std::string> difference(const std::vector<Command>& commands,
                                                    const Shortcuts& shortcuts = {});

} // namespace yk::testing
