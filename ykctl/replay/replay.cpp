// SPDX-License-Identifier: Apache-2.0
#include "ykctl/replay/replay.h"

#include "libcore/policies/node_sort_policy.h"
#include "protocol/rm/answers.h"
#include "protocol/rm/loss.h"
#include "protocol/si/errors.h"
#include "ykctl/cli/failure.h"
#include "ykctl/client/reconnect.h"
#include "ykctl/render/text.h"
#include "ykctl/replay/player.h"
#include "ykctl/scenario/run.h"
#include "ykctl/scenario/spawn.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <memory>
#include <ostream>
#include <thread>

namespace yk::replay {
namespace {

constexpr std::size_t kBarWidth = 40;
constexpr auto kShuttingDown = static_cast<std::uint32_t>(si::ErrorCode::ShuttingDown);
constexpr const char* kClearLine = "\r\x1b[K";

int status(cli::Exit exit) {
    return static_cast<int>(exit);
}

int fail(const cli::Failure& failure, const ReplayOptions& options, std::ostream& err) {
    const bool json = options.format == cli::Format::Json || options.format == cli::Format::JsonLines;
    err << cli::failure_text(failure, json);
    return status(failure.exit);
}

cli::Failure make_failure(cli::Exit exit, std::string message, std::string name) {
    cli::Failure failure;
    failure.exit = exit;
    failure.message = std::move(message);
    failure.name = std::move(name);
    return failure;
}

/// With how long it has taken, and how much longer it may take if it goes on so.
std::string bar_text(const Progress& progress, std::chrono::steady_clock::duration elapsed) {
    const double share =
        progress.total > 0 ? static_cast<double>(progress.done) / static_cast<double>(progress.total) : 1;
    const auto filled = static_cast<std::size_t>(share * static_cast<double>(kBarWidth));
    const double seconds = std::chrono::duration<double>(elapsed).count();
    const std::string left = share > 0 ? fmt::format(", about {:.0f} s left", seconds / share - seconds) : "";
    return fmt::format("\r[{}{}] {:3.0f}%  {} placed, {} waiting, {:.0f} s{}\x1b[K", std::string(filled, '#'),
                       std::string(kBarWidth - filled, '.'), share * 100, progress.placed, progress.pending, seconds,
                       left);
}

/// While this lives SIGINT, SIGTERM and SIGHUP are only noted, so that the RM can be deregistered first. The second
/// signal of a kind ends the program. Only one object may exist at a time.
class NotedSignals {
public:
    NotedSignals() {
        came_ = 0;
        for (std::size_t i = 0; i < kSignals.size(); ++i) {
            struct sigaction action {};
            action.sa_handler = [](int number) { came_ = number; };
            action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART); // RESETHAND is unsigned in glibc
            sigaction(kSignals[i], nullptr, &previous_[i]);
            if (previous_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr); // nohup
        }
    }
    ~NotedSignals() {
        for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &previous_[i], nullptr);
    }
    NotedSignals(const NotedSignals&) = delete;
    NotedSignals& operator=(const NotedSignals&) = delete;

    [[nodiscard]] static bool came() { return came_ != 0; }

private:
    static constexpr std::array<int, 3> kSignals{SIGINT, SIGTERM, SIGHUP};
    static inline volatile std::sig_atomic_t came_ = 0;
    std::array<struct sigaction, kSignals.size()> previous_{};
};

