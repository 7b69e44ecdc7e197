// SPDX-License-Identifier: Apache-2.0
#pragma once
// Chooses among the addresses of a name. A name may have several (`localhost`: ::1 and 127.0.0.1), of which nng 1.5
// dials only the first, even if nobody listens there. So the one with a listener is looked for before dialling.

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace yk::wire {

/// The first of the numeric `addresses` where somebody accepts a connection at `port`. Each is tried for at most
/// `patience`.
[[nodiscard]] std::optional<std::string> first_listening(const std::vector<std::string>& addresses,
                                                         const std::string& port, std::chrono::milliseconds patience);

/// `url` with the name of its host replaced by the numeric address with a listener; unchanged when the name has only
/// one address, or nobody listens at any.
[[nodiscard]] std::string reachable_url(const std::string& url);

} // namespace yk::wire
