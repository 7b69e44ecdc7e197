// SPDX-License-Identifier: Apache-2.0
#include "protocol/work/cgroups.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

#include "protocol/posix/system_error.h"

namespace yk::work {
namespace {

constexpr int kRounds = 100;                  // of waiting a moment for what was killed
constexpr std::int64_t kPeriod = 100'000;     // us, of cpu.max
constexpr std::int64_t kShortestQuota = 1000; // us, which the kernel wants at least

Result<void> write_to(const std::string& path, const std::string& text) {
    const Descriptor file{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
    if (!file.is_open() || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        return system_error(path);
    return {};
}

std::string first_line(const std::string& path) {
    std::ifstream file{path};
    std::string line;
    std::getline(file, line);
    return line;
}

bool has_word(const std::string& text, const std::string& word) {
    std::istringstream words{text};
    for (std::string each; words >> each;)
        if (each == word) return true;
    return false;
}

/// Where cgroups of version 2 are mounted.
std::string mount_point() {
    std::ifstream mounts{"/proc/self/mounts"};
    std::string line;
    while (std::getline(mounts, line)) {
        std::istringstream words{line};
        std::string device, point, type;
        if (words >> device >> point >> type && type == "cgroup2") return point;
    }
    return {};
}

std::string own_path() {
    std::ifstream file{"/proc/self/cgroup"};
    std::string line;
    while (std::getline(file, line))
        if (line.rfind("0::", 0) == 0) return line.substr(3);
    return {};
}

/// Root may write everywhere, so it is not asked whether it may, but whether whoever manages cgroups has said so.
bool is_delegated(const std::string& folder, const std::string& own) {
    if (::geteuid() != 0)
        return ::access(folder.c_str(), W_OK) == 0 && ::access((folder + "/cgroup.procs").c_str(), W_OK) == 0;
    char value = 0;
    return own == "/" || (::getxattr(folder.c_str(), "trusted.delegate", &value, 1) == 1 && value == '1') ||
           (::getxattr(folder.c_str(), "user.delegate", &value, 1) == 1 && value == '1');
}

/// Hands the controllers on. A cgroup that does so has no processes of its own but in the root of all.
Result<void> hand_on(const std::string& folder) {
    const std::string controllers = first_line(folder + "/cgroup.controllers");
    for (const char* each : {"memory", "cpu"})
        if (!has_word(controllers, each)) return Error::of(std::string{"the controller "} + each + " is not delegated");
    const std::string file = folder + "/cgroup.subtree_control", wanted = "+memory +cpu";
    if (write_to(file, wanted).ok()) return {};
    const std::string own = folder + "/yk-own";
    if (::mkdir(own.c_str(), 0755) != 0 && errno != EEXIST) return system_error(own);
    YK_CHECKED(write_to(own + "/cgroup.procs", "0"));
    return write_to(file, wanted);
}

/// In a container cgroups may be mounted so that nobody can write there, whatever their rights say.
Result<void> try_to_make(const std::string& folder) {
    const std::string probe = folder + "/yk-probe-" + std::to_string(::getpid());
    if (::mkdir(probe.c_str(), 0755) != 0 && errno != EEXIST) return system_error(probe);
    ::rmdir(probe.c_str());
    return {};
}

} // namespace

Result<Cgroups> Cgroups::below_own() {
    const std::string mount = mount_point(), own = own_path();
    if (mount.empty() || own.empty()) return Error::of("there are no cgroups of version 2");
    const std::string folder = own == "/" ? mount : mount + own;
    if (!is_delegated(folder, own)) return Error::of("cgroup " + own + " is not delegated to this process");
    if (::access((folder + (own == "/" ? "/cgroup.procs" : "/cgroup.kill")).c_str(), F_OK) != 0)
        return Error::of("cgroup " + own + " has no cgroup.kill (Linux 5.14)");
    if (const auto made = try_to_make(folder); !made.ok())
        return Error::of("cgroup " + own + " takes none below it: " + made.error().message);
    return below(folder);
}

Cgroups Cgroups::below(std::string folder) {
    Cgroups cgroups{std::move(folder)};
    if (auto handed_on = hand_on(cgroups.folder_); !handed_on.ok()) cgroups.no_limits_ = handed_on.error().message;
    return cgroups;
}

void Cgroups::end_all(const std::string& prefix) const {
    const std::unique_ptr<DIR, int (*)(DIR*)> folder{::opendir(folder_.c_str()), ::closedir};
    while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
        const std::string name = entry->d_name;
        if (name.rfind(prefix, 0) != 0) continue;
        end(name);
    }
}

void Cgroups::end(const std::string& name) const {
    kill(name);
    for (int round = 0; round < kRounds && !remove(name); ++round) static_cast<void>(::poll(nullptr, 0, 1));
}

Result<void> Cgroups::make(const std::string& name, const Limits& limits) const {
    const std::string made = folder_ + "/" + name;
    if (::mkdir(made.c_str(), 0755) != 0) {
        if (errno != EEXIST) return system_error(made);
        end(name);
        if (::mkdir(made.c_str(), 0755) != 0) return system_error(made);
    }
    auto set = limit(name, limits);
    if (!set.ok()) static_cast<void>(remove(name));
    return set;
}

Result<void> Cgroups::limit(const std::string& name, const Limits& limits) const {
    if (!no_limits_.empty()) return {};
    if (limits.memory_bytes)
        YK_CHECKED(write_to(path(name, "memory.max"), std::to_string(std::max<std::int64_t>(0, *limits.memory_bytes))));
    if (limits.cpu_milli) {
        const auto milli = std::min<std::int64_t>(*limits.cpu_milli, 1'000'000'000);
        const auto quota = std::max(kShortestQuota, milli * (kPeriod / 1000));
        YK_CHECKED(write_to(path(name, "cpu.max"), std::to_string(quota) + " " + std::to_string(kPeriod)));
    }
    return {};
}

Result<Descriptor> Cgroups::entrance(const std::string& name) const {
    Descriptor file{::open(path(name, "cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC)};
    if (!file.is_open()) return system_error(path(name, "cgroup.procs"));
    return file;
}

void Cgroups::kill(const std::string& name) const {
    static_cast<void>(write_to(path(name, "cgroup.kill"), "1"));
}

bool Cgroups::remove(const std::string& name) const {
    return ::rmdir((folder_ + "/" + name).c_str()) == 0 || errno == ENOENT;
}

} // namespace yk::work
