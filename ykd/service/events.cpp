// Events, EventStream (interface.md 7.4, 7.5).

#include <fmt/format.h>

#include <algorithm>

#include "ykd/service/daemon.h"
#include "ykd/service/services.h"

namespace yk::service {
namespace {

constexpr std::size_t kReplyRoom = 4096;

bool is_tracking(const CallPtr& call) {
    if (call->daemon().ring().enabled()) return true;
    call->fail(ErrorCode::BadState, "event tracking is off (event.trackingEnabled)");
    return false;
}

/// The first call of a stream: `count` past records, then whatever comes.
void open_stream(const CallPtr& call, std::uint64_t count, const EventFilter& filter) {
    Daemon& daemon = call->daemon();
    const ServiceSettings settings = daemon.current_settings().service;
    const std::uint64_t next = daemon.ring().next_id();
    const std::uint64_t lowest = daemon.ring().slice(0, 0).lowest;
    const std::uint64_t start = std::max(lowest, next - std::min(count, next));
    const auto slice = daemon.ring().slice(start, std::min(next - start, settings.response_size));
    const EncodedEvents events = encode_events(slice, filter, daemon.reply_limit(call->session.get()) - kReplyRoom);
    const std::string id =
        daemon.event_streams().open(*call->session, events.next, settings.max_streams, settings.max_streams_per_host);
    if (id.empty())
        return call->busy(fmt::format("too many event streams (event.maxStreams {}, per client {})",
                                      settings.max_streams, settings.max_streams_per_host),
                          1000);
    answer_event_stream(call, id, events, slice.lost);
}

} // namespace

void events(const CallPtr& call) {
    const Value body = wire::decode_value(call->envelope.body);
    wire::BodyReader reader(body);
    const std::uint64_t start = reader.u64("start");
    const std::uint64_t count = reader.u64("count");
    const EventFilter filter = read_filter(*call, reader);
    if (reader.has("count") && count == 0) reader.fail(ErrorCode::Invalid, "count", "count 0 asks for nothing");
    if (!call->accepts(reader) || !is_tracking(call)) return;
    call->ok_encoded(event_batch(call, start, count, filter).reply.view());
}

void event_stream(const CallPtr& call) {
    Daemon& daemon = call->daemon();
    const Value body = wire::decode_value(call->envelope.body);
    wire::BodyReader reader(body);
    const auto id = reader.optional_text("streamID");
    const std::uint64_t count = reader.u64("count");
    const std::uint64_t after = reader.u64("after");
    const std::uint64_t wait_ms = reader.u64("waitMs", 10'000);
    const EventFilter filter = read_filter(*call, reader);
    if (!call->accepts(reader) || !is_tracking(call)) return;
    if (!id || id->empty()) return open_stream(call, count, filter);
    const auto longest = std::chrono::duration_cast<std::chrono::milliseconds>(daemon.settings().max_poll_wait);
    const auto wait = std::min(std::chrono::milliseconds{std::min<std::uint64_t>(wait_ms, 3'600'000)}, longest);
    daemon.event_streams().read(call, *id, reader.has("after") ? std::optional(after) : std::nullopt, filter, wait);
}

} // namespace yk::service
