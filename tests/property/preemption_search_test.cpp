// SPDX-License-Identifier: Apache-2.0
// Queue preemption against an exhaustive search: on random small clusters, the fewest victims that the rules of
// protection allow (P-002 to P-007, P-052, P-053) in any order and on any node, compared with who is taken, and with
// what the order that P-051, P-054 and P-071 fix gives. All of it is written here again, with plain numbers.
// `property -s "issue 4*"` prints the figures.

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "tests/support/cluster.h"
#include "tests/support/random_config.h"

namespace yk::testing {

namespace {

constexpr std::size_t kTypes = 2;
using Amount = std::array<int, kTypes>;
constexpr std::uint64_t kClusters = 1000;
constexpr std::size_t kMostVictims = 9;

struct SmallQueue {
    std::string name;
    int parent = -1; // -1: below root
    std::optional<Amount> guaranteed;
    Amount used{};
};

struct SmallVictim {
    std::size_t queue = 0, node = 0;
    Amount size{};
};

struct SmallCluster {
    std::vector<SmallQueue> queues; // 0: the ask's
    std::vector<Amount> free;       // of the nodes
    std::vector<SmallVictim> victims;
    Amount ask{};
    Amount headroom{}; // of root
};

Amount plus(Amount a, const Amount& b, int sign = 1) {
    for (std::size_t t = 0; t < kTypes; ++t) a[t] += sign * b[t];
    return a;
}
bool holds(const Amount& big, const Amount& small) {
    for (std::size_t t = 0; t < kTypes; ++t)
        if (small[t] > 0 && small[t] > big[t]) return false;
    return true;
}
std::string text(const Amount& amount) {
    return fmt::format("memory:{},gpu:{}", amount[0], amount[1]);
}

SmallCluster random_cluster(Random& random) {
    SmallCluster c;
    const auto amount = [&random](int most) {
        return Amount{static_cast<int>(random.between(1, most)), static_cast<int>(random.between(1, most))};
    };
    c.queues.push_back({"ask", -1, amount(8), {}});
    c.queues.push_back({"p", -1, random.chance(30) ? std::optional{amount(4)} : std::nullopt, {}});
    for (int i = 0; i < 4; ++i)
        c.queues.push_back({fmt::format("q{}", i),
                            random.chance(50) ? 1 : -1,
                            random.chance(40) ? std::optional{amount(3)} : std::nullopt,
                            {}});
    for (std::size_t i = 2; i < c.queues.size(); ++i) // a parent guarantees what its children do, or nothing
        if (c.queues[1].guaranteed && c.queues[i].parent == 1 && c.queues[i].guaranteed)
            c.queues[1].guaranteed = plus(*c.queues[1].guaranteed, *c.queues[i].guaranteed);
    const auto nodes = random.between(1, 4);
    for (std::int64_t i = 0; i < nodes; ++i) c.free.push_back(plus({3, 3}, amount(7)));
    c.ask = amount(6);
    for (std::size_t i = 0; i < kMostVictims; ++i) {
        SmallVictim victim{static_cast<std::size_t>(random.between(2, 5)),
                           static_cast<std::size_t>(random.between(0, nodes - 1)), amount(4)};
        if (!holds(c.free[victim.node], victim.size)) continue;
        c.free[victim.node] = plus(c.free[victim.node], victim.size, -1);
        for (int q = static_cast<int>(victim.queue); q >= 0; q = c.queues[static_cast<std::size_t>(q)].parent)
            c.queues[static_cast<std::size_t>(q)].used = plus(c.queues[static_cast<std::size_t>(q)].used, victim.size);
        c.victims.push_back(victim);
    }
    for (const Amount& free : c.free) c.headroom = plus(c.headroom, free);
    return c;
}

/// The rules for one set of victims taken so far.
class Rules {
public:
    explicit Rules(const SmallCluster& cluster) : c_(cluster) {}

