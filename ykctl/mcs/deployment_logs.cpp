// SPDX-License-Identifier: Apache-2.0
#include "ykctl/mcs/deployment_logs.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "ykctl/client/reconnect.h"
#include "ykctl/mcs/send_change.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

constexpr const char* kKind = "deployment";
constexpr std::chrono::milliseconds kPause{500};         // between two looks
constexpr std::uint64_t kTail = std::uint64_t{64} << 10; // bytes that are looked at first for the last lines

struct LogOptions {
    std::string name;
    std::optional<std::int64_t> replica, attempt, lines;
    bool follows = false;
};

/// Prints the output of replicas, each line with the number of its replica where there are several. Owner: the command.
/// Thread: main.
class LogPrinter {
public:
    LogPrinter(Context& context, const LogOptions& options) : context_(context), options_(options) {}

    Outcome run() {
        while (true) {
            const auto failure = look();
            context_.out().flush();
            if (!context_.out()) return Exit::Ok; // the reader has closed the pipe
            if (!options_.follows) return end(failure);
            if (failure) {
                YK_TRY(signal, reconnect_.after(*failure, context_.settings().timeout));
                if (signal != 0) return exit_of(signal);
            }
            if (const int signal = signals_.wait(kPause); signal != 0) return exit_of(signal);
        }
    }

private:
    using Life = std::pair<std::int64_t, std::int64_t>; // of a replica: its number, and which attempt
    struct Reading {
        std::uint64_t offset = 0;
        std::string line; // that has not ended yet
    };

    static Exit exit_of(int signal) { return signal == SIGINT ? Exit::Interrupted : Exit::Ok; }

    Outcome end(const std::optional<Failure>& failure) {
        if (failure) return with_way_out(*failure, kKind);
        if (!readings_.empty()) return Exit::Ok;
        YK_CHECKED(check_replica());
        context_.note("nothing was written yet; ykctl deployment show says what its commands do");
        return Exit::Ok;
    }

    /// Whether the replica that is asked for is there, or will be. One that is beyond the desired ones may still have
    /// its place.
    Answer<void> check_replica() {
        if (!options_.replica || is_placed_) return {};
        const auto reply = context_.call(si::McsReadRequest{.what = "describe", .kind = kKind, .id = options_.name});
        if (!reply.ok()) return with_way_out(reply.error(), kKind);
        const Value& item = member_of(*reply, "item");
        const Value& scale = member_of(item, "scale");
        const std::int64_t replica = *options_.replica, count = number_of(scale, "desired");
        if (!scale.is_object() || (replica >= 0 && replica < count)) return {}; // or the Autoscaler has not seen it yet
        const std::string name = printable(text_of(item, "name"));
        return not_found(fmt::format("{} has no replica {}: it has {}", name, replica,
                                     count == 0 ? "none" : fmt::format("{}, from 0 on", count)),
                         {"which are there?  ykctl deployment show " + name});
    }

    /// What was written since the last look.
    std::optional<Failure> look() {
        if (options_.replica && options_.attempt) return read({*options_.replica, *options_.attempt}, std::nullopt);
        auto reply = context_.call(si::McsReadRequest{.what = "logs", .kind = kKind, .id = options_.name});
        if (!reply.ok()) return std::move(reply).error();
        for (const Value& each : member_of(*reply, "items")) {
            const Life life{number_of(each, "replica"), number_of(each, "attempt")};
            if (options_.replica && *options_.replica != life.first) continue;
            is_placed_ = true;
            if (!each.contains("bytes")) continue;
            if (auto failure = read(life, static_cast<std::uint64_t>(number_of(each, "bytes")))) return failure;
        }
        return std::nullopt;
    }

    /// `size`: up to where, if that is known.
    std::optional<Failure> read(const Life& life, std::optional<std::uint64_t> size) {
        const auto [found, is_new] = readings_.try_emplace(life);
        Reading& reading = found->second;
        auto failure = is_new && options_.lines
                           ? read_end(life, reading, size)
                           : fetch(life, reading, [&](const std::string& text) { take(life, reading, text); });
        if (failure && is_new && options_.lines) {
            readings_.erase(found); // nothing of it was shown: the next look begins at its end again
            return failure;
        }
        if (!failure && !options_.follows && !reading.line.empty()) print(life, std::exchange(reading.line, {}));
        return failure;
    }

