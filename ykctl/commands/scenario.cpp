// SPDX-License-Identifier: Apache-2.0
// The command scenario run, which calls ykctl/scenario.

#include <algorithm>

#include "libcore/config_yaml/tree.h"
#include "ykctl/cli/patience.h"
#include "ykctl/cli/values.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/render/text.h"
#include "ykctl/scenario/run.h"

namespace yk::cli {
namespace {

using scenario::FileResult;

struct RunOptions {
    scenario::ScenarioOptions play;
    std::int64_t parallel = 1;
    std::optional<std::string> config, junit;
};

/// A PASS or FAIL line and the unmet expectations; what is broken is an error.
void say(Context& context, const FileResult& result) {
    std::ostream& out = context.out();
    if (result.verdict == scenario::Verdict::Broken) {
        out.flush();
        context.streams().err << "ykctl: " << printable_lines(result.error) << "\n";
        return;
    }
    out << (result.verdict == scenario::Verdict::Pass ? "PASS " : "FAIL ") << result.file << "\n";
    for (const std::string& failure : result.failures) out << "  " << failure << "\n";
    out.flush();
}

/// By the file of --junit CI servers show what failed.
std::optional<Failure> write_junit(const std::string& file, const std::vector<FileResult>& results) {
    if (!write_text(file, scenario::junit_text(results))) return std::nullopt;
    return Failure{Exit::Refused, "--junit: cannot write " + file, {}, 0, {}, {}};
}

Outcome run_files(Context& context, RunOptions& options) {
    constexpr std::int64_t kMost = 256;
    if (options.parallel < 1 || options.parallel > kMost) return usage_error("-j: 1 to 256");
    auto files = scenario::files_in(options.play.files);
    if (!files.ok()) return usage_error(files.error().message);
    options.play.files = *std::move(files);
    if (options.play.keep && (options.play.spawn || options.play.files.size() > 1))
        return usage_error("--keep: one file, against a daemon that goes on running (without --spawn)");
    if (options.config) {
        YK_TRY(text, read_text(*options.config, context.streams().in, config_yaml::kMaxTextBytes));
        options.play.config = text;
    }
    options.play.parallel = static_cast<int>(options.parallel);
    options.play.client = context.settings().client;
    if (!context.settings().timeout) options.play.client.timeout = kPatience;
    std::vector<FileResult> results;
    auto worst = scenario::Verdict::Pass;
    const bool is_for_people = context.format() == Format::Table || context.format() == Format::Wide;
    scenario::run_scenarios(options.play, [&](FileResult result) {
        if (is_for_people) say(context, result);
        worst = std::max(worst, result.verdict);
        results.push_back(std::move(result));
    });
    if (options.junit)
        if (auto failure = write_junit(*options.junit, results)) return *std::move(failure);
    if (!is_for_people) {
        std::vector<wire::Value> values;
        values.reserve(results.size());
        for (const FileResult& each : results) values.push_back(scenario::value_of(each));
        const ListLayout layout{{}, [](const wire::Value& item) { return text_of(item, "file"); }, "no files"};
        if (auto shown = context.show_list(std::move(values), layout); !shown.ok()) return shown;
    }
    return static_cast<Exit>(worst);
}

} // namespace

void define_scenario(Command root, Context& context) {
    const auto noun = root.sub("scenario", "black-box tests of a daemon: what an RM does, and what must be seen");
    const auto run =
        noun.sub("run", "play scenario files; exit 0 all pass, 1 an expectation failed, 2 a file is wrong");
    const auto options = std::make_shared<RunOptions>();
    run.option("FILE", options->play.files, "scenario files, or folders of them").value("FILE").required();
    run.flag("--spawn", options->play.spawn, "against a fresh private daemon per file");
    run.option("--config", options->config, "queue configuration of the files that have none of their own")
        .value("FILE");
    run.option("--junit", options->junit, "write what came of each file there, as JUnit's XML").value("FILE");
    run.flag("--keep", options->play.keep, "leave what one file has made in the daemon, to look at it");
    run.option("-j,--parallel", options->parallel, "so many files at once, with --spawn");
    run.run([&context, options] { return run_files(context, *options); });
}

} // namespace yk::cli
