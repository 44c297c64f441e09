import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { pageConfig } from "../page-config.ts";
import { loadChunk } from "../shell/stale-chunk.ts";
import { displayNameOf } from "../text/name.ts";
import { UserName } from "../text/user-name.tsx";
import { demoUserOf, useDemoPeople } from "./people.ts";
import { borrowedFid, demoPrompt, returnWallet } from "./wallet.ts";

/** What a demo network adds to every page: whose wallet is borrowed, and what the wallet asks. */
export function DemoLayer() {
  const [Prompt, setPrompt] = useState<ComponentType>();
  const fid = borrowedFid.value;
  const { people } = useDemoPeople(pageConfig.demo && fid !== undefined);
  const isAsking = demoPrompt.value !== undefined;
  useEffect(() => {
    if (isAsking && !Prompt)
      loadChunk(() => import("./prompt.tsx")).then((chunk) => setPrompt(() => chunk.DemoPromptSheet));
  }, [isAsking, Prompt]);
  if (!pageConfig.demo) return null;
  return (
    <>
      {fid !== undefined && (
        <aside class="notice" aria-label="Borrowed wallet">
          <span class="grow">
            You have borrowed the wallet of{" "}
            <a href={`/console/people/${fid}`}>
              <b>
                <UserName name={displayNameOf(demoUserOf(people, fid))} />
              </b>
            </a>
            . Anybody who opens this page can borrow it, too.
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
