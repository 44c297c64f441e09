import type { Rich, Value } from "../format.ts";
import { plural } from "../format.ts";

// explore/cast.tsx
export const loading = "Loading";
export const theCastThatThisRepliesTo = (link: Rich): Rich => [
  "The cast this replies to is not here: removed, pruned or never seen. ",
  link,
];
export const itsPage = "Its page";
export const showWhatItRepliesTo = "Show what it replies to";
export const showEarlierCasts = "Show earlier casts";
export const startOfTheThread = "Start of the thread";
export const replies = "Replies";
export const quotes = "Quotes";
export const whoLiked = "Who liked";
export const rawJson = "Raw JSON";
export const aboutThisCast = "About this cast";
export const explore = "Explore";
export const cast = "Cast";
export const castBy = (author: Value) => `Cast by ${author}`;
export const reply = "Reply";
export const noRepliesYet = "No replies yet.";
export const theApiHasThe50Oldest = (count: Rich): Rich => [
  count,
  ": the API has the 50 oldest of a cast, 500 of a thread.",
];
export const countMoreReplies = (count: number) => plural(count, "more reply", "more replies");
export const thisCastIsNotHere = "This cast is not here";
export const thisIsNotTheHashOf = "This is not the hash of a cast";
export const itWasRemovedPrunedOrThis = "It was removed, pruned, or this node has never seen it. ";
export const aHashIs0xAnd40 = "A hash is 0x and 40 hexadecimal digits. ";
export const noQuotesYet = "No quotes yet.";
export const noLikesYet = "No likes yet.";

// explore/channels.tsx, and pages like it
export const channels = "Channels";
export const noChannelsFound = "No channels found.";
export const casts = "Casts";
export const followers = "Followers";

// explore/person-tabs.tsx
export const replied = "replied";
export const liked = "liked";
export const recast = "recast";
export const added = "Added";
export const removed = "Removed";
export const resetByTheAdministrator = "Reset by the administrator";
export const block = (blockNumber: Rich): Rich => ["block ", blockNumber];
export const recoveryBy = (recoveryAddress: Value) => `, recovery by ${recoveryAddress}`;
export const registeredTo = (to: Value, recovery: Value) => `Registered to ${to}${recovery}`;
export const movedFromTo = (from: Value, to: Value) => `Moved from ${from} to ${to}`;
export const recoveryAddressIsNow = (recoveryAddress: Value) => `Recovery address is now ${recoveryAddress}`;
export const andMore = (others: Value) => ` and ${others} more`;
export const followed = (who: Rich): Rich => [who, " followed"];
export const likedOrRecast = "liked or recast";
export const thisCast = (who: Rich, verb: Rich): Rich => [who, " ", verb, " this cast"];
export const mentionedThisPerson = "mentioned this person";
export const noCastsYet = "No casts yet.";
export const popular = "Popular";
export const likes = "Likes";
export const noLikesYetOrTheLiked = "No likes yet, or the liked casts were deleted.";
export const noFollowersYet = "No followers yet.";
export const following = "Following";
export const notFollowingAnyoneYet = "Not following anyone yet.";
export const mutuals = "Mutuals";
export const noMutualFollowsYet = "No mutual follows yet.";
export const noCastsInAChannelYet = "No casts in a channel yet.";
export const notifications = "Notifications";
export const noMentionsRepliesReactionsOrNew = "No mentions, replies, reactions or new followers.";
export const keys = "Keys";
export const noKeyWasEverAddedOn =
  "No key was ever added on chain: this person's casts, if any, are signed by keys added otherwise.";
export const registry = "Registry";
export const noRegistryEvents = "No registry events.";

// explore/person.tsx
export const custody = (part: Rich, more: Rich): Rich => ["custody ", part, more];
export const verified = (length: Value) => `, ${length} verified`;
export const custodyAddress = "Custody";
export const unknown = "unknown";
export const verifiedAddressesShort = "Verified";
export const registered = "Registered";
export const userAndFid = (user: Rich, fid: Rich): Rich => [user, " · fid ", fid];
export const countFollowing = (bold: Rich): Rich => [bold, " following"];
export const countFollowers = (bold: Rich): Rich => [bold, " followers"];
export const pro = "pro";
export const reactions = "Reactions";
export const follows = "Follows";
export const verifiedAddresses = "Verified addresses";
export const profile = "Profile";
export const names = "Names";
export const lentStorage = "Lent storage";
export const of = (used: Rich, capacity: Rich): Rich => [used, " of ", capacity];
export const storage = "Storage";
export const countUnits = (count: number) => plural(count, "unit");
export const fid = (who: Value) => `fid ${who}`;
export const mutualFollows = "Mutual follows";
export const all = "All";
export const notFound = (shown: Value) => `${shown} not found`;
export const noPersonNamedHere = (shown: Value) => `No person named ${shown} here`;
export const theFidIsNotRegisteredOr = "The fid is not registered, or this node does not follow it.";
export const theNameWasNeverRegisteredWas =
  "The name was never registered, was released, or belongs to a person that this node does not follow.";
export const searchForIt = "Search for it";
export const didYouMean = "Did you mean";

// explore/search.tsx
export const people = "People";
export const search = "Search";
export const searchIn = "Search in";
export const open = (value: Rich): Rich => ["Open ", value];
export const nothingFoundForThisHashAddress = "Nothing found for this hash, address or link.";
export const peopleWithThisAddress = "People with this address";
export const noPeopleFound = "No people found.";
export const noCastsFound = "No casts found.";
export const allOf = (kind: Rich): Rich => ["All ", kind];
export const whatSearchFinds = "What search finds";
export const thatHaveEveryWordInAny = (bold: Rich): Rich => [
  bold,
  ' that have every word, in any order; the last may be the start of one. "Two words" in quotes are a phrase. Other forms of a word and misspelled words are not found.',
];
export const byTheBeginningOfAName = (bold: Rich, bold2: Rich): Rich => [
  bold,
  " by the start of a word in their username or display name, with or without accents. ",
  bold2,
  " by their name.",
];
export const aFidNameChannelHashAddress =
  "An fid, @name, /channel, hash, address or a client's link opens its page.";
export const typeAboveWordsOfACast =
  "Type above: words of a cast, a name, a channel; or paste a hash, an address or a link.";
