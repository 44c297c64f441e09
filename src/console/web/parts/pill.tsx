import type { ComponentChildren } from "preact";

export type PillKind = "ok" | "warn" | "bad" | "acc";

/** A state in a word. The colour repeats what the word says. `live` beats while something is under way. */
export function Pill({
  kind,
  live,
  children,
}: {
  kind?: PillKind;
  live?: boolean;
  children: ComponentChildren;
}) {
  return (
    <span class={`pill ${kind ?? ""} ${live ? "live" : ""}`}>
      {live && <i />}
      {children}
    </span>
  );
}
