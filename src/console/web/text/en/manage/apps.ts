import type { Rich, Value } from "../../format.ts";
import { plural } from "../../format.ts";

// manage/apps/app-page.tsx
export const overview = "Overview";
export const send = "Send";
export const scheduled = "Scheduled";
export const campaigns = "Campaigns";
export const segments = "Segments";
export const secrets = "Secrets";
export const settings = "Settings";
export const inYourManifest = "In your manifest";
export const addThisLineToTheObject = (code: Rich, code2: Rich): Rich => [
  "Add this line to the ",
  code,
  " object of ",
  code2,
  " on your site. Clients then tell this node who added the app.",
];
export const clients = "Clients";
export const aServerOfYoursSendsWith = (code: Rich): Rich => [
  "Your server sends with any of them, in the header ",
  code,
  ". Each button requires one wallet signature.",
];
export const saved = "Saved";
export const signAndSave = "Sign and save";
export const itsTokensCampaignsAndSecretsAre =
  "Its tokens, campaigns and secrets are deleted with it. Users have to add the app again.";
export const theApp = "The app";
export const miniApp = "Mini app";
export const miniApps = "Mini apps";

// manage/apps/manifest-check.tsx
export const manifest = "Manifest";
export const checkTheManifest = "Check the manifest";
export const theNodeReadsTheManifestOf = (domain: Value) =>
  `The node reads the manifest at ${domain} and reports what clients will refuse.`;
export const thisAppHasNotSentYet =
  "This app has not sent yet. Clients take notifications only from apps whose manifest they accept.";
export const signedByFid = (fid: Value) => `Signed by fid ${fid}, for this domain`;
export const nobodysSignatureHolds = "No valid signature for this domain";
export const nothingToFix = "Nothing to fix.";
export const severities = { error: "Error", warning: "Warning", info: "Note" } as const;

// manage/apps/apps.tsx
export const name = "Name";
export const peopleSeeItsFirstLetterBeside = "People see its first letter next to your notifications here.";
export const url = "URL";
export const whereTheAppIsNotificationsCan =
  "Where the app is. Notifications can open pages of this host only.";
export const whereTheAppIsOnADemo =
  "Where the app is: on this demo network, any name under demo.example will do. Notifications can open pages of this host only.";
export const description = "Description";
export const acceptedClients = "Accepted clients";
export const fidsOfTheClientAppsWhose = "Fids of the client apps whose reports count; empty for all.";
export const registerAMiniApp = "Register a mini app";
export const atBecomesOneOfYourApps = (name: Value, appUrl: Value) =>
  `“${name}” at ${appUrl} becomes one of your apps. The next page shows its send secret; revealing it again requires one signature.`;
export const changeTheApp = "Change the app";
export const ofWillChange = (value: Value, name: Value) => `${value} of “${name}” will change.`;
export const rotateTheSendSecret = "Rotate the send secret";
export const getsANewSendSecretWhich = (name: Value) =>
  `“${name}” gets a new send secret, which this page then shows; revealing it again requires one signature. The current one works until the end of its grace period.`;
export const revealTheSendSecrets = "Reveal the send secrets";
export const theNodeShowsTheSendSecrets = (name: Value) =>
  `The node shows the send secrets of “${name}” once more. Nothing changes.`;
export const deleteTheApp = "Delete the app";
export const isDeletedWithItsTokensCampaigns = (name: Value) =>
  `“${name}” is deleted with its tokens, campaigns and secrets. This cannot be undone: users have to add the app again.`;
export const yourMiniApps = "Your mini apps";
export const countApps = (count: number) => plural(count, "app");
export const noMiniAppsYetPutA = (link: Rich): Rich => [
  "No mini apps yet. ",
  link,
  ", add a line to its manifest, and this node records who adds it.",
];

// manage/apps/audience-card.tsx
export const unnamedClient = "Unnamed client";
export const growthAppearsTomorrowTodayIsThe = "Growth appears tomorrow: today is the first day counted.";
export const enabledTokensFromOnToOn = (enabled: Value, day: Value, enabled2: Value, day2: Value) =>
  `Enabled tokens from ${enabled} on ${day} to ${enabled2} on ${day2}`;
