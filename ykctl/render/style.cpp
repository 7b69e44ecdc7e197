// SPDX-License-Identifier: Apache-2.0
#include "ykctl/render/style.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace yk::cli {
namespace {

constexpr int kBarCells = 10;

/// A bar of ten cells, in steps of an eighth of a cell.
std::string bar(double share) {
    static constexpr std::array<const char*, 8> kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const auto eighths = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * kBarCells * 8));
    std::string text;
    for (int cell = 0; cell < eighths / 8; ++cell) text += "█";
    text += kEighths[static_cast<std::size_t>(eighths % 8)];
    const int used = eighths / 8 + (eighths % 8 == 0 ? 0 : 1);
    return text + std::string(static_cast<std::size_t>(kBarCells - used), ' ');
}

} // namespace

std::string usage_text(double share, const Style& style) {
    if (!(share >= 0)) return "-";
    auto percent = fmt::format("{:.0f}%", share * 100);
    if (!style.bars) return percent;
    const auto cells = bar(share);
    const auto coloured = share >= 0.95 ? style.red(cells) : share >= 0.75 ? style.yellow(cells) : style.green(cells);
    return fmt::format("{} {:>4}", coloured, percent);
}

} // namespace yk::cli
