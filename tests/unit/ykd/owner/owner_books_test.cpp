// SPDX-License-Identifier: Apache-2.0
// The books of an RM (protocol/books), kept from what it sends and is told while random commands go by, say after each
// command what the core has; and a core that recovers from them has the same again.

#include <iostream>
#include <set>

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "libcore/config/partition_names.h"
#include "libcore/partition/partition_context.h"
#include "tests/support/books_folder.h"
#include "tests/support/player.h"
#include "tests/support/random_commands.h"
#include "tests/support/recorder.h"
#include "tests/support/recovery_text.h"
#include "tests/support/shrink.h"
#include "ykd/core_gateway/translate.h"
#include "ykd/owner/owner_books.h"

namespace yk::testing {

namespace {

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define YK_FEWER_ROUNDS // each takes twenty times as long, and all but the keeper's thread is one thread
#endif
#endif
#ifdef YK_FEWER_ROUNDS
constexpr std::uint64_t kRounds = 3;
#else
constexpr std::uint64_t kRounds = 25;
#endif
constexpr std::size_t kLength = 120;
constexpr int kReopen = 7; // commands between two restarts

std::string text(std::string_view view) {
    return std::string{view};
}

std::optional<si::Resources> resources(const std::optional<Quantities>& from) {
    if (!from) return std::nullopt;
    si::Resources to;
    for (const Quantity& each : *from) to.emplace_back(each.name, each.value);
    return to;
}

si::StringMap map_of(const Tags& from) {
    si::StringMap to;
    for (const Tag& each : from) to.emplace_back(each.key, each.value);
    return to;
}

si::DevicesMap devices_of(const std::vector<DevicesSpec>& from) {
    si::DevicesMap to;
    for (const DevicesSpec& each : from) {
        auto& [name, devices] = to.emplace_back(each.name, si::Devices{each.count, each.each, {}});
        for (const DeviceAmount& one : each.on) devices.on.push_back({one.index, one.amount});
    }
    return to;
}

/// What an ask and a placement have in common.
template <class Message>
Message message_of(const AskSpec& from) {
    Message to;
    to.allocation_key = from.key;
    to.application_id = from.application;
    to.partition_name = from.partition;
    to.priority = from.priority;
    to.task_group_name = from.task_group;
    to.placeholder = from.placeholder;
    to.originator = from.originator;
    to.preemption_policy = {from.allow_preempt_self, from.allow_preempt_other};
    to.node_id = from.node;
    to.devices = devices_of(from.devices);
    return to;
}

si::AllocationAsk ask_of(const AskSpec& from) {
    auto to = message_of<si::AllocationAsk>(from);
    to.resource_ask = resources(from.resource);
    to.max_allocations = from.max_allocations;
    to.tags = map_of(from.tags);
    return to;
}

si::Allocation allocation_of(const AskSpec& from) {
    auto to = message_of<si::Allocation>(from);
    to.resource_per_alloc = resources(from.resource);
    to.allocation_tags = map_of(from.tags);
    return to;
}

si::AllocationRequest message_of(const AllocationRequest& from) {
    si::AllocationRequest to;
    for (const AskSpec& each : from.allocations) to.allocations.push_back(allocation_of(each));
    for (const AskSpec& each : from.asks) to.asks.push_back(ask_of(each));
    for (const ReleaseSpec& each : from.ask_releases)
        to.releases.allocation_asks_to_release.push_back({text(each.partition), text(each.application), text(each.key),
                                                          static_cast<si::TerminationType>(each.type),
                                                          text(each.message)});
    for (const ReleaseSpec& each : from.releases)
        to.releases.allocations_to_release.push_back({text(each.partition), text(each.application), text(each.key),
                                                      static_cast<si::TerminationType>(each.type), text(each.message),
                                                      each.keep_asks});
    return to;
}

si::ApplicationRequest message_of(const ApplicationRequest& from) {
    si::ApplicationRequest to;
    for (const ApplicationSpec& each : from.add) {
        si::AddApplicationRequest& add = to.add.emplace_back();
        add.application_id = each.id;
        add.queue_name = each.queue;
        add.partition_name = each.partition;
        add.ugi.user = each.user;
        add.ugi.groups.assign(each.groups.begin(), each.groups.end());
        add.tags = map_of(each.tags);
        add.execution_timeout_milli_seconds = each.execution_timeout_ms;
        add.placeholder_ask = resources(each.placeholder_ask);
        add.gang_scheduling_style = each.gang_style;
    }
    for (const RemoveApplicationSpec& each : from.remove) to.remove.push_back({text(each.id), text(each.partition)});
    return to;
}

si::NodeRequest message_of(const NodeRequest& from) {
    si::NodeRequest to;
    for (const NodeSpec& each : from.nodes) {
        si::NodeInfo& node = to.nodes.emplace_back();
        node.node_id = each.id;
        node.action = static_cast<si::NodeAction>(each.action);
        if (each.attributes) node.attributes = map_of(*each.attributes);
        node.schedulable_resource = resources(each.capacity);
        node.occupied_resource = resources(each.occupied);
        if (each.devices) {
            node.devices.emplace();
            for (const DeviceListSpec& kind : *each.devices) node.devices->emplace_back(kind.name, kind.sizes);
        }
        for (const AskSpec& one : each.existing) node.existing_allocations.push_back(allocation_of(one));
    }
    return to;
}

// --- a core with books ----------------------------------------------------------------------------------------------

/// A core as RmOwner has it: everything that goes in and out is noted.
class KeptCore {
public:
    KeptCore() { open_books(); }

