// SPDX-License-Identifier: Apache-2.0
#include "ykd/process/process_limits.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <thread>

namespace yk::service {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kDefaultStack = 8 * kMiB;
constexpr std::uint64_t kOtherDescriptors = 128; // for log, files, signals, recordings, connections being closed
constexpr std::size_t kHeap = 128 * kMiB;        // the allocator reserves 64 MiB for each of its first arenas

/// About how many bytes the stacks take: of the workers of both sets, of nng's threads (some of each kind for each
/// processor), of the first RMs, and of the other threads. A ykd without RMs on two processors has 23 beside the main
/// thread.
std::size_t stacks() {
    const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t threads = 18 + 5 * std::min<std::size_t>(processors, 16);
    rlimit stack{};
    const bool known = ::getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY;
    return threads * (known ? static_cast<std::size_t>(stack.rlim_cur) : kDefaultStack);
}

} // namespace

Result<void> check_address_space() {
    rlimit space{};
    if (::getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY) return {};
    const std::size_t wanted = stacks() + kHeap;
    void* reserved = ::mmap(nullptr, wanted, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved != MAP_FAILED) {
        ::munmap(reserved, wanted);
        return {};
    }
    return Error::of(
        fmt::format("the address space is limited to {} MiB, and {} MiB more than the program itself are needed; "
                    "raise the limit (ulimit -v, prlimit --as, LimitAS=)",
                    space.rlim_cur / kMiB, wanted / kMiB));
}

std::string take_descriptors(std::uint64_t connections) {
    rlimit descriptors{};
    if (::getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return {};
    rlimit all = descriptors;
    all.rlim_cur = all.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &all) == 0) descriptors = all;
    const std::uint64_t wanted = connections + kOtherDescriptors;
    if (descriptors.rlim_cur >= wanted) return {};
    return fmt::format(
        "{} connections (maxConnections, of all listeners) need {} descriptors, and the process may have "
        "{}: raise the limit (ulimit -Hn, LimitNOFILE=), or lower maxConnections",
        connections, wanted, descriptors.rlim_cur);
}

} // namespace yk::service
