// SPDX-License-Identifier: Apache-2.0
#pragma once
// What decides how many replicas a deployment has, as it is typed and shown: `load=70:average` for a metric and its
// target, `mon-fri 08:00=10` for hours of the week. Its form in a request is the JSON of docs/protocol.md.

#include <string>
#include <vector>

#include "libcore/base/result.h"
#include "protocol/wire/value.h"
#include "ykctl/cli/failure.h"

namespace yk::cli {

/// `70` or `0.25`, of at most three decimals and not negative, in thousandths; nullopt: it is none.
[[nodiscard]] std::optional<std::int64_t> parse_thousandths(const std::string& text);
/// Why a text is none of them: what is wanted in its place.
[[nodiscard]] std::string fault_of_thousandths(const std::string& text);

/// The policy that the options --metric and --schedule make: JSON; at least one of them has a text.
[[nodiscard]] Answer<std::string> policy_of(const std::vector<std::string>& metrics,
                                            const std::vector<std::string>& schedules);

/// A policy as these options, and `more rules` for what they do not say; empty: it has none of it.
[[nodiscard]] std::string policy_summary(const std::string& policy);

} // namespace yk::cli
