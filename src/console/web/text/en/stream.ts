import type { Rich, Value } from "../format.ts";
import { plural } from "../format.ts";

// stream/filter-form.tsx
export const filterGroups = {
  Who: "Who",
  Content: "Content",
  Where: "Where",
  Quotes: "Quotes",
  Target: "Target",
  Channels: "Channels",
} as const;
export const allMustMatch = "all must match";
export const anyMayMatch = "any may match";
export const fidsOrNamesWithSpacesBetween = "Fids or @names, separated by spaces.";
export const n0xAnd40HexDigits = "0x and 40 hex digits.";
export const oneOrMoreWithSpacesBetween = "One or more, separated by spaces.";
export const idsOfChannelsWithSpacesBetween = "Channel ids, separated by spaces.";
export const aRegularExpressionRe2FoundAnywhere =
  "A regular expression (RE2), found anywhere; (?i) ignores case.";
export const kindsOfEvents = "Kinds of events";
export const withNoneTickedYouSeeEvery =
  "With none ticked, you see every kind that the filters below apply to.";
export const whenThereAreSeveralFilters = "When there are several filters";
export const showThese = "Show these";
export const showAll = "Show all";
export const isNotANameThatThis = (text: Value) => `${text} is not a name that this node knows`;

// stream/filters.ts
export const author = "Author";
export const butNotTheCastsOf = "Except casts by";
export const butNoEventsOf = "Except events by";
export const leastScoreOfTheAuthor = "Minimum author score";
export const aNumberFrom0To1OnNodes = "From 0 to 1, on nodes whose operator lets scores decide";
export const isNotAScore = (value: string) => `${value} is not a number from 0 to 1`;
export const mentions = "Mentions";
export const textRe2 = "Text (RE2)";
export const embeddedUrlRe2 = "Embedded URL (RE2)";
export const parentUrl = "Parent URL";
export const parentUrlOfTheThread = "Parent URL of the thread";
export const repliesToCasts = "Replies to casts";
export const repliesToPeople = "Replies to people";
export const quotesCasts = "Quotes casts";
export const quotesPeople = "Quotes people";
export const followsOrReactsToPeople = "Follows or reacts to people";
export const reactsToCasts = "Reacts to casts";
export const changesOfChannels = "Changes to channels";
export const concernsPeople = "Changes that concern people";
export const isNotAnFidOrName = (value: Value) => `${value} is not an fid or @name`;
export const isNot0xAnd40Hex = (value: Value) => `${value} is not 0x and 40 hex digits`;
export const allEvents = "All events";
export const filteredBy = (kinds: Value, fields: Value) => `${kinds}, filtered by ${fields}`;

// stream/stream.tsx
export const pause = "Pause";
export const resume = "Resume";
export const stream = "Stream";
export const ofThisTime = "In this period";
export const noEventsOfThisTime = "No events in this period match, or the node no longer has them.";
export const partsOfThisTime = "Parts of this period";
export const fromToOf = (first: Value, last: Value, all: Value) => `${first} to ${last} of ${all}`;
export const onlyTheLastOfThisTime = (count: Value, all: Value) =>
  `These are the last ${count} of about ${all} events, or the matching ones. Choose a shorter period for earlier ones.`;
export const older = "Older";
export const newer = "Newer";
export const makeThisAWebhook = "Make this a webhook";
export const countNewEvents = (count: number) => plural(count, "new event");
export const filter = (part: Rich): Rich => ["Filter ", part];
export const events = "Events";
export const inTheLastMinute = (perMinute: Value) => `${perMinute} in the last minute`;
export const aDemoNetworkIsIdleUntil = "A demo network is idle until you start something.";
export const eventsAreMissingHereTheNode = (gapAtMs: Rich): Rich => [
  "Events are missing here: the node no longer has them. ",
  gapAtMs,
];
export const thePageKeepsTheLast = (maxRows: Rich): Rich => ["The page keeps the last ", maxRows, " events."];
export const paused = "Paused";
export const connected = "Connected";
export const notConnected = "Not connected";
export const connecting = "Connecting";
export const pausedContinueAndItResumesAfter =
  "Paused. “Resume” continues after the last event that you see: you miss nothing.";
export const connectedTheNextEventAppearsHere = (more: Rich): Rich => [
  "Connected. ",
  more,
  "The next event appears here as it happens.",
];
export const noneOfTheLastEventsMatches = (maxRows: Value) => `None of the last ${maxRows} events matches. `;
export const connectedLastEventAgo = (atMs: Rich): Rich => ["Connected, last event ", atMs, " ago."];
