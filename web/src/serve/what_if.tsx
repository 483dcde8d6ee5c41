import { useEffect, useRef, useState } from "preact/hooks";
import { Figure } from "../chart/figure";
import { holdsSlo, readJson, readResult, type Result } from "../data/result";
import { duration, latency, percent, usd } from "../format";
import { type Change, changeWords, type Limits, pairs, simulate } from "./server";

/// A result of a changed scenario.
export interface Variant {
  change: Change;
  result: Result;
}

/// Reads a number of a field; undefined if it is empty or equal to what the scenario states.
function numberOf(text: string, stated: number): number | undefined {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  return Number.isFinite(value) && value !== stated ? value : undefined;
}

const kSpotChoices = [0, 5, 10, 25, 50, 100];

function Fields({ limits, onChange }: { limits: Limits; onChange: (part: Partial<Record<keyof Change, number | undefined>>) => void }) {
  const stated = limits.spot_interruptions_percent_per_hour;
  const factor = (name: string, key: "load_factor" | "price_factor") => (
    <label>
      {name}{" "}
      <input
        type="number"
        min={limits.factor_min}
        max={limits.factor_max}
        step="any"
        defaultValue="1"
        required
        onInput={(event) => onChange({ [key]: numberOf(event.currentTarget.value, 1) })}
      />
    </label>
  );
  return (
    <>
      {factor("Load ×", "load_factor")}
      {factor("Prices ×", "price_factor")}
      {limits.has_spot && (
        <label>
          Spot interruptions{" "}
          <select onChange={(event) => onChange({ spot_interruptions_percent_per_hour: numberOf(event.currentTarget.value, Number.NaN) })}>
            <option value="">{`as stated (${stated} % an hour)`}</option>
            {kSpotChoices.map((share) => (
              <option key={share} value={String(share)}>
                {share === 0 ? "none" : `${share} % an hour`}
              </option>
            ))}
          </select>
        </label>
      )}
      {limits.has_minimum && (
        <label>
          Minimum replicas{" "}
          <input
            type="number"
            min={0}
            max={limits.max_replicas}
            step={1}
            defaultValue={String(limits.min_replicas)}
            required
            onInput={(event) => onChange({ min_replicas: numberOf(event.currentTarget.value, limits.min_replicas) })}
          />
        </label>
      )}
    </>
  );
}

function Comparison({ stated, variant }: { stated: Result; variant: Variant }) {
  const rows = pairs(stated, variant.result);
  const cell = (result: Result, i: 0 | 1) => (pair: (typeof rows)[number]) => (
    <>
      <td class={holdsSlo(result, pair[i]) ? "number good" : "number bad"}>{percent(pair[i].attainment_ppm)}</td>
      <td class="number">{latency(pair[i].ttft.p99_us)}</td>
      <td class="number">{usd(pair[i].cost_usd)}</td>
    </>
  );
  const before = cell(stated, 0);
  const after = cell(variant.result, 1);
  return (
    <Figure
      title="As stated and what if"
      note={`What if: ${changeWords(variant.change)}.`}
      table={() => ({
        head: ["policy", "met %", "TTFT p99 s", "USD", "what if: met %", "what if: TTFT p99 s", "what if: USD"],
        rows: rows.map(([a, b]) => [
          a.policy,
          ...[a, b].flatMap((p) => [p.attainment_ppm / 10_000, p.ttft.p99_us / 1e6, p.cost_usd]),
        ]),
      })}
    >
      <div class="scroll">
        <table class="what-if-table" aria-label="Stated and changed scenario">
          <thead>
            <tr>
              <th scope="col" rowSpan={2}>
                policy
              </th>
              <th scope="colgroup" colSpan={3} class="number">
                as stated
              </th>
              <th scope="colgroup" colSpan={3} class="number">
                what if
              </th>
            </tr>
            <tr>
              {["met", "TTFT p99", "cost", "met", "TTFT p99", "cost"].map((name, i) => (
                <th scope="col" class="number" key={i}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((pair) => (
              <tr key={pair[0].policy}>
                <th scope="row">{pair[0].policy}</th>
                {before(pair)}
                {after(pair)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Figure>
  );
}

interface WhatIfProps {
  limits: Limits;
  stated: Result;
  variant: Variant | undefined;
  /// True: the variant is shown below.
  showsVariant: boolean;
  onVariant: (variant: Variant) => void;
  onShow: (variant: boolean) => void;
}

/// Controls that change the scenario and simulate it again, and both results side by side.
export function WhatIf({ limits, stated, variant, showsVariant, onVariant, onShow }: WhatIfProps) {
  const [change, setChange] = useState<Change>({});
  const [status, setStatus] = useState("");
  const [fault, setFault] = useState("");
  const running = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  const run = async () => {
    running.current?.abort();
    const mine = new AbortController();
    running.current = mine;
    setFault("");
    setStatus(`Simulates ${changeWords(change)} …`);
    const from = performance.now();
    try {
      const result = readResult(readJson(await simulate(change, mine.signal)));
      if (running.current !== mine) return;
      setStatus(`Simulated ${changeWords(change)} in ${duration(1000 * (performance.now() - from))}.`);
      onVariant({ change, result });
    } catch (error) {
      if (mine.signal.aborted || running.current !== mine) return;
      setStatus("");
      setFault(error instanceof Error ? error.message : String(error));
    }
    running.current = undefined;
  };
  const stop = () => {
    running.current?.abort();
    running.current = undefined;
    setStatus("Stopped.");
  };
  const isRunning = running.current !== undefined;
  return (
    <section aria-labelledby="what-if" class="figure what-if">
      <h3 id="what-if">What if?</h3>
      <form
        class="controls"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <Fields
          limits={limits}
          onChange={(part) =>
            setChange((old) => Object.fromEntries(Object.entries({ ...old, ...part }).filter(([, value]) => value !== undefined)) as Change)
          }
        />
        <button type="submit">Simulate</button>
        {isRunning && (
          <button type="button" onClick={stop}>
            Stop
          </button>
        )}
        <span class="note" role="status">
          {status}
        </span>
      </form>
      {fault !== "" && <p role="alert">{fault}</p>}
      {variant !== undefined && (
        <>
          <fieldset class="controls">
            <legend class="hidden">Shown below</legend>
            <label>
              <input type="radio" name="shown-result" checked={!showsVariant} onChange={() => onShow(false)} /> show the scenario as stated
            </label>
            <label>
              <input type="radio" name="shown-result" checked={showsVariant} onChange={() => onShow(true)} /> show {changeWords(variant.change)}
            </label>
          </fieldset>
          <Comparison stated={stated} variant={variant} />
        </>
      )}
    </section>
  );
}
