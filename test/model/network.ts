import { decodeBase58 } from "../../src/lib/base58.ts";
import {
  type LinkBody,
  type LinkCompactStateBody,
  type MessageData,
  MessageType,
  UserDataType,
} from "../../src/protocol/wire/generated/message.ts";
import {
  IdRegisterEventType,
  type OnChainEvent,
  OnChainEventType,
  SignerEventType,
} from "../../src/protocol/wire/generated/on-chain.ts";
import { type Fact, type Hex, hexOf, type MessageFact } from "./facts.ts";

/**
 * The live messages by sections 3 and 4 of the protocol facts, as plain maps. A message occupies a slot of its fid in a
 * store. Another message for the same slot replaces it or is refused.
 */

export type StoreName =
  | "casts"
  | "reactions"
  | "links"
  | "verifications"
  | "user_data"
  | "username_proofs"
  | "storage_lends";

export type Kind = "add" | "remove" | "compact";

export interface Live extends MessageFact {
  readonly store: StoreName;
  readonly slot: string;
  readonly role: Kind;
}

/** A live name: an fname from its registry, or an ENS name or basename from a message. */
export interface LiveName {
  readonly name: string;
  readonly fid: number;
  readonly owner: Hex;
  readonly signature: Hex;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly type: "USERNAME_TYPE_FNAME" | "USERNAME_TYPE_ENS_L1" | "USERNAME_TYPE_BASENAME";
}

export const EPOCH = 1_609_459_200;
const DAY = 86_400;
const YEAR = 365 * DAY;

/** The table of section 3.5 with the real expiries, by the time of the rent (unix seconds). */
const ERAS = [
  {
    unitType: 0,
    until: 1_724_889_600,
    years: 4,
    room: { casts: 5000, links: 2500, reactions: 2500, user_data: 50, username_proofs: 5, verifications: 25 },
  },
  {
    unitType: 1,
    until: 1_752_685_200,
    years: 3,
    room: { casts: 2000, links: 1000, reactions: 1000, user_data: 50, username_proofs: 5, verifications: 25 },
  },
  {
    unitType: 2,
    until: 1_782_147_600,
    years: 2,
    room: { casts: 100, links: 200, reactions: 200, user_data: 25, username_proofs: 2, verifications: 5 },
  },
] as const;

function eraOf(rentedAt: number) {
  const era = ERAS.find(({ until }) => rentedAt < until);
  if (!era) throw new Error("the generator rents nothing this late");
  return era;
}

export function expiryOfRent(rentedAt: number): number {
  return rentedAt + eraOf(rentedAt).years * YEAR;
}

const byTimeAndHash = (a: { at: number; hash: Hex }, b: { at: number; hash: Hex }) =>
  a.at - b.at || (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0);

export class Network {
  readonly live = new Map<string, Live>();
  readonly events = new Map<string, OnChainEvent>();
  readonly #fnames = new Map<string, LiveName>();

  constructor(public nowSecs: number) {}

  /** Applies one fact. Returns whether it is accepted. */
  apply(fact: Fact): boolean {
    switch (fact.kind) {
      case "event":
        return this.#applyEvent(fact.event);
      case "fname":
        return this.#applyFname(fact.proof);
      case "message":
        return this.#applyMessage(fact);
    }
  }

