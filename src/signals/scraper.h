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

/// One metrics page that is fetched once per interval.
struct ScrapeTarget {
  std::string url;  ///< "http://10.0.0.7:8000/metrics"
  std::vector<net::Header> headers;
  std::shared_ptr<const net::Tls> tls;
  TargetOptions reader;
};

struct ScraperOptions {
  Duration interval = std::chrono::seconds(1);
  Duration timeout = std::chrono::milliseconds(900);  ///< time limit of a whole scrape; below the interval
  std::size_t body_bytes = 4u << 20;                  ///< largest page, bytes; a larger one is a failure
  std::size_t in_flight_max = 256;                    ///< concurrent scrapes; other targets wait
};

/// Numbers of scrapes since the start of the scraper.
struct ScraperCounts {
  std::uint64_t started = 0;
  std::uint64_t failed = 0;   ///< no answer, timeout, status other than 200, or page too large
  std::uint64_t refused = 0;  ///< answers that gave no signal, such as a bad page, another pod or another model
  std::uint64_t skipped = 0;  ///< intervals that passed while a target waited for a free slot
};

/// Fetches the pages of targets and passes them to their readers. It never blocks: it works on events of the transport
/// and on `tick`. A hash of the URL spreads the targets over the interval, so that a restart does not change the phase.
class Scraper {
 public:
  /// `transport` outlives the scraper.
  Scraper(net::Transport& transport, net::Clock clock, ScraperOptions options);
  ~Scraper();
  Scraper(const Scraper&) = delete;
  Scraper& operator=(const Scraper&) = delete;

  ScrapeId add(ScrapeTarget target);
  /// Removes a target. Unknown ids are ignored.
  void remove(ScrapeId id);

  /// Starts the scrapes that are due.
  void tick();
  /// Returns the time at which `tick` has to be called next. Returns `never` if no target waits for its time, or if no
  /// slot is free: then the end of a scrape starts the next one.
  Instant next_due() const;

  /// Returns the current readings of a target. The id must exist.
  TargetReadings readings(ScrapeId id) const;
  std::size_t targets() const { return targets_.size(); }
  std::size_t in_flight() const { return in_flight_; }
  const ScraperCounts& counts() const { return counts_; }

 private:
  struct Target {
    ScrapeTarget target;
    TargetReader reader;
    Duration phase{};            ///< offset of the scrapes within the interval
    Instant due;                 ///< time of the next scrape; valid while the target waits
    Instant started;             ///< start of the scrape; valid while it is in flight
    net::RequestId request = 0;  ///< scrape in flight; 0: the target waits
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
