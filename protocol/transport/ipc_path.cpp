// SPDX-License-Identifier: Apache-2.0
#include "protocol/transport/ipc_path.h"

#include <fmt/format.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace yk::wire {
namespace {

constexpr std::size_t kMaxPath = sizeof(sockaddr_un::sun_path) - 1;

Error refused(std::string message) {
    return Error::of(std::move(message));
}

std::string directory_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

Result<void> check_directory(const std::string& path) {
    const std::string directory = directory_of(path);
    struct stat info {};
    if (::stat(directory.c_str(), &info) != 0)
        return refused(
            fmt::format("cannot listen on {}: the directory {} is not usable ({}); make it (mode 0700) or choose "
                        "another address with --listen",
                        path, directory, std::strerror(errno)));
    if (!S_ISDIR(info.st_mode))
        return refused(fmt::format("cannot listen on {}: {} is not a directory", path, directory));
    if (::access(directory.c_str(), W_OK | X_OK) != 0)
        return refused(fmt::format("cannot listen on {}: no permission to make files in {}; run as its owner or choose "
                                   "another address with --listen",
                                   path, directory));
    return {};
}

} // namespace

std::string url_of(const std::string& address) {
    const bool is_path = address.find('/') != std::string::npos && address.find("://") == std::string::npos;
    return is_path ? "ipc://" + address : address;
}

std::string ipc_path_of(const std::string& url) {
    for (const std::string_view scheme : {"ipc://", "unix://"})
        if (url.starts_with(scheme)) return url.substr(scheme.size());
    return {};
}

Result<void> check_ipc_path(const std::string& path) {
    if (path.empty()) return refused("cannot listen: the address names no path after ipc://");
    if (path.size() > kMaxPath)
        return refused(fmt::format("cannot listen on {}: the path has {} bytes, the system's limit for sockets is {}; "
                                   "choose a shorter one with --listen",
                                   path, path.size(), kMaxPath));
    YK_CHECKED(check_directory(path));
    struct stat info {};
    if (::lstat(path.c_str(), &info) == 0 && !S_ISSOCK(info.st_mode))
        return refused(
            fmt::format("cannot listen on {}: something that is no socket is in its place and is left alone; "
                        "move it away or choose another address with --listen",
                        path));
    return {};
}

Result<void> protect_socket(const std::string& path, mode_t mode, const std::string& group) {
    if (!group.empty()) {
        const ::group* entry = ::getgrnam(group.c_str());
        if (entry == nullptr) return refused(fmt::format("there is no group {} for the socket {}", group, path));
        if (::chown(path.c_str(), static_cast<uid_t>(-1), entry->gr_gid) != 0)
            return refused(fmt::format("cannot give the socket {} to group {}: {}", path, group, std::strerror(errno)));
    }
    if (::chmod(path.c_str(), mode) != 0)
        return refused(fmt::format("cannot set mode {:04o} on {}: {}", mode, path, std::strerror(errno)));
    return {};
}

} // namespace yk::wire
