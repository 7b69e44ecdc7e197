// SPDX-License-Identifier: Apache-2.0
#include "protocol/work/record.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>

namespace yk::work {
namespace {

constexpr std::size_t kLine = 48; // bytes, with the line feed
constexpr int kRounds = 50;       // of looking for what is left
constexpr int kMoment = 100;      // ms for what was killed to end

using Started = std::map<pid_t, std::uint64_t>; // leader and when it was started

Error system_error(const std::string& what) {
    const int number = errno;
    return Error::coded(number, what + ": " + std::strerror(number));
}

std::string read_all(int file, std::size_t most) {
    std::string text(most, '\0');
    std::size_t size = 0;
    while (size < most) {
        const ssize_t got = ::read(file, text.data() + size, most - size);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        size += static_cast<std::size_t>(got);
    }
    text.resize(size);
    return text;
}

std::string read_file(const std::string& path, std::size_t most) {
    const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    return file.is_open() ? read_all(file.get(), most) : std::string{};
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
    Number number{};
    const auto [rest, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (fault != std::errc{} || rest != text.data() + text.size()) return std::nullopt;
    return number;
}

/// The life of the machine: process ids and start times mean nothing in another one.
std::string boot() {
    std::string text = read_file("/proc/sys/kernel/random/boot_id", kLine - 1);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

struct Stat {
    char state = '?';
    pid_t session = 0;
    std::uint64_t started = 0; // in ticks since the machine began
};

/// The name in the middle may hold anything, so fields are counted from its last bracket.
std::optional<Stat> stat_of(pid_t pid) {
    const std::string text = read_file("/proc/" + std::to_string(pid) + "/stat", 4096);
    const auto bracket = text.rfind(')');
    if (bracket == std::string::npos) return std::nullopt;
    std::istringstream fields{text.substr(bracket + 1)};
    Stat stat;
    std::string skipped;
    fields >> stat.state >> skipped >> skipped >> stat.session;
    for (int field = 7; field < 22; ++field) fields >> skipped;
    fields >> stat.started;
    return fields ? std::optional{stat} : std::nullopt;
}

/// Whether the process was begun with the mark.
bool is_marked(pid_t pid) {
    const std::string text = read_file("/proc/" + std::to_string(pid) + "/environ", std::size_t{1} << 20U);
    return text.rfind(kMark, 0) == 0 || text.find(std::string(1, '\0') + kMark) != std::string::npos;
}

bool is_left_over(pid_t pid, const Stat& stat, const Started& started) {
    const auto found = started.find(stat.session);
    if (found == started.end() || stat.state == 'Z' || stat.started < found->second) return false;
    return pid == stat.session ? stat.started == found->second : is_marked(pid);
}

std::vector<pid_t> processes() {
    std::vector<pid_t> all;
    const std::unique_ptr<DIR, int (*)(DIR*)> folder{::opendir("/proc"), ::closedir};
    while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr)
        if (const auto pid = number_in<pid_t>(entry->d_name)) all.push_back(*pid);
    return all;
}

/// Kills what is left, one round. Descriptors of what was killed.
std::vector<Descriptor> kill_left_over(const Started& started) {
    std::vector<Descriptor> killed;
    for (const pid_t pid : processes()) {
        Descriptor process{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
        if (!process.is_open()) continue;
        const auto stat = stat_of(pid); // of the process of the descriptor, since that is open
        if (!stat || !is_left_over(pid, *stat, started)) continue;
        if (::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0) == 0)
            killed.push_back(std::move(process));
    }
    return killed;
}

void wait_for(const std::vector<Descriptor>& killed) {
    for (const Descriptor& each : killed) {
        pollfd wanted{each.get(), POLLIN, 0};
        static_cast<void>(::poll(&wanted, 1, kMoment));
    }
}

Started started_in(const std::string& text) {
    Started started;
    std::istringstream lines{text};
    std::string line;
    if (!std::getline(lines, line) || line.substr(0, line.find(' ')) != boot()) return started;
    while (std::getline(lines, line)) {
        std::istringstream words{line};
        pid_t pid = 0;
        std::uint64_t when = 0;
        if (!(words >> pid >> when) || pid <= 1) continue;
        const auto stat = stat_of(pid);
        if (!stat || stat->started == when) started[pid] = when; // else the number is that of another session
    }
    return started;
}

pid_t former_in(const std::string& text) {
    std::istringstream words{text.substr(0, text.find('\n'))};
    std::string life;
    pid_t pid = 0;
    return words >> life >> pid && life == boot() && pid > 1 ? pid : 0;
}

} // namespace

Result<Record> Record::open(const std::string& path) {
    Descriptor file{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600)};
    if (!file.is_open()) return system_error(path);
    struct stat info {};
    if (::fstat(file.get(), &info) != 0) return system_error(path);
    if (!S_ISREG(info.st_mode) || info.st_uid != ::geteuid() || info.st_nlink != 1)
        return Error::of(path + ": not a file of this user alone; move it away");
    return Record{path, std::move(file)};
}

Result<std::size_t> Record::end_left_over() {
    const std::string text = read_all(file_.get(), std::size_t{16} << 20U);
    const Started started = started_in(text);
    former_ = former_in(text);
    std::size_t count = 0;
    std::vector<Descriptor> killed;
    for (int round = 0; !started.empty() && round < kRounds; ++round) {
        killed = kill_left_over(started);
        if (killed.empty()) break;
        wait_for(killed);
        if (round == 0) count = killed.size();
    }
    if (!killed.empty())
        return Error::of(path_ + ": " + std::to_string(killed.size()) + " processes that were left do not end");
    if (::ftruncate(file_.get(), 0) != 0) return system_error(path_);
    YK_CHECKED(write_line(0, boot() + " " + std::to_string(::getpid())));
    return count;
}

Result<void> Record::write_line(std::size_t line, const std::string& text) const {
    std::string padded = text.substr(0, kLine - 1);
    padded.resize(kLine - 1, ' ');
    padded += '\n';
    const auto wrote = ::pwrite(file_.get(), padded.data(), kLine, static_cast<off_t>(line * kLine));
    if (wrote < 0) return system_error(path_);
    if (wrote != static_cast<ssize_t>(kLine)) return Error::of(path_ + ": the disk is full");
    return {};
}

Result<void> Record::add(pid_t pid) {
    const auto stat = stat_of(pid);
    if (!stat) return Error::of("/proc does not say when process " + std::to_string(pid) + " was started");
    const std::size_t line = free_.empty() ? used_ : free_.back();
    YK_CHECKED(write_line(line, std::to_string(pid) + " " + std::to_string(stat->started)));
    if (free_.empty())
        ++used_;
    else
        free_.pop_back();
    lines_[pid] = line;
    return {};
}

void Record::remove(pid_t pid) {
    const auto found = lines_.find(pid);
    if (found == lines_.end()) return;
    static_cast<void>(write_line(found->second, {})); // a line that stays names a process that has gone
    free_.push_back(found->second);
    lines_.erase(found);
}

} // namespace yk::work
