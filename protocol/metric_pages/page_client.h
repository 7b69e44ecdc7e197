// SPDX-License-Identifier: Apache-2.0
#pragma once
// PageClient: the port by which pages are fetched, so that whoever wants them does not wait.

#include <functional>
#include <string>
#include <string_view>

#include "libcore/base/time.h"

namespace yk::pages {

class PageClient {
public:
    /// Both functions are called on the client's thread, and neither after the end of the client.
    struct Request {
        std::string url;                                  // as parse_page_url() takes it
        Duration timeout{};                               // for all of it
        std::function<bool(std::string_view bytes)> take; // the next chunk of the page; false: no more is wanted
        /// Once. `why`: what went wrong, in words that are the same each time it does; empty: the page was taken as a
        /// whole, or as far as it was wanted.
        std::function<void(std::string why)> done;
    };

    PageClient() = default;
    virtual ~PageClient() = default;
    PageClient(const PageClient&) = delete;
    PageClient& operator=(const PageClient&) = delete;
    /// Any thread; it does not wait.
    virtual void fetch(Request request) = 0;
};

} // namespace yk::pages
