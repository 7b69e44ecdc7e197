// SPDX-License-Identifier: Apache-2.0
// The commands replay and replay gen, which call ykctl/replay.

#include "ykctl/replay/replay.h"

#include <cmath>

#include "libcore/base/number.h"
#include "libcore/policies/node_sort_policy.h"
#include "ykctl/cli/patience.h"
#include "ykctl/cli/values.h"
#include "ykctl/commands/nouns.h"

namespace yk::cli {
namespace {

struct Options {
    replay::ReplayOptions replay;
    std::optional<std::string> nodes, pods;
    std::string speed = "max";
};

/// The speed. `max` becomes 0, which plays all at once.
Answer<double> parse_speed(const std::string& text) {
    if (text == "max") return 0.0;
    const auto factor = to_number<double>(text);
    if (!factor || !std::isfinite(*factor) || *factor <= 0)
        return usage_error("--speed: '" + text + "' is neither max nor a number above 0");
    return *factor;
}

Outcome play(Context& context, Options& options) {
    if (!options.nodes || !options.pods) {
        return usage_error("replay: --nodes FILE and --pods FILE are needed",
                           {"no trace at hand?  ykctl replay gen DIR"});
    }
    if (context.format() == Format::Name)
        return usage_error("replay: a report has no -o name", {"there are:  table, json, jsonl, yaml"});
    YK_TRY(speed, parse_speed(options.speed));
    auto& play_options = options.replay;
    play_options.nodes_file = *options.nodes;
    play_options.pods_file = *options.pods;
    play_options.speed = speed;
    play_options.format = context.format();
    play_options.progress = context.streams().err_is_terminal && !context.settings().quiet;
    play_options.quiet = context.settings().quiet;
    play_options.away = context.settings().timeout;
    play_options.client = context.settings().client;
    if (!context.settings().timeout) play_options.client.timeout = kPatience;
    if (context.settings().rm) play_options.rm_id = *context.settings().rm;
    return static_cast<Exit>(replay::run_replay(play_options, context.out(), context.streams().err));
}

Outcome generate(Context& context, const replay::GenerateOptions& options) {
    return static_cast<Exit>(replay::generate_trace(options, context.out(), context.streams().err));
}

std::vector<std::string> policies() {
    std::vector<std::string> names;
    for (const NodeSortPolicy& policy : node_sort_policies()) names.emplace_back(policy.name);
    return names;
}

} // namespace

void define_replay(Command root, Context& context) {
    const auto command = root.sub("replay", "play a recorded cluster trace and report what was placed");
    const auto options = std::make_shared<Options>();
    command.option("--nodes", options->nodes, "node list of the trace (CSV)").value("FILE");
    command.option("--pods", options->pods, "pod list of the trace (CSV)").value("FILE");
    command.option("--policy", options->replay.policy, "how nodes are ordered, default fair").choices(policies());
    command
        .option("--speed", options->speed,
                "max (default): all at once; N, such as 60 or 0.5: trace time, N times as fast")
        .value("max|N");
    command.flag("--spawn", options->replay.spawn, "against a private daemon");
    command.flag("--keep", options->replay.keep, "leave the RM registered, for a look at what it has");
    command.run([&context, options] { return play(context, *options); });

    const auto gen = command.sub("gen", "write a small synthetic trace: nodes.csv, pods.csv");
    const auto made = std::make_shared<replay::GenerateOptions>();
    gen.option("DIR", made->directory, "where to").value("DIR").required();
    gen.option("--nodes", made->nodes, "so many nodes, default 20");
    gen.option("--pods", made->pods, "so many pods, default 200");
    gen.option("--seed", made->seed, "the same seed gives the same bytes, default 1");
    gen.run([&context, made] { return generate(context, *made); });
}

} // namespace yk::cli
