// SPDX-License-Identifier: Apache-2.0
#include "ykd/dump/recovery_dump.h"

#include <algorithm>
#include <utility>

#include "libcore/reports/recovery.h"
#include "protocol/wire/codec.h"
#include "ykd/dump/dump_objects.h"
#include "ykd/dump/dump_pages.h"
#include "ykd/request/gather.h"

namespace yk::service {
namespace {

std::int64_t to_ms(Duration duration) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

Value counts_value(const RecoveryProgress& has) {
    return {{"nodes", has.nodes},
            {"applications", has.applications},
            {"allocations", has.allocations},
            {"asks", has.pending_asks}};
}

Value expected_value(const si::RecoveryCounts& expected) {
    Value value{
        {"nodes", expected.nodes}, {"applications", expected.applications}, {"allocations", expected.allocations}};
    if (expected.asks) value["asks"] = *expected.asks;
    return value;
}

/// The report without its lists, which the dump has anew.
Value brief_value(const si::RecoveryReport& report) {
    si::RecoveryReport brief = report;
    brief.buckets.reset();
    brief.incomplete_nodes.clear();
    brief.quarantine.clear();
    const std::string encoded = wire::encoded(brief);
    return wire::decode_value(wire::Body::of_scanned(encoded));
}

/// How many releases wait for what they name.
std::uint64_t tombstones_of(RmOwner& owner) {
    std::uint64_t count = 0;
    for (const std::string& name : owner.context()->partition_names())
        if (const PartitionState* state = owner.read(name)) count += state->recovery.tombstones.size();
    return count;
}

/// What is known of an RM's recovery, without the lists. Thread: the owner thread.
Value head_of(RmOwner& owner, const StateRecord::Reading& record) {
    Value head = state_value(owner.rm_id(), record);
    if (owner.context() == nullptr) return head;
    head["counts"] = counts_value(owner.gateway().recovery().progress());
    head["quarantineTotal"] = owner.gateway().recovery().progress().quarantined;
    head["tombstones"] = tombstones_of(owner);
    if (const auto status = owner.recovery().status()) {
        head["id"] = status->wish.id;
        head["attempt"] = status->attempt;
        head["lastsMs"] = to_ms(status->lasts);
        if (status->total_left) head["leftMs"] = to_ms(*status->total_left);
        if (status->idle_left) head["idleLeftMs"] = to_ms(*status->idle_left);
        if (status->wish.expected) head["expected"] = expected_value(*status->wish.expected);
    }
    if (const si::RecoveryReport* report = owner.recovery().last_report()) head["lastReport"] = brief_value(*report);
    return head;
}

Value quarantine_value(const QuarantineView& object) {
    Value value{{"kind", name_of(object.kind)},
                {"partitionName", object.partition},
                {"reason", text_of(object.reason)},
                {"since", object.since.ns}};
    if (!object.node.empty()) value["nodeID"] = object.node;
    if (!object.application.empty()) value["applicationID"] = object.application;
    if (!object.key.empty()) value["allocationKey"] = object.key;
    return value;
}

Value incomplete_value(const IncompleteNodeView& node) {
    return {{"nodeID", node.node},
            {"partitionName", node.partition},
            {"missing", resource_value(node.missing)},
            {"surplus", resource_value(node.surplus)},
            {"expectedAllocations", node.booked_allocations},
            {"actualAllocations", node.allocations}};
}

} // namespace

Value state_value(const std::string& rm_id, const StateRecord::Reading& record) {
    Value transitions = Value::array();
    record.transitions.for_each([&](si::CoreState from, si::CoreState to, std::uint64_t count) {
        transitions.push_back({{"from", static_cast<int>(from)}, {"to", static_cast<int>(to)}, {"count", count}});
    });
    return {{"rmID", rm_id},
            {"state", static_cast<int>(record.state)},
            {"since", record.since.ns},
            {"reason", record.reason},
            {"transitions", std::move(transitions)}};
}

/// Makes one page: a chunk on an owner thread, its encoding on a worker, and so on until the page is full.
/// Owner: the closure of its next step. Thread: one at a time.
class RecoveryDump::Page : public std::enable_shared_from_this<Page> {
public:
    Page(RecoveryDump& dump, CallPtr call, LiveCursor live, const DumpQuery& query)
        : dump_(dump),
          call_(std::move(call)),
          live_(std::move(live)),
          used_cursor_(query.cursor),
          left_(query.limit),
          bytes_left_(dump_limit(*call_)) {}

    void go_on() {
        for (; live_.target < live_.targets.size(); next_target()) {
            const RmPtr rm = dump_.parts_.rms.find(live_.targets[live_.target].rm_id);
            if (!rm) continue; // it left since the list began
            return rm->owner.control(
                [self = shared_from_this(), rm](RmOwner& owner) { self->take_chunk(owner, rm->owner.state_record()); },
                [self = shared_from_this()] { self->dump_.parts_.workers.post([self] { self->skip_target(); }); });
        }
        add_new_rms();
        finish();
    }

private:
    void next_target() {
        ++live_.target;
        live_.partition_cursor = {};
    }
    void skip_target() {
        next_target();
        go_on();
    }
    [[nodiscard]] RecoveryFaultsCursor cursor() const {
        const SnapshotCursor& at = live_.partition_cursor;
        return {at.view.next, at.stage == 1, at.view.after};
    }
    void set_cursor(const RecoveryFaultsCursor& cursor) {
        live_.partition_cursor.view.next = cursor.serial;
        live_.partition_cursor.stage = cursor.is_at_nodes ? 1 : 0;
        live_.partition_cursor.view.after = cursor.node;
    }

