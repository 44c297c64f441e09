import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { loadChunk } from "../data/stale-chunk.ts";
import { borrowedFid, demoPrompt, returnWallet } from "../owner/wallet/demo-wallet.ts";
import { pageConfig } from "../page-config.ts";
import * as msg from "../text/en/common.ts";
import { displayNameOf } from "../text/name.ts";
import { UserName } from "../text/user-text.tsx";
import { demoUserOf, useDemoPeople } from "./demo-feed.ts";

/** What a demo network adds to every page: who is signed in, and the wallet's prompt. */
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
        <aside class="notice" aria-label={msg.demoPerson}>
          <span class="grow">
            <span class="line">
              {msg.signedInAsDemo(
                <a href={`/console/people/${fid}`}>
                  <b>
                    <UserName name={displayNameOf(demoUserOf(people, fid))} />
                  </b>
                </a>,
              )}
            </span>{" "}
            <span class="sentence">{msg.anyoneWhoOpensThisPageCan}</span>
          </span>
          <button type="button" class="btn" onClick={returnWallet}>
            {msg.signOut(<span class="skip">{msg.ofTheDemoWallet}</span>)}
          </button>
        </aside>
      )}
      {isAsking && Prompt && <Prompt />}
    </>
  );
}
