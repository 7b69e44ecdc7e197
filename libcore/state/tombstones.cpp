// SPDX-License-Identifier: Apache-2.0
#include "libcore/state/tombstones.h"

namespace yk {

std::uint64_t Tombstones::bytes_of(const Releases::value_type& release) {
    return bytes_of(release.first.first.size() + release.first.second.size() + release.second.message.size());
}

void Tombstones::add_release(std::string_view application, std::string_view key, Tombstone tombstone) {
    static_cast<void>(take_release(application, key));
    const auto [made, is_new] =
        releases_.emplace(std::pair{std::string{application}, std::string{key}}, std::move(tombstone));
    meter_.add(Held::Names, bytes_of(*made));
}

std::optional<Tombstone> Tombstones::take_release(std::string_view application, std::string_view key) {
    if (releases_.empty()) return std::nullopt;
    const auto found = releases_.find({std::string{application}, std::string{key}});
    if (found == releases_.end()) return std::nullopt;
    meter_.take(Held::Names, bytes_of(*found));
    return std::move(releases_.extract(found).mapped());
}

void Tombstones::add(Ids& ids, std::string_view id) {
    if (ids.emplace(id).second) meter_.add(Held::Names, bytes_of(id.size()));
}

bool Tombstones::take(Ids& ids, std::string_view id) {
    const auto found = ids.find(id);
    if (found == ids.end()) return false;
    meter_.take(Held::Names, bytes_of(id.size()));
    ids.erase(found);
    return true;
}

void Tombstones::add_application(std::string_view id) {
    add(applications_, id);
}
bool Tombstones::take_application(std::string_view id) {
    return take(applications_, id);
}
void Tombstones::add_node(std::string_view id) {
    add(nodes_, id);
}
bool Tombstones::take_node(std::string_view id) {
    return take(nodes_, id);
}

void Tombstones::clear() {
    meter_.take(Held::Names, bytes());
    releases_.clear();
    applications_.clear();
    nodes_.clear();
}

std::uint64_t Tombstones::bytes() const {
    std::uint64_t sum = 0;
    for (const auto& release : releases_) sum += bytes_of(release);
    for (const Ids* ids : {&applications_, &nodes_})
        for (const std::string& id : *ids) sum += bytes_of(id.size());
    return sum;
}

} // namespace yk
