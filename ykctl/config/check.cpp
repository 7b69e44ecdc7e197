// SPDX-License-Identifier: Apache-2.0
// The command config check.

#include <ostream>

#include "libcore/config_yaml/load.h"
#include "ykctl/cli/values.h"
#include "ykctl/config/config_commands.h"
#include "ykctl/render/text.h"
#include "ykctl/rm/rm_serve.h"

namespace yk::cli {
namespace {

using wire::Value;

/// The results of the checks of all files.
struct Findings {
    std::vector<Value> problems;
    std::size_t errors = 0;
    std::size_t warnings = 0;
    bool asks_daemon = false;
};

/// The RM whose running state may refuse a configuration; nullopt when none is registered.
Answer<std::optional<std::string>> running_rm(Context& context) {
    auto rm = context.rm();
    if (rm.ok()) return std::optional{rm->id};
    const bool none = rm.error().exit == Exit::NotFound && !context.settings().rm;
    return none ? Answer<std::optional<std::string>>{std::optional<std::string>{}} : rm.error();
}

/// Asks the daemon whether the running state allows the configuration (C-435, C-436). True when it does.
Answer<bool> check_with_daemon(Context& context, const std::string& file, const std::string& text, Findings& findings) {
    YK_TRY(rm, running_rm(context));
    YK_TRY(reply, context.call(si::ValidateConfigurationRequest{.config = text, .rm_id = rm.value_or(std::string{})}));
    if (flag_of(reply, "allowed")) return true;
    ++findings.errors;
    findings.problems.push_back({{"file", file}, {"message", text_of(reply, "reason")}, {"severity", "error"}});
    if (!context.machine_readable()) {
        context.out() << file << ": error: the daemon refuses it: " << printable(text_of(reply, "reason")) << "\n";
    }
    return false;
}

/// The same, but a daemon that was not named with -s may be down, which is no fault of the file.
Answer<bool> check_with_daemon_if_there(Context& context, const std::string& file, const std::string& text,
                                        Findings& findings) {
    if (!findings.asks_daemon) return true;
    auto allowed = check_with_daemon(context, file, text, findings);
    if (allowed.ok() || context.settings().address_given) return allowed;
    context.note("the daemon was not asked: " + allowed.error().message);
    findings.asks_daemon = false;
    return true;
}

std::optional<Failure> check_file(Context& context, const std::string& file, Findings& findings) {
    auto text = read_text(file, context.streams().in);
    if (!text.ok()) return text.error();
    const auto name = shown_name(file);
    const auto outcome = config_yaml::load_file(*text, name);
    for (const auto& problem : outcome.problems) {
        findings.problems.push_back(problem_value(problem));
        findings.problems.back()["file"] = name;
        ++(problem.severity == config_yaml::Severity::Error ? findings.errors : findings.warnings);
    }
    const bool prints = !context.machine_readable();
    if (prints && !outcome.problems.empty()) context.out() << config_yaml::render(outcome, *text);
    if (!outcome.configuration) return std::nullopt;
    const auto allowed = check_with_daemon_if_there(context, name, *text, findings);
    if (!allowed.ok()) return allowed.error();
    if (prints && *allowed && outcome.problems.empty() && !context.settings().quiet) context.out() << name << ": ok\n";
    return std::nullopt;
}

struct CheckOptions {
    std::vector<std::string> files;
    bool offline = false;
};

Outcome check(Context& context, const CheckOptions& options) {
    Findings findings;
    findings.asks_daemon = context.settings().address_named && !options.offline;
    for (const auto& file : options.files) {
        if (auto failure = check_file(context, file, findings)) return *failure;
    }
    if (context.machine_readable()) context.out() << list_text(findings.problems, {}, context.format(), {});
    if (findings.errors > 0) return Exit::Refused;
    return findings.warnings > 0 && context.settings().client.strict ? Exit::Different : Exit::Ok;
}

} // namespace

void define_config_check(Command config, Context& context) {
    const auto command = config.sub("check", "check files, also by the daemon if one is named").alias("validate");
    const auto options = std::make_shared<CheckOptions>();
    command.option("FILE", options->files, "configuration files; - is standard input").value("FILE").required();
    command.flag("--offline", options->offline, "ask no daemon, whatever names one");
    command.run([&context, options] { return check(context, *options); });
}

} // namespace yk::cli
