// SPDX-License-Identifier: Apache-2.0
#include "ykctl/output/item_text.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "protocol/si/enums.h"
#include "protocol/si/kinds.h"
#include "protocol/si/request_item.h"
#include "ykctl/cli/failure.h"
#include "ykctl/client/context.h"
#include "ykctl/output/recovery_text.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

template <class Enum>
std::string enum_text(std::int64_t number) {
    const auto text = number < 0 || number > 255 ? std::string_view{} : si::text(static_cast<Enum>(number));
    return text.empty() ? std::to_string(number) : std::string{text};
}

/// The names of the detail codes of events (interface.md 7.1).
constexpr std::array<std::pair<int, const char*>, 46> kDetails{
    {{0, "DETAILS_NONE"},         {100, "REQUEST_CANCEL"},
     {101, "REQUEST_ALLOC"},      {102, "REQUEST_TIMEOUT"},
     {200, "APP_ALLOC"},          {201, "APP_REQUEST"},
     {202, "APP_REJECT"},         {203, "APP_NEW"},
     {204, "APP_ACCEPTED"},       {205, "APP_STARTING"},
     {206, "APP_RUNNING"},        {207, "APP_COMPLETING"},
     {208, "APP_COMPLETED"},      {209, "APP_FAILING"},
     {210, "APP_FAILED"},         {211, "APP_RESUMING"},
     {212, "APP_EXPIRED"},        {213, "APP_CANNOTRUN_QUEUE"},
     {214, "APP_RUNNABLE_QUEUE"}, {215, "APP_CANNOTRUN_QUOTA"},
     {216, "APP_RUNNABLE_QUOTA"}, {300, "NODE_DECOMISSION"},
     {301, "NODE_READY"},         {302, "NODE_SCHEDULABLE"},
     {303, "NODE_ALLOC"},         {304, "NODE_CAPACITY"},
     {305, "NODE_OCCUPIED"},      {306, "NODE_RESERVATION"},
     {400, "QUEUE_CONFIG"},       {401, "QUEUE_DYNAMIC"},
     {402, "QUEUE_TYPE"},         {403, "QUEUE_MAX"},
     {404, "QUEUE_GUARANTEED"},   {405, "QUEUE_APP"},
     {406, "QUEUE_ALLOC"},        {407, "QUEUE_PREEMPTION"},
     {500, "ALLOC_CANCEL"},       {501, "ALLOC_PREEMPT"},
     {502, "ALLOC_TIMEOUT"},      {503, "ALLOC_REPLACED"},
     {504, "ALLOC_NODEREMOVED"},  {600, "UG_USER_LIMIT"},
     {601, "UG_GROUP_LIMIT"},     {602, "UG_APP_LINK"},
     {603, "UG_USER_RESOURCE"},   {604, "UG_GROUP_RESOURCE"}}};

std::string event_detail_text(std::int64_t number) {
    for (const auto& [known, text] : kDetails) {
        if (known == number) return text;
    }
    return std::to_string(number);
}

std::string allocation_id(const Value& element) {
    return printable(text_of(element, "applicationID") + "/" + text_of(element, "allocationKey"));
}

std::string refusal_text(const Value& element) {
    const auto name = element_code_name(number_of(element, "code"));
    return printable(text_of(element, "reason")) + (name.empty() ? "" : " (" + name + ")");
}

void add_each(const Value& body, const char* list, std::string& text, std::string (*line)(const Value&)) {
    for (const auto& element : member_of(body, list)) text += fmt::format("    {:<10} {}\n", list, line(element));
}

std::string placed_text(const Value& element) {
    return fmt::format("{} on {} in {}  {}", allocation_id(element), printable(text_of(element, "nodeID")),
                       printable(text_of(element, "queueName")), resource_text(member_of(element, "resourcePerAlloc")));
}

std::string released_text(const Value& element) {
    return fmt::format("{} {} {}", allocation_id(element),
                       enum_text<si::TerminationType>(number_of(element, "terminationType")),
                       printable(text_of(element, "message")));
}

std::string refused_allocation(const Value& element) {
    return allocation_id(element) + ": " + refusal_text(element);
}

