// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/client/client.h"
#include "protocol/transport/ipc_path.h"

namespace yk::wire {

namespace {

/// The directory in /tmp, where everybody may make one of this name.
std::string shared_directory() {
    return fmt::format("/tmp/ykd-{}", getuid());
}

} // namespace

std::string default_address() {
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    const bool has_runtime = runtime != nullptr && *runtime != '\0';
    const std::array<std::string, 2> paths{"/run/ykd/ykd.sock", has_runtime ? fmt::format("{}/ykd.sock", runtime)
                                                                            : shared_directory() + "/ykd.sock"};
    struct stat info {};
    for (const std::string& path : paths)
        if (::stat(path.c_str(), &info) == 0) return "ipc://" + path;
    return "ipc://" + paths.front();
}

Result<void> check_private(const std::string& directory) {
    struct stat info {};
    if (::lstat(directory.c_str(), &info) != 0) {
        const int fault = errno;
        if (fault == ENOENT) return {};
        return Error::coded(fault, fmt::format("{}: {}", directory, std::strerror(fault)), directory);
    }
    const auto refused = [&](const std::string& why) {
        return Error::coded(EACCES, fmt::format("{} {}: who made it may listen there instead of a ykd", directory, why),
                            directory);
    };
    if (!S_ISDIR(info.st_mode)) return refused("is no directory");
    if (info.st_uid != getuid()) return refused(fmt::format("belongs to uid {}", info.st_uid));
    if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return refused(fmt::format("may be written by others (mode {:04o})", info.st_mode & 07777U));
    return {};
}

Result<void> check_default_address(const std::string& url) {
    const std::string directory = shared_directory();
    return ipc_path_of(url).starts_with(directory + "/") ? check_private(directory) : Result<void>{};
}

} // namespace yk::wire
