import type { Value } from "../../format.ts";

// sign-in.tsx
export const noWalletWasFound =
  "No wallet was found in this browser. Open this page in the browser, or in the wallet app, that has your custody address or an auth address.";
export const waitingForTheWallet = "Waiting for the wallet…";
export const waitingForTheKey = "Waiting for the key that the app asks for…";
export const thisAddressMaySignInAsNobody =
  "this address is neither the custody address nor an auth address of anyone this node knows";
export const sending = "Sending…";
export const fid = (fid: Value) => `fid ${fid}`;
export const nameAndFid = (username: Value, fid: Value) => `@${username} (fid ${fid})`;
export const signInAs = (name: Value) => `Sign in as ${name}`;
export const iOpenedThisSignInAs = (name: Value) => `I opened this myself: sign in as ${name}`;
export const iOpenedThisSignIn = "I opened this myself: sign in";
export const pressAgainIfYouOpened =
  "This domain has no manifest, so the node cannot say whose it is. Press again only if you opened this page from the app yourself.";
export const theDomainBelongsTo = (name: Value) => `The manifest of this domain belongs to ${name}.`;
export const signedInAs = (name: Value) => `Signed in as ${name}.`;
export const youCanCloseThisPage = "You can close this page.";
export const backToTheApp = "Back to the app";
export const thisIsADemoNetwork =
  "This is a demo network. Sign in as one of its people, whose keys are public, without a wallet.";
export const signInAsThisPerson = "Sign in as this person";
