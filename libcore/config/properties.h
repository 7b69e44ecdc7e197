// SPDX-License-Identifier: Apache-2.0
#pragma once
// Queue properties: inheritance and what the scheduler derives from them (C-150 to C-158).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/time.h"

namespace yk::config {

using PropertyMap = std::map<std::string, std::string>;

enum class SortPolicy { Fifo, Fair };
enum class PriorityPolicy { Default, Fence };
enum class PreemptionPolicy { Default, Fence, Disabled };
/// What a victim is charged with against what is left of the guarantee of the asking queue: its own size or that of the
/// ask (P-053).
enum class PreemptionCharge { Victim, Ask };

/// The derived values of one queue, with the defaults of C-150 (a leaf's).
struct QueueProperties {
    SortPolicy sort_policy = SortPolicy::Fifo; // a parent always sorts fair (C-152)
    bool priority_sorting = true;
    PriorityPolicy priority_policy = PriorityPolicy::Default;
    std::int32_t priority_offset = 0;
    PreemptionPolicy preemption_policy = PreemptionPolicy::Default;
    Duration preemption_delay = std::chrono::seconds{30};
    PreemptionCharge preemption_charge = PreemptionCharge::Victim; // preemption.charge
    bool least_harm = false;                                       // preemption.leastharm
    std::uint64_t victims_per_minute = 0;                          // preemption.victims.perminute; 0: no limit
    Duration quota_preemption_delay = Duration::zero();            // 0: off
    bool quota_rearm = false;                                      // quota.preemption.rearm
    bool gang_order = false;                                       // application.gang.order
    std::uint64_t backoff_count = 0;                               // application.unschedasks.backoff; 0: off
    Duration backoff_delay = std::chrono::seconds{30};             // application.unschedasks.backoff.delay

    friend bool operator==(const QueueProperties&, const QueueProperties&) = default;
};

/// The effective map of a configured queue, from the effective map of its parent and its own entries (C-153). For the
/// root and for dynamic leafs the own entries are the effective map (C-158), unless the template says otherwise (B-10).
[[nodiscard]] PropertyMap inherit_properties(const PropertyMap& parent, const PropertyMap& own);

/// The values in an effective map. A value that is bad or missing gives the default (C-150, C-156). `leaf`: the queue
/// is a leaf.
[[nodiscard]] QueueProperties derive_properties(const PropertyMap& effective, bool leaf);

/// The value that a queue has without the property, as text; nullopt: there is no such property.
[[nodiscard]] std::optional<std::string_view> property_default(std::string_view key);

/// What is worth a warning about one entry (B-04): unknown key, bad value, old value. Empty: nothing.
[[nodiscard]] std::string property_warning(const std::string& key, const std::string& value);

} // namespace yk::config
