// SPDX-License-Identifier: Apache-2.0
// The commands replay and replay gen, which call ykctl/replay.

#include "ykctl/replay/replay.h"

#include <cmath>

#include "libcore/base/number.h"
#include "libcore/policies/node_sort_policy.h"
#include "ykctl/cli/patience.h"
#include "ykctl/cli/values.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/replay/experiment.h"

namespace yk::cli {
namespace {

struct Options {
    replay::ReplayOptions replay;
    std::optional<std::string> nodes, pods;
    std::vector<std::string> policies;
    std::string speed = "max";
    bool learn = false;
    std::optional<std::string> experiment, svg;
    std::optional<std::int64_t> seed, runs;
    bool learnt = false;
};

/// The speed. `max` becomes 0, which plays all at once.
Answer<double> parse_speed(const std::string& text) {
    if (text == "max") return 0.0;
    const auto factor = to_number<double>(text);
    if (!factor || !std::isfinite(*factor) || *factor <= 0)
        return usage_error("--speed: '" + text + "' is neither max nor a number above 0");
    return *factor;
}

wire::ClientOptions client_of(Context& context) {
    wire::ClientOptions client = context.settings().client;
    if (!context.settings().timeout) client.timeout = kPatience;
    return client;
}

bool shows_progress(Context& context) {
    return context.streams().err_is_terminal && !context.settings().quiet;
}

/// Whether these options go together.
Answer<Exit> check(Context& context, const Options& options) {
    if (options.learn) {
        if (!options.pods) return usage_error("replay --learn: --pods FILE is needed");
        return Exit::Ok;
    }
    if (!options.nodes || !options.pods)
        return usage_error("replay: --nodes FILE and --pods FILE are needed",
                           {"no trace at hand?  ykctl replay gen DIR"});
    if (context.format() == Format::Name)
        return usage_error("replay: a report has no -o name", {"there are:  table, json, jsonl, yaml"});
    if (options.experiment) {
        if (options.speed != "max" || options.replay.keep)
            return usage_error("replay --experiment: plays by itself, without --speed and --keep");
        return Exit::Ok;
    }
    if (options.policies.size() > 1) return usage_error("replay: several --policy are for --experiment only");
    if (options.seed || options.runs || options.svg || options.learnt)
        return usage_error("replay: --seed, --runs, --learnt and --svg are for --experiment only",
                           {"an experiment?  ykctl replay --experiment fgd --nodes FILE --pods FILE --seed 1"});
    return Exit::Ok;
}

Outcome experiment(Context& context, const Options& options) {
    replay::ExperimentOptions made;
    made.nodes_file = *options.nodes;
    made.pods_file = *options.pods;
    made.policies = options.policies;
    made.seed = options.seed.value_or(1);
    made.runs = options.runs.value_or(1);
    made.is_learnt = options.learnt;
    made.svg_file = options.svg.value_or("");
    made.format = context.format();
    made.progress = shows_progress(context);
    made.client = client_of(context);
    return static_cast<Exit>(replay::run_experiment(made, context.out(), context.streams().err));
}

Outcome play(Context& context, Options& options) {
    YK_CHECKED(check(context, options));
    if (options.learn)
        return static_cast<Exit>(replay::print_expected(*options.pods, context.out(), context.streams().err));
    if (options.experiment) return experiment(context, options);
    YK_TRY(speed, parse_speed(options.speed));
    auto& play_options = options.replay;
    play_options.nodes_file = *options.nodes;
    play_options.pods_file = *options.pods;
    if (!options.policies.empty()) play_options.policy = options.policies.front();
    play_options.speed = speed;
    play_options.format = context.format();
    play_options.progress = shows_progress(context);
    play_options.quiet = context.settings().quiet;
    play_options.away = context.settings().timeout;
    play_options.client = client_of(context);
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
    command
        .option("--policy", options->policies,
                "how nodes are ordered, default fair; of an experiment any number of them")
        .choices(policies());
    command
        .option("--speed", options->speed,
                "max (default): all at once; N, such as 60 or 0.5: trace time, N times as fast")
        .value("max|N");
    command.flag("--spawn", options->replay.spawn, "against a private daemon");
    command.flag("--keep", options->replay.keep, "leave the RM registered, for a look at what it has");
    command
        .option("--experiment", options->experiment,
                "how full each policy gets the GPUs, with pods drawn from the trace, against private daemons")
        .choices({"fgd"});
    command.option("--seed", options->seed, "of an experiment: which pods are drawn, default 1");
    command.option("--runs", options->runs, "of an experiment: so many, each with the next seed; the mean is shown");
    command.flag("--learnt", options->learnt, "of an experiment: the expected asks are learnt from what arrives");
    command.option("--svg", options->svg, "of an experiment: the picture of its curves, too").value("FILE");
    command.flag("--learn", options->learn, "print the asks that the pods let expect, for a configuration");
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