    [[nodiscard]] bool may_take(std::uint32_t taken, std::size_t victim) const {
        return may_go(taken, victim) && may_charge(taken | 1U << victim);
    }
    /// A leaf within its guarantee gives nobody, and no queue above it comes below its own (P-043, P-052).
    [[nodiscard]] bool may_go(std::uint32_t taken, std::size_t victim) const {
        const SmallVictim& v = c_.victims[victim];
        const auto before = remaining(v.queue, taken);
        const auto at_first = remaining(v.queue, 0);
        if (at_first && std::none_of(at_first->begin(), at_first->end(), [](auto& e) { return e.second < 0; }))
            return false; // the leaf is within its guarantee (P-043)
        if (before && std::none_of(before->begin(), before->end(), [](auto& e) { return e.second < 0; })) return false;
        const std::uint32_t after = taken | 1U << victim;
        for (int q = static_cast<int>(v.queue); q >= 0; q = c_.queues[static_cast<std::size_t>(q)].parent) {
            const SmallQueue& queue = c_.queues[static_cast<std::size_t>(q)];
            const Amount left = used(static_cast<std::size_t>(q), after);
            for (std::size_t t = 0; t < kTypes; ++t)
                if (queue.guaranteed && left[t] < (*queue.guaranteed)[t]) return false; // P-052 (b)
        }
        return true;
    }
    /// P-053 for all of `charged`.
    [[nodiscard]] bool may_charge(std::uint32_t charged) const { return holds(*c_.queues[0].guaranteed, sum(charged)); }
    [[nodiscard]] bool is_enough(std::uint32_t taken) const {
        if (!holds(plus(c_.headroom, sum(taken)), c_.ask)) return false;
        for (std::size_t n = 0; n < c_.free.size(); ++n) {
            Amount free = c_.free[n];
            for (std::size_t v = 0; v < c_.victims.size(); ++v)
                if ((taken >> v & 1U) != 0 && c_.victims[v].node == n) free = plus(free, c_.victims[v].size);
            if (holds(free, c_.ask)) return true;
        }
        return false;
    }
    /// P-040: the ask's queue is empty, so its guarantee is what is left of it.
    [[nodiscard]] bool is_eligible() const { return holds(*c_.queues[0].guaranteed, c_.ask); }

    [[nodiscard]] Amount sum(std::uint32_t taken) const {
        Amount total{};
        for (std::size_t v = 0; v < c_.victims.size(); ++v)
            if ((taken >> v & 1U) != 0) total = plus(total, c_.victims[v].size);
        return total;
    }

private:
    [[nodiscard]] Amount used(std::size_t queue, std::uint32_t taken) const {
        Amount used = c_.queues[queue].used;
        for (std::size_t v = 0; v < c_.victims.size(); ++v) {
            if ((taken >> v & 1U) == 0) continue;
            for (int q = static_cast<int>(c_.victims[v].queue); q >= 0;
                 q = c_.queues[static_cast<std::size_t>(q)].parent)
                if (static_cast<std::size_t>(q) == queue) used = plus(used, c_.victims[v].size, -1);
        }
        return used;
    }
    /// P-030 for a queue that is not above the ask's.
    [[nodiscard]] std::optional<std::map<std::size_t, int>> remaining(std::size_t queue, std::uint32_t taken) const {
        std::optional<std::map<std::size_t, int>> left;
        for (int q = static_cast<int>(queue); q >= 0; q = c_.queues[static_cast<std::size_t>(q)].parent) {
            const auto& guaranteed = c_.queues[static_cast<std::size_t>(q)].guaranteed;
            if (!guaranteed) continue;
            if (!left) left.emplace();
            const Amount now = used(static_cast<std::size_t>(q), taken);
            for (std::size_t t = 0; t < kTypes; ++t) {
                const auto [entry, first] = left->emplace(t, (*guaranteed)[t] - now[t]);
                if (!first) entry->second = std::min(entry->second, (*guaranteed)[t] - now[t]);
            }
        }
        return left;
    }
    const SmallCluster& c_;
};

/// The fewest victims with which the ask can be placed; nullopt: no allowed set does it.
std::optional<int> fewest(const SmallCluster& cluster) {
    const Rules rules{cluster};
    if (!rules.is_eligible()) return std::nullopt;
    const std::uint32_t sets = 1U << cluster.victims.size();
    std::vector<bool> reached(sets, false);
    reached[0] = true;
    std::optional<int> best;
    for (std::uint32_t taken = 0; taken < sets; ++taken) { // a set comes after those with one less
        if (!reached[taken]) continue;
        const int count = __builtin_popcount(taken);
        if (count > 0 && rules.is_enough(taken) && (!best || count < *best)) best = count;
        for (std::size_t v = 0; v < cluster.victims.size(); ++v)
            if ((taken >> v & 1U) == 0 && rules.may_take(taken, v)) reached[taken | 1U << v] = true;
    }
    return best;
}

/// What sections 3.6 to 3.8 prescribe, step by step; all victims are alike but for their age.
class Prescribed {
public:
    explicit Prescribed(const SmallCluster& cluster) : c_(cluster), rules_(cluster) {}

