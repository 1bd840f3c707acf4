// The lower bound of the benchmarks: the matrix products alone, on the same BLAS.
//
//   matrix_products [THREADS] [--forward]
//
// A JSON line per case of `headroom bench`, ms being the median. A training step's products are
// forward, input gradient and weight gradient of every linear map, and attention's products in
// blocks of rows that stop at the diagonal. --forward: an encoder's forward pass for one sequence.
// Both ways to use two cores are timed, the BLAS's own threads and slabs of rows over a
// one-threaded BLAS; the faster one counts.
#include <cblas.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

extern "C" {
[[gnu::weak]] void openblas_set_num_threads(int);
[[gnu::weak]] void MKL_Set_Num_Threads(int);
}

namespace {

struct Case {
  const char* name;
  int layers, heads, width, length, batch, tokens;
};
constexpr Case cases[] = {{"nano", 4, 4, 128, 64, 12, 65},
                          {"small", 6, 8, 256, 128, 8, 256},
                          {"medium", 6, 8, 512, 256, 4, 512},
                          {"base", 4, 12, 768, 128, 4, 1024}};

int threads = 2;
bool slabs = false;  // over a one-threaded BLAS, instead of the BLAS's own threads
std::vector<float> left(64 << 20, 0.25F), right(64 << 20, 0.5F), result(64 << 20);

void set_blas_threads(int count) {
  if (openblas_set_num_threads != nullptr) openblas_set_num_threads(count);
  if (MKL_Set_Num_Threads != nullptr) MKL_Set_Num_Threads(count);
}

void multiply(bool a_transposed, bool b_transposed, int m, int n, int k) {
  const int parts = slabs ? threads : 1;
  const int a_stride = a_transposed ? m : k, b_stride = b_transposed ? k : n;
#pragma omp parallel for num_threads(parts)
  for (int part = 0; part < parts; ++part) {
    const int first = m * part / parts, rows = m * (part + 1) / parts - first;
    const long a_offset = a_transposed ? first : static_cast<long>(first) * a_stride;
    cblas_sgemm(CblasRowMajor, a_transposed ? CblasTrans : CblasNoTrans,
                b_transposed ? CblasTrans : CblasNoTrans, rows, n, k, 1, left.data() + a_offset,
                a_stride, right.data(), b_stride, 0, result.data() + static_cast<long>(first) * n,
                n);
  }
}

void linear(int rows, int out, int in, bool forward) {
  multiply(false, true, rows, out, in);  // y = x W^T
  if (forward) return;
  multiply(false, false, rows, in, out);  // dx = dy W
  multiply(true, false, out, in, rows);   // dW = dy^T x
}

void attention(const Case& c, int batch, bool forward) {
  constexpr int block = 64;
  const int head_dim = c.width / c.heads;
#pragma omp parallel for num_threads(threads)
  for (int head = 0; head < batch * c.heads; ++head) {
    thread_local std::vector<float> a(1 << 17, 0.25F), b(1 << 17, 0.5F), y(1 << 17);
    for (int first = 0; first < c.length; first += block) {
      const int rows = std::min(block, c.length - first);
      const int keys = forward ? c.length : first + rows;
      for (int pass = 0; pass < (forward ? 1 : 3); ++pass) {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, keys, head_dim, 1, a.data(),
                    head_dim, b.data(), head_dim, 0, y.data(), keys);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, head_dim, keys, 1, a.data(),
                    keys, b.data(), head_dim, 0, y.data(), head_dim);
      }
    }
  }
}

double milliseconds(const Case& c, bool forward) {
  const auto begin = std::chrono::steady_clock::now();
  const int batch = forward ? 1 : c.batch, rows = batch * c.length;
  for (int layer = 0; layer < c.layers; ++layer) {
    set_blas_threads(slabs ? 1 : threads);
    linear(rows, 3 * c.width, c.width, forward);
    linear(rows, c.width, c.width, forward);
    linear(rows, 4 * c.width, c.width, forward);
    linear(rows, c.width, 4 * c.width, forward);
    set_blas_threads(1);
    attention(c, batch, forward);
  }
  set_blas_threads(slabs ? 1 : threads);
  if (!forward) linear(rows, c.tokens, c.width, forward);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

}  // namespace

int main(int argc, char** argv) {
  bool forward = false;
  const char* only = nullptr;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--forward") == 0) {
      forward = true;
    } else if (std::strcmp(argv[i], "--case") == 0 && i + 1 < argc) {
      only = argv[++i];
    } else {
      threads = std::max(1, std::atoi(argv[i]));
    }
  }
  for (const Case& c : cases) {
    if (only != nullptr && std::strcmp(only, c.name) != 0) continue;
    constexpr int rounds = 11;
    std::vector<double> times[2];
    for (int round = 0; round < rounds; ++round) {
      for (const bool way : {false, true}) {
        slabs = way;
        times[way].push_back(milliseconds(c, forward));
      }
    }
    double medians[2];
    for (const int way : {0, 1}) {
      std::sort(times[way].begin(), times[way].end());
      medians[way] = times[way][rounds / 2];
    }
    std::printf("{\"case\": \"%s\", \"threads\": %d, \"ms\": %.3f, \"min_ms\": %.3f}\n", c.name,
                threads, std::min(medians[0], medians[1]), std::min(times[0][0], times[1][0]));
  }
}
