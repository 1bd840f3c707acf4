// Matrix product: slabs over single-threaded cblas.
#include "kernels/gemm.hpp"

#include <cblas.h>
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>

#include "headroom/base/parallel.hpp"
#include "kernels/few_rows.hpp"

// OpenBLAS's own functions are weak here: another cblas library links too, and they are null then.
extern "C" {
[[gnu::weak]] int openblas_get_parallel(void);
[[gnu::weak]] void openblas_set_num_threads(int);
[[gnu::weak]] char* openblas_get_config(void);
}

namespace headroom::inline HEADROOM_PRECISION {

namespace {

/// Slabs are at least this many rows or columns, a multiple of every BLAS's register block.
constexpr Index smallest_slab = 32;
/// Work worth a slab of its own, in multiply-adds.
constexpr double slab_work = 1e6;

/// Each slab packs the other factor anew, so there are as many as the machine has processors and no
/// more: with 8 slabs on 2 processors products take 10 to 25 % longer than with 2. Counted are all
/// processors of the machine, not those that this process may use, and never the threads.
Index most_slabs() {
  static const Index count = std::clamp<Index>(sysconf(_SC_NPROCESSORS_CONF), 2, 8);
  return count;
}

/// A function of MKL, when that is the BLAS; it may have come in at the program's start, in the
/// place of the one that was linked.
template <class Function>
Function* mkl(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

/// The pthread build of OpenBLAS must not thread by itself beside our loops: that is slower than
/// one thread. Its OpenMP build runs serially inside them already, and would shrink our team.
bool make_blas_single_threaded() {
  if (auto* const set_layer = mkl<int(int)>("MKL_Set_Threading_Layer")) {
    constexpr int sequential = 1;
    set_layer(sequential);
  }
  constexpr int threads_by_pthread = 1;
  if (openblas_get_parallel != nullptr && openblas_get_parallel() == threads_by_pthread) {
    openblas_set_num_threads(1);
  }
  return true;
}

/// How many rows (or columns) of `extent` a slab gets.
Index slab_size(Index extent, double work) {
  const auto slabs = std::clamp<Index>(static_cast<Index>(work / slab_work), 1, most_slabs());
  const Index even = (extent + slabs - 1) / slabs;
  return (even + smallest_slab - 1) / smallest_slab * smallest_slab;
}

void call_blas(Index m, Index n, Index k, Real alpha, Factor a, Factor b, Real beta, Real* c,
               Index c_stride) {
  const auto order = [](const Factor& f) { return f.is_transposed ? CblasTrans : CblasNoTrans; };
  const auto size = [](Index i) { return static_cast<int>(i); };
#if defined(HEADROOM_DOUBLE)
  constexpr auto blas_gemm = cblas_dgemm;
#else
  constexpr auto blas_gemm = cblas_sgemm;
#endif
  blas_gemm(CblasRowMajor, order(a), order(b), size(m), size(n), size(k), alpha, a.data,
            size(a.stride), b.data, size(b.stride), beta, c, size(c_stride));
}

/// The factor that starts `rows` rows and `columns` columns further in.
Factor moved(const Factor& f, Index rows, Index columns) {
  const Index offset = f.is_transposed ? columns * f.stride + rows : rows * f.stride + columns;
  return {f.data + offset, f.stride, f.is_transposed};
}

/// C = beta C: what is left of a product over nothing.
void scale(Index m, Index n, Real beta, Real* c, Index c_stride) {
  for (Index i = 0; i < m; ++i) {
    Real* const row = c + i * c_stride;
    for (Index j = 0; j < n; ++j) row[j] = beta == Real(0) ? Real(0) : beta * row[j];
  }
}

}  // namespace

void gemm(Index m, Index n, Index k, Real alpha, Factor a, Factor b, Real beta, Real* c,
          Index c_stride) {
  [[maybe_unused]] static const bool once = make_blas_single_threaded();
  if (m == 0 || n == 0) return;
  if (k == 0) return scale(m, n, beta, c, c_stride);
  if (m <= kernels::few_rows_limit && !a.is_transposed && b.is_transposed) {
    return kernels::few_rows(m, n, k, alpha, a, b, {.beta = beta}, c, c_stride);
  }
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  if (m >= n) {
    parallel_for(m, slab_size(m, work), [&](Index begin, Index end) {
      call_blas(end - begin, n, k, alpha, moved(a, begin, 0), b, beta, c + begin * c_stride,
                c_stride);
    });
  } else {
    parallel_for(n, slab_size(n, work), [&](Index begin, Index end) {
      call_blas(m, end - begin, k, alpha, a, moved(b, 0, begin), beta, c + begin, c_stride);
    });
  }
}

std::string describe_blas() {
  if (auto* const version = mkl<void(char*, int)>("MKL_Get_Version_String")) {
    char text[200] = "";
    version(text, sizeof text - 1);
    return text;
  }
  return openblas_get_config != nullptr ? openblas_get_config()
                                        : "a cblas library other than OpenBLAS";
}

}  // namespace headroom::inline HEADROOM_PRECISION
