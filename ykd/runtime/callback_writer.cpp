// SPDX-License-Identifier: Apache-2.0
#include "ykd/runtime/callback_writer.h"

#include <algorithm>
#include <utility>

#include "libcore/base/check.h"
#include "libcore/base/text.h"
#include "protocol/si/request_item.h"

namespace yk {
namespace {

using wire::Packer;

constexpr std::string_view kNew = "new";
constexpr std::size_t kMaxMerged = 1000;   // elements per item
constexpr std::size_t kMaxTogether = 1000; // elements of several lists in one item
constexpr std::size_t kMaxMessage = 4096;  // bytes of a text for people (I-006)

std::string_view message_text(std::string_view text) {
    return cut(text, kMaxMessage);
}

/// Writes the head of an item with one list: a map of one pair, its key and the head of a list of `count` elements.
void set_list_head(OutItem& item, std::string_view name, std::size_t count) {
    wire::Buffer head;
    Packer packer(head);
    packer.map(1);
    packer.text(name);
    packer.list(count);
    YK_CHECK(head.size() <= item.head.size(), "the head of a list item fits its room");
    std::copy_n(head.data(), head.size(), item.head.begin());
    item.head_size = static_cast<std::uint8_t>(head.size());
}

void pack_resource(Packer& packer, const NamedResource& resource) {
    std::size_t count = 0;
    resource.for_each([&](std::string_view, std::int64_t) { ++count; });
    packer.map(count);
    resource.for_each([&](std::string_view name, std::int64_t value) {
        packer.text(name);
        packer.integer(value);
    });
}

void pack_texts(Packer& packer, std::span<const std::string_view> texts) {
    packer.list(texts.size());
    for (const std::string_view text : texts) packer.text(text);
}

void pack_tags(Packer& packer, std::span<const Tag> tags) {
    packer.map(tags.size());
    for (const Tag& tag : tags) {
        packer.text(tag.key);
        packer.text(tag.value);
    }
}

/// By resource: those of a resource stand together.
void pack_devices(Packer& packer, std::span<const AllocatedDevice> devices) {
    const auto end_of = [&](std::size_t at) {
        const auto begin = devices.begin() + static_cast<std::ptrdiff_t>(at);
        const auto end = std::find_if(begin, devices.end(),
                                      [&](const AllocatedDevice& each) { return each.resource != begin->resource; });
        return static_cast<std::size_t>(end - devices.begin());
    };
    std::size_t resources = 0;
    for (std::size_t at = 0; at < devices.size(); at = end_of(at)) ++resources;
    packer.map(resources);
    for (std::size_t at = 0; at < devices.size();) {
        const std::size_t end = end_of(at);
        packer.text(devices[at].resource);
        packer.list(end - at);
        for (; at < end; ++at) {
            packer.map(2);
            packer.key("index");
            packer.natural(devices[at].on.index);
            packer.key("amount");
            packer.integer(devices[at].on.amount);
        }
    }
}

/// An Allocation with every field, also those with default values (I-031); devices where it has some.
void pack_allocation(Packer& packer, const NewAllocation& allocation) {
    packer.map(allocation.devices.empty() ? 12 : 13);
    packer.field("allocationKey", allocation.key);
    packer.field("applicationID", allocation.application);
    packer.field("partitionName", allocation.partition);
    packer.field("taskGroupName", allocation.task_group);
    packer.key("placeholder");
    packer.boolean(allocation.placeholder);
    packer.key("allocationTags");
    pack_tags(packer, allocation.tags);
    packer.key("resourcePerAlloc");
    pack_resource(packer, allocation.resource);
    packer.key("priority");
    packer.integer(allocation.priority);
    packer.field("nodeID", allocation.node);
    packer.key("originator");
    packer.boolean(allocation.originator);
    packer.key("preemptionPolicy");
    packer.map(2);
    packer.key("allowPreemptSelf");
    packer.boolean(allocation.allow_preempt_self);
    packer.key("allowPreemptOther");
    packer.boolean(allocation.allow_preempt_other);
    packer.field("queueName", allocation.queue);
    if (allocation.devices.empty()) return;
    packer.key("devices");
    pack_devices(packer, allocation.devices);
}

void pack_released(Packer& packer, const ReleasedAllocation& released) {
    packer.map(5);
    packer.field("partitionName", released.partition);
    packer.field("applicationID", released.application);
    packer.field("allocationKey", released.key);
    packer.key("terminationType");
    packer.natural(static_cast<std::uint64_t>(released.type));
    packer.field("message", message_text(released.message));
}

void pack_code(Packer& packer, ElementCode code) {
    packer.key("code");
    packer.natural(static_cast<std::uint64_t>(code));
}

/// Which element it was that was refused, for an RM that keeps books, behind the Request (I-269).
template <bool kEchoes, class Refused>
ElementIndex element_of(const Refused& refused) {
    return kEchoes ? refused.element : ElementIndex{};
}

void pack_element(Packer& packer, const ElementIndex& element) {
    if (!element) return;
    packer.key("element");
    packer.natural(*element);
}

template <bool kEchoes>
void pack_rejected(Packer& packer, const RejectedAsk& rejected) {
    const ElementIndex element = element_of<kEchoes>(rejected);
    packer.map(element ? 6 : 5);
    packer.field("allocationKey", rejected.key);
    packer.field("applicationID", rejected.application);
    packer.field("reason", message_text(rejected.reason));
    packer.field("partitionName", rejected.partition);
    pack_code(packer, rejected.code);
    pack_element(packer, element);
}

void pack_ignored(Packer& packer, const IgnoredRelease& ignored) {
    packer.map(5);
    packer.field("partitionName", ignored.partition);
    packer.field("applicationID", ignored.application);
    packer.field("allocationKey", ignored.key);
    packer.field("reason", message_text(ignored.reason));
    pack_code(packer, ignored.code);
}

void pack_accepted(Packer& packer, const AcceptedApplication& accepted) {
    packer.map(3);
    packer.field("applicationID", accepted.id);
    packer.field("partitionName", accepted.partition);
    packer.field("queueName", accepted.queue);
}

template <bool kEchoes>
void pack_rejected_application(Packer& packer, const RejectedApplication& rejected) {
    const ElementIndex element = element_of<kEchoes>(rejected);
    packer.map(element ? 5 : 4);
    packer.field("applicationID", rejected.id);
    packer.field("reason", message_text(rejected.reason));
    packer.field("partitionName", rejected.partition);
    pack_code(packer, rejected.code);
    pack_element(packer, element);
}

void pack_node(Packer& packer, const AcceptedNode& node) {
    packer.map(2);
    packer.field("nodeID", node.id);
    packer.field("partitionName", node.partition);
}

template <bool kEchoes>
void pack_rejected_node(Packer& packer, const RefusedNode& node) {
    const ElementIndex element = element_of<kEchoes>(node);
    packer.map(element ? 5 : 4);
    packer.field("nodeID", node.id);
    packer.field("reason", message_text(node.reason));
    packer.field("partitionName", node.partition);
    pack_code(packer, node.code);
    pack_element(packer, element);
}

template <bool kEchoes>
void pack_failed_node(Packer& packer, const RefusedNode& node) {
    const ElementIndex element = element_of<kEchoes>(node);
    packer.map(element ? 6 : 5);
    packer.field("nodeID", node.id);
    packer.key("action");
    packer.natural(static_cast<std::uint64_t>(node.action));
    packer.field("reason", message_text(node.reason));
    packer.field("partitionName", node.partition);
    pack_code(packer, node.code);
    pack_element(packer, element);
}

template <class T>
struct NamedList {
    std::string_view name;
    std::span<const T> elements;
    void (*write)(Packer&, const T&);

