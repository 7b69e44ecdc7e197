// Dump (interface.md 5.2): pictures of partitions, made on their owner threads, encoded here page by page.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "libcore/config/names.h"
#include "ykd/runtime/event_encoding.h"
#include "ykd/service/daemon.h"
#include "ykd/service/dump_kinds.h"
#include "ykd/service/event_replies.h"
#include "ykd/service/gather.h"
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
    if (holder == nullptr) return call->fail(ErrorCode::NotFound, fmt::format("no such {}", kind.what));
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

// --- whose partitions ---------------------------------------------------------------------------

struct Target {
    RmPtr rm;
    std::vector<std::string> partitions; // short
};

/// I-410. Nothing: the call was answered.
std::optional<std::vector<Target>> find_targets(const CallPtr& call, const DumpQuery& query) {
    const PartitionName wanted = split_partition(query.partition);
    const std::string rm_id = query.rm_id.empty() ? std::string(wanted.rm) : query.rm_id;
    std::vector<Target> targets;
    std::vector<std::string> found;
    for (const RmPtr& rm : call->daemon().rms().all()) {
        if ((!rm_id.empty() && rm->id != rm_id) || rm->owner.state() == si::CoreState::New) continue;
        Target target{rm, {}};
        for (const std::string& full : rm->facts().partitions) {
            const std::string name(split_partition(full).name);
            if (!wanted.name.empty() && name != wanted.name) continue;
            target.partitions.push_back(name);
            found.push_back(full);
        }
        targets.push_back(std::move(target));
    }
    const auto fail = [&](ErrorCode code, const std::string& message, const char* path) {
        call->fail(code, message, path);
        return std::nullopt;
    };
    if (!rm_id.empty() && targets.empty())
        return fail(ErrorCode::NotFound, fmt::format("RM {} is not registered", rm_id), "rmID");
    if (wanted.name.empty()) return targets;
    if (found.empty())
        return fail(ErrorCode::NotFound, fmt::format("there is no partition {}", query.partition), "partition");
    if (found.size() > 1)
        return fail(ErrorCode::Invalid,
                    fmt::format("several RMs have this partition, name one: {}", fmt::join(found, ", ")), "partition");
    return targets;
}

struct Picture {
    Instant as_of;
    std::vector<DumpPart> parts;
};

/// Makes the snapshot on the owner threads and goes on with it on a worker.
void make_snapshot(const CallPtr& call, const DumpQuery& query, decltype(DumpKind::collect) collect,
                   std::vector<Target> targets, std::function<void(SnapshotPtr)> done) {
    std::vector<RmPtr> rms;
    auto names = std::make_shared<std::map<std::string, std::vector<std::string>>>();
    for (Target& target : targets) {
        rms.push_back(target.rm);
        (*names)[target.rm->id] = std::move(target.partitions);
    }
    const auto ask = [names, query, collect](RmOwner& owner) {
        Picture picture{owner.now(), {}};
        if (owner.context() == nullptr) return picture;
        for (const std::string& name : names->at(owner.rm_id())) {
            DumpPart part{owner.rm_id(), name, {}, {}, {}, {}, {}, {}};
            collect(*owner.context(), query, part);
            picture.parts.push_back(std::move(part));
        }
        return picture;
    };
    gather<Picture>(call->daemon().workers(), std::move(rms), Lane::Control, ask,
                    [call, what = query.what, done = std::move(done)](std::vector<Gathered<Picture>> all) {
                        auto snapshot = std::make_shared<DumpSnapshot>();
                        snapshot->what = what;
                        snapshot->as_of = all.empty() ? call->daemon().now() : Instant{};
                        for (auto& [rm, picture] : all) {
                            snapshot->as_of = std::max(snapshot->as_of, picture.as_of);
                            for (DumpPart& part : picture.parts) snapshot->parts.push_back(std::move(part));
                        }
                        done(std::move(snapshot));
                    });
}

// --- dumps without a picture --------------------------------------------------------------------

std::vector<RmPtr> registered(const CallPtr& call, const std::string& rm_id) {
    std::vector<RmPtr> rms = call->daemon().rms().all();
    std::erase_if(rms, [&](const RmPtr& rm) {
        return !rm->facts().configuration || rm->owner.state() == si::CoreState::New ||
               (!rm_id.empty() && rm->id != rm_id);
    });
    return rms;
}

Value config_values(const CallPtr& call, const DumpQuery& query) {
    Value list = Value::array();
    Value extra = Value::object();
    for (const auto& [key, text] : call->daemon().extra_config().effective()) extra[key] = text;
    for (const RmPtr& rm : registered(call, query.rm_id)) {
        const RmFacts facts = rm->facts();
        Value value = configuration_value(*facts.configuration);
        value["checksum"] = facts.configuration->checksum;
        value["extra"] = extra;
        value["rmID"] = rm->id;
        value["policyGroup"] = facts.policy_group;
        list.push_back(std::move(value));
    }
    return list;
}

Value cluster_values(const CallPtr& call, const DumpQuery& query) {
    Value list = Value::array();
    for (const RmPtr& rm : registered(call, query.rm_id)) {
        const RmFacts facts = rm->facts();
        Value build = Value::object();
        for (const auto& [key, text] : facts.build_info) build[key] = text;
        build["rmId"] = rm->id;
        for (const std::string& full : facts.partitions)
            list.push_back({{"startTime", facts.registered_at.ns},
                            {"rmBuildInformation", Value::array({build})},
                            {"partition", split_partition(full).name},
                            {"clusterName", facts.policy_group}});
    }
    return list;
}

