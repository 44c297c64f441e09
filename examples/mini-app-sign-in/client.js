/** Stands for the Farcaster client that shows the mini app, and signs for its user with a key of the demo network. */

import { exposeToIframe } from "@farcaster/miniapp-host";
import { privateKeyToAccount } from "viem/accounts";
import { createSiweMessage } from "viem/siwe";

const form = document.getElementById("open");
const iframe = document.getElementById("app");

form.onsubmit = (event) => {
  event.preventDefault();
  const { app, fid, key } = Object.fromEntries(new FormData(form));
  const url = new URL(app);
  const account = privateKeyToAccount(key.trim());
  const sdk = {
    context: { user: { fid: Number(fid) }, client: { clientFid: 1, added: false } },
    ready: () => {},
    async signIn({ nonce }) {
      const message = createSiweMessage({
        // The client knows which app it shows; the app cannot choose another domain.
        domain: url.host,
        uri: url.href,
        address: account.address,
        statement: "Farcaster Auth",
        version: "1",
        chainId: 10,
        nonce,
        resources: [`farcaster://fid/${fid}`],
      });
      return { message, signature: await account.signMessage({ message }), authMethod: "custody" };
    },
  };
  iframe.onload = () => exposeToIframe({ iframe, sdk, miniAppOrigin: url.origin });
  iframe.src = url.href;
};
