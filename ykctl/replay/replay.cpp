// SPDX-License-Identifier: Apache-2.0
#include "ykctl/replay/replay.h"

#include "libcore/policies/node_sort_policy.h"
#include "ykctl/cli/failure.h"
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

namespace yk::replay {
namespace {

constexpr std::size_t kBarWidth = 40;

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

std::string bar_text(const Progress& progress) {
    const double share =
        progress.total > 0 ? static_cast<double>(progress.done) / static_cast<double>(progress.total) : 1;
    const auto filled = static_cast<std::size_t>(share * static_cast<double>(kBarWidth));
    return fmt::format("\r[{}{}] {:3.0f}%  {} placed, {} waiting ", std::string(filled, '#'),
                       std::string(kBarWidth - filled, '.'), share * 100, progress.placed, progress.pending);
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

/// The caller, but with an error instead of any further request once a signal has come.
scenario::Caller interruptible(scenario::Caller caller) {
    return [caller = std::move(caller)](const wire::EncodedRequest& request) -> wire::CallResult<wire::Value> {
        if (!NotedSignals::came()) return caller(request);
        wire::CallError error;
        error.message = "interrupted";
        return error;
    };
}

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

/// Whether the daemon that had this boot id has ended since.
bool has_ended(wire::Client& client, const std::string& boot_id) {
    constexpr std::chrono::seconds kAnswerTime{1};
    const auto answer = client.call(si::PingRequest{}, kAnswerTime);
    return (!answer && answer.error().kind == wire::CallError::Kind::Unreachable) || client.boot_id() != boot_id;
}

/// The failure of a replay whose daemon ended. A replay is not taken up again: what was placed by then, and when,
/// cannot be compared with what another daemon does.
cli::Failure daemon_ended(const wire::CallError& error, const Report& report, const ReplayOptions& options,
                          const std::string& url) {
    auto failure = make_failure(cli::Exit::Unreachable,
                                fmt::format("ykd at {} ended in the middle of the replay, after {} of {} pods were "
                                            "placed: {}",
                                            url, report.placed, report.pods, error.message),
                                "REPLAY_CUT_OFF");
    failure.hints = {"once it runs again, the same command starts from the beginning"};
    if (options.keep) failure.hints.push_back("--keep: with ykd --state DIR the RM is still there, else it is gone");
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

int play(const Trace& trace, const ReplayOptions& options, const wire::ClientOptions& at, std::ostream& out,
         std::ostream& err) {
    // The handlers of scenario/spawn.cpp end a private daemon, and the RM with it.
    const auto signals = options.spawn ? nullptr : std::make_unique<NotedSignals>();
    auto client = wire::Client::connect(at);
    if (client) (*client)->set_redials(false); // a replay cannot go on with another daemon
    if (!client) return fail(cli::from_call_error(client.error(), at.url), options, err);
    const auto caller = scenario::caller_of(**client);
    const std::string boot_id = (*client)->boot_id();
    Session session{interruptible(caller), options.rm_id};
    if (const auto checked = check(**client, session, options, at.url); !checked)
        return fail(checked.error(), options, err);
    TracePlayer player{trace, session, options.speed, [&](const Progress& progress) {
                           if (options.progress) err << bar_text(progress) << std::flush;
                       }};
    auto report = player.play(options.policy);
    const bool ended = !report && !NotedSignals::came() && has_ended(**client, boot_id);
    if (options.progress) err << "\r\x1b[K" << std::flush;
    Session::Done closed;
    if (session.is_open() && !options.keep && !options.spawn && !ended) closed = Session{caller, options.rm_id}.close();
    if (NotedSignals::came() && !report)
        return fail(make_failure(cli::Exit::Interrupted, "replay: interrupted", "INTERRUPTED"), options, err);
    if (ended) return fail(daemon_ended(report.error(), player.so_far(), options, at.url), options, err);
    if (!report) return fail(cli::from_call_error(report.error(), at.url), options, err);
    (*client)->bye();
    out << text_of(*report, options.format) << std::flush;
    if (!closed) return fail(cli::from_call_error(closed.error(), at.url), options, err);
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
