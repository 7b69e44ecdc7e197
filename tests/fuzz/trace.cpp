// SPDX-License-Identifier: Apache-2.0
// Any bytes as the two files of a trace: refused with file and line, or read to what the mapping promises.

#include <cstdint>
#include <string_view>

#include "libcore/base/check.h"
#include "ykctl/replay/trace.h"

using namespace yk;

namespace {

template <class T>
void check_place(const Result<T>& read) {
    if (!read) YK_CHECK(read.error().where.find(':') != std::string::npos, "an error names file and line");
}

void check_amounts(const replay::Amounts& amounts) {
    for (const auto& [name, amount] : amounts) {
        YK_CHECK(amount >= 0, "amounts are not negative");
        YK_CHECK(name != "gpu" || amount > 0, "gpu is left out when 0");
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto nodes = replay::read_nodes(text, "nodes");
    check_place(nodes);
    if (nodes)
        for (const replay::TraceNode& node : *nodes) check_amounts(node.capacity);
    const auto pods = replay::read_pods(text, "pods");
    check_place(pods);
    if (!pods) return 0;
    std::int64_t creation = 0;
    for (const replay::TracePod& pod : *pods) {
        check_amounts(pod.request);
        YK_CHECK(pod.creation >= creation, "pods are in order of creation");
        YK_CHECK(!pod.deletion || *pod.deletion >= pod.creation, "no pod ends before it begins");
        creation = pod.creation;
    }
    return 0;
}
