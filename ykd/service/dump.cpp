// Dump (interface.md 5.2): pictures of partitions, made on their owner threads, encoded here page by page.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

#include "libcore/config/names.h"
#include "ykd/service/daemon.h"
#include "ykd/service/dump_kinds.h"
#include "ykd/service/dump_making.h"
#include "ykd/service/dump_pages.h"
#include "ykd/service/dump_plain.h"
#include "ykd/service/dump_targets.h"
#include "ykd/service/event_replies.h"
#include "ykd/service/gather.h"
#include "ykd/service/services.h"

namespace yk::service {
namespace {

/// Of one request.
constexpr std::size_t kMostNames = 1000;
/// An ask or allocation has at least so many bytes in an answer: what cannot fit is not made.
constexpr std::size_t kSmallestObject = 78;

DumpQuery read_query(wire::BodyReader& reader) {
    DumpQuery query;
    query.what = reader.text("what", wire::Presence::Required);
    query.partition = reader.text("partition", wire::Presence::Optional, wire::TextRule::Queue);
    query.rm_id = reader.text("rmID");
    query.queue = config::lower(reader.text("queue", wire::Presence::Optional, wire::TextRule::Queue));
    query.subtree = reader.flag("subtree");
    if (reader.flag("flat") && query.what == "queues") query.what = kFlatQueues;
    const std::uint32_t objects = reader.u32("objects", std::numeric_limits<std::uint32_t>::max());
    query.most = reader.flag("brief") ? 0 : objects;
    query.key = reader.text("allocationKey");
    if (reader.has("names")) query.names = reader.texts("names");
    query.application = reader.text("application");
    query.node = reader.text("node");
    query.user = reader.text("user");
    query.group = reader.text("group");
    query.state = config::lower(reader.text("state"));
    query.status = config::lower(reader.text("status"));
    query.limit = std::max(1U, reader.u32("limit", 1000));
    query.cursor = reader.text("cursor");
    return query;
}

void answer(const CallPtr& call, const Value& data) {
    answer_dump(call, call->daemon().now(), {}, {}, wire::encoded_value(data));
}

void answer_single(const CallPtr& call, const DumpKind& kind, const DumpSnapshot& snapshot) {
    const DumpPart* holder = nullptr;
    std::vector<std::string> partitions;
    for (const DumpPart& part : snapshot.parts) {
        if (kind.count(part) == 0) continue;
        holder = &part;
        partitions.push_back(fmt::format("[{}]{}", part.rm_id, part.partition));
    }
    if (holder == nullptr) { // C-476
        std::string what{kind.what};
        what.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(what.front())));
        return call->fail(ErrorCode::NotFound, what + " not found");
    }
    if (partitions.size() > 1)
        return call->fail(ErrorCode::Invalid,
                          fmt::format("it is in several partitions, name one: {}", fmt::join(partitions, ", ")),
                          "partition");
    std::string element = kind.encode(*holder, 0, false);
    if (element.size() > dump_room(*call)) element = kind.encode(*holder, 0, true); // without its lists
    answer_dump(call, snapshot.as_of, {}, {}, element);
}

void refuse_what(const CallPtr& call, const std::string& what) {
    if (what == "recovery") // waits for later work
        return call->fail(ErrorCode::Invalid, fmt::format("dump {} is not part of this version of ykd", what), "what");
    call->fail(
        ErrorCode::Invalid,
        fmt::format(
            "there is no dump \"{}\"; there are partitions, queues, queue, apps, app, asks, allocations, nodes, node, "
            "users, user, groups, group, reservations, rules, config, confighistory, clusters, utilization, history, "
            "loglevels, "
            "streams, events, full",
            what),
        "what");
}

bool check_query(const CallPtr& call, const DumpQuery& query) {
    const auto missing = [&](const char* field) {
        call->fail(ErrorCode::MissingField, fmt::format("dump {} needs {}", query.what, field), field);
        return false;
    };
    if (query.what == "queue" && query.queue.empty()) return missing("queue");
    if (query.what == "app" && query.application.empty()) return missing("application");
    if (query.what == "node" && query.node.empty()) return missing("node");
    if (query.what == "user" && query.user.empty()) return missing("user");
    if (query.what == "group" && query.group.empty()) return missing("group");
    if (query.what == "user" && query.user != "*" && !config::is_user_name(query.user)) { // C-476
        call->fail(ErrorCode::Invalid, "Invalid user name", "user");
        return false;
    }
    if (query.what == "group" && query.group != "*" && !config::is_group_name(query.group)) {
        call->fail(ErrorCode::Invalid, "Invalid group name", "group");
        return false;
    }
    if (query.names && query.what != "apps" && query.what != "nodes") {
        call->fail(ErrorCode::Invalid, fmt::format("dump {} takes no names; apps and nodes do", query.what), "names");
        return false;
    }
    if (query.names && query.names->size() > kMostNames) {
        call->fail(ErrorCode::Limit,
                   fmt::format("{} names; at most {} of one request", query.names->size(), kMostNames), "names");
        return false;
    }
    if (query.what == "apps" && !query.state.empty() && query.state != "active" && query.state != "completed" &&
        query.state != "rejected") {
        call->fail(ErrorCode::Invalid, "state is active, completed or rejected", "state");
        return false;
    }
    return true;
}

