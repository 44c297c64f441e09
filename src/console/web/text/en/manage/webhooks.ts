import type { Rich, Value } from "../../format.ts";
import { plural } from "../../format.ts";

// manage/webhooks/chips.tsx
export const remove = (plain: Value) => `Remove ${plain}`;
export const foundFor = (label: Value) => `Found for ${label}`;
export const add = (plain: Value) => `Add ${plain}`;
export const byNameHandleOrFid = "By name, @handle or fid.";
export const fid = (value: Value) => `fid ${value}`;
export const aChannelByNameOrAny = "A channel by name, or any URL.";

// manage/webhooks/deliveries.tsx
export const waitsUntilTheWebhookIsEnabled = ", waits until the webhook is enabled";
export const retryingNow = ", retrying now";
export const nextAttempt = (time: Rich): Rich => [", next attempt ", time];
export const test = "test";
export const noAttemptYet = "no attempt yet";
export const countAttempts = (count: number) => plural(count, "attempt");
export const state = "State";
export const kind = "Kind";
export const tests = "Tests";
export const theNodeRetriesTheFailedAnd = "The node retries what failed or was dropped in the last 24 hours.";
export const nothingFailedInTheLast24 = "Nothing failed in the last 24 hours.";
export const isQueuedAgain = "Queued again.";
export const queuedAgain = (count: Value) => `${count} queued again.`;
export const countDeliveries = (count: number) => plural(count, "delivery", "deliveries");
export const deliveries = "Deliveries";
export const find = "Find";
export const findHint = "id, fid, hash or host";
export const noneOfThese = "No deliveries match.";
export const countWhatIsMissing = "Count what is missing";
export const sendMissing = (deliveries: Value) => `Send ${deliveries}`;
export const theNodeSendsWhatIsMissing =
  "The node sends what failed in this period and the events the webhook never got.";
export const nothingIsMissing = "Nothing is missing in this period.";
export const isSentInTheBackground = (deliveries: Value, more: boolean) =>
  `${more ? "At least " : ""}${deliveries} will be sent in the background.`;
export const retryFailed = "Retry failed";
export const any = "any";
export const onlyTests = "only";
export const noTests = "none";
export const noneAmongTheNewestThereMay = "None among the newest deliveries. “Load more” checks older ones.";
export const noDeliveriesYetSendATest = "No deliveries yet. “Send a test” queues one of each kind.";
export const webhooks = "Webhooks";
export const webhook = "Webhook";
export const delivery = (messageId: Value) => `Delivery ${messageId}`;
export const deliveryTitle = "Delivery";
export const attempts = "Attempts";
export const isAttempted = (attempts: Value, span: Value) =>
  `Up to ${attempts} attempts within ${span}, later if the receiver asks for it (webhooks.retry_max_attempts, retry_initial_backoff_ms). A failed delivery is retained for 7 days and can be sent again.`;
export const noAttemptYetSentence = "No attempt yet.";
export const theRequest = "The request";
export const headersOfTheRequest = "Headers of the request";
export const bodyOfTheRequest = "Body of the request";
export const responseToAttempt = (number: Value) => `Response to attempt ${number}`;
export const theNodeSendsThisDeliveryAgain = "The node sends this delivery again, under the same id.";
export const queued = (time: Rich, more: Rich): Rich => ["queued ", time, more];
export const sendAgain = "Send again";

// manage/webhooks/filter-builder.tsx
export const idsOfRegisteredChannels = "Ids of registered channels, separated by spaces.";
export const n0xAnd40HexDigitsWith = "0x and 40 hex digits, separated by spaces.";
export const foundAnywhereIIgnoresCase = "Found anywhere; (?i) ignores case.";
export const what = "What";
export const ofTheseFilters = "Of these filters";
export const removeThisFilter = "Remove this filter";
export const thisIsNotJsonYet = "This is not JSON yet.";
export const theFormHasAProblemWhat = "The form has a problem. This JSON replaces it.";
export const changesHereChangeTheForm = "Edits here update the form.";
export const subscriptionAsJson = "Subscription as JSON";
export const filter = "Filter";
export const whichEvents = "Which events";
export const json = "JSON";
export const addAFilterForOtherKinds = "Add a filter for other kinds";

// manage/webhooks/filter-state.ts
export const chooseAtLeastOneKindOf = "Choose at least one kind of event";
export const isNotInTheFilterChoose = (text: Value) =>
  `“${text}” is not in the filter: choose a match, or clear it`;
export const hasAnotherFilterAbove = (kind: Value) => `${kind} has another filter above`;
export const hasNoSuchFilterClearIt = (foreign: Value, foreign2: Value) =>
  `${foreign} has no such filter: clear it, or give ${foreign2} a filter of its own`;
export const aSubscriptionIsAnObjectKinds =
  "A subscription is an object: kinds of events, each with its filter.";
export const isNotAKindOfEvent = (key: Value) => `${key} is not a kind of event.`;
export const appearsTwice = (kind: Value) => `${kind} appears twice.`;
export const aSubscriptionNamesAtLeastOne = "A subscription names at least one kind of event.";
export const needsAnObjectForAllEvents = (kind: Value) =>
  `${kind} needs an object, {} for all events of the kind.`;
