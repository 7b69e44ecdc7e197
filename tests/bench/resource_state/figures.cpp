// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/resource_state/figures.h"

#include <malloc.h>
#include <sqlite3.h>

#include <cstring>
#include <exception>

#include <nlohmann/json.hpp>

#include "tests/bench/measure/isolate.h"

namespace yk::bench {
namespace {

constexpr std::size_t kMostText = 65'536;

std::string text_of(const Result<Figures>& measured) {
    nlohmann::json json;
    if (!measured.ok()) json["fault"] = measured.error().text();
    if (measured.ok()) json["figures"] = measured.value();
    return json.dump();
}

} // namespace

Result<Figures> figures_apart(const std::function<Result<Figures>()>& measure) {
    const Shared<char> shared{kMostText};
    const std::string ended = in_child([&] {
        const auto measured = [&]() -> Result<Figures> {
            try {
                return measure();
            } catch (const std::exception& thrown) {
                return Error::of(thrown.what());
            }
        }();
        const std::string text = text_of(measured);
        std::memcpy(shared.data(), text.data(), std::min(text.size(), kMostText - 1));
    });
    if (!ended.empty()) return Error::of("the process " + ended);
    const auto json = nlohmann::json::parse(shared.data(), nullptr, false);
    if (json.is_discarded()) return Error::of("the process said nothing that can be read");
    if (json.contains("fault")) return Error::of(json["fault"].get<std::string>());
    return json["figures"].get<Figures>();
}

double heap_bytes() {
    const auto info = ::mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
}

double sqlite_bytes() {
    return static_cast<double>(::sqlite3_memory_used());
}

double percentile_of(std::vector<double>& values, double percent) {
    if (values.empty()) return 0;
    const auto at = static_cast<std::ptrdiff_t>(percent / 100 * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + at, values.end());
    return values[static_cast<std::size_t>(at)];
}

} // namespace yk::bench