    /// How many victims; 0: the attempt fails. `trims`: those of the node that turn out not to be needed are given
    /// back, which P-063 forbids.
    [[nodiscard]] int victims(bool trims) const {
        if (!rules_.is_eligible()) return 0;
        const bool tried = holds(c_.headroom, c_.ask); // point B of P-020
        std::optional<std::uint32_t> best;
        for (std::size_t node = 0; node < c_.free.size(); ++node) {
            if (!tried && holds(c_.free[node], c_.ask)) { // P-054: an empty plan costs nothing
                best = 0;
                break;
            }
            std::optional<std::uint32_t> plan = plan_on(node);
            if (plan && trims) plan = trimmed(node, *plan);
            if (plan && (!best || __builtin_popcount(*plan) < __builtin_popcount(*best))) best = plan;
        }
        return best ? with_extras(*best) : 0;
    }

private:
    /// P-051: newest first.
    template <class F>
    void in_order(F&& f) const {
        for (std::size_t v = c_.victims.size(); v-- > 0;) f(v);
    }
    [[nodiscard]] static bool lowers(const Amount& size, const Amount& missing) {
        return (missing[0] > 0 && size[0] > 0) || (missing[1] > 0 && size[1] > 0);
    }
    /// The victims on one node until the ask fits there, those that help first; none: it never does (P-054).
    [[nodiscard]] std::optional<std::uint32_t> plan_on(std::size_t node) const {
        std::vector<std::size_t> head, tail;
        std::uint32_t taken = 0;
        Amount free = c_.free[node];
        in_order([&](std::size_t v) {
            if (c_.victims[v].node != node || !rules_.may_take(taken, v)) return;
            if (!lowers(c_.victims[v].size, plus(c_.ask, free, -1))) return tail.push_back(v);
            taken |= 1U << v;
            free = plus(free, c_.victims[v].size);
            head.push_back(v);
        });
        head.insert(head.end(), tail.begin(), tail.end());
        taken = 0;
        free = c_.free[node];
        for (const std::size_t v : head) {
            if (!rules_.may_go(taken, v)) continue;
            taken |= 1U << v;
            free = plus(free, c_.victims[v].size);
            if (holds(free, c_.ask)) return taken;
        }
        return std::nullopt;
    }
    [[nodiscard]] std::uint32_t trimmed(std::size_t node, std::uint32_t plan) const {
        for (std::size_t v = 0; v < c_.victims.size(); ++v) // oldest first: the other way round than they were taken
            if (const std::uint32_t less = plan & ~(1U << v);
                less != plan && holds(plus(c_.free[node], rules_.sum(less)), c_.ask))
                plan = less;
        return plan;
    }
    /// How many go with those of any node that the maxima of its queues take besides; 0: never enough (P-070, P-071).
    [[nodiscard]] int with_extras(std::uint32_t node_victims) const {
        const auto missing = [&](std::uint32_t taken) {
            return plus(plus(c_.ask, c_.headroom, -1), rules_.sum(taken), -1);
        };
        const auto enough = [&](std::uint32_t taken) { return holds(Amount{}, missing(taken)); };
        std::uint32_t taken = node_victims;
        std::vector<std::size_t> extras;
        in_order([&](std::size_t v) {
            if (enough(taken) || (taken >> v & 1U) != 0 || !rules_.may_take(taken, v)) return;
            if (!lowers(c_.victims[v].size, missing(taken))) return;
            taken |= 1U << v;
            extras.push_back(v);
        });
        if (!enough(taken)) return 0;
        for (std::size_t i = extras.size(); i-- > 0;)
            if (const std::uint32_t less = taken & ~(1U << extras[i]); enough(less)) taken = less;
        return __builtin_popcount(taken);
    }

