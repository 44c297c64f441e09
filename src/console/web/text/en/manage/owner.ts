import type { Rich, Value } from "../../format.ts";

// approve.tsx, owner/wallet/signing-page.tsx
export const noWalletWasFoundInThis =
  "No wallet was found in this browser. Open this page in the browser, or in the wallet app, that has your custody address.";
export const nothingWasSigned = "nothing was signed";
export const theWalletFailed = "the wallet failed";
export const doneTheAppMayActFor = (fid: Value) =>
  `Done. The app may act for fid ${fid}. You can close this page.`;
export const signedTheNetworkHasNotConfirmed = (fid: Value) =>
  `Signed. The network has not confirmed the key for fid ${fid} yet; the app will see it when it has. You can close this page.`;
export const theAppHasBeenApproved = "The app has been approved.";
export const waitingForTheWallet = "Waiting for the wallet…";
export const theWalletGaveNoAddress = "The wallet gave no address.";
export const sending = "Sending…";
export const connect = (more: Rich, name: Rich): Rich => [more, "Connect ", name];
export const backToTheApp = "Back to the app";
export const youApproveThisAppAsFid = (fid: Rich, address: Rich, part: Rich): Rich => [
  "You approve this app as fid ",
  fid,
  ", with ",
  address,
  ". ",
  part,
  "It costs nothing.",
];
export const youAddThisKeyAsFid = (fid: Rich, address: Rich): Rich => [
  "You add this key on chain as fid ",
  fid,
  ", with ",
  address,
  ". Your wallet sends a transaction on OP Mainnet and pays the gas.",
];
export const sentTheAppWillSeeTheKey = (fid: Value) =>
  `Sent. The app will see the key of fid ${fid} when the network has the transaction. You can close this page.`;
export const send = "Send";
export const theWalletAsksTwice = "The wallet asks twice. ";
export const sign = "Sign";
export const useAnotherWallet = "Use another wallet";
export const thisIsADemoNetworkSign =
  "This is a demo network. Sign as one of its people, whose keys are public, without a wallet.";
export const personByFid = "Person, by fid";
export const signAsThisPerson = "Sign as this person";

// owner/connection.ts
export const browser = "Browser";
export const theWalletShowsNoAccountNothing = "The wallet shared no account. Nothing was sent.";
export const isNotTheCustodyAddressOf = (first: Value) =>
  `${first} is not the custody address of any fid that this node knows. Choose another account in the wallet. Nothing was sent.`;
export const theAccountInYourWalletChanged =
  "The account in your wallet changed, and the node did not say whose it is.";
export const yourWalletNoLongerShowsThis = "Your wallet no longer shares an account with this page.";
export const yourWalletChangedToAnotherAccount = (fid: Value) =>
  `Your wallet switched to another account: this is now fid ${fid}.`;
export const yourWalletChangedToWhichIs = (first: Value) =>
  `Your wallet switched to ${first}, which is not the custody address of any fid that this node knows.`;
export const on = (browser: Value, system: Value) => `${browser} on ${system}`;
export const startASession = "Start a session";
export const aKeyOfThisBrowserMay = (part: Value, fid: Value) =>
  `A key in this browser may ${part} for fid ${fid} for a few hours. Everything else still needs your wallet.`;
export const readTestReplayAndEnableAnd = "read, test, replay, and enable and disable webhooks";

// owner/operation-sheet.tsx
export const theAccountInYourWasSent = "The account in your wallet changed. Nothing was sent.";
export const yourWalletShowsTheseLinesCompare =
  "Your wallet shows these lines. Compare them before you sign.";
export const confirmInYourWallet = "Confirm in your wallet.";
export const signedSendingTheRequest = "Signed. Sending the request.";
export const canceled = "Cancelled.";
export const youClosedTheConfirmationNothingWas = "You closed the confirmation. Nothing was sent.";
export const confirmWithYourWallet = "Confirm with your wallet";
export const typeToConfirm = (typedName: Value) => `Type ${typedName} to confirm`;
export const custodyKeyOnAnotherDevice = "Custody key on another device";
export const theSameRequest = "The same request";
export const cancel = "Cancel";
export const signInTheWallet = "Sign in the wallet";
export const tryAgain = "Try again";

