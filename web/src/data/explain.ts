// The command that prints the arithmetic of one decision again.
import type { Policy, Result } from "./result";

/// Returns a word of a command such that a shell reads it unchanged.
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/// Returns the command for a decision of a simulated policy; undefined if the result is none of `compare` or `sim`.
/// @param object  as `capstan explain` takes it: the name of a service, or "gang 7"
export function explainCommand(result: Result, policy: Policy, at_ns: number, object: string): string | undefined {
  // The policies and --bound are the last words of the command; a word consists of quoted and unquoted parts.
  const found = /^capstan (?:compare|sim) (.*?)(?: --policy (?:"[^"]*"|'[^']*'|\\.|[^\s"'\\])+)*(?: --bound)?$/.exec(result.command ?? "");
  if (found === null) return undefined;
  const ms = Math.round(at_ns / 1e6);
  const at = ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
  return `capstan explain ${shellWord(object)} --scenario ${found[1]} --policy ${shellWord(policy.policy)} --at ${at} --verbose`;
}
