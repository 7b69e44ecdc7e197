// SPDX-License-Identifier: Apache-2.0
#pragma once
// RmInstaller: makes the core of an RM anew, as a registration wants it or as the RM's books say, with everything that
// is kept by the RM's id.
//
// Owner: Daemon. Thread: the owner thread of the RM.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcore/config/partition_names.h"
#include "libcore/config_yaml/load.h"
#include "ykd/configuration/config_history.h"
#include "ykd/configuration/effective_settings.h"
#include "ykd/service/book_shelf.h"
#include "ykd/service/rm_registry.h"

namespace yk::service {

/// What is known of an RM that registers, or is restored.
struct RmWish {
    si::RegisterResourceManagerRequest request;
    std::shared_ptr<const config_yaml::LoadOutcome> loaded; // holds a configuration
    std::string text, origin;                               // of the configuration
    bool from_file = false;
    std::vector<std::string> capabilities;         // those that the daemon knows
    std::optional<wire::Sid> owner;                // the session that serves it; nullopt: it is detached
    std::shared_ptr<books::BookKeeper> restored{}; // the books that it is restored from
    config::PartitionNames ran{}; // its partitions before: a reload may have changed the case of a name
};

class RmInstaller {
public:
    struct Parts {
        const DaemonSettings& settings;
        RmRegistry& registry;
        ConfigHistory& history;
        EffectiveSettings& effective;
        BookShelf& books;
        DaemonState& state;
    };
    explicit RmInstaller(const Parts& parts) : parts_(parts) {}

    /// Drops what the RM had and starts it. An error leaves it unregistered (I-122).
    [[nodiscard]] Result<RmFacts, wire::ErrorReply> install(Rm& rm, RmOwner& owner, RmWish wish) const;
    /// What the session of the wish understands: callbacks, events and calls.
    [[nodiscard]] Installation wishes_of(const RmWish& wish) const;

private:
    [[nodiscard]] Result<void, wire::ErrorReply> obtain_books(const Rm& rm, RmOwner& owner, const RmWish& wish,
                                                              Installation& installation) const;

    const Parts parts_;
};

} // namespace yk::service
