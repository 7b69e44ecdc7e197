// SPDX-License-Identifier: Apache-2.0
#include "ykd/observe/event_streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace yk::service {
namespace {

constexpr auto kIdle = std::chrono::seconds{60}; // a stream without a call for this long is closed (I-633)
constexpr std::size_t kReplyOverhead = 4096;     // bytes of a reply around its records

} // namespace

void answer_event_stream(const CallPtr& call, const Bytes16& boot_id, const std::string& id,
                         const EncodedEvents& events, std::uint64_t lost) {
    wire::Buffer head;
    wire::Packer packer(head);
    packer.map(5);
    packer.field("streamID", id);
    packer.field("InstanceUUID", uuid_text(boot_id));
    packer.key("nextID");
    packer.natural(events.next);
    packer.key("lost");
    packer.natural(lost);
    packer.key("records");
    packer.list(events.count);
    const std::array<std::string_view, 2> parts{head.view(), events.list.view()};
    call->ok_parts(parts);
}

std::string EventStreams::open(const Session& session, std::uint64_t next, std::uint64_t max_all,
                               std::uint64_t max_per_client) {
    sweep();
    const std::lock_guard lock(mutex_);
    if (!has_capacity(session, max_all, max_per_client))
        std::erase_if(streams_, [](const auto& one) { return one.second.left; });
    if (!has_capacity(session, max_all, max_per_client)) return {};
    std::string id = fmt::format("events-{}", ++last_id_);
    streams_[id] =
        Stream{session.grant.name, session.sid, next, real_now(), SteadyClock::now(), false, nullptr, {}, {}};
    return id;
}

bool EventStreams::has_capacity(const Session& session, std::uint64_t max_all, std::uint64_t max_per_client) const {
    const auto of_client = std::count_if(streams_.begin(), streams_.end(),
                                         [&](const auto& entry) { return entry.second.client == session.grant.name; });
    const std::uint64_t kept = session.role == si::Role::Admin ? 0 : max_all / 10;
    return streams_.size() < max_all - kept && static_cast<std::uint64_t>(of_client) < max_per_client;
}

void EventStreams::session_ended(const wire::Sid& session) {
    const std::lock_guard lock(mutex_);
    std::erase_if(streams_, [&](const auto& entry) { return entry.second.session == session && !entry.second.parked; });
}

void EventStreams::read(const CallPtr& call, const std::string& id, std::optional<std::uint64_t> after,
                        EventFilter filter, SteadyClock::duration wait) {
    CallPtr older;
    {
        const std::lock_guard lock(mutex_);
        const auto found = streams_.find(id);
        if (found == streams_.end() || found->second.client != call->session->grant.name)
            return call->fail(ErrorCode::NotFound, "no such event stream, or it was idle for 60 s; open a new one",
                              "streamID");
        Stream& stream = found->second;
        stream.last_used = SteadyClock::now();
        stream.left = false;
        older = take_parked(stream);
        if (after) stream.next = *after;
        stream.filter = std::move(filter);
        if (finished_) return call->fail(ErrorCode::ShuttingDown, "the daemon is stopping");
        ++parked_; // before the ring is read: whoever appends afterwards then posts a delivery
        if (answer(id, stream, call, wait <= SteadyClock::duration{0})) {
            --parked_;
        } else if (call->peer().is_gone()) {
            --parked_;
            call->drop();
            stream.left = true;
        } else {
            stream.parked = call;
            stream.end_of_wait = deadlines_.call_after(wait, [this, id, name = call.get()] { wait_over(id, name); });
        }
    }
    if (older) older->fail(ErrorCode::Superseded, "a newer call of this event stream took over");
}

CallPtr EventStreams::take_parked(Stream& stream) {
    CallPtr parked = std::exchange(stream.parked, nullptr);
    if (!parked) return nullptr;
    --parked_;
    deadlines_.cancel(stream.end_of_wait);
    return parked;
}

bool EventStreams::answer(const std::string& id, Stream& stream, const CallPtr& call, bool even_empty) {
    const auto slice = ring_.slice(stream.next, effective_.current().service.response_size);
    const EncodedEvents events = encode_events(slice, stream.filter, call->reply_limit() - kReplyOverhead);
    if (events.count == 0 && slice.lost == 0 && !even_empty) {
        stream.next = std::max(stream.next, events.next); // what the filter left out is not examined again
        return false;
    }
    stream.next = events.next;
    stream.last_used = SteadyClock::now();
    answer_event_stream(call, identity_.boot_id, id, events, slice.lost);
    return true;
}

void EventStreams::deliver() {
    delivery_posted_ = false;
    const std::lock_guard lock(mutex_);
    for (auto& [id, stream] : streams_) {
        if (stream.parked && answer(id, stream, stream.parked, false)) take_parked(stream);
    }
}

void EventStreams::wait_over(const std::string& id, const Call* call) {
    const std::lock_guard lock(mutex_);
    const auto found = streams_.find(id);
    if (found == streams_.end() || found->second.parked.get() != call) return;
    const CallPtr parked = take_parked(found->second);
    answer(id, found->second, parked, true);
}

void EventStreams::disconnected(std::uint32_t connection) {
    const std::lock_guard lock(mutex_);
    for (auto& [id, stream] : streams_) {
        if (!stream.parked || stream.parked->peer().connection != connection) continue;
        take_parked(stream)->drop();
        stream.left = true;
    }
}

void EventStreams::sweep() {
    const std::lock_guard lock(mutex_);
    const auto now = SteadyClock::now();
    std::erase_if(streams_,
                  [now](const auto& entry) { return !entry.second.parked && now - entry.second.last_used >= kIdle; });
}

void EventStreams::finish() {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    for (auto& [id, stream] : streams_) {
        if (const CallPtr parked = take_parked(stream)) parked->fail(ErrorCode::ShuttingDown, "the daemon is stopping");
    }
}

std::vector<EventStreams::Info> EventStreams::all() const {
    const std::lock_guard lock(mutex_);
    std::vector<Info> infos;
    for (const auto& [id, stream] : streams_) infos.push_back({id, stream.client, stream.next, stream.since});
    return infos;
}

void EventStreams::clear() {
    const std::lock_guard lock(mutex_);
    for (auto& [id, stream] : streams_)
        if (const CallPtr parked = take_parked(stream)) parked->drop();
    streams_.clear();
}

} // namespace yk::service
