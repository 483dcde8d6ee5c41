import { Component, type ComponentChild, type FunctionComponent, h } from "preact";

function isSame(a: object, b: object): boolean {
  const [before, after] = [Object.entries(a), b as Record<string, unknown>];
  return before.length === Object.keys(b).length && before.every(([key, value]) => key in after && after[key] === value);
}

/// Returns the view, which is then rendered again only if one of its properties has changed.
export function memo<Props extends object>(view: FunctionComponent<Props>) {
  return class extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      return !isSame(this.props, next);
    }
    override render(props: Readonly<Props>): ComponentChild {
      return h(view, props as Props);
    }
  };
}
