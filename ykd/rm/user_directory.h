// SPDX-License-Identifier: Apache-2.0
#pragma once
// UserDirectory: the resolvers of an RM's partitions (C-366). Looking a user up may block, which neither an owner
// thread nor a worker may do: the users that a request names (to_look_up) are looked up before the request is queued
// (request/user_lookup.h), and the owner thread gets the answers with it.
//
// Owner: Rm. Thread: any; a mutex guards the resolvers and is held for no lookup.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "libcore/config/config.h"
#include "protocol/si/messages.h"
#include "ykd/rm/user_resolver.h"

namespace yk::service {

/// The system's answers by user.
using LookedUp = std::map<std::string, GroupsAnswer>;
/// About how many bytes the answers take.
[[nodiscard]] std::size_t bytes_of(const LookedUp& answers);

class UserDirectory {
public:
    explicit UserDirectory(std::string rm_id) : rm_id_(std::move(rm_id)) {}

    /// Takes the partitions of `config`. A resolver whose type stays keeps the answers that it remembers.
    void configure(const config::Configuration& config);
    /// Forgets all partitions, as at a registration.
    void clear();
    /// How long an answer of the system is used.
    void set_validity(Duration valid);

    /// The users that have to be looked up before resolve() is called, each once.
    [[nodiscard]] std::vector<std::string> to_look_up(const si::ApplicationRequest& request, Instant now) const;
    /// Remembers the answers for requests to come, within a limit of bytes.
    void remember(const si::ApplicationRequest& request, const LookedUp& answers, Instant now);
    /// Puts users and groups into the request. Returns for each of request.add why it has to be rejected, empty if it
    /// has not. `asked`: when to_look_up() was called, so that an answer that was valid then is used. A user that is
    /// not known even so is rejected: a reload, or very many other requests, came in between.
    [[nodiscard]] std::vector<std::string> resolve(si::ApplicationRequest& request, const LookedUp& answers,
                                                   Instant asked);
    /// As to_look_up() and resolve() for one application, but nothing is remembered; for explanations.
    [[nodiscard]] bool needs_lookup(std::string_view partition, const ResolvedUser& sent, Instant now) const;
    [[nodiscard]] ResolvedUser preview(std::string_view partition, const ResolvedUser& sent, bool forced,
                                       const LookedUp& answers, Instant now) const;

private:
    struct Known {
        std::string type; // the configuration's
        UserResolver resolver;
    };
    [[nodiscard]] std::string short_name(std::string_view partition) const;
    // REQUIRES: mutex_ held. nullptr: there is no such partition.
    [[nodiscard]] const UserResolver* find(std::string_view partition) const;
    [[nodiscard]] UserResolver* find(std::string_view partition);

    const std::string rm_id_;
    mutable std::mutex mutex_;
    std::map<std::string, Known> partitions_; // by short name
    Duration valid_ = std::chrono::seconds{300};
};

} // namespace yk::service
