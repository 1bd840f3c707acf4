// chapter::todo marks a line of an exercise that is still to be written.
#pragma once

namespace chapter {

/// Thrown where something is still to be written. The checks report it.
struct NotImplemented {
  const char* what;
};

/// Takes the place of a value of any type that is still to be written:
/// `y[i] = chapter::todo("the value");` Variables that it is to be made of may follow, so that they
/// are not unused: `y[i] = chapter::todo("the value", mean);`
class todo {
 public:
  template <class... Names>
  explicit todo(const char* what, const Names&...) : what_(what) {}
  template <class T>
  operator T() const {  // NOLINT: implicit, because it replaces a value
    throw NotImplemented{what_};
  }

 private:
  const char* what_;
};

}  // namespace chapter
