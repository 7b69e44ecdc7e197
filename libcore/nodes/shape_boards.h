// SPDX-License-Identifier: Apache-2.0
#pragma once
// ShapeBoards: the nodes in the order of a policy that gives each node another score for each ask (F-030 to F-033). For
// each shape that is searched there is a board with the scores of all nodes. A node's scores change only when the node
// does, so the changes are noted in their order, and each board reads the latest when it is searched the next time. A
// score is a bound at first, which costs little, and becomes exact when no other one is lower.
//
// Owner: NodeCollection, which has them while such a policy is in force. Thread: the partition's owner. Knowledge, not
// state: a board may be dropped and made again at any time.
// Cost: a change a few instructions; a search a score for each node that changed since the last search of the shape,
// and one descent. A new board takes one pass over the nodes, as does each board when the workload changes.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libcore/model/shape.h"
#include "libcore/nodes/change_order.h"
#include "libcore/nodes/fragmentation.h"
#include "libcore/nodes/node_places.h"
#include "libcore/nodes/score_board.h"
#include "libcore/policies/node_sort_policy.h"

namespace yk {

class ShapeBoards {
public:
    /// REQUIRES: the policy says what each ask gains.
    ShapeBoards(const NodeSortPolicy& policy, const Slab<Node>& nodes, const ShapeTable& shapes);

    /// Which asks are expected from now on.
    void set_workload(Workload workload);
    [[nodiscard]] const Fragmentation& measure() const noexcept { return measure_; }
    /// The share of what is idle on schedulable nodes that nobody can use, as settle() found it; 0: nothing is idle.
    [[nodiscard]] double ratio() const noexcept {
        const double idle = all_.idle * measure_.weights();
        return idle > 0 ? all_.fragments / idle : 0.0;
    }

    /// A node; `before`: the one with the next lower id, none: it has the lowest.
    void add(NodeId id, NodeId before);
    void remove(NodeId id);
    /// To be called when amounts, devices or flags of the node changed.
    void changed(NodeId id) { changes_.note(places_.of(id)); }
    /// Brings what is known of the nodes up to date. Searches do so themselves.
    void settle();

    /// The device that a share of the shape should get on the node; none: the policy does not mind.
    [[nodiscard]] std::optional<DeviceUse> better_device(NodeId id, ShapeId shape) const noexcept {
        return nodes_[id].devices ? measure_.after(nodes_[id], shapes_[shape]).on : std::nullopt;
    }
    /// The first open node in order that can take the shape; none: no node can.
    [[nodiscard]] NodeId find_first(ShapeId id);
    /// All open nodes that can take the shape, in order.
    [[nodiscard]] std::vector<NodeId> in_order(const Shape& shape);
    void forget_shape(ShapeId id);

    /// Empty when what is known of the nodes is right.
    [[nodiscard]] std::string check();

private:
    using Score = std::int16_t;
    using Scores = ScoreBoard<Score>;
    static constexpr std::size_t kMostBoards = 256; // beyond that the one that was not searched for longest is dropped
    static constexpr double kMostScore = 32'000;    // scores beyond it are equal
    static constexpr std::uint32_t kNoBoard = ~std::uint32_t{0};

    /// What a score is made of, of a node.
    struct Facts {
        Lanes available = kClosed;
        double idle = 0;
        double other = 0;
        Fragments fragments = 0;
        double concerned = 0;      // weights of the shapes for which the node has fragments
        bool is_plain = false;     // its amounts say all
        std::uint32_t devices = 0; // so many of the measured resource
        std::int64_t device = 0;   // the size of one
    };
    /// What counts for ratio().
    struct Idle {
        double idle = 0;
        Fragments fragments = 0;
    };
    static constexpr Lanes kClosed{-1, -1, -1, -1}; // takes nothing, not even an ask without any of these
    /// And of an ask.
    struct Asked {
        Lanes need;
        double amount = 0; // of the measured resource
        double other = 0;
    };
    struct Board {
        ShapeId shape;
        Scores scores;
        std::vector<std::uint8_t> is_exact; // by place; 0: no score of the node is lower, but a higher one may be right
        ChangeOrder::Moment seen = 0;       // it knows the changes before it
        std::uint64_t epoch = 0;
        std::uint64_t used = 0;
    };

    void number_anew();
    void look_at(std::size_t place);
    [[nodiscard]] double learn_plain(const Node& node, Facts& facts) const noexcept;
    [[nodiscard]] double learn_any(const Node& node, Facts& facts) const noexcept;
    void renew_quantum();
    [[nodiscard]] Board& board_of(ShapeId id);
    void bring_up_to_date(Board& board);
    void fill(Board& board, const Asked& ask);
    [[nodiscard]] Asked asked(const Shape& shape) const noexcept;
    [[nodiscard]] double gain(Fragments before, Fragments after) const noexcept {
        return policy_.gain_for_ask({before, after});
    }
    [[nodiscard]] Score to_score(double gain) const noexcept;
    /// What an ask has to gain for this score, or a better one.
    [[nodiscard]] double enough_for(Score score) const noexcept { return -static_cast<double>(score) * quantum_; }
    [[nodiscard]] Score score_on(std::size_t place, const Asked& ask, double enough, Board& board) const noexcept;
    [[nodiscard]] Fragments left_after(const Asked& ask, const Facts& node) const noexcept;
    [[nodiscard]] Fragments left_after(const Shape& shape, std::size_t place) const noexcept;
    [[nodiscard]] Score exact_score(const Shape& shape, std::size_t place) const noexcept;

    const NodeSortPolicy& policy_;
    const Slab<Node>& nodes_;
    const ShapeTable& shapes_;
    Fragmentation measure_;
    NodePlaces places_;
    std::vector<Facts> facts_;                              // by place
    std::vector<Idle> idle_;                                // by place
    Idle all_;                                              // the sum of these
    ChangeOrder changes_;                                   // of places
    ChangeOrder::Moment settled_ = 0;                       // facts_ know the changes before it
    std::uint64_t epoch_ = 1;                               // all scores of before count no more
    std::map<std::int64_t, std::uint64_t> devices_of_size_; // so many devices in all
    double quantum_ = 0;                                    // by which the scores of this epoch were made
    double quanta_in_one_ = 0;
    bool sizes_changed_ = true; // of devices, or the workload
    bool all_stale_ = true;     // facts_ are of another workload
    std::vector<Board> boards_;
    std::vector<std::uint32_t> board_at_; // by index of the shape
    std::uint64_t uses_ = 0;
};

} // namespace yk
