// SPDX-License-Identifier: Apache-2.0
#pragma once
// FreeSpace: whether a filesystem has enough left for the output of commands. Others need what is below a floor, such
// as a database beside it, and output can be dropped while they cannot be.
//
// Owner: an OutputFolder and the files that it has open. Thread: one, that of its owner.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace yk::work {

/// What a filesystem has, in bytes.
struct DiskSpace {
    std::uint64_t free = 0; // for those who are not root
    std::uint64_t size = 0;
};
/// That of an open file or folder; nullopt: the system does not say.
[[nodiscard]] std::optional<DiskSpace> disk_space_of(int file);
/// So many bytes of a filesystem of this size are left to others: a tenth of it, 64 MiB at most.
[[nodiscard]] std::uint64_t least_free(std::uint64_t size);

class FreeSpace {
public:
    using Probe = std::function<std::optional<DiskSpace>()>;
    /// Called when it becomes short, and when it no longer is.
    using OnChange = std::function<void(bool is_short, const DiskSpace& space)>;

    explicit FreeSpace(Probe probe) : probe_(std::move(probe)) {}
    void on_change(OnChange call) { on_change_ = std::move(call); }

    /// Whether so many bytes may be written now. The probe is called once for each 64 KiB, or, while space is short,
    /// each time: it takes the place of the write then. It is short below least_free(), until there is a quarter more,
    /// so that a little that comes and goes is not announced each time. Where nothing is known, it is not short.
    [[nodiscard]] bool allows(std::size_t bytes);

private:
    const Probe probe_;
    OnChange on_change_;
    std::size_t unasked_ = 0; // bytes that may be written before it is asked again
    bool is_short_ = false;
};

} // namespace yk::work
