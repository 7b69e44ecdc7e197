// SPDX-License-Identifier: Apache-2.0
#include "ykd/observe/event_service.h"

#include <fmt/format.h>

#include <algorithm>

namespace yk::service {
namespace {

constexpr std::size_t kReplyOverhead = 4096; // bytes of a reply around its records

} // namespace

bool EventService::is_tracking(const CallPtr& call) const {
    if (parts_.ring.enabled()) return true;
    call->fail(ErrorCode::BadState, "event tracking is off (event.trackingEnabled)");
    return false;
}

void EventService::open_stream(const CallPtr& call, std::uint64_t count, const EventFilter& filter) {
    const ServiceSettings settings = parts_.effective.current().service;
    const std::uint64_t next = parts_.ring.next_id();
    const std::uint64_t lowest = parts_.ring.slice(0, 0).lowest;
    const std::uint64_t start = std::max(lowest, next - std::min(count, next));
    const auto slice = parts_.ring.slice(start, std::min(next - start, settings.response_size));
    const EncodedEvents events = encode_events(slice, filter, call->reply_limit() - kReplyOverhead);
    const std::string id =
        parts_.streams.open(*call->session, events.next, settings.max_streams, settings.max_streams_per_host);
    if (id.empty())
        return call->busy(fmt::format("there are as many event streams as may be (event.maxStreams {}, "
                                      "event.maxStreamsPerHost {}): end one, by Bye of its session, or raise these",
                                      settings.max_streams, settings.max_streams_per_host),
                          1000);
    answer_event_stream(call, parts_.identity.boot_id, id, events, slice.lost);
}

void EventService::events(const CallPtr& call) {
    const auto request = call->decode<si::EventsRequest>();
    if (!request) return;
    if (request->count == 0U) return call->fail(ErrorCode::Invalid, "count 0 asks for nothing", "count");
    if (!is_tracking(call)) return;
    const std::uint64_t most = parts_.effective.current().service.response_size;
    const auto slice = parts_.ring.slice(request->start, std::min(request->count.value_or(most), most));
    call->ok_encoded(event_batch(slice, parts_.identity.boot_id, filter_of(*call, request->filter),
                                 call->reply_limit() - kReplyOverhead)
                         .reply.view());
}

void EventService::event_stream(const CallPtr& call) {
    const auto request = call->decode<si::EventStreamRequest>();
    if (!request || !is_tracking(call)) return;
    const EventFilter filter = filter_of(*call, request->filter);
    if (request->stream_id.empty()) return open_stream(call, request->count, filter);
    const auto longest = std::chrono::duration_cast<std::chrono::milliseconds>(parts_.max_poll_wait);
    const auto wait =
        std::min(std::chrono::milliseconds{std::min<std::uint64_t>(request->wait_ms, 3'600'000)}, longest);
    parts_.streams.read(call, request->stream_id, request->after, filter, wait);
}

} // namespace yk::service
