// SPDX-License-Identifier: Apache-2.0
#pragma once
// Restoration: carries out the requests of an RM that recovers (interface.md 3.3 to 3.5). They may come in any order:
// what cannot be restored yet is set aside in quarantine and tried again when what it waits for arrives; what is
// released before it arrives is released when it does.
//
// Owner: PartitionContext. Thread: the partition's owner. Cost: that of the request, and of what it heals.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/changes/admission.h"
#include "libcore/partition/applications.h"
#include "libcore/partition/ask_requests.h"
#include "libcore/partition/nodes.h"
#include "libcore/partition/releases.h"
#include "libcore/state/partition_state.h"

namespace yk {

class Restoration {
public:
    Restoration(PartitionState& state, Admission& admission, Applications& applications, Releases& releases,
                AskRequests& ask_requests, Nodes& nodes)
        : state_(state),
          admission_(admission),
          applications_(applications),
          releases_(releases),
          ask_requests_(ask_requests),
          nodes_(nodes) {}
    Restoration(const Restoration&) = delete;
    Restoration& operator=(const Restoration&) = delete;

    void begin(bool force_applications);
    /// What is in quarantine stays there; asks whose application never came are refused. The RM is notified of them.
    /// Applications that have nothing left complete.
    void end(Instant now);
    /// Forgets what was released and never arrived.
    void forget_tombstones();
    /// Empties the quarantine, when all is dropped.
    void clear();
    /// Whether requests must come here instead of going to the parts directly: a recovery is open, or something is in
    /// quarantine.
    [[nodiscard]] bool is_active() const { return state_.restoring; }

    // As the functions of these names of the parts. Code SetAside: it is in quarantine, and is answered later.
    [[nodiscard]] std::optional<Refusal> apply_ask(const AskSpec& spec, Instant now);
    [[nodiscard]] std::optional<Refusal> release(const ReleaseSpec& spec, bool asks_only, Instant now);
    [[nodiscard]] Result<std::string, Refusal> add_application(const ApplicationSpec& spec, Instant now);
    [[nodiscard]] std::optional<Refusal> remove_application(std::string_view id, Instant now);
    /// Without its allocations, which restore_existing() takes.
    [[nodiscard]] std::optional<Refusal> create_node(const NodeSpec& spec, Instant now);
    [[nodiscard]] std::optional<Refusal> change_node(const NodeSpec& spec, Instant now);
    /// The allocations that a node brings, each for itself. The RM is notified of each.
    /// `first`: as for PartitionContext::announce_existing().
    void restore_existing(const NodeSpec& spec, std::uint32_t first, Instant now);
    /// After the request was answered: tries again what waits for the applications and nodes that arrived with it, and
    /// carries out what was released before (I-244).
    void heal(Instant now);
    /// After a change of the configuration: tries again the applications that no queue took.
    void configured(Instant now);

private:
    /// An object that is tried again keeps its place in the order.
    struct Place {
        Quarantine::Serial serial = 0; // 0: it is new
        Instant since;
    };

    [[nodiscard]] std::optional<Refusal> restore_ask(const AskSpec& spec, const Place& place, Instant now);
    [[nodiscard]] std::optional<Refusal> waits_elsewhere(const AskSpec& spec,
                                                         const std::vector<Quarantine::Serial>& earlier) const;
    [[nodiscard]] const QuarantinedObject& object_of(Quarantine::Serial serial) const {
        return records_.quarantine.objects().at(serial);
    }
    [[nodiscard]] std::optional<QuarantineReason> reason_of(const AskSpec& spec, ElementCode code) const;
    [[nodiscard]] std::optional<Refusal> refuse_beyond_budget(const std::string& what,
                                                              const QuarantinedObject& object) const;
    [[nodiscard]] Refusal set_aside(QuarantinedObject object, const Place& place, std::string why);
    void update_active() { state_.restoring = state_.recovering || !records_.quarantine.empty(); }
    QuarantinedObject take(Quarantine::Serial serial);
    void drop(const std::vector<Quarantine::Serial>& serials);
    void note_rejected(std::string_view application);
    [[nodiscard]] std::vector<std::string> drop_released(const ReleaseSpec& spec, bool asks_only);
    [[nodiscard]] std::optional<Refusal> bury(const ReleaseSpec& spec, bool asks_only);
    [[nodiscard]] std::optional<Refusal> refuse_tombstone(std::string_view whom, std::size_t texts) const;
    void carry_out(std::string_view application, std::string_view key, Instant now);
    void try_again(Quarantine::Serial serial, Instant now);
    [[nodiscard]] std::optional<Refusal> refuse_books(const NodeSpec& spec) const;
    void book(const NodeSpec& spec);

    PartitionState& state_;
    RecoveryRecords& records_{state_.recovery};
    Admission& admission_;
    Applications& applications_;
    Releases& releases_;
    AskRequests& ask_requests_;
    Nodes& nodes_;
    std::vector<std::string> arrived_applications_, arrived_nodes_; // since heal()
};

} // namespace yk
