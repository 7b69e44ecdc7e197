// SPDX-License-Identifier: Apache-2.0
#include "ykctl/top/top_view.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "libcore/base/pluralize.h"
#include "ykctl/client/states.h"
#include "ykctl/render/cell.h"
#include "ykctl/render/text.h"
#include "ykctl/render/view.h"

namespace yk::cli {
namespace {

using wire::Value;
using Name = Key::Name;
using Kind = TopLine::Kind;

constexpr std::size_t kAbove = 3; // lines above the list
constexpr const char* kHelp =
    "1 2 3 4   queues, nodes, applications, what waits and why\n"
    "up down   choose a row; also k j, Page Up, Page Down, Home, End\n"
    "enter     a queue: what is below it, or its applications; a node or an application: show it\n"
    "esc       back; also Backspace, h\n"
    "s S       sort by the next column, by the one before\n"
    "r         the other way round\n"
    "/         only rows with this text in them; Enter keeps it, Esc forgets it\n"
    "space     look again now\n"
    "q         quit; also Ctrl-C\n";

std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find('\n', at), text.size());
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

} // namespace

// --- keys -----------------------------------------------------------------------------------------------------------

TopView::Wish TopView::take(const Key& key) {
    if (is_typing_) return take_filter(key);
    if (std::exchange(is_help_, false)) return Wish::Draw;
    const auto page = static_cast<std::ptrdiff_t>(std::max<std::size_t>(visible_, 2) - 1);
    switch (key.name) {
    case Name::Up: move(-1); break;
    case Name::Down: move(1); break;
    case Name::PageUp: move(-page); break;
    case Name::PageDown: move(page); break;
    case Name::Home: choose(0); break;
    case Name::End: choose(static_cast<std::ptrdiff_t>(last_row())); break;
    case Name::Enter: return enter();
    case Name::Back:
    case Name::Erase: return leave();
    case Name::Text: return take_text(key.text);
    }
    return Wish::Draw;
}

TopView::Wish TopView::take_text(const std::string& text) {
    if (text == "q" || text == "\x03") return Wish::Quit;
    if (text == " ") return Wish::Look;
    if (text == "h") return leave();
    if (text == "j") move(1);
    if (text == "k") move(-1);
    if (text == "?") is_help_ = true;
    if (text == "/") {
        is_typing_ = true;
        filter_.clear();
        arrange();
    }
    if (text == "s") sort_by_next(1);
    if (text == "S") sort_by_next(-1);
    if (text == "r") {
        is_descending_ = !is_descending_;
        arrange();
    }
    for (const Pane pane : kPanes) {
        if (text.size() != 1 || text[0] != title_of(pane)[0]) continue;
        back_.clear();
        return go({pane, {}, {}});
    }
    return Wish::Draw;
}

TopView::Wish TopView::take_filter(const Key& key) {
    if (key.name == Name::Enter) is_typing_ = false;
    if (key.name == Name::Back) {
        is_typing_ = false;
        filter_.clear();
    }
    if (key.name == Name::Erase && !filter_.empty()) {
        while (!filter_.empty() && (static_cast<unsigned char>(filter_.back()) & 0xC0U) == 0x80U) filter_.pop_back();
        filter_.pop_back();
    }
    if (key.name == Name::Text && key.text == "\x03") return Wish::Quit;
    if (key.name == Name::Text) filter_ += key.text;
    arrange();
    return Wish::Draw;
}

/// Into what is chosen.
TopView::Wish TopView::enter() {
    if (rows_.empty() || !place_.object.empty()) return Wish::Draw;
    const Value& item = rows_[chosen_];
    Place next = place_;
    switch (place_.pane) {
    case Pane::Queues:
        next.queue = text_of(item, "queuename");
        if (flag_of(item, "isLeaf") || next.queue == place_.queue) next.pane = Pane::Applications;
        break;
    case Pane::Nodes:
    case Pane::Applications: next.object = name_of(chosen_); break;
    case Pane::Waiting: next = {Pane::Applications, text_of(item, "queue"), {}}; break;
    }
    back_.push_back(place_);
    return go(next);
}

