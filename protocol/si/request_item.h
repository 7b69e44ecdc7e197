// SPDX-License-Identifier: Apache-2.0
#pragma once
// The item Request of a callback stream (interface.md 4.8): an update of the RM, whoever sent it, as the core got it.
// RMs with the capability echoRequests get it, so that their books know what others do in their name (I-269).
//
// Its body: {answers u32: how many of the items of UpdateNode, UpdateApplication and UpdateAllocation that come next
// are what the core answered; kind str; impersonated bool: another session sent it; body map: the update}.

#include <cstddef>
#include <string_view>

namespace yk::si {

namespace item {
inline constexpr std::string_view kRequest = "Request";
} // namespace item

/// Bytes of an update that still has a place in an item.
inline constexpr std::size_t kLargestEcho = std::size_t{1} << 20U;

} // namespace yk::si
