// SPDX-License-Identifier: Apache-2.0
#include "ykd/process/state_files.h"

#include <fmt/format.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "ykd/recording/files.h"

namespace yk::service {
namespace {

constexpr std::size_t kTogether = std::size_t{1} << 20U; // bytes that are written at once

} // namespace

Result<void> check_state_directory(const std::string& directory) {
    struct stat info {};
    if (::stat(directory.c_str(), &info) != 0)
        return Error{0, fmt::format("the state directory {} cannot be used: {}", directory, std::strerror(errno)), {}};
    if (!S_ISDIR(info.st_mode)) return Error{0, fmt::format("the state directory {} is no directory", directory), {}};
    if (::access(directory.c_str(), W_OK | X_OK) != 0)
        return Error{0, fmt::format("the state directory {} is not writable: {}", directory, std::strerror(errno)), {}};
    return {};
}

std::string dump_name(std::int64_t unix_nanoseconds) {
    return "dump-" + utc_stamp(Instant{unix_nanoseconds}) + ".json";
}

StateFile::StateFile(const std::string& directory, const std::string& name)
    : path_(directory + "/" + name), unfinished_(directory + "/." + name + ".tmp") {
    static_cast<void>(::unlink(unfinished_.c_str()));
    file_ = ::open(unfinished_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file_ < 0) fault_ = errno;
}

StateFile::~StateFile() {
    if (file_ < 0) return;
    ::close(file_);
    static_cast<void>(::unlink(unfinished_.c_str()));
}

void StateFile::write(std::string_view text) {
    if (!is_good()) return;
    waiting_ += text;
    bytes_ += text.size();
    if (waiting_.size() >= kTogether) flush();
}

void StateFile::flush() {
    if (is_good()) fault_ = write_all(file_, waiting_);
    waiting_.clear();
}

Result<std::size_t> StateFile::finish() {
    flush();
    if (is_good() && ::fsync(file_) != 0) fault_ = errno;
    if (is_good() && std::rename(unfinished_.c_str(), path_.c_str()) != 0) fault_ = errno;
    if (!is_good()) return Error{0, fmt::format("cannot write {}: {}", path_, std::strerror(fault_)), {}};
    ::close(std::exchange(file_, -1));
    return bytes_;
}

} // namespace yk::service
