// The budget of the RM: what an element would take, whether it may, and what is kept for people only as long as there
// is room for it.

#include <algorithm>

#include "libcore/scheduler/leaf_plan.h"
#include "libcore/scheduler/partition_context.h"

namespace yk {

namespace {

constexpr std::uint64_t kLeastCounts = 1024; // queues that went and are still counted for

std::uint64_t bytes_of_group(std::string_view task_group) {
    return task_group.empty() ? 0 : bytes_of(task_group) + kPerEntry;
}

/// As if nothing of it was shared with others.
std::uint64_t most_bytes(const AskSpec& spec) {
    return bytes_of(spec.key) + bytes_of(spec.tags) + bytes_of_group(spec.task_group);
}

std::uint64_t most_bytes(const ApplicationSpec& spec) {
    std::uint64_t bytes = 2 * bytes_of(spec.id) + bytes_of(spec.user) + bytes_of(spec.tags); // the id is a key, too
    for (const std::string_view group : spec.groups) bytes += bytes_of(group);
    return bytes;
}

} // namespace

std::uint64_t bytes_of(const Node& node) {
    std::uint64_t bytes = bytes_of(node.id);
    for (const auto& [key, value] : node.attributes) bytes += bytes_of_tag(key, value);
    return bytes;
}

std::uint64_t bytes_of(const Application& application) {
    std::uint64_t bytes = 2 * bytes_of(application.id) + bytes_of(application.user);
    for (const auto& [key, value] : application.tags) bytes += bytes_of_tag(key, value);
    for (const auto& [type, totals] : application.seconds) bytes += bytes_of(type) + kPerEntry;
    return bytes + kPerEntry * application.gang.groups.size();
}

std::uint64_t bytes_of(const EndedApplication& ended) {
    const ApplicationView& view = ended.view;
    std::uint64_t bytes =
        bytes_of(view.id) + bytes_of(view.queue) + bytes_of(view.user) + bytes_of(view.rejected_message);
    for (const std::string& group : view.groups) bytes += bytes_of(group);
    for (const PlaceholderDataView& data : view.placeholder_data) bytes += bytes_of(data.task_group);
    return bytes;
}

// --- admission ------------------------------------------------------------------------------------------------------

/// Nothing is changed but the lists of what ended: they make room for the names of what lives.
std::optional<Refusal> PartitionContext::refuse_claim(const std::string& whose, const Holdings& claim, bool fact) {
    while (auto shortage = s_.ledger.shortage(claim, fact))
        if (shortage->what != Held::Names || !(forget_oldest_ended() || forget_reasons()))
            return Refusal{whose + ": " + shortage->text, ElementCode::NoCapacity};
    return std::nullopt;
}

/// `known`: what exists under the key. An update in place is refused for longer tags or another task group only, and
/// then all stays as it was; of an allocation it changes the size only (S-456). `id`: none for a foreign one.
std::optional<Refusal> PartitionContext::refuse_ask_claim(const AskSpec& spec, ApplicationId id, AllocationId known,
                                                          bool fact) {
    Holdings claim;
    if (!known.valid()) {
        claim = claim.plus(Held::Asks, 1).plus(Held::Names, most_bytes(spec));
        if (id.valid() && !s_.applications[id].user_usage.valid()) // will be tracked at each level, for user and group
            claim.of(Held::Names) += std::uint64_t{2} * kPerEntry * (s_.applications[id].queue->depth + 1);
    } else {
        const Allocation& object = s_.allocations[known];
        const bool replaced = object.is(Allocation::Foreign) || !(fact || object.is(Allocation::Placed));
        if (!replaced) return std::nullopt;
        if (bytes_of(spec.tags) > bytes_of(s_.tags.tags(object.tags))) claim.of(Held::Names) += bytes_of(spec.tags);
        if (spec.task_group != s_.texts.text(object.task_group))
            claim.of(Held::Names) += bytes_of_group(spec.task_group);
    }
    if (!s_.ledger.shortage(claim, fact)) return std::nullopt; // no text is made for what is accepted
    std::string whose = "allocation key '" + std::string{spec.key} + "'";
    if (!spec.application.empty()) whose += " of application '" + std::string{spec.application} + "'";
    return refuse_claim(whose + (known.valid() ? " stays as it was" : ""), claim, fact);
}

/// The node with all that it brings and that is not known yet.
Holdings PartitionContext::claim_of(const NodeSpec& spec) const {
    std::uint64_t asks = 0, bytes = bytes_of(spec.id) + (spec.attributes ? bytes_of(*spec.attributes) : 0);
    for (const AskSpec& existing : spec.existing) {
        const bool foreign = is_foreign(existing);
        const bool known = foreign
                               ? s_.foreign.count(std::string{existing.key}) > 0
                               : s_.find_allocation(s_.find_application(existing.application), existing.key).valid();
        asks += known ? 0U : 1U;
        if (foreign || !known) bytes += most_bytes(existing);
    }
    return Holdings{}.plus(Held::Nodes, 1).plus(Held::Asks, asks).plus(Held::Names, bytes);
}

/// The application and the queues that would be made for it.
Holdings PartitionContext::claim_of(const ApplicationSpec& spec, const LeafPlan& plan) {
    std::uint64_t queues = 0, bytes = most_bytes(spec);
    for (std::size_t end = plan.path.size(); end > plan.queue->path.size(); end = plan.path.rfind('.', end - 1)) {
        ++queues;
        bytes += bytes_of(std::string_view{plan.path}.substr(0, end));
    }
    return Holdings{}.plus(Held::Applications, 1).plus(Held::Queues, queues).plus(Held::Names, bytes);
}

/// Those of the configuration are nobody's.
void PartitionContext::count_queue(const Queue& queue) {
    if (queue.managed) return;
    s_.ledger.add(Held::Queues);
    s_.ledger.add(Held::Names, bytes_of(queue.path));
}

void PartitionContext::discount_queue(const Queue& queue) {
    if (queue.managed) return;
    s_.ledger.take(Held::Queues);
    s_.ledger.take(Held::Names, bytes_of(queue.path));
}

// --- what is kept for people (S-580 to S-584, I-735) ----------------------------------------------------------------

bool PartitionContext::keeps_too_much(std::size_t kept) const {
    return kept > 0 && (kept > s_.settings.budget.ended || s_.ledger.has_too_many_names());
}

void PartitionContext::keep_ended(EndedApplication ended) {
    s_.ledger.add(Held::Names, bytes_of(ended));
    s_.ended.push_back(std::move(ended));
    while (keeps_too_much(s_.ended.size())) forget_ended();
}

void PartitionContext::keep_rejected(EndedApplication rejected) {
    const auto known = s_.rejected_ids.find(rejected.view.id);
    if (known != s_.rejected_ids.end()) forget_rejected(s_.rejected.find(known->second)); // the later one replaces it
    s_.ledger.add(Held::Names, bytes_of(rejected));
    s_.rejected_ids[rejected.view.id] = rejected.serial;
    s_.rejected.emplace(rejected.serial, std::move(rejected));
    while (keeps_too_much(s_.rejected.size())) forget_rejected(s_.rejected.begin());
}

void PartitionContext::forget_ended() {
    s_.ledger.take(Held::Names, bytes_of(s_.ended.front()));
    s_.ended.pop_front();
}

PartitionState::Rejected::iterator PartitionContext::forget_rejected(PartitionState::Rejected::iterator each) {
    s_.ledger.take(Held::Names, bytes_of(each->second));
    s_.rejected_ids.erase(each->second.view.id);
    return s_.rejected.erase(each);
}

/// Of both lists; false: they are empty.
bool PartitionContext::forget_oldest_ended() {
    if (s_.ended.empty() && s_.rejected.empty()) return false;
    if (s_.rejected.empty() || (!s_.ended.empty() && s_.ended.front().serial < s_.rejected.begin()->first))
        forget_ended();
    else
        forget_rejected(s_.rejected.begin());
    return true;
}

// --- what an RM said of nodes (I-379, I-711) ------------------------------------------------------------------------

/// Counts what the inquiry takes now. Where names have no room, what is for people goes.
void PartitionContext::charge(Inquiry& inquiry) {
    const auto count = [&] {
        const std::uint64_t bytes = inquiry.bytes();
        s_.ledger.take(Held::Names, inquiry.charged);
        s_.ledger.add(Held::Names, bytes);
        s_.inquiries.charged += bytes - inquiry.charged;
        inquiry.charged = bytes;
    };
    count();
    if (!s_.ledger.has_too_many_names()) return;
    inquiry.forget_reasons();
    count();
}

/// Of all asks, for the names of what lives; false: it is too little to be worth a look at all of them.
bool PartitionContext::forget_reasons() {
    constexpr std::uint64_t kWorthLooking = 1U << 20;
    const std::uint64_t before = s_.inquiries.charged;
    if (before < kWorthLooking) return false;
    for (auto& [ask, inquiry] : s_.inquiries.by_ask) {
        inquiry.forget_reasons();
        if (inquiry.resting) inquiry.refused = {};
        charge(inquiry);
    }
    return s_.inquiries.charged < before;
}

/// I-510: a queue that comes back goes on counting, but of those that went only so many are remembered as applications.
EndedCounts& PartitionContext::ended_counts_of(const std::string& queue) {
    const auto known = s_.ended_counts.find(queue);
    if (known != s_.ended_counts.end()) return known->second;
    if (s_.ended_counts.size() >= s_.queues.size() + std::max(kLeastCounts, s_.settings.budget.ended))
        std::erase_if(s_.ended_counts,
                      [this](const auto& each) { return !each.first.empty() && s_.find_queue(each.first) == nullptr; });
    return s_.ended_counts[queue];
}

// --- verification ---------------------------------------------------------------------------------------------------

/// Counts again what the ledger has, and the uses of shared texts.
void PartitionContext::check_ledger(std::vector<std::string>& broken) const {
    std::uint64_t queues = 0, names = s_.tags.bytes() + s_.texts.bytes() + s_.group_lists.bytes() + s_.users.bytes();
    for (const Queue* queue : s_.queues) {
        if (queue == nullptr || queue->managed) continue;
        ++queues;
        names += bytes_of(queue->path);
    }
    s_.nodes.for_each([&](NodeId id) { names += bytes_of(s_.nodes[id]); });
    std::map<std::uint32_t, std::uint32_t> uses; // of texts
    s_.applications.for_each([&](ApplicationId id) {
        names += bytes_of(s_.applications[id]);
        for (const auto& [name, group] : s_.applications[id].gang.groups) ++uses[name];
    });
    s_.allocations.for_each([&](AllocationId id) {
        names += bytes_of(s_.allocations[id].key.view());
        if (s_.allocations[id].task_group != 0) ++uses[s_.allocations[id].task_group];
    });
    std::uint64_t charged = 0;
    for (const auto& [ask, inquiry] : s_.inquiries.by_ask) {
        charged += inquiry.charged;
        if (inquiry.charged < inquiry.bytes())
            broken.push_back(s_.full_name + ": an inquiry takes more than is counted");
    }
    if (charged != s_.inquiries.charged) broken.push_back(s_.full_name + ": bytes of inquiries");
    names += charged;
    for (const EndedApplication& ended : s_.ended) names += bytes_of(ended);
    for (const auto& [serial, rejected] : s_.rejected) names += bytes_of(rejected);
    const Holdings counted = Holdings{}
                                 .plus(Held::Nodes, s_.nodes.size())
                                 .plus(Held::Applications, s_.applications.size())
                                 .plus(Held::Asks, s_.allocations.size())
                                 .plus(Held::Queues, queues)
                                 .plus(Held::Names, names);
    for (const Held what : kAllHeld)
        if (s_.ledger.own().of(what) != counted.of(what))
            broken.push_back(s_.full_name + ": the ledger has " + std::to_string(s_.ledger.own().of(what)) + " " +
                             std::string{name_of(what)} + ", there are " + std::to_string(counted.of(what)));
    if (uses != s_.texts.uses()) broken.push_back(s_.full_name + ": uses of texts");
}

} // namespace yk
