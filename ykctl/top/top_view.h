// SPDX-License-Identifier: Apache-2.0
#pragma once
// TopView: where the user of ykctl top is, what each key does, and the lines that show it. Knows no terminal.

#include <cstddef>
#include <string>
#include <vector>

#include "ykctl/render/screen.h"
#include "ykctl/top/cluster_look.h"

namespace yk::cli {

struct Key {
    enum class Name { Text, Up, Down, PageUp, PageDown, Home, End, Enter, Back, Erase };
    Name name = Name::Text;
    std::string text = {}; // of Text: one character
};

/// A line of the screen, and how it is drawn.
struct TopLine {
    enum class Kind { Plain, Strong, Heading, Chosen, Warning };
    std::string text;
    Kind kind = Kind::Plain;
};

/// Owner: the command. Thread: main.
class TopView {
public:
    explicit TopView(bool is_ascii) : is_ascii_(is_ascii) {}

    /// What the command has to do after a key.
    enum class Wish { Draw, Look, Quit };
    [[nodiscard]] Wish take(const Key& key);

    [[nodiscard]] const Place& place() const { return place_; }
    /// The answer for place(). What was chosen stays chosen.
    void set_look(ClusterLook look);
    /// Why there is no newer look; empty: there is.
    void set_trouble(std::string trouble) { trouble_ = std::move(trouble); }

    /// The lines, at most `size.rows`, none wider than `size.columns`. REQUIRES: neither is 0.
    [[nodiscard]] std::vector<TopLine> screen(const TerminalSize& size);

private:
    using Items = std::vector<wire::Value>;

    Wish take_filter(const Key& key);
    Wish take_text(const std::string& text);
    Wish enter();
    Wish leave();
    Wish go(Place place);
    void choose(std::ptrdiff_t row);
    void move(std::ptrdiff_t rows);
    void sort_by_next(std::ptrdiff_t step);
    /// Filters and sorts the items of the look.
    void arrange();
    [[nodiscard]] ListLayout layout() const;
    [[nodiscard]] Style style() const;
    [[nodiscard]] bool is_wanted(const wire::Value& item, const ListLayout& layout) const;
    [[nodiscard]] std::string name_of(std::size_t row) const;
    [[nodiscard]] std::size_t last_row() const;

    [[nodiscard]] std::string daemon_line() const;
    [[nodiscard]] std::string counts_line() const;
    [[nodiscard]] std::string place_line() const;
    [[nodiscard]] std::string keys_line() const;
    void add_list(std::vector<TopLine>& lines, std::size_t height);
    void add_text(std::vector<TopLine>& lines, std::size_t height, const std::string& text);

    const bool is_ascii_;
    Place place_;
    std::vector<Place> back_; // where he came from
    ClusterLook look_;
    Items rows_;               // of the look, as they are shown
    std::size_t chosen_ = 0;   // of them
    std::size_t first_ = 0;    // that is on the screen
    std::size_t visible_ = 10; // rows on the screen
    std::size_t columns_ = 80;
    std::size_t sorted_by_ = 0; // column
    bool is_descending_ = false;
    std::string filter_;
    bool is_typing_ = false; // the filter
    bool is_help_ = false;
    std::string trouble_;
};

} // namespace yk::cli
