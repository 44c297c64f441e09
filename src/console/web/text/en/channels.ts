import type { Rich, Value } from "../format.ts";

// explore/channels.tsx
export const explore = "Explore";
export const channels = "Channels";
export const findAChannel = "Find a channel";
export const allChannelsByName = "All channels, by name";
export const channelsFound = "Channels found";
export const noChannelsYetAChannelBegins = "No channels yet. A channel begins with its first cast.";
export const noChannelsFound = "No channels found.";
export const casts = "Casts";
export const members = "Members";
export const moderation = "Moderation";
export const channel = "Channel";
export const about = "About";
export const noCastsInThisChannelAll = "No casts in this channel.";
export const noMembersYet = "No members yet.";
export const onlyRegisteredChannelsAreModerated =
  "This channel is not registered, so no one can hide casts in it or ban users from it.";
export const followers = "Followers";
export const firstCast = "First cast";
export const parentUrl = "Parent URL";
export const lead = "Lead";
export const thisChannelDoesNotExistHere = "This channel does not exist here yet.";
export const aChannelBeginsWithTheFirst = (part: Rich): Rich => [
  "A channel begins with the first cast whose parent URL is that of the channel, such as ",
  part,
  ". It needs no registration.",
];
export const httpsFarcasterXyzChannel = (value: Rich): Rich => ["https://farcaster.xyz/~/channel/", value];
export const searchTheChannels = "Search the channels";

// explore/channel-parts.tsx
export const owner = "Owner";
export const moderator = "Moderator";
export const member = "Member";
export const moderators = "Moderators";
export const ownerModeratorsAndMembers = "Owner, moderators and members";
export const noOneHasARoleHere = "No one has a role in this channel.";
export const byWhom = (who: Rich): Rich => ["by ", who];
export const hidden = "Hidden";
export const shownAgain = "Shown again";
export const noCastWasHiddenHere = "No cast was hidden in this channel.";
export const banned = "Banned";
export const noOneIsBannedHere = "No one is banned from this channel.";
export const pinned = "Pinned";
export const nothingIsPinned = "Nothing is pinned.";
export const theNodeDoesNotHaveTheCast = (hash: Rich): Rich => [
  "The node does not have the cast ",
  hash,
  ".",
];
export const registered = "Registered";
export const imported = "Imported";
export const fromItsCasts = "From its casts";
export const lapsed = "Registration lapsed";
export const everyone = "everyone";
export const membersOnly = "members only";
export const recommended = "recommended casts";
export const everyoneMayJoin = "anyone can join";
export const byModerators = "added by the owner or a moderator";
export const whoCasts = "Who can cast";
export const newMembers = "New members";
export const registeredAt = "Registered at";
export const registeredUntil = "Registered until";
export const ownersAddress = "Owner's address";
export const idOfTheProtocol = "Protocol id";
export const id = "Id";
export const header = "Header";
export const rules = "Rules";

// explore/channel-actions.tsx
export const follow = "Follow";
export const unfollow = "Unfollow";
export const connectToFollow = "Connect to follow";
export const youFollowNow = "You now follow this channel.";
export const youNoLongerFollow = "You no longer follow this channel.";
export const itIsOnItsWay = "It is on its way to the network.";
export const followTheChannel = (name: Value) =>
  `One of your managed signers likes the token of ${name}: that is a follow. It is public.`;
export const unfollowTheChannel = (name: Value) =>
  `One of your managed signers removes your like of ${name}'s token: that ends the follow.`;
export const thisNodeHasNoSignerOfYours =
  "You have no approved signer here that may write this. Approve one for an app that uses this node, then try again.";
export const yourSigners = "Your signers";
export const useTheDemoKey = "Give the node this demo person's key";
export const theNodeHasTheKeyNow = "The node now has the key. Try again.";
export const theDemoKeyIsImported =
  "The node stores the key of this demo person as a managed signer. Keys of the demo network are public.";
export const parked = "Parked";
export const verifyTheAddressAgain = (address: Rich): Rich => [
  "This channel is waiting for its owner: since channels joined the protocol, no one has verified ",
  address,
  ". Until someone does, no one can change it.",
];
export const youHaveVerifiedItBefore = "You have verified this address before.";
export const ifItIsYours = "If the address is yours, verify it again.";
export const verifyAgain = "Verify again";
export const connectToVerify = "Connect to verify";
export const theAddressSignsTheClaim = (address: Value, fid: Value) =>
  `${address} has signed that it belongs to fid ${fid}. One of your managed signers publishes that; the address's channels are then yours.`;
export const theAddressIsVerified = "The address is verified: the channel is yours.";
