// A number in a table that leads to the decision behind it.

interface LeadProps {
  text: string;
  /// What the click shows: "the moment with the most idle GPUs".
  title: string;
  /// Undefined: the number leads nowhere.
  onClick: (() => void) | undefined;
}

export function Lead({ text, title, onClick }: LeadProps) {
  if (onClick === undefined) return <>{text}</>;
  return (
    <button type="button" class="link lead" title={`Show ${title}, and the decision in force`} onClick={onClick}>
      {text}
    </button>
  );
}

/// The place of the page to which a number leads.
export const kDecisions = "decisions";

/// Shows the list of decisions, after the page has shown the new moment.
export function scrollToDecisions(): void {
  requestAnimationFrame(() => document.getElementById(kDecisions)?.scrollIntoView({ block: "start" }));
}
