// SPDX-License-Identifier: Apache-2.0
#pragma once
// Events over HTTP: those that are kept, and a stream of those that come.

#include "protocol/http/http_message.h"
#include "ykd/rest/exchange/rest_answers.h"
#include "ykd/rest/exchange/rest_caller.h"

namespace yk::service {

/// Events that are kept, from `?start=` on, at most `?count=` of them.
[[nodiscard]] HttpAnswer events_answer(RestCaller& caller, const http::HttpRequest& asked);
/// `?count=` events that are kept, and then each as it comes, until the client or the daemon goes. It has a caller of
/// its own, by whose name streams are limited.
[[nodiscard]] HttpAnswer event_stream_answer(const RestPort& port, const http::HttpRequest& asked);

} // namespace yk::service
