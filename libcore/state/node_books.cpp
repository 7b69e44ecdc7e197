// SPDX-License-Identifier: Apache-2.0
#include "libcore/state/node_books.h"

#include <utility>

namespace yk {

NodeBooks NodeBookings::books_of(const BookedOnNode& booked) {
    NodeBooks books{{}, booked.allocations};
    for (const Quantity& each : booked.available) {
        if (each.value == 0) continue;
        books.available.emplace(each.name, each.value);
        if (books.available.size() == kMostTypes) break;
    }
    return books;
}

std::uint64_t NodeBookings::bytes_of(std::string_view node, const NodeBooks& books) {
    std::uint64_t bytes = node.size() + kPerEntry;
    for (const auto& [type, amount] : books.available) bytes += yk::bytes_of(type) + sizeof amount;
    return bytes;
}

void NodeBookings::set(std::string_view node, NodeBooks books) {
    erase(node);
    meter_.add(Held::Names, bytes_of(node, books));
    by_node_.emplace(node, std::move(books));
}

void NodeBookings::erase(std::string_view node) {
    const auto found = by_node_.find(node);
    if (found == by_node_.end()) return;
    meter_.take(Held::Names, bytes_of(node, found->second));
    by_node_.erase(found);
}

void NodeBookings::clear() {
    meter_.take(Held::Names, bytes());
    by_node_.clear();
}

std::uint64_t NodeBookings::bytes_of(std::string_view node) const {
    const auto found = by_node_.find(node);
    return found == by_node_.end() ? 0 : bytes_of(node, found->second);
}

std::uint64_t NodeBookings::bytes() const {
    std::uint64_t sum = 0;
    for (const auto& [node, books] : by_node_) sum += bytes_of(node, books);
    return sum;
}

} // namespace yk
