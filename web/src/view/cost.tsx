import { Figure } from "../chart/figure";
import type { Policy, TeamFigures } from "../data/result";
import { kOfWhole, type Spent, type SpentUser } from "../data/run";
import { count, hours, percent, usd } from "../format";
import { memo } from "../memo";
import { FigureLink } from "./figure_link";

/// Shows the requests, jobs, GPU-hours and cost of each team, if the scenario names teams.
/// @param isPart  true: the charts show only a part of the run
export const Teams = memo(function Teams({ policy, isPart }: { policy: Policy; isPart: boolean }) {
  const teams = policy.teams ?? [];
  if (teams.length === 0) return null;
  const name = (team: TeamFigures) => team.name ?? "no team";
  const rest = policy.no_pod;
  return (
    <Figure
      title="What does each team pay for?"
      note={`${policy.policy}. GPUs without pods belong to no team.${isPart ? ` ${kOfWhole}` : ""}`}
      table={() => ({
        head: ["team", "requests", "met", "jobs arrived", "jobs ended", "GPU-hours", "USD"],
        rows: [
          ...teams.map((team) => [name(team), team.requests, team.met, team.jobs_arrived, team.jobs_ended, team.gpu_hours, team.cost_usd]),
          ...(rest === undefined ? [] : [["no pod", "", "", "", "", rest.gpu_hours, rest.cost_usd]]),
          ["all", "", "", "", "", policy.paid_gpu_hours, policy.cost_usd],
        ],
      })}
    >
      <div class="scroll">
        <table class="teams" aria-label="Cost by team">
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
            {rest !== undefined && (
              <tr>
                <th scope="row">no pod</th>
                <td colSpan={3} />
                <td class="number">{hours(rest.gpu_hours)}</td>
                <td class="number">{usd(rest.cost_usd)}</td>
              </tr>
            )}
            <tr class="sum">
              <th scope="row">all</th>
              <td colSpan={3} />
              <td class="number">{hours(policy.paid_gpu_hours)}</td>
              <td class="number">{usd(policy.cost_usd)}</td>
            </tr>
          </tbody>
        </table>
      </div>
    </Figure>
  );
});

const costWords = (cost: number | undefined) => (cost === undefined ? "–" : usd(cost));

const kServiceCosts = [
  ["usd", "cost"],
  ["perRequests", "per 1,000 requests"],
  ["perTokens", "per M tokens"],
] as const;

/// Shows the cost of each service or team. A unit price that is not known for any of them has no column.
/// @param name  name of the table
/// @param head  head of its first column
function UserCosts({ users, name: label, head }: { users: SpentUser[]; name: string; head: string }) {
  const columns = kServiceCosts.filter(([key]) => key === "usd" || users.some((one) => one[key] !== undefined));
  return (
    <table class="paid" aria-label={label}>
      <thead>
        <tr>
          <th scope="col">{head}</th>
          {["GPU-hours", ...columns.map(([, name]) => name)].map((name) => (
            <th scope="col" class="number" key={name}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {users.map((one) => (
          <tr key={one.name}>
            <th scope="row">{one.name}</th>
            <td class="number">{hours(one.gpuHours)}</td>
            {columns.map(([key]) => (
              <td class="number" key={key}>{costWords(one[key])}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type OnExplain = (at: number | undefined, layer?: string) => void;

/// Shows tables: the cost by state of the GPUs, by service and by team if there are rows of them, and by kind of node.
function CostTables({ spent, onExplain }: { spent: Spent; onExplain: OnExplain }) {
  const { usd: all } = spent;
  return (
    <div class="scroll">
      <table class="paid" aria-label="Cost by use of the GPUs">
        <thead>
          <tr>
            <th scope="col">{spent.head}</th>
            <th scope="col" class="number">GPU-hours</th>
            <th scope="col" class="number">cost</th>
            <th scope="col" class="number">share</th>
          </tr>
        </thead>
        <tbody>
          {spent.states.map(({ name, styleClass, gpuHours, usd: cost, moment: find }) => {
            const open = find && (() => onExplain(find()));
            const title = `the moment with the most ${name} GPUs`;
            return (
              <tr key={name}>
                <th scope="row">
                  <span class={`state ${styleClass} sample`} /> {name}
                </th>
                <td class="number">
                  <FigureLink text={hours(gpuHours)} title={title} onClick={open} />
                </td>
                <td class="number">
                  <FigureLink text={costWords(cost)} title={title} onClick={cost === undefined ? undefined : open} />
                </td>
                <td class="number">{cost !== undefined && all !== undefined && all > 0 ? percent((1e6 * cost) / all) : "–"}</td>
              </tr>
            );
          })}
          <tr class="sum">
            <th scope="row">all</th>
            <td class="number">{hours(spent.gpuHours)}</td>
            <td class="number">{costWords(all)}</td>
            <td />
          </tr>
        </tbody>
      </table>
      {spent.users.length > 0 && <UserCosts users={spent.users} name="Cost by service" head="held by pods of" />}
      {spent.teams.length > 0 && <UserCosts users={spent.teams} name="Cost by team" head="held by pods of the team (namespace)" />}
      <table class="paid" aria-label="Cost by nodes">
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
          {spent.nodes.map((part, i) => {
            const { moment: find } = part;
            const open = find && (() => onExplain(find(), "provision"));
            const title = "the first purchase of these nodes";
            return (
              <tr key={i}>
                <th scope="row">{part.name}</th>
                <td>{part.capacity}</td>
                <td>{part.zone}</td>
                <td class="number">
                  <FigureLink text={hours(part.gpuHours)} title={title} onClick={open} />
                </td>
                <td class="number">
                  <FigureLink text={costWords(part.usd)} title={title} onClick={part.usd === undefined ? undefined : open} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

interface CostProps {
  spent: Spent;
  /// True: the cost is that of the whole run, and the charts show a part of it.
  isPart: boolean;
  /// Shows the decision behind a number.
  onExplain: OnExplain;
}

/// Shows the cost by state of the GPUs, by service, by team and by kind of node.
export const Cost = memo(function Cost({ spent, isPart, onExplain }: CostProps) {
  return (
    <Figure
      title="What is paid for?"
      note={[spent.note, isPart ? "Of the whole run, not of the stretch that the charts show" : ""].filter((part) => part !== "").join(". ")}
      table={spent.table}
    >
      <CostTables spent={spent} onExplain={onExplain} />
    </Figure>
  );
});
