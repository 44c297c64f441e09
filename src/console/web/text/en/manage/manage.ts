import type { Rich, Value } from "../../format.ts";
import { plural } from "../../format.ts";

// manage/action.tsx
export const requiresOneWalletSignature = "Requires one wallet signature.";
export const deleted = "Deleted";
export const iHaveStoredIt = "I have stored it";
export const inUse = "in use";
export const beingReplaced = "being replaced";
export const created = (time: Rich, more: Rich): Rich => ["created ", time, more];
export const expires = (time: Rich): Rich => [", expires ", time];
export const copySecret = "Copy secret";
export const hmacSha512Key = "HMAC-SHA512 key";
export const standardWebhooks = "Standard Webhooks";
export const copyAsWhsec = "Copy as whsec";
export const secrets = "Secrets";
export const theSecretsAreShownUntilYou = "The secrets are shown until you leave.";
export const reveal = "Reveal";
export const newSecretCreated = "New secret created.";
export const rotate = "Rotate";

// manage/activity.tsx
export const aMiniAppWasRegistered = "A mini app was registered";
export const aMiniAppWasChanged = "A mini app was changed";
export const aMiniAppWasDeleted = "A mini app was deleted";
export const aMiniAppGotANew = "A mini app got a new send secret";
export const aWebhookWasCreated = "A webhook was created";
export const aWebhookWasChanged = "A webhook was changed";
export const aWebhookWasDeleted = "A webhook was deleted";
export const aWebhookGotANewSecret = "A webhook got a new secret";
export const anApiKeyWasCreated = "An API key was created";
export const anApiKeyWasChanged = "An API key was changed";
export const anApiKeyWasDeleted = "An API key was deleted";
export const anApiKeyGotANew = "An API key got a new secret";
export const aSessionWasStarted = "A session was started";
export const aSessionWasEnded = "A session was ended";
export const aSignerWasCreated = "A signer was created";
export const aUserWasAskedToApprove = "A user was asked to approve a signer";
export const aUserApprovedASigner = "A user approved a signer";
export const aSignerWasImported = "A signer was imported";
export const thePrivateKeyOfASigner = "The private key of a signer was shown";
export const aSignerWasErased = "A signer was erased";
export const aMessageWasSigned = (value: Value) => `A message was signed: ${value}`;
export const endASession = "End a session";
export const theSessionEndsAtOnceOn = (label: Value) =>
  `The session “${label}” ends at once, on every node. Its user has to sign again.`;
export const endAllSessions = "End all sessions";
export const everySessionOfYourFidEnds =
  "Every session of your fid ends at once, including the one of this browser.";
export const thisBrowser = "this browser";
export const canOnStartedEnds = (
  part: Rich,
  name: Rich,
  time: Rich,
  part2: Rich,
  more: Rich,
  expiresAt: Rich,
): Rich => ["Can ", part, ", on ", name, ". Started ", time, part2, more, ", ends ", expiresAt, "."];
export const read = "read";
export const readTestReplayEnableAndDisable = "read, test, replay, enable and disable webhooks";
export const notUsedYet = ", not used yet";
export const lastUsed = ", last used ";
export const end = (part: Rich): Rich => ["End", part];
export const theSession = (label: Rich): Rich => [" the session ", label];
export const sessions = "Sessions";
export const endAll = "End all";
export const noSessionsYourWalletSignsEvery = "No sessions. Your wallet signs every request.";
export const key = (apiKeyId: Value) => `key ${apiKeyId}`;
export const signer = (value: Value) => `signer ${value}`;
export const forFid = (fid: Value) => `for fid ${fid}`;
export const message = (hash: Value) => `message ${hash}`;
export const refused = (value: Rich): Rich => ["refused: ", value];
export const fromRequest = (address: Rich, requestId: Rich): Rich => [
  "from ",
  address,
  ", request ",
  requestId,
];
export const auditLog = "Audit log";
export const show = "Show";
export const everything = "everything";
export const miniAppsAndWebhooks = "mini apps and webhooks";
export const noEntriesYetHereYouWill = (part: Rich): Rich => [
  "No entries yet. Here you will see ",
  part,
  ", for 400 days.",
];
export const theChangesOfYourMiniApps = "changes to your mini apps and webhooks";
export const theChangesOfYourHasSigned =
  "changes to your mini apps, webhooks, API keys, signers and sessions, and every message your signers have signed";
