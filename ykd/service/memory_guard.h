#pragma once
// MemoryGuard: what the whole process may have. The limits of each RM (rmMax...) leave room for one that uses all of
// them; this one keeps several of them from ending the process for everybody. When the process has more than
// `maxMemory`, what would make an RM grow is answered E_BUSY, before the core sees it, and removals go on. An RM that
// has little is always let in: the others must not keep it out.
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
    /// `most` in bytes; 0: default_memory_limit().
    explicit MemoryGuard(std::uint64_t most);

    /// Notes how much the process has, in bytes: resident_memory().
    void note(std::uint64_t resident) noexcept;
    [[nodiscard]] bool is_short() const noexcept { return short_.load(std::memory_order_relaxed); }
    /// Whether an RM that has about `held` bytes, what it wants included, may grow.
    [[nodiscard]] bool admits(std::uint64_t held) const noexcept { return !is_short() || held <= always(); }
    /// Whether it soon will be: time for a MemoryTrim.
    [[nodiscard]] bool is_near() const noexcept {
        return resident_.load(std::memory_order_relaxed) > most_ - most_ / 10;
    }
    /// What an RM may have however short memory is: 64 of them a third more than the limit, or 4 MiB each.
    [[nodiscard]] std::uint64_t always() const noexcept { return std::max(most_ / 192, std::uint64_t{4} << 20); }
    [[nodiscard]] std::uint64_t most() const noexcept { return most_; }
    /// `ykd has 5.5 GiB of memory, of at most 5.4 GiB (maxMemory)`
    [[nodiscard]] std::string sentence() const;

private:
    const std::uint64_t most_;
    std::atomic<std::uint64_t> resident_{0};
    std::atomic<bool> short_{false};
};

/// What a configuration text of so many bytes makes an RM hold, at most.
[[nodiscard]] constexpr std::uint64_t bytes_of_configuration(std::uint64_t text) noexcept {
    return 128 * text;
}

/// Of this process, in bytes; 0: it cannot be read.
[[nodiscard]] std::uint64_t resident_memory();
/// What was allocated and not freed, in bytes. Only a build with the address sanitizer knows it: there resident memory
/// tells nothing, and nothing else counts cheaply.
[[nodiscard]] std::optional<std::uint64_t> heap_in_use();
/// Three quarters of the machine's memory or of the control group's MemoryMax, nine tenths of its MemoryHigh: what is
/// least.
[[nodiscard]] std::uint64_t default_memory_limit();
/// The least limit of a control group and of those above it. `group`: as in /proc/self/cgroup; `root`: where the tree
/// is mounted. No limit: UINT64_MAX.
struct GroupLimits {
    std::uint64_t high = UINT64_MAX, max = UINT64_MAX;
};
[[nodiscard]] GroupLimits limits_of_group(const std::string& root, const std::string& group);

} // namespace yk::service
