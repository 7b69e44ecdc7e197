// SPDX-License-Identifier: Apache-2.0
#pragma once
// What of an object is not as a file says.

#include <string>
#include <vector>

#include "protocol/si/messages.h"
#include "protocol/wire/value.h"

namespace yk::cli {

/// A field that differs, as text for people.
struct Difference {
    std::string field, from, to;
};

/// Notes what differs.
class Differences {
public:
    void compare(const char* field, const std::string& from, const std::string& to) {
        if (from != to) all_.push_back({field, from, to});
    }
    [[nodiscard]] std::vector<Difference> take() { return std::move(all_); }

private:
    std::vector<Difference> all_;
};

/// `capacity {vcore: 8} -> {vcore: 16}, state Active -> Drained`.
[[nodiscard]] std::string differences_text(const std::vector<Difference>& differences);
/// [{field, from, to}].
[[nodiscard]] wire::Value differences_value(const std::vector<Difference>& differences);

/// Amounts as a configuration has them, exact: `{memory: 16Gi, vcore: 1500m}`, without those that are 0.
[[nodiscard]] std::string amounts_text(const wire::Value& amounts);
[[nodiscard]] std::string amounts_text(const si::Resources& amounts);
/// `{a: x, b: y}`, by name.
[[nodiscard]] std::string pairs_text(const wire::Value& pairs);
[[nodiscard]] std::string pairs_text(const si::StringMap& pairs);
/// The devices of a node or an ask by resource, by name: `{gpu: [1000,1000]}`, `{gpu: 2 x 500}`.
[[nodiscard]] std::string devices_text(const wire::Value& devices);
/// `a,b`, in order.
[[nodiscard]] std::string names_text(const wire::Value& texts);

} // namespace yk::cli
