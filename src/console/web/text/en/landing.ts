import type { Rich, Value } from "../format.ts";
import { plural } from "../format.ts";

// explore/home.tsx
export const goTo = "Go to";
export const nameFidHashChannel = "@name, fid, hash, /channel";
export const open = "Open";
export const alsoAnAddressOrALink = "Also an address, or a link to a cast, a person or a channel.";
export const explore = "Explore";
export const trendingNow = "Trending now";
export const channels = "Channels";
export const all = "All";
export const noChannelIsBusyToday = (link: Rich): Rich => ["No channel is busy today. ", link];
export const allChannels = "All channels";
export const mostFollowedHere = "Most followed here";
export const noOneYet = "No one yet.";

// landing.tsx
export const live = "Live";
export const stream = "stream";
export const connecting = "connecting";
export const showNew = (count: number) => `Show ${count} new`;
export const aDemoNetworkIsIdleUntil = "A demo network is idle until you start something. ";
export const connectedTheNextEventOfThe = "Connected. The next event of the network appears here. ";
export const openTheStream = "Open the stream";
export const oneClickFiveCalls = "One click, five calls";
export const buzz25Phones = "Buzz 25 phones";
export const theirPhonesAreQuiet = "25 phones are waiting for a push.";
export const aDemoPersonSigns = "A demo person signs each call: no wallet, no dialog.";
export const STORY_STEPS = {
  session: "Sign in as Mira Wren",
  app: "Register an app",
  people: "25 people add it",
  send: "Send “Fresh bread”",
  delivery: "Deliver a webhook",
} as const;
export const demoNetwork = "demo network";
export const andCopyTheCallBehindAny = " and copy the call behind any view.";
export const copyTheCallBehindAnyView = ", copy the call behind any view, or send a push.";
export const copyTheCallBehindFromHere =
  ", copy the call behind any view, and run your mini apps and webhooks from here.";
export const thisNodeIsEmptyItHas =
  "This node is empty: it has no people and no casts, and it follows no other node.";
export const toFillItChooseOneOf = "To fill it, choose one of the ways below.";
export const itIsStillEmptyPeopleAnd = "It is still empty: people and casts are on their way.";
export const andAreInOneFileNext = (count: Value, count2: Value) =>
  `${count} and ${count2} are in one local SQLite file.`;
export const countPeople = (count: number) => plural(count, "person", "people");
export const countCasts = (count: number) => plural(count, "cast");
export const peopleCastsAndChannelsAreIn = "People, casts and channels are in one local SQLite file.";
export const browseThem = (leadOf: Rich): Rich => ["Browse them", leadOf];
export const readingThemTakesAnApiKey = "Reading them takes an API key.";
export const now = "Now";
export const medianLatency = "Median latency";
export const messagesLast5Min = "Messages, last 5 min";
export const theLastStepsOfSeconds = (length: Value, stepSecs: Value) =>
  `The last ${length} steps of ${stepSecs} seconds`;
export const allTrending = "All trending";
export const peopleThreadsChannelsAndSearchEach =
  "People, threads, channels and search, each with the API call behind it.";
export const sendAPush = "Send a push";
export const registerAMiniAppSeeYour = "Register a mini app, see your audience grow, preview and send.";
export const catchEvents = "Catch events";
export const buildAWebhookFilterByClicking =
  "Build a webhook filter by clicking and try it on the last 1,000 events.";
export const aFarcasterNodeOfYourOwn = "A Farcaster node of your own.";
export const tryItAsADemoPerson = "Try it as a demo person";
export const exploreTheNetwork = "Explore the network";
export const readTheApi = "Read the API →";
