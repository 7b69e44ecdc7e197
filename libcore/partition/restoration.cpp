// SPDX-License-Identifier: Apache-2.0
#include "libcore/partition/restoration.h"

#include <algorithm>
#include <set>
#include <utility>

#include "libcore/changes/requests.h"

namespace yk {

namespace {

constexpr std::string_view kRestored = "restored";
constexpr std::string_view kHealed = "restored after quarantine";
constexpr std::size_t kMostInOneNotice = 1000;

ResourceMapView map_of(const Quantities& quantities) {
    ResourceMapView map;
    for (const Quantity& each : quantities) map.emplace(each.name, each.value);
    return map;
}

/// Whether an allocation with this fault runs on its node all the same (I-242).
bool counts_on_node(QuarantineReason reason) {
    return reason == QuarantineReason::AppUnknown || reason == QuarantineReason::AppRejected ||
           reason == QuarantineReason::PlacedTwice || reason == QuarantineReason::PlaceholderNoGroup;
}

Refusal aside(std::string why) {
    return {std::move(why), ElementCode::SetAside};
}

} // namespace

void Restoration::begin(bool force_applications) {
    state_.recovering = true;
    update_active();
    records_.force_applications = force_applications;
    state_.event_message = kRestored;
}

void Restoration::end(Instant now) {
    std::vector<Quarantine::Serial> asks;
    for (const auto& [serial, object] : records_.quarantine.objects())
        if (object.is_ask()) asks.push_back(serial);
    for (std::size_t i = 0; i < asks.size(); i += kMostInOneNotice) {
        std::vector<QuarantinedObject> refused;
        for (std::size_t at = i; at < std::min(asks.size(), i + kMostInOneNotice); ++at)
            refused.push_back(take(asks[at]));
        std::vector<RejectedAsk> notices;
        notices.reserve(refused.size());
        for (const QuarantinedObject& each : refused)
            notices.push_back({state_.full_name, each.application_id(), each.key(),
                               "its application never came while the resource manager recovered",
                               ElementCode::AppUnknown});
        state_.callbacks.asks_rejected(notices, false);
    }
    forget_tombstones();
    records_.booked.clear();
    state_.recovering = false;
    update_active();
    state_.event_message = {};
    std::vector<ApplicationId> restored;
    state_.applications.for_each([&](ApplicationId id) {
        const ApplicationState state = state_.applications[id].state;
        if (state != ApplicationState::New && state != ApplicationState::Completing) restored.push_back(id);
    });
    state_.sort_by_name(restored);
    for (const ApplicationId id : restored) applications_.settle(id, Applications::Removed::All, now);
}

void Restoration::forget_tombstones() {
    records_.tombstones.clear();
}

void Restoration::clear() {
    std::vector<Quarantine::Serial> all;
    for (const auto& [serial, object] : records_.quarantine.objects()) all.push_back(serial);
    drop(all);
    forget_tombstones();
    records_.booked.clear();
}

// --- quarantine -----------------------------------------------------------------------------------------------------

/// Why the object gets no place in quarantine: the budget of the RM is used up.
std::optional<Refusal> Restoration::refuse_beyond_budget(const std::string& what,
                                                         const QuarantinedObject& object) const {
    return admission_.refuse_claim(what, Holdings{}.plus(Held::Asks, 1).plus(Held::Names, bytes_of(object)), true);
}

/// REQUIRES: none of its kind with its ids is in quarantine.
Refusal Restoration::set_aside(QuarantinedObject object, const Place& place, std::string why) {
    const NodeId node = object.ask && !object.is_ask() ? state_.nodes.find(object.node) : NodeId{};
    object.since = place.since;
    const Quarantine::Serial serial = place.serial != 0 ? place.serial : records_.quarantine.next_serial();
    if (node.valid() && counts_on_node(object.reason) && !any_negative((*object.ask)->resource)) {
        object.occupies = node;
        object.size = state_.to_resource((*object.ask)->resource).value_or(Resource{});
        if (state_.nodes[node].devices) // on the devices that it has, or on others: what is not ours is a fact
            state_.nodes[node].devices->take(owner_in_quarantine(serial), {object.size, kNothingStated},
                                             said_devices(state_, **object.ask), false);
        state_.ledger.add_occupied(state_.nodes[node], object.size);
        state_.nodes.mark_dirty(node, true);
    }
    records_.quarantine.add(serial, std::move(object));
    update_active();
    return aside(std::move(why));
}

QuarantinedObject Restoration::take(Quarantine::Serial serial) {
    QuarantinedObject object = records_.quarantine.take(serial);
    update_active();
    if (object.occupies.valid()) {
        if (state_.nodes[object.occupies].devices)
            state_.nodes[object.occupies].devices->give_back(owner_in_quarantine(serial));
        state_.ledger.take_occupied(state_.nodes[object.occupies], object.size);
        state_.nodes.mark_dirty(object.occupies, true);
    }
    return object;
}

void Restoration::drop(const std::vector<Quarantine::Serial>& serials) {
    for (const Quarantine::Serial serial : serials) static_cast<void>(take(serial));
}

/// What waits for the application to come waits for it to be accepted from now on.
void Restoration::note_rejected(std::string_view application) {
    for (const Quarantine::Serial serial : records_.quarantine.of_application(application)) {
        QuarantinedObject object = records_.quarantine.take(serial); // goes on occupying its node
        if (object.reason == QuarantineReason::AppUnknown) object.reason = QuarantineReason::AppRejected;
        records_.quarantine.add(serial, std::move(object));
    }
}

// --- asks and allocations -------------------------------------------------------------------------------------------

/// Why the allocation waits in quarantine instead of being refused; nullopt: it is refused (I-242).
std::optional<QuarantineReason> Restoration::reason_of(const AskSpec& spec, ElementCode code) const {
    if (spec.node.empty() && (is_foreign(spec) || code != ElementCode::AppUnknown)) return std::nullopt;
    switch (code) {
    case ElementCode::AppUnknown:
        return state_.ended.find_rejected(spec.application) != nullptr ||
                       records_.quarantine.find_application(spec.application)
                   ? QuarantineReason::AppRejected
                   : QuarantineReason::AppUnknown;
    case ElementCode::NodeUnknown: return QuarantineReason::NodeUnknown;
    case ElementCode::NodeMismatch: return QuarantineReason::PlacedTwice;
    case ElementCode::NoResource: return QuarantineReason::NoResource;
    case ElementCode::Negative: return QuarantineReason::Negative;
    case ElementCode::PlaceholderGroup: return QuarantineReason::PlaceholderNoGroup;
    default: return std::nullopt;
    }
}

std::optional<Refusal> Restoration::apply_ask(const AskSpec& spec, Instant now) {
    return restore_ask(spec, {0, now}, now);
}

std::optional<Refusal> Restoration::restore_ask(const AskSpec& spec, const Place& place, Instant now) {
    if (is_foreign(spec) && !spec.application.empty()) { // it belongs to none, whatever it names (I-061)
        AskSpec own = spec;
        own.application = {};
        return restore_ask(own, place, now);
    }
    const auto earlier = records_.quarantine.find_allocations(spec.application, spec.key);
    auto refusal = waits_elsewhere(spec, earlier);
    if (!refusal) refusal = ask_requests_.apply(spec, now);
    // an ask does not change what is reported as placed
    const bool placed = spec.node.empty() && !earlier.empty() && !object_of(earlier.front()).is_ask();
    if (placed && refusal && refusal->code == ElementCode::AppUnknown) return aside(std::move(refusal->reason));
    if (!refusal) {
        if (!placed && place.serial == 0) drop(earlier); // it was sent again, and correctly
        if (state_.recovering) carry_out(spec.application, spec.key, now);
        return std::nullopt;
    }
    const auto reason = state_.recovering ? reason_of(spec, refusal->code) : std::nullopt;
    if (!reason) return refusal;
    QuarantinedObject object;
    object.kind = RecoveryKind::Allocations;
    object.reason = *reason;
    object.node = spec.node;
    object.ask.emplace(spec);
    object.hash = recovery::line_hash(recovery::allocation_line(state_.name, spec.application, spec.key, spec.node,
                                                                recovery::resources_text(map_of(spec.resource)),
                                                                spec.placeholder));
    if (auto shortage = refuse_beyond_budget(title_of(spec), object)) return shortage;
    for (const Quarantine::Serial serial : earlier) {
        const bool stays = place.serial != 0 || *reason == QuarantineReason::PlacedTwice;
        if (!stays || object_of(serial).node == spec.node || object_of(serial).is_ask()) drop({serial});
    }
    return set_aside(std::move(object), place, std::move(refusal->reason));
}

/// Why an allocation is not tried: it was reported on another node before, and waits there for something to come.
std::optional<Refusal> Restoration::waits_elsewhere(const AskSpec& spec,
                                                    const std::vector<Quarantine::Serial>& earlier) const {
    if (!state_.recovering || spec.node.empty() || is_foreign(spec)) return std::nullopt;
    for (const Quarantine::Serial serial : earlier) {
        const QuarantinedObject& object = object_of(serial);
        const bool waits = object.reason == QuarantineReason::AppUnknown ||
                           object.reason == QuarantineReason::AppRejected ||
                           object.reason == QuarantineReason::NodeUnknown;
        if (waits && !object.is_ask() && object.node != spec.node)
            return Refusal{title_of(spec) + " is reported on node " + object.node + " as well",
                           ElementCode::NodeMismatch};
    }
    return std::nullopt;
}

/// Releases what just arrived, if it was released before.
void Restoration::carry_out(std::string_view application, std::string_view key, Instant now) {
    const auto tombstone = records_.tombstones.take_release(application, key);
    if (!tombstone) return;
    ReleaseSpec spec;
    spec.application = application;
    spec.key = key;
    spec.type = tombstone->type;
    spec.message = tombstone->message;
    spec.keep_asks = tombstone->keep_asks;
    using What = LateCommand::What;
    state_.callbacks.carried_out({tombstone->asks_only ? What::ReleaseOfAsks : What::Release, state_.full_name,
                                  application, key, spec.type, spec.keep_asks});
    static_cast<void>(release(spec, tombstone->asks_only, now)); // it is there: it was just restored
}

/// Removes what the release names from the quarantine. Returns the keys of the allocations of which the RM is notified.
std::vector<std::string> Restoration::drop_released(const ReleaseSpec& spec, bool asks_only) {
    const Quarantine& quarantine = records_.quarantine;
    std::vector<Quarantine::Serial> serials;
    if (!spec.key.empty())
        serials = quarantine.find_allocations(spec.application, spec.key);
    else if (!spec.application.empty())
        serials = quarantine.of_application(spec.application);
    std::vector<std::string> keys;
    for (const Quarantine::Serial serial : serials) {
        const QuarantinedObject& object = object_of(serial);
        if (object.is_ask() ? spec.key.empty() && spec.keep_asks : asks_only) continue;
        if (!object.is_ask() && object.reason != QuarantineReason::PlacedTwice) keys.emplace_back(object.key());
        drop({serial});
    }
    return keys;
}

std::optional<Refusal> Restoration::release(const ReleaseSpec& spec, bool asks_only, Instant now) {
    auto refusal = releases_.release(spec, asks_only, now);
    const std::size_t before = records_.quarantine.objects().size();
    const std::vector<std::string> keys = drop_released(spec, asks_only);
    if (!keys.empty() && !spec.application.empty() && Releases::is_echoed(spec.type))
        applications_.echo(keys, spec.application, spec.message);
    if (!refusal || records_.quarantine.objects().size() != before) return std::nullopt;
    const bool not_here = refusal->code == ElementCode::AppUnknown || refusal->code == ElementCode::UnknownAllocation;
    const ApplicationId application = state_.find_application(spec.application);
    const bool is_there = application.valid() && state_.find_allocation(application, spec.key).valid();
    return state_.recovering && not_here && !is_there ? bury(spec, asks_only) : refusal;
}

/// Why a tombstone for `whom`, with so many bytes of texts, is not kept: the budget is used up.
std::optional<Refusal> Restoration::refuse_tombstone(std::string_view whom, std::size_t texts) const {
    return admission_.refuse_claim(quoted(whom) + " is not there yet",
                                   Holdings{}.plus(Held::Names, Tombstones::bytes_of(texts)), true);
}

/// Remembers the release until what it names arrives.
std::optional<Refusal> Restoration::bury(const ReleaseSpec& spec, bool asks_only) {
    const std::size_t texts = spec.application.size() + spec.key.size() + spec.message.size();
    if (auto shortage = refuse_tombstone(spec.key.empty() ? spec.application : spec.key, texts)) return shortage;
    records_.tombstones.add_release(spec.application, spec.key,
                                    {spec.type, asks_only, spec.keep_asks, std::string{spec.message}});
    return std::nullopt;
}

// --- applications ---------------------------------------------------------------------------------------------------

Result<std::string, Refusal> Restoration::add_application(const ApplicationSpec& spec, Instant now) {
    if (!state_.recovering) {
        auto added = applications_.add(spec, now);
        if (added.ok()) arrived_applications_.emplace_back(spec.id);
        return added;
    }
    if (const ApplicationId known = state_.find_application(spec.id); known.valid()) // it was sent again
        return state_.applications[known].queue->path;
    ApplicationSpec wanted = spec;
    wanted.forced = records_.force_applications && !state_.rules.place(spec, state_.queues).found();
    auto added = applications_.try_add(wanted, now);
    const auto earlier = records_.quarantine.find_application(spec.id);
    if (added.ok()) {
        if (earlier) drop({*earlier});
        arrived_applications_.emplace_back(spec.id);
        return added;
    }
    note_rejected(spec.id);
    Refusal refusal = std::move(added).error();
    if (refusal.code == ElementCode::Placement) {
        QuarantinedObject object;
        object.kind = RecoveryKind::Applications;
        object.reason = QuarantineReason::QueueInvalid;
        object.application.emplace(spec);
        object.hash = recovery::line_hash(recovery::application_line(state_.name, spec.id));
        if (earlier) drop({*earlier});
        auto shortage = refuse_beyond_budget("application " + quoted(spec.id), object);
        if (!shortage) return set_aside(std::move(object), {0, now}, std::move(refusal.reason));
        refusal = *std::move(shortage);
    }
    applications_.reject(spec, refusal, now);
    return refusal;
}

std::optional<Refusal> Restoration::remove_application(std::string_view id, Instant now) {
    drop(records_.quarantine.of_application(id));
    if (const auto waiting = records_.quarantine.find_application(id)) {
        drop({*waiting});
    } else if (state_.find_application(id).valid()) {
        applications_.remove(id, now);
    } else if (state_.recovering) {
        if (auto shortage = refuse_tombstone(id, id.size())) return shortage;
        records_.tombstones.add_application(id);
    }
    return std::nullopt;
}

// --- nodes ----------------------------------------------------------------------------------------------------------

std::optional<Refusal> Restoration::create_node(const NodeSpec& spec, Instant now) {
    if (auto shortage = refuse_books(spec)) return shortage;
    auto refusal = nodes_.create(spec, state_.recovering ? std::span<const AskSpec>{} : spec.existing, now);
    const auto earlier = records_.quarantine.find_node(spec.id);
    if (refusal && state_.recovering && refusal->code == ElementCode::NodeExists && nodes_.is_same(spec))
        refusal.reset(); // it was sent again
    if (!refusal) {
        if (earlier) drop({*earlier});
        arrived_nodes_.emplace_back(spec.id);
        book(spec);
        return std::nullopt;
    }
    const bool waits = refusal->code == ElementCode::NodeExists || refusal->code == ElementCode::Negative;
    if (!state_.recovering || !waits) return refusal;
    QuarantinedObject object;
    object.kind = RecoveryKind::Nodes;
    object.reason =
        refusal->code == ElementCode::Negative ? QuarantineReason::Negative : QuarantineReason::DuplicateNode;
    object.node = spec.id;
    object.hash = recovery::line_hash(recovery::node_line(
        state_.name, spec.id, recovery::resources_text(map_of(spec.capacity.value_or(Quantities{}))),
        spec.action != NodeAction::CreateDrain));
    if (earlier) drop({*earlier});
    if (auto shortage = refuse_beyond_budget("node " + std::string{spec.id}, object)) return shortage;
    return set_aside(std::move(object), {0, now}, std::move(refusal->reason));
}

std::optional<Refusal> Restoration::change_node(const NodeSpec& spec, Instant now) {
    if (spec.action != NodeAction::Decommission) {
        if (auto shortage = refuse_books(spec)) return shortage;
        auto refusal = nodes_.change(spec, now);
        if (!refusal) book(spec);
        return refusal;
    }
    std::vector<QuarantinedObject> lost; // with the node
    for (const Quarantine::Serial serial : records_.quarantine.on_node(spec.id)) lost.push_back(take(serial));
    records_.booked.erase(spec.id);
    const auto waiting = records_.quarantine.find_node(spec.id);
    if (waiting) drop({*waiting});
    auto refusal = nodes_.change(spec, now);
    std::vector<ReleasedAllocation> released;
    for (const QuarantinedObject& each : lost)
        if (!each.application_id().empty() && each.reason != QuarantineReason::PlacedTwice)
            released.push_back({state_.full_name, each.application_id(), each.key(), TerminationType::StoppedByRm,
                                "its node was removed"});
    if (!released.empty()) state_.callbacks.allocations_released(released);
    if (!refusal || waiting) return std::nullopt;
    if (!state_.recovering || refusal->code != ElementCode::NodeUnknown) return refusal;
    if (auto shortage = refuse_tombstone(spec.id, spec.id.size())) return shortage;
    records_.tombstones.add_node(spec.id);
    return std::nullopt;
}

/// Why nothing of the request for the node is done: what the RM has booked on it is more than the budget leaves.
std::optional<Refusal> Restoration::refuse_books(const NodeSpec& spec) const {
    if (!spec.booked || !state_.recovering) return std::nullopt;
    const std::uint64_t wanted = NodeBookings::bytes_of(spec.id, NodeBookings::books_of(*spec.booked));
    const std::uint64_t known = records_.booked.bytes_of(spec.id);
    if (wanted <= known) return std::nullopt;
    return admission_.refuse_claim("node " + std::string{spec.id}, Holdings{}.plus(Held::Names, wanted - known), true);
}

/// Keeps what the RM says that it has booked on the node.
void Restoration::book(const NodeSpec& spec) {
    if (spec.booked && state_.recovering) records_.booked.set(spec.id, NodeBookings::books_of(*spec.booked));
}

void Restoration::restore_existing(const NodeSpec& spec, std::uint32_t first, Instant now) {
    if (!state_.recovering) return nodes_.announce_existing(spec); // create_node() has placed them
    if (!state_.nodes.find(spec.id).valid() && !records_.quarantine.find_node(spec.id))
        return; // the same request removed it
    std::vector<RejectedAsk> rejected;
    std::vector<std::string> reasons;
    reasons.reserve(spec.existing.size()); // the notices refer to them
    for (std::uint32_t i = 0; i < spec.existing.size(); ++i) {
        AskSpec existing = spec.existing[i];
        existing.node = spec.id;
        auto refusal = apply_ask(existing, now);
        if (!refusal || refusal->code == ElementCode::SetAside) continue;
        reasons.push_back(std::move(refusal->reason));
        rejected.push_back(
            {state_.full_name, existing.application, existing.key, reasons.back(), refusal->code, first + i});
    }
    if (!rejected.empty()) state_.callbacks.asks_rejected(rejected, true);
}

// --- healing --------------------------------------------------------------------------------------------------------

/// Tries an ask or allocation again. REQUIRES: it is in quarantine.
void Restoration::try_again(Quarantine::Serial serial, Instant now) {
    const QuarantinedObject object = take(serial);
    const AskSpec& spec = **object.ask;
    const auto refusal = restore_ask(spec, {serial, object.since}, now);
    if (!refusal || refusal->code == ElementCode::SetAside) return;
    const RejectedAsk notice{state_.full_name, spec.application, spec.key, refusal->reason, refusal->code};
    state_.callbacks.asks_rejected({&notice, 1}, !object.is_ask());
}

void Restoration::heal(Instant now) {
    if (arrived_applications_.empty() && arrived_nodes_.empty()) return;
    const auto applications = std::exchange(arrived_applications_, {});
    const auto nodes = std::exchange(arrived_nodes_, {});
    const bool was_open = std::exchange(state_.recovering, true); // what still waits goes on waiting
    const std::string_view message = std::exchange(state_.event_message, kHealed);
    std::set<Quarantine::Serial> serials;
    for (const std::string& id : applications)
        for (const Quarantine::Serial serial : records_.quarantine.of_application(id)) serials.insert(serial);
    for (const std::string& id : nodes)
        for (const Quarantine::Serial serial : records_.quarantine.on_node(id)) serials.insert(serial);
    for (const Quarantine::Serial serial : serials) // one that is restored may have been released, with all its reports
        if (records_.quarantine.objects().count(serial) != 0) try_again(serial, now);
    state_.event_message = message;
    for (const std::string& id : applications) {
        carry_out(id, {}, now);
        if (!records_.tombstones.take_application(id)) continue;
        state_.callbacks.carried_out({LateCommand::What::RemoveApplication, state_.full_name, id, {}});
        static_cast<void>(remove_application(id, now)); // it arrived
    }
    for (const std::string& id : nodes) {
        if (!records_.tombstones.take_node(id)) continue;
        NodeSpec spec;
        spec.id = id;
        spec.action = NodeAction::Decommission;
        state_.callbacks.carried_out({LateCommand::What::RemoveNode, state_.full_name, id, {}});
        static_cast<void>(change_node(spec, now)); // it arrived
    }
    state_.recovering = was_open;
    update_active();
}

void Restoration::configured(Instant now) {
    std::vector<Quarantine::Serial> waiting;
    for (const auto& [serial, object] : records_.quarantine.objects())
        if (object.application) waiting.push_back(serial);
    const bool was_open = std::exchange(state_.recovering, true); // what is added was restored
    const std::string_view message = std::exchange(state_.event_message, kHealed);
    for (const Quarantine::Serial serial : waiting) {
        QuarantinedObject object = take(serial);
        const ApplicationSpec& spec = **object.application;
        const std::string id{spec.id};
        auto added = applications_.try_add(spec, now);
        if (added.ok()) {
            const AcceptedApplication accepted{state_.full_name, id, *added};
            state_.callbacks.applications_answered({&accepted, 1}, {});
            arrived_applications_.push_back(id);
        } else if (added.error().code == ElementCode::Placement) {
            const Place place{serial, object.since};
            static_cast<void>(set_aside(std::move(object), place, {}));
        } else {
            applications_.reject(spec, added.error(), now);
            const RejectedApplication rejected{state_.full_name, id, added.error().reason, added.error().code};
            state_.callbacks.applications_answered({}, {&rejected, 1});
        }
    }
    state_.recovering = was_open;
    update_active();
    state_.event_message = message;
    if (!waiting.empty()) heal(now);
}

} // namespace yk
