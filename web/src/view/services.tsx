import { Figure } from "../chart/figure";
import type { JobFigures, Policy } from "../data/result";
import type { ServiceFigures } from "../data/service";
import { count, duration, hours, percent, sloWords, usd } from "../format";
import type { RowFigure } from "../data/leads";
import { memo } from "../memo";
import { Lead } from "./lead";
import { kMissed, kSlowest } from "./ranking";

const unmet = (service: ServiceFigures) => service.requests.unmet ?? 0;
const arrived = (service: ServiceFigures) => service.requests.arrived ?? 0;

interface ServicesProps {
  policy: Policy;
  chosen: string | undefined;
  /// Absent: the result has no series of single services.
  onService?: (name: string | undefined) => void;
  /// Shows the decision behind a number of a service.
  onFigure: (name: string, figure: RowFigure) => void;
}

/// Shows the figures and the cost of each service. A click on a name shows that service alone in the charts.
export const Services = memo(function Services({ policy, chosen, onService, onFigure }: ServicesProps) {
  const services = policy.services ?? [];
  if (services.length === 0) return null;
  const lead = (one: ServiceFigures, figure: RowFigure) => (one.by_minute === undefined ? undefined : () => onFigure(one.name, figure));
  return (
    <Figure
      title="Does each service hold its SLO?"
      note={`${policy.policy}. ${onService === undefined ? "" : "Choose a service to see it alone in the charts; choose it again to see all."}`}
      table={() => ({
        head: ["service", "SLO", "arrived", "met %", "TTFT p99 s", "TPOT p99 ms", "unmet", "ready at most", "GPU-hours", "USD"],
        rows: services.map((one) => [
          one.name,
          sloWords(one.slo),
          arrived(one),
          one.attainment_ppm / 10_000,
          one.ttft.p99_us / 1e6,
          one.tpot.p99_us / 1e3,
          unmet(one),
          one.ready_peak,
          one.gpu_hours,
          one.cost_usd,
        ]),
      })}
    >
      <div class="scroll">
        <table class="services" aria-label="Services">
          <thead>
            <tr>
              <th scope="col">service</th>
              <th scope="col">SLO</th>
              {["requests", "met", "TTFT p99", "TPOT p99", "unmet", "ready at most", "GPU-h", "cost"].map((name) => (
                <th scope="col" class="number" key={name}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {services.map((one) => (
              <tr key={one.name} class={one.name === chosen ? "shown" : ""}>
                <th scope="row">
                  {onService === undefined ? (
                    one.name
                  ) : (
                    <button type="button" class="link" aria-pressed={one.name === chosen} onClick={() => onService(one.name === chosen ? undefined : one.name)}>
                      {one.name}
                    </button>
                  )}
                </th>
                <td>
                  {sloWords(one.slo)
                    .split(", ")
                    .map((bound, i) => (
                      <span key={bound}>
                        {i > 0 && ", "}
                        <span class="unbroken">{bound}</span>
                      </span>
                    ))}
                </td>
                <td class="number">{count(arrived(one))}</td>
                <td class={one.holds_slo ? "number good" : "number bad"}><Lead text={percent(one.attainment_ppm)} title={kMissed} onClick={lead(one, "unmet")} /></td>
                <td class="number"><Lead text={duration(one.ttft.p99_us)} title={kSlowest} onClick={lead(one, "ttft")} /></td>
                <td class="number"><Lead text={duration(one.tpot.p99_us)} title="the minute with the longest time per output token" onClick={lead(one, "tpot")} /></td>
                <td class="number"><Lead text={count(unmet(one))} title={kMissed} onClick={lead(one, "unmet")} /></td>
                <td class="number"><Lead text={count(one.ready_peak)} title="the minute with the most ready replicas" onClick={lead(one, "ready")} /></td>
                <td class="number">{hours(one.gpu_hours)}</td>
                <td class="number">{usd(one.cost_usd)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Figure>
  );
});

const seconds = (ns: number) => ns / 1e9;

/// Returns the goal of a class of jobs in words, such as "90.0 % end within 8 h 0 min".
function goalWords({ goal }: JobFigures): string {
  if (goal === undefined) return "no goal";
  return `${percent(goal.asked_ppm)} end within ${duration(goal.finish_within_ns / 1000)}`;
}

/// Shows the goal, the figures and the cost of each class of jobs.
export const Jobs = memo(function Jobs({ policy, onWait }: { policy: Policy; onWait?: (name: string) => void }) {
  const jobs = policy.jobs ?? [];
  if (jobs.length === 0) return null;
  return (
    <Figure
      title="Does each class of jobs reach its goal?"
      note={policy.policy}
      table={() => ({
        head: ["jobs", "goal", "arrived", "ended", "late", "wait p50 s", "wait p99 s", "restarts", "GPU-hours", "USD"],
        rows: jobs.map((one) => [
          one.name,
          goalWords(one),
          one.arrived,
          one.ended,
          one.goal?.late ?? "",
          seconds(one.wait_p50_ns),
          seconds(one.wait_p99_ns),
          one.restarts,
          one.gpu_hours,
          one.cost_usd,
        ]),
      })}
    >
      <div class="scroll">
        <table class="services" aria-label="Jobs">
          <thead>
            <tr>
              <th scope="col">jobs</th>
              <th scope="col">goal</th>
              {["arrived", "ended", "late", "wait p50", "wait p99", "restarts", "GPU-h", "cost"].map((name) => (
                <th scope="col" class="number" key={name}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {jobs.map((one) => (
              <tr key={one.name}>
                <th scope="row">{one.name}</th>
                <td>{goalWords(one)}</td>
                <td class="number">{count(one.arrived)}</td>
                <td class="number">{count(one.ended)}</td>
                <td class={one.goal === undefined ? "number" : one.goal.is_held ? "number good" : "number bad"}>{one.goal === undefined ? "–" : count(one.goal.late)}</td>
                <td class="number">{duration(one.wait_p50_ns / 1000)}</td>
                <td class="number"><Lead text={duration(one.wait_p99_ns / 1000)} title="the longest wait of these jobs" onClick={onWait && (() => onWait(one.name))} /></td>
                <td class="number">{count(one.restarts)}</td>
                <td class="number">{hours(one.gpu_hours)}</td>
                <td class="number">{usd(one.cost_usd)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Figure>
  );
});
