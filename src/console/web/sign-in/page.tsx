import { pageConfig } from "../page-config.ts";
import { PageHead } from "../parts/page-head.tsx";
import * as msg from "../text/en/manage/login.ts";
import { QuickAuth } from "./quick-auth.tsx";
import { WebSignIn } from "./web-sign-in.tsx";

/** Tests a sign-in against this node, with a wallet of this browser or as a person of the demo network. */
export function Page() {
  return (
    <>
      <PageHead
        title={msg.tryASignIn}
        {...(pageConfig.manage && {
          crumbs: [{ label: msg.loginClients, href: "/console/manage/login" }, { label: msg.tryASignIn }],
        })}
      />
      <div class="stack">
        <p class="measure">{msg.tryItHere}</p>
        <div class="split even">
          {pageConfig.quickAuth && <QuickAuth />}
          {pageConfig.webSignIn && <WebSignIn />}
        </div>
      </div>
    </>
  );
}
