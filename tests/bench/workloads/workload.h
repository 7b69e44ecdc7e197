// SPDX-License-Identifier: Apache-2.0
#pragma once
// A workload as rows: what the cluster is and which asks come, made from parameters and a fixed seed, so that every run
// sees the same work (docs/benchmarks.md). Rows are small: a million asks cost 8 MB and hardly show in the
// RSS.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/ports/settings.h"

namespace yk::bench {

using Amounts = std::vector<std::pair<std::string, std::int64_t>>;

struct NodeRow {
    std::string id;
    std::uint32_t size = 0; // in Workload::sizes
};

struct ApplicationRow {
    std::string id;
    std::string queue;
    std::string user = "bench";
    std::string group = "bench";
    std::string second_group{};     // none
    std::uint32_t placeholders = 0; // of its gang
    std::uint32_t placeholder_size = 0;
};

struct AskRow {
    std::uint32_t application = 0;
    std::uint32_t size = 0;
};

/// A bench plays more than an RM may hold by default.
[[nodiscard]] inline Settings without_limits() {
    Settings settings;
    for (const Held what : kAllHeld) limit_of(settings.budget, what) = 0;
    return settings;
}

struct Workload {
    std::string config; // YAML, one partition
    Settings settings = without_limits();
    std::vector<Amounts> sizes; // of nodes and asks
    std::vector<NodeRow> nodes;
    std::vector<ApplicationRow> applications;
    std::vector<AskRow> asks; // ask i has the key Key{i}
};

/// The allocation key of ask `i`: 36 characters that look like a UUID. `i` can be read back from it, so that nobody has
/// to look keys up in the middle of a measurement.
class Key {
public:
    explicit Key(std::uint32_t i);
    [[nodiscard]] std::string_view view() const { return {text_.data(), text_.size()}; }
    [[nodiscard]] static std::uint32_t index_of(std::string_view key);

private:
    std::array<char, 36> text_{};
};

/// A small generator with the same numbers everywhere (splitmix64).
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next();
    /// Below `bound`, which is not 0.
    std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>((next() >> 32) * bound >> 32); }

private:
    std::uint64_t state_;
};

} // namespace yk::bench
