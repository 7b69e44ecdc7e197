// SPDX-License-Identifier: Apache-2.0
#pragma once
// Record: which commands a process has started, in a small file, so that the next one ends those that were left when
// this one and its guard were ended together.
//
// A command is known by its process id and the time at which the kernel started it, in one life of the machine: a
// number that was given to another process since is not taken for it. The file has a line of fixed length for each
// command that runs, so it never grows beyond what ran at once.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libcore/base/result.h"
#include "protocol/posix/descriptor.h"

namespace yk::work {

/// A variable that each recorded command has, so that what outlives its leader is known by it.
inline constexpr const char* kMark = "YK_ALLOCATION_KEY=";

/// Owner: Commands. Thread: one. One process uses a file at a time: the caller sees to that.
class Record {
public:
    /// Opens the file, made if there is none. Links and files of others are refused.
    [[nodiscard]] static Result<Record> open(const std::string& path);

    /// Ends, at once, what the file says was started and still runs, and forgets it. Returns how many processes that
    /// were. An error: some could not be ended.
    [[nodiscard]] Result<std::size_t> end_left_over();

    /// The process that wrote the file before, once end_left_over() has read it; 0: none in this life of the machine.
    [[nodiscard]] pid_t former() const { return former_; }

    [[nodiscard]] Result<void> add(pid_t pid);
    void remove(pid_t pid);

private:
    Record(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}
    [[nodiscard]] Result<void> write_line(std::size_t line, const std::string& text) const;

    std::string path_;
    Descriptor file_;
    pid_t former_ = 0;
    std::map<pid_t, std::size_t> lines_; // of what runs; the first line is the life of the machine, and the process
    std::vector<std::size_t> free_;
    std::size_t used_ = 1;
};

} // namespace yk::work
