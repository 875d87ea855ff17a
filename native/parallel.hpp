// Fork-join over coarse chunks. Threads are started per call: nothing spins between calls, and a
// call costs some tens of microseconds against milliseconds of work.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace graphkm {

// Asked now and then on the calling thread; true stops the work.
using Interrupted = std::function<bool()>;

struct Stopped : std::exception {};

// Runs work(chunk) for every chunk. Which thread runs a chunk does not matter to its result, so the
// outcome is the same at any thread count.
template <class Work>
void parallel_for(std::size_t n_chunks, std::size_t n_threads, const Interrupted& interrupted,
                  Work&& work) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::exception_ptr failure;
  std::mutex guard;
  const auto loop = [&](bool asks) {
    try {
      for (std::size_t chunk; !stop && (chunk = next++) < n_chunks;) {
        work(chunk);
        if (asks && interrupted && interrupted()) throw Stopped{};
      }
    } catch (...) {
      const std::lock_guard<std::mutex> hold(guard);
      if (!failure) failure = std::current_exception();
      stop = true;
    }
  };
  const std::size_t most = std::min(n_threads, n_chunks);
  std::vector<std::thread> helpers;
  helpers.reserve(most);  // if it failed to grow later, running threads would end the process
  try {
    for (std::size_t i = 1; i < most; ++i) helpers.emplace_back(loop, false);
  } catch (const std::exception&) {
    // No more threads can be started: those that run do all the work.
  }
  loop(true);
  for (auto& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace graphkm
