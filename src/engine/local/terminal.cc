#include "engine/local/terminal.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

namespace fairlead::engine {

Result<Terminal> open_terminal(WindowSize window, const std::optional<RunAs>& owner) {
  Terminal terminal;
  terminal.master.reset(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  char name[128];
  if (terminal.master && ::grantpt(terminal.master.get()) == 0 &&
      ::unlockpt(terminal.master.get()) == 0 &&
      ::ptsname_r(terminal.master.get(), &name[0], sizeof name) == 0) {
    terminal.slave.reset(::open(&name[0], O_RDWR | O_NOCTTY | O_CLOEXEC));
  }
  if (!terminal.slave ||
      (owner && ::fchown(terminal.slave.get(), owner->user, static_cast<gid_t>(-1)) != 0)) {
    return fail(ErrorCode::kIo, std::string("no terminal can be made: ") + std::strerror(errno),
                "is /dev/pts mounted?");
  }
  resize_terminal(terminal.master.get(), window);
  return terminal;
}

void resize_terminal(int master, WindowSize window) {
  winsize size{};
  size.ws_row = window.rows;
  size.ws_col = window.columns;
  (void)::ioctl(master, TIOCSWINSZ, &size);
}

}  // namespace fairlead::engine
