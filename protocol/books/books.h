// SPDX-License-Identifier: Apache-2.0
#pragma once
// Books: what an RM knows of its own nodes, applications, asks and allocations, from what it sent and what it was told.
// With them it can recover after a restart of either side (docs/spec/interface.md, section 3).
//
// Nothing is written here: changes() says what is to be written into a BookFile. Owner: BookKeeper.
// Thread: one. Costs about 200 bytes for each ask or allocation.
//
// REQUIRES: what the RM was told because of a request comes after that request and before the next one, as it does
// where the core is called.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libcore/base/result.h"
#include "protocol/books/book_file.h"
#include "protocol/si/messages.h"

namespace yk::books {

/// What became of something that an RM sent or has, as it was told, and as far as it matters for its books. Names are
/// the caller's.
struct Outcome {
    enum class What : std::uint8_t {
        NodeAccepted,
        NodeRejected, // a creation
        NodeFailed,   // another action
        ApplicationAccepted,
        ApplicationRejected,
        ApplicationEnded, // it completed or failed
        Placed,
        Released, // it is gone; `pending`: only if it was an ask
        Rejected, // an ask or a placement
    };
    What what{};
    std::string_view partition{}; // full or short
    std::string_view id{};        // of the node or application; of a foreign allocation empty
    std::string_view key{};
    std::string_view node{}; // Placed
    bool pending = false;
};

/// What became of one row since it was written last.
struct RowChange {
    RowKind kind{};
    bool is_new = false, erased = false;
    std::optional<std::string> body{}, node{};
};
using RowChanges = std::map<std::int64_t, RowChange>; // by seq

class Books {
public:
    /// Takes over a row of the file. To be called for all rows, before anything else. False: it cannot be understood.
    [[nodiscard]] bool load(const Row& row);

    // What the RM sends. `at` is the time of what names none itself, in seconds since 1970.
    void sent(const si::NodeRequest& request, std::int64_t at);
    void sent(const si::ApplicationRequest& request, std::int64_t at);
    void sent(const si::AllocationRequest& request, std::int64_t at);
    void note(const Outcome& outcome);
    /// Forgets what is in other partitions than these.
    void keep_partitions(const std::set<std::string>& names);

    /// What changed since forget_changes(). What the last request replaced counts as accepted from now on.
    [[nodiscard]] const RowChanges& changes();
    void forget_changes() { changes_.clear(); }

private:
    struct Node {
        std::int64_t seq = 0;
        bool accepted = false;
        si::NodeInfo info;                                            // as it would be created today
        std::vector<std::pair<std::string, std::string>> came_with{}; // allocations, until it is accepted
    };
    struct Ask {
        std::int64_t seq = 0;
        std::int64_t created = 0; // s since 1970
        bool placed = false;
        bool placeholder = false;
    };
    struct NameHash { // so that a view finds a name
        using is_transparent = void;
        std::size_t operator()(std::string_view name) const noexcept { return std::hash<std::string_view>{}(name); }
    };
    template <class Value>
    using ByName = std::unordered_map<std::string, Value, NameHash, std::equal_to<>>;

    using Asks = ByName<Ask>;
    struct Application {
        std::int64_t seq = 0;
        bool accepted = false;
        Asks asks;
    };
    struct Partition {
        ByName<Node> nodes;
        ByName<Application> applications;
        struct Foreign {
            std::int64_t seq = 0;
            std::string node;
        };
        ByName<Foreign> foreign;
    };
    /// A change of what exists, until it is known that it was not refused.
    struct Replacement {
        RowKind kind{};                          // Node, Ask or Foreign
        std::string partition, application, key; // `key`: of a node its id; `application`: empty, unless it is an ask
        std::optional<si::NodeInfo> info{};      // Node
        std::string body{}, node{};              // Ask, Foreign
    };

    void settle();
    void keep(const Replacement& replacement);
    void keep_foreign(Partition& partition, const Replacement& replacement);
    bool drop_replacement(RowKind kind, std::string_view partition, std::string_view application, std::string_view key);

    void sent_node(const si::NodeInfo& node, std::int64_t at);
    void sent_ask(si::AllocationAsk ask, std::int64_t at);
    void sent_allocation(const si::Allocation& allocation, std::int64_t at);
    void sent_foreign(si::Allocation allocation);
    void sent_release(const si::AllocationRelease& release);
    void sent_ask_release(const si::AllocationAskRelease& release);

    void reject_ask(std::string_view name, Partition& partition, std::string_view application, std::string_view key);
    void reject_node(std::string_view name, Partition& partition, std::string_view id);

    void erase_ask(Partition& partition, std::string_view application, std::string_view key);
    void erase_foreign(Partition& partition, std::string_view key);
    void erase_application(Partition& partition, std::string_view id);
    void erase_node(Partition& partition, std::string_view id);

    /// The partition of that name, made if there is none.
    [[nodiscard]] Partition& partition_named(std::string_view name);
    [[nodiscard]] static Ask* find_ask(Partition& partition, std::string_view application, std::string_view key);

    std::int64_t add(RowKind kind, std::string body, std::optional<std::string> node = {});
    void write_body(std::int64_t seq, RowKind kind, std::string body);
    void write_node(std::int64_t seq, RowKind kind, std::string node);
    void erase(std::int64_t seq, RowKind kind);

    std::map<std::string, Partition, std::less<>> partitions_; // by short name
    std::vector<Replacement> replaced_;                        // by the last request
    RowChanges changes_;
    std::int64_t last_seq_ = 0;
};

/// The name of a partition without its RM; empty stands for `default`. A part of `name`, or a constant.
[[nodiscard]] std::string_view short_partition(std::string_view name);
/// The partition that the attributes of a node name.
[[nodiscard]] std::string_view partition_of(const si::NodeInfo& node);

} // namespace yk::books
