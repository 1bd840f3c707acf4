// chapter::todo marks a line of an exercise that is still to be written.
#pragma once

namespace chapter {

/// Thrown where something is still to be written. The checks report it.
struct NotImplemented {
  const char* what;
};

/// Takes the place of a value of any type that is still to be written:
/// `y[i] = chapter::todo("the value");`
class todo {
 public:
  explicit todo(const char* what) : what_(what) {}
  template <class T>
  operator T() const {  // NOLINT: implicit, because it replaces a value
    throw NotImplemented{what_};
  }

 private:
  const char* what_;
};

}  // namespace chapter
