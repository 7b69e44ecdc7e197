// SPDX-License-Identifier: Apache-2.0
#pragma once
// The texts of `ykctl help TOPIC`.

#include <string>
#include <vector>

namespace yk::cli {

struct Topic {
    const char* name;
    const char* summary;
    const char* text;
};

/// The topic with this name; nullptr when there is none.
[[nodiscard]] const Topic* find_topic(const std::string& name);
[[nodiscard]] std::vector<std::string> topic_names();
/// One line per topic.
[[nodiscard]] std::string topics_text();

} // namespace yk::cli