export const theLogHasChangesAndSigned = (link: Rich, link2: Rich): Rich => [
  "The log has changes and signed messages of the last 400 days. Sends and deliveries are on the page of each ",
  link,
  " and ",
  link2,
  ".",
];
export const miniApp = "mini app";
export const webhook = "webhook";
export const activity = "Activity";

// manage/keys/key-fields.ts
export const readsEvenWhereTheNodeRequires = "Reads, even where the node requires a key";
export const publishesSignedMessagesAndCasts =
  "Publishes signed messages, and casts, likes and follows through managed signers";
export const createsManagedSignersAndHasUsers = "Creates managed signers and has users approve them";
export const managesYourWebhooks = "Manages your webhooks";
export const managesYourMiniApps = "Manages your mini apps";
export const sendsNotificationsToTheUsersOf = "Sends notifications to the users of an app";
export const bansAndMutesUsersInYourApp = "Bans users from your app, and mutes users for others";
export const name = "Name";
export const forYouWhereItIsUsed = "For you: where it is used.";
export const description = "Description";
export const miniAppTitle = "Mini app";
export const theIdOfTheMiniApp = "The id of the mini app it sends for; empty for your only one.";
export const lastDay = "Expires on";
export const emptyNeverExpires = "Empty: never expires.";
export const unitsPerMinute = "Units per minute";
export const readUnitsEmptyTheNodesLimit = "Read units. Empty: the node's limit.";
export const writesPerMinute = "Writes per minute";
export const messagesEmptyTheNodesLimit = "Messages. Empty: the node's limit.";
export const chooseAtLeastOne = "Choose at least one.";

// manage/keys/key.tsx
export const never = "never";
export const inDaysAtMostInA = (count: Value, usageDays: Value, top: Value) =>
  `${count} in ${usageDays} days, at most ${top} in a day`;
export const countRequests = (count: number) => plural(count, "request");
export const requests = "Requests";
export const units = "Units";
export const writes = "Writes";
export const errors = "Errors";
export const limited = "Limited";
export const route = "Route";
export const utcDay = "UTC day";
export const usageByRoute = "Usage by route";
export const byDay = "By day";
export const usageByDay = "Usage by day";
export const prefix = "Prefix";
export const scopes = "Scopes";
export const limits = "Limits";
export const unitsAndWritesPerMinute = (unitsPerMinute: Value, writesPerMinute: Value) =>
  `${unitsPerMinute} units and ${writesPerMinute} writes per minute`;
export const createdTitle = "Created";
export const lastUsedTitle = "Last used";
export const expiresTitle = "Expires";
export const earlierSecret = "Earlier secret";
export const expiresAt = (time: Rich): Rich => ["expires ", time];
export const newScopes = (scopes: Value) => ` New scopes: ${scopes}.`;
export const changeTheApiKey = "Change the API key";
export const changesAtOnceAndKeepsIts = (name: Value, scopes: Value) =>
  `“${name}” changes at once and keeps its secret.${scopes}`;
export const saved = "Saved";
export const settings = "Settings";
export const signAndSave = "Sign and save";
export const stopsAtOnce = "stops at once";
export const worksForMoreHours = (graceSecs: Value) => `works for ${graceSecs} more hours`;
export const rotateTheSecret = "Rotate the secret";
export const getsANewSecretWhichIs = (name: Value, end: Value) =>
  `“${name}” gets a new secret, which is shown once. The current one ${end}.`;
export const activateTheApiKey = "Activate the API key";
export const isAcceptedAgainAndKeepsIts = (name: Value) =>
  `“${name}” is accepted again and keeps its secret.`;
export const deleteTheApiKey = "Delete the API key";
export const everyRequestWithIsRefusedFrom = (name: Value) =>
  `Every request with “${name}” will be refused. This cannot be undone.`;
