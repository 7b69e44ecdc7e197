// SPDX-License-Identifier: Apache-2.0
#include "ykd/explain/explain_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace yk::service {
namespace {

/// A kind of explanation, by the request's `what`.
struct Row {
    std::string_view what;
    void (*explain)(const ExplainParts& parts, const CallPtr& call, wire::BodyReader& reader);
};

/// Explains app, ask or preemption, which share one function.
template <const char* kWhat>
void explain_pending(const ExplainParts& parts, const CallPtr& call, wire::BodyReader& reader) {
    explain_ask(parts, call, kWhat, reader);
}

constexpr char kApp[] = "app", kAsk[] = "ask", kPreemption[] = "preemption";

constexpr std::array<Row, 8> kRows{{{kApp, explain_pending<kApp>},
                                    {kAsk, explain_pending<kAsk>},
                                    {"queue", explain_queue},
                                    {"node", explain_node},
                                    {"user", explain_user},
                                    {"config", explain_config},
                                    {kPreemption, explain_pending<kPreemption>},
                                    {"placement", explain_placement}}};

} // namespace

void ExplainService::explain(const CallPtr& call) {
    const Value body = wire::decode_value(call->envelope.body);
    wire::BodyReader reader(body);
    const std::string what = reader.text("what", wire::Presence::Required);
    const auto row = std::find_if(kRows.begin(), kRows.end(), [&what](const Row& each) { return each.what == what; });
    if (row != kRows.end()) return row->explain(parts_, call, reader);
    reader.fail(
        ErrorCode::Invalid, "what",
        fmt::format("ykd explains app, ask, queue, node, user, config, preemption and placement, not \"{}\"", what));
    static_cast<void>(call->accepts(reader));
}

} // namespace yk::service
