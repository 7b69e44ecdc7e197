// SPDX-License-Identifier: Apache-2.0
// The command audit.

#include <limits>

#include <fmt/format.h>

#include "ykctl/client/states.h"
#include "ykctl/client/watch.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

struct AuditOptions {
    WatchOptions watch;
    std::int64_t count = 100;
    std::optional<std::string> who, kind;
    std::optional<std::chrono::milliseconds> since;
    bool refused = false;
};

bool is_wanted(const Value& record, const AuditOptions& options, std::int64_t first) {
    const auto holds = [&record](const char* key, const std::optional<std::string>& part) {
        return !part || text_of(record, key).find(*part) != std::string::npos;
    };
    if (options.refused && text_of(record, "outcome") == "ok") return false;
    return number_of(record, "at") >= first && holds("who", options.who) && holds("kind", options.kind);
}

/// The last records of those that are kept, the oldest first; the newest first for a screen that does not scroll.
Answer<std::vector<Value>> records(Context& context, const AuditOptions& options) {
    std::int64_t first = std::numeric_limits<std::int64_t>::min();
    if (options.since) {
        YK_TRY(pong, context.call(si::PingRequest{}));
        first = number_of(pong, "now") - std::chrono::nanoseconds{*options.since}.count();
    }
    const bool filters = options.who || options.kind || options.since || options.refused;
    const auto wanted = static_cast<std::size_t>(options.count);
    si::AuditRequest request;
    request.last = filters ? std::numeric_limits<std::uint32_t>::max() : static_cast<std::uint32_t>(options.count);
    std::vector<Value> found;
    while (true) {
        YK_TRY(page, context.call(request));
        const Value& some = member_of(page, "records");
        for (const Value& record : some)
            if (is_wanted(record, options, first)) found.push_back(record);
        if (some.empty()) break;
        request.from = static_cast<std::uint64_t>(number_of(page, "next"));
    }
    if (found.size() > wanted) found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(wanted));
    if (options.watch.on && context.streams().out_is_terminal) std::reverse(found.begin(), found.end());
    return found;
}

ListLayout layout() {
    return {{{{"TIME"}, [](const Value& record) { return time_text(number_of(record, "at")); }},
             text_column("WHO", "who"),
             text_column("FROM", "address", true),
             text_column("ROLE", "role", true),
             text_column("CLIENT", "client", true),
             text_column("KIND", "kind"),
             text_column("RM", "rmID"),
             text_column("OUTCOME", "outcome"),
             text_column("WHAT", "what"),
             text_column("ERROR", "error", true)},
            [](const Value& record) { return std::to_string(number_of(record, "n")); },
            "nothing was changed"};
}

} // namespace

void define_audit(Command root, Context& context) {
    const auto audit = root.sub("audit", "who changed what, with what outcome; needs role admin");
    const auto options = std::make_shared<AuditOptions>();
    audit.option("-n,--count", options->count, "the last so many, default 100");
    audit.option("--who", options->who, "only of those whose name has this in it").value("TEXT");
    audit.option("--kind", options->kind, "only requests whose kind has this in it: UpdateNode").value("TEXT");
    audit.option("--since", options->since, "only of this time: 2h").value("DURATION");
    audit.flag("--refused", options->refused, "only what was not done");
    define_watch(audit, options->watch);
    audit.run([&context, options]() -> Outcome {
        if (options->count < 1 || options->count > 10'000) return usage_error("-n: 1 to 10000");
        if (options->watch.on) YK_CHECKED(context.greeting()); // as an administrator, since others are not shown it
        return list_or_watch(
            context, options->watch,
            {[&context, options] { return records(context, *options); }, [] { return Answer<ListLayout>{layout()}; }});
    });
}

} // namespace yk::cli