void dump_everything(const CallPtr& call, const DumpQuery& query, std::vector<DumpTarget> targets) {
    const bool started =
        make_full_dump(viewer_of(*call), query, std::move(targets), [call](const std::optional<Value>& everything) {
            if (everything) return answer(call, *everything);
            call->fail(ErrorCode::TooLarge,
                       "the answer is larger than the peer's message limit; ask for it with brief, and for the rest "
                       "in pages");
        });
    if (!started) call->busy("another full dump is being made", 1000);
}

void answer_next_page(const CallPtr& call, const DumpKind& kind, const DumpQuery& query) {
    const auto place = call->daemon().snapshots().find(call->session->sid, query.cursor);
    if (place && place->snapshot && place->snapshot->what == query.what)
        return answer_page(call, kind, place->snapshot, place->start, query);
    if (place && place->live && place->live->query.what == query.what)
        return answer_live_page(call, kind, *place->live, query);
    call->fail(ErrorCode::NotFound, "the cursor is unknown or older than 5 minutes; start again without", "cursor");
}

LivePlace live_begin(const DumpQuery& query, const std::vector<DumpTarget>& targets) {
    LivePlace begin;
    begin.query = query;
    for (const DumpTarget& target : targets)
        for (const std::string& partition : target.partitions) begin.targets.push_back({target.rm->id, partition});
    return begin;
}

EventFilter events_seen_by(const Call& call) {
    EventFilter all;
    all.viewer = call.session;
    return all;
}

/// `events-NEXT-END`: a cursor that nothing is kept for. The pages end with what was the newest at the first.
std::optional<std::pair<std::uint64_t, std::uint64_t>> event_place(const std::string& cursor) {
    constexpr std::string_view kName = "events-";
    if (cursor.rfind(kName, 0) != 0) return std::nullopt;
    std::uint64_t next = 0, end = 0;
    const char* const last = cursor.data() + cursor.size();
    const auto first = std::from_chars(cursor.data() + kName.size(), last, next);
    if (first.ec != std::errc{} || first.ptr == last || *first.ptr != '-') return std::nullopt;
    const auto second = std::from_chars(first.ptr + 1, last, end);
    if (second.ec != std::errc{} || second.ptr != last || end <= next) return std::nullopt;
    return std::pair{next, end};
}

void dump_events(const CallPtr& call, const DumpQuery& query) {
    const auto place = event_place(query.cursor);
    if (!place && !query.cursor.empty())
        return call->fail(ErrorCode::NotFound, "this is no cursor of events; start again without", "cursor");
    const std::uint64_t start = place ? place->first : 0;
    const std::uint64_t count = place ? std::min<std::uint64_t>(query.limit, place->second - start) : query.limit;
    const EventBatch batch = event_batch(call, start, count, events_seen_by(*call));
    const std::uint64_t end = place ? place->second : batch.end;
    const std::string cursor = batch.next < end ? fmt::format("events-{}-{}", batch.next, end) : std::string{};
    answer_dump(call, call->daemon().now(), cursor, {}, batch.reply.view());
}

} // namespace

void dump(const CallPtr& call) {
    const Value body = wire::decode_value(call->envelope.body);
    wire::BodyReader reader(body);
    DumpQuery query = read_query(reader);
    query.most = std::min(query.most, dump_room(*call) / kSmallestObject);
    // The lists of one object are made in one piece; who wants longer ones asks for asks and allocations.
    if (query.what != "full") query.most = std::min(query.most, kPiece);
    if (!call->accepts(reader) || !check_query(call, query) || !check_visible(call, query)) return;
    const DumpKind* kind = find_dump_kind(query.what);
    if (kind != nullptr && !query.cursor.empty()) return answer_next_page(call, *kind, query);
    bool answered = false;
    if (const auto data = plain_dump(call, query, &answered)) return answer(call, *data);
    if (answered) return;
    if (query.what == "events") return dump_events(call, query);
    const bool full = query.what == "full";
    if (kind == nullptr && !full) return refuse_what(call, query.what);
    auto targets = find_targets(call, query);
    if (!targets) return;
    if (full) return dump_everything(call, query, std::move(*targets));
    if (kind->go_on == nullptr || query.names)
        return make_snapshot(call->daemon(), query, kind->collect, std::move(*targets),
                             [call, kind, query](const SnapshotPtr& snapshot) {
                                 if (kind->single) return answer_single(call, *kind, *snapshot);
                                 answer_page(call, *kind, snapshot, 0, query);
                             });
    const LivePlace begin = live_begin(query, *targets);
    make_small_snapshot(call->daemon(), query, kind->collect, std::move(*targets),
                        [call, kind, begin, query](const SnapshotPtr& snapshot) {
                            if (snapshot) return answer_page(call, *kind, snapshot, 0, query);
                            answer_live_page(call, *kind, begin, query);
                        });
}

} // namespace yk::service
