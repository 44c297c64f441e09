import { getAddress } from "viem/utils";
import { encodeBase58 } from "../../src/lib/base58.ts";
import { ethClaimDigest, solanaClaimText } from "../../src/protocol/validate/verification.ts";
import {
  CastType,
  FarcasterNetwork,
  MessageType,
  UserDataType,
  UserNameType,
} from "../../src/protocol/wire/generated/message.ts";
import { IdRegisterEventType } from "../../src/protocol/wire/generated/on-chain.ts";
import {
  fnameProof,
  proEvent,
  registerEvent,
  rentEvent,
  signerEvent,
  transferEvent,
} from "../support/events.ts";
import {
  DEFAULT_NOW_SECS,
  DEFAULT_TIMESTAMP,
  makeSigner,
  signBytes,
  signDigest,
  type TestSigner,
} from "../support/messages.ts";
import { accountSigner } from "../support/node.ts";
import { type Action, bytesOf, eventAction, fnameAction, type Hex, messageAction } from "./facts.ts";
import type { Random } from "./random.ts";
import {
  CLAIMED_NAMES,
  CUSTODY_SEEDS,
  custodyOf,
  DISPLAY_NAMES,
  FIDS,
  FNAMES,
  LATECOMERS,
  LENDER,
  LOCATIONS,
  PARENT_URLS,
  PROLIFIC,
  SOLANA,
  UNREGISTERED_FIDS,
  WALLETS,
  WORDS,
  X_NAMES,
} from "./vocabulary.ts";

/** A seeded generator of the actions of a small network, in a realistic order of arrival. */

/** Farcaster seconds, in April 2023. */
const OLD_TIME = 72_000_000;

/** A reference to a cast. */
interface CastRef {
  readonly fid: number;
  readonly hash: Hex;
}

const MAINNET = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
const T = MessageType;
const D = UserDataType;

/** The second key of an fid, which is added and removed repeatedly. */
const secondSigner = (fid: number) => makeSigner(`second ${fid}`);

export class Generator {
  /** Every generated cast, sent or not, accepted or not. */
  readonly casts: CastRef[] = [];
  /** The time since the start of the test, by the clock of the network. */
  elapsedSecs = 0;
  #block = 1_000_000;
  #nameTime = DEFAULT_NOW_SECS - 40_000;

  constructor(readonly random: Random) {}

  /** The accounts that exist from the start. */
  accounts(): Action[] {
    return FIDS.filter((fid) => !LATECOMERS.includes(fid)).flatMap((fid) => this.#account(fid));
  }

  /** `count` actions in the order of arrival: some late, some early, some twice; optionally the last accounts. */
  actions(count: number, withLatecomers: boolean): Action[] {
    const { random } = this;
    const arrivals: { at: number; action: Action }[] = [];
    const arrive = (at: number, action: Action) => arrivals.push({ at, action });
    for (const [index, fid] of withLatecomers ? LATECOMERS.entries() : []) {
      // The records of one account arrive separately, in any order.
      for (const action of this.#account(fid))
        arrive(count * (0.2 + 0.15 * index) + random.below(40), action);
    }
    for (let n = 0; n < count; n++) {
      const action = this.one();
      const at = random.chance(0.12) ? n + random.below(120) - 60 : n;
      arrive(at, action);
      if (random.chance(0.05)) arrive(at + random.below(80), action);
    }
    return arrivals.sort((a, b) => a.at - b.at).map(({ action }) => action);
  }

  /** Any one action. */
  one(): Action {
    const { random } = this;
    const roll = random.below(100);
    if (roll < 34) return this.cast();
    if (roll < 40) return this.castRemove();
    if (roll < 60) return this.reaction();
    if (roll < 77) return this.link();
    if (roll < 79) return this.#compactState();
    if (roll < 88) return this.userData();
    if (roll < 93) return this.#verification();
    if (roll < 95) return this.#nameClaim();
    if (roll < 97) return this.#fname();
    return this.#event();
  }

  /** Farcaster seconds. */
  now(): number {
    return DEFAULT_TIMESTAMP + this.elapsedSecs;
  }

  #account(fid: number): Action[] {
    const custody = custodyOf(fid % 5 === 0 ? "shared" : `custody ${fid}`);
    const registration = registerEvent(fid, custody, {
      block: 1000 + fid,
      at: DEFAULT_NOW_SECS - 900_000 - fid,
    });
    return [
      // Fid 12 has only a transfer: an id-registry event, but no registration.
      eventAction(
        fid === 12 ? transferEvent(fid, custodyOf("shared"), custody, { block: 1000 + fid }) : registration,
      ),
      eventAction(signerEvent(fid, accountSigner(fid).publicKey, { block: 200_000 + fid })),
      eventAction(
        rentEvent(fid, fid === LENDER ? 1200 : 1, { block: 400_000 + fid, at: this.#rentTime(fid) }),
      ),
      ...(fid === 9 ? [] : [fnameAction(fnameProof(`user${fid}`, fid, custody, DEFAULT_NOW_SECS - 50_000))]),
    ];
  }

  /** Most fids have units of this year, which are small. Some have units of earlier years, and one has an expired unit. */
  #rentTime(fid: number): number {
    const years = 365 * 86_400;
    if (fid === 5) return 1_700_000_000;
    if (fid === 6) return 1_730_000_000;
    if (fid === 8) return DEFAULT_NOW_SECS - 5 * years;
    return DEFAULT_NOW_SECS - 86_400 - fid;
  }

  #fid(): number {
    return this.random.chance(0.22) ? PROLIFIC : this.random.pick(FIDS);
  }

  #anyFid(): number {
    return this.random.chance(0.05) ? this.random.pick(UNREGISTERED_FIDS) : this.random.pick(FIDS);
  }

