// SPDX-License-Identifier: Apache-2.0
#include "ykd/dump/dump_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "libcore/config/names.h"
#include "ykd/dump/dump_kinds.h"
#include "ykd/dump/dump_targets.h"
#include "ykd/observe/event_replies.h"
#include "ykd/request/gather.h"

namespace yk::service {
namespace {

constexpr std::size_t kMostNames = 1000; // in one request
/// Bytes that an ask or allocation has at least in an answer, so that what cannot fit need not be made.
constexpr std::size_t kSmallestObject = 78;

DumpQuery query_of(si::DumpRequest&& request) {
    DumpQuery query{std::move(request)};
    if (query.flat && query.what == "queues") query.what = kFlatQueues;
    if (query.flat && query.what == "fragmentation") query.what = kNodeFragments;
    query.queue = config::lower(query.queue);
    query.state = config::lower(query.state);
    query.status = config::lower(query.status);
    query.most = query.brief ? 0 : query.objects;
    query.limit = std::max(1U, query.limit);
    return query;
}

void answer_single(const CallPtr& call, const DumpKind& kind, const DumpSnapshot& snapshot) {
    const DumpPart* holder = nullptr;
    std::vector<std::string> partitions;
    for (const DumpPart& part : snapshot.parts) {
        if (kind.count(part) == 0) continue;
        holder = &part;
        partitions.push_back(fmt::format("[{}]{}", part.rm_id, part.partition));
    }
    if (holder == nullptr) { // refused with the original's words (C-476)
        std::string what{kind.what};
        what.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(what.front())));
        return call->fail(ErrorCode::NotFound, what + " not found");
    }
    if (partitions.size() > 1)
        return call->fail(ErrorCode::Invalid,
                          fmt::format("it is in several partitions, name one: {}", fmt::join(partitions, ", ")),
                          "partition");
    std::string element = kind.encode(*holder, 0, false);
    if (element.size() > dump_limit(*call)) element = kind.encode(*holder, 0, true); // too large with its lists
    answer_dump(call, snapshot.as_of, {}, {}, element);
}

