// SPDX-License-Identifier: Apache-2.0
// The commands explain app and explain ask: why is it still pending? explain preemption: what would be preempted for
// it? The other kinds are in files of their own, explain_config.cpp to explain_user.cpp.

#include <algorithm>
#include <ostream>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "libcore/base/pluralize.h"
#include "ykctl/client/dumps.h"
#include "ykctl/client/watch.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/explain/explain_kinds.h"
#include "ykctl/explain/explain_rules.h"
#include "ykctl/output/reason_text.h"
#include "ykctl/render/text.h"

namespace yk::cli {

using wire::Value;

std::string verdict_text(const Style& style, const std::string& verdict) {
    for (const char* good : {"PLACED", "NO_PENDING", "SCHEDULABLE", "IDLE", "WITHIN_LIMITS", "UNLIMITED"})
        if (verdict == good) return style.green(verdict);
    return verdict == "IMPOSSIBLE" ? style.red(verdict) : style.yellow(printable(verdict));
}

/// The reasons, one line each: ` 1. QUEUE_MAX  root.a  max vcore 100, used 96, each ask needs 8   blocks 12 asks`
std::string reasons_text(const Value& reasons, const Value& nodes, const Style& style) {
    const auto width_of = [&](const char* key) {
        std::size_t width = 0;
        for (const auto& reason : reasons) width = std::max(width, display_width(printable(text_of(reason, key))));
        return width;
    };
    const auto code_width = width_of("code");
    const auto object_width = width_of("object");
    const auto padded = [](const std::string& text, std::size_t width) {
        return width == 0 ? text : text + std::string(width - display_width(text) + 2, ' ');
    };
    std::string text;
    int number = 0;
    for (const auto& reason : reasons) {
        text +=
            fmt::format("{:>2}. {}{}{}", ++number, style.bold(padded(printable(text_of(reason, "code")), code_width)),
                        padded(printable(text_of(reason, "object")), object_width), reason_text(reason, nodes));
        if (const auto asks = number_of(reason, "asks"); asks > 0) text += "   blocks " + pluralize(asks, "ask");
        text += "\n";
    }
    const auto is_fit = [](const Value& reason) { return text_of(reason, "code") == "NODE_FIT"; };
    const bool has_fit = std::any_of(reasons.begin(), reasons.end(), is_fit);
    return has_fit || !nodes.is_object() ? text : text + " nodes: " + nodes_text(nodes) + "\n";
}

Answer<Value> ask_to_explain(Context& context, si::ExplainRequest query) {
    query.partition = context.settings().partition.value_or(std::string{});
    query.rm_id = context.settings().rm.value_or(std::string{});
    return context.call(query);
}

namespace {

/// The first lines: the application, its state, and how many asks wait since when.
std::string headline(const Value& answer, const std::string& noun, const std::string& name, std::int64_t now,
                     const Style& style) {
    const auto& details = member_of(answer, "details");
    const bool is_app = noun == "app";
    auto text = noun + " " + printable(name);
    if (!is_app) text += " of app " + printable(text_of(details, "application"));
    text += fmt::format(" (queue {}, user {}) is {}", or_dash(printable(text_of(details, "queue"))),
                        or_dash(printable(text_of(details, "user"))), verdict_text(style, text_of(answer, "verdict")));
    if (is_app) {
        text += fmt::format(": {}; {} of {} pending", printable(text_of(details, "state")),
                            number_of(details, "pendingAsks"), pluralize(number_of(details, "asks"), "ask"));
    } else {
        text += "; the app is " + printable(text_of(details, "state"));
    }
    if (const auto oldest = number_of(details, "oldestPending"); oldest > 0) {
        text += is_app ? ", oldest " : ", the ask waits ";
        text += duration_text(std::chrono::nanoseconds{std::max(now - oldest, std::int64_t{0})});
    }
    return text + "\n";
}

/// One line for each queue that may give resources back (`memory 4Gi over guaranteed ...`), then the candidates that
/// were left out, with the reason.
std::string givers_text(const Value& preemption) {
    std::string text;
    for (const auto& giver : member_of(preemption, "queues")) {
        const auto& guaranteed = member_of(giver, "guaranteed");
        const auto spared = text_of(giver, "spared");
        text +=
            fmt::format(" {} queue {}: uses {}, guaranteed {}, {}\n", spared.empty() ? "from" : "not from",
                        printable(text_of(giver, "queue")), resource_text(member_of(giver, "used")),
                        guaranteed.is_object() ? resource_text(guaranteed) : "nothing",
                        spared.empty() ? pluralize(number_of(giver, "candidates"), "candidate") : printable(spared));
    }
    std::vector<std::string> excluded;
    for (const auto& [reason, count] : member_of(preemption, "excluded").items())
        if (count.is_number()) excluded.push_back(fmt::format("{} {}", count.dump(), printable(reason)));
    return excluded.empty() ? text : text + " not: " + join(excluded, ", ") + "\n";
}

/// The allocations that would be preempted, or are being preempted, with their nodes.
std::string preemption_text(const Value& preemption, const Style& style) {
    if (!preemption.is_object()) return {};
    std::string text;
    if (const auto root = text_of(preemption, "fenceRoot"); !root.empty())
        text += fmt::format(" below {}; left of the guarantee: {}\n", printable(root),
                            left_text(member_of(preemption, "remaining")));
    text += givers_text(preemption);
    for (const auto& victim : member_of(preemption, "victims")) {
        text += fmt::format(" {} {} of app {} (queue {}) on {}: {}", style.bold("victim"),
                            printable(text_of(victim, "allocationKey")), printable(text_of(victim, "applicationID")),
                            printable(text_of(victim, "queue")), printable(text_of(victim, "nodeID")),
                            resource_text(member_of(victim, "resource")));
        text += fmt::format(", priority {}{}{}\n", number_of(victim, "priority"),
                            flag_of(victim, "optedOut") ? ", opted out" : "",
                            flag_of(victim, "originator") ? ", originator" : "");
    }
    if (const auto node = text_of(preemption, "nodeID"); !node.empty() && !member_of(preemption, "victims").empty())
        text += fmt::format(" node {} {} kept for the ask\n", printable(node),
                            flag_of(preemption, "announced") ? "is" : "would be");
    return text;
}

/// A line for each thing that would help against one of the reasons.
std::string helps_text(const Value& reasons) {
    std::string text;
    std::set<std::string> seen;
    for (const auto& reason : reasons)
        if (const auto help = text_of(reason, "help"); !help.empty() && seen.insert(help).second)
            text += " would help: " + printable(help) + "\n";
    return text;
}

/// Asks for an explanation. `missing` is the failure to return when the daemon does not know the object.
Answer<Shown> explain(Context& context, si::ExplainRequest query, const std::string& noun, const std::string& name,
                      const std::optional<Failure>& missing = {}) {
    YK_TRY(answer, ask_to_explain(context, std::move(query)));
    if (text_of(answer, "verdict") == "NOT_FOUND") {
        if (missing) return *missing;
        return not_found(noun + " '" + name + "' not found", {"which are there?  ykctl " + noun + " list"});
    }
    YK_TRY(now, daemon_now(context));
    const auto style = context.style();
    const auto text =
        headline(answer, noun, name, now, style) +
        reasons_text(member_of(answer, "reasons"), member_of(member_of(answer, "details"), "nodes"), style) +
        preemption_text(member_of(member_of(answer, "details"), "preemption"), style) +
        helps_text(member_of(answer, "reasons"));
    return Shown{answer, text_of(answer, "verdict"), text};
}

Answer<Shown> explain_ask(Context& context, const char* what, const std::string& key,
                          const std::optional<std::string>& application) {
    si::ExplainRequest query{.what = what, .allocation_key = key};
    if (application) {
        query.application = *application;
        return explain(context, std::move(query), "ask", key);
    }
    const auto found = find_key(context, {"asks", "allocations"}, key, application);
    if (found.ok())
        query.application = text_of(*found, "applicationId");
    else if (found.error().exit != Exit::NotFound)
        return found.error();
    // an ask that is about to replace a placeholder is in neither list, but the daemon knows it (G-040)
    return explain(context, std::move(query), "ask", key, found.ok() ? std::nullopt : std::optional{found.error()});
}

} // namespace

void define_explain(Command root, Context& context) {
    const auto command = root.sub("explain", "why is it so: pending, placed there, limited?");
    const auto app = command.sub("app", "every layer that blocks the asks of an application");
    const auto id = std::make_shared<std::string>();
    app.option("ID", *id, "id of the application").required();
    define_show_and_watch(app, context,
                          [&context, id] { return explain(context, {.what = "app", .application = *id}, "app", *id); });

    const auto ask = command.sub("ask", "every layer that blocks one ask");
    const auto key = std::make_shared<std::string>();
    const auto application = std::make_shared<std::optional<std::string>>();
    ask.option("KEY", *key, "allocation key").required();
    ask.option("--app", *application, "of this application").value("APP");
    define_show_and_watch(ask, context,
                          [&context, key, application] { return explain_ask(context, "ask", *key, *application); });

    const auto preemption =
        command.sub("preemption", "who would have to go for an ask, or why nobody, without doing it");
    const auto wanting = std::make_shared<std::string>();
    const auto of = std::make_shared<std::optional<std::string>>();
    preemption.option("KEY", *wanting, "allocation key of the ask").required();
    preemption.option("--app", *of, "of this application").value("APP");
    define_show_and_watch(preemption, context,
                          [&context, wanting, of] { return explain_ask(context, "preemption", *wanting, *of); });
    define_explain_node(command, context);
    define_explain_user(command, context);
    define_explain_config(command, context);
    define_explain_rules(command, context);
}

} // namespace yk::cli
