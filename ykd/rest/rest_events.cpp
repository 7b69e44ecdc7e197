// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/rest_events.h"

#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "protocol/si/tool_requests.h"
#include "ykd/rest/rest_documents.h"

namespace yk::service {
namespace {

using wire::Value;

constexpr auto kStreamWait = std::chrono::seconds{2}; // after which it is seen whether the client is still there

struct Number {
    std::uint64_t value = 0;
    std::optional<std::string> fault; // in the original's words
};

/// A number in a query, as Go reads it. Empty counts as absent, which is `absent`.
Number number_in(const http::HttpRequest& request, const char* name, std::uint64_t absent) {
    const std::string text{request.parameter(name)};
    if (text.empty()) return {absent, std::nullopt};
    Number number;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number.value);
    const bool is_whole = end == text.data() + text.size();
    if (fault == std::errc{} && is_whole) return number;
    const char* const why =
        fault == std::errc::result_out_of_range && is_whole ? "value out of range" : "invalid syntax";
    number.fault = fmt::format("strconv.ParseUint: parsing {}: {}", json_text(text), why);
    return number;
}

/// Sends events as they come, a line for each.
class EventLines {
public:
    EventLines(std::shared_ptr<RestCaller> caller, Value opened)
        : caller_(std::move(caller)), reply_(std::move(opened)) {}

    bool operator()(http::AnswerSink& sink) {
        const Value head{{"InstanceUUID", reply_["InstanceUUID"]}};
        if (!sink.write(json_text(head) + "\n")) return false;
        si::EventStreamRequest request;
        request.stream_id = reply_["streamID"].get<std::string>();
        request.wait_ms = std::chrono::milliseconds{kStreamWait}.count();
        for (;;) {
            for (const Value& record : reply_["records"])
                if (!sink.write(json_text(rest_event(record)) + "\n")) return false;
            if (!sink.flush() || sink.is_over()) return false;
            request.after = reply_["nextID"].get<std::uint64_t>();
            RestReply next = caller_->ask(request);
            if (!next.ok) return next.code == si::ErrorCode::ShuttingDown;
            reply_ = std::move(next.body);
        }
    }

private:
    std::shared_ptr<RestCaller> caller_;
    Value reply_;
};

} // namespace

HttpAnswer events_answer(RestCaller& caller, const http::HttpRequest& asked) {
    const Number start = number_in(asked, "start", 0), count = number_in(asked, "count", 0);
    const bool has_count = !asked.parameter("count").empty();
    si::EventsRequest request;
    request.start = start.value;
    if (has_count && count.value != 0) request.count = count.value;
    RestReply reply = caller.ask(request);
    if (!reply.ok && reply.code == si::ErrorCode::BadState) return error_answer(500, "Event tracking is disabled");
    if (count.fault) return error_answer(400, *count.fault);
    if (has_count && count.value == 0) return error_answer(400, "0 is not a valid value for \"count\"");
    if (start.fault) return error_answer(400, *start.fault);
    if (!reply.ok) return refused(reply);
    Value records = Value::array();
    for (const Value& record : reply.body["EventRecords"]) records.push_back(rest_event(record));
    reply.body["EventRecords"] = records.empty() ? Value(nullptr) : std::move(records);
    return json_answer(reply.body);
}

HttpAnswer event_stream_answer(const RestPort& port, const http::HttpRequest& asked) {
    const Number count = number_in(asked, "count", 0);
    auto caller = std::make_shared<RestCaller>(port, "http " + asked.peer); // whom the limits of streams count
    si::EventStreamRequest request;
    request.count = count.value;
    RestReply reply = caller->ask(request);
    if (!reply.ok && reply.code == si::ErrorCode::BadState) return error_answer(500, "Event tracking is disabled");
    if (!reply.ok && reply.code == si::ErrorCode::Busy) return error_answer(503, "Too many streaming connections");
    if (count.fault) return error_answer(400, *count.fault);
    if (!reply.ok) return refused(reply);
    HttpAnswer answer = handler_answer(200);
    answer.never_compressed = true;
    answer.stream = EventLines(std::move(caller), std::move(reply.body));
    return answer;
}

} // namespace yk::service
