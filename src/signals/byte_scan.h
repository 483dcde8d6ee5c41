#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace capstan::signals {

/// Byte-by-byte search for the end of a token on a metrics page. Every function returns `end` if it finds nothing.
struct PortableScan {
  static bool in_label_name(unsigned char c) {
    return static_cast<unsigned char>((c | 0x20) - 'a') < 26 || static_cast<unsigned char>(c - '0') < 10 || c == '_';
  }

  /// Returns the first byte that cannot be in a metric name.
  static const char* metric_name_end(const char* at, const char* end) {
    while (at != end && (in_label_name(static_cast<unsigned char>(*at)) || *at == ':')) ++at;
    return at;
  }
  /// Returns the first byte that cannot be in a label name.
  static const char* label_name_end(const char* at, const char* end) {
    while (at != end && in_label_name(static_cast<unsigned char>(*at))) ++at;
    return at;
  }
  /// Returns the first quote, backslash or line feed.
  static const char* quoted_end(const char* at, const char* end) {
    while (at != end && *at != '"' && *at != '\\' && *at != '\n') ++at;
    return at;
  }
  /// Returns the first line feed.
  static const char* line_end(const char* at, const char* end) {
    const void* found = at == end ? nullptr : std::memchr(at, '\n', static_cast<std::size_t>(end - at));
    return found == nullptr ? end : static_cast<const char*>(found);
  }
  static bool is_ascii(const char* at, const char* end) {
    unsigned char all = 0;
    for (; at != end; ++at) all |= static_cast<unsigned char>(*at);
    return all < 0x80;
  }
};

#if defined(__SSE2__)

/// The same functions with SSE2, which every x86-64 processor has: they search sixteen bytes at a time. The last bytes
/// of a page are searched one by one, because nothing after the page may be read.
struct SimdScan {
  static const char* metric_name_end(const char* at, const char* end) {
    for (; end - at >= 16; at += 16) {
      const unsigned stops = ~name_bytes(load(at), 10) & 0xffffu;  // ':' follows '9'
      if (stops != 0) return at + std::countr_zero(stops);
    }
    return PortableScan::metric_name_end(at, end);
  }
  static const char* label_name_end(const char* at, const char* end) {
    for (; end - at >= 16; at += 16) {
      const unsigned stops = ~name_bytes(load(at), 9) & 0xffffu;
      if (stops != 0) return at + std::countr_zero(stops);
    }
    return PortableScan::label_name_end(at, end);
  }
  static const char* quoted_end(const char* at, const char* end) {
    for (; end - at >= 16; at += 16) {
      const __m128i bytes = load(at);
      const __m128i hits = _mm_or_si128(_mm_or_si128(equal(bytes, '"'), equal(bytes, '\\')), equal(bytes, '\n'));
      const auto stops = static_cast<unsigned>(_mm_movemask_epi8(hits));
      if (stops != 0) return at + std::countr_zero(stops);
    }
    return PortableScan::quoted_end(at, end);
  }
  static const char* line_end(const char* at, const char* end) { return PortableScan::line_end(at, end); }
  static bool is_ascii(const char* at, const char* end) {
    __m128i all = _mm_setzero_si128();
    for (; end - at >= 16; at += 16) all = _mm_or_si128(all, load(at));
    return _mm_movemask_epi8(all) == 0 && PortableScan::is_ascii(at, end);
  }

 private:
  static __m128i load(const char* at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)); }
  static __m128i equal(__m128i bytes, char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); }
  static __m128i at_most(__m128i bytes, char limit) {
    return _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(limit)), bytes);
  }
  /// Returns a mask with a 1 for each byte that is a letter, '_', or one of the characters from '0' to '0' + `last`.
  static unsigned name_bytes(__m128i bytes, char last) {
    const __m128i lower = _mm_sub_epi8(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
    const __m128i digit = _mm_sub_epi8(bytes, _mm_set1_epi8('0'));
    const __m128i named = _mm_or_si128(_mm_or_si128(at_most(lower, 25), at_most(digit, last)), equal(bytes, '_'));
    return static_cast<unsigned>(_mm_movemask_epi8(named));
  }
};

#else
struct SimdScan : PortableScan {};  // other processors search byte by byte
#endif

}  // namespace capstan::signals
