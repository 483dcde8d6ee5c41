#pragma once

namespace capstan::serve {

/// A descriptor by which a thread wakes an event loop.
class WakeUp {
 public:
  WakeUp();
  ~WakeUp();
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;

  void set();    ///< makes the descriptor readable
  void clear();  ///< makes it unreadable
  int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace capstan::serve
