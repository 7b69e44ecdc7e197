// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/operator.h"

#include <algorithm>
#include <array>
#include <utility>

#include "protocol/si/tool_requests.h"
#include "protocol/wire/body_reader.h"
#include "protocol/wire/codec.h"

namespace yk::sim {
namespace {

constexpr Nanoseconds kPace = seconds{15};  // longest time between two changes
constexpr Nanoseconds kSettle = seconds{2}; // for which a request of a lost session may still be carried out
constexpr std::array<const char*, 3> kKeys{"log.level", "log.core.level", "log.wire.session.level"};
constexpr std::array<const char*, 4> kLevels{"fatal", "panic", "5", ""}; // empty: as if it had never been set

std::string text_of(const std::map<std::string, std::string>& levels) {
    std::string text;
    for (const auto& [key, level] : levels) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", key, level);
    return text.empty() ? "none" : text;
}

bool is_kept(const std::string& body) {
    const auto scanned = wire::scan_body(body);
    return scanned.ok() && wire::decode_value(*scanned).value("kept", false);
}

} // namespace

void Operator::start() {
    session_ = std::make_shared<Session>(world_, host_, "operator", Connection::Counters{});
    plan();
}

void Operator::crash() {
    world_.trace("operator: his program crashed");
    world_.cover(fmt::format("program of the operator crashed while {}", host_.state_of({})));
    session_->abandon();
    session_ = std::make_shared<Session>(world_, host_, "operator", Connection::Counters{});
    lost();
}

/// Nobody knows what became of the change under way.
void Operator::lost() {
    lost_at_ = world_.now();
    possible_.merge(std::exchange(under_way_, {}));
}

void Operator::plan() {
    world_.after(world_.between(milliseconds{10}, kPace), [this] {
        act();
        plan();
    });
}

void Operator::act() {
    if (resting_ || session_->open_changes() != 0) return;
    if (world_.now() < std::max(lost_at_, world_.stalled_until()) + kSettle) return;
    const std::string key = kKeys.at(world_.choose(kKeys.size())), level = kLevels.at(world_.choose(kLevels.size()));
    std::set<Levels> after;
    for (Levels levels : possible_) {
        if (level.empty())
            levels.erase(key);
        else
            levels[key] = level;
        after.insert(std::move(levels));
    }
    kept_.insert(after.begin(), after.end());
    under_way_ = after;
    si::SetExtraConfigRequest request;
    request.extra_config = si::StringMap{{key, level}};
    world_.trace("operator: sets {} to '{}'", key, level);
    session_->change(si::Kind::SetExtraConfig, wire::encoded(request),
                     [this, before = possible_, after](const Answer& answer) { on_answer(answer, before, after); });
}

void Operator::on_answer(const Answer& answer, const std::set<Levels>& before, const std::set<Levels>& after) {
    if (answer.lost) return lost();
    under_way_.clear();
    if (!answer.ok()) {
        world_.cover("operator: " + answer.error->name);
        possible_ = before;
        return;
    }
    possible_ = after;
    const bool kept = is_kept(answer.body);
    world_.cover(kept ? "operator: levels kept" : "operator: levels not kept");
    if (kept) kept_ = after;
}

/// One of `allowed` is what there is, and then the only one.
void Operator::judge(std::set<Levels>& allowed, const char* when) {
    Levels has = host_.daemon().parts().daemon_state.levels();
    if (allowed.count(has) == 0) {
        std::string all;
        for (const Levels& each : allowed) all += fmt::format("{}{}", all.empty() ? "" : "; or ", text_of(each));
        return world_.fail(fmt::format("{}, levels of loggers are {}; they must be {}", when, text_of(has), all));
    }
    allowed = {std::move(has)};
}

void Operator::daemon_started() {
    session_->abandon();
    session_ = std::make_shared<Session>(world_, host_, "operator", Connection::Counters{});
    under_way_.clear();
    const std::uint64_t boots = host_.daemon().parts().daemon_state.boots();
    const std::uint64_t starts = host_.incarnation() - std::exchange(incarnation_, host_.incarnation());
    if (boots <= boots_ || boots > boots_ + starts)
        return world_.fail(fmt::format("the daemon counts {} starts, {} before, and was started {} times since", boots,
                                       boots_, starts));
    boots_ = boots;
    judge(kept_, "after a restart");
    possible_ = kept_;
}

} // namespace yk::sim
