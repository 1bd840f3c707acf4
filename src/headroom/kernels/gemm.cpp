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

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Slabs are at least this many rows or columns, a multiple of every BLAS's register block.
constexpr Index smallest_slab = 32;
/// Least work of a slab, in multiply-adds.
constexpr double slab_work = 1e6;

/// Each slab packs the other factor anew, so there are as many as the machine has processors and no
/// more: with 8 slabs on 2 processors products take 10 to 25 % longer than with 2. All processors
/// of the machine count, not only those that this process may use, and never the threads.
Index most_slabs() {
  static const Index count = std::clamp<Index>(sysconf(_SC_NPROCESSORS_CONF), 2, 8);
  return count;
}

/// A function of MKL, when that is the BLAS; it may have been loaded at the program's start instead
/// of the BLAS that was linked.
template <class Function>
Function* mkl(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

/// The pthread build of OpenBLAS must not use threads of its own inside our loops: that is slower
/// than one thread. Its OpenMP build runs serially inside them already, and would reduce our number
/// of threads.
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

void call_blas(const Product& p) {
  const auto order = [](const Factor& f) { return f.is_transposed ? CblasTrans : CblasNoTrans; };
  const auto size = [](Index i) { return int(i); };
#if defined(HEADROOM_DOUBLE)
  constexpr auto blas_gemm = cblas_dgemm;
#else
  constexpr auto blas_gemm = cblas_sgemm;
#endif
  blas_gemm(CblasRowMajor, order(p.a), order(p.b), size(p.m), size(p.n), size(p.k), p.alpha,
            p.a.data, size(p.a.stride), p.b.data, size(p.b.stride), p.beta, p.c, size(p.c_stride));
}

/// The factor that starts `rows` rows and `columns` columns further in.
Factor moved(const Factor& f, Index rows, Index columns) {
  const Index offset = f.is_transposed ? columns * f.stride + rows : rows * f.stride + columns;
  return {f.data + offset, f.stride, f.is_transposed};
}

/// C = beta C: a product with k = 0.
void scale(const Product& p) {
  for (Index i = 0; i < p.m; ++i) {
    Real* const row = p.c + i * p.c_stride;
    for (Index j = 0; j < p.n; ++j) row[j] = p.beta == Real(0) ? Real(0) : p.beta * row[j];
  }
}

double work(const Product& p) { return double(p.m) * double(p.n) * double(p.k); }

/// A product in slabs of rows, or of columns where those are more.
struct Slabs {
  const Product& product;
  bool of_rows;
  Index size, count;

  /// At most `most` of them.
  Slabs(const Product& p, Index most) : product(p), of_rows(p.m >= p.n) {
    const Index extent = of_rows ? p.m : p.n;
    const Index wanted = std::clamp<Index>(Index(work(p) / slab_work), 1, most);
    const Index even = (extent + wanted - 1) / wanted;
    size = std::max<Index>(1, (even + smallest_slab - 1) / smallest_slab) * smallest_slab;
    count = p.m == 0 || p.n == 0 ? 0 : (extent + size - 1) / size;
  }
  void multiply(Index slab) const {
    Product part = product;
    const Index begin = slab * size;
    if (of_rows) {
      part.m = std::min(size, product.m - begin);
      part.a = moved(product.a, begin, 0);
      part.c += begin * product.c_stride;
    } else {
      part.n = std::min(size, product.n - begin);
      part.b = moved(product.b, 0, begin);
      part.c += begin;
    }
    if (part.k == 0) return scale(part);
    call_blas(part);
  }
};

}  // namespace

void gemm(Index m, Index n, Index k, Real alpha, Factor a, Factor b, Real beta, Real* c,
          Index c_stride) {
  if (m <= kernels::few_rows_limit && k >= kernels::few_rows_shortest && !a.is_transposed &&
      b.is_transposed) {
    return kernels::few_rows(m, n, k, alpha, a, b, {.beta = beta}, c, c_stride);
  }
  const Product product{m, n, k, alpha, a, b, beta, c, c_stride};
  gemm({&product, 1});
}

void gemm(std::span<const Product> products) {
  [[maybe_unused]] static const bool once = make_blas_single_threaded();
  const auto sharing = Index(products.size());
  const Index most = (most_slabs() + sharing - 1) / std::max<Index>(1, sharing);
  Index slabs = 0;
  double all_work = 0;
  for (const Product& product : products) {
    slabs += Slabs(product, most).count;
    all_work += work(product);
  }
  const Index grain = all_work < 2 * slab_work ? slabs : 1;
  parallel_for(slabs, std::max<Index>(1, grain), [&](Index begin, Index end) {
    for (Index item = begin; item < end; ++item) {
      Index slab = item;  // of the product that it falls into
      for (const Product& product : products) {
        const Slabs cut(product, most);
        if (slab < cut.count) {
          cut.multiply(slab);
          break;
        }
        slab -= cut.count;
      }
    }
  });
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

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
