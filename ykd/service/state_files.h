#pragma once
// The state directory (C-469) and the files in it.

#include <string>
#include <string_view>

#include "libcore/base/result.h"

namespace yk::service {

/// It exists, is a directory, and files can be made in it.
[[nodiscard]] Result<void> check_state_directory(const std::string& directory);

/// `dump-20261120T215042.123Z.json`, of nanoseconds since 1970.
[[nodiscard]] std::string dump_name(std::int64_t unix_nanoseconds);

/// A file of mode 0600 in the state directory that is there whole or not at all. Writing may wait for the disk.
class StateFile {
public:
    StateFile(const std::string& directory, const std::string& name);
    /// Without finish() nothing is left of it.
    ~StateFile();
    StateFile(const StateFile&) = delete;
    StateFile& operator=(const StateFile&) = delete;

    /// After a fault nothing is written any more.
    void write(std::string_view text);
    [[nodiscard]] bool is_good() const { return fault_ == 0; }
    /// The file is there now, with so many bytes; or why not.
    [[nodiscard]] Result<std::size_t> finish();

private:
    void flush();

    const std::string path_, unfinished_;
    int file_ = -1;
    int fault_ = 0;       // errno
    std::string waiting_; // for the disk
    std::size_t bytes_ = 0;
};

} // namespace yk::service
