import { Figure } from "../chart/figure";
import { type Policy, type Result, type TeamFigures, kGpuStates } from "../data/result";
import { count, hours, percent, usd } from "../format";
import { memo } from "../memo";

function stateCost(policy: Policy, state: string): number {
  return (policy.cost_by_state_micro_usd[state] ?? 0) / 1e6;
}

/// What each team paid for, if the scenario names teams.
export const Teams = memo(function Teams({ policy }: { policy: Policy }) {
  const teams = policy.teams ?? [];
  if (teams.length === 0) return null;
  const name = (team: TeamFigures) => team.name ?? "no team";
  return (
    <Figure
      title="What does each team pay for?"
      note={`${policy.policy}. Nodes without pods belong to no team.`}
      table={() => ({
        head: ["team", "requests", "met", "jobs arrived", "jobs ended", "GPU-hours", "USD"],
        rows: teams.map((team) => [name(team), team.requests, team.met, team.jobs_arrived, team.jobs_ended, team.gpu_hours, team.cost_usd]),
      })}
    >
      <div class="scroll">
        <table class="teams">
          <thead>
            <tr>
              <th scope="col">team</th>
              <th scope="col" class="number">requests</th>
              <th scope="col" class="number">met</th>
              <th scope="col" class="number">jobs ended</th>
              <th scope="col" class="number">GPU-hours</th>
              <th scope="col" class="number">cost</th>
            </tr>
          </thead>
          <tbody>
            {teams.map((team, i) => (
              <tr key={i}>
                <th scope="row">{name(team)}</th>
                <td class="number">{count(team.requests)}</td>
                <td class="number">{team.requests > 0 ? percent((1e6 * team.met) / team.requests) : "–"}</td>
                <td class="number">{team.jobs_arrived > 0 ? `${count(team.jobs_ended)} of ${count(team.jobs_arrived)}` : "–"}</td>
                <td class="number">{hours(team.gpu_hours)}</td>
                <td class="number">{usd(team.cost_usd)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Figure>
  );
});

/// Says what a request and a million tokens cost.
function unitPrices(policy: Policy): string {
  const perRequest = policy.cost_per_1000_met_usd;
  const perTokens = policy.cost_per_million_tokens_usd;
  return [perRequest === null ? "" : `${usd(perRequest)} per 1,000 requests that met the SLO`, perTokens === null ? "" : `${usd(perTokens)} per million tokens`]
    .filter((words) => words !== "")
    .join("; ");
}

/// Shows the cost of each policy by the states of its GPUs, and of the shown one by nodes.
export const Cost = memo(function Cost({ result, shown }: { result: Result; shown: Policy }) {
  const states = kGpuStates.filter((state) => result.policies.some((policy) => stateCost(policy, state) > 0));
  return (
    <Figure
      title="What is paid for?"
      note={unitPrices(shown)}
      table={() => ({
        head: ["policy", ...states.map((state) => `${state} USD`), "USD", "USD per 1000 met requests", "USD per million tokens"],
        rows: result.policies.map((policy) => [
          policy.policy,
          ...states.map((state) => stateCost(policy, state)),
          policy.cost_usd,
          policy.cost_per_1000_met_usd ?? "",
          policy.cost_per_million_tokens_usd ?? "",
        ]),
      })}
    >
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">{shown.policy}</th>
              <th scope="col" class="number">GPU-hours</th>
              <th scope="col" class="number">cost</th>
              <th scope="col" class="number">share</th>
            </tr>
          </thead>
          <tbody>
            {states.map((state) => (
              <tr key={state}>
                <th scope="row">
                  <span class={`state ${state} sample`} /> {state}
                </th>
                <td class="number">{hours(shown.gpu_hours_by_state[state] ?? 0)}</td>
                <td class="number">{usd(stateCost(shown, state))}</td>
                <td class="number">{shown.cost_usd > 0 ? `${((100 * stateCost(shown, state)) / shown.cost_usd).toFixed(1)} %` : "–"}</td>
              </tr>
            ))}
            <tr class="sum">
              <th scope="row">all</th>
              <td class="number">{hours(shown.paid_gpu_hours)}</td>
              <td class="number">{usd(shown.cost_usd)}</td>
              <td />
            </tr>
          </tbody>
        </table>
        <table>
          <thead>
            <tr>
              <th scope="col">nodes</th>
              <th scope="col">capacity</th>
              <th scope="col">zone</th>
              <th scope="col" class="number">GPU-hours</th>
              <th scope="col" class="number">cost</th>
            </tr>
          </thead>
          <tbody>
            {shown.spending.map((part, i) => (
              <tr key={i}>
                <th scope="row">{part.pool === null ? part.instance_type : `${part.pool}: ${part.instance_type}`}</th>
                <td>{part.capacity_type}</td>
                <td>{part.zone}</td>
                <td class="number">{hours(part.gpu_hours)}</td>
                <td class="number">{usd(part.cost_usd)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Figure>
  );
});