TopView::Wish TopView::leave() {
    if (back_.empty()) return Wish::Draw;
    const Place before = back_.back();
    back_.pop_back();
    return go(before);
}

TopView::Wish TopView::go(Place place) {
    if (place.pane != place_.pane || rows_.empty()) {
        const FirstOrder order = first_order(place.pane);
        sorted_by_ = order.column;
        is_descending_ = order.descending;
    }
    place_ = std::move(place);
    filter_.clear();
    look_.items.clear();
    look_.object.clear();
    look_.is_part = false;
    rows_.clear();
    chosen_ = first_ = 0;
    return Wish::Look;
}

std::size_t TopView::last_row() const {
    const std::size_t rows = place_.object.empty() ? rows_.size() : lines_of(look_.object).size();
    return rows == 0 ? 0 : rows - 1;
}

void TopView::choose(std::ptrdiff_t row) {
    chosen_ = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(row, 0, static_cast<std::ptrdiff_t>(last_row())));
}

void TopView::move(std::ptrdiff_t rows) {
    choose(static_cast<std::ptrdiff_t>(chosen_) + rows);
}

void TopView::sort_by_next(std::ptrdiff_t step) {
    const auto count = static_cast<std::ptrdiff_t>(layout().columns.size());
    sorted_by_ = static_cast<std::size_t>((static_cast<std::ptrdiff_t>(sorted_by_) + step + count) % count);
    is_descending_ = layout().columns[sorted_by_].heading.align == Align::Right; // numbers: the largest first
    arrange();
}

// --- what is known --------------------------------------------------------------------------------------------------

void TopView::set_look(ClusterLook look) {
    look_ = std::move(look);
    arrange();
}

Style TopView::style() const {
    return {false, columns_ >= kLeastForBars && !is_ascii_, is_ascii_, columns_};
}

ListLayout TopView::layout() const {
    return layout_of(place_.pane, look_.now, style());
}

std::string TopView::name_of(std::size_t row) const {
    return row < rows_.size() ? layout().name(rows_[row]) : std::string{};
}

bool TopView::is_wanted(const Value& item, const ListLayout& layout) const {
    const std::string wanted = lower(filter_);
    return std::any_of(layout.columns.begin(), layout.columns.end(), [&](const Column& column) {
        return lower(column.cell(item)).find(wanted) != std::string::npos;
    });
}

void TopView::arrange() {
    auto shown = layout();
    const auto chosen = name_of(chosen_);
    rows_ = look_.items;
    if (!filter_.empty()) std::erase_if(rows_, [&](const Value& item) { return !is_wanted(item, shown); });
    TableView view;
    view.sort_by = {{column_name(shown.columns[sorted_by_].heading), is_descending_}};
    static_cast<void>(apply_view(view, rows_, shown)); // the column is one of the layout
    if (!place_.object.empty()) return choose(static_cast<std::ptrdiff_t>(chosen_));
    const auto same = std::find_if(rows_.begin(), rows_.end(),
                                   [&](const Value& item) { return !chosen.empty() && shown.name(item) == chosen; });
    choose(same == rows_.end() ? static_cast<std::ptrdiff_t>(chosen_) : same - rows_.begin());
}

// --- the screen ----------------------------------------------------------------------------------------------------

std::string TopView::daemon_line() const {
    const Value& status = look_.status;
    if (!status.is_object()) return "ykd";
    return fmt::format("ykd {}, {}, up {}, {}", printable(text_of(status, "version")),
                       core_state_text(number_of(status, "state")),
                       duration_text(std::chrono::milliseconds{number_of(status, "uptimeMs")}),
                       pluralize(member_of(status, "rms").size(), "RM"));
}

