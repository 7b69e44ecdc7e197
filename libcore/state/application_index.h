// SPDX-License-Identifier: Apache-2.0
#pragma once
// ApplicationIndex: the applications that have not ended, by id.
//
// Owner: PartitionState. Thread: the partition's owner. Cost: a hash and one comparison.

#include <string_view>

#include "libcore/base/hash_index.h"
#include "libcore/base/slab.h"
#include "libcore/model/application.h"

namespace yk {

class ApplicationIndex {
public:
    explicit ApplicationIndex(const Slab<Application>& applications) : applications_(applications) {}
    ApplicationIndex(const ApplicationIndex&) = delete;
    ApplicationIndex& operator=(const ApplicationIndex&) = delete;

    /// The application; none: there is none.
    [[nodiscard]] ApplicationId find(std::string_view id) const {
        return ids_.find(hash_of(id), [&](ApplicationId known) { return applications_[known].id == id; });
    }
    /// REQUIRES: its id does not change until it is removed.
    void add(ApplicationId application) noexcept { ids_.insert(hash_of(applications_[application].id), application); }
    void remove(ApplicationId application) noexcept { ids_.erase(hash_of(applications_[application].id), application); }

    /// To be called now and then: returns the memory when most entries were removed.
    void give_back() { ids_.give_back(); }

private:
    [[nodiscard]] static std::uint32_t hash_of(std::string_view id) { return mix_hash(0, id); }

    const Slab<Application>& applications_;
    HashIndex<ApplicationId> ids_;
};

} // namespace yk