export const matchIsAllOrAny = (kind: Value) => `${kind}.match is "all" or "any".`;
export const isNotAFilterOf = (name: Value, kind: Value) => `${name} is not a filter for ${kind}.`;
export const isNotValid = (kind: Value, name: Value, value: Value) =>
  `${kind}.${name} is not valid: ${value}.`;
export const excludeIsAnObject = "“exclude” is an object with “fids” and “bans”.";
export const aNumberFrom0To1 = "a number from 0 to 1";
export const aListOfFids = "a list of fids";
export const aListOfCastHashes = "a list of cast hashes";
export const aListOfUrls = "a list of URLs";
export const aListOfChannelIds = "a list of channel ids";
export const anRe2ExpressionAsText = "an RE2 expression as text";

// manage/webhooks/filter-words.tsx
export const newCasts = "new casts";
export const deletedCasts = "deleted casts";
export const newLikesAndRecasts = "new likes and recasts";
export const removedLikesAndRecasts = "removed likes and recasts";
export const newFollows = "new follows";
export const endedFollows = "ended follows";
export const newUsers = "new users";
export const changedProfiles = "changed profiles";
export const newChannels = "new channels";
export const changedChannels = "changed channels";
export const newMembers = "new channel members";
export const endedMemberships = "ended channel memberships";
export const newBans = "new channel bans";
export const endedBans = "lifted channel bans";
export const newModerators = "new channel moderators";
export const endedModerators = "channel moderators who became members";
export const newPins = "new channel pins";
export const endedPins = "removed channel pins";
export const newFollowsOfChannels = "new channel follows";
export const endedFollowsOfChannels = "ended channel follows";
export const moderatedCasts = "casts hidden in channels or shown again";
export const by = "by";
export const thatMention = "that mention";
export const whoseTextMatches = "whose text matches";
export const withAnEmbeddedUrlThatMatches = "with an embedded URL that matches";
export const inLabel = "in";
export const inThreadsOf = "in threads of";
export const inReplyTo = "in reply to";
export const thatQuote = "that quote";
export const thatConcern = "that concern";
export const of = "of";
export const fewOrNone = "few or none";
export const about = (count: Value, unit: Value) => `about ${count} ${unit}`;
export const perUnit = { minute: "a minute", hour: "an hour", day: "a day" } as const;
export const or = "or";
export const and = "and";
export const howManyToExpectIsNot = "No estimate yet: “Try it” counts matches among past events.";
export const howManyToExpectThemAmong = "No estimate: the node has no past events to count.";
export const expectOfTheLastEventsMatch = (bold: Rich, matched: Rich, scanned: Rich): Rich => [
  "Expect ",
  bold,
  ": ",
  matched,
  " of the last ",
  scanned,
  " events match.",
];
export const more = (more: Value) => `${more} more`;
export const withoutAFilter = (bold: Rich): Rich => [bold, ", without a filter."];
export const allOfTheNetwork = (joined: Rich): Rich => ["All ", joined, " of the network"];
export const butNotBy = (more: Rich, values: Rich): Rich => [more, "but not by ", values];
export const theseEvents = "These events:";
export const butNotOf = "Exclude";
export const users = "Users";
export const usersThatYouBan = "Users you ban";
export const aScoreFrom0To1OnNodes = "From 0 to 1, where the operator lets scores decide.";
export const ofAuthorsWithAScoreOf = (score: Value) => `, by authors with a score of ${score} or more`;
export const butNotOfListed = (listed: number, bans: boolean) =>
  `Except events by ${[
    ...(listed > 0 ? [listed === 1 ? "1 listed user" : `${listed} listed users`] : []),
    ...(bans ? ["users you ban"] : []),
  ].join(" and ")}.`;

// manage/webhooks/new.tsx
export const newWebhook = "New webhook";
export const createAWebhook = "Create a webhook";
export const theNodeWillSendEventsTo = (url: Value, fid: Value) =>
  `The node will send events to ${url} for fid ${fid}, from now on, signed with a new secret.`;
export const webhookCreated = "Webhook created.";
export const signAndCreate = "Sign and create";
export const webhookCreatedTitle = "Webhook created";
export const copyItsSecretNow = "Copy its secret now";
export const yourReceiverVerifiesEachRequest =
  "Your receiver verifies each request with it. This page forgets it when you leave; “Reveal” on the webhook's page shows it again, for one signature.";
export const openTheWebhook = "Open the webhook";

