// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the output of a command goes.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "libcore/base/result.h"
#include "protocol/work/descriptor.h"

namespace yk::work {

/// Takes what a command writes, as it comes. What it does not want it drops: the command is never held up.
class Output {
public:
    Output() = default;
    virtual ~Output() = default;
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    virtual void write(std::string_view text) = 0;
};

/// A folder with a file for each name.
class OutputFolder {
public:
    /// Opens the folder, made if there is none. `limit`: so many bytes at most are in a file; then it is said in it
    /// that the rest is dropped.
    [[nodiscard]] static Result<OutputFolder> open(const std::string& path, std::uint64_t limit);

    /// The file of a name, for appending; mode 0600. A link, another kind of file and one of somebody else are refused.
    /// One that is full is set aside as NAME.old first.
    [[nodiscard]] Result<std::unique_ptr<Output>> file(const std::string& name) const;

private:
    OutputFolder(std::string path, Descriptor folder, std::uint64_t limit)
        : path_(std::move(path)), folder_(std::move(folder)), limit_(limit) {}

    std::string path_;
    Descriptor folder_;
    std::uint64_t limit_ = 0;
};

/// A part of the name of a file: letters, digits, `-` and `_` stay, each other byte is `%` and two digits, so two
/// texts never have the same name unless they are very long; then the end is a sum of the whole.
[[nodiscard]] std::string file_name_part(std::string_view text);

/// What is said once where output ends because of its limit.
[[nodiscard]] std::string limit_text(std::uint64_t limit);

} // namespace yk::work
