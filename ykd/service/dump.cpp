// Dump (interface.md 5.2): pictures of partitions, made on their owner threads, encoded here page by page.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "libcore/config/names.h"
#include "ykd/service/daemon.h"
#include "ykd/service/dump_kinds.h"
#include "ykd/service/dump_making.h"
#include "ykd/service/dump_plain.h"
#include "ykd/service/dump_targets.h"
#include "ykd/service/event_replies.h"
#include "ykd/service/services.h"

namespace yk::service {
namespace {

constexpr std::size_t kReplyRoom = 4096; // of a page's reply, around its data

DumpQuery read_query(wire::BodyReader& reader) {
    DumpQuery query;
    query.what = reader.text("what", wire::Presence::Required);
    query.partition = reader.text("partition", wire::Presence::Optional, wire::TextRule::Queue);
    query.rm_id = reader.text("rmID");
    query.queue = config::lower(reader.text("queue", wire::Presence::Optional, wire::TextRule::Queue));
    query.subtree = reader.flag("subtree");
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

// --- pages --------------------------------------------------------------------------------------

/// Encodes elements until the page is full; knows where the next one begins.
class Page {
public:
    Page(const DumpKind& kind, const DumpSnapshot& snapshot, std::size_t start, std::size_t limit,
         std::size_t max_bytes)
        : kind_(kind), snapshot_(snapshot), start_(start), end_(start + limit), max_bytes_(max_bytes) {}

    void encode() {
        std::size_t first = 0; // position of the part's first element
        for (const DumpPart& part : snapshot_.parts) {
            const std::size_t count = kind_.count(part);
            if (!full_) encode_part(part, first, count);
            first += count;
        }
        total_ = first;
    }
    [[nodiscard]] bool complete() const { return next_ >= total_; }
    [[nodiscard]] std::size_t next() const { return next_; }
    [[nodiscard]] std::size_t elements() const { return elements_; }
    [[nodiscard]] bool is_single_too_large() const { return too_large_; }
    [[nodiscard]] std::string_view bytes() const { return out_.view(); }

private:
    void encode_part(const DumpPart& part, std::size_t first, std::size_t count) {
        wire::Buffer list;
        std::size_t in_list = 0;
        next_ = std::max(next_, std::min(start_, first + count));
        for (std::size_t i = std::max(first, start_); i < first + count && !full_; ++i) {
            const std::string element = wire::encoded_value(kind_.encode(part, i - first));
            if (i >= end_ || (taken_ != 0 && used_ + element.size() > max_bytes_)) {
                full_ = true;
                break;
            }
            too_large_ = too_large_ || element.size() > max_bytes_;
            list.append(element);
            used_ += element.size();
            ++in_list;
            ++taken_;
            next_ = i + 1;
        }
        if (kind_.nest == nullptr) {
            out_.append(list.view());
            elements_ += in_list;
        } else if (in_list != 0 || (count == 0 && start_ == 0)) {
            nest(part, list, in_list);
        }
    }
    void nest(const DumpPart& part, const wire::Buffer& list, std::size_t in_list) {
        wire::Packer packer(out_);
        packer.map(3);
        packer.text(kind_.nest_name);
        packer.text(part.partition);
        packer.field("clusterId", part.rm_id);
        packer.text(kind_.nest);
        packer.list(in_list);
        packer.raw(list.view());
        ++elements_;
    }

    const DumpKind& kind_;
    const DumpSnapshot& snapshot_;
    const std::size_t start_, end_, max_bytes_;
    wire::Buffer out_;
    std::size_t elements_ = 0, taken_ = 0, used_ = 0, next_ = 0, total_ = 0;
    bool full_ = false, too_large_ = false;
};

/// {asOf, complete, cursor?, data} with `data` in encoded form.
void answer(const CallPtr& call, Instant as_of, const std::string& cursor, std::string_view data_head,
            std::string_view data) {
    wire::Buffer head;
    wire::Packer packer(head);
    packer.map(cursor.empty() ? 3 : 4);
    packer.key("asOf");
    packer.integer(as_of.ns);
    packer.key("complete");
    packer.boolean(cursor.empty());
    if (!cursor.empty()) packer.field("cursor", cursor);
    packer.key("data");
    packer.raw(data_head);
    const std::array<std::string_view, 2> pieces{head.view(), data};
    call->ok_pieces(pieces);
}

void answer(const CallPtr& call, const Value& data) {
    answer(call, call->daemon().now(), {}, {}, wire::encoded_value(data));
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
    answer(call, snapshot.as_of, {}, {}, wire::encoded_value(kind.encode(*holder, 0)));
}

void answer_page(const CallPtr& call, const DumpKind& kind, const PagePlace& place, std::size_t limit) {
    Daemon& daemon = call->daemon();
    const std::size_t room = daemon.reply_limit(call->session.get()) - kReplyRoom;
    Page page(kind, *place.snapshot, place.start, limit, room);
    page.encode();
    if (page.is_single_too_large())
        return call->fail(ErrorCode::TooLarge, "one element alone is larger than the peer's message limit");
    const std::string cursor =
        page.complete() ? std::string{} : daemon.snapshots().keep(call->session->sid, {place.snapshot, page.next()});
    wire::Buffer head;
    wire::Packer(head).list(page.elements());
    answer(call, place.snapshot->as_of, cursor, head.view(), page.bytes());
}

void refuse_what(const CallPtr& call, const std::string& what) {
    if (what == "recovery") // waits for later work
        return call->fail(ErrorCode::Invalid, fmt::format("dump {} is not part of this version of ykd", what), "what");
    call->fail(ErrorCode::Invalid,
               fmt::format(
                   "there is no dump \"{}\"; there are partitions, queues, queue, apps, app, nodes, node, users, user, "
                   "groups, "
                   "group, reservations, rules, config, confighistory, clusters, utilization, history, loglevels, "
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
    if (query.what == "apps" && !query.state.empty() && query.state != "active" && query.state != "completed" &&
        query.state != "rejected") {
        call->fail(ErrorCode::Invalid, "state is active, completed or rejected", "state");
        return false;
    }
    return true;
}

void dump_everything(const CallPtr& call, const DumpQuery& query, std::vector<DumpTarget> targets) {
    const bool started = make_full_dump(viewer_of(*call), query, std::move(targets),
                                        [call](const Value& everything) { answer(call, everything); });
    if (!started) call->busy("another full dump is being made", 1000);
}

} // namespace

void dump(const CallPtr& call) {
    const Value body = wire::decode_value(call->envelope.body);
    wire::BodyReader reader(body);
    const DumpQuery query = read_query(reader);
    if (!call->accepts(reader) || !check_query(call, query) || !check_visible(call, query)) return;
    const DumpKind* kind = find_dump_kind(query.what);
    if (kind != nullptr && !query.cursor.empty()) {
        const auto place = call->daemon().snapshots().find(call->session->sid, query.cursor);
        if (!place || place->snapshot->what != query.what)
            return call->fail(ErrorCode::NotFound, "the cursor is unknown or older than 30 s; start again without",
                              "cursor");
        return answer_page(call, *kind, *place, query.limit);
    }
    bool answered = false;
    if (const auto data = plain_dump(call, query, &answered)) return answer(call, *data);
    if (answered) return;
    if (query.what == "events")
        return answer(call, call->daemon().now(), {}, {}, event_batch(call, 0, query.limit).view());
    const bool full = query.what == "full";
    if (kind == nullptr && !full) return refuse_what(call, query.what);
    auto targets = find_targets(call, query);
    if (!targets) return;
    if (full) return dump_everything(call, query, std::move(*targets));
    make_snapshot(call->daemon(), query, kind->collect, std::move(*targets),
                  [call, kind, limit = query.limit](const SnapshotPtr& snapshot) {
                      if (kind->single) return answer_single(call, *kind, *snapshot);
                      answer_page(call, *kind, {snapshot, 0}, limit);
                  });
}

} // namespace yk::service
