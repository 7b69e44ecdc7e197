// SPDX-License-Identifier: Apache-2.0
#include "protocol/work/commands.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "protocol/posix/system_error.h"

namespace yk::work {
namespace {

constexpr std::size_t kChunk = 64U << 10U;     // of output, of one command in one step
constexpr std::size_t kLastOutput = 1U << 20U; // that is taken after the end of a command
constexpr std::size_t kOtherFiles = 256;       // that a program has beside those of commands
constexpr int kEvents = 256;                   // of a step
constexpr int kRounds = 100;                   // of waiting a moment for what was killed
constexpr std::chrono::seconds kLastWait{5};   // at the end, for all that was killed

/// A file in memory from which a command reads; nothing waits for anybody as with a pipe.
Result<Descriptor> input_of(const std::string& text) {
    if (text.empty()) return Descriptor{};
    Descriptor file{::memfd_create("input", MFD_CLOEXEC)};
    if (!file.is_open()) return system_error("memfd_create");
    std::string_view rest = text;
    while (!rest.empty()) {
        const ssize_t wrote = ::write(file.get(), rest.data(), rest.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return system_error("memory for the input");
        rest.remove_prefix(static_cast<std::size_t>(wrote));
    }
    if (::lseek(file.get(), 0, SEEK_SET) != 0) return system_error("the input");
    return file;
}

/// The ends of a pipe, of which this process does not wait for its own.
Result<std::pair<Descriptor, Descriptor>> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("pipe");
    std::pair<Descriptor, Descriptor> pipe{Descriptor{ends[0]}, Descriptor{ends[1]}};
    if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return system_error("pipe");
    return pipe;
}

bool has_nul(const std::string& text) {
    return text.find('\0') != std::string::npos;
}

Error nul_error() {
    return Error::of("a command and its environment cannot have a NUL byte");
}

/// Waits for the end of a process that was killed. False: it has not come; the kernel is busy for it, as with a disk
/// that does not answer.
bool ends_until(int process, TimePoint until) {
    for (;;) {
        pollfd ended{process, POLLIN, 0};
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - TimePoint::clock::now()).count();
        const int count = ::poll(&ended, 1, static_cast<int>(std::max<std::int64_t>(0, left)));
        if (count < 0 && errno == EINTR) continue;
        return count > 0;
    }
}

/// How the names of the cgroups begin that a process makes.
std::string cgroup_prefix(pid_t pid) {
    return "yk-" + std::to_string(pid) + "-";
}

/// Numbers of commands are those of their pipes, too: the lowest bit says which is meant.
std::uint64_t mark_of(std::uint64_t id, bool pipe) {
    return id * 2 + (pipe ? 1 : 0);
}

} // namespace

Result<void> check_command_text(const std::string& text) {
    if (text.empty()) return Error::of("the command is empty");
    if (text.size() > Commands::kLongestText)
        return Error::of("the command has " + std::to_string(text.size()) + " bytes, " +
                         std::to_string(Commands::kLongestText) + " are allowed");
    if (has_nul(text)) return nul_error();
    return {};
}

Result<void> check_environment(const std::vector<std::string>& environment) {
    std::size_t size = 0;
    for (const std::string& each : environment) size += each.size() + 1;
    if (size > Commands::kLargestEnvironment)
        return Error::of("its environment has " + std::to_string(size) + " bytes, " +
                         std::to_string(Commands::kLargestEnvironment) + " are allowed");
    if (std::any_of(environment.begin(), environment.end(), has_nul)) return nul_error();
    return {};
}

std::string text(const Ended& ended) {
    const std::string how =
        ended.signal == 0
            ? "exit code " + std::to_string(ended.code)
            : "signal " + std::to_string(ended.signal) + " (" +
                  (::sigdescr_np(ended.signal) != nullptr ? ::sigdescr_np(ended.signal) : "real-time") + ")";
    return ended.out_of_time ? "its time was over: " + how : how;
}

/// Cgroups come before the guard, which goes on in the one where it begins: controllers are handed on only by a cgroup
/// without processes.
Result<std::unique_ptr<Commands>> Commands::make(Options options) {
    static_cast<void>(std::signal(SIGCHLD, SIG_DFL)); // ignored, as a parent may leave it, children are never reaped
    auto cgroups = options.uses_cgroups ? Cgroups::below_own() : Result<Cgroups>{Error::of("they are not wanted")};
    YK_TRY(guard, Guard::start(options.most));
    std::unique_ptr<Commands> made{new Commands(std::move(options), std::move(guard))};
    made->raise_file_limit();
    made->events_ = Descriptor{::epoll_create1(EPOLL_CLOEXEC)};
    if (!made->events_.is_open()) return system_error("epoll");
    if (!made->options_.record.empty()) {
        YK_TRY(record, Record::open(made->options_.record));
        YK_TRY(left_over, record.end_left_over());
        made->record_ = std::move(record);
        made->left_over_ = left_over;
    }
    if (cgroups.ok())
        made->take(std::move(cgroups).value());
    else
        made->no_cgroups_ = cgroups.error().message;
    return made;
}

