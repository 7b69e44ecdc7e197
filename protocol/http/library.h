// SPDX-License-Identifier: Apache-2.0
#pragma once
// cpp-httplib, with what its header needs: with the macros that Debian's library was built with, or its classes would
// have another layout than the library thinks.

#if !defined(CPPHTTPLIB_OPENSSL_SUPPORT) || !defined(CPPHTTPLIB_ZLIB_SUPPORT)
#error "the flags of pkg-config's cpp-httplib are missing"
#endif

#include <httplib.h>
