// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/web_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace yk::service;
namespace http = yk::http;

namespace {

/// A folder of web pages, beside one that is nobody's business; gone in the end.
class Pages {
public:
    Pages() {
        std::string name = "/tmp/yk.XXXXXX";
        base_ = ::mkdtemp(name.data());
        write("root/index.html", "<h1>home</h1>");
        write("root/main.js", std::string(200'000, 'j'));
        write("root/assets/a b.json", "{}");
        write("root/assets/index.html", "assets");
        write("root/LICENSE", "of whom");
        write("root/v1.2/index.html", "of a version");
        write("root/.hidden/key.txt", "secret");
        write("root/empty/.keep", "");
        write("outside/key.txt", "secret");
        std::filesystem::create_symlink(base_ + "/outside/key.txt", base_ + "/root/link.txt");
        std::filesystem::create_symlink(base_ + "/outside", base_ + "/root/linked");
        ::mkfifo((base_ + "/root/pipe.txt").c_str(), 0600);
    }
    ~Pages() { std::filesystem::remove_all(base_); }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;

    void write(const std::string& path, const std::string& text) const {
        const std::filesystem::path file = base_ + "/" + path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    [[nodiscard]] std::string root() const { return base_ + "/root"; }

private:
    std::string base_;
};

class Text final : public http::AnswerSink {
public:
    bool write(std::string_view part) override {
        text += part;
        return text.size() < most;
    }
    bool flush() override { return true; }
    bool is_over() override { return false; }
    std::string text;
    std::size_t most = SIZE_MAX;
};

std::optional<http::HttpAnswer> ask(const WebFiles& files, const std::string& path, const std::string& tag = {}) {
    http::HttpRequest request;
    request.method = "GET";
    request.path = path;
    if (!tag.empty()) request.headers.emplace("if-none-match", tag);
    return files.answer(request);
}

std::string text_of(const std::optional<http::HttpAnswer>& answer) {
    if (!answer) return "not there";
    Text text;
    return answer->stream(text) ? text.text : "cut";
}

} // namespace

TEST_CASE("files of web pages are sent as what they are") {
    const Pages pages;
    const auto files = WebFiles::in(pages.root());
    REQUIRE(files.ok());
    for (const char* const path : {"/", "/index.html"}) {
        const auto home = ask(*files, path);
        CHECK(text_of(home) == "<h1>home</h1>");
        CHECK(home->content_type == "text/html; charset=utf-8");
    }
    const auto script = ask(*files, "/main.js");
    CHECK(text_of(script).size() == 200'000);
    CHECK(script->content_type == "text/javascript; charset=utf-8");
    CHECK(text_of(ask(*files, "/assets/a%20b.json")) == "{}");
    CHECK(text_of(ask(*files, "/assets/")) == "assets");
    for (const char* const path : {"/assets", "/v1.2", "/v1.2/"})
        CHECK(ask(*files, path)->content_type == "text/html; charset=utf-8");
    CHECK(ask(*files, "/LICENSE")->content_type == "application/octet-stream");
}

TEST_CASE("nothing beside the files of a web page is sent") {
    const Pages pages;
    const auto files = WebFiles::in(pages.root());
    REQUIRE(files.ok());
    for (const char* const path :
         {"/nope", "/main.js/", "/main.js/x", "/empty/", "/../outside/key.txt", "/%2e%2e/outside/key.txt",
          "/..%2foutside%2fkey.txt", "/.hidden/key.txt", "/link.txt", "/linked/key.txt", "/linked/", "/pipe.txt",
          "//index.html", "/assets//index.html", "/index.html%00.js", "/%zz", "", "index.html"})
        CHECK_FALSE(ask(*files, path));
    std::string deep;
    for (int i = 0; i < 10'000; ++i) deep += "/a";
    CHECK_FALSE(ask(*files, deep));
}

TEST_CASE("a file of a web page that a browser has is not sent again") {
    const Pages pages;
    const auto files = WebFiles::in(pages.root());
    REQUIRE(files.ok());
    const auto tag_of = [](const http::HttpAnswer& answer) { return answer.headers.front().second; };
    const std::string tag = tag_of(*ask(*files, "/index.html"));
    const auto again = ask(*files, "/index.html", tag);
    CHECK(again->status == 304);
    CHECK_FALSE(again->stream);
    pages.write("root/index.html", "<h1>another</h1>");
    CHECK(text_of(ask(*files, "/index.html", tag)) == "<h1>another</h1>");
}

TEST_CASE("a file of a web page ends when its client has gone") {
    const Pages pages;
    const auto files = WebFiles::in(pages.root());
    REQUIRE(files.ok());
    Text text;
    text.most = 1;
    CHECK_FALSE(ask(*files, "/main.js")->stream(text));
    CHECK(text.text.size() < 200'000);
}

TEST_CASE("a folder of web pages has to be there") {
    const Pages pages;
    CHECK(WebFiles::in(pages.root() + "/nope").error().text().find("/nope: No such file") != std::string::npos);
    CHECK_FALSE(WebFiles::in(pages.root() + "/index.html").ok());
}