    void pack(Packer& packer) const {
        if (elements.empty()) return;
        packer.text(name);
        packer.list(elements.size());
        for (const T& element : elements) write(packer, element);
    }
};
template <class T>
NamedList(std::string_view, std::span<const T>, void (*)(Packer&, const T&)) -> NamedList<T>;

} // namespace

std::vector<OutItem> CallbackWriter::take() {
    thread_.assert_here();
    close();
    return std::exchange(items_, {});
}

void CallbackWriter::discard() {
    thread_.assert_here();
    items_.clear();
    open_.clear();
    cached_.clear();
    open_count_ = cached_count_ = 0;
    confirmations_.clear();
    calls_.clear();
    request_ = kNoRequest;
}

/// For an RM that keeps a predicate cache, the item for that cache comes before the item with new allocations, and
/// after the item with released ones (I-131).
void CallbackWriter::close() {
    const auto push = [&](std::string_view kind, std::string_view list, std::size_t& count, wire::Buffer& elements) {
        if (count == 0) return;
        OutItem item;
        item.kind = kind;
        item.at = now_;
        set_list_head(item, list, std::exchange(count, 0));
        item.body = wire::Buffer(elements.view());
        elements.clear(); // its memory serves the next list, which would have to grow into pages that are new to it
        items_.push_back(std::move(item));
    };
    const bool made = open_list_ == kNew;
    if (made) push(si::item::kReSyncSchedulerCache, "assumedAllocations", cached_count_, cached_);
    push(open_kind_, open_list_, open_count_, open_);
    if (!made) push(si::item::kReSyncSchedulerCache, "forgetAllocations", cached_count_, cached_);
}

template <class Write>
void CallbackWriter::merge(std::string_view kind, std::string_view list, Write write) {
    if (kind != open_kind_ || list != open_list_ || open_count_ == kMaxMerged) close();
    open_kind_ = kind;
    open_list_ = list;
    const std::size_t before = open_.size();
    Packer packer(open_);
    write(packer);
    if (before != 0 && open_.size() > kMaxItemBytes) { // the element begins the next item
        const std::string next{open_.view().substr(before)};
        open_.truncate(before);
        close();
        open_.append(next);
    }
    ++open_count_;
}

OutItem& CallbackWriter::add(std::string_view kind) {
    close();
    items_.emplace_back();
    items_.back().kind = kind;
    items_.back().at = now_;
    return items_.back();
}

/// One item with one list, or several of the same kind when it would grow too large.
template <class T, class Write>
void CallbackWriter::add_list(std::string_view kind, std::string_view name, std::span<const T> elements, Write write) {
    std::size_t done = 0;
    while (done < elements.size()) {
        OutItem& item = add(kind);
        Packer packer(item.body);
        std::size_t count = 0;
        for (; done < elements.size() && item.body.size() < kMaxItemBytes; ++done, ++count)
            write(packer, elements[done]);
        set_list_head(item, name, count);
    }
}

void CallbackWriter::allocation_made(const NewAllocation& allocation) noexcept {
    thread_.assert_here();
    merge(si::item::kUpdateAllocation, kNew, [&](Packer& packer) { pack_allocation(packer, allocation); });
    if (!interest_.resync_cache) return;
    ++cached_count_;
    Packer assumed(cached_);
    assumed.map(2);
    assumed.field("allocationKey", allocation.key);
    assumed.field("nodeID", allocation.node);
}

/// The RM's cache is to forget allocations whose release is final; a release that the RM has yet to confirm is not
/// (I-131).
void CallbackWriter::allocations_released(std::span<const ReleasedAllocation> released) noexcept {
    thread_.assert_here();
    for (const ReleasedAllocation& one : released) {
        merge(si::item::kUpdateAllocation, "released", [&](Packer& packer) { pack_released(packer, one); });
        if (interest_.resync_cache && one.type == TerminationType::StoppedByRm) {
            ++cached_count_;
            Packer forgotten(cached_);
            forgotten.map(1);
            forgotten.field("allocationKey", one.key);
        }
        if (interest_.confirm_releases && one.type != TerminationType::Unknown &&
            one.type != TerminationType::StoppedByRm)
            confirmations_.push_back({std::string(one.partition), std::string(one.application), std::string(one.key),
                                      static_cast<si::TerminationType>(one.type), "confirmed for a detached RM"});
    }
}

void CallbackWriter::asks_rejected(std::span<const RejectedAsk> rejected, bool placements) noexcept {
    thread_.assert_here();
    add_list(si::item::kUpdateAllocation, placements ? "rejectedAllocations" : "rejected", rejected,
             echoes() ? pack_rejected<true> : pack_rejected<false>);
}

void CallbackWriter::releases_ignored(std::span<const IgnoredRelease> ignored) noexcept {
    thread_.assert_here();
    if (interest_.report_ignored) add_list(si::item::kUpdateAllocation, "ignoredReleases", ignored, pack_ignored);
}

/// One item with all lists that are not empty; items for each list when that one would grow too large.
template <class... List>
void CallbackWriter::add_lists(std::string_view kind, const List&... lists) {
    const std::size_t filled = (static_cast<std::size_t>(!lists.elements.empty()) + ...);
    if (filled >= 2 && (lists.elements.size() + ...) <= kMaxTogether) {
        Packer packer(add(kind).body);
        packer.map(filled);
        (lists.pack(packer), ...);
        if (items_.back().body.size() <= kMaxItemBytes) return;
        items_.pop_back();
    }
    (add_list(kind, lists.name, lists.elements, lists.write), ...);
}

void CallbackWriter::applications_answered(std::span<const AcceptedApplication> accepted,
                                           std::span<const RejectedApplication> rejected) noexcept {
    thread_.assert_here();
    add_lists(
        si::item::kUpdateApplication, NamedList{"accepted", accepted, pack_accepted}, // both in one callback (I-165)
        NamedList{"rejected", rejected, echoes() ? pack_rejected_application<true> : pack_rejected_application<false>});
}

void CallbackWriter::application_updated(const UpdatedApplication& updated) noexcept {
    thread_.assert_here();
    merge(si::item::kUpdateApplication, "updated", [&](Packer& packer) {
        packer.map(5);
        packer.field("applicationID", updated.id);
        packer.field("state", updated.state);
        packer.key("stateTransitionTimestamp");
        packer.integer(updated.at.ns);
        packer.field("message", message_text(updated.message));
        packer.field("partitionName", updated.partition);
    });
}

void CallbackWriter::nodes_answered(std::span<const AcceptedNode> accepted, std::span<const RefusedNode> rejected,
                                    std::span<const RefusedNode> failed) noexcept {
    thread_.assert_here();
    add_lists(si::item::kUpdateNode, NamedList{"accepted", accepted, pack_node},
              NamedList{"rejected", rejected, echoes() ? pack_rejected_node<true> : pack_rejected_node<false>},
              NamedList{"failed", failed, echoes() ? pack_failed_node<true> : pack_failed_node<false>});
}

void CallbackWriter::ask_outstanding(std::string_view application, std::string_view key,
                                     std::string_view reason) noexcept {
    thread_.assert_here();
    if (!interest_.container_state) return;
    OutItem& item = add(si::item::kUpdateContainerSchedulingState);
    item.item_class = ItemClass::LatestWins;
    item.key.append(application).append(1, '\0').append(key);
    Packer packer(item.body);
    packer.map(4);
    packer.field("applicationID", application);
    packer.field("allocationKey", key);
    packer.key("state");
    packer.natural(4); // FAILED, which asks for scale-up (I-055)
    packer.field("reason", message_text(reason));
}

OutItem& CallbackWriter::add_call(std::string_view item_kind, std::uint64_t call, CallKind kind, Duration ttl) {
    OutItem& item = add(item_kind);
    item.item_class = ItemClass::Expiring;
    item.call = call;
    item.ttl = static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::milliseconds>(ttl).count());
    calls_.push_back({call, kind});
    return item;
}

