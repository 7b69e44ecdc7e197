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

#include "libcore/digest/recovery_digest.h"
#include "protocol/simulation/simulator.h"
#include "ykd/recording/files.h"

namespace yk::service {
namespace {

constexpr std::size_t kTogether = std::size_t{1} << 20U; // bytes that are written at once

/// Whoever can put files there decides what the daemon takes for its own: configurations, registrations, commands.
Result<void> check_own(const struct stat& info, const std::string& folder, const std::string& what) {
    const auto refused = [&](const std::string& why) {
        return Error::at(folder,
                         fmt::format("{} in {} cannot be trusted: it {}; see to that, or choose another --state", what,
                                     folder, why));
    };
    if (!S_ISDIR(info.st_mode)) return refused("is no directory");
    if (info.st_uid != ::geteuid())
        return refused(fmt::format("belongs to uid {}, and ykd runs as {}", info.st_uid, ::geteuid()));
    if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return refused(fmt::format("may be written by others (mode {:04o}; chmod go-w)", info.st_mode & 07777U));
    return {};
}

Error failure_of(const std::string& folder) {
    return Error::at(folder, folder + ": " + std::strerror(errno));
}

} // namespace

Result<void> check_state_directory(const std::string& directory) {
    struct stat info {};
    if (::stat(directory.c_str(), &info) != 0)
        return Error::of(fmt::format("the state directory {} cannot be used: {}", directory, std::strerror(errno)));
    if (!S_ISDIR(info.st_mode)) return Error::of(fmt::format("the state directory {} is no directory", directory));
    if (::access(directory.c_str(), W_OK | X_OK) != 0)
        return Error::of(fmt::format("the state directory {} is not writable: {}", directory, std::strerror(errno)));
    return {};
}

Result<void> check_own_directory(const std::string& directory, const std::string& what) {
    struct stat info {};
    if (::stat(directory.c_str(), &info) != 0) return failure_of(directory);
    return check_own(info, directory, what);
}

Result<void> make_own_folder(const std::string& folder, const std::string& what) {
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return failure_of(folder);
    struct stat info {};
    if (::lstat(folder.c_str(), &info) != 0) return failure_of(folder);
    return check_own(info, folder, what);
}

std::string file_name_of(const std::string& rm_id) {
    constexpr std::size_t kLongest = 60;
    std::string name = rm_id.substr(0, kLongest);
    for (char& c : name) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
        if (!plain) c = '_';
    }
    return fmt::format("{}-{:016x}", name, recovery::line_hash(rm_id));
}

int sync_folder(const std::string& folder) {
    const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) return errno;
    const int fault = may(FileStep::SyncFolder, folder) && ::fsync(file) == 0 ? 0 : errno;
    ::close(file);
    return fault;
}

std::string dump_name(std::int64_t unix_nanoseconds) {
    return "dump-" + utc_stamp(Instant{unix_nanoseconds}) + ".json";
}

StateFile::StateFile(const std::string& directory, const std::string& name)
    : directory_(directory), path_(directory + "/" + name), unfinished_(directory + "/." + name + ".tmp") {
    if (may(FileStep::Write, unfinished_)) {
        static_cast<void>(::unlink(unfinished_.c_str()));
        file_ = ::open(unfinished_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    }
    if (file_ < 0) fault_ = errno;
}

StateFile::~StateFile() {
    if (file_ < 0) return;
    ::close(file_);
    if (may(FileStep::Remove, unfinished_)) static_cast<void>(::unlink(unfinished_.c_str()));
}

void StateFile::write(std::string_view text) {
    if (!is_good()) return;
    waiting_ += text;
    bytes_ += text.size();
    if (waiting_.size() >= kTogether) flush();
}

void StateFile::flush() {
    if (is_good()) fault_ = may(FileStep::Write, unfinished_) ? write_all(file_, waiting_) : errno;
    waiting_.clear();
}

Result<std::size_t> StateFile::finish() {
    flush();
    if (is_good() && (!may(FileStep::Sync, unfinished_) || ::fsync(file_) != 0)) fault_ = errno;
    if (is_good() &&
        (!may(FileStep::Rename, unfinished_, path_) || std::rename(unfinished_.c_str(), path_.c_str()) != 0))
        fault_ = errno;
    if (!is_good()) return Error::of(fmt::format("cannot write {}: {}", path_, std::strerror(fault_)));
    fault_ = sync_folder(directory_); // the new name is on the disk only with the folder
    ::close(std::exchange(file_, -1));
    if (is_good()) return bytes_;
    return Error::coded(kMayBeUndone,
                        fmt::format("{} is written, but a loss of power may undo that: its folder cannot be synced: {}",
                                    path_, std::strerror(fault_)));
}

} // namespace yk::service
