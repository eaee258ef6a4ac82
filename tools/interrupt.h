// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and kill: the first asks the work to end cleanly, the second ends the process.
#pragma once

namespace tandem {

/// SIGINT, SIGTERM set a flag; a second one ends the process at once with 130. SIGPIPE is ignored: writing to a closed
/// pipe is an error of the stream.
void install_signal_handlers();

[[nodiscard]] bool interrupted();

}  // namespace tandem
