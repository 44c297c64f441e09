import { resolve } from "node:path";
import type { Asked } from "./ask-upstream.ts";
import type { Wanted } from "./choice.ts";
import { fidFileText, fileBeside, type Scope, settingsFiles } from "./settings-text.ts";
import type { NewFile } from "./write-files.ts";

/** Longer lists have a file of their own. */
const MAX_FIDS_IN_SETTINGS = 1000;

/** The files of a choice: the settings, then those that they name: secrets, and the list of fids where it needs one of its own. */
export function planFiles(wanted: Wanted, { resolved }: Pick<Asked, "resolved">, now: Date): NewFile[] {
  const { choice, output, upstreamUrl } = wanted;
  const beside = fileBeside(output, "fids");
  const withFile = (fids: readonly number[], origin: string): NewFile[] => {
    const scope: Scope = { fidFile: beside, text: `${origin}, as of ${now.toISOString().slice(0, 10)}.` };
    const list = { path: beside, text: fidFileText(fids, origin, upstreamUrl, now) };
    return [...settingsFiles(wanted, scope), list];
  };
  const alone = (scope: Scope): NewFile[] => settingsFiles(wanted, scope);
  if (resolved) return withFile(resolved.fids, resolved.origin);
  switch (choice.kind) {
    case "fids": {
      const fids = choice.fids.toSorted((a, b) => a - b);
      if (fids.length > MAX_FIDS_IN_SETTINGS)
        return withFile(fids, `The ${fids.length} fids given to svc init`);
      return alone({
        fids,
        text: "The users that the node follows; of others that they mention it has the profile.",
      });
    }
    case "file":
      return alone({
        fidFile: resolve(choice.path),
        text: "The users that the node follows; of others that they mention it has the profile.",
      });
    case "demo":
      return alone({
        text: "A demo network of its own: start with `svc serve --demo`. Its keys are public, so keep it to this machine.",
      });
    default:
      return alone({ text: "The whole network." });
  }
}

/** Whether the choice is written as a file beside the settings. */
export function writesFidFile({ choice }: Pick<Wanted, "choice">): boolean {
  const { kind } = choice;
  return (
    kind === "channel" ||
    kind === "followers" ||
    (kind === "fids" && choice.fids.length > MAX_FIDS_IN_SETTINGS)
  );
}
