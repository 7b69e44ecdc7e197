// SPDX-License-Identifier: Apache-2.0
#include "ykctl/replay/experiment.h"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "libcore/policies/node_sort_policy.h"
#include "ykctl/cli/failure.h"
#include "ykctl/cli/values.h"
#include "ykctl/render/text.h"
#include "ykctl/replay/drawn_pods.h"
#include "ykctl/replay/expected_asks.h"
#include "ykctl/scenario/spawn.h"

namespace yk::replay {
namespace {

constexpr std::int64_t kMostRuns = 1000;

using Run = cli::Answer<std::vector<CurvePoint>>;

cli::Failure failed(const Error& error) {
    cli::Failure failure;
    failure.exit = cli::Exit::Unreachable;
    failure.name = "UNREACHABLE";
    failure.message = error.text();
    return failure;
}

/// What stands under nodesortpolicy. Also of a policy that does not go by it: what is unusable is measured by it.
std::string node_order(const std::string& policy, const Trace& trace, bool is_learnt) {
    std::string text = fmt::format("\n      type: {}\n      fragmentation:\n        resource: {}\n", policy, kGpu);
    if (!is_learnt) text += "        workload:\n" + workload_text(expected_of(trace.pods), "          ");
    return text;
}

/// With a daemon of its own, so that no run knows of another.
Run play_once(const ExperimentOptions& options, const Trace& trace, const std::vector<TracePod>& pods,
              const std::string& policy) {
    const auto daemon = scenario::PrivateDaemon::start({.manual_schedule = true, .arguments = {}});
    if (!daemon) return failed(daemon.error());
    wire::ClientOptions at = options.client;
    at.url = (*daemon)->url();
    auto client = wire::Client::connect(at);
    if (!client) return cli::from_call_error(client.error(), at.url);
    Reach reach;
    reach.send = [&client](const wire::EncodedRequest& request, bool again) {
        return (*client)->call_in_session(request, again);
    };
    reach.boot_id = [&client] { return (*client)->boot_id(); };
    reach.session_id = [&client] { return (*client)->session_id(); };
    reach.note = [](const std::string&) {};
    Session session{std::move(reach), "replay"};
    auto points = play_drawn(session, trace, pods, node_order(policy, trace, options.is_learnt));
    if (!points) return cli::from_call_error(points.error(), at.url);
    return std::move(points).value();
}

cli::Answer<Experiment> play(const ExperimentOptions& options, const Trace& trace, std::ostream& err) {
    Experiment experiment;
    experiment.nodes = trace.nodes.size();
    for (const TraceNode& node : trace.nodes) experiment.gpus += node.gpus;
    experiment.seed = options.seed;
    experiment.runs = options.runs;
    experiment.is_learnt = options.is_learnt;
    for (const std::string& policy : options.policies) {
        std::vector<std::vector<CurvePoint>> runs;
        for (std::int64_t run = 0; run < options.runs; ++run) {
            if (options.progress) err << fmt::format("\r{}, run {} of {}\x1b[K", policy, run + 1, options.runs);
            YK_TRY(points,
                   play_once(options, trace, drawn(trace, static_cast<std::uint64_t>(options.seed + run)), policy));
            runs.push_back(std::move(points));
        }
        experiment.curves.push_back(curve_of(policy, runs));
    }
    return experiment;
}

std::string text_of(const Experiment& experiment, cli::Format format) {
    switch (format) {
    case cli::Format::Json: return cli::pretty_json(experiment_value(experiment));
    case cli::Format::JsonLines: return cli::json_line(experiment_value(experiment));
    case cli::Format::Yaml: return cli::yaml_text(experiment_value(experiment));
    default: return experiment_text(experiment);
    }
}

cli::Outcome run(const ExperimentOptions& options, std::ostream& out, std::ostream& err) {
    for (const std::string& policy : options.policies)
        if (find_node_sort_policy(policy) == nullptr)
            return cli::usage_error(fmt::format("--policy is one of {}, not {}", node_sort_policy_names(), policy));
    if (options.runs < 1 || options.runs > kMostRuns)
        return cli::usage_error(fmt::format("--runs: 1 to {} are possible, not {}", kMostRuns, options.runs));
    const auto trace = load_trace(options.nodes_file, options.pods_file);
    if (!trace) return cli::usage_error(trace.error().text());
    if (std::none_of(trace->nodes.begin(), trace->nodes.end(), [](const TraceNode& node) { return node.gpus > 0; }))
        return cli::usage_error(options.nodes_file + ": no node has a GPU (column gpu), so there is nothing to fill");
    YK_TRY(experiment, play(options, *trace, err));
    if (options.progress) err << "\r\x1b[K" << std::flush;
    out << text_of(experiment, options.format) << std::flush;
    if (options.svg_file.empty()) return cli::Exit::Ok;
    if (auto failure = cli::write_text(options.svg_file, experiment_svg(experiment))) return std::move(*failure);
    return cli::Exit::Ok;
}

int status(const cli::Outcome& outcome, cli::Format format, std::ostream& err) {
    if (outcome) return static_cast<int>(*outcome);
    const bool json = format == cli::Format::Json || format == cli::Format::JsonLines;
    err << cli::failure_text(outcome.error(), json);
    return static_cast<int>(outcome.error().exit);
}

} // namespace

int run_experiment(const ExperimentOptions& options, std::ostream& out, std::ostream& err) {
    ExperimentOptions all = options;
    if (all.policies.empty())
        for (const NodeSortPolicy& each : node_sort_policies()) all.policies.emplace_back(each.name);
    return status(run(all, out, err), options.format, err);
}

int print_expected(const std::string& pods_file, std::ostream& out, std::ostream& err) {
    const auto pods = load_pods(pods_file);
    if (!pods) return status(cli::usage_error(pods.error().text()), cli::Format::Table, err);
    out << "nodesortpolicy:\n  type: fragmentation\n  fragmentation:\n    workload:\n"
        << workload_text(expected_of(*pods), "      ") << std::flush;
    return static_cast<int>(cli::Exit::Ok);
}

} // namespace yk::replay
