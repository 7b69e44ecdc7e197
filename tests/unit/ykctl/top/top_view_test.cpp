// SPDX-License-Identifier: Apache-2.0
#include "ykctl/top/top_view.h"

#include <catch2/catch.hpp>

#include "ykctl/render/text.h"

using namespace yk::cli;
using yk::wire::Value;

namespace {

constexpr std::int64_t kNow = 1'000'000'000'000;

Value queue(const std::string& path, std::int64_t used, bool is_leaf = true) {
    return {{"queuename", path},
            {"isLeaf", is_leaf},
            {"allocatedResource", {{"vcore", used * 1000}}},
            {"maxResource", {{"vcore", 10'000}}}};
}

ClusterLook look_of(std::vector<Value> items) {
    ClusterLook look;
    look.status = {{"version", "1.2"},
                   {"state", 1},
                   {"uptimeMs", 65'000},
                   {"rms", Value::array({{{"rmID", "a"}}})},
                   {"counts", {{"nodes", 3}, {"applications", 1}, {"allocations", 7}, {"pendingAsks", 2}}}};
    look.items = std::move(items);
    look.now = kNow;
    look.placed_a_second = 12.4;
    return look;
}

ClusterLook queues() {
    return look_of({queue("root", 6, false), queue("root.a", 5), queue("root.b", 1)});
}

std::vector<std::string> texts(TopView& view, TerminalSize size = {70, 12}) {
    std::vector<std::string> lines;
    for (const TopLine& line : view.screen(size)) lines.push_back(line.text);
    return lines;
}

std::string chosen(TopView& view) {
    for (const TopLine& line : view.screen({70, 12}))
        if (line.kind == TopLine::Kind::Chosen) return line.text.substr(0, line.text.find(' '));
    return {};
}

TopView::Wish press(TopView& view, const std::string& keys) {
    auto wish = TopView::Wish::Draw;
    for (const char key : keys) wish = view.take({Key::Name::Text, std::string(1, key)});
    return wish;
}

} // namespace

TEST_CASE("top: a screen has the daemon, counts, the list and the keys") {
    TopView view{true};
    view.set_look(queues());
    CHECK(texts(view) == std::vector<std::string>{
                             "ykd 1.2, Running, up 1m5s, 1 RM", "3 nodes, 1 app, 7 placed, 2 waiting, 12 placements/s",
                             "[1 queues]  2 nodes   3 apps   4 waiting",
                             "QUEUE ^  OF MAX  USED     PENDING  APPS  GUARANTEED  MAX",
                             "root        60%  6 vcore  -           0  -           10 vcore",
                             "root.a      50%  5 vcore  -           0  -           10 vcore",
                             "root.b      10%  1 vcore  -           0  -           10 vcore", "", "", "", "",
                             "q quit  ? help  enter open  esc back  / filter  s sort  r reverse"});
}

TEST_CASE("top: of a partition that measures it the screen says how much of what is idle is of no use") {
    TopView view{true};
    ClusterLook look = queues();
    look.unusable = 0.9891;
    view.set_look(look);
    CHECK(texts(view, {90, 12})[1] == "3 nodes, 1 app, 7 placed, 2 waiting, 12 placements/s, 98.9% of idle unusable");
}

TEST_CASE("top: no line is wider than the terminal, no screen higher") {
    TopView view{false};
    view.set_look(queues());
    for (std::size_t columns = 1; columns < 130; columns += 3) {
        for (std::size_t rows = 1; rows < 30; ++rows) {
            const auto lines = view.screen({columns, rows});
            CHECK(lines.size() == rows);
            for (const TopLine& line : lines) CHECK(yk::cli::display_width(line.text) <= columns);
        }
    }
}

TEST_CASE("top: what is chosen stays chosen when the list is another one, or sorted anew") {
    TopView view{true};
    view.set_look(queues());
    CHECK(chosen(view) == "root");
    press(view, "jj");
    CHECK(chosen(view) == "root.b");
    press(view, "j");
    CHECK(chosen(view) == "root.b");
    view.set_look(look_of({queue("root", 6, false), queue("root.0", 0), queue("root.b", 1)}));
    CHECK(chosen(view) == "root.b");
    press(view, "s");
    CHECK(texts(view)[3].find("OF MAX v") != std::string::npos);
    CHECK(texts(view)[4].starts_with("root "));
    CHECK(chosen(view) == "root.b");
    press(view, "r");
    CHECK(texts(view)[4].starts_with("root.0"));
    press(view, "S");
    CHECK(texts(view)[3].find("QUEUE ^") != std::string::npos);
    view.set_look(look_of({}));
    CHECK(texts(view)[3] == "no queues");
    CHECK(view.take({Key::Name::Enter}) == TopView::Wish::Draw);
}

TEST_CASE("top: a long list is scrolled to what is chosen") {
    TopView view{true};
    std::vector<Value> many;
    many.reserve(100);
    for (int i = 0; i < 100; ++i) many.push_back(queue("root.q" + std::to_string(i), 0));
    view.set_look(look_of(std::move(many)));
    static_cast<void>(view.take({Key::Name::End}));
    CHECK(chosen(view) == "root.q99");
    static_cast<void>(view.take({Key::Name::PageUp}));
    CHECK(chosen(view) == "root.q93");
    static_cast<void>(view.take({Key::Name::Home}));
    CHECK(chosen(view) == "root.q0");
    static_cast<void>(view.take({Key::Name::PageDown}));
    CHECK(chosen(view) == "root.q6");
}

TEST_CASE("top: a filter keeps the rows with the text in them") {
    TopView view{true};
    view.set_look(queues());
    press(view, "/.A");
    CHECK(texts(view)[2].find("/.A_") != std::string::npos);
    CHECK(chosen(view) == "root.a");
    CHECK(texts(view)[5].empty());
    static_cast<void>(view.take({Key::Name::Enter}));
    CHECK(press(view, "q") == TopView::Wish::Quit);
    press(view, "/q");
    CHECK(texts(view)[3] == "no queues");
    static_cast<void>(view.take({Key::Name::Erase}));
    CHECK(texts(view)[6].starts_with("root.b"));
    press(view, "x");
    static_cast<void>(view.take({Key::Name::Back}));
    CHECK(texts(view)[6].starts_with("root.b"));
}

TEST_CASE("top: enter descends, esc comes back") {
    TopView view{true};
    view.set_look(queues());
    CHECK(view.take({Key::Name::Enter}) == TopView::Wish::Look);
    CHECK(view.place() == Place{Pane::Queues, "root", {}});
    view.set_look(queues());
    press(view, "j");
    CHECK(view.take({Key::Name::Enter}) == TopView::Wish::Look);
    CHECK(view.place() == Place{Pane::Applications, "root.a", {}});
    view.set_look(look_of({{{"applicationID", "web"}, {"applicationState", "Running"}}}));
    CHECK(view.take({Key::Name::Enter}) == TopView::Wish::Look);
    CHECK(view.place() == Place{Pane::Applications, "root.a", "web"});
    auto look = look_of({});
    look.object = "app:  web\nstate:  Running\n";
    view.set_look(look);
    CHECK(texts(view)[3] == "app:  web");
    CHECK(texts(view)[2].ends_with("web"));
    CHECK(view.take({Key::Name::Back}) == TopView::Wish::Look);
    CHECK(view.place() == Place{Pane::Applications, "root.a", {}});
    CHECK(view.take({Key::Name::Back}) == TopView::Wish::Look);
    CHECK(view.place() == Place{Pane::Queues, "root", {}});
    CHECK(view.take({Key::Name::Erase}) == TopView::Wish::Look);
    CHECK(view.place() == Place{});
    CHECK(view.take({Key::Name::Back}) == TopView::Wish::Draw);
    CHECK(press(view, "4") == TopView::Wish::Look);
    CHECK(view.place() == Place{Pane::Waiting, {}, {}});
}

TEST_CASE("top: what is wrong stands where the counts do, and help goes with any key") {
    TopView view{true};
    view.set_look(queues());
    view.set_trouble("old: gone");
    CHECK(texts(view)[1] == "old: gone");
    CHECK(texts(view)[4].starts_with("root "));
    view.set_trouble({});
    CHECK(texts(view)[1].starts_with("3 nodes"));
    press(view, "?");
    CHECK(texts(view)[3].starts_with("1 2 3 4"));
    press(view, "x");
    CHECK(texts(view)[4].starts_with("root "));
    CHECK(press(view, "\x03") == TopView::Wish::Quit);
}
