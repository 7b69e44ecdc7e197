// SPDX-License-Identifier: Apache-2.0
#include "ykctl/output/recovery_text.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include <fmt/format.h>

#include "libcore/base/pluralize.h"
#include "ykctl/client/context.h"
#include "ykctl/render/table.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

/// A kind of object in a report: its key, and the noun for one of it.
struct Kind {
    const char* key;
    const char* noun;
};
constexpr Kind kKinds[] = {
    {"nodes", "node"}, {"applications", "application"}, {"allocations", "allocation"}, {"asks", "ask"}};

std::uint64_t natural_of(const Value& value, const char* key) {
    const Value& member = member_of(value, key);
    return member.is_number_integer() ? member.get<std::uint64_t>() : 0;
}

std::string short_partition(const Value& object) {
    const auto full = text_of(object, "partitionName");
    return printable(full.substr(full.find(']') + 1));
}

/// `recovery r1 of rm-1, attempt 1: retry after 4s`; the attempt is left out when there was none in time.
std::string headline(const Value& report) {
    const auto attempt = natural_of(report, "attempt");
    return fmt::format("recovery {} of {}{}: {} after {}", printable(text_of(report, "id")),
                       printable(text_of(report, "rmID")), attempt > 0 ? fmt::format(", attempt {}", attempt) : "",
                       printable(text_of(report, "result")),
                       duration_text(std::chrono::milliseconds{number_of(report, "durationMs")}));
}

/// Whether the digests of a kind are equal; the report says nothing about asks, which have none.
const Value& digest_match(const Value& report, const Kind& kind) {
    return member_of(member_of(report, "digestMatch"), kind.key);
}

std::string count_text(const Value& report, const Kind& kind) {
    const Value& pair = member_of(member_of(report, "counts"), kind.key);
    const Value& match = digest_match(report, kind);
    return fmt::format("{} of {}{}", natural_of(pair, "actual"), pluralize(natural_of(pair, "expected"), kind.noun),
                       match.is_boolean() && !match.get<bool>() ? " (another digest)" : "");
}

/// What is wrong beside the counts and digests, a part for each kind of fault.
std::vector<std::string> fault_texts(const Value& report) {
    std::vector<std::string> texts;
    if (const auto count = member_of(report, "incompleteNodes").size(); count > 0)
        texts.push_back(pluralize(count, "incomplete node"));
    if (const auto count = natural_of(report, "quarantineTotal"); count > 0)
        texts.push_back(pluralize(count, "object") + " quarantined");
    if (const auto count = natural_of(report, "unusedTombstones"); count > 0)
        texts.push_back(pluralize(count, "release") + " of what was never reported");
    for (const Value& fault : member_of(report, "faults"))
        if (fault.is_string()) texts.push_back(printable(fault.get<std::string>()));
    return texts;
}

std::string counts_table(const Value& report, const Style& style) {
    Table table{{{"KIND"}, {"EXPECTED", Align::Right}, {"THERE", Align::Right}, {"DIGEST"}}};
    for (const Kind& kind : kKinds) {
        const Value& pair = member_of(member_of(report, "counts"), kind.key);
        if (!pair.is_object()) continue;
        const auto expected = natural_of(pair, "expected"), actual = natural_of(pair, "actual");
        const Value& match = digest_match(report, kind);
        const auto there = std::to_string(actual);
        table.add({kind.key, std::to_string(expected), expected == actual ? there : style.red(there),
                   !match.is_boolean() ? "-"
                   : match.get<bool>() ? "equal"
                                       : style.red("differs")});
    }
    return table.text(style);
}

/// What the RM stated about nodes and what is there; empty when nothing differs.
std::string nodes_table(const Value& report, const Style& style) {
    Table table{{{"INCOMPLETE NODE"}, {"PARTITION"}, {"ALLOCATIONS"}, {"MISSING"}, {"SURPLUS"}}};
    for (const Value& node : member_of(report, "incompleteNodes")) {
        table.add(
            {printable(text_of(node, "nodeID")), short_partition(node),
             fmt::format("{} of {}", natural_of(node, "actualAllocations"), natural_of(node, "expectedAllocations")),
             resource_text(member_of(node, "missing")), resource_text(member_of(node, "surplus"))});
    }
    return table.empty() ? std::string{} : "\n" + table.text(style);
}

/// An object by its ids: `app-1/alloc-1 on node-1`.
std::string object_text(const Value& object) {
    std::vector<std::string> ids;
    for (const char* key : {"applicationID", "allocationKey"})
        if (auto id = text_of(object, key); !id.empty()) ids.push_back(printable(id));
    const auto node = printable(text_of(object, "nodeID"));
    if (ids.empty()) return node;
    return join(ids, "/") + (node.empty() ? "" : " on " + node);
}

std::string quarantine_table(const Value& report, const Style& style) {
    Table table{{{"QUARANTINED"}, {"PARTITION"}, {"REASON"}, {"SINCE"}}};
    for (const Value& object : member_of(report, "quarantine")) {
        auto kind = printable(text_of(object, "kind"));
        if (kind.ends_with('s')) kind.pop_back();
        table.add({kind + " " + object_text(object), short_partition(object), printable(text_of(object, "reason")),
                   time_text(number_of(object, "since"))});
    }
    return table.empty() ? std::string{} : "\n" + table.text(style);
}

/// What the tables do not say.
std::string notes(const Value& report) {
    std::string text;
    if (flag_of(report, "truncated"))
        text += fmt::format("the lists are cut: {} quarantined in all\n",
                            pluralize(natural_of(report, "quarantineTotal"), "object"));
    if (const auto count = natural_of(report, "unusedTombstones"); count > 0)
        text += pluralize(count, "release") + " of what was never reported\n";
    for (const Value& fault : member_of(report, "faults"))
        if (fault.is_string()) text += "fault: " + printable(fault.get<std::string>()) + "\n";
    return text.empty() ? text : "\n" + text;
}

std::string way_out(const Value& report) {
    const auto result = text_of(report, "result");
    const auto rm = printable(text_of(report, "rmID"));
    if (result == "retry")
        return fmt::format("\nsend what is missing, release what is surplus (ykctl recovery list KIND {0}), then\n"
                           "  ykctl recovery done {0} --id {1} --attempt {2}\n",
                           rm, printable(text_of(report, "id")), natural_of(report, "attempt") + 1);
    if (result == "failed")
        return fmt::format("\nnothing is placed for {0}; go on, begin anew, take it as it is, or give up:\n"
                           "  ykctl recovery resolve retry|reset|accept|abort {0}\n",
                           rm);
    return {};
}

} // namespace

std::string recovery_sentence(const Value& report) {
    std::vector<std::string> counts;
    for (const Kind& kind : kKinds)
        if (member_of(member_of(report, "counts"), kind.key).is_object()) counts.push_back(count_text(report, kind));
    auto parts = fault_texts(report);
    parts.insert(parts.begin(), join(counts, ", "));
    return headline(report) + "; " + join(parts, "; ");
}

std::string recovery_report_text(const Value& report, const Style& style) {
    return headline(report) + "\n\n" + counts_table(report, style) + nodes_table(report, style) +
           quarantine_table(report, style) + notes(report) + way_out(report);
}

} // namespace yk::cli
