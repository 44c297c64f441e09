import type { Rich, Value } from "../../format.ts";

// manage/signers/signers.tsx
export const createdState = "created";
export const noAppHasRequestedApprovalYet = "No app has requested approval yet";
export const waitingForApproval = "waiting for approval";
export const noUserHasApprovedItYet = "No user has approved it yet";
export const waitsFor = (user: Rich): Rich => ["For ", user, ", who has not approved it yet"];
export const approved = "approved";
export const itSignsForItsUser = "It signs for its user";
export const revoked = "revoked";
export const itsUserHasRevokedIt = "Its user has revoked it";
export const sendThisLinkToTheUser =
  "Send this link to the user. They approve with the wallet that holds their fid:";
export const copyTheLink = "Copy the link";
export const users = "Users";
export const removeTheSigner = "Remove the signer";
export const theNodeErasesTheKeyAnd = (fid: Value) =>
  `The node erases the key, and apps can no longer act for fid ${fid} with it. A key without an on-chain transaction also removes itself from the network.`;
export const theNodeErasesTheKeyIts = "The node erases the key. Its approval link stops working.";
export const forTheAppOf = (part: Rich, link: Rich): Rich => [part, "for the app of ", link];
export const fidOf = (appFid: Rich): Rich => ["fid ", appFid];
export const remove = "Remove";
export const permissions = "Permissions";
export const expiresUnlessUsed = "Expires unless used";
export const id = "Id";
export const publicKey = "Public key";
export const signersAreOff = "Signers are off";
export const off = "off";
export const theOperatorHasTurnedManagedSigners =
  "The operator has turned managed signers off. Existing ones can be looked up and removed; none of them signs.";
export const thisNodeHoldsNoKeysOf = "This node holds no user keys: it has no key to encrypt them with.";
export const theOperatorTurnsThemOnBy = (part: Rich): Rich => ["The operator turns them on with ", part, "."];
export const whichPrints = (code: Rich, code2: Rich): Rich => [code, ", which ", code2, " prints"];
export const managedSigners = "Managed signers";
export const noManagedSigners = "No managed signers.";
export const noManagedSignersYetAnApp = (link: Rich, bold: Rich): Rich => [
  "No managed signers yet. Create one above, or from your app with an ",
  link,
  " that has the ",
  bold,
  " scope. Its user approves it: the key then casts and likes for them, and they can revoke it at any time.",
];
export const signersScope = "signers";

export const apiKey = "API key";
export const signers = "Signers";

// manage/signers/approval.tsx
export const qrCode = "QR code of the link";
export const approveAsADemoPerson = "Approve as a demo person";
export const thisIsADemoNetworkApprove = "This is a demo network: anyone may approve as one of its people.";
export const thisIsADemoNetworkApproveAs =
  "This is a demo network: you may approve as this person, the only one who can.";
export const publishATestCast = "Publish a test cast";
export const itPublishesForFid = (text: Value, fid: Value) =>
  `The node publishes “${text}” for fid ${fid}, where everyone can read it.`;
export const TEST_TEXT = "A test cast by a managed signer";
export const published = (link: Rich): Rich => ["Published: ", link];
export const queued = "It is on its way to the network.";
export const openTheCast = "open the cast";
export const publishFromYourApp = "Publish from your app";
export const theKeyNeedsTheScope = (link: Rich, code: Rich): Rich => [
  "It needs an ",
  link,
  " with the ",
  code,
  " scope.",
];

// manage/signers/new-signer.tsx
export const newSigner = "New signer";
export const forWhom = "For";
export const anyone = "Anyone with the link can approve it, once.";
export const onePerson = "Only one person can approve it.";
export const theFirstPersonCounts = "Choose one person.";
export const signAndCreate = "Sign and create";
export const everything = "Everything";
export const linkEnds = "Link expires";
export const LINK_SPANS = [
  [3600, "in 1 hour"],
  [86_400, "in 1 day"],
  [604_800, "in 7 days"],
] as const;
export const createASigner = "Create a signer";
export const theNodeMakesAKey = (who: Value, what: Value) =>
  `The node makes a key for ${who} and a link. The key signs nothing until its user approves it. It may then: ${what}.`;
export const whoeverHasTheLink = "the first person who approves it";
export const onlyFid = (fid: Value) => `fid ${fid}`;
export const nameAndFid = (name: Value, fid: Value) => `${name} (fid ${fid})`;
export const PERMISSION_NAMES = {
  PUBLISH_CAST: "Publish casts",
  DELETE_CAST: "Delete casts",
  PUBLISH_REACTION: "Like and recast",
  DELETE_REACTION: "Remove likes and recasts",
  FOLLOW_USER: "Follow people",
  UNFOLLOW_USER: "Unfollow people",
  ADD_VERIFICATION: "Add verified addresses",
  REMOVE_VERIFICATION: "Remove verified addresses",
  UPDATE_PROFILE: "Change the profile",
} as const;
export const chooseAPermission = "Choose at least one permission.";
