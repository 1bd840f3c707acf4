// main() of the checks of an exercise: Catch2 with a time limit, and with a reporter for the
// runner.
#include <sys/resource.h>
#include <unistd.h>

#include <exception>
#include <string>

#include "common/todo.hpp"
#include "headroom/base/error.hpp"

#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/catch_translate_exception.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#include <catch2/reporters/catch_reporter_streaming_base.hpp>
#define HEADROOM_CATCH 3
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#define HEADROOM_CATCH 2
#endif

namespace {

class LearnReporter;
#if HEADROOM_CATCH == 3
using StreamingBase = Catch::StreamingReporterBase;
using AfterAssertion = void;
#else
using StreamingBase = Catch::StreamingReporterBase<LearnReporter>;
using AfterAssertion = bool;
#endif

/// Writes "stage NAME", then "passed", or "failed" and the message in the lines after it. Each line
/// is flushed, so that the runner knows the stage in which a program crashed.
class LearnReporter : public StreamingBase {
 public:
  using StreamingBase::StreamingBase;
  static std::string getDescription() { return "for the runner of the course"; }

  void assertionStarting(const Catch::AssertionInfo&) override {}
  AfterAssertion assertionEnded(const Catch::AssertionStats& stats) override {
    const Catch::AssertionResult& result = stats.assertionResult;
    if (!result.isOk()) {
      failure_ = std::string(result.getMessage());
      if (failure_ == "Unknown exception") {
        failure_ = "your code threw something that is not a std::exception";
      }
      if (failure_.empty()) failure_ = result.getExpandedExpression() + " does not hold";
    }
    return AfterAssertion(true);
  }
  void testCaseStarting(const Catch::TestCaseInfo& test) override {
    StreamingBase::testCaseStarting(test);
    out() << "stage " << test.name << std::endl;
    failure_.clear();
  }
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    StreamingBase::testCaseEnded(stats);
    if (stats.totals.assertions.allPassed()) {
      out() << "passed" << std::endl;
    } else {
      out() << "failed\n" << failure_ << std::endl;
    }
  }

 private:
  std::ostream& out() {
#if HEADROOM_CATCH == 3
    return m_stream;
#else
    return stream;
#endif
  }
  std::string failure_;
};

CATCH_REGISTER_REPORTER("learn", LearnReporter)

}  // namespace

// Catch2 asks the last one first, so the base class comes before the derived one.
CATCH_TRANSLATE_EXCEPTION(const std::exception& error) {
  return std::string("your code was stopped by an exception: ") + error.what();
}
CATCH_TRANSLATE_EXCEPTION(const chapter::NotImplemented& missing) {
  return std::string("not implemented: ") + missing.what;
}
CATCH_TRANSLATE_EXCEPTION(const headroom::Error& error) {
  return std::string("the library stopped your code: ") + error.what();
}

int main(int argc, char** argv) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const rlimit seconds{10, 11};  // of processor time; SIGXCPU ends an endless loop
  setrlimit(RLIMIT_CPU, &seconds);
  alarm(60);  // a wait that does not end
  Catch::Session session;
  session.configData().abortAfter = 1;
  return session.run(argc, argv);
}
