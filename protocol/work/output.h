// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the output of a command goes.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "libcore/base/result.h"
#include "protocol/posix/descriptor.h"
#include "protocol/si/messages.h"
#include "protocol/work/free_space.h"

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

/// A folder with a file for each name. While its filesystem is nearly full (FreeSpace), what comes is dropped; how much
/// that was is said in the file when there is space again.
class OutputFolder {
public:
    /// Opens the folder, made if there is none. `limit`: so many bytes at most are in a file; then it is said in it
    /// that the rest is dropped. `probe`: what its filesystem has; empty: as the system says.
    [[nodiscard]] static Result<OutputFolder> open(const std::string& path, std::uint64_t limit,
                                                   FreeSpace::Probe probe = {});

    /// The file of a name, for appending; mode 0600. A link, another kind of file and one of somebody else are refused.
    /// One that is full is set aside as NAME.old first.
    [[nodiscard]] Result<std::unique_ptr<Output>> file(const std::string& name);

    /// From now on there are about so many files at most: when more are made, the oldest go that nobody writes.
    void keep_at_most(std::size_t files) { most_files_ = files; }

    /// `say` is called with a sentence when output begins to be dropped because the filesystem is nearly full, and when
    /// that ends; on the thread that writes.
    void on_shortage(std::function<void(bool is_short, const std::string& sentence)> say);

private:
    using Names = std::multiset<std::string>;

    OutputFolder(std::string path, Descriptor folder, std::uint64_t limit, FreeSpace::Probe probe)
        : path_(std::move(path)),
          folder_(std::move(folder)),
          limit_(limit),
          space_(std::make_shared<FreeSpace>(std::move(probe))) {}
    void remove_oldest() const;

    std::string path_;
    Descriptor folder_;
    std::uint64_t limit_ = 0;
    std::shared_ptr<FreeSpace> space_; // of its filesystem; files that are open have it, too
    std::optional<std::size_t> most_files_;
    std::size_t made_ = 0;                                       // since the folder was looked over
    std::shared_ptr<Names> written_ = std::make_shared<Names>(); // files that somebody writes
};

/// The file of an allocation's output: partition, application and key, each as file_name_part(); `+` is in none.
[[nodiscard]] std::string output_file_name(const si::Allocation& allocation);

/// A part of a file: at most `most` bytes from `offset`, and how long the file is by now.
struct OutputPart {
    std::string text;
    std::uint64_t size = 0;
};
/// nullopt: there is no such file. An error: it cannot be read.
[[nodiscard]] Result<std::optional<OutputPart>> read_output(const std::string& folder, const std::string& name,
                                                            std::uint64_t offset, std::size_t most);

/// A part of the name of a file: letters, digits, `-` and `_` stay, each other byte is `%` and two digits, so two
/// texts never have the same name unless they are very long; then the end is a sum of the whole.
[[nodiscard]] std::string file_name_part(std::string_view text);

/// What is said once where output ends because of its limit.
[[nodiscard]] std::string limit_text(std::uint64_t limit);
/// What is said in place of output that was dropped because the filesystem was nearly full.
[[nodiscard]] std::string gap_text(std::uint64_t bytes);

} // namespace yk::work
