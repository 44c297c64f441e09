/** The page of the mini app. It never asks another server than its own backend and the node. */

import { sdk } from "@farcaster/miniapp-sdk";

const button = document.getElementById("sign-in");
const result = document.getElementById("result");
const { quickAuthServerOrigin } = await (await fetch("/config")).json();

/** Calls the backend as the user. The token lives for an hour; while it does, `getToken` makes no request. */
async function callBackend(path) {
  // `sdk.quickAuth.fetch` takes no origin: it would ask another server for the token.
  const { token } = await sdk.quickAuth.getToken({ quickAuthServerOrigin });
  return fetch(path, { headers: { authorization: `Bearer ${token}` } });
}

button.onclick = async () => {
  button.disabled = true;
  try {
    const response = await callBackend("/api/me");
    const { fid, username, error } = await response.json();
    result.textContent = response.ok ? `Signed in as @${username} (fid ${fid})` : error;
  } catch (cause) {
    result.textContent = cause.message;
  } finally {
    button.disabled = false;
  }
};

await sdk.actions.ready();
