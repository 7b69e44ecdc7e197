#pragma once
// A name may have several addresses (`localhost`: ::1 and 127.0.0.1), of which nng 1.5 dials the first, whoever listens
// there. So the one where somebody listens is looked for before dialling.

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace yk::wire {

/// The first of `addresses`, in numbers, where somebody accepts a connection at `port` within `patience` each.
[[nodiscard]] std::optional<std::string> first_listening(const std::vector<std::string>& addresses,
                                                         const std::string& port, std::chrono::milliseconds patience);

/// `url` with a host that has several addresses as numbers; as it is when it has one, or nobody listens at any.
[[nodiscard]] std::string reachable_url(const std::string& url);

} // namespace yk::wire
