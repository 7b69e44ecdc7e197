// SPDX-License-Identifier: Apache-2.0
// The commands config show, check, diff, reload, history, rollback, view-client.

#include <algorithm>
#include <ostream>
#include <sstream>

#include <fmt/format.h>

#include "libcore/base/pluralize.h"
#include "libcore/config_yaml/dump.h"
#include "libcore/config_yaml/load.h"
#include "ykctl/cli/values.h"
#include "ykctl/client/states.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/commands/rm_serve.h"
#include "ykctl/render/go_config.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

/// The configuration in a dump of the daemon; nullopt when this ykctl does not understand it.
std::optional<config::Configuration> configuration_of(const Value& page) {
    auto loaded = config_yaml::load(yaml_text({{"partitions", member_of(page, "partitions")}}), "config");
    if (loaded.configuration) loaded.configuration->checksum = text_of(page, "checksum");
    return std::move(loaded.configuration);
}

/// The canonical text of a configuration: loading it gives the same tree and the same text again (C-473). What is not
/// part of the configuration is written in comments.
std::string canonical_text(const Value& page) {
    const auto configuration = configuration_of(page);
    if (!configuration) return yaml_text(page);
    auto text = config_yaml::dump(*configuration);
    if (const auto& extra = member_of(page, "extra"); !extra.empty()) {
        std::istringstream lines{yaml_text({{"extra", extra}})};
        for (std::string line; std::getline(lines, line);) text += "# " + line + "\n";
    }
    return text;
}

/// Prints the configuration in the JSON form of yunikorn-core, with Go style names (C-474).
std::optional<Failure> show_go_form(Context& context, const Value& page) {
    const auto configuration = configuration_of(page);
    if (!configuration)
        return Failure{Exit::Refused, "the daemon shows a configuration that this ykctl does not know", {}, 0, {}, {}};
    context.out() << json_line(go_configuration(*configuration, member_of(page, "extra")));
    return std::nullopt;
}

Outcome show_config(Context& context, bool go_form) {
    YK_TRY(pages, context.dump("config"));
    if (pages.size() == 1 && pages.front().is_array()) // several RMs
        pages = {pages.front().begin(), pages.front().end()};
    for (const auto& page : pages) {
        if (go_form) {
            if (auto failure = show_go_form(context, page)) return *failure;
            continue;
        }
        const auto name = context.settings().rm.value_or(text_of(page, "rmID"));
        const auto text = context.machine_readable() ? std::string{} : canonical_text(page);
        const auto heading = pages.size() > 1 ? "# RM " + printable(text_of(page, "rmID")) + "\n" : std::string{};
        YK_TRY(shown, context.show_item(page, name, heading + text));
        if (shown != Exit::Ok) return shown;
    }
    return Exit::Ok;
}

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
    const auto outcome = config_yaml::load_or_default(*text, name);
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

std::string change_line(const Value& change, const Style& style) {
    const auto text = text_of(change, "text");
    if (!text.empty()) return printable(text) + "\n";
    const auto shown = [](const Value& value) {
        if (value.is_null()) return std::string{"-"};
        return value.is_string() ? printable(value.get<std::string>()) : printable(value.dump());
    };
    return fmt::format("{} {}: {} -> {}\n", style.bold(printable(text_of(change, "kind"))),
                       printable(text_of(change, "path")), shown(member_of(change, "old")),
                       shown(member_of(change, "new")));
}

/// What a reload with the file would change, from a dry run.
struct Changes {
    std::vector<Value> list;
    std::string refusal; // why the running state would refuse it; empty: it would not
};

Answer<Changes> changes_of(Context& context, const std::string& file) {
    YK_TRY(text, read_configuration(context, file));
    YK_TRY(rm, context.rm());
    YK_TRY(reply, context.call(si::ValidateConfigurationRequest{.config = text, .rm_id = rm.id, .diff = true}));
    const auto& list = member_of(reply, "changes");
    if (!flag_of(reply, "allowed") && list.empty()) {
        const auto& problems = member_of(reply, "problems");
        if (!problems.empty()) return config_refused({}, shown_name(file), problems);
        return Failure{Exit::Refused, shown_name(file) + ": " + text_of(reply, "reason"), {}, 0, {}, {}};
    }
    return Changes{{list.begin(), list.end()}, flag_of(reply, "allowed") ? std::string{} : text_of(reply, "reason")};
}