    const SmallCluster& c_;
    Rules rules_;
};

/// Who is taken by the core: how many; nullopt: the ask needs nobody.
std::optional<int> taken_by_core(const SmallCluster& small) {
    const auto resources = [](const SmallQueue& queue) {
        if (!queue.guaranteed) return std::string{};
        return fmt::format(", resources: {{guaranteed: {{memory: {}, gpu: {}}}}}", (*queue.guaranteed)[0],
                           (*queue.guaranteed)[1]);
    };
    std::string top, inner;
    for (std::size_t i = 0; i < small.queues.size(); ++i) {
        const SmallQueue& queue = small.queues[i];
        if (i == 1) continue;
        (queue.parent == 1 ? inner : top) += fmt::format("{{name: {}{}}}, ", queue.name, resources(queue));
    }
    Cluster c{fmt::format("[{}{{name: p, parent: true{}, queues: [{}]}}]", top, resources(small.queues[1]), inner)};
    c.application("x", "root.ask");
    for (std::size_t i = 2; i < small.queues.size(); ++i)
        c.application(small.queues[i].name,
                      fmt::format("root.{}{}", small.queues[i].parent == 1 ? "p." : "", small.queues[i].name));
    for (std::size_t n = 0; n < small.free.size(); ++n) {
        Amount size = small.free[n];
        for (const SmallVictim& victim : small.victims)
            if (victim.node == n) size = plus(size, victim.size);
        c.node(fmt::format("n-{}", n), text(size));
    }
    for (std::size_t v = 0; v < small.victims.size(); ++v)
        c.victim(small.queues[small.victims[v].queue].name, fmt::format("v{}", v), text(small.victims[v].size),
                 fmt::format("n-{}", small.victims[v].node), static_cast<int>(v) + 1);
    c.ask("x", "k", text(small.ask), "other=1 tags=creationTime:1000").cycles(3);
    if (c.allocations_of("x") > 0) return std::nullopt;
    const std::string victims = c.preempted();
    return victims.empty() ? 0 : static_cast<int>(std::count(victims.begin(), victims.end(), ' ')) + 1;
}

} // namespace

TEST_CASE("issue 4: victims compared with the fewest that the rules allow, on 1,000 small clusters") {
    int compared = 0, equal = 0, more = 0, more_by = 0, missed = 0, none = 0, trimming = 0;
    for (std::uint64_t seed = 1; seed <= kClusters; ++seed) {
        INFO("cluster " << seed);
        Random random{seed};
        const SmallCluster cluster = random_cluster(random);
        const std::optional<int> taken = taken_by_core(cluster);
        if (!taken) continue; // it fits as it is
        const std::optional<int> best = fewest(cluster);
        const Prescribed prescribed{cluster};
        CHECK(*taken == prescribed.victims(false)); // so whatever is more, or missed, is the prescribed order's
        ++compared;
        if (!best) {
            CHECK(*taken == 0); // nobody may be taken
            ++none;
        } else if (*taken == 0) {
            ++missed;
        } else {
            CHECK(*taken >= *best);
            *taken == *best ? ++equal : ++more;
            more_by += *taken - *best;
            trimming += *taken > *best && prescribed.victims(true) == *best ? 1 : 0;
        }
    }
    const std::string figures =
        fmt::format("{} asks compared: {} have no allowed set, {} as few as possible, {} with more "
                    "({} victims more in all; {} of them would have the fewest if unneeded victims of the node were "
                    "given back, which P-063 forbids), {} given up although a set exists",
                    compared, none, equal, more, more_by, trimming, missed);
    INFO(figures);
    CHECK(compared > 300);
    CHECK(equal > 100);
    CHECK(more * 10 <= equal);   // the order of P-051 comes before the count
    CHECK(missed * 10 <= equal); // a prefix of that order is taken, not any set
    SUCCEED(figures);
}

} // namespace yk::testing
