// Core numbers by one thread: Batagelj and Zaversnik 2003. GAP's options (-f graph.sg -n trials) and output.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

int main(int argc, char** argv) {
  const char* path = nullptr;
  int trials = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "-f")) path = argv[i + 1];
    if (!strcmp(argv[i], "-n")) trials = atoi(argv[i + 1]);
  }
  FILE* file = path ? fopen(path, "rb") : nullptr;
  if (!file) return 1;
  int64_t m, n;
  if (fgetc(file) != 0 || fread(&m, 8, 1, file) != 1 || fread(&n, 8, 1, file) != 1) return 1;
  std::vector<int64_t> rows(n + 1);
  std::vector<int32_t> ends(m);
  if (fread(rows.data(), 8, n + 1, file) != size_t(n + 1) || fread(ends.data(), 4, m, file) != size_t(m)) return 1;
  for (int trial = 0; trial < trials; trial++) {
    auto start = std::chrono::steady_clock::now();
    std::vector<int32_t> core(n), place(n), order(n);
    int32_t most = 0;
    for (int64_t v = 0; v < n; v++) {
      core[v] = int32_t(rows[v + 1] - rows[v]);
      if (core[v] > most) most = core[v];
    }
    std::vector<int32_t> first(most + 2, 0);
    for (int64_t v = 0; v < n; v++) first[core[v] + 1]++;
    for (int32_t d = 0; d <= most; d++) first[d + 1] += first[d];
    std::vector<int32_t> next(first);
    for (int64_t v = 0; v < n; v++) order[place[v] = next[core[v]]++] = int32_t(v);
    for (int64_t i = 0; i < n; i++) {
      int32_t v = order[i];
      for (int64_t e = rows[v]; e < rows[v + 1]; e++) {
        int32_t u = ends[e];
        if (core[u] <= core[v]) continue;
        int32_t at = place[u], to = first[core[u]]++, w = order[to];
        if (to <= i) to = int32_t(i) + 1, first[core[u]] = to + 1, w = order[to];
        order[at] = w, place[w] = at, order[to] = u, place[u] = to;
        core[u]--;
      }
    }
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    int64_t sum = 0;
    for (int32_t c : core) sum += c;
    printf("Sum: %lld\nTrial Time:          %.6f\n", static_cast<long long>(sum), seconds);
  }
}