    /// As a restart does: the books are closed, and read again.
    void open_books() {
        books.set_keeper(nullptr);
        auto keeper = books::BookKeeper::start(folder_.open(), [](const std::string&) {});
        books.set_keeper(std::move(keeper).value());
    }

    Result<void> configure(const config::Configuration& configuration, Instant now) {
        auto done = core.configure(configuration, now);
        if (done.ok()) books.note_configuration({}, false, core.partition_names());
        return done;
    }
    template <class Request>
    void apply(const Request& request, Instant now) {
        auto message = message_of(request);
        message.rm_id = "rm";
        books.note_sent(std::make_shared<const decltype(message)>(std::move(message)), now);
        core.apply(request, now);
    }
    bool apply(const CallAnswer& answer, Instant now) { return core.apply(answer, now); }
    CycleOutcome cycle(Instant now) { return core.cycle(now); }
    [[nodiscard]] std::optional<Instant> next_timer() const { return core.next_timer(); }
    void fire_timers(Instant now) { core.fire_timers(now); }
    ClusterRecovery& recovery() { return core.recovery(); }

    Recorder said;
    OwnerBooks books{said.callbacks};
    ClusterContext core{"rm", {}, books, said.events};

private:
    BooksFolder folder_;
};

/// The names and hashes of all that a core has.
std::set<std::string> items_in(ClusterContext& core) {
    std::set<std::string> items;
    for (const RecoveryKind kind : kRecoveryKinds)
        for (const RecoveryItem& each : core.recovery().items(kind, std::nullopt, std::nullopt, 100'000))
            items.insert(fmt::format("{} {} {} {}/{} {:x}", name_of(kind), each.partition, each.node, each.application,
                                     each.key, each.hash));
    return items;
}

std::string numbers(const si::RecoveryCounts& counts, const si::RecoveryDigests& digests) {
    return fmt::format("nodes {} {:x} applications {} {:x} allocations {} {:x} asks {}", counts.nodes, digests.nodes,
                       counts.applications, digests.applications, counts.allocations, digests.allocations,
                       counts.asks.value_or(0));
}

std::string numbers(const RecoveryView& view, std::uint64_t more_asks = 0) {
    si::RecoveryCounts counts;
    si::RecoveryDigests digests;
    counts.nodes = view.restored(RecoveryKind::Nodes).count();
    counts.applications = view.restored(RecoveryKind::Applications).count();
    counts.allocations = view.restored(RecoveryKind::Allocations).count();
    counts.asks = view.pending_asks() + more_asks;
    digests.nodes = view.restored(RecoveryKind::Nodes).sum();
    digests.applications = view.restored(RecoveryKind::Applications).sum();
    digests.allocations = view.restored(RecoveryKind::Allocations).sum();
    return numbers(counts, digests);
}

/// The configuration for a core that is to have the partitions of another one: names may differ in case.
config::Configuration configuration_of(const std::string& yaml, const ClusterContext& like) {
    auto loaded = load_configuration(yaml);
    config::PartitionNames names;
    for (const std::string& name : like.partition_names()) names.add(name);
    for (config::Partition& each : loaded->partitions) each.name = names.running(each.name);
    return std::move(loaded).value();
}

/// Real allocations that wait for their placeholder to be stopped: an RM does not know of them, so they are asks to it.
std::uint64_t waiting_for_placeholders(const ClusterContext& core) {
    std::uint64_t count = 0;
    for (const std::string& name : core.partition_names()) {
        const PartitionState& state = core.find_partition(name)->state();
        state.allocations.for_each([&](AllocationId id) {
            const Allocation& each = state.allocations[id];
            count += each.is(Allocation::InFlight) ? 1U : 0U;
        });
    }
    return count;
}

/// Replays the books into a new core. Returns what differs between the two cores and the books; empty: nothing.
std::string difference(KeptCore& kept, const std::string& configuration, Instant now) {
    kept.books.end_turn();
    Recorder said;
    ClusterContext again{"rm", {}, said.callbacks, said.events};
    if (!again.configure(configuration_of(configuration, kept.core), now).ok()) return "the configuration is refused";
    again.recovery().begin(true);
    Translator translator{[](std::string_view, const std::string&) {}};
    books::ReplaySink sink;
    sink.nodes = [&](const si::NodeRequest& request) { again.apply(translator.translate(request), now); };
    sink.allocations = [&](const si::AllocationRequest& request) { again.apply(translator.translate(request), now); };
    sink.applications = [&](const si::ApplicationRequest& request) {
        again.apply(translator.translate(request, std::vector<std::string>(request.add.size())), now);
    };
    const auto claim = kept.books.keeper()->replay("rm", sink);
    if (!claim.ok()) return claim.error().message;
    const std::string in_books = numbers(claim->expected, claim->digest),
                      in_core = numbers(kept.core.recovery().view(), waiting_for_placeholders(kept.core)),
                      in_copy = numbers(again.recovery().view());
    if (in_books == in_core && in_core == in_copy) return {};
    const auto original = items_in(kept.core), copy = items_in(again);
    std::string differs =
        fmt::format("core  {}\nbooks {}\ncopy  {} {}\n", in_core, in_books, in_copy, text_of(again.recovery().view()));
    for (const std::string& each : original)
        if (copy.count(each) == 0) differs += "  only in the core: " + each + "\n";
    for (const std::string& each : copy)
        if (original.count(each) == 0) differs += "  only in the copy: " + each + "\n";
    return differs;
}

/// The first difference with the command after which it came; empty: there is none.
std::string wrong(const std::vector<Command>& commands) {
    KeptCore kept;
    Instant now = kStart;
    std::string configuration;
    int count = 0;
    for (const Command& command : commands) {
        if (command.kind == CommandKind::Advance) {
            advance(kept, now, std::chrono::milliseconds{command.count});
        } else {
            const std::string outcome = play(kept, command, now);
            if (command.kind == CommandKind::Config && outcome == "ok") configuration = command.text;
        }
        if (++count % kReopen == 0) kept.open_books();
        if (auto differs = difference(kept, configuration, now); !differs.empty())
            return fmt::format("after {}:\n{}", print(command), differs);
    }
    return {};
}

/// The same commands, but each element alone where one request releases something: of such a request books cannot tell
/// in every case what came first.
std::vector<Command> set_apart(const std::vector<Command>& commands) {
    std::vector<Command> apart;
    for (const Command& command : commands) {
        bool is_plain = true;
        for (const Element& each : command.elements) is_plain = is_plain && each.verb != "release";
        if (is_plain || command.kind != CommandKind::Allocations) {
            apart.push_back(command);
            continue;
        }
        for (const Element& each : command.elements) apart.push_back({command.kind, {}, 0, {each}});
    }
    return apart;
}

/// What the commands leave different between the core, the books and a copy; empty: nothing.
std::string wrong(const std::string& lines) {
    const std::string queues = "queues: [{name: root, submitacl: '*', queues: [{name: q}]}]";
    auto commands = parse_commands("config partitions: [{name: default, " + queues + "}, {name: gpu, " + queues +
                                   "}]\n"
                                   "nodes create id=n1 res=vcore:10 | create id=n2 res=vcore:10 | "
                                   "create id=g part=gpu res=vcore:10\n"
                                   "apps new id=a queue=root.q user=u\n" +
                                   lines);
    REQUIRE(commands.ok());
    return wrong(*commands);
}

void try_seeds(RandomCommands::Mix mix) {
    for (const std::uint64_t seed : seeds(kRounds)) {
        INFO("YK_SEED=" << seed);
        const auto commands = set_apart(RandomCommands(seed, mix).run(kLength));
        if (wrong(commands).empty()) continue;
        const auto shorter = shrink(commands, [](const auto& list) { return !wrong(list).empty(); });
        std::cout << "# YK_SEED=" << seed << "\n" << print(shorter) << wrong(shorter) << std::endl;
        FAIL("YK_SEED=" << seed);
    }
}

} // namespace

TEST_CASE("I-114 I-265 of a request that names one object twice the books have what was not refused") {
    const std::string lines = GENERATE(as<std::string>{},
                                       // the first one is refused
                                       "alloc ask app=a key=k res=vcore:0 | ask app=a key=k res=vcore:2\n",
                                       "alloc ask app=a key=k res=vcore:1\n"
                                       "alloc ask app=a key=k res=vcore:0 | ask app=a key=k res=vcore:3\n",
                                       "alloc place app=a key=k res=vcore:1 node=no | place app=a key=k res=vcore:2 "
                                       "node=n1\n",
                                       "alloc place app=a key=k res=vcore:1 node=no | ask app=a key=k res=vcore:2\n",
                                       "alloc place key=f res=vcore:1 node=no tags=foreign:x | place key=f res=vcore:2 "
                                       "node=n1 tags=foreign:x\n",
                                       "nodes update id=n1 res=vcore:-1 | update id=n1 res=vcore:7\n",
                                       "nodes create id=m res=vcore:-1 | create id=m res=vcore:7\n",
                                       "apps new id=b queue=root.no.q user=u | new id=b queue=root.q user=u\n"
                                       "alloc place app=b key=k res=vcore:1 node=n1\n",
                                       // the second one is
                                       "alloc ask app=a key=k res=vcore:2 | ask app=a key=k res=vcore:0\n",
                                       "alloc place app=a key=k res=vcore:2 node=n1 | place app=a key=k res=vcore:3 "
                                       "node=n2\n",
                                       "nodes update id=n1 res=vcore:7 | update id=n1 res=vcore:-1\n",
                                       "nodes create id=m res=vcore:7 | create id=m res=vcore:8\n",
                                       // the one in the middle is
                                       "alloc ask app=a key=k res=vcore:2 | ask app=a key=k res=vcore:0 | "
                                       "ask app=a key=k res=vcore:4\n",
                                       "nodes drain id=n1 | update id=n1 res=vcore:-1 | update id=n1 res=vcore:7\n");
    INFO(lines);
    CHECK(wrong(lines).empty());
}

TEST_CASE("I-265 the books take a release for what the core takes it for, whatever else the request has") {
    const std::string lines =
        GENERATE(as<std::string>{},
                 // it is placed by the same request, so the release of the ask comes too late
                 "alloc ask app=a key=k res=vcore:1\nalloc place app=a key=k res=vcore:1 node=n1 | unask app=a key=k\n",
                 // it would have been
                 "alloc ask app=a key=k res=vcore:1\nalloc place app=a key=k res=vcore:1 node=no | unask app=a key=k\n",
                 "alloc place app=a key=k res=vcore:1 node=no | ask app=a key=k res=vcore:1 | unask app=a key=k\n",
                 "alloc place app=a key=k res=vcore:1 node=n1 | release part=[other]default app=a key=k type=1\n"
                 "alloc release part=[other]default app=a key=k type=1\napps remove part=[other]default id=a\n");
    INFO(lines);
    CHECK(wrong(lines).empty());
}

TEST_CASE("I-175 I-265 a node stays in its partition in the books, too, whatever a change of it names") {
    const std::string lines =
        GENERATE(as<std::string>{}, "nodes drain id=g\n", "nodes update id=g res=vcore:7\n",
                 "nodes update id=g part= res=vcore:7\n", "nodes decommission id=g\n",
                 "nodes update id=g part=default res=vcore:7\n", "nodes decommission id=n1 part=[other]default\n");
    INFO(lines);
    CHECK(wrong(lines).empty());
}

TEST_CASE("F-001 I-265 a node has in the books the capacity that it has, whatever becomes of its devices") {
    const std::string lines = "nodes create id=d res=vcore:5 dev=gpu:4\n";
    const std::string change = GENERATE(as<std::string>{}, "nodes update id=d dev=\n", "nodes update id=d dev=gpu:3\n",
                                        "nodes update id=d res=vcore:7\n", "nodes update id=d res=vcore:7 dev=\n",
                                        "nodes update id=d res=vcore:7,gpu:9 dev=\n", "nodes update id=d dev=fpga:2\n");
    INFO(change);
    CHECK(wrong(lines + change).empty());
}

TEST_CASE("I-265 I-266 the books of an RM say what the core has, and another core recovers from them") {
    try_seeds(RandomCommands::Mix::Plain);
}

TEST_CASE("I-265 I-266 the books of an RM with gangs") {
    try_seeds(RandomCommands::Mix::Gangs);
}

TEST_CASE("I-265 I-266 the books of an RM with preemption") {
    try_seeds(RandomCommands::Mix::Preemption);
}

} // namespace yk::testing
