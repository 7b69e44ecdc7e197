// SPDX-License-Identifier: Apache-2.0
#include "ykd/core_gateway/playback.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "libcore/base/pluralize.h"
#include "libcore/config_yaml/load.h"
#include "protocol/wire/body_reader.h"
#include "protocol/wire/codec.h"
#include "ykd/core_gateway/core_gateway.h"
#include "ykd/recording/recording.h"

namespace yk {
namespace {

using wire::BodyReader;
using wire::Presence;
using wire::Value;

constexpr std::string_view kRefused = "refused: ";

/// Keeps the lines of one command.
class Collector final : public Transcript {
public:
    std::vector<std::string> lines;

private:
    void say(Kind, std::string line) override { lines.push_back(std::move(line)); }
};

/// A playback under way: a core and what it did so far.
class Playback {
public:
    explicit Playback(const RecordingHeader& header)
        : gateway_(
              header.rm_id, header.settings, emitted_, emitted_, [](std::string_view, const std::string&) {}, nullptr),
          last_(header.at) {
        played_.rm_id = header.rm_id;
        played_.ykd = header.ykd;
        played_.begun = played_.ended = header.at;
    }

    /// Carries one command out. The location of an error is within the command.
    Result<PlayedStep> play(const RecordedStep& step) {
        if (ended_) return Error::at("do", "a command after the end");
        if (step.at < last_) return Error::at("at", "time goes back");
        last_ = played_.ended = step.at;
        BodyReader reader(step.fields);
        YK_TRY(done, carry_out(step, reader));
        if (reader.fault()) return Error::at(reader.fault()->path, reader.fault()->message);
        PlayedStep played{step.number, step.at, std::move(done), std::exchange(emitted_.lines, {}), step.said,
                          false,       false};
        if (refused_) played.said.push_back(std::string(kRefused) + *std::exchange(refused_, std::nullopt));
        if (step.refused) played.recorded_lines.push_back(std::string(kRefused) + *step.refused);
        played.idle = played.said.empty() && (step.what == recorded::kCycles || step.what == recorded::kTimers);
        played.unanswered = step.last && played.recorded_lines.empty();
        played_.cut = played.unanswered && !played.said.empty();
        ++played_.commands;
        played_.lines += played.said.size();
        return played;
    }

    Played end(bool cut) {
        if (!ended_) played_.broken = gateway_.check();
        played_.cut = played_.cut || cut;
        return std::move(played_);
    }

private:
    Result<std::string> carry_out(const RecordedStep& step, BodyReader& reader) {
        using namespace recorded;
        if (step.what == kCycles) return cycles(reader);
        if (step.what == kAllocations) return allocations(step);
        if (step.what == kApplications) return applications(step, reader);
        if (step.what == kNodes) return nodes(step);
        if (step.what == kAnswer) return answer(step, reader);
        if (step.what == kConfigure) return configure(reader);
        if (step.what == kSettings) return settings(reader);
        if (step.what == kCalls) return calls(reader);
        if (step.what == kRecovery) return recovery(reader);
        if (step.what == kTimers) {
            gateway_.fire_timers(last_);
            return std::string{"timers"};
        }
        if (step.what != kEnd) return Error::at("do", fmt::format("unknown command {}", step.what));
        played_.broken = gateway_.check(); // before everything is dropped
        gateway_.drop_everything(last_);
        ended_ = true;
        return std::string{"end of the registration"};
    }

    Result<std::string> cycles(BodyReader& reader) {
        const std::uint64_t count = reader.u64("count");
        const std::uint64_t recorded_allocations = reader.u64("allocations");
        if (count == 0 || count > kMostRecordedCycles) return Error::at("count", fmt::format("{} cycles", count));
        std::uint64_t allocations = 0;
        for (std::uint64_t i = 0; i < count; ++i) allocations += gateway_.cycle(last_).allocations;
        played_.cycles += count;
        played_.allocations += allocations;
        if (allocations != recorded_allocations)
            refused_ = fmt::format("{} allocations, {} when it was recorded", allocations, recorded_allocations);
        return fmt::format("{}, {}", pluralize(count, "cycle"), pluralize(allocations, "allocation"));
    }

