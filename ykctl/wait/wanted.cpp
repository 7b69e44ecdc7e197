// SPDX-License-Identifier: Apache-2.0
#include "ykctl/wait/wanted.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "libcore/base/number.h"
#include "ykctl/cli/suggest.h"
#include "ykctl/client/states.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using Words = std::vector<std::string>;
using Order = WantedCount::Order;

/// What can be waited for of an object with a name.
struct NounConditions {
    Words states; // that may follow `state=`; none: it has no state
    Words counts;
    Words words;
};

const std::map<std::string, NounConditions, std::less<>>& conditions() {
    static const std::map<std::string, NounConditions, std::less<>> kAll{
        {"app", {application_states(), {"pending", "allocations"}, {"gone"}}},
        {"ask", {{}, {}, {"placed", "gone"}}},
        {"alloc", {{}, {}, {"placed", "gone"}}},
        {"node", {node_states(), {"allocations"}, {"empty", "present", "gone"}}},
        {"queue", {{}, {"pending", "allocations", "apps"}, {"present", "gone"}}},
        {"rm", {{"Running", "Recovering", "Failed", "Suspended", "Lost"}, {}, {"gone"}}}};
    return kAll;
}

/// As they are to be typed.
Words typed(const NounConditions& known) {
    Words words;
    if (!known.states.empty()) words.emplace_back("state=STATE");
    for (const auto& count : known.counts) words.push_back(count + "=N");
    words.insert(words.end(), known.words.begin(), known.words.end());
    return words;
}

Answer<std::set<std::string>> states_in(std::string_view list, const std::string& noun, const Words& known) {
    std::set<std::string> states;
    while (true) {
        const auto comma = list.find(',');
        const std::string state{list.substr(0, comma)};
        YK_TRY(found, known_state("--for", state, noun, known));
        states.insert(found);
        if (comma == std::string_view::npos) return states;
        list = list.substr(comma + 1);
    }
}

/// `pending=0`, `allocations>=3`; nullopt: it has not that form.
std::optional<WantedCount> count_in(std::string_view text, const Words& known) {
    const auto equal = text.find('=');
    if (equal == std::string_view::npos || equal == 0) return std::nullopt;
    const char before = text[equal - 1];
    const Order order = before == '>' ? Order::AtLeast : before == '<' ? Order::AtMost : Order::Equal;
    const std::string what{text.substr(0, order == Order::Equal ? equal : equal - 1)};
    const auto number = to_number<std::int64_t>(text.substr(equal + 1));
    if (!number || *number < 0 || std::find(known.begin(), known.end(), what) == known.end()) return std::nullopt;
    return WantedCount{what, order, *number};
}

std::optional<Failure> take_condition(const std::string& text, Wanted& wanted) {
    constexpr std::string_view kState = "state=";
    const NounConditions& known = conditions().find(wanted.noun)->second;
    const Failure unknown =
        usage_error("--for: '" + text + "' is no condition of " + wanted.noun + did_you_mean(text, typed(known)),
                    {"there are:  " + join(typed(known), ", ")});
    if (text.starts_with(kState)) {
        if (known.states.empty())
            return usage_error("--for: " + wanted.noun + " has no state", {"there are:  " + join(typed(known), ", ")});
        auto states = states_in(std::string_view{text}.substr(kState.size()), wanted.noun, known.states);
        if (!states.ok()) return std::move(states).error();
        wanted.states = std::move(states).value();
        wanted.condition = "state";
        return std::nullopt;
    }
    if (auto count = count_in(text, known.counts)) {
        wanted.count = *std::move(count);
        wanted.condition = "count";
        return std::nullopt;
    }
    if (std::find(known.words.begin(), known.words.end(), text) == known.words.end()) return unknown;
    wanted.condition = text;
    return std::nullopt;
}

} // namespace

std::string Wanted::text() const {
    if (noun == "daemon") return "the daemon";
    return name.empty() ? noun : noun + " " + name;
}

Answer<Wanted> read_wanted(const std::string& object, const std::optional<std::string>& condition,
                           const std::optional<std::string>& application) {
    if (object == "daemon" || object == "idle") {
        if (condition || application)
            return usage_error(
                "wait " + object + " takes neither --for nor --app",
                {object == "daemon" ? "it waits until the daemon answers" : "it waits until nothing is left to do"});
        return Wanted{object, {}, object, {}, {}, {}};
    }
    const auto slash = object.find('/');
    const auto noun = object.substr(0, slash);
    if (slash == std::string::npos || slash + 1 == object.size() || conditions().find(noun) == conditions().end()) {
        Words kinds;
        for (const auto& [kind, known] : conditions()) kinds.push_back(kind);
        return usage_error("wait: '" + object + "' is not KIND/NAME, daemon or idle",
                           {"KIND: " + join(kinds, ", ") + "      of a deployment?  ykctl deployment wait NAME"});
    }
    Wanted wanted{noun, object.substr(slash + 1), {}, {}, {}, application};
    if (wanted.application && noun != "ask" && noun != "alloc")
        return usage_error("wait: --app goes with ask/KEY and alloc/KEY");
    if (!condition)
        return usage_error("wait " + object + ": for what?  --for CONDITION",
                           {"there are:  " + join(typed(conditions().find(noun)->second), ", ")});
    if (auto failure = take_condition(*condition, wanted)) return *std::move(failure);
    return wanted;
}

} // namespace yk::cli
