#include "ykd/service/state_files.h"

#include <fmt/format.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <thread>

#include "ykd/door/files.h"
#include "ykd/service/daemon.h"
#include "ykd/service/dump_making.h"
#include "ykd/service/log.h"

namespace yk::service {
namespace {

Error file_error(const std::string& path, int number) {
    return Error{0, fmt::format("cannot write {}: {}", path, std::strerror(number)), {}};
}

void write_dump(const std::string& directory, const std::string& name, const Value& everything) {
    const Value document{{"schema", 1}, {"what", "all"}, {"data", everything}};
    const std::string text = document.dump(2, ' ', false, Value::error_handler_t::replace) + "\n";
    const auto written = write_state_file(directory, name, text);
    if (written.ok())
        log("core").warn("state on request: {} bytes written to {}/{}", text.size(), directory, name);
    else
        log("core").error("state on request: {}", written.error().message);
}

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

Result<void> write_state_file(const std::string& directory, const std::string& name, const std::string& text) {
    const std::string path = directory + "/" + name;
    const std::string unfinished = directory + "/." + name + ".tmp";
    static_cast<void>(::unlink(unfinished.c_str()));
    const int file = ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return file_error(path, errno);
    int fault = write_all(file, text);
    if (fault == 0 && ::fsync(file) != 0) fault = errno;
    if (::close(file) != 0 && fault == 0) fault = errno;
    if (fault == 0 && std::rename(unfinished.c_str(), path.c_str()) != 0) fault = errno;
    if (fault == 0) return {};
    static_cast<void>(::unlink(unfinished.c_str()));
    return file_error(path, fault);
}

void dump_to_state_directory(Daemon& daemon) {
    const std::string directory = daemon.settings().state_directory;
    const auto write = [directory](std::optional<Value> everything) {
        std::thread([directory, everything = std::move(everything)] {
            write_dump(directory, dump_name(real_now().ns), *everything);
        }).detach(); // the process ends by _exit()
    };
    if (!make_full_dump({daemon, nullptr}, {}, all_targets(daemon), write))
        log("core").warn("state on request: no file is written, another full dump is being made");
}

} // namespace yk::service