void show_changes(Context& context, const std::vector<Value>& changes) {
    if (context.machine_readable()) {
        context.out() << list_text(changes, {}, context.format(), {});
        return;
    }
    for (const auto& change : changes) context.out() << change_line(change, context.style());
    if (!context.settings().quiet) {
        context.out() << (changes.empty() ? "no changes\n" : pluralize(changes.size(), "change") + "\n");
    }
}

/// Shows what a reload of the daemon's own file would change.
Outcome diff_own(Context& context) {
    YK_TRY(rm, context.rm());
    si::UpdateConfigurationRequest request;
    request.rm_id = rm.id;
    request.dry_run = true;
    auto reply = context.call_for_rm(std::move(request));
    if (!reply.ok()) return with_problems(std::move(reply).error(), {});
    const auto& changes = member_of(*reply, "changes");
    show_changes(context, {changes.begin(), changes.end()});
    return changes.empty() ? Exit::Ok : Exit::Different;
}

Outcome diff(Context& context, const std::string& file) {
    YK_TRY(changes, changes_of(context, file));
    show_changes(context, changes.list);
    if (!changes.refusal.empty())
        return Failure{Exit::Refused, file + ": a reload would be refused: " + changes.refusal, {}, 0, {}, {}};
    return changes.list.empty() ? Exit::Ok : Exit::Different;
}

/// Prints the warnings about a configuration that was accepted.
void print_warnings(Context& context, const Value& reply) {
    for (const auto& problem : member_of(reply, "problems"))
        context.note(fmt::format("warning: {}:{}: {}", number_of(problem, "line"), number_of(problem, "column"),
                                 printable(text_of(problem, "path") + ": " + text_of(problem, "message"))));
}

/// Sends the change, or its dry run, for the RM of the settings, and prints the result.
Outcome update(Context& context, si::UpdateConfigurationRequest request) {
    YK_TRY(rm, context.rm());
    request.rm_id = rm.id;
    const bool dry_run = request.dry_run;
    YK_TRY(reply, context.call_for_rm(std::move(request)));
    print_warnings(context, reply);
    if (dry_run) {
        const auto& changes = member_of(reply, "changes");
        show_changes(context, {changes.begin(), changes.end()});
        return Exit::Ok;
    }
    if (const auto file = text_of(reply, "notFollowed"); !file.empty())
        context.note(printable(
            fmt::format("{} no longer follows {}; back to the file:  {}", rm.id, file, text_of(reply, "wayBack"))));
    const auto text = flag_of(reply, "changed") ? "configuration of " + printable(rm.id) + " reloaded\n"
                                                : "configuration of " + printable(rm.id) + " unchanged\n";
    return context.show_item(reply, text_of(reply, "checksum"), context.settings().quiet ? std::string{} : text);
}

struct ReloadOptions {
    std::optional<std::string> file;
    std::vector<std::string> extra;
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
                                    .dry_run = options.dry_run};
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
    if (options.file) {
        YK_TRY(text, read_configuration(context, *options.file));
        request.config = std::move(text);
        request.source = shown_name(*options.file);
    }
    if (!options.extra.empty()) {
        YK_TRY(extra, parse_pairs(options.extra, "--extra"));
        request.extra_config = std::move(extra);
    }
    auto outcome = update(context, std::move(request));
    if (outcome.ok()) return outcome;
    return with_problems(std::move(outcome).error(), options.file ? shown_name(*options.file) : std::string{});
}

// --- history ------------------------------------------------------------------------------------

/// The configurations of the RM, the newest first.
Answer<std::vector<Value>> history_of(Context& context) {
    YK_TRY(pages, context.dump("confighistory"));
    std::vector<Value> entries;
    for (const auto& page : pages) entries.insert(entries.end(), page.begin(), page.end());
    return entries;
}

ListLayout history_layout() {
    const auto checksum = [](const Value& entry) { return text_of(entry, "checksum").substr(0, 12); };
    return {{{{"CHECKSUM"}, checksum},
             {{"SINCE"}, [](const Value& entry) { return time_text(number_of(entry, "at")); }},
             {{"ACTIVE"}, [](const Value& entry) { return flag_of(entry, "active") ? "yes" : "no"; }},
             text_column("ORIGIN", "origin"),
             text_column("RM", "rmID"),
             number_column("BYTES", "bytes", true)},
            checksum,
            "no configuration was loaded yet"};
}

