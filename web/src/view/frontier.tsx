import { useRef } from "preact/hooks";
import { themeColour } from "../chart/canvas";
import { saveSvgPng } from "../chart/download";
import { Figure } from "../chart/figure";
import { type Policy, type Result, holdsSlo } from "../data/result";
import { percent, usd } from "../format";
import { memo } from "../memo";

const kWidth = 640;
const kHeight = 300;
const kLeft = 78;
const kRight = 24;
const kTop = 16;
const kBottom = 54;

interface Point {
  name: string;
  cost: number;
  met: number;
  position: number;
  holds: boolean;
}

/// Returns the ticks of an axis, about `steps` of them. Their distance is 1, 2 or 5 times a power of ten.
export function ticks(from: number, to: number, steps: number): number[] {
  const rough = (to - from) / steps;
  if (!(rough > 0)) return [from];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough) ?? rough;
  const list: number[] = [];
  for (let n = Math.ceil(from / step); n * step <= to + step * 1e-9; ++n) list.push(n * step);
  return list;
}

interface FrontierProps {
  result: Result;
  shownPolicy: number;
  onShow: (position: number) => void;
}

export const Frontier = memo(function Frontier({ result, shownPolicy, onShow }: FrontierProps) {
  const picture = useRef<SVGSVGElement>(null);
  const png = () => {
    if (picture.current !== null) void saveSvgPng("what-does-a-better-slo-cost", picture.current, themeColour("--panel"));
  };
  const point = (policy: Policy, position: number): Point => ({
    name: policy.policy,
    cost: policy.cost_usd,
    met: policy.attainment_ppm,
    position,
    holds: holdsSlo(result, policy),
  });
  const policies = result.policies.map(point);
  const fleet = result.constant_fleet === undefined ? [] : [point(result.constant_fleet.result, -1)];
  const all = [...policies, ...fleet];
  const bound = result.clairvoyant?.lower_bound.solved === true ? result.clairvoyant.lower_bound.cost_micro_usd / 1e6 : undefined;
  const maxCost = Math.max(...all.map((p) => p.cost)) * 1.06 || 1;
  const asked = result.slo?.attainment_ppm;
  const least = Math.min(asked ?? 1_000_000, ...all.map((p) => p.met));
  const span = Math.max(1000, 1_000_000 - least);
  const minMet = Math.max(0, least - span * 0.08);
  const maxMet = 1_000_000 + span * 0.04;
  const x = (cost: number) => kLeft + ((kWidth - kLeft - kRight) * cost) / maxCost;
  const y = (met: number) => kTop + ((kHeight - kTop - kBottom) * (maxMet - met)) / (maxMet - minMet);
  const line = (result.frontier?.usd ?? [])
    .flatMap((name) => policies.find((p) => p.name === name) ?? [])
    .map((p, i) => `${i === 0 ? "M" : "L"}${x(p.cost).toFixed(1)} ${y(p.met).toFixed(1)}`)
    .join(" ");
  const slo = asked === undefined ? undefined : y(asked);
  const unit = asked === undefined ? "jobs done" : "requests met";
  return (
    <Figure
      title="What does a better SLO cost?"
      note={`Each point is a policy; the line joins the policies that meet more than every cheaper one.${fleet.length > 0 ? " The diamond is the best constant fleet, chosen with hindsight." : ""}`}
      onPng={png}
      table={() => ({ head: ["policy", "USD", "met %"], rows: all.map((p) => [p.name, p.cost, p.met / 10_000]) })}
    >
      <svg class="frontier" ref={picture} viewBox={`0 0 ${kWidth} ${kHeight}`} role="group" aria-label="Cost against share of met requests">
        {ticks(minMet, 1_000_000, 4).map((met) => (
          <g key={met}>
            <line class="grid" x1={kLeft} x2={kWidth - kRight} y1={y(met)} y2={y(met)} />
            <text class="tick" x={kLeft - 8} y={y(met) + 4} text-anchor="end">
              {percent(met)}
            </text>
          </g>
        ))}
        {ticks(0, maxCost, 6).map((cost) => (
          <text class="tick" key={cost} x={x(cost)} y={kHeight - kBottom + 20} text-anchor="middle">
            {usd(cost)}
          </text>
        ))}
        <text class="tick" x={(kLeft + kWidth - kRight) / 2} y={kHeight - 8} text-anchor="middle">
          cost of the run, USD
        </text>
        <text class="tick" transform={`translate(14 ${(kTop + kHeight - kBottom) / 2}) rotate(-90)`} text-anchor="middle">
          {unit}
        </text>
        {slo !== undefined && asked !== undefined && (
          <g>
            <line class="slo" x1={kLeft} x2={kWidth - kRight} y1={slo} y2={slo} />
            <text class="slo-label" x={kLeft + 4} y={slo + 15}>
              SLO {percent(asked)}
            </text>
          </g>
        )}
        {bound !== undefined && (
          <g>
            <line class="bound" x1={x(bound)} x2={x(bound)} y1={kTop} y2={kHeight - kBottom} />
            <text class="tick" x={x(bound) + 5} y={kTop + 12}>
              no policy can cost less
            </text>
          </g>
        )}
        <path class="frontier-line" d={line} />
        {fleet.map((p) => (
          <path key={p.name} class="fleet" d={`M${x(p.cost)} ${y(p.met) - 7}l7 7l-7 7l-7 -7z`}>
            <title>{`${p.name}: ${percent(p.met)} met for ${usd(p.cost)}`}</title>
          </path>
        ))}
        {policies.map((p) => (
          <circle
            key={p.position}
            class={["point", p.holds ? "holds" : "misses", p.position === shownPolicy ? "shown" : ""].join(" ")}
            cx={x(p.cost)}
            cy={y(p.met)}
            r={p.position === shownPolicy ? 8 : 6}
            role="button"
            tabindex={0}
            aria-label={`${p.name}: ${percent(p.met)} met for ${usd(p.cost)}`}
            onClick={() => onShow(p.position)}
            onKeyDown={(event) => (event.key === "Enter" || event.key === " ") && onShow(p.position)}
          >
            <title>{`${p.name}: ${percent(p.met)} met for ${usd(p.cost)}`}</title>
          </circle>
        ))}
      </svg>
    </Figure>
  );
});