export const rotateOrDelete = "Rotate or delete";
export const rotatingCreatesANewSecretDo =
  "Rotating creates a new secret: do it when the current one may have leaked, or once in a while. With a day's grace, you can deploy the new one before the old one expires.";
export const rotateOldOneExpiresInA = "Rotate; old one expires in a day";
export const rotateOldOneExpiresNow = "Rotate; old one expires now";
export const activate = "Activate";
export const deleteLabel = "Delete";
export const apiKey = "API key";
export const usageLast30Days = "Usage, last 30 days";
export const notUsedInTheLast30 =
  "Not used in the last 30 days. Requests with a key appear here within ten seconds.";
export const apiKeys = "API keys";

// manage/keys/keys.tsx
export const youHaveSeveralChooseOneOr = "You have several: choose one, or the key cannot send.";
export const yourOnlyApp = "your only app";
export const thisNodeHasNone = ". This node has none";
export const state = "State";
export const active = "active";
export const notActive = "not active";
export const copyTheKeyNow = "Copy the key now";
export const theNodeStoresOnlyAHash =
  "The node stores only a hash of the key, so it cannot show the key again.";
export const until = (expiresAt: Value) => `, until ${expiresAt}`;
export const createAnApiKey = "Create an API key";
export const aProgramWithTheKeyMay = (scopes: Value, end: Value) =>
  `A program with the key may act for you: ${scopes}${end}. The key is shown once.`;
export const newKey = "New key";
export const signAndCreate = "Sign and create";
export const yourKeys = "Your keys";
export const noApiKeysYetReadsNeed =
  "No API keys yet. Reads need none on most nodes; a key is for programs that write, or that read more.";

// manage/manage-page.tsx
export const overview = "Overview";
export const miniApps = "Mini apps";
export const webhooks = "Webhooks";
export const signers = "Signers";
export const signIn = "Sign-in";
export const manage = "Manage";

// manage/overview.tsx
export const theirAudienceAndPushesToIt = "Their audience, and pushes to it.";
export const eventsAtYourServerAsThey = "Events sent to your server as they happen.";
export const forProgramsThatWriteOrThat = "For programs that write, or that read more.";
export const keysThatLetYourAppsAct = "Keys that let your apps act for users.";
export const appsWhoseVisitorsSignInHere = "Apps whose visitors sign in here, and a page to try it.";
export const whatChangedAndWhoIsSignedIn = "What changed, and the sessions of your fid.";
export const openIncidents = (count: number) => plural(count, "open incident");
export const signedInAs = "Signed in as";
export const userAndFid = (user: Rich, fid: Rich): Rich => [user, " · fid ", fid];
export const demoPerson = "demo person";
export const signOut = "Sign out";
export const thisBrowserForFidUntilSign = (part: Rich, fid: Rich, time: Rich): Rich => [
  "This browser ",
  part,
  " for fid ",
  fid,
  " until ",
  time,
  ". “Sign out” ends that here and on the node.",
];
export const reads = "reads";
export const readsTestsAndReplays = "reads, tests and replays";
export const isNotOpenInThisBrowser = (walletName: Rich): Rich => [
  walletName,
  " is not available in this browser now. Reading works without it.",
];
export const manageWhatIsYours = "Your apps and keys";
export const nothingHasChanged = "Nothing has changed.";

// notices of owners
export const notices = "Notices";
export const aChannelWasAdded = "A notice channel was added";
export const aChannelWasChanged = "A notice channel was changed";
export const aChannelWasDeleted = "A notice channel was deleted";
export const aChannelWasTested = "A notice channel was tested";
export const anIncidentWasAcknowledged = "An incident was acknowledged";
export const aLoginClientWasRegistered = "A login client was registered";
export const aLoginClientWasChanged = "A login client was changed";
export const aLoginClientWasDeleted = "A login client was deleted";
export const aUserWasBanned = "A user was banned";
export const aBanWasLifted = "A ban was lifted";
export const aUserWasMuted = "A user was muted";
export const aMuteWasEnded = "A user was unmuted";
export const whatHappensToYourRecords = "What happens to your webhooks, keys and sends.";
