// SPDX-License-Identifier: Apache-2.0
#include "ykd/daemon/run.h"

#include <fmt/format.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <future>
#include <iostream>
#include <system_error>
#include <thread>
#include <vector>

#include "libcore/base/pluralize.h"
#include "libcore/base/text.h"
#include "libcore/config_yaml/load.h"
#include "protocol/transport/tls_files.h"
#include "ykd/daemon/daemon.h"
#include "ykd/process/config_watch.h"
#include "ykd/process/log.h"
#include "ykd/process/notify.h"
#include "ykd/process/own_file.h"
#include "ykd/process/process_limits.h"
#include "ykd/process/state_files.h"
#include "ykd/recording/files.h"

namespace yk::service {
namespace {

constexpr auto kStatusInterval = std::chrono::seconds{1};
constexpr auto kLastReplies = std::chrono::milliseconds{100}; // for replies that nng has not sent yet: it has no linger
constexpr auto kReserve = std::chrono::seconds{5};            // after the grace, until the process ends in any case
constexpr auto kReloadPatience = std::chrono::seconds{5};     // with an RM that stores its configuration
constexpr Duration kOwnerLimit = std::chrono::seconds{10};    // an owner thread without a turn for longer is stuck

sigset_t handled_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int one : {SIGHUP, SIGTERM, SIGINT, SIGUSR1}) sigaddset(&signals, one);
    return signals;
}

/// What the main thread does while the daemon runs: it waits for signals and requests to stop, and reports the status
/// to the service manager.
class Control {
public:
    Control(Daemon& daemon, const DaemonSettings& settings)
        : parts_(daemon.parts()),
          settings_(settings),
          watch_(settings.watch_config ? config_files_of(settings) : std::vector<std::string>{}) {
        const sigset_t signals = handled_signals();
        signal_fd_ = ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
        stop_fd_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        daemon.set_stop_listener([this](SteadyClock::duration grace) {
            grace_.store(grace.count());
            const std::uint64_t one = 1;
            static_cast<void>(!::write(stop_fd_, &one, sizeof one));
        });
    }

    /// Returns when the program is to end, with the grace for what is queued.
    SteadyClock::duration run() {
        notify("READY=1\nSTATUS=" + status());
        if (settings_.ready_fd) write_ready(*settings_.ready_fd);
        const auto watchdog = watchdog_interval();
        auto next_watchdog = SteadyClock::now();
        while (true) {
            const auto interval = std::min<SteadyClock::duration>(kStatusInterval, watchdog.value_or(kStatusInterval));
            if (const auto grace = wait(interval)) return *grace;
            if (watchdog && SteadyClock::now() >= next_watchdog && is_well()) {
                notify("WATCHDOG=1");
                next_watchdog = SteadyClock::now() + *watchdog;
            }
            notify_status();
            if (watch_.changed() && parts_.effective.hot_refresh()) reload();
        }
    }

private:
    static std::vector<std::string> config_files_of(const DaemonSettings& settings) {
        std::vector<std::string> files;
        for (const auto& [group, file] : settings.config_files) files.push_back(file);
        if (!settings.default_config_file.empty()) files.push_back(settings.default_config_file);
        return files;
    }

