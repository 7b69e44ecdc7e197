// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/database_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "libcore/base/check.h"

namespace yk::rs {
namespace {

/// The process that took the lock last; of several that share it, one that may have ended since.
std::string holder_of(int file) {
    std::array<char, 32> text{};
    const ::ssize_t size = ::pread(file, text.data(), text.size() - 1, 0);
    return size > 0 ? std::string{text.data(), static_cast<std::size_t>(size)} : std::string{"unknown"};
}

/// A file that root makes belongs to whom the database belongs to, who may want it next.
void give_to_owner(int file, const std::string& database) {
    struct ::stat owned = {};
    if (::geteuid() == 0 && ::stat(database.c_str(), &owned) == 0)
        static_cast<void>(::fchown(file, owned.st_uid, owned.st_gid) == 0); // else it is root's
}

/// -1: errno says why. What is there and is no file, or has another name, too, could be anybody's, and stays as it is.
int open_lock(const std::string& path, const std::string& database) {
    constexpr int kHow = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    const int made = ::open(path.c_str(), kHow | O_CREAT | O_EXCL, 0600);
    if (made >= 0) give_to_owner(made, database);
    if (made >= 0 || errno != EEXIST) return made;
    const int file = ::open(path.c_str(), kHow);
    struct ::stat found = {};
    if (file < 0 || (::fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_nlink == 1)) return file;
    ::close(file);
    errno = EPERM;
    return -1;
}

/// False: another process has a lock that does not go with this one.
Result<bool, int> set_lock(int file, short type) {
    struct ::flock wanted {};
    wanted.l_type = type;
    wanted.l_whence = SEEK_SET;
    if (::fcntl(file, F_OFD_SETLK, &wanted) == 0) return true;
    if (errno != EAGAIN && errno != EACCES) return errno;
    return false;
}

Error error_of(const std::string& path, const std::string& what) {
    return {0, what, path};
}

} // namespace

/// A lock of the open file, not of the process: those of a process are lost when any part of it closes the file.
Result<DatabaseLock> DatabaseLock::take(const std::string& database, How how) {
    const std::string path = database + ".lock";
    const int file = open_lock(path, database);
    if (file < 0) return error_of(path, std::strerror(errno));
    DatabaseLock lock{file, how};
    constexpr std::chrono::milliseconds kPause{20};
    for (int tries = how == How::Shared ? 50 : 1;; --tries) {
        const auto taken = set_lock(file, how == How::Shared ? F_RDLCK : F_WRLCK);
        if (!taken.ok()) return error_of(path, std::strerror(taken.error()));
        if (*taken) break;
        if (tries == 1) return error_of(path, "the database is in use by process " + holder_of(file));
        std::this_thread::sleep_for(kPause);
    }
    const std::string pid = std::to_string(::getpid());
    if (::ftruncate(file, 0) != 0 || ::pwrite(file, pid.data(), pid.size(), 0) < 0)
        return error_of(path, std::strerror(errno));
    return lock;
}

bool DatabaseLock::while_alone(const std::function<void()>& use) const {
    if (how_ == How::Exclusive) {
        use();
        return true;
    }
    const auto is_alone = set_lock(file_, F_WRLCK);
    if (!is_alone.ok() || !*is_alone) return false;
    use();
    YK_CHECK(set_lock(file_, F_RDLCK).ok(), "a lock is always given up for a lesser one");
    return true;
}

DatabaseLock::~DatabaseLock() {
    if (file_ >= 0) ::close(file_);
}

} // namespace yk::rs
