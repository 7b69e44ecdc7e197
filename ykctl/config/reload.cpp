// SPDX-License-Identifier: Apache-2.0
// The command config reload.

#include "ykctl/cli/values.h"
#include "ykctl/config/config_change.h"
#include "ykctl/config/config_commands.h"
#include "ykctl/render/text.h"
#include "ykctl/rm/rm_serve.h"

namespace yk::cli {
namespace {

using wire::Value;

struct ReloadOptions {
    std::optional<std::string> file;
    std::vector<std::string> extra;
    std::string message;
    bool from_file = false;
    bool dry_run = false;
};

/// The report of a reload: one line for each file or setting that was read again.
std::string reload_text(Context& context, const Value& report) {
    const auto& settings = member_of(report, "settings");
    std::string text;
    const auto add = [&](const std::string& line) { text += printable(line) + "\n"; };
    if (settings.is_object() && flag_of(settings, "ok"))
        add(flag_of(report, "dryRun") ? "peers and tokens are good" : "peers and tokens reread");
    for (const auto& file : member_of(report, "files"))
        if (flag_of(file, "ok")) add(text_of(file, "file") + " is good");
    for (const auto& rm : member_of(report, "rms")) {
        add("RM " + text_of(rm, "rmID") + ": " + text_of(rm, "text"));
        for (const auto& change : member_of(rm, "changes")) text += "  " + change_line(change, context.style());
    }
    if (member_of(report, "rms").empty()) add("no RM is registered");
    return text;
}

/// The failure when a part of a reload was refused; nullopt when none was.
std::optional<Failure> refused(const Value& report) {
    if (flag_of(report, "ok")) return std::nullopt;
    std::vector<std::string> reasons;
    const auto& settings = member_of(report, "settings");
    if (settings.is_object() && !flag_of(settings, "ok"))
        reasons.push_back("peers and tokens stay as they were: " + text_of(settings, "reason"));
    Failure failure{Exit::Refused, {}, {}, 0, {}, {}};
    for (const auto& file : member_of(report, "files")) {
        if (flag_of(file, "ok")) continue;
        const auto& problems = member_of(file, "problems");
        if (problems.empty()) {
            reasons.push_back(text_of(file, "reason"));
            continue;
        }
        const auto named = config_refused({}, text_of(file, "file"), problems);
        reasons.push_back(named.message);
        failure.hints.insert(failure.hints.end(), named.hints.begin(), named.hints.end());
    }
    if (reasons.empty()) // the state of an RM, or its store, refused it: no file is at fault
        for (const auto& rm : member_of(report, "rms"))
            if (text_of(rm, "result") == "refused")
                reasons.push_back("RM " + text_of(rm, "rmID") + " " + text_of(rm, "text"));
    failure.message = "reload failed: " + join(reasons, "; ");
    return failure;
}

/// Makes the daemon read its files again, as SIGHUP does.
Outcome reload_files(Context& context, const ReloadOptions& options) {
    const si::ReloadRequest request{.rm_id = context.settings().rm.value_or(std::string{}),
                                    .from_file = options.from_file,
                                    .dry_run = options.dry_run,
                                    .message = options.message};
    YK_TRY(report, context.settings().rm ? context.call_for_rm(request) : context.call(request));
    for (const auto& file : member_of(report, "files"))
        if (flag_of(file, "ok")) print_warnings(context, file);
    const auto text = context.settings().quiet ? std::string{} : reload_text(context, report);
    YK_TRY(shown, context.show_item(report, flag_of(report, "ok") ? "reloaded" : "refused", text));
    if (auto failure = refused(report)) return *failure;
    return shown;
}

Outcome reload(Context& context, const ReloadOptions& options) {
    if (options.file && options.from_file) return usage_error("-f FILE or --from-file, which is the daemon's own?");
    if (!options.file && options.extra.empty()) return reload_files(context, options);
    if (!options.file && !options.from_file)
        return usage_error("--extra needs the configuration that it goes with",
                           {"the daemon's file:  ykctl config reload --from-file --extra ...", "or yours:  -f FILE"});
    si::UpdateConfigurationRequest request;
    request.dry_run = options.dry_run;
    request.message = options.message;
    if (options.file) {
        YK_TRY(text, read_configuration(context, *options.file));
        request.config = std::move(text);
        request.source = shown_name(*options.file);
    }
    if (!options.extra.empty()) {
        YK_TRY(extra, parse_pairs(options.extra, "--extra"));
        request.extra_config = std::move(extra);
    }
    auto outcome = update_configuration(context, std::move(request));
    if (outcome.ok()) return outcome;
    return with_problems(std::move(outcome).error(), options.file ? shown_name(*options.file) : std::string{});
}

} // namespace

void define_config_reload(Command config, Context& context) {
    const auto load = config.sub("reload", "load the daemon's files again, or another configuration");
    const auto options = std::make_shared<ReloadOptions>();
    load.option("-f,--file", options->file, "a configuration of your own for one RM; - is standard input")
        .value("FILE");
    load.flag("--from-file", options->from_file,
              "also where another configuration is active: back to the daemon's file");
    load.option("--extra", options->extra, "the new extra configuration, all of it").value("KEY=VALUE");
    load.option("-m,--message", options->message, "why, for config history");
    load.flag("--dry-run", options->dry_run, "only say what it would change");
    load.run([&context, options] { return reload(context, *options); });
}

} // namespace yk::cli
