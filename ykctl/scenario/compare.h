// SPDX-License-Identifier: Apache-2.0
#pragma once
// Comparing what is wanted with what was found (scenario.md, expect).

#include <string>
#include <vector>

#include "protocol/wire/value.h"

namespace yk::scenario {

using wire::Value;

/// One unmet expectation.
struct Unmet {
    std::string path, wanted, found;

    friend bool operator==(const Unmet&, const Unmet&) = default;
};

/// Compares what `wanted` names, and nothing else. Maps are compared key by key, where a key that `found` lacks counts
/// as 0. Null wants every value of the map `found` to be 0, `*` wants any text, any other value wants an equal one.
void compare_value(const std::string& path, const Value& wanted, const Value& found, std::vector<Unmet>& unmet);

/// Compares one named object, such as an application. `found` is null when there is none, which `{exists: false}`
/// wants.
void compare_thing(const std::string& path, const Value& wanted, const Value& found, std::vector<Unmet>& unmet);

/// Compares lists of texts: each of `wanted` has to be in `found`.
void compare_members(const std::string& path, const Value& wanted, const Value& found, std::vector<Unmet>& unmet);

/// Compares entries by name. A name that `found` lacks has the value `missing`; null: there is no such entry.
void compare_entries(const std::string& path, const Value& wanted, const Value& found, const Value& missing,
                     std::vector<Unmet>& unmet);

/// A value as messages print it: texts without quotes, maps as {a: 1, b: 2}, null as `none`.
[[nodiscard]] std::string shown(const Value& value);

} // namespace yk::scenario
