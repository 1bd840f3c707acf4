// Orthogonalisation: a matrix with the same singular vectors and singular values near one.
#pragma once

#include "headroom/array/array.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Returns, for a matrix G = U S V^T [m, n], an approximation of U V^T, the nearest matrix with
/// orthonormal rows (or columns, when there are more rows than columns), by Newton and Schulz's
/// iteration with a quintic polynomial:
///   X = G / (|G| + 1e-7), |G| Frobenius's norm;
///   `iterations` times:  A = X X^T,  X = 3.4445 X + (-4.7750 A + 2.0315 A^2) X
/// on the transpose when m > n, since A is then smaller. Each step maps every singular value s to
/// 3.4445 s - 4.7750 s^3 + 2.0315 s^5. These coefficients raise small values fast instead of
/// converging: after five steps a value that began between 0.01 and 1 is between about 0.68 and
/// 1.14. Zeros stay zeros. Throws ShapeError unless G has two axes. Jordan et al. 2024, "Muon: an
/// optimizer for hidden layers in neural networks"; Bernstein and Newhouse 2024.
Array orthogonalised(const Array& matrix, int iterations = 5);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