std::string TopView::counts_line() const {
    const Value& counts = member_of(look_.status, "counts");
    auto text = fmt::format("{}, {}, {} placed, {} waiting", pluralize(number_of(counts, "nodes"), "node"),
                            pluralize(number_of(counts, "applications"), "app"), number_of(counts, "allocations"),
                            number_of(counts, "pendingAsks"));
    if (look_.placed_a_second) text += fmt::format(", {:.0f} placements/s", *look_.placed_a_second);
    if (look_.unusable) text += fmt::format(", {:.1f}% of idle unusable", *look_.unusable * 100);
    return text;
}

std::string TopView::place_line() const {
    std::string text;
    for (const Pane pane : kPanes)
        text += pane == place_.pane ? fmt::format("[{}] ", title_of(pane)) : fmt::format(" {}  ", title_of(pane));
    if (!place_.object.empty()) return text + " " + printable(place_.object);
    if (!place_.queue.empty()) text += " in " + printable(place_.queue);
    if (is_typing_ || !filter_.empty()) text += " /" + printable(filter_) + (is_typing_ ? "_" : "");
    if (look_.is_part) text += " of the first 4000";
    return text;
}

std::string TopView::keys_line() const {
    return "q quit  ? help  enter open  esc back  / filter  s sort  r reverse";
}

void TopView::add_text(std::vector<TopLine>& lines, std::size_t height, const std::string& text) {
    const auto all = lines_of(text);
    first_ = std::min(chosen_, all.size() - std::min(all.size(), height));
    for (std::size_t i = first_; i < std::min(all.size(), first_ + height); ++i) lines.push_back({all[i]});
}

void TopView::add_list(std::vector<TopLine>& lines, std::size_t height) {
    visible_ = height - 1; // without the headings
    if (rows_.empty()) return lines.push_back({look_.status.is_object() ? layout().nothing : "looking"});
    first_ = std::min(first_, chosen_);
    if (chosen_ >= first_ + visible_) first_ = chosen_ - visible_ + 1;
    const std::size_t end = std::min(rows_.size(), first_ + visible_);
    auto shown = layout();
    Heading& sorted = shown.columns[sorted_by_].heading;
    sorted.text += is_ascii_ ? (is_descending_ ? " v" : " ^") : (is_descending_ ? " \u25bc" : " \u25b2");
    sorted.is_wanted = true;
    const Items visible(rows_.begin() + static_cast<std::ptrdiff_t>(first_),
                        rows_.begin() + static_cast<std::ptrdiff_t>(end));
    const auto table = lines_of(cli::list_text(visible, shown, Format::Table, style()));
    for (std::size_t i = 0; i < table.size(); ++i)
        lines.push_back({table[i], i == 0 ? Kind::Heading : first_ + i - 1 == chosen_ ? Kind::Chosen : Kind::Plain});
}

std::vector<TopLine> TopView::screen(const TerminalSize& size) {
    columns_ = size.columns;
    std::vector<TopLine> lines{{daemon_line(), Kind::Strong}};
    lines.push_back(trouble_.empty() ? TopLine{counts_line()} : TopLine{trouble_, Kind::Warning});
    lines.push_back({place_line()});
    const std::size_t height = size.rows > kAbove + 1 ? size.rows - kAbove - 1 : 0;
    if (is_help_)
        add_text(lines, height, kHelp);
    else if (!place_.object.empty())
        add_text(lines, height, look_.object);
    else if (height > 1)
        add_list(lines, height);
    while (lines.size() + 1 < size.rows) lines.push_back({});
    lines.push_back({keys_line(), Kind::Heading});
    if (lines.size() > size.rows) lines.resize(size.rows);
    const std::string_view ellipsis = style().ellipsis();
    for (TopLine& line : lines) {
        line.text.erase(line.text.find_last_not_of(' ') + 1);
        line.text = cut_cell(line.text, columns_, ellipsis);
    }
    return lines;
}

} // namespace yk::cli