    /// The SI message in `body`. Its texts are not checked again: those of an RM were when they came, and releases that
    /// the daemon itself confirmed may have longer names.
    template <class Message>
    static Result<Message> body_of(const RecordedStep& step) {
        const auto found = step.fields.find("body");
        if (found == step.fields.end() || !found->is_binary()) return Error::at("body", "a message is missing");
        const auto& bytes = found->get_binary();
        const std::string_view view{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
        const auto scanned = wire::scan_body(view);
        if (!scanned.ok()) return Error::at("body", scanned.error().message);
        auto message = wire::decode<Message>(*scanned, {.strict = false, .check_texts = false});
        if (!message.ok()) return Error::at("body." + message.error().path, message.error().message);
        return std::move(message).value();
    }

    Result<std::string> allocations(const RecordedStep& step) {
        YK_TRY(message, body_of<si::AllocationRequest>(step));
        gateway_.apply(message, last_);
        const auto& releases = message.releases;
        return fmt::format(
            "{}, {}, {}", pluralize(message.asks.size(), "ask"), pluralize(message.allocations.size(), "allocation"),
            pluralize(releases.allocations_to_release.size() + releases.allocation_asks_to_release.size(), "release"));
    }

    Result<std::string> applications(const RecordedStep& step, BodyReader& reader) {
        YK_TRY(message, body_of<si::ApplicationRequest>(step));
        const std::vector<std::string> faults = reader.texts("userFaults", wire::TextRule::Message);
        if (reader.fault()) return std::string{};
        if (faults.size() != message.add.size()) return Error::at("userFaults", "one for each application is wanted");
        gateway_.apply(message, faults, last_);
        return fmt::format("{} added, {} removed", pluralize(message.add.size(), "application"), message.remove.size());
    }

    Result<std::string> nodes(const RecordedStep& step) {
        YK_TRY(message, body_of<si::NodeRequest>(step));
        gateway_.apply(message, last_);
        return pluralize(message.nodes.size(), "node");
    }

    Result<std::string> answer(const RecordedStep& step, BodyReader& reader) {
        YK_TRY(body, body_of<si::CallResultBody>(step));
        const std::uint64_t call = reader.u64("call");
        const std::uint64_t outcome = reader.u64("outcome");
        const std::string error = reader.text("error", Presence::Optional, wire::TextRule::Config);
        if (reader.fault()) return std::string{};
        if (outcome > static_cast<std::uint64_t>(CallReply::Outcome::TimedOut))
            return Error::at("outcome", fmt::format("{} is none", outcome));
        if (!gateway_.apply(call, {static_cast<CallReply::Outcome>(outcome), error, std::move(body)}, last_))
            refused_ = "nobody waits for it";
        return fmt::format("answer to call {}", call);
    }

    Result<std::string> configure(BodyReader& reader) {
        const std::string text = reader.text("text", Presence::Required, wire::TextRule::Config);
        if (reader.fault()) return std::string{};
        const auto loaded = config_yaml::load_dumped(text, "configuration");
        if (!loaded.configuration) return Error::at("text", loaded.first_error().text());
        if (const auto done = gateway_.configure(*loaded.configuration, last_); !done.ok())
            refused_ = done.error().message;
        return fmt::format("configuration of {}", pluralize(loaded.configuration->partitions.size(), "partition"));
    }

    Result<std::string> settings(BodyReader& reader) {
        const Value* map = reader.map("settings", Presence::Required);
        if (map == nullptr) return std::string{};
        YK_TRY(all, read_recorded_settings(*map));
        gateway_.set_settings(all, last_);
        return std::string{"settings"};
    }

    Result<std::string> calls(BodyReader& reader) {
        RmCallOptions options;
        options.predicates = reader.flag("predicates");
        options.preemption_predicates = reader.flag("preemptionPredicates");
        options.batch = reader.u32("batch");
        options.in_flight = reader.u32("inFlight");
        if (options.batch == 0) return Error::at("batch", "must be above 0");
        gateway_.set_rm_calls(options, last_);
        return std::string{options.predicates || options.preemption_predicates ? "the RM is asked about nodes"
                                                                               : "the RM is asked nothing"};
    }

    Result<std::string> recovery(BodyReader& reader) {
        using namespace recorded;
        const std::string step = reader.text("step", Presence::Required, wire::TextRule::Message);
        if (reader.fault()) return std::string{};
        if (step == kBegin || step == kBeginForced)
            gateway_.begin_recovery(step == kBeginForced, last_);
        else if (step == kEndRecovery)
            gateway_.end_recovery(last_);
        else if (step == kForget)
            gateway_.forget_tombstones(last_);
        else
            return Error::at("step", fmt::format("unknown step {} of a recovery", step));
        return fmt::format("recovery: {}", step);
    }

    Collector emitted_;
    CoreGateway gateway_;
    Instant last_;                       // time of the last command
    bool ended_ = false;                 // the registration
    std::optional<std::string> refused_; // why the core refused the command being played
    Played played_;
};

} // namespace

Result<Played> play_recording(const std::string& path, const std::function<bool(const PlayedStep&)>& on_step) {
    YK_TRY(reader, RecordingReader::open(path));
    Playback playback{reader.header()};
    while (true) {
        YK_TRY(step, reader.next());
        if (!step) return playback.end(reader.is_cut());
        const auto played = playback.play(*step);
        if (!played.ok()) return Error::at(fmt::format("{}: command {}", path, step->number), played.error().text());
        if (!on_step(*played)) return playback.end(false);
    }
}

} // namespace yk
