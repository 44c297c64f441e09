import type { Rich, Value } from "../format.ts";
import { plural } from "../format.ts";

// content/cast-row.tsx
export const countLikes = (count: number) => plural(count, "like", "likes");
export const countRecasts = (count: number) => plural(count, "recast", "recasts");
export const countReplies = (count: number) => plural(count, "reply", "replies");
export const showLess = "Show less";
export const showAll = "Show all";
export const aCastOfFid = (fid: Rich, part: Rich): Rich => ["A cast by fid ", fid, " ", part];
export const openTheThread = ", open the thread";
export const theCallOfThisCast = "API call for this cast";

// content/event-line.tsx
export const joined = "joined";
export const themselves = "themselves";
export const fid = (user: Value, fid: Value) => `${user} · fid ${fid}`;
export const inLabel = (link: Rich): Rich => [" in\u00a0", link];
export const deletedAReply = "deleted a reply";
export const deletedACast = "deleted a cast";
export const repliedTo = (part: Rich, channel: Rich): Rich => ["replied to ", part, channel];
export const cast = (channel: Rich): Rich => ["posted a cast", channel];
export const changedTheirProfile = "changed their profile";
export const anFidThatIsNotRegistered = "an fid that is not registered";
export const aCastOf = (link: Rich, who: Rich): Rich => [who, "'s ", link];
export const aCast = "cast";
export const somethingNotFoundHere = "a cast that is not on this node";
export const followed = (target: Rich): Rich => ["followed ", target];
export const unfollowed = (target: Rich): Rich => ["unfollowed ", target];
export const likedWhat = (object: Rich): Rich => ["liked ", object];
export const recastWhat = (object: Rich): Rich => ["recast ", object];
export const noLongerLikes = (object: Rich): Rich => ["unliked ", object];
export const noLongerRecasts = (object: Rich): Rich => ["no longer recasts ", object];
export const wasRegistered = "was registered as a channel";
export const changedInTheRegistry = "changed in the registry";
export const changedTheChannel = (where: Rich): Rich => ["changed ", where];
export const joinedChannel = (where: Rich): Rich => ["joined ", where];
export const leftChannel = (where: Rich): Rich => ["left ", where];
export const addedToChannel = (who: Rich, where: Rich): Rich => ["added ", who, " to ", where];
export const removedFromChannel = (who: Rich, where: Rich): Rich => ["removed ", who, " from ", where];
export const bannedFromChannel = (who: Rich, where: Rich): Rich => ["banned ", who, " from ", where];
export const unbannedFromChannel = (who: Rich, where: Rich): Rich => ["unbanned ", who, " from ", where];
export const madeModerator = (who: Rich, where: Rich): Rich => ["made ", who, " a moderator of ", where];
export const noLongerModerator = (who: Rich, where: Rich): Rich => [
  "removed ",
  who,
  " as a moderator of ",
  where,
];
export const pinnedIn = (where: Rich): Rich => ["pinned a cast in ", where];
export const unpinnedIn = (where: Rich): Rich => ["unpinned a cast in ", where];
export const hidCastIn = (where: Rich): Rich => ["hid a cast in ", where];
export const showsCastIn = (where: Rich): Rich => ["unhid a cast in ", where];
export const openIt = ", open it";

// content/face.tsx
export const countMembers = (count: number) => plural(count, "member");

// content/images.tsx
export const otherHostsSeeYourAddress = "Other hosts see your address";
export const loadImages = "Load images";
export const hideImages = "Hide images";

// content/node-state.tsx
export const people = "People";
export const casts = "Casts";
export const reactions = "Reactions";
export const follows = "Follows";
export const askingTheNode = "checking";
export const notReady = "Not ready";
export const empty = "Empty";
export const ready = "Ready";
export const whatIsMissingHereMayStill = (bold: Rich, reason: Rich): Rich => [
  bold,
  ": ",
  reason,
  ". More may still arrive.",
];
export const thisNodeIsNotReady = "This node is not ready";
export const itIsStarting = "it is starting";
export const followANode = "Follow a node";
export const importAFile = "Import a file";
export const lookAroundFirst = "Look around first";
export const fillIt = "Fill it";
export const setItUpHere = "Set it up in the browser";
export const castsAppearHereOnceItHas = (bold: Rich, reason: Rich): Rich => [
  bold,
  ": ",
  reason,
  ". Casts appear here once it has them.",
];
export const thisNodeIsEmpty = (link: Rich): Rich => ["This node is empty. ", link];
export const howToFillIt = "How to fill it";
export const noCastsInTheLast24 = (link: Rich): Rich => [
  "No casts in the last 24 hours. The ",
  link,
  " have earlier ones.",
];
export const channels = "channels";
export const percent = (percent: Value) => `${percent} percent`;
export const youMayCloseThisPageThe = (more: Rich, more2: Rich): Rich => [
  more,
  more2,
  "You can close this page: the node continues.",
];
export const ofPeopleAreHere = (done: Value, total: Value) => `${done} of ${total} people loaded. `;
export const aboutLeft = (etaSecs: Value) => `About ${etaSecs} left. `;
export const signedOperationsChangesAreRefused = "signed operations: changes are refused";
export const tokenEventsClientsRepeatThemLater = "token events: clients retry them";
export const notificationsTheyAreAcceptedAnd = "notifications: they are accepted but wait";
export const deliveriesToWebhooksTheyAreQueued = "webhook deliveries: they are queued";
export const writesNewOnesAreRefusedQueued = "writes: new ones are refused, queued ones wait";
export const sinceBecause = (bold: Rich, at: Rich, name: Rich): Rich => [
  bold,
  ", since ",
  at,
  ". Reason: ",
  name,
];
export const theOperatorHasPaused = (name: Rich): Rich => ["The operator has paused ", name];

