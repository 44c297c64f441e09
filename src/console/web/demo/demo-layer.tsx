import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { pageConfig } from "../page-config.ts";
import { loadChunk } from "../shell/stale-chunk.ts";
import { borrowedFid, demoPrompt, returnWallet } from "./wallet.ts";

/** What a demo network adds to every page: whose wallet is borrowed, and what the wallet asks. */
export function DemoLayer() {
  const [Prompt, setPrompt] = useState<ComponentType>();
  const isAsking = demoPrompt.value !== undefined;
  useEffect(() => {
    if (isAsking && !Prompt)
      loadChunk(() => import("./prompt.tsx")).then((chunk) => setPrompt(() => chunk.DemoPromptSheet));
  }, [isAsking, Prompt]);
  if (!pageConfig.demo) return null;
  const fid = borrowedFid.value;
  return (
    <>
      {fid !== undefined && (
        <aside class="notice" aria-label="Borrowed wallet">
          <span class="grow">
            You have borrowed the wallet of{" "}
            <a href={`/console/people/${fid}`}>
              <b>fid {fid}</b>
            </a>
            . Every wallet of this demo is everybody's: whoever opens this page can borrow it, too.
          </span>
          <button type="button" class="btn" onClick={returnWallet}>
            Give it back
          </button>
        </aside>
      )}
      {isAsking && Prompt && <Prompt />}
    </>
  );
}
