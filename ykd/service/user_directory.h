#pragma once
// The resolvers of an RM's partitions (C-366). Looking a user up may block, which an owner thread must not: a worker
// looks up what a request will need (look_up) before the request is queued, and the owner then finds it remembered.
//
// Owner: Rm. Thread: any; a mutex guards the resolvers. look_up() does not hold it while it waits; resolve() finds
// everybody remembered, but for those of a request that a reload overtook.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "libcore/config/config.h"
#include "protocol/si/messages.h"
#include "ykd/service/user_resolver.h"

namespace yk::service {

class UserDirectory {
public:
    explicit UserDirectory(std::string rm_id, GroupLookup system = system_groups)
        : rm_id_(std::move(rm_id)), system_(std::move(system)) {}

    /// The partitions of `config`. A resolver whose type stays keeps what it remembers.
    void configure(const config::Configuration& config);
    /// Everything remembered goes, as at a registration.
    void clear();
    void set_validity(Duration valid);

    /// Looks up who is not remembered. May block.
    void look_up(const si::ApplicationRequest& request, Instant now);
    /// Puts users and groups into the request. Returns why an application has to be rejected, one text for each of
    /// request.add; empty: it has not.
    [[nodiscard]] std::vector<std::string> resolve(si::ApplicationRequest& request, Instant now);
    /// As resolve() for one application, but nothing is remembered (explain). May block.
    [[nodiscard]] ResolvedUser preview(std::string_view partition, const ResolvedUser& sent, bool forced,
                                       Instant now) const;

private:
    struct Known {
        std::string type;
        UserResolver resolver;
    };
    [[nodiscard]] std::string short_name(std::string_view partition) const;

    const std::string rm_id_;
    const GroupLookup system_;
    mutable std::mutex mutex_;
    std::map<std::string, Known> partitions_; // by short name
    Duration valid_ = std::chrono::seconds{300};
};

} // namespace yk::service
