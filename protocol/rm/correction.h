// SPDX-License-Identifier: Apache-2.0
#pragma once
// Correction: what a resource manager sends when the core does not have what its books say (I-239): releases of what
// the core has beyond them, and the objects that it lacks or has otherwise.
//
// First the lists of the core go in, as far as buckets() asks for them; then the books go past wants(), object by
// object; requests() is what is to be sent. Owner: RmClient. Thread: one. Costs about 200 bytes for each listed object.

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "libcore/digest/recovery_kind.h"
#include "protocol/si/messages.h"
#include "protocol/si/recovery_messages.h"
#include "protocol/wire/encoded_request.h"

namespace yk::rm {

/// How many objects differ.
struct Differences {
    std::uint64_t missing = 0; // in the core
    std::uint64_t surplus = 0; // in the core, and not in the books
    std::uint64_t changed = 0;
    std::uint64_t set_aside = 0; // the core has them in quarantine

    [[nodiscard]] bool any() const { return missing + surplus + changed + set_aside != 0; }
};

/// The bucket of an object (I-235).
[[nodiscard]] std::uint8_t bucket_of(RecoveryKind kind, const RecoveryItem& item);

class Correction {
public:
    /// `report`: what the core said of the claim made of `own`; nullptr: nothing yet, so everything is to be listed.
    Correction(std::string rm_id, const si::RecoveryReport* report, const RecoveryDigests& own);

    /// Which objects of the kind have to be listed: none, those of some buckets, or (nullopt in the list) all.
    [[nodiscard]] std::vector<std::optional<std::uint32_t>> buckets(RecoveryKind kind) const;
    /// An object that the core has, in one of these buckets.
    void add(RecoveryKind kind, const si::RecoveryListItem& item);
    /// An object that the core has in quarantine.
    void add_quarantined(RecoveryKind kind, const si::RecoveryListItem& item);

    /// Whether the object of the books is to be sent. To be called once for each, applications first.
    [[nodiscard]] bool wants(RecoveryKind kind, const RecoveryItem& item);
    /// Whether the pending asks are to be sent. To be called after all objects.
    [[nodiscard]] bool wants_asks() const;
    /// A request made of the objects that are to be sent.
    void take(const si::ApplicationRequest& request) { replayed_.emplace_back(request); }
    void take(const si::NodeRequest& request);
    void take(const si::AllocationRequest& request) { replayed_.emplace_back(request); }

    /// Everything to be sent, in this order.
    [[nodiscard]] std::vector<wire::EncodedRequest> requests();
    /// To be called after requests().
    [[nodiscard]] const Differences& differences() const { return differences_; }

private:
    struct Object {
        std::string partition, id, key; // `id`: of the node or application
        std::uint64_t hash = 0;
    };
    using Objects = std::unordered_map<std::string, Object>; // by their names together
    static constexpr std::size_t kKinds = kRecoveryKinds.size();

    void release_asks_of(const std::string& partition, const std::string& application);
    void release(const Object& object);
    void remove_surplus(RecoveryKind kind);

    const std::string rm_id_;
    const bool lists_all_;                                   // of all kinds
    bool has_surplus_asks_ = false, has_other_asks_ = false; // perhaps: more than, or others than the books
    std::array<std::bitset<256>, kKinds> differ_;            // buckets
    std::array<Objects, kKinds> held_, set_aside_;           // by the core; without what was found in the books
    std::set<std::string> changed_nodes_;                    // by their names together
    si::AllocationRequest releases_;
    si::ApplicationRequest removals_;
    si::NodeRequest node_removals_, node_changes_;
    std::vector<wire::EncodedRequest> replayed_;
    Differences differences_;
};

} // namespace yk::rm
