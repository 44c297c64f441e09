import { render } from "preact";

<<<<<<< HEAD

import { restoreImageChoice } from "./data/images.ts";

=======

import { announceDemoWallet } from "./demo/wallet.ts";

>>>>>>> dd5cd243 (console: the wallets of demo people, their phones, a receiver and a pulse as parts)

import { App } from "./shell/app.tsx";
import { startScrollMemory } from "./shell/scroll.ts";

announceDemoWallet();
const root = document.getElementById("app");
// The first render takes over the elements of the document, so nothing moves.
if (root && !restoreImageChoice()) {
  render(<App />, root);
  startScrollMemory();
}
