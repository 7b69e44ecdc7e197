// SPDX-License-Identifier: Apache-2.0
#pragma once
// RecoveryBooks: random books of a resource manager that restarts: what it has to replay, what of that was released or
// removed meanwhile, and what a core must have in the end. Seeded, the same for the same seed on every machine.
//
// An order of the replay is a list of commands; a straight one has applications, nodes, allocations, asks and then what
// removes something, each as a request of its own.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/time.h"
#include "libcore/ports/recovery.h"
#include "tests/support/command_text.h"
#include "tests/support/random_config.h"

namespace yk::testing {

/// An object by its partition and id.
using Name = std::pair<std::string, std::string>;

class RecoveryBooks {
public:
    explicit RecoveryBooks(std::uint64_t seed);

    /// The configuration and the begin of the recovery.
    [[nodiscard]] const std::vector<Command>& first() const { return first_; }
    /// Another order with each call; what comes earlier than what it names, and what is sent twice, differs, too.
    [[nodiscard]] std::vector<Command> any_order();

    // What is left in the end.
    [[nodiscard]] const std::map<std::string, RecoveryDigests>& digests() const { return digests_; } // by partition
    [[nodiscard]] std::uint64_t asks() const { return asks_; }
    /// The state of each application of which nothing was released (I-224).
    [[nodiscard]] const std::map<Name, std::string>& states() const { return states_; }
    /// When each of these was submitted: at the time of its tag, or of its oldest ask (I-225).
    [[nodiscard]] const std::map<Name, Instant>& submitted() const { return submitted_; }
    /// Application, key: what has to be announced to the RM.
    [[nodiscard]] const std::set<std::pair<Name, std::string>>& announced() const { return announced_; }
    /// The most that may be in use on a node at any time.
    [[nodiscard]] const std::map<Name, ResourceMapView>& most() const { return most_; }

private:
    using Amounts = ResourceMapView;
    struct Node {
        Name name;
        Element sent;
        Amounts capacity, occupied;
        bool drained = false;    // when it is created
        bool schedulable = true; // in the end
        bool removed = false;
    };
    struct Application {
        Name name;
        Element sent;
        std::int64_t created = 0;      // seconds
        std::int64_t placeholders = 0; // expected
        bool removed = false;
        bool changed = false; // something of it was released
    };
    struct Allocation {   // or an ask
        Name application; // the id is empty: foreign
        std::string key;
        Name node; // the id is empty: an ask
        Element sent;
        Amounts size;
        std::int64_t created = 0; // seconds
        bool placeholder = false;
        bool released = false;
        bool gone = false; // released, or with its application or node
    };
    /// What is sent in one go. `at`: its place in the order.
    struct Step {
        CommandKind kind{};
        std::vector<Element> elements;
        std::int64_t at = 0;
    };
    using Places = std::map<Name, std::int64_t>;

    void make_configuration();
    void make_nodes(const std::string& partition);
    void make_application(const std::string& partition);
    void make_gang(Application& application);
    void make_allocation(const Application& application, const Node& node, bool placeholder, const Amounts& size);
    void make_ask(const Application& application, bool placeholder, const Amounts& size);
    void make_foreign(const Node& node);
    void release_some();
    void add_up();
    void add_state(const Application& application);
    void book();

    void add_nodes(std::vector<Step>& steps, Places& ends);
    void add_applications(std::vector<Step>& steps, Places& ends);
    void add_allocations(std::vector<Step>& steps, const Places& ends_of_nodes, const Places& ends_of_applications);
    [[nodiscard]] std::vector<Command> grouped(const std::vector<Step>& steps);
    [[nodiscard]] std::int64_t anywhere() { return random_.between(kFirst, kLast); }
    [[nodiscard]] Amounts some(std::int64_t least, std::int64_t most);
    [[nodiscard]] std::string new_id(const char* prefix);

    static constexpr std::int64_t kFirst = 1'000, kLast = 1'000'000; // places in an order

    Random random_;
    std::vector<std::string> types_, partitions_;
    std::vector<Command> first_;
    std::vector<Node> nodes_;
    std::vector<Application> applications_;
    std::vector<Allocation> allocations_; // and asks
    int serial_ = 0;

    std::map<std::string, RecoveryDigests> digests_;
    std::uint64_t asks_ = 0;
    std::map<Name, std::string> states_;
    std::map<Name, Instant> submitted_;
    std::set<std::pair<Name, std::string>> announced_;
    std::map<Name, ResourceMapView> most_;
};

/// The same elements as requests of their own in the straight order, those that are sent twice included.
[[nodiscard]] std::vector<Command> straight_order(const std::vector<Command>& commands);

} // namespace yk::testing