  /** Returns the events of a type of an fid in chain order. */
  eventsOf(fid: number, type: OnChainEventType): OnChainEvent[] {
    return [...this.events.values()]
      .filter((event) => event.fid === fid && event.type === type)
      .sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex);
  }

  exists(fid: number): boolean {
    return this.eventsOf(fid, OnChainEventType.EVENT_TYPE_ID_REGISTER).length > 0;
  }

  /** Returns every fid with an id-registry event, ascending. */
  fids(): number[] {
    const registered = [...this.events.values()].filter(
      ({ type }) => type === OnChainEventType.EVENT_TYPE_ID_REGISTER,
    );
    return [...new Set(registered.map(({ fid }) => fid))].sort((a, b) => a - b);
  }

  /** Returns all live adds of a store. Removes and compact states only affect the count of use. */
  adds(store: StoreName): Live[] {
    return [...this.live.values()].filter((message) => message.store === store && message.role === "add");
  }

  used(fid: number, store: StoreName): number {
    return this.#stored(fid, store).length;
  }

  /** The `to` of the latest register or transfer. */
  custodyOf(fid: number): Hex | null {
    let custody: Hex | null = null;
    for (const { body } of this.eventsOf(fid, OnChainEventType.EVENT_TYPE_ID_REGISTER)) {
      if (body?.$case !== "idRegisterEventBody") continue;
      if (body.value.eventType !== IdRegisterEventType.ID_REGISTER_EVENT_TYPE_CHANGE_RECOVERY)
        custody = hexOf(body.value.to);
    }
    return custody;
  }

  /** Keys that may sign: the latest event is an add, or an admin reset of a key that was added. */
  keysOf(fid: number) {
    const latest = new Map<string, { event: OnChainEvent; add: OnChainEvent | undefined }>();
    for (const event of this.eventsOf(fid, OnChainEventType.EVENT_TYPE_SIGNER)) {
      if (event.body?.$case !== "signerEventBody") continue;
      const { key: bytes } = event.body.value;
      // A bare address is the key of its ABI encoding.
      const key =
        bytes.length === 20 ? (`0x${"00".repeat(12)}${hexOf(bytes).slice(2)}` as const) : hexOf(bytes);
      const isAdd = event.body.value.eventType === SignerEventType.SIGNER_EVENT_TYPE_ADD;
      latest.set(key, { event, add: isAdd ? event : latest.get(key)?.add });
    }
    return [...latest].flatMap(([key, { event, add }]) => {
      if (event.body?.$case !== "signerEventBody" || add?.body?.$case !== "signerEventBody") return [];
      if (event.body.value.eventType === SignerEventType.SIGNER_EVENT_TYPE_REMOVE) return [];
      const isReset = event !== add;
      return [
        { key, add, isReset, keyType: add.body.value.keyType, metadataType: add.body.value.metadataType },
      ];
    });
  }

  /** Every live name with an owner. */
  names(): LiveName[] {
    const claimed = this.adds("username_proofs").flatMap(({ data }): LiveName[] => {
      if (data.body?.$case !== "usernameProofBody") return [];
      const proof = data.body.value;
      return [
        {
          name: Buffer.from(proof.name).toString(),
          fid: proof.fid,
          owner: hexOf(proof.owner),
          signature: hexOf(proof.signature),
          timestamp: proof.timestamp,
          type: proof.type === 2 ? "USERNAME_TYPE_ENS_L1" : "USERNAME_TYPE_BASENAME",
        },
      ];
    });
    return [...[...this.#fnames.values()].filter(({ fid }) => fid !== 0), ...claimed];
  }

  nameOwner(name: string): number | undefined {
    return this.names().find((live) => live.name === name)?.fid;
  }

  /** When the Pro tier began and ends, in unix seconds. */
  proOf(fid: number): { start: number; end: number } | undefined {
    let pro: { start: number; end: number } | undefined;
    for (const { body, blockTimestamp } of this.eventsOf(fid, OnChainEventType.EVENT_TYPE_TIER_PURCHASE)) {
      if (body?.$case !== "tierPurchaseEventBody") continue;
      const isRenewal = pro !== undefined && pro.end >= blockTimestamp;
      const from = Math.max(pro?.end ?? 0, blockTimestamp);
      pro = { start: isRenewal && pro ? pro.start : blockTimestamp, end: from + body.value.forDays * DAY };
    }
    return pro;
  }

  /** The storage that an fid rented, in chain order. */
  rentsOf(fid: number) {
    return this.eventsOf(fid, OnChainEventType.EVENT_TYPE_STORAGE_RENT).flatMap(({ body, blockTimestamp }) =>
      body?.$case === "storageRentEventBody" ? [{ units: body.value.units, at: blockTimestamp }] : [],
    );
  }

  /** Units of each type: bought and not expired, and those less what is lent plus what is borrowed. */
  unitsOf(fid: number): { bought: number; net: number }[] {
    return ERAS.map(({ unitType }) => {
      const bought = this.rentsOf(fid)
        .filter(({ at }) => eraOf(at).unitType === unitType && expiryOfRent(at) > this.nowSecs)
        .reduce((sum, { units }) => sum + units, 0);
      let net = bought;
      for (const { fid: lender, data } of this.adds("storage_lends")) {
        if (data.body?.$case !== "lendStorageBody" || data.body.value.unitType !== unitType) continue;
        if (lender === fid) net -= data.body.value.numUnits;
        if (data.body.value.toFid === fid) net += data.body.value.numUnits;
      }
      return { bought, net: Math.max(0, net) };
    });
  }

  /** Returns the number of messages that an fid may have in a store. */
  capacity(fid: number, store: StoreName): number {
    const units = this.unitsOf(fid);
    return ERAS.reduce((sum, { room }, index) => {
      const { bought = 0, net = 0 } = units[index] ?? {};
      return sum + (store === "storage_lends" ? bought : net * room[store]);
    }, 0);
  }

  #applyEvent(event: OnChainEvent): boolean {
    const place = `${event.type} ${event.fid} ${event.blockNumber} ${event.logIndex}`;
    if (this.events.has(place)) return false;
    this.events.set(place, event);
    return true;
  }

  #applyFname(proof: {
    name: Uint8Array;
    fid: number;
    owner: Uint8Array;
    signature: Uint8Array;
    timestamp: number;
  }) {
    const name = Buffer.from(proof.name).toString();
    const current = this.#fnames.get(name);
    if (current && current.timestamp >= proof.timestamp) return false;
    this.#fnames.set(name, {
      name,
      fid: proof.fid,
      owner: hexOf(proof.owner),
      signature: hexOf(proof.signature),
      timestamp: proof.timestamp,
      type: "USERNAME_TYPE_FNAME",
    });
    // The name moves away: the previous owner's USERNAME is revoked, whatever it says.
    if (current && current.fid !== proof.fid)
      this.#revokeUserData(current.fid, UserDataType.USER_DATA_TYPE_USERNAME);
    return true;
  }

  #applyMessage(fact: MessageFact): boolean {
    if (!this.#admits(fact)) return false;
    const { store, slot, role } = slotOf(fact);
    const message: Live = { ...fact, store, slot: `${fact.fid}/${store}/${slot}`, role };
    const current = this.live.get(message.slot);
    if (current && (current.hash === message.hash || !this.#wins(message, current))) return false;
    if (store === "links" && role !== "compact" && this.#barredByCompactState(message)) return false;
    if (store === "username_proofs" && !current && !this.#claimsName(message)) return false;
    if (current) this.#drop(current);
    if (role === "compact") this.#compact(message);
    this.live.set(message.slot, message);
    const body = message.data.body;
    if (body?.$case === "lendStorageBody" && body.value.numUnits === 0) this.live.delete(message.slot);
    this.#prune(message.fid, store);
    return (
      this.live.get(message.slot) === message ||
      (body?.$case === "lendStorageBody" && body.value.numUnits === 0)
    );
  }

  #admits({ fid, signer, data, at }: MessageFact): boolean {
    if (data.body?.$case === "lendStorageBody" && at + EPOCH < this.nowSecs - 600) return false;
    if (!this.exists(fid)) return false;
    if (!this.keysOf(fid).some(({ key, keyType }) => key === signer && keyType === 1)) return false;
    const body = data.body;
    if (body?.$case === "lendStorageBody" && body.value.numUnits > 0) {
      // On mainnet a lender must own 1,000 units of the type and retain one.
      const bought = this.unitsOf(fid)[body.value.unitType]?.bought ?? 0;
      const lentToOthers = this.adds("storage_lends")
        .flatMap((lend) =>
          lend.fid === fid && lend.data.body?.$case === "lendStorageBody" ? [lend.data.body.value] : [],
        )
        .filter((lend) => lend.toFid !== body.value.toFid && lend.unitType === body.value.unitType)
        .reduce((sum, lend) => sum + lend.numUnits, 0);
      return bought >= 1000 && lentToOthers + body.value.numUnits <= bought - 1;
    }
    if (body?.$case !== "userDataBody") return true;
    const { type, value } = body.value;
    if (value === "" && type !== UserDataType.USER_DATA_TYPE_BANNER) return true;
    switch (type) {
      case UserDataType.USER_DATA_TYPE_USERNAME:
        return this.nameOwner(value) === fid;
      case UserDataType.USER_DATA_TYPE_BANNER:
        return (this.proOf(fid)?.end ?? 0) > this.nowSecs;
      case UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_ETHEREUM:
      case UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_SOLANA:
        return this.live.get(`${fid}/verifications/${addressInUserData(value)}`)?.role === "add";
      default:
        return true;
    }
  }

  #wins(incoming: Live, current: Live): boolean {
    if (incoming.role === "compact") return incoming.at > current.at;
    if (incoming.role !== current.role) {
      if (incoming.store === "casts") return incoming.role === "remove";
      return incoming.at !== current.at ? incoming.at > current.at : incoming.role === "remove";
    }
    return byTimeAndHash(incoming, current) > 0;
  }

  #barredByCompactState(link: Live): boolean {
    if (link.data.body?.$case !== "linkBody") return false;
    const { type, target } = link.data.body.value;
    const compact = this.live.get(`${link.fid}/links/compact ${type}`);
    if (compact?.data.body?.$case !== "linkCompactStateBody" || link.at >= compact.at) return false;
    return link.role === "remove" || !compact.data.body.value.targetFids.includes(target?.value ?? 0);
  }

  #compact(compact: Live): void {
    const { type, targetFids } = linkCompactState(compact.data);
    for (const current of this.#stored(compact.fid, "links")) {
      if (current.role === "compact" || current.at > compact.at) continue;
      const link = linkOf(current.data);
      if (link.type !== type) continue;
      if (current.role === "remove" || !targetFids.includes(link.target?.value ?? 0))
        this.live.delete(current.slot);
    }
  }

  /** A name is current by one fid: a claim of another one gives way or wins by time and hash. */
  #claimsName(claim: Live): boolean {
    if (claim.data.body?.$case !== "usernameProofBody") return false;
    const name = hexOf(claim.data.body.value.name);
    const rival = this.adds("username_proofs").find(
      ({ data }) => data.body?.$case === "usernameProofBody" && hexOf(data.body.value.name) === name,
    );
    if (!rival) return true;
    if (byTimeAndHash(claim, rival) < 0) return false;
    this.#drop(rival);
    return true;
  }

  /** Deletes a message that another one displaces. A verification takes its primary address with it. */
  #drop(displaced: Live): void {
    this.live.delete(displaced.slot);
    const body = displaced.data.body;
    if (body?.$case !== "verificationAddBody") return;
    for (const type of [
      UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_ETHEREUM,
      UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_SOLANA,
    ]) {
      const primary = this.live.get(`${displaced.fid}/user_data/${type}`)?.data.body;
      if (
        primary?.$case === "userDataBody" &&
        addressInUserData(primary.value.value) === hexOf(body.value.address)
      )
        this.#revokeUserData(displaced.fid, type);
    }
  }

  #revokeUserData(fid: number, type: UserDataType): void {
    this.live.delete(`${fid}/user_data/${type}`);
  }

  /** Deletes the oldest messages of a store above its capacity, but no compact states. */
  #prune(fid: number, store: StoreName): void {
    const current = this.#stored(fid, store);
    const excess = current.length - this.capacity(fid, store);
    const oldest = current.filter(({ role }) => role !== "compact").sort(byTimeAndHash);
    for (const message of oldest.slice(0, Math.max(0, excess))) this.live.delete(message.slot);
  }

  #stored(fid: number, store: StoreName): Live[] {
    return [...this.live.values()].filter((message) => message.fid === fid && message.store === store);
  }
}