// owner/owner-data.tsx
export const withoutASessionEachRequestRequires =
  "Without a session, each request requires a wallet signature.";
export const signAndShow = "Sign and show";
export const startASessionOrSignFor = "Start a session, or sign for this once.";

// owner/owner-only.tsx
export const fid = (fid: Rich): Rich => ["fid ", fid];
export const connectYourWallet = "Connect your wallet";
export const miniAppsWebhooksKeysAndSigners =
  "Mini apps, webhooks, keys and signers belong to an fid. Its custody address manages them: no account, no password. Connecting shows this page your address and signs nothing.";
export const thisBrowserHasNoWalletWithout =
  "This browser has no wallet. “No wallet in this browser?” has other ways.";
export const yourAccountsOwnSeveralFidsWhich = "Your accounts own several fids. Which one?";
export const withoutAWalletHere = "No wallet in this browser?";
export const tryItAsADemoPerson = "Try it as a demo person";
export const thisNodeIsADemoNetwork =
  "This node is a demo network: choose “A demo person's wallet” in the list to act as one of its people.";
export const aNodeStartedWithLendsYou = (code: Rich): Rich => [
  "A node started with ",
  code,
  " lends you the wallets of made-up people: try all of this in two minutes.",
];
export const useTheCommandLineWhereYour = "Sign on the command line with a key file";
export const everythingHereIsACommandAs =
  "Everything here is also a command. It signs with a key file on your own machine:";
export const myCustodyAddressIsInsideA = "My custody address is inside a Farcaster app";
export const mostAppsMakeTheCustodyAddress =
  "Most apps make the custody address for you and show its recovery phrase in their settings, under a name such as “recovery phrase” or “advanced”. A wallet that imports this phrase has your custody address from then on. Anyone who has the phrase owns your fid: import it into a wallet that you trust, and never into a web page.";
export const soEachRequestAsksYourWallet = (reason: Rich): Rich => [
  reason,
  " So each request needs your wallet.",
];
export const yourSessionHasEnded = "Your session has ended";
export const signInOnce = "Sign in once";
export const yourWalletSignsOnceForA =
  "Your wallet signs once to authorize a key in this browser. For a few hours, these pages then load your records without asking again. The key cannot read secrets. Creating, sending, deleting and revealing still ask your wallet.";
export const alsoTestWebhooksReplayDeliveries =
  "Also test webhooks, replay deliveries, and enable and disable webhooks";
export const startASessionAgain = "Start a new session";
export const oneWalletSignature = "One wallet signature.";

// owner/wallet-signature.ts
export const nothingWasSent = "Nothing was sent.";
export const youDeclinedInTheWallet = (nothing: Value) => `You declined in the wallet. ${nothing}`;
export const noReasonGiven = "no reason given";
export const theWalletDidNotSign = (message: Value, nothing: Value) =>
  `The wallet did not sign: ${message}. ${nothing}`;
export const theAccountOfYourWalletIs = (current: Value) => `The account of your wallet is ${current}`;
export const yourWalletShowsNoAccount = "Your wallet shares no account";
export const butFidBelongsToChooseThat = (instead: Value, fid: Value, address: Value, nothing: Value) =>
  `${instead}, but fid ${fid} belongs to ${address}. Choose that account in the wallet. ${nothing}`;
export const yourWalletDoesNotKnowOp = (chainId: Value, nothing: Value) =>
  `Your wallet does not know OP Mainnet (chain ${chainId}), which custody signatures require. Add it in the wallet, then try again. ${nothing}`;
export const yourWalletIsOnAnotherNetwork = (chainId: Value, nothing: Value) =>
  `Your wallet is on another network and did not switch to OP Mainnet (chain ${chainId}). Choose it in the wallet, then try again. ${nothing}`;
export const thisBrowserNoLongerHas = (walletName: Value, nothing: Value) =>
  `This browser no longer has ${walletName}. ${nothing}`;
export const theWalletReturnedTheSignatureOf = (nothing: Value) =>
  `The wallet returned the signature of a contract account. The node only verifies key signatures. ${nothing}`;

// owner/wallets.ts
export const wallet = "Wallet";
export const theWalletOfThisBrowser = "The wallet of this browser";
