// SPDX-License-Identifier: Apache-2.0
// Recordings: what ykd --record writes, and its playback.

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "libcore/config_yaml/dump.h"
#include "libcore/config_yaml/load.h"
#include "protocol/wire/body_reader.h"
#include "tests/support/system/temp_dir.h"
#include "ykd/core_gateway/core_gateway.h"
#include "ykd/core_gateway/playback.h"
#include "ykd/recording/recording.h"

using namespace yk;

namespace {

constexpr Instant kStart{1'763'675'442'123'456'789};
constexpr Duration kSecond = std::chrono::seconds{1};

class NoTranscript final : public Transcript {
    void say(Kind, std::string) override {}
};

config::Configuration configuration(const std::string& max, const std::string& below = {}) {
    const auto loaded =
        config_yaml::load("partitions: [{name: default, placementrules: [{name: provided, create: true}],"
                          " queues: [{name: root, submitacl: \"*\", queues: [{name: a, resources: {max: {vcore: " +
                              max + "}}" + below + "}, {name: b, parent: true}]}]}]",
                          "test");
    REQUIRE(loaded.configuration);
    return *loaded.configuration;
}

/// A small story with every command there is.
class Story {
public:
    explicit Story(const std::string& directory, std::string* failure = nullptr) {
        auto opened =
            Recordings::open(directory, "1.2.3", [failure](const std::string& rm_id, const std::string& fault) {
                CHECK(rm_id == "rm/1");
                if (failure != nullptr) *failure = fault;
            });
        REQUIRE(opened.ok());
        Settings settings;
        settings.inspection_interval = 2 * kSecond;
        auto writer = (*opened)->begin({{}, "rm/1", 7, kStart, settings});
        REQUIRE(writer != nullptr);
        gateway_ = std::make_unique<CoreGateway>(
            "rm/1", settings, no_transcript_, no_transcript_, [](std::string_view, const std::string&) {},
            std::move(writer));
        REQUIRE(gateway_->configure(configuration("4"), now_).ok());
        RmCallOptions calls;
        calls.predicates = true;
        gateway_->set_rm_calls(calls, now_);
    }

    void play() {
        si::NodeRequest nodes;
        nodes.rm_id = "rm/1";
        si::NodeInfo node;
        node.node_id = "n";
        node.action = si::NodeAction::Create;
        node.schedulable_resource = si::Resources{{"vcore", 8}};
        nodes.nodes.push_back(node);
        gateway_->apply(nodes, now_);
        add_application("app", {});
        add_application("nobody", "the user cannot be found");
        for (const char* key : {"k1", "k2", "k3"}) ask(key);
        for (int i = 0; i < 4; ++i) gateway_->cycle(now_);
        answer(1, true);
        for (int i = 0; i < 4; ++i) gateway_->cycle(now_);
        answer(99, true); // nobody asked
        now_ = now_ + 3 * kSecond;
        gateway_->fire_timers(now_);
        Settings settings = gateway_->context().settings();
        settings.reservations_disabled = true;
        gateway_->set_settings(settings, now_);
        REQUIRE(gateway_->configure(configuration("2"), now_).ok());
        // the leaf has applications (C-435)
        REQUIRE_FALSE(gateway_->configure(configuration("2", ", queues: [{name: c}]"), now_).ok());
        release("k1");
        for (int i = 0; i < 3; ++i) gateway_->cycle(now_);
    }
    void end() { gateway_->drop_everything(now_); }
    void flush() { gateway_->flush_recording(); }

    void ask(const std::string& key) {
        si::AllocationRequest request;
        request.rm_id = "rm/1";
        si::AllocationAsk one;
        one.allocation_key = key;
        one.application_id = "app";
        one.partition_name = "default";
        one.resource_ask = si::Resources{{"vcore", 2}};
        request.asks.push_back(one);
        gateway_->apply(request, now_);
    }

private:
    void add_application(const std::string& id, const std::string& fault) {
        si::ApplicationRequest request;
        request.rm_id = "rm/1";
        si::AddApplicationRequest one;
        one.application_id = id;
        one.queue_name = "root.a";
        one.partition_name = "default";
        one.ugi = {"somebody", {"them"}};
        request.add.push_back(one);
        const std::vector<std::string> faults{fault};
        gateway_->apply(request, faults, now_);
    }
    void answer(std::uint64_t call, bool fits) {
        CallReply reply;
        reply.outcome = CallReply::Outcome::Answered;
        reply.body.results.push_back({"n", fits, "because"});
        gateway_->apply(call, reply, now_);
    }
    void release(const std::string& key) {
        si::AllocationRequest request;
        request.rm_id = "rm/1";
        request.releases.allocations_to_release.push_back(
            {"default", "app", key, si::TerminationType::StoppedByRm, "done"});
        gateway_->apply(request, now_);
    }