    /// The last lines: ever more is looked at until there are enough.
    std::optional<Failure> read_end(const Life& life, Reading& reading, std::optional<std::uint64_t> size) {
        constexpr std::uint64_t kBehind = std::uint64_t{1} << 62U;
        if (!size) {
            const auto nothing = ask(life, kBehind);
            if (!nothing.ok()) return nothing.error();
            size = static_cast<std::uint64_t>(number_of(*nothing, "bytes"));
        }
        const auto lines = static_cast<std::size_t>(*options_.lines);
        for (std::uint64_t most = kTail;; most *= 2) {
            reading.offset = *size - std::min(*size, most);
            const bool is_all = reading.offset == 0;
            std::string text;
            if (auto failure = fetch(life, reading, [&](const std::string& part) { text += part; })) return failure;
            const auto ends = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
            if (!is_all && ends <= lines) continue;
            take(life, reading, last_lines(text, lines));
            return std::nullopt;
        }
    }

    /// Hands over what there is from the place on that was reached, and moves that.
    std::optional<Failure> fetch(const Life& life, Reading& reading,
                                 const std::function<void(const std::string&)>& use) {
        while (true) {
            const auto reply = ask(life, reading.offset);
            if (!reply.ok()) return reply.error();
            const std::string part = text_of(*reply, "text");
            if (static_cast<std::uint64_t>(number_of(*reply, "bytes")) <
                reading.offset) { // another file, since that one was full
                reading.offset = 0;
                continue;
            }
            if (part.empty()) return std::nullopt;
            reading.offset += part.size();
            use(part);
            if (reading.offset >= static_cast<std::uint64_t>(number_of(*reply, "bytes"))) return std::nullopt;
        }
    }

    Answer<Value> ask(const Life& life, std::uint64_t offset) {
        return context_.call(si::McsReadRequest{.what = "logs",
                                                .kind = kKind,
                                                .id = options_.name,
                                                .cursor = fmt::format("{}.{}.{}", life.first, life.second, offset)});
    }

    static std::string last_lines(const std::string& text, std::size_t lines) {
        std::size_t begin = text.size();
        if (begin > 0 && text.back() == '\n') --begin;
        for (; begin > 0; --begin)
            if (text[begin - 1] == '\n' && --lines == 0) break;
        return text.substr(begin);
    }

    void take(const Life& life, Reading& reading, const std::string& text) {
        std::size_t begin = 0;
        for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
            print(life, reading.line + text.substr(begin, end - begin));
            reading.line.clear();
            begin = end + 1;
        }
        reading.line += text.substr(begin);
    }

    void print(const Life& life, const std::string& line) {
        if (!options_.replica) context_.out() << life.first << ": ";
        std::size_t begin = 0;
        for (std::size_t tab = line.find('\t'); tab != std::string::npos; tab = line.find('\t', begin)) {
            context_.out() << printable(line.substr(begin, tab - begin)) << '\t';
            begin = tab + 1;
        }
        context_.out() << printable(line.substr(begin)) << "\n";
    }

    Context& context_;
    const LogOptions& options_;
    const HeldSignals signals_;
    Reconnect reconnect_{context_, signals_};
    std::map<Life, Reading> readings_;
    bool is_placed_ = false; // a replica that is asked for was, at some look
};

} // namespace

void define_deployment_logs(Command command, Context& context) {
    const auto options = std::make_shared<LogOptions>();
    command.option("NAME", options->name, "name or id of the deployment").required();
    command.option("--replica", options->replica, "of this replica alone, from 0 on").value("N");
    command.option("--attempt", options->attempt, "of an earlier life of --replica, as deployment show -o json has it")
        .value("N");
    command.option("--lines", options->lines, "the last so many lines of each, default all").value("N");
    command.flag("-f,--follow", options->follows, "go on with what is written from now on");
    command.run([&context, options]() -> Outcome {
        if (options->attempt && !options->replica) return usage_error("--attempt: of which replica?  --replica N");
        if (options->lines && *options->lines < 1) return usage_error("--lines: a number above 0 is wanted");
        return LogPrinter{context, *options}.run();
    });
}

} // namespace yk::cli
