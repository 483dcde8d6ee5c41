// One decision with its arithmetic, in a report and in a recording.
import { moment } from "../format";

interface ArithmeticProps {
  /// Seconds since the start.
  at: number;
  why: string;
  /// Undefined: there is no arithmetic, and `missing` says why.
  arithmetic: string | undefined;
  missing?: string;
  /// Undefined: there is no command.
  command: string | undefined;
  /// Words before the command that say its purpose.
  does?: string;
}

export function Arithmetic({ at, why, arithmetic, missing, command, does = "Print it again" }: ArithmeticProps) {
  return (
    <section class="decision" aria-label={`The decision at ${moment(at)}`}>
      <p>
        <b>{moment(at)}</b> {why.endsWith(".") ? why : `${why}.`}
      </p>
      {arithmetic !== undefined ? <pre class="arithmetic">{arithmetic}</pre> : missing !== undefined && <p class="note">{missing}</p>}
      {command !== undefined && (
        <p>
          {does}: <code>{command}</code>
        </p>
      )}
    </section>
  );
}
