#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "net/http.h"
#include "net/monotonic.h"
#include "signals/target_reader.h"

namespace capstan::signals {

using ScrapeId = Id<struct ScrapeTag>;

/// One page that is fetched again and again.
struct ScrapeTarget {
  std::string url;  ///< "http://10.0.0.7:8000/metrics"
  std::vector<net::Header> headers;
  std::shared_ptr<const net::Tls> tls;
  TargetOptions reader;
};

struct ScraperOptions {
  Duration interval = std::chrono::seconds(1);
  Duration timeout = std::chrono::milliseconds(900);  ///< of a whole scrape; less than the interval
  std::size_t body_bytes = 4u << 20;                  ///< a larger page is a failure
  std::size_t in_flight_max = 256;                    ///< scrapes at once; what is due beyond them waits its turn
};

/// What a scraper has done since its start.
struct ScraperCounts {
  std::uint64_t started = 0;
  std::uint64_t failed = 0;   ///< no answer, not in time, not 200, too large
  std::uint64_t refused = 0;  ///< an answer that was not used: a bad page, another pod, another model
  std::uint64_t skipped = 0;  ///< intervals that passed while a target waited for its turn
};

/// Fetches pages and keeps of them what their readers keep. Never waits: it works on the transport's events and on
/// `tick`. Scrapes of different targets are spread over the interval by their URLs, the same after a restart.
class Scraper {
 public:
  /// `transport` outlives the scraper.
  Scraper(net::Transport& transport, net::Clock clock, ScraperOptions options);
  ~Scraper();
  Scraper(const Scraper&) = delete;
  Scraper& operator=(const Scraper&) = delete;

  ScrapeId add(ScrapeTarget target);
  /// Unknown ids are ignored.
  void remove(ScrapeId id);

  /// Starts the scrapes that are due.
  void tick();
  /// When `tick` has to be called next; never where nothing is waiting for its time.
  Instant next_due() const;

  /// What is known of a target now. The id must be there.
  TargetReadings readings(ScrapeId id) const;
  std::size_t targets() const { return targets_.size(); }
  std::size_t in_flight() const { return in_flight_; }
  const ScraperCounts& counts() const { return counts_; }

 private:
  struct Target {
    ScrapeTarget what;
    TargetReader reader;
    Duration phase{};            ///< of its scrapes within the interval
    Instant due;                 ///< while it waits
    Instant started;             ///< while it is in flight
    net::RequestId request = 0;  ///< 0: waits
  };

  Instant next_turn(const Target& target, Instant after) const;
  void start(ScrapeId id, Target& target, Instant now);
  void done(ScrapeId id, net::Exchange exchange);
  void take(Target& target, const net::Exchange& exchange);

  net::Transport& transport_;
  net::Clock clock_;
  ScraperOptions options_;
  std::map<ScrapeId, Target> targets_;
  std::set<std::pair<Instant, ScrapeId>> waiting_;
  std::size_t in_flight_ = 0;
  std::uint32_t next_id_ = 0;
  ScraperCounts counts_;
};

}  // namespace capstan::signals
