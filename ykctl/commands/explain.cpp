// explain app, explain ask: why is it still pending?

#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "ykctl/commands/dumps.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

std::string verdict_text(const Style& style, const std::string& verdict) {
    if (verdict == "PLACED" || verdict == "NO_PENDING" || verdict == "SCHEDULABLE") return style.green(verdict);
    return verdict == "IMPOSSIBLE" ? style.red(verdict) : style.yellow(verdict);
}

/// ` 1. QUEUE_MAX  root.a  max vcore 100, used 96 ...  blocks 12 asks`
std::string reasons_text(const Value& reasons, const Style& style) {
    std::size_t code_width = 0;
    std::size_t object_width = 0;
    for (const auto& reason : reasons) {
        code_width = std::max(code_width, display_width(text_of(reason, "code")));
        object_width = std::max(object_width, display_width(printable(text_of(reason, "object"))));
    }
    std::string text;
    int number = 0;
    for (const auto& reason : reasons) {
        const auto code = printable(text_of(reason, "code"));
        const auto object = printable(text_of(reason, "object"));
        const std::string code_blanks(code_width - display_width(code) + 2, ' ');
        const std::string object_blanks(object_width == 0 ? 0 : object_width - display_width(object) + 2, ' ');
        text += fmt::format("{:>2}. {}{}{}{}{}", ++number, style.bold(code), code_blanks, object, object_blanks,
                            printable(text_of(reason, "text")));
        if (const auto asks = number_of(reason, "asks"); asks > 0) text += "   blocks " + counted(asks, "ask");
        text += "\n";
    }
    return text;
}

/// ` nodes: 2 of 14 could host it now; 9 lack vcore, 3 drained; nearest n0007 with 40Gi 16 vcore free`
std::string nodes_text(const Value& nodes) {
    if (!nodes.is_object()) return {};
    std::vector<std::string> why;
    for (const auto& [resource, count] : member_of(nodes, "lacking").items()) {
        if (count.is_number() && count > 0) why.push_back(fmt::format("{} lack {}", count.dump(), printable(resource)));
    }
    const auto add = [&](const char* key, const char* word) {
        if (const auto count = number_of(nodes, key); count > 0) why.push_back(fmt::format("{} {}", count, word));
    };
    add("tooSmall", "too small even when empty");
    add("unschedulable", "drained");
    add("reserved", "reserved for another ask");
    auto text =
        fmt::format(" nodes: {} of {} could host it now", number_of(nodes, "fitting"), number_of(nodes, "nodes"));
    if (!why.empty()) text += "; " + join(why, ", ");
    if (const auto best = text_of(nodes, "best"); !best.empty()) {
        text +=
            fmt::format("; nearest {} with {} free", printable(best), resource_text(member_of(nodes, "bestAvailable")));
    }
    return text + "\n";
}

std::string headline(const Value& answer, const std::string& subject, std::int64_t now, const Style& style) {
    const auto& details = member_of(answer, "details");
    auto text = subject;
    const auto queue = text_of(details, "queue");
    const auto user = text_of(details, "user");
    if (!queue.empty()) text += " (queue " + printable(queue) + (user.empty() ? "" : ", user " + printable(user)) + ")";
    if (const auto state = text_of(details, "state"); !state.empty()) text += " is " + printable(state);
    const auto pending = number_of(details, "pendingAsks");
    if (details.contains("pendingAsks")) {
        text += details.contains("asks")
                    ? fmt::format("; {} of {} pending", pending, counted(number_of(details, "asks"), "ask"))
                    : "; " + counted(pending, "pending ask");
        if (const auto oldest = number_of(details, "oldestPending"); oldest > 0) {
            text += ", oldest " + duration_text(std::chrono::nanoseconds{std::max(now - oldest, std::int64_t{0})});
        }
    }
    return text + ": " + verdict_text(style, text_of(answer, "verdict")) + "\n";
}

Outcome explain(Context& context, Value query, const std::string& noun, const std::string& name) {
    context.put_partition(query, "partition");
    if (context.settings().rm) query["rmID"] = *context.settings().rm;
    YK_TRY(answer, context.call("Explain", std::move(query)));
    if (text_of(answer, "verdict") == "NOT_FOUND") {
        return not_found(noun + " '" + name + "' not found", {"which are there?  ykctl " + noun + " list"});
    }
    YK_TRY(now, daemon_now(context));
    const auto style = context.style();
    const auto text = headline(answer, noun + " " + printable(name), now, style) +
                      reasons_text(member_of(answer, "reasons"), style) +
                      nodes_text(member_of(member_of(answer, "details"), "nodes"));
    return context.show_item(answer, text_of(answer, "verdict"), text);
}

Outcome explain_ask(Context& context, const std::string& key, const std::optional<std::string>& application) {
    Value query{{"what", "ask"}, {"allocationKey", key}};
    if (application) {
        query["application"] = *application;
    } else { // an ask that was placed is explained too
        YK_TRY(found, find_key(context, {"requests", "allocations"}, key, application));
        query["application"] = text_of(found, "applicationId");
    }
    return explain(context, std::move(query), "ask", key);
}

} // namespace

void define_explain(Command root, Context& context) {
    const auto command = root.sub("explain", "why is it still pending?");
    const auto app = command.sub("app", "every layer that blocks the asks of an application");
    const auto id = std::make_shared<std::string>();
    app.option("ID", *id, "id of the application").required();
    app.run([&context, id] { return explain(context, {{"what", "app"}, {"application", *id}}, "app", *id); });

    const auto ask = command.sub("ask", "every layer that blocks one ask");
    const auto key = std::make_shared<std::string>();
    const auto application = std::make_shared<std::optional<std::string>>();
    ask.option("KEY", *key, "allocation key").required();
    ask.option("--app", *application, "of this application").value("APP");
    ask.run([&context, key, application] { return explain_ask(context, *key, *application); });
}

} // namespace yk::cli
