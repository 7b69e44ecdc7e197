// SPDX-License-Identifier: Apache-2.0
#pragma once
// Certificates for a tls+tcp listener (I-341). Only server.cpp includes this: it shows an nng type.

#include <nng/nng.h>

#include "protocol/transport/tls_files.h"

namespace yk::wire {

/// Makes the listener use these files. Errors name the file.
[[nodiscard]] Result<void> set_tls(nng_stream_listener* listener, const TlsFiles& files);

} // namespace yk::wire
