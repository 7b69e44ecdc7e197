// SPDX-License-Identifier: Apache-2.0
#include "protocol/mcs/strict_json.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace yk::mcs {
namespace {

constexpr std::size_t kLongestText = std::size_t{64} * 1024;
constexpr int kDeepest = 8;
constexpr std::size_t kLongestField = 200;

[[nodiscard]] std::string listed(std::initializer_list<std::string_view> choices) {
    std::string all;
    for (const std::string_view each : choices) all += (all.empty() ? "" : ", ") + std::string{each};
    return all;
}

/// Notes what the parser itself accepts: keys that are there twice, and depth.
class Watch {
public:
    bool operator()(int depth, Json::parse_event_t event, const Json& parsed) {
        using Event = Json::parse_event_t;
        if (depth > kDeepest && fault_.empty()) fault_ = "is nested more than 8 deep";
        if (event == Event::object_start) keys_.emplace_back();
        if (event == Event::object_end && !keys_.empty()) keys_.pop_back();
        if (event == Event::key && !keys_.back().insert(parsed.get<std::string>()).second && fault_.empty())
            fault_ = "has the field " + parsed.dump(-1, ' ', true, Json::error_handler_t::replace) + " twice";
        return depth <= kDeepest; // what is deeper is not even kept
    }
    [[nodiscard]] const std::string& fault() const { return fault_; }

private:
    std::vector<std::set<std::string>> keys_;
    std::string fault_;
};

/// What the parser says, without its own name and number of the error in front: where it is, and why.
std::string reason_of(std::string_view what) {
    if (const auto end = what.find("] "); what.starts_with('[') && end != std::string_view::npos)
        what.remove_prefix(end + 2);
    constexpr std::string_view kBefore = "parse error at ";
    if (what.starts_with(kBefore)) what.remove_prefix(kBefore.size());
    return std::string{what};
}

} // namespace

Result<Json> parse_strict(std::string_view text) {
    if (text.size() > kLongestText) return policy_fault({}, "is longer than 65536 bytes");
    Watch watch;
    try {
        Json tree = Json::parse(text.begin(), text.end(), std::ref(watch));
        if (!watch.fault().empty()) return policy_fault({}, watch.fault());
        return tree;
    } catch (const Json::exception& fault) {
        return policy_fault({}, "is no JSON: " + reason_of(fault.what()));
    }
}

Result<Fields> Fields::of(const Json& object, std::string where, std::initializer_list<std::string_view> known) {
    if (!object.is_object()) return policy_fault(std::move(where), "must be an object");
    const Fields fields{object, std::move(where)};
    for (const auto& [name, value] : object.items())
        if (std::find(known.begin(), known.end(), name) == known.end())
            return policy_fault(fields.path(name), "is not known here; known are " + listed(known));
    return fields;
}

const Json* Fields::find(std::string_view name) const {
    const auto found = object_->find(std::string{name});
    return found == object_->end() ? nullptr : &*found;
}

std::string Fields::path(std::string_view name) const {
    return (where_.empty() ? "" : where_ + '.') + std::string{name};
}

Result<std::int64_t> Fields::number(std::string_view name, std::int64_t least, std::int64_t most,
                                    std::optional<std::int64_t> otherwise) const {
    const Json* const value = find(name);
    if (value == nullptr && otherwise) return *otherwise;
    const std::string range = std::to_string(least) + " to " + std::to_string(most);
    const bool is_number = value != nullptr && value->is_number_integer();
    const bool is_huge =
        is_number && value->is_number_unsigned() && value->get<std::uint64_t>() > static_cast<std::uint64_t>(most);
    if (!is_number || is_huge || value->get<std::int64_t>() < least || value->get<std::int64_t>() > most)
        return policy_fault(path(name), "must be a whole number from " + range);
    return value->get<std::int64_t>();
}

Result<std::string> Fields::text(std::string_view name, std::optional<std::string> otherwise) const {
    const Json* const value = find(name);
    if (value == nullptr && otherwise) return *std::move(otherwise);
    const auto* const text = value == nullptr ? nullptr : value->get_ptr<const std::string*>();
    if (text == nullptr || text->empty() || text->size() > kLongestField)
        return policy_fault(path(name), "must be a text of 1 to 200 bytes");
    return *text;
}

Result<std::size_t> Fields::choice(std::string_view name, std::initializer_list<std::string_view> choices,
                                   std::optional<std::size_t> otherwise) const {
    const Json* const value = find(name);
    if (value == nullptr && otherwise) return *otherwise;
    const auto* const text = value == nullptr ? nullptr : value->get_ptr<const std::string*>();
    const auto found = text == nullptr ? choices.end() : std::find(choices.begin(), choices.end(), *text);
    if (found == choices.end()) return policy_fault(path(name), "must be one of " + listed(choices));
    return static_cast<std::size_t>(found - choices.begin());
}

Result<const Json*> Fields::list(std::string_view name, std::size_t most) const {
    const Json* const value = find(name);
    if (value == nullptr) return value;
    if (!value->is_array() || value->size() > most)
        return policy_fault(path(name), "must be a list of at most " + std::to_string(most));
    return value;
}

} // namespace yk::mcs
