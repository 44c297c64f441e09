import { claimsInTransit, fidOfOwner } from "../../db/index/channels/owner-claims.ts";
import { channelKeysAfter, findRegistration, settingsIn } from "../../db/index/channels/registrations.ts";
import { type SlotRow, slotsOfChannel, slotsOfFid } from "../../db/index/channels/slots.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { channelIdOfKey } from "../../protocol/channels/registrations.ts";
import { ChannelSlotKind, MemberState, modesOf, SlotState } from "../../protocol/channels/slots.ts";
import { CastingMode, MembershipMode } from "../../protocol/wire/generated/message.ts";
import {
  ChannelRegisterEventType,
  OnChainEvent,
  OnChainEventType,
} from "../../protocol/wire/generated/on-chain.ts";
import type { ChannelMetadataResponse } from "../../protocol/wire/generated/reads.ts";
import { readPages } from "../calls/pages.ts";
import { type ReportedChannel, readChannel } from "../fill/read-channels.ts";
import { replayedSeqnum } from "../fill/replayed.ts";
import { storedEvents } from "../fill/stored.ts";
import { UpstreamPositions } from "../positions.ts";
import { compareInRounds, type Differences, setDifferences } from "./rounds.ts";
import { type ComparisonDeps, sampleOf } from "./verify-sample.ts";

/** Disagreements between the upstream and the index about channels. */
export interface ChannelsReport {
  /** Number of registrations that were compared: all of the network. */
  readonly registrations: number;
  readonly compared: number;
  /** The channels that differ, by their keys. Differences in the list of registrations are under an empty key. */
  readonly differences: readonly ChannelDifferences[];
}

export interface ChannelDifferences extends Differences {
  readonly key: string;
}

/** Which channels are compared: random ones, or those in which these fids own, have or had a role. */
export type ChannelChoice = { readonly sample: number } | { readonly fids: readonly number[] };

/**
 * Compares all registrations, and the owners, settings, members, pins and hidden casts of some channels. The index may have
 * decisions of shard 0 earlier than the data shards of the upstream; these do not count as differences.
 *
 * @param random returns 0 to 1, like `Math.random`.
 * @throws the errors of the calls.
 */
export async function compareChannels(
  comparison: ComparisonDeps,
  choice: ChannelChoice,
  random: () => number,
): Promise<ChannelsReport> {
  const { client, db } = comparison;
  const { keys, events } = await registeredKeys(comparison);
  const chosen =
    "sample" in choice
      ? sampleOf(keys, choice.sample, random)
      : await channelsOfFids(comparison, choice.fids, keys);
  const lagOf = async (): Promise<Lag> => {
    const replayed = await replayedSeqnum(client);
    return { replayed, isBehind: (new UpstreamPositions(db).seqnum ?? 0) > replayed };
  };
  const compare = async (key: string | typeof LIST, lag: Lag) =>
    key === LIST
      ? { key: "", ...(await compareList(comparison, lag)) }
      : { key, ...(await compareChannel(comparison, key, lag)) };
  const differences = await compareInRounds([LIST, ...chosen], comparison, lagOf, compare);
  return {
    registrations: events,
    compared: chosen.length,
    differences: differences.toSorted((a, b) => (a.key < b.key ? -1 : 1)),
  };
}

const LIST = Symbol("the list of registrations");
const REGISTER = OnChainEventType.EVENT_TYPE_CHANNEL_REGISTER;
const KEYS_PER_PAGE = 10_000;

/** How far the data shards of the upstream lag. */
interface Lag {
  readonly replayed: number;
  /** Whether the index has events of shard 0 that they lack. */
  readonly isBehind: boolean;
}

/** Returns the keys of every channel that either side has, and the number of registrations. */
async function registeredKeys({ client, db }: ComparisonDeps): Promise<{ keys: string[]; events: number }> {
  const keys = new Set<string>();
  const received = await client.channels.registrations();
  for (const bytes of received) {
    const { body } = OnChainEvent.decode(bytes);
    const event = body?.$case === "channelRegisterEventBody" ? body.value : undefined;
    if (event?.eventType === ChannelRegisterEventType.CHANNEL_REGISTER_EVENT_TYPE_REGISTER)
      keys.add(event.channelKey);
  }
  for (let last: string | undefined, page = channelKeysAfter(db, last, KEYS_PER_PAGE); page.length > 0; ) {
    for (const key of page) keys.add(key);
    last = page.at(-1);
    page = channelKeysAfter(db, last, KEYS_PER_PAGE);
  }
  return { keys: [...keys], events: received.length };
}

/** Returns the keys of the channels that have a slot for one of the fids or belong to one, on either side. */
async function channelsOfFids(
  { client, db }: ComparisonDeps,
  fids: readonly number[],
  known: readonly string[],
): Promise<string[]> {
  const keys = new Set<string>();
  // A node older than channels does not serve these lists.
  if (known.length === 0) return [];
  const ids: Uint8Array[] = [];
  for (const fid of fids) {
    for await (const page of readPages((token) => client.channels.ownedBy(fid, token)))
      for (const { channelKey } of page) keys.add(channelKey);
    for await (const page of readPages((token) => client.channels.membershipsOf(fid, token)))
      ids.push(...page.map(({ channelId }) => channelId));
    ids.push(...slotsOfFid(db, fid));
  }
  for (const id of ids) {
    const key = findRegistration(db, id)?.key;
    if (key !== undefined) keys.add(key);
  }
  return [...keys];
}

