// SPDX-License-Identifier: Apache-2.0
#include "ykd/process/own_file.h"

#include <fmt/format.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace yk::service {
namespace {

Error cannot_open(const std::string& path, int why) {
    return {0, fmt::format("cannot open {} for writing: {}", path, std::strerror(why)), path};
}

Error not_ours(const std::string& path, const std::string& folder, const char* what) {
    return {0,
            fmt::format("{} is a {} in {}, where everybody may write: remove it, or choose a file in a "
                        "directory of your own",
                        path, what, folder),
            path};
}

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash == 0 ? 1 : slash);
}

/// The directory of a file. In one where everybody may write, a file may have been put there by another user.
struct Folder {
    bool is_shared = false;
    uid_t owner = 0;

    /// Whether a file of this user may be written there.
    [[nodiscard]] bool trusts(uid_t uid) const { return !is_shared || uid == ::geteuid() || uid == owner; }
};

Result<Folder> look_at(const std::string& folder) {
    struct stat info {};
    if (::stat(folder.c_str(), &info) != 0)
        return Error::at(folder, fmt::format("the directory {} is not usable: {}", folder, std::strerror(errno)));
    return Folder{(info.st_mode & S_IWOTH) != 0, info.st_uid};
}

} // namespace

Result<int> open_own_file(const std::string& path, int flags, unsigned mode) {
    const std::string name = folder_of(path);
    YK_TRY(folder, look_at(name));
    struct stat info {};
    const bool is_link = ::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
    if (is_link && folder.is_shared) return not_ours(path, name, "symbolic link");
    // A link that is put there only now makes open() fail, and the owner of the opened file is checked before it
    // changes.
    const int file =
        ::open(path.c_str(), O_WRONLY | O_CLOEXEC | (flags & ~O_TRUNC) | (folder.is_shared ? O_NOFOLLOW : 0), mode);
    if (file < 0) return cannot_open(path, errno);
    int fault = ::fstat(file, &info) != 0 ? errno : 0;
    if (fault == 0 && !folder.trusts(info.st_uid)) {
        ::close(file);
        return not_ours(path, name, "file of another user");
    }
    if (fault == 0 && (flags & O_TRUNC) != 0 && S_ISREG(info.st_mode) && ::ftruncate(file, 0) != 0) fault = errno;
    if (fault == 0) return file;
    ::close(file);
    return cannot_open(path, fault);
}

} // namespace yk::service