/// Writes a PredicatesBatch: on which of these nodes may the ask run (I-051)?
void CallbackWriter::predicates_wanted(const PredicatesCall& call) noexcept {
    thread_.assert_here();
    Packer packer(add_call(si::item::kPredicates, call.call, CallKind::Predicates, interest_.predicate_ttl).body);
    packer.map(5);
    packer.field("allocationKey", call.key);
    packer.field("applicationID", call.application);
    packer.field("partitionName", call.partition);
    packer.key("allocate");
    packer.boolean(call.allocate);
    packer.key("nodes");
    pack_texts(packer, call.nodes);
}

/// Writes PreemptionPredicatesArgs: after the removal of how many victims may the ask run on the node?
void CallbackWriter::preemption_wanted(const PreemptionCall& call) noexcept {
    thread_.assert_here();
    Packer packer(
        add_call(si::item::kPreemptionPredicates, call.call, CallKind::PreemptionPredicates, interest_.preemption_ttl)
            .body);
    packer.map(6);
    packer.field("allocationKey", call.key);
    packer.field("applicationID", call.application);
    packer.field("partitionName", call.partition);
    packer.field("nodeID", call.node);
    packer.key("preemptAllocationKeys");
    pack_texts(packer, call.victims);
    packer.key("startIndex");
    packer.integer(call.start);
}

