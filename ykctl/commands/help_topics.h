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

/// nullptr when there is none of that name.
[[nodiscard]] const Topic* find_topic(const std::string& name);
[[nodiscard]] std::vector<std::string> topic_names();
/// One line per topic.
[[nodiscard]] std::string topics_text();

} // namespace yk::cli