    NoTranscript no_transcript_;
    Instant now_ = kStart;
    std::unique_ptr<CoreGateway> gateway_;
};

std::string bytes_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

void write_bytes(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

struct Replayed {
    std::vector<std::string> done;
    std::string differences;
    std::string story; // everything said
    Result<Played> played{Error{}};
};

Replayed replay(const std::string& file) {
    Replayed replayed;
    replayed.played = play_recording(file, [&](const PlayedStep& step) {
        replayed.done.push_back(step.done);
        if (!step.same())
            replayed.differences += fmt::format("{}: {}\n- {}\n+ {}\n", step.number, step.done,
                                                fmt::join(step.recorded_lines, "\n- "), fmt::join(step.said, "\n+ "));
        for (const std::string& line : step.said) replayed.story += line + "\n";
        return true;
    });
    return replayed;
}

/// The one recording of a story that was told.
std::string make_recording(const testing::TempDir& folder) {
    Story story(folder.path());
    story.play();
    story.end();
    story.flush();
    const auto found = find_recordings(folder.path());
    REQUIRE(found.ok());
    REQUIRE(found->size() == 1);
    return found->front();
}

} // namespace

TEST_CASE("a recording plays to the same words, every time") {
    const testing::TempDir folder;
    const std::string file = make_recording(folder);
    CHECK(std::filesystem::path(file).filename() == "20251120T215042.123Z-rm_1-7.ykrec");
    const Replayed once = replay(file), again = replay(file);
    INFO((once.played.ok() ? std::string{} : once.played.error().text()));
    REQUIRE(once.played.ok());
    INFO(once.differences);
    CHECK(once.differences.empty());
    CHECK(once.story == again.story);
    CHECK(once.done == std::vector<std::string>{"configuration of 1 partition", "the RM is asked about nodes", "1 node",
                                                "1 application added, 0 removed", "1 application added, 0 removed",
                                                "1 ask, 0 allocations, 0 releases", "1 ask, 0 allocations, 0 releases",
                                                "1 ask, 0 allocations, 0 releases", "4 cycles, 0 allocations",
                                                "answer to call 1", "4 cycles, 1 allocation", "answer to call 99",
                                                "timers", "settings", "configuration of 1 partition",
                                                "configuration of 1 partition", "0 asks, 0 allocations, 1 release",
                                                "3 cycles, 0 allocations", "end of the registration"});
    CHECK(once.story.find("refused: nobody waits for it") != std::string::npos);
    CHECK(once.story.find("N [rm/1]default app/k1 on n queue=root.a res={vcore:2}") != std::string::npos);
    CHECK(once.story.find("the user cannot be found") != std::string::npos);
    CHECK(once.played->rm_id == "rm/1");
    CHECK(once.played->ykd == "1.2.3");
    CHECK(once.played->cycles == 11);
    CHECK(once.played->allocations == 1);
    CHECK(once.played->ended - once.played->begun == 3 * kSecond);
    CHECK_FALSE(once.played->cut);
    CHECK(once.played->broken.empty());
}

TEST_CASE("what was said then and is not said now is a difference of that command") {
    const testing::TempDir folder;
    const std::string file = make_recording(folder);
    std::string bytes = bytes_of(file);
    const std::string placed = "N [rm/1]default app/k1 on n";
    const auto at = bytes.find(placed);
    REQUIRE(at != std::string::npos);
    bytes[at + placed.size() - 1] = 'm'; // another node
    write_bytes(file, bytes);
    std::vector<std::uint64_t> other;
    const auto played = play_recording(file, [&](const PlayedStep& step) {
        if (!step.same()) other.push_back(step.number);
        return true;
    });
    REQUIRE(played.ok());
    CHECK(other == std::vector<std::uint64_t>{11});
}

TEST_CASE("a recording that ends anywhere plays up to there") {
    const testing::TempDir folder;
    const std::string file = make_recording(folder), bytes = bytes_of(file);
    std::uint64_t most = 0, refused = 0;
    for (std::size_t length = 0; length < bytes.size(); length += 3) {
        write_bytes(file, bytes.substr(0, length));
        const Replayed replayed = replay(file);
        if (!replayed.played.ok()) { // not even the header is there
            CHECK(replayed.played.error().text().find("is no recording of ykd") != std::string::npos);
            CHECK(most == 0);
            ++refused;
            continue;
        }
        CHECK(replayed.differences.empty());
        CHECK(replayed.played->commands >= most);
        most = replayed.played->commands;
    }
    CHECK(refused > 0);
    CHECK(most >= 18);
}

TEST_CASE("a damaged recording is refused in words, or plays; nothing else") {
    const testing::TempDir folder;
    const std::string file = make_recording(folder), bytes = bytes_of(file);
    std::uint64_t refused = 0;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ (at % 2 == 0 ? 0x80 : 0x01));
        write_bytes(file, damaged);
        const Replayed replayed = replay(file);
        if (replayed.played.ok()) continue;
        ++refused;
        CHECK(replayed.played.error().where.find(file) == 0);
        CHECK_FALSE(replayed.played.error().message.empty());
    }
    CHECK(refused > 100);
}