Value stream_values(const CallPtr& call, const DumpQuery& query) {
    Value list = Value::array();
    for (const RmPtr& rm : registered(call, query.rm_id)) {
        const StreamStatus stream = rm->owner.stream().status();
        list.push_back({{"rmID", rm->id},
                        {"epoch", stream.epoch},
                        {"next", stream.next},
                        {"ack", stream.ack},
                        {"backlog", stream.backlog},
                        {"items", stream.items},
                        {"bytes", stream.bytes},
                        {"congested", stream.congested},
                        {"pollParked", stream.poll_parked},
                        {"detached", rm->is_detached()},
                        {"since", rm->facts().registered_at.ns}});
    }
    for (const EventStreams::Info& one : call->daemon().event_streams().all())
        list.push_back({{"streamID", one.id}, {"client", one.client}, {"next", one.next}, {"since", one.since.ns}});
    return list;
}

Value full_value(const CallPtr& call, const DumpSnapshot& snapshot) {
    Value partitions = Value::array(), queues = Value::array(), applications = Value::array(), nodes = Value::array(),
          reservations = Value::array(), rules = Value::array();
    for (const DumpPart& part : snapshot.parts) {
        if (part.info) partitions.push_back(partition_value(*part.info));
        for (const QueueView& queue : part.queues) queues.push_back(queue_value(queue, part.partition));
        for (std::size_t i = 0; i < part.applications.size(); ++i) applications.push_back(application_of(part, i));
        Value of_partition = Value::array();
        for (const NodeView& node : part.nodes) of_partition.push_back(node_value(node));
        nodes.push_back(
            {{"partitionName", part.partition}, {"clusterId", part.rm_id}, {"nodesInfo", std::move(of_partition)}});
        for (const ReservationView& one : part.reservations)
            reservations.push_back(reservation_value(one, part.partition, part.rm_id));
        Value of_rules = Value::array();
        for (const RuleView& rule : part.rules) of_rules.push_back(rule_value(rule));
        rules.push_back({{"partition", part.partition}, {"clusterId", part.rm_id}, {"rules", std::move(of_rules)}});
    }
    const Bytes16& boot = call->daemon().boot_id();
    return {{"timestamp", snapshot.as_of.ns},      {"bootID", uuid_text(boot)},
            {"partitions", std::move(partitions)}, {"applications", std::move(applications)},
            {"nodes", std::move(nodes)},           {"clusterInfo", cluster_values(call, {})},
            {"queues", std::move(queues)},         {"config", config_values(call, {})},
            {"placementRules", std::move(rules)},  {"reservations", std::move(reservations)},
            {"streams", stream_values(call, {})}};
}

/// True when `what` is one of them and the call was answered.
bool answer_without_picture(const CallPtr& call, const DumpQuery& query) {
    if (query.what == "config") {
        Value list = config_values(call, query);
        answer(call, list.size() == 1 ? list.front() : list);
    } else if (query.what == "clusters") {
        answer(call, cluster_values(call, query));
    } else if (query.what == "streams") {
        answer(call, stream_values(call, query));
    } else if (query.what == "events") {
        const wire::Buffer data = event_batch(call, 0, query.limit);
        answer(call, call->daemon().now(), {}, {}, data.view());
    } else {
        return false;
    }
    return true;
}

/// Parts of the table of 5.2 that wait for later work.
constexpr std::array<std::string_view, 6> kLater{"users", "user", "groups", "group", "history", "recovery"};

void refuse_what(const CallPtr& call, const std::string& what) {
    if (std::find(kLater.begin(), kLater.end(), what) != kLater.end())
        return call->fail(ErrorCode::Invalid, fmt::format("dump {} is not part of this version of ykd", what), "what");
    call->fail(ErrorCode::Invalid,
               fmt::format("there is no dump \"{}\"; there are partitions, queues, queue, apps, app, nodes, node, "
                           "reservations, rules, "
                           "config, clusters, utilization, streams, events, full",
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
    if (query.what == "apps" && !query.state.empty() && query.state != "active" && query.state != "completed" &&
        query.state != "rejected") {
        call->fail(ErrorCode::Invalid, "state is active, completed or rejected", "state");
        return false;
    }
    return true;
}

} // namespace

void dump(const CallPtr& call) {
    const Value body = wire::decode_value(call->envelope.body);
    wire::BodyReader reader(body);
    const DumpQuery query = read_query(reader);
    if (!call->accepts(reader) || !check_query(call, query)) return;
    const DumpKind* kind = find_dump_kind(query.what);
    if (kind != nullptr && !query.cursor.empty()) {
        const auto place = call->daemon().snapshots().find(call->session->sid, query.cursor);
        if (!place || place->snapshot->what != query.what)
            return call->fail(ErrorCode::NotFound, "the cursor is unknown or older than 30 s; start again without",
                              "cursor");
        return answer_page(call, *kind, *place, query.limit);
    }
    if (answer_without_picture(call, query)) return;
    const bool full = query.what == "full";
    if (kind == nullptr && !full) return refuse_what(call, query.what);
    auto targets = find_targets(call, query);
    if (!targets) return;
    make_snapshot(call, query, full ? collect_everything : kind->collect, std::move(*targets),
                  [call, kind, limit = query.limit](const SnapshotPtr& snapshot) {
                      if (kind == nullptr) return answer(call, full_value(call, *snapshot));
                      if (kind->single) return answer_single(call, *kind, *snapshot);
                      answer_page(call, *kind, {snapshot, 0}, limit);
                  });
}

} // namespace yk::service
