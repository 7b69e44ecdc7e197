// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where an allocation is, as books keep it beside the ask: its node, and the devices that it has there (F-006).

#include <string>
#include <string_view>

#include "protocol/si/messages.h"

namespace yk::books {

struct Place {
    std::string node;
    si::DevicesMap devices; // empty: none, or the node has none
};

/// One text, the name of the node where there are no devices.
[[nodiscard]] std::string place_text(std::string_view node, const si::DevicesMap& devices);
[[nodiscard]] Place place_of(std::string_view text);
[[nodiscard]] bool has_devices(std::string_view place_text);

/// Gives the ask its place: the node, and the devices of each resource of which they have as much as it asks for; after
/// a change of its size they may have another amount, and are chosen anew.
void put_place(si::AllocationAsk& ask, Place place);

} // namespace yk::books