/** The address that a declared primary address names: EIP-55 text or base58. */
function addressInUserData(value: string): string {
  if (value === "") return "none";
  if (value.startsWith("0x")) return value.toLowerCase();
  const bytes = decodeBase58(value, 32);
  return bytes ? hexOf(bytes) : "none";
}

function slotOf({ data, hash }: MessageFact): { store: StoreName; slot: string; role: Kind } {
  const { body } = data;
  const isRemove = [
    MessageType.MESSAGE_TYPE_CAST_REMOVE,
    MessageType.MESSAGE_TYPE_REACTION_REMOVE,
    MessageType.MESSAGE_TYPE_LINK_REMOVE,
    MessageType.MESSAGE_TYPE_VERIFICATION_REMOVE,
  ].includes(data.type);
  const role = isRemove ? "remove" : "add";
  switch (body?.$case) {
    case "castAddBody":
      return { store: "casts", slot: hash, role };
    case "castRemoveBody":
      return { store: "casts", slot: hexOf(body.value.targetHash), role };
    case "reactionBody": {
      const { type, target } = body.value;
      const named =
        target?.$case === "targetCastId"
          ? `cast ${target.value.fid} ${hexOf(target.value.hash)}`
          : `url ${target?.value}`;
      return { store: "reactions", slot: `${type} ${named}`, role };
    }
    case "linkBody":
      return { store: "links", slot: `${body.value.type} ${body.value.target?.value}`, role };
    case "linkCompactStateBody":
      return { store: "links", slot: `compact ${body.value.type}`, role: "compact" };
    case "verificationAddBody":
    case "verificationRemoveBody":
      return { store: "verifications", slot: hexOf(body.value.address), role };
    case "userDataBody":
      return { store: "user_data", slot: String(body.value.type), role };
    case "usernameProofBody":
      return { store: "username_proofs", slot: hexOf(body.value.name), role };
    case "lendStorageBody":
      return { store: "storage_lends", slot: String(body.value.toFid), role };
    default:
      throw new Error(`the generator makes no ${body?.$case}`);
  }
}

function linkOf(data: MessageData): LinkBody {
  if (data.body?.$case !== "linkBody") throw new Error("no link");
  return data.body.value;
}

function linkCompactState(data: MessageData): LinkCompactStateBody {
  if (data.body?.$case !== "linkCompactStateBody") throw new Error("no compact state");
  return data.body.value;
}
