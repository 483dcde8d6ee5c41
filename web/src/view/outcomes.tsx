import { Figure } from "../chart/figure";
import type { Outcome } from "../data/run";
import { memo } from "../memo";

interface OutcomesProps {
  /// One run, or two that are compared.
  runs: { name: string; outcomes: Outcome[] }[];
  note: string;
}

/// Shows the figures of a run, or of two, that no other view has.
export const Outcomes = memo(function Outcomes({ runs, note }: OutcomesProps) {
  const texts = runs.map((run) => new Map(run.outcomes));
  const subjects = [...new Set(texts.flatMap((text) => [...text.keys()]))];
  if (subjects.length === 0) return null;
  return (
    <Figure
      title="What became of requests, replicas and nodes?"
      {...(note === "" ? {} : { note })}
      table={() => ({ head: ["", ...runs.map((run) => run.name)], rows: subjects.map((subject) => [subject, ...texts.map((text) => text.get(subject) ?? "")]) })}
    >
      <div class="scroll">
        <table class="outcomes" aria-label="Outcomes">
          {runs.length > 1 && (
            <thead>
              <tr>
                <th scope="col">
                  <span class="hidden">subject</span>
                </th>
                {runs.map((run) => (
                  <th scope="col" key={run.name}>
                    {run.name}
                  </th>
                ))}
              </tr>
            </thead>
          )}
          <tbody>
            {subjects.map((subject) => (
              <tr key={subject}>
                <th scope="row">{subject}</th>
                {texts.map((text, i) => (
                  <td key={i}>{text.get(subject) ?? ""}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Figure>
  );
});