    std::optional<SteadyClock::duration> wait(SteadyClock::duration interval) {
        pollfd fds[] = {{signal_fd_, POLLIN, 0}, {stop_fd_, POLLIN, 0}};
        const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(interval).count();
        ::poll(fds, 2, static_cast<int>(ms));
        if ((fds[1].revents & POLLIN) != 0) return SteadyClock::duration{grace_.load()};
        signalfd_siginfo info{};
        while (::read(signal_fd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
            const auto signal = static_cast<int>(info.ssi_signo);
            if (signal == SIGHUP) reload();
            if (signal == SIGUSR1) log_state();
            if (signal == SIGTERM || signal == SIGINT) {
                log("core").info("stopping on signal {}", signal == SIGTERM ? "TERM" : "INT");
                return std::chrono::duration_cast<SteadyClock::duration>(settings_.shutdown_grace);
            }
        }
        return std::nullopt;
    }

    /// Whether all owner threads and listeners work. When that is false for long, the service manager restarts the
    /// daemon.
    bool is_well() const { return owners_alive(parts_.rms, kOwnerLimit) && parts_.listener_watch.all_answer(); }

    void reload() {
        notify("RELOADING=1\nMONOTONIC_USEC=" + monotonic_usec());
        std::promise<void> ended;
        parts_.reloader.reload({}, kReloadPatience, [&ended](const ReloadReport&) { ended.set_value(); });
        ended.get_future().wait();
        notify("READY=1\nSTATUS=" + status());
    }

    /// Logs the state for SIGUSR1, which works without a socket, and has the state written to a file.
    void log_state() {
        log("core").warn("state on request: {}", status());
        for (const RmPtr& rm : parts_.rms.all()) {
            const StreamStatus stream = rm->owner.stream().status();
            log("core").warn(
                "RM {}: {}, inbound {}, stream epoch {} next {} ack {} backlog {} bytes {}, last turn {} ms ago",
                rm->id, si::text(rm->owner.state()), rm->owner.inbound_elements(), stream.epoch, stream.next,
                stream.ack, stream.backlog, stream.bytes,
                std::chrono::duration_cast<std::chrono::milliseconds>(real_now() - rm->owner.last_turn()).count());
        }
        if (!settings_.state_directory.empty()) return parts_.state_dumper.write();
        log("core").warn("no file with everything is written: that needs --state; ykctl dump all makes one, too");
    }

    std::string status() {
        std::size_t running = 0;
        const std::string last_reload = parts_.reloader.last();
        const auto rms = parts_.rms.all();
        for (const RmPtr& rm : rms)
            if (rm->owner.state() == si::CoreState::Running) ++running;
        return fmt::format("{} RMs, {} running; {} sessions{}{}", rms.size(), running,
                           parts_.sessions.count().connected,
                           last_reload.empty() ? "" : "; last reload: ", last_reload);
    }

    void notify_status() {
        std::string now = status();
        if (now == notified_) return;
        notify("STATUS=" + now);
        notified_ = std::move(now);
    }

    Parts& parts_;
    const DaemonSettings& settings_;
    ConfigWatch watch_;
    int signal_fd_ = -1;
    int stop_fd_ = -1;
    std::atomic<SteadyClock::rep> grace_{0};
    std::string notified_;
};

/// Ends the process when SIGTERM or SIGINT comes once more, and after `time`: by the signal itself, or by SIGALRM.
void let_signals_end_it(SteadyClock::duration time) {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int one : {SIGTERM, SIGINT}) sigaddset(&signals, one);
    ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
    ::alarm(static_cast<unsigned>(std::chrono::duration_cast<std::chrono::seconds>(time).count()) + 1);
}

/// Starts a thread that ends the process at once after a second TERM or INT, or when the grace and a reserve are over.
/// When the address space has no place for it the stop goes on, and signals do the same.
void start_last_resort(SteadyClock::duration grace) {
    const auto time = grace + kReserve;
    try {
        std::thread([time] {
            const sigset_t signals = handled_signals();
            const auto until = SteadyClock::now() + time;
            while (SteadyClock::now() < until) {
                const timespec look{0, 50'000'000};
                const int signal = ::sigtimedwait(&signals, nullptr, &look);
                if (signal == SIGTERM || signal == SIGINT) break;
            }
            ::_exit(0);
        }).detach();
    } catch (const std::system_error& refused) {
        log("core").warn("no thread can be started to end ykd if the stop takes too long: {}", refused.what());
        let_signals_end_it(time);
    }
}

/// Checks tokens and certificates.
Result<void> check_access_files(const DaemonSettings& settings) {
    if (!settings.tokens_file.empty()) YK_CHECKED(read_tokens(settings.tokens_file));
    if (settings.tls_cert.empty() || settings.tls_key.empty()) return {}; // if they are needed, listening fails
    return wire::check_tls({settings.tls_cert, settings.tls_key, settings.tls_client_ca});
}

/// Warns when others may read the TLS key, which then is no secret (A10).
void warn_of_open_key(const std::string& key) {
    struct stat info {};
    if (key.empty() || ::stat(key.c_str(), &info) != 0 || (info.st_mode & 077U) == 0) return;
    log("wire").warn("the TLS key {} is open to others (mode {:04o}): chmod 600 it, and make another if it was read",
                     key, info.st_mode & 07777U);
}

