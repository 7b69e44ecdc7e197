// SPDX-License-Identifier: Apache-2.0
// Any bytes as a scenario file: refused with a place, or read and turned into messages; a configuration given as a map
// survives being written out and read again.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "libcore/base/check.h"
#include "ykctl/scenario/config_text.h"
#include "ykctl/scenario/messages.h"
#include "ykctl/scenario/scenario.h"

using namespace yk;

namespace {

constexpr std::size_t kMostMessages = 200; // of up to 100,000 elements each

void check_written_tree(std::string_view text) {
    config::Report report;
    const auto tree = config_yaml::parse_tree(text, report);
    if (tree == nullptr || report.has_errors()) return;
    config::Report again;
    const std::string written = scenario::to_yaml(*tree);
    if (written.size() > config_yaml::kMaxTextBytes) return;
    const auto copy = config_yaml::parse_tree(written, again);
    YK_CHECK(copy != nullptr && !again.has_errors(), "a tree written out can be read");
    YK_CHECK(scenario::to_yaml(*copy) == written, "a tree written out is the same tree");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    check_written_tree(text);
    const auto scenario = scenario::read_scenario(text, "f");
    if (!scenario) {
        YK_CHECK(!scenario.error().where.empty(), "an error names its place");
        return 0;
    }
    std::size_t messages = 0;
    for (const scenario::Step& step : scenario->steps) {
        if (step.message.is_null() || step.message.dump().find("repeat") != std::string::npos) continue;
        if (++messages > kMostMessages) break;
        YK_CHECK(scenario::message_of(step, "rm", scenario->rm).contains("rmID"), "a message names its sender");
    }
    return 0;
}
