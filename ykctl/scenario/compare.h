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

/// Only what `wanted` names is compared. A map: key by key, a key that `found` lacks counts as 0. Null: every value of
/// the map `found` is 0. `*`: any text. Anything else: equal.
void compare_value(const std::string& path, const Value& wanted, const Value& found, std::vector<Unmet>& unmet);

/// A thing of a name, such as one application; null as `found`: there is none. `{exists: false}` wants that.
void compare_thing(const std::string& path, const Value& wanted, const Value& found, std::vector<Unmet>& unmet);

/// Each text of the list `wanted` is in the list `found`.
void compare_members(const std::string& path, const Value& wanted, const Value& found, std::vector<Unmet>& unmet);

/// The entries of `wanted` by name; a name that `found` lacks is `missing` (null: there is nothing).
void compare_entries(const std::string& path, const Value& wanted, const Value& found, const Value& missing,
                     std::vector<Unmet>& unmet);

/// As it is printed in messages: texts bare, maps as {a: 1, b: 2}, null as `none`.
[[nodiscard]] std::string shown(const Value& value);

} // namespace yk::scenario
