import type { Rich, Value } from "../../format.ts";
import { plural } from "../../format.ts";

// demo/prompt.tsx
export const chooseADemoPerson = "Choose a demo person";
export const theseArePeopleOfTheDemo =
  "These are people of the demo network. Their keys are public, so anyone can act as any of them, and nothing you do here has an effect outside this node.";
export const findAPerson = "Find a person";
export const nameHandleOrFid = "Name, handle or fid";
export const people = "People";
export const fid = (fid: Rich): Rich => ["fid ", fid];
export const noDemoPeopleFound = "No demo people found.";
export const andMore = (length: Rich): Rich => ["and ", length, " more"];
export const signatureRequest = "Signature request";
export const signThisRequestYourOwnWallet = "Sign this request? Your own wallet would show the same.";
export const doNotAskAgainInThis = "Do not ask again during this visit";
export const decline = "Decline";
export const sign = "Sign";

// demo/receivers.tsx
export const demoPhones = "Demo phones";
export const notified = (count: Rich): Rich => [count, " notified"];
export const countPhones = (count: number) => plural(count, "phone");
export const nothingYetAddDemoPeopleThen =
  "Nothing yet. Add demo people, then send: each of their phones shows the notification here, as a real client would.";
export const notifiedPeople = "Notified people";
export const hadTheClientThatAsksFor = (count: Rich): Rich => [
  count,
  " use the client that defers every tenth notification. “Retry” on the campaign reaches them.",
];
export const openOnPhoneOf = (handle: Value) => `Open it on ${handle}'s phone`;
export const openedBy = (handle: Value) => `Opened by ${handle}`;
export const tapAPhone = "Tap a face to open it as that person.";
export const openOn = (phones: Value) => `Open it on ${phones}`;
export const openedOn = (phones: Value) => `Opened on ${phones}, as an app's script would report it.`;
export const thisSendCountsNoOpens = "This send does not count opens: “Count opens” in the form turns it on.";
export const countPeople = (count: number) => plural(count, "person", "people");
export const n200Delivered = "200, delivered";
export const n500Fails = "500, fails";
export const n410Gone = "410, gone";
export const timeout = "timeout";
export const signatureVerified = "signature verified";
export const notSigned = "not signed";
export const signatureWrong = "wrong signature";
export const noWebhookHasThisUrl = "no webhook has this URL";
export const useTheDemoReceiver = "Use the demo receiver";
export const itRunsNextToThisNode =
  "It runs next to this node, shows each request, and checks its signatures.";
export const theDemoReceiver = "The demo receiver";
export const countRequests = (count: number) => plural(count, "request");
export const itRespondsToEachDeliveryWith = "It responds to each delivery with";
export const noRequestsYetSendATest = "No requests yet. Send a test, or generate activity.";

// demo/add-people.tsx
export const addDemoPeople = (people: Rich): Rich => ["Add ", people, " demo people"];
export const addedTheApp = (count: Value) => `${count} added the app.`;
export const addedTheAppThenTheNode = (count: Value, refusal: Value) =>
  `${count} added the app, then the node refused: ${refusal}`;
export const generateActivity = "Generate activity";
export const peopleCastLikeAndFollowFor = (left: Value) =>
  `People cast, like and follow for ${left} more seconds.`;
export const thisIsADemoNetworkIts =
  "This is a demo network: its people can add your app. Their clients report it as real ones do.";
