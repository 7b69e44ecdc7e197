// SPDX-License-Identifier: Apache-2.0
#pragma once
// The state directory (C-469) and the files in it: dumps that SIGUSR1 asks for, and what is kept over a restart.

#include <string>
#include <string_view>

#include "libcore/base/result.h"

namespace yk::service {

/// Checks that it exists, is a directory, and files can be created in it; an error says what is wrong.
[[nodiscard]] Result<void> check_state_directory(const std::string& directory);

/// Checks that a directory that is there belongs to this user, and nobody else can put files into it. It may be
/// reached by a link. `what` is in it, for the message.
[[nodiscard]] Result<void> check_own_directory(const std::string& directory, const std::string& what);

/// Makes a folder of mode 0700, unless it is there, and checks that nobody but this user can put files into it. `what`
/// is in it, in the plural, for the message.
[[nodiscard]] Result<void> make_own_folder(const std::string& folder, const std::string& what);

/// What of the name of an RM's file comes from its id: what can stand in a file name, and a hash, since two ids may
/// look alike then.
[[nodiscard]] std::string file_name_of(const std::string& rm_id);

/// Has the disk know which files are in the folder: after one was made, renamed or removed. An errno, or 0.
[[nodiscard]] int sync_folder(const std::string& folder);

/// The name of a dump by its time, in nanoseconds since 1970: `dump-20261120T215042.123Z.json`.
[[nodiscard]] std::string dump_name(std::int64_t unix_nanoseconds);

/// A file of mode 0600 in the state directory that appears under its name only when it is complete. Writing may wait
/// for the disk. Thread: one.
class StateFile {
public:
    StateFile(const std::string& directory, const std::string& name);
    /// Without finish() before, the file is removed.
    ~StateFile();
    StateFile(const StateFile&) = delete;
    StateFile& operator=(const StateFile&) = delete;

    /// Writes more of the file. After a fault nothing is written any more.
    void write(std::string_view text);
    [[nodiscard]] bool is_good() const { return fault_ == 0; }
    /// Completes the file, with fsync(2), gives it its name, and has the disk know that, too. Returns its size in
    /// bytes, or why that failed: with code kMayBeUndone it has its name all the same.
    [[nodiscard]] Result<std::size_t> finish();
    static constexpr int kMayBeUndone = 1; // by a loss of power

private:
    void flush();
    const std::string directory_, path_, unfinished_; // its name, and the one until finish()
    int file_ = -1;
    int fault_ = 0;       // errno of the first fault
    std::string waiting_; // text that is not written yet
    std::size_t bytes_ = 0;
};

} // namespace yk::service