  /** Farcaster seconds with few distinct values, so that many messages share a second; most within the last day. */
  #time(stepSecs = 450): number {
    const { random } = this;
    const now = this.now();
    if (random.chance(0.03)) return now + random.below(500);
    const hoursBack = random.chance(0.8) ? 30 : 200;
    return now - stepSecs * random.below((hoursBack * 3600) / stepSecs);
  }

  #send(
    fid: number,
    type: MessageType,
    body: NonNullable<Parameters<typeof messageAction>[0]["body"]>,
    at = this.#time(),
  ) {
    const signer: TestSigner = this.random.chance(0.06) ? secondSigner(fid) : accountSigner(fid);
    return messageAction({ fid, type, timestamp: at, network: MAINNET, body }, signer);
  }

  cast(over: { fid?: number; at?: number; parentUrl?: string; parent?: CastRef } = {}): Action {
    const { random } = this;
    const fid = over.fid ?? this.#fid();
    const text = Array.from({ length: random.below(5) }, () => random.pick(WORDS)).join(
      random.chance(0.8) ? " " : "",
    );
    const starts = [0];
    for (const char of text) starts.push((starts.at(-1) ?? 0) + Buffer.byteLength(char));
    const mentions = random.chance(0.25)
      ? Array.from({ length: 1 + random.below(3) }, () => this.#anyFid())
      : [];
    const embeds = Array.from({ length: random.chance(0.25) ? 1 + random.below(3) : 0 }, () => {
      const quoted = random.chance(0.7) ? this.#someCast() : undefined;
      return quoted
        ? { embed: { $case: "castId" as const, value: this.#castId(quoted) } }
        : { embed: { $case: "url" as const, value: `https://example.com/${random.below(3)}?a=1,2` } };
    });
    const replied = over.parent ?? (random.chance(0.45) ? this.#someCast() : undefined);
    const url = over.parentUrl ?? (random.chance(0.6) ? random.pick(PARENT_URLS) : undefined);
    const parent =
      replied && over.parentUrl === undefined
        ? ({ $case: "parentCastId", value: this.#castId(replied) } as const)
        : url !== undefined
          ? ({ $case: "parentUrl", value: url } as const)
          : undefined;
    const value = {
      // A cast must not be empty. The number distinguishes two casts of one second.
      text:
        text === "" && (mentions.length > 0 || embeds.length > 0) && random.chance(0.3)
          ? ""
          : `${text} ${random.below(1000)}`,
      mentions,
      mentionsPositions: [] as number[],
      embeds,
      embedsDeprecated: [] as string[],
      ...(parent ? { parent } : {}),
      type: CastType.CAST_TYPE_CAST,
    };
    const positions = value.text === "" ? [0] : starts;
    value.mentionsPositions = mentions.map(() => random.pick(positions)).sort((a, b) => a - b);
    const isOld = over.at === undefined && random.chance(0.03);
    const at = over.at ?? (isOld ? OLD_TIME - random.below(3) : this.#time());
    if (isOld) {
      // Before the end of May 2023 casts had their URLs in another field.
      value.embedsDeprecated = value.embeds.length > 0 ? ["https://example.com/old", "ftp://old"] : [];
      value.embeds = [];
      if (value.text === "") value.text = "old";
    }
    const action = this.#send(fid, T.MESSAGE_TYPE_CAST_ADD, { $case: "castAddBody", value }, at);
    if (action.fact.kind === "message") this.casts.push({ fid, hash: action.fact.hash });
    return action;
  }

  #someCast(): CastRef | undefined {
    const { random, casts } = this;
    if (random.chance(0.05)) return { fid: this.#anyFid(), hash: `0x${"ab".repeat(20)}` };
    // A few casts get most replies and reactions.
    const from = random.chance(0.5) ? casts.slice(0, 12) : casts;
    return from.length === 0 ? undefined : random.pick(from);
  }

  /** The id of a cast, sometimes with another user's fid. */
  #castId({ fid, hash }: CastRef) {
    return { fid: this.random.chance(0.06) ? this.#anyFid() : fid, hash: bytesOf(hash) };
  }

  castRemove(given?: CastRef): Action {
    const { random } = this;
    const cast = given ?? this.#someCast() ?? { fid: 1, hash: `0x${"ab".repeat(20)}` as Hex };
    const fid = given || !random.chance(0.1) ? cast.fid : this.#fid();
    return this.#send(FIDS.some((known) => known === fid) ? fid : 1, T.MESSAGE_TYPE_CAST_REMOVE, {
      $case: "castRemoveBody",
      value: { targetHash: bytesOf(cast.hash) },
    });
  }

  reaction(over: { fid?: number; target?: CastRef; remove?: boolean; at?: number } = {}): Action {
    const { random } = this;
    const cast = over.target ?? (random.chance(0.93) ? this.#someCast() : undefined);
    const remove = over.remove ?? random.chance(0.18);
    const target = cast
      ? ({
          $case: "targetCastId",
          value: over.target ? { fid: cast.fid, hash: bytesOf(cast.hash) } : this.#castId(cast),
        } as const)
      : ({ $case: "targetUrl", value: "https://example.com/page" } as const);
    return this.#send(
      over.fid ?? random.pick(FIDS),
      remove ? T.MESSAGE_TYPE_REACTION_REMOVE : T.MESSAGE_TYPE_REACTION_ADD,
      {
        $case: "reactionBody",
        value: { type: over.fid !== undefined || random.chance(0.7) ? 1 : 2, target },
      },
      over.at ?? this.#time(1800),
    );
  }

  link(over: { fid?: number; type?: string; target?: number; remove?: boolean; at?: number } = {}): Action {
    const { random } = this;
    const roll = random.next();
    const type = over.type ?? (roll < 0.78 ? "follow" : roll < 0.88 ? "block" : roll < 0.97 ? "mute" : "pin");
    const displayTimestamp = random.chance(0.15) ? DEFAULT_TIMESTAMP - 3600 * random.below(500) : undefined;
    const remove = over.remove ?? random.chance(0.15);
    return this.#send(
      over.fid ?? random.pick(FIDS),
      remove ? T.MESSAGE_TYPE_LINK_REMOVE : T.MESSAGE_TYPE_LINK_ADD,
      {
        $case: "linkBody",
        value: {
          type,
          displayTimestamp,
          target: { $case: "targetFid", value: over.target ?? this.#anyFid() },
        },
      },
      over.at ?? this.#time(3600),
    );
  }

  #compactState(): Action {
    const { random } = this;
    const targetFids = random.sample([...FIDS, ...UNREGISTERED_FIDS], 6 + random.below(7));
    const type = random.chance(0.7) ? "follow" : random.pick(["block", "mute"]);
    return this.#send(random.pick(FIDS), T.MESSAGE_TYPE_LINK_COMPACT_STATE, {
      $case: "linkCompactStateBody",
      value: { type, targetFids },
    });
  }

  userData(): Action {
    const { random } = this;
    const fid = random.pick(FIDS);
    // biome-ignore format: a list of kinds
    const type = random.pick([
      D.USER_DATA_TYPE_PFP, D.USER_DATA_TYPE_DISPLAY, D.USER_DATA_TYPE_DISPLAY, D.USER_DATA_TYPE_BIO,
      D.USER_DATA_TYPE_URL, D.USER_DATA_TYPE_USERNAME, D.USER_DATA_TYPE_USERNAME, D.USER_DATA_TYPE_USERNAME,
      D.USER_DATA_TYPE_LOCATION, D.USER_DATA_TYPE_LOCATION, D.USER_DATA_TYPE_TWITTER, D.USER_DATA_TYPE_TWITTER,
      D.USER_DATA_TYPE_GITHUB, D.USER_DATA_TYPE_BANNER, D.USER_DATA_TYPE_PRIMARY_ADDRESS_ETHEREUM,
      D.USER_DATA_TYPE_PRIMARY_ADDRESS_SOLANA, D.USER_DATA_TYPE_PROFILE_TOKEN, D.USER_DATA_TYPE_LIVE_AT,
    ]);
    const isEmpty = type !== D.USER_DATA_TYPE_GITHUB && random.chance(0.12);
    const value = isEmpty ? "" : this.#userDataValue(fid, type);
    return this.#send(fid, T.MESSAGE_TYPE_USER_DATA_ADD, { $case: "userDataBody", value: { type, value } });
  }

  #userDataValue(fid: number, type: UserDataType): string {
    const { random } = this;
    switch (type) {
      case D.USER_DATA_TYPE_DISPLAY:
        return random.pick(DISPLAY_NAMES);
      case D.USER_DATA_TYPE_USERNAME:
        return random.chance(0.6) ? `user${fid}` : random.pick([...FNAMES, ...CLAIMED_NAMES]);
      case D.USER_DATA_TYPE_LOCATION:
        return random.pick(LOCATIONS);
      case D.USER_DATA_TYPE_TWITTER:
        return random.pick(X_NAMES);
      case D.USER_DATA_TYPE_GITHUB:
        return random.pick(["alice-git", "Bob1"]);
      case D.USER_DATA_TYPE_PRIMARY_ADDRESS_ETHEREUM:
        return getAddress(`0x${Buffer.from(random.pick(WALLETS).address).toString("hex")}`);
      case D.USER_DATA_TYPE_PRIMARY_ADDRESS_SOLANA:
        return encodeBase58(random.pick(SOLANA).publicKey);
      case D.USER_DATA_TYPE_PROFILE_TOKEN:
        return "eip155:1/erc721:0x06012c8cf97BEaD5deAe237070F9587f8E7A266d/771769";
      default:
        return `https://example.com/${type}/${random.below(3)}`;
    }
  }

  #verification(): Action {
    const { random } = this;
    const fid = random.pick(FIDS);
    const isSolana = random.chance(0.25);
    const wallet = random.pick(WALLETS);
    const key = random.pick(SOLANA);
    const address = isSolana ? key.publicKey : wallet.address;
    const protocol = isSolana ? 1 : 0;
    if (random.chance(0.2))
      return this.#send(fid, T.MESSAGE_TYPE_VERIFICATION_REMOVE, {
        $case: "verificationRemoveBody",
        value: { address, protocol },
      });
    const blockHash = new Uint8Array(32).fill(9);
    const claim = { fid, network: MAINNET, address, blockHash };
    const claimSignature = isSolana
      ? signBytes(Buffer.from(solanaClaimText(claim)), key)
      : signDigest(ethClaimDigest(claim), wallet);
    return this.#send(fid, T.MESSAGE_TYPE_VERIFICATION_ADD, {
      $case: "verificationAddBody",
      value: { address, claimSignature, blockHash, verificationType: 0, chainId: 0, protocol },
    });
  }

  #nameClaim(): Action {
    const { random } = this;
    const fid = random.pick(FIDS);
    const name = random.pick(CLAIMED_NAMES);
    const at = this.#time();
    const value = {
      timestamp: at + 1_609_459_200,
      name: Buffer.from(name),
      owner: custodyOf(`custody ${fid}`),
      signature: Buffer.alloc(65, 5),
      fid,
      type: name.endsWith(".base.eth")
        ? UserNameType.USERNAME_TYPE_BASENAME
        : UserNameType.USERNAME_TYPE_ENS_L1,
    };
    return this.#send(fid, T.MESSAGE_TYPE_USERNAME_PROOF, { $case: "usernameProofBody", value }, at);
  }

  /** Fname transfers have distinct times, so that only the time decides. */
  #fname(): Action {
    const { random } = this;
    this.#nameTime += 1 + random.below(20);
    const fid = random.chance(0.2)
      ? 0
      : random.chance(0.05)
        ? random.pick(UNREGISTERED_FIDS)
        : random.pick(FIDS);
    const name = random.chance(0.2) ? `user${random.pick(FIDS)}` : random.pick(FNAMES);
    return fnameAction(fnameProof(name, fid, custodyOf(`custody ${fid}`), this.#nameTime));
  }

  #event(): Action {
    const { random } = this;
    const fid = this.#fid();
    const position = this.#chainPosition();
    switch (random.below(8)) {
      case 0:
      case 1:
        return this.custodyChange(fid);
      case 2: {
        const event = registerEvent(fid, custodyOf(`custody ${fid}`), position);
        if (event.body?.$case === "idRegisterEventBody") {
          event.body.value.eventType = IdRegisterEventType.ID_REGISTER_EVENT_TYPE_CHANGE_RECOVERY;
          event.body.value.to = new Uint8Array();
        }
        return eventAction(event);
      }
      case 3:
        return eventAction(
          rentEvent(random.pick([1, 2, 4, 8]), 1, {
            ...position,
            at: DEFAULT_NOW_SECS - random.below(90_000_000),
          }),
        );
      case 4:
        return eventAction(proEvent(random.pick(FIDS), 1 + random.below(10), position));
      case 5:
        return this.#lend();
      default:
        return this.keyEvent(fid);
    }
  }

  /** A position on the chain, sometimes before an earlier one. */
  #chainPosition() {
    const block = this.#block + this.random.below(2000);
    this.#block += 10;
    return { block, log: this.random.below(3), at: DEFAULT_NOW_SECS - 1_080_000 + block };
  }

  /** A transfer, or sometimes a second registration, which a few real fids have. */
  custodyChange(fid: number): Action {
    const to = custodyOf(this.random.pick(CUSTODY_SEEDS));
    const position = this.#chainPosition();
    return eventAction(
      this.random.chance(0.2)
        ? registerEvent(fid, to, position)
        : transferEvent(fid, custodyOf(`custody ${fid}`), to, position),
    );
  }

  /** Adds, removes or resets the second key of an fid. */
  keyEvent(fid: number): Action {
    const kind = this.random.pick(["add", "add", "remove", "admin_reset"] as const);
    if (!this.random.chance(0.2))
      return eventAction(signerEvent(fid, secondSigner(fid).publicKey, this.#chainPosition(), kind));
    // An auth address is a key that signs no messages, ABI-encoded or bare.
    const address = custodyOf(`auth ${fid}`);
    const key = this.random.chance(0.5) ? address : Buffer.concat([Buffer.alloc(12), address]);
    const event = signerEvent(fid, key, this.#chainPosition(), kind);
    if (event.body?.$case === "signerEventBody" && kind === "add") event.body.value.keyType = 2;
    return eventAction(event);
  }

  /** Registers an fid that does nothing else. */
  newcomer(): Action {
    return eventAction(
      registerEvent(200 + this.random.below(90), custodyOf("shared"), this.#chainPosition()),
    );
  }

  #lend(): Action {
    const { random } = this;
    const value = { toFid: random.pick(FIDS), numUnits: random.below(3), unitType: 2 };
    const at = this.now() + random.below(500);
    return this.#send(LENDER, T.MESSAGE_TYPE_LEND_STORAGE, { $case: "lendStorageBody", value }, at);
  }
}
