// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/web_files.h"

#include <fmt/format.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "ykd/rest/rest_names.h"

namespace yk::service {
namespace {

constexpr const char* kIndex = "index.html";
constexpr std::size_t kMostParts = 32;   // folders in one another
constexpr std::size_t kPart = 1U << 16U; // bytes that are read and sent together

/// By what a name ends with. A browser takes nothing else for a script or a style, since `nosniff` is said.
std::string_view type_of(std::string_view name) {
    using Pair = std::pair<std::string_view, std::string_view>;
    constexpr std::array kTypes{Pair{".html", "text/html; charset=utf-8"},
                                Pair{".js", "text/javascript; charset=utf-8"},
                                Pair{".mjs", "text/javascript; charset=utf-8"},
                                Pair{".css", "text/css; charset=utf-8"},
                                Pair{".json", "application/json"},
                                Pair{".map", "application/json"},
                                Pair{".webmanifest", "application/manifest+json"},
                                Pair{".txt", "text/plain; charset=utf-8"},
                                Pair{".svg", "image/svg+xml"},
                                Pair{".png", "image/png"},
                                Pair{".jpg", "image/jpeg"},
                                Pair{".gif", "image/gif"},
                                Pair{".webp", "image/webp"},
                                Pair{".ico", "image/x-icon"},
                                Pair{".woff", "font/woff"},
                                Pair{".woff2", "font/woff2"},
                                Pair{".ttf", "font/ttf"},
                                Pair{".wasm", "application/wasm"}};
    for (const auto& [end, type] : kTypes)
        if (name.ends_with(end)) return type;
    return "application/octet-stream";
}

/// The names of folders and file in a path, decoded; that of a folder, whose path ends with a slash, is its index.
/// nullopt: nothing of these names could be there.
std::optional<std::vector<std::string>> parts_of(std::string_view path) {
    std::vector<std::string> parts;
    if (path.empty()) return std::nullopt;
    while (!path.empty() && path.front() == '/') {
        path.remove_prefix(1);
        const std::string_view part = path.substr(0, path.find('/'));
        path.remove_prefix(part.size());
        auto name = part.empty() && path.empty() ? std::optional<std::string>(kIndex) : unescaped(part, false);
        const bool is_name = name && !name->empty() && name->front() != '.' && name->find('/') == std::string::npos &&
                             name->find('\0') == std::string::npos;
        if (!is_name || parts.size() == kMostParts) return std::nullopt;
        parts.push_back(*std::move(name));
    }
    return path.empty() ? std::optional{std::move(parts)} : std::nullopt;
}

} // namespace

/// A file or folder that is open for reading.
class WebFiles::Descriptor {
public:
    explicit Descriptor(int number, std::string name = {}) : number_(number), name_(std::move(name)) {}
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    [[nodiscard]] bool is_open() const { return number_ >= 0; }
    [[nodiscard]] int number() const { return number_; }
    /// What it is called in its folder.
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] std::optional<struct stat> status() const {
        struct stat found {};
        return ::fstat(number_, &found) == 0 ? std::optional{found} : std::nullopt;
    }
    /// What is in this folder, which is not waited for if it is a pipe; nullptr: nothing of that name.
    [[nodiscard]] std::shared_ptr<Descriptor> open(const std::string& name) const {
        auto opened = std::make_shared<Descriptor>(
            ::openat(number_, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY), name);
        return opened->is_open() ? opened : nullptr;
    }

private:
    const int number_;
    const std::string name_;
};

Result<WebFiles> WebFiles::in(const std::string& folder) {
    auto opened = std::make_shared<Descriptor>(::open(folder.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY));
    if (!opened->is_open()) return Error::at(folder, std::strerror(errno));
    return WebFiles(std::move(opened));
}

/// The regular file of this path; nullptr: there is none.
std::shared_ptr<WebFiles::Descriptor> WebFiles::open(const std::string& path) const {
    const auto parts = parts_of(path);
    if (!parts) return nullptr;
    std::shared_ptr<Descriptor> at = folder_;
    for (const std::string& part : *parts)
        if (at = at->open(part); !at) return nullptr;
    auto status = at->status();
    if (status && S_ISDIR(status->st_mode)) {
        at = at->open(kIndex);
        if (!at) return nullptr;
        status = at->status();
    }
    return status && S_ISREG(status->st_mode) ? at : nullptr;
}

std::optional<http::HttpAnswer> WebFiles::answer(const http::HttpRequest& request) const {
    const auto file = open(request.path);
    const auto status = file ? file->status() : std::nullopt;
    if (!status) return std::nullopt;
    http::HttpAnswer answer;
    const std::string tag =
        fmt::format("\"{:x}-{:x}-{:x}\"", status->st_size, status->st_mtim.tv_sec, status->st_mtim.tv_nsec);
    answer.headers = {{"ETag", tag}, {"Cache-Control", "no-cache"}, {"X-Content-Type-Options", "nosniff"}};
    if (request.header("if-none-match") == tag) {
        answer.status = 304;
        return answer;
    }
    answer.content_type = type_of(file->name());
    answer.stream = [file](http::AnswerSink& sink) {
        std::array<char, kPart> part; // filled before it is looked at
        for (;;) {
            const ssize_t size = ::read(file->number(), part.data(), part.size());
            if (size < 0 && errno == EINTR) continue;
            if (size <= 0) return size == 0;
            if (!sink.write({part.data(), static_cast<std::size_t>(size)})) return false;
        }
    };
    return answer;
}

} // namespace yk::service
