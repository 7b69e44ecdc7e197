// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random queue configurations that the loader accepts, and random changes to them.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace yk::testing {

/// splitmix64: the same numbers everywhere, unlike std::uniform_int_distribution.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next();
    std::int64_t between(std::int64_t least, std::int64_t most); // both included
    bool chance(int percent) { return between(1, 100) <= percent; }
    template <class T>
    T& of(std::vector<T>& all) {
        return all[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(all.size()) - 1))];
    }

private:
    std::uint64_t state_;
};

class RandomConfig {
public:
    /// `preemption`: with fences, policies, delays and both switches.
    RandomConfig(Random& random, std::vector<std::string> types, std::int64_t scale, bool preemption = false);

    [[nodiscard]] std::string text() const; // one line of YAML
    /// A change that the loader accepts; the text is the same when none was found.
    void change();
    /// A leaf of `partition`, now and then something that is none.
    [[nodiscard]] std::string some_queue(const std::string& partition);
    [[nodiscard]] std::vector<std::string> partitions() const;
    /// Those that limits name, and one of each that no limit names.
    [[nodiscard]] static std::vector<std::string> users() { return {"u0", "u1", "u2", "u3"}; }
    [[nodiscard]] static std::vector<std::string> groups() { return {"g0", "g1", "g2", "g3"}; }

private:
    struct Limit {
        std::vector<std::string> users, groups;
        std::map<std::string, std::int64_t> max;
        std::int64_t max_applications = 0;
    };
    struct Queue {
        std::string name;
        bool parent = false;
        std::vector<Queue> children;
        std::map<std::string, std::int64_t> max, guaranteed;
        std::int64_t max_applications = 0;
        std::map<std::string, std::string> properties;
        std::vector<Limit> limits; // of users and groups
    };
    struct Partition {
        std::string name;
        bool capital = false; // how the name is written (C-030)
        Queue root;
        std::string policy;
        std::map<std::string, std::int64_t> weights;
        std::string fragmentation; // how it is measured
    };

    Partition new_partition(const std::string& name);
    [[nodiscard]] std::string new_fragmentation();
    std::string new_name();
    Queue new_queue(const std::string& name, int depth);
    void new_limits(Queue& queue);
    void new_user_limits(Queue& queue, bool is_root);
    void add_user_limits(Queue& queue, bool is_root);
    std::vector<std::string> some_names(std::vector<std::string> all);
    void new_preemption(Queue& queue);
    void change_queue(Partition& partition);
    Queue& some(Queue& queue);
    static void strip(Queue& queue, int what);
    static std::string text_of(const Queue& queue);
    static std::string text_of(const Limit& limit);
    static void leaves(const Queue& queue, const std::string& path, std::vector<std::string>& found);
    bool is_valid() const;
    void make_valid();

    Random& random_;
    std::vector<std::string> types_;
    std::int64_t scale_;
    bool preemption_;
    std::vector<Partition> partitions_;
    int serial_ = 0;
    int limited_ = 0; // percent of queues with limits of users and groups
    int backoff_ = 5; // percent of queues with back-off
};

} // namespace yk::testing