Outcome show_history(Context& context) {
    YK_TRY(entries, history_of(context));
    return context.show_list(entries, history_layout());
}

struct RollbackOptions {
    std::optional<std::string> checksum;
    bool dry_run = false;
};

/// Goes back to the configuration with a checksum; without one, to the configuration before the current one.
Outcome roll_back(Context& context, const RollbackOptions& options) {
    si::UpdateConfigurationRequest request;
    request.dry_run = options.dry_run;
    request.checksum = options.checksum;
    if (options.checksum) return update(context, std::move(request));
    YK_TRY(rm, context.rm());
    YK_TRY(entries, history_of(context));
    entries.erase(std::remove_if(entries.begin(), entries.end(),
                                 [&](const Value& entry) { return text_of(entry, "rmID") != rm.id; }),
                  entries.end());
    if (entries.size() < 2)
        return not_found("there is no configuration before the active one", {"which are kept?  ykctl config history"});
    request.checksum = text_of(entries[1], "checksum");
    return update(context, std::move(request));
}

void define_history(const Command& config, Context& context) {
    config.sub("history", "the configurations that were active, newest first").run([&context] {
        return show_history(context);
    });
    const auto rollback = config.sub("rollback", "go back to a configuration of the history");
    const auto options = std::make_shared<RollbackOptions>();
    rollback.option("CHECKSUM", options->checksum,
                    "its checksum or how it begins, default: the one before the active one");
    rollback.flag("--dry-run", options->dry_run, "only say what it would change");
    rollback.run([&context, options] { return roll_back(context, *options); });
}

Outcome view_client(Context& context) {
    std::vector<Value> items;
    for (const auto& [name, value, source] : context.settings().origins)
        items.push_back({{"name", name}, {"value", value}, {"source", source}});
    return context.show_list(std::move(items), {{text_column("SETTING", "name"), text_column("VALUE", "value"),
                                                 text_column("FROM", "source")},
                                                [](const Value& item) { return text_of(item, "name"); },
                                                ""});
}

void define_check(Command command, Context& context) {
    const auto options = std::make_shared<CheckOptions>();
    command.option("FILE", options->files, "configuration files; - is standard input").value("FILE").required();
    command.flag("--offline", options->offline, "ask no daemon, whatever names one");
    command.run([&context, options] { return check(context, *options); });
}

} // namespace

void define_config(Command root, Context& context) {
    const auto config = root.sub("config", "the queue configuration: look at, check, compare, reload, go back");
    const auto show = config.sub("show", "the running configuration with its checksum");
    const auto go_form = std::make_shared<bool>(false);
    show.flag("--go-json", *go_form, "in the JSON form of yunikorn-core's REST interface");
    show.run([&context, go_form] { return show_config(context, *go_form); });
    define_check(config.sub("check", "check files, also by the daemon if one is named").alias("validate"), context);

    const auto compare = config.sub("diff", "what a reload would change; exit 8 when something");
    const auto file = std::make_shared<std::optional<std::string>>();
    compare.option("FILE", *file, "the new configuration, default the daemon's file; - is standard input")
        .value("FILE");
    compare.run([&context, file] { return *file ? diff(context, **file) : diff_own(context); });

    const auto load = config.sub("reload", "load the daemon's files again, or another configuration");
    const auto options = std::make_shared<ReloadOptions>();
    load.option("-f,--file", options->file, "a configuration of your own for one RM; - is standard input")
        .value("FILE");
    load.flag("--from-file", options->from_file,
              "also where another configuration is active: back to the daemon's file");
    load.option("--extra", options->extra, "the new extra configuration, all of it").value("KEY=VALUE");
    load.flag("--dry-run", options->dry_run, "only say what it would change");
    load.run([&context, options] { return reload(context, *options); });
    define_history(config, context);
    config.sub("view-client", "the settings of ykctl itself, and where each comes from").run([&context] {
        return view_client(context);
    });
}

} // namespace yk::cli