std::string application_text(const Value& element) {
    const auto queue = text_of(element, "queueName");
    return printable(text_of(element, "applicationID")) + (queue.empty() ? "" : " in " + printable(queue));
}

std::string refused_application(const Value& element) {
    return printable(text_of(element, "applicationID")) + ": " + refusal_text(element);
}

std::string transition_text(const Value& element) {
    return fmt::format("{} {} ({})", printable(text_of(element, "applicationID")), printable(text_of(element, "state")),
                       printable(text_of(element, "message")));
}

std::string node_text(const Value& element) {
    return printable(text_of(element, "nodeID"));
}

/// `UpdateNode by another session: nodes 2`; the lists that are not empty, with how many elements each has.
std::string request_text(const Value& body) {
    const auto& update = member_of(body, "body");
    const auto& releases = member_of(update, "releases");
    std::string lists;
    const auto add = [&lists](const char* name, const Value& list) {
        if (!list.empty()) lists += fmt::format("{}{} {}", lists.empty() ? ": " : ", ", name, list.size());
    };
    for (const char* name : {"nodes", "new", "remove", "allocations", "asks"}) add(name, member_of(update, name));
    for (const char* name : {"allocationAsksToRelease", "allocationsToRelease"}) add(name, member_of(releases, name));
    return printable(text_of(body, "kind")) +
           (flag_of(body, "impersonated") ? " by another session" : " of the RM itself") + lists;
}

std::string refused_node(const Value& element) {
    return printable(text_of(element, "nodeID")) + ": " + refusal_text(element);
}

} // namespace

std::string item_line(const Value& item) {
    const auto kind = text_of(item, "kind");
    const auto& body = member_of(item, "body");
    auto text = fmt::format("{:>6} {} {}\n", number_of(item, "n"), time_text(number_of(item, "at")), printable(kind));
    if (kind == "UpdateAllocation") {
        add_each(body, "new", text, placed_text);
        add_each(body, "rejected", text, refused_allocation);
        add_each(body, "rejectedAllocations", text, refused_allocation);
        add_each(body, "released", text, released_text);
        add_each(body, "ignoredReleases", text, refused_allocation);
    } else if (kind == "UpdateApplication") {
        add_each(body, "accepted", text, application_text);
        add_each(body, "rejected", text, refused_application);
        add_each(body, "updated", text, transition_text);
    } else if (kind == "UpdateNode") {
        add_each(body, "accepted", text, node_text);
        add_each(body, "rejected", text, refused_node);
        add_each(body, "failed", text, refused_node);
    } else if (kind == si::item::kRequest) {
        text += "    " + request_text(body) + "\n";
    } else if (kind == si::item::kRecoveryReport) {
        text += "    " + recovery_sentence(body) + "\n";
    } else {
        text += "    " + printable(body.dump(-1, ' ', false, Value::error_handler_t::replace)) + "\n";
    }
    return text;
}

std::string event_type_text(const Value& record) {
    return enum_text<si::EventType>(number_of(record, "type"));
}

std::string event_partition(const Value& record) {
    const auto full = text_of(record, "partitionName");
    return full.substr(full.find(']') + 1);
}

std::string event_line(const Value& record, const EventWidths& widths) {
    const auto& size = member_of(record, "resource");
    std::string where;
    if (widths.rm > 0) where += fmt::format("{:<{}} ", or_dash(printable(text_of(record, "rmID"))), widths.rm);
    if (widths.partition > 0)
        where += fmt::format("{:<{}} ", or_dash(printable(event_partition(record))), widths.partition);
    return fmt::format("{:>6} {} {}{:<9} {:<6} {} {} {}{}\n", number_of(record, "eventID"),
                       time_text(number_of(record, "timestampNano")), where, event_type_text(record),
                       enum_text<si::EventChange>(number_of(record, "eventChangeType")),
                       event_detail_text(number_of(record, "eventChangeDetail")),
                       or_dash(printable(text_of(record, "objectID"))),
                       or_dash(printable(text_of(record, "referenceID"))),
                       (size.empty() ? "" : "  " + resource_text(size)) +
                           (text_of(record, "message").empty() ? "" : "  " + printable(text_of(record, "message"))));
}

} // namespace yk::cli
