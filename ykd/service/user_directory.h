#pragma once
// The resolvers of an RM's partitions (C-366). Looking a user up may block, which neither an owner thread nor a worker
// may: whom a request names (to_look_up) is looked up before the request is queued (user_lookup.h), and the owner gets
// the answers with it.
//
// Owner: Rm. Thread: any; a mutex guards the resolvers and is held for no lookup.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "libcore/config/config.h"
#include "protocol/si/messages.h"
#include "ykd/service/user_resolver.h"

namespace yk::service {

/// What the system answered, by user.
using LookedUp = std::map<std::string, GroupsAnswer>;
/// About.
[[nodiscard]] std::size_t bytes_of(const LookedUp& answers);

class UserDirectory {
public:
    explicit UserDirectory(std::string rm_id) : rm_id_(std::move(rm_id)) {}

    /// The partitions of `config`. A resolver whose type stays keeps what it remembers.
    void configure(const config::Configuration& config);
    /// Everything remembered goes, as at a registration.
    void clear();
    void set_validity(Duration valid);

    /// Whom resolve() will need to have been looked up, each once.
    [[nodiscard]] std::vector<std::string> to_look_up(const si::ApplicationRequest& request, Instant now) const;
    /// For requests to come; within a bound.
    void remember(const si::ApplicationRequest& request, const LookedUp& answers, Instant now);
    /// Puts users and groups into the request. Returns why an application has to be rejected, one text for each of
    /// request.add; empty: it has not. `asked`: when to_look_up() was called, or what is remembered could be out of
    /// date meanwhile. Who is not known even so is rejected: a reload overtook the request, or very many others did.
    [[nodiscard]] std::vector<std::string> resolve(si::ApplicationRequest& request, const LookedUp& answers,
                                                   Instant asked);
    /// As resolve() for one application, but nothing is remembered (explain).
    [[nodiscard]] bool needs_lookup(std::string_view partition, const ResolvedUser& sent, Instant now) const;
    [[nodiscard]] ResolvedUser preview(std::string_view partition, const ResolvedUser& sent, bool forced,
                                       const LookedUp& answers, Instant now) const;

private:
    struct Known {
        std::string type;
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