void Commands::take(Cgroups cgroups) {
    if (record_ && record_->former() != 0) cgroups.end_all(cgroup_prefix(record_->former()));
    cgroups_ = std::move(cgroups);
}

/// Each command takes three descriptors (its end, its output, the file of that), and shells allow 1024 unless they are
/// asked.
void Commands::raise_file_limit() {
    const auto wanted = static_cast<rlim_t>(options_.most * 3 + kOtherFiles);
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
    const rlimit raised{std::min(wanted, limit.rlim_max), limit.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) files_ = limit;
}

Commands::~Commands() {
    for (auto& [id, command] : running_) kill(command);
    const TimePoint until = TimePoint::clock::now() + kLastWait;
    for (auto& [id, command] : running_) {
        if (!ends_until(command.process.get(), until)) continue; // it hangs in the kernel: the record keeps it
        kill(command);
        guard_.remove(command.pid);
        while (::waitpid(command.pid, nullptr, 0) < 0 && errno == EINTR) {
        }
        if (record_) record_->remove(command.pid);
        drop_cgroup(command.cgroup);
    }
    remove_cgroups();
    for (int round = 0; round < kRounds && !cgroups_to_remove_.empty(); ++round) {
        static_cast<void>(::poll(nullptr, 0, 1));
        remove_cgroups();
    }
}

Result<void> Commands::check(const Command& command) const {
    if (running_.size() >= options_.most)
        return Error::coded(EAGAIN, std::to_string(options_.most) + " commands run already");
    YK_CHECKED(check_command_text(command.text));
    return check_environment(command.environment);
}

Result<std::uint64_t> Commands::start(Command command, TimePoint now) {
    YK_CHECKED(check(command));
    const std::uint64_t id = last_id_ + 1;
    Running made;
    YK_TRY(cgroup, make_cgroup(command.limits));
    made.cgroup = cgroup;
    if (auto launched = launch(id, command, made); !launched.ok()) {
        drop_cgroup(made.cgroup);
        return std::move(launched).error();
    }
    made.output = std::move(command.output);
    if (command.time_limit) made.limit = now + *command.time_limit;
    running_.emplace(id, std::move(made));
    return last_id_ = id;
}

Result<std::string> Commands::make_cgroup(const Limits& limits) {
    if (!cgroups_) return std::string{};
    static std::atomic<std::uint64_t> last{0}; // there may be several Commands in a process
    std::string name = cgroup_prefix(::getpid()) + std::to_string(++last);
    YK_CHECKED(cgroups_->make(name, limits));
    return name;
}

Result<void> Commands::launch(std::uint64_t id, const Command& command, Running& made) {
    YK_TRY(input, input_of(command.input));
    Launch launch;
    launch.text = command.text;
    launch.environment = command.environment;
    launch.input = input.get();
    launch.identity = command.identity;
    launch.directory = command.directory;
    launch.drops_rights = command.drops_rights;
    launch.files = files_;
    launch.may_be_root = options_.may_be_root;
    Descriptor theirs;
    if (command.output) {
        YK_TRY(pipe, make_pipe());
        made.pipe = std::move(pipe.first);
        theirs = std::move(pipe.second);
        launch.output = theirs.get();
    }
    Descriptor entrance;
    if (!made.cgroup.empty()) {
        YK_TRY(opened, cgroups_->entrance(made.cgroup));
        entrance = std::move(opened);
        launch.cgroup = entrance.get();
    }
    YK_TRY(child, HeldChild::fork(launch));
    const pid_t pid = child.pid();
    YK_CHECKED(guard_.add(pid));
    auto begun = record_ ? record_->add(pid) : Result<void>{};
    if (begun.ok()) {
        auto process = child.release();
        if (process.ok()) {
            made.pid = pid;
            made.process = std::move(process).value();
            begun = watch(id, made);
            if (begun.ok()) return begun;
            kill(made);
            while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
            }
        } else {
            begun = std::move(process).error();
        }
    }
    guard_.remove(pid);
    if (record_) record_->remove(pid);
    return begun;
}

