// metrics: the daemon's numbers, as Prometheus reads them.

#include <algorithm>
#include <ostream>

#include <re2/re2.h>

#include "protocol/si/errors.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

struct MetricOptions {
    std::optional<std::string> grep, family;
};

/// The lines with a match, and the HELP and TYPE lines of the families that have one.
std::string matching_lines(const std::string& text, const RE2& expression) {
    std::string shown, heading;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const re2::StringPiece line{text.data() + begin, end - begin};
        const std::string whole = text.substr(begin, end - begin) + "\n";
        begin = end + 1;
        if (whole.front() == '#') {
            heading = whole.rfind("# HELP", 0) == 0 ? whole : heading + whole;
        } else if (RE2::PartialMatch(line, expression)) {
            shown += heading + whole;
            heading.clear();
        }
    }
    return shown;
}

std::vector<Value> matching_families(const Value& families, const RE2* expression) {
    std::vector<Value> found;
    for (const auto& family : families)
        if (expression == nullptr || RE2::PartialMatch(text_of(family, "name"), *expression)) found.push_back(family);
    return found;
}

Failure nothing_there(const MetricOptions& options) {
    std::string which = options.grep ? "matches '" + *options.grep + "'" : std::string{};
    if (options.family)
        which += std::string{which.empty() ? "" : " in a family that "} + "begins with '" + *options.family + "'";
    return not_found("no metric " + which, {"which are there?  ykctl metrics -o name"});
}

Outcome show_metrics(Context& context, const MetricOptions& options) {
    std::optional<RE2> expression;
    if (options.grep) {
        expression.emplace(*options.grep, RE2::Quiet);
        if (!expression->ok()) return usage_error("--grep: " + expression->error());
    }
    const bool as_map = context.format() != Format::Table && context.format() != Format::Wide;
    Value query{{"format", as_map ? "map" : "text"}};
    if (options.family) query["prefix"] = *options.family;
    auto reply = context.call("Metrics", std::move(query));
    if (!reply.ok()) {
        Failure failure = std::move(reply).error();
        if (failure.code == static_cast<std::uint32_t>(si::ErrorCode::TooLarge))
            failure.hints.emplace_back("so many queues: ask for one family at a time, --family yunikorn_queue_app");
        return failure;
    }
    if (as_map) {
        const ListLayout layout{{}, [](const Value& family) { return text_of(family, "name"); }, {}};
        auto families = matching_families(member_of(*reply, "families"), expression ? &*expression : nullptr);
        if (families.empty() && (options.grep || options.family)) return nothing_there(options);
        return context.show_list(std::move(families), layout);
    }
    auto text = text_of(*reply, "text");
    if (expression) text = matching_lines(text, *expression);
    if (text.empty() && (options.grep || options.family)) return nothing_there(options);
    context.out() << escaped_lines(text, R"(\\u)"); // in a label a backslash is written twice
    return Exit::Ok;
}

} // namespace

void define_metrics(Command root, Context& context) {
    const auto metrics = root.sub("metrics", "the daemon's numbers, in the text form of Prometheus");
    const auto options = std::make_shared<MetricOptions>();
    metrics.option("--grep", options->grep, "only lines that this regular expression matches").value("RE");
    metrics.option("--family", options->family, "only families whose name begins so, such as yunikorn_queue")
        .value("PREFIX");
    metrics.run([&context, options] { return show_metrics(context, *options); });
}

} // namespace yk::cli