// manage/webhooks/overview.tsx
export const median = "median";
export const failed = "failed";
export const delivered = "delivered";
export const health = "Health";
export const settings = "Settings";
export const n7Days = "7 days";
export const theNodeSendsEventsToThis = "The node sends events to this webhook again.";
export const deliveriesArePausedUntilYouRe = "Deliveries are paused until you re-enable this webhook.";
export const webhookEnabled = "Webhook enabled.";
export const webhookDisabledQueuedDeliveries = "Webhook disabled. Queued deliveries wait.";
export const theNodeSendsAMadeUp = "The node sends a made-up event of each subscribed kind to this webhook.";
export const areQueued = (count: Value) => `${count} queued.`;
export const countTestEvents = (count: number) => plural(count, "test event");
export const youDisabledItNothingIsSent = "You disabled it. Nothing is sent, and no events are queued.";
export const theNodeDeactivatedIt = "The node deactivated it";
export const noReasonIsKnown = "no reason is known";
export const enable = "Enable";
export const to = (keys: Rich, name: Rich): Rich => [keys, " to ", name];
export const sendATest = "Send a test";
export const disable = "Disable";
export const facts = "Facts";
export const lastSuccess = "Last success";
export const lastFailure = "Last failure";
export const consecutiveFailures = "Consecutive failures";
export const theNodeDisablesItAfterA = (consecutiveFailures: Value) =>
  `${consecutiveFailures}; the node disables it after a hundred over a day`;
export const queuedTitle = "Queued";
export const dropped = "Dropped";
export const afterMoreThan15MinutesIn = (droppedDeliveries: Value) =>
  `${droppedDeliveries}, after more than 15 minutes in the queue`;
export const history = "History";
export const timeSpan = "Time span";
export const responseTimeOfTheReceiver = "Response time of the receiver";
export const noAttemptsInThisPeriodSend = "No attempts in this period. “Send a test” makes some.";

// manage/webhooks/preview.tsx
export const author = "Author";
export const theKindOfEvent = "the kind of event";
export const everyFieldWhereAnyWouldDo = "every field, where any one would do";
export const excludedByField = (count: Value, field: Value) => `${count} excluded by “${field}”`;
export const byField = (count: Value, field: Value) => `${count} by “${field}”`;
export const noneMatch = "None match.";
export const n1Matches = "1 matches.";
export const theNodeHasNoEventsTo = "The node has no events to try it on yet. Events are kept for a day.";
export const match = (matched: Value) => `${matched} match.`;
export const theLastEventsTheOldest = (scanned: Rich, from: Rich): Rich => [
  " The last ",
  scanned,
  " events, the oldest ",
  from,
  ".",
];
export const samples = "Samples";
export const theBodiesAsYourReceiverGets = "Bodies as your receiver gets them";
export const bodiesOfTheSamples = "Sample bodies";
export const preview = "Preview";
export const previewOnPastEvents = "Preview on past events";
export const tryAgain = "Try again";
export const tryIt = "Try it";
export const theFilterIsNotCompleteWhat = "The filter is incomplete. Missing parts are marked.";
export const tryingItNow = "Trying it now.";
export const tryItShowsWhatItWould = "“Try it” shows what it would have caught. Nothing is sent.";

// manage/webhooks/webhook-form.tsx
export const receiver = "Receiver";
export const nothingWasSentTheFilterHas = "Nothing was sent: the filter has a problem, which is marked.";
export const revealTheSecrets = "Reveal the secrets";
export const thisPageWillShowTheSecrets =
  "This page will show the secrets of the webhook until you leave it.";
export const rotateTheSecret = "Rotate the secret";
export const theWebhookGetsANewSecret =
  "The webhook gets a new secret. The current one also signs during the grace period, so your receiver can switch without a gap.";
export const deleteTheWebhook = "Delete the webhook";
export const theWebhookItsQueueAndIts =
  "The webhook, its queue and its deliveries are deleted. This cannot be undone.";
export const deletingItEndsAllDeliveriesAlso = "Deleting it ends all deliveries, including queued ones.";
export const changeTheWebhook = "Change the webhook";
export const itsWillChangeForEventsFrom = (value: Value) =>
  `Its ${value} will change, for events from now on.`;
export const nothingHasChanged = "Nothing has changed.";
export const signAndSave = "Sign and save";

// manage/webhooks/webhooks.tsx
export const url = "URL";
export const httpsOnAPublicHostIt =
  "https, on a public host. It gets a POST for each event and must respond with 2xx within 10 seconds.";
export const name = "Name";
export const forYouAtMost128Characters = "Only for you; at most 128 characters.";
export const description = "Description";
export const optional = "Optional.";
export const noResponse = "no response";
export const yourWebhooks = "Your webhooks";
export const noWebhooksYetAWebhookSends = (link: Rich, more: Rich): Rich => [
  "No webhooks yet. A webhook sends you events as they happen: ",
  link,
  " and see what it would have matched",
  more,
  ".",
];
export const buildAFilter = "build a filter";
export const orStartFromWhatYouSee = (link: Rich): Rich => [", or start from what you see in ", link];
export const theStream = "the stream";
export const countQueued = (queuedDeliveries: Value) => `${queuedDeliveries} queued`;
export const deactivated = "Deactivated";
export const disabled = "Disabled";
export const pausedByTheOperator = "Paused by the operator";
export const failing = "Failing";
export const waiting = "Waiting";
export const delivering = "Delivering";
export const deliveryStates = {
  queued: "queued",
  delivered: "delivered",
  failed: "failed",
  dropped: "dropped",
} as const;
export const retrying = "retrying";