Result<void> Commands::watch(std::uint64_t id, const Running& made) {
    for (const bool is_pipe : {false, true}) {
        const Descriptor& watched = is_pipe ? made.pipe : made.process;
        if (!watched.is_open()) continue;
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.u64 = mark_of(id, is_pipe);
        if (::epoll_ctl(events_.get(), EPOLL_CTL_ADD, watched.get(), &event) != 0) return system_error("epoll");
    }
    return {};
}

void Commands::end(std::uint64_t id, TimePoint now) {
    const auto found = running_.find(id);
    if (found == running_.end() || found->second.kill_at) return;
    Running& command = found->second;
    command.kill_at = now + options_.grace;
    ::kill(-command.pid, SIGTERM);
    ::kill(-command.pid, SIGCONT); // or a command that was stopped would not notice
}

void Commands::kill(Running& command) {
    command.killed = true;
    ::kill(-command.pid, SIGKILL);
    if (cgroups_ && !command.cgroup.empty()) cgroups_->kill(command.cgroup);
}

std::vector<Ended> Commands::step(TimePoint now) {
    std::vector<Ended> ended;
    std::array<epoll_event, kEvents> events{};
    const int count = ::epoll_wait(events_.get(), events.data(), kEvents, 0);
    for (int i = 0; i < count; ++i) {
        const std::uint64_t mark = events[static_cast<std::size_t>(i)].data.u64;
        const auto found = running_.find(mark / 2);
        if (found == running_.end()) continue;
        if (mark % 2 == 1) {
            read(found->second, kChunk);
        } else if (auto how = look(found->first, found->second)) {
            ended.push_back(*how);
            running_.erase(found);
        }
    }
    for (auto& [id, command] : running_) look_at_time(command, now);
    remove_cgroups();
    return ended;
}

/// Takes what was written, some of it at a time: the others want a turn, too.
void Commands::read(Running& command, std::size_t most) {
    std::array<char, 16U << 10U> buffer{};
    for (std::size_t taken = 0; command.pipe.is_open() && taken < most;) {
        const ssize_t got = ::read(command.pipe.get(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EAGAIN) return;
        if (got <= 0) return command.pipe.close(); // which takes it out of the epoll
        taken += static_cast<std::size_t>(got);
        command.output->write({buffer.data(), static_cast<std::size_t>(got)});
    }
}

/// How a command has ended; nullopt: it has not. What its group still has is ended before the leader is reaped.
std::optional<Ended> Commands::look(std::uint64_t id, Running& command) {
    siginfo_t how{};
    if (::waitid(P_PID, static_cast<id_t>(command.pid), &how, WEXITED | WNOHANG | WNOWAIT) != 0 || how.si_pid == 0)
        return std::nullopt;
    Ended ended;
    ended.id = id;
    ended.out_of_time = command.out_of_time;
    (how.si_code == CLD_EXITED ? ended.code : ended.signal) = how.si_status;
    kill(command);
    read(command, kLastOutput);
    guard_.remove(command.pid);
    if (record_) record_->remove(command.pid);
    while (::waitpid(command.pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    drop_cgroup(command.cgroup);
    return ended;
}

void Commands::look_at_time(Running& command, TimePoint now) {
    if (command.limit && *command.limit <= now && !command.kill_at) {
        command.out_of_time = true;
        command.kill_at = now + options_.grace;
        ::kill(-command.pid, SIGTERM);
        ::kill(-command.pid, SIGCONT);
    }
    if (command.kill_at && *command.kill_at <= now && !command.killed) kill(command);
}

void Commands::drop_cgroup(const std::string& name) {
    if (cgroups_ && !name.empty() && !cgroups_->remove(name)) cgroups_to_remove_.push_back(name);
}

void Commands::remove_cgroups() {
    auto& names = cgroups_to_remove_;
    names.erase(std::remove_if(names.begin(), names.end(),
                               [this](const std::string& name) {
                                   cgroups_->kill(name);
                                   return cgroups_->remove(name);
                               }),
                names.end());
}

std::optional<TimePoint> Commands::due() const {
    std::optional<TimePoint> first;
    const auto take = [&first](const std::optional<TimePoint>& time) {
        if (time && (!first || *time < *first)) first = time;
    };
    for (const auto& [id, command] : running_) {
        if (!command.killed) take(command.kill_at);
        if (!command.kill_at) take(command.limit);
    }
    return first;
}

} // namespace yk::work
