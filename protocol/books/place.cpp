// SPDX-License-Identifier: Apache-2.0
#include "protocol/books/place.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "libcore/base/saturate.h"

namespace yk::books {
namespace {

constexpr char kBetween = '\x1f'; // no name has it

std::int64_t number(std::string_view text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/// The part of `text` before `divider`, which is taken off with it.
std::string_view take(std::string_view& text, char divider) {
    const std::size_t end = std::min(text.find(divider), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return part;
}

} // namespace

std::string place_text(std::string_view node, const si::DevicesMap& devices) {
    std::string text{node};
    for (const auto& [resource, of] : devices) {
        text += kBetween + resource + kBetween;
        for (const si::DeviceAmount& each : of.on)
            text += std::to_string(each.index) + ":" + std::to_string(each.amount) + ",";
    }
    return text;
}

bool has_devices(std::string_view place_text) {
    return place_text.find(kBetween) != std::string_view::npos;
}

Place place_of(std::string_view text) {
    Place place;
    place.node = take(text, kBetween);
    while (!text.empty()) {
        auto& [resource, devices] = place.devices.emplace_back();
        resource = take(text, kBetween);
        for (std::string_view list = take(text, kBetween); !list.empty();) {
            std::string_view each = take(list, ',');
            const auto index = static_cast<std::uint32_t>(number(take(each, ':')));
            devices.on.push_back({index, number(each)});
        }
    }
    return place;
}

void put_place(si::AllocationAsk& ask, Place place) {
    ask.node_id = std::move(place.node);
    for (auto& [resource, devices] : place.devices) {
        std::int64_t sum = 0, wanted = 0;
        for (const si::DeviceAmount& each : devices.on) sum = sat_add(sum, each.amount);
        if (ask.resource_ask)
            for (const auto& [name, amount] : *ask.resource_ask)
                if (name == resource) wanted = amount;
        if (sum != wanted) continue;
        const auto stated = std::find_if(ask.devices.begin(), ask.devices.end(),
                                         [&name = resource](const auto& each) { return each.first == name; });
        if (stated != ask.devices.end())
            stated->second = std::move(devices);
        else
            ask.devices.emplace_back(resource, std::move(devices));
    }
}

} // namespace yk::books
