// SPDX-License-Identifier: Apache-2.0
#include "ykctl/commands/run_command_line.h"

#include <ostream>

#include "ykctl/commands/nouns.h"

namespace yk::cli {
namespace {

void define_all(CommandLine& line, Context& context, GlobalOptions& options) {
    const auto root = line.root();
    define_global_options(root, options);
    define_status(root, context);
    define_rm(root, context);
    define_recovery(root, context);
    define_node(root, context);
    define_queue(root, context);
    define_app(root, context);
    define_ask(root, context);
    define_alloc(root, context);
    define_deployment(root, context);
    define_mcs(root, context);
    define_apply(root, context);
    define_partition(root, context);
    define_cluster(root, context);
    define_user(root, context);
    define_config(root, context);
    define_context(root, context);
    define_explain(root, context);
    define_scenario(root, context);
    define_replay(root, context);
    define_recording(root, context);
    define_dump(root, context);
    define_events(root, context);
    define_top(root, context);
    define_audit(root, context);
    define_metrics(root, context);
    define_log(root, context);
    define_wait(root, context);
    define_sched(root, context);
    define_names(root, context);
    define_access(root, line, context);
    define_help(root, line, context);
}

Outcome choose_and_run(CommandLine& line, const std::vector<std::string>& arguments, const GlobalOptions& options,
                       const Environment& environment, Context& context) {
    YK_TRY(selected, line.parse(arguments));
    if (!selected.help.empty()) {
        context.out() << selected.help;
        return Exit::Ok;
    }
    YK_TRY(settings, resolve_settings(options, environment));
    context.set_settings(std::move(settings));
    return selected.action();
}

constexpr const char* kAbout = "ykctl: talks to ykd, the resource scheduler";

} // namespace

int run(const std::vector<std::string>& arguments, Streams streams, const Environment& environment,
        const std::string& version) {
    Context context{streams, version};
    CommandLine line{"ykctl", kAbout};
    GlobalOptions options;
    define_all(line, context, options);
    const std::vector<std::string> version_of_ykctl{"version", "--client"};
    const bool asks_version = arguments == std::vector<std::string>{"--version"};
    const auto outcome =
        choose_and_run(line, asks_version ? version_of_ykctl : arguments, options, environment, context);
    streams.out.flush();
    if (!streams.out) {
        streams.err << "ykctl: cannot write to standard output\n";
        return static_cast<int>(Exit::Refused);
    }
    if (outcome.ok()) return static_cast<int>(*outcome);
    streams.err << failure_text(outcome.error(), wants_json(options, environment));
    return static_cast<int>(outcome.error().exit);
}

CommandInfo command_tree() {
    std::istream no_input{nullptr};
    std::ostream nowhere{nullptr};
    Context context{{no_input, nowhere, nowhere, false, false}, {}};
    CommandLine line{"ykctl", kAbout};
    GlobalOptions options;
    define_all(line, context, options);
    return line.tree();
}

} // namespace yk::cli