// data/event-stream.ts
export const theNodeEndedTheStream = "the node closed the stream";

// data/request.ts
export const theNodeRespondedWith = (status: Value) => `the node responded with ${status}`;
export const theNodeCannotBeReached = "the node cannot be reached";
export const theNodeDidNotRespondWithin = (limitMs: Value) => `the node did not respond within ${limitMs} s`;
export const theNodeDidNotTryAgain = (limitMs: Value) =>
  `the node did not respond within ${limitMs} s. It may have succeeded: check before you retry`;
export const theResponseIsNotComplete = "the response is incomplete";

// demo/demo-feed.ts
export const fidOf = (fid: Value) => `fid ${fid}`;

// demo/demo-layer.tsx
export const demoPerson = "Demo person";
export const signedInAsDemo = (link: Rich): Rich => ["Signed in as ", link, " (demo)."];
export const anyoneWhoOpensThisPageCan = "Anyone who opens this page can too.";
export const signOut = (part: Rich): Rich => ["Sign out", part];
export const ofTheDemoWallet = " of the demo wallet";

// demo/wallet.ts
export const aDemoPersonsWallet = "A demo person's wallet";
export const text = "text";

// owner/operation.ts
export const anotherConfirmationIsOpenNothing = "Another confirmation is open. Nothing was sent.";
export const connectAWalletFirstNothingWas = "Connect a wallet first. Nothing was sent.";

// owner/owner-parts.tsx
export const connectAWallet = "Connect a wallet";
export const connect = "Connect";
export const youAre = (name: Rich): Rich => ["You are ", name];
export const demo = "demo";

// owner/owner.ts
export const theOperatorOfThisNodeHas = "The operator of this node has turned sessions off.";
export const thisPageCameOverPlainHttp =
  "This page was loaded over plain http from another machine, so the browser cannot sign.";

// parts/call-panel.tsx
export const theCallBehindThisView = "The call behind this view";
export const language = "Language";
export const edit = "Edit and run";

// parts/copy.tsx
export const copied = "Copied";
export const notCopied = "Not copied";
export const theBrowserBlockedCopyingSelectThe = "The browser blocked copying. Select the text instead.";
export const copy = "Copy";

// parts/dialog.tsx
export const close = "Close";

// parts/list-region.tsx
export const loadMore = (size: Value) => `Load ${size} more`;
export const newer = (count: Rich): Rich => [count, " newer"];

// parts/page-head.tsx
export const breadcrumb = "Breadcrumb";

// parts/region.tsx
export const old = (age: Value) => `${age} old`;
export const noResponse = "No response";
export const noResponseFor = (age: Value) => `No response for ${age}`;
export const loading = "Loading";
export const notOnThisNode = "Not on this node:";
export const noResponseBecause = "No response:";
export const request = (requestId: Rich): Rich => ["request ", requestId];
export const tryAgainInS = (left: Value) => `Try again in ${left} s`;
export const tryAgain = "Try again";
export const theCall = "The call";

// parts/table.tsx
export const never = "never";

// shell/app.tsx
export const searchPeopleCastsChannelsHashes = "Search people, casts, channels, hashes";
export const searchPeopleCastsChannels = "Search people, casts, channels";
export const explore = "Explore";
export const stream = "Stream";
export const manage = "Manage";
export const status = "Status";
export const main = "Main";
export const api = "API";
export const pageNotFound = "Page not found";
export const goToOrSearchForA = (link: Rich): Rich => [
  "Go to ",
  link,
  ", or search for a person, a cast or a channel above.",
];
export const keyboard = "Keyboard";
export const theme = "Theme";
export const languageOfThePage = "Language";
export const system = "System";
export const light = "light";
export const dark = "dark";
export const thisNodeRequiresAnApiKey =
  "This node requires an API key. It stays in this tab and is not stored.";
export const theNodeRefusedTheApiKey = "The node refused this API key. Try another one.";
export const whereApiKeysAreMade = "Create one with your fid";
export const useIt = "Use it";
export const theNodeWasUpdatedThisTab = "The node was updated. Reload to use the new version.";
export const theNodeDoesNotRespondThe = "The node does not respond. The page opens once it does.";
export const reload = "Reload";
export const skipToContent = "Skip to content";
export const thisPageFailed = "This page failed.";