/// The item is reliable: it is delivered even when the time limit of the call is over (docs/spec/interface.md 4.8).
void CallbackWriter::config_to_store(std::uint64_t call, std::string_view text) {
    thread_.assert_here();
    OutItem& item = add_call(si::item::kUpdateConfiguration, call, CallKind::ConfigStore, kConfigStoreLimit);
    item.item_class = ItemClass::Reliable;
    Packer packer(item.body);
    packer.map(1);
    packer.field("configs", text);
}

void CallbackWriter::state_wanted(std::uint64_t call) {
    thread_.assert_here();
    Packer(add_call(si::item::kGetStateDump, call, CallKind::StateDump, kStateDumpLimit).body).map(0);
}

/// Its head, with the number of answers, is written by request_answered().
void CallbackWriter::request(std::string_view kind, bool impersonated, std::string_view body) {
    thread_.assert_here();
    Packer packer(add(si::item::kRequest).body);
    packer.field("kind", kind);
    packer.key("impersonated");
    packer.boolean(impersonated);
    packer.key("body");
    packer.raw(body);
    request_ = items_.size() - 1;
}

void CallbackWriter::request_answered() {
    thread_.assert_here();
    close();
    YK_CHECK(request_ < items_.size() && items_[request_].kind == si::item::kRequest,
             "nothing is taken between a request and its answers");
    const auto is_answer = [](const OutItem& item) {
        return item.kind == si::item::kUpdateAllocation || item.kind == si::item::kUpdateApplication ||
               item.kind == si::item::kUpdateNode;
    };
    const auto answers = std::count_if(items_.begin() + static_cast<std::ptrdiff_t>(request_), items_.end(), is_answer);
    wire::Buffer head;
    Packer packer(head);
    packer.map(4);
    packer.key("answers");
    packer.natural(static_cast<std::uint64_t>(answers));
    OutItem& item = items_[std::exchange(request_, kNoRequest)];
    YK_CHECK(head.size() <= item.head.size(), "the head of a request fits its place");
    std::copy_n(head.data(), head.size(), item.head.begin());
    item.head_size = static_cast<std::uint8_t>(head.size());
}

