
#include "sparse/schedule.h"
#include <algorithm>

namespace pantile::sparse {
namespace {

/// The order in which a unit visits its rows. Empty rows come first, so that no kernel asks in its inner loops; the
/// others by ascending degree where rows are short, else as stored. Counting sort; `count` is scratch.
void order_rows(const int64_t* ptr, const Unit& u, std::vector<int32_t>& count, int32_t* order) {
  const bool by_degree = sorted_by_degree(u);
  const auto key = [&](int64_t i) -> size_t {
    const int64_t degree = ptr[i + 1] - ptr[i];
    return static_cast<size_t>(by_degree ? degree : std::min<int64_t>(degree, 1));
  };
  size_t largest = 0;
  for (int64_t i = u.row; i < u.row_end; ++i) largest = std::max(largest, key(i));
  count.assign(largest + 2, 0);
  for (int64_t i = u.row; i < u.row_end; ++i) ++count[key(i) + 1];
  for (size_t d = 1; d < count.size(); ++d) count[d] += count[d - 1];
  for (int64_t i = u.row; i < u.row_end; ++i) order[count[key(i)]++] = static_cast<int32_t>(i);
}

}  // namespace

Schedule make_schedule(const Csr& csr, int64_t edges_per_unit, int64_t hub_segment) {
  Schedule s;
  s.cost.push_back(0);
  s.order.resize(static_cast<size_t>(csr.rows));
  std::vector<int32_t> count;
  const auto push = [&](const Unit& u, int64_t cost) {
    s.units.push_back(u);
    s.cost.push_back(s.cost.back() + cost);
  };
  const int64_t* ptr = csr.ptr;
  for (int64_t i = 0; i < csr.rows;) {
    const int64_t degree = ptr[i + 1] - ptr[i];
    if (degree > 2 * hub_segment) {
      const int64_t segments = (degree + hub_segment - 1) / hub_segment;
      s.hubs.push_back({i, s.slots, static_cast<int32_t>(segments)});
      for (int64_t k = 0; k < segments; ++k) {
        const int64_t begin = ptr[i] + degree * k / segments, end = ptr[i] + degree * (k + 1) / segments;
        push({i, i + 1, begin, end, s.slots++}, end - begin + (k == 0 ? 2 : 0));
      }
      s.order[static_cast<size_t>(i)] = static_cast<int32_t>(i);
      ++i;
      continue;
    }
    int64_t j = i + 1;
    while (j < csr.rows && ptr[j + 1] - ptr[j] <= 2 * hub_segment &&
           ptr[j + 1] - ptr[i] + 2 * (j + 1 - i) <= edges_per_unit)
      ++j;
    const Unit u{i, j, ptr[i], ptr[j], -1};
    order_rows(ptr, u, count, s.order.data() + i);
    push(u, ptr[j] - ptr[i] + 2 * (j - i));
    i = j;
  }
  return s;
}

}  // namespace pantile::sparse
