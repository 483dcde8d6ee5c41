import { useState } from "preact/hooks";
import type { Result } from "../data/result";
import { flushAddress } from "../address";
import { Page } from "../page";
import { hashFor, type Limits } from "./server";
import { type Variant, WhatIf } from "./what_if";

/// The page of a scenario that can be simulated again with changes.
export function ServedScenario({ stated, limits }: { stated: Result; limits: Limits }) {
  const [variant, setVariant] = useState<Variant | undefined>(undefined);
  const [showsVariant, setShowsVariant] = useState(false);
  const shown = showsVariant && variant !== undefined ? variant.result : stated;
  const show = (next: Result, isVariant: boolean) => {
    flushAddress();
    history.replaceState(null, "", hashFor(location.hash, shown, next) || location.pathname + location.search);
    setShowsVariant(isVariant);
  };
  return (
    <Page
      result={shown}
      top={
        <WhatIf
          limits={limits}
          stated={stated}
          variant={variant}
          showsVariant={showsVariant}
          onVariant={(next) => {
            setVariant(next);
            show(next.result, true);
          }}
          onShow={(isVariant) => show(isVariant && variant !== undefined ? variant.result : stated, isVariant)}
        />
      }
    />
  );
}
