// SPDX-License-Identifier: Apache-2.0
#pragma once
// Terminal: the whole screen, over ncurses.

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "ykctl/cli/failure.h"
#include "ykctl/render/screen.h"
#include "ykctl/top/top_view.h"

namespace yk::cli {

/// Owner: the command. Thread: main. While it lives nothing else may write to the terminal; afterwards the terminal
/// shows what it showed before.
class Terminal {
public:
    /// A failure for one that is none, or that cannot be drawn on.
    [[nodiscard]] static Answer<std::unique_ptr<Terminal>> open(bool has_colour);
    ~Terminal();
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    [[nodiscard]] TerminalSize size() const;
    void draw(const std::vector<TopLine>& lines) const;
    /// The next key; nullopt: none came within `time`, or the terminal has another size now.
    [[nodiscard]] std::optional<Key> key(std::chrono::milliseconds time) const;

private:
    Terminal(void* screen, bool has_colour) : screen_(screen), has_colour_(has_colour) {}

    void* const screen_; // of ncurses
    const bool has_colour_;
};

} // namespace yk::cli
