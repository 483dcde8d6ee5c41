// A number in a table that leads to the decision behind it.

interface FigureLinkProps {
  text: string;
  /// The moment that the click shows: "the moment with the most idle GPUs".
  title: string;
  /// Undefined: the number leads nowhere.
  onClick: (() => void) | undefined;
}

export function FigureLink({ text, title, onClick }: FigureLinkProps) {
  if (onClick === undefined) return <>{text}</>;
  return (
    <button type="button" class="link figure-link" title={`Show ${title}, and the decision in force`} onClick={onClick}>
      {text}
    </button>
  );
}

/// Id of the list of decisions.
export const kDecisionsId = "decisions";

/// Scrolls to the list of decisions, after the page has drawn the new moment.
export function scrollToDecisions(): void {
  requestAnimationFrame(() => document.getElementById(kDecisionsId)?.scrollIntoView({ block: "start" }));
}