TEST_CASE("what a recording cannot say is named with file and command") {
    const testing::TempDir folder;
    const std::string file = folder.path("x.ykrec");
    const auto write = [&](const std::function<void(RecordingWriter&)>& commands) {
        std::filesystem::remove(file);
        auto writer =
            RecordingWriter::create(file, {"1", "rm", 1, kStart, {}}, [](const std::string&, const std::string&) {});
        REQUIRE(writer.ok());
        commands(**writer);
        (*writer)->flush();
        const auto played = play_recording(file, [](const PlayedStep&) { return true; });
        return played.ok() ? std::string{} : played.error().text();
    };
    const auto field = [](const char* name, std::uint64_t value) {
        return [=](wire::Packer& packer) {
            packer.text(name);
            packer.natural(value);
        };
    };
    CHECK(write([](RecordingWriter& to) { to.command("dance", kStart); }) ==
          file + ": command 1: do: unknown command dance");
    CHECK(write([](RecordingWriter& to) { to.command(recorded::kTimers, kStart - kSecond); }) ==
          file + ": command 1: at: time goes back");
    CHECK(write([](RecordingWriter& to) {
              to.command(recorded::kEnd, kStart);
              to.command(recorded::kTimers, kStart);
          }) == file + ": command 2: do: a command after the end");
    CHECK(write([](RecordingWriter& to) { to.command(recorded::kNodes, kStart); }) ==
          file + ": command 1: body: a message is missing");
    CHECK(write([&](RecordingWriter& to) {
              to.command(recorded::kCycles, kStart, 1, field("count", 1'000'000'000'000));
          }) == file + ": command 1: count: 1000000000000 cycles");
    CHECK(write([&](RecordingWriter& to) { to.command(recorded::kSettings, kStart, 1, field("settings", 1)); }) ==
          file + ": command 1: settings: expected a map, got number");
    CHECK(write([&](RecordingWriter& to) {
              to.command(recorded::kConfigure, kStart, 1,
                         [](wire::Packer& packer) { packer.field("text", "partitions: [{nane: x}]"); });
          }).find(file + ": command 1: text: configuration:1:15: ") == 0);
    write_bytes(file, "partitions: []\n");
    CHECK(play_recording(file, [](const PlayedStep&) { return true; }).error().text() ==
          file + ": is no recording of ykd; ykd --record DIR makes them");
    CHECK(play_recording(folder.path("none"), [](const PlayedStep&) { return true; }).error().text() ==
          folder.path("none: cannot be read: No such file or directory"));
}

namespace {

/// What was recorded by `commands`, in a file of its own.
std::string recorded_by(const testing::TempDir& folder, const std::function<void(RecordingWriter&)>& commands) {
    std::string file = folder.path("x.ykrec");
    auto writer =
        RecordingWriter::create(file, {"1", "rm", 1, kStart, {}}, [](const std::string&, const std::string&) {});
    REQUIRE(writer.ok());
    commands(**writer);
    (*writer)->flush();
    return file;
}

} // namespace

