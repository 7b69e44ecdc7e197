#include <array>
#include <cstdlib>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/transport/client.h"

namespace yk::wire {

std::string default_address() {
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    const bool has_runtime = runtime != nullptr && *runtime != '\0';
    const std::array<std::string, 2> paths{"/run/ykd/ykd.sock", has_runtime
                                                                    ? fmt::format("{}/ykd.sock", runtime)
                                                                    : fmt::format("/tmp/ykd-{}/ykd.sock", getuid())};
    struct stat info {};
    for (const std::string& path : paths)
        if (::stat(path.c_str(), &info) == 0) return "ipc://" + path;
    return "ipc://" + paths.front();
}

} // namespace yk::wire