void refuse_what(const CallPtr& call, const std::string& what) {
    call->fail(
        ErrorCode::Invalid,
        fmt::format(
            "there is no dump \"{}\"; there are partitions, queues, queue, apps, app, asks, allocations, nodes, node, "
            "users, user, groups, group, reservations, rules, config, confighistory, configtext, clusters, "
            "utilization, fragmentation, history, loglevels, "
            "recovery, streams, events, full",
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
    if (query.what == "user" && query.user != "*" && !config::is_user_name(query.user)) { // as in the original (C-476)
        call->fail(ErrorCode::Invalid, "Invalid user name", "user");
        return false;
    }
    if (query.what == "group" && query.group != "*" && !config::is_group_name(query.group)) {
        call->fail(ErrorCode::Invalid, "Invalid group name", "group");
        return false;
    }
    if (query.names && query.what != "apps" && query.what != "nodes" && query.what != "configtext") {
        call->fail(ErrorCode::Invalid, fmt::format("dump {} takes no names; apps, nodes and configtext do", query.what),
                   "names");
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

LiveCursor live_begin(const DumpQuery& query, const std::vector<DumpTarget>& targets) {
    LiveCursor begin;
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

/// Reads a cursor `events-NEXT-END`, for which nothing is kept: the ids where the page begins and where the list ends.
/// The end is that of the ring when the first page was made.
std::optional<std::pair<std::uint64_t, std::uint64_t>> event_range(const std::string& cursor) {
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

} // namespace

void DumpService::answer(const CallPtr& call, const Value& data) {
    answer_dump(call, parts_.clock.now(), {}, {}, wire::encoded_value(data));
}

void DumpService::dump_everything(const CallPtr& call, const DumpQuery& query, std::vector<DumpTarget> targets) {
    const bool started = parts_.maker.make_full_dump(
        viewer_of(*call), query, std::move(targets), [this, call](const std::optional<Value>& everything) {
            if (everything) return answer(call, *everything);
            call->fail(ErrorCode::TooLarge,
                       "the answer is larger than the peer's message limit; ask for it with brief, and for the rest "
                       "in pages");
        });
    if (!started) call->busy("another full dump is being made", 1000);
}

void DumpService::answer_next_page(const CallPtr& call, const DumpKind& kind, const DumpQuery& query) {
    const auto found = parts_.snapshots.find(call->session->sid, query.cursor);
    if (found && found->snapshot && found->snapshot->what == query.what)
        return parts_.pager.answer_page(call, kind, found->snapshot, found->start, query);
    if (found && found->live && found->live->query.what == query.what)
        return parts_.pager.answer_live_page(call, kind, *found->live, query);
    call->fail(ErrorCode::NotFound, "the cursor is unknown or older than 5 minutes; start again without", "cursor");
}

void DumpService::dump_events(const CallPtr& call, const DumpQuery& query) {
    const auto range = event_range(query.cursor);
    if (!range && !query.cursor.empty())
        return call->fail(ErrorCode::NotFound, "this is no cursor of events; start again without", "cursor");
    const std::uint64_t start = range ? range->first : 0;
    const std::uint64_t count = range ? std::min<std::uint64_t>(query.limit, range->second - start) : query.limit;
    const std::uint64_t most = parts_.effective.current().service.response_size;
    const EventBatch batch = event_batch(parts_.ring.slice(start, std::min(count, most)), parts_.identity.boot_id,
                                         events_seen_by(*call), dump_limit(*call));
    const std::uint64_t end = range ? range->second : batch.end;
    const std::string cursor = batch.next < end ? fmt::format("events-{}-{}", batch.next, end) : std::string{};
    answer_dump(call, parts_.clock.now(), cursor, {}, batch.reply.view());
}

void DumpService::dump(const CallPtr& call) {
    auto request = call->decode<si::DumpRequest>();
    if (!request) return;
    DumpQuery query = query_of(*std::move(request));
    query.most = std::min(query.most, dump_limit(*call) / kSmallestObject);
    // The lists of one object are made in one chunk; longer ones are asked for as dumps of asks and allocations.
    if (query.what != "full") query.most = std::min(query.most, kChunk);
    if (!check_query(call, query) || !check_visible(call, query)) return;
    const DumpKind* kind = find_dump_kind(query.what);
    if (kind != nullptr && !query.cursor.empty()) return answer_next_page(call, *kind, query);
    const bool recovery = query.what == RecoveryDump::kWhat;
    if (recovery && !query.cursor.empty()) return parts_.recovery.answer_next(call, query);
    if (const PlainDumps::Answer plain = parts_.plain.make(call, query); plain.is_plain) {
        if (plain.data) answer(call, *plain.data);
        return;
    }
    if (query.what == "events") return dump_events(call, query);
    const bool full = query.what == "full";
    if (kind == nullptr && !full && !recovery) return refuse_what(call, query.what);
    auto targets = find_targets(parts_.rms, call, query);
    if (!targets) return;
    if (recovery) return parts_.recovery.answer(call, query, *targets);
    if (full) return dump_everything(call, query, std::move(*targets));
    if (kind->go_on == nullptr || query.names)
        return parts_.maker.make_snapshot(query, kind->collect, std::move(*targets),
                                          [this, call, kind, query](const SnapshotPtr& snapshot) {
                                              if (kind->single) return answer_single(call, *kind, *snapshot);
                                              parts_.pager.answer_page(call, *kind, snapshot, 0, query);
                                          });
    const LiveCursor begin = live_begin(query, *targets);
    parts_.maker.make_small_snapshot(query, kind->collect, std::move(*targets),
                                     [this, call, kind, begin, query](const SnapshotPtr& snapshot) {
                                         if (snapshot) return parts_.pager.answer_page(call, *kind, snapshot, 0, query);
                                         parts_.pager.answer_live_page(call, *kind, begin, query);
                                     });
}

} // namespace yk::service
