#pragma once

#include <pantile/io/file.h>
#include <pantile/io/tensor.h>
#include <map>
#include <string>
#include <vector>

namespace pantile {

/// NumPy's .npy, versions 1 to 3: bool, integers and floats of either byte order; Fortran order is transposed to C
/// order. Refused by name: pickled objects (never executed), structured and complex types, text. The size that the
/// header declares is compared with the file before anything is allocated.
Result<Tensor> read_npy(const Input& input);
/// Version 1 (2 when the header needs it), C order, little-endian, atomic. bf16 is unsupported: NumPy has no such type.
Status write_npy(const std::string& path, const TensorView& tensor);

/// The arrays of an .npz by name without ".npy": stored or deflated entries, zip64. Encrypted or overlapping entries,
/// wrong checksums, duplicate names and sizes that disagree are refused. Arrays of text (dtype U, S) are left out and
/// their names appended to `left_out` when given; pickled objects are refused.
Result<std::map<std::string, Tensor>> read_npz(const Input& input, std::vector<std::string>* left_out = nullptr);
/// Atomic. Stored unless `compress`.
Status write_npz(const std::string& path, const std::map<std::string, TensorView>& arrays, bool compress = false);

}  // namespace pantile
