// SPDX-License-Identifier: Apache-2.0
#pragma once
// WebFiles: the files of web pages below one folder, as a client of HTTP asks for them (`--web-root`). What begins with
// a dot, and what a symbolic link leads to, is not there; a folder is its index.html.
//
// Owner: RestGateway. Thread: any. Costs a request a system call for each folder on the way and two more; a file is
// read while it is sent, so that its size costs no memory.

#include <memory>
#include <optional>
#include <string>

#include "libcore/base/result.h"
#include "protocol/http/http_message.h"

namespace yk::service {

class WebFiles {
public:
    /// An error says why the folder cannot be read.
    [[nodiscard]] static Result<WebFiles> in(const std::string& folder);

    /// The answer to a GET; nullopt: there is no such file.
    [[nodiscard]] std::optional<http::HttpAnswer> answer(const http::HttpRequest& request) const;

private:
    class Descriptor;
    explicit WebFiles(std::shared_ptr<Descriptor> folder) : folder_(std::move(folder)) {}
    [[nodiscard]] std::shared_ptr<Descriptor> open(const std::string& path) const;

    std::shared_ptr<Descriptor> folder_;
};

} // namespace yk::service