/// Waits, for at most `time`; returns 1 when a signal has come, else 0.
int wait_for_signal(std::chrono::milliseconds time) {
    constexpr std::chrono::milliseconds kLook{50};
    const auto until = std::chrono::steady_clock::now() + time;
    while (!NotedSignals::came() && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(std::min(time, kLook));
    return NotedSignals::came() ? 1 : 0;
}

/// Dials again, and says so, while the daemon is away. Owner: play(). Thread: its own.
class Redialing {
public:
    Redialing(wire::Client& client, const ReplayOptions& options, std::string url, std::ostream& err)
        : client_(client), options_(options), url_(std::move(url)), err_(err) {}

    Reach reach() {
        Reach made;
        made.send = [this](const wire::EncodedRequest& request, bool again) -> wire::CallResult<wire::Value> {
            if (NotedSignals::came() && !is_ending_) return interrupted();
            return client_.call_in_session(request, again);
        };
        made.boot_id = [this] { return client_.boot_id(); };
        made.session_id = [this] { return client_.session_id(); };
        if (!options_.spawn) made.wait_for_daemon = [this](const wire::CallError& why) { return wait(why); };
        made.note = [this](const std::string& text) { note(text); };
        return made;
    }

    /// What is still to be done is done after a signal as well, but then nothing is waited for.
    void end() { is_ending_ = true; }

private:
    void note(const std::string& text) {
        if (options_.progress) err_ << kClearLine;
        if (!options_.quiet) err_ << "ykctl: " << cli::printable(text) << std::endl;
    }

    static wire::CallError interrupted() { return rm::failure(wire::CallError::Kind::Stopped, "interrupted"); }

    Result<void, wire::CallError> wait(const wire::CallError& why) {
        if (NotedSignals::came()) return is_ending_ ? why : interrupted();
        if (why.kind == wire::CallError::Kind::Refused && why.retryable && why.code != kShuttingDown)
            return wait_while_busy(why);
        cli::Failure failure = cli::from_call_error(why, url_);
        if (failure.exit == cli::Exit::Unknown)
            failure.message = "lost ykd at " + url_ + " before it answered a change, which is sent again";
        failure.exit = cli::Exit::Unreachable;
        const auto back = redial_.after(failure, options_.away);
        if (!back.ok()) return rm::failure(wire::CallError::Kind::Unreachable, back.error().message);
        if (*back != 0) return interrupted();
        return {};
    }

    /// The Client has tried again for a whole time-out by now.
    Result<void, wire::CallError> wait_while_busy(const wire::CallError& why) {
        constexpr std::chrono::milliseconds kPause{1000};
        if (options_.away) return why;
        if (why.message != busy_) note(why.message + "; trying again; Ctrl-C ends this");
        busy_ = why.message;
        if (wait_for_signal(kPause) != 0) return interrupted();
        return {};
    }

    wire::Client& client_;
    const ReplayOptions& options_;
    const std::string url_;
    std::string busy_; // why it was busy the last time
    std::ostream& err_;
    bool is_ending_ = false;
    cli::Reconnect redial_{cli::RedialParts{[this](std::chrono::milliseconds limit) -> std::optional<cli::Failure> {
                                                if (auto reply = client_.call(si::PingRequest{}, limit); !reply.ok())
                                                    return cli::from_call_error(reply.error(), url_);
                                                return std::nullopt;
                                            },
                                            wait_for_signal, [this] { return client_.boot_id(); },
                                            [this](const std::string& text) { note(text); },
                                            [] { return std::chrono::steady_clock::now(); }}};
};

/// Checks that this daemon can play the trace under this name.
cli::Answer<cli::Exit> check(wire::Client& client, Session& session, const ReplayOptions& options,
                             const std::string& url) {
    if (scenario::has_feature(client.hello(), "manual-schedule"))
        return cli::usage_error("replay: the daemon at " + url + " schedules only when it is told to",
                                {"start ykd without --manual-schedule, or use --spawn"});
    const auto taken = session.is_taken();
    if (!taken) return cli::from_call_error(taken.error(), url);
    if (!*taken) return cli::Exit::Ok;
    auto failure = make_failure(
        cli::Exit::Refused,
        fmt::format("RM '{0}' is registered already; a replay as {0} would drop all it has", options.rm_id),
        "RM_TAKEN");
    failure.hints = {"another name?  ykctl -r NAME replay (before YKCTL_RM and the client's file), or --spawn",
                     "not needed any more?  ykctl rm deregister " + options.rm_id};
    return failure;
}

/// The failure of a replay whose daemon is gone, or has not its RM any more.
cli::Failure cut_off(const wire::CallError& error, const Report& report, const ReplayOptions& options,
                     const std::string& url) {
    const bool is_away = rm::loss_of(error, true) == rm::Loss::Daemon;
    auto failure =
        make_failure(cli::Exit::Unreachable,
                     fmt::format("ykd at {} {} in the middle of the replay, after {} of {} pods were placed: {}", url,
                                 is_away ? "ended" : "was restarted", report.placed, report.pods, error.message),
                     "REPLAY_CUT_OFF");
    failure.hints = {"once it runs again, the same command starts from the beginning"};
    if (is_away && options.keep)
        failure.hints.push_back("--keep: with ykd --state DIR the RM is still there, else it is gone");
    if (!is_away) failure.hints.push_back("with ykd --state DIR a replay goes on after a restart");
    return failure;
}

std::string text_of(const Report& report, cli::Format format) {
    switch (format) {
    case cli::Format::Json: return cli::pretty_json(report_value(report));
    case cli::Format::JsonLines: return cli::json_line(report_value(report));
    case cli::Format::Yaml: return cli::yaml_text(report_value(report));
    default: return report_text(report);
    }
}

cli::Failure interrupted(const Session& session, const ReplayOptions& options) {
    auto failure = make_failure(cli::Exit::Interrupted, "replay: interrupted", "INTERRUPTED");
    if (session.is_open() && !options.keep && !options.spawn)
        failure.hints = {"RM " + options.rm_id + " may be left behind:  ykctl rm deregister --force " + options.rm_id};
    return failure;
}

int play(const Trace& trace, const ReplayOptions& options, const wire::ClientOptions& at, std::ostream& out,
         std::ostream& err) {
    // The handlers of scenario/spawn.cpp end a private daemon, and the RM with it.
    const auto signals = options.spawn ? nullptr : std::make_unique<NotedSignals>();
    auto client = wire::Client::connect(at);
    if (!client) return fail(cli::from_call_error(client.error(), at.url), options, err);
    (*client)->set_redials(false); // Redialing says when the daemon is gone
    Redialing redialing{**client, options, at.url, err};
    Session session{redialing.reach(), options.rm_id};
    if (const auto checked = check(**client, session, options, at.url); !checked)
        return fail(checked.error(), options, err);
    const auto begun = std::chrono::steady_clock::now();
    TracePlayer player{trace, session, options.speed, [&](const Progress& progress) {
                           if (options.progress)
                               err << bar_text(progress, std::chrono::steady_clock::now() - begun) << std::flush;
                       }};
    const auto report = player.play(options.policy);
    if (options.progress) err << kClearLine << std::flush;
    if (report) out << text_of(*report, options.format) << std::flush;
    redialing.end();
    const bool was_lost = !report && session.is_lost();
    Session::Done closed;
    if (session.is_open() && !options.keep && !options.spawn && !was_lost) closed = session.close();
    const bool is_interrupted = NotedSignals::came() && (!report || !closed);
    if (is_interrupted && !report) out << text_of(player.so_far(), options.format) << std::flush;
    if (is_interrupted) return fail(interrupted(session, options), options, err);
    if (was_lost) return fail(cut_off(report.error(), player.so_far(), options, at.url), options, err);
    if (!report) return fail(cli::from_call_error(report.error(), at.url), options, err);
    if (!closed) return fail(cli::from_call_error(closed.error(), at.url), options, err);
    (*client)->bye();
    return status(cli::Exit::Ok);
}

} // namespace

int run_replay(const ReplayOptions& options, std::ostream& out, std::ostream& err) {
    if (find_node_sort_policy(options.policy) == nullptr)
        return fail(
            cli::usage_error(fmt::format("--policy is one of {}, not {}", node_sort_policy_names(), options.policy)),
            options, err);
    if (!std::isfinite(options.speed) || options.speed < 0)
        return fail(cli::usage_error("--speed is max or a factor above 0"), options, err);
    const auto trace = load_trace(options.nodes_file, options.pods_file);
    if (!trace) return fail(cli::usage_error(trace.error().text()), options, err);
    if (!options.spawn) return play(*trace, options, options.client, out, err);
    const auto daemon = scenario::PrivateDaemon::start({});
    if (!daemon) return fail(make_failure(cli::Exit::Unreachable, daemon.error().text(), "UNREACHABLE"), options, err);
    wire::ClientOptions at = options.client;
    at.url = (*daemon)->url();
    return play(*trace, options, at, out, err);
}

} // namespace yk::replay
