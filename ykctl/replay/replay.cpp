#include "ykctl/replay/replay.h"

#include "ykctl/commands/failure.h"
#include "ykctl/replay/player.h"
#include "ykctl/scenario/spawn.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <ostream>

namespace yk::replay {
namespace {

constexpr std::size_t kBarWidth = 40;

int status(cli::Exit exit) {
    return static_cast<int>(exit);
}

int fail(const cli::Failure& failure, const ReplayOptions& options, std::ostream& err) {
    err << cli::failure_text(failure, options.json);
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

int play(const Trace& trace, const ReplayOptions& options, const wire::ClientOptions& at, std::ostream& out,
         std::ostream& err) {
    auto client = wire::Client::connect(at);
    if (!client) return fail(cli::from_call_error(client.error(), at.url), options, err);
    Session session{scenario::caller_of(**client), options.rm_id};
    TracePlayer player{trace, session, options.speed, [&](const Progress& progress) {
                           if (options.progress) err << bar_text(progress) << std::flush;
                       }};
    auto report = player.play(options.policy);
    if (options.progress) err << "\r\x1b[K" << std::flush;
    if (!report) return fail(cli::from_call_error(report.error(), at.url), options, err);
    (*client)->bye();
    out << (options.json ? report_json(*report) : report_text(*report)) << std::flush;
    return status(cli::Exit::Ok);
}

} // namespace

int run_replay(const ReplayOptions& options, std::ostream& out, std::ostream& err) {
    if (options.policy != "fair" && options.policy != "binpacking")
        return fail(cli::usage_error(fmt::format("--policy is fair or binpacking, not {}", options.policy)), options,
                    err);
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
