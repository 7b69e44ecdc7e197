// SPDX-License-Identifier: Apache-2.0
#pragma once
// MemoryGuard: the memory limit of the whole process. Memory suffices for one RM that uses up its own limits
// (rmMax...); this one keeps several RMs together from ending the process. While the process has more than
// `maxMemory`, a request that would make an RM grow is answered with E_BUSY before the core sees it, and removals go
// on. An RM that has little may always grow: the others must not keep it out.
//
// Owner: Daemon. Thread: any.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace yk::service {

class MemoryGuard {
public:
    /// `most`: the limit in bytes; 0: default_memory_limit().
    explicit MemoryGuard(std::uint64_t most);

    /// Notes how many bytes the process has (own_memory()). To be called regularly.
    void note(std::uint64_t own) noexcept;
    /// Whether the process was above its limit at the last note(), and has not fallen clearly below it since.
    [[nodiscard]] bool is_short() const noexcept { return short_.load(std::memory_order_relaxed); }
    /// Whether an RM may grow to about `held` bytes.
    [[nodiscard]] bool admits(std::uint64_t held) const noexcept { return !is_short() || held <= always(); }
    /// Whether memory is nearly short: time for a MemoryTrim.
    [[nodiscard]] bool is_near() const noexcept { return own_.load(std::memory_order_relaxed) > most_ - most_ / 10; }
    /// The bytes that an RM may have however short memory is: 1/192 of the limit, so that 64 RMs together exceed it by
    /// a third at most, but at least 4 MiB.
    [[nodiscard]] std::uint64_t always() const noexcept { return std::max(most_ / 192, std::uint64_t{4} << 20); }
    [[nodiscard]] std::uint64_t most() const noexcept { return most_; }
    /// For people: `ykd has 5.50 GiB of memory, of at most 5.40 GiB (maxMemory)`.
    [[nodiscard]] std::string sentence() const;

private:
    const std::uint64_t most_;
    std::atomic<std::uint64_t> own_{0};
    std::atomic<bool> short_{false};
};

/// How many bytes an RM holds at most for a configuration whose text has `text` bytes.
[[nodiscard]] constexpr std::uint64_t bytes_of_configuration(std::uint64_t text) noexcept {
    return 128 * text;
}

/// The resident memory of this process in bytes; 0: it cannot be read. Reads a file of /proc.
[[nodiscard]] std::uint64_t resident_memory();
/// That without what is mapped of files, such as the database of Deployments: such pages grow with the file, and the
/// system takes them back when it needs them.
[[nodiscard]] std::uint64_t own_memory();
/// The bytes that were allocated and not freed. Only a build with the address sanitizer knows them: there resident
/// memory means nothing, and elsewhere they cannot be counted cheaply.
[[nodiscard]] std::optional<std::uint64_t> heap_in_use();
/// The least of three quarters of the machine's memory, three quarters of the control group's MemoryMax, and nine
/// tenths of its MemoryHigh, in bytes.
[[nodiscard]] std::uint64_t default_memory_limit();
/// Memory limits of a control group in bytes; UINT64_MAX: there is none.
struct GroupLimits {
    std::uint64_t high = UINT64_MAX, max = UINT64_MAX;
};
/// The least limits of a control group and of those above it. `group`: as in /proc/self/cgroup; `root`: where the tree
/// is mounted.
[[nodiscard]] GroupLimits limits_of_group(const std::string& root, const std::string& group);

} // namespace yk::service
