import type { RefObject } from "preact";
import { formatCount } from "../data/format.ts";
import type { Newer } from "../data/newer.ts";

/** Offers what has come to a list while it was shown. Its section is scrolled to, because the rows move. */
export function NewerPill({ newer, list }: { newer: Newer; list: RefObject<HTMLElement | null> }) {
  if (newer.count === 0) return null;
  return (
    <button
      type="button"
      class="btn go newer"
      onClick={() => {
        newer.show();
        list.current?.closest("section")?.scrollIntoView({ block: "start" });
      }}
    >
      {formatCount(newer.count)} newer
    </button>
  );
}
