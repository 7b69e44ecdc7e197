// SPDX-License-Identifier: Apache-2.0
// The command scenario run, which calls ykctl/scenario.

#include "ykctl/cli/patience.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/scenario/run.h"

namespace yk::cli {

void define_scenario(Command root, Context& context) {
    const auto noun = root.sub("scenario", "black-box tests of a daemon: what an RM does, and what must be seen");
    const auto run =
        noun.sub("run", "play scenario files; exit 0 all pass, 1 an expectation failed, 2 a file is wrong");
    const auto options = std::make_shared<scenario::ScenarioOptions>();
    const auto parallel = std::make_shared<std::int64_t>(1);
    run.option("FILE", options->files, "scenario files").value("FILE").required();
    run.flag("--spawn", options->spawn, "against a fresh private daemon per file");
    run.flag("--keep", options->keep, "leave what one file has made in the daemon, to look at it");
    run.option("-j,--parallel", *parallel, "so many files at once, with --spawn");
    run.run([&context, options, parallel]() -> Outcome {
        constexpr std::int64_t kMost = 256;
        if (*parallel < 1 || *parallel > kMost) return usage_error("-j: 1 to 256");
        if (options->keep && (options->spawn || options->files.size() > 1))
            return usage_error("--keep: one file, against a daemon that goes on running (without --spawn)");
        options->parallel = static_cast<int>(*parallel);
        options->client = context.settings().client;
        if (!context.settings().timeout) options->client.timeout = kPatience;
        return static_cast<Exit>(scenario::run_scenarios(*options, context.out(), context.streams().err));
    });
}

} // namespace yk::cli
