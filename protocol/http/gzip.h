// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gzip: compresses an answer, whole or part by part.

#include <zlib.h>

#include <string>
#include <string_view>

namespace yk::http {

/// Whether the value of an Accept-Encoding header takes gzip: it names it, and not with `q=0`.
[[nodiscard]] bool accepts_gzip(std::string_view accept_encoding);

/// Thread: any, but one at a time.
class Gzip {
public:
    Gzip();
    ~Gzip();
    Gzip(const Gzip&) = delete;
    Gzip& operator=(const Gzip&) = delete;

    /// Appends to `out` what the part adds to the compressed text; that may be nothing yet.
    void add(std::string_view part, std::string& out) { run(part, Z_NO_FLUSH, out); }
    /// Appends all that is still missing of the parts so far.
    void flush(std::string& out) { run({}, Z_SYNC_FLUSH, out); }
    /// Appends the end.
    void finish(std::string& out) { run({}, Z_FINISH, out); }

private:
    void run(std::string_view part, int mode, std::string& out);

    z_stream state_{};
};

} // namespace yk::http