export const dayByDay = "Day by day";
export const growthDayByDay = "Growth day by day";
export const dayUtc = "Day (UTC)";
export const enabled = "Enabled";
export const added = "Added";
export const removed = "Removed";
export const turnedOff = "Turned off";
export const invalid = "Invalid";
export const audienceByClient = "Audience by client";
export const client = "Client";
export const host = "Host";
export const noToken = "No token";
export const theLargestOf = (length: Rich, count: Rich): Rich => ["The ", length, " largest of ", count, "."];
export const audience = "Audience";
export const retention = "Retention";
export const noWeeksYet = "No data yet. The first week appears once someone adds the app.";
export const weekOf = "Week of";
export const afterWeeks = (weeks: number) => (weeks === 0 ? "Its end" : plural(weeks, "week"));
export const reachableAtTheEnd =
  "Of the people who added the app in a week (Monday to Sunday, UTC): how many a send could still reach when that week and later ones ended.";
export const lastDays = (days: Rich): Rich => ["last ", days, " days"];
export const noUsersYetTheyAppearHere =
  "No users yet. They appear here when a client reports that they added the app.";
export const aSendReaches = "A send reaches";
export const tokensOf = (count: number) => (count === 1 ? "token" : "tokens");

// manage/apps/campaign-page.tsx
export const countPeople = (count: number) => plural(count, "person", "people");
export const canGetItLater = (people: Value) => `${people} can get it later`;
export const copyTheirFids = "Copy their fids";
export const theirClientAskedToSendLater =
  "Their client asked to send later. People who have the notification do not get it twice.";
export const retry = (people: Rich): Rich => ["Retry ", people];
export const thisBrowserCannotStoreSoLong =
  "This browser cannot store a list this long. Copy the fids and send to part of them at a time.";
export const app = "App";
export const campaign = "Campaign";
export const duplicate = "Duplicate";
export const belowAreTheLastFiguresFrom = "Below are the last figures from the node.";

// manage/apps/campaign-results.tsx
export const queued = "Queued";
export const running = "Running";
export const completed = "Completed";
export const aborted = "Aborted";
export const notification = "Notification";
export const state = "State";
export const delivered = "Delivered";
export const failed = "Failed";
export const skipped = "Skipped";
export const when = "When";
export const nothingWasSentInTheLast = (link: Rich): Rich => [
  "Nothing was sent in the last 30 days. ",
  link,
  ".",
];
export const sendANotification = "Send a notification";
export const percentOfTokensSettled = (now: Value) => `${now} percent of tokens settled`;
export const theOperatorHasPausedSendsThis = (count: Value) =>
  `The operator has paused sends: this one continues when they resume. ${count} settled so far.`;
export const countTokens = (count: number) => plural(count, "token");
export const queuedYouMayCloseThisPage = "Queued. You can close this page: the node continues.";
export const noUserHadAnEnabledToken = "No user had an enabled token, so nothing was sent.";
export const of = (settled: Value, count: Value) => `${settled} of ${count}`;
export const settledInYouMayCloseThis = (of: Value, took: Value) =>
  `${of} settled in ${took}. You can close this page: the node continues.`;
export const abortedAfterTheAppWasDeleted = (count: Value) =>
  `Aborted after ${count}: the app was deleted, or the node was down for longer than it remembers who has the notification.`;
export const deliveredOf = (delivered: Value, tokens: Value) => `Delivered ${delivered} of ${tokens}`;
export const rateLimited = (count: Value) => `${count} rate limited`;
export const failedOnes = (count: Value) => `${count} failed`;
export const skippedOnes = (count: Value) => `${count} skipped`;
export const outsideOnes = (count: Value) => `${count} not among them`;
export const settledIn = (count: Value, took: Value) => `${count} settled in ${took}.`;
export const progress = "Progress";
export const remaining = "Remaining";
export const tokensPerSecond = "Tokens per second";
export const byClientHost = "By client host";
export const copyAsCsv = "Copy as CSV";
export const noClientHasRespondedYet = "No client has responded yet.";
export const noClientReachedNoUserHas = "No client reached: no user has an enabled token.";
export const resultsByClientHost = "Results by client host";
export const reasons = "Reasons";
export const theLargestOfHosts = (length: Rich, clientHostCount: Rich): Rich => [
  "The ",
  length,
  " largest of ",
  clientHostCount,
  " hosts.",
];
export const skippedBecause = "Skipped:";

