import type { Rich, Value } from "../../format.ts";

// manage/login/client-fields.ts
export const whoSignedIn = "the app learns who signed in";
export const alsoASignerOfYours =
  "visitors also approve one of your signers, with which the app may write for them";
export const name = "Name";
export const visitorsSeeIt = "Visitors see it on the login page.";
export const origins = "Origins";
export const whereYourButtonIs =
  "The origins of the pages with your button, one per line: only they get a result.";
export const redirectUris = "Redirect URIs";
export const urlsThatACodeMayLeadTo = "URLs that a code or a deep link may open. Empty: none.";
export const clientId = "Client id";
export const theIdOfYourButton = "Your button's, if it already has one. Empty: a new one.";
export const isNotAnOrigin = (text: Value) => `“${text}” is not an origin such as https://app.example.`;
export const aClientIdIsAUuid = "A UUID, or empty.";

// manage/login/clients.tsx
export const permissions = "Permissions";
export const created = "Created";
export const thisNodeHasNoSigners =
  "This node currently has no managed signers: visitors cannot approve one.";
export const registerALoginClient = "Register a login client";
export const visitorsOfMaySignIn = (origins: Value, name: Value) =>
  `Visitors of ${origins} may sign in on this node's login page, which shows the name “${name}”.`;
export const newLoginClient = "New login client";
export const signAndRegister = "Sign and register";
export const off = "off";
export const webSignInIsOff = "Sign-in on this node's pages is off";
export const theOperatorTurnsItOnBy = (setting: Rich): Rich => [
  "The operator turns it on with ",
  setting,
  ".",
];
export const yourLoginClients = "Your login clients";
export const noLoginClientsYet =
  "No login clients yet. Register an app whose visitors sign in with Farcaster, with the hosted sign-in button or a link.";
export const loginClients = "Login clients";
export const tryASignIn = "Try a sign-in";

// manage/login/client.tsx
export const theButtonOfYourPage = "The button of your page";
export const aPageThatHasTheButton =
  "A page with the hosted sign-in button changes one attribute. The rest stays as it is.";
export const theWholeButton = "The whole button";
export const orOpenThePageItself = (link: Rich): Rich => ["Or open the login page itself: ", link];
export const visitors = "Visitors";
export const changed = "Changed";
export const changeTheLoginClient = "Change the login client";
export const ofWillChange = (fields: Value, name: Value) => `${fields} of “${name}” will change at once.`;
export const settings = "Settings";
export const signAndSave = "Sign and save";
export const loginClient = "Login client";
export const deleteTheLoginClient = "Delete the login client";
export const noVisitorOfMaySignIn = (name: Value) =>
  `Visitors of “${name}” can no longer sign in with this node. Signers they have approved stay.`;
export const itsButtonStopsAtOnce =
  "Its button stops working at once. Signers that visitors have approved stay; they are listed under Signers.";

// sign-in/page.tsx
export const tryItHere =
  "Each step of a sign-in on this node, with the reason for a refusal. Only the used nonce is stored.";

// sign-in/quick-auth.tsx
export const quickAuth = "Quick Auth";
export const whatMiniAppsDo =
  "What a mini app and its backend do: a nonce, a message that a wallet signs, a token, and its verification.";
export const domain = "Domain";
export const theDomainOfYourApp = "Your app's domain, named in the message and the request.";
export const fid = "Fid";
export const ofTheAddress = "The fid whose custody or auth address is in your wallet.";
export const signInWith = (wallet: Value) => `Sign in: ${wallet}`;
export const noWallet =
  "This browser has no wallet. Open this page in the browser that has your custody or auth address.";
export const message = "Message";
export const changeItToSeeARefusal = "Change a line to see how the node refuses it.";
export const acceptAuthAddresses = "Accept auth addresses of the fid";
export const signAndSend = "Sign and send";
export const sendTheSameAgain = "Send the same again";
export const theWallet = "Wallet";
export const theNonce = "Nonce";
export const theSignature = "Signature";
export const theToken = "Token";
export const theTokensClaims = "Verification of the token";
export const theWalletShowsNoAccount = "the wallet shared no account";
export const done = "done";
export const refused = "refused";

// sign-in/web-sign-in.tsx
export const webSignIn = "Web sign-in";
export const whatWebsitesDo =
  "What a website with AuthKit does: it opens a channel, shows its link, and asks until someone has signed in there.";
export const openAChannel = "Open a channel";
export const theChannel = "Channel";
export const theApproval = "Approval";
export const openThePageAndSignIn = "Open this page and sign in there; this page notices it.";
export const waiting = "waiting";
export const theChannelIsOver = "the channel has ended: no one signed in, or someone else got the result";
export const nothingHasChanged = "Nothing has changed.";
