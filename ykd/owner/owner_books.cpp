// SPDX-License-Identifier: Apache-2.0
#include "ykd/owner/owner_books.h"

#include <algorithm>
#include <array>

#include "protocol/books/place.h"
#include "protocol/wire/codec.h"

namespace yk {
namespace {

using books::ElementList;
using books::Outcome;
using What = books::Outcome::What;

/// States in which an application has ended (I-040). Expired comes later, maybe when another has its id.
constexpr std::array<std::string_view, 2> kEnded{"Completed", "Failed"};

std::string place_of(const NewAllocation& allocation) {
    si::DevicesMap devices;
    for (const AllocatedDevice& each : allocation.devices) {
        if (devices.empty() || devices.back().first != each.resource)
            devices.emplace_back(each.resource, si::Devices{});
        devices.back().second.on.push_back({each.on.index, each.on.amount});
    }
    return books::place_text(allocation.node, devices);
}

} // namespace

void OwnerBooks::note(What what, std::string_view partition, std::string_view id, std::string_view key) {
    keeper_->note({what, partition, id, key});
}

void OwnerBooks::note_registration(const si::RegisterResourceManagerRequest& request) {
    if (!notes()) return;
    registration_ = request;
    registration_.config.reset();   // is noted as such
    registration_.recovery.reset(); // a later daemon has its own
    registration_.if_registered.clear();
    keeper_->note_setting(std::string{kRegistration}, wire::encoded(registration_));
}

void OwnerBooks::note_configuration(books::KeptConfiguration configuration, bool from_file,
                                    const std::vector<std::string>& partitions) {
    if (!notes()) return;
    std::string lines;
    for (const std::string& name : partitions) lines += name + "\n";
    keeper_->note(std::move(configuration), {partitions.begin(), partitions.end()});
    keeper_->note_setting(std::string{kPartitions}, lines);
    keeper_->note_setting(std::string{kFromFile}, from_file ? "yes" : "");
}

void OwnerBooks::note_change(const std::string& policy_group, const std::optional<si::StringMap>& extra_config) {
    if (!notes() || (policy_group.empty() && !extra_config)) return;
    if (!policy_group.empty()) registration_.policy_group = policy_group;
    if (extra_config) registration_.extra_config = extra_config;
    keeper_->note_setting(std::string{kRegistration}, wire::encoded(registration_));
}

void OwnerBooks::allocation_made(const NewAllocation& allocation) noexcept {
    if (notes()) {
        const std::string place = allocation.devices.empty() ? std::string{} : place_of(allocation);
        keeper_->note({What::Placed, allocation.partition, allocation.application, allocation.key,
                       place.empty() ? allocation.node : std::string_view{place}});
    }
    next_.allocation_made(allocation);
}

/// What the RM has stopped, or lost, is gone. Of the rest the RM is asked to stop it, and confirms it by a release of
/// its own; only an ask that was pending is gone at once (I-033, I-037).
void OwnerBooks::allocations_released(std::span<const ReleasedAllocation> released) noexcept {
    if (notes())
        for (const ReleasedAllocation& each : released) {
            Outcome outcome{What::Released, each.partition, each.application, each.key};
            outcome.pending = each.type != TerminationType::StoppedByRm;
            keeper_->note(outcome);
        }
    next_.allocations_released(released);
}

void OwnerBooks::asks_rejected(std::span<const RejectedAsk> rejected, bool placements) noexcept {
    if (notes()) {
        for (const RejectedAsk& each : rejected)
            if (each.element)
                keeper_->note_refused(placements ? ElementList::Allocations : ElementList::Asks, *each.element);
            else
                note(What::Rejected, each.partition, each.application, each.key);
    }
    next_.asks_rejected(rejected, placements);
}

void OwnerBooks::applications_answered(std::span<const AcceptedApplication> accepted,
                                       std::span<const RejectedApplication> rejected) noexcept {
    if (notes()) {
        for (const AcceptedApplication& each : accepted) note(What::ApplicationAccepted, each.partition, each.id);
        for (const RejectedApplication& each : rejected)
            if (each.element)
                keeper_->note_refused(ElementList::Applications, *each.element);
            else
                note(What::ApplicationRejected, each.partition, each.id);
    }
    next_.applications_answered(accepted, rejected);
}

void OwnerBooks::application_updated(const UpdatedApplication& updated) noexcept {
    if (notes() && std::find(kEnded.begin(), kEnded.end(), updated.state) != kEnded.end())
        note(What::ApplicationEnded, updated.partition, updated.id);
    next_.application_updated(updated);
}

void OwnerBooks::nodes_answered(std::span<const AcceptedNode> accepted, std::span<const RefusedNode> rejected,
                                std::span<const RefusedNode> failed) noexcept {
    if (notes()) {
        for (const auto* refused : {&rejected, &failed})
            for (const RefusedNode& each : *refused)
                if (each.element) keeper_->note_refused(ElementList::Nodes, *each.element);
    }
    next_.nodes_answered(accepted, rejected, failed);
}

void OwnerBooks::carried_out(const LateCommand& command) noexcept {
    if (notes()) note_late(command);
    next_.carried_out(command);
}

/// As if the RM sent it now.
void OwnerBooks::note_late(const LateCommand& command) {
    const std::string partition{books::short_partition(command.partition)}, id{command.id}, key{command.key};
    si::AllocationRequest releases;
    switch (command.what) {
    case LateCommand::What::Release: {
        si::AllocationRelease release;
        release.partition_name = partition;
        release.application_id = id;
        release.allocation_key = key;
        release.termination_type = static_cast<si::TerminationType>(command.type);
        release.keep_asks = command.keep_asks;
        releases.releases.allocations_to_release.push_back(std::move(release));
        break;
    }
    case LateCommand::What::ReleaseOfAsks: {
        si::AllocationAskRelease release;
        release.partition_name = partition;
        release.application_id = id;
        release.allocation_key = key;
        releases.releases.allocation_asks_to_release.push_back(std::move(release));
        break;
    }
    case LateCommand::What::RemoveApplication: {
        si::ApplicationRequest request;
        request.remove.push_back({id, partition});
        return keeper_->note_late(std::move(request));
    }
    case LateCommand::What::RemoveNode: {
        si::NodeRequest request;
        request.nodes.emplace_back().node_id = id;
        request.nodes.back().action = si::NodeAction::Decommission;
        return keeper_->note_late(std::move(request));
    }
    }
    keeper_->note_late(std::move(releases));
}

} // namespace yk