/** Compares the registrations byte by byte. */
async function compareList({ client, db }: ComparisonDeps, { isBehind }: Lag): Promise<Differences> {
  const received = (await client.channels.registrations()).map((bytes) => OnChainEvent.decode(bytes));
  const theirs = new Set(received.map((event) => OnChainEvent.encode(event).finish().toHex()));
  const stored = new Set(storedEvents(db, 0, REGISTER).keys());
  const { missing, extra } = setDifferences(theirs, stored, (hex) => hex);
  const newest = Math.max(0, ...received.map(({ blockNumber }) => blockNumber));
  const isArriving = ({ blockNumber }: OnChainEvent) => isBehind && blockNumber >= newest;
  const decoded = (hex: string) => OnChainEvent.decode(Buffer.from(hex, "hex"));
  return {
    missing: missing.map((hex) => nameOfEvent(decoded(hex))),
    extra: extra
      .map(decoded)
      .filter((event) => !isArriving(event))
      .map(nameOfEvent),
  };
}

function nameOfEvent({ blockNumber, logIndex, body }: OnChainEvent): string {
  const event = body?.$case === "channelRegisterEventBody" ? body.value : undefined;
  const channel = event && `0x${event.label.toHex()}`;
  return `${ChannelRegisterEventType[event?.eventType ?? 0]} of ${channel} in block ${blockNumber}, log ${logIndex}`;
}

/** Facts about a channel, by subject; undefined for what a side knows not to exist. */
type Facts = Map<string, { readonly text: string | undefined; readonly isArriving?: boolean }>;

async function compareChannel({ client, db }: ComparisonDeps, key: string, lag: Lag): Promise<Differences> {
  const channelId = channelIdOfKey(key);
  const reported = await readChannel(client, { channelId, key });
  const theirs = reported ? reportedFacts(reported) : new Map();
  const stored = storedFacts(db, channelId, lag);
  const missing: string[] = [];
  const extra: string[] = [];
  for (const about of new Set([...theirs.keys(), ...stored.keys()])) {
    const [their, own] = [theirs.get(about), stored.get(about)];
    if (their?.text === own?.text || own?.isArriving) continue;
    if (their?.text !== undefined) missing.push(their.text);
    if (own?.text !== undefined) extra.push(own.text);
  }
  return { missing, extra };
}

function reportedFacts({ owner, settings, slots }: ReportedChannel): Facts {
  const { fid, ownerAddress, expiry } = owner;
  const facts: Facts = new Map([
    ["address", { text: `owner address 0x${ownerAddress.toHex()}` }],
    ["owner", { text: `owner fid ${fid}` }],
    ["expiry", { text: `expiry ${expiry}` }],
  ]);
  addSettings(facts, settings);
  for (const { slot, authorFid } of slots) addSlot(facts, { ...slot, authorFid });
  return facts;
}

function storedFacts(db: IndexDatabase, channelId: Uint8Array, { replayed, isBehind }: Lag): Facts {
  const facts: Facts = new Map();
  const channel = findRegistration(db, channelId);
  if (!channel) return facts;
  const { ownerAddress, expiry } = channel;
  // A registration has no number of shard 0. While the upstream lags, it may have an earlier one.
  facts.set("address", { text: `owner address 0x${ownerAddress.toHex()}`, isArriving: isBehind });
  facts.set("expiry", { text: `expiry ${expiry}`, isArriving: isBehind });
  const isClaimArriving = isBehind || claimsInTransit(db, ownerAddress, replayed);
  facts.set("owner", { text: `owner fid ${fidOfOwner(db, ownerAddress)}`, isArriving: isClaimArriving });
  const slots = slotsOfChannel(db, channelId);
  const settings = slots.find(({ kind }) => kind === ChannelSlotKind.Settings);
  const update = settings && settingsIn(settings);
  addSettings(facts, { ...update, ...modesOf(update) }, (settings?.seqnum ?? 0) > replayed);
  for (const slot of slots) addSlot(facts, slot, slot.seqnum > replayed);
  return facts;
}

function addSettings(facts: Facts, settings: ChannelMetadataResponse, isArriving = false): void {
  const { castingMode, membershipMode, name, description, imageUrl, header, rules } = settings;
  for (const [field, value] of Object.entries({ name, description, imageUrl, header, rules }))
    facts.set(field, {
      text: value === undefined ? undefined : `${field} ${JSON.stringify(value)}`,
      isArriving,
    });
  facts.set("castingMode", { text: `${CastingMode[castingMode]}`, isArriving });
  facts.set("membershipMode", { text: `${MembershipMode[membershipMode]}`, isArriving });
}

type ComparedSlot = Pick<SlotRow, "kind" | "target" | "targetFid" | "state" | "detail" | "authorFid">;

/** Adds a slot. The upstream does not say who wrote the settings or decided about a member. */
function addSlot(facts: Facts, slot: ComparedSlot, isArriving = false): void {
  const { kind, target, targetFid, state, detail, authorFid } = slot;
  const isOn = state === SlotState.On;
  switch (kind) {
    case ChannelSlotKind.Pin: {
      const text = isOn && detail ? `pin 0x${detail.toHex()} by fid ${authorFid}` : undefined;
      facts.set("pin", { text, isArriving });
      break;
    }
    case ChannelSlotKind.Member: {
      const name = Object.entries(MemberState).find(([, value]) => value === state)?.[0];
      facts.set(`member ${targetFid}`, { text: `fid ${targetFid} ${name?.toLowerCase()}`, isArriving });
      break;
    }
    case ChannelSlotKind.Moderation: {
      const text = `cast 0x${target.toHex()} ${isOn ? "hidden" : "shown"} by fid ${authorFid}`;
      facts.set(`cast ${target.toHex()}`, { text, isArriving });
    }
  }
}