void CallbackWriter::notice(std::string_view code, std::string_view message, std::string_view details) {
    thread_.assert_here();
    Packer packer(add(si::item::kNotice).body);
    packer.map(details.empty() ? 2 : 3);
    packer.field("code", code);
    packer.field("message", message_text(message));
    if (details.empty()) return;
    packer.key("details");
    packer.raw(details);
}

void CallbackWriter::recovery_report(std::string_view report) {
    thread_.assert_here();
    Packer{add(si::item::kRecoveryReport).body}.raw(report);
}

void CallbackWriter::events(std::string_view records, const EventSpan& sent, const EventSpan& lost) {
    thread_.assert_here();
    OutItem& item = add(si::item::kSendEvent);
    item.item_class = ItemClass::CountedLoss;
    item.events = sent;
    item.events.add(lost); // when the item is dropped, what it reports as lost is lost, too
    Packer packer(item.body);
    packer.map(lost.records == 0 ? 2 : 4);
    packer.key("records");
    packer.list(sent.records);
    packer.raw(records);
    packer.key("lost");
    packer.natural(lost.records);
    if (lost.records == 0) return;
    packer.key("lostFirstID");
    packer.natural(lost.first_id);
    packer.key("lostLastID");
    packer.natural(lost.last_id);
}

} // namespace yk
