// SPDX-License-Identifier: Apache-2.0
#pragma once
// Books: what an RM knows of its own nodes, applications, asks and allocations, from what it sent and was notified of.
// With them it can recover after a restart of either side (docs/spec/interface.md, section 3).
//
// Nothing is written here: changes() says what is to be written into a BookFile. Owner: BookKeeper.
// Thread: one. Costs about 200 bytes for each ask or allocation.
//
// REQUIRES: the notices because of a request come after that request and before the next one, as they do
// where the core is called; which elements were refused is said with the request.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/by_text.h"
#include "libcore/base/result.h"
#include "protocol/books/book_file.h"
#include "protocol/si/messages.h"

namespace yk::books {

/// The lists of requests whose elements may be refused. `Allocations` of a request for nodes: what all of its nodes
/// bring, counted through.
enum class ElementList : std::uint8_t { Nodes, Applications, Allocations, Asks };

/// Which elements of a request were refused. A request may name one thing twice (I-114), so names do not say that.
class RefusedElements {
public:
    void add(ElementList list, std::uint32_t element) { all_.emplace_back(list, element); }
    /// To be called before has().
    void sort();
    [[nodiscard]] bool has(ElementList list, std::size_t element) const;

private:
    std::vector<std::pair<ElementList, std::uint32_t>> all_;
};

/// What became of something that an RM sent or has, by its notices, and as far as it matters for its books. Names are
/// the caller's. What is refused at once is no outcome, but a part of its request.
struct Outcome {
    enum class What : std::uint8_t {
        ApplicationAccepted,
        ApplicationRejected, // later: it was set aside (I-242)
        ApplicationEnded,    // it completed or failed
        Placed,
        Released, // it is gone; `pending`: only if it was an ask
        Rejected, // later: an ask or a placement that was set aside
    };
    What what{};
    std::string_view partition{}; // full or short
    std::string_view id{};        // of the application; of a foreign allocation empty
    std::string_view key{};
    std::string_view place{}; // Placed: place_text()
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
    void sent(const si::NodeRequest& request, std::int64_t at, const RefusedElements& refused);
    void sent(const si::ApplicationRequest& request, std::int64_t at, const RefusedElements& refused);
    void sent(const si::AllocationRequest& request, std::int64_t at, const RefusedElements& refused);
    void note(const Outcome& outcome);
    /// Forgets what is in other partitions than these.
    void keep_partitions(const std::set<std::string>& names);

    /// What changed since forget_changes().
    [[nodiscard]] const RowChanges& changes() const { return changes_; }
    void forget_changes() { changes_.clear(); }

private:
    struct Node {
        std::int64_t seq = 0;
        si::NodeInfo info; // as it would be created today
    };
    struct Ask {
        std::int64_t seq = 0;
        std::int64_t created = 0; // s since 1970
        bool placed = false;
        bool placeholder = false;
    };
    using Asks = ByText<Ask>;
    struct Application {
        std::int64_t seq = 0; // 0: it has not come yet, and its asks wait for it (I-226)
        bool accepted = false;
        Asks asks{};
    };
    struct Partition {
        ByText<Node> nodes;
        ByText<Application> applications;
        struct Foreign {
            std::int64_t seq = 0;
            std::string node;
        };
        ByText<Foreign> foreign;
    };

    void create_node(const si::NodeInfo& node);
    void change_node(const si::NodeInfo& node, std::string_view rm_id);
    void sent_ask(si::AllocationAsk ask, std::int64_t at);
    void sent_allocation(const si::Allocation& allocation, std::int64_t at);
    void sent_foreign(si::Allocation allocation);
    void sent_release(Partition& partition, const si::AllocationRelease& release);
    void sent_ask_release(Partition& partition, const si::AllocationAskRelease& release);
    void reject_ask(Partition& partition, std::string_view application, std::string_view key);

    void erase_ask(Partition& partition, std::string_view application, std::string_view key);
    void erase_foreign(Partition& partition, std::string_view key);
    void erase_application(Partition& partition, std::string_view id);
    void erase_node(Partition& partition, std::string_view id);

    /// The partition of that name, made if there is none.
    [[nodiscard]] Partition& partition_named(std::string_view name);
    /// What the RM means by the name; nullptr: nothing of it is in the books.
    [[nodiscard]] Partition* find_partition(std::string_view name, std::string_view rm_id);
    /// The partition that has the node; nullptr: there is no such node.
    [[nodiscard]] Partition* partition_with(const si::NodeInfo& node, std::string_view rm_id);
    [[nodiscard]] static Ask* find_ask(Partition& partition, std::string_view application, std::string_view key);

    std::int64_t add(RowKind kind, std::string body, std::optional<std::string> node = {});
    void write_body(std::int64_t seq, RowKind kind, std::string body);
    void write_node(std::int64_t seq, RowKind kind, std::string node);
    void erase(std::int64_t seq, RowKind kind);

    std::map<std::string, Partition, std::less<>> partitions_; // by short name
    RowChanges changes_;
    std::int64_t last_seq_ = 0;
};

/// The name of a partition without its RM; empty stands for `default`. A part of `name`, or a constant.
[[nodiscard]] std::string_view short_partition(std::string_view name);
/// The partition that the attributes of a node name.
[[nodiscard]] std::string_view partition_of(const si::NodeInfo& node);

} // namespace yk::books
