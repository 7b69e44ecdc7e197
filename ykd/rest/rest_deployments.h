// SPDX-License-Identifier: Apache-2.0
#pragma once
// Deployments over HTTP (resource-state.md ): everybody may read; who shows a token of role admin
// may write. A write is answered when the daemon has it on its disk.

#include <string>

#include "protocol/http/http_message.h"
#include "protocol/si/tool_requests.h"
#include "ykd/rest/exchange/rest_answers.h"
#include "ykd/rest/exchange/rest_caller.h"

namespace yk::service {

/// What is read of managed resource state: one row, or a status.
[[nodiscard]] HttpAnswer mcs_answer(RestCaller& caller, const si::McsReadRequest& request);
/// A Deployment, with its version as the header ETag.
[[nodiscard]] HttpAnswer deployment_answer(RestCaller& caller, const std::string& id);

/// POST: makes the Deployment that the body describes; 201.
[[nodiscard]] HttpAnswer create_deployment(const RestPort& port, const http::HttpRequest& asked);
/// PUT: what the body has is so from now on, the rest stays as it is. With the header If-Match the Deployment must have
/// that version.
[[nodiscard]] HttpAnswer change_deployment(const RestPort& port, const http::HttpRequest& asked, const std::string& id);
/// DELETE, with `?deleteMode=` in that mode; If-Match as for PUT.
[[nodiscard]] HttpAnswer delete_deployment(const RestPort& port, const http::HttpRequest& asked, const std::string& id);

} // namespace yk::service
