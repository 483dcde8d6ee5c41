// The command that prints the arithmetic of one decision again.
import type { Policy, Result, ScaleStep } from "./result";

/// Returns a word of a command such that a shell reads it unchanged.
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/// Returns the command for a decision of a simulated policy; undefined if the result is none of `compare` or `sim`.
export function explainCommand(result: Result, policy: Policy, step: ScaleStep): string | undefined {
  // The policies and --bound are the last words of the command; a word consists of quoted and unquoted parts.
  const found = /^capstan (?:compare|sim) (.*?)(?: --policy (?:"[^"]*"|'[^']*'|\\.|[^\s"'\\])+)*(?: --bound)?$/.exec(result.command ?? "");
  const services = result.services ?? [];
  const service = services.find((one) => one.name === step.part || one.part === step.part) ?? services[0];
  if (found === null || service === undefined) return undefined;
  const ms = Math.round(step.at_ns / 1e6);
  const at = ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
  return `capstan explain ${shellWord(service.name)} --scenario ${found[1]} --policy ${shellWord(policy.policy)} --at ${at} --verbose`;
}
