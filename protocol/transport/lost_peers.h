#pragma once
// A fault of nng 1.5.2 that is mended from outside (nng #1518): when a peer connects and is gone before the greeting is
// written, nng takes EPIPE for the end of its own listener, and an ipc or TLS listener takes no connection ever again.

namespace yk::wire {

/// To be called before listening: brings this file's sendmsg(), which nng then uses, into the program.
void keep_listening_after_lost_peers() noexcept;

} // namespace yk::wire
