// SPDX-License-Identifier: Apache-2.0
#include "ykd/process/memory_guard.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#if defined(__SANITIZE_ADDRESS__)
#define YK_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define YK_HAS_ASAN 1
#endif
#endif
#ifdef YK_HAS_ASAN
#include <sanitizer/allocator_interface.h>
#endif

namespace yk::service {
namespace {

/// The limit in a file; UINT64_MAX: it says `max`, or is not there.
std::uint64_t limit_in(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::uint64_t bytes = 0;
    return in >> bytes ? bytes : UINT64_MAX;
}

/// The control group of this process in the hierarchy of version 2, from a line `0::/system.slice/ykd.service`.
std::string own_group() {
    std::ifstream in("/proc/self/cgroup");
    for (std::string line; std::getline(in, line);)
        if (line.starts_with("0::")) return line.substr(3);
    return "/";
}

std::uint64_t machine_memory() {
    const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size) : UINT64_MAX;
}

struct ResidentPages {
    std::uint64_t all = 0, of_files = 0;
};

/// Zeros: they cannot be read.
ResidentPages resident_pages() {
    std::ifstream in("/proc/self/statm");
    std::uint64_t addresses = 0;
    ResidentPages pages;
    if (!(in >> addresses >> pages.all >> pages.of_files)) return {};
    pages.of_files = std::min(pages.of_files, pages.all);
    return pages;
}

std::string gib(std::uint64_t bytes) {
    return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / (1U << 30));
}

} // namespace

GroupLimits limits_of_group(const std::string& root, const std::string& group) {
    GroupLimits least;
    std::filesystem::path here = std::filesystem::path(root) / std::filesystem::path(group).relative_path();
    while (true) {
        least.max = std::min(least.max, limit_in(here / "memory.max"));
        least.high = std::min(least.high, limit_in(here / "memory.high"));
        if (here == root || here == here.parent_path()) return least;
        here = here.parent_path();
    }
}

std::uint64_t default_memory_limit() {
    const GroupLimits group = limits_of_group("/sys/fs/cgroup", own_group());
    const std::uint64_t most = std::min(group.max, machine_memory());
    return std::min(most / 4 * 3, group.high / 10 * 9);
}

std::uint64_t resident_memory() {
    return resident_pages().all * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::uint64_t own_memory() {
    const ResidentPages pages = resident_pages();
    return (pages.all - pages.of_files) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::optional<std::uint64_t> heap_in_use() {
#ifdef YK_HAS_ASAN
    return __sanitizer_get_current_allocated_bytes();
#else
    return std::nullopt;
#endif
}

MemoryGuard::MemoryGuard(std::uint64_t most) : most_(most == 0 ? default_memory_limit() : most) {}

/// The shortage ends only when 5 % are free; else the answers could change with every page of memory.
void MemoryGuard::note(std::uint64_t own) noexcept {
    own_.store(own, std::memory_order_relaxed);
    const std::uint64_t enough = is_short() ? most_ - most_ / 20 : most_;
    short_.store(own > enough, std::memory_order_relaxed);
}

std::string MemoryGuard::sentence() const {
    return fmt::format("ykd has {} of memory, of at most {} (maxMemory)", gib(own_.load(std::memory_order_relaxed)),
                       gib(most_));
}

} // namespace yk::service