TEST_CASE("a configuration that is larger written out than it came is played") {
    const testing::TempDir folder;
    std::string text = "partitions: [{name: default, queues: [{name: root, queues: [", end = "]}]}]";
    for (int i = 0; i < 20; ++i, end = "]}" + end) text += "{name: p, queues: [";
    for (int i = 0; i < 12'000; ++i) text += fmt::format("{{name: q{}}},", i);
    const auto loaded = config_yaml::load(text + end, "test");
    REQUIRE(loaded.configuration);
    const std::string written = config_yaml::dump(*loaded.configuration);
    REQUIRE(written.size() > std::size_t{1} << 20U);
    const std::string file = recorded_by(folder, [&](RecordingWriter& to) {
        to.command(recorded::kConfigure, kStart, 1, [&](wire::Packer& packer) { packer.field("text", written); });
    });
    const auto played = play_recording(file, [](const PlayedStep&) { return true; });
    INFO((played.ok() ? std::string{} : played.error().text()));
    CHECK(played.ok());
}

TEST_CASE("what is said to one command is in records of a bounded size, and is one when it is read") {
    constexpr std::size_t kLines = 60'000;
    const testing::TempDir folder;
    const std::string file = recorded_by(folder, [&](RecordingWriter& to) {
        to.command(recorded::kTimers, kStart);
        const ReleasedAllocation one{"[rm]default", "app", "key", TerminationType::StoppedByRm, "gone"};
        for (std::size_t i = 0; i < kLines; ++i) to.allocations_released(std::span(&one, 1));
        to.refused("why");
        to.command(recorded::kTimers, kStart);
    });
    const std::string bytes = bytes_of(file);
    for (std::size_t at = 0; at < bytes.size();) {
        std::size_t length = 0;
        for (int i = 0; i < 4; ++i) length = length << 8U | static_cast<unsigned char>(bytes[at++]);
        at += length;
        CHECK(length < std::size_t{1} << 20U);
    }
    auto reader = RecordingReader::open(file);
    REQUIRE(reader.ok());
    const auto step = reader->next();
    REQUIRE(step.ok());
    REQUIRE(*step);
    CHECK((*step)->said.size() == kLines);
    CHECK((*step)->refused == "why");
    CHECK_FALSE((*step)->last);
    CHECK((*reader->next())->last);
}

TEST_CASE("the settings of a recording are all of them") {
    Settings settings;
    settings.release_confirm = Duration{17};
    settings.quota_checks = false;
    settings.budget.asks = 18;
    wire::Buffer buffer;
    wire::Packer packer(buffer);
    pack_settings(packer, settings);
    wire::Value map = wire::decode_value(*wire::scan_body(buffer.view()));
    const auto read = read_recorded_settings(map);
    REQUIRE(read.ok());
    CHECK(read->release_confirm == Duration{17});
    CHECK_FALSE(read->quota_checks);
    CHECK(read->terminated_timeout == settings.terminated_timeout);
    CHECK(read->budget.asks == 18);
    for (const char* limit :
         {"maxNodes", "maxApplications", "maxAsks", "maxQueues", "maxNames", "maxEnded", "maxResourceTypes"})
        map.erase(limit); // as an earlier version wrote them, which had no limits
    const auto earlier = read_recorded_settings(map);
    REQUIRE(earlier.ok());
    CHECK(earlier->budget.asks == 0);
    CHECK(earlier->budget.names == 0);
    CHECK(earlier->budget.ended == settings.budget.ended);
    CHECK(earlier->budget.resource_types == settings.budget.resource_types);
    map.erase("quotaChecks");
    CHECK(read_recorded_settings(map).error().text() == "setting quotaChecks is missing");
}

TEST_CASE("a recording that cannot go on says so once, and the scheduler goes on") {
    const testing::TempDir folder;
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{6000, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    std::string failure;
    {
        Story story(folder.path(), &failure);
        story.play();
        for (int i = 0; i < 100; ++i) story.ask(std::to_string(i));
        story.flush();
        CHECK(failure.find("cannot write " + folder.path()) == 0);
        CHECK(failure.find("File too large") != std::string::npos);
        failure.clear();
        story.ask("more");
        story.flush();
        CHECK(failure.empty());
    }
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    const auto found = find_recordings(folder.path());
    REQUIRE(found.ok());
    const Replayed replayed = replay(found->front());
    REQUIRE(replayed.played.ok());
    CHECK(replayed.played->cut);
    CHECK(replayed.played->commands > 15);
}

TEST_CASE("recordings of one instant have names of their own; the directory is made or refused") {
    const testing::TempDir folder;
    { Story one(folder.path("new/deep")), other(folder.path("new/deep")); }
    const auto found = find_recordings(folder.path("new/deep"));
    REQUIRE(found.ok());
    CHECK(found->size() == 2);
    CHECK(find_recordings(folder.path()).error().text().find("has no recording (*.ykrec)") != std::string::npos);

    // Daemons that begin in the same instant, side by side.
    constexpr std::size_t kDaemons = 4;
    constexpr std::size_t kBegun = 25;
    std::atomic<std::size_t> failures = 0;
    std::vector<std::thread> daemons;
    for (std::size_t i = 0; i < kDaemons; ++i)
        daemons.emplace_back([&] {
            const auto recordings =
                Recordings::open(folder.path("beside"), "1.2.3", [&](const std::string&, const std::string& fault) {
                    if (!fault.empty()) ++failures;
                });
            for (std::size_t begun = 0; recordings.ok() && begun < kBegun; ++begun)
                if ((*recordings)->begin({{}, "rm", 7, kStart, {}}) == nullptr) ++failures;
        });
    for (std::thread& daemon : daemons) daemon.join();
    CHECK(failures == 0);
    CHECK(find_recordings(folder.path("beside"))->size() == kDaemons * kBegun);

    write_bytes(folder.path("file"), "x");
    const auto refused = Recordings::open(folder.path("file/x"), "1", [](const std::string&, const std::string&) {});
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message.find("the directory for recordings " + folder.path("file/x cannot be made")) == 0);
}
