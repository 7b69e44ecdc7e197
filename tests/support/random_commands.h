// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random command sequences over small clusters: seeded, the same for the same seed on every machine. The generator
// knows what it has sent, not what the core made of it, so commands stay meaningful when others are dropped.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/command_text.h"
#include "tests/support/random_config.h"

namespace yk::testing {

class RandomCommands {
public:
    enum class Mix : std::uint8_t { Plain, Gangs, Preemption };
    /// With Gangs: applications with placeholders and real asks for them, and an RM that confirms late, twice, never or
    /// with the wrong type.
    /// With Preemption: asks that preempt, allocations that may be preempted, and a configuration that lets them.
    explicit RandomCommands(std::uint64_t seed, Mix mix = Mix::Plain);

    /// The configuration first, then some nodes and applications, then `length` commands of every kind.
    [[nodiscard]] std::vector<Command> run(std::size_t length);

private:
    struct SentNode {
        std::string id, partition;
    };
    struct SentApp {
        std::string id, partition;
        std::vector<Element> asks; // as they were last sent
        std::string member;        // size of most members of its task groups
    };

    Command next();
    Command nodes();
    Command applications();
    Command asks();
    Command changed_ask();
    Command placement();
    Command release();
    Command release_everything(const SentApp& app);
    Command foreign();
    Command advance();
    Command gang();
    Command confirm();
    Command nonsense();

    Element new_node();
    Element changed_node();
    Element new_app();
    Element new_ask(SentApp& app);
    Element new_member(SentApp& app, bool placeholder);
    std::string resource(std::int64_t least, std::int64_t most, bool all_types);
    std::string ask_size();
    std::string device_list();
    void add_devices(Element& node);
    void add_device_ask(Element& element);
    SentApp* some_app();
    const SentNode* some_node(const std::string& partition);
    const Element* some_ask(SentApp*& app);
    [[nodiscard]] static Element in(const std::string& partition, std::string verb);

    Random random_;
    std::vector<std::string> types_;
    std::int64_t node_size_;
    RandomConfig config_;
    std::vector<SentNode> nodes_;
    std::vector<SentApp> apps_;
    std::vector<std::string> foreign_;
    std::int64_t ask_most_ = 0;
    std::size_t most_nodes_ = 0, most_apps_ = 0;
    bool old_asks_ = false; // creationTime tags in the past, so that reservations come at once
    bool priorities_ = false;
    bool required_ = false;
    bool devices_ = false;   // nodes with devices of `gpu`, and asks for them
    bool rare_type_ = false; // asks for a type that no node has, until one is updated
    bool gangs_ = false;
    bool preemption_ = false;
    int serial_ = 0;
};

} // namespace yk::testing
