// SPDX-License-Identifier: Apache-2.0
#pragma once
// TempDir: a folder below /tmp with a short name, for sockets and files of a test. It goes with everything in it.

#include <cstdlib>
#include <filesystem>
#include <string>

#include "libcore/base/check.h"

namespace yk::testing {

class TempDir {
public:
    TempDir() { YK_CHECK(::mkdtemp(path_.data()) != nullptr, "a directory under /tmp can be made"); }
    ~TempDir() { std::filesystem::remove_all(path_); }
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::string path(const std::string& name) const { return path_ + "/" + name; }
    [[nodiscard]] std::string url(const std::string& name) const { return "ipc://" + path(name); }

private:
    std::string path_ = "/tmp/yk.XXXXXX";
};

} // namespace yk::testing
