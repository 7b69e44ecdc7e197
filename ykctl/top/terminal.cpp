// SPDX-License-Identifier: Apache-2.0
#include "ykctl/top/terminal.h"

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <string>

#define NCURSES_NOMACROS // they have names such as `timeout`
#define NCURSES_WIDECHAR 1
#include <ncurses.h>
#include <term.h>
#undef lines // macros of that header
#undef columns

namespace yk::cli {
namespace {

using Name = Key::Name;

constexpr short kWarning = 1;    // pairs of colours
constexpr int kEscapeDelay = 25; // ms, within which the rest of a key's sequence comes

attr_t attribute_of(TopLine::Kind kind, bool has_colour) {
    switch (kind) {
    case TopLine::Kind::Strong: return A_BOLD;
    case TopLine::Kind::Heading: return A_REVERSE;
    case TopLine::Kind::Chosen: return A_REVERSE | A_BOLD;
    case TopLine::Kind::Warning: return has_colour ? static_cast<attr_t>(COLOR_PAIR(kWarning)) : A_BOLD;
    case TopLine::Kind::Plain: break;
    }
    return A_NORMAL;
}

std::optional<Name> special(wint_t code) {
    switch (code) {
    case KEY_UP: return Name::Up;
    case KEY_DOWN: return Name::Down;
    case KEY_PPAGE: return Name::PageUp;
    case KEY_NPAGE: return Name::PageDown;
    case KEY_HOME: return Name::Home;
    case KEY_END: return Name::End;
    case KEY_ENTER: return Name::Enter;
    case KEY_LEFT: return Name::Back;
    case KEY_RIGHT: return Name::Enter;
    case KEY_BACKSPACE: return Name::Erase;
    default: return std::nullopt;
    }
}

Key plain(wint_t code) {
    constexpr wint_t kEscape = 27, kDelete = 127, kBackspace = 8;
    if (code == L'\n' || code == L'\r') return {Name::Enter};
    if (code == kEscape) return {Name::Back};
    if (code == kDelete || code == kBackspace) return {Name::Erase};
    std::mbstate_t state{};
    std::string bytes(MB_CUR_MAX, '\0');
    const std::size_t length = std::wcrtomb(bytes.data(), static_cast<wchar_t>(code), &state);
    if (length == static_cast<std::size_t>(-1)) return {Name::Text, "?"};
    bytes.resize(length);
    return {Name::Text, bytes};
}

} // namespace

Answer<std::unique_ptr<Terminal>> Terminal::open(bool has_colour) {
    const char* const named = std::getenv("TERM");
    const std::string name = named == nullptr ? "" : named;
    const auto cannot = [&name](const std::string& why) {
        return usage_error("top: the terminal '" + name + "' " + why,
                           {"ykctl status --watch, ykctl queue tree --watch"});
    };
    std::setlocale(LC_CTYPE, "");
    SCREEN* const screen = ::newterm(nullptr, stdout, stdin);
    if (screen == nullptr) return cannot("is not known here (TERM)");
    std::unique_ptr<Terminal> terminal{new Terminal{screen, has_colour && ::has_colors()}};
    const char* const moves = ::tigetstr("cup");
    const bool can_move = moves != nullptr && moves != reinterpret_cast<const char*>(-1);
    if (!can_move) {
        terminal.reset();
        return cannot("cannot be drawn on");
    }
    ::set_escdelay(kEscapeDelay);
    ::raw(); // Ctrl-C is a key
    ::noecho();
    ::nonl();
    ::curs_set(0);
    ::keypad(stdscr, TRUE);
    if (terminal->has_colour_) {
        ::start_color();
        ::use_default_colors();
        ::init_pair(kWarning, COLOR_YELLOW, -1);
    }
    return terminal;
}

Terminal::~Terminal() {
    ::endwin();
    ::delscreen(static_cast<SCREEN*>(screen_));
}

TerminalSize Terminal::size() const {
    return {static_cast<std::size_t>(getmaxx(stdscr)), static_cast<std::size_t>(getmaxy(stdscr))};
}

void Terminal::draw(const std::vector<TopLine>& lines) const {
    ::werase(stdscr);
    int row = 0;
    for (const TopLine& line : lines) {
        const attr_t attribute = attribute_of(line.kind, has_colour_);
        ::wattrset(stdscr, static_cast<int>(attribute));
        ::mvwaddnstr(stdscr, row, 0, line.text.c_str(), -1);
        if (line.kind == TopLine::Kind::Heading || line.kind == TopLine::Kind::Chosen)
            ::mvwchgat(stdscr, row, 0, -1, attribute, 0, nullptr);
        ++row;
    }
    ::wattrset(stdscr, A_NORMAL);
    ::wrefresh(stdscr);
}

std::optional<Key> Terminal::key(std::chrono::milliseconds time) const {
    ::wtimeout(stdscr, static_cast<int>(time.count()));
    wint_t code = 0;
    const int came = ::wget_wch(stdscr, &code);
    if (came == ERR) return std::nullopt;
    if (came != KEY_CODE_YES) return plain(code);
    if (const auto name = special(code)) return Key{*name};
    return std::nullopt; // KEY_RESIZE, and keys without a meaning here
}

} // namespace yk::cli
