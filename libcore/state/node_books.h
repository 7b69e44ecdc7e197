// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodeBookings: what an RM that recovers says that it has booked on its nodes (I-221). Their names count for the RM's
// budget.
//
// Owner: PartitionState; libcore/partition/restoration.cpp alone changes it. Thread: the partition's owner.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "libcore/ports/budget.h"
#include "libcore/ports/command.h"
#include "libcore/ports/view.h"
#include "libcore/resources/resource.h"

namespace yk {

struct NodeBooks {
    ResourceMapView available;
    std::uint64_t allocations = 0;
};

class NodeBookings {
public:
    /// Types of one node that are kept: one more than a partition has, so that a node with more is found incomplete.
    static constexpr std::size_t kMostTypes = kMaxResourceTypes + 1;

    explicit NodeBookings(BudgetMeter& meter) : meter_(meter) {}
    NodeBookings(const NodeBookings&) = delete;
    NodeBookings& operator=(const NodeBookings&) = delete;

    /// What is kept of the books of one node: amounts of 0 say nothing.
    [[nodiscard]] static NodeBooks books_of(const BookedOnNode& booked);
    /// What the budget counts for the books of one node.
    [[nodiscard]] static std::uint64_t bytes_of(std::string_view node, const NodeBooks& books);

    /// Takes the place of what is known of the node.
    void set(std::string_view node, NodeBooks books);
    void erase(std::string_view node);
    void clear();

    [[nodiscard]] const std::map<std::string, NodeBooks, std::less<>>& by_node() const noexcept { return by_node_; }
    /// What the budget counts for the node now.
    [[nodiscard]] std::uint64_t bytes_of(std::string_view node) const;
    /// What the budget counts for all of them, added up anew.
    [[nodiscard]] std::uint64_t bytes() const;

private:
    BudgetMeter& meter_;
    std::map<std::string, NodeBooks, std::less<>> by_node_;
};

} // namespace yk
