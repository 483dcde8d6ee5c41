// The command that prints the arithmetic of one decision again.
import type { Policy, Result } from "./result";

/// Returns a word of a command such that a shell reads it unchanged.
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/// Returns the words that name the run of a policy up to a moment; undefined if the result is none of `compare` or `sim`.
function runWords(result: Result, policy: Policy, at_ns: number): string | undefined {
  // Each policy of a plan's report has a scenario of its own.
  const command = policy.command ?? result.command ?? "";
  // The policies and --bound are the last words of the command; a word consists of quoted and unquoted parts.
  const found = /^capstan (?:compare|sim) (.*?)(?: --policy (?:"[^"]*"|'[^']*'|\\.|[^\s"'\\])+)*(?: --bound)?$/.exec(command);
  if (found === null) return undefined;
  const ms = Math.round(at_ns / 1e6);
  const at = ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
  return `--scenario ${found[1]} --policy ${shellWord(policy.name_in_scenario ?? policy.policy)} --at ${at}`;
}

/// Returns the command for a decision of a simulated policy; undefined if the run cannot be named.
/// @param object  as `capstan explain` takes it: the name of a service, or "gang 7"
export function explainCommand(result: Result, policy: Policy, at_ns: number, object: string): string | undefined {
  const run = runWords(result, policy, at_ns);
  return run === undefined ? undefined : `capstan explain ${shellWord(object)} ${run} --verbose`;
}

/// Returns the command that decides a layer again, for a decision that is about no single object, such as a purchase.
export function decideCommand(result: Result, policy: Policy, at_ns: number, layer: string): string | undefined {
  const run = runWords(result, policy, at_ns);
  return run === undefined ? undefined : `capstan snapshot ${run} > at.json && capstan decide ${layer} at.json`;
}