// manage/apps/campaign.ts
export const theClientAskedToSendLater = "the client asked to send later";
export const theClientNoLongerKnowsThe = "the client no longer knows the token";
export const theClientsResponseDoesNotName = "the client's response does not name the token";
export const theClientTimedOut = "the client timed out";
export const theClientsHostNameDidNot = "the client's host name did not resolve";
export const theClientRefusedTheConnection = "the client refused the connection";
export const theClientsCertificateWasRejected = "the client's certificate was rejected";
export const theClientClosedTheConnection = "the client closed the connection";
export const theClientWasUnreachableForHalf = "the client was unreachable for half a minute";
export const theUrlIsNotOnA = "the URL is not on a public host";
export const theClientRedirectsRedirectsAreNot = "the client redirects; redirects are not followed";
export const excludedByTheListOfFids = "excluded by the list of fids";
export const theyAreNotInTheSegment = "they are not in the segment";
export const theClientsResponseIsNotHttp = "the client's response is not HTTP";
export const theClientsResponseIsTooLarge = "the client's response is too large";
export const theClientsResponseIsNoResult = "the client's response is not the result of a send";
export const theClientKnowsNoWebhookUrl = "the client has no webhook URL for the app";
export const theClientGivesNoReason = "the client gave no reason this node knows";
export const theClientKnowsAnotherDomain = "the client knows the app under another domain";
export const theClientRefusesTheTargetUrl = "the client refuses the target URL";
export const theClientRespondedWith = (status: Value) => `the client responded with ${status}`;
export const nothingHasChanged = "Nothing has changed.";
export const theyDoNotFollowTheFid = "they do not follow the fid";
export const theyAlreadyHaveThisNotification = "they already have this notification";
export const anotherCampaignWasSendingItTo = "another campaign was sending it to them";
export const title = "Title";
export const text = "Text";
export const opens = "Opens";
export const aPageOfYourApp = "A page of your app.";
export const theirFids = "Their fids";
export const numbersSeparatedBySpacesOrCommas = "Numbers, separated by spaces or commas.";
export const withoutTheseFids = "Without these fids";
export const onlyFollowersOf = "Only followers of";
export const anFid = "An fid.";
export const nameAtLeastOneFid = "Name at least one fid.";
export const clientsOpenItOnTheHost = (host: Value) => `Clients only open pages on the app's host: ${host}.`;

// manage/apps/new-app.tsx
export const registered = "Registered";
export const hasTheIdCopyItsSend = (bold: Rich, code: Rich, code2: Rich): Rich => [
  bold,
  " has the id ",
  code,
  ". Copy its send secret now: this page forgets it when you leave, and revealing it again requires one signature. Your server sends with it, in the header ",
  code2,
  ". Sending from here does not need it.",
];
export const openTheApp = "Open the app";
export const newMiniApp = "New mini app";
export const signAndRegister = "Sign and register";

// manage/apps/send/send-form.tsx
export const recipients = "Recipients";
export const noRecipientsNoEnabledTokenPasses = "No recipients: no enabled token passes the filters.";
export const withLabel = (bold: Rich, count: Rich, more: Rich): Rich => [bold, " with ", count, more, "."];
export const ofThemHaveItAlreadyAnd = (sentBefore: Value) =>
  `; ${sentBefore} of them have it already and do not get it again`;
export const everyoneWhoHasTheApp = "Everyone who has the app";
export const everyoneIn = (segment: Value) => `Everyone in the segment “${segment}”`;
export const someOfThem = "Some of them";
export const aSegmentIs = (link: Rich): Rich => ["To reach the same people repeatedly, ", link, "."];
export const saveASegment = "save a segment";
export const partOf = (link: Rich): Rich => [
  "Part of ",
  link,
  ", whose page has the results of all parts and texts.",
];
export const aScheduledSend = "a scheduled send";
export const inParts = (parts: number) => `in ${plural(parts, "part")}`;
export const narrowItDown = "Narrow it down";
export const thisNotificationWasSentBefore =
  "This notification was sent before: people who have it do not get it twice.";
export const makeItANewOne = "Make it a new one";
export const everyoneTheFormSelects = "everyone the form selects";
export const isSentToANotificationCannot = (title: Value, recipients: Value) =>
  `“${title}” is sent to ${recipients}. A notification cannot be recalled.`;
export const sendTheNotification = "Send the notification";
export const signAndSchedule = "Sign and schedule";
export const isScheduledFor = (title: Value, when: Value, recipients: Value) =>
  `“${title}” is sent at ${when}, to ${recipients}. You sign once, now. It can be cancelled until then.`;
export const asOfNow = (recipients: Value) => `${recipients} as of now`;
export const inSegment = (recipients: Value, segment: Value) => `${recipients}, in the segment “${segment}”`;
export const halfOfThemGet = (text: Value) => `Half of them get “${text}” instead.`;
export const signAndSend = "Sign and send";
export const signAndSendTo = (fids: Value) => `Sign and send to ${fids}`;
export const oneWalletSignatureNoSecretIs = "One wallet signature. No secret is needed.";
export const message = "Message";
