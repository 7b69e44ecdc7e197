// SPDX-License-Identifier: Apache-2.0
#include "libcore/state/quarantine.h"

#include <numeric>
#include <utility>

#include "libcore/base/check.h"

namespace yk {

std::string_view QuarantinedObject::application_id() const {
    if (ask) return (*ask)->application;
    return application ? (*application)->id : std::string_view{};
}

std::uint64_t bytes_of(const QuarantinedObject& object) {
    const std::uint64_t texts =
        (object.ask ? object.ask->size() : 0) + (object.application ? object.application->size() : 0);
    return texts + 2 * kPerEntry + bytes_of(object.node);
}

Quarantine::Identity Quarantine::identity_of(const QuarantinedObject& object) {
    if (object.kind == RecoveryKind::Nodes) return {object.kind, object.node, {}, {}};
    return {object.kind, std::string{object.application_id()}, std::string{object.key()}, object.node};
}

void Quarantine::add(Serial serial, QuarantinedObject object) {
    [[maybe_unused]] const bool is_new = identities_.emplace(identity_of(object), serial).second;
    YK_ASSUME(is_new, "an object is in quarantine once");
    if (object.kind == RecoveryKind::Allocations) {
        by_application_.emplace(object.application_id(), serial);
        if (!object.node.empty()) by_node_.emplace(object.node, serial);
    }
    counts_.at(static_cast<std::size_t>(object.reason)) += object.is_ask() ? 0U : 1U;
    meter_.add(Held::Asks);
    meter_.add(Held::Names, bytes_of(object));
    objects_.emplace(serial, std::move(object));
}

QuarantinedObject Quarantine::take(Serial serial) {
    auto found = objects_.extract(serial);
    YK_ASSUME(!found.empty(), "it is in quarantine");
    QuarantinedObject object = std::move(found.mapped());
    identities_.erase(identity_of(object));
    if (object.kind == RecoveryKind::Allocations) {
        by_application_.erase({std::string{object.application_id()}, serial});
        by_node_.erase({object.node, serial});
    }
    counts_.at(static_cast<std::size_t>(object.reason)) -= object.is_ask() ? 0U : 1U;
    meter_.take(Held::Asks);
    meter_.take(Held::Names, bytes_of(object));
    return object;
}

std::uint64_t Quarantine::counted() const noexcept {
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

std::optional<Quarantine::Serial> Quarantine::find(const Identity& identity) const {
    const auto found = identities_.find(identity);
    if (found == identities_.end()) return std::nullopt;
    return found->second;
}

std::optional<Quarantine::Serial> Quarantine::find_node(std::string_view node) const {
    return find({RecoveryKind::Nodes, std::string{node}, {}, {}});
}

std::optional<Quarantine::Serial> Quarantine::find_application(std::string_view application) const {
    return find({RecoveryKind::Applications, std::string{application}, {}, {}});
}

std::vector<Quarantine::Serial> Quarantine::find_allocations(std::string_view application, std::string_view key) const {
    const Identity first{RecoveryKind::Allocations, std::string{application}, std::string{key}, {}};
    const auto is_of = [&](const Identity& each) {
        return std::get<0>(each) == RecoveryKind::Allocations && std::get<1>(each) == application &&
               std::get<2>(each) == key;
    };
    std::vector<Serial> serials;
    for (auto each = identities_.lower_bound(first); each != identities_.end() && is_of(each->first); ++each)
        serials.push_back(each->second);
    return serials;
}

std::vector<Quarantine::Serial> Quarantine::list(const ByName& names, std::string_view name) {
    std::vector<Serial> serials;
    for (auto each = names.lower_bound({std::string{name}, 0}); each != names.end() && each->first == name; ++each)
        serials.push_back(each->second);
    return serials;
}

std::vector<Quarantine::Serial> Quarantine::of_application(std::string_view application) const {
    return list(by_application_, application);
}

std::vector<Quarantine::Serial> Quarantine::on_node(std::string_view node) const {
    return list(by_node_, node);
}

std::uint64_t Quarantine::bytes() const {
    std::uint64_t sum = 0;
    for (const auto& [serial, object] : objects_) sum += bytes_of(object);
    return sum;
}

} // namespace yk