    void take_chunk(RmOwner& owner, const StateRecord::Reading& record) {
        if (live_.as_of == Instant{}) live_.as_of = owner.now();
        const LiveTarget& target = live_.targets[live_.target];
        head_ = target.rm_id == open_ ? Value{} : head_of(owner, record);
        found_ = {};
        next_ = cursor();
        std::size_t budget = kChunk;
        const PartitionState* state = owner.read(target.partition);
        last_ = state == nullptr || add_recovery_faults(*state, next_, budget, found_);
        dump_.parts_.workers.post([self = shared_from_this()] { self->encode(); });
    }

    void encode() {
        if (!open_rm()) return finish();
        if (!add_all("quarantine", found_.quarantine, quarantine_value) ||
            !add_all("incompleteNodes", found_.nodes, incomplete_value))
            return finish();
        set_cursor(next_);
        if (last_) next_target();
        if (left_ == 0) return finish();
        go_on();
    }
    /// Begins the entry of the RM at work, unless the page has it. False: it goes onto the next page.
    bool open_rm() {
        if (head_.is_null()) return true;
        std::size_t size = wire::encoded_value(head_).size() + kHeadReserve;
        if (size > bytes_left_ && data_.empty()) { // it must fit onto a page of its own
            head_.erase("lastReport");
            size = wire::encoded_value(head_).size() + kHeadReserve;
        }
        if (size > bytes_left_ && !data_.empty()) return false;
        bytes_left_ -= std::min(bytes_left_, size);
        head_["quarantine"] = Value::array();
        head_["incompleteNodes"] = Value::array();
        open_ = live_.targets[live_.target].rm_id;
        data_.push_back(std::move(head_));
        return true;
    }
    template <class Entry>
    bool add_all(const char* list, const std::vector<std::pair<Entry, RecoveryFaultsCursor>>& entries,
                 Value (*make)(const Entry&)) {
        for (const auto& [entry, behind] : entries) {
            Value value = make(entry);
            const std::size_t size = wire::encoded_value(value).size();
            if (left_ == 0 || (size > bytes_left_ && any_)) return false;
            any_ = true;
            --left_;
            bytes_left_ -= std::min(bytes_left_, size);
            data_.back()[list].push_back(std::move(value));
            set_cursor(behind);
        }
        return true;
    }
    /// Those of the settings that are not registered come last. Each takes few bytes.
    void add_new_rms() {
        const DumpQuery& query = live_.query;
        if (!query.partition.empty()) return;
        StateRecord::Reading record;
        record.reason = kNotRegistered;
        for (const std::string& id : new_rms(dump_.parts_.settings.known_rms, dump_.parts_.rms))
            if ((query.rm_id.empty() || query.rm_id == id) && call_->session->may_see(id))
                data_.push_back(state_value(id, record));
    }
    void finish() {
        std::string cursor;
        DumpSnapshots& kept = dump_.parts_.kept;
        if (live_.target < live_.targets.size())
            cursor = kept.keep({call_->session->sid, call_->session->grant.name},
                               {nullptr, 0, std::make_shared<const LiveCursor>(live_)}, used_cursor_);
        else
            kept.end(call_->session->sid, used_cursor_);
        if (live_.as_of == Instant{}) live_.as_of = dump_.parts_.clock.now();
        answer_dump(call_, live_.as_of, cursor, {}, wire::encoded_value(data_));
    }

    static constexpr std::size_t kHeadReserve = 64; // the two lists

    RecoveryDump& dump_;
    const CallPtr call_;
    LiveCursor live_;               // behind what is on the page
    const std::string used_cursor_; // of this page; empty: the first
    std::size_t left_;              // objects that still fit, and bytes
    std::size_t bytes_left_;
    Value data_ = Value::array();
    std::string open_; // the RM of the last entry
    bool any_ = false; // there is an object on the page
    // The last chunk.
    Value head_;
    RecoveryFaultsPage found_;
    RecoveryFaultsCursor next_;
    bool last_ = false;
};

void RecoveryDump::answer(const CallPtr& call, const DumpQuery& query, const std::vector<DumpTarget>& targets) {
    LiveCursor begin;
    begin.query = query;
    for (const DumpTarget& target : targets)
        for (const std::string& partition : target.partitions) begin.targets.push_back({target.rm->id, partition});
    std::make_shared<Page>(*this, call, std::move(begin), query)->go_on();
}

void RecoveryDump::answer_next(const CallPtr& call, const DumpQuery& query) {
    const auto found = parts_.kept.find(call->session->sid, query.cursor);
    if (!found || !found->live || found->live->query.what != query.what)
        return call->fail(ErrorCode::NotFound, "the cursor is unknown or older than 5 minutes; start again without",
                          "cursor");
    std::make_shared<Page>(*this, call, *found->live, query)->go_on();
}

} // namespace yk::service
