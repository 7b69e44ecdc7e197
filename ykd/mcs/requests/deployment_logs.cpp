// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/requests/deployment_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "libcore/mcs/replicas/application_requests.h"
#include "libcore/mcs/work_tags.h"
#include "protocol/mcs/schedule_text.h"
#include "protocol/work/output.h"
#include "ykd/mcs/requests/application_access.h"
#include "ykd/mcs/requests/output_text.h"

namespace yk::service {
namespace {

using wire::Value;

constexpr std::size_t kMostText = std::size_t{256} << 10; // bytes of an answer
constexpr std::size_t kMostReplicas = 1000;               // of one answer: each is a look at the disk

/// `REPLICA.ATTEMPT.OFFSET`: where in the output of which life of a replica.
struct Place {
    std::uint64_t replica = 0, attempt = 0, offset = 0;
};

std::string text_of(const Place& place) {
    return fmt::format("{}.{}.{}", place.replica, place.attempt, place.offset);
}

std::optional<Place> place_of(std::string_view text) {
    std::array<std::uint64_t, 3> numbers{};
    for (std::size_t at = 0; at < numbers.size(); ++at) {
        const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), numbers[at]);
        if (fault != std::errc{}) return std::nullopt;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        const bool is_last = at + 1 == numbers.size();
        if (is_last != text.empty() || (!is_last && text.front() != '.')) return std::nullopt;
        if (!is_last) text.remove_prefix(1);
    }
    return Place{numbers[0], numbers[1], numbers[2]};
}

/// A replica's output, and where it is.
struct Source {
    std::string folder, partition, application_id;
    std::vector<mcs::Placement> placements;
};

void answer_part(const CallPtr& call, const Source& source, const Place& place) {
    const std::string key = mcs::allocation_key_of(source.application_id, static_cast<std::int64_t>(place.replica),
                                                   static_cast<std::int64_t>(place.attempt));
    const std::string name = output_name(source.partition, source.application_id, key);
    const std::size_t most = std::min(kMostText, call->reply_limit() / 2);
    const auto part = work::read_output(source.folder, name, place.offset, most);
    if (!part.ok()) return call->fail(ErrorCode::BadState, "its output cannot be read: " + part.error().text());
    if (!*part)
        return call->fail(ErrorCode::NotFound,
                          fmt::format("there is no output of replica {}, attempt {}", place.replica, place.attempt),
                          "cursor");
    std::string text = output_text((*part)->text);
    const Place next{place.replica, place.attempt, std::min(place.offset, (*part)->size) + text.size()};
    call->ok({{"text", std::move(text)}, {"bytes", (*part)->size}, {"cursor", text_of(next)}});
}

void answer_list(const CallPtr& call, const Source& source) {
    Value items = Value::array();
    for (const mcs::Placement& each : source.placements) {
        if (items.size() == kMostReplicas) break;
        const std::string name = output_name(source.partition, source.application_id, each.allocation_key);
        const auto part = work::read_output(source.folder, name, 0, 0);
        const Place begin{static_cast<std::uint64_t>(each.replica), static_cast<std::uint64_t>(each.attempt), 0};
        items.push_back({{"replica", each.replica},
                         {"attempt", each.attempt},
                         {"state", mcs::name_of(each.state)},
                         {"cursor", text_of(begin)}});
        if (!each.node_id.empty()) items.back()["nodeID"] = each.node_id;
        if (part.ok() && *part) items.back()["bytes"] = (*part)->size;
    }
    call->ok({{"items", std::move(items)}});
}

/// False: the call was answered.
bool may_read(const CallPtr& call, const mcs::Deployment& row) {
    if (is_of_admin(*call)) return true;
    const auto submitter = row.tags->find(mcs::kSubmitterTag);
    if (submitter != row.tags->end() && submitter->second == submitter_of(*call)) return true;
    call->fail(ErrorCode::Forbidden, "the output of a command is for role admin, and for whoever gave the command");
    return false;
}

} // namespace

void read_logs(McsThread& mcs, Workers& workers, const CallPtr& call, const si::McsReadRequest& request) {
    const auto place = place_of(request.cursor);
    if (!place && !request.cursor.empty())
        return call->fail(ErrorCode::Invalid, "it is REPLICA.ATTEMPT.OFFSET, as an answer has it", "cursor");
    if (!mcs.settings().local.enabled)
        return call->fail(ErrorCode::BadState,
                          "this ykd runs no commands; the settings switch it on: mcs: {local: {enabled: true}}");
    with_application(mcs, call, [call, id = request.id, place, &mcs, &workers](McsApplication& application, Instant) {
        const auto row = application.find(id);
        if (!row) return call->fail(ErrorCode::NotFound, fmt::format("there is no deployment \"{}\"", id), "id");
        if (!may_read(call, *row)) return;
        const auto schedule = application.schedules().get(row->meta.id);
        if (!schedule) return call->ok({{"items", Value::array()}});
        const auto status = mcs::parse_schedule_status(schedule->status);
        Source source{output_folder(mcs.state_directory()),
                      status.ok() ? status->application.partition : *row->partition,
                      schedule->application_id,
                      {}};
        if (!place) source.placements = schedule->placements;
        workers.post(source_of(*call), [call, source = std::move(source), place] {
            place ? answer_part(call, source, *place) : answer_list(call, source);
        });
    });
}

} // namespace yk::service
