import type { Policy } from "../data/result";
import { moment } from "../format";
import { memo } from "../memo";

/// Shows the moments that cost the most, the most costly first.
export const Moments = memo(function Moments({ policy, onMoment }: { policy: Policy; onMoment: (seconds: number) => void }) {
  if (policy.moments.length === 0) return null;
  return (
    <section class="figure" aria-labelledby="moments">
      <h3 id="moments">Moments that cost the most</h3>
      <ul class="moments" aria-labelledby="moments">
        {policy.moments.map((m, i) => (
          <li key={i}>
            <button type="button" class="link" onClick={() => onMoment(m.at_ns / 1e9)}>
              {moment(m.at_ns / 1e9)}
            </button>{" "}
            {m.sentence}
          </li>
        ))}
      </ul>
    </section>
  );
});
