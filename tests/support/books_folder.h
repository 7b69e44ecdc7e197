// SPDX-License-Identifier: Apache-2.0
#pragma once
// A folder for the books of one RM, for the time of a test.

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "protocol/books/book_file.h"

namespace yk::testing {

class BooksFolder {
public:
    BooksFolder() {
        std::string name = "/tmp/yk.books.XXXXXX";
        path_ = ::mkdtemp(name.data());
    }
    ~BooksFolder() { std::filesystem::remove_all(path_); }
    BooksFolder(const BooksFolder&) = delete;
    BooksFolder& operator=(const BooksFolder&) = delete;

    [[nodiscard]] std::string file() const { return path_ + "/books"; }
    [[nodiscard]] std::unique_ptr<books::BookFile> open() const { return books::BookFile::open(file()).value(); }

private:
    std::string path_;
};

} // namespace yk::testing
