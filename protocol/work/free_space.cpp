// SPDX-License-Identifier: Apache-2.0
#include "protocol/work/free_space.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>

namespace yk::work {
namespace {

constexpr std::size_t kUnasked = 64U << 10U;    // bytes
constexpr std::uint64_t kMostLeft = 64U << 20U; // bytes
constexpr std::uint64_t kPart = 10;             // of a filesystem, where that is less
constexpr std::uint64_t kMargin = 4;            // part of the floor, above it

} // namespace

std::optional<DiskSpace> disk_space_of(int file) {
    struct statvfs info {};
    while (::fstatvfs(file, &info) != 0)
        if (errno != EINTR) return std::nullopt;
    return DiskSpace{std::uint64_t{info.f_bavail} * info.f_frsize, std::uint64_t{info.f_blocks} * info.f_frsize};
}

std::uint64_t least_free(std::uint64_t size) {
    return std::min(kMostLeft, size / kPart);
}

bool FreeSpace::allows(std::size_t bytes) {
    if (!is_short_ && bytes <= unasked_) {
        unasked_ -= bytes;
        return true;
    }
    unasked_ = kUnasked - std::min(kUnasked, bytes);
    const auto space = probe_();
    const std::uint64_t floor = space ? least_free(space->size) : 0;
    const bool was_short = is_short_;
    is_short_ = space && space->free < floor + (was_short ? floor / kMargin : 0);
    if (is_short_ != was_short && on_change_) on_change_(is_short_, space.value_or(DiskSpace{}));
    return !is_short_;
}

} // namespace yk::work
