import { render } from "preact";
import { restoreImageChoice } from "./content/images.tsx";
import { announceDemoWallet } from "./owner/wallet/announce-demo-wallet.ts";
import { App } from "./shell/app.tsx";
import { startScrollMemory } from "./shell/scroll.ts";
import { scriptOfChoice } from "./text/language.ts";

function start(): void {
  announceDemoWallet();
  const root = document.getElementById("app");
  // The first render takes over the elements of the document, so nothing moves.
  if (root && !restoreImageChoice()) {
    render(<App />, root);
    startScrollMemory();
  }
}

const chosen = scriptOfChoice();
if (chosen === undefined) start();
else import(chosen).catch(start);