/// Checks the files of the settings: at the start all of them must be good; during a reload a bad one is refused alone.
bool check_files(const DaemonSettings& settings) {
    if (const auto access = check_access_files(settings); !access.ok()) {
        std::cerr << "ykd: " << access.error().text() << "\n";
        return false;
    }
    std::vector<std::string> files;
    for (const auto& [group, file] : settings.config_files) files.push_back(file);
    if (!settings.default_config_file.empty()) files.push_back(settings.default_config_file);
    for (const std::string& file : files) {
        const auto text = read_config_file(file);
        if (!text.ok()) {
            std::cerr << "ykd: " << text.error().message << "\n";
            return false;
        }
        const auto outcome = config_yaml::load(*text, file);
        if (outcome.configuration) continue;
        std::cerr << config_yaml::render(outcome, *text)
                  << "ykd: the configuration is refused; see ykd --check-config\n";
        return false;
    }
    return true;
}

/// Checks that the pid file can be written. It is written only when the daemon listens: until then it may be that of
/// another one.
bool check_pid_file(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
    if (path.empty() || ::access(path.c_str(), W_OK) == 0) return true;
    if (::access(folder.c_str(), W_OK | X_OK) == 0) return true;
    std::cerr << "ykd: cannot write the pid file " << path << ": " << std::strerror(errno) << "\n";
    return false;
}

bool write_pid_file(const std::string& path) {
    if (path.empty()) return true;
    const auto file = open_own_file(path, O_CREAT | O_TRUNC, 0644);
    if (!file.ok()) {
        std::cerr << "ykd: " << file.error().message << "; see --pidfile\n";
        return false;
    }
    const int why = write_all(*file, std::to_string(::getpid()) + "\n");
    ::close(*file);
    if (why == 0) return true;
    std::cerr << "ykd: cannot write the pid file " << path << ": " << std::strerror(why) << "\n";
    return false;
}

/// What is lost with detached RMs that nobody keeps books of, for the one line of a unit's status.
std::string loss_text(const std::vector<std::string>& lost) {
    if (lost.empty()) return {};
    const std::string others = lost.size() == 1 ? "" : " and " + pluralize(lost.size() - 1, "other RM");
    return "; lost without --state: " + printable(lost.front()) + others;
}

} // namespace

void block_signals() {
    const sigset_t signals = handled_signals();
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
    static_cast<void>(std::signal(SIGXFSZ, SIG_IGN)); // a file that may not grow is a fault of that file
}

int run_daemon(const DaemonSettings& settings, const std::string& version) {
    constexpr int kRefused = 78;
    if (const auto enough = check_address_space(); !enough.ok()) {
        std::cerr << "ykd: " << enough.error().message << "\n";
        return 1;
    }
    if (!check_files(settings)) return kRefused;
    if (!check_pid_file(settings.pid_file)) return 1;
    if (!settings.state_directory.empty()) {
        if (const auto usable = check_state_directory(settings.state_directory); !usable.ok()) {
            std::cerr << "ykd: " << usable.error().message << "; make it, or choose another with --state\n";
            return 1;
        }
    }
    if (const auto started = start_log(settings.log_target); !started.ok()) {
        std::cerr << "ykd: " << started.error().message << "\n";
        return 1;
    }
    const std::string shortage = take_descriptors(settings.max_connections * settings.listen.size());
    auto* daemon = new Daemon(settings, version); // never destroyed: the process ends by _exit()
    if (const auto opened = daemon->open_state(); !opened.ok()) {
        std::cerr << "ykd: " << opened.error().text() << "\n";
        return 1;
    }
    warn_of_open_key(settings.tls_key);
    if (!shortage.empty()) log("wire").warn("{}", shortage);
    if (const auto started = daemon->start(); !started.ok()) {
        std::cerr << "ykd: " << started.error().text() << "\n";
        return 1;
    }
    if (!write_pid_file(settings.pid_file)) return 1;
    log("core").info("ykd {} is ready (pid {})", version, ::getpid());
    const SteadyClock::duration grace = Control(*daemon, settings).run();
    notify("STOPPING=1\nSTATUS=draining" + loss_text(daemon->warn_of_loss()));
    start_last_resort(grace);
    daemon->stop(grace);
    std::this_thread::sleep_for(kLastReplies);
    if (!settings.pid_file.empty()) ::unlink(settings.pid_file.c_str());
    log("core").info("stopped");
    end_log();
    return 0;
}

} // namespace yk::service
